// Loading: at the same time, after a failure, twice, from things that are no module. Each in a process of its own,
// since what is loaded stays.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

const PRELUDE = `
  import assert from "node:assert/strict";
  import { readFileSync } from "node:fs";
  import { createToolset, init, validateToolArguments } from "tackroom";
  import { memory } from "tackroom/env/memory";
  const core = readFileSync("pkg/wasm/core.wasm");
  const search = readFileSync("pkg/wasm/search.wasm");
  const schema = readFileSync("pkg/wasm/schema.wasm");
  const empty = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);
  const validate = () => validateToolArguments({ name: "t", parameters: { type: "object" } }, { arguments: "{}" });
  // A look-behind and a reference, for which it takes the schema module.
  const price = { type: "string", pattern: "(?<=€)[0-9]+$" };
  const parameters = { type: "object", properties: { price: { $ref: "#/$defs/price" } }, $defs: { price } };
  const beyond = (price) => validateToolArguments({ name: "buy", parameters }, { arguments: { price } });
  const worksBeyond = () => {
    assert.deepEqual(beyond("€5"), { price: "€5" });
    assert.throws(() => beyond("$5"), { code: "invalid_arguments" });
  };
  const works = async () => {
    const toolset = await createToolset(memory({ f: "text" }));
    const { content } = await toolset.call({ id: "1", name: "read", arguments: { path: "f" } });
    assert.equal(content[0].text, "text");
    assert.deepEqual(validate(), {});
  };
  const grep = async (toolset) => {
    toolset ??= await createToolset(memory({ f: "text" }));
    const { content, isError, details } = await toolset.call({ id: "1", name: "grep", arguments: '{"pattern":"t.x"}' });
    return { text: content[0].text, isError, code: details.code };
  };
  const greps = async (toolset) => assert.deepEqual(await grep(toolset), { text: "f:1: text", isError: false, code: undefined });
  const fails = (source, code) => assert.rejects(init(source), (error) => {
    assert.equal(error.name, "ToolError", String(error));
    assert.ok(error.message.length > 10);
    if (code) assert.equal(error.code, code, error.message);
    return true;
  });
`;

/** Runs the program; fails with what it says if it does not end well. */
async function passes(program, ...more) {
  const flags = [
    ...more,
    "--input-type=module",
    "--unhandled-rejections=strict",
    "--eval",
    PRELUDE + program,
  ];
  const child = spawn(process.execPath, flags, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 0, output);
  // A reason would be a warning of the glue's.
  assert.equal(output, "");
}

/** Counts compilations of each module. Node compiles a module of its own for Response. */
const COUNT = `
  const compiled = { core: 0, search: 0, schema: 0 };
  const { compile } = WebAssembly;
  WebAssembly.compile = (bytes) => {
    if (bytes.byteLength === core.length) compiled.core++;
    if (bytes.byteLength === search.length) compiled.search++;
    if (bytes.byteLength === schema.length) compiled.schema++;
    return compile(bytes);
  };
`;

test("nothing is loaded before it is asked for", () =>
  passes(`
    ${COUNT}
    assert.throws(validate, { name: "ToolError", code: "not_supported" });
    assert.deepEqual(compiled, { core: 0, search: 0, schema: 0 });
    await works();
    const toolset = await createToolset(memory({ f: "text" }));
    await toolset.call({ id: "1", name: "ls", arguments: "{}" });
    await toolset.call({ id: "2", name: "grep", arguments: '{"pattern":5,"path":"nowhere"}' });
    assert.deepEqual(compiled, { core: 1, search: 0, schema: 0 });
    await greps();
    assert.deepEqual(compiled, { core: 1, search: 1, schema: 0 });
    assert.throws(() => beyond("€5"), { name: "ToolError", code: "not_supported" });
    await init();
    assert.deepEqual(compiled, { core: 1, search: 1, schema: 1 });
    worksBeyond();
    await greps(toolset);
  `));

test("many at once load each module once", () =>
  passes(`
    ${COUNT}
    await Promise.all([init(), init(), init({ core }), init({ search }), init({ schema }), init(core), works(), greps()]);
    assert.deepEqual(compiled, { core: 1, search: 1, schema: 1 });
    await init();
    await init({ core, search, schema });
    assert.deepEqual(compiled, { core: 1, search: 1, schema: 1 });
    worksBeyond();
  `));

test("the first searches at once load the search module once", () =>
  passes(`
    ${COUNT}
    const toolset = await createToolset(memory({ f: "text" }));
    const find = toolset.call({ id: "2", name: "find", arguments: '{"pattern":"*"}' });
    await Promise.all([greps(), greps(toolset), greps(toolset)]);
    assert.equal((await find).content[0].text, "f");
    await greps();
    assert.deepEqual(compiled, { core: 1, search: 1, schema: 0 });
  `));

test("a search whose module does not load is an error result, and the next one tries again", () =>
  passes(`
    ${COUNT}
    const toolset = await createToolset(memory({ f: "text" }));
    const counting = WebAssembly.compile;
    WebAssembly.compile = async () => { throw new Error("no room"); };
    const failed = await Promise.all([grep(toolset), grep(toolset)]);
    for (const { isError, text, code } of failed) {
      assert.ok(isError && /no room/.test(text) && /search/.test(text), text);
      assert.equal(typeof code, "string");
    }
    const { content } = await toolset.call({ id: "1", name: "read", arguments: '{"path":"f"}' });
    assert.equal(content[0].text, "text");
    WebAssembly.compile = counting;
    await greps(toolset);
    assert.equal(compiled.search, 1);
  `));

test("a search is aborted while its module is loaded", () =>
  passes(`
    let resume;
    const { compile } = WebAssembly;
    const toolset = await createToolset(memory({ f: "text" }));
    WebAssembly.compile = async (bytes) => {
      await new Promise((resolve) => { resume = resolve; });
      return compile(bytes);
    };
    const controller = new AbortController();
    const call = { id: "1", name: "grep", arguments: '{"pattern":"t"}' };
    const result = toolset.call(call, { signal: controller.signal });
    const waiting = greps(toolset);
    while (!resume) await new Promise((done) => setTimeout(done, 1));
    controller.abort();
    const { isError, details } = await result;
    assert.deepEqual([isError, details.code], [true, "aborted"]);
    toolset.dispose();
    resume();
    await waiting;
  `));

test("in /web, a core with a URL: the search module comes from beside it when it is needed", () =>
  passes(`
    const web = await import("tackroom/web");
    const asked = [];
    globalThis.fetch = async (url) => {
      asked.push(String(url));
      const name = /(\\w+)\\.wasm/.exec(url)[1];
      return new Response({ core, search, schema }[name], { headers: { "content-type": "application/wasm" } });
    };
    const answering = fetch;
    globalThis.fetch = async (url) => (String(url).includes("search") ? new Response("", { status: 404 }) : answering(url));
    const url = "https://example.org/a/core.wasm?v=1";
    await assert.rejects(web.init(url), { code: "not_found" });
    globalThis.fetch = answering;
    await greps(await web.createToolset(memory({ f: "text" })));
    const beside = (name) => url.replace("core", name);
    assert.deepEqual(asked.sort(), [url, beside("schema"), beside("search")]);
  `));

test("A26: without eval and Function, all of it works", async () => {
  const program = `
    for (const name of ["eval", "Function"]) globalThis[name] = () => { throw new Error(name); };
    assert.throws(() => (() => {}).constructor("return 1"), EvalError);
    await init(SOURCES);
    await works();
    await greps();
    worksBeyond();
  `;
  for (const sources of ["", "{ core, search, schema }"])
    await passes(program.replace("SOURCES", sources), "--disallow-code-generation-from-strings");
});

test("a module that there is not is refused, before anything is loaded and after", () =>
  passes(`
    const wrong = { cores: core };
    const named = /Expected in init\\(\\{ … \\}\\) the modules core, search, schema, found "cores"/;
    await assert.rejects(init(wrong), { name: "ToolError", code: "invalid_arguments", message: named });
    await assert.rejects(init(Object.assign(Object.create(null), wrong)), { code: "invalid_arguments" });
    await works();
    await assert.rejects(init(wrong), { code: "invalid_arguments", message: named });
    await init({});
    worksBeyond();
  `));

test("what is no source says what was expected, and for which module", async () => {
  const cases = {
    core: `[
      [5, "a number"],
      [true, "a boolean"],
      [[], "an array"],
      [new Map(), "an object"],
      [() => core, "a function"],
      [Promise.resolve(5), "a number"],
      [Promise.resolve(), "undefined"],
      [Promise.resolve({ core }), "an object"],
      [{ core: 5 }, "a number"],
      [{ core: { core } }, "an object"],
    ]`,
    search: `[
      [{ core, search: 5 }, "a number"],
      [{ search: Promise.resolve([]) }, "an array"],
    ]`,
    schema: `[
      [{ core, schema: 5 }, "a number"],
      [{ schema: Promise.resolve([]) }, "an array"],
    ]`,
  };
  for (const [name, list] of Object.entries(cases)) {
    await passes(`
      const sources = "a URL, a Response, bytes, a WebAssembly.Module, or a promise of one";
      for (const [source, found] of ${list}) {
        const message = "Expected in init() for ${name}.wasm " + sources + ", found " + found;
        await assert.rejects(init(source), { name: "ToolError", code: "invalid_arguments", message });
      }
      await init();
      worksBeyond();
    `);
  }
});

test("the schema module is tried again after a failure, and the core stays", () =>
  passes(`
    ${COUNT}
    await fails({ schema: Promise.reject(new Error("offline")) }, "unknown");
    await fails({ schema: core }, "invalid_arguments");
    await fails({ schema: empty }, "invalid_arguments");
    await fails({ schema: schema.subarray(0, 5000) }, "unknown");
    await works();
    assert.throws(() => beyond("€5"), { code: "not_supported" });
    await init({ schema });
    worksBeyond();
    assert.equal(compiled.schema, 1);
  `));

test("the search module is tried again after a failure, and the others stay", () =>
  passes(`
    ${COUNT}
    await fails({ search: Promise.reject(new Error("offline")) }, "unknown");
    await fails({ search: core }, "invalid_arguments");
    await fails({ search: schema }, "invalid_arguments");
    await fails({ search: empty }, "invalid_arguments");
    await fails({ search: search.subarray(0, 5000) }, "unknown");
    worksBeyond();
    await init({ search });
    await greps();
    assert.equal(compiled.search, 1);
  `));

test("the modules the wrong way round are refused, and harm nobody", () =>
  passes(`
    await fails({ core: schema, search: core, schema: search }, "invalid_arguments");
    await fails({ core: search }, "invalid_arguments");
    await init();
    await works();
    await greps();
    worksBeyond();
  `));

test("what is no module is refused, and the next source is tried", () =>
  passes(`
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const make of [
      5, "not a url", new URL("file:///nowhere"), new Uint8Array(8), new Uint8Array(), core.subarray(0, 1000),
      [], { core: 5 }, () => ({ core: Promise.reject(new Error("no")) }),
      () => Promise.reject(undefined), () => Promise.reject(new Proxy({}, { get() { throw 1; } })), Promise.resolve(5),
      new Response("no", { status: 404 }), new Response("<html>"), Symbol("s"), () => () => core, new Map(),
    ]) {
      await fails(typeof make === "function" ? make() : make);
    }
    await assert.rejects(init(proxy));
    await works();
  `));

test("another wasm module is refused, and harms nobody", () =>
  passes(`
    await fails(empty, "invalid_arguments");
    await fails({ core: await WebAssembly.compile(empty) }, "invalid_arguments");
    // (module (func (export "call_start")))
    const start = [10, ...new TextEncoder().encode("call_start")];
    const head = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0];
    const code = [10, 4, 1, 2, 0, 11];
    await fails(Uint8Array.of(...head, 3, 2, 1, 0, 7, 14, 1, ...start, 0, 0, ...code), "invalid_arguments");
    // The same with "__wbindgen_start" and an import: a module of another version.
    const both = [...start, 0, 1, 16, ...new TextEncoder().encode("__wbindgen_start"), 0, 1];
    const needs = [2, 7, 1, 1, 120, 1, 121, 0, 0];
    const other = Uint8Array.of(...head, ...needs, 3, 2, 1, 0, 7, both.length + 1, 2, ...both, ...code);
    await fails(other, "invalid_arguments");
    await works();
  `));

test("a source that fails fails whoever gave it, not those who wait", () =>
  passes(`
    const bad = init({ core: new Promise((_, reject) => setTimeout(() => reject(new Error("down")), 20)) });
    const others = [works(), init(core), init()];
    await assert.rejects(bad, /down/);
    await Promise.all(others);
    await works();
  `));

test("several bad ones at once", () =>
  passes(`
    await Promise.all([fails(empty), fails(5), fails(Promise.reject(new Error("no"))), works(), fails(undefined).catch(() => {})]);
    await works();
  `));

test("once it is loaded, other sources are not looked at", () =>
  passes(`
    await init(core);
    await init(empty);
    await init(5);
    await init(Promise.reject(new Error("nobody needs it")));
    await init({ schema: Promise.reject(new Error("nor this one")) });
    await init({ core: Promise.reject(new Error("nor this")) });
    await new Promise((done) => setTimeout(done, 5));
    await works();
  `));

test("a promise, a Response, an ArrayBuffer and a module will do", async () => {
  const sources = [
    "Promise.resolve(core)",
    "Promise.resolve(WebAssembly.compile(core))",
    `new Response(core, { headers: { "content-type": "application/wasm" } })`,
    "new Response(core)",
    "core.buffer.slice(core.byteOffset, core.byteOffset + core.length)",
    "await WebAssembly.compile(core)",
    "{ core: await WebAssembly.compile(core) }",
    "null",
    "{ core: undefined, schema: null }",
    "{ schema }",
    "{ core: Promise.resolve(core), schema: await WebAssembly.compile(schema) }",
    "{ core: new Response(core), search: new Response(search), schema: new Response(schema) }",
    "{ search: Promise.resolve(WebAssembly.compile(search)) }",
    // Of another realm.
    `runInNewContext("(parts) => new Uint8Array(parts).buffer")(core)`,
    `runInNewContext("(core, schema) => ({ core, schema: Promise.resolve(schema) })")(core, schema)`,
    `runInNewContext("(bytes) => new WebAssembly.Module(new Uint8Array(bytes))")(core)`,
    "undefined",
  ];
  for (const source of sources) {
    await passes(`
      import { runInNewContext } from "node:vm";
      await init(${source});
      await works();
      await greps();
      worksBeyond();
    `);
  }
});
