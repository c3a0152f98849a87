// Arguments, generated: the reference's validateToolArguments and ours accept the same calls, with the same values.
// Where they differ on purpose, the difference has a name here and is counted; any other fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { validateToolArguments as validateTheirs } from "@earendil-works/pi-ai/utils/validation";
import { init, validateToolArguments } from "tackroom";
import { CASES, random, SEED, shown, tally } from "./support.mjs";

/** What all generated schemas can refer to. */
const DEFS = {
  count: { type: "integer", minimum: 1 },
  mode: { type: "string", enum: ["text", "binary", "1"] },
  flag: { type: "boolean" },
  names: { type: "array", items: { type: "string" } },
  item: { type: "object", properties: { n: { type: "integer" }, path: { type: "string" } }, required: ["n"] },
  tree: {
    type: "object",
    properties: { n: { type: "integer" }, edits: { type: "array", items: { $ref: "#/$defs/tree" } } },
    required: ["n"],
  },
};

const STRUCTURAL = ["string", "string", "number", "integer", "boolean", "enum", "union", "types"];
/** What only the schema module knows. */
const FURTHER = ["pattern", "multiple", "ref", "ref", "all", "one", "not", "format", "const"];

/** A schema, at most `depth` deep, of these kinds. */
function schema(rng, depth, further) {
  const kinds = further ? [...STRUCTURAL, ...FURTHER] : [...STRUCTURAL];
  if (depth > 0) kinds.push("array", "array", "object", "object");
  if (depth > 0 && further) kinds.push("unique", "tuple", "patterns", "allObjects", "nested");
  const scalar = () => schema(rng, 0, false);
  switch (rng.pick(kinds)) {
    case "string":
      return rng.chance(0.2) ? { type: "string", minLength: 1, maxLength: 12 } : { type: "string" };
    case "number":
      return rng.chance(0.2) ? { type: "number", exclusiveMinimum: 0, maximum: 100 } : { type: "number" };
    case "integer":
      return rng.chance(0.3) ? { type: "integer", minimum: 1 } : { type: "integer" };
    case "boolean":
      return { type: "boolean" };
    case "enum":
      return { type: "string", enum: ["text", "binary", "1"] };
    case "union":
      return { anyOf: [scalar(), rng.chance(0.5) ? { type: "null" } : scalar()] };
    case "types":
      return {
        type: rng.pick([
          ["string", "null"],
          ["integer", "null"],
          ["boolean", "null"],
        ]),
      };
    case "pattern":
      return { type: "string", pattern: rng.pick(["^[a-z./ö0-9ß]+$", "^\\p{L}", "(?<!x)$", "^(?!abc)"]) };
    case "multiple":
      return rng.pick([
        { type: "integer", multipleOf: 2 },
        { type: "number", multipleOf: 0.5 },
      ]);
    case "ref":
      return { $ref: `#/$defs/${rng.pick(Object.keys(DEFS))}` };
    case "all":
      return {
        allOf: [scalar(), rng.pick([{}, { minimum: 1 }, { minLength: 1 }, { $ref: "#/$defs/count" }])],
      };
    case "one":
      return {
        oneOf: [{ type: rng.pick(["integer", "number"]) }, { type: rng.pick(["boolean", "string"]) }],
      };
    case "not":
      return { ...scalar(), not: rng.pick([{ type: "null" }, { const: "x" }, { minimum: 42 }]) };
    case "format":
      return { type: "string", format: rng.pick(["date", "email", "uri", "x-own"]) };
    case "const":
      return { const: rng.pick(["a", 1, true, null]) };
    case "unique":
      return { type: "array", items: scalar(), uniqueItems: true };
    case "tuple":
      return { type: "array", prefixItems: [scalar(), schema(rng, depth - 1, true)] };
    case "patterns":
      return { type: "object", properties: {}, required: [], patternProperties: { "^n": scalar() } };
    case "allObjects":
      return { allOf: [object(rng, depth - 1, true, false), { $ref: "#/$defs/item" }] };
    case "nested":
      return object(rng, depth - 1, true);
    case "array":
      return {
        type: "array",
        items: schema(rng, depth - 1, further),
        ...(rng.chance(0.2) && { minItems: 1, maxItems: 3 }),
      };
    default:
      return object(rng, depth - 1, further);
  }
}

function object(rng, depth, further, mayClose = true) {
  const names = ["path", "n", "edits", "flag", "mode", "größe"].slice(0, rng.between(1, 6));
  const properties = Object.fromEntries(names.map((name) => [name, schema(rng, depth, further)]));
  const required = names.filter(() => rng.chance(0.5));
  const isClosed = mayClose && rng.chance(0.2);
  return { type: "object", properties, required, ...(isClosed && { additionalProperties: false }) };
}

const WRONG = [
  ...[null, true, false, 0, 1, -1, 2.5, 42, 1e21, 2 ** 53],
  ...["", " ", "true", "False", "1", "0", " 42 ", "2.5", "1e3", "0x10", "Infinity", "abc", "null", "[1]"],
  ...['["a"]', "{}", '{"n":"1"}', [], ["a"], [[1]], {}, { n: "1" }],
];

/** The schema that is meant. */
const followed = (node) => (node.$ref ? DEFS[node.$ref.replace("#/$defs/", "")] : node);

/** A value that fits the schema, or nearly. */
function value(rng, given, depth = 4) {
  const node = followed(given);
  if (node.anyOf) return value(rng, rng.pick(node.anyOf), depth);
  if (node.oneOf) return value(rng, rng.pick(node.oneOf), depth);
  if (node.allOf) {
    const values = node.allOf.filter((part) => followed(part).type).map((part) => value(rng, part, depth));
    return values.every((one) => typeof one === "object" && one !== null)
      ? Object.assign({}, ...values)
      : values[0];
  }
  if (node.enum) return rng.pick(node.enum);
  if ("const" in node) return node.const;
  if (node.format === "date" && rng.chance(0.7)) return "2026-02-28";
  switch (Array.isArray(node.type) ? rng.pick(node.type) : node.type) {
    case "string":
      return rng.pick(["src/main.ts", "größe", "5", "x"]);
    case "number":
      return rng.pick([1, 2.5, 100, 1e-3]);
    case "integer":
      return rng.pick([1, 2, 42]);
    case "boolean":
      return rng.chance(0.5);
    case "null":
      return null;
    case "array":
      if (node.prefixItems) return node.prefixItems.map((item) => value(rng, item, depth - 1));
      return depth > 0 ? rng.list(rng.between(1, 3), () => value(rng, node.items, depth - 1)) : [];
    default: {
      const entries = Object.entries(node.properties)
        .filter(([name]) => (node.required ?? []).includes(name) || rng.chance(0.6))
        .map(([name, property]) => [name, value(rng, property, depth - 1)]);
      for (const pattern of Object.values(node.patternProperties ?? {})) {
        if (rng.chance(0.7)) entries.push(["nth", value(rng, pattern, depth - 1)]);
      }
      if (rng.chance(0.05)) entries.push(["extra", 1]);
      return Object.fromEntries(entries);
    }
  }
}

/** Puts one slip into an object, at any depth. */
function slip(rng, node, target) {
  if (rng.chance(0.1) && node.required.length > 0) {
    delete target[rng.pick(node.required)];
    return;
  }
  const all = [
    ...Object.entries(node.properties),
    ...Object.values(node.patternProperties ?? {}).map((one) => ["nth", one]),
  ];
  const [at, inner] = rng.pick(all);
  slipAt(rng, inner, target, at);
}

function slipAt(rng, schema, holder, at) {
  const node = followed(schema);
  const given = holder[at];
  if (rng.chance(0.7) && Array.isArray(given) && given.length > 0 && node.type === "array") {
    const index = rng.below(given.length);
    return slipAt(rng, node.prefixItems?.[index] ?? node.items ?? {}, given, index);
  }
  const isPlain = isObject(given) && !Array.isArray(given);
  if (rng.chance(0.7) && isPlain && node.type === "object" && Object.keys(node.properties).length > 0) {
    return slip(rng, node, given);
  }
  holder[at] = structuredClone(rng.pick(WRONG));
}

function outcome(validate) {
  try {
    return { value: validate() };
  } catch (error) {
    return { error: error.message };
  }
}

/** A schema, and all that it says about the same value. */
function parts(schema) {
  const node = followed(schema);
  const branches = [node.anyOf, node.oneOf, node.allOf].flatMap((list) => list ?? []);
  return [node, ...branches.flatMap(parts)];
}

/** What a schema says about the value at a path. */
function partsAt(schema, path) {
  let found = parts(schema);
  for (const key of path) {
    found = found
      .flatMap((node) => [
        ...(Object.hasOwn(node.properties ?? {}, key) ? [node.properties[key]] : []),
        ...Object.entries(node.patternProperties ?? {})
          .filter(([pattern]) => new RegExp(pattern, "u").test(key))
          .map(([, one]) => one),
        ...(/^\d+$/.test(key) ? [node.prefixItems?.[key] ?? node.items ?? {}] : []),
      ])
      .flatMap(parts);
  }
  return found;
}

const isObject = (value) => typeof value === "object" && value !== null;
/** The path as far as something was sent for it, and what: a lone item may have become a list of one. */
function sent(value, path) {
  let given = value;
  let length = 0;
  for (; length < path.length && isObject(given); length++) {
    const isWrapped = /^\d+$/.test(path[length]) && !Array.isArray(given);
    if (!isWrapped) given = given[path[length]];
  }
  return { at: path.slice(0, length), given };
}

/** Where two values differ. */
function differing(a, b, path = []) {
  if (isDeepStrictEqual(a, b)) return [];
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return [path];
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].flatMap((key) => differing(a[key], b[key], [...path, key]));
}

/** The paths that an error's lines begin with. */
function refusedPaths(error) {
  const lines = [...error.matchAll(/^ {2}- ([^:]*): /gm)];
  return lines.map(([, path]) => (path === "root" ? [] : path.split(".")));
}

/** The names of what is done otherwise; undefined for a place where both should agree. */
function reasons(parameters, args, theirs, own) {
  const paths =
    theirs.error !== undefined
      ? refusedPaths(theirs.error)
      : own.error !== undefined
        ? refusedPaths(own.error)
        : differing(theirs.value, own.value);
  const refused = theirs.error !== undefined ? "there" : own.error !== undefined ? "here" : undefined;
  return paths.map((path) => {
    const { at, given } = sent(args, path);
    return reason(partsAt(parameters, at), given, refused);
  });
}

/** The name of what is done otherwise with a value of which the schema says all this. */
function reason(nodes, given, refused) {
  const wants = nodes.flatMap(({ type }) => [type ?? []].flat());
  const has = (...any) => any.some((type) => wants.includes(type));
  const decimal = /^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/;
  if (typeof given === "string" && /^\s*[[{]/.test(given) && has("array", "object")) {
    return "JSON text becomes the array or object in it";
  }
  if (given === null && nodes.some(({ type }) => type && ![type].flat().includes("null"))) {
    return "null never becomes a value";
  }
  if (has("null") && [false, 0, "", "null", "0", "false"].includes(given)) return "nothing becomes null";
  if (typeof given === "string" && has("number", "integer") && !decimal.test(given)) {
    return "a number only from a decimal number";
  }
  if (has("integer") && !Number.isSafeInteger(Number(given)) && decimal.test(String(given))) {
    return "an integer is whole and exact";
  }
  if (typeof given === "boolean" && has("number", "integer")) return "no number from a boolean";
  if (has("boolean") && typeof given === "string")
    return 'a boolean only from "true" and "false", in any case, as text';
  if (has("boolean") && typeof given === "number" && refused === "here")
    return "a boolean only from 1 and 0, as numbers";
  if (refused === "there" && nodes.some(({ format }) => format)) return "a format is an annotation";
  if (refused === undefined && new Set(wants).size > 2) return "a union's branches are tried in order";
  if (refused === "here" && nodes.some((node) => "const" in node && node.type === undefined)) {
    return "coercion goes by types, not by a const";
  }
  // A lone item for a list of one.
  if (refused === "there" && nodes.some(({ prefixItems }) => prefixItems) && !Array.isArray(given)) {
    return "a lone item becomes a list of one, where that is a tuple too";
  }
  const items = nodes.flatMap((node) => (node.type === "array" && node.items ? parts(node.items) : []));
  return items.length > 0 && !Array.isArray(given) ? reason(items, given, refused) : undefined;
}

for (const [title, further] of [
  ["schemas of structural keywords", false],
  ["schemas of every keyword", true],
]) {
  test(`the same calls are accepted, with the same values: ${title}`, async (t) => {
    await init();
    const rng = random(SEED + (further ? 5 : 3));
    const counts = tally("arguments");
    const beyond = new Set();
    for (let nth = 0; nth < CASES; nth++) {
      const parameters = { ...object(rng, 2, further), ...(further && { $defs: DEFS }) };
      const args = value(rng, parameters);
      if (rng.chance(further ? 0.6 : 0.8)) slip(rng, parameters, args);
      const tool = { name: "tool", description: "", parameters };
      const text = JSON.stringify(args);
      const theirs = outcome(() =>
        validateTheirs(tool, { id: "1", name: "tool", arguments: JSON.parse(text) }),
      );
      const own = outcome(() => validateToolArguments(tool, { arguments: text }));
      for (const keyword of keywords(parameters.properties)) beyond.add(keyword);
      if (theirs.error !== undefined && own.error !== undefined) counts.add("the same: refused");
      else if (isDeepStrictEqual(theirs, own)) {
        counts.add(text === JSON.stringify(own.value) ? "the same, as it was sent" : "the same, repaired");
      } else {
        const names = reasons(parameters, args, theirs, own);
        if (!names.every(Boolean) || names.length === 0) {
          const facts = shown({ args, theirs, own, parameters });
          assert.fail(`a difference that nobody has meant\ncase ${nth}, seed ${SEED}: ${facts}`);
        }
        counts.add(names[0]);
      }
    }
    counts.print(t);
    const same = counts.of("the same, as it was sent") + counts.of("the same, repaired");
    assert.ok(same > CASES / 4, "too few were accepted to say anything");
    if (!further) return;
    for (const keyword of [
      "$ref",
      "allOf",
      "oneOf",
      "pattern",
      "multipleOf",
      "not",
      "prefixItems",
      "uniqueItems",
    ])
      assert.ok(beyond.has(keyword), `no schema had ${keyword}`);
  });
}

/** Every key in a schema. */
function keywords(node) {
  if (typeof node !== "object" || node === null) return [];
  return [...Object.keys(node), ...Object.values(node).flatMap(keywords)];
}
