/**
 * The functions of the package, the same in every entry. An entry adds where the module comes from.
 *
 * @module
 */

import { Core, glue, unwrap } from "./core.js";
import { ToolError } from "./errors.js";
import { compile } from "./load.js";
import { argumentText, CoreToolset } from "./toolset.js";
import type {
  DetailsMap,
  ExecutionEnv,
  ToolCall,
  ToolName,
  Toolset,
  ToolsetOptions,
  WasmSource,
} from "./types.js";

let core: Core | undefined;
let loading: Promise<Core> | undefined;
let defaultSource: (() => WasmSource) | undefined;

/** Where the module comes from when nobody says. */
export function setDefaultSource(source: () => WasmSource): void {
  defaultSource = source;
}

async function load(source: WasmSource | undefined): Promise<Core> {
  const chosen = source ?? defaultSource?.();
  if (chosen === undefined) {
    throw new ToolError("init() needs the URL, the bytes or the module of core.wasm", "invalid_arguments");
  }
  return Core.load(await compile(chosen));
}

/**
 * Loads the wasm module. {@link createToolset} does so by itself; call it to have the pure functions at once, to
 * load ahead of time, or to say where the module comes from. Once it is loaded, further calls do nothing; after a
 * failure the next call tries again.
 *
 * @param source a compiled module, its bytes, a Response or a URL, or a promise of one. Default: the module inside
 *   this package.
 * @throws {ToolError} `not_supported` where WebAssembly (or its SIMD) is not to be had, or a Content Security
 *   Policy forbids it: the message names the directive.
 *
 * @example
 * ```ts
 * await init();
 * ```
 */
export async function init(source?: WasmSource | { core?: WasmSource }): Promise<void> {
  const given = isSources(source) ? source.core : source;
  // A source that is not needed any more may fail: unheard, that would end a Node process.
  if (given instanceof Promise) given.catch(() => {});
  // One load at a time. Another's failure is not this one's: its source may be a better one.
  while (loading) {
    try {
      core = await loading;
      return;
    } catch {
      // Whose load it was says so.
    }
  }
  const own = load(given);
  loading = own;
  try {
    core = await own;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

function isSources(source: unknown): source is { core?: WasmSource } {
  return typeof source === "object" && source !== null && Object.getPrototypeOf(source) === Object.prototype;
}

/**
 * Makes the tools over an environment.
 *
 * @param env the place to work in: one of the adapters of this package, or an object of your own.
 * @param options see {@link ToolsetOptions}; everything has a default. With `tools` the results are those of the
 *   tools named.
 * @throws {ToolError} `invalid_arguments` for an option that there is not, or an environment that lacks a method.
 *
 * @example
 * ```ts
 * import { createToolset } from "tackroom";
 * import { memory } from "tackroom/env/memory";
 *
 * const toolset = await createToolset(memory({ "notes.txt": "milk\n" }));
 * const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"notes.txt"}' });
 * ```
 */
export async function createToolset<const N extends ToolName = ToolName>(
  env: ExecutionEnv,
  options: ToolsetOptions<N> = {},
): Promise<Toolset<DetailsMap<N>>> {
  if (!core) await init();
  if (!core) throw new ToolError("The core did not load", "unknown");
  await core.ready();
  // Which tools there are is the core's to say; the compiler is told.
  return new CoreToolset(core, env, options as unknown as ToolsetOptions) as unknown as Toolset<
    DetailsMap<N>
  >;
}

/**
 * Checks a model's arguments against a tool's JSON Schema, repairing what models get wrong: a number or an array
 * as text, null for an optional property. Synchronous after {@link init}.
 *
 * The schema may use `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, the
 * bounds of numbers, strings and arrays, `anyOf` and `nullable`, and any annotation, as which `format` counts.
 *
 * @returns the arguments as the tool should get them.
 * @throws {ToolError} `invalid_arguments` with a text that a model can act on; `cut_off` where the text ends in the
 *   middle; `not_supported` where the schema uses another keyword, or before {@link init}.
 *
 * @example
 * ```ts
 * await init();
 * const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
 * validateToolArguments({ name: "roll", parameters }, { arguments: '{"n":"6"}' }); // { n: 6 }
 * ```
 */
export function validateToolArguments(
  tool: { name: string; parameters: object },
  call: { arguments: string | object; incomplete?: boolean },
): unknown {
  const loaded = core;
  if (!loaded) throw new ToolError("Call await init() before validateToolArguments()", "not_supported");
  loaded.wake();
  const schema = JSON.stringify(tool.parameters ?? {});
  const text = argumentText(tool.name, call.arguments);
  return unwrap(
    loaded.enter(
      (name = 0, parameters = 0, args = 0) =>
        glue.validate_arguments(name, parameters, args, call.incomplete === true),
      tool.name,
      schema,
      text,
    ),
  );
}

/** {@link validateToolArguments} for the tool that the call names. Throws `no_such_tool` if there is none. */
export function validateToolCall(
  tools: readonly { name: string; parameters: object }[],
  call: Pick<ToolCall, "name" | "arguments" | "incomplete">,
): unknown {
  const tool = tools.find((known) => known.name === call.name);
  if (!tool) throw new ToolError(`Tool ${call.name} not found`, "no_such_tool");
  return validateToolArguments(tool, call);
}
