// The field cases about arguments, by their names, through the package: schemas through compileSchema and
// validateToolArguments, the built-in tools' own rules through a toolset. tests/cases has most of them as data too.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { compileSchema, createToolset, init, ToolError, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";

before(() => init());

const object = (properties, more = {}) => ({ type: "object", properties, ...more });

/** The value of a schema's check, and of the same arguments as a call's: as text, and as the object they are. */
function value(schema, args, options) {
  const compiled = compileSchema(schema, options);
  const outcome = compiled.check(args);
  assert.ok(outcome.ok, JSON.stringify(outcome));
  compiled.dispose();
  if (options === undefined) {
    for (const sent of [args, JSON.stringify(args)])
      assert.deepEqual(
        validateToolArguments({ name: "t", parameters: schema }, { arguments: sent }),
        outcome.value,
      );
  }
  return outcome.value;
}

/** `path: message` of each error, by a schema's check; the same as a call's. */
function errors(schema, args, options) {
  const compiled = compileSchema(schema, options);
  const outcome = compiled.check(args);
  compiled.dispose();
  assert.equal(outcome.ok, false, JSON.stringify(outcome));
  assert.equal("value" in outcome, false);
  const lines = outcome.errors.map(({ path, message }) => `${path || "root"}: ${message}`);
  if (options === undefined) {
    const { code, message } = refusal(schema, args);
    assert.equal(code, "invalid_arguments");
    for (const line of lines) assert.ok(message.includes(`\n  - ${line}\n`), `${line} in ${message}`);
  }
  return lines;
}

function refusal(parameters, args, more = {}) {
  try {
    validateToolArguments({ name: "t", parameters }, { arguments: args, ...more });
  } catch (error) {
    assert.ok(error instanceof ToolError, String(error));
    return error;
  }
  assert.fail("expected a refusal");
}

/** The text of a built-in tool's result over these files, and the files. */
async function called(name, args, files = { f: "a" }, more = {}) {
  const env = memory(files);
  const toolset = await createToolset(env);
  const result = await toolset.call({ id: "1", name, arguments: args, ...more });
  const after = Object.entries(env.snapshot()).map(([path, bytes]) => [
    path,
    new TextDecoder().decode(bytes),
  ]);
  return { result, text: result.content[0].text, files: Object.fromEntries(after) };
}

test("A01 an array as text", () => {
  const schema = object({ q: { type: "array", items: { type: "string" } } });
  assert.deepEqual(value(schema, { q: '["test"]' }), { q: ["test"] });
});

test("A03 an object as text", () => {
  const schema = object({ target: object({ kind: { type: "string" } }) });
  assert.deepEqual(value(schema, { target: '{"kind":"agent"}' }), { target: { kind: "agent" } });
});

test("A05 numbers as text, and what is none", () => {
  const schema = object({ n: { type: "number" } });
  for (const text of ["42", " 42 "]) assert.deepEqual(value(schema, { n: text }), { n: 42 });
  for (const text of ["", "0x10", "1e400"])
    assert.deepEqual(errors(schema, { n: text }), [`n: must be number, got ${JSON.stringify(text)}`]);
});

test("A06 integers", () => {
  const schema = object({ n: { type: "integer" } });
  for (const n of [42.0, "42.0"]) assert.deepEqual(value(schema, { n }), { n: 42 });
  assert.deepEqual(errors(schema, { n: 42.5 }), ["n: must be integer, got 42.5"]);
});

test("A08 null for what is optional", () => {
  const schema = object({ s: { type: "string" }, n: { type: "number" }, a: { type: "array" } });
  assert.deepEqual(value(schema, { s: null, n: null, a: null }), {});
  for (const coercion of ["safe", "ajv", "none"])
    assert.deepEqual(value(schema, { s: null, n: null, a: null }, { coercion }), {});
  assert.equal(errors(schema, { s: null }, { dropOptionalNulls: false }).length, 1);
});

test("A09 null for what may be null", () => {
  for (const n of [{ anyOf: [{ type: "number" }, { type: "null" }] }, { type: ["number", "null"] }])
    assert.deepEqual(value(object({ n }), { n: null }), { n: null });
});

test("A11 OpenAPI's nullable", () => {
  const schema = object({ s: { type: "string", nullable: true } });
  assert.deepEqual(value(schema, { s: null }), { s: null });
  assert.deepEqual(value({ allOf: [schema] }, { s: null }), { s: null });
});

test("A12 booleans as text", () => {
  const schema = object({ b: { type: "boolean" } });
  for (const [sent, right] of [
    ["true", true],
    ["True", true],
    ["false", false],
    ["False", false],
    [1, true],
  ])
    assert.deepEqual(value(schema, { b: sent }), { b: right });
  for (const sent of ["yes", "0", ""])
    assert.match(errors(schema, { b: sent })[0], /^b: must be boolean, got "/);
});

test("A13 further properties", () => {
  assert.deepEqual(value(object({ k: {} }), { k: 1, z: 2 }), { k: 1, z: 2 });
  assert.deepEqual(errors(object({ k: {} }, { additionalProperties: false }), { k: 1, z: 2 }), [
    "z: is not allowed",
  ]);
});

test("A14 other names for a built-in tool's arguments", async () => {
  const edited = await called("edit", { file_path: "f", old_string: "a", new_string: "b" });
  assert.deepEqual(edited.files, { "/f": "b" });
  assert.equal((await called("read", { file: "f" })).text, "a");
  const written = await called("write", { filePath: "f", content: "x" });
  assert.deepEqual(written.files, { "/f": "x" });
  const both = await called("write", { path: "f", filePath: "g", content: "x" });
  assert.deepEqual(both.files, { "/f": "x" });
});

test("A16 arguments that are cut off", async () => {
  const sent = '{"path":"a.txt","content":"hello wor';
  for (const more of [{}, { incomplete: true }]) {
    const { result, text, files } = await called("write", sent, { "a.txt": "old" }, more);
    assert.equal(result.details.code, "cut_off");
    assert.match(text, /was not executed/);
    assert.deepEqual(files, { "/a.txt": "old" });
  }
  assert.equal(refusal(object({}), sent).code, "cut_off");
  assert.equal(refusal(object({}), "{}", { incomplete: true }).code, "cut_off");
});

test("A18 arguments that are encoded twice", async () => {
  const schema = object({ path: { type: "string" } }, { required: ["path"] });
  let sent = { path: "f" };
  for (let times = 1; times <= 3; times++) {
    sent = JSON.stringify(sent);
    const args = validateToolArguments({ name: "t", parameters: schema }, { arguments: sent });
    assert.deepEqual(args, { path: "f" });
    assert.equal((await called("read", sent)).text, "a");
  }
  assert.equal(refusal(schema, JSON.stringify(sent)).code, "invalid_arguments");
  assert.deepEqual(validateToolArguments({ name: "t", parameters: object({}) }, { arguments: "" }), {});
  assert.deepEqual(validateToolArguments({ name: "t", parameters: { allOf: [{}] } }, { arguments: "" }), {});
});

test("A20 the case of an enum's values", () => {
  const schema = object({ m: { enum: ["Text", "Binary"] } });
  assert.deepEqual(errors(schema, { m: "text" }), ['m: must be one of "Text", "Binary", got "text"']);
});

test("A21 formats", () => {
  const schema = (format) => object({ v: { format } });
  for (const format of ["x-foo", "uint64", "int32"]) {
    assert.deepEqual(value(schema(format), { v: "-1 or so" }), { v: "-1 or so" });
    assert.deepEqual(value(schema(format), { v: -1 }, { formats: true }), { v: -1 });
  }
  for (const [format, wrong, right] of [
    ["uri", "not a uri", "https://a.example"],
    ["date", "2026-02-30", "2026-02-28"],
  ]) {
    assert.deepEqual(value(schema(format), { v: wrong }), { v: wrong });
    assert.match(errors(schema(format), { v: wrong }, { formats: true })[0], new RegExp(`^v: .*${format}`));
    assert.deepEqual(value(schema(format), { v: right }, { formats: true }), { v: right });
  }
});

test("A22 references", () => {
  const A = { type: "number" };
  assert.deepEqual(value(object({ n: { $ref: "#/$defs/A" } }, { $defs: { A } }), { n: "1" }), { n: 1 });
  const definitions = object({ n: { $ref: "#/definitions/A" } }, { definitions: { A } });
  assert.deepEqual(value(definitions, { n: "1" }), { n: 1 });
  const tree = object({ n: { type: "integer" }, next: { $ref: "#" } }, { required: ["n"] });
  assert.deepEqual(value(tree, { n: "1", next: { n: "2", next: { n: 3 } } }), {
    n: 1,
    next: { n: 2, next: { n: 3 } },
  });
  assert.match(errors(tree, { n: 1, next: { n: 2, next: {} } })[0], /^next\.next\.n: is required/);
  const dangling = object({ a: { $ref: "#/$defs/Nope" }, b: A });
  assert.deepEqual(value(dangling, { b: "1" }), { b: 1 });
  assert.match(errors(dangling, { a: 1 })[0], /^a: /);
  const compiled = compileSchema(dangling);
  assert.deepEqual(
    compiled.warnings.map(({ path }) => path),
    ["/properties/a/$ref"],
  );
  const elsewhere = object({ n: { $ref: "https://a.example/number" } });
  const resources = { "https://a.example/number": A };
  assert.deepEqual(value(elsewhere, { n: 1 }, { resources }), { n: 1 });
  assert.match(errors(elsewhere, { n: "x" }, { resources })[0], /^n: must be number/);
});

test("A24 patterns", () => {
  const schema = object({ s: { type: "string", pattern: "(" } });
  assert.deepEqual(value(schema, { s: "anything" }), { s: "anything" });
  assert.deepEqual(
    compileSchema(schema).warnings.map(({ path }) => path),
    ["/properties/s/pattern"],
  );
  for (const [pattern, right, wrong] of [
    ["(?<=a)b", "ab", "b"],
    ["^\\p{L}+$", "größe", "5"],
  ]) {
    assert.deepEqual(value(object({ s: { pattern } }), { s: right }), { s: right });
    assert.match(errors(object({ s: { pattern } }), { s: wrong })[0], /^s: must match/);
  }
});

test("A26 without eval and new Function", () => {
  const script = `
    globalThis.eval = globalThis.Function = () => { throw new Error("forbidden"); };
    const { compileSchema, createToolset, init, validateToolArguments } = await import("tackroom");
    const { memory } = await import("tackroom/env/memory");
    await init();
    const schema = { type: "object", properties: { n: { type: "integer" }, s: { pattern: "^a" } } };
    console.log(JSON.stringify(compileSchema(schema).check({ n: "5", s: "ab" })));
    console.log(JSON.stringify(validateToolArguments({ name: "t", parameters: schema }, { arguments: '{"n":"6"}' })));
    const toolset = await createToolset(memory({ f: "text" }));
    console.log((await toolset.call({ id: "1", name: "read", arguments: { path: "f" } })).content[0].text);`;
  const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(stdout, '{"ok":true,"value":{"n":5,"s":"ab"}}\n{"n":6}\ntext\n', stderr);
});

test("A27 code points and decimals", () => {
  assert.deepEqual(value(object({ s: { maxLength: 1 } }), { s: "😀" }), { s: "😀" });
  const schema = object({ n: { type: "number", multipleOf: 0.1 } });
  assert.deepEqual(value(schema, { n: 0.3 }), { n: 0.3 });
  assert.match(errors(schema, { n: 0.35 })[0], /^n: must be a multiple of 0\.1/);
});

test("A28 errors name the place and are bounded", async () => {
  assert.match(
    (await called("write", { path: "a" })).text,
    /\n {2}- content: is required \(received: path\)\n/,
  );
  const edit = await called("edit", { path: "a", edits: [{ oldText: "x" }] });
  assert.match(edit.text, /\n {2}- edits\.0\.newText: is required \(received: oldText\)\n/);
  const { text } = await called("write", { path: 5, contents: "x".repeat(1_000_000), content: ["x"] });
  assert.ok(text.length < 4096, `${text.length} characters`);
  const schema = object({ s: { pattern: "^a" } });
  assert.ok(refusal(schema, { s: "x".repeat(1_000_000) }).message.length < 4096);
});

test("A30 a schema with mistakes in it", () => {
  const schema = object({
    a: { type: "strng" },
    b: { type: "string", required: true },
    c: { type: "string", pattern: "(" },
  });
  assert.deepEqual(value(schema, { a: [1], b: 5, c: "x" }), { a: [1], b: "5", c: "x" });
  const { warnings } = compileSchema(schema);
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ["/properties/a/type", "/properties/b/required", "/properties/c/pattern"],
  );
  for (const { message } of warnings) assert.match(message, /found .*: the keyword is ignored$/);
});
