/**
 * An environment whose changes stay in memory until somebody says what becomes of them.
 *
 * @module
 */

import { declareTwin } from "../../copies.js";
import type { ExecutionEnv, FileInfo, Options, Result, ToolErrorCode } from "../../types.js";
import { callMethod, textOf } from "../../values.js";
import { answerOf, asBytes, codeOf, resultOf } from "../answers.js";
import { checkAborted, failure } from "../failure.js";
import { append } from "../growing.js";
import { absolute, namesDirectory, namesOf, split } from "../paths.js";
import { type Directory, type Layer, newDirectory, type OwnFile, reach, TEMPORARY } from "./overlay/layer.js";
import { type OverlayChange, type OverlayEntry, Phase, planOf } from "./overlay/plan.js";
import { missing, notDirectory, type Place, View } from "./overlay/view.js";

/** What {@link OverlayEnv.commit} did. */
export interface CommitReport {
  /** In the order in which it was done. */
  committed: OverlayEntry[];
  /** What the environment refused. It stays in the overlay, as does everything else then. */
  failed: (OverlayEntry & { error: { code: ToolErrorCode; message: string } })[];
  /** What was not tried, because something before it had failed, or the signal had fired. */
  skipped: OverlayEntry[];
}

/**
 * What {@link overlay} returns. Its methods answer with promises, and reject with an Error that has a `code`: that of
 * the environment, or of their own as `memory` throws them.
 */
export interface OverlayEnv extends ExecutionEnv {
  readBinaryFile(path: string, options?: Options): Promise<Uint8Array>;
  writeFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  fileInfo(path: string, options?: Options): Promise<FileInfo>;
  listDir(path: string, options?: Options): Promise<FileInfo[]>;
  createDir(path: string, options?: Options): Promise<void>;
  remove(path: string, options?: Options & { recursive?: boolean }): Promise<void>;
  /** Loads what it moves into memory. */
  renameFile(from: string, to: string, options?: Options): Promise<void>;
  appendFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  /** In `/.tackroom`, in the overlay. Such files are no changes: they are neither listed, committed nor discarded. */
  createTempFile(options?: Options & { prefix?: string; suffix?: string }): Promise<string>;
  /**
   * What is other than beneath, sorted by path: files, directories and links that would be made, changed or removed. A
   * file that was written with what it had is none. Rejects where the environment cannot be listed or read.
   */
  changes(options?: Options): Promise<OverlayChange[]>;
  /**
   * Does to the environment what was done to the overlay, each step under its `lock` where it has one. First what is
   * new or changed is written, then what is gone is removed, then what stands in place of something removed is
   * written: whenever it ends, nothing is lost that was only moved. If a step fails, those of the same kind are still
   * tried, later ones are not; all stays in the overlay, and a further commit does what is left. The last to write
   * wins: whether somebody else has changed a file beneath is not looked at. No call of a toolset over the environment
   * itself should be running: it does not wait in their queue.
   *
   * Rejects, with nothing done, where the environment cannot be listed or read.
   */
  commit(options?: Options): Promise<CommitReport>;
  /** Forgets all changes. */
  discard(): void;
}

/** How often somebody else may come in between. */
const MOST_ATTEMPTS = 50;

/**
 * A copy-on-write view of an environment. What is read falls through to it; what is written, removed, renamed or made
 * stays in memory, until {@link OverlayEnv.commit} or {@link OverlayEnv.discard}.
 *
 * | what | here |
 * |---|---|
 * | a shell | none: the environment's own would not see the changes. `withShell(overlay(env), Bash)` does, and what its commands did can be taken back |
 * | the mutation queue | its own: a toolset over it and one over the environment do not wait for each other |
 * | `walk`, `search` | not there: they would not see the changes. `grep` and `find` list and read instead |
 * | `..` in a path | is taken by the text |
 * | writing through a link that does not resolve | `not_found`: where it leads nobody says |
 * | a link that is renamed | leads where it led; committed by the environment's `renameFile` |
 * | an environment without `canonicalPath` | a link there is not told from a file: what is written through it is seen under its name alone until it is committed |
 * | memory | every file that was written or moved, whole |
 *
 * @param env any environment. It should not change in the places that are changed here
 *
 * @example
 * ```ts
 * import { Bash } from "just-bash";
 * import { createToolset } from "tackroom";
 * import { withShell } from "tackroom/env/just-bash";
 * import { memory } from "tackroom/env/memory";
 * import { overlay } from "tackroom/env/wrap";
 *
 * const draft = overlay(memory({ "/a.txt": "one\n" }));
 * const toolset = await createToolset(withShell(draft, Bash));
 * await toolset.call({ id: "1", name: "bash", arguments: { command: "echo two >> a.txt; mkdir new" } });
 * for (const { kind, path } of await draft.changes()) console.log(kind, path); // modify /a.txt, create /new
 * await draft.commit(); // or draft.discard()
 * ```
 */
export function overlay(env: ExecutionEnv): OverlayEnv {
  const view = new View(env);
  let temporaryFiles = 0;
  /** Counts changes. */
  let version = 0;
  let committing: Promise<unknown> = Promise.resolve();

  /** Looks, then changes at once; again where somebody else has come in between. */
  async function change(path: string, attempt: () => Promise<() => boolean>): Promise<void> {
    for (let count = 0; count < MOST_ATTEMPTS; count++) {
      const apply = await attempt();
      if (apply()) {
        version++;
        return;
      }
    }
    throw failure("busy", `expected a path that holds still, found it changed again and again: ${path}`);
  }

  /** Puts something at a place, if that is still as it was found. */
  function put(place: Place, layer: Layer | undefined): boolean {
    const { parent, name } = split(place.path);
    const directory = reach(view.top, parent);
    if (directory?.children.get(name) !== place.layer || !directory) return false;
    if (layer) directory.children.set(name, layer);
    else if (directory.isBase) directory.children.set(name, { kind: "gone" });
    else directory.children.delete(name);
    directory.mtimeMs = Date.now();
    return true;
  }

  /** What is at the path now, of the overlay's own. */
  function ownAt(path: string): Layer | undefined {
    const { parent, name } = split(path);
    return reach(view.top, parent)?.children.get(name);
  }

  /** Where a file is to be written: whatever is there is one. */
  async function fileToWrite(path: string, options?: Options): Promise<Place> {
    const place = await view.locate(path, true, options);
    if ((await view.kindOf(place, options)) === "directory") {
      throw failure("is_directory", `expected a file, found a directory: ${path}`);
    }
    if (namesDirectory(path)) throw missing(path);
    return place;
  }

  async function write(path: string, content: Uint8Array, options?: Options): Promise<void> {
    await change(path, async () => {
      const place = await fileToWrite(path, options);
      checkAborted(options);
      return () => {
        const now = ownAt(place.path);
        // Whose file it replaces does not matter.
        const isFile = now?.kind === "file" && (!place.layer || place.layer.kind === "file");
        return put(isFile ? { ...place, layer: now } : place, fileOf(content, now));
      };
    });
  }

  function fileOf(bytes: Uint8Array, before: Layer | undefined): OwnFile {
    const isTemporary = before?.kind === "file" && before.isTemporary === true;
    return { kind: "file", bytes, mtimeMs: Date.now(), ...(isTemporary && { isTemporary }) };
  }

  type Call = (env: object, method: string, ...args: unknown[]) => unknown;
  /** The methods that hand on content; `copy` is of what the overlay has itself. */
  const content = (call: Call, copy: (bytes: Uint8Array) => Uint8Array) => {
    async function read(
      path: string,
      own: (bytes: Uint8Array) => Uint8Array,
      base: (path: string) => unknown,
      options?: Options,
    ): Promise<Uint8Array> {
      const { path: real, layer, isThere } = await view.locate(path, true, options);
      if (!isThere) throw missing(path);
      if (layer?.kind === "directory") {
        throw failure("is_directory", `expected a file, found a directory: ${path}`);
      }
      if (layer?.kind === "file") return own(layer.bytes);
      return asBytes(await answerOf(base(real) as Uint8Array), path);
    }
    return {
      readBinaryFile: (path: string, options?: Options) =>
        read(path, copy, (real) => call(env, "readBinaryFile", real, options), options),
      readRange: (path: string, start: number, end: number, options?: Options) =>
        read(
          path,
          (bytes) => copy(bytes.subarray(start, Math.max(start, end))),
          (real) => call(env, "readRange", real, start, end, options),
          options,
        ),
      writeFile: async (path: string, bytes: Uint8Array, options?: Options) => {
        await write(path, copy(bytes), options);
      },
    };
  };
  const copying = content(
    (env, method, ...args) =>
      Reflect.apply((env as Record<string, () => unknown>)[method] as () => unknown, env, args),
    (bytes) => bytes.slice(),
  );
  const bare = content(callMethod, (bytes) => bytes);
  declareTwin(copying.readBinaryFile, bare.readBinaryFile);
  declareTwin(copying.readRange, bare.readRange);
  declareTwin(copying.writeFile, bare.writeFile);

  async function makeDirectory(path: string, options?: Options): Promise<void> {
    const names = namesOf(absolute(path, env.cwd));
    for (let length = 1; length <= names.length; length++) {
      const prefix = `/${names.slice(0, length).join("/")}`;
      await change(path, async () => {
        const place = await view.locate(prefix, true, options);
        const kind = await view.kindOf(place, options);
        if (kind === "directory") return () => true;
        if (kind !== undefined) {
          throw length === names.length
            ? failure("already_exists", `expected a directory or nothing, found a file: ${prefix}`)
            : notDirectory(prefix);
        }
        return () => put(place, newDirectory(false));
      });
    }
  }

  const wrapper: OverlayEnv = {
    cwd: env.cwd,
    ...(env.home !== undefined && { home: env.home }),
    ...(env.description !== undefined && { description: env.description }),
    readBinaryFile: copying.readBinaryFile,
    writeFile: copying.writeFile,
    fileInfo: (path, options) => view.info(path, options),

    async listDir(path, options) {
      const place = await view.locate(path, true, options);
      if (!place.isThere) throw missing(path);
      if (place.layer && place.layer.kind !== "directory") throw notDirectory(path);
      return view.entries(place.path, place.layer, absolute(path, env.cwd), options);
    },

    async createDir(path, options) {
      checkAborted(options);
      await makeDirectory(path, options);
    },

    async remove(path, options) {
      await change(path, async () => {
        const seen = version;
        const place = await view.locate(path, false, options);
        if (!place.isThere) throw missing(path);
        if (place.path === "/") throw failure("permission_denied", `expected a path below the top: ${path}`);
        const isDirectory = (await view.kindOf(place, options)) === "directory";
        if (isDirectory && !options?.recursive) await checkEmpty(place, path, options);
        checkAborted(options);
        return () => (!isDirectory || seen === version) && put(place, undefined);
      });
    },

    async renameFile(from, to, options) {
      await change(from, async () => {
        const seen = version;
        const source = await view.locate(from, false, options);
        const target = await view.locate(to, false, options);
        if (!source.isThere) throw missing(from);
        if (source.path === "/" || target.path === "/") {
          throw failure("permission_denied", `expected paths below the top: ${from}, ${to}`);
        }
        if (source.path === target.path) return () => true;
        const kind = await view.kindOf(source, options);
        const replaced = await view.kindOf(target, options);
        if (kind === "directory" && `${target.path}/`.startsWith(`${source.path}/`)) {
          throw failure("invalid_path", `expected a path outside of ${from}, found one in it: ${to}`);
        }
        if (replaced === "directory") {
          if (kind !== "directory") {
            throw failure("is_directory", `expected a file or nothing, found a directory: ${to}`);
          }
          await checkEmpty(target, to, options);
        } else if (replaced && kind === "directory") throw notDirectory(to);
        const moved = notTemporary(await view.load(source.path, source.layer, options));
        checkAborted(options);
        return () => {
          if (kind === "directory" || replaced === "directory" ? seen !== version : !isAsFound(source))
            return false;
          return put(target, moved) && put(source, undefined);
        };
      });
    },

    async appendFile(path, content, options) {
      const added = content.slice();
      await change(path, async () => {
        const place = await fileToWrite(path, options);
        const before =
          place.isThere && !place.layer
            ? asBytes(await answerOf(env.readBinaryFile(place.path, options)), path)
            : new Uint8Array();
        checkAborted(options);
        return () => {
          const now = ownAt(place.path);
          if (now?.kind !== "file") {
            const file = fileOf(before.slice(), undefined);
            append(file, added);
            return put(place, file);
          }
          append(now, added);
          now.mtimeMs = Date.now();
          return true;
        };
      });
    },

    async createTempFile(options) {
      checkAborted(options);
      const { prefix = "tmp-", suffix = "" } = options ?? {};
      if (/[/\0]/.test(prefix + suffix)) {
        throw failure("invalid_path", `expected a part of a name, found ${JSON.stringify(prefix + suffix)}`);
      }
      await makeDirectory(`/${TEMPORARY}`, options);
      for (;;) {
        const path = `/${TEMPORARY}/${prefix}${++temporaryFiles}${suffix}`;
        const place = await view.locate(path, false, options);
        const made: OwnFile = {
          kind: "file",
          bytes: new Uint8Array(),
          mtimeMs: Date.now(),
          isTemporary: true,
        };
        if (!place.isThere && put(place, made)) return place.path;
      }
    },

    async changes(options) {
      checkAborted(options);
      const { steps } = await planOf(env, view.top, options);
      return steps.map(({ change }) => change);
    },

    commit(options) {
      const turn = committing.then(() => commit(options));
      committing = turn.catch(() => {});
      return turn;
    },

    discard() {
      version++;
      const kept = view.top.children.get(TEMPORARY);
      view.top = newDirectory(true);
      if (kept?.kind !== "directory") return;
      const directory = newDirectory(kept.isBase, kept.mtimeMs);
      for (const [name, file] of kept.children) {
        if (file.kind === "file" && file.isTemporary) directory.children.set(name, file);
      }
      if (directory.children.size > 0) view.top.children.set(TEMPORARY, directory);
    },
  };
  if (env.readRange) wrapper.readRange = copying.readRange;
  if (env.readFiles) wrapper.readFiles = readFiles;
  if (env.canonicalPath) {
    wrapper.canonicalPath = async (path, options) => {
      const { path: real, isThere } = await view.locate(path, true, options);
      if (!isThere) throw missing(path);
      return real;
    };
  }
  if (env.absolutePath) {
    wrapper.absolutePath = async (path, options) => answerOf(env.absolutePath?.(path, options) ?? path);
  }
  return wrapper;

  function isAsFound(place: Place): boolean {
    return ownAt(place.path) === place.layer;
  }

  async function checkEmpty(place: Place, path: string, options?: Options): Promise<void> {
    const { length } = await view.entries(place.path, place.layer, path, options);
    if (length === 0) return;
    throw failure("already_exists", `expected an empty directory, found one of ${length} entries: ${path}`);
  }

  /** What is the environment's is asked of it at once. */
  async function readFiles(paths: string[], options?: Options): Promise<Result<Uint8Array>[]> {
    checkAborted(options);
    const places = await Promise.all(paths.map((path) => resultOf(view.locate(path, true, options))));
    const isBase = (place: Result<Place>) => place.ok && place.value.isThere && !place.value.layer;
    const asked = places.flatMap((place) => (place.ok && isBase(place) ? [place.value.path] : []));
    const given =
      asked.length > 0 || paths.length === 0
        ? [...(await answerOf(env.readFiles?.(asked, options) ?? []))]
        : [];
    return Promise.all(
      places.map((place, nth) => {
        if (isBase(place)) return given.shift() as Result<Uint8Array>;
        return resultOf(copying.readBinaryFile(paths[nth] as string, options));
      }),
    );
  }

  async function commit(options?: Options): Promise<CommitReport> {
    checkAborted(options);
    const seen = version;
    const { steps, layers } = await planOf(env, view.top, options);
    const report: CommitReport = { committed: [], failed: [], skipped: [] };
    for (const phase of [Phase.Add, Phase.Remove, Phase.Replace]) {
      const due = steps.filter((step) => step.phase === phase);
      // What is in a directory goes before it.
      if (phase === Phase.Remove) due.reverse();
      const isBlocked = report.failed.length > 0;
      for (const { change, run } of due) {
        const entry: OverlayEntry = { path: change.path, kind: change.kind, entry: change.entry };
        if (isBlocked || options?.signal?.aborted) {
          report.skipped.push(entry);
          continue;
        }
        try {
          await run();
          report.committed.push(entry);
        } catch (error) {
          report.failed.push({ ...entry, error: { code: codeOf(error), message: textOf(error) } });
        }
      }
    }
    // Where something was changed meanwhile all stays: it may hide what was just committed.
    if (report.failed.length === 0 && report.skipped.length === 0 && seen === version) forget(layers);
    return report;
  }

  /** Lets go of what the environment now has. */
  function forget(layers: { parent: Directory; name: string; layer: Layer }[]): void {
    version++;
    for (const { layer } of layers) if (layer.kind === "directory") layer.isBase = true;
    for (const { parent, name, layer } of layers) {
      if (layer.kind !== "directory") parent.children.delete(name);
    }
  }
}

/** What is moved to another place is there to stay. */
function notTemporary<T extends Layer>(layer: T): T {
  return layer.kind === "file" && layer.isTemporary ? { ...layer, isTemporary: false } : layer;
}
