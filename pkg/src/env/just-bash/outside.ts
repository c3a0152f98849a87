/**
 * Calls out of a running just-bash command.
 *
 * While a command runs under Node, just-bash forbids its asynchronous context a good deal: timers, `process.env`,
 * `Proxy`, dynamic imports. An environment that is called from there would be forbidden the same, although it is the
 * host's. So it is not called from there: the call is handed to a loop that began outside, and whose asynchronous
 * context is therefore the host's.
 *
 * @module
 */

import type { MaybePromise } from "../../types.js";
import { failure } from "../failure.js";

export class Outside {
  readonly #signal: AbortSignal | undefined;
  readonly #jobs: (() => void)[] = [];
  readonly #waiting = new Set<(error: unknown) => void>();
  #wake: () => void = () => {};
  #isOver = false;

  /** @param signal when it fires, nothing is called any more, and nothing that was called is waited for */
  constructor(signal?: AbortSignal) {
    this.#signal = signal;
    signal?.addEventListener("abort", this.#abort, { once: true });
    void this.#loop();
  }

  /** Calls `job` outside, and settles as it does. */
  run<T>(job: () => MaybePromise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#isOver || this.#signal?.aborted) return reject(aborted());
      this.#waiting.add(reject);
      this.#jobs.push(async () => {
        try {
          resolve(await job());
        } catch (error) {
          reject(error);
        } finally {
          this.#waiting.delete(reject);
        }
      });
      this.#wake();
    });
  }

  /** Ends the loop, and lets go of the signal. */
  close(): void {
    this.#isOver = true;
    this.#signal?.removeEventListener("abort", this.#abort);
    this.#abort();
    this.#wake();
  }

  readonly #abort = () => {
    this.#jobs.length = 0;
    for (const reject of this.#waiting) reject(aborted());
    this.#waiting.clear();
  };

  async #loop(): Promise<void> {
    while (!this.#isOver) {
      await new Promise<void>((wake) => {
        this.#wake = wake;
        if (this.#jobs.length > 0) wake();
      });
      for (const job of this.#jobs.splice(0)) job();
    }
  }
}

const aborted = () => failure("aborted", "Operation aborted");
