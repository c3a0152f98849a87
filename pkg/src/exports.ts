/**
 * What every entry of the package exports. The entries differ only in where the wasm modules come from.
 *
 * @module
 */

export {
  applyEdits,
  createToolset,
  exportSchema,
  init,
  parsePartialArguments,
  resolveConfined,
  strictSchema,
  unifiedDiff,
  validateToolArguments,
  validateToolCall,
  withFileMutationQueue,
} from "./api.js";
export { ToolError } from "./errors.js";
export type * from "./types.js";
