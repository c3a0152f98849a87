// The packed package in headless Chromium: under content security policies, without a bundler, through Vite's
// development server, and in an extension.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium as playwright } from "playwright-core";
import * as vite from "vite";
import { CHROMIUM_FLAGS, chromium, EXERCISED, project, put } from "./support.mjs";

const skip = chromium ? false : "there is no Chromium: install it, or name it in CHROME";
const launch = { executablePath: chromium, args: CHROMIUM_FLAGS };
const POLICY = "script-src 'self' 'wasm-unsafe-eval'";
const STRICT = "script-src 'self'";

let folder;
let browser;
let server;

before(async () => {
  if (skip) return;
  folder = project();
  server = await serve();
  browser = await playwright.launch(launch);
});
after(async () => {
  await browser?.close();
  server?.close();
});

/**
 * Serves the project's files. The search part of a page's address is its Content Security Policy; `.wasm` files have
 * the type `server.wasmType`, and `server.asked` is what was asked for.
 */
async function serve() {
  const types = { ".html": "text/html", ".js": "text/javascript" };
  const server = createServer((request, response) => {
    const { pathname, search } = new URL(request.url, "http://localhost");
    server.asked.push(pathname);
    const type = types[extname(pathname)] ?? server.wasmType;
    const policy = extname(pathname) === ".html" && search && decodeURIComponent(search.slice(1));
    try {
      const body = readFileSync(join(folder, pathname));
      response.writeHead(200, {
        "content-type": type,
        ...(policy && { "content-security-policy": policy }),
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.url = `http://127.0.0.1:${server.address().port}`;
  return server;
}

/** Opens a page and waits for what it prints after "answer ". Fails where the page does. */
async function answerOf(url, watch = () => {}) {
  const page = await browser.newPage();
  try {
    watch(page);
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${url} did not answer`)), 15_000);
      const settle = (end) => (value) => {
        clearTimeout(timer);
        end(value);
      };
      page.on("console", (message) => {
        if (message.text().startsWith("answer ")) settle(resolve)(JSON.parse(message.text().slice(7)));
      });
      page.on("pageerror", settle(reject));
      page.goto(url).catch(settle(reject));
    });
  } finally {
    await page.close();
  }
}

/** A page of the project whose module script is this. Answers what the script answers. */
async function run(name, script, { policy = "", wasmType = "application/wasm" } = {}) {
  put(
    folder,
    `${name}.html`,
    `<!doctype html><link rel="icon" href="data:,"><script type="module" src="${name}.js"></script>`,
  );
  put(folder, `${name}.js`, script);
  Object.assign(server, { wasmType, asked: [] });
  return answerOf(`${server.url}/${name}.html${policy && `?${encodeURIComponent(policy)}`}`);
}

/** A script that uses files of the package as they lie there. */
const unbundled = (entry, body) => `
import * as tackroom from "./node_modules/tackroom/dist/${entry}.js";
import * as environment from "./node_modules/tackroom/dist/env/memory.js";
import { exercise, outcome } from "./exercise.js";
const answer = await (async () => { ${body} })();
console.log("answer " + JSON.stringify(answer));
`;
const CORE_URL = "/node_modules/tackroom/wasm/core.wasm";
const SEARCH_URL = "/node_modules/tackroom/wasm/search.wasm";
const SCHEMA_URL = "/node_modules/tackroom/wasm/schema.wasm";

describe("K04: under a Content Security Policy", { skip }, () => {
  for (const [entry, source] of Object.entries({ index: "", full: "", web: `"${CORE_URL}"` })) {
    test(`${entry}.js works with 'wasm-unsafe-eval'`, async () => {
      const body = `await tackroom.init(${source}); return exercise(tackroom, environment);`;
      assert.deepEqual(await run(`allowed-${entry}`, unbundled(entry, body), { policy: POLICY }), EXERCISED);
    });

    test(`${entry}.js names the directive without it`, async () => {
      const body = `return outcome(tackroom.init(${source}));`;
      const refused = await run(`strict-${entry}`, unbundled(entry, body), { policy: STRICT });
      assert.equal(refused.code, "not_supported");
      assert.match(refused.message, /Content Security Policy.*'wasm-unsafe-eval' to script-src/);
    });
  }

  test("of each module", async () => {
    // A worker has the policy that it was served with, here none: it compiles the one module for the page.
    put(
      folder,
      "compile.js",
      "onmessage = async ({ data }) => postMessage(await WebAssembly.compileStreaming(fetch(data)));",
    );
    const compiled = (url) => `new Promise((resolve) => {
      const worker = new Worker("/compile.js");
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage("${url}");
    })`;
    for (const [name, others] of [
      ["core", { search: SEARCH_URL, schema: SCHEMA_URL }],
      ["search", { core: CORE_URL, schema: SCHEMA_URL }],
      ["schema", { core: CORE_URL, search: SEARCH_URL }],
    ]) {
      const sources = Object.entries(others).map(([other, url]) => `${other}: await ${compiled(url)}`);
      const body = `
        const { code, message } = await outcome(tackroom.init({ ${sources.join()} }));
        const tried = await outcome(tackroom.createToolset(environment.memory()));
        return { code, message, core: tried.message ?? "loaded" };
      `;
      const { code, message, core } = await run(`strict-${name}`, unbundled("index", body), {
        policy: STRICT,
      });
      assert.equal(code, "not_supported");
      assert.match(message, /'wasm-unsafe-eval' to script-src/);
      // It is the module in question that was refused.
      if (name !== "core") assert.equal(core, "loaded");
      else assert.match(core, /'wasm-unsafe-eval' to script-src/);
    }
  });
});

describe("K06: without a bundler", { skip }, () => {
  const sources = {
    "a path": `"${CORE_URL}"`,
    "a relative path": `"node_modules/tackroom/wasm/core.wasm"`,
    "a URL": `new URL("${CORE_URL}", location.href)`,
    "a request": `fetch("${CORE_URL}")`,
    "a response": `await fetch("${CORE_URL}")`,
  };
  const USE = "return { ...(await exercise(tackroom, environment)), streamed };";
  const COUNT = `
    let streamed = 0;
    const { compileStreaming } = WebAssembly;
    WebAssembly.compileStreaming = (...args) => (streamed++, compileStreaming.apply(WebAssembly, args));
  `;

  for (const [type, streamed, count = 5] of [
    ["application/wasm", 3, 3],
    ["application/octet-stream", 0],
    ["application/wasm; charset=utf-8", 0, 1],
  ]) {
    test(`modules served as ${type}: ${streamed ? "compiled while they arrive" : "compiled once they are there"}`, async () => {
      for (const [name, source] of Object.entries(sources).slice(-count)) {
        const script = unbundled("web", `${COUNT} await tackroom.init(${source}); ${USE}`);
        assert.deepEqual(
          await run("unbundled", script, { wasmType: type }),
          { ...EXERCISED, streamed },
          name,
        );
        const asked = server.asked.filter((path) => /wasm/.test(path) && !path.endsWith(".js"));
        assert.deepEqual(
          asked.sort(),
          [CORE_URL, SCHEMA_URL, SEARCH_URL],
          "each once, the others beside the core",
        );
        const inline = server.asked.filter((path) => path.includes("inline"));
        assert.deepEqual(inline, [], "nothing that is not needed");
      }
    });
  }

  test("the entries with the modules inside load each when it is needed", async () => {
    const inline = () =>
      server.asked.filter((path) => path.includes("-inline")).map((path) => /\w+-inline/.exec(path)[0]);
    const toolset = "await tackroom.createToolset(environment.memory()); return 1;";
    await run("lazy", unbundled("index", toolset));
    assert.deepEqual(inline(), ["core-inline"]);
    await run("lazy", unbundled("index", "return 1;"));
    assert.deepEqual(inline(), []);
    assert.deepEqual(
      await run("all", unbundled("index", `await tackroom.init(); return exercise(tackroom, environment);`)),
      EXERCISED,
    );
    assert.deepEqual(inline().sort(), ["core-inline", "schema-inline", "search-inline"]);
    const grep = `
      const toolset = await tackroom.createToolset(environment.memory({ f: "text" }));
      const call = { id: "1", name: "grep", arguments: { pattern: "t.xt" } };
      return (await Promise.all([toolset.call(call), toolset.call(call)])).map(({ content }) => content[0].text);
    `;
    assert.deepEqual(await run("lazy", unbundled("index", grep)), ["f:1: text", "f:1: text"]);
    assert.deepEqual(inline().sort(), ["core-inline", "search-inline"]);
  });

  test("the core as bytes or a module: alone, and with the others given", async () => {
    const body = `
      const bytes = await (await fetch("${CORE_URL}")).arrayBuffer();
      const before = await outcome(tackroom.createToolset(environment.memory()));
      await tackroom.init(bytes);
      const toolset = await tackroom.createToolset(environment.memory());
      const alone = await outcome((async () => exercise(tackroom, environment))());
      const again = await outcome(tackroom.init());
      const call = { id: "1", name: "grep", arguments: { pattern: "x" } };
      const { isError, content } = await toolset.call(call);
      await tackroom.init({ search: "${SEARCH_URL}", schema: "${SCHEMA_URL}" });
      const grep = { isError, text: content[0].text };
      return { before, active: toolset.active, alone, again, grep, all: await exercise(tackroom, environment) };
    `;
    const { before, active, alone, again, grep, all } = await run("bytes", unbundled("web", body));
    assert.equal(before.code, "invalid_arguments");
    assert.match(before.message, /Expected where core\.wasm is, found nothing/);
    assert.deepEqual(active, ["read", "edit", "write", "grep", "find", "ls"]);
    assert.equal(alone.code, "not_supported");
    assert.match(alone.message, /schema module has to be loaded/);
    assert.match(again.message, /Expected where (search|schema)\.wasm is, found nothing.*\{ \1: … \}/);
    assert.equal(grep.isError, true);
    assert.match(grep.text, /Expected where search\.wasm is, found nothing.*\{ search: … \}/);
    assert.deepEqual(all, EXERCISED);
  });

  test("what is not there is named, and the next init works", async () => {
    put(folder, "elsewhere/core.wasm", readFileSync(join(folder, CORE_URL)));
    const body = `
      const failed = await outcome(tackroom.init("/elsewhere/core.wasm?v=1"));
      await tackroom.init({ search: "${SEARCH_URL}", schema: "${SCHEMA_URL}" });
      return { failed, works: await exercise(tackroom, environment) };
    `;
    const { failed, works } = await run("missing", unbundled("web", body));
    assert.equal(failed.code, "not_found");
    assert.match(failed.message, /\/elsewhere\/(search|schema)\.wasm\?v=1 answered 404/);
    assert.deepEqual(works, EXERCISED);
  });

  test("a request that a policy forbids is not taken for a module that it forbids", async () => {
    const body = `return outcome(tackroom.init("${CORE_URL}"));`;
    const policy = `${POLICY}; connect-src 'none'`;
    const { message } = await run("no-connect", unbundled("web", body), { policy });
    assert.match(message, /Could not fetch Tackroom's core\.wasm from/);
    assert.doesNotMatch(message, /add 'wasm-unsafe-eval'/);
  });
});

describe("K02: Vite's development server, with nothing configured", { skip }, () => {
  /** Serves a project of its own, opens its page, and answers what it says and what was asked for. */
  async function developed(t, script) {
    const root = project();
    put(
      root,
      "index.html",
      '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/main.js"></script>',
    );
    put(root, "main.js", script);
    const server = await vite.createServer({
      configFile: false,
      root,
      logLevel: "silent",
      server: { port: 0 },
    });
    t.after(() => server.close());
    await server.listen();
    const asked = [];
    const answer = await answerOf(server.resolvedUrls.local[0], (page) => {
      page.on("response", (response) => asked.push([response.status(), response.url()]));
    });
    assert.deepEqual(
      asked.filter(([status]) => status >= 400),
      [],
    );
    return { answer, asked: asked.map(([, url]) => url) };
  }

  test("tackroom", async (t) => {
    const { answer, asked } = await developed(
      t,
      `
        import { exercise } from "./exercise.js";
        import * as tackroom from "tackroom";
        import * as environment from "tackroom/env/memory";
        await tackroom.init();
        console.log("answer " + JSON.stringify(await exercise(tackroom, environment)));
      `,
    );
    assert.deepEqual(answer, EXERCISED);
    assert.ok(
      asked.some((url) => url.includes("/.vite/deps/")),
      "Vite has prebundled the package",
    );
  });

  test("tackroom/web, the modules as ?url", async (t) => {
    const { answer, asked } = await developed(
      t,
      `
        import { exercise } from "./exercise.js";
        import * as tackroom from "tackroom/web";
        import * as environment from "tackroom/env/memory";
        import core from "tackroom/core.wasm?url";
        import search from "tackroom/search.wasm?url";
        import schema from "tackroom/schema.wasm?url";
        await tackroom.init({ core, search, schema });
        console.log("answer " + JSON.stringify(await exercise(tackroom, environment)));
      `,
    );
    assert.deepEqual(answer, EXERCISED);
    assert.equal(asked.filter((url) => /\.wasm$/.test(url)).length, 3);
  });
});

describe("K04: an extension, manifest version 3", { skip }, () => {
  /** Loads an extension whose service worker is this. Answers what the worker leaves in `answer`. */
  async function extension(t, entry, policy) {
    const root = project();
    const manifest = {
      manifest_version: 3,
      name: "Tackroom",
      version: "1",
      background: { service_worker: "worker.js", type: "module" },
      content_security_policy: { extension_pages: `${policy}; object-src 'self'` },
    };
    put(root, "manifest.json", JSON.stringify(manifest));
    put(
      root,
      "worker.js",
      `
        import { exercise, outcome } from "./exercise.js";
        import * as tackroom from "./node_modules/tackroom/dist/${entry}.js";
        import * as environment from "./node_modules/tackroom/dist/env/memory.js";
        globalThis.answer = outcome(tackroom.init().then(() => exercise(tackroom, environment)));
      `,
    );
    const context = await playwright.launchPersistentContext("", {
      ...launch,
      ignoreDefaultArgs: ["--disable-extensions"],
      args: [...CHROMIUM_FLAGS, `--disable-extensions-except=${root}`, `--load-extension=${root}`],
    });
    t.after(() => context.close());
    const worker =
      context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker", { timeout: 10_000 }));
    return worker.evaluate(() => globalThis.answer);
  }

  test("its service worker, which forbids import(), runs tackroom/full", async (t) => {
    assert.deepEqual(await extension(t, "full", POLICY), { answered: EXERCISED });
  });

  test("without 'wasm-unsafe-eval' the error names the directive", async (t) => {
    const { code, message } = await extension(t, "full", STRICT);
    assert.equal(code, "not_supported");
    assert.match(message, /'wasm-unsafe-eval' to script-src/);
  });
});
