/**
 * The wasm modules, each loaded once: the core by whatever comes first, the schema module by `init`.
 *
 * @module
 */

import { Core } from "./core.js";
import { ToolError } from "./errors.js";
import { compile } from "./load.js";
import { SchemaModule } from "./schema-module.js";
import type { WasmSource } from "./types.js";

/** Something that is loaded once. After a failure the next one who asks tries again, with a source of its own. */
class Once<T> {
  loaded: T | undefined;
  #loading: Promise<T> | undefined;
  readonly #name: string;
  readonly #start: (module: WebAssembly.Module) => Promise<T>;
  defaultSource: (() => WasmSource) | undefined;

  constructor(name: string, start: (module: WebAssembly.Module) => Promise<T>) {
    this.#name = name;
    this.#start = start;
  }

  async load(source: WasmSource | undefined): Promise<T> {
    // A source that is not needed any more may fail: unheard, that would end a Node process.
    if (source instanceof Promise) source.catch(() => {});
    // One load at a time. Another's failure is not this one's: its source may be a better one.
    while (this.#loading) {
      try {
        return await this.#loading;
      } catch {
        // Whose load it was says so.
      }
    }
    const own = this.#load(source);
    this.#loading = own;
    try {
      this.loaded = await own;
      return this.loaded;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  async #load(source: WasmSource | undefined): Promise<T> {
    const chosen = source ?? this.defaultSource?.();
    if (chosen === undefined) {
      throw new ToolError(
        `init() needs the URL, the bytes or the module of ${this.#name}.wasm`,
        "invalid_arguments",
      );
    }
    return this.#start(await compile(chosen));
  }
}

export const core = new Once("core", (module) => Core.load(module));
export const schema = new Once("schema", (module) => SchemaModule.load(module));

/** The modules by their names in `init({ … })`. */
export interface Sources {
  core?: WasmSource;
  schema?: WasmSource;
}

/** Where the modules come from when nobody says. */
export function setDefaultSources(sources: { [name in keyof Sources]-?: () => WasmSource }): void {
  core.defaultSource = sources.core;
  schema.defaultSource = sources.schema;
}
