/**
 * A tree of environments.
 *
 * @module
 */

import type { ExecOptions, ExecutionEnv, Options, Result } from "../../types.js";
import { answerOf, asBytes, asInfo, asPath, codeOf, isMissing, resultOf } from "../answers.js";
import { checkAborted, failure } from "../failure.js";
import { absolute, below, isInside, join, namesDirectory, normalized, split, within } from "../paths.js";
import { copy, expectNoLinks } from "./mounts/copy.js";
import {
  cwdOf,
  directoryInfo,
  type Mount,
  type Mounted,
  missing,
  mountOf,
  nothingAt,
  type Place,
  Tree,
} from "./mounts/tree.js";
import { refuseUnknown } from "./options.js";

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
  const places = new Tree(all, cwd);
  if (!places.ownerOf(cwd) && !places.isAbove(cwd)) {
    throw failure("invalid_arguments", `expected a cwd where something is mounted, found ${cwd}`);
  }
  const has = (method: keyof ExecutionEnv) => all.some(({ env }) => typeof env[method] === "function");
  const description = options.description ?? shell?.env.description;

  function shellOf(point: string): Mount {
    const mount = all.find((mount) => mount.point === normalized(point));
    if (mount?.env.exec) return mount;
    throw failure("invalid_arguments", `expected a mount point with a shell as exec, found ${point}`);
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

  const withSlash = (path: string, { inner }: Place) =>
    namesDirectory(path) && inner !== "/" ? `${inner}/` : inner;

  const wrapper: ExecutionEnv = {
    cwd,
    ...(options.home !== undefined && { home: options.home }),
    ...(description !== undefined && { description }),

    async readBinaryFile(path, options) {
      const place = await places.locate(path, options);
      const { env } = places.mountOfFile(place);
      return answerOf(env.readBinaryFile(withSlash(path, place), options));
    },

    async writeFile(path, content, options) {
      const place = await places.locate(path, options);
      places.expectNoDirectory(place);
      return answerOf<void>(places.writable(place).env.writeFile(withSlash(path, place), content, options));
    },

    async fileInfo(path, options) {
      const place = await places.locateEntry(path, options);
      const shown = absolute(path, cwd);
      const { name } = split(shown);
      try {
        if (!place.mount) throw missing(path);
        const info = asInfo(await answerOf(place.mount.env.fileInfo(place.inner, options)), path);
        // A mount point is a directory, whatever leads there.
        const kind = place.path === place.mount.point ? "directory" : info.kind;
        return { ...info, kind, name, path: shown };
      } catch (error) {
        if (places.isAbove(place.path) && isMissing(error)) return directoryInfo(name, shown);
        throw error;
      }
    },

    async listDir(path, options) {
      return places.list(await places.locate(path, options), absolute(path, cwd), options);
    },
  };
  const optional: Partial<ExecutionEnv> = {
    async readFiles(paths, options) {
      checkAborted(options);
      const located = await Promise.all(paths.map((path) => resultOf(places.locate(path, options))));
      const answers: (Result<Uint8Array> | undefined)[] = located.map((place) =>
        place.ok ? undefined : place,
      );
      const mountAt = (nth: number) => (located[nth]?.ok ? located[nth].value.mount : undefined);
      for (const mount of all) {
        const numbers = [...paths.keys()].filter((nth) => mountAt(nth) === mount && mount.env.readFiles);
        if (numbers.length === 0) continue;
        const inner = numbers.map((nth) => (located[nth] as { value: Place }).value.inner);
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
      const place = await places.locate(path, options);
      const kind = await places.kindOf(place, options);
      if (kind === undefined) throw missing(path);
      return place.path;
    },

    async createDir(path, options) {
      const place = await places.locate(path, options);
      if (!place.mount && places.isAbove(place.path)) return;
      const mount = places.writable(place);
      // Without it, directories come with their files.
      await answerOf<void>(mount.env.createDir?.(place.inner, options));
    },

    async remove(path, options) {
      const place = await places.locateEntry(path, options);
      places.expectNoMount(place);
      const mount = place.mount ?? nothingAt(path);
      await answerOf<void>(method(mount, "remove", path)(place.inner, options));
      places.temporary.delete(place.path);
    },

    async renameFile(from, to, options) {
      const [source, target] = [
        await places.locateEntry(from, options),
        await places.locateEntry(to, options),
      ];
      places.expectNoMount(source);
      places.expectNoMount(target);
      const mount = source.mount ?? nothingAt(from);
      if (mount === places.writable(target) && mount.env.renameFile) {
        return answerOf<void>(mount.env.renameFile(source.inner, target.inner, options));
      }
      const remove = method(mount, "remove", from);
      const info = await unlessNotFound(async () => answerOf(mount.env.fileInfo(source.inner, options)));
      const kind = info && asInfo(info, from).kind;
      const parent = await places.kindOf(places.lexical(split(target.path).parent), options);
      if (parent === "file") throw failure("not_directory", `expected a directory, found a file: ${to}`);
      if (kind === undefined) throw missing(from);
      if (parent === undefined) throw missing(to);
      if (source.path === target.path) return;
      if (kind === "directory" && isInside(source.path, target.path)) {
        throw failure("invalid_path", `expected a path outside of ${from}, found one in it: ${to}`);
      }
      const replaced = await places.kindOf(target, options);
      if (replaced === "directory") {
        if (kind !== "directory") {
          throw failure("is_directory", `expected a file or nothing, found a directory: ${to}`);
        }
        const { length } = await places.list(target, to, options);
        if (length > 0) {
          throw failure(
            "already_exists",
            `expected an empty directory, found one of ${length} entries: ${to}`,
          );
        }
      } else if (replaced && kind === "directory") {
        throw failure("not_directory", `expected a directory or nothing, found a file: ${to}`);
      }
      const [moved, goal] = [
        { ...source, mount },
        { ...target, mount: places.writable(target) },
      ];
      await expectNoLinks(moved, options);
      // A link is replaced itself, not what it leads to.
      if (replaced === "symlink") {
        await answerOf<void>(method(places.writable(target), "remove", to)(target.inner, options));
      }
      await copy(moved, goal, options);
      await answerOf<void>(remove(source.inner, { ...options, recursive: kind === "directory" }));
    },

    async appendFile(path, content, options) {
      const place = await places.locate(path, options);
      places.expectNoDirectory(place);
      const { env } = places.writable(place);
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
      const { mount, inner } = places.lexical(key);
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
      const place = await places.locate(path, options);
      const mount = places.mountOfFile(place);
      return answerOf(method(mount, "readRange", path)(withSlash(path, place), start, end, options));
    };
  }
  if (temporaryMount) wrapper.createTempFile = (options) => createTempFile(temporaryMount, options);
  if (shell) {
    wrapper.exec = async (command: string, options: ExecOptions) => {
      const place = await places.locate(options.cwd, options);
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
      if (places.ownerOf(path) === mount) return path;
    }
    const { name } = split(made);
    let path = join(TEMPORARY, name);
    for (let nth = 1; places.temporary.has(path); nth++) path = join(`${TEMPORARY}/${nth}`, name);
    places.temporary.set(path, { mount, path, inner: made });
    return path;
  }
}

async function unlessNotFound<T>(action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (codeOf(error) !== "not_found") throw error;
    return undefined;
  }
}
