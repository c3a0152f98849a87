/**
 * What the core sees of JavaScript: the object that wasm calls. It makes no decisions; it calls host values with
 * the right arguments, reads them without letting them throw where that matters, and reports back.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { ToolError } from "./errors.js";
import type { ExecOptions } from "./types.js";
import { bytesOf, callMethod, explained, isThenable } from "./values.js";
import { writesInFlight } from "./writes.js";

/** No larger than the scratch buffer that wasm keeps for streams. */
const CHUNK = 64 * 1024;

const encoder = new TextEncoder();

export class Boundary {
  readonly #core: Core;
  readonly #generation: number;
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #execs = new Map<number, AbortController>();
  /** Set when the instance has trapped: nothing that is left of it may reach the host any more. */
  isDead = false;

  constructor(core: Core) {
    this.#core = core;
    this.#generation = core.generation;
  }

  #check(): void {
    if (this.isDead) throw new ToolError("The tool core has failed", "trapped");
  }

  invoke(env: object, method: string, path: string, content: Uint8Array | undefined, call: number): unknown {
    this.#check();
    const options = { signal: this.#core.running(call)?.signal ?? AbortSignal.abort() };
    if (method !== "writeFile") return callMethod(env, method, path, options);
    const answer = callMethod(env, method, path, content, options);
    return writesInFlight.track(env, path, this.#generation, answer);
  }

  earlierWrites(env: number, path: string): Promise<unknown> | undefined {
    this.#check();
    return writesInFlight.earlierThan(env, path, this.#generation);
  }

  exec(env: object, request: string, exec: number): unknown {
    this.#check();
    const { command, timeout, ...given } = JSON.parse(request);
    const controller = new AbortController();
    this.#execs.set(exec, controller);
    const [stdout, stderr] = [new TextChunks(), new TextChunks()];
    const options: ExecOptions = {
      ...given,
      ...(timeout === null ? {} : { timeout }),
      onStdout: (chunk) => this.#chunk(exec, false, stdout.bytes(chunk)),
      onStderr: (chunk) => this.#chunk(exec, true, stderr.bytes(chunk)),
      signal: controller.signal,
    };
    const end = (answer: unknown) => {
      this.#chunk(exec, false, stdout.rest());
      this.#chunk(exec, true, stderr.rest());
      return answer;
    };
    const answer = callMethod(env, "exec", command, options);
    return isThenable(answer) ? Promise.resolve(answer).then(end) : end(answer);
  }

  #chunk(exec: number, isStderr: boolean, bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += CHUNK) {
      // A chunk after the end is late, and not heard.
      if (this.isDead || !this.#execs.has(exec)) return;
      const part = bytes.subarray(at, at + CHUNK);
      this.#core.enter(() => {
        this.#core.putBytes(part);
        glue.exec_chunk(exec, isStderr, part.length);
      });
    }
  }

  abortExec(exec: number): void {
    this.#execs.get(exec)?.abort();
  }

  closeExec(exec: number): void {
    this.#execs.delete(exec);
  }

  /** Ends what a dead instance has running. */
  abandon(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    for (const controller of this.#execs.values()) controller.abort();
    this.#timers.clear();
    this.#execs.clear();
  }

  watch(value: object, id: number): boolean {
    this.#check();
    if (!isThenable(value)) return false;
    Promise.resolve(value).then(
      (result) => this.#report(id, true, result),
      (error) => this.#report(id, false, error),
    );
    return true;
  }

  #report(id: number, fulfilled: boolean, value: unknown): void {
    if (!this.isDead) this.#core.enter(() => glue.promise_settled(id, fulfilled, value));
  }

  explain(thrown: unknown): string {
    return JSON.stringify(explained(thrown));
  }

  bytes(value: unknown): Uint8Array | undefined {
    return bytesOf(value);
  }

  fileInfo(value: unknown): string | undefined {
    if (typeof value !== "object" || value === null) return undefined;
    const { name, path, kind, size, mtimeMs } = value as Record<string, unknown>;
    return JSON.stringify({ name, path, kind, size: Number(size), mtimeMs: Number(mtimeMs) });
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

  before(call: number, args: string, access: string): Promise<string> | undefined {
    this.#check();
    return this.#core.running(call)?.before(args, access);
  }

  after(call: number, args: string, result: string): Promise<string> | undefined {
    this.#check();
    return this.#core.running(call)?.after(args, result);
  }

  started(call: number): void {
    this.#core.running(call)?.started();
  }

  wantsUpdates(call: number): boolean {
    return this.#core.running(call)?.wantsUpdates() ?? false;
  }

  updated(call: number, partial: string): void {
    this.#core.running(call)?.updated(partial);
  }

  mutated(call: number, change: string): void {
    this.#core.running(call)?.mutated(change);
  }

  settled(call: number, result: string, durationMs: number): void {
    if (!this.isDead) this.#core.running(call)?.settled(result, durationMs);
  }
}

/** Chunks of one stream as bytes. A string may end between the halves of a surrogate pair. */
class TextChunks {
  #half = "";

  bytes(chunk: unknown): Uint8Array {
    if (typeof chunk === "string") {
      const text = this.#half + chunk;
      const cut = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
      this.#half = text.slice(cut);
      return encoder.encode(text.slice(0, cut));
    }
    const bytes = bytesOf(chunk);
    if (bytes) return bytes;
    throw new TypeError(`expected a chunk of output as a string or a Uint8Array, got ${typeof chunk}`);
  }

  rest(): Uint8Array {
    const rest = encoder.encode(this.#half);
    this.#half = "";
    return rest;
  }
}
