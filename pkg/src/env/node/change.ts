/**
 * Changes of the tree: adding to a file, moving, removing.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { cp, lstat, open, rename, rm, rmdir, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errnoNameOf } from "./errors.js";
import { checkRegular } from "./read.js";

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/** Adds to a file's end, wherever that is by then, or creates the file. */
export async function append(path: string, shown: string, content: Uint8Array): Promise<void> {
  const file = await open(path, APPEND, 0o666);
  try {
    checkRegular(await file.stat(), shown);
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

/** rename(2), and what stands for it between two file systems: a copy beside the target, then a rename. */
export async function move(from: string, to: string): Promise<void> {
  try {
    return await rename(from, to);
  } catch (error) {
    if (errnoNameOf(error) !== "EXDEV") throw error;
  }
  const copy = join(dirname(to), `.tackroom-${randomBytes(8).toString("hex")}.tmp`);
  try {
    await cp(from, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await rename(copy, to);
  } catch (error) {
    await rm(copy, { recursive: true, force: true });
    throw error;
  }
  await rm(from, { recursive: true });
}

/** Removes a file, a link or an empty directory, or a directory with what is in it. */
export async function remove(path: string, isRecursive: boolean): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (isRecursive) await rm(path, { recursive: true });
  else await rmdir(path);
}
