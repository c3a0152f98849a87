// A trap in the core (C09): everything in flight is answered, the process lives, the next call works. It runs a
// module that traps after the environment has answered what is at a path that ends in /__trap__.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { afterEach, before, beforeEach, describe, mock, test } from "node:test";
import {
  createToolset,
  init,
  OutputAccumulator,
  validateToolArguments,
  withFileMutationQueue,
} from "tackroom";
import { memory } from "tackroom/env/memory";
import {
  assertFailed,
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

const FAULT = new URL("../../target/fault/core.wasm", import.meta.url);
const skip = !existsSync(FAULT) && "there is no target/fault/core.wasm: cargo xtask test builds it";

const files = (more = {}) =>
  memory({ "good.txt": "good\n", "file.txt": "one\n", "dir/__trap__": "boom", ...more });
const TRAP = ["read", { path: "dir/__trap__" }];
const contentOf = (env, path) => new TextDecoder().decode(env.snapshot()[path]);

/** Replaces methods; each gets the original first. */
function patched(env, methods) {
  for (const [name, method] of Object.entries(methods)) {
    const original = env[name];
    env[name] = (...args) => method(original, ...args);
  }
  return env;
}

/** The trap comes after a wait, so that other calls are in flight by then. */
const trapsLater = (env) =>
  patched(env, {
    readBinaryFile: async (read, path, options) => {
      await sleep(path.endsWith("/__trap__") ? 5 : 0);
      return read(path, path.endsWith("/__trap__") ? undefined : options);
    },
  });

describe("a trap", { skip }, () => {
  let said;
  before(() => init({ core: readFileSync(FAULT) }));
  beforeEach(() => {
    // The panic's own words, and what listeners throw.
    said = mock.method(console, "error", () => {});
  });
  afterEach(async () => {
    said.mock.restore();
    await nothingEscaped();
  });

  /** Four calls in flight, one of which traps. */
  async function four(options) {
    const env = trapsLater(files({ "waits.txt": "x", "slow.txt": "old text" }));
    const signals = {};
    const pending = { read: deferred(), write: deferred(), exec: deferred() };
    const seen = (what, { signal }) => {
      signals[what] = signal;
      return pending[what].promise;
    };
    patched(env, {
      readBinaryFile: async (read, path, options) => {
        if (path === "/waits.txt") await seen("read", options);
        return read(path, options);
      },
      writeFile: async (write, path, content, options) => {
        if (path === "/slow.txt") await seen("write", options);
        return write(path, content);
      },
    });
    let push;
    env.exec = async (_, options) => {
      push = options.onStdout;
      push("running\n");
      await seen("exec", options);
      return { exitCode: 0 };
    };
    const toolset = await createToolset(env, options);
    const events = [];
    toolset.subscribe(({ type, toolName, isError }) => events.push([type, toolName, isError]));
    const calls = [
      run(toolset, "read", { path: "waits.txt" }),
      run(toolset, "bash", { command: "sleep" }),
      run(toolset, "write", { path: "slow.txt", content: "new text" }),
      run(toolset, ...TRAP),
    ];
    await until(() => Object.keys(signals).length === 3, "three calls in flight");
    return { env, toolset, calls, signals, pending, events, push };
  }

  test("under a command that waits for its output to be stored: it no longer does", async () => {
    const env = trapsLater(files());
    env.appendFile = () => new Promise(() => {});
    let room;
    let push;
    let signal;
    let isWaiting = true;
    env.exec = async (_, options) => {
      ({ onStdout: push, signal } = options);
      // What comes first is on its way to the store, the rest waits for it.
      for (; room === undefined; await sleep(0)) room = push(new Uint8Array(60_000).fill(120));
      await room;
      isWaiting = false;
      return { exitCode: 0 };
    };
    const toolset = await createToolset(env);
    const call = run(toolset, "bash", { command: "x" });
    await until(() => room !== undefined, "a wait");
    await sleep(5);
    assert.equal(isWaiting, true);
    assertFailed(await run(toolset, ...TRAP), "trapped");
    assertFailed(await call, "trapped");
    await soon(room);
    assert.equal(signal.aborted, true);
    for (let nth = 0; nth < 50; nth++) assert.equal(push(new Uint8Array(60_000)), undefined);
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("with three other calls in flight (C09)", async () => {
    const { env, toolset, calls, signals, pending, events, push } = await four();
    for (const result of await Promise.all(calls)) {
      assertFailed(result, "trapped");
      assert.match(textOf(result), /restarted for the next one/);
    }
    for (const [what, signal] of Object.entries(signals)) assert.equal(signal.aborted, true, what);
    const ends = events.filter(([type]) => type === "tool_execution_end");
    assert.deepEqual(ends.map(([, name]) => name).sort(), ["bash", "read", "read", "write"]);
    assert.ok(ends.every(([, , isError]) => isError));
    await stillWorks(toolset);

    // What the dead instance was waiting for comes all the same, and reaches nobody.
    const told = events.length;
    push("late\n");
    push(new Uint8Array(1));
    pending.read.reject(new Error("late"));
    pending.exec.resolve();
    await sleep(2);
    assert.equal(events.length, told);

    // The write may land; until it has, nobody changes the file.
    const edit = run(toolset, "edit", { path: "slow.txt", edits: [{ oldText: "new", newText: "newer" }] });
    const overwrite = run(toolset, "write", { path: "./slow.txt", content: "last" });
    const elsewhere = await run(toolset, "write", { path: "file.txt", content: "two\n" });
    assert.equal(elsewhere.isError, false, "another file does not wait");
    await sleep(5);
    assert.equal(contentOf(env, "/slow.txt"), "old text");
    pending.write.resolve();
    assert.equal((await edit).isError, false, "it sees what the dead instance wrote");
    assert.equal((await overwrite).isError, false);
    assert.equal(contentOf(env, "/slow.txt"), "last");
    await nothingLeft();
  });

  test("an output that was being collected is lost, and says so", async () => {
    await init();
    const lost = new OutputAccumulator();
    lost.push("before");
    assertFailed(await run(await createToolset(trapsLater(files())), ...TRAP), "trapped");
    for (const use of [() => lost.push("after"), () => lost.snapshot(), () => lost.finish()])
      assert.throws(use, { code: "trapped", message: /start again with a new OutputAccumulator$/ });
    const next = new OutputAccumulator();
    next.push("next");
    lost.dispose();
    assert.equal(next.snapshot().content, "next");
    assert.throws(() => lost.snapshot(), { code: "disposed" });
  });

  test("what runs in a host's own place in the queue is waited for", async () => {
    const env = trapsLater(files());
    const toolset = await createToolset(env);
    const held = deferred();
    const own = withFileMutationQueue(env, "file.txt", async () => {
      await held.promise;
      await env.writeFile("/file.txt", new TextEncoder().encode("the host's\n"));
      return "done";
    });
    await sleep(2);
    assertFailed(await run(toolset, ...TRAP), "trapped");
    const edits = [{ oldText: "host's", newText: "model's" }];
    const edit = run(toolset, "edit", { path: "./file.txt", edits });
    await sleep(5);
    assert.equal(contentOf(env, "/file.txt"), "one\n", "the place outlives the instance");
    held.resolve();
    assert.equal(await soon(own), "done");
    assert.equal((await soon(edit)).isError, false);
    assert.equal(contentOf(env, "/file.txt"), "the model's\n");
    await nothingLeft();
  });

  test("a wait for the dead instance's write can be aborted; the write may fail", async () => {
    const { toolset, calls, pending, signals } = await four();
    await Promise.all(calls);
    const controller = new AbortController();
    const waits = { signal: controller.signal };
    const edit = run(toolset, "edit", { path: "slow.txt", edits: [{ oldText: "old", newText: "x" }] }, waits);
    await sleep(2);
    controller.abort();
    assertFailed(await edit, "aborted");
    assert.ok(signals.write.aborted);
    const next = run(toolset, "edit", { path: "slow.txt", edits: [{ oldText: "old", newText: "x" }] });
    const first = pending.write;
    pending.write = deferred();
    pending.write.resolve();
    first.reject(new Error("never landed"));
    assert.equal((await next).isError, false);
    await nothingLeft();
  });

  test("options and the active list are replayed", async () => {
    const env = patched(files(), {});
    let asked;
    env.exec = (_, options) => {
      asked = options;
      return { exitCode: 0 };
    };
    let model = "first";
    const toolset = await createToolset(env, {
      excludeTools: ["edit"],
      limits: { perTool: { read: { maxLines: 1 } } },
      session: () => ({ model }),
    });
    env.writeFile("/lines.txt", new TextEncoder().encode("1\n2\n3\n"));
    toolset.setActive(["bash", "read"]);
    const tools = JSON.stringify(toolset.tools);
    model = "second";
    assertFailed(await run(toolset, ...TRAP), "trapped");
    assert.match(textOf(await run(toolset, "read", { path: "lines.txt" })), /^1\n\n\[Showing lines 1-1 of 3/);
    assertFailed(await run(toolset, "write", { path: "x", content: "" }), "no_such_tool");
    assert.equal((await run(toolset, "bash", { command: "x" })).isError, false);
    assert.equal(asked.env.PI_MODEL, "second");
    assert.deepEqual(toolset.active, ["read", "bash"]);
    assert.deepEqual(toolset.registered, ["read", "bash", "write", "grep", "find", "ls"]);
    assert.equal(JSON.stringify(toolset.tools), tools);
    assert.deepEqual(toolset.setActive(["write"]).toolsRemoved, ["read", "bash"]);
    await nothingLeft();
  });

  test("in the call itself, where the environment answers at once", async () => {
    const toolset = await createToolset(files());
    for (let i = 0; i < 3; i++) {
      assertFailed(await run(toolset, ...TRAP), "trapped");
      await stillWorks(toolset);
    }
    assert.ok(said.mock.callCount() > 0, "the panic is said");
  });

  test("two in a row, and two at once", async () => {
    const toolset = await createToolset(trapsLater(files()));
    assertFailed(await run(toolset, ...TRAP), "trapped");
    assertFailed(await run(toolset, ...TRAP), "trapped");
    const both = await Promise.all([run(toolset, ...TRAP), run(toolset, ...TRAP)]);
    for (const result of both) assertFailed(result, "trapped");
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("other toolsets go on", async () => {
    const [one, other] = [await createToolset(files()), await createToolset(files())];
    other.setActive(["read"]);
    assertFailed(await run(one, ...TRAP), "trapped");
    await stillWorks(other);
    assert.deepEqual(other.active, ["read"]);
    one.dispose();
    assertFailed(await run(one, "read", { path: "/good.txt" }), "disposed");
    await stillWorks(other);
    // One that was never used since its instance died.
    const third = await createToolset(files());
    assertFailed(await run(other, ...TRAP), "trapped");
    third.dispose();
    await stillWorks(await createToolset(files()));
  });

  test("in a call that a callback began, while the frames of the outer one are on the stack", async () => {
    const inner = [];
    for (const method of ["readBinaryFile", "fileInfo", "writeFile", "exec"]) {
      const env = files();
      env.exec = () => ({ exitCode: 0 });
      patched(env, {
        [method]: (original, path, ...rest) => {
          if (path === "/good.txt" || path.endsWith("__trap__")) return original(path, ...rest);
          inner.push(run(toolset, ...TRAP));
          return original(path, ...rest);
        },
      });
      const toolset = await createToolset(env);
      const others = [run(toolset, "read", { path: "/good.txt" })];
      const outer = {
        exec: ["bash", { command: "x" }],
        writeFile: ["write", { path: "file.txt", content: "x" }],
      };
      const result = await run(toolset, ...(outer[method] ?? ["read", { path: "file.txt" }]));
      // It may have ended before the trap.
      if (result.isError) assertFailed(result, "trapped");
      for (const other of await Promise.all(others)) assert.equal(other.isError, false);
      for (const trapped of await Promise.all(inner)) assertFailed(trapped, "trapped");
      await stillWorks(toolset);
    }
    await nothingLeft();
  });

  test("listeners that hear of it are served by the next instance", async () => {
    const toolset = await createToolset(trapsLater(files()));
    const inner = [];
    const thrown = [];
    toolset.subscribe((event) => {
      if (event.type !== "tool_execution_end" || event.result.details.code !== "trapped") return;
      inner.push(run(toolset, "read", { path: "/good.txt" }));
      inner.push(createToolset(files()).then((other) => run(other, "read", { path: "/good.txt" })));
      const synchronous = [
        () => toolset.setActive(["read"]),
        () => validateToolArguments({ name: "t", parameters: {} }, { arguments: "{}" }),
      ];
      for (const attempt of synchronous) {
        try {
          attempt();
        } catch (error) {
          thrown.push(error);
        }
      }
      toolset.subscribe(() => {});
    });
    assertFailed(await run(toolset, ...TRAP), "trapped");
    for (const result of await soon(Promise.all(inner))) assert.equal(textOf(result), "good\n");
    // None of the dead one's frames is on the stack.
    assert.deepEqual(thrown, []);
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("a listener that hears of it disposes of the toolset", async () => {
    const toolset = await createToolset(trapsLater(files()));
    toolset.subscribe((event) => event.type === "tool_execution_end" && toolset.dispose());
    assertFailed(await run(toolset, ...TRAP), "trapped");
    assertFailed(await run(toolset, "read", { path: "/good.txt" }), "disposed");
    await stillWorks(await createToolset(files()));
    await nothingLeft();
  });

  test("while a hook is asked", async () => {
    for (const hook of ["beforeToolCall", "afterToolCall"]) {
      for (const end of ["resolve", "reject"]) {
        const pending = deferred();
        let signal;
        const toolset = await createToolset(trapsLater(files()), {
          [hook]: (call) => {
            if (call.args.path !== "file.txt") return;
            signal = call.signal;
            return pending.promise;
          },
        });
        const asked = run(toolset, "read", { path: "file.txt" });
        await until(() => signal);
        assertFailed(await run(toolset, ...TRAP), "trapped");
        assertFailed(await asked, "trapped");
        assert.equal(signal.aborted, true);
        pending[end](new Error("late"));
        await sleep(1);
        await stillWorks(toolset);
      }
    }
    await nothingLeft();
  });

  test("in a hook's call, at once", async () => {
    for (const hook of ["beforeToolCall", "afterToolCall"]) {
      let inner;
      const toolset = await createToolset(files(), {
        [hook]: ({ args }) => {
          if (args.path === "file.txt") inner = run(toolset, ...TRAP);
        },
      });
      const outer = await run(toolset, "read", { path: "file.txt" });
      if (outer.isError) assertFailed(outer, "trapped");
      assertFailed(await inner, "trapped");
      await stillWorks(toolset);
    }
  });

  test("what an environment rejects because of it is heard", async () => {
    const env = trapsLater(files());
    const aborted = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    patched(env, { fileInfo: (info, path, o) => (path === "/file.txt" ? aborted(o) : info(path, o)) });
    env.exec = (_, options) => aborted(options);
    const toolset = await createToolset(env);
    const calls = [
      run(toolset, "read", { path: "file.txt" }),
      run(toolset, "bash", { command: "x" }),
      run(toolset, "bash", { command: "x", timeout: 0.05 }),
      run(toolset, ...TRAP),
    ];
    for (const result of await Promise.all(calls)) assertFailed(result, "trapped");
    await sleep(60);
    await nothingEscaped();
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("an abort after it changes nothing", async () => {
    const { toolset, calls, pending } = await four();
    const controller = new AbortController();
    const extra = run(toolset, "bash", { command: "x" }, { signal: controller.signal });
    for (const result of await Promise.all([...calls, extra])) assertFailed(result, "trapped");
    controller.abort();
    pending.write.resolve();
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("tools[i].execute throws it", async () => {
    const toolset = await createToolset(files());
    const [read] = toolset.tools;
    await assert.rejects(read.execute("1", TRAP[1]), { name: "ToolError", code: "trapped" });
    const { content } = await read.execute("2", { path: "good.txt" });
    assert.equal(content[0].text, "good\n");
  });

  test("a hundred times: calls on three toolsets, a trap somewhere", async () => {
    const env = trapsLater(files());
    const toolsets = await Promise.all([1, 2, 3].map(() => createToolset(env)));
    for (let round = 0; round < 100; round++) {
      const calls = toolsets.map((toolset, i) =>
        i === round % 3
          ? run(toolset, ...TRAP)
          : run(toolset, "write", { path: `f${i}`, content: `${round}` }),
      );
      const results = await Promise.all(calls);
      assertFailed(results[round % 3], "trapped");
      results.forEach((result) => {
        if (result.isError) assertFailed(result, "trapped");
      });
    }
    for (const toolset of toolsets) await stillWorks(toolset);
    await nothingLeft();
  });
});
