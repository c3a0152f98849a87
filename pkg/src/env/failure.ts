/**
 * How an environment of this package fails: an Error with a code.
 *
 * @module
 */

import { isAborted } from "../lazy-options.js";
import type { Options, ToolErrorCode } from "../types.js";
import { explained } from "../values.js";

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
  if (isAborted(options)) throw failure("aborted", "Operation aborted");
}

/** What an errno name means, or one of Node's own names that stand for one: the table of src/wasm/convert.rs. */
export function codeOfErrno(name: string): ToolErrorCode | undefined {
  return Object.hasOwn(BY_ERRNO, name) ? BY_ERRNO[name] : undefined;
}

const BY_ERRNO: Record<string, ToolErrorCode> = {
  ENOENT: "not_found",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "permission_denied",
  ENOTDIR: "not_directory",
  EISDIR: "is_directory",
  ERR_FS_EISDIR: "is_directory",
  EEXIST: "already_exists",
  ENOTEMPTY: "already_exists",
  EBUSY: "busy",
  EAGAIN: "busy",
  ETXTBSY: "busy",
  EMFILE: "busy",
  ENFILE: "busy",
  ENOSPC: "no_space",
  EDQUOT: "no_space",
  EFBIG: "no_space",
  ENOSYS: "not_supported",
  ENOTSUP: "not_supported",
  EOPNOTSUPP: "not_supported",
  EINVAL: "invalid_path",
  ENAMETOOLONG: "invalid_path",
  ELOOP: "invalid_path",
  ERR_INVALID_ARG_VALUE: "invalid_path",
  ETIMEDOUT: "timeout",
  ECANCELED: "aborted",
  ABORT_ERR: "aborted",
};

/**
 * The errno that says the most of what an environment threw: its own where it has one, else the one that stands for
 * its code or for the name of a DOMException. `EIO` where nothing is known. Never throws.
 */
export function errnoOf(thrown: unknown): string {
  const { code = "", name = "", message = "" } = explained(thrown);
  if (/^E[A-Z0-9]+$/.test(code)) return code;
  const begins = /^(E[A-Z0-9]+)\b/.exec(message)?.[1] ?? "";
  return (
    ERRNO[code] ?? (codeOfErrno(begins) && begins) ?? ERRNO[codeOfErrno(code) ?? ""] ?? ERRNO[name] ?? "EIO"
  );
}

const ERRNO: Record<string, string | undefined> = Object.assign(Object.create(null), {
  not_found: "ENOENT",
  permission_denied: "EACCES",
  outside_root: "EACCES",
  not_directory: "ENOTDIR",
  is_directory: "EISDIR",
  already_exists: "EEXIST",
  busy: "EBUSY",
  no_space: "ENOSPC",
  not_supported: "ENOSYS",
  invalid_path: "EINVAL",
  timeout: "ETIMEDOUT",
  aborted: "ECANCELED",
  NotFoundError: "ENOENT",
  NotAllowedError: "EACCES",
  SecurityError: "EACCES",
  TypeMismatchError: "ENOTDIR",
  NoModificationAllowedError: "EBUSY",
  InvalidStateError: "EBUSY",
  NotReadableError: "EBUSY",
  InvalidModificationError: "EEXIST",
  QuotaExceededError: "ENOSPC",
  NotSupportedError: "ENOSYS",
  TimeoutError: "ETIMEDOUT",
  AbortError: "ECANCELED",
});
