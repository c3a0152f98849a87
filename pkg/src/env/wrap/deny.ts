/**
 * What a list of patterns hides.
 *
 * @module
 */

import ignore from "ignore";
import type { FileInfo } from "../../types.js";

/** The patterns of a `.gitignore` at the top of a tree. Paths given to it are relative to that, and normal. */
export class Denied {
  readonly #rules: ignore.Ignore;

  constructor(patterns: readonly string[]) {
    // Case and the form of accents do not count, as they do not on the disks of macOS and Windows: there another
    // spelling is the same file.
    this.#rules = ignore({ ignorecase: true }).add(patterns.map((pattern) => pattern.normalize("NFC")));
  }

  /** Whether it is, or lies in something that is. */
  has(path: string, kind: FileInfo["kind"]): boolean {
    if (path === "") return false;
    const plain = path.normalize("NFC");
    return this.#rules.ignores(kind === "directory" ? `${plain}/` : plain);
  }

  /** The same where it takes a look at the file to know its kind: undefined. */
  mayHave(path: string): boolean | undefined {
    const asFile = this.has(path, "file");
    return asFile === this.has(path, "directory") ? asFile : undefined;
  }
}
