/**
 * Moving from one environment to another.
 *
 * @module
 */

import type { Options } from "../../../types.js";
import { answerOf, asBytes, asInfo, asInfos } from "../../answers.js";
import { failure } from "../../failure.js";
import { entryOf, type Mount, type Place } from "./tree.js";

/** A place in a mount. */
type Mounted = Place & { mount: Mount };

/** Copies a file, or a directory with all that is in it. */
export async function copy(from: Mounted, to: Mounted, options?: Options): Promise<void> {
  const [source, target] = [from.mount, to.mount];
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
export async function expectNoLinks(from: Mounted, options?: Options): Promise<void> {
  const { env } = from.mount;
  const info = asInfo(await answerOf(env.fileInfo(from.inner, options)), from.path);
  if (info.kind === "symlink") {
    throw failure("not_supported", `expected no link to move to another environment: ${from.path}`);
  }
  if (info.kind !== "directory") return;
  for (const { name } of asInfos(await answerOf(env.listDir(from.inner, options)), from.path)) {
    await expectNoLinks(entryOf(from, name), options);
  }
}
