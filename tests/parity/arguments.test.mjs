// Arguments, generated: the reference's validateToolArguments and ours accept the same calls, with the same values.
// Where they differ on purpose, the difference has a name here and is counted; any other fails.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { validateToolArguments as validateTheirs } from "@earendil-works/pi-ai/utils/validation";
import { init, validateToolArguments } from "tackroom";
import { CASES, random, SEED, shown, tally } from "./support.mjs";

/** A structural schema, at most `depth` deep. */
function schema(rng, depth) {
  const kinds = ["string", "string", "number", "integer", "boolean", "enum", "union", "types"];
  if (depth > 0) kinds.push("array", "array", "object", "object");
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
      return { anyOf: [schema(rng, 0), rng.chance(0.5) ? { type: "null" } : schema(rng, 0)] };
    case "types":
      return {
        type: rng.pick([
          ["string", "null"],
          ["integer", "null"],
          ["boolean", "null"],
        ]),
      };
    case "array":
      return {
        type: "array",
        items: schema(rng, depth - 1),
        ...(rng.chance(0.2) && { minItems: 1, maxItems: 3 }),
      };
    default:
      return object(rng, depth - 1);
  }
}

function object(rng, depth) {
  const names = ["path", "n", "edits", "flag", "mode", "größe"].slice(0, rng.between(1, 6));
  const properties = Object.fromEntries(names.map((name) => [name, schema(rng, depth)]));
  const required = names.filter(() => rng.chance(0.5));
  return { type: "object", properties, required, ...(rng.chance(0.2) && { additionalProperties: false }) };
}

const WRONG = [
  ...[null, true, false, 0, 1, -1, 2.5, 42, 1e21, 2 ** 53],
  ...["", " ", "true", "False", "1", "0", " 42 ", "2.5", "1e3", "0x10", "Infinity", "abc", "null", "[1]"],
  ...['["a"]', "{}", '{"n":"1"}', [], ["a"], [[1]], {}, { n: "1" }],
];

/** A value that fits the schema. */
function value(rng, node) {
  if (node.anyOf) return value(rng, rng.pick(node.anyOf));
  if (node.enum) return rng.pick(node.enum);
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
      return rng.list(rng.between(1, 3), () => value(rng, node.items));
    default: {
      const entries = Object.entries(node.properties)
        .filter(([name]) => node.required.includes(name) || rng.chance(0.6))
        .map(([name, property]) => [name, value(rng, property)]);
      if (rng.chance(0.05)) entries.push(["extra", 1]);
      return Object.fromEntries(entries);
    }
  }
}

/** Puts one slip into an object, at any depth. Says where: the schema there, and the value that it got. */
function slip(rng, node, target) {
  if (rng.chance(0.1) && node.required.length > 0) {
    delete target[rng.pick(node.required)];
    return undefined;
  }
  const [at, inner] = rng.pick(Object.entries(node.properties));
  return slipAt(rng, inner, target, at, !node.required.includes(at));
}

function slipAt(rng, node, holder, at, optional) {
  const given = holder[at];
  if (rng.chance(0.7) && Array.isArray(given) && node.type === "array") {
    return slipAt(rng, node.items, given, rng.below(given.length), false);
  }
  if (rng.chance(0.7) && node.type === "object" && given && Object.keys(node.properties).length > 0) {
    return slip(rng, node, given);
  }
  holder[at] = structuredClone(rng.pick(WRONG));
  return { node, given: holder[at], optional };
}

function outcome(validate) {
  try {
    return { value: validate() };
  } catch (error) {
    return { error: error.message };
  }
}

const types = (node) => node.anyOf?.flatMap(types) ?? [node.type].flat();

/** The name of what is done otherwise with this value for this schema; undefined where both should agree. */
function reason({ node, given }, theirs, own) {
  const wants = types(node);
  const has = (...any) => any.some((type) => wants.includes(type));
  const refusedHere = own.error !== undefined && theirs.error === undefined;
  const decimal = /^\s*-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\s*$/;
  if (typeof given === "string" && /^\s*[[{]/.test(given) && has("array", "object")) {
    return "JSON text becomes the array or object in it";
  }
  if (given === null && !has("null")) return "null never becomes a value";
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
  if (has("boolean") && typeof given === "number" && refusedHere)
    return "a boolean only from 1 and 0, as numbers";
  if (node.type === "array")
    return reason({ node: node.items, given: Array.isArray(given) ? given[0] : given }, theirs, own);
  if (new Set(wants).size > 2 && !refusedHere)
    return "a union's branches are tried in order, a list of types too";
  return undefined;
}

test("the same calls are accepted, with the same values", async (t) => {
  await init();
  const rng = random(SEED + 3);
  const counts = tally("arguments");
  for (let nth = 0; nth < CASES; nth++) {
    const parameters = object(rng, 2);
    const args = value(rng, parameters);
    const slipped = rng.chance(0.8) ? slip(rng, parameters, args) : undefined;
    const tool = { name: "tool", description: "", parameters };
    const text = JSON.stringify(args);
    const theirs = outcome(() =>
      validateTheirs(tool, { id: "1", name: "tool", arguments: JSON.parse(text) }),
    );
    const own = outcome(() => validateToolArguments(tool, { arguments: text }));
    if (theirs.error !== undefined && own.error !== undefined) counts.add("the same: refused");
    else if (isDeepStrictEqual(theirs, own)) {
      counts.add(text === JSON.stringify(own.value) ? "the same, as it was sent" : "the same, repaired");
    } else {
      const name = slipped && reason(slipped, theirs, own);
      if (!name) {
        const facts = shown({ slipped, args, theirs, own, parameters });
        assert.fail(`a difference that nobody has meant\ncase ${nth}, seed ${SEED}: ${facts}`);
      }
      counts.add(name);
    }
  }
  counts.print(t);
});
