/**
 * What environments answer, for those that stand around one: values, promises, Results and throws.
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, MaybePromise, Result, ToolErrorCode } from "../types.js";
import { bytesOf, explained, kindOf, settled, textOf } from "../values.js";
import { codeOfErrno, type EnvError, errnoOf, failure } from "./failure.js";

/** The code of whatever was thrown. Never throws. */
export function codeOf(thrown: unknown): ToolErrorCode {
  const { code } = explained(thrown);
  // What this package throws has one of its own, some of which no errno stands for.
  if (code && /^[a-z]+(_[a-z]+)*$/.test(code)) return code as ToolErrorCode;
  return codeOfErrno(errnoOf(thrown)) ?? "unknown";
}

/** Whether nothing is there: it is missing, or a file stands in the middle of the path. */
export function isMissing(thrown: unknown): boolean {
  const code = codeOf(thrown);
  return code === "not_found" || code === "not_directory";
}

/** Waits for an answer, and takes it out of its Result. Throws what it failed with, as an Error with a code. */
export async function answerOf<T>(answer: MaybePromise<T | Result<T>>): Promise<T> {
  const value = await settled(answer);
  const result = failureOf(value);
  if (result) throw result;
  return (isResult(value) ? (value as { value?: unknown }).value : value) as T;
}

/** What a failed Result holds, as an Error with a code; undefined for anything else. */
export function failureOf(value: unknown): EnvError | undefined {
  if (!isResult(value) || value.ok) return undefined;
  const { error } = value as { error?: unknown };
  return failure(codeOf(error), textOf(error), error);
}

/** An outcome as a Result. */
export async function resultOf<T>(outcome: Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await outcome };
  } catch (error) {
    return { ok: false, error: { code: codeOf(error), message: textOf(error) } };
  }
}

function isResult(value: unknown): value is { ok: boolean } {
  return typeof value === "object" && value !== null && typeof (value as { ok?: unknown }).ok === "boolean";
}

/** Null where a value was due means that nothing is there. */
function lacking(value: unknown, expected: string, path: string): EnvError {
  if (value === null || value === undefined) {
    return failure("not_found", `expected ${expected}, found nothing: ${path}`);
  }
  return failure("unknown", `expected ${expected}, found ${kindOf(value)}: ${path}`);
}

/** The answer as bytes. @throws `not_found`, `unknown` for what is none */
export function asBytes(value: unknown, path: string): Uint8Array {
  const bytes = bytesOf(value);
  if (!bytes) throw lacking(value, "a Uint8Array", path);
  return bytes;
}

/** The answer as a path. @throws `not_found`, `unknown` for what is none */
export function asPath(value: unknown, path: string): string {
  if (typeof value !== "string" || !value.startsWith("/")) throw lacking(value, "an absolute path", path);
  return value;
}

/** The answer as a FileInfo. @throws `not_found`, `unknown` for what is none */
export function asInfo(value: unknown, path: string): FileInfo {
  const { name, kind } = (typeof value === "object" && value !== null ? value : {}) as Partial<FileInfo>;
  if (typeof name !== "string" || (kind !== "file" && kind !== "directory" && kind !== "symlink")) {
    throw lacking(value, "a FileInfo", path);
  }
  return value as FileInfo;
}

/** The answer as a listing. @throws `not_found`, `unknown` for what is none */
export function asInfos(value: unknown, path: string): FileInfo[] {
  if (!Array.isArray(value)) throw lacking(value, "an array", path);
  return Array.from(value, (entry) => asInfo(entry, path));
}

/** lstat, with undefined for what is missing. */
export async function infoOrMissing(
  env: ExecutionEnv,
  path: string,
  options?: { signal?: AbortSignal },
): Promise<FileInfo | undefined> {
  try {
    return asInfo(await answerOf(env.fileInfo(path, options)), path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
