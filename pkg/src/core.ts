/**
 * The core module.
 *
 * @module
 */

import * as glue from "../wasm/core.js";
import { Instance } from "./instance.js";

export { glue };
export type Core = Instance<typeof glue>;

export function loadCore(module: WebAssembly.Module): Promise<Core> {
  return Instance.load(glue, module, "core", "call_start");
}
