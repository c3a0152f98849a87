/**
 * Tackroom with its wasm modules inside, imported statically: for where `import()` is forbidden, as it is in the
 * service worker of an extension. They are still unpacked and compiled when they are first needed.
 *
 * @module
 */

import * as core from "../wasm/core-inline.js";
import * as schema from "../wasm/schema-inline.js";
import * as search from "../wasm/search-inline.js";
import { unpack } from "./inline.js";
import { setDefaultSources } from "./modules.js";

setDefaultSources({ core: () => unpack(core), search: () => unpack(search), schema: () => unpack(schema) });

export * from "./exports.js";
