// The machine's disk. What every environment does is in env-suite.test.mjs; its shells are in env-node-exec.test.mjs.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createToolset } from "tackroom";
import { node } from "tackroom/env/node";
import { bytes, codeOf, names, text } from "./support/env-suite.mjs";

const isRoot = process.getuid?.() === 0;
const notRoot = isRoot && "root may do everything";

let dir;
let env;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  env = node({ cwd: dir });
});
afterEach(() => rm(dir, { recursive: true }));

const at = (path) => join(dir, path);
const modeOf = async (path) => (await stat(path)).mode & 0o7777;

/** Runs a program in a process of its own. */
function program(code, ...args) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", code, ...args],
    { cwd: fileURLToPath(new URL("../../", import.meta.url)), encoding: "utf8", timeout: 30_000 },
  );
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

test("it describes itself", () => {
  assert.equal(env.cwd, dir);
  assert.equal(env.home, homedir());
  assert.match(env.description, /^\S+ \d+\.\d+ \(\w+\)$/);
  assert.ok(env.shells.includes("bash"));
  assert.equal(node().cwd, process.cwd());
  assert.equal(node({ cwd: "tests" }).cwd, join(process.cwd(), "tests"));
  assert.equal(env.absolutePath("a/../b"), at("b"));
  assert.equal(env.absolutePath("/x/./y"), "/x/y");
});

test("a write through a link keeps the link and the mode, as does an edit", async () => {
  await writeFile(at("target.sh"), "echo one\n");
  await chmod(at("target.sh"), 0o755);
  await symlink("target.sh", at("link"));
  const toolset = await createToolset(env);
  const call = (name, args) => toolset.call({ id: "1", name, arguments: args });
  const edited = await call("edit", { path: "link", edits: [{ oldText: "one", newText: "two" }] });
  assert.equal(edited.isError, false, edited.content[0].text);
  assert.equal(await readFile(at("target.sh"), "utf8"), "echo two\n");
  const written = await call("write", { path: "link", content: "echo three\n" });
  assert.equal(written.isError, false, written.content[0].text);
  assert.equal(await readFile(at("target.sh"), "utf8"), "echo three\n");
  assert.ok((await lstat(at("link"))).isSymbolicLink());
  assert.equal(await modeOf(at("target.sh")), 0o755);
  assert.deepEqual(await readdir(dir), ["link", "target.sh"]);
});

test("modes: those of files that are there stay, all bits of them; new ones go by the umask", async () => {
  for (const mode of [0o600, 0o640, 0o777, 0o4755]) {
    await writeFile(at("file"), "");
    await chmod(at("file"), mode);
    await env.writeFile(at("file"), bytes("x"));
    assert.equal(await modeOf(at("file")), mode);
  }
  const code = `
    import { node } from "tackroom/env/node";
    process.umask(0o027);
    const [path] = process.argv.slice(1);
    await node().writeFile(path, new Uint8Array());
    await node().appendFile(path + "2", new Uint8Array());
  `;
  program(code, at("new"));
  assert.deepEqual([await modeOf(at("new")), await modeOf(at("new2"))], [0o640, 0o640]);
});

test("the owner stays", { skip: !isRoot && "only root gives files away" }, async () => {
  await writeFile(at("file"), "");
  spawnSync("chown", ["1234:5678", at("file")]);
  await env.writeFile(at("file"), bytes("x"));
  const { uid, gid } = await stat(at("file"));
  assert.deepEqual([uid, gid], [1234, 5678]);
});

test("a write is a new file: other links keep what they had", async () => {
  await writeFile(at("a"), "old");
  await link(at("a"), at("b"));
  await env.writeFile(at("a"), bytes("new"));
  assert.equal(await readFile(at("b"), "utf8"), "old");
});

test("links that lead on, up, and to what is missing", async () => {
  await mkdir(at("d/e"), { recursive: true });
  await symlink("d/e", at("dir"));
  await symlink("../later", at("d/e/up"));
  await symlink(at("dir/up"), at("first"));
  await env.writeFile(at("first"), bytes("1"));
  assert.equal(await readFile(at("d/later"), "utf8"), "1");
  assert.ok((await lstat(at("d/e/up"))).isSymbolicLink());
  await symlink("dir/../beside", at("around"));
  await env.writeFile(at("around"), bytes("2"));
  assert.equal(await readFile(at("d/beside"), "utf8"), "2", ".. leaves the link's target");
  await rm(at("around"));
  await env.writeFile(at("back\\"), bytes("3"));
  assert.equal(await readFile(at("back\\"), "utf8"), "3");
  await rm(at("back\\"));
  assert.equal(await codeOf(() => env.writeFile(at("none/"), bytes(""))), "not_found");
  assert.equal(await codeOf(() => env.writeFile(at("d/later/"), bytes(""))), "not_directory");
  await symlink("none/x", at("lost"));
  assert.equal(await codeOf(() => env.writeFile(at("lost"), bytes(""))), "not_found");
  assert.deepEqual(await readdir(dir), ["d", "dir", "first", "lost"]);
});

test("nothing is left of a write that fails or is broken off", async () => {
  await writeFile(at("file"), "old");
  const large = new Uint8Array(64 * 1024 * 1024).fill(120);
  let isAborted = 0;
  for (const delay of [0, 0, 1, 2, 5, 10, 20]) {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), delay);
    const outcome = env.writeFile(at("file"), large, { signal: controller.signal });
    await outcome.catch(({ code }) => {
      assert.equal(code, "aborted");
      isAborted++;
    });
    const { length } = await readFile(at("file"));
    assert.ok(length === 3 || length === large.length);
    assert.deepEqual(await readdir(dir), ["file"]);
  }
  assert.ok(isAborted > 0);
  // What is to be written may be wrong, too.
  await assert.rejects(env.writeFile(at("file"), { not: "bytes" }));
  assert.deepEqual(await readdir(dir), ["file"]);
});

test("killed while it writes, it leaves every file old or new", async () => {
  const old = new Uint8Array(300_000).fill(111);
  const fresh = new Uint8Array(300_000).fill(110);
  const paths = Array.from({ length: 100 }, (_, index) => at(`file${index}`));
  for (const path of paths) await writeFile(path, old);
  const code = `
    import { node } from "tackroom/env/node";
    const env = node();
    const content = new Uint8Array(300_000).fill(110);
    console.log("begin");
    for (let index = 0; ; index = (index + 1) % 100) {
      await env.writeFile(process.argv[1] + "/file" + index, content);
      console.log(index);
    }
  `;
  const options = { cwd: fileURLToPath(new URL("../../", import.meta.url)) };
  for (const after of [1, 30, 60]) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", code, dir], options);
    let written = 0;
    await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
      child.stdout.on("data", (chunk) => {
        written += chunk.toString().split("\n").length - 1;
        if (written > after) child.kill("SIGKILL");
      });
    });
    const contents = await Promise.all(paths.map((path) => readFile(path)));
    const states = contents.map((content) =>
      content.equals(old) ? "old" : content.equals(fresh) ? "new" : "torn",
    );
    assert.ok(!states.includes("torn"));
    assert.ok(states.includes("new"));
  }
});

test("whoever reads meanwhile finds one version, whole", async () => {
  await writeFile(at("file"), "a".repeat(200_000));
  let isOver = false;
  const writing = (async () => {
    for (let index = 0; index < 50; index++)
      await env.writeFile(at("file"), bytes("ab"[index % 2].repeat(200_000)));
    isOver = true;
  })();
  let reads = 0;
  while (!isOver) {
    const content = text(await env.readBinaryFile(at("file")));
    assert.ok(/^(a{200000}|b{200000})$/.test(content), `${content.length} bytes`);
    reads++;
  }
  await writing;
  assert.ok(reads > 5);
});

test("what may not be written is not replaced either", { skip: notRoot }, async () => {
  await writeFile(at("file"), "old", { mode: 0o444 });
  assert.equal(await codeOf(() => env.writeFile(at("file"), bytes("x"))), "permission_denied");
  await mkdir(at("closed"), { mode: 0o000 });
  assert.equal(await codeOf(() => env.readBinaryFile(at("closed/x"))), "permission_denied");
  assert.equal(await codeOf(() => env.listDir(at("closed"))), "permission_denied");
  assert.equal(await codeOf(() => env.writeFile(at("closed/x"), bytes(""))), "permission_denied");
});

test("a file in a directory that takes no new ones is written where it is", { skip: notRoot }, async () => {
  await mkdir(at("d"));
  await writeFile(at("d/file"), "old");
  await chmod(at("d"), 0o555);
  await env.writeFile(at("d/file"), bytes("x"));
  assert.equal(await readFile(at("d/file"), "utf8"), "x");
  assert.equal(await codeOf(() => env.writeFile(at("d/new"), bytes("x"))), "permission_denied");
  await chmod(at("d"), 0o755);
});

/** As somebody who is not root, where this is root. */
test("without root's rights", { skip: !isRoot && "the tests before have it" }, async () => {
  await chmod(dir, 0o777);
  const code = `
    import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
    import { node } from "tackroom/env/node";
    const dir = process.argv[1];
    const env = node({ cwd: dir });
    // Loaded before the rights to read it go.
    process.setgid(65534);
    process.setuid(65534);
    const codeOf = (outcome) => outcome.then(() => "done", ({ code }) => code);
    const some = new TextEncoder().encode("new");
    mkdirSync(dir + "/d");
    writeFileSync(dir + "/d/file", "old");
    writeFileSync(dir + "/d/locked", "old", { mode: 0o444 });
    mkdirSync(dir + "/closed", { mode: 0 });
    const codes = [];
    codes.push(await codeOf(env.writeFile(dir + "/d/locked", some)));
    codes.push(await codeOf(env.readBinaryFile(dir + "/closed/x")));
    codes.push(await codeOf(env.listDir(dir + "/closed")));
    codes.push(await codeOf(env.writeFile(dir + "/closed/x", some)));
    chmodSync(dir + "/d", 0o555);
    codes.push(await codeOf(env.writeFile(dir + "/d/new", some)));
    codes.push(await codeOf(env.writeFile(dir + "/d/file", some)));
    codes.push(readFileSync(dir + "/d/file", "utf8"));
    codes.push(await codeOf(env.writeFile(dir + "/roots", some)), readFileSync(dir + "/roots", "utf8"));
    codes.push(await codeOf(env.remove(dir + "/d/file")));
    console.log(codes.join(" "));
  `;
  await writeFile(at("roots"), "old", { mode: 0o666 });
  await chmod(at("roots"), 0o666);
  const before = await stat(at("roots"));
  const denied = "permission_denied";
  assert.equal(
    program(code, dir),
    `${denied} ${denied} ${denied} ${denied} ${denied} done new done new ${denied}`,
  );
  // Written where it is: its owner is still root.
  const { uid, ino } = await stat(at("roots"));
  assert.deepEqual([uid, ino], [0, before.ino]);
});

test("what is no regular file is refused, at once", async () => {
  spawnSync("mkfifo", [at("pipe")]);
  for (const action of [
    () => env.readBinaryFile(at("pipe")),
    () => env.readRange(at("pipe"), 0, 9),
    () => env.writeFile(at("pipe"), bytes("x")),
    () => env.appendFile(at("pipe"), bytes("x")),
    () => env.readBinaryFile("/dev/zero"),
    () => env.writeFile("/dev/null", bytes("x")),
  ]) {
    assert.equal(await codeOf(action), "not_supported", String(action));
  }
  assert.ok((await lstat("/dev/null")).isCharacterDevice());
  assert.deepEqual(names(await env.listDir(dir)), ["pipe"]);
  assert.equal((await env.fileInfo(at("pipe"))).kind, "file");
});

test("files without a size are read", {
  skip: process.platform !== "linux" && "there is no /proc",
}, async () => {
  assert.match(text(await env.readBinaryFile("/proc/self/status")), /^Name:/);
  assert.match(text(await env.readRange("/proc/self/status", 0, 5)), /^Name:$/);
});

test("a file that says it is empty and does not end is given up", {
  skip: process.platform !== "linux" && "there is no /proc",
}, async () => {
  assert.equal(await codeOf(() => env.readBinaryFile("/proc/self/pagemap")), "not_supported");
});

test("no file stays open", { skip: process.platform !== "linux" && "there is no /proc" }, async () => {
  // In a process of its own: here the leaks of other tests would be collected meanwhile.
  const code = `
    import { readdirSync } from "node:fs";
    import { node } from "tackroom/env/node";
    const [dir] = process.argv.slice(1);
    const env = node({ cwd: dir });
    const some = new Uint8Array(1);
    const open = () => readdirSync("/proc/self/fd").length;
    await env.writeFile("file", some);
    const before = open();
    for (const action of [
      () => env.readBinaryFile("file"),
      () => env.readBinaryFile(dir),
      () => env.readRange("file", 0, 1),
      () => env.readRange(dir, 0, 1),
      () => env.writeFile("file", some),
      () => env.writeFile("file", "wrong" + {}),
      () => env.writeFile(dir, some),
      () => env.appendFile("log", some),
      () => env.appendFile(dir, some),
      () => env.appendFile("/dev/null", some),
      () => env.createTempFile().then((path) => env.remove(path)),
    ]) {
      await Promise.allSettled(Array.from({ length: 10 }, action));
      if (open() !== before) console.log(open() - before, String(action));
    }
  `;
  assert.equal(program(code, dir), "");
});

test("a listing is sorted, and leaves out what goes meanwhile", async () => {
  for (const name of ["b", "a", "B"]) await writeFile(at(name), "");
  assert.deepEqual(
    (await env.listDir(dir)).map(({ name }) => name),
    ["B", "a", "b"],
  );
  assert.deepEqual((await env.listDir(`${dir}/`))[0].path, at("B"));
  let isOver = false;
  const churn = (async () => {
    for (let round = 0; round < 150; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, index) => writeFile(at(`tmp${index}`), "")));
      await Promise.all(Array.from({ length: 20 }, (_, index) => rm(at(`tmp${index}`))));
    }
    isOver = true;
  })();
  while (!isOver) {
    const listed = names(await env.listDir(dir));
    for (const name of ["a", "b", "B"]) assert.ok(listed.includes(name));
  }
  await churn;
});

test("a name that is no UTF-8 hides nothing else", {
  skip: process.platform !== "linux" && "is refused",
}, async () => {
  await writeFile(at("a"), "");
  await writeFile(Buffer.concat([Buffer.from(`${dir}/`), Buffer.of(0xff)]), "");
  assert.deepEqual(names(await env.listDir(dir)), ["a"]);
});

test("temporary files are private, and an empty directory of them goes with the process", async () => {
  const path = await env.createTempFile();
  assert.equal(await modeOf(path), 0o600);
  assert.equal(await modeOf(join(path, "..")), 0o700);
  assert.ok(path.startsWith(tmpdir()));
  await rm(join(path, ".."), { recursive: true });
  const again = await env.createTempFile({ suffix: ".log" });
  assert.equal(text(await env.readBinaryFile(again)), "", "also when the directory was tidied away");
  const code = `
    import { node } from "tackroom/env/node";
    const [empty, full] = [node(), node()];
    const path = await empty.createTempFile();
    await empty.remove(path);
    console.log(path, await full.createTempFile());
  `;
  const [gone, kept] = program(code).split(" ");
  assert.equal(await codeOf(() => env.fileInfo(join(gone, ".."))), "not_found");
  assert.equal((await env.fileInfo(kept)).size, 0);
  await rm(join(kept, ".."), { recursive: true });
  await rm(join(again, ".."), { recursive: true });
});

test("a move to another file system copies", {
  skip: process.platform !== "linux" && "needs /dev/shm",
}, async (t) => {
  const other = await mkdtemp("/dev/shm/tackroom-test-").catch(() => null);
  if (!other || (await stat(other)).dev === (await stat(dir)).dev)
    return t.skip("there is no other file system");
  try {
    await mkdir(at("d"));
    await writeFile(at("d/f"), "x", { mode: 0o755 });
    await symlink("f", at("d/l"));
    await env.renameFile(at("d"), join(other, "d"));
    assert.equal(await readFile(join(other, "d/l"), "utf8"), "x");
    assert.ok((await lstat(join(other, "d/l"))).isSymbolicLink());
    assert.equal(await modeOf(join(other, "d/f")), 0o755);
    await writeFile(at("g"), "y");
    await env.renameFile(at("g"), join(other, "d/f"));
    assert.equal(await readFile(join(other, "d/f"), "utf8"), "y");
    assert.deepEqual([await readdir(dir), await readdir(other)], [[], ["d"]]);
  } finally {
    await rm(other, { recursive: true });
  }
});

test("a failure names the file, not the temporary one beside it", async () => {
  const message = await env.writeFile(`${dir}/${"x".repeat(300)}`, bytes("")).catch((error) => error.message);
  assert.match(message, /^ENAMETOOLONG/);
  assert.doesNotMatch(message, /tackroom-[0-9a-f]{16}/);
});

test("paths of Windows", async () => {
  const { fromSystem, toSystem, resolved } = await import("../../pkg/dist/env/node/paths.js");
  const rules = { isWindows: true, cwd: "/c/work" };
  assert.equal(toSystem("/c/work/a b.txt", rules), "C:\\work\\a b.txt");
  assert.equal(toSystem("sub/x", rules), "C:\\work\\sub\\x");
  assert.equal(toSystem("/d", rules), "D:\\");
  assert.throws(() => toSystem("/etc/passwd", rules), { code: "not_found" });
  assert.equal(fromSystem("C:\\Users\\me", true), "/c/Users/me");
  assert.equal(fromSystem("\\\\?\\D:\\x", true), "/d/x");
  assert.equal(fromSystem("C:\\", true), "/c");
  assert.equal(fromSystem("/home/me", false), "/home/me");
  assert.equal(resolved("../x", "/c/work"), "/c/x");
});
