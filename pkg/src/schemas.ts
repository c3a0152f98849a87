/**
 * Schemas that a host checks arguments with. Those of structural keywords are checked in the core, the others in the
 * schema module; which it is, the core says. A schema is compiled once for each object, and again where its module has
 * been replaced.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { ToolError } from "./errors.js";
import { TRAPPED, unwrap } from "./instance.js";
import { schemaText } from "./plain-schema.js";
import { argumentText } from "./toolset.js";
import type { CheckedValue, SchemaIssue } from "./types.js";
import { kindOf, textOf } from "./values.js";

/** What both modules have. */
export interface SchemaEntries {
  schema_new(name: number, schema: number, options: number): string;
  schema_free(id: number): void;
  arguments_fit(schema: number, args: number): boolean;
  validate_arguments(schema: number, args: number, incomplete: boolean): string;
  check_value(schema: number, value: number): string | undefined;
}

/** A module that schemas are compiled in. Its instances are counted: an id of one means nothing to the next. */
export interface SchemaHost {
  readonly generation: number;
  /** Whether there is an instance that has not trapped. */
  readonly isAlive: boolean;
  /** Replaces an instance that trapped. */
  wake(): void;
  /** Whether an argument text fits a schema as it is: the way of nearly every call, so it is short. */
  fits(id: number, text: string): boolean;
  /** Throws a ToolError with code `trapped` where the instance traps. */
  enter<T>(entry: (entries: SchemaEntries, ...lengths: number[]) => T, ...texts: string[]): T;
}

/** The core as one of them. */
class CoreHost implements SchemaHost {
  constructor(readonly core: Core) {}

  get generation(): number {
    return this.core.generation;
  }

  get isAlive(): boolean {
    return this.core.isAlive;
  }

  wake(): void {
    this.core.wake();
  }

  fits(id: number, text: string): boolean {
    return this.core.enter((length = 0) => glue.arguments_fit(id, length), text) === true;
  }

  enter<T>(entry: (entries: SchemaEntries, ...lengths: number[]) => T, ...texts: string[]): T {
    const answer = this.core.enter((...lengths) => entry(glue, ...lengths), ...texts);
    if (answer !== TRAPPED) return answer;
    throw new ToolError("The tool core failed and was restarted: try again", "trapped");
  }
}

/** Where schemas are compiled: the core, and the schema module once it is loaded. */
export interface SchemaHosts {
  core: Core;
  /** `undefined` while it is not loaded. */
  module: SchemaHost | undefined;
}

interface Compiled {
  host: SchemaHost;
  generation: number;
  id: number;
  warnings: readonly SchemaIssue[];
}

/** Schemas that were forgotten, not disposed. */
const forgotten = new FinalizationRegistry<{ compiled: Compiled | undefined }>(({ compiled }) =>
  free(compiled),
);

function free(compiled: Compiled | undefined): void {
  if (!compiled?.host.isAlive || compiled.host.generation !== compiled.generation) return;
  try {
    compiled.host.enter((entries) => entries.schema_free(compiled.id));
  } catch {
    // An instance that traps is replaced whole.
  }
}

/** A schema that is kept: compiled in one of the modules, and again where that has been replaced. */
export class Schema {
  /** Shared with the finaliser, which must not hold the schema. */
  readonly #cell: { compiled: Compiled | undefined } = { compiled: undefined };
  readonly #hosts: () => SchemaHosts;
  readonly #tool: string;
  readonly #schema: string;
  readonly #options: string;
  #isDisposed = false;

  /** Of a tool, whose name is for messages, or of none where it is empty. `options` are JSON text. */
  constructor(hosts: () => SchemaHosts, tool: string, schema: unknown, options = "{}") {
    this.#hosts = hosts;
    this.#tool = tool;
    this.#schema = schemaText(schema, tool === "" ? "The schema" : `The parameters of tool "${tool}"`);
    this.#options = options;
    this.#compiled();
    forgotten.register(this, this.#cell, this.#cell);
  }

  get warnings(): readonly SchemaIssue[] {
    return this.#compiled().warnings;
  }

  /** The arguments as the tool should get them; throws a ToolError. */
  validate(args: unknown, incomplete: boolean): unknown {
    const text = argumentText(this.#tool, args);
    const { host, id } = this.#compiled();
    // Most do as they are. What of them is plain JSON is read quicker here than it would cross.
    if (!incomplete && host.fits(id, text)) return JSON.parse(text);
    return unwrap(
      host.enter((entries, length = 0) => entries.validate_arguments(id, length, incomplete), text),
    );
  }

  check(value: unknown): CheckedValue {
    let text: string | undefined;
    try {
      text = JSON.stringify(value);
    } catch (error) {
      return noJson(`: ${textOf(error).split("\n", 1)[0]}`);
    }
    if (text === undefined) return noJson(`, got ${kindOf(value)}`);
    const { host, id } = this.#compiled();
    const answer = host.enter((entries, length = 0) => entries.check_value(id, length), text);
    // Nothing to say: it fits as it is.
    if (answer === undefined) return { ok: true, value: JSON.parse(text) };
    const checked = unwrap<{ value: unknown } | { errors: SchemaIssue[] }>(answer);
    return { ok: !("errors" in checked), ...checked } as CheckedValue;
  }

  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    forgotten.unregister(this.#cell);
    free(this.#cell.compiled);
    this.#cell.compiled = undefined;
  }

  #compiled(): Compiled {
    if (this.#isDisposed) throw new ToolError("The schema was disposed: compile it again", "disposed");
    const known = this.#cell.compiled;
    if (known) {
      known.host.wake();
      if (known.host.generation === known.generation) return known;
    }
    const { core, module } = this.#hosts();
    const made = this.#compileIn(new CoreHost(core)) ?? (module && this.#compileIn(module));
    if (!made) throw new ToolError(this.#needed, "not_supported");
    this.#cell.compiled = made;
    return made;
  }

  /** What the core says of a schema that it cannot check. */
  #needed = "";

  #compileIn(host: SchemaHost): Compiled | undefined {
    host.wake();
    const answer = host.enter(
      (entries, name = 0, schema = 0, options = 0) => entries.schema_new(name, schema, options),
      this.#tool,
      this.#schema,
      this.#options,
    );
    const { id, warnings, needsEngine } = unwrap<{
      id: number;
      warnings: SchemaIssue[];
      needsEngine?: string;
    }>(answer);
    if (needsEngine !== undefined) {
      this.#needed = needsEngine;
      return undefined;
    }
    for (const warning of warnings) Object.freeze(warning);
    return { host, generation: host.generation, id, warnings: Object.freeze(warnings) };
  }
}

const noJson = (why: string): CheckedValue => ({
  ok: false,
  errors: [{ path: "", message: `must be JSON${why}` }],
});

/** Options of `compileSchema` as JSON text. What JSON would leave out is left in, to be refused by name. */
export function optionsText(options: unknown): string {
  if (typeof options !== "object" || options === null || Array.isArray(options))
    throw new ToolError(
      `compileSchema: expected options as an object, found ${kindOf(options)}`,
      "invalid_arguments",
    );
  try {
    const { resources } = options as { resources?: unknown };
    // A Map, say, has no properties of its own.
    if (typeof resources === "object" && Object.prototype.toString.call(resources) !== "[object Object]")
      throw new TypeError(
        `expected resources as an object, documents by URI, found ${printedKind(resources)}`,
      );
    return JSON.stringify(options, (_, value) =>
      typeof value === "function" || typeof value === "symbol" ? kindOf(value) : value,
    );
  } catch (error) {
    throw new ToolError(`The options cannot be read: ${textOf(error)}`, "invalid_arguments");
  }
}

const printedKind = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Schemas that tools bring along, compiled once for each object and name. */
export class SchemaCache {
  readonly #known = new WeakMap<object, Known>();

  of(hosts: () => SchemaHosts, tool: string, parameters: object): Schema {
    const known = this.#known.get(parameters);
    if (known !== undefined && known.tool === tool) return known.schema;
    if ((typeof parameters !== "object" && typeof parameters !== "function") || parameters === null)
      throw new ToolError(
        `Expected the parameters of tool "${tool}" as a schema, found ${kindOf(parameters)}`,
        "invalid_arguments",
      );
    const schema = known?.others.get(tool) ?? new Schema(hosts, tool, parameters);
    const others = known?.others ?? new Map<string, Schema>();
    others.delete(tool);
    if (known) others.set(known.tool, known.schema);
    for (const [name, one] of others) {
      if (others.size <= MOST_NAMES) break;
      others.delete(name);
      one.dispose();
    }
    this.#known.set(parameters, { tool, schema, others });
    return schema;
  }
}

/** The schema by the name last used, and by those before it: tools may share one. */
interface Known {
  tool: string;
  schema: Schema;
  others: Map<string, Schema>;
}

const MOST_NAMES = 16;
