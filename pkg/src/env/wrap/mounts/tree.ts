/**
 * Which environment a path of a tree belongs to, and where it leads.
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, Options } from "../../../types.js";
import { kindOf } from "../../../values.js";
import { answerOf, asInfos, infoOrMissing, isMissing } from "../../answers.js";
import { checkAborted, failure } from "../../failure.js";
import { absolute, below, isInside, join, normalized, split, within } from "../../paths.js";
import { Root } from "../root.js";

/** What is mounted: an environment, or a directory of one. */
export type Mounted =
  | ExecutionEnv
  | {
      env: ExecutionEnv;
      /** Absolute path of the directory that is seen. */
      path: string;
    };

export interface Mount {
  point: string;
  env: ExecutionEnv;
  root: Root;
}

/** Where a path leads: to a mount, or to a directory that is there because something is mounted below it. */
export interface Place {
  mount: Mount | undefined;
  /** In the tree. */
  path: string;
  /** In the mount's environment. */
  inner: string;
}

/** As many links from one mount into another as are followed. */
const MAX_LINKS = 40;

/** Environments by where they are mounted. */
export class Tree {
  readonly all: readonly Mount[];
  /** The longest first: it is the one that a path belongs to. */
  readonly #byLength: readonly Mount[];
  /** What relative paths are against. */
  readonly cwd: string;
  /** Of files that lie where no path of the tree leads: their mounts and where they are there. */
  readonly temporary = new Map<string, Place>();

  constructor(all: readonly Mount[], cwd: string) {
    this.all = all;
    this.cwd = cwd;
    this.#byLength = [...all].sort((a, b) => b.point.length - a.point.length);
  }

  ownerOf(path: string): Mount | undefined {
    return this.#byLength.find(({ point }) => isInside(point, path));
  }

  /** Whether something is mounted below it. */
  isAbove(path: string): boolean {
    return this.all.some(({ point }) => point !== path && isInside(path, point));
  }

  /** By the text, without a look at links. */
  lexical(path: string): Place {
    const plain = absolute(path, this.cwd);
    const kept = this.temporary.get(plain);
    if (kept) return kept;
    const mount = this.ownerOf(plain);
    return { mount, path: plain, inner: mount ? innerOf(mount, plain) : "" };
  }

  /** Where a path leads, links followed. */
  async locate(path: string, options?: Options): Promise<Place> {
    checkAborted(options);
    let place = this.lexical(path);
    for (let links = 0; links <= MAX_LINKS; links++) {
      const { mount } = place;
      if (
        !mount ||
        this.temporary.has(place.path) ||
        (this.isAbove(place.path) && !(await this.isThere(place, options)))
      ) {
        return place;
      }
      const real = await mount.root.real(place.inner, options);
      const outer = within(mount.point, below(await mount.root.realRoot(options), real));
      const owner = this.ownerOf(outer) ?? mount;
      if (owner === mount) return { mount, path: outer, inner: real };
      place = { mount: owner, path: outer, inner: innerOf(owner, outer) };
    }
    throw failure("invalid_path", `expected a path, found a loop of links: ${path}`);
  }

  /** The same with the last name as it is, where a link at the end is meant itself. */
  async locateEntry(path: string, options?: Options): Promise<Place> {
    const given = this.lexical(path);
    if (given.path === "/" || this.temporary.has(given.path)) return this.locate(path, options);
    const { parent, name } = split(given.path);
    const directory = await this.locate(parent, options);
    const entry = this.lexical(join(directory.path, name));
    // Within a mount by the canonical path of the directory; at a mount point it is another's top.
    return entry.mount && entry.mount === directory.mount
      ? { ...entry, inner: join(directory.inner, name) }
      : entry;
  }

  async isThere({ mount, inner }: Place, options?: Options): Promise<boolean> {
    return mount !== undefined && (await infoOrMissing(mount.env, inner, options)) !== undefined;
  }

  /** The mount in which something is to be changed. */
  writable({ mount, path }: Place): Mount {
    if (mount) return mount;
    throw failure("permission_denied", `expected a path where an environment is mounted: ${path}`);
  }

  /** Refuses what would take a mount away. */
  expectNoMount({ path }: Place): void {
    if (path !== "/" && !this.all.some(({ point }) => isInside(path, point))) return;
    throw failure("permission_denied", `expected a path with nothing mounted at or below it: ${path}`);
  }

  expectNoDirectory({ path }: Place): void {
    if (this.isAbove(path)) throw failure("is_directory", `expected a file, found a directory: ${path}`);
  }

  /** The mount of a file: what has mounts below it is none. */
  mountOfFile(place: Place): Mount {
    this.expectNoDirectory(place);
    return place.mount ?? nothingAt(place.path);
  }

  async kindOf(place: Place, options?: Options): Promise<FileInfo["kind"] | undefined> {
    const info = place.mount && (await infoOrMissing(place.mount.env, place.inner, options));
    return info?.kind ?? (this.isAbove(place.path) ? "directory" : undefined);
  }

  async list(place: Place, shown: string, options?: Options): Promise<FileInfo[]> {
    const { mount, path, inner } = place;
    const points = this.all.filter(({ point }) => point !== path && isInside(path, point));
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
}

export function mountOf(point: string, mounted: Mounted): Mount {
  if (!point.startsWith("/")) {
    throw failure(
      "invalid_path",
      `expected an absolute path as a mount point, found ${JSON.stringify(point)}`,
    );
  }
  if (typeof mounted !== "object" || mounted === null) {
    throw failure("invalid_arguments", `expected an environment at ${point}, found ${kindOf(mounted)}`);
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

export function innerOf({ point, root }: Mount, path: string): string {
  return within(root.path, below(point, path));
}

/** Its working directory, where that can be seen. */
export function cwdOf({ point, env, root }: Mount): string {
  const cwd = normalized(env.cwd);
  return isInside(root.path, cwd) ? within(point, below(root.path, cwd)) : point;
}

export function entryOf<P extends Place>({ path, inner, ...rest }: P, name: string) {
  return { ...rest, path: join(path, name), inner: join(inner, name) };
}

export function directoryInfo(name: string, path: string): FileInfo {
  return { name, path, kind: "directory", size: 0, mtimeMs: 0 };
}

export function missing(path: string) {
  return failure("not_found", `expected a file or directory, found nothing: ${path}`);
}

export function nothingAt(path: string): never {
  throw missing(path);
}
