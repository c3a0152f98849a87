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
 * A tool of a toolset as libraries see it, that take any Standard Schema: what goes in is what a model sends, what comes
 * out the tool's arguments.
 *
 * @example
 * ```ts
 * const [read] = toolset.tools;
 * read["~standard"].validate({ file: "a.txt", limit: "5" }); // { value: { path: "a.txt", limit: 5 } }
 * read["~standard"].validate({ limit: 5 }); // { issues: [{ path: ["path"], message: "is required …" }] }
 * ```
 */
export interface StandardTool {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "tackroom";
    readonly types?: StandardTypes<unknown, Record<string, unknown>> | undefined;
    /**
     * Translates, repairs and checks arguments as a call does, as text or as an object, and runs nothing.
     *
     * @throws {ToolError} `disposed`; `trapped` where the core failed: it is restarted, try again.
     */
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Record<string, unknown>; readonly issues?: undefined }
      | { readonly issues: readonly { readonly message: string; readonly path?: readonly PropertyKey[] }[] };
    /**
     * The tool's parameters, in `draft-2020-12` or `draft-07`.
     *
     * @throws {ToolError} `not_supported` for another target.
     */
    readonly jsonSchema: StandardJsonSchema["~standard"]["jsonSchema"];
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
