/**
 * Reading files. Only regular ones: a named pipe would be waited for, and a device need not end.
 *
 * @module
 */

import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Options } from "../../types.js";
import { checkAborted, failure } from "../failure.js";

/** Opening does not wait, be it a named pipe. Windows has no such flag. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Files whose size is not known beforehand (those of /proc say 0) are read in parts of this size. */
const PART = 64 * 1024;

/** Files up to this size are read at once. */
const SMALL = 1024 * 1024;

/** Of a file whose size is not known, no more than this: some of /proc go on for terabytes. */
const MOST_UNKNOWN = 16 * 1024 * 1024;

/** All of a file. */
export async function readWhole(path: string, shown: string, options?: Options): Promise<Uint8Array> {
  checkAborted(options);
  return reading(path, shown, async (file, { size }) => {
    if (size > 0 && size <= SMALL) {
      // In one step, and one more byte than there is, to see that it is the end.
      const bytes = new Uint8Array(size + 1);
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      if (bytesRead === size) return bytes.subarray(0, size);
    }
    if (size === 0) return readToEnd(file, shown, options);
    const { signal } = options ?? {};
    const buffer = await file.readFile(signal ? { signal } : {});
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
  });
}

/** All of a file that does not say how much it has. */
async function readToEnd(file: FileHandle, shown: string, options?: Options): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const part = new Uint8Array(PART);
    const { bytesRead } = await file.read(part, 0, PART, size);
    if (bytesRead === 0) {
      const all = Buffer.concat(parts, size);
      return new Uint8Array(all.buffer, all.byteOffset, size);
    }
    parts.push(part.subarray(0, bytesRead));
    size += bytesRead;
    if (size > MOST_UNKNOWN) {
      throw failure(
        "not_supported",
        `expected a file of a known size, or one that ends within 16 MB: ${shown}`,
      );
    }
    checkAborted(options);
  }
}

/** The bytes from `start` to before `end`, as far as the file goes. */
export async function readPart(
  path: string,
  shown: string,
  start: number,
  end: number,
  options?: Options,
): Promise<Uint8Array> {
  checkAborted(options);
  return reading(path, shown, async (file, { size }) => {
    const from = Math.max(0, start);
    const rest = size > 0 ? size - from : PART;
    const bytes = new Uint8Array(Math.max(0, Math.min(end - from, rest)));
    let filled = 0;
    while (filled < bytes.length) {
      checkAborted(options);
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled === bytes.length ? bytes : bytes.slice(0, filled);
  });
}

async function reading<T>(
  path: string,
  shown: string,
  use: (file: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> {
  const file = await open(path, READ);
  try {
    const stats = await file.stat();
    checkRegular(stats, shown);
    return await use(file, stats);
  } finally {
    await file.close();
  }
}

/** Throws for what is no regular file. */
export function checkRegular(stats: Stats, shown: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw failure("is_directory", `expected a file, found a directory: ${shown}`);
  throw failure("not_supported", `expected a regular file, found ${kindOf(stats)}: ${shown}`);
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
