/**
 * An environment's files as just-bash's file system interface.
 *
 * | what | here |
 * |---|---|
 * | modes | every file is `-rwxr-xr-x`, so scripts run; `chmod` changes nothing, and is no failure |
 * | `touch` of a file that is there, `touch -d` | changes nothing, and is no failure |
 * | `ln`, with or without `-s` | fails: an environment has no method for it. Links that are there are followed |
 * | `readlink` | where the link leads in the end, absolute |
 * | `mv` without the environment's `renameFile` | copies, then removes: not in one step |
 * | `>>` without `appendFile` | reads and writes the whole file; two commands wait for each other |
 * | `>` into a directory that is missing | makes it, as just-bash's own file systems do |
 * | a redirection that the environment refuses | ends the command, with exit code 1 and without what it had printed |
 * | `rm`, `mv` without `remove`; `mkdir` without `createDir` | fail |
 * | `cp -r` of a link | copies the file that it leads to; a link to a directory is a failure |
 * | `/usr/bin`, `/dev/null` and the like | just-bash's own, never the environment's |
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, MaybePromise, Options, Result } from "../../types.js";
import { bytesOf, kindOf, textOf } from "../../values.js";
import { errnoOf, failure } from "../failure.js";
import { join, normalized, split } from "../paths.js";
import { decode, type Encoding, encode } from "./encoding.js";
import { Outside } from "./outside.js";
import { type SystemEntry, SystemFiles } from "./system-files.js";

/** What just-bash's `stat` is to answer. */
export interface JustBashStat {
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  /** 0o755, of a link 0o777: environments tell none. */
  mode: number;
  /** In bytes. */
  size: number;
  mtime: Date;
}

type Content = string | Uint8Array;
type Coding = Encoding | { encoding?: Encoding | null } | null;

/**
 * What {@link toJustBashFs} returns: just-bash's `IFileSystem`, as of 3.4.2. Each method rejects with an Error whose
 * message begins with `ENOENT:` or the like, as just-bash's own do, and whose `code` is that name.
 */
export interface JustBashFileSystem {
  readFile(path: string, options?: Coding): Promise<string>;
  readFileBuffer(path: string): Promise<Uint8Array>;
  writeFile(path: string, content: Content, options?: Coding): Promise<void>;
  appendFile(path: string, content: Content, options?: Coding): Promise<void>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<JustBashStat>;
  lstat(path: string): Promise<JustBashStat>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>;
  readdir(path: string): Promise<string[]>;
  readdirWithFileTypes(
    path: string,
  ): Promise<{ name: string; isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean }[]>;
  rm(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>;
  cp(from: string, to: string, options?: { recursive?: boolean }): Promise<void>;
  mv(from: string, to: string): Promise<void>;
  resolvePath(base: string, path: string): string;
  /** Always empty: it has to answer at once, and an environment need not. just-bash then lists directories. */
  getAllPaths(): string[];
  chmod(path: string, mode: number): Promise<void>;
  symlink(target: string, path: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  utimes(path: string, atime: Date, mtime: Date): Promise<void>;
  /** just-bash calls it when an instance is made, for the directories that it has itself. */
  mkdirSync(path: string, options?: { recursive?: boolean }): void;
  /** The same for its own files. Nothing of the environment is ever written by it. */
  writeFileSync(path: string, content: Content): void;
}

/**
 * An environment's files for just-bash: `new Bash({ fs: toJustBashFs(env), cwd: env.cwd })` works on them. For an
 * environment with such a shell see {@link withShell}.
 *
 * @param env any environment: its methods may answer with values or promises, throw, or return Results
 * @param options `signal`: when it fires, no further method is called, and what waits for one fails
 *
 * @example
 * ```ts
 * import { Bash } from "just-bash";
 * import { memory } from "tackroom/env/memory";
 * import { toJustBashFs } from "tackroom/env/just-bash";
 *
 * const env = memory({ "/project/a.txt": "b\na\n" }, { cwd: "/project" });
 * const bash = new Bash({ fs: toJustBashFs(env), cwd: env.cwd });
 * await bash.exec("sort a.txt > sorted.txt");
 * env.snapshot()["/project/sorted.txt"]; // "a\nb\n", as bytes
 * ```
 */
export function toJustBashFs(env: ExecutionEnv, options: Options = {}): JustBashFileSystem {
  return fileSystemOf(env, new Outside(options.signal), options);
}

/** The same, called through `outside`, which can be closed. */
export function fileSystemOf(env: ExecutionEnv, outside: Outside, options: Options): JustBashFileSystem {
  const system = new SystemFiles();

  /** Calls a method of the environment. Whatever it fails with comes out in just-bash's words. */
  async function ask<T>(what: string, path: string, job: () => MaybePromise<T | Result<T>>): Promise<T> {
    try {
      return await outside.run(async () => unwrapped(await job()));
    } catch (error) {
      throw worded(error, what, path);
    }
  }

  async function bytesAt(path: string): Promise<Uint8Array> {
    const own = system.instead(path);
    if (own) return readSystem(own, path);
    if (system.hides(path)) throw missing("open", path);
    try {
      const answer = await ask("open", path, () => env.readBinaryFile(path, options));
      const bytes = bytesOf(answer);
      if (!bytes) throw worded(lacking(answer, "a Uint8Array"), "open", path);
      return bytes;
    } catch (error) {
      return readSystem(otherwise(error, path), path);
    }
  }

  /** Where the environment has nothing, what just-bash has. Else throws the error. */
  function otherwise(error: unknown, path: string): SystemEntry {
    const own = (error as { code?: string }).code === "ENOENT" ? system.else(path) : undefined;
    if (!own) throw error;
    return own;
  }

  async function lstat(path: string): Promise<JustBashStat> {
    const own = system.instead(path);
    if (own) return statOfSystem(own);
    if (system.hides(path)) throw missing("lstat", path);
    try {
      const info = await ask("lstat", path, () => env.fileInfo(path, options));
      if (!isInfo(info)) throw worded(lacking(info, "a FileInfo"), "lstat", path);
      return statOf(info);
    } catch (error) {
      return statOfSystem(otherwise(error, path));
    }
  }

  async function stat(path: string): Promise<JustBashStat> {
    const own = await lstat(path);
    if (!own.isSymbolicLink) return own;
    if (env.canonicalPath) return lstat(await realpath(path));
    // The environment follows its links, and does not say where they lead.
    try {
      await entries(path);
      return { ...own, ...flags("directory"), size: 0, mode: MODE };
    } catch {
      return { ...own, ...flags("file"), size: (await bytesAt(path)).length, mode: MODE };
    }
  }

  async function lstatOrNull(path: string): Promise<JustBashStat | null> {
    try {
      return await lstat(path);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async function exists(path: string): Promise<boolean> {
    try {
      await stat(path);
      return true;
    } catch (error) {
      // A command that is over is not to go on as if nothing were there.
      if ((error as { code?: string }).code === "ECANCELED") throw error;
      return false;
    }
  }

  async function realpath(path: string): Promise<string> {
    const { canonicalPath } = env;
    if (system.else(path) || system.hides(path) || !canonicalPath) {
      await lstat(path);
      return normalized(path);
    }
    const answer = await ask("realpath", path, () => canonicalPath.call(env, path, options));
    if (typeof answer !== "string") throw worded(lacking(answer, "a path"), "realpath", path);
    return answer;
  }

  async function entries(path: string): Promise<FileInfo[]> {
    try {
      const answer = await ask("scandir", path, () => env.listDir(path, options));
      if (!Array.isArray(answer)) throw worded(lacking(answer, "an array"), "scandir", path);
      const odd = answer.findIndex((entry) => !isInfo(entry));
      if (odd !== -1) throw worded(lacking(answer[odd], "a FileInfo"), "scandir", path);
      return [...answer].sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      if (otherwise(error, path) !== "directory") throw worded({ code: "ENOTDIR" }, "scandir", path);
      return system.names(path).map((name) => {
        const own = system.else(join(path, name));
        const kind = own === "directory" ? "directory" : "file";
        return { name, path: join(path, name), kind, size: 0, mtimeMs: 0 };
      });
    }
  }

  /** What a path that is to be written must not be. True: it is a device, and what is written is gone. */
  function isDiscarded(path: string): boolean {
    if (system.hides(path)) throw worded({ code: "EACCES" }, "open", path);
    if (!system.instead(path)) return false;
    if (path.startsWith("/dev/")) return true;
    throw worded({ code: "EACCES" }, "open", path);
  }

  async function write(path: string, bytes: Uint8Array): Promise<void> {
    if (isDiscarded(path)) return;
    await intoDirectory(path, () => ask("open", path, () => env.writeFile(path, bytes, options)));
  }

  /** Does it again with the directory made, where that was missing: so do just-bash's own file systems. */
  async function intoDirectory(path: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      const { parent } = split(normalized(path));
      if (!isMissing(error) || !env.createDir || (await lstatOrNull(parent))) throw error;
      await mkdir(parent, { recursive: true });
      await write();
    }
  }

  async function append(path: string, bytes: Uint8Array): Promise<void> {
    if (isDiscarded(path)) return;
    const { appendFile } = env;
    if (appendFile) {
      const add = () => ask("open", path, () => appendFile.call(env, path, bytes, options));
      return intoDirectory(path, add);
    }
    await alone(env, path, async () => {
      const before = await bytesAt(path).catch((error) => {
        if (isMissing(error)) return new Uint8Array();
        throw error;
      });
      const after = new Uint8Array(before.length + bytes.length);
      after.set(before);
      after.set(bytes, before.length);
      await write(path, after);
    });
  }

  async function mkdir(path: string, { recursive = false } = {}): Promise<void> {
    const { createDir } = env;
    if (!recursive) {
      if (await lstatOrNull(path)) throw worded({ code: "EEXIST" }, "mkdir", path);
      const { parent } = split(path);
      if (!(await stat(parent)).isDirectory) throw worded({ code: "ENOTDIR" }, "mkdir", path);
    } else if (system.else(path) === "directory" && (await exists(path))) return;
    if (!createDir) throw unable("createDir", "mkdir", path);
    await ask("mkdir", path, () => createDir.call(env, path, options));
  }

  async function remove(path: string, recursive: boolean): Promise<void> {
    const { remove } = env;
    if (!remove) throw unable("remove", "rm", path);
    await ask("rm", path, () => remove.call(env, path, { ...options, recursive }));
  }

  async function rm(path: string, { recursive = false, force = false } = {}): Promise<void> {
    if (system.instead(path) || system.hides(path)) throw worded({ code: "EACCES" }, "rm", path);
    const found = await lstatOrNull(path);
    if (!found) {
      if (force) return;
      throw missing("rm", path);
    }
    if (found.isDirectory && !recursive && (await entries(path)).length > 0) {
      throw worded({ code: "ENOTEMPTY" }, "rm", path);
    }
    await remove(path, found.isDirectory);
  }

  async function copy(from: string, to: string, recursive: boolean, isBelow = false): Promise<void> {
    const own = await lstat(from);
    const found = own.isSymbolicLink ? await stat(from) : own;
    if (!found.isDirectory) return write(to, await bytesAt(from));
    if (isBelow && own.isSymbolicLink) {
      const words = "an environment has no method that makes a link, and this one leads to a directory";
      throw worded(failure("not_supported", words), "cp", from);
    }
    if (!recursive) throw worded({ code: "EISDIR" }, "cp", from);
    refuseInside(from, to, "cp");
    const names = (await entries(from)).map(({ name }) => name);
    await mkdir(to, { recursive: true });
    for (const name of names) await copy(join(from, name), join(to, name), true, true);
  }

  async function mv(from: string, to: string): Promise<void> {
    if (system.instead(from) || system.hides(from)) throw worded({ code: "EACCES" }, "rename", from);
    isDiscarded(to);
    const found = await lstat(from);
    if (normalized(from) === normalized(to)) return;
    if (found.isDirectory) refuseInside(from, to, "rename");
    const { renameFile } = env;
    if (renameFile) {
      try {
        return await ask("rename", from, () => renameFile.call(env, from, to, options));
      } catch (error) {
        // Many that rename files cannot rename directories.
        const { code } = error as { code?: string };
        if (!found.isDirectory || (code !== "ENOSYS" && code !== "EISDIR" && code !== "ENOTSUP")) throw error;
      }
    }
    if (!env.remove) throw unable("renameFile or remove", "rename", from);
    const replaced = await lstatOrNull(to);
    if (replaced?.isDirectory) {
      if (!found.isDirectory) throw worded({ code: "EISDIR" }, "rename", to);
      if ((await entries(to)).length > 0) throw worded({ code: "ENOTEMPTY" }, "rename", to);
    } else if (replaced) {
      if (found.isDirectory) throw worded({ code: "ENOTDIR" }, "rename", to);
      // A link is replaced itself, not what it leads to.
      if (replaced.isSymbolicLink) await remove(to, false);
    }
    await copy(from, to, true);
    await remove(from, found.isDirectory);
  }

  const noLinks = (path: string) =>
    worded(failure("not_supported", "an environment has no method that makes a link"), "link", path);

  return {
    readFile: async (path, coding) => decode(await bytesAt(path), encodingOf(coding)),
    readFileBuffer: bytesAt,
    writeFile: (path, content, coding) => write(path, encode(content, encodingOf(coding))),
    appendFile: (path, content, coding) => append(path, encode(content, encodingOf(coding))),
    exists,
    stat,
    lstat,
    mkdir,
    readdir: async (path) => (await entries(path)).map(({ name }) => name),
    readdirWithFileTypes: async (path) =>
      (await entries(path)).map(({ name, kind }) => ({ name, ...flags(kind) })),
    rm,
    cp: (from, to, { recursive = false } = {}) => copy(from, to, recursive),
    mv,
    resolvePath: (base, path) => normalized(path.startsWith("/") ? path : `${base}/${path}`),
    getAllPaths: () => [],
    chmod: async (path) => void (await stat(path)),
    utimes: async (path) => void (await stat(path)),
    async symlink(_, path) {
      throw noLinks(path);
    },
    async link(_, path) {
      throw noLinks(path);
    },
    async readlink(path) {
      if (!(await lstat(path)).isSymbolicLink) throw worded({ code: "EINVAL" }, "readlink", path);
      return realpath(path);
    },
    realpath,
    mkdirSync: (path) => system.makeDirectory(normalized(path)),
    writeFileSync: (path, content) => system.writeFile(normalized(path), content),
  };
}

const MODE = 0o755;

function statOf({ kind, size, mtimeMs }: FileInfo): JustBashStat {
  const mode = kind === "symlink" ? 0o777 : MODE;
  return { ...flags(kind), mode, size: Number(size) || 0, mtime: new Date(Number(mtimeMs) || 0) };
}

function statOfSystem(entry: SystemEntry): JustBashStat {
  const [kind, size] =
    entry === "directory" ? (["directory", 0] as const) : (["file", entry.length] as const);
  return { ...flags(kind), mode: MODE, size, mtime: new Date(0) };
}

function readSystem(entry: SystemEntry, path: string): Uint8Array {
  if (entry === "directory") throw worded({ code: "EISDIR" }, "read", path);
  return entry;
}

function flags(kind: FileInfo["kind"]) {
  return {
    isFile: kind === "file",
    isDirectory: kind === "directory",
    isSymbolicLink: kind === "symlink",
  };
}

function isInfo(value: unknown): value is FileInfo {
  if (typeof value !== "object" || value === null) return false;
  const { name, kind } = value as Partial<FileInfo>;
  return typeof name === "string" && (kind === "file" || kind === "directory" || kind === "symlink");
}

/** What a method answered, out of its Result if it is one. Throws what a failed one holds. */
function unwrapped<T>(answer: T | Result<T>): T {
  if (typeof answer !== "object" || answer === null) return answer as T;
  const result = answer as Partial<Extract<Result<T>, { ok: true }>> & { error?: unknown };
  if (typeof result.ok !== "boolean") return answer as T;
  if (!result.ok) throw result.error;
  return result.value as T;
}

/** Null where a value was due means that nothing is there. */
function lacking(answer: unknown, expected: string) {
  if (answer === null || answer === undefined) return failure("not_found", "");
  return failure("unknown", `expected ${expected}, found ${kindOf(answer)}`);
}

/** An Error as just-bash's own file systems throw. */
function worded(thrown: unknown, what: string, path: string): Error {
  if (thrown instanceof JustBashFsError) return thrown;
  const code = errnoOf(thrown);
  const words = WORDS[code] ?? textOf(thrown).replace(/^E[A-Z0-9]+:\s*/, "");
  return new JustBashFsError(code, `${code}: ${words}, ${what} '${path}'`, thrown);
}

class JustBashFsError extends Error {
  readonly code: string;
  constructor(code: string, message: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** As the system says it. Of other codes the environment's own words say more. */
const WORDS: Record<string, string | undefined> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
  ENOTDIR: "not a directory",
  EISDIR: "illegal operation on a directory",
  EEXIST: "file already exists",
  ENOTEMPTY: "directory not empty",
  EBUSY: "resource busy or locked",
  ENOSPC: "no space left on device",
  ELOOP: "too many symbolic links encountered",
  EINVAL: "invalid argument",
  ECANCELED: "operation canceled",
};

const missing = (what: string, path: string) => worded({ code: "ENOENT" }, what, path);

function unable(method: string, what: string, path: string): Error {
  return worded(failure("not_supported", `the environment has no ${method}`), what, path);
}

function isMissing(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "ENOENT" || code === "ENOTDIR";
}

function refuseInside(from: string, to: string, what: string): void {
  if (`${normalized(to)}/`.startsWith(`${normalized(from)}/`)) {
    throw worded(failure("invalid_path", ""), what, to);
  }
}

function encodingOf(coding: Coding | undefined): Encoding {
  return (typeof coding === "string" ? coding : coding?.encoding) ?? "utf8";
}

/** The last change of a file by reading and writing it, per environment. */
const queues = new WeakMap<ExecutionEnv, Map<string, Promise<unknown>>>();

/** Runs after what it was given before for the same file. */
async function alone(env: ExecutionEnv, path: string, change: () => Promise<void>): Promise<void> {
  const queue = queues.get(env) ?? new Map<string, Promise<unknown>>();
  queues.set(env, queue);
  const turn = (queue.get(path) ?? Promise.resolve()).then(change, change);
  queue.set(path, turn);
  try {
    await turn;
  } finally {
    if (queue.get(path) === turn) queue.delete(path);
  }
}
