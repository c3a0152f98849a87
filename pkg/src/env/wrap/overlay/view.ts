/**
 * What is seen through an overlay: its own where it has something, else what the environment has.
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, Options } from "../../../types.js";
import { answerOf, asBytes, asInfo, asInfos, asPath, codeOf, infoOrMissing } from "../../answers.js";
import { checkAborted, failure } from "../../failure.js";
import { absolute, join, namesDirectory, namesOf, split } from "../../paths.js";
import { type Directory, describe, type Layer, newDirectory } from "./layer.js";

/** As many links as Linux follows. */
const MAX_LINKS = 40;

/** Where a path leads. */
export interface Place {
  /** Canonical, but for the last name if links there are not followed. */
  path: string;
  /** What the overlay has there. */
  layer: Layer | undefined;
  /** Whether there is something. Without a layer, it is the environment's. */
  isThere: boolean;
}

export class View {
  readonly base: ExecutionEnv;
  top: Directory = newDirectory(true);

  constructor(base: ExecutionEnv) {
    this.base = base;
  }

  /**
   * Goes down a path, links followed. The last name may be missing.
   *
   * @throws `not_found` or `not_directory` for what is wrong before the last name, and for a link that does not
   * resolve; what the environment throws
   */
  async locate(path: string, follows: boolean, options?: Options): Promise<Place> {
    checkAborted(options);
    const place = await this.#locate(path, follows, options);
    if (!namesDirectory(path) || !place.isThere || (await this.kindOf(place, options)) === "directory") {
      return place;
    }
    throw notDirectory(path);
  }

  async #locate(path: string, follows: boolean, options?: Options): Promise<Place> {
    let names = namesOf(absolute(path, this.base.cwd));
    for (let links = 0; links <= MAX_LINKS; links++) {
      const found = await this.#descend(names, follows, path, options);
      if (!Array.isArray(found)) return found;
      names = found;
    }
    throw failure("invalid_path", `expected a path, found a loop of links: ${path}`);
  }

  /** Where the names lead, or, after a link, the names to go on with. */
  async #descend(
    names: string[],
    follows: boolean,
    path: string,
    options?: Options,
  ): Promise<Place | string[]> {
    let [directory, at] = [this.top, "/"];
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const [layer, here] = [directory.children.get(name), join(at, name)];
      if (layer?.kind === "directory") {
        [directory, at] = [layer, here];
      } else if (layer?.kind === "symlink" && (follows || !isLast)) {
        if (layer.target === undefined) throw unresolved(here, path);
        return [...namesOf(layer.target), ...names.slice(index + 1)];
      } else if (layer?.kind === "file" || layer?.kind === "symlink") {
        if (!isLast) throw notDirectory(path);
        return { path: here, layer, isThere: true };
      } else if (layer || !directory.isBase) {
        if (!isLast) throw missing(path);
        return { path: here, layer, isThere: false };
      } else {
        return this.#descendBase(at, names.slice(index), follows, path, options);
      }
    }
    return { path: at, layer: directory, isThere: true };
  }

  /** The same below a directory of the environment, of which nothing is changed. */
  async #descendBase(
    at: string,
    names: string[],
    follows: boolean,
    path: string,
    options?: Options,
  ): Promise<Place | string[]> {
    const whole = join(at, names.join("/"));
    if (this.base.canonicalPath && follows) {
      const real = await this.#canonical(whole, options).catch(ignoreMissing);
      if (real === whole) return { path: whole, layer: undefined, isThere: true };
      if (real !== undefined) return namesOf(real);
    }
    for (const [index, name] of names.entries()) {
      const isLast = index === names.length - 1;
      const here = join(at, name);
      const info = await infoOrMissing(this.base, here, options);
      if (!info && !isLast) throw missing(path);
      if (info?.kind === "symlink" && (follows || !isLast) && this.base.canonicalPath) {
        const real = await this.#canonical(here, options).catch((error) => {
          throw codeOf(error) === "not_found" ? unresolved(here, path) : error;
        });
        return [...namesOf(real), ...names.slice(index + 1)];
      }
      if (info?.kind === "file" && !isLast) throw notDirectory(path);
      if (isLast) return { path: here, layer: undefined, isThere: info !== undefined };
      at = here;
    }
    throw missing(path);
  }

  async #canonical(path: string, options?: Options): Promise<string> {
    return asPath(await answerOf(this.base.canonicalPath?.(path, options) ?? path), path);
  }

  /** What is there; undefined where nothing is. */
  async kindOf(place: Place, options?: Options): Promise<FileInfo["kind"] | undefined> {
    if (!place.isThere) return undefined;
    const { layer } = place;
    if (layer && layer.kind !== "gone") return layer.kind;
    return (await infoOrMissing(this.base, place.path, options))?.kind;
  }

  /** lstat. */
  async info(path: string, options?: Options): Promise<FileInfo> {
    const { path: real, layer, isThere } = await this.locate(path, false, options);
    if (!isThere) throw missing(path);
    const shown = absolute(path, this.base.cwd);
    const { name } = split(shown);
    if (layer && layer.kind !== "gone" && !(layer.kind === "directory" && layer.isBase)) {
      return describe(name, shown, layer);
    }
    return { ...asInfo(await answerOf(this.base.fileInfo(real, options)), path), name, path: shown };
  }

  /** The entries of a directory at a canonical path. They say that they are in `shown`. */
  async entries(
    path: string,
    layer: Layer | undefined,
    shown: string,
    options?: Options,
  ): Promise<FileInfo[]> {
    const own = layer?.kind === "directory" ? layer : undefined;
    const listed =
      own?.isBase === false ? [] : asInfos(await answerOf(this.base.listDir(path, options)), shown);
    const entries: FileInfo[] = [];
    const isNamed = new Set<string>();
    for (const entry of listed) {
      const above = own?.children.get(entry.name);
      if (above && !(above.kind === "directory" && above.isBase)) continue;
      isNamed.add(entry.name);
      entries.push({ ...entry, path: join(shown, entry.name) });
    }
    for (const [name, child] of own?.children ?? []) {
      if (child.kind === "gone" || isNamed.has(name)) continue;
      entries.push(describe(name, join(shown, name), child));
    }
    return entries;
  }

  /** Loads what is at a canonical path, with all that is in it, to be put elsewhere. */
  async load(
    path: string,
    layer: Layer | undefined,
    options?: Options,
  ): Promise<Exclude<Layer, { kind: "gone" }>> {
    if (layer?.kind === "file" || layer?.kind === "symlink") return layer;
    const info: FileInfo =
      layer?.kind === "directory"
        ? describe("", path, layer)
        : asInfo(await answerOf(this.base.fileInfo(path, options)), path);
    const mtimeMs = Number(info.mtimeMs);
    // Without canonical paths a link is not told from what it leads to.
    switch (info.kind === "symlink" && !this.base.canonicalPath ? "file" : info.kind) {
      case "file": {
        const bytes = asBytes(await answerOf(this.base.readBinaryFile(path, options)), path);
        return { kind: "file", bytes: bytes.slice(), mtimeMs };
      }
      case "symlink": {
        const target = await this.#canonical(path, options).catch(ignoreMissing);
        return { kind: "symlink", origin: path, target, size: Number(info.size), mtimeMs };
      }
      case "directory": {
        const made = newDirectory(false, mtimeMs);
        const own = layer?.kind === "directory" ? layer.children : undefined;
        for (const { name } of await this.entries(path, layer, path, options)) {
          made.children.set(name, await this.load(join(path, name), own?.get(name), options));
        }
        return made;
      }
    }
  }
}

function ignoreMissing(error: unknown): undefined {
  const code = codeOf(error);
  if (code === "not_found" || code === "not_directory" || code === "invalid_path") return undefined;
  throw error;
}

export function missing(path: string) {
  return failure("not_found", `expected a file or directory, found nothing: ${path}`);
}

export function notDirectory(path: string) {
  return failure("not_directory", `expected a directory, found a file: ${path}`);
}

function unresolved(link: string, path: string) {
  return failure(
    "not_found",
    `expected a link that resolves, found one whose target is missing or unknown (${link}): ${path}`,
  );
}
