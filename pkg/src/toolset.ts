/**
 * A toolset over an environment. It holds what has to outlive a wasm instance: options, active list, listeners.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { factsOf } from "./environment.js";
import { isToolError, ToolError } from "./errors.js";
import { processorKind } from "./images.js";
import { TRAPPED, unwrap } from "./instance.js";
import { search } from "./modules.js";
import { formatText } from "./pure.js";
import { type AnyResult, type CallHost, failed, guarded, Running, type TakenCall } from "./running.js";
import { type SearchProgress, startSearch } from "./search.js";
import type { StandardTool } from "./standard.js";
import { withStandard } from "./standard-tool.js";
import type {
  AgentTool,
  CallOptions,
  ConstrainedSampling,
  DeclarationFormat,
  Declared,
  ExecutionEnv,
  PartialResult,
  SchemaIssue,
  ToolCall,
  ToolChanges,
  ToolErrorCode,
  ToolEvent,
  Toolset,
  ToolsetOptions,
} from "./types.js";
import { isThenable, jsonOf, kindOf, textOf } from "./values.js";

interface DescribedTool {
  name: string;
  label: string;
  description: string;
  parameters: Record<string, unknown>;
  constrainedSampling?: ConstrainedSampling;
  promptSnippet: string;
  promptGuidelines: string[];
}

interface Described {
  registered: string[];
  active: string[];
  tools: DescribedTool[];
}

interface Handle {
  core: Core;
  generation: number;
  id: number;
}

/** Toolsets that were forgotten, not disposed. */
const forgotten = new FinalizationRegistry<{ handle: Handle | undefined }>(({ handle }) => free(handle));

function free(handle: Handle | undefined): void {
  if (handle?.core.isAlive && handle.core.generation === handle.generation) {
    handle.core.enter(() => glue.toolset_free(handle.id));
  }
}

/** The options that stay on this side; the rest crosses as JSON, and the core refuses what it does not know. */
const OWN_OPTIONS = new Set(["beforeToolCall", "afterToolCall", "context"]);

export class CoreToolset implements Toolset, CallHost {
  readonly #core: Core;
  readonly #env: ExecutionEnv;
  readonly #facts: string;
  readonly #options: ToolsetOptions;
  readonly #listeners = new Set<(event: ToolEvent) => void>();
  /** Shared with the finaliser, which must not hold the toolset. */
  readonly #cell: { handle: Handle | undefined } = { handle: undefined };
  #optionsText: string;
  #active: string[] | undefined;
  #described: Described;
  #isDisposed = false;

  constructor(core: Core, env: ExecutionEnv, options: ToolsetOptions) {
    this.#core = core;
    this.#env = env;
    this.#options = options ?? {};
    this.#facts = JSON.stringify(factsOf(env));
    this.#optionsText = this.#plainOptions();
    this.#handle();
    this.#described = this.#describe();
    forgotten.register(this, this.#cell, this.#cell);
  }

  get hooks(): CallHost["hooks"] {
    return this.#options;
  }

  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  async search(job: string, signal: AbortSignal): Promise<SearchProgress> {
    return startSearch(await search.load(undefined), this.#env, this.#facts, job, signal);
  }

  get registered(): string[] {
    return [...this.#described.registered];
  }

  get active(): string[] {
    return [...this.#described.active];
  }

  get tools(): (AgentTool & StandardTool)[] {
    return this.#described.tools.map((tool) =>
      withStandard(
        {
          ...tool,
          execute: (toolCallId: string, params: unknown, signal, onUpdate) =>
            this.#execute(tool.name, toolCallId, params, signal, onUpdate),
        } as AgentTool,
        (value) => this.#check(tool.name, value),
      ),
    );
  }

  /** Arguments of an active tool, checked as in a call. */
  #check(name: string, value: unknown): { value: unknown } | { errors: SchemaIssue[] } {
    if (this.#isDisposed) throw disposed();
    const text = argumentText(name, value);
    const id = this.#handle();
    return unwrap(
      this.#core.enter(
        (nameLength = 0, length = 0) => glue.toolset_check(id, nameLength, length),
        name,
        text,
      ),
    );
  }

  declarations<F extends DeclarationFormat = "json-schema">(format?: F): Declared[F][] {
    if (this.#isDisposed) throw disposed();
    const name = formatText(format ?? "json-schema");
    const id = this.#handle();
    return unwrap(this.#core.enter((length = 0) => glue.toolset_declarations(id, length), name));
  }

  async call(call: ToolCall, options?: CallOptions): Promise<AnyResult> {
    let running: Running | undefined;
    try {
      const taken = take(call);
      const given: CallOptions = Object(options ?? {});
      const { signal, onUpdate } = given;
      const context = "context" in given ? given.context : current(this.#options.context);
      running = new Running(taken, this, context, onUpdate);
      return await this.#run(taken, running, signal ?? undefined);
    } catch (error) {
      // What was thrown for want of stack can't be told about on the same stack.
      await undefined;
      const code = isToolError(error) ? error.code : "unknown";
      const result = failed(nameOf(call), textOf(error), code);
      running?.refuse(result);
      return result;
    }
  }

  async #run(call: TakenCall, running: Running, signal: AbortSignal | undefined): Promise<AnyResult> {
    if (signal && typeof signal.addEventListener !== "function")
      throw new ToolError(`Expected an AbortSignal as signal, got ${kindOf(signal)}`, "invalid_arguments");
    const header = headerOf(call, this.#options);
    const args = argumentText(call.name, call.arguments);
    // Only after a trap inside a call that this one is nested in; else the call starts at once, in call order.
    if (!this.#core.isReady) await this.#core.ready();
    const options = this.#plainOptions();
    // Looked at last: a function among the options may have disposed of it.
    if (this.#isDisposed) throw disposed();
    const toolset = this.#configured(options);
    const id = this.#core.register(running);
    const abort = () => {
      running.abort();
      if (!running.isAnswered) this.#core.enter(() => glue.call_abort(id));
    };
    try {
      // Before the start: the environment may raise the signal while it is asked for the first time.
      signal?.addEventListener("abort", abort, { once: true });
      const isAborted = signal?.aborted === true;
      if (isAborted) running.abort();
      const start = (headerLength = 0, argsLength = 0) =>
        glue.call_start(toolset, id, headerLength, argsLength, isAborted);
      this.#core.enter(start, header, args);
    } catch (error) {
      this.#core.forget(id);
      throw error;
    }
    const result = await running.result;
    guarded("the signal", () => signal?.removeEventListener("abort", abort));
    return result;
  }

  async #execute(
    name: string,
    id: string,
    params: unknown,
    signal?: AbortSignal,
    onUpdate?: (partial: PartialResult) => void,
  ): ReturnType<AgentTool["execute"]> {
    const options: CallOptions = {};
    if (signal) options.signal = signal;
    if (onUpdate) options.onUpdate = onUpdate;
    const result = await this.call({ id, name, arguments: params as object }, options);
    if (result.isError) {
      const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      throw new ToolError(text, result.details.code as ToolErrorCode, result.details.path);
    }
    const { content, details, terminate } = result;
    return terminate === undefined ? { content, details } : { content, details, terminate };
  }

  subscribe(listener: (event: ToolEvent) => void): () => void {
    // One entry each, so that the same function can listen twice.
    const own = (event: ToolEvent) => listener(event);
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  emit(event: ToolEvent): void {
    for (const listener of [...this.#listeners]) guarded("a listener", () => listener(event));
  }

  setActive(names: readonly string[]): ToolChanges {
    const before = this.#described.tools;
    this.#setActive([...names].filter((name) => typeof name === "string"));
    this.#described = this.#describe();
    this.#active = this.#described.active;
    return changes(before, this.#described.tools);
  }

  #setActive(names: string[]): void {
    const id = this.#handle();
    this.#core.enter((length = 0) => glue.toolset_set_active(id, length), jsonOf(names));
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    forgotten.unregister(this.#cell);
    free(this.#cell.handle);
    this.#cell.handle = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** The toolset's id in the instance there is; made anew after a trap. */
  #handle(): number {
    const core = this.#core;
    core.wake();
    if (this.#cell.handle?.generation === core.generation) return this.#cell.handle.id;
    const id = unwrap<number>(
      core.enter(
        (options = 0, facts = 0) => glue.toolset_new(this.#env, options, facts),
        this.#optionsText,
        this.#facts,
      ),
    );
    this.#cell.handle = { core, generation: core.generation, id };
    if (this.#active) this.#setActive(this.#active);
    return id;
  }

  /** The same, with these options: functions among them may give others now. */
  #configured(text: string): number {
    const id = this.#handle();
    if (text === this.#optionsText) return id;
    unwrap(this.#core.enter((length = 0) => glue.toolset_configure(id, length), text));
    this.#optionsText = text;
    this.#described = this.#describe();
    return id;
  }

  #plainOptions(): string {
    try {
      const plain: Record<string, unknown> = { images: imageOptions({}) };
      for (const [name, value] of Object.entries(this.#options)) {
        // JSON would drop it, and with it the confinement.
        if (name === "root" && typeof value !== "string")
          throw new TypeError(`root must be a path, got ${value}`);
        if (name === "images") plain[name] = imageOptions(value === undefined ? {} : value);
        else if (name === "secrets" && typeof value === "function") continue;
        else if (name === "shell") plain[name] = shellOptions(value);
        else if (!OWN_OPTIONS.has(name))
          plain[name] = name === "limits" || name === "session" ? currentPlain(name, value) : value;
      }
      // JSON would turn these to null, and a limit of Infinity to none.
      return JSON.stringify(plain, (_, value) =>
        typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
      );
    } catch (error) {
      throw new ToolError(`The options cannot be read: ${textOf(error)}`, "invalid_arguments");
    }
  }

  #describe(): Described {
    const id = this.#handle();
    const text = this.#core.enter(() => glue.toolset_describe(id));
    if (text === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
    return JSON.parse(text);
  }
}

function disposed(): ToolError {
  return new ToolError("The toolset was disposed: make a new one", "disposed");
}

/** What the core is told of the option: who processes images, not how. */
function imageOptions(options: unknown): unknown {
  if (typeof options !== "object" || options === null) return options;
  const { processor, supported, ...rest } = options as NonNullable<ToolsetOptions["images"]>;
  return { ...rest, supported: current(supported), processor: processorKind(processor) };
}

/** The same: the hook stays here. */
function shellOptions(options: unknown): unknown {
  if (typeof options !== "object" || options === null) return options;
  const { spawnHook, ...rest } = options as NonNullable<ToolsetOptions["shell"]>;
  if (spawnHook !== undefined && typeof spawnHook !== "function")
    throw new TypeError(`shell.spawnHook must be a function, got ${kindOf(spawnHook)}`);
  return rest;
}

/** {@link current}, of an option that must be there at once. */
function currentPlain(name: string, option: unknown): unknown {
  const value = current(option);
  if (isThenable(value)) throw new TypeError(`${name} must not be a promise: the function may not be async`);
  return value;
}

/** A value, or what a function gives now. */
function current(value: unknown): unknown {
  return typeof value === "function" ? value() : value;
}

/** The parts of a call, each looked at once. Throws a ToolError for what is no call. */
function take(call: ToolCall): TakenCall {
  if (typeof call === "object" && call !== null) {
    const { id, name, arguments: args, incomplete } = call;
    if (typeof id === "string" && typeof name === "string")
      return { id, name, arguments: args, incomplete: incomplete === true };
  }
  throw new ToolError("Expected a call { id: string, name: string, arguments }", "invalid_arguments");
}

/** What can be read of a call's id and name. */
function nameOf(call: { id?: unknown; name?: unknown } | null | undefined): { id?: unknown; name?: unknown } {
  try {
    return { id: call?.id, name: call?.name };
  } catch {
    return {};
  }
}

/** What crosses of a call beside its arguments: `Header` of src/wasm/exports.rs. */
function headerOf({ id, name, incomplete }: TakenCall, options: ToolsetOptions): string {
  const before = typeof options.beforeToolCall === "function";
  const after = typeof options.afterToolCall === "function";
  const redacts = typeof options.secrets === "function";
  return jsonOf({ id, name, incomplete, redacts, before, after });
}

/** Arguments as JSON text. A lone surrogate becomes its escape, which the core names. */
export function argumentText(tool: string, args: unknown): string {
  if (typeof args === "string") {
    if ((args as { isWellFormed?(): boolean }).isWellFormed?.()) return args;
    return args.replace(/\p{Surrogate}/gu, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
  }
  try {
    return JSON.stringify(args ?? {}) ?? "{}";
  } catch (error) {
    const message = `The arguments of tool "${tool}" are no JSON: ${textOf(error)}`;
    throw new ToolError(message, "invalid_arguments");
  }
}

/** What is new to a model that was told of `before`. A changed declaration goes and comes. */
function changes(before: DescribedTool[], after: DescribedTool[]): ToolChanges {
  const seen = ({ name, description, parameters, constrainedSampling }: DescribedTool) =>
    constrainedSampling === undefined
      ? { name, description, parameters }
      : { name, description, parameters, constrainedSampling };
  const texts = (tools: DescribedTool[]) =>
    new Map(tools.map((tool) => [tool.name, JSON.stringify(seen(tool))]));
  const [old, now] = [texts(before), texts(after)];
  return {
    toolsAdded: after.filter((tool) => old.get(tool.name) !== now.get(tool.name)).map(seen),
    toolsRemoved: before.map((tool) => tool.name).filter((name) => old.get(name) !== now.get(name)),
  };
}
