/**
 * A file system in memory: the default environment, and the one for tests.
 *
 * It follows POSIX where an agent can tell: directories have to exist, `..` and links are resolved component by
 * component, and a path is refused for the same reason as on a disk. What it does not do: permissions, hard
 * links, quotas, file handles. It has no shell unless the host passes one.
 *
 * @module
 */

import { declareTwin } from "../copies.js";
import type { ExecutionEnv, FileInfo, Options } from "../types.js";
import { checkAborted, failure } from "./failure.js";
import { append, type Growing } from "./growing.js";

/** Options of {@link memory}. */
export interface MemoryOptions {
  /** Absolute path of the working directory, which then exists. Default `"/"`. */
  cwd?: string;
  /** Absolute path of the home directory, which then exists. Default: none, a path with `~` is an error. */
  home?: string;
  /** For the model: what kind of place this is. */
  description?: string;
  /** A shell to run commands in. Default: none, so there are no shell tools. */
  exec?: ExecutionEnv["exec"];
  /** Which shells `exec` runs. Default `["bash"]` where there is `exec`. */
  shells?: ExecutionEnv["shells"];
}

/**
 * What {@link memory} returns. Its methods answer at once (no promises) and fail by throwing an Error with a
 * `code`. Any of them throws `aborted` if `options.signal` has fired, `invalid_path` for a path that is empty,
 * has a NUL or leads through more than 40 links, `not_directory` where a file stands in the middle of the path,
 * and, unless it says otherwise, `not_found` where nothing is there.
 */
export interface MemoryEnv extends ExecutionEnv {
  /** A copy of the bytes. Throws `is_directory`. */
  readBinaryFile(path: string, options?: Options): Uint8Array;
  /** A copy of a part of the bytes, as far as the file goes. Throws `is_directory`. */
  readRange(path: string, start: number, end: number, options?: Options): Uint8Array;
  /**
   * Replaces or creates the file; a link at the end is followed, and its missing target created. Throws
   * `not_found` where the parent directory is missing, `is_directory` where the path is one.
   */
  writeFile(path: string, content: Uint8Array, options?: Options): void;
  /** lstat. `size` of a link is that of its target text, of a directory 0. */
  fileInfo(path: string, options?: Options): FileInfo;
  /** The entries in the order they were made. Throws `not_directory`. */
  listDir(path: string, options?: Options): FileInfo[];
  /** The path with every link resolved. */
  canonicalPath(path: string, options?: Options): string;
  /** Creates what is missing of the path. Throws `already_exists` where its end is a file. */
  createDir(path: string, options?: Options): void;
  /**
   * Removes a file, a link or an empty directory; with `recursive` a directory with all that is in it. Throws
   * `already_exists` for a directory that is not empty, `permission_denied` for the top.
   */
  remove(path: string, options?: Options & { recursive?: boolean }): void;
  /**
   * Moves a file, a link or a directory; a file or an empty directory that is there is replaced. Throws `is_directory`
   * or `not_directory` where one would replace the other kind, `already_exists` where a directory there is not empty,
   * `invalid_path` where a directory would go into itself.
   */
  renameFile(from: string, to: string, options?: Options): void;
  /** Adds bytes to the end of a file, or creates it, as `writeFile` does. Costs what is added, not what is there. */
  appendFile(path: string, content: Uint8Array, options?: Options): void;
  /** Creates an empty file in `/.tackroom`, such as `/.tackroom/tmp-1`. `prefix` is `"tmp-"` by default, `suffix` empty. */
  createTempFile(options?: Options & { prefix?: string; suffix?: string }): string;
  /** Every file's bytes, copied, by absolute path. Links and empty directories are not in it. */
  snapshot(): Record<string, Uint8Array>;
  /**
   * Puts back what {@link MemoryEnv.snapshot} gave, or any such record: afterwards these files are all there is,
   * beside the working and the home directory. Throws as {@link memory} does, and then changes nothing.
   */
  restore(files: Record<string, string | Uint8Array>): void;
  /**
   * Makes a link at `path`, its parents included. `target` is kept as it is: relative to the link's directory, or
   * absolute, existing or not. Throws `already_exists` where `path` is taken.
   */
  symlink(target: string, path: string): void;
}

interface File extends Growing {
  kind: "file";
  mtimeMs: number;
}
interface Link {
  kind: "symlink";
  target: string;
  mtimeMs: number;
}
interface Directory {
  kind: "directory";
  entries: Map<string, Node>;
  mtimeMs: number;
}
type Node = File | Link | Directory;

/** Where a path leads. `node` is undefined where only the last name is missing. */
interface Place {
  parent: Directory;
  name: string;
  node: Node | undefined;
  /** Canonical, but for the last name if links there are not followed. */
  path: string;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** The whole store is the work tree: what is to be out of the way is in here. */
const TEMPORARY = "/.tackroom";

/**
 * Makes an environment that lives in memory.
 *
 * @param files what is in it at the start: contents by path, absolute or relative to `cwd`. Strings are stored as
 * UTF-8, bytes are copied. Parents are created.
 * @throws `invalid_path` for a path that is empty, ends in `/` or has a NUL, or a `cwd` or `home` that is not
 * absolute; `already_exists`, `not_directory` or `is_directory` where one path takes for a directory what another
 * makes a file.
 *
 * @example
 * ```ts
 * import { createToolset } from "tackroom";
 * import { memory } from "tackroom/env/memory";
 *
 * const env = memory({ "src/main.ts": "export {};\n" }, { cwd: "/project" });
 * const tools = await createToolset(env);
 * await tools.call({ id: "1", name: "read", arguments: { path: "src/main.ts" } });
 * env.snapshot(); // { "/project/src/main.ts": Uint8Array(11) }
 * ```
 */
export function memory(
  files: Record<string, string | Uint8Array> = {},
  options: MemoryOptions = {},
): MemoryEnv {
  const { cwd = "/", home, description, exec, shells } = options;
  for (const path of home === undefined ? [cwd] : [cwd, home]) {
    if (!path.startsWith("/"))
      throw failure("invalid_path", `expected an absolute path, found ${JSON.stringify(path)}`);
  }
  let root = fill(files);
  let temporaryFiles = 0;

  /** A tree of these files, the working and the home directory. */
  function fill(contents: Record<string, string | Uint8Array>): Directory {
    const tree = newDirectory();
    makeDirectory(tree, cwd);
    if (home !== undefined) makeDirectory(tree, home);
    for (const [key, content] of Object.entries(contents)) {
      const path = absolute(key);
      if (path.endsWith("/"))
        throw failure("invalid_path", `expected the path of a file, found ${JSON.stringify(key)}`);
      makeDirectory(tree, parentOf(path));
      put(tree, path, typeof content === "string" ? new TextEncoder().encode(content) : content.slice());
    }
    return tree;
  }

  function absolute(path: string): string {
    if (path === "" || path.includes("\0")) {
      throw failure("invalid_path", `expected a path, found ${JSON.stringify(path)}`);
    }
    return path.startsWith("/") ? path : `${cwd}/${path}`;
  }

  function bytesAt(path: string, options?: Options): Uint8Array {
    checkAborted(options);
    const node = direct(root, path) ?? locate(root, absolute(path), true).node;
    if (!node) throw missing(path);
    if (node.kind !== "file") throw failure("is_directory", `expected a file, found a directory: ${path}`);
    return node.bytes;
  }

  function partAt(path: string, start: number, end: number, options?: Options): Uint8Array {
    return bytesAt(path, options).subarray(start, Math.max(start, end));
  }

  function store(path: string, content: Uint8Array, options?: Options): void {
    checkAborted(options);
    put(root, absolute(path), content);
  }

  const env: MemoryEnv = {
    cwd,
    readBinaryFile: (path, options) => bytesAt(path, options).slice(),
    readRange: (path, start, end, options) => partAt(path, start, end, options).slice(),
    writeFile: (path, content, options) => store(path, content.slice(), options),
    fileInfo(path, options) {
      checkAborted(options);
      const place = locate(root, absolute(path), false);
      if (!place.node) throw missing(path);
      return describe(place.name, place.path, place.node);
    },
    listDir(path, options) {
      checkAborted(options);
      const place = locate(root, absolute(path), true);
      if (!place.node) throw missing(path);
      if (place.node.kind !== "directory") throw notDirectory(path);
      return Array.from(place.node.entries, ([name, node]) => describe(name, join(place.path, name), node));
    },
    canonicalPath(path, options) {
      checkAborted(options);
      const place = locate(root, absolute(path), true);
      if (!place.node) throw missing(path);
      return place.path;
    },
    createDir(path, options) {
      checkAborted(options);
      makeDirectory(root, absolute(path));
    },
    remove(path, options) {
      checkAborted(options);
      const { parent, name, node } = locate(root, absolute(path), false);
      if (!node) throw missing(path);
      if (node === root) throw failure("permission_denied", `expected a path below the top: ${path}`);
      if (!options?.recursive) checkEmpty(node, path);
      detach(parent, name);
    },
    renameFile(from, to, options) {
      checkAborted(options);
      move(root, absolute(from), absolute(to));
    },
    appendFile(path, content, options) {
      checkAborted(options);
      const { node } = locate(root, absolute(path), true);
      if (node?.kind === "file") {
        append(node, content);
        node.mtimeMs = Date.now();
      } else put(root, absolute(path), content.slice());
    },
    createTempFile(options) {
      checkAborted(options);
      const { prefix = "tmp-", suffix = "" } = options ?? {};
      if (/[/\0]/.test(prefix + suffix)) {
        throw failure("invalid_path", `expected a part of a name, found ${JSON.stringify(prefix + suffix)}`);
      }
      makeDirectory(root, TEMPORARY);
      for (;;) {
        const path = `${TEMPORARY}/${prefix}${++temporaryFiles}${suffix}`;
        if (locate(root, path, false).node) continue;
        put(root, path, new Uint8Array());
        return path;
      }
    },
    snapshot() {
      return Object.fromEntries(filesUnder(root, "/"));
    },
    restore(contents) {
      root = fill(contents);
    },
    symlink(target, path) {
      if (target === "" || target.includes("\0")) {
        throw failure("invalid_path", `expected a target, found ${JSON.stringify(target)}`);
      }
      const link = absolute(path);
      makeDirectory(root, parentOf(link));
      const { parent, name, node } = locate(root, link, false);
      if (node) throw failure("already_exists", `expected nothing, found a ${node.kind}: ${path}`);
      attach(parent, name, { kind: "symlink", target, mtimeMs: Date.now() });
    },
  };
  declareTwin(env.readBinaryFile, bytesAt);
  declareTwin(env.readRange, partAt);
  declareTwin(env.writeFile, store);
  return Object.assign(
    env,
    home !== undefined && { home },
    description !== undefined && { description },
    exec && { exec },
    shells && { shells },
  );
}

/** The file at an absolute path that leads there through directories alone; else undefined, and {@link locate} tells. */
function direct(root: Directory, path: string): File | undefined {
  if (!path.startsWith("/")) return undefined;
  let here = root;
  let from = 1;
  for (let slash = path.indexOf("/", from); slash !== -1; slash = path.indexOf("/", from)) {
    const next = here.entries.get(path.slice(from, slash));
    if (next?.kind !== "directory") return undefined;
    here = next;
    from = slash + 1;
  }
  const node = here.entries.get(path.slice(from));
  return node?.kind === "file" ? node : undefined;
}

/**
 * Walks a path from the root, one component at a time, so that `..` after a link leaves the link's target.
 *
 * @throws `not_found` or `not_directory` for what is wrong before the last component, `invalid_path` for a loop.
 */
function locate(root: Directory, path: string, followLast: boolean): Place {
  const todo = components(path).reverse();
  const top: Step = { name: "", node: root };
  let here = top;
  let links = 0;
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (name === ".") continue;
    if (name === "..") {
      here = here.up ?? top;
      continue;
    }
    const node = here.node.entries.get(name);
    const last = todo.length === 0;
    if (node?.kind === "symlink" && (followLast || !last)) {
      if (++links > MAX_LINKS)
        throw failure("invalid_path", `expected a path, found a loop of links: ${path}`);
      if (node.target.startsWith("/")) here = top;
      todo.push(...components(node.target).reverse());
    } else if (node?.kind === "directory") {
      here = { name, node, up: here };
    } else if (last) {
      return { parent: here.node, name, node, path: join(pathOf(here), name) };
    } else {
      throw node ? notDirectory(path) : missing(path);
    }
  }
  return { parent: (here.up ?? top).node, name: here.name, node: here.node, path: pathOf(here) };
}

/** A directory on the way, and how it was reached. */
interface Step {
  name: string;
  node: Directory;
  up?: Step;
}

function pathOf({ name, up }: Step): string {
  return up ? join(pathOf(up), name) : "/";
}

/** The names in a path. A final slash counts as `.`: what stands before it must be a directory. */
function components(path: string): string[] {
  const names = path.split("/").filter((name) => name !== "");
  if (path.endsWith("/")) names.push(".");
  return names;
}

function join(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** What stands before the last slash; at the top `/`. */
function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/** Stores the bytes at the end of the path, through links. Takes the array over. */
function put(root: Directory, path: string, bytes: Uint8Array): void {
  const { parent, name, node } = locate(root, path, true);
  if (node?.kind === "directory")
    throw failure("is_directory", `expected a file, found a directory: ${path}`);
  const mtimeMs = Date.now();
  if (node?.kind === "file") {
    Object.assign(node, { bytes, mtimeMs });
    delete node.room;
  } else attach(parent, name, { kind: "file", bytes, mtimeMs });
}

/** rename(2). */
function move(root: Directory, from: string, to: string): void {
  const source = locate(root, from, false);
  const target = locate(root, to, false);
  const { node } = source;
  if (!node) throw missing(from);
  if (node === root || target.node === root)
    throw failure("permission_denied", `expected paths below the top: ${from}, ${to}`);
  if (node === target.node) return;
  if (node.kind === "directory" && `${target.path}/`.startsWith(`${source.path}/`))
    throw failure("invalid_path", `expected a path outside of ${from}, found one in it: ${to}`);
  if (target.node?.kind === "directory") {
    if (node.kind !== "directory")
      throw failure("is_directory", `expected a file or nothing, found a directory: ${to}`);
    checkEmpty(target.node, to);
  } else if (target.node && node.kind === "directory") throw notDirectory(to);
  detach(source.parent, source.name);
  target.parent.entries.set(target.name, node);
  target.parent.mtimeMs = Date.now();
}

function checkEmpty(node: Node, path: string): void {
  const entries = node.kind === "directory" ? node.entries.size : 0;
  if (entries > 0)
    throw failure("already_exists", `expected an empty directory, found one of ${entries} entries: ${path}`);
}

function detach(parent: Directory, name: string): void {
  parent.entries.delete(name);
  parent.mtimeMs = Date.now();
}

/** mkdir -p. */
function makeDirectory(root: Directory, path: string): void {
  const names = components(path).filter((name) => name !== ".");
  for (let length = 1; length <= names.length; length++) {
    const prefix = `/${names.slice(0, length).join("/")}`;
    const { parent, name, node } = locate(root, prefix, false);
    if (!node) {
      attach(parent, name, newDirectory());
      continue;
    }
    const target = locate(root, prefix, true).node;
    if (!target) throw missing(prefix);
    if (target.kind !== "directory") {
      throw length === names.length
        ? failure("already_exists", `expected a directory or nothing, found a file: ${prefix}`)
        : notDirectory(prefix);
    }
  }
}

function newDirectory(): Directory {
  return { kind: "directory", entries: new Map(), mtimeMs: Date.now() };
}

function attach(parent: Directory, name: string, node: Node): void {
  parent.entries.set(name, node);
  parent.mtimeMs = node.mtimeMs;
}

function* filesUnder(directory: Directory, path: string): Generator<[string, Uint8Array]> {
  for (const [name, node] of directory.entries) {
    if (node.kind === "file") yield [join(path, name), node.bytes.slice()];
    else if (node.kind === "directory") yield* filesUnder(node, join(path, name));
  }
}

function describe(name: string, path: string, node: Node): FileInfo {
  return { name, path, kind: node.kind, size: sizeOf(node), mtimeMs: node.mtimeMs };
}

function sizeOf(node: Node): number {
  switch (node.kind) {
    case "file":
      return node.bytes.length;
    case "symlink":
      return new TextEncoder().encode(node.target).length;
    case "directory":
      return 0;
  }
}

function missing(path: string) {
  return failure("not_found", `expected a file or directory, found nothing: ${path}`);
}

function notDirectory(path: string) {
  return failure("not_directory", `expected a directory, found a file: ${path}`);
}
