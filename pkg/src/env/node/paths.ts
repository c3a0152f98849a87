/**
 * Paths as tools write them, and as the system does. They are the same but on Windows, where `/c/work` stands for
 * `C:\work`, as Git's bash has it.
 *
 * @module
 */

import { posix } from "node:path";
import { failure } from "../failure.js";

/** What differs between systems. */
export interface PathRules {
  isWindows: boolean;
  /** Absolute, as tools write it. */
  cwd: string;
}

/**
 * The path for the system. Relative ones are against `cwd`.
 *
 * @throws `invalid_path` for one that is empty or has a NUL
 */
export function toSystem(path: string, { isWindows, cwd }: PathRules): string {
  if (path === "" || path.includes("\0")) {
    throw failure("invalid_path", `expected a path, found ${JSON.stringify(path)}`);
  }
  const absolute = path.startsWith("/") ? path : `${cwd}/${path}`;
  if (!isWindows) return absolute;
  const [, drive, rest] = /^\/([a-z])(?:\/(.*))?$/is.exec(absolute) ?? [];
  if (drive === undefined) {
    throw failure("not_found", `expected a path that begins with a drive, such as /c/, found ${path}`);
  }
  return `${drive.toUpperCase()}:\\${(rest ?? "").replaceAll("/", "\\")}`;
}

/** The path as tools write it. */
export function fromSystem(path: string, isWindows: boolean): string {
  if (!isWindows) return path;
  const [, drive, rest] = /^(?:\\\\\?\\)?([a-z]):[\\/]?(.*)$/is.exec(path) ?? [];
  if (drive === undefined) return path.replaceAll("\\", "/");
  return `/${drive.toLowerCase()}/${rest?.replaceAll("\\", "/")}`.replace(/(?<=.)\/$/, "");
}

/** The path made absolute, without `.` and `..`. */
export function resolved(path: string, cwd: string): string {
  return posix.resolve(cwd, path);
}
