// defineTool over each library and plain JSON Schema: what the model is told, and what its arguments become.
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Type as SinclairType } from "@sinclair/typebox";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import {
  compileSchema,
  defineTool,
  init,
  ToolError,
  validateToolArguments,
  validateToolCall,
} from "tackroom";
import Type from "typebox";
import * as v from "valibot";
import * as z from "zod";
import * as mini from "zod/mini";
import * as z3 from "zod/v3";

const execute = (args) => JSON.stringify(args);
const fields = { name: "roll", description: "Rolls dice", execute };

/** The ToolError that an action throws. */
function errorOf(action) {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ToolError, `a ToolError, not ${error}`);
    return error;
  }
  assert.fail("expected a failure");
}

/** The same parameters, each in its own way: n from 1, a list of strings, a or b, an optional string, a pattern. */
const KINDS = {
  zod: z.object({
    n: z.int().min(1),
    tags: z.array(z.string()),
    mode: z.enum(["a", "b"]),
    note: z.string().optional(),
    word: z.string().regex(/^\w+$/),
  }),
  valibot: toStandardJsonSchema(
    v.object({
      n: v.pipe(v.number(), v.integer(), v.minValue(1)),
      tags: v.array(v.string()),
      mode: v.picklist(["a", "b"]),
      note: v.optional(v.string()),
      word: v.pipe(v.string(), v.regex(/^\w+$/)),
    }),
  ),
  arktype: type({
    n: "number.integer >= 1",
    tags: "string[]",
    mode: "'a' | 'b'",
    "note?": "string",
    word: /^\w+$/,
  }),
  typebox: Type.Object({
    n: Type.Integer({ minimum: 1 }),
    tags: Type.Array(Type.String()),
    mode: Type.Union([Type.Literal("a"), Type.Literal("b")]),
    note: Type.Optional(Type.String()),
    word: Type.String({ pattern: "^\\w+$" }),
  }),
  "@sinclair/typebox": SinclairType.Object({
    n: SinclairType.Integer({ minimum: 1 }),
    tags: SinclairType.Array(SinclairType.String()),
    mode: SinclairType.Union([SinclairType.Literal("a"), SinclairType.Literal("b")]),
    note: SinclairType.Optional(SinclairType.String()),
    word: SinclairType.String({ pattern: "^\\w+$" }),
  }),
  "JSON Schema": {
    type: "object",
    properties: {
      n: { type: "integer", minimum: 1 },
      tags: { type: "array", items: { type: "string" } },
      mode: { enum: ["a", "b"] },
      note: { type: "string" },
      word: { type: "string", pattern: "^\\w+$" },
    },
    required: ["n", "tags", "mode", "word"],
  },
};

before(() => init());

for (const [kind, parameters] of Object.entries(KINDS)) {
  describe(kind, () => {
    const tool = defineTool({ ...fields, parameters });

    test("its parameters are plain JSON Schema", () => {
      assert.deepEqual(tool.parameters, JSON.parse(JSON.stringify(tool.parameters)));
      assert.equal(tool.parameters.type, "object");
      assert.deepEqual(Object.keys(tool.parameters.properties).sort(), ["mode", "n", "note", "tags", "word"]);
      assert.deepEqual([...tool.parameters.required].sort(), ["mode", "n", "tags", "word"]);
      assert.equal(tool.parameters.$schema, undefined);
      assert.equal(compileSchema(tool.parameters).warnings.length, 0);
    });

    test("arguments are repaired", () => {
      const right = { n: 5, tags: ["x"], mode: "a", word: "w" };
      const sent = '{"n":"5","tags":"[\\"x\\"]","mode":"a","note":null,"word":"w"}';
      assert.deepEqual(validateToolArguments(tool, { arguments: sent }), right);
      assert.deepEqual(validateToolCall([tool], { name: "roll", arguments: sent }), right);
      // The schema itself will do, too.
      assert.deepEqual(validateToolArguments({ name: "roll", parameters }, { arguments: sent }), right);
      assert.deepEqual(compileSchema(parameters).check(JSON.parse(sent)), { ok: true, value: right });
      assert.equal(tool.execute(right), JSON.stringify(right));
    });

    test("what is wrong is reported", () => {
      const sent = { n: 0, tags: [5, {}], mode: "c", word: "?" };
      const { code, message } = errorOf(() => validateToolArguments(tool, { arguments: sent }));
      assert.equal(code, "invalid_arguments");
      assert.match(message, /^Validation failed for tool "roll":\n/);
      for (const part of [
        "- n: must be ",
        "- tags.1: must be string, got object",
        "- mode: must be ",
        "- word: must match",
      ])
        assert.ok(message.includes(part), `${part} in ${message}`);
      assert.match(
        errorOf(() => validateToolArguments(tool, { arguments: "{}" })).message,
        /- n: is required/,
      );
    });
  });
}

test("a tool has its fields and their defaults, and stays as it is", () => {
  const parameters = { type: "object" };
  assert.deepEqual(defineTool({ ...fields, parameters }), {
    name: "roll",
    label: "roll",
    description: "Rolls dice",
    parameters,
    readOnly: false,
    replay: "never",
    executionMode: "parallel",
    promptGuidelines: [],
    execute,
  });
  const all = {
    name: "a-Z_0",
    label: "Label",
    description: "",
    parameters,
    readOnly: true,
    replay: "safe",
    executionMode: "sequential",
    promptSnippet: "snippet",
    promptGuidelines: ["a rule"],
    outputSchema: { type: "string" },
    constrainedSampling: { type: "json_schema", strict: "prefer" },
    execute,
  };
  const tool = defineTool(all);
  assert.deepEqual(tool, all);
  assert.throws(() => {
    tool.name = "other";
  }, TypeError);
  // It is a copy: what is changed afterwards is not the tool's.
  parameters.type = "array";
  all.promptGuidelines.push("another");
  assert.deepEqual([tool.parameters, tool.promptGuidelines], [{ type: "object" }, ["a rule"]]);
});

test("fields that are missing, unknown or wrong are named", () => {
  const whole = { ...fields, parameters: {} };
  for (const [spec, expected] of [
    [undefined, /defineTool: expected a tool's fields, found undefined/],
    [{}, /expected a name of 1 to 64 letters, digits, "_" and "-", found undefined/],
    [{ ...whole, name: "no blank" }, /found "no blank"/],
    [{ ...whole, name: "" }, /found ""/],
    [{ ...whole, name: "x".repeat(65) }, /of 1 to 64/],
    [{ ...whole, name: "größe" }, /found "größe"/],
    [{ ...whole, description: undefined }, /Tool "roll": expected description as a string, found undefined/],
    [{ ...whole, execute: "code" }, /expected execute as a function, found "code"/],
    [{ ...whole, parameters: undefined }, /expected parameters as a schema, found undefined/],
    [{ ...whole, lable: "x" }, /label, .*and no other field, found "lable"/],
    [{ ...whole, constructor: 1 }, /and no other field, found "constructor"/],
    [{ ...whole, label: 5 }, /expected label as a string, found a number/],
    [{ ...whole, readOnly: "yes" }, /expected readOnly as one of true, false, found "yes"/],
    [{ ...whole, replay: "always" }, /expected replay as one of "never", "safe", found "always"/],
    [
      { ...whole, executionMode: null },
      /expected executionMode as one of "parallel", "sequential", found null/,
    ],
    [{ ...whole, promptGuidelines: "rule" }, /expected promptGuidelines as an array of strings/],
    [{ ...whole, promptGuidelines: [5] }, /expected promptGuidelines as an array of strings/],
    [{ ...whole, constrainedSampling: { type: "json_schema" } }, /constrainedSampling/],
    [{ ...whole, constrainedSampling: { type: "grammar", variants: {} } }, /constrainedSampling/],
    [{ ...whole, constrainedSampling: { type: "grammar", variants: { lark: "" } } }, /constrainedSampling/],
    [{ ...whole, outputSchema: 5 }, /outputSchema of tool "roll": expected a JSON Schema, .*found a number/],
  ]) {
    const error = errorOf(() => defineTool(spec));
    assert.equal(error.code, "invalid_arguments");
    assert.match(error.message, expected);
  }
});

test("parameters that cannot be are refused, with a way out", () => {
  const circular = { type: "object" };
  circular.self = circular;
  for (const [parameters, expected] of [
    [
      mini.object({ n: mini.number() }),
      /parameters of tool "roll": .*found one of zod without: use zod 4\.2/,
    ],
    [z3.object({ n: z3.number() }), /found one of zod without/],
    [v.object({ n: v.number() }), /found one of valibot without: .*toStandardJsonSchema/],
    [
      z.object({ d: z.date() }),
      /parameters of tool "roll" cannot be said as JSON Schema: .*: use types that JSON has/,
    ],
    [z.string(), /expected a schema of an object, which arguments are, found "string"/],
    [type("string[]"), /expected a schema of an object/],
    [
      { type: ["string", "null"] },
      /expected a schema of an object, which arguments are, found \["string","null"\]/,
    ],
    [true, /expected a schema of an object/],
    [[], /found an array/],
    ["object", /found a string/],
    [() => {}, /found a function/],
    [circular, /cannot be written as JSON/],
    [{ properties: { n: z.number() } }, /found a schema of a library at "n"/],
    [{ properties: { n: type("number") } }, /found a schema of a library at "n"/],
  ]) {
    const error = errorOf(() => defineTool({ ...fields, parameters }));
    assert.equal(error.code, "invalid_arguments");
    assert.match(error.message, expected);
    if (!/of an object/.test(expected.source))
      assert.equal(errorOf(() => compileSchema(parameters)).code, "invalid_arguments");
  }
});

test("a grammar has one text to describe", () => {
  const constrainedSampling = { type: "grammar", variants: { openai_regex: "a+" } };
  const text = {
    type: "object",
    properties: { s: { type: "string" }, n: { type: "integer" } },
    required: ["s"],
  };
  const tool = defineTool({ ...fields, parameters: text, constrainedSampling });
  assert.deepEqual(tool.constrainedSampling, constrainedSampling);
  for (const required of [[], ["n"], ["s", "n"]]) {
    const error = errorOf(() =>
      defineTool({ ...fields, parameters: { ...text, required }, constrainedSampling }),
    );
    assert.match(error.message, /expected exactly one required property, of type string, beside a grammar/);
  }
});

test("a library that knows an older draft only is asked for that", () => {
  const asked = [];
  const input = ({ target }) => {
    asked.push(target);
    if (target !== "draft-07") throw new Error("no such target");
    return { $schema: "http://json-schema.org/draft-07/schema#", type: "object" };
  };
  const parameters = { "~standard": { version: 1, vendor: "own", jsonSchema: { input, output: input } } };
  const tool = defineTool({ ...fields, parameters, outputSchema: parameters });
  assert.deepEqual(tool.parameters, { $schema: "http://json-schema.org/draft-07/schema#", type: "object" });
  assert.deepEqual(asked, ["draft-2020-12", "draft-07", "draft-2020-12", "draft-07"]);
  const broken = { "~standard": { vendor: "own", jsonSchema: { input: () => 5 } } };
  assert.match(
    errorOf(() => compileSchema(broken)).message,
    /expected own to make a JSON Schema of it, found a number/,
  );
});

test("what goes in is not what comes out", () => {
  const both = z.object({ d: z.string().default("x"), n: z.string().transform(Number) });
  const tool = defineTool({
    ...fields,
    parameters: both,
    outputSchema: z.object({ d: z.string().default("x") }),
  });
  assert.deepEqual(tool.parameters.required, ["n"]);
  assert.deepEqual(tool.outputSchema.required, ["d"]);
});

test("TypeBox's tuples are tuples", () => {
  for (const parameters of [
    Type.Object({ pair: Type.Tuple([Type.String(), Type.Integer()]) }),
    SinclairType.Object({ pair: SinclairType.Tuple([SinclairType.String(), SinclairType.Integer()]) }),
  ]) {
    const tool = defineTool({ ...fields, parameters });
    assert.deepEqual(compileSchema(tool.parameters).warnings, []);
    assert.deepEqual(validateToolArguments(tool, { arguments: { pair: ["a", "5"] } }), { pair: ["a", 5] });
    for (const pair of [["a", "b"], ["a"], ["a", 1, 2]])
      assert.match(errorOf(() => validateToolArguments(tool, { arguments: { pair } })).message, /- pair/);
  }
});

test("two tools of one name are a mistake", () => {
  const tool = defineTool({ ...fields, parameters: {} });
  const call = { name: "roll", arguments: "{}" };
  assert.match(errorOf(() => validateToolCall([tool, { ...tool }], call)).message, /two named roll/);
});
