// The file with the whole output of a command: over environments that there are, over such as store slowly, badly or
// not at all, and what a command is told meanwhile.
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Bash } from "just-bash";
import { createToolset } from "tackroom";
import { withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import {
  bytes,
  deferred,
  nothingEscaped,
  nothingLeft,
  run,
  says,
  sleep,
  soon,
  textOf,
  until,
} from "./support/hold.mjs";

const LINE = "0123456789abcde\n";
/** 64 KB. */
const CHUNK = bytes(LINE.repeat(4096));
const MB = 1 << 20;

/** An environment whose commands are this function. */
const scripted = (exec, files = { "/good.txt": "good\n" }) => memory(files, { exec });
const floods =
  (chunks) =>
  (_, { onStdout }) => {
    for (let nth = 0; nth < chunks; nth++) onStdout(CHUNK);
    return { exitCode: 0 };
  };
const bash = async (env, options, call) =>
  run(await createToolset(env, options), "bash", { command: "x" }, call);
const stored = (env, { details }) => Buffer.from(env.readBinaryFile(details.fullOutputPath)).toString();
const files = (env) => Object.keys(env.snapshot()).filter((path) => path.startsWith("/.tackroom/"));

describe("in every environment", () => {
  const numbers = Array.from({ length: 3000 }, (_, nth) => `${nth + 1}\n`).join("");
  const PLACES = {
    memory: () => ({
      env: memory({}, { cwd: "/work", exec: says(numbers) }),
    }),
    withShell: () => ({ env: withShell(memory({}, { cwd: "/work" }), Bash) }),
    async node() {
      const cwd = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
      return { env: node({ cwd }), tearDown: () => rm(cwd, { recursive: true }) };
    },
  };
  for (const [place, make] of Object.entries(PLACES))
    for (const root of [undefined, "."])
      test(`${place}${root ? ", under a root" : ""}: all of it is kept, named, read and searched`, async () => {
        const { env, tearDown } = await make();
        const tools = ["bash", "read", "grep", "edit", "write"];
        const toolset = await createToolset(env, root === undefined ? { tools } : { tools, root });
        const result = await run(toolset, "bash", { command: "seq 3000" });
        const { fullOutputPath: path, truncation } = result.details;
        assert.equal(result.isError, false, textOf(result));
        assert.ok(textOf(result).startsWith("1001\n1002\n"));
        assert.ok(textOf(result).endsWith(`3000\n\n[Showing lines 1001-3000 of 3000. Full output: ${path}]`));
        assert.deepEqual(
          [truncation.truncatedBy, truncation.totalLines, truncation.outputLines],
          ["lines", 3000, 2000],
        );
        assert.equal(Buffer.from(await env.readBinaryFile(path)).toString(), numbers);
        assert.ok(!path.startsWith(`${env.cwd}/`), "beside the work tree");
        const page = await run(toolset, "read", { path, offset: 17, limit: 2 });
        assert.match(textOf(page), /^17\n18\n/);
        const found = await run(toolset, "grep", { pattern: "^29.9$", path });
        assert.equal(textOf(found).split("\n").length, 10, textOf(found));
        for (const [tool, args] of [
          ["edit", { path, edits: [{ oldText: "17\n18\n", newText: "" }] }],
          ["write", { path, content: "" }],
        ]) {
          const change = await run(toolset, tool, args);
          assert.equal(change.details.code, root ? "outside_root" : undefined, textOf(change));
        }
        const other = await run(toolset, "bash", { command: "seq 3000" });
        assert.notEqual(other.details.fullOutputPath, path);
        toolset.dispose();
        for (const { details } of [result, other]) await env.remove(details.fullOutputPath);
        await tearDown?.();
      });

  test("what is beside such a file stays outside of a root", async () => {
    const env = scripted(floods(1));
    env.createDir("/work");
    const toolset = await createToolset({ ...env, cwd: "/work" }, { root: "/work", tools: ["bash", "read"] });
    const { details } = await run(toolset, "bash", { command: "x" });
    env.writeFile("/.tackroom/other.log", bytes("other"));
    assert.equal((await run(toolset, "read", { path: details.fullOutputPath, limit: 1 })).isError, false);
    const other = await run(toolset, "read", { path: "/.tackroom/other.log" });
    assert.equal(other.details.code, "outside_root");
    // Of another environment it is no such file.
    const elsewhere = await createToolset({ ...env, cwd: "/work" }, { root: "/work" });
    assert.equal(
      (await run(elsewhere, "read", { path: details.fullOutputPath })).details.code,
      "outside_root",
    );
  });

  test("what is shown whole in the end is removed: a progress bar is long only as it comes", async () => {
    for (const end of ["\n", "", "\ndone\n"]) {
      const frames = Array.from({ length: 20_000 }, (_, nth) => `\r${nth}%`).join("");
      const env = scripted(async (_, { onStderr }) => {
        onStderr(frames);
        await sleep(5);
        onStderr(end);
        return { exitCode: 0 };
      });
      let named = 0;
      const result = await bash(env, {}, { onUpdate: () => (named += files(env).length) });
      assert.equal(textOf(result), `19999%${end}`);
      assert.equal(result.details.fullOutputPath, undefined);
      assert.deepEqual(files(env), []);
    }
  });

  test("a short output makes no file, and one of exactly the limit neither", async () => {
    for (const text of ["a\n", "x".repeat(51_200), "a\n".repeat(2000)]) {
      const env = scripted(says(text));
      let made = 0;
      const counting = { ...env, createTempFile: () => (made++ === 0 ? env.createTempFile() : "/other") };
      assert.equal(textOf(await bash(counting)), text);
      assert.equal(made, 0);
    }
  });

  test("a failure, a timeout and an abort name it, too", async () => {
    const env = scripted(async (command, { onStdout, signal }) => {
      onStdout(CHUNK);
      if (command === "fail") return { exitCode: 7 };
      if (command === "throw") throw Object.assign(new Error("gone"), { code: "EIO" });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { exitCode: null };
    });
    const toolset = await createToolset(env);
    const controller = new AbortController();
    for (const [command, options, end] of [
      ["fail", {}, "Command exited with code 7"],
      ["throw", {}, "Command failed: gone"],
      ["wait", { timeout: 0.05 }, "Command timed out after 0.05 seconds"],
      ["wait", {}, "Command aborted"],
    ]) {
      const calls = run(toolset, "bash", { command, ...options }, { signal: controller.signal });
      if (end === "Command aborted") setTimeout(() => controller.abort(), 20);
      const result = await calls;
      assert.ok(result.isError && textOf(result).endsWith(`\n\n${end}`), textOf(result).slice(-200));
      assert.ok(textOf(result).includes(`Full output: ${result.details.fullOutputPath}]`));
      assert.equal(stored(env, result), LINE.repeat(4096));
    }
  });
});

describe("environments that store badly", () => {
  const NARROW = "The rest was not kept: narrow the command, or send its output to a file]";
  const without = (key) => {
    const { [key]: _, ...env } = scripted(floods(3));
    return env;
  };
  const failing = () => {
    throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
  };
  const refusing = () => ({ ok: false, error: { code: "no_space", message: "no space left" } });

  test("without what it takes, or where that fails, there is no path, and the hint says what to do", async () => {
    const env = scripted(floods(3));
    const self = {};
    self.self = self;
    const places = [
      without("createTempFile"),
      without("appendFile"),
      ...[failing, async () => failing(), refusing].flatMap((fail) => [
        { ...env, createTempFile: fail },
        { ...env, appendFile: fail },
      ]),
      ...[
        undefined,
        null,
        5,
        "",
        "relative.log",
        {},
        self,
        ["/a"],
        { ok: true, value: 7 },
        Symbol("s"),
        "/a\0",
      ].map((answer) => ({ ...env, createTempFile: () => answer })),
    ];
    for (const place of places) {
      const result = await bash(place);
      assert.equal(result.isError, false, textOf(result));
      assert.ok(
        textOf(result).endsWith(`[Showing lines 10289-12288 of 12288. ${NARROW}`),
        textOf(result).slice(-200),
      );
      assert.equal(result.details.fullOutputPath, undefined);
    }
    assert.deepEqual(files(env), []);
    await nothingEscaped();
    await nothingLeft();
  });

  test("Results are as good as values", async () => {
    const env = scripted(floods(3));
    const result =
      (make) =>
      async (...args) => ({ ok: true, value: await make(...args) });
    const wrapped = { ...env };
    for (const name of ["createTempFile", "appendFile", "remove", "canonicalPath", "readBinaryFile"])
      wrapped[name] = result(env[name]);
    assert.equal(stored(env, await bash(wrapped)), LINE.repeat(3 * 4096));
  });

  test("one that is full in the middle leaves a file that says what it lacks", async () => {
    let calls = 0;
    const env = scripted(async (_, { onStdout }) => {
      for (let nth = 0; nth < 40; nth++) await onStdout(CHUNK);
      return { exitCode: 0 };
    });
    const place = {
      ...env,
      appendFile: (path, content) => (++calls === 3 ? failing() : env.appendFile(path, content)),
    };
    const result = await bash(place);
    const whole = stored(env, result);
    assert.ok(whole.length > 0 && LINE.repeat(40 * 4096).startsWith(whole));
    assert.equal(calls, 3, "it is not asked again");
    assert.match(
      textOf(result),
      /\. Output, its first \d+(\.\d)?[KM]B only: \/\.tackroom\/\S+ \(no space left\)\]$/,
    );
  });

  test("one that never answers: an abort is answered within about a second", async () => {
    const never = () => new Promise(() => {});
    const env = scripted(floods(30));
    for (const method of ["createTempFile", "appendFile", "remove"]) {
      const removes = method === "remove";
      const exec = says(removes ? "\ra".repeat(50_000) : CHUNK);
      const controller = new AbortController();
      const call = bash({ ...env, exec, [method]: never }, {}, { signal: controller.signal });
      setTimeout(() => controller.abort(), 30);
      const started = performance.now();
      const result = await call;
      assert.ok(performance.now() - started < 3000, method);
      assert.ok(textOf(result).startsWith(removes ? "a" : LINE), method);
    }
    await nothingLeft();
  });

  test("a slow one gets every byte, once, in its order", async () => {
    const env = scripted(async (_, { onStdout, onStderr }) => {
      for (let nth = 0; nth < 60; nth++) {
        await onStdout(bytes(`${nth}\n`.repeat(20_000)));
        await onStderr(bytes(`e${nth}\n`));
      }
      return { exitCode: 0 };
    });
    let running = 0;
    const appendFile = async (path, content) => {
      assert.equal(running++, 0, "one at a time");
      await sleep(3);
      env.appendFile(path, content);
      running--;
    };
    const result = await bash({ ...env, appendFile });
    const expected = Array.from({ length: 60 }, (_, nth) => `${`${nth}\n`.repeat(20_000)}e${nth}\n`).join("");
    assert.ok(stored(env, result) === expected);
  });
});

describe("backpressure", () => {
  /** Opens gates as they come. */
  const opened = (gates) =>
    setInterval(() => {
      for (const gate of gates.splice(0)) gate.resolve();
    }, 1);

  /** Storing waits for a gate each time. */
  function gated(exec) {
    const env = scripted(exec);
    const gates = [];
    const appendFile = async (path, content) => {
      const gate = deferred();
      gates.push(gate);
      await gate.promise;
      env.appendFile(path, content);
    };
    return { env: { ...env, appendFile }, files: env, gates };
  }

  test("a promise only while the store is behind, settled when it no longer is", async () => {
    const waits = [];
    const { env, files, gates } = gated(async (_, { onStdout }) => {
      for (let nth = 0; nth < 64; nth++) {
        const room = onStdout(CHUNK);
        waits.push(room !== undefined);
        await room;
      }
      return { exitCode: 0 };
    });
    const call = bash(env);
    await until(() => waits.includes(true), "a wait");
    const atFirst = waits.length;
    // One batch on its way, and half a megabyte or so that waits.
    assert.ok(atFirst > 5 && atFirst < 20, `${atFirst}`);
    await sleep(30);
    assert.equal(waits.length, atFirst, "it waits");
    gates.shift().resolve();
    await until(() => waits.length > atFirst, "going on");
    const opening = opened(gates);
    const result = await call;
    clearInterval(opening);
    assert.equal(stored(files, result), LINE.repeat(64 * 4096));
    assert.ok(waits.filter(Boolean).length < 10, "not at every chunk");
  });

  test("a command that does not wait: 8 MB, and a mark", async () => {
    const { env, files, gates } = gated(async (_, { onStdout }) => {
      for (let nth = 0; nth < 320; nth++) onStdout(CHUNK);
      await sleep(1);
      return { exitCode: 0 };
    });
    const opening = opened(gates);
    const result = await bash(env);
    clearInterval(opening);
    const whole = stored(files, result);
    assert.ok(whole.length >= 8 * MB && whole.length < 10 * MB, `${whole.length}`);
    assert.ok(LINE.repeat(320 * 4096).startsWith(whole));
    const size = (whole.length / MB).toFixed(1);
    assert.ok(
      textOf(result).includes(`Output, its first ${size}MB only: ${result.details.fullOutputPath} (`),
    );
    assert.match(textOf(result), /\(it came faster than the environment stored it\)\]$/);
    assert.equal(result.details.truncation.totalBytes, 20 * MB);
  });

  test("no promise is left: after an abort, after the command's end, after its failure", async () => {
    for (const end of ["abort", "exec", "throw"]) {
      let room;
      const { env, gates } = gated(async (_, { onStdout }) => {
        for (; !room; await sleep(0)) room = onStdout(CHUNK);
        if (end === "abort") await room;
        if (end === "throw") throw new Error("no");
        return { exitCode: 0 };
      });
      const controller = new AbortController();
      const call = bash(env, {}, { signal: controller.signal });
      await until(() => room !== undefined, "a wait");
      if (end === "abort") controller.abort();
      // Of a command that is over nothing waits, although nothing is stored yet.
      await soon(room, 2500);
      const opening = opened(gates);
      const result = await call;
      clearInterval(opening);
      assert.match(
        textOf(result),
        { abort: /Command aborted$/, exec: /Full output: \S+\]$/, throw: /failed: no$/ }[end],
      );
    }
    await nothingLeft();
  });

  test("two commands at once do not wait for each other", async () => {
    const waits = { slow: 0, quick: 0 };
    const { env, files, gates } = gated(async (command, { onStdout }) => {
      const text = command === "slow" ? CHUNK : bytes(`${command}\n`.repeat(4096));
      for (let nth = 0; nth < 30; nth++) {
        const room = onStdout(text);
        if (room) waits[command]++;
        await (room ?? sleep(0));
      }
      return { exitCode: 0 };
    });
    const slow = await createToolset(env);
    const quick = await createToolset(files);
    const first = run(slow, "bash", { command: "slow" });
    await until(() => waits.slow > 0, "a wait");
    const second = await run(quick, "bash", { command: "quick" });
    assert.equal(stored(files, second), "quick\n".repeat(30 * 4096));
    assert.equal(waits.quick, 0);
    const opening = opened(gates);
    assert.equal(stored(files, await first), LINE.repeat(30 * 4096));
    clearInterval(opening);
  });
});
