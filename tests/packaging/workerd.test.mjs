// The packed package in workerd, the runtime of Cloudflare Workers: no eval, and wasm modules only as imports.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, test } from "node:test";
import * as esbuild from "esbuild";
import { EXERCISED, project, put } from "./support.mjs";

let folder;
before(() => {
  folder = project();
});

const WORKER = `
import { exercise, outcome, reasonOf } from "./exercise.js";
import * as environment from "tackroom/env/memory";
const answers = {
  async exercise() {
    await ready();
    return await exercise(tackroom, environment);
  },
  eval: () => ({ eval: reasonOf(() => eval("1")).name, Function: reasonOf(() => new Function("return 1")()).name }),
  compile: () => outcome(WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))),
  bytes: () => outcome(tackroom.init(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0))),
};
export default {
  async fetch(request) {
    return Response.json(await answers[new URL(request.url).pathname.slice(1)]());
  },
};
`;

/** Bundles a worker as wrangler does, serves it, and answers its GET. */
async function served(t, name, code) {
  put(folder, `${name}.js`, code + WORKER);
  const outdir = join(folder, `${name}-worker`);
  const { warnings } = await esbuild.build({
    entryPoints: { worker: join(folder, `${name}.js`) },
    bundle: true,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
    outdir,
    logLevel: "silent",
  });
  // A direct eval in a bundle, which is the test's own.
  assert.deepEqual(
    warnings.filter(({ id }) => id !== "direct-eval"),
    [],
  );
  const modules = readdirSync(outdir).map((file) => {
    const kind = file.endsWith(".wasm") ? "wasm" : "esModule";
    return { file, text: `(name = "${file}", ${kind} = embed "${file}")` };
  });
  // The entry comes first.
  modules.sort((a, b) => Number(b.file === "worker.js") - Number(a.file === "worker.js"));
  put(
    outdir,
    "config.capnp",
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.map(({ text }) => text).join(", ")}],
  compatibilityDate = "2026-01-01",
);
`,
  );
  const url = await start(t, join(outdir, "config.capnp"));
  const get = async (path) => {
    const response = await fetch(`${url}/${path}`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    return JSON.parse(text);
  };
  return { get, files: modules.map(({ file }) => file) };
}

/** Starts workerd. Its control channel says which port it took. */
async function start(t, config) {
  // Past the shim that its install script would replace.
  const { default: binary } = createRequire(import.meta.url)("workerd");
  const child = spawn(binary, ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  let words = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (words += chunk));
  return new Promise((resolve, reject) => {
    let events = "";
    child.stdio[3].on("data", (chunk) => {
      events += chunk;
      const port = /"event":"listen".*"port":(\d+)/.exec(events)?.[1];
      if (port) resolve(`http://127.0.0.1:${port}`);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`workerd ended with ${code}: ${words}`)));
  });
}

test("K01: plain import of tackroom, under the condition workerd", async (t) => {
  const code = 'import * as tackroom from "tackroom";\nconst ready = () => tackroom.init();\n';
  const { get, files } = await served(t, "plain", code);
  assert.deepEqual(files.sort(), ["core.wasm", "schema.wasm", "search.wasm", "worker.js"]);
  assert.deepEqual(await get("eval"), { eval: "EvalError", Function: "EvalError" });
  assert.equal((await get("compile")).name, "CompileError", "bytes are not compiled here");
  assert.deepEqual(await get("exercise"), EXERCISED);
});

test("K01: core.wasm imported and given to init", async (t) => {
  const code = `
    import core from "tackroom/core.wasm";
    import * as tackroom from "tackroom";
    const ready = () => tackroom.init(core);
  `;
  const { get } = await served(t, "given", code);
  assert.deepEqual(await get("exercise"), EXERCISED);
});

test("K01: all modules given to the entry that brings none, and to the one that brings all", async (t) => {
  const code = `
    import core from "tackroom/core.wasm";
    import search from "tackroom/search.wasm";
    import schema from "tackroom/schema.wasm";
    import * as tackroom from "tackroom/web";
    const ready = () => tackroom.init({ core, search, schema });
  `;
  const web = await served(t, "web", code);
  assert.deepEqual(await web.get("exercise"), EXERCISED);
  const full = await served(
    t,
    "full",
    'import * as tackroom from "tackroom/full";\nconst ready = () => tackroom.init();\n',
  );
  assert.deepEqual(await full.get("exercise"), EXERCISED);
});

test("bytes given to init say what to do instead, and the next init works", async (t) => {
  const code = 'import * as tackroom from "tackroom";\nconst ready = () => tackroom.init();\n';
  const { get } = await served(t, "bytes", code);
  const refused = await get("bytes");
  assert.equal(refused.code, "not_supported");
  assert.match(refused.message, /import tackroom\/core\.wasm as a module/);
  assert.deepEqual(await get("exercise"), EXERCISED);
});
