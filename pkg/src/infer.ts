/**
 * From the type of a JSON Schema literal to the type of the values that it describes. Types only.
 *
 * @module
 */

/**
 * The values that a JSON Schema describes, from the type of its literal (`as const`, or written in the call of
 * `defineTool`). It reads `type` (also a list), `properties`, `required`, `additionalProperties`, `patternProperties`,
 * `items`, `prefixItems`, `enum`, `const`, `anyOf`, `oneOf`, `allOf` and `nullable`; what other keywords demand is not
 * in the type, and where a schema does not say, it is `unknown`. A schema with `properties` is taken for an object's,
 * and other keys than those are not in the type, though the values may have them. Beyond 16 levels it is `unknown`.
 *
 * @example
 * ```ts
 * type Roll = FromJsonSchema<{ type: "object"; properties: { n: { type: "integer" } } }>; // { n?: number }
 * ```
 */
export type FromJsonSchema<S> = From<S, []>;

/** Counts levels. */
type Depth = readonly 0[];
type Deeper<D extends Depth> = readonly [...D, 0];

type From<S, D extends Depth> = D["length"] extends 16
  ? unknown
  : S extends boolean
    ? S extends false
      ? never
      : unknown
    : S extends { readonly "~unsafe": infer T }
      ? T
      : And<Own<S, Deeper<D>>, Combined<S, Deeper<D>>>;

/** Both; `unknown` adds nothing. */
type And<A, B> = unknown extends A ? B : unknown extends B ? A : A & B;

type Combined<S, D extends Depth> = And<
  And<
    S extends { readonly anyOf: infer L extends readonly unknown[] } ? OneOf<L, D> : unknown,
    S extends { readonly oneOf: infer L extends readonly unknown[] } ? OneOf<L, D> : unknown
  >,
  S extends { readonly allOf: infer L extends readonly unknown[] } ? AllOf<L, D> : unknown
>;

type OneOf<L extends readonly unknown[], D extends Depth> = { [I in keyof L]: From<L[I], D> }[number];

type AllOf<L extends readonly unknown[], D extends Depth> = L extends readonly [infer First, ...infer Rest]
  ? And<From<First, D>, AllOf<Rest, D>>
  : unknown;

/** What a schema's own keywords say. */
type Own<S, D extends Depth> = S extends { readonly const: infer C }
  ? Writable<C>
  : S extends { readonly enum: readonly (infer E)[] }
    ? Writable<E>
    : S extends { readonly type: infer T }
      ? Nullable<S, T extends readonly (infer One)[] ? OfType<One, S, D> : OfType<T, S, D>>
      : S extends { readonly properties: object }
        ? ObjectOf<S, D>
        : unknown;

type Nullable<S, T> = S extends { readonly nullable: true } ? T | null : T;

/** By the name of the type; of a union of names the union. */
type OfType<T, S, D extends Depth> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? ArrayOf<S, D>
          : T extends "object"
            ? ObjectOf<S, D>
            : unknown;

// Objects.

type ObjectOf<S, D extends Depth> = S extends { readonly properties: infer P extends object }
  ? keyof P extends never
    ? OtherKeys<S, D>
    : Flat<
        { -readonly [K in keyof P as K extends Required<S> ? K : never]: From<P[K], D> } & {
          -readonly [K in keyof P as K extends Required<S> ? never : K]?: From<P[K], D>;
        } & { [K in Exclude<Required<S>, keyof P>]: unknown }
      > &
        TypedRest<S, P, D>
  : OtherKeys<S, D>;

/** The names in `required`; none where the type does not say which. */
type Required<S> = S extends { readonly required: readonly (infer R extends string)[] }
  ? string extends R
    ? never
    : R
  : never;

/** Objects without properties that are known. */
type OtherKeys<S, D extends Depth> = S extends { readonly additionalProperties: false }
  ? Record<string, never>
  : S extends { readonly additionalProperties: infer A extends object }
    ? Record<string, From<A, D>>
    : S extends { readonly patternProperties: infer P extends object }
      ? Record<string, From<P[keyof P], D>>
      : Record<string, unknown>;

/** Other keys beside those that are known, where they have a schema: a key that is looked up may be any of them. */
type TypedRest<S, P, D extends Depth> = S extends { readonly additionalProperties: infer A extends object }
  ? { [key: string]: From<A, D> | { [K in keyof P]: From<P[K], D> }[keyof P] | undefined }
  : unknown;

type Flat<T> = { [K in keyof T]: T[K] };

// Arrays.

type ArrayOf<S, D extends Depth> = S extends { readonly prefixItems: infer P extends readonly unknown[] }
  ? Tuple<P, S, S extends { readonly items: infer I } ? I : true, D>
  : S extends { readonly items: infer P extends readonly unknown[] }
    ? Tuple<P, S, S extends { readonly additionalItems: infer I } ? I : true, D>
    : S extends { readonly items: infer I }
      ? From<I, D>[]
      : unknown[];

/** An item is there for sure where `minItems` asks for all of them. */
type Tuple<P extends readonly unknown[], S, Rest, D extends Depth> = [
  ...(S extends { readonly minItems: P["length"] } ? Items<P, D> : Partial<Items<P, D>>),
  ...(Rest extends false ? [] : From<Rest, D>[]),
];

type Items<P extends readonly unknown[], D extends Depth> = { -readonly [I in keyof P]: From<P[I], D> };

/** A constant without its `readonly`: arguments are the tool's own. */
type Writable<T> = T extends object ? { -readonly [K in keyof T]: Writable<T[K]> } : T;
