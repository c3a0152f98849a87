/**
 * An environment of which only a part is to be reached.
 *
 * @module
 */

import { declareTwin } from "../../copies.js";
import type { ExecOptions, ExecutionEnv, FileInfo, MaybePromise, Options, Result } from "../../types.js";
import { callMethod } from "../../values.js";
import { shareIdentity } from "../../writes.js";
import { answerOf, asInfo, asInfos, asPath, infoOrMissing, isMissing, resultOf } from "../answers.js";
import { checkAborted, failure } from "../failure.js";
import { below, isInside, join, namesDirectory, within } from "../paths.js";
import { Denied } from "./deny.js";
import { refuseUnknown } from "./options.js";
import { Root } from "./root.js";

/** Options of {@link confined}. */
export interface ConfinedOptions {
  /** The directory outside of which nothing is. Absolute, or relative to `cwd`. Default: the environment's `cwd`. */
  root?: string;
  /** Refuses whatever changes files, with `permission_denied`. Default false. */
  readOnly?: boolean;
  /**
   * What is hidden: patterns in the syntax of `.gitignore`, as in such a file at the root, except that case does not
   * count. It is not listed, reading it fails with `not_found`, writing it with `permission_denied`.
   */
  deny?: readonly string[];
  /**
   * `"allow"` keeps the environment's shell. It is not confined: a command may do what it may do in the environment.
   * Default `"drop"`.
   */
  exec?: "drop" | "allow";
}

/** What an operation is about to do with a path. */
interface Use {
  /** Whether what is denied is hidden from it (`"read"`) or refused (`"write"`). */
  to: "read" | "write";
  /** Whether a link at the end is followed. */
  follows: boolean;
  /** What will be there, of a path where nothing is. */
  makes?: "file" | "directory";
}

const READS: Use = { to: "read", follows: true };
const LOOKS: Use = { to: "read", follows: false };
const WRITES: Use = { to: "write", follows: true, makes: "file" };

/**
 * An environment confined to a directory of another. Each operation's path is checked by its text, before the
 * environment is asked, and by its canonical path: links that lead out, or do not resolve, are refused with
 * `outside_root`. Where the environment has no `canonicalPath`, any link on the way is.
 *
 * What it has of the environment is the methods of {@link ExecutionEnv} alone, each where the environment has it: not
 * what is its own, such as `snapshot()`, which knows no root. All answer with promises, and fail with an Error that
 * has a `code`.
 *
 * | what | here |
 * |---|---|
 * | `..` in a path | is taken by the text: of `link/../a` it is `a` beside the link |
 * | a link at the root itself | is followed, once |
 * | temporary files made through this environment | may be read, appended to and removed, wherever they lie |
 * | `home` | not there where it lies outside |
 * | `search` with `deny` | not there: searched at the source, hidden files would count. `grep` then reads files |
 * | a directory that holds something denied | cannot be moved, or removed with all that is in it |
 * | another process that puts a link in the way between check and use | is no concern of this |
 *
 * @param env any environment
 * @throws `outside_root` for a `cwd` that is not in the root, `invalid_arguments` for options that are not known
 *
 * @example
 * ```ts
 * import { createToolset } from "tackroom";
 * import { node } from "tackroom/env/node";
 * import { confined } from "tackroom/env/wrap";
 *
 * const env = confined(node({ cwd: "/work/project" }), { deny: [".env*", "!.env.example", "/secrets/"] });
 * const toolset = await createToolset(env); // no bash, and nothing outside of /work/project
 * await toolset.call({ id: "1", name: "read", arguments: { path: ".env" } }); // Path not found: .env
 * ```
 */
export function confined(env: ExecutionEnv, options: ConfinedOptions = {}): ExecutionEnv {
  refuseUnknown("confined", options, { root: "string", readOnly: "boolean", deny: "array", exec: "string" });
  const { readOnly: isReadOnly = false, deny = [], exec: execution = "drop" } = options;
  if (execution !== "drop" && execution !== "allow") {
    throw failure(
      "invalid_arguments",
      `expected "drop" or "allow" as exec, found ${JSON.stringify(execution)}`,
    );
  }
  const root = new Root(env, options.root ?? env.cwd);
  root.admit(env.cwd);
  const denied = deny.length > 0 ? new Denied(deny) : undefined;
  /** Those made through this environment: as they were named, and canonical. */
  const temporary = new Set<string>();

  /** Where the environment is to do it: a path without links, but for one at its end that is not followed. */
  async function admit(path: string, use: Use, options: Options | undefined): Promise<string> {
    checkAborted(options);
    const own = await ownTemporary(path, options);
    if (own !== undefined) return own;
    const plain = root.admit(path);
    if (use.to === "write" && isReadOnly) throw readOnly(path);
    // By its text first: of what is hidden nothing is asked.
    refuseHidden(below(root.path, plain), undefined, path, use);
    const real = use.follows ? await root.real(plain, options) : await root.place(plain, options);
    if (denied) {
      const inRoot = below(await root.realRoot(options), real);
      const isUnsure = [below(root.path, plain), inRoot].some((path) => denied.mayHave(path) === undefined);
      const kind = isUnsure ? (await infoOrMissing(env, real, options))?.kind : "file";
      refuseHidden(below(root.path, plain), kind ?? use.makes ?? "file", path, use);
      refuseHidden(inRoot, kind ?? use.makes ?? "file", path, use);
    }
    return real;
  }

  function refuseHidden(inRoot: string, kind: FileInfo["kind"] | undefined, path: string, use: Use): void {
    if (!(kind === undefined ? denied?.mayHave(inRoot) : denied?.has(inRoot, kind))) return;
    if (use.to === "write") {
      throw failure(
        "permission_denied",
        `expected a path that may be changed, found one that is denied: ${path}`,
      );
    }
    throw failure("not_found", `expected a file or directory, found nothing: ${path}`);
  }

  /** The canonical path of a temporary file of this environment, if the path is one's, and no link is in its place. */
  async function ownTemporary(path: string, options?: Options): Promise<string | undefined> {
    if (!temporary.has(path)) return undefined;
    try {
      const real = env.canonicalPath ? await answerOf(env.canonicalPath(path, options)) : path;
      return temporary.has(real) ? real : undefined;
    } catch (error) {
      // One that somebody else has removed: not found is what is to be said of it.
      if (isMissing(error)) return path;
      throw error;
    }
  }

  /** Refuses to take away a directory in which something is hidden: moved, it might have another name. */
  async function refuseHiddenIn(directory: string, path: string, options?: Options): Promise<void> {
    if (!denied) return;
    const top = await root.realRoot(options);
    const todo = [directory];
    for (let at = todo.pop(); at !== undefined; at = todo.pop()) {
      for (const { name, kind } of asInfos(await answerOf(env.listDir(at, options)), at)) {
        const entry = join(at, name);
        if (denied.has(below(top, entry), kind)) {
          throw failure(
            "permission_denied",
            `expected a directory without anything that is denied, found one with such: ${path}`,
          );
        }
        if (kind === "directory") todo.push(entry);
      }
    }
  }

  const directorySlash = (path: string, real: string) =>
    namesDirectory(path) && real !== "/" ? `${real}/` : real;

  /** The methods that hand on content, by `call`, which may copy it or not. */
  const content = (call: Call) => ({
    readBinaryFile: async (path: string, options?: Options) => {
      const real = directorySlash(path, await admit(path, READS, options));
      return answerOf<Uint8Array>(call(env, "readBinaryFile", real, options));
    },
    readRange: async (path: string, start: number, end: number, options?: Options) => {
      const real = directorySlash(path, await admit(path, READS, options));
      return answerOf<Uint8Array>(call(env, "readRange", real, start, end, options));
    },
    writeFile: async (path: string, bytes: Uint8Array, options?: Options) => {
      const real = directorySlash(path, await admit(path, WRITES, options));
      return answerOf<void>(call(env, "writeFile", real, bytes, options));
    },
  });
  const [copying, bare] = [content(plainCall), content(callMethod as Call)];
  declareTwin(copying.readBinaryFile, bare.readBinaryFile);
  declareTwin(copying.readRange, bare.readRange);
  declareTwin(copying.writeFile, bare.writeFile);

  const wrapper: ExecutionEnv = {
    cwd: env.cwd,
    ...(typeof env.home === "string" && isInside(root.path, env.home) && { home: env.home }),
    ...(env.description !== undefined && { description: env.description }),
    readBinaryFile: copying.readBinaryFile,
    writeFile: copying.writeFile,

    async fileInfo(path, options) {
      const real = await admit(path, LOOKS, options);
      const info = asInfo(await answerOf(env.fileInfo(real, options)), path);
      return temporary.has(path) ? info : { ...info, path: root.admit(path) };
    },

    async listDir(path, options) {
      const real = await admit(path, READS, options);
      const entries = asInfos(await answerOf(env.listDir(real, options)), path);
      const [plain, top] = [root.admit(path), await root.realRoot(options)];
      const isShown = ({ name, kind }: FileInfo) =>
        !denied?.has(below(top, join(real, name)), kind) &&
        !denied?.has(below(root.path, join(plain, name)), kind);
      return entries.filter(isShown).map((entry) => ({ ...entry, path: join(plain, entry.name) }));
    },
  };
  const optional: Required<Pick<ExecutionEnv, Optional>> = {
    readRange: copying.readRange,

    async readFiles(paths, options) {
      const asked = await Promise.all(paths.map((path) => resultOf(admit(path, READS, options))));
      const admitted = asked.flatMap((place) => (place.ok ? [place.value] : []));
      // Without any it is a question whether the environment does this at all.
      const isAsked = admitted.length > 0 || paths.length === 0;
      const read = isAsked ? [...(await answerOf(env.readFiles?.(admitted, options) ?? []))] : [];
      return asked.map((place) => (place.ok ? (read.shift() as Result<Uint8Array>) : place));
    },

    async canonicalPath(path, options) {
      const real = await admit(path, READS, options);
      return answerOf(env.canonicalPath?.(real, options) ?? real);
    },

    async absolutePath(path, options) {
      checkAborted(options);
      return root.admit(asPath(await answerOf(env.absolutePath?.(path, options) ?? path), path));
    },

    async createDir(path, options) {
      const real = await admit(path, { to: "write", follows: true, makes: "directory" }, options);
      return answerOf<void>(env.createDir?.(real, options));
    },

    async remove(path, options) {
      const real = await admit(path, { to: "write", follows: false }, options);
      if (!temporary.has(path)) await expectBelowRoot(real, path, options);
      if (options?.recursive && (await infoOrMissing(env, real, options))?.kind === "directory") {
        await refuseHiddenIn(real, path, options);
      }
      await answerOf<void>(env.remove?.(real, options));
      if (temporary.delete(path)) temporary.delete(real);
    },

    async renameFile(from, to, options) {
      const source = await admit(from, { to: "write", follows: false }, options);
      await expectBelowRoot(source, from, options);
      const kind = (await infoOrMissing(env, source, options))?.kind;
      const makes = kind === "directory" ? "directory" : "file";
      const target = await admit(to, { to: "write", follows: false, makes }, options);
      await expectBelowRoot(target, to, options);
      // The target's kind may be another than that of what comes in its place.
      refuseHidden(below(await root.realRoot(options), target), makes, to, WRITES);
      if (kind === "directory") await refuseHiddenIn(source, from, options);
      return answerOf<void>(env.renameFile?.(source, target, options));
    },

    async appendFile(path, bytes, options) {
      const real = directorySlash(path, await admit(path, WRITES, options));
      return answerOf<void>(env.appendFile?.(real, bytes, options));
    },

    async createTempFile(options) {
      checkAborted(options);
      const path = asPath(await answerOf(env.createTempFile?.(options)), "a temporary file");
      const real = env.canonicalPath ? asPath(await answerOf(env.canonicalPath(path, options)), path) : path;
      temporary.add(path).add(real);
      return path;
    },

    async walk(request, options) {
      const real = await admit(request.path, READS, options);
      const [plain, top] = [root.admit(request.path), await root.realRoot(options)];
      const { limit } = request;
      for (let asked = limit; ; asked = asked && asked * 4) {
        const given = await answerOf(
          env.walk?.({ ...request, path: real, ...(asked !== undefined && { limit: asked }) }, options) ?? [],
        );
        const shown = given.filter(({ path, kind }) =>
          [below(root.path, plain), below(top, real)].every((directory) => {
            const inRoot = within(directory === "" ? "/" : `/${directory}`, path).slice(1);
            return isPlain(path) && !denied?.has(inRoot, kind);
          }),
        );
        // What is hidden does not count.
        if (asked === undefined || limit === undefined || shown.length >= limit || given.length < asked) {
          return shown.slice(0, limit);
        }
      }
    },

    async search(request, options) {
      const real = await admit(request.path, READS, options);
      const answer = env.search?.({ ...request, path: real }, options) as NonNullable<ReturnType<Search>>;
      const found = await answerOf(answer);
      return { ...found, matches: found.matches.filter(({ path }) => isPlain(path)) };
    },

    lock: (key, run) => (env.lock ? env.lock(key, run) : run()),

    async exec(command, options: ExecOptions) {
      await admit(options.cwd, READS, options);
      const cwd = root.admit(options.cwd);
      return answerOf(env.exec?.(command, { ...options, cwd }) as NonNullable<ReturnType<Exec>>);
    },
  };
  for (const method of Object.keys(optional) as Optional[]) {
    if (typeof env[method] !== "function" || isDropped(method)) continue;
    Object.assign(wrapper, { [method]: optional[method] });
  }
  if (wrapper.exec && env.shells) Object.assign(wrapper, { shells: env.shells });
  shareIdentity(wrapper, env);
  return wrapper;

  function isDropped(method: Optional): boolean {
    if (method === "exec") return execution === "drop";
    if (method === "search") return denied !== undefined;
    // Of use to a shell alone, whose output is kept in them.
    return method === "createTempFile" && isReadOnly && execution === "drop";
  }

  async function expectBelowRoot(real: string, path: string, options?: Options): Promise<void> {
    if (real !== (await root.realRoot(options))) return;
    throw failure("permission_denied", `expected a path below the root, found the root: ${path}`);
  }
}

type Optional =
  | "readRange"
  | "readFiles"
  | "canonicalPath"
  | "absolutePath"
  | "createDir"
  | "remove"
  | "renameFile"
  | "appendFile"
  | "createTempFile"
  | "walk"
  | "search"
  | "lock"
  | "exec";
type Search = NonNullable<ExecutionEnv["search"]>;
type Exec = NonNullable<ExecutionEnv["exec"]>;

type Call = <T>(env: object, method: string, ...args: unknown[]) => MaybePromise<T | Result<T>>;

/** Calls the method itself, not the one that does not copy. */
const plainCall: Call = (env, method, ...args) =>
  Reflect.apply((env as Record<string, () => never>)[method] as () => never, env, args);

/** Whether it is relative, and leads nowhere but down. */
function isPlain(path: string): boolean {
  return !/(^|\/)\.{0,2}(\/|$)/.test(path);
}

function readOnly(path: string) {
  return failure("permission_denied", `expected only to read here: this environment is read-only: ${path}`);
}
