/**
 * What is in a directory.
 *
 * @module
 */

import type { Dirent, Stats } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { FileInfo, Options } from "../../types.js";
import { checkAborted } from "../failure.js";
import { errnoNameOf } from "./errors.js";

/** Entries that are looked at at a time. */
const AT_A_TIME = 256;

/** What lstat says of an entry. Whatever is no directory and no link counts as a file. */
export function fileInfoOf(name: string, path: string, stats: Stats): FileInfo {
  return { name, path, kind: kindOf(stats), size: stats.size, mtimeMs: stats.mtimeMs };
}

/**
 * The entries of a directory, in the order of their names. One that goes meanwhile is left out; of one that may not be
 * looked at, the kind is known and nothing else.
 *
 * @param shown the directory's path, as tools write it
 */
export async function listDirectory(path: string, shown: string, options?: Options): Promise<FileInfo[]> {
  const entries = await readdir(path, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const infos: FileInfo[] = [];
  for (let at = 0; at < entries.length; at += AT_A_TIME) {
    checkAborted(options);
    const part = entries.slice(at, at + AT_A_TIME).map((entry) => {
      const { name } = entry;
      return look(entry, join(path, name), `${shown === "/" ? "" : shown}/${name}`);
    });
    for (const info of await Promise.all(part)) if (info) infos.push(info);
  }
  return infos;
}

async function look(entry: Dirent, path: string, shown: string): Promise<FileInfo | null> {
  try {
    return fileInfoOf(entry.name, shown, await lstat(path));
  } catch (error) {
    if (errnoNameOf(error) === "ENOENT") return null;
    return { name: entry.name, path: shown, kind: kindOf(entry), size: 0, mtimeMs: 0 };
  }
}

function kindOf(entry: Dirent | Stats): FileInfo["kind"] {
  if (entry.isSymbolicLink()) return "symlink";
  return entry.isDirectory() ? "directory" : "file";
}
