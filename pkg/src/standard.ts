/**
 * What schemas of libraries have in common, and what they say of a tool's arguments to the compiler. Types only: no
 * library is imported. The shapes are those of Standard Schema and Standard JSON Schema (https://standardschema.dev).
 *
 * @module
 */

import type { FromJsonSchema } from "./infer.js";

/** How a library says what a schema takes and gives. */
interface StandardTypes<Input, Output> {
  readonly input: Input;
  readonly output: Output;
}

/**
 * A schema of a library that can say it as JSON Schema: zod from 4.2, arktype from 2.1.28, and valibot's through
 * `toStandardJsonSchema()` of `@valibot/to-json-schema`.
 */
export interface StandardJsonSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: StandardTypes<Input, Output> | undefined;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

/**
 * What the arguments are that a schema describes: of a Standard Schema the type that goes in, since the schema is
 * applied as JSON Schema, without the library's transforms, defaults and refinements; of TypeBox its static type; of
 * plain JSON Schema written as a literal what its keywords say (see {@link FromJsonSchema}); else `unknown`.
 *
 * @example
 * ```ts
 * const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
 * type Args = InferArgs<typeof parameters>; // { n: number }
 * ```
 */
export type InferArgs<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : unknown
  : S extends { static: unknown; params: unknown[] }
    ? (S & { params: [] })["static"]
    : FromJsonSchema<S>;

/**
 * `unknown` for a schema that can be said as JSON Schema, and for another a text that tells what to do, which no schema
 * is assignable to.
 */
export type Convertible<S> = S extends { readonly "~standard": infer Standard }
  ? Standard extends { readonly jsonSchema: unknown }
    ? unknown
    : "Expected a schema that has JSON Schema: zod 4.2 or later (not zod/mini or zod/v3), arktype 2.1.28 or later, toStandardJsonSchema() around a schema of valibot"
  : unknown;
