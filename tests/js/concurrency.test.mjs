// Many calls at once: none is lost, none overtakes another on the same file, nothing is left behind.
import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import v8 from "node:v8";
import vm from "node:vm";
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
import {
  assertFailed,
  bytes,
  deferred,
  nothingEscaped,
  nothingLeft,
  run,
  sleep,
  soon,
  stillWorks,
  textOf,
  until,
} from "./support/hold.mjs";

afterEach(async () => {
  await nothingEscaped();
  await nothingLeft();
});

const METHODS = ["readBinaryFile", "writeFile", "fileInfo", "listDir", "canonicalPath", "createDir"];

/** Memory whose every method answers later: after what `delay` says, a turn of the loop for 0. */
function slow(env, delay) {
  const plain = Object.fromEntries(METHODS.map((method) => [method, env[method]]));
  for (const method of METHODS) {
    env[method] = async (...args) => {
      await sleep(delay(method, ...args));
      // The signal is not looked at: an environment that goes on regardless is the harder case.
      return plain[method](...args.filter((arg) => !arg?.signal));
    };
  }
  return env;
}

/** A write takes longer than finding and reading a file: an edit that did not wait for it would read too early. */
const slowToWrite = (ms) => (method) => (method === "writeFile" ? 5 * ms : ms);

const edit = (toolset, path, oldText, newText, options) =>
  run(toolset, "edit", { path, edits: [{ oldText, newText }] }, options);
const contentOf = (env, path) => new TextDecoder().decode(env.snapshot()[path]);

/** Memory whose writes wait until they are let through, one by one. */
function gated(files) {
  const env = memory(files);
  const { writeFile } = env;
  const writes = [];
  env.writeFile = async (path, content) => {
    const gate = deferred();
    writes.push({ path, content: new TextDecoder().decode(content), gate });
    await gate.promise;
    writeFile(path, content);
  };
  return { env, writes };
}

test("ten calls at once on one toolset", async () => {
  const env = slow(
    memory(Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, `text ${i}`]))),
    () => 5,
  );
  let running = 0;
  let most = 0;
  env.exec = async (command, { onStdout }) => {
    most = Math.max(most, ++running);
    onStdout(`ran ${command}`);
    await sleep(5);
    running--;
    return { exitCode: 0 };
  };
  const toolset = await createToolset(env);
  const results = await Promise.all(
    Array.from({ length: 10 }, (_, i) => {
      if (i % 3 === 0) return run(toolset, "read", { path: `f${i}` });
      if (i % 3 === 1) return run(toolset, "bash", { command: `c${i}` });
      return run(toolset, "write", { path: `dir/n${i}`, content: `new ${i}` });
    }),
  );
  results.forEach((result, i) => {
    const expected = [`text ${i}`, `ran c${i}`, `Successfully wrote 5 bytes to dir/n${i}`][i % 3];
    assert.equal(textOf(result), expected);
  });
  assert.equal(most, 3);
});

describe("two edits of one file at once (C01)", () => {
  const cases = {
    "on one toolset": async (env) => {
      const toolset = await createToolset(env);
      return [toolset, toolset];
    },
    "on two toolsets over one environment": (env) => Promise.all([createToolset(env), createToolset(env)]),
  };
  for (const [title, make] of Object.entries(cases)) {
    test(title, async () => {
      const env = slow(memory({ "race.txt": "50\n75\n" }), slowToWrite(20));
      const [one, other] = await make(env);
      const results = await Promise.all([
        edit(one, "race.txt", "50", "FIFTY"),
        edit(other, "./race.txt", "75", "SEVENTY"),
      ]);
      for (const result of results) assert.equal(result.isError, false, textOf(result));
      assert.equal(contentOf(env, "/race.txt"), "FIFTY\nSEVENTY\n");
    });
  }

  test("through a link", async () => {
    const env = slow(memory({ "race.txt": "50\n75\n" }), slowToWrite(5));
    env.symlink("/race.txt", "/link.txt");
    const toolset = await createToolset(env);
    await Promise.all([edit(toolset, "link.txt", "50", "FIFTY"), edit(toolset, "race.txt", "75", "SEVENTY")]);
    assert.equal(contentOf(env, "/race.txt"), "FIFTY\nSEVENTY\n");
  });

  test("of a toolset that is disposed, and one that is made after that", async () => {
    const { env, writes } = gated({ "race.txt": "50\n75\n" });
    const first = await createToolset(env);
    const one = edit(first, "race.txt", "50", "FIFTY");
    await until(() => writes.length === 1, "the first write");
    first.dispose();
    const second = await createToolset(env);
    const other = edit(second, "race.txt", "75", "SEVENTY");
    await sleep(5);
    assert.equal(writes.length, 1);
    writes[0].gate.resolve();
    await until(() => writes.length === 2, "the second write");
    writes[1].gate.resolve();
    assert.equal((await one).isError, false);
    assert.equal((await other).isError, false);
    assert.equal(contentOf(env, "/race.txt"), "FIFTY\nSEVENTY\n");
  });

  test("thirty edits arrive in order", async () => {
    const lines = Array.from({ length: 30 }, (_, i) => `line ${i} end`);
    const env = slow(memory({ f: lines.join("\n") }), () => 0);
    const toolset = await createToolset(env);
    await Promise.all(lines.map((line, i) => edit(toolset, "f", line, `LINE ${i}`)));
    assert.equal(contentOf(env, "/f"), lines.map((_, i) => `LINE ${i}`).join("\n"));
  });
});

test("a failure or an abort does not block the queue (C03)", async () => {
  const env = memory({ f: "a\nb\nc\n" });
  const { writeFile } = env;
  const gate = deferred();
  let writes = 0;
  env.writeFile = async (...args) => {
    if (++writes === 1) {
      await gate.promise;
      throw Object.assign(new Error("disk on fire"), { code: "EIO" });
    }
    return writeFile(...args);
  };
  const toolset = await createToolset(env);
  const controller = new AbortController();
  const first = edit(toolset, "f", "a", "A");
  const second = edit(toolset, "f", "b", "B");
  const third = edit(toolset, "f", "c", "C", { signal: controller.signal });
  await until(() => writes === 1, "the first write");
  controller.abort();
  const aborted = await third;
  assertFailed(aborted, "aborted");
  assert.equal(textOf(aborted), "Operation aborted");
  gate.resolve();
  assertFailed(await first, "unknown");
  assert.equal((await second).isError, false);
  assert.equal(contentOf(env, "/f"), "a\nB\nc\n");
  assert.equal(writes, 2);
});

test("an abort in the middle of a write (C10)", async () => {
  const { env, writes } = gated({ f: "old" });
  const toolset = await createToolset(env);
  const events = [];
  toolset.subscribe(({ type, toolCallId, change }) =>
    events.push([type, toolCallId, change?.linesAdded].join(" ").trim()),
  );
  const controller = new AbortController();
  const order = [];
  const call = (id, content, signal) =>
    soon(toolset.call({ id, name: "write", arguments: { path: "f", content } }, { signal })).then(
      (result) => {
        order.push(id);
        return result;
      },
    );
  const first = call("first", "first", controller.signal);
  const second = call("second", "second");
  await until(() => writes.length === 1, "the first write");
  controller.abort();
  const result = await first;
  assertFailed(result, "aborted");
  assert.equal(textOf(result), "Operation aborted; the write to f had begun and may land");
  await sleep(5);
  assert.equal(writes.length, 1, "the second write overtook the first");
  writes[0].gate.resolve();
  await until(() => writes.length === 2, "the second write");
  assert.equal(contentOf(env, "/f"), "first");
  writes[1].gate.resolve();
  assert.equal((await second).isError, false);
  assert.equal(contentOf(env, "/f"), "second");
  assert.deepEqual(order, ["first", "second"]);
  // What landed after all is told, after the end of its call.
  assert.deepEqual(events, [
    "tool_execution_start first",
    "tool_execution_start second",
    "tool_execution_end first",
    "mutation first 1",
    "mutation second 1",
    "tool_execution_end second",
  ]);
});

test("a write that fails after its abort frees the file all the same", async () => {
  const { env, writes } = gated({ f: "old" });
  const toolset = await createToolset(env);
  const controller = new AbortController();
  const first = edit(toolset, "f", "old", "new", { signal: controller.signal });
  const second = edit(toolset, "f", "old", "second");
  await until(() => writes.length === 1);
  controller.abort();
  assertFailed(await first, "aborted");
  writes[0].gate.reject(new Error("never landed"));
  await until(() => writes.length === 2);
  writes[1].gate.resolve();
  assert.equal((await second).isError, false);
  assert.equal(contentOf(env, "/f"), "second");
});

test("edits of different files overlap in time", async () => {
  const { env, writes } = gated({ a: "1", b: "1", c: "1" });
  const toolset = await createToolset(env);
  const calls = ["a", "b", "c"].map((path) => edit(toolset, path, "1", "2"));
  await until(() => writes.length === 3, "three writes at once");
  // The last one first: none waits for another.
  for (const write of writes.reverse()) write.gate.resolve();
  for (const result of await Promise.all(calls)) assert.equal(result.isError, false);
});

test("two environments have two queues", async () => {
  const [one, other] = [gated({ f: "1" }), gated({ f: "1" })];
  const calls = [
    edit(await createToolset(one.env), "f", "1", "2"),
    edit(await createToolset(other.env), "f", "1", "2"),
  ];
  await until(() => one.writes.length === 1 && other.writes.length === 1, "both writes");
  one.writes[0].gate.resolve();
  other.writes[0].gate.resolve();
  for (const result of await Promise.all(calls)) assert.equal(result.isError, false);
});

test("dispose() lets what runs finish, and nothing begin", async () => {
  const { env, writes } = gated({ "good.txt": "good\n", f: "old" });
  const toolset = await createToolset(env);
  const running = edit(toolset, "f", "old", "new");
  const queued = edit(toolset, "f", "new", "newer");
  await until(() => writes.length === 1);
  toolset.dispose();
  toolset[Symbol.dispose]();
  const events = [];
  toolset.subscribe((event) => events.push(event.type));
  assertFailed(await run(toolset, "read", { path: "good.txt" }), "disposed");
  assert.deepEqual(events, ["tool_execution_start", "tool_execution_end"]);
  writes[0].gate.resolve();
  await until(() => writes.length === 2);
  writes[1].gate.resolve();
  assert.equal((await running).isError, false);
  assert.equal((await queued).isError, false);
  assert.equal(contentOf(env, "/f"), "newer");
  // Another one over the same environment is not touched by it.
  await stillWorks(await createToolset(env));
});

test("toolsets that were forgotten are freed while calls run", async () => {
  v8.setFlagsFromString("--expose-gc");
  const gc = vm.runInNewContext("gc");
  const env = slow(memory({ "good.txt": "good\n" }), () => 3);
  const calls = [];
  for (let i = 0; i < 50; i++) calls.push(run(await createToolset(env), "read", { path: "good.txt" }));
  gc();
  await sleep(5);
  for (const result of await Promise.all(calls)) assert.equal(textOf(result), "good\n");
  gc();
  await sleep(5);
  await stillWorks(await createToolset(env));
});

/** mulberry32: the same run every time. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

test("200 random interleavings of edits and aborts on three files end consistent", async () => {
  await Promise.all(
    Array.from({ length: 200 }, async (_, seed) => {
      const pick = random(seed);
      const slots = 12;
      const start = Array.from({ length: slots }, (_, i) => `<${i}>\n`).join("");
      const env = slow(memory({ a: start, b: start, c: start }), () => pick(3));
      const landed = [];
      const stored = env.writeFile;
      const inFlight = new Set();
      env.writeFile = async (path, ...rest) => {
        if (pick(10) === 0) throw Object.assign(new Error("no"), { code: "EBUSY" });
        assert.ok(!inFlight.has(path), "two writes of one file at once");
        inFlight.add(path);
        await stored(path, ...rest);
        inFlight.delete(path);
      };
      const toolsets = [await createToolset(env), await createToolset(env)];
      for (const toolset of toolsets) {
        toolset.subscribe((event) => {
          if (event.type === "mutation") landed.push([event.change.path, event.toolCallId]);
        });
      }
      const calls = [];
      for (let slot = 0; slot < slots; slot++) {
        const path = ["a", "./b", "/c"][pick(3)];
        const controller = new AbortController();
        const call = {
          id: `${slot}`,
          name: "edit",
          arguments: { path, oldText: `<${slot}>`, newText: `[${slot}]` },
        };
        const options = { signal: controller.signal };
        calls.push(
          soon(toolsets[pick(2)].call(call, options), 20_000).then((result) => ({ slot, path, result })),
        );
        if (pick(3) === 0) setTimeout(() => controller.abort(), pick(12));
        if (pick(2) === 0) await sleep(pick(4));
      }
      const results = await Promise.all(calls);
      await until(() => inFlight.size === 0, "the end of the writes");
      await sleep(5);
      const snapshot = env.snapshot();
      for (const { slot, path, result } of results) {
        const file = `/${path.replace(/^\W*/, "")}`;
        const text = new TextDecoder().decode(snapshot[file]);
        const isThere = text.includes(`[${slot}]`);
        const isTold = landed.some(([where, id]) => where === file && id === `${slot}`);
        // Exactly one of the two, never both and never neither.
        assert.notEqual(isThere, text.includes(`<${slot}>`), `seed ${seed}, slot ${slot}: torn`);
        if (!result.isError) assert.ok(isThere, `seed ${seed}, slot ${slot}: lost`);
        else if (!/may land/.test(textOf(result)))
          assert.ok(!isThere, `seed ${seed}, slot ${slot}: denied but there`);
        if (result.isError) assert.ok(["aborted", "busy"].includes(result.details.code), textOf(result));
        // What landed was told, whatever the call had answered by then.
        assert.equal(isTold, isThere, `seed ${seed}, slot ${slot}: ${textOf(result)}`);
      }
    }),
  );
});

test("everything at once on one file, with reads between", async () => {
  const env = slow(memory({ f: "0" }), () => 0);
  const toolset = await createToolset(env);
  const calls = [];
  for (let i = 0; i < 40; i++) {
    calls.push(run(toolset, "write", { path: "f", content: `${i}` }));
    calls.push(run(toolset, "read", { path: "f" }));
  }
  for (const result of await Promise.all(calls)) assert.equal(result.isError, false);
  assert.deepEqual(env.snapshot()["/f"], bytes("39"));
});
