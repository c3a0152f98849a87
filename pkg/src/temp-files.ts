/**
 * The files that tools have put beside the tree they work on: output that is not shown. They may be read also where a
 * root confines everything else. This outlives a wasm instance.
 *
 * @module
 */

import { identityOf } from "./writes.js";

class TempFiles {
  readonly #paths = new WeakMap<object, Set<string>>();

  /** Remembers a canonical path, for every view of the environment's files. */
  note(env: object, path: string): void {
    const identity = identityOf(env);
    const paths = this.#paths.get(identity);
    if (paths) paths.add(path);
    else this.#paths.set(identity, new Set([path]));
  }

  has(env: object, path: string): boolean {
    return this.#paths.get(identityOf(env))?.has(path) ?? false;
  }
}

export const tempFiles = new TempFiles();
