/**
 * The search module: `grep` and `find` with ripgrep's parts, loaded when the first of them runs.
 *
 * @module
 */

import * as glue from "../wasm/search.js";
import { Instance } from "./instance.js";

export type SearchModule = Instance<typeof glue>;

export function loadSearch(module: WebAssembly.Module): Promise<SearchModule> {
  return Instance.load(glue, module, "search", "search_start");
}
