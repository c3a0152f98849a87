import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { lstat, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Bash, defineCommand } from "just-bash";
import { createToolset, withFileMutationQueue } from "tackroom";
import { justBash, toJustBashFs, withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";

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

/** A shell over files in memory. */
function overMemory(files = {}, options = {}) {
  const base = memory(files, { cwd: "/project" });
  return { base, env: withShell(base, Bash, options) };
}

test("withShell: all that the environment has is there, and asks the environment itself", async () => {
  class Store {
    #files = new Map([["/a", bytes("1")]]);
    cwd = "/";
    get description() {
      return "a store";
    }
    readBinaryFile(path) {
      return this.#files.get(path) ?? { ok: false, error: { code: "not_found", message: path } };
    }
    writeFile(path, content) {
      this.#files.set(path, content);
    }
    fileInfo = (path) => {
      if (path === "/") return { name: "", path, kind: "directory", size: 0, mtimeMs: 0 };
      const size = this.#files.get(path)?.length;
      return size === undefined ? null : { name: path.slice(1), path, kind: "file", size, mtimeMs: 0 };
    };
    listDir(path) {
      if (path !== "/") throw Object.assign(new Error("no directory"), { code: "ENOTDIR" });
      return [...this.#files.keys()].map((path) => this.fileInfo(path));
    }
    extra() {
      return this.#files.size;
    }
  }
  const store = new Store();
  const env = withShell(store, Bash, { home: "/home/me" });
  assert.equal(env.extra(), 1);
  assert.equal(env.readBinaryFile, env.readBinaryFile, "a method is one function");
  assert.equal(env.description, "a store; simulated bash, no network, no git");
  assert.deepEqual([env.home, env.shells], ["/home/me", ["bash"]]);
  assert.equal("canonicalPath" in env, false, "what it cannot do it still cannot");
  const { stdout, stderr } = await run(
    env,
    "cat a; cat no; echo 22 > b; cat b; echo $HOME; ls; mkdir d; rm a",
  );
  assert.equal(stdout, "122\n/home/me\na\nb\n");
  assert.match(stderr, /cat: no: No such file/);
  assert.match(stderr, /the environment has no createDir/);
  assert.equal(text(store.readBinaryFile("/b")), "22\n");
  // A method that is replaced later counts.
  store.readBinaryFile = () => bytes("new");
  assert.equal(text(await env.readBinaryFile("/a")), "new");
  assert.equal((await run(env, "cat a")).stdout, "new");
});

test("withShell: a change waits for one of the same file, whichever of the two environments was asked", async () => {
  const { base, env } = overMemory({ "/project/a": "0" });
  const order = [];
  await Promise.all([
    withFileMutationQueue(base, "/project/a", async () => {
      order.push("begins");
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push("ends");
    }),
    withFileMutationQueue(env, "/project/a", async () => void order.push("next")),
  ]);
  assert.deepEqual(order, ["begins", "ends", "next"]);
});

test("withShell: options of just-bash are passed on", async () => {
  const { env } = overMemory(
    {},
    {
      description: "mine",
      env: { GIVEN: "1", HOME: "/h" },
      executionLimits: { maxLoopIterations: 10 },
      customCommands: [
        defineCommand("hello", async ([who]) => ({ stdout: `hi ${who}\n`, stderr: "", exitCode: 0 })),
      ],
    },
  );
  assert.equal(env.description, "mine");
  assert.equal((await run(env, "hello you; echo $GIVEN $HOME $PATH")).stdout, "hi you\n1 /h /usr/bin\n");
  assert.match((await run(env, "while true; do true; done")).stderr, /iteration/);
  const { stdout } = await run(env, "echo [$GIVEN]", { unsetEnv: ["GIVEN"] });
  assert.equal(stdout, "[]\n");
  assert.equal((await run(env, "printenv PATH_OF_HOST USER")).stdout, "", "nothing of the host's");
});

test("withShell: an abort ends a command that waits for the environment, and nothing is written after it", async () => {
  const { base } = overMemory({ "/project/a": "1" });
  let isAsked = false;
  const env = withShell(
    {
      ...base,
      readBinaryFile() {
        isAsked = true;
        return new Promise(() => {});
      },
    },
    Bash,
  );
  const controller = new AbortController();
  const running = run(env, "cat a > b; echo > c", { signal: controller.signal });
  while (!isAsked) await new Promise((resolve) => setTimeout(resolve, 1));
  controller.abort();
  assert.equal((await running).exitCode, null);
  assert.equal("/project/c" in base.snapshot(), false);
  assert.equal(getEventListeners(controller.signal, "abort").length, 0);
});

test("withShell: what the system has is just-bash's, what the project has is its own", async () => {
  const { base, env } = overMemory({
    "/bin/sh": "mine",
    "/dev/notes": "n",
    "/project/run": "#!/bin/bash\necho $1\n",
  });
  const { stdout } = await run(
    env,
    "cat /bin/sh /dev/notes; ls /bin /dev; echo x > /dev/null; cat /dev/null; /bin/echo y",
  );
  assert.equal(stdout, "minen/bin:\nsh\n\n/dev:\nnotes\ny\n");
  assert.equal((await run(env, "chmod +x run && ./run 1; bash run 2")).stdout, "1\n2\n");
  const refused = await run(env, "echo before; echo x > /usr/bin/ls");
  assert.deepEqual(
    [refused.exitCode, refused.stderr],
    [1, "bash: EACCES: permission denied, open '/usr/bin/ls'\n"],
  );
  assert.deepEqual(Object.keys(base.snapshot()).sort(), ["/bin/sh", "/dev/notes", "/project/run"]);
});

test("withShell: no program of the machine is run, and no device of it touched", async () => {
  const dir = await mkdtemp(join(tmpdir(), "tackroom-test-"));
  try {
    const env = withShell(node({ cwd: dir }), Bash);
    const { stderr, exitCode } = await run(env, "ps; node -e 1; echo x > /dev/null; cat /dev/zero | wc -c");
    assert.match(stderr, /ps: command not found[\s\S]*node: command not found/);
    assert.equal(exitCode, 0);
    assert.ok((await lstat("/dev/null")).isCharacterDevice());
    assert.equal((await run(env, "type -t jq; printenv USER PWD")).stdout, "file\n".concat(`${dir}\n`));
    const read = await run(env, "cat /etc/hostname");
    assert.equal(read.stdout, await readFile("/etc/hostname", "utf8"), "files are read as by the file tools");
  } finally {
    await rm(dir, { recursive: true });
  }
});

test("withShell: a tool writes, the shell reads, a tool reads what the shell wrote", async () => {
  const { base, env } = overMemory({ "/project/a.txt": "b\r\na\r\n" });
  const toolset = await createToolset(env);
  const call = (name, args) => toolset.call({ id: "1", name, arguments: args });
  const edited = await call("edit", { path: "a.txt", edits: [{ oldText: "b\na", newText: "c\nd" }] });
  assert.equal(edited.isError, false);
  const shell = await call("bash", { command: "tr -d '\\r' < a.txt | sort -r > sorted; cat sorted; exit 3" });
  assert.deepEqual([shell.details.exitCode, shell.content[0].text.split("\n")[0]], [3, "d"]);
  assert.equal((await call("read", { path: "sorted" })).content[0].text, "d\nc\n");
  assert.equal(text(base.readBinaryFile("/project/a.txt")), "c\r\nd\r\n");
  assert.match(toolset.tools.find(({ name }) => name === "bash").description, /bash/i);
});

test("toJustBashFs: every member, as just-bash's own file systems answer", async () => {
  const base = memory({ "/d/a": "é", "/d/sub/b": everyByte });
  base.symlink("a", "/d/link");
  base.symlink("sub", "/d/dir");
  base.symlink("none", "/d/lost");
  const fs = toJustBashFs(base);
  assert.equal(await fs.readFile("/d/a"), "é");
  assert.equal(await fs.readFile("/d/a", "binary"), "\xc3\xa9");
  assert.equal(await fs.readFile("/d/a", { encoding: "hex" }), "c3a9");
  assert.equal(await fs.readFile("/d/a", "base64"), "w6k=");
  assert.deepEqual(await fs.readFileBuffer("/d/sub/b"), everyByte);
  for (const encoding of ["binary", "latin1", "base64", "hex"]) {
    await fs.writeFile("/d/copy", await fs.readFile("/d/sub/b", encoding), encoding);
    assert.deepEqual(base.readBinaryFile("/d/copy"), everyByte, encoding);
  }
  await fs.writeFile("/d/bom", "\ufeffx");
  assert.equal(await fs.readFile("/d/bom"), "\ufeffx");
  await fs.appendFile("/d/bom", "\xff", "binary");
  assert.deepEqual([...base.readBinaryFile("/d/bom")], [0xef, 0xbb, 0xbf, 120, 255]);
  assert.deepEqual(
    await Promise.all(["/d", "/d/link", "/d/lost", "/no", "/d/a/x"].map((path) => fs.exists(path))),
    [true, true, false, false, false],
  );
  const { isFile, isDirectory, isSymbolicLink, mode, size, mtime } = await fs.stat("/d/link");
  assert.deepEqual([isFile, isDirectory, isSymbolicLink, mode, size], [true, false, false, 0o755, 2]);
  assert.ok(mtime instanceof Date);
  assert.equal((await fs.stat("/d/dir")).isDirectory, true);
  assert.equal((await fs.lstat("/d/dir")).isSymbolicLink, true);
  assert.deepEqual(await fs.readdir("/d"), ["a", "bom", "copy", "dir", "link", "lost", "sub"]);
  assert.deepEqual((await fs.readdirWithFileTypes("/d"))[3], {
    name: "dir",
    isFile: false,
    isDirectory: false,
    isSymbolicLink: true,
  });
  assert.equal(await fs.readlink("/d/link"), "/d/a");
  assert.equal(await fs.realpath("/d/dir/b"), "/d/sub/b");
  assert.equal(fs.resolvePath("/d/x", "../a/./b"), "/d/a/b");
  assert.equal(fs.resolvePath("/d", "/x/../../y/"), "/y");
  assert.deepEqual(fs.getAllPaths(), []);
  await fs.chmod("/d/a", 0o600);
  await fs.utimes("/d/a", new Date(), new Date());
  await fs.mkdir("/d/new/deep", { recursive: true });
  await fs.mkdir("/d/new/deep", { recursive: true });
  await fs.cp("/d/sub", "/d/new/sub", { recursive: true });
  await fs.cp("/d/link", "/d/new/file");
  await fs.mv("/d/new/file", "/d/new/moved");
  await fs.mv("/d/new", "/d/other");
  assert.deepEqual(await fs.readdir("/d/other"), ["deep", "moved", "sub"]);
  await fs.rm("/d/other", { recursive: true });
  await fs.rm("/d/other", { force: true });
  await fs.rm("/d/link");
  for (const [expected, action] of [
    ["ENOENT: no such file or directory, open '/no'", () => fs.readFile("/no")],
    ["EISDIR: illegal operation on a directory, open '/d'", () => fs.readFileBuffer("/d")],
    ["ENOENT: no such file or directory, lstat '/no'", () => fs.stat("/no")],
    ["ENOENT: no such file or directory, realpath '/d/lost'", () => fs.stat("/d/lost")],
    ["ENOTDIR: not a directory, scandir '/d/a'", () => fs.readdir("/d/a")],
    ["EEXIST: file already exists, mkdir '/d/sub'", () => fs.mkdir("/d/sub")],
    ["EEXIST: file already exists, mkdir '/d/a'", () => fs.mkdir("/d/a", { recursive: true })],
    ["ENOENT: no such file or directory, lstat '/d/x'", () => fs.mkdir("/d/x/y")],
    ["ENOTEMPTY: directory not empty, rm '/d/sub'", () => fs.rm("/d/sub")],
    ["ENOENT: no such file or directory, rm '/no'", () => fs.rm("/no", { recursive: true })],
    ["EISDIR: illegal operation on a directory, cp '/d/sub'", () => fs.cp("/d/sub", "/d/x")],
    ["EINVAL: invalid argument, cp '/d/sub/x'", () => fs.cp("/d/sub", "/d/sub/x", { recursive: true })],
    ["EINVAL: invalid argument, rename '/d/sub/x'", () => fs.mv("/d/sub", "/d/sub/x")],
    ["ENOENT: no such file or directory, lstat '/no'", () => fs.mv("/no", "/d/x")],
    ["EINVAL: invalid argument, readlink '/d/a'", () => fs.readlink("/d/a")],
    [/^ENOSYS: .*, link '\/d\/l'$/, () => fs.symlink("a", "/d/l")],
    [/^ENOSYS: .*, link '\/d\/l'$/, () => fs.link("/d/a", "/d/l")],
    [/^ENOSYS: .*leads to a directory, cp '\/d\/dir'$/, () => fs.cp("/d", "/e", { recursive: true })],
    ["ENOENT: no such file or directory, lstat '/no'", () => fs.chmod("/no", 0o600)],
  ]) {
    const { message, code } = await action().then(assert.fail, (error) => error);
    if (typeof expected === "string") assert.equal(message, expected);
    else assert.match(message, expected);
    assert.equal(code, message.split(":")[0]);
  }
});

test("toJustBashFs: whatever an environment fails with or answers comes out in just-bash's words", async () => {
  const failing = (outcome) => {
    const method = () => {
      if (outcome.throws !== undefined) throw outcome.throws;
      return outcome.answer;
    };
    return toJustBashFs({
      cwd: "/",
      readBinaryFile: method,
      fileInfo: method,
      listDir: method,
      writeFile: method,
    });
  };
  for (const [expected, outcome] of [
    [/^EACCES: permission denied,/, { throws: Object.assign(new Error("x"), { code: "outside_root" }) }],
    [/^EACCES: permission denied,/, { throws: new DOMException("x", "NotAllowedError") }],
    [/^EBUSY: /, { throws: new DOMException("x", "NoModificationAllowedError") }],
    [/^ENOTDIR: /, { throws: new Error("ENOTDIR: not so") }],
    [/^EISDIR: /, { throws: Object.assign(new Error("x"), { code: "ERR_FS_EISDIR" }) }],
    [/^EIO: the text, open/, { throws: "the text" }],
    [/^EIO: null, open/, { throws: null }],
    [/^ENOENT: /, { answer: null }],
    [/^ENOENT: /, { answer: Promise.resolve() }],
    [/^ENOSPC: /, { answer: { ok: false, error: { code: "no_space", message: "x" } } }],
    [
      /^ENOSYS: not here, open/,
      { answer: { ok: false, error: { code: "not_supported", message: "not here" } } },
    ],
    [/^EIO: /, { answer: { ok: false } }],
    [/^EIO: expected a Uint8Array, found an array, open/, { answer: [1, 2] }],
    [/^EIO: expected a Uint8Array, found a string, open/, { answer: "text" }],
  ]) {
    const { message } = await failing(outcome)
      .readFileBuffer("/a")
      .then(assert.fail, (error) => error);
    assert.match(message, expected);
    await assert.rejects(failing(outcome).stat("/a"));
    await assert.rejects(failing(outcome).readdir("/a"));
  }
  assert.deepEqual(await failing({ answer: { ok: true, value: everyByte } }).readFileBuffer("/a"), everyByte);
});

test("toJustBashFs: a signal that fires ends what waits, and stops what follows", async () => {
  const controller = new AbortController();
  const waiting = { ...memory({ "/a": "" }), readBinaryFile: () => new Promise(() => {}) };
  const fs = toJustBashFs(waiting, { signal: controller.signal });
  const outcome = fs.readFile("/a");
  assert.equal(await fs.exists("/a"), true);
  controller.abort();
  await assert.rejects(outcome, { code: "ECANCELED", message: /^ECANCELED: / });
  await assert.rejects(fs.writeFile("/b", "x"), { code: "ECANCELED" });
});
