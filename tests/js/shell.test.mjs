// Commands as a host and a model see them: what the environment is asked for, what comes of its output, when.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import {
  assertFailed,
  bytes,
  nothingEscaped,
  nothingLeft,
  run,
  says,
  sleep,
  textOf,
  until,
} from "./support/hold.mjs";

const done = { exitCode: 0 };
const scripted = (exec, rest) => memory({ "/good.txt": "good\n" }, { cwd: "/", exec, ...rest });
const bash = async (exec, options, call, args = { command: "x" }) =>
  run(await createToolset(scripted(exec), options), "bash", args, call);

/** What the environment was asked for. */
async function asked(options, { rest, tool = "bash", args = { command: "x" } } = {}) {
  let seen;
  const exec = (command, given) => {
    seen = { command, ...given };
    return done;
  };
  const result = await run(await createToolset(scripted(exec, rest), options), tool, args);
  return { ...seen, result };
}

describe("output", () => {
  /** What is shown of chunks, each with its stream. */
  const shown = async (...chunks) => {
    const result = await bash(async (_, { onStdout, onStderr }) => {
      for (const [stream, chunk] of chunks) {
        (stream === "out" ? onStdout : onStderr)(chunk);
        await sleep(0);
      }
      return done;
    });
    assert.equal(result.isError, false, textOf(result));
    return textOf(result);
  };

  test("strings may be cut within a character, on each stream by itself (B02)", async () => {
    assert.equal(await shown(["out", "\ud83d"], ["err", "e\n"], ["out", "\ude42\n"]), "e\n🙂\n");
    assert.equal(await shown(["out", "\ud83d"], ["err", "\ude42"], ["out", "a"]), "\ufffd\ufffda");
    assert.equal(await shown(["out", "a\ud83d"], ["out", ""], ["out", "\ude42"]), "a🙂");
    assert.equal(await shown(["out", "\ud83d"], ["out", "\ud83d"], ["out", "\ude42"]), "\ufffd🙂");
    assert.equal(await shown(["out", "a\ude42"]), "a\ufffd");
    assert.equal(await shown(["out", "end \ud83d"]), "end \ufffd");
    // Bytes after half a character: it has no other half.
    assert.equal(await shown(["out", "\ud83d"], ["out", bytes("a")], ["out", "\ude42"]), "\ufffda\ufffd");
    assert.equal(await shown(["out", "\ud83d"], ["out", bytes("")], ["out", "\ude42"]), "🙂");
  });

  test("a long text and long bytes come in parts, and nothing is lost between them", async () => {
    const line = "é🙂x\n".repeat(7000);
    for (const chunk of [line, bytes(line)]) {
      const result = await bash(says(chunk));
      assert.equal(result.details.truncation.totalBytes, 8 * 7000);
      assert.ok(textOf(result).startsWith("é🙂x\né"));
    }
  });

  test("a chunk is the environment's again once it was handed over", async () => {
    const result = await bash((_, { onStdout }) => {
      const buffer = new Uint8Array(4);
      for (const text of ["one\n", "two\n"]) {
        buffer.set(bytes(text));
        onStdout(buffer);
      }
      buffer.fill(120);
      return done;
    });
    assert.equal(textOf(result), "one\ntwo\n");
  });

  test("what comes after the end is not heard, and asks nobody to wait", async () => {
    let push;
    const env = scripted((_, { onStdout }) => {
      push = onStdout;
      push("in time\n");
      return done;
    });
    const toolset = await createToolset(env);
    const updates = [];
    const options = { onUpdate: (partial) => updates.push(textOf(partial)) };
    const result = await run(toolset, "bash", { command: "x" }, options);
    const before = updates.length;
    for (let nth = 0; nth < 200; nth++) assert.equal(push("late".repeat(10_000)), undefined);
    await sleep(120);
    assert.equal(textOf(result), "in time\n");
    assert.equal(updates.length, before);
    assert.equal(textOf(await run(toolset, "bash", { command: "x" })), "in time\n");
    toolset.dispose();
    assert.equal(push("late"), undefined);
    await nothingLeft();
  });

  test("two commands at once: each has its own output", async () => {
    const toolset = await createToolset(
      scripted(async (command, { onStdout, onStderr }) => {
        for (let nth = 0; nth < 20; nth++) {
          (nth % 2 ? onStdout : onStderr)(`${command} ${nth}\n`);
          await sleep(command === "a" ? 1 : 2);
        }
        return done;
      }),
    );
    const results = await Promise.all(["a", "b", "c"].map((command) => run(toolset, "bash", { command })));
    for (const [nth, command] of ["a", "b", "c"].entries())
      assert.equal(
        textOf(results[nth]),
        Array.from({ length: 20 }, (_, nth) => `${command} ${nth}\n`).join(""),
      );
  });

  test("a timeout and an abort keep what came, also while it was on its way (B09, B17)", async () => {
    const exec = (_, { onStdout, signal }) =>
      new Promise((resolve) => {
        onStdout("before\n");
        signal.addEventListener("abort", () => {
          onStdout("on its way\n");
          setTimeout(() => {
            onStdout("the last\n");
            resolve({ exitCode: null });
          }, 10);
        });
      });
    const late = await bash(exec, {}, {}, { command: "x", timeout: 0.05 });
    assertFailed(late, "timeout");
    assert.equal(textOf(late), "before\non its way\nthe last\n\nCommand timed out after 0.05 seconds");
    assert.deepEqual([late.details.exitCode, late.details.durationMs >= 50], [null, true]);
    const controller = new AbortController();
    const call = bash(exec, {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    const aborted = await call;
    assertFailed(aborted, "aborted");
    assert.equal(textOf(aborted), "before\non its way\nthe last\n\nCommand aborted");
  });
});

describe("snapshots", () => {
  async function heard(exec, options) {
    const toolset = await createToolset(scripted(exec), options);
    const [updates, events] = [[], []];
    toolset.subscribe((event) => events.push(event));
    const onUpdate = (partial) =>
      updates.push({ text: textOf(partial), details: partial.details, at: performance.now() });
    const result = await run(toolset, "bash", { command: "x" }, { onUpdate });
    return { updates, events, result };
  }

  test("an empty one at once, then at most one in 100 ms, each whole, the last what the result shows", async () => {
    const lines = Array.from({ length: 90 }, (_, nth) => `${nth}\n`);
    const started = performance.now();
    const { updates, events, result } = await heard(async (_, { onStdout }) => {
      for (const line of lines) {
        onStdout(line);
        await sleep(5);
      }
      return done;
    });
    const took = performance.now() - started;
    assert.equal(updates[0].text, "");
    assert.equal(updates.at(-1).text, lines.join(""));
    assert.equal(textOf(result), lines.join(""));
    for (const { text } of updates) assert.ok(lines.join("").startsWith(text) && !text.endsWith("\n\n"));
    // The last one does not wait for its turn.
    for (let nth = 1; nth < updates.length - 1; nth++)
      assert.ok(updates[nth].at - updates[nth - 1].at > 90, "too often");
    assert.ok(updates.length >= 4 && updates.length <= took / 100 + 3, `${updates.length} in ${took} ms`);
    const partials = events
      .filter(({ type }) => type === "tool_execution_update")
      .map(({ partial }) => textOf(partial));
    assert.deepEqual(
      partials,
      updates.map(({ text }) => text),
    );
    assert.deepEqual([events[0].type, events.at(-1).type], ["tool_execution_start", "tool_execution_end"]);
    assert.deepEqual(events[0].args, { command: "x" });
    assert.deepEqual(events.at(-1).result, result);
  });

  test("updates.intervalMs", async () => {
    const exec = async (_, { onStdout }) => {
      for (let nth = 0; nth < 20; nth++) {
        onStdout(`${nth}\n`);
        await sleep(10);
      }
      return done;
    };
    const seldom = await heard(exec, { updates: { intervalMs: 60_000 } });
    assert.deepEqual(seldom.updates.map(({ text }) => text).slice(0, 1), [""]);
    assert.equal(seldom.updates.length, 2);
    const often = await heard(exec, { updates: { intervalMs: 1 } });
    assert.ok(often.updates.length > 8, `${often.updates.length}`);
  });

  test("of a long output a snapshot is its end, with the facts and, once there is one, the file", async () => {
    const { updates, result } = await heard(async (_, { onStdout }) => {
      for (let nth = 0; nth < 5; nth++) {
        onStdout(`${nth}`.repeat(9).concat("\n").repeat(4000));
        await sleep(120);
      }
      return done;
    });
    const last = updates.at(-1);
    assert.equal(last.text, "444444444\n".repeat(2000).slice(0, -1));
    assert.deepEqual(last.details.truncation, result.details.truncation);
    assert.equal(last.details.truncation.totalLines, 20_000);
    assert.equal(last.details.fullOutputPath, result.details.fullOutputPath);
    assert.ok(updates.every(({ text }) => text.length <= 51_200));
  });

  test("nobody listens: nothing is made; a quiet command has the empty one", async () => {
    const { updates } = await heard(() => done);
    assert.deepEqual(
      updates.map(({ text }) => text),
      [""],
    );
  });
});

describe("what the environment is asked for", () => {
  test("the command as it was sent, the working directory, no variables of a session that there is not", async () => {
    const { command, shell, cwd, env, unsetEnv, timeout, signal } = await asked({});
    assert.deepEqual(
      { command, shell, cwd, env, timeout },
      { command: "x", shell: "bash", cwd: "/", env: {}, timeout: undefined },
    );
    assert.deepEqual(unsetEnv, [
      "PI_SESSION_ID",
      "PI_SESSION_FILE",
      "PI_PROVIDER",
      "PI_MODEL",
      "PI_REASONING_LEVEL",
    ]);
    assert.ok(signal instanceof AbortSignal && !signal.aborted);
    assert.equal((await asked({}, { args: { command: "x", timeout: 2.5 } })).timeout, 2.5);
  });

  test("session: an object, or a function that is asked for each command", async () => {
    const session = { id: "1", file: "/s.jsonl", provider: "p", model: "m", reasoningLevel: "high" };
    const all = {
      PI_SESSION_ID: "1",
      PI_SESSION_FILE: "/s.jsonl",
      PI_PROVIDER: "p",
      PI_MODEL: "m",
      PI_REASONING_LEVEL: "high",
    };
    assert.deepEqual((await asked({ session })).env, all);
    const hidden = await asked({ session, exposeSessionEnvironment: false });
    assert.deepEqual([hidden.env, hidden.unsetEnv.length], [{}, 5]);
    const seen = [];
    let model = "a";
    const exec = (_, { env }) => {
      seen.push(env);
      return done;
    };
    const toolset = await createToolset(scripted(exec), { session: () => ({ model }) });
    await run(toolset, "bash", { command: "x" });
    model = "b";
    await run(toolset, "bash", { command: "x" });
    assert.deepEqual(seen, [{ PI_MODEL: "a" }, { PI_MODEL: "b" }]);
    const wrong = await createToolset(scripted(exec), { session: async () => ({}) }).catch(
      ({ message }) => message,
    );
    assert.match(wrong, /session must not be a promise/);
  });

  test("node(): inherited ones are gone, others stay, and the session's are there", async () => {
    const command = 'echo "[$PI_MODEL|$PI_PROVIDER|$TACKROOM_KEPT]"; env | grep -c ^PI_';
    process.env.PI_MODEL = "outer";
    process.env.PI_PROVIDER = "outer";
    process.env.TACKROOM_KEPT = "kept";
    try {
      for (const [options, want] of [
        [{}, "[||kept]\n0\n"],
        [{ session: { model: "inner" } }, "[inner||kept]\n1\n"],
        [{ session: { model: "inner" }, exposeSessionEnvironment: false }, "[||kept]\n0\n"],
      ])
        assert.equal(
          textOf(await run(await createToolset(node(), options), "bash", { command: `${command}; true` })),
          want,
        );
    } finally {
      for (const name of ["PI_MODEL", "PI_PROVIDER", "TACKROOM_KEPT"]) delete process.env[name];
    }
  });

  test("shell.commandPrefix goes before bash commands, in a line of its own", async () => {
    const shell = { commandPrefix: "set -e" };
    assert.equal((await asked({ shell })).command, "set -e\nx");
    const rest = { shells: ["powershell"] };
    assert.equal(
      (await asked({ shell, defaultTools: ["powershell"] }, { rest, tool: "powershell" })).command,
      "x",
    );
    const real = await run(await createToolset(node(), { shell }), "bash", {
      command: "false\necho not reached",
    });
    assertFailed(real, "exit_code");
    assert.equal(textOf(real), "(no output)\n\nCommand exited with code 1");
  });

  test("shell.spawnHook: in place, by return, async; it sees prefix and session", async () => {
    const hook = (spawnHook) => ({ shell: { commandPrefix: "p", spawnHook }, session: { model: "m" } });
    let seen;
    const { command, cwd, env } = await asked(
      hook((spawn) => {
        seen = structuredClone(spawn);
        Object.assign(spawn, { command: `nice ${spawn.command}`, cwd: "sub/../other" });
        spawn.env.A = "1";
      }),
    );
    assert.deepEqual(seen, { command: "p\nx", cwd: "/", env: { PI_MODEL: "m" } });
    assert.deepEqual(
      { command, cwd, env },
      { command: "nice p\nx", cwd: "/other", env: { PI_MODEL: "m", A: "1" } },
    );
    const returned = await asked(hook(() => sleep(1).then(() => ({ cwd: "/elsewhere", env: {} }))));
    assert.deepEqual([returned.command, returned.cwd, returned.env], ["p\nx", "/elsewhere", {}]);
    for (const nothing of [undefined, null, {}, 5, "text", { command: undefined, cwd: undefined }])
      assert.equal((await asked(hook(() => nothing))).command, "p\nx");
  });

  test("a hook that fails or answers nonsense: nothing runs, and the error names it", async () => {
    const self = {};
    self.self = self;
    for (const [spawnHook, words] of [
      [
        () => {
          throw new Error("not now");
        },
        /^spawnHook failed: not now$/,
      ],
      [() => Promise.reject(new Error("later")), /^spawnHook failed: later$/],
      [() => Promise.reject("text"), /^spawnHook failed: text$/],
      [
        () => {
          throw undefined;
        },
        /^spawnHook failed/,
      ],
      [() => ({ command: 5 }), /^spawnHook answered something else than it may: .*command/],
      [() => ({ command: null }), /^spawnHook answered something else than it may: .*command/],
      [() => ({ cwd: ["/"] }), /^spawnHook answered something else than it may: .*cwd/],
      [() => ({ env: { A: { b: 1 } } }), /^spawnHook answered something else than it may/],
      [() => ({ env: "A=1" }), /^spawnHook answered something else than it may/],
      [() => ({ env: self }), /^spawnHook failed/],
      [
        () => ({
          get command() {
            throw new Error("no");
          },
        }),
        /^spawnHook failed: no$/,
      ],
      [() => ({ command: 5n }), /^spawnHook failed/],
    ]) {
      let ran = 0;
      const result = await bash(() => ({ exitCode: ran++ }), { shell: { spawnHook } });
      assertFailed(result);
      assert.match(textOf(result), words);
      assert.equal(ran, 0);
    }
    await assert.rejects(
      createToolset(
        scripted(() => done),
        { shell: { spawnHook: "x" } },
      ),
      /spawnHook must be a function/,
    );
    await nothingEscaped();
  });

  test("a hook that never answers ends with the abort", async () => {
    const controller = new AbortController();
    const call = bash(
      () => done,
      { shell: { spawnHook: () => new Promise(() => {}) } },
      { signal: controller.signal },
    );
    setTimeout(() => controller.abort(), 10);
    assertFailed(await call, "aborted");
    await nothingLeft();
  });
});

describe("shells", () => {
  const names = (toolset) =>
    toolset.tools.map(({ name }) => name).filter((name) => name === "bash" || name === "powershell");

  test("each shell that the environment has is a tool; the first is active", async () => {
    const made = (shells, options) =>
      createToolset(
        scripted(() => done, { shells }),
        options,
      );
    const only = await made(["powershell"]);
    assert.ok(only.registered.includes("powershell") && !only.registered.includes("bash"));
    assert.deepEqual(names(only), ["powershell"]);
    const both = await made(["bash", "powershell"]);
    assert.ok(both.registered.includes("powershell") && both.registered.includes("bash"));
    assert.deepEqual(names(await made(["bash"])), ["bash"]);
    assert.deepEqual(names(await made(undefined)), ["bash"]);
    assert.deepEqual(names(await made([])), []);
    assert.deepEqual(names(await made(["powershell"], { readOnly: true })), []);
  });

  test("the environment is told which", async () => {
    const rest = { shells: ["bash", "powershell"] };
    const tools = ["bash", "powershell"];
    for (const tool of tools) assert.equal((await asked({ tools }, { rest, tool })).shell, tool);
    const none = await asked({ tools: ["bash"] }, { rest, tool: "powershell" });
    assertFailed(none.result, "no_such_tool");
  });

  test("powershell's details and failures are bash's", async () => {
    const env = scripted(says("a\n".repeat(3000), 2), {
      shells: ["powershell"],
    });
    const result = await run(await createToolset(env), "powershell", { command: "x" });
    assertFailed(result, "exit_code");
    assert.deepEqual([result.toolName, result.details.exitCode], ["powershell", 2]);
    assert.match(textOf(result), /Full output: \/\.tackroom\/\S+\]\n\nCommand exited with code 2$/);
  });

  test("a hint names no tool that is not active", async () => {
    const env = scripted(says("a\n".repeat(3000)));
    const { createTempFile: _, ...bare } = env;
    for (const place of [env, bare]) {
      const toolset = await createToolset(place, { tools: ["bash"] });
      const { description } = toolset.tools[0];
      const hint = textOf(await run(toolset, "bash", { command: "x" }))
        .split("\n\n")
        .at(-1);
      for (const text of [hint, description]) assert.doesNotMatch(text, /\b(read|grep|find|ls|edit|write)\b/);
      assert.equal(/temporary file/.test(description), place === env);
    }
  });
});

test("a command is known to be running only as long as it is", async () => {
  let signal;
  const toolset = await createToolset(
    scripted(async (_, options) => {
      ({ signal } = options);
      await sleep(5);
      return done;
    }),
  );
  await run(toolset, "bash", { command: "x" });
  await until(() => signal !== undefined);
  assert.equal(signal.aborted, false, "an end is no abort");
  await nothingLeft();
});
