/**
 * What the core sees of JavaScript: the object that wasm calls. It makes no decisions; it calls host values with
 * the right arguments, reads them without letting them throw where that matters, and reports back.
 *
 * @module
 */

import { ToolError } from "./errors.js";
import type { Instance, RunningCall } from "./instance.js";
import { Locks } from "./locks.js";
import { OutputStream } from "./output.js";
import { tempFiles } from "./temp-files.js";
import type { ExecOptions, Options } from "./types.js";
import { bytesOf, callMethod, explained, isThenable, jsonOf, kindOf, settle, settled } from "./values.js";
import { writesInFlight } from "./writes.js";

/** What `exec_chunk` answers where the next chunk should wait. */
const WAIT = 2;

/** A running command. */
interface Command {
  readonly controller: AbortController;
  /** What its output waits for. */
  room?: Promise<void>;
  drained?: () => void;
}

export class Boundary {
  readonly #core: Instance;
  readonly #generation: number;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #execs = new Map<number, Command>();
  readonly #locks = new Locks();
  /** Set when the instance has trapped: nothing that is left of it may reach the host any more. */
  isDead = false;

  constructor(core: Instance) {
    this.#core = core;
    this.#generation = core.generation;
  }

  #check(): void {
    if (this.isDead) throw new ToolError("The tool core has failed", "trapped");
  }

  #running(call: number): RunningCall | undefined {
    return this.isDead ? undefined : this.#core.running(call);
  }

  invoke(env: object, method: string, path: string, content: Uint8Array | undefined, call: number): unknown {
    this.#check();
    const options = this.#options(call);
    if (method !== "writeFile") return callMethod(env, method, path, options);
    const answer = callMethod(env, method, path, content, options);
    return writesInFlight.track(env, path, this.#generation, answer);
  }

  readRange(env: object, path: string, start: number, end: number, call: number): unknown {
    this.#check();
    return callMethod(env, "readRange", path, start, end, this.#options(call));
  }

  /** `readBinaryFile`: its bytes, where they come at once; else what it answered, as the one item of an array. */
  read(env: object, path: string, call: number): Uint8Array | [unknown] {
    const answer = this.invoke(env, "readBinaryFile", path, undefined, call);
    try {
      return bytesOf(answer) ?? [answer];
    } catch {
      // Their buffer was detached.
      return [answer];
    }
  }

  askMany(env: object, method: string, request: string, call: number): unknown {
    this.#check();
    const asked = JSON.parse(request);
    // What was not asked for is not there.
    if (!Array.isArray(asked))
      for (const key of Object.keys(asked)) if (asked[key] === null) delete asked[key];
    return callMethod(env, method, asked, this.#options(call));
  }

  #options(call: number): Options {
    return this.#running(call)?.options ?? { signal: AbortSignal.abort() };
  }

  earlierWrites(env: number, path: string): Promise<unknown> | undefined {
    this.#check();
    return writesInFlight.earlierThan(env, path, this.#generation);
  }

  lock(env: object, path: string, id: number): Promise<void> {
    this.#check();
    return this.#locks.take(env, path, id);
  }

  unlock(id: number): void {
    // A dead instance's are let go of at the end, when its writes have settled.
    if (!this.isDead) this.#locks.release(id);
  }

  exec(env: object, request: string, exec: number): unknown {
    this.#check();
    const { command, timeout, ...given } = JSON.parse(request);
    const controller = new AbortController();
    this.#execs.set(exec, { controller });
    const [stdout, stderr] = [this.#stream(exec, false), this.#stream(exec, true)];
    const options: ExecOptions = {
      ...given,
      ...(timeout === null ? {} : { timeout }),
      onStdout: (chunk) => stdout.push(chunk),
      onStderr: (chunk) => stderr.push(chunk),
      signal: controller.signal,
    };
    const answer = callMethod(env, "exec", command, options);
    const end = () => {
      stdout.end();
      stderr.end();
      const wrong = stdout.wrong ?? stderr.wrong;
      if (wrong === undefined) return;
      throw new ToolError(
        `the environment's exec gave ${wrong} as output, expected a string or a Uint8Array`,
        "unknown",
      );
    };
    if (!isThenable(answer)) {
      end();
      return answer;
    }
    return settled(answer).finally(end);
  }

  /** What comes on one of a command's streams. After the command's end it is late, and not heard. */
  #stream(exec: number, isStderr: boolean): OutputStream {
    const isHeard = () => !this.isDead && this.#execs.has(exec);
    return new OutputStream(isHeard, (part) => {
      const taken: unknown = this.#core.enter(
        (length = 0) => this.#core.glue.exec_chunk?.(exec, isStderr, length),
        part,
      );
      return taken === WAIT ? this.#room(exec) : undefined;
    });
  }

  /** A promise that is settled once the command may go on writing, or is over. */
  #room(exec: number): Promise<void> | undefined {
    const command = this.#execs.get(exec);
    if (command && !command.room)
      command.room = new Promise((resolve) => {
        command.drained = resolve;
      });
    return command?.room;
  }

  drained(exec: number): void {
    const command = this.#execs.get(exec);
    command?.drained?.();
    delete command?.room;
  }

  spawn(call: number, spawn: string): Promise<string> | undefined {
    this.#check();
    return this.#running(call)?.spawn(spawn);
  }

  tempFile(env: object, method: string, path: string, content: unknown): unknown {
    this.#check();
    switch (method) {
      case "createTempFile":
        return callMethod(env, method, { prefix: path, suffix: content });
      case "appendFile":
        return callMethod(env, method, path, content);
      case "remove":
        return callMethod(env, method, path);
      case "note":
        return void tempFiles.note(env, path);
      default:
        return tempFiles.has(env, path);
    }
  }

  abortExec(exec: number): void {
    this.#execs.get(exec)?.controller.abort();
  }

  closeExec(exec: number): void {
    // A dead instance's are all aborted, at the end.
    if (this.isDead) return;
    this.drained(exec);
    this.#execs.delete(exec);
  }

  /** Ends what a dead instance has running. */
  abandon(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const { controller, drained } of this.#execs.values()) {
      controller.abort();
      drained?.();
    }
    this.#timers.clear();
    this.#execs.clear();
    this.#locks.releaseAfterWrites(this.#generation);
  }

  watch(value: object, id: number): boolean {
    if (!isThenable(value)) return false;
    // Also in a dead instance: a rejection that nobody hears ends a Node process.
    settle(
      value,
      (result) => this.#report(id, true, result),
      (error) => this.#report(id, false, error),
    );
    return true;
  }

  #report(id: number, fulfilled: boolean, value: unknown): void {
    if (!this.isDead) this.#core.enter(() => this.#core.glue.promise_settled(id, fulfilled, value));
  }

  explain(thrown: unknown): string {
    return JSON.stringify(explained(thrown));
  }

  bytes(value: unknown): Uint8Array | undefined {
    return bytesOf(value);
  }

  kind(value: unknown): string {
    return kindOf(value);
  }

  fileInfo(value: unknown): string | undefined {
    const info = infoOf(value);
    return info && jsonOf(info);
  }

  fileInfos(value: unknown): string | undefined {
    if (!Array.isArray(value)) return undefined;
    return jsonOf(Array.from(value, (entry) => infoOf(entry) ?? null));
  }

  /** A listing in short, for what reads many; `undefined` where an entry lacks something. */
  listing(value: unknown): string | undefined {
    if (!Array.isArray(value)) return undefined;
    let text = "";
    for (const entry of value) {
      if (typeof entry !== "object" || entry === null) return undefined;
      const { name, kind, size } = entry as Record<string, unknown>;
      if (typeof name !== "string" || typeof kind !== "string" || typeof size !== "number") return undefined;
      if (!Number.isSafeInteger(size) || size < 0 || name.includes("\0")) return undefined;
      const mark = MARKS[kind];
      if (mark === undefined) return undefined;
      text += `${mark}${size} ${name}\0`;
    }
    return text;
  }

  normalize(text: string, form: string): string {
    return form === "lower" ? text.toLowerCase() : text.normalize(form);
  }

  number(text: string): number {
    return Number(text);
  }

  printed(number: number): string {
    return String(number);
  }

  now(): number {
    return performance.now();
  }

  setTimer(id: number, ms: number): void {
    this.#check();
    const fire = () => {
      this.#timers.delete(id);
      this.#report(id, true, undefined);
    };
    this.#timers.set(id, setTimeout(fire, ms));
  }

  clearTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  showImage(
    call: number,
    bytes: Uint8Array<ArrayBuffer>,
    mimeType: string,
    isProcessed: boolean,
    autoResize: boolean,
    maxWidth: number,
    maxHeight: number,
    maxBytes: number,
  ): Promise<string> | undefined {
    this.#check();
    const limits = isProcessed ? { autoResize, maxWidth, maxHeight, maxBytes } : undefined;
    return this.#running(call)?.showImage(bytes, mimeType, limits);
  }

  search(call: number, job: string | undefined): Promise<string> | undefined {
    this.#check();
    return this.#running(call)?.search(job);
  }

  before(call: number, args: string, access: string): Promise<string> | undefined {
    this.#check();
    return this.#running(call)?.before(args, access);
  }

  after(call: number, args: string, result: string): Promise<string> | undefined {
    this.#check();
    return this.#running(call)?.after(args, result);
  }

  started(call: number, shown: string | undefined): void {
    this.#running(call)?.started(shown);
  }

  redact(call: number, text: string): string {
    this.#check();
    const shown = this.#running(call)?.redact(text);
    if (typeof shown !== "string") throw new TypeError("expected a text");
    return shown;
  }

  wantsUpdates(call: number): boolean {
    return this.#running(call)?.wantsUpdates() ?? false;
  }

  updated(call: number, partial: string): void {
    this.#running(call)?.updated(partial);
  }

  wantsMutations(call: number): boolean {
    return this.#running(call)?.wantsMutations() ?? false;
  }

  mutated(call: number, change: string): void {
    this.#running(call)?.mutated(change);
  }

  settled(call: number, result: string, durationMs: number, text: string | undefined): void {
    this.#running(call)?.settled(result, durationMs, text);
  }

  ended(call: number): void {
    if (!this.isDead) this.#core.forget(call);
  }
}

/** What the kinds of entries are called in a listing in short. */
const MARKS: Record<string, string | undefined> = Object.assign(Object.create(null), {
  file: "f",
  directory: "d",
  symlink: "l",
});

function infoOf(value: unknown): object | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { name, path, kind, size, mtimeMs } = value as Record<string, unknown>;
  return { name, path, kind, size: Number(size), mtimeMs: Number(mtimeMs) };
}
