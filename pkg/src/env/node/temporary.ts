/**
 * Temporary files: in a directory of this environment's own, which nobody else can look into.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { rmdirSync } from "node:fs";
import { mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { failure } from "../failure.js";
import { errnoNameOf } from "./errors.js";
import { atExit } from "./exit.js";

export class TemporaryFiles {
  #directory: Promise<string> | undefined;

  /** Makes an empty file that its owner alone can read. Answers its path. */
  async create(prefix = "tmp-", suffix = ""): Promise<string> {
    if (/[/\\\0]/.test(prefix + suffix)) {
      throw failure("invalid_path", `expected a part of a name, found ${JSON.stringify(prefix + suffix)}`);
    }
    const name = `${prefix}${randomBytes(8).toString("hex")}${suffix}`;
    try {
      return await made(join(await this.#home(), name));
    } catch (error) {
      if (errnoNameOf(error) !== "ENOENT") throw error;
      // Somebody tidied the temporary directory up.
      this.#directory = undefined;
      return made(join(await this.#home(), name));
    }
  }

  #home(): Promise<string> {
    this.#directory ??= privateDirectory();
    return this.#directory;
  }
}

async function privateDirectory(): Promise<string> {
  // mkdtemp makes it 0700.
  const directory = await mkdtemp(join(tmpdir(), "tackroom-"));
  atExit(() => {
    try {
      rmdirSync(directory);
    } catch {
      // What is still in it may be read later.
    }
  });
  return directory;
}

async function made(path: string): Promise<string> {
  const file = await open(path, "wx", 0o600);
  await file.close();
  return path;
}
