/**
 * One stream of a command's output on its way to the core.
 *
 * @module
 */

import { bytesOf, kindOf } from "./values.js";

/** No larger than the scratch buffer that wasm keeps for streams. */
const PART = 64 * 1024;

const encoder = new TextEncoder();

export class OutputStream {
  readonly #isHeard: () => boolean;
  readonly #send: (part: Uint8Array) => Promise<void> | undefined;
  #half = "";
  /** What came instead of a chunk, if something did. */
  wrong: string | undefined;

  constructor(isHeard: () => boolean, send: (part: Uint8Array) => Promise<void> | undefined) {
    this.#isHeard = isHeard;
    this.#send = send;
  }

  /**
   * Never throws: the environment may be in a callback of its own, where a throw ends the process. A promise says that
   * the next chunk should wait for it.
   */
  push(chunk: unknown): Promise<void> | undefined {
    if (!this.#isHeard()) return undefined;
    try {
      const bytes = typeof chunk === "string" ? this.#whole(chunk) : bytesOf(chunk);
      if (bytes) {
        // The other half of a character would have been text, too.
        if (typeof chunk !== "string" && bytes.length > 0) this.end();
        return this.#pass(bytes);
      }
      this.wrong ??= kindOf(chunk);
    } catch {
      this.wrong ??= "something that cannot be read";
    }
    return undefined;
  }

  /** What is left of a text that ended within a character. */
  end(): void {
    if (this.#half === "") return;
    this.#pass(encoder.encode(this.#half));
    this.#half = "";
  }

  /** A string may end between the halves of a surrogate pair. */
  #whole(chunk: string): Uint8Array {
    const text = this.#half + chunk;
    const cut = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    this.#half = text.slice(cut);
    return encoder.encode(text.slice(0, cut));
  }

  #pass(bytes: Uint8Array): Promise<void> | undefined {
    let room: Promise<void> | undefined;
    for (let at = 0; at < bytes.length && this.#isHeard(); at += PART)
      room = this.#send(bytes.length <= PART ? bytes : bytes.subarray(at, at + PART));
    return room;
  }
}
