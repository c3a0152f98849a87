// Real programs through the tool: bash over the machine's own shell and disk.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createToolset } from "tackroom";
import { node } from "tackroom/env/node";
import { assertFailed, run, textOf } from "./support/hold.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
let dir;
let toolset;
before(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  toolset = await createToolset(node({ cwd: dir }), { tools: ["bash", "read", "grep"] });
});
after(() => rm(dir, { recursive: true, force: true }));

const bash = (command, rest, options) => run(toolset, "bash", { command, ...rest }, options);
const isAlive = (pid) =>
  /^[^Z]/.test(spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" }).stdout.trim());

async function timed(action) {
  const started = performance.now();
  const value = await action;
  return { value, ms: performance.now() - started };
}

test("ls in colours: names without them", async () => {
  await mkdir(join(dir, "colours/folder"), { recursive: true });
  await writeFile(join(dir, "colours/run.sh"), "", { mode: 0o755 });
  assert.equal(textOf(await bash("ls --color=always colours")), "folder\nrun.sh\n");
});

test("a progress bar: its last frame, snapshots of it, and no file, however long it took", async () => {
  const script = `
    for (let nth = 0; nth <= 3000; nth++) {
      process.stderr.write("\\r\\x1b[2K  " + "#".repeat(nth / 100).padEnd(30) + " " + (nth / 30).toFixed(1) + "%");
      if (nth % 1000 === 0) await new Promise((resolve) => setTimeout(resolve, 120));
    }
    process.stderr.write("\\nsaved\\n");`;
  await writeFile(join(dir, "bar.mjs"), script);
  const updates = [];
  const options = { onUpdate: (partial) => updates.push(textOf(partial)) };
  const result = await bash(`'${process.execPath}' bar.mjs`, {}, options);
  assert.equal(textOf(result), `  ${"#".repeat(30)} 100.0%\nsaved\n`);
  assert.deepEqual([result.details.truncation, result.details.fullOutputPath], [undefined, undefined]);
  for (const text of updates.slice(1)) assert.match(text, /^ {2}#* *\d+\.\d%\n?(saved\n)?$/);
  assert.ok(updates.length > 3);
  const plain = "for i in 1 2 3; do printf '%3d%%\\r' $i; done; printf '\\n'; echo done";
  assert.equal(textOf(await bash(plain)), "  3%\ndone\n");
});

test("a test runner: its report, and its exit code", async () => {
  await writeFile(
    join(dir, "two.test.mjs"),
    'import { test } from "node:test"; test("it holds", () => {}); test("it does not", () => { throw new Error("no"); });',
  );
  const command = `unset NODE_TEST_CONTEXT; FORCE_COLOR=1 '${process.execPath}' --test --test-reporter=spec two.test.mjs`;
  const result = await bash(command);
  assertFailed(result, "exit_code");
  const text = textOf(result);
  assert.match(text, /it holds[\s\S]*it does not[\s\S]*pass 1[\s\S]*fail 1/);
  assert.match(text, /\n\nCommand exited with code 1$/);
  assert.ok(!text.includes("\x1b"));
});

test("cat without input ends; so does what asks a question", async () => {
  assert.equal(textOf(await bash("cat")), "(no output)");
  const { ms } = await timed(bash('read -p "Sure? " answer; echo "[$answer]"'));
  assert.ok(ms < 5000, `${ms} ms`);
});

test("a child in the background is not waited for", async () => {
  const { value, ms } = await timed(bash("sleep 60 & echo $!"));
  const pid = Number(textOf(value));
  assert.ok(isAlive(pid));
  process.kill(pid);
  assert.ok(ms < 5000, `${ms} ms`);
});

test("a fork that ignores SIGTERM: ended with the command's time, what it wrote is kept", async () => {
  const command =
    "(trap '' TERM; echo $BASHPID; while :; do sleep 0.1; done) & trap '' TERM; echo $$; wait; sleep 60";
  const { value, ms } = await timed(bash(command, { timeout: 0.5 }));
  assertFailed(value, "timeout");
  assert.ok(ms < 5000, `${ms} ms`);
  const pids = textOf(value).match(/^\d+$/gm);
  assert.equal(pids.length, 2, textOf(value));
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(pids.filter(isAlive), []);
});

/** 64 MB, or with TACKROOM_FLOOD=1 all of 1 GB, which takes a while and the room on the disk. */
const FLOOD = process.env.TACKROOM_FLOOD ? 2 ** 30 : 64 * 2 ** 20;
test(`a flood of ${FLOOD / 2 ** 20} MB: memory stays flat, the end is right, the file has all of it`, async (t) => {
  // Numbered, so that what is lost or doubled shows.
  const source = `seq -f 'line %.0f of a flood' 1 100000000 | head -c ${FLOOD}`;
  const code = `
    import { createToolset } from "tackroom";
    import { node } from "tackroom/env/node";
    import { createHash } from "node:crypto";
    import { createReadStream } from "node:fs";
    import { rm, stat } from "node:fs/promises";
    const memories = [];
    const Instance = WebAssembly.Instance;
    WebAssembly.Instance = class extends Instance {
      constructor(...args) { super(...args); if (this.exports.memory) memories.push(this.exports.memory); }
    };
    const toolset = await createToolset(node({ cwd: ${JSON.stringify(dir)} }));
    await toolset.call({ id: "0", name: "bash", arguments: { command: "seq 100000" } });
    const bytes = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    const [before, rss] = [bytes(), process.memoryUsage.rss()];
    let most = 0;
    const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss() - rss); }, 20);
    const started = performance.now();
    const { content, details } = await toolset.call({ id: "1", name: "bash", arguments: { command: ${JSON.stringify(source)} } });
    const ms = performance.now() - started;
    clearInterval(watch);
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(details.fullOutputPath)) hash.update(chunk);
    const { size } = await stat(details.fullOutputPath);
    await rm(details.fullOutputPath);
    console.log(JSON.stringify({ ms, size, most, grown: bytes() - before, text: content[0].text, hash: hash.digest("hex") }));
  `;
  const parameters = ["--input-type=module", "-e", code];
  const program = spawnSync(process.execPath, parameters, { cwd: root, encoding: "utf8", timeout: 600_000 });
  assert.equal(program.status, 0, program.stderr);
  const { ms, size, most, grown, text, hash } = JSON.parse(program.stdout);
  t.diagnostic(
    `${Math.round(ms)} ms, ${(most / 1e6).toFixed(0)} MB more, of them ${(grown / 1e6).toFixed(1)} MB of wasm`,
  );
  assert.equal(size, FLOOD);
  const expected = spawnSync("bash", ["-c", `${source} | sha256sum`], {
    encoding: "utf8",
    timeout: 300_000,
  }).stdout;
  assert.equal(hash, expected.slice(0, 64));
  const end = spawnSync("bash", ["-c", `${source} | tail -n 1`], {
    encoding: "utf8",
    timeout: 300_000,
  }).stdout;
  assert.equal(text.split("\n\n")[0].split("\n").at(-1), end);
  assert.match(text, /\n\n\[Showing lines \d+-\d+ of \d+\. Full output: \S+\]$/);
  assert.ok(most < 120e6, `${most} bytes`);
  assert.ok(grown <= 6e6, `${grown} bytes`);
});
