// grep, find and ls through the package: over every kind of environment, while they run, and whatever an environment
// answers. What they find is in tests/cases and, against ripgrep, in tests/search_differential.rs.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, test } from "node:test";
import { inspect } from "node:util";
import { Bash } from "just-bash";
import { createToolset } from "tackroom";
import { withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { search as searchModule } from "../../pkg/dist/modules.js";
import * as searchGlue from "../../pkg/wasm/search.js";
import {
  assertFailed,
  bytes,
  deferred,
  exhaustStack,
  nothingEscaped,
  nothingLeft,
  run,
  sleep,
  stillWorks,
  textOf,
  until,
} from "./support/hold.mjs";

const TOOLS = ["read", "grep", "find", "ls"];
const FILES = {
  "good.txt": "good\n",
  "src/main.ts": "// TODO: first\nlet a = 1;\n",
  "src/deep/other.ts": "one\ntwo // TODO\r\nthree\n",
  "src/data.bin": Uint8Array.of(84, 79, 68, 79, 0),
  ".gitignore": "dist/\n*.log\n!keep.log\n",
  "dist/out.ts": "TODO\n",
  "a.log": "TODO\n",
  "keep.log": "TODO\n",
  ".git/config": "TODO\n",
  ".hidden": "TODO\n",
};
const GREP = [
  ".hidden:1: TODO",
  "keep.log:1: TODO",
  "src/deep/other.ts:2: two // TODO",
  "src/main.ts:1: // TODO: first",
].join("\n");

afterEach(async () => {
  await nothingEscaped();
  await nothingLeft();
  await until(() => searchGlue.tasks() === 0, "the end of every search");
});

/** An environment in memory, at its top; and what it does otherwise. */
const place = (files = FILES, methods = {}) =>
  Object.assign(memory({ "good.txt": "good\n", ...files }), methods);
const toolsOver = (env, options) => createToolset(env, { tools: TOOLS, ...options });
const grep = async (env, args, call, options) =>
  run(
    await toolsOver(env, options),
    "grep",
    args.pattern === undefined ? { pattern: "TODO", ...args } : args,
    call,
  );

/** `count` files with a line of their own. */
function numbered(count, line = (nth) => `line of ${nth}\n`) {
  const files = {};
  for (let nth = 0; nth < count; nth++) files[`d${nth % 100}/f${nth}.txt`] = line(nth);
  return files;
}

async function onDisk(files, links = {}) {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  for (const [path, target] of Object.entries(links)) await symlink(target, join(cwd, path));
  return { cwd, tearDown: () => rm(cwd, { recursive: true }) };
}

describe("in every environment", () => {
  const PLACES = {
    memory: async () => ({ env: place() }),
    withShell: async () => ({ env: withShell(place(), Bash) }),
    async node() {
      const { cwd, tearDown } = await onDisk(FILES);
      return { env: node({ cwd }), tearDown };
    },
  };
  for (const [name, make] of Object.entries(PLACES))
    for (const root of [undefined, "."])
      test(`${name}${root ? ", under a root" : ""}`, async () => {
        const { env, tearDown } = await make();
        const toolset = await toolsOver(env, root ? { root } : {});
        const found = await run(toolset, "grep", { pattern: "TODO" });
        assert.equal(textOf(found), GREP);
        assert.deepEqual(found.details, { matches: 4, unreadable: 0 });
        const inside = await run(toolset, "grep", { pattern: "t.o", path: "src/deep", ignoreCase: true });
        assert.equal(textOf(inside), "other.ts:2: two // TODO");
        const files = await run(toolset, "find", { pattern: "*.ts" });
        assert.equal(textOf(files), "src/deep/other.ts\nsrc/main.ts");
        assert.deepEqual(files.details, {});
        const listing = await run(toolset, "ls", {});
        assert.deepEqual(
          textOf(listing)
            .split("\n")
            .filter((line) => !["bin/", "dev/", "proc/", "tmp/", "usr/", "home/"].includes(line)),
          [".git/", ".gitignore", ".hidden", "a.log", "dist/", "good.txt", "keep.log", "src/"],
        );
        // A file that is named is searched, and what grep calls a line read shows at that number.
        const named = await run(toolset, "grep", { pattern: "TODO", path: "dist/out.ts" });
        assert.equal(textOf(named), "out.ts:1: TODO");
        const page = await run(toolset, "read", { path: "src/deep/other.ts", offset: 2, limit: 1 });
        assert.match(textOf(page), /^two \/\/ TODO/);
        assertFailed(await run(toolset, "grep", { pattern: "(" }), "invalid_pattern");
        assertFailed(await run(toolset, "find", { pattern: "*", path: "good.txt" }), "not_directory");
        assertFailed(await run(toolset, "grep", { pattern: "x", path: "nowhere" }), "not_found");
        await tearDown?.();
      });

  test("links: none is followed, unless it is named; under a root, none that leads out", async () => {
    const { cwd, tearDown } = await onDisk(
      { "work/a.txt": "needle\n", "outside/b.txt": "needle\n" },
      { "work/out": "../outside", "work/again": ".", "work/file": "../outside/b.txt", "work/in": "a.txt" },
    );
    const env = node({ cwd: join(cwd, "work") });
    for (const root of [undefined, "."]) {
      const toolset = await toolsOver(env, root ? { root } : {});
      assert.equal(textOf(await run(toolset, "grep", { pattern: "needle" })), "a.txt:1: needle");
      assert.equal(textOf(await run(toolset, "find", { pattern: "*" })), "a.txt\nagain\nfile\nin\nout");
      assert.equal(
        textOf(await run(toolset, "grep", { pattern: "needle", path: "in" })),
        "in:1: needle",
        "a link that is named",
      );
      for (const path of ["out", "file", "../outside"]) {
        const result = await run(toolset, "grep", { pattern: "needle", path });
        if (root) assertFailed(result, "outside_root");
        else assert.match(textOf(result), /^(b\.txt|file):1: needle$/);
      }
      const listing = textOf(await run(toolset, "ls", {}));
      assert.equal(listing, root ? "a.txt\nagain/\nfile\nin\nout" : "a.txt\nagain/\nfile\nin\nout/");
    }
    await tearDown();
  });
});

describe("hooks, events and secrets", () => {
  test("hooks are shown canonical paths; may change arguments, and block", async () => {
    const env = place();
    env.symlink("src", "/link");
    const seen = [];
    const toolset = await toolsOver(env, {
      beforeToolCall({ name, args, access }) {
        seen.push([name, access]);
        if (args.pattern === "secret") return { block: true, reason: "not this" };
        if (args.path === "src") args.path = "src/deep";
      },
      afterToolCall: ({ name, result }) =>
        name === "find" ? { content: [{ type: "text", text: `<${result.content[0].text}>` }] } : undefined,
    });
    await run(toolset, "grep", { pattern: "TODO", path: "link" });
    await run(toolset, "ls", { path: "link" });
    assert.deepEqual(seen, [
      ["grep", [{ operation: "read", path: "/src" }]],
      ["ls", [{ operation: "list", path: "/src" }]],
    ]);
    assertFailed(await run(toolset, "grep", { pattern: "secret" }), "blocked");
    assert.equal(
      textOf(await run(toolset, "grep", { pattern: "TODO", path: "src" })),
      "other.ts:2: two // TODO",
    );
    assert.equal(textOf(await run(toolset, "find", { pattern: "*.ts", path: "src" })), "<other.ts>");
    assert.deepEqual(seen.at(-1), ["find", [{ operation: "list", path: "/src" }]]);
  });

  test("a long search says how far it is, and nothing after its end", async () => {
    const inner = place(numbered(200));
    const env = {
      ...inner,
      async readBinaryFile(path) {
        await sleep(200);
        return inner.readBinaryFile(path);
      },
    };
    const [events, updates] = [[], []];
    const toolset = await toolsOver(env);
    toolset.subscribe((event) => events.push(event));
    const started = performance.now();
    const result = await run(
      toolset,
      "grep",
      { pattern: "line of 199" },
      { onUpdate: (partial) => updates.push(partial) },
    );
    const took = performance.now() - started;
    assert.equal(textOf(result), "d99/f199.txt:1: line of 199");
    assert.ok(took < 200 * 201 * 0.2, `${took} ms: many at once`);
    assert.ok(updates.length >= 1, `${updates.length} updates`);
    for (const { content, details } of updates) {
      assert.match(content[0].text, /^\d+ files searched, [01] matches so far$/);
      assert.equal(typeof details.matches, "number");
    }
    const kinds = events.map(({ type }) => type.replace("tool_execution_", ""));
    assert.deepEqual(kinds, ["start", ...updates.map(() => "update"), "end"]);
  });

  test("secrets are in no result, no update and no event", async () => {
    const [secret, told] = ["hunter2", []];
    const files = { "a.txt": `password ${secret}\n`, [`dir/${secret}.txt`]: "password none\n" };
    for (const secrets of [[secret], (text) => text.replaceAll(secret, "[redacted]")]) {
      const toolset = await toolsOver(place(files), { secrets });
      toolset.subscribe((event) => told.push(JSON.stringify(event)));
      const onUpdate = (partial) => told.push(JSON.stringify(partial));
      const found = await run(toolset, "grep", { pattern: `hunter2|password` }, { onUpdate });
      assert.equal(textOf(found), "a.txt:1: password [redacted]\ndir/[redacted].txt:1: password none");
      assert.equal(textOf(await run(toolset, "find", { pattern: "*2.txt" })), "dir/[redacted].txt");
      assert.equal(textOf(await run(toolset, "ls", { path: "dir" })), "[redacted].txt");
      assert.ok(!told.join().includes(secret));
    }
  });
});

describe("ends early", () => {
  test("aborted before", async () => {
    const env = place(FILES, { listDir: () => assert.fail("not asked") });
    assertFailed(await grep(env, {}, { signal: AbortSignal.abort() }), "aborted");
  });

  test("aborted while a listing or a file is waited for", async () => {
    for (const method of ["listDir", "readBinaryFile"]) {
      const [asked, signals] = [deferred(), []];
      const env = place(FILES, {
        [method](_, { signal }) {
          signals.push(signal);
          asked.resolve();
          return new Promise(() => {});
        },
      });
      const controller = new AbortController();
      const result = grep(env, {}, { signal: controller.signal });
      await asked.promise;
      controller.abort();
      assertFailed(await result, "aborted");
      assert.ok(signals.length > 0 && signals.every((signal) => signal.aborted), method);
    }
  });

  test("aborted while it computes: a pause lets the abort in", async () => {
    const env = place(numbered(2000, (nth) => `${"x".repeat(40_000)}${nth}\n`));
    const toolset = await toolsOver(env);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 60);
    const started = performance.now();
    // Every byte is looked at, for each start of a match.
    const result = await run(toolset, "grep", { pattern: "(x|y)+[a-w]{20}z" }, { signal: controller.signal });
    assertFailed(result, "aborted");
    assert.ok(performance.now() - started < 3000);
    await stillWorks(toolset);
  });

  test("disposed while it runs: it ends as it would", async () => {
    const gate = deferred();
    const inner = place();
    const env = {
      ...inner,
      async readBinaryFile(path) {
        await gate.promise;
        return inner.readBinaryFile(path);
      },
    };
    const toolset = await toolsOver(env);
    const result = run(toolset, "grep", { pattern: "TODO" });
    await sleep(5);
    toolset.dispose();
    gate.resolve();
    assert.equal(textOf(await result), GREP);
    assertFailed(await run(toolset, "grep", { pattern: "TODO" }), "disposed");
  });

  test("two at once, over two environments, and one of them aborted", async () => {
    const slow = (files) => {
      const inner = place(files);
      return {
        ...inner,
        async readBinaryFile(path) {
          await sleep(3);
          return inner.readBinaryFile(path);
        },
      };
    };
    const [one, other] = await Promise.all([toolsOver(slow(FILES)), toolsOver(slow(numbered(300)))]);
    const controller = new AbortController();
    const results = Promise.all([
      run(one, "grep", { pattern: "TODO" }),
      run(other, "grep", { pattern: "of 299$" }),
      run(other, "grep", { pattern: "of 298$" }, { signal: controller.signal }),
      run(one, "find", { pattern: "*.ts" }),
    ]);
    await sleep(4);
    controller.abort();
    const [todo, line, aborted, files] = await results;
    assert.equal(textOf(todo), GREP);
    assert.equal(textOf(line), "d99/f299.txt:1: line of 299");
    assertFailed(aborted, "aborted");
    assert.equal(textOf(files), "src/deep/other.ts\nsrc/main.ts");
  });
});

describe("a trap of the search module", () => {
  /** What a trap looks like from outside: an entry throws. */
  const trap = () =>
    searchModule.loaded.enter(() => {
      throw new WebAssembly.RuntimeError("unreachable");
    });

  test("answers the searches in flight; the core and the next search work", async () => {
    await grep(place(), {});
    const [asked, gate] = [deferred(), deferred()];
    const inner = place();
    const env = {
      ...inner,
      async readBinaryFile(path) {
        asked.resolve();
        await gate.promise;
        return inner.readBinaryFile(path);
      },
    };
    const [toolset, other] = await Promise.all([toolsOver(env), toolsOver(place())]);
    const { generation } = searchModule.loaded;
    const running = [run(toolset, "grep", { pattern: "TODO" }), run(toolset, "grep", { pattern: "let" })];
    const reading = run(toolset, "read", { path: "good.txt" });
    await asked.promise;
    await sleep(1);
    trap();
    for (const result of await Promise.all(running)) {
      assertFailed(result, "trapped");
      assert.match(textOf(result), /The search failed \(.*unreachable.*\); the search module is restarted/);
    }
    assert.equal(textOf(await run(other, "grep", { pattern: "TODO" })), GREP, "while others still wait");
    gate.resolve();
    assert.equal(textOf(await reading), "good\n", "the core lives");
    assert.equal(searchModule.loaded.generation, generation + 1);
    assert.equal(textOf(await run(toolset, "grep", { pattern: "TODO" })), GREP);
  });

  test("in the middle of a callback", async () => {
    const inner = place();
    let isArmed = true;
    const env = {
      ...inner,
      listDir(path) {
        if (isArmed) trap();
        isArmed = false;
        return inner.listDir(path);
      },
    };
    const toolset = await toolsOver(env);
    assertFailed(await run(toolset, "grep", { pattern: "TODO" }), "trapped");
    assert.equal(textOf(await run(toolset, "grep", { pattern: "TODO" })), GREP);
  });

  test("for want of stack", async () => {
    let trapped = 0;
    for (let depth = 1; depth < 200 && trapped < 3; depth += 6) {
      const asked = deferred();
      const env = place({ "a.txt": "x\n" });
      const inner = memory({ "a.txt": "TODO\n" });
      // biome-ignore lint/suspicious/noThenProperty: a promise whose end comes on a stack that is as good as full
      const ends = { then: (settle) => asked.resolve(settle) };
      env.readBinaryFile = (path) => (path === "/a.txt" ? ends : bytes("x"));
      const controller = new AbortController();
      const result = grep(env, { pattern: "(T|O|D)+|y" }, { signal: controller.signal });
      const settle = await asked.promise;
      let left = depth;
      exhaustStack(() => left-- === 0 && settle(inner.readBinaryFile("/a.txt")));
      await sleep(1);
      // Of one that was refused for want of stack nobody hears.
      controller.abort();
      const { details, isError } = await result;
      if (isError && details.code === "trapped") trapped++;
      else if (isError) assert.equal(details.code, "aborted");
    }
    assert.ok(trapped > 0, "expected a trap");
    assert.equal(textOf(await grep(place(), {})), GREP);
  });
});

describe("an environment that takes many at once, walks or searches", () => {
  test("readFiles is asked for many files by one call, and never for what is not needed", async () => {
    const asked = [];
    const env = place(numbered(100), {
      readBinaryFile: () => assert.fail("readFiles is there"),
      readFiles(paths, { signal }) {
        assert.ok(signal instanceof AbortSignal);
        if (paths.length > 0) asked.push(paths);
        return paths.map((path) => ({ ok: true, value: env.readRange(path, 0, 1000) }));
      },
    });
    const found = await grep(env, { pattern: "of 42$" });
    assert.equal(textOf(found), "d42/f42.txt:1: line of 42");
    assert.equal(asked.flat().length, 101);
    assert.ok(asked.length <= 9 && asked.every((paths) => paths.length <= 32), `${asked.length} calls`);
  });

  test("answers of readFiles: Results, plain values, promises; a failure among them is counted", async () => {
    const files = { "a.txt": "TODO a\n", "b.txt": "TODO b\n" };
    const answers = {
      Results: (values) => values.map((value) => ({ ok: true, value })),
      "plain values": (values) => values,
      "a Result of them": (values) => ({ ok: true, value: values.map((value) => ({ ok: true, value })) }),
      "a promise": async (values) => values,
    };
    for (const [name, answer] of Object.entries(answers)) {
      const env = place(files, {
        readFiles: (paths) => answer(paths.map((path) => env.readBinaryFile(path))),
      });
      assert.equal(textOf(await grep(env, {})), "a.txt:1: TODO a\nb.txt:1: TODO b", name);
    }
    const env = place(files, {
      readFiles: (paths) =>
        paths.map((path) =>
          path === "/a.txt"
            ? { ok: false, error: { code: "permission_denied", message: "no" } }
            : path === "/b.txt"
              ? "a text"
              : { ok: true, value: env.readBinaryFile(path) },
        ),
    });
    const result = await grep(env, {});
    assert.equal(textOf(result), "No matches found\n\n[Files and directories that could not be read: 2]");
    assert.equal(result.details.unreadable, 2);
  });

  test("a readFiles that answers wrongly is not believed: files are read one by one", async () => {
    const wrong = {
      null: () => null,
      "a text": () => "text",
      "too few": (paths) => paths.slice(1).map(() => bytes("TODO")),
      "too many": (paths) => [...paths, "/x"].map(() => bytes("TODO")),
      throws: () => {
        throw new Error("broken");
      },
      rejects: () => Promise.reject(new Error("broken")),
      "a failure": () => ({ ok: false, error: { code: "busy", message: "later" } }),
      "a getter that throws": () => ({
        get ok() {
          throw new Error("broken");
        },
      }),
      "a revoked proxy": () => {
        const { proxy, revoke } = Proxy.revocable([], {});
        revoke();
        return proxy;
      },
    };
    for (const [name, readFiles] of Object.entries(wrong))
      for (const always of [true, false]) {
        // When it is asked for nothing, to see whether it is one: rightly, or wrongly too.
        const env = place(FILES, { readFiles: (paths) => (always || paths.length ? readFiles(paths) : []) });
        assert.equal(textOf(await grep(env, {})), GREP, name);
      }
  });

  test("walk and search get the same result, to the byte, as without", async () => {
    const files = {
      ...FILES,
      ...numbered(60, (nth) => `TODO ${"é".repeat(nth * 20)} ${nth}\nbeside\n`),
      "long.txt": `${"x".repeat(2000)}TODO${"y".repeat(2000)}\n`,
    };
    const plain = place(files);
    plain.symlink("good.txt", "/link");
    const asked = [];
    const walking = { ...plain, walk: walkerOver(plain, asked) };
    const searching = { ...plain, search: searcherOver(plain, asked) };
    const calls = [
      ["grep", { pattern: "TODO" }],
      ["grep", { pattern: "todo", ignoreCase: true, context: 1, limit: 7 }],
      ["grep", { pattern: "TODO", path: "src", limit: 1 }],
      ["grep", { pattern: "TODO", path: "src/main.ts" }],
      ["grep", { pattern: "nowhere to be found" }],
      ["grep", { pattern: "TODO 59", glob: "!d1*/**" }],
      ["grep", { pattern: "TODO", path: "long.txt" }],
      ["grep", { pattern: "(", literal: true }],
      ["grep", { pattern: "(" }],
      ["grep", { pattern: "x", path: "nowhere" }],
      ["find", { pattern: "*.txt" }],
      ["find", { pattern: "*.txt", limit: 60 }],
      ["find", { pattern: "d1*/**", limit: 5 }],
      ["find", { pattern: "*", path: "src" }],
      ["find", { pattern: "[", path: "src" }],
    ];
    const toolsets = await Promise.all([plain, walking, searching].map((env) => toolsOver(env)));
    for (const [name, args] of calls) {
      const [expected, ...others] = await Promise.all(
        toolsets.map(async (toolset) => {
          const { toolCallId: _, ...result } = await run(toolset, name, args);
          return JSON.stringify(result);
        }),
      );
      for (const other of others) assert.equal(other, expected, `${name} ${JSON.stringify(args)}`);
    }
    assert.ok(asked.includes("walk") && asked.includes("search"), asked.join());
  });

  test("the request is that of the call", async () => {
    const asked = [];
    const env = place(FILES, {
      walk(request, options) {
        asked.push([request, options.signal instanceof AbortSignal]);
        return [];
      },
    });
    await grep(env, { path: "src" });
    const toolset = await toolsOver(env);
    await run(toolset, "find", { pattern: "*.ts", limit: 3 });
    env.search = env.walk;
    await grep(env, { pattern: "a", glob: "*.ts", literal: true, context: 2 });
    await grep(env, { pattern: "b", path: "src" });
    assert.deepEqual(
      asked.map(([request]) => request),
      [
        { path: "/src" },
        { path: "/", glob: "*.ts", limit: 4 },
        { path: "/", pattern: "a", glob: "*.ts", literal: true, ignoreCase: false, context: 2, limit: 100 },
        { path: "/src", pattern: "b", literal: false, ignoreCase: false, context: 0, limit: 100 },
      ],
    );
    assert.ok(asked.every(([, hasSignal]) => hasSignal));
  });

  test("wrong answers of walk and search are errors that say what was expected", async () => {
    const { proxy, revoke } = Proxy.revocable([], {});
    revoke();
    const entry = { path: "a", kind: "file", size: 1 };
    const line = { path: "a", line: 1, text: bytes("a"), isContext: false };
    const answer = { matches: [line], limitReached: false, unreadable: 0 };
    const any = [null, undefined, 5, "text", Symbol("s"), () => {}, proxy, new Map(), true];
    const walks = [
      ...any,
      {},
      [null],
      [5],
      [{ ...entry, kind: "socket" }],
      [{ ...entry, kind: undefined }],
      [{ kind: "file" }],
      ...["", "/a", "../a", "a/../../b", "./a", "a/", "a//b"].map((path) => [{ ...entry, path }]),
      [{ ...entry, kind: "directory" }],
      [{ ...entry, path: 5 }],
      [entry, { ...entry, path: Symbol("p") }],
      [Object.defineProperty({ ...entry }, "path", { get: () => assert.fail("a getter") })],
    ];
    const searches = [
      ...any,
      [],
      {},
      { ...answer, matches: null },
      { ...answer, matches: {} },
      { ...answer, matches: proxy },
      { ...answer, matches: [null] },
      { ...answer, matches: [{}] },
      ...["path", "line", "text"].map((key) => ({ ...answer, matches: [{ ...line, [key]: undefined }] })),
      { ...answer, matches: [{ ...line, text: "a" }] },
      { ...answer, matches: [{ ...line, line: "1" }] },
      { ...answer, matches: [line, { ...line, path: 5 }] },
      Object.defineProperty({}, "matches", { get: () => assert.fail("a getter") }),
      {
        get ok() {
          throw new Error("a getter");
        },
      },
    ];
    for (const [method, wrongs] of Object.entries({ walk: walks, search: searches }))
      for (const wrong of wrongs)
        for (const given of [wrong, Promise.resolve(wrong), { ok: true, value: wrong }]) {
          const result = await grep(place(FILES, { [method]: () => given }), {});
          const shown = `${method} ${inspect(wrong)}`;
          assert.equal(result.isError, true, `${shown}: ${textOf(result)}`);
          assertFailed(result);
          if (!/getter|revoked/.test(textOf(result)))
            assert.match(textOf(result), new RegExp(`'s ${method} answered .*expected`), shown);
        }
    for (const method of ["walk", "search"])
      for (const fails of [
        () => {
          throw Object.assign(new Error("no access"), { code: "EACCES" });
        },
        async () => ({ ok: false, error: { code: "permission_denied", message: "no access" } }),
      ]) {
        const result = await grep(place(FILES, { [method]: fails }), {});
        assertFailed(result, "permission_denied");
      }
  });

  test("odd numbers in answers harm nobody", async () => {
    for (const number of [-1, 0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60]) {
      const matches = [{ path: "a\nb", line: number, text: bytes("TODO\nx"), isContext: 0 }];
      const answer = { matches, limitReached: "yes", unreadable: number };
      const result = await grep(place(FILES, { search: () => answer }), {});
      assert.equal(result.isError, false);
      const entries = [{ path: "a", kind: "file", size: number }];
      assert.equal((await grep(place(FILES, { walk: () => entries }), {})).isError, false);
    }
  });
});

/** A walk as one at the source would do it. */
function walkerOver(env, asked) {
  return async ({ path, glob, limit = 100_000 }) => {
    asked.push("walk");
    const toolset = await createToolset(env, {
      tools: ["find"],
      limits: { maxLines: 1e6, maxBytes: 1e8 },
    });
    const result = await run(toolset, "find", { pattern: glob ?? "*", path, limit });
    if (result.isError) throw Object.assign(new Error(textOf(result)), { code: result.details.code });
    const [list] = textOf(result).split("\n\n");
    if (list.startsWith("No files found")) return [];
    return list.split("\n").map((name) => {
      const { kind, size } = env.fileInfo(`${path === "/" ? "" : path}/${name}`);
      return { path: name, kind, size };
    });
  };
}

/** Searches line by line, by a grep of its own without limits, and reads what it shows from the files. */
function searcherOver(env, asked) {
  return async ({ path, pattern, glob, ignoreCase, literal, context, limit }) => {
    asked.push("search");
    const toolset = await createToolset(env, {
      tools: ["grep"],
      limits: { maxLines: 1e6, maxBytes: 1e8 },
    });
    const args = { pattern, path, glob, ignoreCase, literal, context, limit };
    const result = await run(toolset, "grep", args);
    if (result.isError) throw Object.assign(new Error(textOf(result)), { code: result.details.code });
    const [list] = textOf(result).split("\n\n");
    const isFile = env.fileInfo(path).kind === "file";
    const lines = list.startsWith("No matches found") ? [] : list.split("\n");
    const matches = lines.map((shown) => {
      const [, name, mark, number] = /^(.*?)([:-])(\d+)[:-] /.exec(shown);
      const at = isFile ? path : `${path === "/" ? "" : path}/${name}`;
      const text = new TextDecoder()
        .decode(env.readBinaryFile(at))
        .split("\n")
        [number - 1].replace(/\r$/, "");
      return { path: name, line: Number(number), text: bytes(text), isContext: mark === "-" };
    });
    const { matchLimitReached, unreadable } = result.details;
    return { matches, limitReached: matchLimitReached !== undefined, unreadable };
  };
}

describe("many files", () => {
  test("at most 32 are read at once, and waiting is shared", async () => {
    const files = numbered(640);
    const inner = place(files);
    const counts = { now: 0, most: 0, all: 0 };
    const env = {
      ...inner,
      async readBinaryFile(path) {
        counts.all++;
        counts.most = Math.max(counts.most, ++counts.now);
        await sleep(20);
        counts.now--;
        return inner.readBinaryFile(path);
      },
    };
    const started = performance.now();
    const result = await grep(env, { pattern: "of 639$" });
    const took = performance.now() - started;
    assert.equal(textOf(result), "d39/f639.txt:1: line of 639");
    assert.equal(counts.all, 641);
    assert.ok(counts.most > 16 && counts.most <= 32, `${counts.most} at once`);
    // One by one: 13 s.
    assert.ok(took < 4000, `${took} ms`);
  });

  test("listings, too", async () => {
    const files = {};
    for (let nth = 0; nth < 300; nth++) files[`d${nth}/f.txt`] = "x\n";
    const inner = place(files);
    const counts = { now: 0, most: 0 };
    const env = {
      ...inner,
      async listDir(path) {
        counts.most = Math.max(counts.most, ++counts.now);
        await sleep(10);
        counts.now--;
        return inner.listDir(path);
      },
    };
    const toolset = await toolsOver(env);
    const found = await run(toolset, "find", { pattern: "*/f.txt" });
    assert.equal(textOf(found).split("\n").length, 300);
    assert.ok(counts.most > 16 && counts.most <= 32, `${counts.most} at once`);
  });

  test("a search that has what was asked for stops reading", async () => {
    const inner = place(numbered(1000, () => "same\n"));
    let reads = 0;
    const env = {
      ...inner,
      async readBinaryFile(path) {
        reads++;
        return inner.readBinaryFile(path);
      },
    };
    const result = await grep(env, { pattern: "same", limit: 3 });
    assert.equal(result.details.matchLimitReached, 3);
    assert.ok(reads < 100, `${reads} files read`);
  });

  test("5,000 files, in memory and on the disk", async () => {
    const files = numbered(5000);
    const { cwd, tearDown } = await onDisk(files);
    for (const env of [place(files), node({ cwd })]) {
      const toolset = await toolsOver(env);
      assert.equal(
        textOf(await run(toolset, "grep", { pattern: "of 49\\d9$", limit: 3 })),
        "d19/f4919.txt:1: line of 4919\nd29/f4929.txt:1: line of 4929\nd39/f4939.txt:1: line of 4939\n\n" +
          "[3 matches limit reached. Use limit=6 for more, or refine pattern]",
      );
      const found = await run(toolset, "find", { pattern: "f49?9.txt" });
      assert.equal(textOf(found).split("\n").length, 10);
    }
    await tearDown();
  });
});

describe("hostile", () => {
  test("20,000 files and more than there can be", async () => {
    const entries = Array.from({ length: 20_000 }, (_, nth) => ({
      name: `f${nth}`,
      path: `/many/f${nth}`,
      kind: "file",
      size: 1,
      mtimeMs: 0,
    }));
    const env = place(FILES, { listDir: (path) => (path === "/many" ? entries : []) });
    env.createDir("/many");
    env.readBinaryFile = () => bytes("x");
    const toolset = await toolsOver(env);
    const started = performance.now();
    assert.equal(textOf(await run(toolset, "grep", { pattern: "y", path: "many" })), "No matches found");
    assert.ok(performance.now() - started < 5000);
    // Directories in directories for ever.
    env.listDir = (path) =>
      entries
        .slice(0, 500)
        .map(({ name }) => ({ ...entries[0], name, path: `${path}/${name}`, kind: "directory" }));
    const result = await run(toolset, "find", { pattern: "*" });
    assert.match(
      textOf(result),
      /^No files found matching pattern\n\n\[Stopped after 200000 files or directories/,
    );
  });

  test("a pattern without end, and one that takes ages elsewhere", async () => {
    const env = place({ "a.txt": `${"a".repeat(40)}!\n`, "b.txt": `${"a".repeat(100_000)}!\n` });
    assert.equal(textOf(await grep(env, { pattern: "(a+)+$" })), "No matches found");
    assertFailed(await grep(env, { pattern: "a".repeat(10_000_000) }), "invalid_pattern");
    assertFailed(await grep(env, { pattern: "(".repeat(60_000) }), "invalid_pattern");
    assertFailed(await grep(env, { pattern: "((a{200}){200}){200}" }), "invalid_pattern");
  });

  test("a file that claims a gigabyte", async () => {
    const inner = place({ "a.txt": "TODO\n", "b/huge.txt": "TODO\n" });
    const claims = (info) => (info.name === "huge.txt" ? { ...info, size: 2 ** 30 } : info);
    const env = {
      ...inner,
      listDir: (path) => inner.listDir(path).map(claims),
      fileInfo: (path) => claims(inner.fileInfo(path)),
    };
    assert.equal(textOf(await grep(env, {})), "a.txt:1: TODO\nb/huge.txt:1: TODO", "read in parts");
    const { readRange: _, ...whole } = env;
    const result = await grep(whole, {});
    assert.equal(textOf(result), "a.txt:1: TODO\n\n[Files and directories that could not be read: 1]");
    const named = await grep(whole, { path: "b/huge.txt" });
    assert.match(textOf(named), /b\/huge\.txt has 1\.0GB: over 64\.0MB a file is searched in parts/);
  });

  test("what an environment answers or throws is an error result or counted", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    for (const wrong of [null, undefined, 5, "text", {}, Symbol("s"), proxy, Promise.reject]) {
      const inner = place();
      const read = await grep({ ...inner, readBinaryFile: () => wrong }, {});
      assert.equal(read.isError, false);
      assert.match(
        textOf(read),
        /^No matches found\n\n\[Files and directories that could not be read: \d+\]$/,
      );
      assertFailed(await grep({ ...inner, listDir: () => wrong }, {}));
      const below = { ...inner, listDir: (path) => (path === "/src" ? wrong : inner.listDir(path)) };
      const result = await grep(below, {});
      assert.equal(result.isError, false);
      assert.equal(result.details.unreadable, 1);
    }
  });
});
