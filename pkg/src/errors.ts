/**
 * The error that this package throws.
 *
 * @module
 */

import type { ToolErrorCode } from "./types.js";

/**
 * A failure with a code for programs and a message that a model can act on.
 *
 * @example
 * ```ts
 * try {
 *   validateToolArguments(tool, { arguments: text });
 * } catch (error) {
 *   if (error instanceof ToolError && error.code === "cut_off") askForTheCallAgain();
 * }
 * ```
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
  readonly code: ToolErrorCode;
  /** Canonical and absolute, where the failure is about a path. */
  readonly path?: string;

  constructor(message: string, code: ToolErrorCode, path?: string) {
    super(message);
    this.code = code;
    if (path !== undefined) this.path = path;
  }
}

/** Whether it is one of ours. A proxy may throw when it is asked what it is. */
export function isToolError(thrown: unknown): thrown is ToolError {
  try {
    return thrown instanceof ToolError;
  } catch {
    return false;
  }
}
