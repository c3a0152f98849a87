// Secrets: nowhere in what leaves a call, whichever way it comes in; whole for tools, hooks and the environment.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createToolset, init, truncateHead, truncateLine } from "tackroom";
import { memory } from "tackroom/env/memory";
import { assertFailed, bytes, nothingEscaped, run, says, sleep, textOf } from "./support/hold.mjs";

const SECRET = "hunter2-token";
const done = { exitCode: 0 };

/** A toolset, and everything that it tells: one text. */
async function watched(exec, options, files = { "/good.txt": "good\n" }) {
  const env = memory(files, { exec });
  const toolset = await createToolset(env, { secrets: [SECRET], ...options });
  const told = [];
  const events = [];
  toolset.subscribe((event) => {
    events.push(event);
    told.push(JSON.stringify(event));
  });
  return {
    env,
    toolset,
    events,
    told,
    async call(name, args) {
      const onUpdate = (partial) => told.push(JSON.stringify(partial));
      const result = await run(toolset, name, args, { onUpdate });
      told.push(JSON.stringify(result));
      return result;
    },
  };
}

const FORMS = {
  list: {},
  function: { secrets: (line) => line.replaceAll(SECRET, "[redacted]") },
};

for (const [form, options] of Object.entries(FORMS))
  describe(`as a ${form}`, () => {
    test("content, details, updates, start event and end event, whole and in pieces", async () => {
      for (const size of [1, 3, 1000]) {
        const seen = [];
        const { call, told, events } = await watched(
          async (command, { onStdout, onStderr, env }) => {
            seen.push(command, env.TOKEN);
            const text = `a ${SECRET} b\n`;
            for (let at = 0; at < text.length; at += size) {
              onStdout(text.slice(at, at + size));
              if (at % 7 === 0) await sleep(0);
            }
            onStderr(`e ${SECRET}`);
            return done;
          },
          {
            ...options,
            updates: { intervalMs: 1 },
            shell: { spawnHook: (spawn) => void Object.assign(spawn.env, { TOKEN: SECRET }) },
          },
        );
        const result = await call("bash", { command: `echo ${SECRET}` });
        assert.equal(textOf(result), "a [redacted] b\ne [redacted]");
        assert.deepEqual(seen, [`echo ${SECRET}`, SECRET], "the command gets it");
        assert.deepEqual(events[0].args, { command: "echo [redacted]" });
        for (const text of told) assert.ok(!text.includes(SECRET) && !text.includes("hunter2"), text);
      }
    });

    test("arguments as text, as an object, and such as cannot be read", async () => {
      const { call, told, events } = await watched(() => done, options);
      for (const [args, shown] of [
        [`{"command":"echo ${SECRET}"}`, '{"command":"echo [redacted]"}'],
        [{ command: `echo ${SECRET}` }, { command: "echo [redacted]" }],
        [
          { command: "x", [SECRET]: [{ deep: SECRET }] },
          { command: "x", "[redacted]": [{ deep: "[redacted]" }] },
        ],
        [`{"command":"echo ${SECRET}`, '{"command":"echo [redacted]'],
        ['{"command":"ls"}', '{"command":"ls"}'],
      ]) {
        events.length = 0;
        await call("bash", args);
        assert.deepEqual(events[0].args, shown);
      }
      const circular = { command: SECRET };
      circular.self = circular;
      assertFailed(await call("bash", circular));
      assertFailed(await call("bash", { cmnd: SECRET }));
      assertFailed(await call(`no-such-${SECRET}`, { a: SECRET }));
      for (const text of told) if (!text.includes("no-such")) assert.ok(!text.includes(SECRET), text);
    });

    test("the file of a long output, and what read and grep show of it and of others", async () => {
      const { env, call, told } = await watched(
        async (_, { onStdout }) => {
          for (let nth = 0; nth < 3000; nth++) {
            const line = bytes(`${nth} ${SECRET} x\n`);
            // Cut within the secret, most times.
            await onStdout(line.subarray(0, nth % line.length));
            await onStdout(line.subarray(nth % line.length));
          }
          return done;
        },
        { ...options, tools: ["bash", "read", "grep", "edit", "write"] },
        { "/own.txt": `key=${SECRET}\n` },
      );
      const result = await call("bash", { command: "x" });
      const path = result.details.fullOutputPath;
      const kept = Buffer.from(env.readBinaryFile(path)).toString();
      assert.equal(kept, Array.from({ length: 3000 }, (_, nth) => `${nth} [redacted] x\n`).join(""));
      assert.equal(textOf(await call("read", { path: "/own.txt" })), "key=[redacted]\n");
      assert.match(textOf(await call("grep", { pattern: "key", path: "/" })), /key=\[redacted\]/);
      for (const text of told) assert.ok(!text.includes(SECRET), text.slice(0, 300));
    });

    test("changes: the file is what was asked for, the patch is null where it has one", async () => {
      const { env, call, told, events } = await watched(() => done, options, {
        "/own.txt": `key=${SECRET}\nother\n`,
      });
      const edit = await call("edit", {
        path: "/own.txt",
        edits: [{ oldText: SECRET, newText: `${SECRET}-new` }],
      });
      assert.equal(edit.isError, false, textOf(edit));
      assert.equal(Buffer.from(env.readBinaryFile("/own.txt")).toString(), `key=${SECRET}-new\nother\n`);
      const { change } = events.find(({ type }) => type === "mutation");
      assert.deepEqual([change.patch, edit.details.patch], [null, null]);
      assert.match(change.diff, /key=\[redacted\]-new/);
      assert.match(change.patchOmitted, /secret/);
      const clean = await call("write", { path: "/clean.txt", content: "nothing\n" });
      assert.match(clean.details.patch, /\+nothing/);
      const missed = await call("edit", { path: "/own.txt", edits: [{ oldText: "key=huntr", newText: "" }] });
      assertFailed(missed, "no_match");
      for (const text of told) assert.ok(!text.includes(SECRET), text);
    });

    test("failures, hooks' too: what they say is seen by the model", async () => {
      const { call, told } = await watched(
        (command) => {
          throw new Error(`${command}: ${SECRET} refused`);
        },
        {
          ...options,
          beforeToolCall: ({ args }) => ({
            block: args.command === "blocked",
            reason: `because of ${SECRET}`,
          }),
        },
      );
      assert.match(textOf(await call("bash", { command: "x" })), /x: \[redacted\] refused/);
      assert.match(textOf(await call("bash", { command: "blocked" })), /because of \[redacted\]/);
      for (const text of told) assert.ok(!text.includes(SECRET), text);
    });
  });

test("hooks get everything, and what afterToolCall puts in is redacted", async () => {
  const heard = [];
  const { call, told } = await watched(says("ok\n"), {
    beforeToolCall: ({ args }) => void heard.push(args.command),
    afterToolCall: ({ args }) => {
      heard.push(args.command);
      return { content: [{ type: "text", text: `with ${SECRET}` }], details: { a: [SECRET] } };
    },
  });
  const result = await call("bash", { command: SECRET });
  assert.deepEqual(heard, [SECRET, SECRET]);
  assert.equal(textOf(result), "with [redacted]");
  for (const text of told) assert.ok(!text.includes(SECRET), text);
});

test("a function may use the package itself, also while output comes", async () => {
  await init();
  const other = await createToolset(memory({ "/note.txt": "a note\n" }));
  const filler = "y".repeat(70_000);
  const calls = [];
  const exec = (_, { onStdout, onStderr }) => {
    for (let line = 0; line < 50; line++) onStdout(bytes(`out ${line} ${SECRET}\n`));
    onStderr(bytes("the last\n"));
    return done;
  };
  const secrets = (line) => {
    assert.equal(truncateLine(filler, 10).text, `${"y".repeat(10)}... [truncated]`);
    assert.equal(truncateHead("one\ntwo", { maxLines: 1 }).content, "one");
    calls.push(run(other, "read", { path: "/note.txt" }));
    return line.replace(SECRET, "***");
  };
  const toolset = await createToolset(memory({}, { exec }), { secrets });
  for (let nth = 0; nth < 3; nth++) {
    const lines = Array.from({ length: 50 }, (_, line) => `out ${line} ***\n`);
    assert.equal(textOf(await run(toolset, "bash", { command: "x" })), `${lines.join("")}the last\n`);
  }
  for (const result of await Promise.all(calls)) assert.equal(textOf(result), "a note\n");
});

test("a function that throws, or returns no text, hides the line", async () => {
  for (const wrong of [
    () => {
      throw new Error("no");
    },
    () => undefined,
    () => null,
    () => 5,
    () => ({}),
    async () => "text",
    async () => {
      throw new Error("later");
    },
    () => Symbol("s"),
  ]) {
    const secrets = (line) => (line.includes(SECRET) ? wrong(line) : line);
    const { call, told, env } = await watched(says(`one\ntwo ${SECRET} two\nthree\n`), {
      secrets,
      limits: { maxLines: 2 },
    });
    const result = await call("bash", { command: "x" });
    assert.match(textOf(result), /^\[redacted\]\nthree\n\n\[Showing lines 2-3 of 3\./);
    const kept = env.readBinaryFile(result.details.fullOutputPath);
    assert.equal(Buffer.from(kept).toString(), "one\n[redacted]\nthree\n");
    for (const text of told) assert.ok(!text.includes(SECRET), text);
  }
  await nothingEscaped();
});

test("a function that calls tools, or disposes of the toolset, is one like any other", async () => {
  let inner;
  const made = await watched(says("line\n"), {
    secrets: (line) => {
      inner ??= run(made.toolset, "read", { path: "/good.txt" });
      if (line === "line\n") made.toolset.dispose();
      return line.replace("line", "shown");
    },
  });
  assert.equal(textOf(await made.call("bash", { command: "x" })), "shown\n");
  assert.equal(textOf(await inner), "good\n");
});

test("odd lists are refused, odd secrets do no harm", async () => {
  for (const secrets of [5, "text", {}, [5], [null]])
    await assert.rejects(createToolset(memory(), { secrets }), { code: "invalid_arguments" });
  const { call } = await watched(says("a.*b\nb\n"), {
    secrets: ["", ".*", "a.*b"],
  });
  assert.equal(textOf(await call("bash", { command: "x" })), "[redacted]\nb\n");
});
