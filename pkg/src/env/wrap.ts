/**
 * Environments around environments: confined to a directory, told about, with changes that can be taken back, and
 * put together to a tree. Each takes any environment: its methods may answer with values or promises, may throw or
 * return Results.
 *
 * @module
 */

export {
  type AuditedOperation,
  type AuditedOptions,
  audited,
  type StartedOperation,
} from "./wrap/audited.js";
export { type ConfinedOptions, confined } from "./wrap/confined.js";
export type { Mounted } from "./wrap/mounts/tree.js";
export { type MountsOptions, mounts } from "./wrap/mounts.js";
export type { OverlayChange, OverlayEntry } from "./wrap/overlay/plan.js";
export { type CommitReport, type OverlayEnv, overlay } from "./wrap/overlay.js";
