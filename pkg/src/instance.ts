/**
 * An instance of a wasm module that runs calls, and its successors. One serves all toolsets of a page.
 *
 * Every entry into wasm goes through {@link Instance.enter}. Whatever is thrown there is a trap: the instance is
 * dead, all calls in flight are answered as errors, and the next call gets a new instance of the same module.
 * What a toolset is made of (options, active list) lives on this side and is replayed.
 *
 * @module
 */

import { Boundary } from "./boundary.js";
import { ToolError } from "./errors.js";
import type { ImageLimits } from "./images.js";
import { guarded } from "./running.js";
import { reserveStack } from "./stack.js";
import type { Options } from "./types.js";
import { textOf } from "./values.js";

/** What {@link Instance.enter} answers when the instance trapped. */
export const TRAPPED = Symbol("trapped");

/** What is used here of a module's glue. */
export interface Glue {
  initSync(given: { module: WebAssembly.Module }): { readonly memory: WebAssembly.Memory };
  default(given: { module_or_path: WebAssembly.Module }): Promise<unknown>;
  __wbg_reset_state(): void;
  start(boundary: Boundary): void;
  scratch(length: number): number;
  promise_settled(id: number, fulfilled: boolean, value: unknown): void;
  /** Of the module that runs commands. */
  exec_chunk?(exec: number, isStderr: boolean, length: number): number;
}

/** A call that is not answered yet, as the core sees it. */
export interface RunningCall {
  readonly signal: AbortSignal;
  /** What the environment's methods get. */
  readonly options: Options;
  /** `shown`: JSON of the arguments without the secrets in them, where there are any. */
  started(shown?: string): void;
  /** The text as the host's function among the options shows it. */
  redact(text: string): string;
  wantsUpdates(): boolean;
  updated(partial: string): void;
  wantsMutations(): boolean;
  mutated(change: string): void;
  /** The result as JSON; `text` belongs into its first part, which is empty there. */
  settled(result: string, durationMs: number, text?: string): void;
  showImage(
    bytes: Uint8Array<ArrayBuffer>,
    mimeType: string,
    limits: ImageLimits | undefined,
  ): Promise<string>;
  before(args: string, access: string): Promise<string>;
  after(args: string, result: string): Promise<string>;
  /** JSON of what spawnHook made of a command; undefined without one. */
  spawn(spawn: string): Promise<string> | undefined;
  /**
   * Starts a search in the module that can; `undefined` asks how it goes on. The answer is JSON:
   * `{"update": …}` as long as it runs, at its end `{"ok": …}` or `{"error": …}`.
   */
  search(job: string | undefined): Promise<string>;
  /** The instance died under it. */
  trapped(reason: string): void;
}

const encoder = new TextEncoder();

/** Texts of up to so many units are encoded in place, where three bytes have to be free for each. */
const SHORT = 20_000;

/** Bytes that the scratch buffer has at least, and how large a one stays: as src/wasm/exports.rs has it. */
const [SCRATCH_LEAST, SCRATCH_KEPT] = [64 * 1024, 1024 * 1024];

const NO_BYTES = new Uint8Array();

/** An instance that trapped, and whom it has to answer to. */
interface Fallen {
  boundary: Boundary;
  calls: Map<number, RunningCall>;
  error: unknown;
}

export class Instance<G extends Glue = Glue> {
  readonly glue: G;
  readonly #module: WebAssembly.Module;
  /** Those of this instance. */
  #calls = new Map<number, RunningCall>();
  #boundary: Boundary | undefined;
  #exports: { readonly memory: WebAssembly.Memory } | undefined;
  #scratch = NO_BYTES;
  #nextCall = 0;
  #depth = 0;
  readonly #fallen: Fallen[] = [];
  /** Sees to the fallen, later. */
  #alarm: () => void = () => {};
  /** Counts the instances: a handle of one means nothing to the next. */
  generation = 0;

  private constructor(glue: G, module: WebAssembly.Module) {
    this.glue = glue;
    this.#module = module;
  }

  /**
   * Starts a module.
   *
   * @param name its name, for messages
   * @param expected a name among its exports that no other module has
   */
  static async load<G extends Glue>(
    glue: G,
    module: WebAssembly.Module,
    name: string,
    expected: string,
  ): Promise<Instance<G>> {
    // The glue keeps the first module that can be instantiated, for good.
    const names = WebAssembly.Module.exports(module).map((exported) => exported.name);
    if (!names.includes(expected) || !names.includes("__wbindgen_start"))
      throw new ToolError(`Expected Tackroom's ${name}.wasm, found another wasm module`, "invalid_arguments");
    const made = new Instance(glue, module);
    try {
      glue.initSync({ module });
    } catch (error) {
      // Chromium before 115 instantiates only small modules synchronously on the main thread.
      if (!(error instanceof RangeError))
        throw new ToolError(
          `Could not start Tackroom's wasm module, which may be of another version: ${textOf(error)}`,
          "invalid_arguments",
        );
      await glue.default({ module_or_path: module });
    }
    made.#begin();
    return made;
  }

  /** Whether an entry can be made now. A dead instance can be replaced once none of its frames is on the stack. */
  get isReady(): boolean {
    return this.isAlive || this.#depth === 0;
  }

  /** Whether there is an instance that has not trapped. */
  get isAlive(): boolean {
    return this.#boundary !== undefined;
  }

  /** Waits until the frames of a dead instance have left the stack. */
  async ready(): Promise<void> {
    while (!this.isReady) await Promise.resolve();
  }

  /** Replaces a dead instance. Its frames must be gone: what the glue does for them would reach the new one. */
  wake(): void {
    if (this.isAlive) return;
    if (this.#depth > 0)
      throw new ToolError("The tool core has failed and is being restarted: try again", "trapped");
    this.glue.__wbg_reset_state();
    this.#begin();
    if (!this.isAlive) throw new ToolError("The tool core could not be restarted", "trapped");
  }

  #begin(): void {
    // Answers the exports of the instance there is.
    this.#exports = this.glue.initSync({ module: this.#module });
    this.#scratch = NO_BYTES;
    this.generation++;
    this.#calls = new Map();
    const boundary = new Boundary(this);
    this.#boundary = boundary;
    const trapped = new Promise<void>((resolve) => {
      this.#alarm = resolve;
    });
    trapped.then(() => this.#bury());
    this.enter(() => this.glue.start(boundary));
  }

  /**
   * The one way into wasm. The contents are in the scratch buffer, one after the other, when the entry runs; it gets
   * their lengths in bytes. What is thrown before it runs (a text too large, hardly any stack left) is no trap.
   */
  enter<T>(entry: (...lengths: number[]) => T, ...contents: (string | Uint8Array)[]): T | typeof TRAPPED {
    for (let nth = 0; nth < contents.length; nth++) {
      const part = contents[nth];
      if (typeof part === "string") {
        if (part.length > SHORT) contents[nth] = encoder.encode(part);
      } else if (!ArrayBuffer.isView(part)) {
        // Below, it would be taken for a trap.
        throw new TypeError(`expected a text or bytes, got ${typeof part}`);
      }
    }
    reserveStack(this.#depth);
    const generation = this.generation;
    this.#depth++;
    try {
      return contents.length === 0 ? entry() : entry(...this.#put(contents));
    } catch (error) {
      // Takes note, no more: the stack may be as good as full, and frames of the instance may be on it. Those who wait
      // are answered in a microtask. No function of ours is called: there may be no room to compile it.
      const boundary = this.#boundary;
      if (boundary !== undefined && generation === this.generation) {
        boundary.isDead = true;
        this.#boundary = undefined;
        this.#fallen.push({ boundary, calls: this.#calls, error });
        this.#alarm();
      }
      return TRAPPED;
    } finally {
      this.#depth--;
    }
  }

  /** Answers the calls that dead instances had in flight, and ends what these had begun. */
  #bury(): void {
    for (const { boundary, calls, error } of this.#fallen.splice(0)) {
      for (const call of calls.values()) guarded("a signal", () => call.trapped(textOf(error)));
      guarded("a signal", () => boundary.abandon());
    }
  }

  /** Puts what an entry gets into the scratch buffer, short texts without bytes in between. Answers the lengths. */
  #put(parts: (string | Uint8Array)[]): number[] {
    let total = 0;
    for (const part of parts) total += typeof part === "string" ? part.length * 3 : part.length;
    const scratch = this.#scratchOf(total);
    const [first] = parts;
    // A chunk of a stream.
    if (parts.length === 1 && typeof first === "object") {
      scratch.set(first);
      return [first.length];
    }
    let at = 0;
    return parts.map((part) => {
      let length = part.length;
      if (typeof part !== "string") scratch.set(part, at);
      else length = encoder.encodeInto(part, at === 0 ? scratch : scratch.subarray(at)).written;
      at += length;
      return length;
    });
  }

  /**
   * The buffer, with room for so many bytes. A view has no bytes any more once the memory has grown. Within another
   * entry it is asked for each time: that one may still be reading from its own.
   */
  #scratchOf(total: number): Uint8Array {
    const isKept = this.#depth === 1 && this.#scratch.length > 0;
    if (isKept && total <= this.#scratch.length) return this.#scratch;
    if (!this.#exports) throw new Error("no instance");
    const at = this.glue.scratch(total);
    const length = Math.max(total, SCRATCH_LEAST);
    const view = new Uint8Array(this.#exports.memory.buffer, at, length);
    // A larger one is gone after the entry, and this one is where it is until the next is asked for.
    this.#scratch = length <= SCRATCH_KEPT ? view : NO_BYTES;
    return view;
  }

  /** Gives a call its number. */
  register(call: RunningCall): number {
    const id = this.#nextCall++;
    this.#calls.set(id, call);
    return id;
  }

  running(id: number): RunningCall | undefined {
    return this.#calls.get(id);
  }

  forget(id: number): void {
    this.#calls.delete(id);
  }
}

/** What an entry that can fail answers. */
export function unwrap<T>(answer: string | typeof TRAPPED): T {
  if (answer === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
  const parsed = JSON.parse(answer);
  if (parsed.error)
    throw new ToolError(parsed.error.message, parsed.error.code, parsed.error.path ?? undefined);
  return parsed.ok;
}
