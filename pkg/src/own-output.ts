/**
 * Accumulators of a host's own: where `OutputAccumulator` of api.ts keeps what is in the core.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { ToolError } from "./errors.js";
import { TRAPPED, unwrap } from "./instance.js";
import { counted, made, wrong } from "./truncation.js";
import type { TruncationDetails, TruncationResult } from "./types.js";
import { bytesOf } from "./values.js";

const encoder = new TextEncoder();

/** What the scratch buffer has at least: it is not made larger for a chunk. */
const PART = 64 * 1024;

/** An accumulator in one of the core's instances: the next knows nothing of it. */
interface Kept {
  core: Core;
  generation: number;
  id: number;
}

/** Outputs that were forgotten, not disposed. */
const forgotten = new FinalizationRegistry<Kept>(free);

function free({ core, generation, id }: Kept): void {
  if (core.isAlive && core.generation === generation) core.enter(() => glue.output_free(id));
}

/** See `OutputAccumulator` of api.ts. */
export class Output {
  readonly #kept: Kept;
  /** The first half of a character that ended a chunk of text, for each stream. */
  readonly #halves = { stdout: "", stderr: "" };
  #isFinished = false;
  #isDisposed = false;

  constructor(core: Core, options: { maxLines?: number; maxBytes?: number; terminal?: "render" | "raw" }) {
    const maxLines = counted(options?.maxLines ?? 2000, "maxLines");
    const maxBytes = counted(options?.maxBytes ?? 51_200, "maxBytes");
    const terminal = options?.terminal ?? "render";
    if (terminal !== "render" && terminal !== "raw") throw wrong('terminal as "render" or "raw"', terminal);
    core.wake();
    const id = core.enter(() => glue.output_new(maxLines, maxBytes, terminal === "raw"));
    if (id === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
    this.#kept = { core, generation: core.generation, id };
    forgotten.register(this, this.#kept, this.#kept);
  }

  push(chunk: Uint8Array | string, stream: "stdout" | "stderr"): void {
    if (stream !== "stdout" && stream !== "stderr") throw wrong('stream as "stdout" or "stderr"', stream);
    const given = typeof chunk === "string" ? chunk : bytesOf(chunk);
    if (given === undefined) throw wrong("chunk as a string or a Uint8Array", chunk);
    if (this.#isFinished || this.#isDisposed) return;
    const half = this.#halves[stream];
    if (typeof given !== "string") {
      if (half !== "") this.#flush(stream);
      this.#give(given, stream);
      return;
    }
    const text = half + given;
    const isCut = /[\ud800-\udbff]/.test(text.slice(-1));
    this.#halves[stream] = isCut ? text.slice(-1) : "";
    this.#give(isCut ? text.slice(0, -1) : text, stream);
  }

  finish(): void {
    this.#check();
    if (this.#isFinished) return;
    this.#flush("stdout");
    this.#flush("stderr");
    this.#enter((id) => glue.output_finish(id));
    this.#isFinished = true;
  }

  snapshot(): TruncationResult {
    this.#check();
    const facts = unwrap<TruncationDetails>(this.#enter((id) => glue.output_snapshot(id)));
    return { content: made(this.#kept.core), ...facts };
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    forgotten.unregister(this.#kept);
    free(this.#kept);
  }

  #check(): void {
    if (this.#isDisposed) throw new ToolError("The output was disposed: make another", "disposed");
  }

  /** A half whose other one has not come is U+FFFD. */
  #flush(stream: "stdout" | "stderr"): void {
    const half = this.#halves[stream];
    this.#halves[stream] = "";
    this.#give(half, stream);
  }

  #give(chunk: Uint8Array | string, stream: "stdout" | "stderr"): void {
    const isStderr = stream === "stderr";
    // No character of UTF-16 has more than three bytes for each of its units.
    const whole = typeof chunk === "string" && chunk.length * 3 > PART ? encoder.encode(chunk) : chunk;
    if (typeof whole === "string" || whole.length <= PART) {
      if (whole.length > 0) this.#take(whole, isStderr);
      return;
    }
    for (let at = 0; at < whole.length; at += PART) this.#take(whole.subarray(at, at + PART), isStderr);
  }

  /** As {@link #enter}, with less on the way: chunks are many. */
  #take(part: Uint8Array | string, isStderr: boolean): void {
    const { core, generation, id } = this.#kept;
    const isThere = core.isAlive && core.generation === generation;
    if (isThere && core.enter((length = 0) => glue.output_push(id, length, isStderr), part) !== TRAPPED)
      return;
    throw lost();
  }

  #enter<T>(entry: (id: number) => T): T {
    const { core, generation, id } = this.#kept;
    if (core.isAlive && core.generation === generation) {
      const answer = core.enter(() => entry(id));
      if (answer !== TRAPPED) return answer;
    }
    throw lost();
  }
}

function lost(): ToolError {
  return new ToolError(
    "The tool core failed, and this output is lost with it: start again with a new OutputAccumulator",
    "trapped",
  );
}
