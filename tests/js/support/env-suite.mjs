// What every environment has to do, run over each of them. What one cannot do is declared, and then not asked for.
import assert from "node:assert/strict";
import { test } from "node:test";

export const bytes = (text) => new TextEncoder().encode(text);
export const text = (content) => (typeof content === "string" ? content : new TextDecoder().decode(content));
export const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
export const names = (entries) => entries.map(({ name }) => name).sort();

/** The code that a call fails with, whether it throws or rejects. */
export async function codeOf(action) {
  try {
    await action();
  } catch (error) {
    assert.ok(error instanceof Error, "fails with an Error");
    assert.ok(error.message.length > 0, "says why");
    return error.code;
  }
  assert.fail("expected a failure");
}

/** Whether there is the method that the action calls. */
const has = (env, action) => /env\.(\w+)\(/.exec(String(action))[1] in env;

/** Runs a command as the core does. Answers with what came on each stream, whichever way it came. */
export async function run(env, command, options = {}) {
  const chunks = { stdout: [], stderr: [] };
  const encoded = (chunk) => (typeof chunk === "string" ? bytes(chunk) : chunk);
  const result = await env.exec(command, {
    shell: "bash",
    cwd: env.cwd,
    env: {},
    unsetEnv: [],
    onStdout: (chunk) => void chunks.stdout.push(encoded(chunk)),
    onStderr: (chunk) => void chunks.stderr.push(encoded(chunk)),
    signal: new AbortController().signal,
    ...options,
  });
  const of = (name) =>
    Buffer.concat(chunks[name].length > 0 ? chunks[name] : [encoded(result[name] ?? new Uint8Array())]);
  return {
    exitCode: result.exitCode,
    stdout: of("stdout").toString(),
    stderr: of("stderr").toString(),
    bytes: of("stdout"),
    result,
  };
}

/**
 * Declares the tests.
 *
 * @param {string} name of the environment
 * @param {() => any} setUp makes `{ env, dir, top?, link?, tearDown? }`: an environment, the path of an empty directory
 * in it (its `cwd`), the path that nothing lies above (`/`), and what makes a link `(target, path)`
 * @param {{ links?: boolean, danglingLinks?: boolean, isBinaryOutput?: boolean, checksPaths?: boolean }} can
 * `danglingLinks`: what is written through a link makes its missing target; `isBinaryOutput`: bytes on stdout come as
 * they are; `checksPaths`: an empty path and one with a NUL are told apart from what is missing
 */
export function envSuite(
  name,
  setUp,
  { links = true, danglingLinks = true, isBinaryOutput = true, checksPaths = true } = {},
) {
  /** A test with an environment of its own. */
  const check = (title, body, options = {}) =>
    test(`${name}: ${title}`, options, async () => {
      const made = { top: "/", ...(await setUp()) };
      try {
        const at = (path) => `${made.dir}/${path}`;
        const put = async (path, content) => {
          await made.env.writeFile(at(path), typeof content === "string" ? bytes(content) : content);
        };
        await body({ ...made, at, put, get: async (path) => made.env.readBinaryFile(at(path)) });
      } finally {
        await made.tearDown?.();
      }
    });

  check("bytes come out as they went in", async ({ put, get, env, at }) => {
    const large = new Uint8Array(5 * 1024 * 1024);
    for (let index = 0; index < large.length; index++) large[index] = (index * 31) ^ (index >> 8);
    for (const [title, content] of Object.entries({
      "all 256 values": everyByte,
      "a NUL": Uint8Array.of(0),
      nothing: new Uint8Array(),
      "5 MB": large,
      "a part of a buffer": everyByte.subarray(3, 9),
      "a BOM": bytes("\ufefftext"),
    })) {
      await put("file", content);
      const read = await get("file");
      assert.ok(read instanceof Uint8Array, title);
      assert.ok(Buffer.from(content).equals(read), title);
      assert.equal((await env.fileInfo(at("file"))).size, content.length, title);
    }
  });

  check("content is copied", async ({ put, get }) => {
    const written = bytes("one");
    await put("a", written);
    written[0] = 0;
    (await get("a"))[0] = 0;
    assert.equal(text(await get("a")), "one");
  });

  check("listing and information", async ({ env, dir, top, at, put }) => {
    await put("b.txt", "12345");
    await put("a", "");
    await env.createDir(at("sub/deep"));
    assert.deepEqual(names(await env.listDir(dir)), ["a", "b.txt", "sub"]);
    const entries = await env.listDir(dir);
    for (const entry of entries) {
      assert.equal(entry.path, at(entry.name));
      const { kind, size } = await env.fileInfo(entry.path);
      assert.equal(entry.kind, kind);
      if (kind === "file") assert.equal(entry.size, size);
    }
    const info = await env.fileInfo(at("b.txt"));
    assert.deepEqual([info.name, info.path, info.kind, info.size], ["b.txt", at("b.txt"), "file", 5]);
    assert.ok(Math.abs(info.mtimeMs - Date.now()) < 60_000);
    assert.equal((await env.fileInfo(at("sub"))).kind, "directory");
    assert.deepEqual(await env.listDir(at("sub/deep")), []);
    assert.equal((await env.fileInfo(top)).kind, "directory");
  });

  check("names of any letters", async ({ env, dir, put, get }) => {
    const all = [
      "größe.txt",
      "日本語",
      "a b",
      "emoji 😀",
      "-dash",
      "star*",
      "quote'\"",
      "#hash",
      "new\nline",
    ];
    for (const name of all) await put(name, name);
    assert.deepEqual(names(await env.listDir(dir)), [...all].sort());
    for (const name of all) assert.equal(text(await get(name)), name);
  });

  check("failures have a code", async ({ env, dir, top, at, put }) => {
    await put("file", "x");
    await env.createDir(at("full/sub"));
    for (const [code, action] of [
      ["not_found", () => env.readBinaryFile(at("no"))],
      ["not_found", () => env.readBinaryFile(at("no/a"))],
      ["is_directory", () => env.readBinaryFile(dir)],
      ["not_directory", () => env.readBinaryFile(at("file/x"))],
      ["is_directory", () => env.writeFile(dir, bytes(""))],
      ["is_directory", () => env.writeFile(top, bytes(""))],
      ["not_found", () => env.writeFile(at("no/a"), bytes(""))],
      ["not_directory", () => env.writeFile(at("file/x"), bytes(""))],
      ["not_directory", () => env.listDir(at("file"))],
      ["not_found", () => env.listDir(at("no"))],
      ["not_found", () => env.fileInfo(at("no"))],
      ["not_directory", () => env.fileInfo(at("file/x"))],
      ["not_found", () => env.canonicalPath(at("no"))],
      ["already_exists", () => env.createDir(at("file"))],
      ["not_directory", () => env.createDir(at("file/x"))],
      ["not_found", () => env.readRange(at("no"), 0, 9)],
      ["is_directory", () => env.readRange(dir, 0, 9)],
      ["not_found", () => env.remove(at("no"))],
      ["already_exists", () => env.remove(at("full"))],
      ["permission_denied", () => env.remove(top, { recursive: true })],
      ["not_found", () => env.renameFile(at("no"), at("x"))],
      ["not_found", () => env.renameFile(at("file"), at("no/x"))],
      ["is_directory", () => env.renameFile(at("file"), at("full"))],
      ["not_directory", () => env.renameFile(at("full"), at("file"))],
      ["invalid_path", () => env.renameFile(at("full"), at("full/sub/x"))],
      ["not_found", () => env.appendFile(at("no/a"), bytes(""))],
      ["is_directory", () => env.appendFile(dir, bytes(""))],
      ["invalid_path", () => env.createTempFile({ prefix: "../" })],
    ]) {
      if (has(env, action)) assert.equal(await codeOf(action), code, String(action));
    }
    if (checksPaths) {
      for (const path of ["", "/a\0b"]) {
        assert.equal(await codeOf(() => env.readBinaryFile(path)), "invalid_path");
        assert.equal(await codeOf(() => env.writeFile(path, bytes(""))), "invalid_path");
      }
    }
    assert.deepEqual(names(await env.listDir(dir)), ["file", "full"], "nothing changed");
  });

  check("a signal that has fired stops everything", async ({ env, dir, at, put }) => {
    await put("file", "x");
    const options = { signal: AbortSignal.abort() };
    for (const action of [
      () => env.readBinaryFile(at("file"), options),
      () => env.readRange(at("file"), 0, 1, options),
      () => env.writeFile(at("file"), bytes("y"), options),
      () => env.fileInfo(at("file"), options),
      () => env.listDir(dir, options),
      () => env.canonicalPath(dir, options),
      () => env.createDir(at("new"), options),
      () => env.remove(at("file"), options),
      () => env.renameFile(at("file"), at("new"), options),
      () => env.appendFile(at("file"), bytes("y"), options),
      () => env.createTempFile(options),
    ]) {
      if (has(env, action)) assert.equal(await codeOf(action), "aborted", String(action));
    }
    assert.deepEqual(names(await env.listDir(dir)), ["file"]);
    assert.equal(text(await env.readBinaryFile(at("file"))), "x");
  });

  check("ranges", async ({ env, at, put }) => {
    if (!env.readRange) return;
    await put("a", everyByte);
    await put("empty", "");
    for (const [start, end] of [
      [0, 256],
      [0, 1],
      [255, 256],
      [3, 200],
      [200, 999],
      [256, 300],
      [999, 2 ** 40],
      [7, 7],
      [9, 7],
      [0, Number.MAX_SAFE_INTEGER],
    ]) {
      const part = await env.readRange(at("a"), start, end);
      assert.deepEqual(
        Uint8Array.from(part),
        everyByte.slice(start, Math.max(start, end)),
        `${start} to ${end}`,
      );
    }
    assert.equal((await env.readRange(at("empty"), 0, 9)).length, 0);
  });

  check("createDir makes parents and leaves what is there", async ({ env, top, at, put }) => {
    await env.createDir(at("x/y/"));
    await put("x/y/file", "1");
    await env.createDir(at("x/y"));
    await env.createDir(top);
    assert.deepEqual(names(await env.listDir(at("x"))), ["y"]);
    assert.deepEqual(names(await env.listDir(at("x/y"))), ["file"]);
  });

  check("removing", async ({ env, dir, at, put }) => {
    await put("file", "1");
    await env.createDir(at("empty"));
    await env.createDir(at("full/deep"));
    await put("full/deep/file", "1");
    await env.remove(at("file"));
    await env.remove(at("empty"));
    await env.remove(at("full"), { recursive: true });
    assert.deepEqual(await env.listDir(dir), []);
  });

  check("renaming", async ({ env, dir, at, put, get }) => {
    await put("a", "a");
    await put("b", "b");
    await env.renameFile(at("a"), at("b"));
    assert.deepEqual([names(await env.listDir(dir)), text(await get("b"))], [["b"], "a"]);
    await env.renameFile(at("b"), at("b"));
    await env.createDir(at("d/deep"));
    await put("d/deep/f", "f");
    await env.createDir(at("e"));
    await env.renameFile(at("d"), at("e"));
    assert.deepEqual([names(await env.listDir(dir)), text(await get("e/deep/f"))], [["b", "e"], "f"]);
    await env.createDir(at("other/x"));
    assert.equal(await codeOf(() => env.renameFile(at("other"), at("e"))), "already_exists");
  });

  check("appending", async ({ env, at, get, put }) => {
    await env.appendFile(at("log"), bytes("one"));
    const before = await get("log");
    for (let index = 0; index < 300; index++) await env.appendFile(at("log"), everyByte);
    await env.appendFile(at("log"), new Uint8Array());
    assert.equal(text(before), "one", "what was read does not change");
    const expected = Buffer.concat([bytes("one"), ...Array(300).fill(everyByte)]);
    assert.ok(expected.equals(await get("log")));
    assert.equal((await env.fileInfo(at("log"))).size, expected.length);
    await put("log", "new");
    await env.appendFile(at("log"), bytes("!"));
    assert.equal(text(await get("log")), "new!");
  });

  check("temporary files are empty, apart and of their own names", async ({ env, dir }) => {
    const made = await Promise.all(
      Array.from({ length: 20 }, () => env.createTempFile({ prefix: "out-", suffix: ".log" })),
    );
    assert.equal(new Set(made).size, 20);
    for (const path of made) {
      assert.match(path, /^\/.*\/out-[^/]+\.log$/);
      assert.equal((await env.readBinaryFile(path)).length, 0);
    }
    await env.appendFile(made[0], bytes("text"));
    assert.equal(text(await env.readBinaryFile(made[0])), "text");
    made.push(await env.createTempFile());
    assert.match(made.at(-1), /^\/.*\/[^/]+$/);
    assert.deepEqual(await env.listDir(dir), []);
    for (const path of made) await env.remove(path);
  });

  check("many at once", async ({ env, dir, put, get }) => {
    const many = Array.from({ length: 100 }, (_, index) => `file${index}`);
    await Promise.all(many.map((name) => put(name, name)));
    const contents = await Promise.all(many.map(async (name) => text(await get(name))));
    assert.deepEqual(contents, many);
    assert.equal((await env.listDir(dir)).length, 100);
    // Of one file the last is there, whole.
    const versions = Array.from({ length: 30 }, (_, index) => `${index}`.repeat(5000));
    await Promise.all(versions.map((content) => put("one", content)));
    assert.ok(versions.includes(text(await get("one"))));
    assert.equal((await env.listDir(dir)).length, 101, "and nothing else");
  });

  if (links) {
    check("links", async ({ env, dir, at, put, get, link }) => {
      await put("file", "1");
      await env.createDir(at("sub"));
      await link("file", at("link"));
      await link(at("sub"), at("to-sub"));
      await link("later", at("dangling"));
      await link("two", at("one"));
      await link("one", at("two"));
      const kinds = Object.fromEntries((await env.listDir(dir)).map(({ name, kind }) => [name, kind]));
      for (const name of ["link", "to-sub", "dangling", "one", "two"]) {
        assert.equal(kinds[name], "symlink");
        assert.equal((await env.fileInfo(at(name))).kind, "symlink");
      }
      await put("link", "2");
      assert.deepEqual([text(await get("file")), (await env.fileInfo(at("link"))).kind], ["2", "symlink"]);
      await put("to-sub/new", "3");
      assert.equal(text(await get("sub/new")), "3");
      assert.equal(await env.canonicalPath(at("to-sub/new")), `${await env.canonicalPath(at("sub"))}/new`);
      assert.equal(await env.canonicalPath(at("to-sub/../link")), await env.canonicalPath(at("file")));
      if (danglingLinks) {
        await put("dangling", "4");
        assert.equal(text(await get("later")), "4");
      } else assert.equal(await codeOf(() => put("dangling", "4")), "not_found");
      await env.appendFile(at("link"), bytes("+"));
      assert.equal(text(await get("file")), "2+");
      for (const action of [() => get("one"), () => put("one", ""), () => env.canonicalPath(at("one"))]) {
        assert.equal(await codeOf(action), "invalid_path", "a loop");
      }
      // The link itself, not what it leads to.
      await env.renameFile(at("to-sub"), at("moved"));
      await env.remove(at("moved"), { recursive: true });
      await env.remove(at("link"));
      assert.deepEqual(names(await env.listDir(at("sub"))), ["new"]);
      assert.equal(text(await get("file")), "2+");
    });
  }

  check("commands: output, exit code, the files", async (made) => {
    const { env, put, get } = made;
    if (!env.exec) return;
    await put("in.txt", "b\na\n");
    assert.deepEqual((await run(env, "sort in.txt; echo bad >&2; exit 7")).result.exitCode, 7);
    const both = await run(env, "echo 'grüße 😀'; echo bad >&2");
    assert.deepEqual([both.stdout, both.stderr, both.exitCode], ["grüße 😀\n", "bad\n", 0]);
    await run(env, "mkdir -p x/y && sort in.txt > x/y/sorted && cp -r x z && mv z/y moved && rm -rf x z");
    assert.equal(text(await get("moved/sorted")), "a\nb\n");
    await run(env, "sed -i s/a/A/ moved/sorted; echo c >> moved/sorted; cat <<'END' > here\n  kept\nEND");
    assert.equal(text(await get("moved/sorted")), "A\nb\nc\n");
    assert.equal(text(await get("here")), "  kept\n");
    const found = await run(env, "grep -rl A . ; find . -name 'sor*'; test -f here && ls moved | wc -l");
    assert.deepEqual(
      found.stdout.split("\n").map((line) => line.trim()),
      [
        "./moved/sorted".replace(/^\.\//, found.stdout.startsWith("./") ? "./" : ""),
        "./moved/sorted",
        "1",
        "",
      ],
    );
    assert.match((await run(env, "ls -la")).stdout, /moved/);
    await put("bytes", everyByte);
    await run(env, "cat bytes | cat > piped; cp bytes copy; base64 bytes | base64 -d > decoded");
    for (const name of ["piped", "copy", "decoded"]) {
      assert.ok(Buffer.from(everyByte).equals(await get(name)), name);
    }
    if (isBinaryOutput) assert.ok((await run(env, "cat bytes")).bytes.equals(Buffer.from(everyByte)));
    assert.equal((await run(env, "nonesuch-command")).exitCode, 127);
    assert.equal((await run(env, "if then")).exitCode, 2);
    assert.equal((await run(env, "")).exitCode, 0);
  });

  check("commands: directory and variables", async ({ env, dir, at, put }) => {
    if (!env.exec) return;
    await put("file", "");
    await env.createDir(at("größe x"));
    const inside = await run(env, 'pwd; echo "$PWD"', { cwd: at("größe x") });
    const canonical = await env.canonicalPath(at("größe x"));
    assert.equal(inside.stdout.replaceAll(canonical, at("größe x")), `${at("größe x")}\n`.repeat(2));
    assert.equal(await codeOf(() => run(env, "pwd", { cwd: at("no") })), "not_found");
    assert.equal(await codeOf(() => run(env, "pwd", { cwd: at("file") })), "not_directory");
    const value = "a 'b' \"c\" $d\nü";
    assert.equal((await run(env, 'echo "$GIVEN"', { env: { GIVEN: value } })).stdout, `${value}\n`);
    await run(env, "export LEFT=1; cd /");
    assert.equal((await run(env, 'echo "[$LEFT]"; test "$(pwd)" != / || echo moved')).stdout, "[]\n");
    assert.deepEqual(names(await env.listDir(dir)), ["file", "größe x"]);
  });

  check("commands: abort, and several at once", async ({ env, at, put, get }) => {
    if (!env.exec) return;
    assert.equal(await codeOf(() => run(env, "echo > made", { signal: AbortSignal.abort() })), "aborted");
    assert.equal(await codeOf(() => get("made")), "not_found");
    const started = Date.now();
    const aborted = await run(env, "sleep 30; echo late > late", { signal: AbortSignal.timeout(60) });
    assert.equal(aborted.exitCode, null);
    assert.ok(Date.now() - started < 5000);
    assert.equal(await codeOf(() => env.fileInfo(at("late"))), "not_found");
    await put("in", "x\n");
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => run(env, `cat in > out${index}; echo ${index}; exit ${index}`)),
    );
    assert.deepEqual(
      results.map(({ stdout, exitCode }) => [stdout, exitCode]),
      Array.from({ length: 8 }, (_, index) => [`${index}\n`, index]),
    );
    assert.equal(text(await get("out7")), "x\n");
    await Promise.all(Array.from({ length: 10 }, (_, index) => run(env, `echo ${index} >> log`)));
    assert.equal((await get("log")).length, 20, "nothing of what was appended is lost");
  });
}
