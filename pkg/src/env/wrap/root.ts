/**
 * Whether a path lies inside of a directory, links followed: the rule of `src/tools/locate.rs`, for environments, which
 * do without the wasm modules. tests/js/env-wrap-root.test.mjs holds the two against each other.
 *
 * @module
 */

import type { ExecutionEnv, FileInfo, Options } from "../../types.js";
import { answerOf, asInfo, asPath, codeOf } from "../answers.js";
import { failure } from "../failure.js";
import { absolute, isInside, join, split, within } from "../paths.js";

/** A directory of an environment, and what lies in it. */
export class Root {
  readonly #env: ExecutionEnv;
  /** Absolute and normal. */
  readonly path: string;
  #real: string | undefined;

  /** @param path absolute, or relative to the environment's `cwd` */
  constructor(env: ExecutionEnv, path: string) {
    this.#env = env;
    this.path = absolute(path, env.cwd);
  }

  /** The path made absolute and normal, if it lies inside by its text. The environment is not asked. */
  admit(path: string): string {
    const plain = absolute(path, this.#env.cwd);
    if (isInside(this.path, plain)) return plain;
    throw failure("outside_root", `Path is outside of the root ${this.path}: ${path}`);
  }

  /**
   * The canonical path of what {@link admit} gave, if that lies inside: of what is not there, that of its deepest
   * ancestor that is, and the rest.
   *
   * @throws `outside_root` where it does not, where a link on the way does not resolve, or where there is one and the
   * environment has no canonical paths; `not_directory` where a file stands in the middle; what the environment throws
   */
  async real(path: string, options?: Options): Promise<string> {
    const [root, real] = [await this.realRoot(options), await this.#realOf(path, this.path, options)];
    if (isInside(root, real)) return real;
    throw failure("outside_root", `Path leads outside of the root ${this.path} by a symbolic link: ${path}`);
  }

  /** The same of its directory, with the last name as it is: where a link at the end is meant itself. */
  async place(path: string, options?: Options): Promise<string> {
    if (path === this.path) return this.realRoot(options);
    const { parent, name } = split(path);
    return join(await this.real(parent, options), name);
  }

  /** The canonical path of the directory. Kept once it is there: if a link then leads elsewhere, all is outside. */
  async realRoot(options?: Options): Promise<string> {
    if (this.#real !== undefined) return this.#real;
    const isBlind = !this.#env.canonicalPath;
    const known = isBlind ? {} : await this.#canonical(this.path, options);
    const real = isBlind && (await this.#kind(this.path, options)) ? this.path : known.real;
    if (real !== undefined) {
      this.#real = real;
      return real;
    }
    return this.#realOf(this.path, undefined, options);
  }

  async #realOf(path: string, root: string | undefined, options?: Options): Promise<string> {
    // Most paths are there, and then this says it all.
    if (this.#env.canonicalPath) {
      const { real } = await this.#canonical(path, options);
      if (real !== undefined) return real;
    }
    const { at, kind } = await this.#deepest(path, root ?? "/", options);
    const rest = path.slice(at === "/" ? 1 : at.length + 1);
    if (kind === "file" && rest !== "") {
      throw failure("not_directory", `expected a directory, found a file (${at}): ${path}`);
    }
    if (!this.#env.canonicalPath) {
      if (root !== undefined) await this.#expectNoLinks(at, root, path, options);
      return path;
    }
    const { real, code, error } = await this.#canonical(at, options);
    if (real !== undefined) return within(real, rest);
    if (kind === "symlink" && (code === "not_found" || code === "invalid_path")) {
      throw failure(
        "outside_root",
        `Path goes through a symbolic link that does not resolve (${at}), so that it is not known to stay inside of ` +
          `the root ${this.path}: ${path}`,
      );
    }
    // A store without directories: nothing is there, down from the top.
    if (code === "not_found" && kind === undefined) return path;
    throw error;
  }

  /** The deepest ancestor that is there, the path itself included. None above the top is asked for. */
  async #deepest(path: string, top: string, options?: Options) {
    for (let at = path; ; at = split(at).parent) {
      const kind = await this.#kind(at, options);
      if (kind !== undefined || at === top || at === "/") return { at, kind };
    }
  }

  /** What lstat says; undefined where nothing is there. */
  async #kind(path: string, options?: Options): Promise<FileInfo["kind"] | undefined> {
    try {
      return asInfo(await answerOf(this.#env.fileInfo(path, options)), path).kind;
    } catch (error) {
      const code = codeOf(error);
      if (code === "not_found" || code === "not_directory" || code === "invalid_path") return undefined;
      throw error;
    }
  }

  async #canonical(path: string, options?: Options) {
    const { canonicalPath } = this.#env;
    if (!canonicalPath) return {};
    try {
      const answer = await answerOf(canonicalPath.call(this.#env, path, options));
      return { real: asPath(answer, path) };
    } catch (error) {
      const code = codeOf(error);
      if (code === "not_found" || code === "not_directory" || code === "invalid_path") return { code, error };
      throw error;
    }
  }

  /** Without canonical paths a link cannot be followed, so there may be none. */
  async #expectNoLinks(deepest: string, root: string, path: string, options?: Options): Promise<void> {
    for (let at = deepest; at !== root && at !== "/"; at = split(at).parent) {
      if ((await this.#kind(at, options)) !== "symlink") continue;
      throw failure(
        "outside_root",
        `Path goes through a symbolic link (${at}), and this environment cannot tell whether that stays inside of ` +
          `the root ${this.path}: ${path}`,
      );
    }
  }
}
