/**
 * How an environment of this package fails: an Error with a code.
 *
 * @module
 */

import type { Options, ToolErrorCode } from "../types.js";

/** An Error whose `code` says what went wrong. */
export interface EnvError extends Error {
  code: ToolErrorCode;
}

/**
 * Makes the Error to throw.
 *
 * @param message what was expected and what was found, with the path, no full stop
 * @param cause the Error that it stands for, where there is one
 */
export function failure(code: ToolErrorCode, message: string, cause?: unknown): EnvError {
  const error = cause === undefined ? new Error(message) : new Error(message, { cause });
  return Object.assign(error, { code });
}

/** Throws `aborted` if the signal has fired. */
export function checkAborted(options: Options | undefined): void {
  if (options?.signal?.aborted) throw failure("aborted", "Operation aborted");
}
