/**
 * Drives the playground in a headless browser through its own controls, prints what the tools return, and fails
 * when something is not as it must be.
 *
 *   node www/check.mjs URL [--screenshots DIR]
 *
 * The browser is the one that CHROME names, else the first that is installed. `git` has to be there: it is the judge
 * of the patches.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const BROWSERS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const BUNDLE = "dist/bundles/rxjs.umd.js";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { screenshots: { type: "string" } },
});
const [url] = positionals;
if (!url) {
  console.error("usage: node www/check.mjs URL [--screenshots DIR]");
  process.exit(2);
}

const scratch = mkdtempSync(join(tmpdir(), "tackroom-check-"));
let browser;
let page;
let passed = 0;
let failed = 0;
const complaints = [];

try {
  await open();
  await checks();
} catch (error) {
  failed++;
  console.log(`✗ ${error.message}`);
} finally {
  await browser?.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function checks() {
  const { files } = await (await fetch(new URL("sample.json", url))).json();
  const original = Buffer.from(files[BUNDLE], "utf8");
  const lines = linesOf(files[BUNDLE]);

  let offset;
  await check("read the first page of a long file", async () => {
    const { text } = expectSuccess(await call("read", { path: BUNDLE }));
    const { shown, from, to, total, next } = pageOf(text);
    expect(
      from === 1 && total === lines.length,
      `expected lines from 1 of ${lines.length}, found from ${from} of ${total}`,
    );
    expect(shown === lines.slice(0, to).join("\n"), "expected the file's own first lines, found other text");
    offset = next;
    await screenshot("read");
  });
  await check("follow the hint to the next page", async () => {
    const { text } = expectSuccess(await call("read", { path: BUNDLE, offset }));
    const { shown, from, to } = pageOf(text);
    expect(from === offset, `expected lines from ${offset}, found from ${from}`);
    expect(
      shown === lines.slice(from - 1, to).join("\n"),
      "expected the lines that follow, found other text",
    );
  });

  const note = { path: "notes/grüße.md", content: "# Grüße\n\nLine two – with a dash.\n" };
  await check("write a new file", async () => {
    const { text, details } = expectSuccess(await call("write", note));
    const size = Buffer.byteLength(note.content);
    expect(
      text.includes(`Successfully wrote ${size} bytes to ${note.path}`),
      `expected ${size} bytes in the text`,
    );
    expect(details.kind === "create", `expected kind create, found ${details.kind}`);
  });
  await check("read it back", async () => {
    const { text } = expectSuccess(await call("read", { path: note.path }));
    expect(text.trimEnd() === note.content.trimEnd(), "expected what was written");
    expect(
      (await download(note.path)).equals(Buffer.from(note.content)),
      "expected the very bytes in the file",
    );
  });

  await check("edit lines that end in CRLF, asked for with LF", async () => {
    const block = crlfBlock(files[BUNDLE]);
    const changed = [...block.slice(0, -1), `${block.at(-1)} (changed)`, `${block.at(-1)} (added)`];
    const edits = [{ oldText: block.join("\n"), newText: changed.join("\n") }];
    const before = await download(BUNDLE);
    expect(before.equals(original), "expected the file as it was fetched");
    const { text, details } = expectSuccess(await call("edit", { path: BUNDLE, edits }));
    expect(text.includes(`Successfully replaced 1 block(s) in ${BUNDLE}.`), "expected one block replaced");
    expect(
      typeof details.patch === "string",
      `expected a patch, found ${details.patchOmitted ?? details.patch}`,
    );
    console.log(indent(details.patch.replaceAll("\r", "␍")));
    const after = await download(BUNDLE);
    const wanted = files[BUNDLE].replace(block.join("\r\n"), () => changed.join("\r\n"));
    expect(
      after.equals(Buffer.from(wanted)),
      "expected the block changed, CRLF kept, and every other byte as it was",
    );
    expect(
      gitApply(details.patch, before).equals(after),
      "expected git apply to give the bytes that are in the file",
    );
    console.log("  git apply gives the same bytes");
    await screenshot("edit");
  });
  await check("edit a file that is CRLF throughout, asked for with LF", async () => {
    const path = "windows/map.ts";
    const content = files["src/internal/operators/map.ts"].replaceAll("\n", "\r\n");
    expectSuccess(await call("write", { path, content }));
    const before = await download(path);
    expect(before.equals(Buffer.from(content)), "expected CRLF to be written as it was sent");
    const oldText = "    let index = 0;\n";
    const newText = "    // counts from 0\n    let index = 0;\n";
    const { details } = expectSuccess(await call("edit", { path, edits: [{ oldText, newText }] }));
    const after = await download(path);
    const wanted = content.replace("    let index = 0;", "    // counts from 0\r\n    let index = 0;");
    expect(after.equals(Buffer.from(wanted)), "expected a further CRLF line and nothing else");
    expect(gitApply(details.patch, before, path).equals(after), "expected git apply to give the same bytes");
    console.log("  git apply gives the same bytes");
  });
  await check("an edit whose text is not there fails and says what is", async () => {
    const now = linesOf((await download(BUNDLE)).toString());
    const edits = [{ oldText: "    var extendsStatics = function(d, b) {", newText: "" }];
    const { text, details } = expectError(await call("edit", { path: BUNDLE, edits }), "no_match");
    expect(text.includes(`Could not find the exact text in ${BUNDLE}`), "expected the text to name the file");
    const named = [...text.matchAll(/\d+/g)].map(([number]) => now[number - 1]);
    expect(
      named.some((line) => line?.includes("var extendStatics")),
      "expected the number of the closest line",
    );
    expect(details.path === `/project/${BUNDLE}`, `expected the path in details, found ${details.path}`);
    await screenshot("error");
  });

  await check("a bash pipeline", async () => {
    const command = 'grep -rn "switchMap" src | cut -d: -f1 | sort | uniq -c | sort -rn | head -5';
    const { text, details } = expectSuccess(await call("bash", { command }));
    const rows = linesOf(text).map((line) => /^\s*(\d+) (src\/\S+)$/.exec(line));
    expect(rows.length === 5 && rows.every(Boolean), "expected five lines of count and path");
    for (const [, count, path] of rows) {
      const wanted = linesOf(files[path]).filter((line) => line.includes("switchMap")).length;
      expect(Number(count) === wanted, `expected ${wanted} lines in ${path}, found ${count}`);
    }
    expect(details.exitCode === 0, `expected exit code 0, found ${details.exitCode}`);
  });
  await check("a command that fails keeps its output", async () => {
    const { text } = expectError(await call("bash", { command: "echo before; exit 7" }), "exit_code");
    expect(/before[\s\S]*Command exited with code 7/.test(text), "expected the output, then the exit code");
  });
  await check("the abort button ends a command", async () => {
    const { text } = expectError(await call("bash", { command: "sleep 60" }, { abort: true }), "aborted");
    expect(text.includes("Command aborted"), "expected Command aborted");
  });

  await check("arguments of the wrong type are refused", async () => {
    const { text } = expectError(await call("read", { path: [BUNDLE, "README.md"] }), "invalid_arguments");
    expect(text.includes('Validation failed for tool "read":'), "expected the tool's name");
    expect(
      text.includes("- path: must be string, got array"),
      "expected the argument and what is wrong with it",
    );
  });
  await check("a call that is cut off in the middle of its JSON is refused", async () => {
    expectError(await call("write", '{"path":"a.txt","content":"hello wor'), "cut_off");
    await expectNoFile("a.txt");
  });
  await check("a call that is flagged as cut off is refused, though its JSON is whole", async () => {
    const answer = await call("write", { path: "b.txt", content: "hello" }, { incomplete: true });
    const { text } = expectError(answer, "cut_off");
    expect(text.includes('Tool call "write" was not executed'), "expected that it was not executed");
    await expectNoFile("b.txt");
  });
  await check("the page has no errors of its own", () => {
    expect(complaints.length === 0, complaints.join("\n"));
  });
}

// The page

async function open() {
  const executablePath = process.env.CHROME || BROWSERS.find((path) => existsSync(path));
  if (!executablePath) throw new Error("expected a Chromium browser; name one in the variable CHROME");
  browser = await chromium.launch({ executablePath, args: FLAGS });
  page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(url);
  const ready = page.locator('[data-testid="run"]:enabled, [data-testid="status"].failed');
  await ready.waitFor({ timeout: 30_000 }).catch(() => {
    throw new Error(["expected the page to start within 30 s", ...complaints].join("\n"));
  });
  const status = await page.getByTestId("status").textContent();
  expect(await page.getByTestId("run").isEnabled(), `expected the page to start: ${status}`);
  console.log(`${url}\n${status}`);
}

/** Chooses the tool, puts the text into the box, presses Run, and reads the answer from the page. */
async function call(tool, args, { incomplete = false, abort = false } = {}) {
  const raw = typeof args === "string" ? args : JSON.stringify(args);
  console.log(`  ${tool} ${clip(raw)}${incomplete ? "  (cut off at the token limit)" : ""}`);
  const result = page.getByTestId("result");
  const before = await result.getAttribute("data-call");
  await page.getByTestId(`tab-${tool}`).click();
  await page.getByTestId("raw").fill(raw);
  await page.getByTestId("incomplete").setChecked(incomplete);
  await page.getByTestId("run").click();
  if (abort) await page.getByTestId("abort").click();
  await page.waitForFunction(
    ([before]) => {
      const { call, state } = document.querySelector('[data-testid="result"]').dataset;
      return call !== before && (state === "ok" || state === "error");
    },
    [before ?? undefined],
    { timeout: 20_000 },
  );
  await page.getByTestId("incomplete").setChecked(false);
  const text = (await page.getByTestId("content").allTextContents()).join("\n");
  const details = JSON.parse((await page.getByTestId("details").textContent()) || "null");
  const isError = (await result.getAttribute("data-state")) === "error";
  console.log(indent(`${isError ? `error, ${details?.code}` : "success"}\n${headAndTail(text)}`));
  return { text, details, isError };
}

/** The bytes of a file, through the tree and the viewer's button. */
async function download(path) {
  const parts = path.split("/");
  for (let length = 1; length < parts.length; length++) {
    const folder = page.getByTestId(`dir:${parts.slice(0, length).join("/")}`);
    if (!(await folder.evaluate((summary) => summary.parentElement.open))) await folder.click();
  }
  await page.getByTestId(`file:${path}`).click();
  await page.getByTestId("viewer").getByRole("heading", { name: path, exact: true }).waitFor();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByTestId("download").click()]);
  return readFileSync(await file.path());
}

async function expectNoFile(path) {
  expect((await page.getByTestId(`file:${path}`).count()) === 0, `expected no file ${path}, found one`);
}

async function screenshot(name) {
  if (!options.screenshots) return;
  mkdirSync(options.screenshots, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(options.screenshots, `${name}-${colorScheme}.png`) });
  }
}

// The judgement

async function check(title, body) {
  console.log(`\n${title}`);
  try {
    await body();
    passed++;
    console.log("✓");
  } catch (error) {
    failed++;
    console.log(`✗ ${error.message}`);
  }
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

function expectSuccess(answer) {
  expect(!answer.isError, `expected success, found an error: ${answer.text}`);
  return answer;
}

function expectError(answer, code) {
  expect(answer.isError, "expected an error, found success");
  expect(answer.details?.code === code, `expected the code ${code}, found ${answer.details?.code}`);
  return answer;
}

/** A cut text and what its hint says. */
function pageOf(text) {
  const hint =
    /\n\n\[Showing lines (\d+)-(\d+) of (\d+)(?: \(50\.0KB limit\))?\. Use offset=(\d+) to continue\.\]$/.exec(
      text,
    );
  expect(hint, "expected a hint how to go on at the end of the text");
  const [from, to, total, next] = hint.slice(1).map(Number);
  expect(next === to + 1, `expected the hint to go on at ${to + 1}, found ${next}`);
  return { shown: text.slice(0, hint.index), from, to, total, next };
}

/** The first three neighbouring lines that end in CRLF and are in the file once. */
function crlfBlock(text) {
  const lines = text.split("\n");
  for (let start = 0; start + 3 <= lines.length; start++) {
    const block = lines.slice(start, start + 3);
    if (!block.every((line) => /\S.*\r$/.test(line))) continue;
    const joined = block.join("\n").slice(0, -1);
    if (text.split(joined).length === 2) return joined.split("\r\n");
  }
  throw new Error("expected three lines that end in CRLF, found none");
}

/** What `git apply` makes of these bytes. */
function gitApply(patch, bytes, path = BUNDLE) {
  const file = join(scratch, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
  writeFileSync(join(scratch, "change.patch"), patch);
  const git = (...args) => execFileSync("git", ["-c", "core.autocrlf=false", ...args], { cwd: scratch });
  git("init", "--quiet");
  git("apply", "--whitespace=nowarn", "change.patch");
  return readFileSync(file);
}

// Print

/** Lines without their ends; a final LF opens no further line. */
function linesOf(text) {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function headAndTail(text) {
  const lines = text.split("\n");
  if (lines.length <= 14) return text;
  return [...lines.slice(0, 5), `… ${lines.length - 10} more lines …`, ...lines.slice(-5)].join("\n");
}

function indent(text) {
  return text.replace(/^/gm, "    ");
}

function clip(text) {
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}
