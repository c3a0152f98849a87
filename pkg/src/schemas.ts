/**
 * Schemas that a host checks arguments with. Those of structural keywords are checked in the core, the others in the
 * schema module; which it is, the core says. A schema is compiled once for each object, and again where its module has
 * been replaced.
 *
 * @module
 */

import { type Core, glue, TRAPPED, unwrap } from "./core.js";
import { ToolError } from "./errors.js";
import { argumentText } from "./toolset.js";

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
  /** Replaces an instance that trapped. */
  wake(): void;
  /** Throws a ToolError with code `trapped` where the instance traps. */
  enter<T>(entry: (entries: SchemaEntries, ...lengths: number[]) => T, ...texts: string[]): T;
}

/** The core as one of them. */
class CoreHost implements SchemaHost {
  constructor(readonly core: Core) {}

  get generation(): number {
    return this.core.generation;
  }

  wake(): void {
    this.core.wake();
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
  warnings: SchemaWarning[];
}

/** Something in a schema that had to be mended. The schema works all the same. */
export interface SchemaWarning {
  /** JSON Pointer to what is wrong in the schema, such as `/properties/a/type`. */
  path: string;
  /** What was expected, what was found, and what was done about it. */
  message: string;
}

const forgotten = new FinalizationRegistry<{ compiled: Compiled | undefined }>(({ compiled }) =>
  free(compiled),
);

function free(compiled: Compiled | undefined): void {
  if (compiled && compiled.host.generation === compiled.generation) {
    try {
      compiled.host.enter((entries) => entries.schema_free(compiled.id));
    } catch {
      // An instance that traps is replaced whole.
    }
  }
}

/** A schema, under a tool's name. */
export class Schema {
  /** Shared with the finaliser, which must not hold the schema. */
  readonly #cell: { compiled: Compiled | undefined } = { compiled: undefined };
  readonly #hosts: () => SchemaHosts;
  readonly #tool: string;
  readonly #schema: string;
  readonly #options: string;
  #isDisposed = false;

  constructor(hosts: () => SchemaHosts, tool: string, schema: unknown, options: object) {
    this.#hosts = hosts;
    this.#tool = tool;
    this.#schema = jsonText(schema, `The parameters of tool "${tool}"`);
    this.#options = jsonText(options, "The options");
    this.#compiled();
    forgotten.register(this, this.#cell, this.#cell);
  }

  get warnings(): readonly SchemaWarning[] {
    return this.#compiled().warnings;
  }

  /** The arguments as the tool should get them; throws a ToolError. */
  validate(args: unknown, incomplete: boolean): unknown {
    const text = argumentText(this.#tool, args);
    const { host, id } = this.#compiled();
    const answer = host.enter(
      (entries, length = 0) => entries.validate_arguments(id, length, incomplete),
      text,
    );
    // Nothing to say: plain JSON that fits as it is.
    return answer === undefined ? JSON.parse(text) : unwrap(answer);
  }

  /** `{ value }` or `{ errors }`. */
  check(value: unknown): { value: unknown } | { errors: { path: string; message: string }[] } {
    const text = jsonText(value, "The value");
    const { host, id } = this.#compiled();
    const answer = host.enter((entries, length = 0) => entries.check_value(id, length), text);
    return answer === undefined ? { value: JSON.parse(text) } : unwrap(answer);
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
      warnings: SchemaWarning[];
      needsEngine?: string;
    }>(answer);
    if (needsEngine !== undefined) {
      this.#needed = needsEngine;
      return undefined;
    }
    return { host, generation: host.generation, id, warnings };
  }
}

function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    const message = `${what} cannot be written as JSON: ${error instanceof Error ? error.message : error}`;
    throw new ToolError(message, "invalid_arguments");
  }
}

/** Schemas that tools bring along, compiled once for each object and name. */
export class SchemaCache {
  readonly #known = new WeakMap<object, { tool: string; schema: Schema }>();

  of(hosts: () => SchemaHosts, tool: string, parameters: object): Schema {
    const known = this.#known.get(parameters);
    if (known?.tool === tool) return known.schema;
    known?.schema.dispose();
    const schema = new Schema(hosts, tool, parameters, {});
    this.#known.set(parameters, { tool, schema });
    return schema;
  }
}
