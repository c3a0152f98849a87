/**
 * Tackroom with its wasm module inside: for Node and for every bundler, with nothing to configure.
 *
 * @module
 */

import { unpack } from "./load.js";
import { setDefaultSources } from "./modules.js";

interface Inline {
  default: string;
  rawLength: number;
}

const unpacked = async ({ default: packed, rawLength }: Inline) => unpack(packed, rawLength);

// Nothing is loaded at import: a server may import this and never use it.
setDefaultSources({
  core: async () => unpacked(await import("../wasm/core-inline.js")),
  schema: async () => unpacked(await import("../wasm/schema-inline.js")),
});

export {
  applyEdits,
  createToolset,
  detectFileKind,
  init,
  parsePartialArguments,
  resolveConfined,
  unifiedDiff,
  validateToolArguments,
  validateToolCall,
  withFileMutationQueue,
} from "./api.js";
export { ToolError } from "./errors.js";
export type * from "./types.js";
