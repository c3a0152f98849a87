/**
 * Schemas of libraries as plain JSON Schema, without the libraries: through what they say of themselves under
 * `"~standard"`; TypeBox's are JSON Schema already.
 *
 * @module
 */

import { isToolError, ToolError } from "./errors.js";
import { kindOf, textOf } from "./values.js";

/** What goes into a schema, or what comes out of it. */
type Side = "input" | "output";

export const DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema";
export const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

const WITH_JSON_SCHEMA =
  "zod 4.2 or later (not zod/mini or zod/v3), arktype 2.1.28 or later, toStandardJsonSchema() of " +
  "@valibot/to-json-schema around a schema of valibot, or plain JSON Schema";

/**
 * The JSON text of a schema. `what` begins messages, such as `The parameters of tool "roll"`.
 *
 * @throws {ToolError} `invalid_arguments` for what is no schema, or cannot be said as JSON Schema.
 */
export function schemaText(schema: unknown, what: string, side: Side = "input"): string {
  if (typeof schema === "boolean") return String(schema);
  const isFunction = typeof schema === "function";
  try {
    if ((typeof schema === "object" || isFunction) && schema !== null && !Array.isArray(schema)) {
      const standard = (schema as { "~standard"?: unknown })["~standard"];
      if (standard !== undefined) return fromStandard(standard, what, side);
      if (!isFunction) return fromPlain(schema, what);
    }
  } catch (error) {
    if (isToolError(error)) throw error;
    throw new ToolError(`${what} cannot be written as JSON: ${textOf(error)}`, "invalid_arguments");
  }
  throw new ToolError(
    `${what}: expected a JSON Schema, or a schema of a library that has one, found ${kindOf(schema)}`,
    "invalid_arguments",
  );
}

interface Converter {
  input?(options: { target: string }): unknown;
  output?(options: { target: string }): unknown;
}

function fromStandard(standard: unknown, what: string, side: Side): string {
  const { vendor, jsonSchema } = standard as { vendor?: unknown; jsonSchema?: Converter };
  if (typeof jsonSchema?.[side] !== "function")
    throw new ToolError(
      `${what}: expected a schema that has JSON Schema, found one of ${vendor} without: use ${WITH_JSON_SCHEMA}`,
      "invalid_arguments",
    );
  const schema = convert(jsonSchema, what, side);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema))
    throw new ToolError(
      `${what}: expected ${vendor} to make a JSON Schema of it, found ${kindOf(schema)}`,
      "invalid_arguments",
    );
  const { $schema, ...rest } = schema as Record<string, unknown>;
  // It goes without saying, and to a model it says nothing.
  return fromPlain($schema === DRAFT_2020_12 ? rest : schema, what);
}

/** In the newest draft that the library knows. */
function convert(converter: Converter, what: string, side: Side): unknown {
  try {
    return converter[side]?.({ target: "draft-2020-12" });
  } catch (error) {
    try {
      return converter[side]?.({ target: "draft-07" });
    } catch {
      // The first reason is the better one.
    }
    throw new ToolError(
      `${what} cannot be said as JSON Schema: ${textOf(error)}: use types that JSON has`,
      "invalid_arguments",
    );
  }
}

function fromPlain(schema: object, what: string): string {
  let hasTuple = false;
  const text = JSON.stringify(schema, function (this: Record<string, unknown>, key, value) {
    // As it is, not as its toJSON() has it.
    if ((this[key] as { "~standard"?: unknown } | null | undefined)?.["~standard"] !== undefined)
      throw new ToolError(
        `${what}: expected plain JSON Schema, found a schema of a library at "${key}": make the whole schema with it`,
        "invalid_arguments",
      );
    hasTuple ||= key === "items" && Array.isArray(value);
    return value;
  });
  if (text === undefined) throw new TypeError("it has no JSON");
  // TypeBox writes tuples as draft 7 does, and does not say so.
  if (!hasTuple || "$schema" in schema || !isTypeBox(schema)) return text;
  return JSON.stringify({ $schema: DRAFT_07, ...JSON.parse(text) });
}

/** Of either line: `typebox`, and `@sinclair/typebox`, whose mark is a symbol. */
function isTypeBox(schema: object): boolean {
  return (
    "~kind" in schema ||
    Object.getOwnPropertySymbols(schema).some((symbol) => symbol.description === "TypeBox.Kind")
  );
}
