/**
 * A tree of environments.
 *
 * @module
 */

import type { ExecOptions, ExecutionEnv, FileInfo, Options, Result } from "../../types.js";
import {
  answerOf,
  asBytes,
  asInfo,
  asInfos,
  asPath,
  codeOf,
  infoOrMissing,
  isMissing,
  resultOf,
} from "../answers.js";
import { checkAborted, failure } from "../failure.js";
import { absolute, below, isInside, join, namesDirectory, normalized, split, within } from "../paths.js";
import { refuseUnknown } from "./options.js";
import { Root } from "./root.js";

/** What is mounted: an environment, or a directory of one. */
export type Mounted =
  | ExecutionEnv
  | {
      env: ExecutionEnv;
      /** Absolute path of the directory that is seen. */
      path: string;
    };

/** Options of {@link mounts}. */
export interface MountsOptions {
  /**
   * Absolute path of the working directory. Default: that of the environment whose shell is named, else of the one at
   * `/`, else of the first.
   */
  cwd?: string;
  /** Absolute path of the home directory. Default: none. */
  home?: string;
  /** For the model: what kind of place this is. Default: that of the environment whose shell is named. */
  description?: string;
  /** The mount point whose shell runs commands. Default: none, so there are no shell tools. */
  exec?: string;
}

interface Mount {
  point: string;
  env: ExecutionEnv;
  root: Root;
}

/** Where a path leads: to a mount, or to a directory that is there because something is mounted below it. */
interface Place {
  mount: Mount | undefined;
  /** In the tree. */
  path: string;
  /** In the mount's environment. */
  inner: string;
}

/** As many links from one mount into another as are followed. */
const MAX_LINKS = 40;

/** Where temporary files are that lie in an environment, but not below what is mounted of it. */
const TEMPORARY = "/.tackroom";

/**
 * Puts environments together to a tree. A path belongs to the longest mount point that it lies in; what an environment
 * itself has below that is hidden. Mount points, and the directories above them, are listed whether something else is
 * mounted there or not.
 *
 * | what | here |
 * |---|---|
 * | what is seen of an environment | at `/`: all of it, by its own paths. Elsewhere what is in its `cwd`, or in the `path` that is given |
 * | links | are followed within what is mounted; one that leads out of it, or does not resolve, is `outside_root`, one that leads to where another is mounted leads there |
 * | `..` in a path | is taken by the text |
 * | a rename from one mount to another | copies, then removes: not in one step. A link is `not_supported` |
 * | a mount point, or what is above one | cannot be removed or renamed (`permission_denied`) |
 * | where nothing is mounted | nothing can be written (`permission_denied`) |
 * | a shell | that of the mount named by `exec`: its commands see that environment alone, by its own paths |
 * | temporary files | of the first environment that makes them, the one whose shell is named before others |
 * | the mutation queue | its own: a toolset over the tree and one over an environment in it wait for each other only by that environment's `lock` |
 * | `canonicalPath` | where any has one; in the others a link is then refused |
 * | `readRange` | where all have it |
 * | `walk`, `search` | not there: `grep` and `find` list and read instead |
 *
 * @param tree environments by absolute paths
 * @throws `invalid_path` for a mount point that is not absolute, `invalid_arguments` for a tree without any, a `cwd` where
 * nothing is, an `exec` that names no mount or one without a shell
 *
 * @example
 * ```ts
 * import { memory } from "tackroom/env/memory";
 * import { node } from "tackroom/env/node";
 * import { confined, mounts } from "tackroom/env/wrap";
 *
 * const env = mounts({
 *   "/app": node({ cwd: "/work/project" }),
 *   "/docs": confined(node({ cwd: "/work/docs" }), { readOnly: true }),
 *   "/tmp": memory(),
 * });
 * env.cwd; // "/app"
 * ```
 */
export function mounts(tree: Record<string, Mounted>, options: MountsOptions = {}): ExecutionEnv {
  refuseUnknown("mounts", options, { cwd: "string", home: "string", description: "string", exec: "string" });
  const all = Object.entries(tree).map(([point, mounted]) => mountOf(point, mounted));
  // The longest first: it is the one that a path belongs to.
  const byLength = [...all].sort((a, b) => b.point.length - a.point.length);
  const [first] = all;
  if (!first || new Set(all.map(({ point }) => point)).size < all.length) {
    throw failure("invalid_arguments", "expected one environment a mount point, and at least one");
  }
  const shell = options.exec === undefined ? undefined : shellOf(options.exec);
  const main = shell ?? all.find(({ point }) => point === "/") ?? first;
  const cwd = options.cwd === undefined ? cwdOf(main) : normalized(options.cwd);
  if (!options.cwd?.startsWith("/") && options.cwd !== undefined) {
    throw failure("invalid_path", `expected an absolute path as cwd, found ${JSON.stringify(options.cwd)}`);
  }
  if (!ownerOf(cwd) && !isAbove(cwd)) {
    throw failure("invalid_arguments", `expected a cwd where something is mounted, found ${cwd}`);
  }
  const has = (method: keyof ExecutionEnv) => all.some(({ env }) => typeof env[method] === "function");
  const description = options.description ?? shell?.env.description;
  /** Of files that lie where no path of the tree leads: their mounts and where they are there. */
  const temporary = new Map<string, Place>();

  function shellOf(point: string): Mount {
    const mount = all.find((mount) => mount.point === normalized(point));
    if (mount?.env.exec) return mount;
    throw failure("invalid_arguments", `expected a mount point with a shell as exec, found ${point}`);
  }

  function ownerOf(path: string): Mount | undefined {
    return byLength.find(({ point }) => isInside(point, path));
  }

  /** Whether something is mounted below it. */
  function isAbove(path: string): boolean {
    return all.some(({ point }) => point !== path && isInside(path, point));
  }

  /** By the text, without a look at links. */
  function lexical(path: string): Place {
    const plain = absolute(path, cwd);
    const kept = temporary.get(plain);
    if (kept) return kept;
    const mount = ownerOf(plain);
    return { mount, path: plain, inner: mount ? innerOf(mount, plain) : "" };
  }

  /** Where a path leads, links followed. */
  async function locate(path: string, options?: Options): Promise<Place> {
    checkAborted(options);
    let place = lexical(path);
    for (let links = 0; links <= MAX_LINKS; links++) {
      const { mount } = place;
      if (!mount || temporary.has(place.path) || (isAbove(place.path) && !(await isThere(place, options)))) {
        return place;
      }
      const real = await mount.root.real(place.inner, options);
      const outer = within(mount.point, below(await mount.root.realRoot(options), real));
      const owner = ownerOf(outer) ?? mount;
      if (owner === mount) return { mount, path: outer, inner: real };
      place = { mount: owner, path: outer, inner: innerOf(owner, outer) };
    }
    throw failure("invalid_path", `expected a path, found a loop of links: ${path}`);
  }

  /** The same with the last name as it is, where a link at the end is meant itself. */
  async function locateEntry(path: string, options?: Options): Promise<Place> {
    const given = lexical(path);
    if (given.path === "/" || temporary.has(given.path)) return locate(path, options);
    const { parent, name } = split(given.path);
    const directory = await locate(parent, options);
    const entry = lexical(join(directory.path, name));
    // Within a mount by the canonical path of the directory; at a mount point it is another's top.
    return entry.mount && entry.mount === directory.mount
      ? { ...entry, inner: join(directory.inner, name) }
      : entry;
  }

  async function isThere({ mount, inner }: Place, options?: Options): Promise<boolean> {
    return mount !== undefined && (await infoOrMissing(mount.env, inner, options)) !== undefined;
  }

  /** The mount in which something is to be changed. */
  function writable({ mount, path }: Place): Mount {
    if (mount) return mount;
    throw failure("permission_denied", `expected a path where an environment is mounted: ${path}`);
  }

  /** Refuses what would take a mount away. */
  function expectNoMount({ path }: Place): void {
    if (path !== "/" && !all.some(({ point }) => isInside(path, point))) return;
    throw failure("permission_denied", `expected a path with nothing mounted at or below it: ${path}`);
  }

  function expectNoDirectory({ path }: Place): void {
    if (isAbove(path)) throw failure("is_directory", `expected a file, found a directory: ${path}`);
  }

  /** The mount of a file: what has mounts below it is none. */
  function mountOfFile(place: Place): Mount {
    expectNoDirectory(place);
    return place.mount ?? nothingAt(place.path);
  }

  function method<M extends keyof ExecutionEnv>(
    mount: Mount,
    name: M,
    path: string,
  ): NonNullable<ExecutionEnv[M]> {
    const found = mount.env[name];
    if (!found) {
      throw failure("not_supported", `expected an environment with ${name} at ${mount.point}: ${path}`);
    }
    return (typeof found === "function" ? found.bind(mount.env) : found) as NonNullable<ExecutionEnv[M]>;
  }

  async function kindOf(place: Place, options?: Options): Promise<FileInfo["kind"] | undefined> {
    const info = place.mount && (await infoOrMissing(place.mount.env, place.inner, options));
    return info?.kind ?? (isAbove(place.path) ? "directory" : undefined);
  }

  async function list(place: Place, shown: string, options?: Options): Promise<FileInfo[]> {
    const { mount, path, inner } = place;
    const points = all.filter(({ point }) => point !== path && isInside(path, point));
    const names = new Set(points.map(({ point }) => below(path, point).split("/")[0] as string));
    let entries: FileInfo[] = [];
    if (mount) {
      try {
        entries = asInfos(await answerOf(mount.env.listDir(inner, options)), shown);
      } catch (error) {
        if (names.size === 0 || !isMissing(error)) throw error;
      }
    } else if (names.size === 0) throw missing(shown);
    return [
      ...entries
        .filter(({ name }) => !names.has(name))
        .map((entry) => ({ ...entry, path: join(shown, entry.name) })),
      ...[...names].map((name) => directoryInfo(name, join(shown, name))),
    ];
  }

  async function copy(from: Place, to: Place, options?: Options): Promise<void> {
    const [source, target] = [writable(from), writable(to)];
    const { kind } = asInfo(await answerOf(source.env.fileInfo(from.inner, options)), from.path);
    switch (kind) {
      case "file": {
        const answer = await answerOf(source.env.readBinaryFile(from.inner, options));
        const bytes = asBytes(answer, from.path);
        return answerOf<void>(target.env.writeFile(to.inner, bytes, options));
      }
      case "symlink":
        throw failure("not_supported", `expected no link to move to another environment: ${from.path}`);
      case "directory": {
        await answerOf<void>(target.env.createDir?.(to.inner, options));
        const entries = asInfos(await answerOf(source.env.listDir(from.inner, options)), from.path);
        for (const { name } of entries) await copy(entryOf(from, name), entryOf(to, name), options);
      }
    }
  }

  /** Refuses what {@link copy} would stop at, before it begins. */
  async function expectNoLinks(from: Place, options?: Options): Promise<void> {
    const { env } = writable(from);
    const info = asInfo(await answerOf(env.fileInfo(from.inner, options)), from.path);
    if (info.kind === "symlink") {
      throw failure("not_supported", `expected no link to move to another environment: ${from.path}`);
    }
    if (info.kind !== "directory") return;
    for (const { name } of asInfos(await answerOf(env.listDir(from.inner, options)), from.path)) {
      await expectNoLinks(entryOf(from, name), options);
    }
  }

  const withSlash = (path: string, { inner }: Place) =>
    namesDirectory(path) && inner !== "/" ? `${inner}/` : inner;

  const wrapper: ExecutionEnv = {
    cwd,
    ...(options.home !== undefined && { home: options.home }),
    ...(description !== undefined && { description }),

    async readBinaryFile(path, options) {
      const place = await locate(path, options);
      const { env } = mountOfFile(place);
      return answerOf(env.readBinaryFile(withSlash(path, place), options));
    },

    async writeFile(path, content, options) {
      const place = await locate(path, options);
      expectNoDirectory(place);
      return answerOf<void>(writable(place).env.writeFile(withSlash(path, place), content, options));
    },

    async fileInfo(path, options) {
      const place = await locateEntry(path, options);
      const shown = absolute(path, cwd);
      const { name } = split(shown);
      try {
        if (!place.mount) throw missing(path);
        const info = asInfo(await answerOf(place.mount.env.fileInfo(place.inner, options)), path);
        // A mount point is a directory, whatever leads there.
        const kind = place.path === place.mount.point ? "directory" : info.kind;
        return { ...info, kind, name, path: shown };
      } catch (error) {
        if (isAbove(place.path) && isMissing(error)) return directoryInfo(name, shown);
        throw error;
      }
    },

    async listDir(path, options) {
      return list(await locate(path, options), absolute(path, cwd), options);
    },
  };
  const optional: Partial<ExecutionEnv> = {
    async readFiles(paths, options) {
      checkAborted(options);
      const places = await Promise.all(paths.map((path) => resultOf(locate(path, options))));
      const answers: (Result<Uint8Array> | undefined)[] = places.map((place) =>
        place.ok ? undefined : place,
      );
      const mountAt = (nth: number) => (places[nth]?.ok ? places[nth].value.mount : undefined);
      for (const mount of all) {
        const numbers = [...paths.keys()].filter((nth) => mountAt(nth) === mount && mount.env.readFiles);
        if (numbers.length === 0) continue;
        const inner = numbers.map((nth) => (places[nth] as { value: Place }).value.inner);
        const read = await answerOf(method(mount, "readFiles", mount.point)(inner, options));
        for (const [at, nth] of numbers.entries()) answers[nth] = read[at];
      }
      return Promise.all(
        answers.map((answer, nth) => {
          const path = paths[nth] as string;
          return answer ?? resultOf(answerOf(wrapper.readBinaryFile(path, options)));
        }),
      );
    },

    async canonicalPath(path, options) {
      const place = await locate(path, options);
      const kind = await kindOf(place, options);
      if (kind === undefined) throw missing(path);
      return place.path;
    },

    async createDir(path, options) {
      const place = await locate(path, options);
      if (!place.mount && isAbove(place.path)) return;
      const mount = writable(place);
      // Without it, directories come with their files.
      await answerOf<void>(mount.env.createDir?.(place.inner, options));
    },

    async remove(path, options) {
      const place = await locateEntry(path, options);
      expectNoMount(place);
      const mount = place.mount ?? nothingAt(path);
      await answerOf<void>(method(mount, "remove", path)(place.inner, options));
      temporary.delete(place.path);
    },

    async renameFile(from, to, options) {
      const [source, target] = [await locateEntry(from, options), await locateEntry(to, options)];
      expectNoMount(source);
      expectNoMount(target);
      const mount = source.mount ?? nothingAt(from);
      if (mount === writable(target) && mount.env.renameFile) {
        return answerOf<void>(mount.env.renameFile(source.inner, target.inner, options));
      }
      const remove = method(mount, "remove", from);
      const info = await unlessNotFound(async () => answerOf(mount.env.fileInfo(source.inner, options)));
      const kind = info && asInfo(info, from).kind;
      const parent = await kindOf(lexical(split(target.path).parent), options);
      if (parent === "file") throw failure("not_directory", `expected a directory, found a file: ${to}`);
      if (kind === undefined) throw missing(from);
      if (parent === undefined) throw missing(to);
      if (source.path === target.path) return;
      if (kind === "directory" && isInside(source.path, target.path)) {
        throw failure("invalid_path", `expected a path outside of ${from}, found one in it: ${to}`);
      }
      const replaced = await kindOf(target, options);
      if (replaced === "directory") {
        if (kind !== "directory") {
          throw failure("is_directory", `expected a file or nothing, found a directory: ${to}`);
        }
        const { length } = await list(target, to, options);
        if (length > 0) {
          throw failure(
            "already_exists",
            `expected an empty directory, found one of ${length} entries: ${to}`,
          );
        }
      } else if (replaced && kind === "directory") {
        throw failure("not_directory", `expected a directory or nothing, found a file: ${to}`);
      }
      await expectNoLinks(source, options);
      // A link is replaced itself, not what it leads to.
      if (replaced === "symlink") {
        await answerOf<void>(method(writable(target), "remove", to)(target.inner, options));
      }
      await copy(source, target, options);
      await answerOf<void>(remove(source.inner, { ...options, recursive: kind === "directory" }));
    },

    async appendFile(path, content, options) {
      const place = await locate(path, options);
      expectNoDirectory(place);
      const { env } = writable(place);
      const inner = withSlash(path, place);
      if (env.appendFile) return answerOf<void>(env.appendFile(inner, content, options));
      const before = await unlessNotFound(async () => answerOf(env.readBinaryFile(inner, options)));
      const bytes = before === undefined ? new Uint8Array() : asBytes(before, path);
      const after = new Uint8Array(bytes.length + content.length);
      after.set(bytes);
      after.set(content, bytes.length);
      return answerOf<void>(env.writeFile(inner, after, options));
    },

    async lock(key, run) {
      const { mount, inner } = lexical(key);
      return mount?.env.lock ? mount.env.lock(inner, run) : run();
    },
  };
  const temporaryMount = [...(shell ? [shell] : []), ...all].find(
    ({ env }) => env.createTempFile && env.appendFile,
  );
  for (const [name, own] of Object.entries(optional)) {
    const bases = name === "renameFile" ? (["renameFile", "remove"] as const) : [name as keyof ExecutionEnv];
    if (bases.some(has)) Object.assign(wrapper, { [name]: own });
  }
  if (all.every(({ env }) => env.readRange)) {
    wrapper.readRange = async (path, start, end, options) => {
      const place = await locate(path, options);
      const mount = mountOfFile(place);
      return answerOf(method(mount, "readRange", path)(withSlash(path, place), start, end, options));
    };
  }
  if (temporaryMount) wrapper.createTempFile = (options) => createTempFile(temporaryMount, options);
  if (shell) {
    wrapper.exec = async (command: string, options: ExecOptions) => {
      const place = await locate(options.cwd, options);
      if (place.mount !== shell) {
        throw failure(
          "not_supported",
          `expected a directory in ${shell.point}, where the shell is, to run a command in: ${options.cwd}`,
        );
      }
      return answerOf(method(shell, "exec", options.cwd)(command, { ...options, cwd: place.inner }));
    };
    if (shell.env.shells) Object.assign(wrapper, { shells: shell.env.shells });
  }
  return wrapper;

  async function createTempFile(
    mount: Mount,
    options?: Options & { prefix?: string; suffix?: string },
  ): Promise<string> {
    checkAborted(options);
    const made = asPath(await answerOf(method(mount, "createTempFile", "")(options)), "a temporary file");
    if (isInside(mount.root.path, made)) {
      const path = within(mount.point, below(mount.root.path, made));
      if (ownerOf(path) === mount) return path;
    }
    const { name } = split(made);
    let path = join(TEMPORARY, name);
    for (let nth = 1; temporary.has(path); nth++) path = join(`${TEMPORARY}/${nth}`, name);
    temporary.set(path, { mount, path, inner: made });
    return path;
  }
}

function mountOf(point: string, mounted: Mounted): Mount {
  if (!point.startsWith("/")) {
    throw failure(
      "invalid_path",
      `expected an absolute path as a mount point, found ${JSON.stringify(point)}`,
    );
  }
  const path = normalized(point);
  const [env, seen] = isPart(mounted)
    ? [mounted.env, mounted.path]
    : [mounted, path === "/" ? "/" : mounted.cwd];
  return { point: path, env, root: new Root(env, seen) };
}

function isPart(mounted: Mounted): mounted is { env: ExecutionEnv; path: string } {
  return typeof (mounted as ExecutionEnv).readBinaryFile !== "function";
}

function innerOf({ point, root }: Mount, path: string): string {
  return within(root.path, below(point, path));
}

/** Its working directory, where that can be seen. */
function cwdOf({ point, env, root }: Mount): string {
  const cwd = normalized(env.cwd);
  return isInside(root.path, cwd) ? within(point, below(root.path, cwd)) : point;
}

function entryOf({ mount, path, inner }: Place, name: string): Place {
  return { mount, path: join(path, name), inner: join(inner, name) };
}

function directoryInfo(name: string, path: string): FileInfo {
  return { name, path, kind: "directory", size: 0, mtimeMs: 0 };
}

function missing(path: string) {
  return failure("not_found", `expected a file or directory, found nothing: ${path}`);
}

async function unlessNotFound<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (codeOf(error) !== "not_found") throw error;
    return undefined;
  }
}

function nothingAt(path: string): never {
  throw missing(path);
}
