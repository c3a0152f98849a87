// What libraries see of a toolset's tools: Standard Schema and Standard JSON Schema, under "~standard".
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { compileSchema, createToolset, defineTool, init, ToolError } from "tackroom";
import { memory } from "tackroom/env/memory";

before(() => init());

async function toolset(options) {
  const env = memory({ f: "text" }, { exec: () => ({ exitCode: 0 }) });
  const made = await createToolset(env, options);
  return { made, env, ...Object.fromEntries(made.tools.map((tool) => [tool.name, tool])) };
}

test("every tool is one, and says so where nobody sends it", async () => {
  const { made } = await toolset();
  assert.deepEqual(made.active, ["read", "bash", "edit", "write"]);
  for (const tool of made.tools) {
    const standard = tool["~standard"];
    assert.deepEqual([standard.version, standard.vendor], [1, "tackroom"]);
    assert.equal(typeof standard.validate, "function");
    assert.equal("~standard" in JSON.parse(JSON.stringify(tool)), false);
    assert.equal(Object.keys(tool).includes("~standard"), false);
  }
});

test("validate() is the validation of a call, dialects included, and runs nothing", async () => {
  const { read, edit, write, bash, env } = await toolset();
  const before = env.snapshot();
  for (const [tool, sent, right] of [
    [read, { file: "f", limit: "5" }, { path: "f", limit: 5 }],
    [read, '{"path":"f","limit":null}', { path: "f" }],
    [read, '"{\\"path\\":\\"f\\"}"', { path: "f" }],
    [edit, { path: "f", old_str: "a", new_str: "b" }, { path: "f", edits: [{ oldText: "a", newText: "b" }] }],
    [write, { path: "f", contents: "new" }, { path: "f", content: "new" }],
    [bash, { cmd: "ls" }, { command: "ls" }],
  ]) {
    assert.deepEqual(tool["~standard"].validate(sent), { value: right });
  }
  assert.deepEqual(env.snapshot(), before);
});

test("what is wrong has its path as keys", async () => {
  const { read, edit } = await toolset();
  const { issues } = edit["~standard"].validate({
    path: 5,
    edits: [{ oldText: "a", newText: "b" }, { oldText: "c" }],
  });
  assert.deepEqual(
    issues.map(({ path }) => path),
    [["edits", 1, "newText"]],
  );
  assert.match(issues[0].message, /^is required/);
  for (const sent of ["{", "[1]", { path: 5n }, '{"path":"\\ud800"}']) {
    const { issues } = read["~standard"].validate(sent);
    assert.equal(issues.length, 1);
    assert.ok(issues[0].message.length > 10 && issues[0].path === undefined, JSON.stringify(issues));
  }
});

test("coercion is the toolset's", async () => {
  const { read } = await toolset({ coercion: "none" });
  assert.deepEqual(read["~standard"].validate({ path: "f", limit: "5" }).issues[0].path, ["limit"]);
});

test("a tool that is not active has no arguments, and a toolset that is gone no tools", async () => {
  const { made, read } = await toolset();
  made.setActive(["edit"]);
  assert.match(read["~standard"].validate({ path: "f" }).issues[0].message, /^Tool read not found/);
  made.dispose();
  assert.throws(() => read["~standard"].validate({}), { name: "ToolError", code: "disposed" });
});

test("the JSON Schema is that of the parameters, a copy", async () => {
  const { read } = await toolset();
  for (const [target, $schema] of [
    ["draft-2020-12", "https://json-schema.org/draft/2020-12/schema"],
    ["draft-07", "http://json-schema.org/draft-07/schema#"],
  ]) {
    for (const side of ["input", "output"]) {
      const schema = read["~standard"].jsonSchema[side]({ target });
      assert.deepEqual(schema, { $schema, ...read.parameters });
      assert.deepEqual(compileSchema(schema).warnings, []);
      schema.properties.path.type = "number";
      assert.equal(read.parameters.properties.path.type, "string");
    }
  }
  const error = (action) => assert.throws(action, ToolError);
  error(() => read["~standard"].jsonSchema.input({ target: "openapi-3.0" }));
  error(() => read["~standard"].jsonSchema.input({ target: "constructor" }));
});

test("so a tool's parameters are taken where any library's are", async () => {
  const { read } = await toolset();
  const page = defineTool({ name: "page", description: "", parameters: read, execute: () => "" });
  assert.deepEqual(page.parameters, read.parameters);
});
