/**
 * Tackroom with its wasm modules inside: for Node and for every bundler, with nothing to configure.
 *
 * @module
 */

import { unpack } from "./inline.js";
import { setDefaultSources } from "./modules.js";

// Nothing is loaded at import: a server may import this and never use it.
setDefaultSources({
  core: async () => unpack(await import("../wasm/core-inline.js")),
  search: async () => unpack(await import("../wasm/search-inline.js")),
  schema: async () => unpack(await import("../wasm/schema-inline.js")),
});

export * from "./exports.js";
