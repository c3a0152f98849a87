/**
 * A toolset over an environment. It holds what has to outlive a wasm instance: options, active list, listeners.
 *
 * @module
 */

import { type Core, glue, TRAPPED, unwrap } from "./core.js";
import { factsOf } from "./environment.js";
import { ToolError } from "./errors.js";
import { type AnyResult, type CallHost, failed, guarded, Running } from "./running.js";
import type {
  AgentTool,
  CallOptions,
  ExecutionEnv,
  PartialResult,
  ToolCall,
  ToolChanges,
  ToolErrorCode,
  ToolEvent,
  Toolset,
  ToolsetOptions,
} from "./types.js";
import { textOf } from "./values.js";

interface Declared {
  name: string;
  label: string;
  description: string;
  parameters: Record<string, unknown>;
  promptSnippet: string;
  promptGuidelines: string[];
}

interface Described {
  registered: string[];
  active: string[];
  tools: Declared[];
}

interface Handle {
  core: Core;
  generation: number;
  id: number;
}

/** Toolsets that were forgotten, not disposed. */
const forgotten = new FinalizationRegistry<{ handle: Handle | undefined }>(({ handle }) => free(handle));

function free(handle: Handle | undefined): void {
  if (handle && handle.core.generation === handle.generation && handle.core.isReady) {
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
    this.#options = options;
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

  get registered(): string[] {
    return [...this.#described.registered];
  }

  get active(): string[] {
    return [...this.#described.active];
  }

  get tools(): AgentTool[] {
    return this.#described.tools.map((tool) => ({
      ...tool,
      execute: (toolCallId, params, signal, onUpdate) =>
        this.#execute(tool.name, toolCallId, params, signal, onUpdate),
    }));
  }

  async call(call: ToolCall, options: CallOptions = {}): Promise<AnyResult> {
    try {
      return await this.#call(call, options);
    } catch (error) {
      const code = error instanceof ToolError ? error.code : "unknown";
      return failed(call ?? {}, textOf(error), code);
    }
  }

  async #call(call: ToolCall, options: CallOptions): Promise<AnyResult> {
    const texts = textsOf(call, this.#options);
    const context = "context" in options ? options.context : current(this.#options.context);
    const running = new Running(call, this, context, options.onUpdate);
    if (this.#isDisposed) {
      running.started();
      running.answer(failed(call, "The toolset was disposed: make a new one", "disposed"));
      return running.result;
    }
    // Only after a trap inside a call that this one is nested in; else the call starts at once, in call order.
    if (!this.#core.isReady) await this.#core.ready();
    const toolset = this.#configured();
    const id = this.#core.register(running);
    const abort = () => {
      running.abort();
      if (!running.isAnswered) this.#core.enter(() => glue.call_abort(id));
    };
    this.#core.enter(() => {
      const [header = 0, args = 0] = this.#core.put(texts.header, texts.args);
      // Before the call starts, so that an aborted one begins nothing.
      glue.call_start(toolset, id, header, args, options.signal?.aborted ?? false);
    });
    if (options.signal?.aborted) running.abort();
    options.signal?.addEventListener("abort", abort, { once: true });
    try {
      return await running.result;
    } finally {
      options.signal?.removeEventListener("abort", abort);
      this.#core.forget(id);
    }
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
    this.#setActive([...names]);
    this.#described = this.#describe();
    this.#active = this.#described.active;
    return changes(before, this.#described.tools);
  }

  #setActive(names: string[]): void {
    const id = this.#handle();
    this.#core.enter(() => {
      const [length = 0] = this.#core.put(JSON.stringify(names));
      glue.toolset_set_active(id, length);
    });
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
      core.enter(() => {
        const [options = 0, facts = 0] = core.put(this.#optionsText, this.#facts);
        return glue.toolset_new(this.#env, options, facts);
      }),
    );
    this.#cell.handle = { core, generation: core.generation, id };
    if (this.#active) this.#setActive(this.#active);
    return id;
  }

  /** The same, with the options that functions give now. */
  #configured(): number {
    const text = this.#plainOptions();
    const id = this.#handle();
    if (text === this.#optionsText) return id;
    unwrap(
      this.#core.enter(() => {
        const [length = 0] = this.#core.put(text);
        return glue.toolset_configure(id, length);
      }),
    );
    this.#optionsText = text;
    this.#described = this.#describe();
    return id;
  }

  #plainOptions(): string {
    const plain: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(this.#options)) {
      // JSON would drop it, and with it the confinement.
      if (name === "root" && typeof value !== "string") {
        throw new ToolError(`Expected root as a path, got ${value}`, "invalid_arguments");
      }
      if (!OWN_OPTIONS.has(name))
        plain[name] = name === "limits" || name === "session" ? current(value) : value;
    }
    // JSON would turn these to null, and a limit of Infinity to none.
    return JSON.stringify(plain, (_, value) =>
      typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
    );
  }

  #describe(): Described {
    const id = this.#handle();
    const text = this.#core.enter(() => glue.toolset_describe(id));
    if (text === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
    return JSON.parse(text);
  }
}

/** A value, or what a function gives now. */
function current(value: unknown): unknown {
  return typeof value === "function" ? value() : value;
}

/** What crosses of a call. Throws a ToolError for what is no call. */
function textsOf(call: ToolCall, options: ToolsetOptions): { header: string; args: string } {
  if (typeof call?.id !== "string" || typeof call.name !== "string") {
    throw new ToolError("Expected a call { id: string, name: string, arguments }", "invalid_arguments");
  }
  const header = JSON.stringify({
    id: call.id,
    name: call.name,
    incomplete: call.incomplete === true,
    before: typeof options.beforeToolCall === "function",
    after: typeof options.afterToolCall === "function",
  });
  return { header, args: argumentText(call.name, call.arguments) };
}

/** Arguments as JSON text. A lone surrogate becomes its escape, which the core names. */
export function argumentText(tool: string, args: unknown): string {
  if (typeof args === "string") {
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
function changes(before: Declared[], after: Declared[]): ToolChanges {
  const seen = ({ name, description, parameters }: Declared) => ({ name, description, parameters });
  const texts = (tools: Declared[]) => new Map(tools.map((tool) => [tool.name, JSON.stringify(seen(tool))]));
  const [old, now] = [texts(before), texts(after)];
  return {
    toolsAdded: after.filter((tool) => old.get(tool.name) !== now.get(tool.name)).map(seen),
    toolsRemoved: before.map((tool) => tool.name).filter((name) => old.get(name) !== now.get(name)),
  };
}
