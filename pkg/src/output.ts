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
  readonly #send: (part: Uint8Array) => void;
  #half = "";
  /** What came instead of a chunk, if something did. */
  wrong: string | undefined;

  constructor(isHeard: () => boolean, send: (part: Uint8Array) => void) {
    this.#isHeard = isHeard;
    this.#send = send;
  }

  /** Never throws: the environment may be in a callback of its own, where a throw ends the process. */
  push(chunk: unknown): void {
    if (!this.#isHeard()) return;
    try {
      const bytes = typeof chunk === "string" ? this.#whole(chunk) : bytesOf(chunk);
      if (bytes) this.#pass(bytes);
      else this.wrong ??= kindOf(chunk);
    } catch {
      this.wrong ??= "something that cannot be read";
    }
  }

  /** What is left of a text that ended within a character. */
  end(): void {
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

  #pass(bytes: Uint8Array): void {
    if (bytes.length <= PART) {
      if (bytes.length > 0 && this.#isHeard()) this.#send(bytes);
      return;
    }
    for (let at = 0; at < bytes.length && this.#isHeard(); at += PART)
      this.#send(bytes.subarray(at, at + PART));
  }
}
