/**
 * How an overlay differs from the environment beneath, and the steps that put that right.
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, Options } from "../../../types.js";
import { answerOf, asBytes, asInfos, infoOrMissing, isMissing } from "../../answers.js";
import { failure } from "../../failure.js";
import { join } from "../../paths.js";
import { type Directory, type Layer, TEMPORARY } from "./layer.js";

/** Something that is other than beneath. */
export interface OverlayEntry {
  /** Absolute, without links. */
  path: string;
  kind: "create" | "modify" | "delete";
  /** What is, or of `"delete"` was, there. */
  entry: FileInfo["kind"];
}

/** An {@link OverlayEntry} with its contents. */
export interface OverlayChange extends OverlayEntry {
  /** The bytes beneath, as they are when this is called; undefined where there is no file. */
  before(): Promise<Uint8Array | undefined>;
  /** A copy of the bytes in the overlay, as of the listing; undefined where there is no file. */
  after(): Uint8Array | undefined;
}

/** When a step is taken. */
export enum Phase {
  /** Adds or replaces, and takes nothing away that is of another kind. */
  Add,
  Remove,
  /** Comes where something of another kind had to be removed. */
  Replace,
}

export interface Step {
  change: OverlayChange;
  phase: Phase;
  run(): Promise<void>;
}

export interface Plan {
  steps: Step[];
  /** What the overlay had when the plan was made: none of it is needed once all steps are taken. */
  layers: { parent: Directory; name: string; layer: Layer }[];
}

/** Compares. Of the environment it lists what is gone, and reads files that may be the same. */
export async function planOf(base: ExecutionEnv, top: Directory, options?: Options): Promise<Plan> {
  const plan: Plan = { steps: [], layers: [] };

  function step(
    entry: OverlayEntry,
    phase: Phase,
    after: Uint8Array | undefined,
    run: () => Promise<void>,
  ): void {
    const hasBefore = entry.entry === "file" && entry.kind !== "create";
    const change: OverlayChange = {
      ...entry,
      before: async () =>
        hasBefore ? asBytes(await answerOf(base.readBinaryFile(entry.path)), entry.path) : undefined,
      after: () => after?.slice(),
    };
    plan.steps.push({ change, phase, run: () => locked(base, entry.path, run) });
  }

  async function compare(
    path: string,
    parent: Directory,
    name: string,
    layer: Layer,
    around: { isInBase: boolean; phase: Phase },
  ): Promise<void> {
    if (layer.kind === "file" && layer.isTemporary) return;
    if (isForTemporary(path, layer)) return;
    plan.layers.push({ parent, name, layer });
    const found = around.isInBase ? await infoOrMissing(base, path, options) : undefined;
    // Without canonical paths a link is not told from what it leads to: writing goes through it.
    const kind = found?.kind === "symlink" && !base.canonicalPath ? "file" : found?.kind;
    if (
      layer.kind === "symlink" &&
      kind === "symlink" &&
      !(await infoOrMissing(base, layer.origin, options))
    ) {
      return;
    }
    if (layer.kind === "gone" || layer.kind === "symlink" || (kind && kind !== layer.kind)) {
      if (found) await removeAll(path, found.kind);
    }
    const isReplaced = kind !== undefined && (layer.kind === "symlink" || kind !== layer.kind);
    const phase = isReplaced ? Phase.Replace : around.phase;
    switch (layer.kind) {
      case "gone":
        return;
      case "file": {
        const { bytes } = layer;
        const isThere = kind === "file";
        if (isThere && (await isSame(path, found, bytes))) return;
        const entry: OverlayEntry = { path, kind: isThere ? "modify" : "create", entry: "file" };
        return step(entry, phase, bytes, () => answerOf<void>(base.writeFile(path, bytes.slice(), options)));
      }
      case "symlink": {
        const { origin } = layer;
        return step({ path, kind: "create", entry: "symlink" }, phase, undefined, async () => {
          if (!base.renameFile) throw unable("renameFile", path);
          await answerOf<void>(base.renameFile(origin, path, options));
        });
      }
      case "directory": {
        const isThere = kind === "directory";
        if (!isThere) {
          step({ path, kind: "create", entry: "directory" }, phase, undefined, async () => {
            // Without it, directories come with their files.
            await answerOf<void>(base.createDir?.(path, options));
          });
        } else if (!layer.isBase) {
          for (const entry of asInfos(await answerOf(base.listDir(path, options)), path)) {
            if (!layer.children.has(entry.name)) await removeAll(join(path, entry.name), entry.kind);
          }
        }
        for (const [name, child] of [...layer.children]) {
          await compare(join(path, name), layer, name, child, { isInBase: isThere, phase });
        }
      }
    }
  }

  async function removeAll(path: string, entry: FileInfo["kind"]): Promise<void> {
    step({ path, kind: "delete", entry }, Phase.Remove, undefined, async () => {
      if (!base.remove) throw unable("remove", path);
      try {
        await answerOf<void>(base.remove(path, options));
      } catch (error) {
        // A link that was moved is not here any more.
        if (!isMissing(error)) throw error;
      }
    });
    if (entry !== "directory") return;
    for (const { name, kind } of asInfos(await answerOf(base.listDir(path, options)), path)) {
      await removeAll(join(path, name), kind);
    }
  }

  async function isSame(path: string, found: FileInfo | undefined, bytes: Uint8Array): Promise<boolean> {
    if (found?.kind === "file" && Number(found.size) !== bytes.length) return false;
    const before = asBytes(await answerOf(base.readBinaryFile(path, options)), path);
    return before.length === bytes.length && before.every((byte, index) => byte === bytes[index]);
  }

  for (const [name, child] of [...top.children]) {
    await compare(`/${name}`, top, name, child, { isInBase: true, phase: Phase.Add });
  }
  plan.steps.sort((a, b) => (a.change.path < b.change.path ? -1 : a.change.path > b.change.path ? 1 : 0));
  return plan;
}

/** Whether it is the directory of temporary files, and nothing else is in it. */
function isForTemporary(path: string, layer: Layer): boolean {
  return (
    path === `/${TEMPORARY}` &&
    layer.kind === "directory" &&
    [...layer.children.values()].every(
      (child) => child.kind === "gone" || (child.kind === "file" && child.isTemporary),
    )
  );
}

function locked(base: ExecutionEnv, path: string, run: () => Promise<void>): Promise<void> {
  return base.lock ? base.lock(path, run) : run();
}

function unable(method: string, path: string) {
  return failure("not_supported", `expected an environment with ${method}, found one without: ${path}`);
}
