/**
 * just-bash, a bash in JavaScript, as an environment's shell: over any environment ({@link withShell}), or over the
 * files of an instance that the host made ({@link justBash}). The shell and the file tools see the same files.
 *
 * | what | here |
 * |---|---|
 * | output while a command runs | no: just-bash hands it over at the end |
 * | output of an aborted command | lost |
 * | abort | between statements, in `sleep`, and with `withShell` at each file; a loop that never waits holds the thread until just-bash's own limits end it |
 * | `cd`, `export`, functions | gone with the command that made them |
 * | bytes that are no UTF-8 on stdout | as just-bash decoded them: each byte one character; in files and pipes they stay bytes |
 * | a variable in `unsetEnv` | gone for the command; a nested `bash -c` or `xargs` gets what the instance was made with |
 * | programs | just-bash's own commands, and `customCommands`; nothing of the host's is ever run |
 * | background commands | none: `&` runs its command at once |
 * | `withShell`: links, modes, times | see the table of `JustBashFileSystem` |
 * | in a page | just-bash's browser build imports gzip from `node:zlib`: let the bundler take something else for it |
 *
 * just-bash is not imported here: the host has it, and passes its class or an instance.
 *
 * @module
 */

import type { ExecOptions, ExecResult, ExecutionEnv, FileInfo, Options } from "../types.js";
import { checkAborted, failure } from "./failure.js";
import type { BashFileSystemLike, BashLike, BashStatLike } from "./just-bash/bash-like.js";
import { coded, runCommand } from "./just-bash/run.js";
import { join, split } from "./paths.js";

export type { BashFileSystemLike, BashLike, BashStatLike } from "./just-bash/bash-like.js";
export { type JustBashFileSystem, type JustBashStat, toJustBashFs } from "./just-bash/file-system.js";
export {
  type BashClass,
  type ShellEnv,
  type ShellOptions,
  type WithShellOptions,
  withShell,
} from "./just-bash/with-shell.js";

/** Options of {@link justBash}. */
export interface JustBashOptions {
  /** Absolute path of the working directory. Default: the instance's. */
  cwd?: string;
  /** Absolute path of the home directory. Default: none, `~` in a path of a file tool is an ordinary name. */
  home?: string;
  /** For the model. Default `"simulated bash, no network, no git"`. */
  description?: string;
}

/** As many links as Linux follows. */
const MAX_LINKS = 40;

const TEMPORARY = "/.tackroom";

/**
 * What {@link justBash} returns. Its methods reject with an Error that has a `code`: `not_found`, `not_directory`,
 * `is_directory`, `already_exists`, `permission_denied`, `busy`, `no_space`, `not_supported`, `invalid_path` (a loop
 * of links), `aborted`, else `unknown`.
 */
export interface JustBashEnv extends ExecutionEnv {
  /** A copy of the bytes. */
  readBinaryFile(path: string, options?: Options): Promise<Uint8Array>;
  /**
   * Replaces or creates the file; a link at the end is followed. It refuses to write over a directory and below a
   * missing one, which just-bash's in-memory file system by itself does not.
   */
  writeFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  /** lstat. */
  fileInfo(path: string, options?: Options): Promise<FileInfo>;
  /** The entries, sorted by name. */
  listDir(path: string, options?: Options): Promise<FileInfo[]>;
  canonicalPath(path: string, options?: Options): Promise<string>;
  createDir(path: string, options?: Options): Promise<void>;
  remove(path: string, options?: Options & { recursive?: boolean }): Promise<void>;
  /** Whatever file is there is removed first: not in one step. */
  renameFile(from: string, to: string, options?: Options): Promise<void>;
  appendFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  /** Creates an empty file in `/.tackroom`: what the instance has is all one tree. `prefix` is `"tmp-"` by default. */
  createTempFile(options?: Options & { prefix?: string; suffix?: string }): Promise<string>;
  /** Output comes with the result, never through the callbacks. An aborted command has no exit code. */
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
}

/**
 * Makes an environment of a just-bash instance.
 *
 * @param bash an instance of just-bash's `Bash`; give it `executionLimits` and `customCommands` as you like
 *
 * @example
 * ```ts
 * import { Bash } from "just-bash";
 * import { createToolset } from "tackroom";
 * import { justBash } from "tackroom/env/just-bash";
 *
 * const bash = new Bash({ files: { "/project/a.txt": "one\n" }, cwd: "/project" });
 * const tools = await createToolset(justBash(bash));
 * await tools.call({ id: "1", name: "bash", arguments: { command: "wc -l < a.txt" } });
 * ```
 */
export function justBash(bash: BashLike, options: JustBashOptions = {}): JustBashEnv {
  const { cwd = bash.getCwd(), home, description = "simulated bash, no network, no git" } = options;
  const { fs } = bash;
  let temporaryFiles = 0;

  const env: JustBashEnv = {
    cwd,
    description,
    shells: ["bash"],

    async readBinaryFile(path, options) {
      checkAborted(options);
      // In memory, just-bash answers with the very bytes it keeps.
      return (await below(fs, path, fs.readFileBuffer(path))).slice();
    },

    async writeFile(path, content, options) {
      checkAborted(options);
      const target = await resolveTarget(fs, path);
      if ((await lstatOrNull(fs, target))?.isDirectory) {
        throw failure("is_directory", `expected a file, found a directory: ${path}`);
      }
      checkAborted(options);
      await coded(fs.writeFile(target, content.slice()));
    },

    async fileInfo(path, options) {
      checkAborted(options);
      return describe(path, await below(fs, path, fs.lstat(path)));
    },

    async listDir(path, options) {
      checkAborted(options);
      const directory = await below(fs, path, fs.realpath(path));
      const names = await coded(fs.readdir(directory));
      const entries = await Promise.all(
        names.map(async (name) => {
          const entry = join(directory, name);
          const stat = await lstatOrNull(fs, entry);
          return stat && describe(entry, stat);
        }),
      );
      return entries.filter((entry) => entry !== null);
    },

    async canonicalPath(path, options) {
      checkAborted(options);
      return below(fs, path, fs.realpath(path));
    },

    async createDir(path, options) {
      checkAborted(options);
      const names = path.split("/").filter((name) => name !== "" && name !== ".");
      for (let length = 1; length <= names.length; length++) {
        const prefix = `/${names.slice(0, length).join("/")}`;
        const target = await resolveTarget(fs, prefix);
        const stat = await lstatOrNull(fs, target);
        // Recursive for its other meaning: somebody else may have made it meanwhile.
        if (!stat) await coded(fs.mkdir(target, { recursive: true }));
        else if (!stat.isDirectory) {
          throw failure(
            length === names.length ? "already_exists" : "not_directory",
            `expected a directory, found a file: ${prefix}`,
          );
        }
      }
    },

    async remove(path, options) {
      checkAborted(options);
      const place = await placeOf(fs, path);
      const stat = await coded(fs.lstat(place));
      if (place === "/") throw failure("permission_denied", `expected a path below the top: ${path}`);
      if (!options?.recursive && stat.isDirectory) await checkEmpty(fs, place, path);
      await coded(fs.rm(place, { recursive: stat.isDirectory }));
    },

    async renameFile(from, to, options) {
      checkAborted(options);
      const [source, target] = [await placeOf(fs, from), await placeOf(fs, to)];
      const moved = await coded(fs.lstat(source));
      if (source === target) return;
      if (moved.isDirectory && `${target}/`.startsWith(`${source}/`)) {
        throw failure("invalid_path", `expected a path outside of ${from}, found one in it: ${to}`);
      }
      const replaced = await lstatOrNull(fs, target);
      if (replaced?.isDirectory) {
        if (!moved.isDirectory) throw failure("is_directory", `expected a file, found a directory: ${to}`);
        await checkEmpty(fs, target, to);
      } else if (replaced && moved.isDirectory) {
        throw failure("not_directory", `expected a directory or nothing, found a file: ${to}`);
      }
      if (replaced) await coded(fs.rm(target, { recursive: replaced.isDirectory }));
      await coded(fs.mv(source, target));
    },

    async appendFile(path, content, options) {
      checkAborted(options);
      const target = await resolveTarget(fs, path);
      if ((await lstatOrNull(fs, target))?.isDirectory) {
        throw failure("is_directory", `expected a file, found a directory: ${path}`);
      }
      await coded(fs.appendFile(target, content.slice()));
    },

    async createTempFile(options) {
      checkAborted(options);
      const { prefix = "tmp-", suffix = "" } = options ?? {};
      if (/[/\0]/.test(prefix + suffix)) {
        throw failure("invalid_path", `expected a part of a name, found ${JSON.stringify(prefix + suffix)}`);
      }
      await env.createDir(TEMPORARY);
      for (;;) {
        const path = `${TEMPORARY}/${prefix}${++temporaryFiles}${suffix}`;
        if (await lstatOrNull(fs, path)) continue;
        await coded(fs.writeFile(path, new Uint8Array()));
        return path;
      }
    },

    exec: (command, options) => runCommand(bash, command, options),
  };
  return home === undefined ? env : Object.assign(env, { home });
}

/**
 * Where writing to this path has to go: links resolved, the last name possibly missing. just-bash's in-memory
 * file system keeps files by path and would replace a link, or store below one.
 */
async function resolveTarget(fs: BashFileSystemLike, path: string): Promise<string> {
  let target = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    if (target === "/") return target;
    const { parent, name } = split(target);
    const directory = await coded(fs.realpath(parent));
    if (!(await coded(fs.stat(directory))).isDirectory) {
      throw failure("not_directory", `expected a directory, found a file: ${parent}`);
    }
    const resolved = join(directory, name);
    if (name === "." || name === "..") return coded(fs.realpath(resolved));
    if (!(await lstatOrNull(fs, resolved))?.isSymbolicLink) return resolved;
    const next = await coded(fs.readlink(resolved));
    target = next.startsWith("/") ? next : join(directory, next);
  }
  throw failure("invalid_path", `expected a path, found a loop of links: ${path}`);
}

/** The path with its directory resolved, and a link at its end left alone. */
async function placeOf(fs: BashFileSystemLike, path: string): Promise<string> {
  const { parent, name } = split(path);
  if (name === "") return "/";
  return join(await below(fs, path, fs.realpath(parent)), name);
}

async function checkEmpty(fs: BashFileSystemLike, directory: string, path: string): Promise<void> {
  const { length } = await coded(fs.readdir(directory));
  if (length > 0) {
    throw failure("already_exists", `expected an empty directory, found one of ${length} entries: ${path}`);
  }
}

/** The same outcome, with a code; what is missing because a file stands in the middle of the path says that. */
async function below<T>(fs: BashFileSystemLike, path: string, outcome: Promise<T>): Promise<T> {
  try {
    return await coded(outcome);
  } catch (error) {
    throw (error as { code?: string }).code === "not_found" && (await isBelowFile(fs, path))
      ? failure("not_directory", `not a directory: ${path}`, error)
      : error;
  }
}

/** Whether the deepest ancestor that there is is no directory: just-bash says of what is below it that it is missing. */
async function isBelowFile(fs: BashFileSystemLike, path: string): Promise<boolean> {
  for (let at = split(path).parent; at !== "/"; at = split(at).parent) {
    const stat = await fs.stat(at).catch(() => null);
    if (stat) return !stat.isDirectory;
  }
  return false;
}

/** lstat, with null for what is missing. */
async function lstatOrNull(fs: BashFileSystemLike, path: string): Promise<BashStatLike | null> {
  try {
    return await coded(fs.lstat(path));
  } catch (error) {
    if ((error as { code?: string }).code === "not_found") return null;
    throw error;
  }
}

function describe(path: string, stat: BashStatLike): FileInfo {
  const kind = stat.isSymbolicLink ? "symlink" : stat.isDirectory ? "directory" : "file";
  return { name: split(path).name, path, kind, size: stat.size, mtimeMs: stat.mtime.getTime() };
}
