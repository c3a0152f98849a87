/**
 * The wasm instance, and its successors. One serves all toolsets of a page.
 *
 * Every entry into wasm goes through {@link Core.enter}. Whatever is thrown there is a trap: the instance is
 * dead, all calls in flight are answered as errors, and the next call gets a new instance of the same module.
 * What a toolset is made of (options, active list) lives on this side and is replayed.
 *
 * @module
 */

import * as glue from "../wasm/core.js";
import { Boundary } from "./boundary.js";
import { ToolError } from "./errors.js";
import { textOf } from "./values.js";

export { glue };

/** What {@link Core.enter} answers when the instance trapped. */
export const TRAPPED = Symbol("trapped");

/** A call that is not answered yet, as the core sees it. */
export interface RunningCall {
  readonly signal: AbortSignal;
  started(): void;
  wantsUpdates(): boolean;
  updated(partial: string): void;
  mutated(change: string): void;
  settled(result: string, durationMs: number): void;
  before(args: string, access: string): Promise<string>;
  after(args: string, result: string): Promise<string>;
  /** The instance died under it. */
  trapped(reason: string): void;
}

const encoder = new TextEncoder();

export class Core {
  readonly #module: WebAssembly.Module;
  readonly #calls = new Map<number, RunningCall>();
  #boundary: Boundary | undefined;
  #exports: glue.InitOutput | undefined;
  #nextCall = 0;
  #depth = 0;
  /** Counts the instances: a handle of one means nothing to the next. */
  generation = 0;

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  static async load(module: WebAssembly.Module): Promise<Core> {
    const core = new Core(module);
    try {
      glue.initSync({ module });
    } catch (error) {
      // Chromium before 115 instantiates only small modules synchronously on the main thread.
      if (!(error instanceof RangeError)) throw error;
      await glue.default({ module_or_path: module });
    }
    core.#begin();
    return core;
  }

  /** Whether an entry can be made now. A dead instance can be replaced once none of its frames is on the stack. */
  get isReady(): boolean {
    return this.#boundary !== undefined || this.#depth === 0;
  }

  /** Waits until the frames of a dead instance have left the stack. */
  async ready(): Promise<void> {
    while (!this.isReady) await Promise.resolve();
  }

  /** Replaces a dead instance. */
  wake(): void {
    if (this.#boundary) return;
    if (this.#depth > 0)
      throw new ToolError("The tool core has failed and is being restarted: try again", "trapped");
    glue.__wbg_reset_state();
    this.#begin();
  }

  #begin(): void {
    // Answers the exports of the instance there is.
    this.#exports = glue.initSync({ module: this.#module });
    this.generation++;
    this.#boundary = new Boundary(this);
    const boundary = this.#boundary;
    this.enter(() => glue.start(boundary));
  }

  /** The one way into wasm. */
  enter<T>(entry: () => T): T | typeof TRAPPED {
    const generation = this.generation;
    this.#depth++;
    try {
      return entry();
    } catch (error) {
      this.#die(error, generation);
      return TRAPPED;
    } finally {
      this.#depth--;
    }
  }

  #die(error: unknown, generation: number): void {
    if (!this.#boundary || generation !== this.generation) return;
    const boundary = this.#boundary;
    boundary.isDead = true;
    this.#boundary = undefined;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.trapped(textOf(error));
    boundary.abandon();
  }

  /** Puts texts into the scratch buffer, one after the other. Only within an entry. */
  put(...texts: string[]): number[] {
    const parts = texts.map((text) => encoder.encode(text));
    const lengths = parts.map((part) => part.length);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    let at = glue.scratch(total);
    for (const part of parts) {
      this.#memory(at, part.length).set(part);
      at += part.length;
    }
    return lengths;
  }

  /** The same for bytes. */
  putBytes(bytes: Uint8Array): void {
    const at = glue.scratch(bytes.length);
    this.#memory(at, bytes.length).set(bytes);
  }

  #memory(at: number, length: number): Uint8Array {
    if (!this.#exports) throw new Error("no instance");
    return new Uint8Array(this.#exports.memory.buffer, at, length);
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
