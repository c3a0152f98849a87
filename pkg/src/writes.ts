/**
 * Writes that the host has not finished, and the identity of environments.
 *
 * The mutation queue lives in the core. When an instance traps, its queue is gone, but a write that it began is
 * still with the host; the next instance asks here before it changes the same file.
 *
 * @module
 */

import { isThenable, settled } from "./values.js";

interface Write {
  generation: number;
  settled: Promise<unknown>;
}

/** What every view of the same files has in common. */
interface Identity {
  readonly key: number;
}

const identities = new WeakMap<object, Identity>();
let nextKey = 0;

/** An object that is the same for every view of an environment's files. */
export function identityOf(env: object): Identity {
  let identity = identities.get(env);
  if (identity === undefined) {
    identity = { key: nextKey++ };
    identities.set(env, identity);
  }
  return identity;
}

/** The number of an environment, the same for every toolset over it. */
export function environmentKey(env: object): number {
  return identityOf(env).key;
}

/**
 * Says that `wrapper` is another view of the same files as `base`: their changes wait in one queue, whichever of the
 * two a toolset was given, and temporary files of one are known to the other.
 */
export function shareIdentity(wrapper: object, base: object): void {
  identities.set(wrapper, identityOf(base));
}

class WritesInFlight {
  readonly #writes = new Map<string, Set<Write>>();

  /** Remembers a write until it settles. Answers what the environment answered. */
  track(env: object, path: string, generation: number, answer: unknown): unknown {
    if (!isThenable(answer)) return answer;
    const promise = settled(answer);
    const place = `${environmentKey(env)} ${path}`;
    const writes = this.#writes.get(place) ?? new Set();
    const forget = () => {
      writes.delete(write);
      if (writes.size === 0) this.#writes.delete(place);
    };
    const write: Write = { generation, settled: promise.then(forget, forget) };
    writes.add(write);
    this.#writes.set(place, writes);
    return promise;
  }

  /** The writes to a file that older instances began, if there are any. */
  earlierThan(env: number, path: string, generation: number): Promise<unknown> | undefined {
    const writes = [...(this.#writes.get(`${env} ${path}`) ?? [])];
    const earlier = writes.filter((write) => write.generation < generation).map((write) => write.settled);
    return earlier.length > 0 ? Promise.all(earlier) : undefined;
  }
}

export const writesInFlight = new WritesInFlight();
