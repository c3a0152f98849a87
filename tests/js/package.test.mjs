// The package as it lies in pkg/: its entries exist, the two forms of the module are one module, importing it does
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

test("the inline form unpacks to core.wasm, byte for byte", async () => {
  const inline = await import(new URL("wasm/core-inline.js", folder));
  const raw = readFileSync(new URL("wasm/core.wasm", folder));
  assert.equal(inline.rawLength, raw.length);
  assert.ok(raw.equals(gunzipSync(Buffer.from(inline.default, "base64"))));
});

test("the module is optimised: no names, no producers, and it compiles", async () => {
  const module = await WebAssembly.compile(readFileSync(new URL("wasm/core.wasm", folder)));
  for (const section of ["name", "producers", "target_features"]) {
    assert.deepEqual(WebAssembly.Module.customSections(module, section), [], section);
  }
});

test("the glue names no file of its own", () => {
  const glue = readFileSync(new URL("wasm/core.js", folder), "utf8");
  assert.doesNotMatch(glue, /import\.meta|core_bg\.wasm/);
  assert.match(glue, /export function __wbg_reset_state/);
});

test("every entry with code has its types beside it", () => {
  for (const [name, entry] of Object.entries(manifest.exports)) {
    if (name === "./package.json") continue;
    assert.deepEqual(Object.keys(entry), ["types", "default"], `${name}: types come first`);
    assert.match(entry.types, /\.d\.ts$/);
    assert.equal(entry.types.replace(/\.d\.ts$/, ""), entry.default.replace(/\.js$/, ""), name);
  }
});

test("the code needs no eval and nothing of Node", () => {
  const dist = readdirSync(new URL("dist/", folder), { recursive: true }).map((name) => `dist/${name}`);
  const code = [...dist.filter((name) => name.endsWith(".js")), "wasm/core.js"];
  assert.ok(code.length > 10, "the code was found");
  for (const name of code) {
    const source = readFileSync(new URL(name, folder), "utf8");
    // Without comments, examples among them.
    const text = esbuild.transformSync(source, { minifyWhitespace: true, legalComments: "none" }).code;
    assert.doesNotMatch(text, /\beval\s*\(|\bnew\s+Function\b|\bFunction\s*\(/, name);
    assert.doesNotMatch(text, /\brequire\s*\(|\b(from|import)\s*\(?\s*["'`]node:/, name);
    // `process` is looked at in one place, as a property of globalThis.
    assert.doesNotMatch(text, /(?<![."'\w])(process|Buffer|__dirname)\s*[.[]/, name);
    const imports = [...text.matchAll(/\b(?:from|import)\s*\(?\s*["'`]([^"'`]+)/g)].map((found) => found[1]);
    for (const path of imports) assert.match(path, /^\.\.?\//, `${name} imports files of the package only`);
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
    ...["README.md", "LICENSE-MIT", "LICENSE-APACHE", "wasm/core.js", "wasm/core-inline.js"],
  ]) {
    assert.ok(paths.includes(path), `${path} is packed`);
  }
  const allowed =
    /^(dist\/[\w/-]+(\.d\.ts|\.js)|wasm\/core[\w.-]*\.(js|d\.ts|wasm)|package\.json|README\.md|LICENSE-\w+)$/;
  assert.deepEqual(
    paths.filter((path) => !allowed.test(path) || /test/i.test(path)),
    [],
  );
});

test("importing does nothing: no global, no module, no compilation", () => {
  // A copy whose inline module says when it is loaded.
  const copy = join(made, "copy");
  for (const part of ["dist", "wasm", "package.json"]) {
    cpSync(new URL(part, folder), join(copy, part), { recursive: true });
  }
  const inline = join(copy, "wasm/core-inline.js");
  writeFileSync(inline, `console.log("inline loaded");\n${readFileSync(inline, "utf8")}`);
  const entries = ["index.js", "env/memory.js", "env/just-bash.js"];
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
    // Once, however often and at the same time.
    await Promise.all([init(), init(), createToolset(memory()), init()]);
    await init();
    console.log(names() - before, "globals", JSON.stringify(called.filter((name) => name === "compile")));
  `);
  assert.equal(output, lines("0 globals []", "inline loaded", '0 globals ["compile"]'));
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
    assert.equal(output, lines("read,edit,write"), name);
  }
});

/** Reads a file, with no more than the package's own default for where the module comes from. */
const READS = `
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
const toolset = await createToolset(memory({ "notes.txt": "milk\\n" }));
const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"notes.txt"}' });
console.log(JSON.stringify(result.content[0].text), result.isError);
`;
const READ = lines('"milk\\n" false');

test("the inline module unpacks without node:zlib too", () => {
  assert.equal(program(READS), READ);
  assert.equal(program(`process.getBuiltinModule = undefined;\n${READS}`), READ);
});

test("a bundle by esbuild for the browser works", async () => {
  const entry = join(made, "esbuild.js");
  writeFileSync(entry, READS);
  for (const minify of [false, true]) {
    const outfile = join(made, `esbuild-${minify}.mjs`);
    const options = { format: "esm", platform: "browser", target: "es2022", minify, outfile };
    const { warnings } = await esbuild.build({
      entryPoints: [entry],
      bundle: true,
      logLevel: "silent",
      ...options,
    });
    assert.deepEqual(warnings, []);
    assert.equal(node(outfile), READ);
  }
});

test("a bundle by esbuild has the environments that are used only, and the module once", async () => {
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
    return Object.keys(metafile.inputs).filter((name) => /pkg\/(wasm|dist\/env)\//.test(name));
  };
  const used = await inputs(READS);
  assert.deepEqual(used.map((name) => name.replace(/^.*pkg\//, "")).sort(), [
    "dist/env/failure.js",
    "dist/env/memory.js",
    "wasm/core-inline.js",
    "wasm/core.js",
  ]);
});

test("a library built by Vite works", async () => {
  const entry = join(made, "vite.js");
  writeFileSync(entry, READS);
  await vite.build({
    configFile: false,
    root: made,
    logLevel: "silent",
    build: {
      target: "es2022",
      outDir: join(made, "vite"),
      lib: { entry, formats: ["es"], fileName: "bundle" },
    },
  });
  const built = readdirSync(join(made, "vite"), { recursive: true });
  const bundle = built.find((name) => /^bundle\.m?js$/.test(name));
  assert.ok(bundle, built.join());
  // The module is a chunk of its own, loaded when it is needed.
  assert.ok(built.length > 1, built.join());
  const folder = join(made, "vite");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  assert.equal(node(join(folder, bundle)), READ);
});

test("the declarations compile in a program with few libraries, checked whole", () => {
  writeFileSync(
    join(made, "program.ts"),
    `import { createToolset, init, type Toolset, ToolError } from "tackroom";
import { justBash } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import module from "tackroom/core.wasm";
await init(module);
using toolset: Toolset = await createToolset(memory({ a: "" }), { tools: ["read"] });
export { justBash, ToolError, toolset };
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
