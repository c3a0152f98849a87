// Paths, the root, the mutation queue and the pure functions, through the package.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyEdits,
  createToolset,
  init,
  resolveConfined,
  ToolError,
  unifiedDiff,
  withFileMutationQueue,
} from "tackroom";
import { memory } from "tackroom/env/memory";

const text = (bytes) => new TextDecoder().decode(bytes);
const bytes = (content) => new TextEncoder().encode(content);
const textOf = (result) => result.content[0].text;

// Without a toolset and before init(), on purpose: the module loads itself.
test("the queue works before there is a toolset", async () => {
  const env = memory({ "a.txt": "" });
  assert.equal(await withFileMutationQueue(env, "a.txt", async () => "done"), "done");
});

function world() {
  const env = memory(
    { "/project/a.txt": "OLD", "/etc/hostname": "SECRET", "/outside/x": "SECRET" },
    { cwd: "/project", exec: () => ({ exitCode: 0 }) },
  );
  env.symlink("/etc/hostname", "/project/link");
  env.symlink("/outside/file", "/project/new");
  env.symlink("/", "/project/d");
  return env;
}

async function call(toolset, name, args) {
  return toolset.call({ id: "1", name, arguments: args });
}

const ESCAPES = [
  "../etc/hostname",
  "/etc/hostname",
  "a/../../etc/hostname",
  "link",
  "new",
  "d/etc/x",
  "d/etc/hostname",
];

test("P12, P14, P19: nothing leaves the root", async () => {
  const env = world();
  const before = env.snapshot();
  const toolset = await createToolset(env, { root: "/project" });
  assert.deepEqual(toolset.active, ["read", "edit", "write", "grep", "find", "ls"]);
  for (const path of ESCAPES) {
    for (const [name, rest] of [
      ["read", {}],
      ["write", { content: "x" }],
      ["edit", { edits: [{ oldText: "SECRET", newText: "x" }] }],
    ]) {
      const result = await call(toolset, name, { path, ...rest });
      assert.equal(result.details.code, "outside_root", `${name} ${path}: ${textOf(result)}`);
      assert.ok(textOf(result).includes(path) && textOf(result).includes("/project"), textOf(result));
      assert.ok(!textOf(result).includes("SECRET"));
    }
  }
  assert.deepEqual(env.snapshot(), before);
  assert.equal(textOf(await call(toolset, "read", { path: "@a.txt" })), "OLD");
});

test("the root: what is no root is refused, a shell has to be asked for", async () => {
  const env = world();
  for (const root of [undefined, null, 5]) {
    await assert.rejects(createToolset(env, { root }), { code: "invalid_arguments" });
  }
  await assert.rejects(createToolset(env, { root: "" }), { code: "invalid_path" });
  await assert.rejects(createToolset(env, { root: "/etc" }), { code: "outside_root" });
  const asked = await createToolset(env, { root: ".", tools: ["read", "bash"] });
  assert.deepEqual(asked.active, ["read", "bash"]);
});

test("resolveConfined is the same rule", async () => {
  const env = world();
  assert.equal(await resolveConfined(env, "/project", "a.txt"), "/project/a.txt");
  assert.equal(await resolveConfined(env, ".", "none/x"), "/project/none/x");
  for (const path of ESCAPES) {
    await assert.rejects(resolveConfined(env, "/project", path), (error) => {
      assert.ok(error instanceof ToolError);
      assert.equal(error.code, "outside_root");
      return true;
    });
  }
  const { canonicalPath: _, ...blind } = world();
  assert.equal(await resolveConfined(blind, "/project", "a.txt"), "/project/a.txt");
  await assert.rejects(resolveConfined(blind, "/project", "link"), { code: "outside_root" });
  await assert.rejects(resolveConfined(env, "/project", "a\0b"), { code: "invalid_path" });
  await assert.rejects(resolveConfined({}, "/project", "a"), { code: "invalid_arguments" });
});

/** An environment whose failures are those of the File System Standard. */
function domEnv(env) {
  const names = {
    not_found: "NotFoundError",
    not_directory: "TypeMismatchError",
    is_directory: "TypeMismatchError",
  };
  const wrapped = { cwd: env.cwd };
  for (const name of ["readBinaryFile", "writeFile", "fileInfo", "listDir", "canonicalPath", "createDir"]) {
    wrapped[name] = async (...args) => {
      try {
        return env[name](...args);
      } catch (error) {
        throw new DOMException(error.message, names[error.code] ?? "InvalidStateError");
      }
    };
  }
  return wrapped;
}

test("W05: a file in the middle, a directory at the end, told apart", async () => {
  for (const wrap of [(env) => env, domEnv]) {
    const env = memory({ a: "file", "dir/x": "" });
    const toolset = await createToolset(wrap(env));
    for (const [path, code] of [
      ["a/b.txt", "not_directory"],
      ["a/b/c.txt", "not_directory"],
      ["dir", "is_directory"],
      ["dir/", "invalid_path"],
    ]) {
      const result = await call(toolset, "write", { path, content: "x" });
      assert.equal(result.details.code, code, textOf(result));
      assert.ok(textOf(result).includes(path));
    }
    assert.equal((await call(toolset, "read", { path: "dir" })).details.code, "is_directory");
    assert.equal((await call(toolset, "read", { path: "none" })).details.code, "not_found");
    assert.deepEqual(Object.keys(env.snapshot()), ["/a", "/dir/x"]);
  }
});

test("W01: preserveEncoding, and what is said without", async () => {
  const before = new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0x0d, 0x0a, 0x62, 0x0d, 0x0a]);
  const env = memory({ f: before });
  const keeping = await createToolset(env, { write: { preserveEncoding: true } });
  const kept = await call(keeping, "write", { path: "f", content: "a\nc\n" });
  assert.equal(textOf(kept), "Successfully wrote 9 bytes to f");
  assert.equal(Buffer.from(env.snapshot()["/f"]).toString("hex"), "efbbbf610d0a630d0a");
  const verbatim = await call(await createToolset(env), "write", { path: "f", content: "a\nc\n" });
  assert.match(textOf(verbatim), /^Successfully wrote 4 bytes to f\. .*CRLF to LF.*BOM was removed/);
});

test("the queue is one for the function and for the tools, in the order of the calls", async () => {
  await init();
  const env = memory({ "a.txt": "0", "b.txt": "0" });
  env.symlink("a.txt", "/link");
  const toolset = await createToolset(env);
  const order = [];
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  const first = withFileMutationQueue(env, "link", async () => {
    order.push("first begins");
    await gate;
    env.writeFile("/a.txt", bytes("1"));
    order.push("first ends");
  });
  const second = call(toolset, "edit", { path: "a.txt", edits: [{ oldText: "1", newText: "2" }] });
  const third = withFileMutationQueue(env, "@a.txt", () => {
    order.push("third");
    throw new RangeError("its own");
  });
  const fourth = withFileMutationQueue(env, "/a.txt", async () => order.push("fourth"));
  await withFileMutationQueue(env, "b.txt", async () => order.push("other file"));
  release();
  assert.equal((await second).isError, false);
  await first;
  await assert.rejects(third, RangeError);
  await fourth;
  assert.deepEqual(order, ["first begins", "other file", "first ends", "third", "fourth"]);
  assert.equal(text(env.snapshot()["/a.txt"]), "2");
});

test("the queue outlives the toolsets", async () => {
  const env = memory({ "a.txt": "0" });
  const toolset = await createToolset(env);
  let release;
  const gate = new Promise((resolve) => {
    release = resolve;
  });
  const held = withFileMutationQueue(env, "a.txt", () => gate);
  toolset.dispose();
  const later = await createToolset(env);
  let isDone = false;
  const write = call(later, "write", { path: "a.txt", content: "1" }).then(() => {
    isDone = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isDone, false);
  release();
  await Promise.all([held, write]);
});

test("what cannot be a path, or an environment, rejects", async () => {
  const env = memory({ "a b": "", "a\u00a0b": "" });
  const never = () => assert.fail("not run");
  await assert.rejects(withFileMutationQueue(env, "", never), { code: "invalid_path" });
  await assert.rejects(withFileMutationQueue(env, "\ud800", never), { code: "invalid_path" });
  await assert.rejects(withFileMutationQueue(env, 5, never), { code: "invalid_path" });
  await assert.rejects(withFileMutationQueue(env, "a\u2009b", never), { code: "ambiguous" });
  await assert.rejects(withFileMutationQueue({}, "a", never), { code: "invalid_arguments" });
});

test("applyEdits: the type that came, the bytes around the change, the errors of edit", async () => {
  await init();
  const change = applyEdits("\ufeffa\r\nb\r\n", [{ oldText: "a\nb", newText: "A\nB" }], { path: "src/x" });
  assert.equal(change.content, "\ufeffA\r\nB\r\n");
  assert.deepEqual(
    [change.path, change.kind, change.linesAdded, change.linesRemoved],
    ["src/x", "modify", 2, 2],
  );
  assert.match(change.patch, /^--- a\/src\/x\n\+\+\+ b\/src\/x\n/);
  const latin = Uint8Array.from([0x78, 0xe9, 0x0a]);
  assert.deepEqual(
    applyEdits(latin, [{ oldText: "x", newText: "y" }]).content,
    Uint8Array.from([0x79, 0xe9, 0x0a]),
  );
  for (const [content, edits, code] of [
    ["a", [{ oldText: "b", newText: "" }], "no_match"],
    ["aa", [{ oldText: "a", newText: "" }], "ambiguous"],
    ["a", [{ oldText: "a", newText: "a" }], "no_change"],
    ["a", [], "invalid_arguments"],
    ["a", undefined, "invalid_arguments"],
    ["a", [{ oldText: "a" }], "invalid_arguments"],
    ["a\ud800", [{ oldText: "a", newText: "" }], "invalid_arguments"],
    [5, [{ oldText: "a", newText: "" }], "invalid_arguments"],
  ]) {
    assert.throws(
      () => applyEdits(content, edits),
      (error) => error instanceof ToolError && error.code === code,
      `${content} ${code}`,
    );
  }
});

test("unifiedDiff", async () => {
  await init();
  const before = "1\n2\n3\n4\n5\n6\n7\n";
  const diff = unifiedDiff("/f", before, bytes(before.replace("6", "six")), 1);
  assert.equal(diff, "--- a/f\n+++ b/f\n@@ -5,3 +5,3 @@\n 5\n-6\n+six\n 7\n");
  assert.match(unifiedDiff("f", before, before.replace("6", "six")), /@@ -2,6 \+2,6 @@/);
  assert.equal(unifiedDiff("f", before, before), "");
  assert.throws(() => unifiedDiff("f", "a", Uint8Array.of(0xff)), { code: "not_supported" });
  assert.throws(() => unifiedDiff("f", "a", "b", -1), { code: "invalid_arguments" });
  assert.throws(() => unifiedDiff("f", "a", "b", 1.5), { code: "invalid_arguments" });
});
