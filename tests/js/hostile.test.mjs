// The boundary under attack: whatever an environment, a hook, a listener or a caller throws, answers or does,
// the call is answered, the process lives and the next call works.
import assert from "node:assert/strict";
import { afterEach, describe, mock, test } from "node:test";
import vm from "node:vm";
import { createToolset, init, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
import {
  assertFailed,
  bytes,
  deferred,
  exhaustStack,
  nothingEscaped,
  nothingLeft,
  run,
  sleep,
  soon,
  stillWorks,
  textOf,
  until,
} from "./support/hold.mjs";

afterEach(nothingEscaped);

/** A proxy that throws whatever is done with it. */
const hostileProxy = (target = {}) =>
  new Proxy(
    target,
    Object.fromEntries(
      Object.getOwnPropertyNames(Reflect).map((trap) => [
        trap,
        () => {
          throw new Error(`trapped: ${trap}`);
        },
      ]),
    ),
  );
const revokedProxy = () => {
  const { proxy, revoke } = Proxy.revocable([], {});
  revoke();
  return proxy;
};
const throwing = (message) => () => {
  throw new Error(message);
};
const withGetter = (key, get) => Object.defineProperty({}, key, { get, enumerable: true });
const withCode = (code, message = "no reason") => Object.assign(new Error(message), { code });

/** What hosts throw, each with its code; undefined: any code of the list. */
const THROWN = [
  ["a string", () => "plain string", "unknown"],
  ["an empty string", () => "", "unknown"],
  ["undefined", () => undefined, "unknown"],
  ["null", () => null, "unknown"],
  ["a symbol", () => Symbol("s"), "unknown"],
  ["a number", () => 42, "unknown"],
  ["a bigint", () => 42n, "unknown"],
  ["false", () => false, "unknown"],
  ["a function", () => () => {}, "unknown"],
  [
    "a function with a throwing toString",
    () => Object.assign(() => {}, { toString: throwing("no") }),
    "unknown",
  ],
  ["a frozen object", () => Object.freeze({ code: "EBUSY" }), "busy"],
  ["an object without a prototype", () => Object.create(null), "unknown"],
  [
    "an object with a throwing toString",
    () => ({ toString: throwing("no"), toJSON: throwing("no") }),
    "unknown",
  ],
  ["a circular object", () => Object.assign([], { 0: [] }), "unknown"],
  ["getters that throw", () => withGetter("message", throwing("no")), "unknown"],
  ["a code getter that throws", () => withGetter("code", throwing("no")), "unknown"],
  ["properties of wrong types", () => ({ code: 1, name: {}, message: Symbol("m") }), "unknown"],
  ["half a surrogate pair", () => new Error("\ud800 oops \udc00"), "unknown"],
  ["a long text", () => new Error("x".repeat(1e6)), "unknown"],
  ["a proxy that throws on everything", () => hostileProxy(), "unknown"],
  ["a revoked proxy", () => revokedProxy(), "unknown"],
  ["an Error of another realm", () => vm.runInNewContext("new Error('ENOENT: no such file')"), "not_found"],
  ["a RangeError", () => new RangeError("Maximum call stack size exceeded"), "unknown"],
  ["ENOENT", () => withCode("ENOENT"), "not_found"],
  ["ERR_FS_EISDIR", () => withCode("ERR_FS_EISDIR"), "is_directory"],
  ["EISDIR", () => withCode("EISDIR"), "is_directory"],
  ["EBUSY", () => withCode("EBUSY"), "busy"],
  ["EACCES", () => withCode("EACCES"), "permission_denied"],
  ["EPERM", () => withCode("EPERM"), "permission_denied"],
  ["ENOSPC", () => withCode("ENOSPC"), "no_space"],
  ["ENOTDIR", () => withCode("ENOTDIR"), "not_directory"],
  ["a code of ours", () => withCode("no_space"), "no_space"],
  ["a code that does not exist", () => withCode("EWHATEVER"), "unknown"],
  ["a message with an errno", () => new Error("EISDIR: illegal operation"), "is_directory"],
  ...[
    ["NotFoundError", "not_found"],
    ["NotAllowedError", "permission_denied"],
    ["NoModificationAllowedError", "busy"],
    ["QuotaExceededError", "no_space"],
    ["TypeMismatchError", "not_directory"],
    ["InvalidModificationError", "already_exists"],
    ["NotReadableError", "busy"],
    ["InvalidStateError", "busy"],
    ["AbortError", "aborted"],
    ["TimeoutError", "timeout"],
    ["DataCloneError", "unknown"],
  ].map(([name, code]) => [`DOMException ${name}`, () => new DOMException("words", name), code]),
];

/** An environment over memory, one of whose methods is replaced for every path but that of good.txt. */
function envWith(method, replacement) {
  const env = memory(
    { "good.txt": "good\n", "file.txt": "one\n", "large.txt": LARGE },
    { exec: () => ({ exitCode: 0, stdout: "ran" }) },
  );
  const original = env[method];
  return Object.assign(env, {
    [method]: (path, ...rest) =>
      path === "/good.txt" ? original?.call(env, path, ...rest) : replacement(path, ...rest),
  });
}

/** More than is read at once where there are ranges. */
const LARGE = bytes("line\n".repeat(600_000));

/** For each method: a call that needs it. */
const READ = ["read", { path: "file.txt" }];
const READ_LARGE = ["read", { path: "large.txt", limit: 1 }];
const NEEDS = {
  readBinaryFile: READ,
  readRange: READ_LARGE,
  fileInfo: READ,
  canonicalPath: ["edit", { path: "file.txt", oldText: "one", newText: "two" }],
  writeFile: ["write", { path: "file.txt", content: "new\n" }],
  createDir: ["write", { path: "dir/new.txt", content: "new\n" }],
  exec: ["bash", { command: "true" }],
};

for (const method of Object.keys(NEEDS)) {
  describe(`${method} fails`, () => {
    const ways = {
      throws: (value) => () => {
        throw value();
      },
      rejects: (value) => () => Promise.reject(value()),
      "answers a failed result": (value) => () => ({ ok: false, error: value() }),
    };
    for (const [way, wrap] of Object.entries(ways)) {
      test(way, async () => {
        let current;
        const toolset = await createToolset(envWith(method, (...args) => wrap(current)(...args)));
        for (const [what, value, code] of THROWN) {
          current = value;
          const result = await run(toolset, ...NEEDS[method]);
          // Nothing at the path means a new file where one is to be written: no failure.
          const creates = (method === "canonicalPath" || method === "fileInfo") && code === "not_found";
          if (creates && !result.isError) continue;
          // What has no ranges is read whole.
          if (method === "readRange" && code === "not_supported" && !result.isError) continue;
          assertFailed(result);
          const mayDiffer = method === "fileInfo" || method === "canonicalPath" || method === "createDir";
          if (!mayDiffer) assert.equal(result.details.code, code, `${what}: ${textOf(result)}`);
          await stillWorks(toolset);
        }
        await nothingLeft();
      });
    }
  });
}

test("a lock that goes away, and a full disk (C07)", async () => {
  const errors = [
    new DOMException("locked", "NoModificationAllowedError"),
    new DOMException("full", "QuotaExceededError"),
  ];
  const env = memory({ "good.txt": "good\n" });
  const { writeFile } = env;
  env.writeFile = (...args) => {
    const error = errors.shift();
    if (error) throw error;
    return writeFile(...args);
  };
  const toolset = await createToolset(env);
  const write = () => run(toolset, "write", { path: "a.txt", content: "a" });
  const busy = await write();
  assertFailed(busy, "busy");
  assert.match(textOf(busy), /Try again/);
  const full = await write();
  assertFailed(full, "no_space");
  assert.match(textOf(full), /Free some space/);
  assert.equal((await write()).isError, false);
});

describe("answers of wrong types", () => {
  const detached = () => {
    const view = bytes("gone");
    structuredClone(view.buffer, { transfer: [view.buffer] });
    return view;
  };
  class Liar extends Uint8Array {
    get length() {
      throw new Error("no length");
    }
    get buffer() {
      throw new Error("no buffer");
    }
    static get [Symbol.species]() {
      throw new Error("no species");
    }
  }
  const WRONG = [
    ["a number", () => 5],
    ["NaN", () => Number.NaN],
    ["a string", () => "text"],
    ["a bigint", () => 1n],
    ["a symbol", () => Symbol("s")],
    ["true", () => true],
    ["an array", () => [1, 2, 3]],
    ["an object", () => ({})],
    ["a function", () => () => {}],
    ["null", () => null],
    ["undefined", () => undefined],
    ["an ArrayBuffer", () => new ArrayBuffer(8)],
    ["a DataView", () => new DataView(new ArrayBuffer(8))],
    ["a Uint16Array", () => new Uint16Array(4)],
    ["a detached Uint8Array", detached],
    ["something that only inherits from Uint8Array", () => Object.create(Uint8Array.prototype)],
    ["a proxy of a Uint8Array", () => new Proxy(bytes("proxied"), {})],
    ["a proxy that throws on everything", () => hostileProxy()],
    ["a hostile proxy of an array", () => hostileProxy([])],
    ["a hostile proxy of a function", () => hostileProxy(() => {})],
    ["a revoked proxy", revokedProxy],
    ["a result with a throwing ok", () => withGetter("ok", throwing("no"))],
    [
      "a result with a throwing value",
      () => Object.assign(withGetter("value", throwing("no")), { ok: true }),
    ],
    [
      "a result with a throwing error",
      () => Object.assign(withGetter("error", throwing("no")), { ok: false }),
    ],
    ["a result whose ok is no boolean", () => ({ ok: 1, value: bytes("x") })],
    ["a result without a value", () => ({ ok: true })],
    ["a result without an error", () => ({ ok: false })],
    ["a result in a result", () => ({ ok: true, value: { ok: true, value: bytes("x") } })],
    ["a then that throws when read", () => withGetter("then", throwing("no then"))],
    // biome-ignore-start lint/suspicious/noThenProperty: thenables are what this is about
    ["a then that throws", () => ({ then: throwing("no then") })],
    ["a then that rejects twice", () => ({ then: (_, no) => [no(new Error("a")), no(new Error("b"))] })],
    ["a then that fulfils, then throws", () => ({ then: (yes) => [yes(5), throwing("late")()] })],
    ["a then that fulfils twice", () => ({ then: (yes) => [yes(5), yes(bytes("x"))] })],
    [
      "a thenable that fulfils with itself",
      () => {
        const self = { then: (yes) => yes(self) };
        return self;
      },
    ],
    [
      "thenables without end",
      () => {
        const endless = () => ({ then: (yes) => setTimeout(() => yes(endless()), 0) });
        return endless();
      },
    ],
    ["a thenable that is a function", () => Object.assign(() => {}, { then: (_, no) => no("no") })],
    [
      "a promise with a then of its own that throws",
      () => Object.assign(Promise.resolve(5), { then: throwing("own then") }),
    ],
    // biome-ignore-end lint/suspicious/noThenProperty: see above
    [
      "a promise whose constructor throws",
      () => Object.defineProperty(Promise.resolve(5), "constructor", { get: throwing("no constructor") }),
    ],
    ["a promise of another realm", () => vm.runInNewContext("Promise.resolve(5)")],
  ];
  // A write answers nothing that means something, and so does createDir: only a failure fails them.
  const ANSWERED = [
    "readBinaryFile",
    "readRange",
    "fileInfo",
    "canonicalPath",
    "exec",
    "writeFile",
    "createDir",
  ];
  for (const method of ANSWERED) {
    for (const isAsync of [false, true]) {
      test(`${method}${isAsync ? ", through a promise" : ""}`, async () => {
        let current;
        const answer = isAsync
          ? () =>
              new Promise((resolve, reject) => {
                // A native promise follows thenables by itself, without end if need be: not ours to defend.
                const value = current();
                let isThenable = true;
                try {
                  isThenable = typeof value?.then === "function";
                } catch {}
                if (isThenable) reject(new Error("left to the other test"));
                else resolve(value);
              })
          : () => current();
        const toolset = await createToolset(envWith(method, answer));
        for (const [what, value] of WRONG) {
          current = value;
          const result = await run(toolset, ...NEEDS[method]);
          const mayPass = method === "writeFile" || method === "createDir" || !result.isError;
          if (!mayPass || result.isError) assertFailed(result);
          if (method.startsWith("read") && what !== "a proxy of a Uint8Array") {
            assert.equal(result.isError, true, `${what}: ${textOf(result)}`);
          }
          await stillWorks(toolset);
        }
        await nothingLeft();
      });
    }
  }

  test("bytes of every kind are read as they are", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(5));
    shared.set(bytes("bytes"));
    const lied = new Liar(5);
    Uint8Array.prototype.set.call(lied, bytes("bytes"));
    const resizable = new ArrayBuffer(16, { maxByteLength: 32 });
    new Uint8Array(resizable).set(bytes("0123bytes"));
    for (const value of [
      bytes("bytes"),
      Buffer.from("bytes"),
      shared,
      lied,
      new Uint8Array(resizable, 4, 5),
      bytes("...bytes...").subarray(3, 8),
      vm.runInNewContext("new Uint8Array([98, 121, 116, 101, 115])"),
      { ok: true, value: vm.runInNewContext("new Uint8Array([98, 121, 116, 101, 115])") },
      Object.freeze({ ok: true, value: bytes("bytes") }),
      Object.assign(Object.create(null), { ok: true, value: bytes("bytes") }),
      // biome-ignore lint/suspicious/noThenProperty: on purpose
      { then: (yes) => yes(bytes("bytes")) },
      vm.runInNewContext("Promise.resolve(new Uint8Array([98, 121, 116, 101, 115]))"),
    ]) {
      const toolset = await createToolset(envWith("readBinaryFile", () => value));
      assert.equal(textOf(await run(toolset, ...READ)), "bytes");
    }
  });

  test("a detached array is no empty file", async () => {
    const result = await run(await createToolset(envWith("readBinaryFile", detached)), ...READ);
    assertFailed(result, "unknown");
    assert.match(textOf(result), /a Uint8Array whose buffer was detached/);
  });

  describe("ranges", () => {
    const whole = "[599999 more lines in file. Use offset=2 to continue.]";

    test("of every kind are read as they are", async () => {
      for (const wrap of [
        (part) => part,
        (part) => Buffer.from(part),
        (part) => Promise.resolve({ ok: true, value: part }),
        (part) => Object.assign(new Uint8Array(new SharedArrayBuffer(part.length)), part),
      ]) {
        const answer = (_, start, end) => wrap(LARGE.subarray(start, end));
        const result = await run(await createToolset(envWith("readRange", answer)), ...READ_LARGE);
        assert.equal(textOf(result), `line\n\n${whole}`);
      }
    });

    test("that are too long are said", async () => {
      const toolset = await createToolset(envWith("readRange", () => LARGE));
      const result = await run(toolset, ...READ_LARGE);
      assertFailed(result, "unknown");
      assert.match(
        textOf(result),
        /readRange answered 3000000 bytes for \/large.txt, expected at most 1048576 /,
      );
      await stillWorks(toolset);
    });

    test("that are empty end the file", async () => {
      for (const most of [1, 5000, 1_048_576 + 5000]) {
        const asked = mock.fn((_, start, end) => LARGE.subarray(Math.min(start, most), Math.min(end, most)));
        const toolset = await createToolset(envWith("readRange", asked));
        const result = await run(toolset, "read", { path: "large.txt", offset: 9e9 });
        assert.match(textOf(result), new RegExp(`\\(${Math.ceil(most / 5)} lines total\\)`));
        assert.equal(asked.mock.callCount(), 3);
      }
      // From the first on, of a file that has bytes: then it is asked for whole.
      const nothing = mock.fn(() => new Uint8Array());
      const result = await run(await createToolset(envWith("readRange", nothing)), ...READ_LARGE);
      assert.equal(textOf(result), `line\n\n${whole}`);
      assert.equal(nothing.mock.callCount(), 1);
    });

    test("that never end are asked for no longer than the file was", async () => {
      const asked = mock.fn((_, start, end) => new Uint8Array(end - start).fill(0x61));
      const result = await run(await createToolset(envWith("readRange", asked)), ...READ_LARGE);
      assert.equal(result.details.truncation.totalBytes, 3 * 1_048_576);
      assert.equal(asked.mock.callCount(), 3);
    });

    test("fail in the middle of a file", async () => {
      for (const fail of [throwing("gone"), () => Promise.reject(withCode("ENOENT")), () => null]) {
        const answer = (_, start, end) => (start > 0 ? fail() : LARGE.subarray(start, end));
        const toolset = await createToolset(envWith("readRange", answer));
        assertFailed(await run(toolset, ...READ_LARGE));
        await stillWorks(toolset);
      }
    });

    test("and an abort between two of them", async () => {
      for (const isAsync of [false, true]) {
        const controller = new AbortController();
        const asked = mock.fn((_, start, end) => {
          if (start > 0) controller.abort();
          const part = LARGE.subarray(start, end);
          return isAsync ? Promise.resolve(part) : part;
        });
        const toolset = await createToolset(envWith("readRange", asked));
        assertFailed(await run(toolset, ...READ_LARGE, { signal: controller.signal }), "aborted");
        assert.equal(asked.mock.callCount(), 2);
        await stillWorks(toolset);
      }
      await nothingLeft();
    });

    test("an environment that wraps another one's", async () => {
      const inner = envWith("readRange", undefined);
      delete inner.readRange;
      const outer = { ...inner, readRange: (...args) => inner.readRange(...args) };
      assertFailed(await run(await createToolset(outer), ...READ_LARGE), "unknown");
      outer.readRange = () => ({ ok: false, error: { code: "not_supported", message: "no ranges" } });
      assert.equal(textOf(await run(await createToolset(outer), ...READ_LARGE)), `line\n\n${whole}`);
    });
  });

  test("a codeless failure in a result is told by its DOMException name", async () => {
    const failed = { ok: false, error: { code: "QuotaExceededError", message: "full" } };
    const toolset = await createToolset(envWith("writeFile", () => failed));
    assertFailed(await run(toolset, ...NEEDS.writeFile), "no_space");
  });

  test("properties of a file info", async () => {
    const good = { name: "file.txt", path: "/file.txt", kind: "file", size: 4, mtimeMs: 0 };
    for (const wrong of [
      { kind: "socket" },
      { kind: 5 },
      { kind: undefined },
      { name: 5 },
      { name: {} },
      { path: [] },
      { size: Symbol("s") },
      { size: { valueOf: throwing("no") } },
    ]) {
      const toolset = await createToolset(envWith("fileInfo", () => ({ ...good, ...wrong })));
      assertFailed(await run(toolset, ...READ), "unknown");
      await stillWorks(toolset);
    }
    for (const harmless of [
      { size: -1 },
      { size: Number.NaN },
      { size: "4" },
      { size: 4n },
      { mtimeMs: null },
    ]) {
      const toolset = await createToolset(envWith("fileInfo", () => ({ ...good, ...harmless })));
      assert.equal(textOf(await run(toolset, ...READ)), "one\n");
    }
  });

  test("exit codes", async () => {
    for (const exitCode of [Number.NaN, "0", 1.5, undefined, Infinity, 0n, {}, revokedProxy(), Symbol("x")]) {
      const toolset = await createToolset(envWith("exec", () => ({ exitCode })));
      assertFailed(await run(toolset, ...NEEDS.exec), "unknown");
      await stillWorks(toolset);
    }
    const ended = (exitCode) => createToolset(envWith("exec", () => ({ exitCode })));
    assert.equal((await run(await ended(-0), ...NEEDS.exec)).isError, false);
    for (const exitCode of [null, 1, -1, 256]) {
      const result = await run(await ended(exitCode), ...NEEDS.exec);
      assertFailed(result, "exit_code");
      assert.equal(result.details.exitCode, exitCode);
    }
  });

  test("output that comes with the result", async () => {
    for (const output of [5, {}, [], Symbol("s"), revokedProxy(), detached()]) {
      for (const key of ["stdout", "stderr"]) {
        const toolset = await createToolset(envWith("exec", () => ({ exitCode: 0, [key]: output })));
        assertFailed(await run(toolset, ...NEEDS.exec), "unknown");
        await stillWorks(toolset);
      }
    }
  });
});

describe("an environment that cannot be used", () => {
  test("is refused when the toolset is made, with a reason", async () => {
    const good = memory();
    for (const env of [
      undefined,
      null,
      5,
      "env",
      {},
      hostileProxy(),
      revokedProxy(),
      { ...good, cwd: "relative" },
      { ...good, cwd: undefined },
      { ...good, cwd: Object.assign([], { toJSON: throwing("no") }) },
      { ...good, readBinaryFile: 5 },
      { ...good, exec() {}, shells: 5 },
      withGetter("readBinaryFile", throwing("no")),
    ]) {
      await assert.rejects(createToolset(env), { name: "ToolError", code: "invalid_arguments" });
    }
    for (const options of [
      5n,
      { limits: throwing("no") },
      { limits: { maxLines: 1n } },
      { session: hostileProxy() },
      withGetter("limits", throwing("no")),
      { unknownOption: 1 },
    ]) {
      const made = createToolset(good, options);
      // A bigint has no entries: it is as good as no options.
      if (options === 5n) await made;
      else await assert.rejects(made, { name: "ToolError", code: "invalid_arguments" });
    }
    await createToolset(good, null);
  });

  test("may lose its methods later", async () => {
    const env = memory({ "good.txt": "good\n" });
    const toolset = await createToolset(env);
    const { readBinaryFile } = env;
    for (const broken of [undefined, 5, null]) {
      env.readBinaryFile = broken;
      assertFailed(await run(toolset, "read", { path: "good.txt" }), "not_supported");
    }
    Object.defineProperty(env, "readBinaryFile", { get: throwing("gone"), configurable: true });
    assertFailed(await run(toolset, "read", { path: "good.txt" }), "unknown");
    // A method need not be an ordinary function.
    const odd = Object.assign((...args) => readBinaryFile(...args), {
      apply: throwing("not this one"),
      call: 5,
    });
    Object.defineProperty(env, "readBinaryFile", { value: odd });
    await stillWorks(toolset);
  });
});

describe("callbacks that come back in", () => {
  test("from every method, at once and later", async () => {
    for (const wait of [
      (then) => then(),
      (then) => Promise.resolve().then(then),
      (then) => sleep(1).then(then),
    ]) {
      for (const method of ["readBinaryFile", "fileInfo", "canonicalPath", "writeFile"]) {
        const inner = [];
        const env = envWith(method, (...args) =>
          wait(() => {
            inner.push(run(toolset, "read", { path: "/good.txt" }));
            return memory({ "file.txt": "one\n" })[method](...args);
          }),
        );
        const toolset = await createToolset(env);
        const outer = await run(toolset, ...NEEDS[method]);
        assert.equal(outer.isError, false, textOf(outer));
        assert.ok(inner.length > 0);
        for (const result of await Promise.all(inner)) assert.equal(textOf(result), "good\n");
      }
    }
    await nothingLeft();
  });

  test("from exec, its chunks, updates, listeners and hooks", async () => {
    const inner = [];
    const again = () => void (inner.length < 40 && inner.push(run(toolset, "read", { path: "/good.txt" })));
    const env = envWith("exec", async (_, { onStdout }) => {
      again();
      onStdout("a");
      again();
      await sleep(5);
      onStdout("b");
      return { exitCode: 0 };
    });
    const toolset = await createToolset(env, {
      updates: { intervalMs: 1 },
      beforeToolCall: again,
      afterToolCall: again,
    });
    toolset.subscribe(again);
    const result = await run(toolset, "bash", { command: "x" }, { onUpdate: again });
    assert.equal(textOf(result), "ab");
    for (const one of await Promise.all(inner)) assert.equal(textOf(one), "good\n");
    assert.ok(inner.length === 40);
    await nothingLeft();
  });

  test("each call from the one before it, 300 deep", async () => {
    const env = envWith("readBinaryFile", async (path) => {
      const level = Number(path.slice("/level".length));
      if (level === 0) return bytes("bottom");
      return bytes(textOf(await run(toolset, "read", { path: `/level${level - 1}` })));
    });
    const { fileInfo } = env;
    env.fileInfo = (path) => (path.startsWith("/level") ? { kind: "file", size: 1 } : fileInfo(path));
    const toolset = await createToolset(env);
    assert.equal(textOf(await run(toolset, "read", { path: "/level300" })), "bottom");
    await nothingLeft();
  });

  test("the toolset is disposed in the middle", async () => {
    for (const method of ["readBinaryFile", "fileInfo", "exec"]) {
      const env = envWith(method, (...args) => {
        toolset.dispose();
        return method === "exec" ? { exitCode: 0 } : memory({ "file.txt": "one\n" })[method](...args);
      });
      const toolset = await createToolset(env);
      // The running call finishes, later ones do not begin.
      assert.equal((await run(toolset, ...NEEDS[method])).isError, false);
      assertFailed(await run(toolset, ...NEEDS[method]), "disposed");
      toolset.dispose();
    }
    const env = memory({ "good.txt": "good\n" });
    let isLast = false;
    const toolset = await createToolset(env, {
      limits: () => {
        if (isLast) toolset.dispose();
        return {};
      },
    });
    await stillWorks(toolset);
    isLast = true;
    assertFailed(await run(toolset, "read", { path: "/good.txt" }), "disposed");
    await nothingLeft();
  });

  test("the active tools change in the middle", async () => {
    const env = envWith("readBinaryFile", () => {
      toolset.setActive(["write", Symbol("no"), null, 5, "\ud800"]);
      return bytes("read");
    });
    const toolset = await createToolset(env);
    assert.equal(textOf(await run(toolset, ...READ)), "read");
    assert.deepEqual(toolset.active, ["write"]);
    assertFailed(await run(toolset, ...READ), "no_such_tool");
    toolset.setActive(["read"]);
    await stillWorks(toolset);
  });

  test("the stack runs out below a callback", async () => {
    const inner = [];
    const parameters = { type: "object" };
    const deepArguments = `{"a":${"[".repeat(120)}${"]".repeat(120)}}`;
    const env = envWith("readBinaryFile", () => {
      exhaustStack(() => {
        // Together with the call's own promise, which must not be lost.
        inner.push(toolset.call({ id: "deep", name: "read", arguments: { path: "/good.txt" } }));
        validateToolArguments({ name: "t", parameters }, { arguments: deepArguments });
        toolset.setActive(toolset.active);
      });
      return bytes("outer");
    });
    const toolset = await createToolset(env);
    // Within wasm it is a trap, which the outer call does not survive.
    const outer = await run(toolset, ...READ);
    if (outer.isError) assertFailed(outer, "trapped");
    else assert.equal(textOf(outer), "outer");
    const results = await soon(Promise.all(inner));
    for (const result of results) if (result.isError) assertFailed(result);
    // How many fail depends on where the stack ends; none need to. Those that were not begun threw.
    assert.ok(results.some((result) => !result.isError));
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("an environment that overflows the stack", async () => {
    const forever = () => forever() + 1;
    const toolset = await createToolset(envWith("readBinaryFile", forever));
    const other = run(toolset, "read", { path: "/good.txt" });
    assertFailed(await run(toolset, ...READ), "unknown");
    assert.equal((await other).isError, false);
    await stillWorks(toolset);
  });
});

describe("what never settles is left by an abort", () => {
  // In the end they do settle, so that what is left behind can be counted: a write keeps its place until then.
  const settleAll = [];
  const never = () => {
    const { promise, resolve } = deferred();
    settleAll.push(resolve);
    return promise;
  };

  for (const method of Object.keys(NEEDS)) {
    test(method, async () => {
      const controller = new AbortController();
      let seen;
      const env = envWith(method, (...args) => {
        seen = args.at(-1).signal;
        return never();
      });
      const toolset = await createToolset(env);
      const call = run(toolset, ...NEEDS[method], { signal: controller.signal });
      await until(() => seen, "the call of the method");
      assert.equal(seen.aborted, false);
      controller.abort();
      const result = await call;
      assertFailed(result, "aborted");
      assert.equal(seen.aborted, true);
      if (method === "writeFile") assert.match(textOf(result), /may land/);
      await stillWorks(toolset);
    });

    test(`${method}, aborted while it is being called`, async () => {
      const controller = new AbortController();
      const env = envWith(method, () => {
        controller.abort();
        return never();
      });
      const toolset = await createToolset(env);
      assertFailed(await run(toolset, ...NEEDS[method], { signal: controller.signal }), "aborted");
      await stillWorks(toolset);
    });
  }

  test("aborted before the call: nothing is asked", async () => {
    const asked = mock.fn(() => bytes("x"));
    const toolset = await createToolset(envWith("readBinaryFile", asked));
    const events = [];
    toolset.subscribe((event) => events.push(event.type));
    const result = await run(toolset, ...READ, { signal: AbortSignal.abort(new Error("why")) });
    assertFailed(result, "aborted");
    assert.equal(asked.mock.callCount(), 0);
    assert.deepEqual(events, ["tool_execution_start", "tool_execution_end"]);
  });

  test("a promise that is rejected after the abort is heard by nobody, and harms nobody", async () => {
    const controller = new AbortController();
    const pending = deferred();
    const toolset = await createToolset(envWith("readBinaryFile", () => pending.promise));
    const call = run(toolset, ...READ, { signal: controller.signal });
    controller.abort();
    assertFailed(await call, "aborted");
    pending.reject(new Error("too late"));
    await nothingEscaped();
    await stillWorks(toolset);
  });

  test("nothing is left once they have settled", async () => {
    for (const settle of settleAll) settle();
    await sleep(5);
    await nothingLeft();
  });
});

describe("output", () => {
  const command = (exec, options) =>
    createToolset(envWith("exec", exec), options).then((toolset) => run(toolset, "bash", { command: "x" }));

  test("chunks of wrong types are said, the others are kept", async () => {
    const wrong = [
      5,
      null,
      undefined,
      {},
      [1],
      Symbol("s"),
      1n,
      true,
      () => {},
      new ArrayBuffer(2),
      hostileProxy(),
    ];
    for (const chunk of [...wrong, revokedProxy(), new Uint16Array(2), Object.create(Uint8Array.prototype)]) {
      for (const stream of ["onStdout", "onStderr"]) {
        const result = await command(async (_, options) => {
          options.onStdout("before\n");
          await sleep(0);
          // Not in a promise of the environment's: a throw here would end the process.
          setTimeout(() => options[stream](chunk), 0);
          await sleep(3);
          options.onStderr("after\n");
          return { exitCode: 0 };
        });
        assertFailed(result, "unknown");
        assert.match(textOf(result), /before\nafter\n\nCommand failed: the environment's exec gave/);
      }
    }
  });

  test("wrong chunks of a command that answers at once", async () => {
    const result = await command((_, { onStdout }) => {
      onStdout(5);
      return { exitCode: 0 };
    });
    assertFailed(result, "unknown");
    assert.match(textOf(result), /a number as output/);
  });

  test("strings that end within a character", async () => {
    const chunks = ["a\ud83d", "\ude00b", "\ud83d", "\ud83d\ude00", "", "\ude00", "c\ud83d"];
    const result = await command((_, { onStdout, onStderr }) => {
      for (const chunk of chunks) {
        onStdout(chunk);
        onStderr("");
      }
      return { exitCode: 0 };
    });
    assert.equal(textOf(result), "a😀b\ufffd😀\ufffdc\ufffd");
    const rejected = await command(async (_, { onStdout }) => {
      onStdout("half \ud83d");
      throw new Error("and gone");
    });
    assertFailed(rejected, "unknown");
    assert.match(textOf(rejected), /^half \ufffd\n\nCommand failed: and gone$/);
  });

  test("streams of one command do not mix their halves", async () => {
    const result = await command((_, { onStdout, onStderr }) => {
      onStdout("\ud83d");
      onStderr("err\n");
      onStdout("\ude00\n");
      onStdout(Uint8Array.of(0xf0, 0x9f));
      onStderr("err\n");
      onStdout(Uint8Array.of(0x98, 0x80));
      return { exitCode: 0 };
    });
    assert.equal(textOf(result), "err\n😀\nerr\n😀");
  });

  test("what is streamed is not taken twice (B19)", async () => {
    const result = await command((_, { onStdout }) => {
      onStdout("a\n");
      return { stdout: "a\n", exitCode: 0 };
    });
    assert.equal(textOf(result), "a\n");
  });

  test("chunks after the end are not heard (B08)", async () => {
    let late;
    const toolset = await createToolset(
      envWith("exec", async (_, { onStdout, onStderr }) => {
        late = [onStdout, onStderr];
        onStdout("in time\n");
        return { exitCode: 0 };
      }),
    );
    const updates = [];
    const result = await run(
      toolset,
      "bash",
      { command: "x" },
      { onUpdate: (update) => updates.push(update) },
    );
    assert.equal(textOf(result), "in time\n");
    const before = updates.length;
    for (const push of late) for (const chunk of ["late", bytes("late"), 5, Symbol("s")]) push(chunk);
    await sleep(5);
    assert.equal(updates.length, before);
    await stillWorks(toolset);
    await nothingLeft();
  });

  test("chunks after an abort are kept until the command ends, and it is left after a while (B09)", async () => {
    const controller = new AbortController();
    let push;
    const exec = (ends) => (_, options) =>
      new Promise((resolve) => {
        push = options.onStdout;
        push("a\n");
        options.signal.addEventListener("abort", () => {
          push("dying\n");
          if (ends) resolve({ exitCode: 137 });
        });
      });
    for (const ends of [true, false]) {
      const toolset = await createToolset(envWith("exec", exec(ends)));
      const result = await run(toolset, "bash", { command: "x", timeout: 0.02 });
      assertFailed(result, "timeout");
      assert.match(textOf(result), /^a\ndying\n\nCommand timed out after 0.02 seconds$/);
      push("too late\n");
      await stillWorks(toolset);
    }
    const toolset = await createToolset(envWith("exec", exec(true)));
    const call = run(toolset, "bash", { command: "x" }, { signal: controller.signal });
    controller.abort();
    const result = await call;
    assertFailed(result, "aborted");
    assert.match(textOf(result), /^a\ndying\n\nCommand aborted$/);
    await nothingLeft();
  });

  test("50 MB at once, in one chunk and in many, as bytes and as text (B20)", async () => {
    const line = `${"x".repeat(98)}\n`;
    const big = line.repeat(Math.ceil((50 * 1024 * 1024) / line.length));
    for (const chunks of [[big], [bytes(big)], Array.from({ length: 800 }, () => bytes(line.repeat(662)))]) {
      const memoryBefore = process.memoryUsage().rss;
      const result = await command((_, { onStdout }) => {
        for (const chunk of chunks) onStdout(chunk);
        onStdout("the end\n");
        return { exitCode: 0 };
      });
      assert.equal(result.isError, false);
      assert.match(textOf(result), /the end\n\n\[Showing lines /);
      assert.ok(result.details.truncation.totalBytes > 50 * 1024 * 1024);
      assert.ok(textOf(result).length < 60_000);
      assert.ok(process.memoryUsage().rss - memoryBefore < 400e6);
    }
  });

  test("an environment that pushes from within its own chunk's update", async () => {
    let push;
    const env = envWith("exec", async (_, { onStdout }) => {
      push = onStdout;
      for (let i = 0; i < 5; i++) {
        onStdout(`${i}\n`);
        await sleep(2);
      }
      return { exitCode: 0 };
    });
    const toolset = await createToolset(env, { updates: { intervalMs: 0 } });
    let more = 3;
    const result = await run(
      toolset,
      "bash",
      { command: "x" },
      { onUpdate: () => push && more-- > 0 && push("u\n") },
    );
    assert.equal(result.isError, false);
    assert.match(textOf(result), /u\n/);
  });
});

describe("hooks", () => {
  const files = () => memory({ "good.txt": "good\n", "file.txt": "one\n" });
  for (const hook of ["beforeToolCall", "afterToolCall"]) {
    test(`${hook} throws or rejects with anything`, async () => {
      let current;
      const toolset = await createToolset(files(), {
        [hook]: ({ args }) => (args.path === "/good.txt" ? undefined : current()),
      });
      for (const [what, value] of THROWN) {
        for (const fail of [() => Promise.reject(value()), throwOf(value)]) {
          current = fail;
          const result = await run(toolset, ...READ);
          assertFailed(result);
          if (/string|number/.test(what)) assert.match(textOf(result), new RegExp(`^${hook} failed`));
          await stillWorks(toolset);
        }
      }
      await nothingLeft();
    });

    test(`${hook} answers nonsense`, async () => {
      const self = {};
      self.self = self;
      let current;
      const toolset = await createToolset(files(), {
        [hook]: ({ args }) => (args.path === "/good.txt" ? undefined : current),
      });
      for (current of [
        5,
        "text",
        null,
        [],
        {},
        true,
        Symbol("s"),
        () => {},
        { args: self },
        { args: 1n },
        { args: undefined },
        { args: () => {} },
        { args: null },
        { args: "{" },
        { block: "yes", reason: Symbol("r") },
        { block: true, reason: { toString: throwing("no") } },
        { block: true, reason: "\ud800" },
        { content: "text" },
        { content: [5] },
        { content: [{ type: "video" }] },
        { details: self },
        { details: 5, isError: true },
        { details: [], isError: true },
        { isError: true },
        { isError: "yes" },
        { usage: 1n, terminate: 5 },
        hostileProxy(),
        revokedProxy(),
        withGetter("args", throwing("no")),
        withGetter("content", throwing("no")),
        // biome-ignore lint/suspicious/noThenProperty: on purpose
        { then: throwing("no") },
        withGetter("then", throwing("no")),
        Promise.resolve({ args: self }),
        {
          // biome-ignore lint/suspicious/noThenProperty: on purpose
          then(yes) {
            yes(this);
          },
        },
      ]) {
        const result = await run(toolset, ...READ);
        if (result.isError) assertFailed(result);
        else assert.equal(textOf(result), "one\n");
        await stillWorks(toolset);
      }
      await nothingLeft();
    });

    test(`${hook} never settles and is aborted`, async () => {
      let seen;
      const toolset = await createToolset(files(), {
        [hook]: ({ signal, args }) => {
          if (args.path === "/good.txt") return;
          seen = signal;
          return new Promise(() => {});
        },
      });
      const controller = new AbortController();
      const call = run(toolset, ...READ, { signal: controller.signal });
      await until(() => seen);
      controller.abort();
      const result = await call;
      assertFailed(result, "aborted");
      assert.equal(textOf(result), "Operation aborted");
      assert.equal(seen.aborted, true);
      await stillWorks(toolset);
      await nothingLeft();
    });
  }

  function throwOf(value) {
    return () => {
      throw value();
    };
  }

  test("block", async () => {
    const toolset = await createToolset(files(), {
      beforeToolCall: ({ args }) =>
        args.path !== "/good.txt" && { block: true, reason: `not \ud800this`, terminate: true },
    });
    const result = await run(toolset, ...READ);
    assertFailed(result, "blocked");
    assert.equal(textOf(result), "not \ufffdthis");
    assert.equal(result.terminate, true);
    await stillWorks(toolset);
  });

  test("arguments changed in place are validated, and used", async () => {
    for (const [change, code] of [
      [(args) => Object.assign(args, { path: "/good.txt" })],
      [(args) => Reflect.deleteProperty(args, "path"), "invalid_arguments"],
      [(args) => Object.assign(args, { path: 5 })],
      [(args) => Object.assign(args, { path: args }), "unknown"],
      [(args) => Object.assign(args, { toJSON: throwing("no") }), "unknown"],
      [(args) => Object.assign(args, { limit: Number.NaN })],
    ]) {
      const toolset = await createToolset(files(), { beforeToolCall: ({ args }) => void change(args) });
      const result = await run(toolset, ...READ);
      if (code) assertFailed(result, code);
      else if (result.isError) assertFailed(result);
      else assert.ok(["good\n", "one\n"].includes(textOf(result)));
    }
  });

  test("a hook's cut through a character does not cost the result", async () => {
    const toolset = await createToolset(files(), {
      afterToolCall: () => ({
        content: [{ type: "text", text: "cut \ud83d" }],
        details: { "\ud83d": "\udc00" },
      }),
    });
    assert.equal(textOf(await run(toolset, ...READ)), "cut \ufffd");
  });

  test("a result that a hook makes an error has a code", async () => {
    for (const details of [undefined, {}, { code: 5 }, [], "text", 5]) {
      const toolset = await createToolset(files(), { afterToolCall: () => ({ isError: true, details }) });
      assertFailed(await run(toolset, ...READ), "unknown");
      await assert.rejects(toolset.tools[0].execute("1", { path: "file.txt" }), {
        name: "ToolError",
        code: "unknown",
      });
    }
  });
});

describe("listeners", () => {
  test("that throw, reject or are no functions change nothing, and are said", async () => {
    const said = mock.method(console, "error", () => {});
    const toolset = await createToolset(envWith("exec", () => ({ exitCode: 0 })));
    for (const [, value] of THROWN) {
      for (const listener of [
        () => {
          throw value();
        },
        () => Promise.reject(value()),
        // biome-ignore lint/suspicious/noThenProperty: on purpose
        () => ({ then: (_, no) => no(value()) }),
        5,
      ]) {
        const stop = toolset.subscribe(listener);
        const result = await run(toolset, "bash", { command: "x" }, { onUpdate: listener });
        assert.equal(result.isError, false);
        stop();
      }
    }
    await nothingEscaped();
    assert.ok(said.mock.callCount() > 0);
    said.mock.mockImplementation(throwing("no console"));
    toolset.subscribe(throwing("no"));
    assert.equal((await run(toolset, "bash", { command: "x" }, { onUpdate: throwing("no") })).isError, false);
    said.mock.restore();
    await nothingLeft();
  });
});

describe("callers", () => {
  test("calls that are none", async () => {
    const toolset = await createToolset(memory({ "good.txt": "good\n" }));
    const self = {};
    self.self = self;
    for (const call of [
      undefined,
      null,
      5,
      "read",
      [],
      {},
      { id: "1" },
      { name: "read" },
      { id: 1, name: "read", arguments: {} },
      { id: Symbol("id"), name: Symbol("name") },
      { id: { toString: throwing("no"), toJSON: throwing("no") }, name: "read" },
      { id: self, name: self },
      hostileProxy(),
      revokedProxy(),
      withGetter("id", throwing("no")),
      { id: "1", name: "read", arguments: { path: 1n } },
      { id: "1", name: "read", arguments: self },
      { id: "1", name: "read", arguments: { toJSON: throwing("no") } },
      { id: "1", name: "read", arguments: hostileProxy() },
      { id: "1", name: "read", arguments: Symbol("s") },
      { id: "1", name: "read", arguments: () => {} },
      { id: "1", name: "read", arguments: 5 },
      { id: "1", name: "read", arguments: null },
      { id: "1", name: "read" },
      { id: "\ud800", name: "read", arguments: "{" },
      { id: "\ud800", name: "\udc00", arguments: "{}" },
      { id: "1", name: "__proto__", arguments: {} },
      { id: "1", name: "read", arguments: "\ud800" },
      { id: "1", name: "read", arguments: `{"path":"\ud800"}` },
      { id: "1", name: "read", arguments: { path: "\ud800" } },
    ]) {
      assertFailed(await soon(toolset.call(call)));
      await stillWorks(toolset);
    }
    await nothingLeft();
  });

  test("deep arguments", async () => {
    const toolset = await createToolset(memory({ "good.txt": "good\n" }));
    let deep = {};
    for (let i = 0; i < 100_000; i++) deep = { deep };
    for (const args of [
      deep,
      "[".repeat(1e6),
      `${"[".repeat(1e5)}${"]".repeat(1e5)}`,
      '{"path":'.repeat(1e5),
    ]) {
      assertFailed(await run(toolset, "read", args));
      await stillWorks(toolset);
    }
  });

  test("options that are none", async () => {
    const toolset = await createToolset(memory({ "good.txt": "good\n" }));
    const call = (options) =>
      soon(toolset.call({ id: "1", name: "read", arguments: { path: "good.txt" } }, options));
    for (const options of [
      undefined,
      null,
      5,
      "x",
      [],
      {},
      { signal: null },
      { signal: undefined },
      { onUpdate: 5 },
    ]) {
      assert.equal((await call(options)).isError, false);
    }
    const events = [];
    toolset.subscribe((event) => events.push(event.type));
    for (const signal of [
      5,
      "x",
      {},
      hostileProxy(),
      withGetter("aborted", throwing("no")),
      { addEventListener: 5 },
    ]) {
      assertFailed(await call({ signal }));
    }
    assertFailed(await call({ signal: { addEventListener: throwing("no"), removeEventListener() {} } }));
    assertFailed(await call(hostileProxy()));
    // Each was told from start to end, where there was a call to tell of.
    assert.equal(events.filter((type) => type === "tool_execution_start").length, 7);
    assert.equal(events.filter((type) => type === "tool_execution_end").length, 7);
    // A signal of another make will do.
    const odd = { aborted: false, addEventListener() {}, removeEventListener: throwing("no") };
    assert.equal((await call({ signal: odd })).isError, false);
    await nothingLeft();
  });

  test("functions among the options that throw make the call an error", async () => {
    let current = () => undefined;
    const toolset = await createToolset(memory({ "good.txt": "good\n" }), {
      limits: () => current(),
      context: () => current(),
    });
    for (const [, value] of THROWN) {
      current = () => {
        throw value();
      };
      assertFailed(await run(toolset, "read", { path: "/good.txt" }));
      current = () => undefined;
      await stillWorks(toolset);
    }
    for (const wrong of [
      5,
      "x",
      { maxLines: 0 },
      { maxLines: Infinity },
      { maxLines: 1n },
      { nonsense: 1 },
      hostileProxy(),
    ]) {
      current = () => wrong;
      assertFailed(await run(toolset, "read", { path: "/good.txt" }), "invalid_arguments");
      current = () => undefined;
      await stillWorks(toolset);
    }
    await nothingLeft();
  });

  test("a function among the options that calls the toolset, without end", async () => {
    const inner = [];
    const toolset = await createToolset(memory({ "good.txt": "good\n" }), {
      limits: () => {
        if (toolset) inner.push(toolset.call({ id: "1", name: "read", arguments: { path: "good.txt" } }));
        return {};
      },
    }).catch(() => undefined);
    // While it is being made there is none.
    assert.equal(toolset, undefined);
    let depth = 0;
    const bounded = await createToolset(memory({ "good.txt": "good\n" }), {
      context: () => {
        if (depth++ > 0) inner.push(bounded.call({ id: "1", name: "read", arguments: { path: "good.txt" } }));
      },
    });
    await soon(bounded.call({ id: "0", name: "read", arguments: { path: "good.txt" } }));
    depth = Number.NaN;
    for (const result of await soon(Promise.all(inner))) if (result.isError) assertFailed(result);
  });

  test("validateToolArguments", async () => {
    await init();
    const self = {};
    self.self = self;
    for (const [tool, call] of [
      [{ name: "t", parameters: { type: "object" } }, { arguments: self }],
      [{ name: "t", parameters: { type: "object" } }, { arguments: { n: 1n } }],
      [{ name: "t", parameters: { type: "object" } }, { arguments: "{" }],
      [{ name: "t", parameters: { type: "object" } }, { arguments: 5 }],
      [{ name: "t", parameters: { not: {} } }, { arguments: {} }],
    ]) {
      assert.throws(() => validateToolArguments(tool, call), { name: "ToolError" });
    }
  });
});

test("a name with half a surrogate pair is one of the names", async () => {
  const env = memory({ "/a\ud800": "x\n", "/b": "x\n" });
  const tools = await createToolset(env, { tools: ["read", "grep", "find", "ls"] });
  const text = async (name, args) => textOf(await tools.call({ id: "1", name, arguments: args }));
  assert.equal(await text("ls", {}), "a\ufffd\nb");
  assert.equal(await text("find", { pattern: "*" }), "a\ufffd\nb");
  assert.equal(
    await text("grep", { pattern: "x" }),
    "b:1: x\n\n[Files and directories that could not be read: 1]",
  );
  tools.dispose();
});
