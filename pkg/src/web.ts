/**
 * Tackroom without its wasm modules: {@link init} says where they are. For pages that serve the files themselves,
 * compiled while they arrive.
 *
 * @module
 */

import { init as initAny } from "./api.js";
import { setNearbySources } from "./modules.js";
import type { WasmSource } from "./types.js";

setNearbySources();

/**
 * Loads the wasm modules. Call it first: this entry brings none along.
 *
 * @param source the core, or each module, as a URL, a Response, bytes, a compiled module, or a promise of one. Where
 *   the core has a URL and `search` or `schema` is not given, `search.wasm` or `schema.wasm` is loaded from the same
 *   folder (a bundler that renames files needs all). Where it has none, the core alone is loaded; `grep` and `find` then
 *   need `init({ search })`, and schemas beyond the structural keywords `init({ schema })`, first.
 * @throws {ToolError} `invalid_arguments` for what is no source; `not_found` where the server has no such file;
 *   `not_supported` where WebAssembly (or its SIMD) is not to be had, or a Content Security Policy forbids it: the
 *   message names the directive.
 *
 * @example
 * ```ts
 * await init("/assets/tackroom/core.wasm"); // search.wasm and schema.wasm beside it
 * ```
 */
export const init: (
  source: WasmSource | { core?: WasmSource; search?: WasmSource; schema?: WasmSource },
) => Promise<void> = initAny;

export * from "./exports.js";
