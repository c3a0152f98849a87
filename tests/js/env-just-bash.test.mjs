import assert from "node:assert/strict";
import { test } from "node:test";
import { Bash } from "just-bash";
import { justBash } from "tackroom/env/just-bash";

const bytes = (text) => new TextEncoder().encode(text);
const text = (content) => new TextDecoder().decode(content);
const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
const names = (entries) => entries.map(({ name }) => name).sort();

function setUp(options = {}) {
  const bash = new Bash({
    files: { "/project/a.txt": "one\ntwo\n", "/project/src/b.ts": "b" },
    cwd: "/project",
    ...options,
  });
  return { bash, env: justBash(bash) };
}

/** Runs a command as the core does. */
function run(env, command, options = {}) {
  return env.exec(command, {
    shell: "bash",
    cwd: env.cwd,
    env: {},
    unsetEnv: [],
    onStdout() {},
    onStderr() {},
    signal: new AbortController().signal,
    ...options,
  });
}

async function codeOf(outcome) {
  try {
    await outcome;
  } catch (error) {
    assert.ok(error instanceof Error, "fails with an Error");
    return error.code;
  }
  assert.fail("expected a failure");
}

test("all 256 byte values come back, and the shell sees the same bytes", async () => {
  const { env } = setUp();
  await env.writeFile("/project/bin", everyByte);
  assert.deepEqual(await env.readBinaryFile("/project/bin"), everyByte);
  assert.equal((await run(env, "base64 -w 0 bin")).stdout, Buffer.from(everyByte).toString("base64"));
  assert.equal((await run(env, "cp bin copy && cat bin | cat > piped")).exitCode, 0);
  assert.deepEqual(await env.readBinaryFile("/project/copy"), everyByte);
  assert.deepEqual(await env.readBinaryFile("/project/piped"), everyByte);
});

test("content is copied in and out", async () => {
  const { env } = setUp();
  const written = bytes("one");
  await env.writeFile("/project/a", written);
  written[0] = 0;
  (await env.readBinaryFile("/project/a"))[0] = 0;
  assert.equal(text(await env.readBinaryFile("/project/a")), "one");
});

test("a listing tells kinds and sizes", async () => {
  const { bash, env } = setUp();
  await bash.fs.symlink("a.txt", "/project/link");
  const entries = await env.listDir("/project");
  assert.deepEqual(Object.fromEntries(entries.map(({ name, kind, path }) => [name, [kind, path]])), {
    "a.txt": ["file", "/project/a.txt"],
    link: ["symlink", "/project/link"],
    src: ["directory", "/project/src"],
  });
  const info = await env.fileInfo("/project/a.txt");
  assert.equal(info.size, 8);
  assert.ok(Math.abs(info.mtimeMs - Date.now()) < 60_000);
  assert.deepEqual(names(await env.listDir("/")).includes("project"), true);
});

test("failures have a code", async () => {
  const { env } = setUp();
  assert.equal(await codeOf(env.readBinaryFile("/no")), "not_found");
  assert.equal(await codeOf(env.readBinaryFile("/project")), "is_directory");
  assert.equal(await codeOf(env.readBinaryFile("/a\0b")), "not_found");
  assert.equal(await codeOf(env.writeFile("/project", bytes(""))), "is_directory");
  assert.equal(await codeOf(env.writeFile("/", bytes(""))), "is_directory");
  assert.equal(await codeOf(env.writeFile("/project/no/a", bytes(""))), "not_found");
  assert.equal(await codeOf(env.writeFile("/project/a.txt/x", bytes(""))), "not_directory");
  assert.equal(await codeOf(env.listDir("/project/a.txt")), "not_directory");
  assert.equal(await codeOf(env.listDir("/no")), "not_found");
  assert.equal(await codeOf(env.fileInfo("/no")), "not_found");
  assert.equal(await codeOf(env.canonicalPath("/no")), "not_found");
  assert.equal(await codeOf(env.createDir("/project/a.txt")), "already_exists");
  assert.equal(await codeOf(env.createDir("/project/a.txt/x")), "not_directory");
  assert.equal(await codeOf(env.fileInfo("/project", { signal: AbortSignal.abort() })), "aborted");
  assert.deepEqual(names(await env.listDir("/project")), ["a.txt", "src"], "the directory is still there");
});

test("createDir makes parents and leaves what is there", async () => {
  const { env } = setUp();
  await env.createDir("/project/x/y/");
  await env.createDir("/project/src");
  await env.createDir("/");
  assert.deepEqual(names(await env.listDir("/project")), ["a.txt", "src", "x"]);
  assert.deepEqual(await env.listDir("/project/x/y"), []);
});

test("writes go through links, loops are refused", async () => {
  const { bash, env } = setUp();
  await bash.fs.symlink("a.txt", "/project/link");
  await bash.fs.symlink("/project/src", "/dir");
  await bash.fs.symlink("later", "/project/dangling");
  await bash.fs.symlink("two", "/project/one");
  await bash.fs.symlink("one", "/project/two");
  await env.writeFile("/project/link", bytes("new"));
  assert.equal((await env.fileInfo("/project/link")).kind, "symlink");
  assert.equal(text(await env.readBinaryFile("/project/a.txt")), "new");
  await env.writeFile("/dir/c.ts", bytes("c"));
  await env.createDir("/dir/deep/er");
  assert.deepEqual(names(await env.listDir("/dir")), ["b.ts", "c.ts", "deep"]);
  assert.deepEqual(names(await env.listDir("/project/src")), ["b.ts", "c.ts", "deep"]);
  assert.equal(await env.canonicalPath("/dir/c.ts"), "/project/src/c.ts");
  await env.writeFile("/project/dangling", bytes("now"));
  assert.equal(text(await env.readBinaryFile("/project/later")), "now");
  assert.equal(await codeOf(env.readBinaryFile("/project/one")), "invalid_path");
  assert.equal(await codeOf(env.writeFile("/project/one", bytes(""))), "invalid_path");
  assert.equal(await codeOf(env.canonicalPath("/project/one")), "invalid_path");
});

test("a pipeline runs, and its end is told", async () => {
  const { env } = setUp();
  assert.deepEqual(await run(env, "cat a.txt | sort -r | head -1; echo bad >&2; exit 7"), {
    exitCode: 7,
    stdout: "two\n",
    stderr: "bad\n",
  });
  assert.equal((await run(env, "echo 'grüße' | tr a-z A-Z")).stdout, "GRüßE\n");
  assert.equal((await run(env, "nonesuch")).exitCode, 127);
  assert.equal((await run(env, "if then")).exitCode, 2);
});

test("a command keeps its blanks and loses its cd", async () => {
  const { env } = setUp();
  assert.equal((await run(env, "cat <<'EOF'\n   a\n EOF\nEOF")).stdout, "   a\n EOF\n");
  assert.equal((await run(env, "echo '\n  a'")).stdout, "\n  a\n");
  await run(env, "cd src; export LEFT=1");
  assert.equal((await run(env, 'pwd; echo "[$LEFT]"')).stdout, "/project\n[]\n");
  assert.equal(
    (await run(env, "pwd; echo $PWD", { cwd: "/project/src" })).stdout,
    "/project/src\n/project/src\n",
  );
  assert.equal(await codeOf(run(env, "pwd", { cwd: "/no" })), "not_found");
  assert.equal(await codeOf(run(env, "pwd", { cwd: "/project/a.txt" })), "not_directory");
});

test("variables are set, and inherited ones removed", async () => {
  const { env } = setUp({ env: { GONE: "1", KEPT: "2", BOTH: "3" } });
  const command = 'echo "[$GONE][$KEPT][$BOTH][$NEW][$HOME]"; printenv GONE; echo $PWD';
  const options = { env: { NEW: "4", BOTH: "5" }, unsetEnv: ["GONE", "BOTH", "NEVER"], cwd: "/project/src" };
  assert.equal((await run(env, command, options)).stdout, "[][2][5][4][/]\n/project/src\n");
  assert.equal((await run(env, "echo $GONE")).stdout, "1\n", "for that command only");
});

test("an aborted command ends without an exit code", async () => {
  const { env } = setUp();
  const started = Date.now();
  const result = await run(env, "echo lost; sleep 5", { signal: AbortSignal.timeout(50) });
  assert.deepEqual(result, { exitCode: null, stdout: "", stderr: "" });
  assert.ok(Date.now() - started < 3000);
  assert.equal(await codeOf(run(env, "echo", { signal: AbortSignal.abort() })), "aborted");
  assert.equal((await run(env, "exit 124")).exitCode, 124);
});

test("output that is marked as bytes comes as bytes", async () => {
  const { bash } = setUp();
  const marked = (mark) => ({
    ...bash,
    fs: bash.fs,
    getCwd: () => "/",
    getEnv: () => ({}),
    exec: async () => mark,
  });
  const result = { stdout: "\xff\x00", stderr: "", exitCode: 0 };
  const bytesOf = async (mark) => (await run(justBash(marked({ ...result, ...mark })), "x")).stdout;
  assert.deepEqual(await bytesOf({ stdoutKind: "bytes" }), Uint8Array.of(255, 0));
  assert.deepEqual(await bytesOf({ stdoutEncoding: "binary" }), Uint8Array.of(255, 0));
  assert.equal(await bytesOf({ stdoutKind: "text" }), "\xff\x00");
});

test("it describes itself", () => {
  const { bash, env } = setUp();
  assert.equal(env.cwd, "/project");
  assert.equal(env.home, undefined);
  assert.deepEqual(env.shells, ["bash"]);
  assert.match(env.description, /simulated bash/);
  assert.equal(justBash(bash, { home: "/home/me", description: "d", cwd: "/" }).home, "/home/me");
});
