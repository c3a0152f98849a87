import assert from "node:assert/strict";
import { test } from "node:test";
import { memory } from "tackroom/env/memory";

const bytes = (text) => new TextEncoder().encode(text);
const text = (content) => new TextDecoder().decode(content);
const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
const names = (entries) => entries.map(({ name }) => name).sort();

/** The code and message that a call fails with. */
function failureOf(action) {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof Error, "fails with an Error");
    return error;
  }
  assert.fail("expected a failure");
}
const codeOf = (action) => failureOf(action).code;

test("all 256 byte values come back, from the start and from a write", () => {
  const env = memory({ "/a": everyByte });
  assert.deepEqual(env.readBinaryFile("/a"), everyByte);
  env.writeFile("/b", everyByte);
  assert.deepEqual(env.readBinaryFile("/b"), everyByte);
  env.writeFile("/b", new Uint8Array());
  assert.equal(env.fileInfo("/b").size, 0);
});

test("content is copied in and out", () => {
  const given = bytes("one");
  const env = memory({ "/a": given });
  given[0] = 0;
  env.readBinaryFile("/a")[0] = 0;
  env.snapshot()["/a"][0] = 0;
  assert.equal(text(env.readBinaryFile("/a")), "one");
  const written = bytes("two");
  env.writeFile("/a", written);
  written[0] = 0;
  assert.equal(text(env.readBinaryFile("/a")), "two");
});

test("a range is a copy of a part, and ends with the file", () => {
  const env = memory({ "/a": everyByte, "/empty": "" });
  env.symlink("a", "/link");
  for (const [start, end] of [
    [0, 256],
    [0, 1],
    [255, 256],
    [3, 200],
    [200, 999],
    [256, 300],
    [999, 2 ** 40],
    [7, 7],
    [0, Number.MAX_SAFE_INTEGER],
  ]) {
    assert.deepEqual(env.readRange("/link", start, end), everyByte.slice(start, end), `${start} to ${end}`);
  }
  env.readRange("/a", 0, 9)[0] = 99;
  assert.equal(env.readRange("/a", 0, 9)[0], 0);
  assert.equal(env.readRange("/empty", 0, 9).length, 0);
  assert.equal(
    codeOf(() => env.readRange("/none", 0, 9)),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.readRange("/", 0, 9)),
    "is_directory",
  );
  assert.equal(
    codeOf(() => env.readRange("/a", 0, 9, { signal: AbortSignal.abort() })),
    "aborted",
  );
});

test("keys are absolute or relative to cwd, strings are UTF-8", () => {
  const env = memory(
    { "src/é.txt": "grüße", "/top": "", __proto__x: "" },
    { cwd: "/project", home: "/home/me" },
  );
  assert.deepEqual(Object.keys(env.snapshot()), ["/project/src/é.txt", "/project/__proto__x", "/top"]);
  assert.equal(env.fileInfo("src/é.txt").size, 7);
  assert.deepEqual(names(env.listDir("/")), ["home", "project", "top"]);
  assert.equal(env.home, "/home/me");
  assert.equal("exec" in env, false);
});

test("a listing tells kinds and sizes, an entry its time", () => {
  const before = Date.now();
  const env = memory({ "/d/a": "12", "/d/sub/b": "" });
  env.symlink("a", "/d/l");
  const kinds = Object.fromEntries(env.listDir("/d").map(({ name, kind, size }) => [name, [kind, size]]));
  assert.deepEqual(kinds, { a: ["file", 2], sub: ["directory", 0], l: ["symlink", 1] });
  assert.deepEqual(
    env.listDir("/d/").map(({ path }) => path),
    ["/d/a", "/d/sub", "/d/l"],
  );
  const { mtimeMs } = env.fileInfo("/d/a");
  assert.ok(mtimeMs >= before && mtimeMs <= Date.now());
});

test("failures have a code and say what was expected", () => {
  const env = memory({ "/d/a": "" });
  assert.equal(
    codeOf(() => env.readBinaryFile("/no")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("/no/a")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("/d")),
    "is_directory",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("/d/a/x")),
    "not_directory",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("/d/a/")),
    "not_directory",
  );
  assert.equal(
    codeOf(() => env.writeFile("/d", bytes(""))),
    "is_directory",
  );
  assert.equal(
    codeOf(() => env.writeFile("/", bytes(""))),
    "is_directory",
  );
  assert.equal(
    codeOf(() => env.writeFile("/no/a", bytes(""))),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.writeFile("/d/a/x", bytes(""))),
    "not_directory",
  );
  assert.equal(
    codeOf(() => env.listDir("/d/a")),
    "not_directory",
  );
  assert.equal(
    codeOf(() => env.listDir("/no")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.fileInfo("/no")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.canonicalPath("/no")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.createDir("/d/a")),
    "already_exists",
  );
  assert.equal(
    codeOf(() => env.createDir("/d/a/x")),
    "not_directory",
  );
  assert.equal(
    codeOf(() => env.symlink("x", "/d/a")),
    "already_exists",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("")),
    "invalid_path",
  );
  assert.equal(
    codeOf(() => env.readBinaryFile("/a\0b")),
    "invalid_path",
  );
  assert.equal(
    codeOf(() => env.fileInfo("/d/a", { signal: AbortSignal.abort() })),
    "aborted",
  );
  assert.equal(failureOf(() => env.readBinaryFile("/d")).message, "expected a file, found a directory: /d");
  assert.equal(
    codeOf(() => memory({ a: "", "a/b": "" })),
    "already_exists",
  );
  assert.equal(
    codeOf(() => memory({ a: "", "a/b/c": "" })),
    "not_directory",
  );
  assert.equal(
    codeOf(() => memory({ "a/b": "", a: "" })),
    "is_directory",
  );
  assert.equal(
    codeOf(() => memory({ "a/": "" })),
    "invalid_path",
  );
  assert.equal(
    codeOf(() => memory({}, { cwd: "project" })),
    "invalid_path",
  );
});

test("createDir makes parents and leaves what is there", () => {
  const env = memory({ "/d/a": "1" });
  env.createDir("/d/x/y/");
  env.createDir("/d");
  env.createDir("/");
  assert.deepEqual(names(env.listDir("/d")), ["a", "x"]);
  assert.deepEqual(env.listDir("/d/x/y"), []);
});

test("links are followed in the middle and at the end, lstat sees them", () => {
  const env = memory({ "/real/deep/a": "1", "/real/b": "2" });
  env.symlink("/real/deep", "/link");
  env.symlink("../real/b", "/links/b");
  assert.equal(env.fileInfo("/link").kind, "symlink");
  assert.equal(text(env.readBinaryFile("/link/a")), "1");
  assert.equal(text(env.readBinaryFile("/links/b")), "2");
  assert.equal(text(env.readBinaryFile("/link/../b")), "2", ".. leaves the link's target");
  assert.equal(env.canonicalPath("/link/../b"), "/real/b");
  assert.deepEqual(names(env.listDir("/link")), ["a"]);
  env.writeFile("/links/b", bytes("3"));
  assert.equal(text(env.readBinaryFile("/real/b")), "3");
  assert.equal(env.fileInfo("/links/b").kind, "symlink");
  env.createDir("/link/new");
  assert.deepEqual(names(env.listDir("/real/deep")), ["a", "new"]);
});

test("a dangling link can be written through, a loop is refused", () => {
  const env = memory();
  env.symlink("later", "/dangling");
  assert.equal(
    codeOf(() => env.readBinaryFile("/dangling")),
    "not_found",
  );
  assert.equal(
    codeOf(() => env.createDir("/dangling")),
    "not_found",
  );
  env.writeFile("/dangling", bytes("now"));
  assert.equal(text(env.readBinaryFile("/later")), "now");
  env.symlink("two", "/one");
  env.symlink("one", "/two");
  for (const action of [
    () => env.readBinaryFile("/one"),
    () => env.writeFile("/one", bytes("")),
    () => env.readBinaryFile("/one/x"),
    () => env.listDir("/two"),
    () => env.canonicalPath("/two"),
    () => env.createDir("/one/x"),
  ]) {
    assert.match(failureOf(action).message, /loop of links/);
    assert.equal(codeOf(action), "invalid_path");
  }
  assert.equal(env.fileInfo("/one").kind, "symlink");
});

test("snapshot and restore put every byte back and take the rest away", () => {
  const env = memory({ "/p/a": everyByte, "/p/d/b": "b" }, { cwd: "/p" });
  const before = env.snapshot();
  env.writeFile("/p/a", bytes("changed"));
  env.createDir("/p/new");
  env.writeFile("/p/new/c", bytes("c"));
  env.restore(before);
  assert.deepEqual(env.snapshot(), before);
  assert.deepEqual(names(env.listDir("/p")), ["a", "d"]);
  assert.equal(
    codeOf(() => env.restore({ a: "", "a/b": "" })),
    "already_exists",
  );
  assert.deepEqual(env.snapshot(), before, "a record that is refused changes nothing");
  env.restore({});
  assert.deepEqual(env.listDir("/p"), []);
});

test("exec, shells and description are the host's", () => {
  const exec = () => ({ exitCode: 0, stdout: "hi" });
  const env = memory({}, { exec, shells: ["bash", "powershell"], description: "a test" });
  assert.equal(env.exec, exec);
  assert.deepEqual(env.shells, ["bash", "powershell"]);
  assert.equal(env.description, "a test");
});

test("temporary files are at the top, under names that nothing has", () => {
  const env = memory({ "/.tackroom/out-1.log": "taken" }, { cwd: "/project" });
  assert.equal(env.createTempFile({ prefix: "out-", suffix: ".log" }), "/.tackroom/out-2.log");
  assert.equal(env.createTempFile(), "/.tackroom/tmp-3");
  assert.equal(text(env.readBinaryFile("/.tackroom/out-1.log")), "taken");
  assert.deepEqual(names(env.listDir("/project")), []);
});

test("what is appended to is not what the host was given, or gave", () => {
  const env = memory();
  const given = new Uint8Array(16);
  // A part of a larger buffer, as the core may give.
  env.writeFile("/a", given.subarray(0, 4));
  env.appendFile("/a", bytes("1234"));
  env.appendFile("/a", bytes("5678"));
  assert.deepEqual([...given], new Array(16).fill(0));
  const snapshot = env.snapshot();
  env.appendFile("/a", bytes("9"));
  assert.equal(snapshot["/a"].length, 12);
  env.writeFile("/a", bytes("x"));
  env.appendFile("/a", bytes("y"));
  assert.equal(text(env.readBinaryFile("/a")), "xy");
  assert.equal(text(env.readRange("/a", 1, 9)), "y");
});

test("much is appended in little time", () => {
  const env = memory();
  const part = new Uint8Array(64).fill(120);
  for (let index = 0; index < 200_000; index++) env.appendFile("/log", part);
  assert.equal(env.fileInfo("/log").size, 200_000 * 64);
});

test("the tree is not lost", () => {
  const env = memory({ "/d/a": "" }, { cwd: "/d" });
  assert.equal(
    codeOf(() => env.renameFile("/", "/d/x")),
    "permission_denied",
  );
  assert.equal(
    codeOf(() => env.renameFile("/d", "/")),
    "permission_denied",
  );
  assert.equal(
    codeOf(() => env.renameFile("/d/..", "/x")),
    "permission_denied",
  );
  env.symlink("/d", "/link");
  assert.equal(
    codeOf(() => env.renameFile("/d", "/link/x")),
    "invalid_path",
  );
  env.renameFile("/d/a", "/link/b");
  assert.deepEqual(names(env.listDir("/d")), ["b"]);
});
