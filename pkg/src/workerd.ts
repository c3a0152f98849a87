/**
 * Tackroom for workerd (Cloudflare Workers), which compiles wasm modules when a worker is deployed and never after.
 *
 * @module
 */

import core from "../wasm/core.wasm";
import schema from "../wasm/schema.wasm";
import search from "../wasm/search.wasm";
import { setDefaultSources } from "./modules.js";

setDefaultSources({ core: () => core, search: () => search, schema: () => schema });

export * from "./exports.js";
