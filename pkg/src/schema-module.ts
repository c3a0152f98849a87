/**
 * The schema module: a wasm module of its own with the full JSON Schema engine, loaded when it is first needed. It
 * calls nothing of JavaScript, so an entry is a plain call; a trap costs the schemas that were compiled in it, which
 * are compiled again.
 *
 * @module
 */

import * as glue from "../wasm/schema.js";
import { ToolError } from "./errors.js";
import type { SchemaEntries, SchemaHost } from "./schemas.js";
import { textOf } from "./values.js";

const encoder = new TextEncoder();

export class SchemaModule implements SchemaHost {
  readonly #module: WebAssembly.Module;
  #exports: glue.InitOutput | undefined;
  generation = 0;

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  static async load(module: WebAssembly.Module): Promise<SchemaModule> {
    // The glue keeps the first module that can be instantiated, for good.
    const names = WebAssembly.Module.exports(module).map(({ name }) => name);
    if (!names.includes("schema_new") || names.includes("call_start"))
      throw new ToolError("Expected Tackroom's schema.wasm, found another wasm module", "invalid_arguments");
    const made = new SchemaModule(module);
    try {
      glue.initSync({ module });
    } catch (error) {
      // Chromium before 115 instantiates only small modules synchronously on the main thread.
      if (!(error instanceof RangeError))
        throw new ToolError(
          `Could not start Tackroom's schema module, which may be of another version: ${textOf(error)}`,
          "invalid_arguments",
        );
      await glue.default({ module_or_path: module });
    }
    made.#begin();
    return made;
  }

  #begin(): void {
    this.#exports = glue.initSync({ module: this.#module });
    this.generation++;
    glue.start();
  }

  get isAlive(): boolean {
    return this.#exports !== undefined;
  }

  wake(): void {
    if (this.#exports) return;
    glue.__wbg_reset_state();
    this.#begin();
  }

  fits(id: number, text: string): boolean {
    return this.enter((entries, length = 0) => entries.arguments_fit(id, length), text);
  }

  enter<T>(entry: (entries: SchemaEntries, ...lengths: number[]) => T, ...texts: string[]): T {
    try {
      return entry(glue, ...this.#put(texts));
    } catch (error) {
      this.#exports = undefined;
      throw new ToolError(`The schema module failed and was restarted: ${textOf(error)}`, "trapped");
    }
  }

  /** Puts texts into the scratch buffer, one after the other. Answers their lengths in bytes. */
  #put(texts: string[]): number[] {
    const parts = texts.map((text) => encoder.encode(text));
    let at = glue.scratch(parts.reduce((total, part) => total + part.length, 0));
    const memory = new Uint8Array((this.#exports as glue.InitOutput).memory.buffer);
    for (const part of parts) {
      memory.set(part, at);
      at += part.length;
    }
    return parts.map((part) => part.length);
  }
}
