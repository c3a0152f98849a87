// The files of tests/cases through the npm package: the same as tests/cases.rs, over two environments.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Bash } from "just-bash";
import { createToolset, init, validateToolArguments } from "tackroom";
import { justBash } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";

const CWD = "/project";
const folder = new URL("../cases/", import.meta.url);
const cases = readdirSync(folder).filter((name) => name.endsWith(".json"));

/** The keys of the format. Any other is a mistake that would make a case say less than it seems to. */
const KEYS = {
  case: ["title", "why", "files", "options", "shell", "shells", "active", "steps", "after", "validate"],
  step: ["call", "result", "follow", "file", "pages"],
  call: ["name", "arguments", "incomplete"],
  result: ["isError", "code", "text", "contains", "lacks", "atMost", "details", "image", "spill"],
  image: ["mimeType", "data"],
  validate: ["schema", "arguments", "incomplete", "value", "error"],
  error: ["code", "contains", "lacks", "atMost"],
  scripted: ["out", "err", "chunk", "flood", "times", "echo", "wait", "exit", "finish", "fail"],
  finish: ["stdout", "stderr", "exitCode"],
  fail: ["code", "message"],
};

function known(kind, object) {
  const odd = Object.keys(object).filter((key) => !KEYS[kind].includes(key));
  assert.deepEqual(odd, [], `unknown keys in ${kind}`);
  return object;
}

function bytesOf(content) {
  if (typeof content === "string") return Buffer.from(content, "utf8");
  if (Array.isArray(content)) return Buffer.concat(content.map(bytesOf));
  const { hex, repeat, times, lines } = content;
  switch (Object.keys(content).sort().join()) {
    case "hex":
      return Buffer.from(hex, "hex");
    case "repeat,times":
      return Buffer.from(repeat.repeat(times), "utf8");
    case "lines":
      return Buffer.from(
        Array.from({ length: lines[1] - lines[0] + 1 }, (_, at) => `${lines[0] + at}\n`).join(""),
      );
  }
  assert.fail(`expected content, found ${JSON.stringify(content)}`);
}

const textOf = (content) => bytesOf(content).toString("utf8");

/** What a command does, from its script. Each chunk is handed over as it comes. */
function shell(script) {
  if (script === undefined) return undefined;
  return async (command, { onStdout, onStderr, signal }) => {
    for (const step of script) {
      known("scripted", step);
      for (const [content, write] of [
        [step.out, onStdout],
        [step.err, onStderr],
        [step.echo && command, onStdout],
      ]) {
        const bytes = content === undefined ? [] : bytesOf(content);
        const size = Math.max(step.chunk ?? bytes.length, 1);
        for (let at = 0; at < bytes.length; at += size)
          await write(new Uint8Array(bytes.subarray(at, at + size)));
      }
      for (let n = 0; n < (step.times ?? 0); n++) void onStdout(new Uint8Array(bytesOf(step.flood)));
      if (step.wait !== undefined) {
        await sleep(step.wait, undefined, { signal }).catch(() => {});
        if (signal.aborted) return { exitCode: null };
      }
      if (step.exit !== undefined) return { exitCode: step.exit };
      if (step.finish) {
        const { stdout, stderr, exitCode } = known("finish", step.finish);
        const output = (content) => (content === undefined ? undefined : new Uint8Array(bytesOf(content)));
        return { exitCode: exitCode ?? null, stdout: output(stdout), stderr: output(stderr) };
      }
      if (step.fail) {
        const { code, message } = known("fail", step.fail);
        throw Object.assign(new Error(message), { code });
      }
    }
    return { exitCode: 0 };
  };
}

const absolute = (path) => (path.startsWith("/") ? path : `${CWD}/${path}`);

/** The entries of a case by kind. */
function entries(files = {}) {
  const [contents, links, directories] = [{}, [], []];
  for (const [path, entry] of Object.entries(files)) {
    const keys = typeof entry === "string" ? "" : Object.keys(entry).join();
    if (keys === "link") links.push([entry.link, absolute(path)]);
    else if (keys === "directory" && entry.directory) directories.push(absolute(path));
    else contents[absolute(path)] = new Uint8Array(bytesOf(entry));
  }
  return { contents, links, directories };
}

const ENVIRONMENTS = {
  memory({ files, shell: script, shells }) {
    const { contents, links, directories } = entries(files);
    const env = memory(contents, { cwd: CWD, exec: shell(script), ...(shells && { shells }) });
    for (const [target, path] of links) env.symlink(target, path);
    for (const path of directories) env.createDir(path);
    return env;
  },
  /** Without its shell: a case without a script has none. */
  async "just-bash"({ files }) {
    const { contents, links, directories } = entries(files);
    const bash = new Bash({ files: contents, cwd: CWD });
    for (const [target, path] of links) await bash.fs.symlink(target, path);
    for (const path of directories) await bash.fs.mkdir(path, { recursive: true });
    const { exec: _exec, shells: _shells, ...env } = justBash(bash);
    return env;
  },
};

/** Everything that there is: files with their bytes, links as what they are. */
async function tree(env, directory = "/", found = new Map()) {
  for (const { path, kind } of await env.listDir(directory)) {
    if (kind === "directory") await tree(env, path, found);
    else found.set(path, kind === "file" ? shown(await env.readBinaryFile(path)) : "(a link)");
  }
  return found;
}

/** Bytes as text that two different ones never share. */
function shown(bytes) {
  const text = Buffer.from(bytes).toString("utf8");
  return Buffer.from(text).equals(bytes) ? text : `hex ${Buffer.from(bytes).toString("hex")}`;
}

/** Runs a call; checks what holds of every call. */
async function run(stage, call) {
  known("call", call);
  const events = [];
  const unsubscribe = stage.toolset.subscribe((event) => events.push(event));
  stage.writes = 0;
  const result = await stage.toolset.call({ id: "1", ...call });
  unsubscribe();
  assert.equal(events[0]?.type, "tool_execution_start");
  assert.equal(events.at(-1)?.type, "tool_execution_end");
  const ends = events.filter((event) => event.type === "tool_execution_end");
  assert.deepEqual(
    ends.map((event) => event.result),
    [result],
  );
  const mutations = events.filter((event) => event.type === "mutation");
  assert.equal(mutations.length, stage.writes, "writes");
  const text = result.content.flatMap((part) => part.text ?? []).join("\n");
  assert.ok(text.isWellFormed(), "well-formed text");
  assert.ok(JSON.stringify(result.details).isWellFormed(), "well-formed details");
  return { ...result, text };
}

/** The call, about the latest file of a whole output where it says `{path}`. */
function about(call, spill) {
  const { arguments: args } = call;
  return args.path === "{path}" && spill ? { ...call, arguments: { ...args, path: spill } } : call;
}

/** The file of the whole output, where there is one: exactly where it is expected, and with what is expected. */
async function checkSpill(env, { details }, { spill }) {
  const path = details.fullOutputPath;
  const found = path === undefined ? undefined : shown(await env.readBinaryFile(path));
  assert.equal(found, spill === undefined ? undefined : shown(bytesOf(spill)), "spill");
  return path;
}

function checkResult(result, expected, spill = "{path}") {
  known("result", expected);
  const { text } = result;
  assert.equal(result.isError, expected.isError, text);
  assert.equal(result.details.code, expected.code);
  assert.equal(expected.isError, expected.code !== undefined, "a code exactly where isError is true");
  assert.ok(expected.text !== undefined || expected.contains?.length > 0, "expected text or contains");
  if (expected.text !== undefined) assert.equal(text, textOf(expected.text).replaceAll("{path}", spill));
  checkText(text, expected);
  const images = result.content.filter(({ type }) => type === "image");
  const data = (image) => bytesOf(known("image", image).data).toString("base64");
  assert.deepEqual(
    images,
    expected.image ? [{ type: "image", data: data(expected.image), mimeType: expected.image.mimeType }] : [],
  );
  if (expected.details) checkPart(result.details, expected.details, "details");
}

function checkText(text, { contains = [], lacks = [], atMost }) {
  for (const part of contains) assert.ok(text.includes(part), `expected ${part}\nin ${text.slice(0, 4000)}`);
  for (const part of lacks) assert.ok(!text.includes(part), `expected no ${part}\nin ${text.slice(0, 4000)}`);
  if (atMost !== undefined) assert.ok(Buffer.byteLength(text) <= atMost, `at most ${atMost} bytes`);
}

/** Of an object some keys, of a list each item; null is also what is not there. */
function checkPart(found, expected, at) {
  if (expected !== null && typeof expected === "object" && !Array.isArray(expected)) {
    assert.ok(found !== null && typeof found === "object", at);
    for (const [key, value] of Object.entries(expected)) checkPart(found[key], value, `${at}.${key}`);
  } else assert.deepEqual(found ?? null, expected, at);
}

/** Reads on as each hint says: the pages together are the file. */
async function checkFollow(stage, { follow, file, pages }) {
  const whole = (await tree(stage.env)).get(absolute(file));
  let read = "";
  let args = { ...follow.arguments };
  for (let page = 1; ; page++) {
    const result = await run(stage, { ...follow, arguments: args });
    assert.ok(!result.isError && page <= pages, `page ${page} of ${pages}: ${result.text.slice(-300)}`);
    // A page is text, then an empty line and the hint where there is one.
    const [, text, hint] = /^(.*)\n\n(\[[^\n]*\])$/s.exec(result.text) ?? [undefined, result.text, ""];
    const offset = /offset=(\d+)/.exec(hint)?.[1];
    const column = /column=(\d+)/.exec(hint)?.[1];
    read += hint && column === undefined ? `${text}\n` : text;
    if (offset === undefined) {
      assert.equal(page, pages, "pages");
      break;
    }
    const { column: _column, ...rest } = args;
    args = { ...rest, offset: Number(offset), ...(column && { column: Number(column) }) };
  }
  // Whether the last line has a break is not to be seen where it came in slices.
  assert.ok(read === whole || read === `${whole}\n` || `${read}\n` === whole, "the pages are the file");
}

function checkValidate(validate) {
  const { schema, arguments: args, incomplete, value, error } = known("validate", validate);
  assert.ok((value === undefined) !== (error === undefined), "expected either value or error");
  const check = () =>
    validateToolArguments({ name: "t", parameters: schema }, { arguments: args, incomplete });
  if (error === undefined) return assert.deepEqual(check(), value);
  known("error", error);
  assert.throws(check, (thrown) => {
    assert.equal(thrown.code, error.code, thrown.message);
    checkText(thrown.message, error);
    assert.ok(thrown.message.isWellFormed());
    return true;
  });
}

async function checkCase(given, makeEnv) {
  const inner = await makeEnv(given);
  const stage = { writes: 0 };
  stage.env = {
    ...inner,
    writeFile(...args) {
      stage.writes++;
      return inner.writeFile(...args);
    },
  };
  stage.toolset = await createToolset(stage.env, given.options);
  if (given.active) assert.deepEqual(stage.toolset.active, given.active);
  const expected = await tree(inner);
  const spills = [];
  for (const step of given.steps ?? []) {
    known("step", step);
    if (step.follow) await checkFollow(stage, step);
    else {
      const result = await run(stage, about(step.call, spills.at(-1)));
      const spill = await checkSpill(inner, result, step.result);
      if (spill !== undefined) spills.push(spill);
      checkResult(result, step.result, spill);
    }
  }
  for (const [path, content] of Object.entries(given.after ?? {})) {
    if (content === null) expected.delete(absolute(path));
    else expected.set(absolute(path), shown(bytesOf(content)));
  }
  const found = await tree(inner);
  for (const path of spills) found.delete(path);
  assert.deepEqual(found, expected);
  stage.toolset.dispose();
}

await init();
assert.ok(cases.length >= 100, `only ${cases.length} cases in tests/cases`);
for (const name of cases) {
  const given = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  test(`${name}: ${given.title}`, async (t) => {
    known("case", given);
    assert.ok(given.title && given.why && (given.steps ?? given.validate)?.length > 0);
    if (given.validate) await t.test("validate", () => given.validate.forEach(checkValidate));
    if (!given.steps) return;
    for (const [place, makeEnv] of Object.entries(ENVIRONMENTS)) {
      if (place === "just-bash" && given.shell) continue;
      await t.test(place, () => checkCase(given, makeEnv));
    }
  });
}
