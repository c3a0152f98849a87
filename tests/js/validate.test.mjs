// validateToolArguments and validateToolCall: a model's arguments against a schema of the host's own.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { createToolset, init, ToolError, validateToolArguments, validateToolCall } from "tackroom";
import { memory } from "tackroom/env/memory";

before(() => init());

/** A tool whose parameters are an object of these properties, all required but for those named. */
function tool(properties, optional = []) {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { name: "roll", parameters: { type: "object", properties, required } };
}
const dice = tool({ n: { type: "integer", minimum: 1 }, label: { type: "string" } }, ["label"]);

/** The ToolError that an action throws. */
function errorOf(action) {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ToolError, `a ToolError, not ${error}`);
    assert.ok(error instanceof Error);
    assert.equal(error.name, "ToolError");
    return error;
  }
  assert.fail("expected a failure");
}
const refused = (which, args, more = {}) =>
  errorOf(() => validateToolArguments(which, { arguments: args, ...more }));

test("text and objects that fit come back as they are", () => {
  assert.deepEqual(validateToolArguments(dice, { arguments: '{"n":6,"label":"d6"}' }), { n: 6, label: "d6" });
  assert.deepEqual(validateToolArguments(dice, { arguments: { n: 6 } }), { n: 6 });
  assert.deepEqual(validateToolArguments(dice, { arguments: { n: 6, more: [1] } }), { n: 6, more: [1] });
});

test("what was given is not changed", () => {
  const args = { n: "6", label: null };
  const given = structuredClone(args);
  assert.deepEqual(validateToolArguments(dice, { arguments: args }), { n: 6 });
  assert.deepEqual(args, given);
});

test("obvious slips are repaired, at every depth", () => {
  const all = tool({
    n: { type: "integer" },
    x: { type: "number" },
    yes: { type: "boolean" },
    text: { type: "string" },
    list: { type: "array", items: { type: "object", properties: { n: { type: "integer" } } } },
    one: { type: "array", items: { type: "string" } },
    object: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  });
  const args = {
    n: "42",
    x: "1.5",
    yes: "true",
    text: 5,
    list: '[{"n":"1"},{"n":null}]',
    one: "a",
    object: '{"n":2.0}',
  };
  const fitting = { n: 42, x: 1.5, yes: true, text: "5", list: [{ n: 1 }, {}], one: ["a"], object: { n: 2 } };
  assert.deepEqual(validateToolArguments(all, { arguments: args }), fitting);
  assert.deepEqual(validateToolArguments(all, { arguments: JSON.stringify(args) }), fitting);
});

test("null for an optional property drops it, for a required one it is an error", () => {
  assert.deepEqual(validateToolArguments(dice, { arguments: '{"n":1,"label":null}' }), { n: 1 });
  assert.match(refused(dice, '{"n":null}').message, /n: /);
});

test("no arguments are an object without properties, where none is required", () => {
  const none = { name: "now", parameters: { type: "object", properties: {} } };
  for (const args of ["", "{}", {}, undefined]) {
    assert.deepEqual(validateToolArguments(none, { arguments: args }), {});
  }
});

test("an error says which argument is wrong, why, and what was received", () => {
  const error = refused(dice, '{"n":"six","label":{}}');
  assert.equal(error.code, "invalid_arguments");
  assert.match(error.message, /^Validation failed for tool "roll":\n/);
  assert.match(error.message, /\n {2}- n: must be integer, got "six"/);
  assert.match(error.message, /\n {2}- label: must be string, got object/);
  assert.equal(error.path, undefined);
  assert.match(refused(dice, "{}").message, /n: is required/);
  assert.match(refused(dice, '{"n":0}').message, /- n: /);
});

test("every structural keyword is checked", () => {
  const failing = [
    [{ enum: ["a", "b"] }, "c"],
    [{ const: 5 }, 6],
    [{ type: "number", exclusiveMinimum: 0 }, 0],
    [{ type: "number", maximum: 3 }, 4],
    [{ type: "string", minLength: 2 }, "a"],
    [{ type: "string", maxLength: 2 }, "abc"],
    [{ type: "array", items: {}, minItems: 1 }, []],
    [{ type: "array", items: {}, maxItems: 1 }, [1, 2]],
    [{ type: "array", items: { type: "integer" } }, [1, "x"]],
    [{ anyOf: [{ type: "integer" }, { type: "boolean" }] }, "x"],
    [{ type: "object", properties: {}, additionalProperties: false }, { z: 1 }],
    [{ type: ["integer", "boolean"] }, "x"],
  ];
  for (const [schema, value] of failing) {
    const error = refused(tool({ value: schema }), { value });
    assert.equal(error.code, "invalid_arguments", JSON.stringify(schema));
    assert.match(error.message, /- value/, JSON.stringify(schema));
  }
  const fitting = [
    [{ type: "string", nullable: true }, null],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, null],
    [{ type: "string", minLength: 1, maxLength: 1 }, "😀"],
    [{ type: "integer", title: "T", description: "D", default: 1, examples: [1] }, 2],
    [{ type: "string", format: "email" }, "no address"],
    [{}, { anything: [null] }],
  ];
  for (const [schema, value] of fitting) {
    const args = validateToolArguments(tool({ value: schema }), { arguments: { value } });
    assert.deepEqual(args, { value }, JSON.stringify(schema));
  }
});

test("every other keyword is checked too", () => {
  for (const [keyword, [schema, fitting, failing]] of Object.entries({
    pattern: [{ type: "string", pattern: "^a" }, "ab", "b"],
    multipleOf: [{ type: "number", multipleOf: 2 }, 4, 5],
    $ref: [{ $ref: "#/properties/other" }, 5, "x"],
    oneOf: [{ oneOf: [{ type: "string" }, { maxLength: 2 }] }, "abc", "ab"],
    allOf: [{ allOf: [{ type: "string" }, { minLength: 2 }] }, "ab", "a"],
    not: [{ not: { type: "string" } }, 5, "a"],
    patternProperties: [{ patternProperties: { "^a": { type: "integer" } } }, { a: 1, b: "x" }, { ab: "x" }],
    uniqueItems: [{ type: "array", uniqueItems: true }, [1, 2], [1, 1]],
    if: [{ if: { type: "string" }, else: { minimum: 2 } }, 2, 1],
    prefixItems: [{ prefixItems: [{ type: "integer" }] }, [1, "x"], ["x"]],
    dependentRequired: [{ dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
  })) {
    const which = tool({ value: schema, other: { type: "integer" } }, ["other"]);
    assert.deepEqual(
      validateToolArguments(which, { arguments: { value: fitting } }),
      { value: fitting },
      keyword,
    );
    const error = refused(which, { value: failing });
    assert.equal(error.code, "invalid_arguments", keyword);
    assert.match(error.message, /^Validation failed for tool "roll":\n {2}- value/);
  }
  const nested = tool({ value: { allOf: [{ $ref: "#/$defs/A" }] } });
  nested.parameters.$defs = { A: { type: "integer" } };
  assert.deepEqual(validateToolArguments(nested, { arguments: '{"value":"5"}' }), { value: 5 });
});

test("a call that was cut off is never repaired", () => {
  for (const text of ['{"n":6,"label":"lo', '{"n":6', "{"]) {
    assert.equal(refused(dice, text).code, "cut_off", text);
  }
  assert.equal(refused(dice, '{"n":6}', { incomplete: true }).code, "cut_off");
  assert.equal(refused(dice, { n: 6 }, { incomplete: true }).code, "cut_off");
});

test("text that is no JSON, and values that JSON has not, are invalid arguments", () => {
  assert.equal(refused(dice, '{"n":6}}').code, "invalid_arguments");
  assert.equal(refused(dice, "roll six").code, "invalid_arguments");
  assert.equal(refused(dice, "[1]").code, "invalid_arguments");
  assert.equal(refused(dice, { n: 6n }).code, "invalid_arguments");
  const circular = { n: 1 };
  circular.self = circular;
  assert.equal(refused(dice, circular).code, "invalid_arguments");
});

test("names and keys of any kind go there and back", () => {
  const odd = { name: 'a "b" é😀', parameters: { type: "object", properties: { "": { type: "integer" } } } };
  const text = '{"":"1","__proto__":{"x":1},"é😀":"\\u0000"}';
  const args = validateToolArguments(odd, { arguments: text });
  assert.equal(JSON.stringify(args), '{"":1,"__proto__":{"x":1},"é😀":"\\u0000"}');
  assert.equal({}.x, undefined);
  assert.ok(errorOf(() => validateToolArguments(odd, { arguments: { "": "x" } })).message.includes(odd.name));
});

test("validateToolCall looks the tool up", () => {
  const tools = [{ name: "other", parameters: {} }, dice];
  assert.deepEqual(validateToolCall(tools, { name: "roll", arguments: '{"n":"6"}' }), { n: 6 });
  const unknown = errorOf(() => validateToolCall(tools, { name: "rol", arguments: "{}" }));
  assert.equal(unknown.code, "no_such_tool");
  assert.match(unknown.message, /^Tool rol not found/);
  const cut = errorOf(() => validateToolCall(tools, { name: "roll", arguments: "{}", incomplete: true }));
  assert.equal(cut.code, "cut_off");
});

test("before init() the message says what to do", () => {
  const script = `
    import { compileSchema, validateToolArguments, validateToolCall } from "tackroom";
    for (const run of [
      () => compileSchema({}),
      () => validateToolArguments({ name: "a", parameters: {} }, { arguments: "{}" }),
      () => validateToolCall([{ name: "a", parameters: {} }], { name: "a", arguments: "{}" }),
    ]) {
      try { run(); } catch (error) { console.log(error.code, error.message); }
    }`;
  const options = { cwd: import.meta.dirname, encoding: "utf8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], options);
  assert.equal(stderr, "");
  const line = (name) => `not_supported Call await init() before ${name}()\n`;
  const validate = line("validateToolArguments");
  assert.equal(stdout, line("compileSchema") + validate + validate);
});

test("what is no tool, or no call, is refused and harms nobody", async () => {
  const toolset = await createToolset(memory({ f: "text" }));
  const reading = toolset.call({ id: "1", name: "read", arguments: { path: "f" } });
  const refused = (call) => assert.throws(call, { name: "ToolError", code: "invalid_arguments" });
  for (const tool of [undefined, null, {}, { name: null, parameters: {} }, { name: 5, parameters: {} }, "t"])
    refused(() => validateToolArguments(tool, { arguments: "{}" }));
  for (const call of [undefined, null, "{}"])
    refused(() => validateToolArguments({ name: "t", parameters: {} }, call));
  for (const tools of [undefined, null, new Set()])
    refused(() => validateToolCall(tools, { name: "t", arguments: "{}" }));
  assert.equal((await reading).content[0].text, "text");
});
