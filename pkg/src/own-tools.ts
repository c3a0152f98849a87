/**
 * The shapes of tools that a host brings along.
 *
 * @module
 */

import type { Convertible, InferArgs } from "./standard.js";
import type {
  ConstrainedSampling,
  Content,
  ExecutionEnv,
  FileChange,
  MaybePromise,
  ToolResult,
} from "./types.js";

/** What a tool of one's own answers. A string alone is its content. */
export interface ToolOutput<Details = unknown> {
  /** For the model. Default: nothing. */
  content?: string | Content[];
  /** For logs and user interfaces: plain JSON. */
  details?: Details;
  /** For programs, as `outputSchema` says. */
  structuredContent?: unknown;
  /** What it cost, in whatever form the host counts. */
  usage?: unknown;
  /** Asks the agent loop to stop after this batch of calls. */
  terminate?: boolean;
}

/** Which run of an agent a call belongs to, so that a run that is repeated after a crash knows what it did. */
export interface Invocation {
  invocationId: string;
  operationId?: string;
  turnId?: string;
}

/**
 * What a tool of one's own gets beside its arguments. Whoever calls {@link CustomTool.execute} provides it; a toolset
 * does not run custom tools yet.
 */
export interface ToolContext {
  readonly toolCallId: string;
  /** Aborts with the call. */
  readonly signal: AbortSignal;
  /** Shows output so far; each replaces the one before. */
  update(partial: ToolOutput): void;
  /** What the host handed to the call or the toolset. */
  readonly context: unknown;
  readonly env: ExecutionEnv;
  /** Absent where the host gave the call none. What `setMemo` keeps, `getMemo` answers when the call is made again. */
  readonly invocation?: Invocation & {
    getMemo(): MaybePromise<unknown>;
    setMemo(value: unknown): MaybePromise<void>;
  };
  /** The absolute path that the tools would take a model's path for, tolerance and root applied. */
  resolve(path: string): Promise<string>;
  /**
   * Changes a file while nobody else does: `fn` gets its bytes, `undefined` where there is none, and answers the new
   * ones, or `null` to remove it.
   */
  mutate(path: string, fn: (before?: Uint8Array) => MaybePromise<Uint8Array | null>): Promise<FileChange>;
  /** Runs another tool. */
  executeTool(name: string, args: unknown): Promise<ToolResult>;
}

/**
 * A tool of one's own, as `defineTool` takes it.
 *
 * @typeParam Name its name, a literal.
 * @typeParam S the type of the schema of its parameters.
 * @typeParam Details of {@link ToolOutput}.
 */
export interface ToolSpec<Name extends string, S, Details> {
  /** What the model calls it by: 1 to 64 letters, digits, `_` and `-` of ASCII, which every provider takes. */
  name: Name;
  /** For people. Default: the name. */
  label?: string;
  /** For the model: what it does, and when to use it. */
  description: string;
  /**
   * What its arguments are: an object. A schema of zod, arktype, or valibot (with `toStandardJsonSchema()` of
   * `@valibot/to-json-schema`), of TypeBox, or plain JSON Schema; anything that has Standard JSON Schema.
   */
  parameters: S & Convertible<S>;
  /** It changes nothing. Default `false`. */
  readOnly?: boolean;
  /** Whether a call of unknown outcome may be made again. Default `"never"`. */
  replay?: "never" | "safe";
  /** Whether it may run beside other calls of a batch. Default `"parallel"`. */
  executionMode?: "parallel" | "sequential";
  /** One line for a system prompt. */
  promptSnippet?: string;
  /** Rules for a system prompt. Default: none. */
  promptGuidelines?: readonly string[];
  /** What its `structuredContent` is; the same kinds of schema. */
  outputSchema?: object;
  /** How a provider is asked to sample its arguments. Default: it is not. */
  constrainedSampling?: ConstrainedSampling;
  /** Does it. Its arguments have been validated. What it throws is the tool's failure. */
  execute(args: InferArgs<S>, context: ToolContext): MaybePromise<string | ToolOutput<Details>>;
}

/**
 * A tool of one's own, as `defineTool` makes it: a plain, frozen object.
 *
 * @typeParam Name its name.
 * @typeParam Args what `execute` takes.
 * @typeParam Details of its outputs. Default: any of these three.
 */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has tools of all kinds
export interface CustomTool<Name extends string = string, Args = any, Details = any> {
  readonly name: Name;
  readonly label: string;
  readonly description: string;
  /** Plain JSON Schema. */
  readonly parameters: Record<string, unknown>;
  readonly readOnly: boolean;
  readonly replay: "never" | "safe";
  readonly executionMode: "parallel" | "sequential";
  readonly promptSnippet?: string;
  readonly promptGuidelines: readonly string[];
  /** Plain JSON Schema. */
  readonly outputSchema?: Record<string, unknown>;
  readonly constrainedSampling?: ConstrainedSampling;
  execute(args: Args, context: ToolContext): MaybePromise<string | ToolOutput<Details>>;
}
