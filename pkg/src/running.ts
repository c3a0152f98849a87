/**
 * One call on its way: what the core tells of it, and who hears it.
 *
 * @module
 */

import { type ImageLimits, shownImage } from "./images.js";
import type { RunningCall } from "./instance.js";
import { lazyOptions } from "./lazy-options.js";
import type { SearchProgress } from "./search.js";
import type {
  AfterToolCall,
  BeforeToolCall,
  FileChange,
  PartialResult,
  ToolCall,
  ToolErrorCode,
  ToolEvent,
  ToolResult,
  ToolsetOptions,
} from "./types.js";
import { isThenable, jsonOf, printed, settle, settled, textOf } from "./values.js";

export type AnyResult = ToolResult;

/** The result of a call that failed on this side of the core. */
export function failed(
  call: { id?: unknown; name?: unknown },
  message: string,
  code: ToolErrorCode,
): AnyResult {
  return {
    toolCallId: printed(call.id ?? ""),
    toolName: printed(call.name ?? ""),
    content: [{ type: "text", text: message }],
    isError: true,
    details: { code },
  };
}

/** A call as it was when it came: its object is the host's, who may change it. */
export type TakenCall = Required<ToolCall>;

/** What a call needs of the toolset that it belongs to. */
export interface CallHost {
  readonly hooks: Pick<ToolsetOptions, "beforeToolCall" | "afterToolCall" | "images" | "secrets" | "shell">;
  emit(event: ToolEvent): void;
  /** Starts a search in the module that can. */
  search(job: string, signal: AbortSignal): Promise<SearchProgress>;
  readonly hasListeners: boolean;
}

export class Running implements RunningCall {
  readonly #call: TakenCall;
  readonly #host: CallHost;
  readonly #context: unknown;
  readonly #onUpdate: ((partial: PartialResult) => void) | undefined;
  /** Made when somebody asks for its signal: of a short call it would be a good part of the work. */
  #controller: AbortController | undefined;
  #isAborted = false;
  readonly #startedAt = performance.now();
  readonly #resolve: (result: AnyResult) => void;
  readonly result: Promise<AnyResult>;
  #isStarted = false;
  #isAnswered = false;
  /** Base64 of the image in the result. It does not cross. */
  #image: string | undefined;
  #search: SearchProgress | undefined;

  constructor(
    call: TakenCall,
    host: CallHost,
    context: unknown,
    onUpdate: ((partial: PartialResult) => void) | undefined,
  ) {
    this.#call = call;
    this.#host = host;
    this.#context = context;
    this.#onUpdate = typeof onUpdate === "function" ? onUpdate : undefined;
    let resolve!: (result: AnyResult) => void;
    this.result = new Promise((settle) => {
      resolve = settle;
    });
    this.#resolve = resolve;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  readonly options = lazyOptions(
    () => this.signal,
    () => this.#isAborted,
  );

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Tells the environment, and the hooks, that the call is to end. */
  abort(): void {
    this.#isAborted = true;
    this.#controller?.abort();
  }

  started(shown?: string): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { arguments: sent } = this.#call;
    const args = shown === undefined ? sent : typeof sent === "string" ? shown : JSON.parse(shown);
    this.#emit({ type: "tool_execution_start", args });
  }

  redact(text: string): string {
    const shown = (this.#host.hooks.secrets as (text: string) => string)(text);
    // Of an async function nobody waits for the answer.
    if (isThenable(shown)) guarded("secrets", () => shown);
    return shown;
  }

  wantsUpdates(): boolean {
    return !this.#isAnswered && (this.#onUpdate !== undefined || this.#host.hasListeners);
  }

  updated(text: string): void {
    const partial = JSON.parse(text) as PartialResult;
    if (this.#onUpdate) guarded("onUpdate", () => this.#onUpdate?.(partial));
    this.#emit({ type: "tool_execution_update", partial });
  }

  wantsMutations(): boolean {
    return this.#host.hasListeners;
  }

  mutated(text: string): void {
    this.#emit({ type: "mutation", change: JSON.parse(text) as FileChange });
  }

  settled(json: string, durationMs: number, text?: string): void {
    const result = this.#result(json);
    const [first] = result.content;
    if (text !== undefined && first?.type === "text") first.text = text;
    this.answer(result, durationMs);
  }

  /** The MIME type and the hints, a line each; or an empty line and why there is no image. */
  async showImage(
    bytes: Uint8Array<ArrayBuffer>,
    mimeType: string,
    limits: ImageLimits | undefined,
  ): Promise<string> {
    const options = limits && { ...limits, signal: this.signal };
    const answer = await shownImage(bytes, mimeType, options, this.#host.hooks.images?.processor);
    if ("message" in answer) return `\n${answer.message}`;
    this.#image = answer.data;
    return [answer.mimeType, ...answer.hints].join("\n");
  }

  /** A result from the core, with the image that it has not. */
  #result(text: string): AnyResult {
    const result = JSON.parse(text) as AnyResult;
    for (const part of result.content)
      if (part.type === "image" && part.data === "") part.data = this.#image ?? "";
    return result;
  }

  /** The core does not get to run it. */
  refuse(result: AnyResult): void {
    // Nobody has looked for secrets in the arguments.
    this.started(this.#host.hooks.secrets === undefined ? undefined : '"[redacted]"');
    this.answer(result);
  }

  trapped(reason: string): void {
    const message =
      `The tool core failed (${reason}) while this call was running, and is restarted for the next one. What the ` +
      "call had begun may have taken effect: look before you repeat it";
    try {
      this.answer(failed(this.#call, message, "trapped"));
    } finally {
      this.abort();
    }
  }

  answer(result: AnyResult, durationMs = performance.now() - this.#startedAt): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    this.#resolve(result);
    this.#emit({ type: "tool_execution_end", result, isError: result.isError, durationMs });
  }

  async before(argsText: string, accessText: string): Promise<string> {
    const args = JSON.parse(argsText);
    const asked = JSON.stringify(args);
    const call: BeforeToolCall = {
      toolCallId: this.#call.id,
      name: this.#call.name,
      args,
      access: JSON.parse(accessText),
      context: this.#context,
      signal: this.signal,
    };
    const decision = await settled(this.#host.hooks.beforeToolCall?.(call));
    const said = (typeof decision === "object" && decision !== null ? decision : {}) as Record<
      string,
      unknown
    >;
    if (said.block) {
      const reason = said.reason === undefined ? undefined : String(said.reason);
      return jsonOf({ kind: "block", reason, terminate: said.terminate === true });
    }
    const changed = "args" in said ? said.args : call.args;
    const now = JSON.stringify(changed ?? null);
    return now === asked ? '{"kind":"run"}' : `{"kind":"change","args":${now}}`;
  }

  async search(job: string | undefined): Promise<string> {
    if (job !== undefined) this.#search = await this.#host.search(job, this.signal);
    return this.#search?.() ?? "";
  }

  /** What the host's hook makes of a command, in place or by return. */
  spawn(text: string): Promise<string> | undefined {
    const hook = this.#host.hooks.shell?.spawnHook;
    if (typeof hook !== "function") return undefined;
    const spawn = JSON.parse(text) as { command: string; cwd: string; env: Record<string, string> };
    return settled(hook(spawn)).then((said) => {
      // What it leaves undefined is left as it is.
      const { command = spawn.command, cwd = spawn.cwd, env = spawn.env } = Object(said ?? {});
      return jsonOf({ command, cwd, env });
    });
  }

  async after(argsText: string, resultText: string): Promise<string> {
    const call: AfterToolCall = {
      toolCallId: this.#call.id,
      name: this.#call.name,
      args: JSON.parse(argsText),
      result: this.#result(resultText) as AfterToolCall["result"],
      context: this.#context,
      signal: this.signal,
    };
    const patch = await settled(this.#host.hooks.afterToolCall?.(call));
    if (typeof patch !== "object" || patch === null) return "{}";
    const { content, details, isError, usage, terminate } = patch as Record<string, unknown>;
    return jsonOf({ content, details, isError, usage, terminate });
  }

  #emit(event: { type: ToolEvent["type"] } & Record<string, unknown>): void {
    if (!this.#host.hasListeners) return;
    this.#host.emit({ toolCallId: this.#call.id, toolName: this.#call.name, ...event } as ToolEvent);
  }
}

/** Runs a host's listener. It may fail, and that is nobody else's business; but it is said. */
export function guarded(what: string, run: () => unknown): void {
  const say = (error: unknown) => {
    try {
      console.error(`tackroom: ${what} threw: ${textOf(error)}`);
    } catch {
      // A console that throws hears nothing.
    }
  };
  try {
    const answer = run();
    // An asynchronous one fails later.
    if (isThenable(answer)) settle(answer, () => {}, say);
  } catch (error) {
    say(error);
  }
}
