/**
 * Tools of a host's own.
 *
 * @module
 */

import { ToolError } from "./errors.js";
import type { CustomTool, ToolSpec } from "./own-tools.js";
import { schemaText } from "./plain-schema.js";
import type { InferArgs } from "./standard.js";
import { kindOf } from "./values.js";

/** What providers take for a name. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Defines a tool of one's own. The types of its arguments come from the schema of its parameters: of zod, arktype,
 * valibot, TypeBox, or JSON Schema that is written right here or `as const`. The schema is made plain JSON Schema at
 * once, whichever library it is of; a library's transforms, defaults and refinements are not in that, and not applied.
 *
 * A toolset does not run custom tools yet: validate a call with {@link validateToolCall} and call `execute` yourself.
 * Needs no module, so it can be called before {@link init}.
 *
 * @param spec see {@link ToolSpec}. `name`, `description`, `parameters` and `execute` are needed; an unknown field is
 *   refused. A schema of a library that cannot say it as JSON Schema (zod/mini, valibot by itself) does not compile.
 * @returns a frozen object with the fields given, their defaults, and `parameters` and `outputSchema` as plain JSON
 *   Schema.
 * @throws {ToolError} `invalid_arguments` for a field that is missing, unknown or wrong, and for a schema that is none,
 *   that cannot be said as JSON Schema, or that is not an object's.
 *
 * @example
 * ```ts
 * const roll = defineTool({
 *   name: "roll",
 *   description: "Rolls dice",
 *   parameters: z.object({ sides: z.int().min(2), times: z.int().optional() }),
 *   execute: ({ sides, times = 1 }) => `Rolled ${times} × d${sides}`,
 * });
 * const args = validateToolCall([roll], { name: "roll", arguments: '{"sides":"6"}' }); // { sides: 6 }
 * ```
 */
export function defineTool<const Name extends string, const S extends object, Details = unknown>(
  spec: ToolSpec<Name, S, Details>,
): CustomTool<Name, InferArgs<S>, Details> {
  if (typeof spec !== "object" || spec === null)
    throw new ToolError(`defineTool: expected a tool's fields, found ${kindOf(spec)}`, "invalid_arguments");
  const fields: Record<string, unknown> = { ...spec };
  const { name } = fields;
  if (typeof name !== "string" || !NAME.test(name))
    throw new ToolError(
      `defineTool: expected a name of 1 to 64 letters, digits, "_" and "-", found ${shown(name)}`,
      "invalid_arguments",
    );
  for (const field of Object.keys(fields)) {
    if (!Object.hasOwn(CHECKS, field))
      throw wrong(name, `${Object.keys(CHECKS).join(", ")} and no other field`, field);
  }
  for (const [field, check] of Object.entries(CHECKS)) {
    const isAbsent = fields[field] === undefined;
    if (isAbsent ? check.isNeeded : !check.isRight(fields[field]))
      throw wrong(name, `${field} as ${check.expected}`, fields[field]);
  }
  const parameters = plain(fields.parameters, `The parameters of tool "${name}"`);
  const sampling = fields.constrainedSampling as CustomTool["constrainedSampling"];
  checkSampling(name, sampling, parameters);
  const tool: Record<string, unknown> = {
    name,
    label: fields.label ?? name,
    description: fields.description,
    parameters,
    readOnly: fields.readOnly ?? false,
    replay: fields.replay ?? "never",
    executionMode: fields.executionMode ?? "parallel",
    promptSnippet: fields.promptSnippet,
    promptGuidelines: Object.freeze([...((fields.promptGuidelines as string[] | undefined) ?? [])]),
    outputSchema:
      fields.outputSchema === undefined
        ? undefined
        : JSON.parse(schemaText(fields.outputSchema, `The outputSchema of tool "${name}"`, "output")),
    constrainedSampling: sampling,
    execute: fields.execute,
  };
  for (const field of Object.keys(tool)) if (tool[field] === undefined) delete tool[field];
  return Object.freeze(tool) as unknown as CustomTool<Name, InferArgs<S>, Details>;
}

interface Check {
  isNeeded?: true;
  isRight(value: unknown): boolean;
  /** In words. */
  expected: string;
}

const isText = (value: unknown): boolean => typeof value === "string";
const oneOf = (...values: unknown[]): Omit<Check, "isNeeded"> => ({
  isRight: (value) => values.includes(value),
  expected: `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
});
/** Looked at by itself, with messages of its own. */
const schema: Check = { isRight: () => true, expected: "a schema" };
const text: Check = { isRight: isText, expected: "a string" };

const CHECKS: Record<string, Check> = {
  name: { ...text, isNeeded: true },
  label: text,
  description: { ...text, isNeeded: true },
  parameters: { ...schema, isNeeded: true },
  readOnly: oneOf(true, false),
  replay: oneOf("never", "safe"),
  executionMode: oneOf("parallel", "sequential"),
  promptSnippet: text,
  promptGuidelines: {
    isRight: (value) => Array.isArray(value) && value.every(isText),
    expected: "an array of strings",
  },
  outputSchema: schema,
  constrainedSampling: { isRight: isSampling, expected: "one of the forms of ConstrainedSampling" },
  execute: { isNeeded: true, isRight: (value) => typeof value === "function", expected: "a function" },
};

function wrong(name: string, expected: string, found: unknown): ToolError {
  return new ToolError(`Tool "${name}": expected ${expected}, found ${shown(found)}`, "invalid_arguments");
}

/** A value as a message has it: short. */
function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : kindOf(value);
}

function plain(schema: unknown, what: string): Record<string, unknown> {
  const made = JSON.parse(schemaText(schema, what));
  const { type } = Object(made);
  const isObjects = type === undefined || [type].flat().includes("object");
  if (typeof made === "object" && isObjects) return made;
  throw new ToolError(
    `${what}: expected a schema of an object, which arguments are, found ${JSON.stringify(type ?? made)}`,
    "invalid_arguments",
  );
}

function isSampling(value: unknown): boolean {
  if (value === false) return true;
  const { type, strict, variants } = Object(value);
  if (type === "json_schema") return strict === "prefer" || strict === "require";
  const names = Object.keys(Object(variants));
  return (
    type === "grammar" &&
    names.length > 0 &&
    names.every((name) => ["openai_lark", "openai_regex"].includes(name) && isText(variants[name]))
  );
}

/** A grammar stands for the one text that the arguments are. */
function checkSampling(
  name: string,
  sampling: CustomTool["constrainedSampling"],
  parameters: Record<string, unknown>,
): void {
  const isGrammar = sampling ? sampling.type === "grammar" : false;
  if (!isGrammar) return;
  const properties = Object(parameters.properties) as Record<string, { type?: unknown }>;
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  if (required.length === 1 && properties[required[0]]?.type === "string") return;
  throw wrong(
    name,
    "exactly one required property, of type string, beside a grammar",
    `${required.length} required: ${required.join(", ")}`,
  );
}
