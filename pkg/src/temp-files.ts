/**
 * The files that tools have put beside the tree they work on: output that is not shown. They may be read also where a
 * root confines everything else. This outlives a wasm instance.
 *
 * @module
 */

class TempFiles {
  readonly #paths = new WeakMap<object, Set<string>>();

  /** Remembers a canonical path. */
  note(env: object, path: string): void {
    const paths = this.#paths.get(env);
    if (paths) paths.add(path);
    else this.#paths.set(env, new Set([path]));
  }

  has(env: object, path: string): boolean {
    return this.#paths.get(env)?.has(path) ?? false;
  }
}

export const tempFiles = new TempFiles();
