/**
 * What an overlay has of its own: a tree of what is written over the environment beneath, and of what is gone.
 *
 * @module
 */

import type { FileInfo } from "../../../types.js";
import type { Growing } from "../../growing.js";
import { namesOf } from "../../paths.js";

export interface OwnFile extends Growing {
  kind: "file";
  mtimeMs: number;
  /** Made by `createTempFile`: no change of the environment's files. */
  isTemporary?: boolean;
}

/** A link of the environment's, under another name. */
export interface OwnLink {
  kind: "symlink";
  /** Where it lies in the environment. */
  origin: string;
  /** Where it leads, canonical; undefined where it does not resolve. */
  target: string | undefined;
  size: number;
  mtimeMs: number;
}

export interface Directory {
  kind: "directory";
  /** Whether it is the environment's directory of the same path, whose entries are seen where there is none here. */
  isBase: boolean;
  children: Map<string, Layer>;
  mtimeMs: number;
}

/** Something of the environment's that is not there any more. */
export interface Gone {
  kind: "gone";
}

export type Layer = OwnFile | OwnLink | Directory | Gone;

/** Where output of commands is kept: what an overlay has is all one tree. */
export const TEMPORARY = ".tackroom";

export function newDirectory(isBase: boolean, mtimeMs = Date.now()): Directory {
  return { kind: "directory", isBase, children: new Map(), mtimeMs };
}

/**
 * The directory of a path, which was found to be one. Those of the environment are entered on the way. Undefined where
 * somebody has changed that meanwhile.
 */
export function reach(top: Directory, path: string): Directory | undefined {
  let at = top;
  for (const name of namesOf(path)) {
    const next = at.children.get(name);
    if (next?.kind === "directory") at = next;
    else if (next || !at.isBase) return undefined;
    else {
      const made = newDirectory(true);
      at.children.set(name, made);
      at = made;
    }
  }
  return at;
}

export function describe(name: string, path: string, layer: OwnFile | OwnLink | Directory): FileInfo {
  const { kind, mtimeMs } = layer;
  const size = layer.kind === "file" ? layer.bytes.length : layer.kind === "symlink" ? layer.size : 0;
  return { name, path, kind, size, mtimeMs };
}
