/**
 * The functions of the package, the same in every entry. An entry adds where the module comes from.
 *
 * @module
 */

import type { Core } from "./core.js";
import { ToolError } from "./errors.js";
import * as modules from "./modules.js";
import { Output } from "./own-output.js";
import * as pure from "./pure.js";
import { confined, inMutationQueue } from "./questions.js";
import { optionsText, Schema, SchemaCache, type SchemaHosts } from "./schemas.js";
import { CoreToolset } from "./toolset.js";
import * as truncation from "./truncation.js";
import type {
  CompiledSchema,
  CompileOptions,
  DeclarationFormat,
  DetailsMap,
  Edit,
  ExecutionEnv,
  FileChange,
  FileKind,
  ToolCall,
  ToolName,
  ToolSchema,
  Toolset,
  ToolsetOptions,
  TruncationResult,
  WasmSource,
} from "./types.js";
import { kindOf } from "./values.js";

/**
 * Loads the wasm modules: the core, the search module and the schema module. {@link createToolset} loads the core by itself; call `init`
 * to have the pure functions at once, to load ahead of time, or to say where the modules come from. What is loaded
 * is not loaded again; after a failure the next call tries again.
 *
 * @param source for each module a compiled module, its bytes, a Response or a URL, or a promise of one; one alone is
 *   the core's. Default: the modules inside this package; in `tackroom/web`, which has none inside, `search.wasm`
 *   and `schema.wasm` beside the core's URL.
 * @throws {ToolError} `invalid_arguments` for what is no source, or a module that there is not; `not_found` where the
 *   server has no such file; `not_supported` where WebAssembly (or its SIMD) is not to be had, or a Content Security
 *   Policy forbids it: the message names the directive.
 *
 * @example
 * ```ts
 * await init();
 * ```
 */
export async function init(
  source?: WasmSource | { core?: WasmSource; search?: WasmSource; schema?: WasmSource },
): Promise<void> {
  await modules.loadAll(modules.sourcesOf(source));
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
 * Compiles a JSON Schema, to check values against it: drafts 4, 6, 7, 2019-09 and 2020-12, patterns as in JavaScript.
 * Synchronous after {@link init}. What a model gets wrong is repaired as in a call of a tool: a number or an array as
 * text, null for an optional property.
 *
 * A mistake in the schema does not break it: a keyword with a wrong value or a broken pattern is ignored, a reference
 * that leads nowhere fits no value, and each is one of the `warnings`.
 *
 * @param schema JSON Schema, an object or a boolean, or a schema of a library as `defineTool` takes it. It is read once.
 * @param options see {@link CompileOptions}; everything has a default.
 * @throws {ToolError} `invalid_arguments` for what is no schema, or an option that there is not; `not_supported` before
 *   {@link init}.
 *
 * @example
 * ```ts
 * await init();
 * const schema = compileSchema({
 *   $ref: "#/$defs/Die",
 *   $defs: { Die: { type: "object", properties: { sides: { type: "integer", multipleOf: 2 } }, required: ["sides"] } },
 * });
 * schema.check({ sides: "6" }); // { ok: true, value: { sides: 6 } }
 * schema.check({ sides: 5 }); // { ok: false, errors: [{ path: "sides", message: "must be a multiple of 2, got 5" }] }
 * schema.dispose();
 * ```
 */
export function compileSchema(schema: object | boolean, options: CompileOptions = {}): CompiledSchema {
  const compiled = new Schema(hostsOfCompile, "", schema, optionsText(options));
  const dispose = () => compiled.dispose();
  return Object.freeze({
    check: (value: unknown) => compiled.check(value),
    get warnings() {
      return compiled.warnings;
    },
    dispose,
    [Symbol.dispose]: dispose,
  });
}

/**
 * Checks a model's arguments against a tool's JSON Schema, repairing what models get wrong: a number or an array
 * as text, null for an optional property. Synchronous after {@link init}.
 *
 * The schema is compiled once for each object: one that is changed after its first use is still what it was. What had
 * to be mended in it, {@link compileSchema} says.
 *
 * @param tool its name, for messages, and its schema: JSON Schema of any draft, or a schema of a library as
 *   `defineTool` takes it.
 * @param call the model's JSON text as it came, or the object a client library made of it. `incomplete`: the response
 *   ended at its token limit while the call was being written.
 * @returns the arguments as the tool should get them.
 * @throws {ToolError} `invalid_arguments` with a text that a model can act on, or for what is no schema; `cut_off` where
 *   the text ends in the middle; `not_supported` before {@link init}.
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
  if (typeof tool?.name !== "string" || typeof call !== "object" || call === null) throw noTool(tool, call);
  const schema = toolSchemas.of(hostsOfValidate, tool.name, tool.parameters ?? NO_PARAMETERS);
  return schema.validate(call.arguments, call.incomplete === true);
}

const NO_PARAMETERS = {};

function noTool(tool: unknown, call: unknown): ToolError {
  const isTool = typeof (tool as { name?: unknown } | undefined)?.name === "string";
  const message = isTool
    ? `Expected a call { arguments }, found ${kindOf(call)}`
    : `Expected a tool { name: string, parameters }, found ${kindOf(tool)}`;
  return new ToolError(message, "invalid_arguments");
}

/** Schemas of the tools that were validated for. */
const toolSchemas = new SchemaCache();

const hostsOfValidate = schemaHosts("validateToolArguments");
const hostsOfCompile = schemaHosts("compileSchema");

/** Where schemas are compiled, for a function that cannot wait. */
function schemaHosts(name: string): () => SchemaHosts {
  return () => ({ core: coreFor(name), module: modules.schema.loaded });
}

/**
 * {@link validateToolArguments} for the tool that the call names.
 *
 * @throws {ToolError} `no_such_tool` if there is none, `invalid_arguments` if there are two, and as above.
 */
export function validateToolCall(
  tools: readonly { name: string; parameters: object }[],
  call: Pick<ToolCall, "name" | "arguments" | "incomplete">,
): unknown {
  if (!Array.isArray(tools) || typeof call !== "object" || call === null)
    throw new ToolError(
      `Expected an array of tools and a call { name, arguments }, found ${kindOf(tools)} and ${kindOf(call)}`,
      "invalid_arguments",
    );
  const index = tools.findIndex((known) => known.name === call.name);
  const tool = tools[index];
  if (!tool) throw new ToolError(`Tool ${call.name} not found`, "no_such_tool");
  for (let other = index + 1; other < tools.length; other++) {
    if (tools[other]?.name === call.name)
      throw new ToolError(
        `Expected one tool of each name, found two named ${call.name}`,
        "invalid_arguments",
      );
  }
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
 * The strict form of a tool's schema, by which OpenAI samples where a tool is `strict`: every property is required, one
 * that was optional may be null instead, and no object has other properties, at every level. What fits it fits the
 * schema once optional nulls are dropped, as every check of arguments here does. A schema that is strict already stays
 * as it is. Synchronous after {@link init}.
 *
 * There is none for a schema that has objects of any property (`additionalProperties`, or `type: "object"` alone below
 * the root), `oneOf`, `not`, `if`, tuples and the like, `allOf` of several, a union at the root, a format or a pattern
 * that OpenAI does not take, or more than 5000 properties, 10 levels of objects or 1000 enum values.
 *
 * @param schema JSON Schema of an object; `{}`, `true`, null and undefined are those of a tool without arguments.
 * @returns a new object. Annotations other than `title` and `description` are left out, references stay.
 * @throws {ToolError} `not_supported` with the place and the reason where there is no strict form, or before
 *   {@link init}; `invalid_arguments` for what is no schema of an object.
 *
 * @example
 * ```ts
 * strictSchema({ type: "object", properties: { path: { type: "string" }, limit: { type: "number" } }, required: ["path"] });
 * // { type: "object", properties: { path: { type: "string" }, limit: { type: ["number", "null"] } },
 * //   required: ["path", "limit"], additionalProperties: false }
 * ```
 */
export function strictSchema(schema: ToolSchema): object {
  return pure.strictSchema(coreFor("strictSchema"), schema);
}

/**
 * A tool's schema as a provider takes it. Synchronous after {@link init}. The root is always an object that says so.
 *
 * - `json-schema` and `mcp`: as it is, but for the root.
 * - `openai-chat`, `openai-responses`: the {@link strictSchema} where there is one (a schema without
 *   any property is left open). Else draft 2020-12 without what is
 *   refused at the root: of `anyOf` and `oneOf` one object with the properties of all becomes, which requires what all
 *   require; `allOf` is merged; `not`, `enum` and `const` go. It asks for less than the schema does, so arguments are
 *   to be checked against the schema itself.
 * - `anthropic`: the same; its strict form has no bounds of numbers and lengths, no recursion, and up to 16 unions.
 * - `gemini`: the subset of OpenAPI of function declarations. References are inlined (those that lead back are
 *   `{ type: "object" }`), `const` is an enum, enums of other values than texts are told in the description, `null`
 *   is `nullable`, `oneOf` is `anyOf`, `allOf` is merged, and keywords that there are not go.
 *
 * @param schema JSON Schema of an object; `{}`, `true`, null and undefined are `{ type: "object", properties: {} }`.
 * @returns a new object.
 * @throws {ToolError} `invalid_arguments` for what is no schema of an object, or a format that there is not;
 *   `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * exportSchema({ type: "object", properties: { kind: { const: "file" } }, additionalProperties: false }, "gemini");
 * // { type: "object", properties: { kind: { type: "string", enum: ["file"] } } }
 * ```
 */
export function exportSchema(schema: ToolSchema, format: DeclarationFormat): object {
  return pure.exportSchema(coreFor("exportSchema"), schema, format);
}

/**
 * Keeps whole lines from the start of a text, as `read` does. Synchronous after {@link init}.
 *
 * A line ends at LF, and a final LF opens no further line. Bytes are those of UTF-8. The lines that are kept and the
 * LFs between them count; the last one's LF stays only where nothing is cut and it fits. If the first line alone is
 * over `maxBytes`, the content is empty and `firstLineExceedsLimit` true.
 *
 * @param content text, or bytes, which are read as UTF-8. What is invalid, and each unpaired surrogate, becomes
 *   U+FFFD, which has 3 bytes: what is returned is well-formed.
 * @param options whole numbers from 1. Default 2000 lines and 51,200 bytes, whichever is hit first.
 * @throws {ToolError} `invalid_arguments`; `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * const { content, truncatedBy, totalLines } = truncateHead("one\ntwo\nthree\n", { maxLines: 2 });
 * // "one\ntwo", "lines", 3
 * ```
 */
export function truncateHead(
  content: string | Uint8Array,
  options: { maxLines?: number; maxBytes?: number } = {},
): TruncationResult {
  return truncation.truncate(coreFor("truncateHead"), content, false, options);
}

/**
 * Keeps whole lines from the end of a text, as `bash` does: {@link truncateHead} from the other side. If the last line
 * alone is over `maxBytes`, the content is its end, cut at a character; `lastLinePartial` is then true and
 * `lastLineBytes` the length of that line.
 *
 * @example
 * ```ts
 * truncateTail("one\ntwo\nthree\n", { maxLines: 2 }).content; // "two\nthree"
 * ```
 */
export function truncateTail(
  content: string | Uint8Array,
  options: { maxLines?: number; maxBytes?: number } = {},
): TruncationResult {
  return truncation.truncate(coreFor("truncateTail"), content, true, options);
}

/**
 * Collects the output of a running command and gives its end, as `bash` does: for a shell of your own. Memory stays at
 * about twice `maxBytes`, whatever the flood. Synchronous after {@link init}.
 *
 * Each stream is decoded on its own (UTF-8, or UTF-16 where it begins with a BOM) and may be cut anywhere, also inside a
 * character or an escape sequence; text is merged in the order in which it comes. What is shown is what a terminal
 * would show: escape sequences and control characters are gone, a line that was rewritten (a progress bar) is its last
 * frame. Lines are still those of the bytes. With `terminal: "raw"` everything stays as it is.
 *
 * @example
 * ```ts
 * await init();
 * const output = new OutputAccumulator({ maxLines: 2 });
 * output.push("compiling\n 50%\r100%\n");
 * output.push(Uint8Array.of(0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x6f, 0x68), "stderr"); // "\x1b[31moh"
 * output.finish();
 * const { content, totalLines } = output.snapshot(); // "100%\noh", 3
 * output.dispose();
 * ```
 */
export class OutputAccumulator {
  readonly #output: Output;

  /**
   * @param options whole numbers from 1, default 2000 lines and 51,200 bytes; `terminal` is `"render"` by default.
   * @throws {ToolError} `invalid_arguments`; `not_supported` before {@link init}.
   */
  constructor(options: { maxLines?: number; maxBytes?: number; terminal?: "render" | "raw" } = {}) {
    this.#output = new Output(coreFor("new OutputAccumulator"), options);
  }

  /**
   * Takes the next chunk of a stream, of any size. After {@link finish} or {@link dispose} chunks are ignored: a
   * command's children may still write when it has ended.
   *
   * @param chunk bytes, which are copied, or text, which may end between the two halves of a character.
   * @param stream default `"stdout"`.
   * @throws {ToolError} `invalid_arguments`; `trapped` where the wasm module failed since the output began: it is lost.
   */
  push(chunk: Uint8Array | string, stream: "stdout" | "stderr" = "stdout"): void {
    this.#output.push(chunk, stream);
  }

  /**
   * Ends both streams: a character that lacks its rest becomes U+FFFD. Again, it does nothing.
   *
   * @throws {ToolError} `disposed`, `trapped`.
   */
  finish(): void {
    this.#output.finish();
  }

  /**
   * The end of the output so far, as {@link truncateTail} would cut all of it. At any time, also before
   * {@link finish}.
   *
   * @throws {ToolError} `disposed`, `trapped`.
   */
  snapshot(): TruncationResult {
    return this.#output.snapshot();
  }

  /** Frees what it takes in the wasm module. What is forgotten is freed too, some time. */
  dispose(): void {
    this.#output.dispose();
  }

  /** For `using`: {@link dispose}. */
  [Symbol.dispose](): void {
    this.#output.dispose();
  }
}

/**
 * Keeps the start of one line, and marks a cut with `"... [truncated]"`, which comes on top. A character of two units
 * is kept whole or left out. Synchronous after {@link init}.
 *
 * @param maxChars UTF-16 units, a whole number from 1. Default 500.
 * @throws {ToolError} `invalid_arguments`; `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * truncateLine("ab🙂", 3); // { text: "ab... [truncated]", wasTruncated: true }
 * ```
 */
export function truncateLine(line: string, maxChars = 500): { text: string; wasTruncated: boolean } {
  return truncation.truncateLine(coreFor("truncateLine"), line, maxChars);
}

/**
 * A number of bytes as hints print it: `512B`, `1.5KB`, `2.0MB`, `1.0GB`; a KB is 1024 bytes. Synchronous after
 * {@link init}.
 *
 * @throws {ToolError} `invalid_arguments` for what is no number from 0; `not_supported` before {@link init}.
 *
 * @example
 * ```ts
 * formatSize(51_200); // "50.0KB"
 * ```
 */
export function formatSize(bytes: number): string {
  return truncation.formatSize(coreFor("formatSize"), bytes);
}

/**
 * How many bytes a text has as UTF-8, without making them. An unpaired surrogate counts 3, as the U+FFFD that it
 * becomes.
 *
 * @throws {ToolError} `invalid_arguments` for what is no string.
 *
 * @example
 * ```ts
 * utf8ByteLength("é🙂"); // 6
 * ```
 */
export function utf8ByteLength(text: string): number {
  return truncation.utf8ByteLength(text);
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
