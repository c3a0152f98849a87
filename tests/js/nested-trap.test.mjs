// A trap in an entry that is nested in another one: the frames of the dead instance are still on the stack, so it
// can't be replaced yet, and what is left of it goes on for a while. No input makes the core trap there; so the face's
// own parts are put together here, and an entry that fails stands for the trap.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, describe, test } from "node:test";
import { memory } from "tackroom/env/memory";
import { loadCore } from "../../pkg/dist/core.js";
import { CoreToolset } from "../../pkg/dist/toolset.js";
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
} from "./support/hold.mjs";

const module = await WebAssembly.compile(readFileSync(new URL("../../pkg/wasm/core.wasm", import.meta.url)));
const core = await loadCore(module);

afterEach(async () => {
  await nothingEscaped();
  await nothingLeft();
});

/** What a trap looks like from outside: the entry throws. */
const trap = () =>
  core.enter(() => {
    throw new WebAssembly.RuntimeError("unreachable");
  });

const files = () =>
  Object.assign(memory({ "good.txt": "good\n", "file.txt": "one\n" }), {
    exec: async (_, { onStdout }) => {
      onStdout("ran");
      return { exitCode: 0 };
    },
  });

const READ = ["read", { path: "file.txt" }];
const CALLS = {
  readBinaryFile: READ,
  fileInfo: READ,
  canonicalPath: ["edit", { path: "file.txt", oldText: "one", newText: "two" }],
  writeFile: ["write", { path: "file.txt", content: "new" }],
  createDir: ["write", { path: "dir/file.txt", content: "new" }],
  exec: ["bash", { command: "x" }],
};

/** What the callback does after the trap; the dead instance gets to see it. */
const AFTERWARDS = {
  "answers a value": (original) => original(),
  "answers nonsense": () => 5,
  throws: () => {
    throw new Error("after the trap");
  },
  "answers a promise": async (original) => original(),
  "answers a promise that is rejected": () => Promise.reject(new Error("after the trap")),
  "answers a promise that is rejected later": async () => {
    await sleep(2);
    throw new Error("after the trap");
  },
  "never settles": () => new Promise(() => {}),
};

for (const [method, call] of Object.entries(CALLS)) {
  describe(`in ${method}, which then`, () => {
    for (const [what, afterwards] of Object.entries(AFTERWARDS)) {
      test(what, async () => {
        const env = files();
        const original = env[method];
        const pending = deferred();
        const inner = [];
        const thrown = [];
        const signals = [];
        let isFirst = true;
        env[method] = (path, ...rest) => {
          const plain = () => original(path, ...rest);
          if (path === "/good.txt" || !isFirst) return plain();
          isFirst = false;
          trap();
          assert.equal(core.isReady, false, "frames of the dead instance are on the stack");
          // A call waits until it can be made; what can't wait says so.
          inner.push(run(toolset, "read", { path: "/good.txt" }));
          try {
            toolset.setActive(["read"]);
          } catch (error) {
            thrown.push(error.code);
          }
          // A second one is no news.
          trap();
          for (const late of rest) {
            late?.onStdout?.("late");
            if (late?.signal) signals.push(late.signal);
          }
          return afterwards(plain);
        };
        const toolset = new CoreToolset(core, env, {});
        const other = new CoreToolset(
          core,
          Object.assign(files(), { readBinaryFile: () => pending.promise }),
          {},
        );
        const waits = run(other, ...READ);
        const generation = core.generation;
        assertFailed(await run(toolset, ...call), "trapped");
        assertFailed(await waits, "trapped");
        assert.deepEqual(thrown, ["trapped"]);
        assert.deepEqual(
          signals.map((signal) => signal.aborted),
          [true],
        );
        assert.equal(textOf((await soon(Promise.all(inner)))[0]), "good\n");
        assert.equal(core.generation, generation + 1);
        pending.reject(new Error("late"));
        await sleep(3);
        await stillWorks(toolset);
        await stillWorks(toolset);
        assert.equal((await run(toolset, "bash", { command: "x" })).isError, false);
      });
    }
  });
}

describe("in a callback of the host's", () => {
  const hosts = {
    beforeToolCall: (trapOnce) => [{ beforeToolCall: trapOnce }],
    afterToolCall: (trapOnce) => [{ afterToolCall: trapOnce }],
    onUpdate: (trapOnce) => [{}, { onUpdate: trapOnce }],
    listener: (trapOnce) => [{}, {}, trapOnce],
  };
  for (const [what, host] of Object.entries(hosts)) {
    test(what, async () => {
      let isFirst = true;
      const trapOnce = () => {
        if (isFirst) trap();
        isFirst = false;
      };
      const [options, callOptions, listener] = host(trapOnce);
      const untilAborted = (_, { signal }) =>
        new Promise((end) => signal.addEventListener("abort", () => end({ exitCode: null })));
      const env = Object.assign(files(), { exec: untilAborted });
      const toolset = new CoreToolset(core, env, options);
      if (listener) toolset.subscribe(listener);
      const result = await run(toolset, "bash", { command: "x", timeout: 0.01 }, callOptions);
      // After the hook that comes last, the answer is as good as given.
      assertFailed(result, "trapped");
      await stillWorks(toolset);
      assertFailed(await run(toolset, "bash", { command: "x", timeout: 0.01 }), "timeout");
    });
  }
});

test("between two entries", async () => {
  const pending = deferred();
  const env = Object.assign(files(), { exec: () => pending.promise });
  const toolset = new CoreToolset(core, env, {});
  const controller = new AbortController();
  const waits = run(toolset, "bash", { command: "x" }, { signal: controller.signal });
  trap();
  controller.abort();
  toolset.setActive(["read"]);
  trap();
  assertFailed(await waits, "trapped");
  await stillWorks(toolset);
  assert.deepEqual(toolset.active, ["read"]);
  pending.resolve({ exitCode: 0 });
  await sleep(1);
  toolset.dispose();
  trap();
  toolset.dispose();
});
