// An environment's own lock, such as Web Locks between two tabs: held around each change of a file, let go of
// whatever becomes of it.
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createToolset, withFileMutationQueue } from "tackroom";
import { memory } from "tackroom/env/memory";
import {
  assertFailed,
  deferred,
  nothingEscaped,
  nothingLeft,
  run,
  sleep,
  soon,
  textOf,
} from "./support/hold.mjs";

afterEach(async () => {
  await nothingEscaped();
  await nothingLeft();
});

const edit = (toolset, path, oldText, newText, options) =>
  run(toolset, "edit", { path, edits: [{ oldText, newText }] }, options);
const contentOf = (env, path) => new TextDecoder().decode(env.snapshot()[path]);

/** What navigator.locks does: one holder of a name at a time, in order. */
function lockManager() {
  const tails = new Map();
  const log = [];
  const lock = (name, run) => {
    const held = (tails.get(name) ?? Promise.resolve()).then(async () => {
      log.push(`+${name}`);
      try {
        return await run();
      } finally {
        log.push(`-${name}`);
      }
    });
    tails.set(
      name,
      held.catch(() => {}),
    );
    return held;
  };
  return { lock, log };
}

/** Another tab: an environment of its own over the same files, every step of which takes a while. */
function tab(files, lock) {
  const later =
    (method) =>
    async (...args) => {
      await sleep(2);
      return files[method](...args);
    };
  const methods = ["readBinaryFile", "writeFile", "fileInfo", "listDir", "canonicalPath", "createDir"];
  return { cwd: "/", ...Object.fromEntries(methods.map((method) => [method, later(method)])), lock };
}

test("two tabs that edit one file lose nothing", async () => {
  const files = memory({ "f.txt": Array.from({ length: 20 }, (_, n) => `<${n}>\n`).join("") });
  const { lock, log } = lockManager();
  const tabs = await Promise.all([createToolset(tab(files, lock)), createToolset(tab(files, lock))]);
  const edits = Array.from({ length: 20 }, (_, n) => edit(tabs[n % 2], "f.txt", `<${n}>`, `[${n}]`));
  for (const result of await soon(Promise.all(edits))) assert.equal(result.isError, false, textOf(result));
  assert.equal(contentOf(files, "/f.txt"), Array.from({ length: 20 }, (_, n) => `[${n}]\n`).join(""));
  assert.deepEqual(
    log,
    Array.from({ length: 20 }, () => ["+/f.txt", "-/f.txt"]).flat(),
    "by the canonical path, one after the other",
  );
});

test("without the lock they would", async () => {
  const files = memory({ "f.txt": "<0>\n<1>\n" });
  const tabs = await Promise.all([createToolset(tab(files)), createToolset(tab(files))]);
  await Promise.all([edit(tabs[0], "f.txt", "<0>", "[0]"), edit(tabs[1], "f.txt", "<1>", "[1]")]);
  assert.notEqual(contentOf(files, "/f.txt"), "[0]\n[1]\n", "else the test above shows nothing");
});

test("a failing edit lets go", async () => {
  const { lock, log } = lockManager();
  const env = Object.assign(memory({ "f.txt": "a\n" }), { lock });
  const toolset = await createToolset(env);
  assertFailed(await edit(toolset, "f.txt", "none", "x"), "no_match");
  assert.equal((await soon(edit(toolset, "f.txt", "a", "b"))).isError, false);
  assert.deepEqual(log, ["+/f.txt", "-/f.txt", "+/f.txt", "-/f.txt"]);
});

test("a wait for the lock can be aborted, and what was asked for is let go of when it comes", async () => {
  const { lock, log } = lockManager();
  const elsewhere = deferred();
  const other = lock("/f.txt", () => elsewhere.promise);
  const toolset = await createToolset(Object.assign(memory({ "f.txt": "a\n" }), { lock }));
  const controller = new AbortController();
  const waiting = edit(toolset, "f.txt", "a", "b", { signal: controller.signal });
  await sleep(2);
  controller.abort();
  const result = await soon(waiting);
  assertFailed(result, "aborted");
  assert.equal(textOf(result), "Operation aborted", "nothing had begun");
  elsewhere.resolve();
  await other;
  assert.equal((await soon(edit(toolset, "f.txt", "a", "c"))).isError, false);
  assert.equal(log.filter((entry) => entry.startsWith("+")).length, 3);
});

test("a lock that fails, or lets go at once, is an error of that call alone", async () => {
  for (const lock of [
    async () => {
      throw Object.assign(new Error("no locks here"), { code: "EBUSY" });
    },
    () => undefined,
    async () => {},
    () => {
      throw "a string";
    },
  ]) {
    const env = Object.assign(memory({ "f.txt": "a\n" }), { lock });
    const toolset = await createToolset(env);
    assertFailed(await soon(edit(toolset, "f.txt", "a", "b")));
    assert.equal(contentOf(env, "/f.txt"), "a\n");
    assert.equal((await run(toolset, "read", { path: "f.txt" })).isError, false);
  }
});

test("a host's own place in the queue holds it, too", async () => {
  const { lock, log } = lockManager();
  const env = Object.assign(memory({ "f.txt": "a\n" }), { lock });
  const seen = await withFileMutationQueue(env, "./f.txt", async () => [...log]);
  assert.deepEqual(seen, ["+/f.txt"]);
  await sleep(1);
  assert.deepEqual(log, ["+/f.txt", "-/f.txt"]);
});
