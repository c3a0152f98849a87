/**
 * Node's errors as this package's.
 *
 * @module
 */

import type { ToolErrorCode } from "../../types.js";
import { explained } from "../../values.js";
import { codeOfErrno, type EnvError, failure } from "../failure.js";

/** Node's name for what went wrong, such as `ENOENT`. Empty where there is none. */
export function errnoNameOf(thrown: unknown): string {
  return explained(thrown).code ?? "";
}

/** The Error to throw for what Node threw. Its message is Node's: it names the call and the path. */
export function coded(thrown: unknown): EnvError {
  const { code = "", message = "" } = explained(thrown);
  const known = codeOfErrno(code);
  if (known === "aborted") return failure("aborted", "Operation aborted", thrown);
  return failure(known ?? ours(code) ?? OTHERS[code] ?? "unknown", message, thrown);
}

/** One that is ours already keeps its code. */
function ours(code: string): ToolErrorCode | undefined {
  return /^[a-z_]+$/.test(code) ? (code as ToolErrorCode) : undefined;
}

const OTHERS: Record<string, ToolErrorCode | undefined> = {
  ERR_FS_FILE_TOO_LARGE: "not_supported",
  ENXIO: "not_supported",
  EXDEV: "not_supported",
};

/** The same outcome, with failures that have a code. */
export async function withCodes<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    throw coded(error);
  }
}
