// Schemas and tools for providers: strictSchema, exportSchema, Toolset.declarations.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createToolset, exportSchema, init, strictSchema, ToolError, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";

const FORMATS = ["json-schema", "anthropic", "openai-chat", "openai-responses", "gemini", "mcp"];
const read = {
  type: "object",
  properties: { path: { type: "string" }, offset: { type: "number" }, limit: { type: "number" } },
  required: ["path"],
};
const strictRead = {
  type: "object",
  properties: {
    path: { type: "string" },
    offset: { type: ["number", "null"] },
    limit: { type: ["number", "null"] },
  },
  required: ["path", "offset", "limit"],
  additionalProperties: false,
};
const withShell = () => memory({}, { exec: () => ({ exitCode: 0 }) });

test("before init() there is nothing to ask", () => {
  for (const ask of [() => strictSchema(read), () => exportSchema(read, "gemini")])
    assert.throws(ask, { name: "ToolError", code: "not_supported", message: /init\(\)/ });
});

test("S02 strict forms: every property required, optional ones nullable, objects closed", async () => {
  await init();
  assert.deepEqual(strictSchema(read), strictRead);
  assert.deepEqual(exportSchema(read, "openai-chat"), strictRead);
  assert.deepEqual(exportSchema(read, "openai-responses"), strictRead);
  assert.deepEqual(strictSchema(strictRead), strictRead);
  // A08: what such a model sends is taken.
  const sent = { path: "a", offset: null, limit: null };
  assert.deepEqual(validateToolArguments({ name: "read", parameters: read }, { arguments: sent }), {
    path: "a",
  });
});

test("S01 Gemini's subset", async () => {
  await init();
  const schema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: {
      kind: { const: "a" },
      size: { type: "integer", exclusiveMinimum: 0, multipleOf: 2 },
      tags: { type: "array", items: { type: "string" }, uniqueItems: true },
      tree: { $ref: "#/$defs/Node" },
      maybe: { type: ["string", "null"] },
      $ref: { type: "string" },
    },
    required: ["kind", "$ref"],
    additionalProperties: false,
    $defs: { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } },
  };
  assert.deepEqual(exportSchema(schema, "gemini"), {
    type: "object",
    properties: {
      kind: { type: "string", enum: ["a"] },
      size: { type: "integer", minimum: 1 },
      tags: { type: "array", items: { type: "string" } },
      tree: { type: "object", properties: { next: { type: "object" } } },
      maybe: { type: "string", nullable: true },
      $ref: { type: "string" },
    },
    required: ["kind", "$ref"],
  });
});

test("S04 no arguments, and a union at the root", async () => {
  await init();
  const empty = { type: "object", properties: {} };
  for (const schema of [{}, undefined, null, true]) {
    for (const format of FORMATS) assert.deepEqual(exportSchema(schema, format), empty);
    assert.deepEqual(strictSchema(schema), { ...empty, required: [], additionalProperties: false });
  }
  const branch = (name) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
  const union = { anyOf: [branch("id"), branch("path")] };
  for (const format of ["anthropic", "openai-chat", "openai-responses", "gemini"]) {
    const { type, properties, anyOf } = exportSchema(union, format);
    assert.deepEqual([type, Object.keys(properties), anyOf], ["object", ["id", "path"], undefined], format);
  }
  for (const format of ["json-schema", "mcp"])
    assert.deepEqual(exportSchema(union, format), { ...union, type: "object", properties: {} });
  assert.throws(() => strictSchema(union), { code: "not_supported", message: /^No strict form: the root / });
});

test("what is no schema of an object, or no format, is refused", async () => {
  await init();
  const cyclic = {};
  cyclic.properties = { cyclic };
  let deep = {};
  for (let level = 0; level < 200; level++) deep = { items: deep };
  for (const schema of [
    "text",
    5,
    false,
    Symbol("no"),
    cyclic,
    [],
    { type: "string" },
    deep,
    () => {},
    { $ref: "#" },
  ]) {
    assert.throws(() => strictSchema(schema), { name: "ToolError", code: "invalid_arguments" });
    for (const format of FORMATS)
      assert.throws(() => exportSchema(schema, format), { name: "ToolError", code: "invalid_arguments" });
  }
  for (const format of ["openai", "", undefined, null, 5, {}, "\ud800"]) {
    assert.throws(() => exportSchema({}, format), { name: "ToolError", code: "invalid_arguments" });
  }
  // And nothing broke.
  assert.deepEqual(exportSchema({ properties: { "\ud800": {} } }, "mcp").type, "object");
});

test("a schema that multiplies is cut off, not followed", async () => {
  await init();
  const $defs = { L0: { type: "object", properties: { x: { type: "string" } } } };
  for (let level = 1; level < 30; level++) {
    const $ref = `#/$defs/L${level - 1}`;
    $defs[`L${level}`] = { type: "object", properties: { a: { $ref }, b: { $ref } } };
  }
  const schema = { type: "object", properties: { top: { $ref: "#/$defs/L29" } }, $defs };
  const text = JSON.stringify(exportSchema(schema, "gemini"));
  assert.ok(text.length < 1_000_000 && !text.includes("$"), `${text.length}`);

  // A chain of references is no deep recursion: the module has a small stack.
  const chain = { d5000: { type: "object" } };
  for (let at = 0; at < 5000; at++) chain[`d${at}`] = { allOf: [{ $ref: `#/$defs/d${at + 1}` }] };
  const chained = { type: "object", properties: { top: { $ref: "#/$defs/d0" } }, $defs: chain };
  for (const format of FORMATS) assert.equal(exportSchema(chained, format).type, "object");
});

test("what comes is not what was given, and keys are own", async () => {
  await init();
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}',
  );
  const strict = strictSchema(schema);
  assert.deepEqual(Object.keys(strict.properties), ["__proto__", "constructor"]);
  assert.deepEqual(strict.required, ["__proto__", "constructor"]);
  assert.equal(JSON.stringify(schema).includes("null"), false);
  assert.notEqual(exportSchema(read, "mcp"), read);
});

test("every schema of the corpus comes through", async () => {
  await init();
  const corpus = JSON.parse(readFileSync(new URL("../data/tool-schemas.json", import.meta.url), "utf8"));
  assert.ok(corpus.length >= 60);
  let strict = 0;
  for (const { name, schema } of corpus) {
    for (const format of FORMATS)
      assert.equal(exportSchema(schema, format).type, "object", `${name} ${format}`);
    try {
      const form = strictSchema(schema);
      if (form.required.length > 0) assert.deepEqual(exportSchema(schema, "openai-chat"), form, name);
      assert.deepEqual(strictSchema(form), form, name);
      strict++;
    } catch (error) {
      assert.ok(error instanceof ToolError && error.code === "not_supported", `${name}: ${error}`);
    }
  }
  assert.ok(strict >= 60, `${strict} have a strict form`);
});

test("declarations: each provider's own shape", async () => {
  const toolset = await createToolset(withShell());
  const names = ["read", "bash", "edit", "write"];
  const plain = toolset.tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  assert.deepEqual(toolset.declarations(), plain);
  assert.deepEqual(toolset.declarations("json-schema"), plain);

  const chat = toolset.declarations("openai-chat");
  assert.deepEqual(
    chat.map((tool) => [tool.type, tool.function.name, tool.function.strict]),
    names.map((name) => ["function", name, true]),
  );
  const responses = toolset.declarations("openai-responses");
  assert.deepEqual(
    responses,
    chat.map((tool) => ({ ...tool.function, type: "function" })),
  );
  assert.deepEqual(chat[0].function.parameters.required, ["path", "offset", "limit", "column"]);
  assert.deepEqual(chat[0].function.parameters, strictSchema(toolset.tools[0].parameters));

  // Bounds of numbers are not in Anthropic's strict mode: read and bash have some, edit and write have none.
  const anthropic = toolset.declarations("anthropic");
  assert.deepEqual(
    anthropic.map((tool) => [tool.name, tool.strict]),
    [
      ["read", undefined],
      ["bash", undefined],
      ["edit", true],
      ["write", true],
    ],
  );
  assert.deepEqual(Object.keys(anthropic[3]), ["name", "description", "input_schema", "strict"]);
  assert.equal(anthropic[2].input_schema.properties.edits.items.additionalProperties, false);

  for (const { name, parameters } of toolset.declarations("gemini"))
    assert.ok(
      names.includes(name) && parameters.type === "object" && !("additionalProperties" in parameters),
    );

  const mcp = toolset.declarations("mcp");
  assert.deepEqual(
    mcp.map(({ name, title, annotations }) => [name, title, ...Object.values(annotations)]),
    [
      ["read", "Read", true, false, false],
      ["bash", "Bash", false, true, true],
      ["edit", "Edit", false, true, false],
      ["write", "Write", false, true, false],
    ],
  );
  assert.deepEqual(
    mcp.map((tool) => tool.inputSchema),
    plain.map((tool) => tool.parameters),
  );
});

test("declarations are those of the active tools, with their words of now", async () => {
  const toolset = await createToolset(withShell(), { limits: { perTool: { read: { maxLines: 77 } } } });
  toolset.setActive(["write", "read"]);
  assert.deepEqual(
    toolset.declarations("gemini").map((tool) => tool.name),
    ["read", "write"],
  );
  assert.match(toolset.declarations("mcp")[0].description, /77 lines/);
  for (const format of ["openai", 5, "\ud800"])
    assert.throws(() => toolset.declarations(format), { name: "ToolError", code: "invalid_arguments" });
  toolset.dispose();
  assert.throws(() => toolset.declarations(), { name: "ToolError", code: "disposed" });
});

test("tools say how they are to be sampled, and so do changes", async () => {
  const toolset = await createToolset(memory());
  const prefer = { type: "json_schema", strict: "prefer" };
  const searches = ["grep", "find", "ls"];
  for (const { name, constrainedSampling } of toolset.tools)
    assert.deepEqual(constrainedSampling, searches.includes(name) ? undefined : prefer, name);
  toolset.setActive(["read"]);
  const { toolsAdded } = toolset.setActive(["read", "write"]);
  assert.deepEqual(
    toolsAdded.map((tool) => [tool.name, tool.constrainedSampling]),
    [["write", prefer]],
  );
});

test("a library's schema is exported as the JSON Schema it has", async () => {
  const z = await import("zod");
  const schema = z.object({ a: z.int(), b: z.string().optional() });
  const strict = strictSchema(schema);
  assert.deepEqual(strict.required, ["a", "b"]);
  assert.equal(exportSchema(schema, "mcp").properties.a.type, "integer");
  assert.throws(() => strictSchema({ "~standard": { version: 1, vendor: "bare" } }), {
    code: "invalid_arguments",
  });
});
