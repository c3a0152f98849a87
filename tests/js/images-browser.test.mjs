// Real images through `read` in real browsers, in a page and in a worker, with the platform's own codecs: dimensions,
// orientation and limits are checked on what the results decode to. The checks are in support/images-page.js; the
// page runs them by itself and reports, which any browser can.
//
// CHROME and FIREFOX name browsers; IMAGES_OUT a folder for the pictures.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

/** The programs, and how they are started on a page with a profile of their own. */
const BROWSERS = {
  Chromium: {
    programs: [
      process.env.CHROME,
      "/usr/bin/chromium",
      "/usr/bin/chromium-browser",
      "/usr/bin/google-chrome",
    ],
    flags: (profile) => [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--user-data-dir=${profile}`,
    ],
  },
  Firefox: {
    programs: [process.env.FIREFOX, "/usr/bin/firefox-esr", "/usr/bin/firefox"],
    flags: (profile) => ["--headless", "--no-remote", "--profile", profile],
  },
};
/** A browser that has not reported by then has hung. */
const LIMIT_MS = 60_000;

let script;
before(async () => {
  const built = await esbuild.build({
    entryPoints: [fileURLToPath(new URL("support/images-page.js", import.meta.url))],
    bundle: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "silent",
  });
  script = built.outputFiles[0].text;
});

for (const [name, { programs, flags }] of Object.entries(BROWSERS)) {
  const program = programs.find((path) => path && existsSync(path));
  test(name, { skip: program ? false : `${name} is not installed` }, async (t) => {
    const reports = await run(program, flags, name);
    for (const place of ["page", "worker"]) {
      await t.test(`in a ${place}`, async (t) => {
        assert.ok(reports[place].length > 0);
        for (const { name: title, error } of reports[place]) {
          await t.test(title, () => assert.equal(error, undefined, error));
        }
      });
    }
  });
}

/** Starts the browser on the page; answers what the page and its worker report. */
async function run(program, flags, name) {
  const profile = mkdtempSync(join(tmpdir(), "tackroom-images-"));
  const reports = {};
  let done;
  const reported = new Promise((resolve, reject) => {
    done = resolve;
    setTimeout(() => reject(new Error(`no report after ${LIMIT_MS} ms`)), LIMIT_MS).unref();
  });
  const server = createServer(async (request, response) => {
    const path = request.url.slice(1);
    if (request.method === "POST") {
      const body = await json(request);
      if (path === "picture") save(name, body);
      else reports[path] = body;
      response.end();
      if (path === "worker") done();
    } else if (path === "page.js") {
      response.setHeader("content-type", "text/javascript").end(script);
    } else {
      response.setHeader("content-type", "text/html");
      response.end('<!doctype html><script type="module" src="/page.js"></script>');
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${server.address().port}/`;
  // A group of its own, so that what it starts ends with it.
  const browser = spawn(program, [...flags(profile), url], { stdio: "ignore", detached: true });
  const ended = new Promise((resolve) => browser.once("close", resolve));
  try {
    const early = ended.then((code) => assert.fail(`${program} ended with ${code} before it reported`));
    await Promise.race([reported, early]);
    return reports;
  } finally {
    try {
      process.kill(-browser.pid, "SIGKILL");
    } catch {
      // It is gone.
    }
    await ended;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

function save(browser, { name, data, mimeType }) {
  const folder = process.env.IMAGES_OUT;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  const file = `${name}-${browser.toLowerCase()}.${mimeType.split("/")[1]}`;
  writeFileSync(join(folder, file), Buffer.from(data, "base64"));
}
