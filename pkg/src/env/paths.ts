/**
 * Absolute POSIX paths as text.
 *
 * @module
 */

import { failure } from "./failure.js";

/** Linux's PATH_MAX, in bytes: `MAX_BYTES` of src/path.rs. */
const MOST_BYTES = 4096;

export function split(path: string): { parent: string; name: string } {
  const trimmed = path.replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  return { parent: trimmed.slice(0, slash) || "/", name: trimmed.slice(slash + 1) };
}

export function join(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Without `.`, `..` and repeated slashes. */
export function normalized(path: string): string {
  return `/${namesOf(path).join("/")}`;
}

/** The names in a path, after `.` and `..` have had their effect. */
export function namesOf(path: string): string[] {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

/**
 * The absolute, normal form of a path; relative ones are against `cwd`. By its text: `..` takes the name before it,
 * whether that is a link or not.
 *
 * @throws `invalid_path` for one that is no string, is empty, has a NUL or more than 4096 bytes
 */
export function absolute(path: string, cwd: string): string {
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw failure("invalid_path", `expected a path, found ${JSON.stringify(path)}`);
  }
  if (path.length * 3 > MOST_BYTES && new TextEncoder().encode(path).length > MOST_BYTES) {
    throw failure("invalid_path", `expected a path of at most ${MOST_BYTES} bytes: ${path.slice(0, 80)}…`);
  }
  return normalized(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** Whether a normal path is the directory or lies below it. */
export function isInside(directory: string, path: string): boolean {
  return directory === "/" || path === directory || path.startsWith(`${directory}/`);
}

/** What comes after the directory, without a slash before it; of the directory itself, `""`. The path is inside. */
export function below(directory: string, path: string): string {
  return path.slice(directory === "/" ? 1 : directory.length + 1);
}

/** The directory with what {@link below} gave. */
export function within(directory: string, rest: string): string {
  return rest === "" ? directory : join(directory, rest);
}

/** Whether what stands before its end has to be a directory: a final slash, or `.` after one. */
export function namesDirectory(path: string): boolean {
  return /\/\.{0,2}$/.test(path);
}
