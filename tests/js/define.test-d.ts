// Compiled, never run: what defineTool makes of each kind of schema. A line below `@ts-expect-error` must not compile.
import { Type as SinclairType } from "@sinclair/typebox";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import type {
  CompiledSchema,
  CompileOptions,
  CustomTool,
  FromJsonSchema,
  InferArgs,
  SchemaIssue,
  StandardJsonSchema,
  ToolContext,
  ToolOutput,
  Toolset,
} from "tackroom";
import { compileSchema, defineTool, validateToolArguments, validateToolCall } from "tackroom";
import Type from "typebox";
import * as v from "valibot";
import * as z from "zod";
import * as mini from "zod/mini";
import * as z3 from "zod/v3";

/** True if the two are one type, down to modifiers; `any` equals nothing else. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles if the type given is `true`. */
declare function assert<_ extends true>(): void;
/** Intersections as the objects they are. */
type Plain<T> = T extends (infer I)[] ? Plain<I>[] : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;

const common = { name: "roll", description: "Rolls dice" } as const;

// What the arguments are, in every library, but for how each writes what is optional.

interface Args {
  n: number;
  tags: string[];
  mode: "a" | "b";
  inner: { yes: boolean; deep?: { x: number | null } };
  either: string | number;
  nothing: string | null;
  maybe?: string;
}
type Loose<T> = {
  [K in keyof T]: T[K] extends { yes: boolean }
    ? { yes: boolean; deep?: { x: number | null } | undefined }
    : undefined extends T[K]
      ? T[K] | undefined
      : T[K];
};

defineTool({
  ...common,
  parameters: z.object({
    n: z.int(),
    tags: z.array(z.string()),
    mode: z.enum(["a", "b"]),
    inner: z.object({ yes: z.boolean(), deep: z.object({ x: z.number().nullable() }).optional() }),
    either: z.union([z.string(), z.number()]),
    nothing: z.string().nullable(),
    maybe: z.string().optional(),
  }),
  execute(args, context) {
    assert<Equal<Plain<typeof args>, Plain<Loose<Args>>>>();
    assert<Equal<typeof context, ToolContext>>();
    // @ts-expect-error a typo
    args.mod;
    // @ts-expect-error a typo
    args.inner.no;
    return "";
  },
});

defineTool({
  ...common,
  parameters: toStandardJsonSchema(
    v.object({
      n: v.pipe(v.number(), v.integer()),
      tags: v.array(v.string()),
      mode: v.picklist(["a", "b"]),
      inner: v.object({ yes: v.boolean(), deep: v.optional(v.object({ x: v.nullable(v.number()) })) }),
      either: v.union([v.string(), v.number()]),
      nothing: v.nullable(v.string()),
      maybe: v.optional(v.string()),
    }),
  ),
  execute(args) {
    assert<Equal<Plain<typeof args>, Plain<Loose<Args>>>>();
    // @ts-expect-error a typo
    args.tag;
    return "";
  },
});

defineTool({
  ...common,
  parameters: type({
    n: "number.integer",
    tags: "string[]",
    mode: "'a' | 'b'",
    inner: { yes: "boolean", "deep?": { x: "number | null" } },
    either: "string | number",
    nothing: "string | null",
    "maybe?": "string",
  }),
  execute(args) {
    assert<Equal<Plain<typeof args>, Plain<Args>>>();
    // @ts-expect-error a typo
    args.maybee;
    return "";
  },
});

defineTool({
  ...common,
  parameters: Type.Object({
    n: Type.Integer(),
    tags: Type.Array(Type.String()),
    mode: Type.Union([Type.Literal("a"), Type.Literal("b")]),
    inner: Type.Object({
      yes: Type.Boolean(),
      deep: Type.Optional(Type.Object({ x: Type.Union([Type.Number(), Type.Null()]) })),
    }),
    either: Type.Union([Type.String(), Type.Number()]),
    nothing: Type.Union([Type.String(), Type.Null()]),
    maybe: Type.Optional(Type.String()),
  }),
  execute(args) {
    assert<Equal<Plain<typeof args>, Plain<Args>>>();
    // @ts-expect-error a typo
    args.inner.deeep;
    return "";
  },
});
const more = Type.Object({
  tuple: Type.Tuple([Type.String(), Type.Number()]),
  values: Type.Enum(["x", "y"]),
  both: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })]),
  record: Type.Record(Type.String(), Type.Number()),
  unsafe: Type.Unsafe<{ own: true }>(Type.Object({})),
  anything: Type.Unknown(),
});
assert<
  Equal<
    InferArgs<typeof more>,
    {
      tuple: [string, number];
      values: "x" | "y";
      both: { a: string } & { b: number };
      record: Record<string, number>;
      unsafe: { own: true };
      anything: unknown;
    }
  >
>();
assert<Equal<InferArgs<ReturnType<typeof allOptional>>, { a?: string; b?: number }>>();
declare function allOptional(): ReturnType<
  typeof Type.Object<{
    a: ReturnType<typeof Type.Optional<ReturnType<typeof Type.String>>>;
    b: ReturnType<typeof Type.Optional<ReturnType<typeof Type.Integer>>>;
  }>
>;

defineTool({
  ...common,
  parameters: SinclairType.Object({
    n: SinclairType.Integer(),
    tags: SinclairType.Array(SinclairType.String()),
    mode: SinclairType.Union([SinclairType.Literal("a"), SinclairType.Literal("b")]),
    inner: SinclairType.Object({
      yes: SinclairType.Boolean(),
      deep: SinclairType.Optional(
        SinclairType.Object({ x: SinclairType.Union([SinclairType.Number(), SinclairType.Null()]) }),
      ),
    }),
    either: SinclairType.Union([SinclairType.String(), SinclairType.Number()]),
    nothing: SinclairType.Union([SinclairType.String(), SinclairType.Null()]),
    maybe: SinclairType.Optional(SinclairType.String()),
  }),
  execute(args) {
    assert<Equal<Plain<typeof args>, Plain<Args>>>();
    // @ts-expect-error a typo
    args.nothingg;
    return "";
  },
});

const parameters = {
  type: "object",
  properties: {
    n: { type: "integer", minimum: 1 },
    tags: { type: "array", items: { type: "string" } },
    mode: { enum: ["a", "b"] },
    inner: {
      type: "object",
      properties: {
        yes: { type: "boolean" },
        deep: { type: "object", properties: { x: { type: ["number", "null"] } }, required: ["x"] },
      },
      required: ["yes"],
    },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    nothing: { type: "string", nullable: true },
    maybe: { type: "string", description: "may be left out" },
  },
  required: ["n", "tags", "mode", "inner", "either", "nothing"],
  additionalProperties: false,
} as const;
assert<Equal<Plain<InferArgs<typeof parameters>>, Plain<Args>>>();
defineTool({
  ...common,
  parameters,
  execute: (args) => (args.inner.deep?.x ?? args.n).toFixed(args.tags.length),
});

// Written in the call, a literal needs no `as const`.
const roll = defineTool({
  name: "roll",
  description: "Rolls dice",
  parameters: {
    type: "object",
    properties: { sides: { type: "integer" }, times: { type: "integer" } },
    required: ["sides"],
  },
  execute({ sides, times = 1 }) {
    assert<Equal<typeof sides, number>>();
    assert<Equal<typeof times, number>>();
    return { content: "rolled", details: { total: sides * times } };
  },
});
assert<Equal<typeof roll, CustomTool<"roll", { sides: number; times?: number }, { total: number }>>>();
assert<Equal<typeof roll.name, "roll">>();
assert<Equal<ReturnType<typeof validateToolCall>, unknown>>();

// Plain JSON Schema, keyword by keyword.

assert<Equal<FromJsonSchema<true>, unknown>>();
assert<Equal<FromJsonSchema<false>, never>>();
assert<Equal<FromJsonSchema<{ readonly $ref: "#/$defs/A" }>, unknown>>();
assert<Equal<FromJsonSchema<{ readonly const: { readonly a: readonly [1] } }>, { a: [1] }>>();
assert<Equal<FromJsonSchema<{ readonly enum: readonly [1, "a", null] }>, 1 | "a" | null>>();
assert<Equal<FromJsonSchema<{ readonly type: "array" }>, unknown[]>>();
assert<Equal<FromJsonSchema<{ readonly type: "object" }>, Record<string, unknown>>>();
assert<
  Equal<FromJsonSchema<{ readonly type: "object"; readonly properties: object }>, Record<string, unknown>>
>();
assert<
  Equal<
    FromJsonSchema<{ readonly type: "object"; readonly additionalProperties: false }>,
    Record<string, never>
  >
>();
assert<
  Equal<
    FromJsonSchema<{ readonly type: "object"; readonly additionalProperties: { readonly type: "number" } }>,
    Record<string, number>
  >
>();
type Rest = FromJsonSchema<{
  readonly type: "object";
  readonly properties: { readonly a: { readonly type: "string" } };
  readonly required: readonly ["a", "b"];
  readonly additionalProperties: { readonly type: "number" };
}>;
assert<Equal<Rest["a"], string>>();
assert<Equal<Rest["other"], string | number | undefined>>();
type Pair = FromJsonSchema<{
  readonly type: "array";
  readonly prefixItems: readonly [{ readonly type: "string" }, { readonly type: "number" }];
  readonly minItems: 2;
  readonly items: false;
}>;
assert<Equal<Pair, [string, number]>>();
type Open = FromJsonSchema<{
  readonly type: "array";
  readonly prefixItems: readonly [{ readonly type: "string" }];
  readonly items: { readonly type: "number" };
}>;
assert<Equal<Open, [string?, ...number[]]>>();
type Kinds = FromJsonSchema<{
  readonly oneOf: readonly [
    {
      readonly properties: {
        readonly kind: { readonly const: "a" };
        readonly n: { readonly type: "number" };
      };
      readonly required: readonly ["kind", "n"];
    },
    { readonly properties: { readonly kind: { readonly const: "b" } }; readonly required: readonly ["kind"] },
  ];
}>;
assert<Equal<Kinds, { kind: "a"; n: number } | { kind: "b" }>>();
type Both = FromJsonSchema<{
  readonly allOf: readonly [
    { readonly properties: { readonly a: { readonly type: "string" } }; readonly required: readonly ["a"] },
    { readonly properties: { readonly b: { readonly type: "number" } }; readonly required: readonly ["b"] },
  ];
}>;
assert<Equal<Plain<Both>, { a: string; b: number }>>();
type OneOfTwo = FromJsonSchema<{
  readonly type: "object";
  readonly properties: { readonly a: { readonly type: "string" } };
  readonly anyOf: readonly [{ readonly required: readonly ["a"] }, { readonly required: readonly ["b"] }];
}>;
assert<Equal<OneOfTwo, { a?: string }>>();
// What the compiler has forgotten is unknown, not wrong.
const widened = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
assert<Equal<InferArgs<typeof widened>, unknown>>();
assert<Equal<InferArgs<Record<string, unknown>>, unknown>>();
defineTool({ ...common, parameters: widened, execute: (args) => String(args) });
interface Endless {
  readonly type: "array";
  readonly items: Endless;
}
assert<Equal<FromJsonSchema<Endless> extends unknown[] ? true : false, true>>();

// What a library gives is not what goes in.
defineTool({
  ...common,
  parameters: z.object({ d: z.string().default("x"), t: z.string().transform(Number) }),
  execute(args) {
    assert<Equal<typeof args, { d?: string | undefined; t: string }>>();
    return "";
  },
});
declare const any: StandardJsonSchema<{ a: string }, { a: number }>;
assert<Equal<InferArgs<typeof any>, { a: string }>>();

// Schemas that cannot be said as JSON Schema.

const execute = () => "";
// @ts-expect-error zod/mini has no JSON Schema
defineTool({ ...common, parameters: mini.object({ n: mini.number() }), execute });
// @ts-expect-error zod 3 has no JSON Schema
defineTool({ ...common, parameters: z3.object({ n: z3.number() }), execute });
// @ts-expect-error valibot by itself has no JSON Schema
defineTool({ ...common, parameters: v.object({ n: v.number() }), execute });
// @ts-expect-error no schema
defineTool({ ...common, parameters: "object", execute });

// Typos.

const object = { type: "object" } as const;
// @ts-expect-error a field
defineTool({ ...common, parameters: object, execute, lable: "Roll" });
// @ts-expect-error the description is missing
defineTool({ name: "roll", parameters: object, execute });
// @ts-expect-error there is nothing to run
defineTool({ ...common, parameters: object });
// @ts-expect-error a value
defineTool({ ...common, parameters: object, execute, replay: "always" });
// @ts-expect-error a value
defineTool({ ...common, parameters: object, execute, executionMode: "serial" });
// @ts-expect-error a form
defineTool({ ...common, parameters: object, execute, constrainedSampling: { type: "json_schema" } });
// @ts-expect-error an answer
defineTool({ ...common, parameters: object, execute: () => 5 });
// @ts-expect-error a part of an answer
defineTool({ ...common, parameters: object, execute: () => ({ contents: "" }) });
// @ts-expect-error read from the outside only
roll.name = "roll";
defineTool({
  ...common,
  parameters: object,
  // @ts-expect-error a part of the context
  execute: (_, context) => String(context.tool),
});
// @ts-expect-error no such argument
roll.execute({ side: 6 }, context);
declare const context: ToolContext;

// Tools of all kinds.

export const tools: CustomTool[] = [
  roll,
  defineTool({ ...common, parameters: object, execute: async () => "" }),
];
validateToolCall(tools, { name: "roll", arguments: "{}" });
validateToolArguments(roll, { arguments: {} });
export const output: ToolOutput<number> = {
  content: [{ type: "text", text: "" }],
  details: 5,
  terminate: true,
};

// compileSchema.

export function checked(compiled: CompiledSchema): SchemaIssue[] {
  const outcome = compiled.check({ n: 1 });
  // @ts-expect-error only where it is right
  outcome.value;
  if (outcome.ok) assert<Equal<typeof outcome, { ok: true; value: unknown }>>();
  else return outcome.errors;
  return [...compiled.warnings];
}
const options: CompileOptions = {
  coercion: "ajv",
  dropOptionalNulls: false,
  formats: true,
  draft: "7",
  resources: {},
};
checked(compileSchema({}, options));
checked(compileSchema(true));
checked(compileSchema(z.string()));
export function scoped(): void {
  using compiled = compileSchema({ type: "object" }, { resources: { "urn:a": true } });
  checked(compiled);
}
// @ts-expect-error an option
compileSchema({}, { format: true });
// @ts-expect-error a value
compileSchema({}, { draft: "3" });
// @ts-expect-error a value
compileSchema({}, { coercion: "all" });
// @ts-expect-error no schema
compileSchema("string");
// @ts-expect-error read from the outside only
compileSchema({}).warnings = [];

// A toolset's tools are such schemas.

export async function aTool(toolset: Toolset): Promise<void> {
  const [read] = toolset.tools;
  if (!read) return;
  const outcome = read["~standard"].validate({ path: "f" });
  if (outcome.issues) assert<Equal<(typeof outcome.issues)[number]["message"], string>>();
  else assert<Equal<typeof outcome.value, Record<string, unknown>>>();
  const schema: StandardJsonSchema<unknown, Record<string, unknown>> = read;
  defineTool({ ...common, parameters: schema, execute });
}
