/**
 * The wasm modules, each loaded once: the core by whatever comes first, the others by `init`, or when they are first
 * needed.
 *
 * @module
 */

import { loadCore } from "./core.js";
import { isToolError, ToolError } from "./errors.js";
import { compile, type SettledSource, SOURCES, sourceKind, urlOf } from "./load.js";
import { SchemaModule } from "./schema-module.js";
import { loadSearch } from "./search-module.js";
import type { WasmSource } from "./types.js";
import { isThenable, textOf } from "./values.js";

/** Something that is loaded once. After a failure the next one who asks tries again, with a source of its own. */
class Once<T> {
  loaded: T | undefined;
  /** Where it was loaded from, where that has a URL. */
  url: string | undefined;
  #loading: Promise<T> | undefined;
  readonly #name: string;
  readonly #start: (module: WebAssembly.Module) => Promise<T>;
  /** Where it comes from when nobody says; `undefined` where it has to be said. */
  defaultSource: (() => WasmSource) | undefined;
  /** The same, by where other modules came from: goes before the default. */
  nearbySource: (() => WasmSource | undefined) | undefined;

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
    const chosen = source ?? this.nearbySource?.() ?? this.defaultSource?.();
    if (chosen === undefined) {
      throw new ToolError(
        `Expected where ${this.#name}.wasm is, found nothing: give init() ${SOURCES}, as { ${this.#name}: … }`,
        "invalid_arguments",
      );
    }
    const settled = await this.#settled(chosen);
    const loaded = await this.#start(await compile(settled, this.#name));
    this.url = urlOf(settled);
    return loaded;
  }

  async #settled(source: WasmSource): Promise<SettledSource> {
    try {
      return await source;
    } catch (error) {
      if (isToolError(error)) throw error;
      throw new ToolError(`Could not get Tackroom's ${this.#name}.wasm: ${textOf(error)}`, "unknown");
    }
  }
}

export const core = new Once("core", loadCore);
export const search = new Once("search", loadSearch);
export const schema = new Once("schema", (module) => SchemaModule.load(module));

/** The modules by their names in `init({ … })`. */
export interface Sources {
  core?: WasmSource;
  search?: WasmSource;
  schema?: WasmSource;
}

const NAMES: readonly string[] = ["core", "search", "schema"] satisfies (keyof Sources)[];

/** Those that can be beside the core. */
const OTHERS = { search, schema };

/** Where the modules come from when nobody says. */
export function setDefaultSources(sources: { [name in keyof Sources]-?: () => WasmSource }): void {
  core.defaultSource = sources.core;
  search.defaultSource = sources.search;
  schema.defaultSource = sources.schema;
}

/** From now on, where the core comes from a URL, the other modules come from beside it. */
export function setNearbySources(): void {
  for (const name of ["search", "schema"] as const)
    OTHERS[name].nearbySource = () => core.url && beside(core.url, `${name}.wasm`);
}

/** Loads every module. In an entry where the others are beside the core, one without a place loads the core alone. */
export async function loadAll(sources: Sources): Promise<void> {
  await Promise.all([core.load(sources.core), loadOther("search", sources), loadOther("schema", sources)]);
}

async function loadOther(name: keyof typeof OTHERS, sources: Sources): Promise<void> {
  const [module, own] = [OTHERS[name], sources[name]];
  if (own === undefined && sources.core !== undefined && module.nearbySource) {
    // Where the core is going to come from, so that all are fetched at once.
    const url = await Promise.resolve(sources.core).then(urlOf, () => undefined);
    const found = url && beside(url, `${name}.wasm`);
    if (found) await module.load(found);
    else if (module.defaultSource) await module.load(undefined);
    return;
  }
  await module.load(own);
}

/** The URL of a file in the same folder, with the same query; `undefined` where there are no folders (`data:`). */
function beside(url: string, name: string): string | undefined {
  let absolute: URL;
  try {
    absolute = new URL(url);
  } catch {
    const [, folder = "", query = ""] = /^([^?#]*\/)?[^?#]*(\?[^#]*)?/.exec(url) ?? [];
    return folder + name + query;
  }
  try {
    return new URL(name + absolute.search, absolute).href;
  } catch {
    return undefined;
  }
}

/**
 * What `init` was given, by module. Whether each is a source is seen when it is needed.
 *
 * @throws {ToolError} `invalid_arguments` for a module that there is not.
 */
export function sourcesOf(given: unknown): Sources {
  if (!isRecord(given)) return given === undefined || given === null ? {} : { core: given as WasmSource };
  const sources: Record<string, unknown> = {};
  for (const [name, source] of Object.entries(given)) {
    if (!NAMES.includes(name)) {
      throw new ToolError(
        `Expected in init({ … }) the modules ${NAMES.join(", ")}, found ${JSON.stringify(name)}`,
        "invalid_arguments",
      );
    }
    if (source !== undefined && source !== null) sources[name] = source;
  }
  return sources;
}

/** Whether it is an object literal, of this realm or another, or the names of a module; and no promise. */
function isRecord(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  try {
    const prototype = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    return isPlain && sourceKind(value) === undefined && !isThenable(value);
  } catch {
    return false;
  }
}
