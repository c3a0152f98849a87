/**
 * What every entry of the package exports. The entries differ only in where the wasm modules come from.
 *
 * @module
 */

export {
  applyEdits,
  compileSchema,
  createToolset,
  detectFileKind,
  exportSchema,
  formatSize,
  init,
  OutputAccumulator,
  parsePartialArguments,
  resolveConfined,
  strictSchema,
  truncateHead,
  truncateLine,
  truncateTail,
  unifiedDiff,
  utf8ByteLength,
  validateToolArguments,
  validateToolCall,
  withFileMutationQueue,
} from "./api.js";
export { defineTool } from "./define.js";
export { ToolError } from "./errors.js";
export type { FromJsonSchema } from "./infer.js";
export type * from "./own-tools.js";
export type { InferArgs, StandardJsonSchema, StandardTool } from "./standard.js";
export type * from "./types.js";
