// Compiled, never run: what the types of the package say. A line below `@ts-expect-error` must not compile.
import { Bash } from "just-bash";
import type {
  AfterToolCall,
  AgentTool,
  BashDetails,
  BeforeToolCall,
  CallOptions,
  ConstrainedSampling,
  Content,
  DeclarationFormat,
  Declared,
  DetailsMap,
  Edit,
  ExecResult,
  ExecutionEnv,
  FileChange,
  FileInfo,
  FileKind,
  ImageOptions,
  ImageProcessor,
  Limits,
  MaybePromise,
  PartialResult,
  ReadDetails,
  Result,
  SearchAnswer,
  Session,
  ToolArguments,
  ToolCall,
  ToolChanges,
  ToolDetails,
  ToolErrorCode,
  ToolEvent,
  ToolName,
  ToolResult,
  Toolset,
  ToolsetOptions,
  TruncationDetails,
  TruncationResult,
  WalkEntry,
  WasmSource,
} from "tackroom";
import {
  createToolset,
  detectFileKind,
  exportSchema,
  type formatSize,
  init,
  OutputAccumulator,
  parsePartialArguments,
  strictSchema,
  ToolError,
  truncateHead,
  type truncateLine,
  truncateTail,
  type utf8ByteLength,
  validateToolArguments,
  validateToolCall,
} from "tackroom";
import { type JustBashEnv, justBash } from "tackroom/env/just-bash";
import { type MemoryEnv, memory } from "tackroom/env/memory";

/** True if the two are one type, down to modifiers; `any` equals nothing else. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles if the type given is `true`. */
declare function assert<_ extends true>(): void;

declare const env: ExecutionEnv;
declare const call: ToolCall;

// The helper itself.
assert<Equal<{ a?: 1 }, { a?: 1 }>>();
// @ts-expect-error an optional key is not one that may be undefined
assert<Equal<{ a?: 1 }, { a: 1 | undefined }>>();
// biome-ignore lint/suspicious/noExplicitAny: it is what the helper has to tell from others
type Any = any;
// @ts-expect-error any is not a string
assert<Equal<Any, string>>();

// Names.

assert<Equal<ToolName, "read" | "bash" | "powershell" | "grep" | "find" | "ls" | "edit" | "write">>();
assert<Equal<keyof ToolArguments, ToolName>>();
assert<Equal<DetailsMap, { [K in ToolName]: ToolDetails[K] }>>();
assert<Equal<DetailsMap<"read" | "edit">, { read: ReadDetails; edit: FileChange }>>();

// Results.

export async function resultsNarrow(): Promise<void> {
  const toolset = await createToolset(env);
  assert<Equal<typeof toolset, Toolset<DetailsMap<ToolName>>>>();
  const result = await toolset.call(call);

  assert<Equal<typeof result.toolCallId, string>>();
  assert<Equal<typeof result.content, Content[]>>();
  assert<Equal<typeof result.isError, boolean>>();
  // @ts-expect-error nothing is known of the details before the result is narrowed
  result.details.exitCode;
  // @ts-expect-error not a key of a result
  result.isErr;

  if (!result.isError) {
    assert<Equal<typeof result.toolName, ToolName>>();
    assert<Equal<typeof result.details, ToolDetails[ToolName]>>();
    // @ts-expect-error a result that is no error has no code
    result.details.code;
    // @ts-expect-error no such tool
    if (result.toolName === "raed") return;
  }

  // By isError, then by name …
  if (!result.isError && result.toolName === "read") {
    assert<Equal<typeof result.details, ReadDetails>>();
    assert<Equal<typeof result.details.lineEnding, "lf" | "crlf" | "cr" | "mixed">>();
    assert<Equal<typeof result.details.truncation, TruncationDetails | undefined>>();
    // @ts-expect-error a detail of bash
    result.details.exitCode;
    // @ts-expect-error a typo
    result.details.lineEndings;
  }
  // … or the other way round.
  if (result.toolName === "bash" && !result.isError) {
    assert<Equal<typeof result.details, BashDetails>>();
    assert<Equal<typeof result.details.exitCode, number | null>>();
    assert<Equal<typeof result.details.durationMs, number>>();
    // @ts-expect-error a detail of read
    result.details.encoding;
  }
  if (!result.isError && (result.toolName === "edit" || result.toolName === "write")) {
    assert<Equal<typeof result.details, FileChange>>();
    assert<Equal<typeof result.details.patch, string | null>>();
    assert<Equal<typeof result.details.firstChangedLine, number | undefined>>();
    assert<Equal<typeof result.details.kind, "create" | "modify" | "delete">>();
  }
  switch (result.toolName) {
    case "read":
      if (!result.isError) assert<Equal<typeof result.details, ReadDetails>>();
      break;
    case "write":
      if (!result.isError) assert<Equal<typeof result.details, FileChange>>();
      break;
  }
}

export async function errorsHaveACode(): Promise<void> {
  const toolset = await createToolset(env);
  const result = await toolset.call(call);
  if (!result.isError) return;
  assert<Equal<typeof result.details.code, ToolErrorCode>>();
  assert<Equal<typeof result.details.path, string | undefined>>();
  // @ts-expect-error a typo
  if (result.details.code === "notfound") return;
  // @ts-expect-error not a detail of any tool
  result.details.exitcode;
  if (result.toolName === "bash") {
    assert<Equal<typeof result.details.exitCode, number | null | undefined>>();
    assert<Equal<typeof result.details.truncation, TruncationDetails | undefined>>();
  }
  if (result.toolName === "edit") {
    assert<Equal<typeof result.details.path, string | undefined>>();
    assert<Equal<typeof result.details.diff, string | undefined>>();
  }
}

export async function anUnknownToolIsAnError(): Promise<void> {
  const toolset = await createToolset(env);
  const result = await toolset.call({ id: "1", name: "nope", arguments: {} });
  if (result.toolName === "nope") {
    assert<Equal<typeof result.isError, true>>();
    assert<Equal<typeof result.details.code, ToolErrorCode>>();
    assert<Equal<typeof result.details.path, string | undefined>>();
    assert<Equal<typeof result.content, Content[]>>();
  }
  const unknown: ToolResult<DetailsMap> = {
    toolCallId: "1",
    toolName: "nope",
    content: [],
    isError: true,
    details: { code: "no_such_tool" },
  };
  return void unknown;
}

export async function onlyTheToolsAskedFor(): Promise<void> {
  const toolset = await createToolset(env, { tools: ["read"] });
  assert<Equal<typeof toolset, Toolset<DetailsMap<"read">>>>();
  const result = await toolset.call(call);
  if (!result.isError) {
    assert<Equal<typeof result.toolName, "read">>();
    assert<Equal<typeof result.details, ReadDetails>>();
    // @ts-expect-error bash is not in this toolset
    if (result.toolName === "bash") return;
  }

  const two = await createToolset(env, {
    tools: ["read", "bash"],
    excludeTools: ["write"],
    defaultTools: ["edit"],
    limits: { perTool: { write: { maxLines: 1 } } },
    afterToolCall(after) {
      if (!after.result.isError) assert<Equal<typeof after.result.toolName, "read" | "bash">>();
    },
  });
  assert<Equal<typeof two, Toolset<DetailsMap<"read" | "bash">>>>();
  two.subscribe((event) => {
    if (event.type === "tool_execution_end" && !event.result.isError) {
      assert<Equal<typeof event.result.toolName, "read" | "bash">>();
    }
  });

  const names: ToolName[] = ["read"];
  const some = await createToolset(env, { tools: names });
  assert<Equal<typeof some, Toolset<DetailsMap>>>();
  const listed = ["read", "write"] as const;
  const constant = await createToolset(env, { tools: listed });
  assert<Equal<typeof constant, Toolset<DetailsMap<"read" | "write">>>>();
  const none = await createToolset(env, { tools: [] });
  const refused = await none.call(call);
  assert<Equal<typeof refused.isError, true>>();
  for (const without of [await createToolset(env, {}), await createToolset(env, { readOnly: true })]) {
    assert<Equal<typeof without, Toolset<DetailsMap>>>();
  }
}

export async function anyToolset(toolset: Toolset): Promise<void> {
  const result = await toolset.call(call);
  if (result.isError) assert<Equal<typeof result.details.code, ToolErrorCode>>();
  else assert<Equal<typeof result.details, Any>>();
  assert<Equal<typeof result.toolName, string>>();
  const named: ToolResult = result;
  return void named;
}

export async function everyToolsetIsAToolset(): Promise<void> {
  await anyToolset(await createToolset(env));
  await anyToolset(await createToolset(env, { tools: ["read", "edit"] }));
  const listener = (event: ToolEvent) => void event;
  (await createToolset(env, { tools: ["read"] })).subscribe(listener);
  const hooks = { afterToolCall: (after: AfterToolCall) => void after.result };
  await createToolset(env, { ...hooks, tools: ["read"], coercion: "ajv" });
}

// Typos.

export async function typosInOptions(): Promise<void> {
  // @ts-expect-error a tool's name
  await createToolset(env, { tools: ["raed"] });
  // @ts-expect-error a tool's name
  await createToolset(env, { tools: ["read", "Bash"] });
  // @ts-expect-error a tool's name
  await createToolset(env, { excludeTools: ["bahs"] });
  // @ts-expect-error a tool's name
  await createToolset(env, { defaultTools: ["red"] });
  // @ts-expect-error a tool's name
  await createToolset(env, { limits: { perTool: { raed: { maxLines: 1 } } } });
  // @ts-expect-error a tool's limit
  await createToolset(env, { limits: { perTool: { read: { maxLine: 1 } } } });
  // @ts-expect-error a limit
  await createToolset(env, { limits: { maxLine: 1 } });
  // @ts-expect-error a limit, in a function's answer
  await createToolset(env, { limits: () => ({ maxBytes: "1" }) });
  // @ts-expect-error an option
  await createToolset(env, { tool: ["read"] });
  // @ts-expect-error an option
  await createToolset(env, { tools: ["read"], readonly: true });
  // @ts-expect-error an option's value
  await createToolset(env, { coercion: "strict" });
  // @ts-expect-error an option's value
  await createToolset(env, { readOnly: "yes" });
  // @ts-expect-error a fact about the session
  await createToolset(env, { session: { modle: "m" } });
  // @ts-expect-error a part of an option
  await createToolset(env, { updates: { interval: 5 } });
  // @ts-expect-error a hook's answer
  await createToolset(env, { beforeToolCall: () => ({ blocked: true }) });
  // @ts-expect-error a hook's answer
  await createToolset(env, { afterToolCall: () => ({ isError: "no" }) });
  // @ts-expect-error an environment is needed
  await createToolset();
  // @ts-expect-error methods are missing
  await createToolset({ cwd: "/" });
}

export async function typosInCalls(): Promise<void> {
  const toolset = await createToolset(env);
  // @ts-expect-error a call has an id
  await toolset.call({ name: "read", arguments: {} });
  // @ts-expect-error text or an object
  await toolset.call({ id: "1", name: "read", arguments: 5 });
  // @ts-expect-error a key of a call
  await toolset.call({ id: "1", name: "read", arguments: "", incomplet: true });
  // @ts-expect-error an option of a call
  await toolset.call(call, { onUpdates() {} });
  // @ts-expect-error a signal, not its controller
  await toolset.call(call, { signal: new AbortController() });
  // @ts-expect-error a method
  toolset.setactive(["read"]);
  // @ts-expect-error read from the outside only
  toolset.active = [];
}

export const typosInArguments: ToolArguments[ToolName][] = [
  { path: "a", offset: 1, limit: 2, column: 3 } satisfies ToolArguments["read"],
  { path: "a", content: "" } satisfies ToolArguments["write"],
  { path: "a", edits: [{ oldText: "a", newText: "b", replaceAll: true }] } satisfies ToolArguments["edit"],
  { command: "ls", timeout: 1.5 } satisfies ToolArguments["bash"],
  // @ts-expect-error a key of the arguments
  { path: "a", offest: 1 } satisfies ToolArguments["read"],
  // @ts-expect-error a number
  { path: "a", limit: "2" } satisfies ToolArguments["read"],
  // @ts-expect-error the content is missing
  { path: "a" } satisfies ToolArguments["write"],
  // @ts-expect-error a key of an edit
  { path: "a", edits: [{ oldText: "a", newtext: "b" }] } satisfies ToolArguments["edit"],
  // @ts-expect-error an array
  { path: "a", edits: { oldText: "a", newText: "b" } } satisfies ToolArguments["edit"],
  // @ts-expect-error a key of the arguments
  { cmd: "ls" } satisfies ToolArguments["bash"],
];
// @ts-expect-error no such tool
export type NoArguments = ToolArguments["raed"];
// @ts-expect-error no such tool
export type NoDetails = DetailsMap<"raed">;

// Events.

export function eventsNarrow(event: ToolEvent<DetailsMap>): string | object | number {
  assert<Equal<typeof event.toolCallId, string>>();
  assert<Equal<typeof event.toolName, string>>();
  // @ts-expect-error only some events have it
  event.change;
  switch (event.type) {
    case "tool_execution_start":
      return event.args;
    case "tool_execution_update":
      assert<Equal<typeof event.partial, PartialResult>>();
      return event.partial;
    case "mutation":
      assert<Equal<typeof event.change, FileChange>>();
      return event.change.diff;
    case "tool_execution_end":
      assert<Equal<typeof event.result, ToolResult<DetailsMap>>>();
      assert<Equal<typeof event.isError, boolean>>();
      return event.durationMs;
    default:
      return event satisfies never;
  }
}

export function aTypoInAnEvent(event: ToolEvent): void {
  // @ts-expect-error no such event
  if (event.type === "tool_execution_stop") return;
}

// Environments.

const info: FileInfo = { name: "a", path: "/a", kind: "file", size: 1, mtimeMs: 0 };
const failed: Result<never> = { ok: false, error: { code: "not_found", message: "no" } };

export const synchronous: ExecutionEnv = {
  cwd: "/",
  readBinaryFile: () => new Uint8Array(),
  writeFile() {},
  fileInfo: () => info,
  listDir: () => [info],
};
export const asynchronous: ExecutionEnv = {
  cwd: "/",
  home: "/home/me",
  description: "a place",
  shells: ["bash"],
  readBinaryFile: async (_path, options) => new Uint8Array(options?.signal?.aborted ? 0 : 1),
  async writeFile(_path, content) {
    assert<Equal<typeof content, Uint8Array>>();
  },
  fileInfo: async () => info,
  listDir: async () => [info],
  canonicalPath: async (path) => path,
  async createDir() {},
  async exec(command, { cwd, env, unsetEnv, timeout, onStdout, signal, shell }) {
    assert<Equal<typeof env, Record<string, string>>>();
    assert<Equal<typeof timeout, number | undefined>>();
    assert<Equal<typeof shell, "bash" | "powershell">>();
    await onStdout(command + cwd + unsetEnv.join());
    return { exitCode: signal.aborted ? null : 0, stdout: new Uint8Array(), stderr: "" };
  },
};
export const withResults: ExecutionEnv = {
  cwd: "/",
  readBinaryFile: () => ({ ok: true, value: new Uint8Array() }),
  writeFile: (path) => (path === "/" ? failed : { ok: true, value: undefined }),
  fileInfo: async () => failed,
  listDir: async () => ({ ok: true, value: [info] }),
  exec: () => ({ ok: false, error: { code: "ENOENT", message: "no shell" } }),
};
export const mixed: ExecutionEnv = {
  cwd: "/",
  readBinaryFile: (path) => (path === "/" ? Promise.resolve(failed) : new Uint8Array()),
  writeFile: (path) => (path === "/" ? failed : undefined),
  fileInfo: (path) => (path === "/" ? failed : Promise.resolve(info)),
  listDir: () => [],
};
/** One that writes to a Map, as the example of ExecutionEnv does. */
export function overAMap(store: Map<string, Uint8Array>): ExecutionEnv {
  return {
    ...synchronous,
    readBinaryFile: (path) => store.get(path) ?? { ok: false, error: { code: "not_found", message: path } },
    writeFile: (path, content) => void store.set(path, content),
  };
}
export class Own implements ExecutionEnv {
  readonly cwd = "/";
  readBinaryFile(): Uint8Array {
    return new Uint8Array();
  }
  async writeFile(): Promise<void> {}
  fileInfo(): MaybePromise<FileInfo | Result<FileInfo>> {
    return info;
  }
  async listDir(): Promise<FileInfo[]> {
    return [];
  }
}
/** One that is far away. */
export const remote: ExecutionEnv = {
  ...asynchronous,
  async readFiles(paths, options) {
    assert<Equal<typeof paths, string[]>>();
    if (options?.signal?.aborted) return failed;
    return paths.map((path) => (path === "/" ? failed : { ok: true, value: new Uint8Array() }));
  },
  walk({ path, glob, limit }) {
    assert<Equal<typeof glob, string | undefined>>();
    assert<Equal<typeof limit, number | undefined>>();
    return [{ path, kind: "symlink", size: 1 }];
  },
  async search({ path, pattern, glob, ignoreCase, literal, context, limit }) {
    assert<Equal<typeof glob, string | undefined>>();
    assert<Equal<typeof ignoreCase | typeof literal, boolean>>();
    assert<Equal<typeof context | typeof limit, number>>();
    const line = { path: path + pattern, line: 1, text: new Uint8Array(), isContext: false };
    return { matches: [line], limitReached: false, unreadable: 0 };
  },
};
// @ts-expect-error a directory is none of the files
export const directories: WalkEntry = { path: "a", kind: "directory", size: 0 };
// @ts-expect-error the text of a line is bytes
export const texts: SearchAnswer["matches"] = [{ path: "a", line: 1, text: "a", isContext: false }];

// @ts-expect-error listDir is missing
export const incomplete: ExecutionEnv = { cwd: "/", readBinaryFile, writeFile() {}, fileInfo: () => info };
export const wrongContent: ExecutionEnv = {
  ...synchronous,
  // @ts-expect-error bytes, not text
  readBinaryFile: () => "text",
};
export const wrongKind: ExecutionEnv = {
  ...synchronous,
  // @ts-expect-error not a kind
  fileInfo: () => ({ ...info, kind: "dir" }),
};
export const wrongResult: ExecutionEnv = {
  ...synchronous,
  // @ts-expect-error a failure has a code
  listDir: () => ({ ok: false, error: { message: "no" } }),
};
export const wrongExec: ExecutionEnv = {
  ...synchronous,
  // @ts-expect-error a result has an exit code
  exec: () => ({ stdout: "" }),
};
export const wrongMethod: ExecutionEnv = {
  ...synchronous,
  // @ts-expect-error not a method of an environment
  readFile: () => new Uint8Array(),
};
declare function readBinaryFile(): Uint8Array;

const inMemory: MemoryEnv = memory({ a: "text", b: new Uint8Array() }, { cwd: "/", home: "/" });
const bash: JustBashEnv = justBash(new Bash());
export const environments: ExecutionEnv[] = [inMemory, bash, memory()];
assert<Equal<ReturnType<typeof inMemory.readBinaryFile>, Uint8Array>>();
assert<Equal<ReturnType<typeof inMemory.snapshot>, Record<string, Uint8Array>>>();
assert<Equal<ReturnType<typeof bash.exec>, Promise<ExecResult>>>();

// Errors.

export function everyCode(error: ToolError): string {
  assert<Equal<typeof error.code, ToolErrorCode>>();
  assert<Equal<typeof error.path, string | undefined>>();
  switch (error.code) {
    case "not_found":
    case "permission_denied":
    case "not_directory":
    case "is_directory":
    case "already_exists":
    case "busy":
    case "no_space":
    case "not_supported":
    case "invalid_path":
    case "outside_root":
      return "the environment";
    case "aborted":
    case "timeout":
      return "time";
    case "invalid_arguments":
    case "cut_off":
    case "no_such_tool":
    case "blocked":
    case "disposed":
    case "outcome_unknown":
      return "the call";
    case "no_match":
    case "ambiguous":
    case "overlap":
    case "no_change":
    case "stale":
    case "invalid_pattern":
      return "the tool";
    case "exit_code":
    case "no_shell":
    case "spawn_failed":
      return "the command";
    case "trapped":
    case "unknown":
      return "the core";
    default:
      return error.code satisfies never;
  }
}
export const isAnError: Error = new ToolError("no", "not_found", "/a");
// @ts-expect-error not a code
new ToolError("no", "notfound");
// @ts-expect-error read from the outside only
new ToolError("no", "not_found").code = "busy";

// Hooks.

export const hooks: ToolsetOptions = {
  async beforeToolCall(before) {
    assert<Equal<typeof before, BeforeToolCall>>();
    assert<Equal<(typeof before.access)[number]["operation"], "read" | "write" | "list" | "exec">>();
    if (before.signal.aborted) return { block: true, reason: "aborted", terminate: true };
    if (before.name === "write") return { args: { ...before.args, content: "" } };
  },
  afterToolCall(after) {
    assert<Equal<typeof after, AfterToolCall<DetailsMap>>>();
    if (after.result.isError) return;
    return { content: [{ type: "text", text: "done" }], details: null, isError: false, terminate: true };
  },
};
export const session: Session = { id: "1", reasoningLevel: "high" };
export const limits: Limits = { maxLines: 1, maxBytes: 2, perTool: { bash: { maxBytes: 3 } } };
export const asked: ToolsetOptions = { limits: () => limits, session: () => session, context: () => 5 };

// The rest.

export async function scopes(options: CallOptions): Promise<ToolChanges> {
  using toolset = await createToolset(env);
  await toolset.call(call, { ...options, onUpdate: (partial) => void partial.content[0]?.type });
  const stop = toolset.subscribe(() => {});
  stop();
  const tool = toolset.tools[0];
  if (tool) {
    const answer = await tool.execute("1", { path: "a" }, AbortSignal.timeout(5), () => {});
    assert<Equal<typeof answer.content, Content[]>>();
  }
  return toolset.setActive(["read", "not there"]);
}

export async function loading(module: WebAssembly.Module, response: Promise<Response>): Promise<void> {
  const sources: WasmSource[] = [
    module,
    response,
    new URL("https://a.example"),
    "core.wasm",
    new Uint8Array(),
  ];
  for (const source of sources) await init(source);
  await init();
  await init({ core: module });
  // No typo here is an error: for TypeScript a WebAssembly.Module is any object.
}

const tools = [{ name: "a", parameters: { type: "object" } }];
assert<Equal<ReturnType<typeof validateToolCall>, unknown>>();
validateToolCall(tools, { name: "a", arguments: "{}", incomplete: true });
validateToolArguments({ name: "a", parameters: {} }, { arguments: {} });
// @ts-expect-error a call has arguments
validateToolArguments({ name: "a", parameters: {} }, {});
// @ts-expect-error a tool has parameters
validateToolArguments({ name: "a" }, { arguments: {} });

assert<Equal<ReturnType<typeof parsePartialArguments>, { value?: unknown; complete: boolean }>>();
parsePartialArguments("{", "read");
parsePartialArguments('{"a":', "a tool of one's own");
// @ts-expect-error the text so far
parsePartialArguments({});

export const edits: Edit[] = [{ oldText: "a", newText: "b" }];
// @ts-expect-error a key of an edit
export const wrongEdits: Edit[] = [{ oldText: "a", newText: "b", all: true }];

// Declarations: each format has its own shape.

assert<
  Equal<
    DeclarationFormat,
    "json-schema" | "anthropic" | "openai-chat" | "openai-responses" | "gemini" | "mcp"
  >
>();

export async function declarations(format: DeclarationFormat): Promise<void> {
  using toolset = await createToolset(env);
  const plain = toolset.declarations();
  assert<Equal<typeof plain, Declared["json-schema"][]>>();
  const anthropic = toolset.declarations("anthropic");
  assert<Equal<typeof anthropic, Declared["anthropic"][]>>();
  for (const { input_schema, strict } of anthropic) {
    assert<Equal<typeof input_schema.type, "object">>();
    assert<Equal<typeof strict, true | undefined>>();
  }
  // @ts-expect-error that is Anthropic's name
  anthropic[0]?.parameters;
  for (const tool of toolset.declarations("openai-chat")) {
    if (tool.type === "function") assert<Equal<typeof tool.function.strict, boolean>>();
    else assert<Equal<typeof tool.custom.format.grammar.syntax, "lark" | "regex">>();
    // @ts-expect-error a tool with a grammar has none
    tool.function;
  }
  for (const tool of toolset.declarations("openai-responses")) {
    if (tool.type === "function") assert<Equal<typeof tool.parameters.required, string[] | undefined>>();
    else assert<Equal<typeof tool.format.definition, string>>();
  }
  for (const { annotations } of toolset.declarations("mcp"))
    assert<Equal<typeof annotations.readOnlyHint, boolean>>();
  const any = toolset.declarations(format);
  assert<Equal<typeof any, Declared[DeclarationFormat][]>>();
  // @ts-expect-error no format
  toolset.declarations("openai");
}

assert<Equal<AgentTool["constrainedSampling"], ConstrainedSampling | undefined>>();
export const samplings: ConstrainedSampling[] = [
  false,
  { type: "json_schema", strict: "prefer" },
  { type: "grammar", variants: { openai_lark: "start: /a/" } },
];
// @ts-expect-error strict is said in words
export const wrongSampling: ConstrainedSampling = { type: "json_schema", strict: true };
// @ts-expect-error a grammar of whom?
export const wrongGrammar: ConstrainedSampling = { type: "grammar", variants: { lark: "" } };

assert<Equal<ReturnType<typeof strictSchema>, object>>();
assert<Equal<ReturnType<typeof exportSchema>, object>>();
strictSchema({ type: "object" });
exportSchema(undefined, "mcp");
// @ts-expect-error nothing fits false
exportSchema(false, "mcp");
// @ts-expect-error no format
exportSchema({}, "openai");

assert<Equal<ReturnType<typeof truncateHead>, TruncationResult>>();
assert<Equal<ReturnType<typeof truncateTail>, TruncationResult>>();
assert<Equal<ReturnType<typeof truncateLine>, { text: string; wasTruncated: boolean }>>();
assert<
  Equal<[typeof formatSize, typeof utf8ByteLength], [(bytes: number) => string, (text: string) => number]>
>();
export const cut: string = truncateHead(new Uint8Array(), { maxLines: 1, maxBytes: 2 }).content;
// @ts-expect-error a limit's name
truncateTail("", { maxLine: 1 });
// @ts-expect-error a text or bytes
truncateHead([1, 2]);
assert<Equal<ReturnType<OutputAccumulator["snapshot"]>, TruncationResult>>();
new OutputAccumulator().push(new Uint8Array(), "stderr");
// @ts-expect-error a text or bytes
new OutputAccumulator().push([1, 2]);
assert<
  Equal<
    ConstructorParameters<typeof OutputAccumulator>,
    [options?: { maxLines?: number; maxBytes?: number; terminal?: "render" | "raw" } | undefined]
  >
>();
assert<
  Equal<Parameters<OutputAccumulator["push"]>, [Uint8Array | string, ("stdout" | "stderr" | undefined)?]>
>();
const disposable: Disposable = new OutputAccumulator({ maxLines: 1, terminal: "raw" });
disposable[Symbol.dispose]();
// @ts-expect-error a terminal
new OutputAccumulator({ terminal: "xterm" });
// @ts-expect-error a stream
new OutputAccumulator().push("", "stdin");
export const ranged: ExecutionEnv = {
  ...env,
  readRange: (path, start, end) => new Uint8Array(end - start + path.length),
};
// @ts-expect-error a range is bytes
export const wrongRange: ExecutionEnv = { ...env, readRange: () => "text" };

// Images.

export async function images(bytes: Uint8Array): Promise<void> {
  const kind = detectFileKind(bytes);
  assert<Equal<typeof kind, FileKind>>();
  assert<Equal<FileKind["kind"], "text" | "image" | "binary">>();
  assert<Equal<FileKind["encoding"], ReadDetails["encoding"] | undefined>>();
  const [width, animated]: [number | undefined, boolean | undefined] = [kind.width, kind.animated];
  void [width, animated];
  // @ts-expect-error bytes, not text
  detectFileKind("text");

  const processor: ImageProcessor = async (
    given,
    mimeType,
    { autoResize, maxWidth, maxHeight, maxBytes, signal },
  ) => {
    assert<Equal<typeof given, Uint8Array<ArrayBuffer>>>();
    signal.throwIfAborted();
    if (autoResize) return { ok: false, message: `${maxWidth}x${maxHeight}, ${maxBytes}` };
    return { ok: true, data: "", mimeType, hints: [] };
  };
  const options: ImageOptions = {
    processor,
    autoResize: false,
    supported: () => true,
    maxWidth: 1,
    maxHeight: 1,
  };
  await createToolset(env, { images: { ...options, processor: null, supported: false, maxBytes: 1 } });
  // @ts-expect-error an option of images
  await createToolset(env, { images: { autoresize: true } });
  // @ts-expect-error whether, not how many
  await createToolset(env, { images: { supported: 1 } });
  const noHints = async () => ({ ok: true as const, data: "", mimeType: "image/png" });
  // @ts-expect-error hints are missing
  await createToolset(env, { images: { processor: noHints } });
}
