// The package in a browser: a headless Chromium, the one that CHROME names or the first that is installed. The package
// and the peer are bundled as a page would have them; time is the wall's.
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";
import { chromium } from "playwright-core";
import { median } from "./measure.mjs";

const BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
/** The page is alone in its process, so that the clock is good to 5 µs. */
const HEADERS = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cache-Control": "no-store",
};

export async function* rows({ quick }) {
  const { CHROME } = process.env;
  const executablePath = (CHROME ? [CHROME] : BROWSERS).find((path) => existsSync(path));
  if (!executablePath) {
    yield { workload: "in a browser", skipped: "no Chromium is installed; name one in the variable CHROME" };
    return;
  }
  const server = await served(await bundles());
  const browser = await chromium.launch({ executablePath, args: FLAGS });
  try {
    const { port } = server.address();
    // A context is a profile of its own, in memory: nothing is cached from one to the next.
    const inPage = async (module, call, argument) => {
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        await page.goto(`http://localhost:${port}/`);
        const run = async ([url, name, given]) => (await import(url))[name](given);
        return await page.evaluate(run, [`/${module}.js`, call, argument]);
      } finally {
        await context.close();
      }
    };
    for (const { name, taken } of await inPage("arguments", "measure", { runs: quick ? 5 : 15 })) {
      const [ours, theirs] = taken.map(median);
      yield {
        workload: `in Chromium: arguments, ${name}`,
        oursMs: ours,
        peersMs: { "pi 1.6": theirs },
        targets: { "pi 1.6": 2 },
      };
    }
    const starts = [];
    for (let nth = 0; nth < (quick ? 5 : 15); nth++) starts.push(await inPage("start", "start"));
    yield {
      workload: "in Chromium: cold start and first read, inline",
      ms: { median: median(starts), best: Math.min(...starts) },
      limitMs: 30,
    };
  } finally {
    await browser.close();
    server.close();
  }
}

/** The page's modules by path, as a bundler splits them. */
async function bundles() {
  const folder = fileURLToPath(new URL("browser/", import.meta.url));
  const { outputFiles } = await esbuild.build({
    entryPoints: ["arguments.js", "start.js"].map((name) => folder + name),
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "error",
  });
  return new Map(outputFiles.map(({ path, contents }) => [`/${path.slice(folder.length)}`, contents]));
}

async function served(files) {
  const server = createServer(({ url }, response) => {
    const script = files.get(url);
    const type = script ? "text/javascript" : "text/html";
    response.writeHead(script || url === "/" ? 200 : 404, { ...HEADERS, "Content-Type": type });
    response.end(script ?? "<!doctype html><title>bench</title>");
  });
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  return server;
}
