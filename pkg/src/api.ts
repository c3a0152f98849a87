/**
 * The functions of the package, the same in every entry. An entry adds where the module comes from.
 *
 * @module
 */

import type { Core } from "./core.js";
import { ToolError } from "./errors.js";
import * as modules from "./modules.js";
import * as pure from "./pure.js";
import { confined, inMutationQueue } from "./questions.js";
import { SchemaCache, type SchemaHosts } from "./schemas.js";
import { CoreToolset } from "./toolset.js";
import type {
  DetailsMap,
  Edit,
  ExecutionEnv,
  FileChange,
  FileKind,
  ToolCall,
  ToolName,
  Toolset,
  ToolsetOptions,
  WasmSource,
} from "./types.js";

/**
 * Loads the wasm modules: the core and the schema module. {@link createToolset} loads the core by itself; call `init`
 * to have the pure functions at once, to load ahead of time, or to say where the modules come from. What is loaded
 * is not loaded again; after a failure the next call tries again.
 *
 * @param source for each module a compiled module, its bytes, a Response or a URL, or a promise of one; one alone is
 *   the core's. Default: the modules inside this package.
 * @throws {ToolError} `not_supported` where WebAssembly (or its SIMD) is not to be had, or a Content Security
 *   Policy forbids it: the message names the directive.
 *
 * @example
 * ```ts
 * await init();
 * ```
 */
export async function init(source?: WasmSource | { core?: WasmSource; schema?: WasmSource }): Promise<void> {
  const sources: modules.Sources = isSources(source) ? source : source === undefined ? {} : { core: source };
  await Promise.all([modules.core.load(sources.core), modules.schema.load(sources.schema)]);
}

function isSources(source: unknown): source is modules.Sources {
  return typeof source === "object" && source !== null && Object.getPrototypeOf(source) === Object.prototype;
}

/**
 * Makes the tools over an environment.
 *
 * @param env the place to work in: one of the adapters of this package, or an object of your own.
 * @param options see {@link ToolsetOptions}; everything has a default. With `tools` the results are those of the
 *   tools named.
 * @throws {ToolError} `invalid_arguments` for an option that there is not, or an environment that lacks a method;
 *   `outside_root` where `root` does not hold the environment's `cwd`.
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
  const loaded = await loadedCore();
  // Which tools there are is the core's to say; the compiler is told.
  return new CoreToolset(loaded, env, options as unknown as ToolsetOptions) as unknown as Toolset<
    DetailsMap<N>
  >;
}

/** The core, once an entry can be made. */
async function loadedCore(): Promise<Core> {
  const core = await modules.core.load(undefined);
  await core.ready();
  return core;
}

/** The core, for a function that cannot wait. */
function coreFor(name: string): Core {
  if (modules.core.loaded) return modules.core.loaded;
  throw new ToolError(`Call await init() before ${name}()`, "not_supported");
}

/**
 * Checks a model's arguments against a tool's JSON Schema, repairing what models get wrong: a number or an array
 * as text, null for an optional property. Synchronous after {@link init}.
 *
 * The schema may use `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, the
 * bounds of numbers, strings and arrays, `anyOf` and `nullable`, and any annotation, as which `format` counts. It is
 * compiled once for each object: a schema that is changed after its first use is still the one it was.
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
  const schema = toolSchemas.of(schemaHosts("validateToolArguments"), tool.name, tool.parameters ?? {});
  return schema.validate(call.arguments, call.incomplete === true);
}

/** Schemas of the tools that were validated for. */
const toolSchemas = new SchemaCache();

/** Where schemas are compiled, for a function that cannot wait. */
function schemaHosts(name: string): () => SchemaHosts {
  return () => ({ core: coreFor(name), module: modules.schema.loaded });
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

/**
 * What a model's arguments say so far, while they are being streamed: for a live view of the call. Give it the whole
 * text received up to now, after each chunk. Nothing is checked against a schema, and no text makes it throw.
 * Synchronous after {@link init}; the time is linear in the text's length.
 *
 * Arrays, objects and strings are closed where the text ends; an escape or a surrogate pair that is cut off is left
 * out, so a string is only ever the beginning of what it will be. Of a number the digits so far count: it may still
 * change. A lone `-`, a part of `true`, `false` or `null`, and a key without its value are left out. Raw control
 * characters, bad escapes and JSON text in a string are repaired as in a call, and key order is kept.
 *
 * @param text the argument text so far.
 * @param toolName a built-in tool: the names and forms that models use in place of the tool's own are translated, as
 *   in a call (`file_path` to `path`, `old_string` to an item of `edits`). Default: as they came, as for any other name.
 * @returns `value`, absent while there is nothing to show (an empty text, say), and `complete`: whether the text is one
 *   whole JSON value, which a call would then be given. Of malformed text the value is what came before the fault, and
 *   so it is where arrays and objects are nested over 128 levels; `complete` is then `false`.
 * @throws {ToolError} `invalid_arguments` where `text` or `toolName` is no string; `not_supported` before
 *   {@link init}.
 *
 * @example
 * ```ts
 * parsePartialArguments('{"file_path":"a.txt","content":"hello wor', "write");
 * // { value: { path: "a.txt", content: "hello wor" }, complete: false }
 * ```
 */
export function parsePartialArguments(text: string, toolName = ""): { value?: unknown; complete: boolean } {
  return pure.parsePartialArguments(coreFor("parsePartialArguments"), text, toolName);
}

/**
 * Runs a function while no tool, and no other caller of this function, changes the file: for tools of your own that
 * read a file and write it back. Changes of one file run one after another, in the order in which they were asked
 * for (here: when this function is called, if the module is loaded); other files do not wait. The scope is the
 * environment object: all toolsets over it share the queue.
 *
 * The file is known by its canonical path, which is found as the tools find it, tolerance included. A change inside
 * `fn` by a tool of the same environment to the same file would wait for `fn`, and `fn` for it: do not.
 *
 * @param env the environment that the file is in.
 * @param path absolute, or relative to the environment's `cwd`; it need not exist.
 * @param fn what to do meanwhile. The file is given up when its promise settles, or when it throws.
 * @returns what `fn` returns.
 * @throws what `fn` throws; {@link ToolError} `invalid_path`, `ambiguous` and the like where the path cannot be, and
 *   `trapped` where the core failed before `fn` was begun. Should it fail while `fn` runs, later changes still wait
 *   for `fn`, but may overtake those that were waiting.
 *
 * @example
 * ```ts
 * await withFileMutationQueue(env, "todo.json", async () => {
 *   const list = JSON.parse(new TextDecoder().decode(await env.readBinaryFile("/todo.json")));
 *   await env.writeFile("/todo.json", new TextEncoder().encode(JSON.stringify([...list, item])));
 * });
 * ```
 */
export function withFileMutationQueue<T>(env: ExecutionEnv, path: string, fn: () => Promise<T>): Promise<T> {
  // Without a wait in between, so that the place in the queue is that of this call.
  const core = modules.core.loaded;
  if (core?.isReady) return inMutationQueue(core, env, path, fn);
  return loadedCore().then((loaded) => inMutationQueue(loaded, env, path, fn));
}

/**
 * The canonical path of a path, if it lies inside of a directory: the rule that the option `root` applies to every
 * path. The path is checked by its text before the environment is asked anything; then links are followed. Of what
 * does not exist, the canonical path of its deepest existing ancestor counts, and the rest. There is no tolerance:
 * `@` and `~` are ordinary characters.
 *
 * What it says holds when it says it: against another process that then puts a link in the way it is no protection.
 *
 * @param root absolute, or relative to the environment's `cwd`.
 * @param path absolute, or relative to the environment's `cwd`.
 * @returns an absolute path without links.
 * @throws {ToolError} `outside_root` where it is not inside, where a link on the way does not resolve, or where there
 *   is a link and the environment has no `canonicalPath`; `not_directory` where a file stands in the middle;
 *   `invalid_path`.
 *
 * @example
 * ```ts
 * await resolveConfined(memory({ "/project/a.txt": "" }), "/project", "/project/./a.txt"); // "/project/a.txt"
 * ```
 */
export async function resolveConfined(env: ExecutionEnv, root: string, path: string): Promise<string> {
  return confined(await loadedCore(), env, root, path);
}

/**
 * Applies edits to a content, as the tool `edit` does to a file: all match the content as it is, and all or none
 * apply; what is outside of the replaced text stays byte for byte. Synchronous after {@link init}.
 *
 * @param content text, or the bytes of a file. A string with an unpaired surrogate is refused: it has no bytes.
 * @param options `path` is for messages, the patch's header and the `path` of what is returned. Default `"file"`.
 * @returns the change, and the new content as the type that came.
 * @throws {ToolError} `no_match`, `ambiguous`, `overlap`, `no_change` or `invalid_arguments`, with a text that a
 *   model can act on; `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * applyEdits("a\r\nb\r\n", [{ oldText: "a\nb", newText: "A\nB" }]).content; // "A\r\nB\r\n"
 * ```
 */
export function applyEdits<T extends string | Uint8Array>(
  content: T,
  edits: Edit[],
  options: { path?: string } = {},
): FileChange & { content: T } {
  return pure.applyEdits(coreFor("applyEdits"), content, edits, options.path ?? "file");
}

/**
 * The unified diff of two contents, as `git apply` takes it; empty where they are the same. Synchronous after
 * {@link init}.
 *
 * @param path for the header, `a/PATH` and `b/PATH`; a leading slash is left out.
 * @param context lines around each change. Default 4.
 * @throws {ToolError} `not_supported` where a line of the diff would not be UTF-8, or before {@link init};
 *   `invalid_arguments`.
 *
 * @example
 * ```ts
 * unifiedDiff("f", "a\nb\n", "a\nc\n"); // "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
 * ```
 */
export function unifiedDiff(
  path: string,
  before: string | Uint8Array,
  after: string | Uint8Array,
  context = 4,
): string {
  return pure.unifiedDiff(coreFor("unifiedDiff"), path, before, after, context);
}

/**
 * What kind of file bytes are, told by the bytes alone: a file's name may lie. It is what `read` goes by. Synchronous
 * after {@link init}.
 *
 * @param bytes the file, or its beginning: 8 KB tell the kind. The first megabyte is looked at, so that of an image
 *   with much before its dimensions (a JPEG with a large preview) they may be missing.
 * @throws {ToolError} `invalid_arguments` for what is no Uint8Array; `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * detectFileKind(new TextEncoder().encode("hello\n")); // { kind: "text", encoding: "utf-8" }
 * detectFileKind(photo); // { kind: "image", mimeType: "image/jpeg", width: 3024, height: 4032, animated: false }
 * ```
 */
export function detectFileKind(bytes: Uint8Array): FileKind {
  return pure.detectFileKind(coreFor("detectFileKind"), bytes);
}
