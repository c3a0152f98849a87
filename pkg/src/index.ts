/**
 * Tackroom with its wasm module inside: for Node and for every bundler, with nothing to configure.
 *
 * @module
 */

import { setDefaultSource } from "./api.js";
import { unpack } from "./load.js";

// Nothing is loaded at import: a server may import this and never use it.
setDefaultSource(async () => {
  const { default: packed, rawLength } = await import("../wasm/core-inline.js");
  return unpack(packed, rawLength);
});

export {
  applyEdits,
  createToolset,
  exportSchema,
  init,
  resolveConfined,
  strictSchema,
  unifiedDiff,
  validateToolArguments,
  validateToolCall,
  withFileMutationQueue,
} from "./api.js";
export { ToolError } from "./errors.js";
export type * from "./types.js";
