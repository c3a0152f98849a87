/**
 * An environment's own locks, held for the core.
 *
 * @module
 */

import { ToolError } from "./errors.js";
import { callMethod, isThenable, settle } from "./values.js";
import { environmentKey, writesInFlight } from "./writes.js";

interface Lock {
  env: object;
  path: string;
  release(): void;
}

export class Locks {
  readonly #locks = new Map<number, Lock>();

  /** Settles once the environment's lock on the path is held. It is until {@link release}. */
  take(env: object, path: string, id: number): Promise<void> {
    return new Promise((held, failed) => {
      const released = new Promise<void>((release) => {
        this.#locks.set(id, { env, path, release });
      });
      const answer = callMethod(env, "lock", path, () => {
        held();
        return released;
      });
      // After it was held this says nothing new.
      const over = () => failed(new ToolError("the environment's lock let go before it was held", "unknown"));
      if (isThenable(answer)) settle(answer, over, failed);
      else over();
    });
  }

  /** Lets go. Who still waited for it gets it for nothing, and lets go at once. */
  release(id: number): void {
    this.#locks.get(id)?.release();
    this.#locks.delete(id);
  }

  /** Lets go of all of a dead instance's, each when the writes below it have settled. */
  releaseAfterWrites(generation: number): void {
    for (const { env, path, release } of this.#locks.values()) {
      const writes = writesInFlight.earlierThan(environmentKey(env), path, generation + 1);
      if (writes) writes.then(release, release);
      else release();
    }
    this.#locks.clear();
  }
}
