/**
 * Options of an environment's methods whose signal is made when somebody looks at it. To make an AbortSignal takes
 * longer than most of what an environment in memory is asked for, and hardly any of it waits.
 *
 * @module
 */

import type { Options } from "./types.js";

const IS_ABORTED = Symbol("isAborted");

interface LazyOptions extends Options {
  /** Of these very options: in a copy, which may have another signal, it means nothing. */
  readonly [IS_ABORTED]: { options?: Options; now(): boolean };
}

/** The signal is an own property, so that a wrapper can spread them. */
export function lazyOptions(signal: () => AbortSignal, isAborted: () => boolean): Options {
  const known: LazyOptions[typeof IS_ABORTED] = { now: isAborted };
  const options: LazyOptions = {
    get signal() {
      return signal();
    },
    [IS_ABORTED]: known,
  };
  known.options = options;
  return options;
}

/** Whether their signal has fired. */
export function isAborted(options: Options | undefined): boolean {
  const known = (options as LazyOptions | undefined)?.[IS_ABORTED];
  if (known && known.options === options) return known.now();
  return options?.signal?.aborted ?? false;
}
