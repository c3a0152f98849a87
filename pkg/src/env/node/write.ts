/**
 * Replacing a file in one step: whoever reads it, at whatever moment, and whatever happens to this process, finds the
 * old bytes or the new ones.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, lstat, open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, sep } from "node:path";
import type { Options } from "../../types.js";
import { checkAborted, failure } from "../failure.js";
import { errnoNameOf } from "./errors.js";
import { checkRegular } from "./read.js";
import { isWindows } from "./shells.js";

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** What a directory says in which nothing can be made, though the file in it may be written. */
const NO_NEW_FILES = new Set(["EACCES", "EPERM", "EROFS"]);
/** What a file says that cannot be replaced, as one that is mounted. */
const NOT_REPLACED = new Set(["EBUSY", "EXDEV", "EPERM"]);

/** The end of a path that can only be a directory's. */
const NO_NAME = isWindows ? /[\\/]\.{0,2}$/ : /\/\.{0,2}$/;

/** Writes the file that the path leads to, links followed. */
export async function writeWhole(
  path: string,
  shown: string,
  content: Uint8Array,
  options?: Options,
): Promise<void> {
  checkAborted(options);
  const target = await resolveTarget(path, shown);
  const before = await statOrNull(target);
  if (before) {
    checkRegular(before, shown);
    // Replacing it would go through where writing to it does not.
    await access(target, constants.W_OK);
  }
  const temporary = join(dirname(target), `.tackroom-${randomBytes(8).toString("hex")}.tmp`);
  let file: FileHandle;
  try {
    file = await open(temporary, "wx", before ? 0o600 : 0o666);
  } catch (error) {
    if (before && NO_NEW_FILES.has(errnoNameOf(error))) return writeInPlace(target, content, options);
    throw about(error, temporary, target);
  }
  try {
    try {
      await put(file, content, options);
      if (before) await keepOwnerAndMode(file, before);
    } finally {
      await file.close();
    }
    checkAborted(options);
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    if (before && NOT_REPLACED.has(errnoNameOf(error))) return writeInPlace(target, content, options);
    throw about(error, temporary, target);
  }
}

/** Not in one step, but the only way there is. */
async function writeInPlace(target: string, content: Uint8Array, options?: Options): Promise<void> {
  checkAborted(options);
  const file = await open(target, constants.O_WRONLY | constants.O_TRUNC);
  try {
    // What has begun is not broken off: half a file would be left.
    await put(file, content);
  } finally {
    await file.close();
  }
}

async function put(file: FileHandle, content: Uint8Array, options?: Options): Promise<void> {
  const { signal } = options ?? {};
  await file.writeFile(content, signal ? { signal } : {});
}

async function keepOwnerAndMode(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid) {
    // Only root may give files away. Another's file stays another's, and is written where it is.
    await file.chown(uid, gid).catch((error) => {
      throw Object.assign(new Error("the owner cannot be kept", { cause: error }), { code: "EPERM" });
    });
  }
  await file.chmod(mode & 0o7777);
}

/**
 * Where writing has to go: every link resolved, the last name possibly missing.
 *
 * @throws what is wrong with the directory
 */
export async function resolveTarget(path: string, shown: string): Promise<string> {
  let target = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    try {
      return await realpath(target);
    } catch (error) {
      if (errnoNameOf(error) !== "ENOENT") throw error;
    }
    const parent = await realpath(dirname(target));
    if (NO_NAME.test(target)) throw failure("not_found", `expected a file, found nothing: ${shown}`);
    const place = join(parent, basename(target));
    if (!(await lstatOrNull(place))?.isSymbolicLink()) return place;
    // It leads to what is not there yet.
    const next = await readlink(place);
    // As it is: `..` in it may follow a link.
    target = isAbsolute(next) ? next : `${parent}${sep}${next}`;
  }
  throw failure("invalid_path", `expected a path, found a loop of links: ${shown}`);
}

const statOrNull = (path: string) => orNull(stat(path));
const lstatOrNull = (path: string) => orNull(lstat(path));

async function orNull(found: Promise<Stats>): Promise<Stats | null> {
  try {
    return await found;
  } catch (error) {
    if (errnoNameOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** The same Error, which speaks of the target. */
function about(error: unknown, temporary: string, target: string): unknown {
  if (error instanceof Error && error.message.includes(temporary)) {
    error.message = error.message.replaceAll(temporary, target);
  }
  return error;
}
