/**
 * Running a command: a process group of its own, output as it comes, an end that always comes.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import process from "node:process";
import type { Readable } from "node:stream";
import type { ExecOptions, ExecResult } from "../../types.js";
import { isThenable, settled } from "../../values.js";
import { checkAborted, failure } from "../failure.js";
import { coded, errnoNameOf } from "./errors.js";
import { atExit } from "./exit.js";
import { isGroupAlive, signalGroup, TERM_GRACE } from "./group.js";
import { isWindows, type Shell } from "./shells.js";

/** How long output is waited for once the shell has ended, while others keep its pipes open. Milliseconds. */
const GRACE = 200;
/** It begins anew with each chunk, but all in all no longer than this. */
const MOST_GRACE = 1000;
/** What a shell has left in its pipes is less. More is of a process that goes on, and is not waited for. */
const MOST_AFTER_EXIT = 4 * 1024 * 1024;

/**
 * Runs a command to its end.
 *
 * @param cwd as the system writes it
 */
export async function runCommand(
  shell: Shell,
  command: string,
  cwd: string,
  options: ExecOptions,
): Promise<ExecResult> {
  checkAborted(options);
  await checkDirectory(cwd, options.cwd);
  checkAborted(options);
  const child = await started(shell, command, cwd, options);
  const id = child.pid as number;
  const stopWatching = atExit(() => signalGroup(id, "SIGKILL"));
  const ending = new Ending(id, options.signal);
  try {
    const output = new Output(child, options, (error) => ending.fail(error));
    const exitCode = await exited(child);
    await ending.groupEnded();
    await output.ended();
    if (ending.failure) throw ending.failure.error;
    return { exitCode };
  } finally {
    ending.over();
    stopWatching();
    letGo(child);
  }
}

/**
 * The command is over. Who has its pipes all the same, a server in the background say, would get SIGPIPE if they were
 * closed: what still comes is dropped, and does not keep this process.
 */
function letGo(child: ChildProcess): void {
  for (const stream of [child.stdout, child.stderr]) {
    stream?.removeAllListeners("data");
    stream?.resume();
    (stream as { unref?(): void } | null)?.unref?.();
  }
  child.unref();
}

async function checkDirectory(cwd: string, shown: string): Promise<void> {
  const found = await stat(cwd).catch((error) => {
    if (errnoNameOf(error) !== "ENOENT") throw coded(error);
    throw failure("not_found", `expected a directory to run in, found nothing: ${shown}`, error);
  });
  if (!found.isDirectory()) {
    throw failure("not_directory", `expected a directory to run in, found a file: ${shown}`);
  }
}

/** Starts the shell. Settles when it runs, or does not. */
async function started(
  shell: Shell,
  command: string,
  cwd: string,
  options: ExecOptions,
): Promise<ChildProcess> {
  try {
    const child = spawn(shell.program, shell.argumentsFor(command), {
      cwd,
      env: variables(options),
      // With a process group of its own. On Windows that would be a window of its own.
      detached: !isWindows,
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
    // Later ones are of signals that could not be sent.
    child.on("error", () => {});
    return child;
  } catch (error) {
    throw notStarted(error, shell, command);
  }
}

function notStarted(error: unknown, { program }: Shell, command: string) {
  const name = errnoNameOf(error);
  if (name === "ENOENT") {
    return failure("no_shell", `expected a shell, found nothing: ${program}`, error);
  }
  if (name === "E2BIG") {
    const size = Math.ceil(new TextEncoder().encode(command).length / 1024);
    const words = `a command of ${size} KB, with its variables, is more than the system takes`;
    return failure("spawn_failed", `${words}; write it to a file and run that`, error);
  }
  return failure("spawn_failed", `${program} could not be started: ${coded(error).message}`, error);
}

/** This process's variables, without those to remove, then those to set. On Windows their names have no case. */
function variables({ env, unsetEnv }: ExecOptions): Record<string, string | undefined> {
  const fold = (name: string) => (isWindows ? name.toUpperCase() : name);
  const gone = new Set([...unsetEnv, ...(isWindows ? Object.keys(env) : [])].map(fold));
  const kept = Object.entries(process.env).filter(([name]) => !gone.has(fold(name)));
  return { ...Object.fromEntries(kept), ...env };
}

/** The exit code; null where a signal ended the shell. */
function exited(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}

/** Ends the command when its signal fires: SIGTERM, then, for whoever is left of the group, SIGKILL. */
class Ending {
  readonly #id: number;
  readonly #signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #killed: Promise<void> | undefined;
  #isOver = false;
  /** What made it end, if it was not the signal. */
  failure: { error: unknown } | undefined;

  constructor(id: number, signal: AbortSignal) {
    this.#id = id;
    this.#signal = signal;
    if (signal.aborted) this.#begin();
    else signal.addEventListener("abort", this.#begin, { once: true });
  }

  /** The same for a callback that failed. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.#begin();
  }

  readonly #begin = () => {
    if (this.#killed || this.#isOver) return;
    signalGroup(this.#id, "SIGTERM");
    this.#killed = new Promise((killed) => {
      this.#timer = setTimeout(() => {
        signalGroup(this.#id, "SIGKILL");
        killed();
      }, TERM_GRACE);
    });
  };

  /** Once it has begun, settles when nothing of the group is left. */
  async groupEnded(): Promise<void> {
    if (this.#killed && isGroupAlive(this.#id)) await this.#killed;
  }

  over(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#signal.removeEventListener("abort", this.#begin);
  }
}

/** Both streams of a command, on their way to its callbacks. */
class Output {
  readonly #fail: (error: unknown) => void;
  /** Streams that have not ended. */
  #open = 0;
  /** Streams whose callback is waited for. */
  #waiting = 0;
  /** Since the shell's end. */
  #bytes = 0;
  #changed: () => void = () => {};
  /** What comes now is of others. */
  #isOver = false;

  constructor(child: ChildProcess, { onStdout, onStderr }: ExecOptions, fail: (error: unknown) => void) {
    this.#fail = fail;
    this.#pass(child.stdout as Readable, onStdout);
    this.#pass(child.stderr as Readable, onStderr);
  }

  /** Hands over one chunk after the other, and takes no more from the stream until the callback is done with them. */
  #pass(stream: Readable, take: ExecOptions["onStdout"]): void {
    const chunks: Buffer[] = [];
    let isWaiting = false;
    const hand = (chunk: Buffer): void => {
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
      try {
        const answer = take(bytes);
        if (!isThenable(answer)) return;
        isWaiting = true;
        this.#waiting++;
        settled(answer).catch(this.#fail).finally(goOn);
      } catch (error) {
        this.#fail(error);
      }
    };
    const next = (): void => {
      for (let chunk = chunks.shift(); chunk; chunk = isWaiting ? undefined : chunks.shift()) hand(chunk);
      if (isWaiting) stream.pause();
      else stream.resume();
    };
    const goOn = (): void => {
      isWaiting = false;
      this.#waiting--;
      next();
      this.#changed();
    };
    this.#open++;
    stream.on("data", (chunk: Buffer) => {
      if (this.#isOver) return;
      this.#bytes += chunk.length;
      this.#changed();
      chunks.push(chunk);
      // When the shell ends, Node lets paused streams flow.
      if (isWaiting) stream.pause();
      else next();
    });
    // An error of a pipe is its end.
    stream.on("error", () => {});
    stream.once("close", () => {
      this.#open--;
      this.#changed();
    });
  }

  /**
   * To be called when the shell has ended. Settles when its pipes have, too, and every callback; where others keep
   * them open, when nothing comes any more.
   */
  async ended(): Promise<void> {
    this.#bytes = 0;
    let left = MOST_GRACE;
    while (this.#open > 0 && left > 0 && this.#bytes < MOST_AFTER_EXIT) {
      const before = performance.now();
      // While a callback takes its time, nothing can come.
      const isWaiting = this.#waiting > 0;
      if (!(await this.#change(isWaiting ? undefined : Math.min(GRACE, left)))) break;
      if (!isWaiting) left -= performance.now() - before;
    }
    this.#isOver = true;
    while (this.#waiting > 0) await this.#change();
  }

  /** Settles when something happens; false if it has not within so many milliseconds. */
  #change(ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(() => resolve(false), ms);
      this.#changed = () => {
        clearTimeout(timer);
        this.#changed = () => {};
        resolve(true);
      };
    });
  }
}
