// The package as it lies in pkg/: its entries exist, the two forms of each module are one module, importing it does
// nothing, and what bundlers make of it works.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import * as esbuild from "esbuild";
import * as vite from "vite";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = new URL("../../pkg/", import.meta.url);
/** For what the tests make. Below the repository's root, so that `tackroom` can be imported there. */
let made;
before(() => {
  mkdirSync(join(root, "target"), { recursive: true });
  made = mkdtempSync(join(root, "target/package-test-"));
});
after(() => rmSync(made, { recursive: true }));

/** Runs node with these parameters; fails unless it ends well. Answers what it prints. */
function node(...parameters) {
  const options = { cwd: made, encoding: "utf8", timeout: 60_000 };
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, options);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(stderr, "");
  return stdout;
}
const program = (code) => node("--input-type=module", "-e", code);
const lines = (...all) => all.map((line) => `${line}\n`).join("");

const manifest = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));

/** The wasm modules. */
const MODULES = ["core", "search", "schema"];
/** The entries that have the functions, each with what tells where the modules come from. */
const ENTRIES = ["index", "full", "web", "workerd"];

test("every entry of exports has its files", () => {
  const paths = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  const missing = paths.filter((path) => !existsSync(new URL(path, folder)));
  assert.deepEqual(missing, []);
});

test("every entry resolves by its name", () => {
  for (const entry of Object.keys(manifest.exports)) {
    const url = import.meta.resolve(`tackroom${entry.slice(1)}`);
    assert.ok(existsSync(fileURLToPath(url)), url);
  }
});

test("the inline form unpacks to the module, byte for byte", async () => {
  for (const name of MODULES) {
    const inline = await import(new URL(`wasm/${name}-inline.js`, folder));
    const raw = readFileSync(new URL(`wasm/${name}.wasm`, folder));
    assert.equal(inline.rawLength, raw.length);
    assert.ok(raw.equals(gunzipSync(Buffer.from(inline.default, "base64"))), name);
  }
});

test("the modules are optimised: no names, no producers, and they compile", async () => {
  for (const name of MODULES) {
    const module = await WebAssembly.compile(readFileSync(new URL(`wasm/${name}.wasm`, folder)));
    for (const section of ["name", "producers", "target_features"]) {
      assert.deepEqual(WebAssembly.Module.customSections(module, section), [], `${name} ${section}`);
    }
  }
});

test("the glue names no file of its own", () => {
  for (const name of MODULES) {
    const glue = readFileSync(new URL(`wasm/${name}.js`, folder), "utf8");
    assert.doesNotMatch(glue, /import\.meta|_bg\.wasm/);
    assert.match(glue, /export function __wbg_reset_state/);
  }
});

test("the entries have the same functions, and are short", async () => {
  const { default: _, ...shared } = await import(new URL("dist/exports.js", folder));
  for (const name of ENTRIES) {
    const code = readFileSync(new URL(`dist/${name}.js`, folder), "utf8");
    assert.match(code, /^export \* from "\.\/exports\.js";$/m, name);
    // An entry that imports .wasm cannot be imported here.
    if (name !== "workerd") {
      const exported = await import(new URL(`dist/${name}.js`, folder));
      assert.deepEqual(Object.keys(exported), Object.keys(shared), name);
    }
    const types = readFileSync(new URL(`dist/${name}.d.ts`, folder), "utf8");
    assert.match(types, /^export \* from "\.\/exports\.js";$/m, name);
    assert.ok(manifest.sideEffects.includes(`./dist/${name}.js`), `${name} says where the modules are`);
  }
  assert.equal(manifest.sideEffects.length, ENTRIES.length);
});

test("the conditions lead to the entry for the runtime", () => {
  const { exports, main, module, type } = manifest;
  assert.equal(type, "module");
  assert.deepEqual(Object.keys(exports["."]), ["types", "workerd", "node", "default"]);
  assert.equal(exports["."].workerd, "./dist/workerd.js");
  assert.equal(exports["./full"].workerd, "./dist/workerd.js");
  for (const path of [main, module, exports["."].node, exports["."].default]) {
    assert.equal(path, "./dist/index.js");
  }
  assert.doesNotMatch(JSON.stringify(exports), /"(browser|require|import)"/);
});

test("every entry with code has its types beside it", () => {
  for (const [name, entry] of Object.entries(manifest.exports)) {
    if (name === "./package.json") continue;
    assert.equal(Object.keys(entry)[0], "types", `${name}: types come first`);
    assert.equal(Object.keys(entry).at(-1), "default", name);
    assert.match(entry.types, /\.d\.ts$/);
    assert.equal(entry.types.replace(/\.d\.ts$/, ""), entry.default.replace(/\.js$/, ""), name);
  }
});

/** The only code that needs another package: patterns of a .gitignore. */
const OF_IGNORE = "dist/env/wrap/deny.js";
/** The one entry that is for Node alone. */
const OF_NODE = /^dist\/env\/node(\.js$|\/)/;

test("the code needs no eval, and but for env/node nothing of Node", () => {
  const dist = readdirSync(new URL("dist/", folder), { recursive: true }).map((name) => `dist/${name}`);
  const code = [...dist.filter((name) => name.endsWith(".js")), ...MODULES.map((name) => `wasm/${name}.js`)];
  assert.ok(code.length > 10, "the code was found");
  for (const name of code) {
    const source = readFileSync(new URL(name, folder), "utf8");
    // Without comments, examples among them.
    const text = esbuild.transformSync(source, { minifyWhitespace: true, legalComments: "none" }).code;
    assert.doesNotMatch(text, /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(/, name);
    assert.doesNotMatch(text, /\brequire\s*\(/, name);
    const imports = [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'`]([^"'`]+)/g)].map((found) => found[1]);
    if (OF_NODE.test(name)) {
      for (const path of imports)
        assert.match(path, /^(node:|\.\.?\/)/, `${name} imports Node's modules and ours`);
      continue;
    }
    assert.doesNotMatch(text, /\b(from|import)\s*\(?\s*["'`]node:/, name);
    // `process` is looked at in one place, as a property of globalThis.
    assert.doesNotMatch(text, /(?<![."'\w])(process|Buffer|__dirname)\s*[.[]/, name);
    for (const path of imports) {
      if (name === OF_IGNORE && path === "ignore") continue;
      assert.match(path, /^\.\.?\//, `${name} imports files of the package only`);
      assert.doesNotMatch(path, /\benv\/node\b|^\.\/node\b/, `${name} is for every runtime`);
    }
    // Bundlers emit nothing for it, or a file that the page does not find.
    assert.doesNotMatch(text, /import\.meta/, name);
  }
});

test("the packed package has what it needs and nothing else", () => {
  const pack = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout, stderr, status } = spawnSync("npm", pack, { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const paths = JSON.parse(stdout)[0].files.map(({ path }) => path);
  const needed = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  for (const path of [
    ...needed.map((path) => path.slice(2)),
    ...["README.md", "LICENSE-MIT", "LICENSE-APACHE"],
    ...ENTRIES.flatMap((name) => [`dist/${name}.js`, `dist/${name}.d.ts`]),
    ...MODULES.flatMap((name) => [`wasm/${name}.js`, `wasm/${name}-inline.js`]),
  ]) {
    assert.ok(paths.includes(path), `${path} is packed`);
  }
  const allowed =
    /^(dist\/[\w/-]+(\.d\.ts|\.js)|wasm\/(core|search|schema)[\w.-]*\.(js|d\.ts|wasm)|package\.json|README\.md|LICENSE-\w+)$/;
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || /test/i.test(path)),
    [],
  );
});

test("importing does nothing: no global, no module, no compilation", () => {
  // A copy whose inline modules say when they are loaded.
  const copy = join(made, "copy");
  for (const part of ["dist", "wasm", "package.json"]) {
    cpSync(new URL(part, folder), join(copy, part), { recursive: true });
  }
  for (const name of MODULES) {
    const inline = join(copy, `wasm/${name}-inline.js`);
    writeFileSync(inline, `console.log("${name} loaded");\n${readFileSync(inline, "utf8")}`);
  }
  const entries = ["index.js", "env/memory.js", "env/just-bash.js", "env/node.js", "env/wrap.js", "web.js"];
  const urls = entries.map((name) => pathToFileURL(join(copy, "dist", name)).href);
  const output = program(`
    // Node loads its fetch (undici), which has a wasm module of its own, at the first look at Response.
    const called = [];
    const calls = { push: (name) => /\\bundici\\b/.test(new Error().stack) || called.push(name) };
    for (const name of ["compile", "compileStreaming", "instantiate", "instantiateStreaming", "Instance", "Module"]) {
      const own = WebAssembly[name];
      if (own) WebAssembly[name] = new Proxy(own, {
        apply: (target, self, args) => (calls.push(name), Reflect.apply(target, self, args)),
        construct: (target, args) => (calls.push(name), Reflect.construct(target, args)),
      });
    }
    for (const name of ["fetch", "setTimeout", "queueMicrotask"]) {
      const own = globalThis[name];
      globalThis[name] = (...args) => (calls.push(name), own(...args));
    }
    const names = () => Reflect.ownKeys(globalThis).filter((key) => !String(key).includes("undici")).length;
    const before = names();
    const [{ init, createToolset }, { memory }] = await Promise.all(${JSON.stringify(urls)}.map((url) => import(url)));
    console.log(names() - before, "globals", JSON.stringify(called));
    const compiled = () => JSON.stringify(called.filter((name) => name === "compile"));
    await createToolset(memory());
    console.log(names() - before, "globals", compiled());
    const toolset = await createToolset(memory());
    await toolset.call({ id: "1", name: "grep", arguments: { pattern: "x" } });
    console.log(names() - before, "globals", compiled());
    // Once, however often and at the same time.
    await Promise.all([init(), init(), createToolset(memory()), init()]);
    await init();
    console.log(names() - before, "globals", compiled());
  `);
  const after = (count) => `0 globals ${JSON.stringify(Array(count).fill("compile"))}`;
  const loads = MODULES.flatMap((name, nth) => [`${name} loaded`, after(nth + 1)]);
  assert.equal(output, lines(after(0), ...loads));
});

test("init() says what failed and can be tried again", () => {
  const output = program(`
    import { createToolset, init, ToolError, validateToolArguments } from "tackroom";
    for (const source of [
      () => new Uint8Array(3),
      () => Promise.reject(new Error("offline")),
      () => ({ core: new Uint8Array(5) }),
      () => new Response("", { status: 404 }),
      () => "data:,no module",
    ]) {
      const error = await init(source()).catch((error) => error);
      console.log(error instanceof ToolError, error.code);
    }
    await init();
    console.log(validateToolArguments({ name: "a", parameters: {} }, { arguments: "{}" }));
  `);
  assert.equal(output, lines(...Array(3).fill("true unknown"), "true not_found", "true unknown", "{}"));
});

test("every kind of source loads the module", () => {
  const sources = {
    bytes: "bytes",
    "a buffer": "bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)",
    "a module": "await WebAssembly.compile(bytes)",
    "a promise": "Promise.resolve(bytes)",
    "a response": 'new Response(bytes, { headers: { "content-type": "application/wasm" } })',
    "a response without its type": "new Response(bytes)",
    "a URL": 'new URL("data:application/wasm;base64," + bytes.toString("base64"))',
    "one of several": "{ core: bytes }",
  };
  for (const [name, source] of Object.entries(sources)) {
    const output = program(`
      import { readFileSync } from "node:fs";
      import { createToolset, init } from "tackroom";
      import { memory } from "tackroom/env/memory";
      const bytes = readFileSync(new URL(import.meta.resolve("tackroom/core.wasm")));
      await init(${source});
      console.log((await createToolset(memory())).active.join());
    `);
    assert.equal(output, lines("read,edit,write,grep,find,ls"), name);
  }
});

/** Reads a file, with no more than the package's own default for where the module comes from. */
const reads = (entry = "tackroom") => `
import { createToolset, init, validateToolArguments } from "${entry}";
import { memory } from "tackroom/env/memory";
const toolset = await createToolset(memory({ "notes.txt": "milk\\n" }));
const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"notes.txt"}' });
console.log(JSON.stringify(result.content[0].text), result.isError);
`;
/** Then checks arguments as only the schema module can. */
const checks = (entry) => `${reads(entry)}
await init();
const parameters = { properties: { price: { $ref: "#/$defs/price" } }, $defs: { price: { pattern: "(?<=€)[0-9]+$" } } };
const check = (price) => validateToolArguments({ name: "buy", parameters }, { arguments: { price } });
console.log(check("€5").price);
try { check("$5") } catch ({ code }) { console.log(code) }
`;
const READ = lines('"milk\\n" false');
const CHECKED = READ + lines("€5", "invalid_arguments");

test("the inline modules unpack without node:zlib too", () => {
  assert.equal(program(checks()), CHECKED);
  assert.equal(program(checks("tackroom/full")), CHECKED);
  assert.equal(program(`process.getBuiltinModule = undefined;\n${checks()}`), CHECKED);
});

const FORMAT = { format: "esm", platform: "browser", target: "es2022" };

test("a bundle by esbuild for the browser works", async () => {
  for (const [name, entry] of Object.entries({ index: "tackroom", full: "tackroom/full" })) {
    const source = join(made, `esbuild-${name}.js`);
    writeFileSync(source, checks(entry));
    for (const minify of [false, true]) {
      const outfile = join(made, `esbuild-${name}-${minify}.mjs`);
      const options = { ...FORMAT, minify, outfile, bundle: true, logLevel: "silent" };
      const { warnings } = await esbuild.build({ ...options, entryPoints: [source] });
      assert.deepEqual(warnings, []);
      assert.equal(node(outfile), CHECKED, name);
    }
  }
});

/** The inline forms of the modules: which chunks of a bundle hold them, by a piece of each. */
function chunksOfModules(folder) {
  const pieces = MODULES.map((name) => {
    const text = readFileSync(new URL(`../../pkg/wasm/${name}-inline.js`, import.meta.url), "utf8");
    return [name, text.slice(text.length / 2, text.length / 2 + 200)];
  });
  const files = readdirSync(folder, { recursive: true }).filter((name) => /\.m?js$/.test(name));
  const texts = files.map((name) => [name, readFileSync(join(folder, name), "utf8")]);
  return Object.fromEntries(
    pieces.map(([name, piece]) => [
      name,
      texts.filter(([, text]) => text.includes(piece)).map(([file]) => file),
    ]),
  );
}

/** Each module is a chunk of its own, and one that is not needed is not loaded. */
function assertLazy(folder, bundle) {
  const { core, search, schema } = chunksOfModules(folder);
  for (const chunks of [core, search, schema]) assert.equal(chunks.length, 1);
  assert.equal(new Set([bundle, ...core, ...search, ...schema]).size, 4, "four files");
  // Without it the bundle still reads: nobody has loaded it.
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const path = join(folder, ...schema);
  const code = readFileSync(path, "utf8");
  writeFileSync(path, 'throw new Error("loaded");');
  const output = spawnSync(process.execPath, [join(folder, bundle)], { encoding: "utf8" });
  assert.equal(output.stdout, READ);
  assert.match(output.stderr, /loaded/);
  writeFileSync(path, code);
  assert.equal(node(join(folder, bundle)), CHECKED);
}

test("bundles in chunks load each module when it is needed: esbuild", async () => {
  const source = join(made, "chunks.js");
  writeFileSync(source, checks());
  const outdir = join(made, "esbuild-chunks");
  const options = { ...FORMAT, outdir, bundle: true, splitting: true, logLevel: "silent" };
  await esbuild.build({ ...options, entryPoints: { bundle: source } });
  assertLazy(outdir, "bundle.js");
});

test("bundles in chunks load each module when it is needed: Vite", async () => {
  const entry = join(made, "vite.js");
  writeFileSync(entry, checks());
  const outDir = join(made, "vite");
  await vite.build({
    configFile: false,
    root: made,
    logLevel: "silent",
    build: { target: "es2022", outDir, lib: { entry, formats: ["es"], fileName: () => "bundle.js" } },
  });
  assertLazy(outDir, "bundle.js");
});

test("a bundle by esbuild has the environments that are used only, and each module once", async () => {
  const contents = 'export { memory } from "tackroom/env/memory";';
  const options = { bundle: true, format: "esm", platform: "browser", write: false };
  const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir: made }, ...options });
  assert.ok(outputFiles[0].text.length < 20_000, "memory() alone brings no core");
  const inputs = async (contents) => {
    const { metafile } = await esbuild.build({
      ...options,
      stdin: { contents, resolveDir: made },
      metafile: true,
    });
    return Object.keys(metafile.inputs)
      .filter((name) => /pkg\/(wasm|dist\/env)\//.test(name))
      .map((name) => name.replace(/^.*pkg\//, ""))
      .sort();
  };
  const glue = MODULES.map((name) => `wasm/${name}.js`);
  const environment = ["dist/env/failure.js", "dist/env/growing.js", "dist/env/memory.js"];
  const inline = MODULES.map((name) => `wasm/${name}-inline.js`);
  assert.deepEqual(await inputs(reads()), [...environment, ...inline, ...glue].sort());
  assert.deepEqual(await inputs(reads("tackroom/full")), [...environment, ...inline, ...glue].sort());
  assert.deepEqual(await inputs(reads("tackroom/web")), [...environment, ...glue].sort());
  const wrappers = 'export { audited, confined, mounts, overlay } from "tackroom/env/wrap";';
  assert.deepEqual(
    (await inputs(wrappers)).filter((name) => name.startsWith("wasm/")),
    [],
    "wrappers bring no core",
  );
});

test("the declarations compile in a program with few libraries, checked whole", () => {
  writeFileSync(
    join(made, "program.ts"),
    `import { createToolset, init, type Toolset, ToolError } from "tackroom";
import { justBash, toJustBashFs, withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import * as full from "tackroom/full";
import * as web from "tackroom/web";
import core from "tackroom/core.wasm";
import search from "tackroom/search.wasm";
import schema from "tackroom/schema.wasm";
await init(core);
await init({ core, search, schema: Promise.resolve(schema) });
await full.init();
await web.init(new URL("https://example.org/core.wasm"));
await web.init({ core: fetch("core.wasm"), search: new Uint8Array(), schema: "schema.wasm" });
// @ts-expect-error: there is nothing to load by default
await web.init();
using toolset: Toolset = await createToolset(memory({ a: "" }), { tools: ["read"] });
export { justBash, node, ToolError, toJustBashFs, toolset, withShell };
`,
  );
  const compilerOptions = {
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: false,
  };
  for (const module of ["nodenext", "preserve"]) {
    const config = {
      compilerOptions: { ...compilerOptions, module },
      files: ["program.ts"],
    };
    writeFileSync(join(made, "package.json"), '{"type":"module"}');
    writeFileSync(join(made, "tsconfig.json"), JSON.stringify(config));
    assert.equal(node(join(root, "node_modules/typescript/bin/tsc"), "-p", ".", "--pretty", "false"), "");
  }
});
