// The machine's shells, with real programs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { createToolset } from "tackroom";
import { node } from "tackroom/env/node";
import { codeOf, run } from "./support/env-suite.mjs";

let dir;
let env;
before(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  env = node({ cwd: dir });
});
after(() => rm(dir, { recursive: true, force: true }));

const root = fileURLToPath(new URL("../../", import.meta.url));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    // A zombie is none: in a container nobody may take its end.
    return !/ Z /.test(
      spawnSync("ps", ["-o", "stat= ", "-p", `${pid}`], { encoding: "utf8" }).stdout.replace(/^Z.*/, " Z "),
    );
  } catch {
    return false;
  }
};
const pids = (text) => text.trim().split(/\s+/).map(Number);

async function timed(action) {
  const started = performance.now();
  const value = await action();
  return { value, ms: performance.now() - started };
}

/** Runs a program in a process of its own. */
function program(code, { args = [], ...options } = {}) {
  const parameters = ["--input-type=module", "-e", code, ...args];
  return spawnSync(process.execPath, parameters, {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000,
    ...options,
  });
}

/** What every program here begins with. */
const PREFIX = `
  import { node } from "tackroom/env/node";
  const env = node();
  const run = (command, options = {}) => env.exec(command, {
    shell: "bash", cwd: env.cwd, env: {}, unsetEnv: [], onStdout() {}, onStderr() {},
    signal: new AbortController().signal, ...options,
  });
`;

test("B16: standard input is empty, so what reads it ends", async () => {
  assert.deepEqual((await run(env, "cat; wc -c; read x || echo none")).stdout.match(/\w+/g), ["0", "none"]);
});

test("B08: what keeps the pipes open in the background is not waited for, and lives on", async () => {
  const { value, ms } = await timed(() => run(env, "sleep 60 & echo $!"));
  assert.ok(ms > 150 && ms < 6000, `${ms} ms`);
  assert.equal(value.exitCode, 0);
  const [pid] = pids(value.stdout);
  await wait(400);
  assert.ok(isAlive(pid));
  process.kill(pid);
  // The quickest of some: the machine may be busy.
  let least = Infinity;
  for (let round = 0; round < 5; round++) {
    const { value, ms } = await timed(() => run(env, "sleep 60 >/dev/null 2>&1 & echo $!"));
    process.kill(pids(value.stdout)[0]);
    least = Math.min(least, ms);
  }
  assert.ok(least < 190, `${least} ms`);
});

test("B08: output on its way is taken, one without end is not", async () => {
  assert.equal((await run(env, "(sleep 0.05; echo late) & echo a")).stdout, "a\nlate\n");
  const kept = await run(env, "(for i in 1 2 3 4 5 6; do sleep 0.05; echo $i; done) & exit 3");
  assert.deepEqual([kept.stdout, kept.exitCode], ["1\n2\n3\n4\n5\n6\n", 3]);
  const slow = await timed(() => run(env, "(while sleep 0.05; do echo x || exit; done) & echo a"));
  assert.ok(slow.ms > 700 && slow.ms < 8000, `${slow.ms} ms`);
  const fast = await timed(() => run(env, "yes & echo $! >&2"));
  assert.ok(fast.ms < 8000, `${fast.ms} ms`);
  const [pid] = pids(fast.value.stderr);
  await wait(300);
  assert.ok(isAlive(pid), "its pipe is open");
  process.kill(pid);
});

test("B08: what goes on writing in the background lives on, is not heard, and keeps no process", () => {
  const mark = join(dir, "beats");
  // More at a time than a pipe holds: somebody has to read it. It ends when its pipe is closed.
  const command = `(while head -c 100000 /dev/zero; do echo >> '${mark}'; sleep 0.02; done) & echo started >&2`;
  const started = Date.now();
  const { stdout, stderr, status } = program(`${PREFIX}
    import { stat } from "node:fs/promises";
    const beats = async () => (await stat(${JSON.stringify(mark)})).size;
    let chunks = 0;
    await run(${JSON.stringify(command)}, { onStdout() { chunks++; } });
    const before = [await beats(), chunks];
    await new Promise((resolve) => setTimeout(resolve, 1000));
    console.log(JSON.stringify([(await beats()) - before[0] > 5, chunks - before[1]]));
  `);
  assert.deepEqual([stdout, stderr, status], ["[true,0]\n", "", 0]);
  assert.ok(Date.now() - started < 20_000);
});

test("B08, B09, B16 as a tool", async () => {
  const toolset = await createToolset(env);
  const bash = (args) => toolset.call({ id: "1", name: "bash", arguments: args });
  const text = ({ content }) => content[0].text;
  assert.equal(text(await bash({ command: "cat" })), "(no output)");
  const { value: background, ms } = await timed(() => bash({ command: "sleep 20 & echo a" }));
  assert.match(text(background), /^a\n?$/);
  assert.ok(ms < 6000, `${ms} ms`);
  const late = await timed(() => bash({ command: "echo a; sleep 5", timeout: 1 }));
  assert.match(text(late.value), /^a\n[\s\S]*timed out after 1 seconds/);
  assert.equal(late.value.isError, true);
  assert.ok(late.ms < 4500, `${late.ms} ms`);
});

test("an abort ends the group: also who ignores SIGTERM, and whom he started", async () => {
  const controller = new AbortController();
  const command = `
    trap '' TERM
    echo $$
    bash -c 'trap "" TERM; echo $$; (trap "" TERM; echo $BASHPID; while :; do sleep 0.1; done) & wait' &
    wait; while :; do sleep 0.1; done
  `;
  let output = "";
  const running = run(env, command, {
    signal: controller.signal,
    onStdout(chunk) {
      output += Buffer.from(chunk).toString();
      if (pids(output).length === 3) controller.abort();
    },
  });
  const { value, ms } = await timed(() => running);
  assert.equal(value.exitCode, null);
  assert.ok(ms < 6000, `${ms} ms`);
  const started = pids(output);
  assert.equal(started.length, 3);
  await wait(50);
  assert.deepEqual(started.filter(isAlive), []);
});

test("an abort gives SIGTERM first, and who heeds it may end well", async () => {
  const controller = new AbortController();
  let output = "";
  const onStdout = (chunk) => {
    output += Buffer.from(chunk).toString();
    if (output === "ready\n") controller.abort();
  };
  const command = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done";
  const { value, ms } = await timed(() => run(env, command, { signal: controller.signal, onStdout }));
  assert.deepEqual([output, value.exitCode], ["ready\nbye\n", 5]);
  assert.ok(ms < 6000, `${ms} ms`);
  // The shell ends at once, what it started does not: it is waited for, and ended.
  const child = new AbortController();
  let pid;
  await run(env, "(trap '' TERM; echo $BASHPID; while :; do sleep 0.1; done) & wait", {
    signal: child.signal,
    onStdout(chunk) {
      pid = Number(Buffer.from(chunk).toString());
      child.abort();
    },
  });
  await wait(50);
  assert.ok(!isAlive(pid));
});

test("an abort before the start starts nothing, one after the end does nothing", async () => {
  assert.equal(await codeOf(() => run(env, "echo > made", { signal: AbortSignal.abort() })), "aborted");
  assert.equal(await codeOf(() => env.fileInfo(join(dir, "made"))), "not_found");
  // Between the call and the start.
  const early = new AbortController();
  const running = run(env, "sleep 5; echo > made", { signal: early.signal });
  early.abort();
  const outcome = await timed(() => running.catch(({ code }) => code));
  assert.ok(outcome.value === "aborted" || outcome.value.exitCode === null);
  assert.ok(outcome.ms < 4000);
  const controller = new AbortController();
  const { stdout } = await run(env, "sleep 60 >/dev/null 2>&1 & echo $!", { signal: controller.signal });
  controller.abort();
  await wait(400);
  assert.ok(isAlive(pids(stdout)[0]));
  process.kill(pids(stdout)[0]);
});

test("an exit code is the shell's; a signal leaves none", async () => {
  assert.equal((await run(env, "exit 42")).exitCode, 42);
  assert.equal((await run(env, "kill -9 $$")).exitCode, null);
  assert.equal((await run(env, "kill $$")).exitCode, null);
  assert.equal((await run(env, "sh -c 'kill -9 $$'; true")).exitCode, 0);
});

test("variables: the process's, without those to remove, and those to set", async () => {
  process.env.TACKROOM_KEPT = "1";
  process.env.TACKROOM_GONE = "2";
  process.env.TACKROOM_BOTH = "3";
  const options = {
    env: { TACKROOM_BOTH: "4", NEW: "ü\n" },
    unsetEnv: ["TACKROOM_GONE", "TACKROOM_BOTH", "NEVER"],
  };
  const { stdout } = await run(
    env,
    'echo "[$TACKROOM_KEPT$TACKROOM_GONE$TACKROOM_BOTH$NEW]"; printenv TACKROOM_GONE',
    options,
  );
  assert.equal(stdout, "[14ü\n]\n");
  assert.equal(process.env.TACKROOM_GONE, "2");
  for (const name of ["KEPT", "GONE", "BOTH"]) delete process.env[`TACKROOM_${name}`];
});

test("a command is taken as it is", async () => {
  assert.equal((await run(env, "-x")).exitCode, 127);
  assert.equal((await run(env, "# only a comment")).exitCode, 0);
  assert.equal((await run(env, "\n\n  echo a\n\\\n")).stdout, "a\n");
  const long = "ü".repeat(50 * 1024);
  assert.equal((await run(env, `printf %s '${long}' | wc -c`)).stdout.trim(), String(100 * 1024));
  const lines = Array.from({ length: 5000 }, (_, index) => `: ${index} ${"x".repeat(8)}`).join("\n");
  assert.equal((await run(env, `${lines}\necho end`)).stdout, "end\n");
});

test("what is not started says why", async () => {
  const tooLong = await run(env, `: ${"x".repeat(3 * 1024 * 1024)}`).catch((error) => error);
  assert.equal(tooLong.code, "spawn_failed");
  assert.match(tooLong.message, /3073 KB.*write it to a file/);
  assert.equal(await codeOf(() => run(env, "echo a\0b")), "spawn_failed");
  assert.equal(await codeOf(() => run(env, "echo", { env: { A: "a\0b" } })), "spawn_failed");
  assert.equal(await codeOf(() => run(env, "echo", { shell: "powershell" })), "no_shell");
  assert.equal(await codeOf(() => run(env, "echo", { cwd: join(dir, "none") })), "not_found");
  await mkdir(join(dir, "short"));
  const gone = node({ cwd: join(dir, "short") });
  await rm(join(dir, "short"), { recursive: true });
  assert.match(await run(gone, "echo").catch(({ message }) => message), /directory to run in.*short/);
});

test("bytes come as they are, on the stream that they were written to", async () => {
  await writeFile(
    join(dir, "all"),
    Uint8Array.from({ length: 256 * 1000 }, (_, index) => index & 255),
  );
  const { bytes, stderr } = await run(env, "cat all; printf 'é\\0\\xff' >&2");
  assert.ok(bytes.equals(await readFile(join(dir, "all"))));
  assert.equal(stderr, "é\0\ufffd");
  const chunk = await new Promise((resolve) => run(env, "echo a", { onStdout: resolve }));
  assert.equal(chunk.constructor, Uint8Array);
});

test("output comes while the command runs", async () => {
  const controller = new AbortController();
  const times = [];
  await run(env, "echo a; sleep 0.3; echo b", {
    onStdout: () => void times.push(performance.now()),
    ...controller,
  });
  assert.equal(times.length, 2);
  assert.ok(times[1] - times[0] > 200);
});

test("a slow callback is waited for, and loses nothing", async () => {
  let received = 0;
  let isBusy = false;
  let most = 0;
  const onStdout = async (chunk) => {
    assert.ok(!isBusy, "one at a time");
    isBusy = true;
    most = Math.max(most, chunk.length);
    await wait(2);
    received += chunk.length;
    isBusy = false;
  };
  const size = 20_000_000;
  const { exitCode } = await run(env, `head -c ${size} /dev/zero; exit 4`, { onStdout });
  assert.deepEqual([received, exitCode], [size, 4]);
  assert.ok(most <= 64 * 1024);
  // Slower than the grace: what the shell has left in its pipe is still its output.
  received = 0;
  const slow = async (chunk) => {
    await wait(300);
    received += chunk.length;
  };
  await run(env, "head -c 300000 /dev/zero", { onStdout: slow });
  assert.equal(received, 300000);
});

test("while one stream waits, the other goes on", async () => {
  let free;
  const held = new Promise((resolve) => {
    free = resolve;
  });
  let errors = 0;
  const command = "echo out; head -c 1000000 /dev/zero >&2; echo done >&2";
  await run(env, command, {
    onStdout: () => held,
    onStderr(chunk) {
      errors += chunk.length;
      if (errors === 1_000_005) free();
    },
  });
  assert.equal(errors, 1_000_005);
});

/** 200 MB, or with TACKROOM_FLOOD=1 all of 1 GB, which takes a while. */
const FLOOD = process.env.TACKROOM_FLOOD ? "1G" : "200M";
test(`a flood of ${FLOOD} with a callback that is slower: memory stays flat`, () => {
  const { stdout, stderr } = program(
    `${PREFIX}
    let bytes = 0;
    let chunks = 0;
    let most = 0;
    await run("yes | head -c ${FLOOD}", {
      async onStdout(chunk) {
        bytes += chunk.length;
        if (++chunks % 64 === 0) {
          await new Promise((resolve) => setTimeout(resolve, 1));
          most = Math.max(most, process.memoryUsage().rss);
        } else await null;
      },
    });
    console.log(bytes, Math.round(most / 2 ** 20));
  `,
    { timeout: 300_000 },
  );
  const [bytes, megabytes] = stdout.split(" ").map(Number);
  assert.equal(bytes, FLOOD === "1G" ? 2 ** 30 : 200 * 2 ** 20, stderr);
  assert.ok(megabytes < 160, `${megabytes} MB`);
});

test("a callback that fails ends the command", async () => {
  const wrong = new Error("no more");
  const onStdout = () => {
    throw wrong;
  };
  const { value, ms } = await timed(() =>
    run(env, "echo $$; sleep 20", { onStdout }).catch((error) => error),
  );
  assert.equal(value.cause, wrong);
  assert.equal(
    (await run(env, "yes", { onStdout: () => Promise.reject(wrong) }).catch((error) => error)).cause,
    wrong,
  );
  assert.ok(ms < 6000, `${ms} ms`);
});

test("nothing is left: no listener, no timer, no warning; the process ends when the commands have", () => {
  const started = Date.now();
  const { stdout, stderr, status } = program(`${PREFIX}
    import { getEventListeners } from "node:events";
    const signals = [];
    // Node warns of more than ten listeners of one signal.
    const one = () => {
      signals.push(new AbortController().signal);
      return signals.at(-1);
    };
    const before = process.listenerCount("exit");
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 20 }, () => run("echo a; sleep 0.1", { signal: one() })),
      run("sleep 30 & echo b", { signal: one() }),
      run("exit 3", { signal: one() }),
      run("kill -9 $$", { signal: one() }),
      run("x".repeat(4e6), { signal: one() }),
      run("echo", { signal: one(), cwd: "/none" }),
      run("sleep 30", { signal: AbortSignal.timeout(1000) }),
    ]);
    // Node lets go of the handle of an ended process in a turn of its own.
    await new Promise((resolve) => setTimeout(resolve, 50));
    console.log(outcomes.filter(({ status }) => status === "fulfilled").length,
      signals.flatMap((signal) => getEventListeners(signal, "abort")).length, process.listenerCount("exit") - before,
      process.getActiveResourcesInfo().filter((name) => !/TTY|Pipe/.test(name)).join());
  `);
  assert.equal(stdout.trim(), "24 0 0");
  assert.deepEqual([stderr, status], ["", 0]);
  assert.ok(Date.now() - started < 10_000);
});

test("a process that exits ends what it runs", async () => {
  const { stdout } = program(`${PREFIX}
    run("echo $$; sleep 60", { onStdout(chunk) {
      process.stdout.write(chunk, () => process.exit());
    } });
  `);
  await wait(100);
  assert.ok(!isAlive(pids(stdout)[0]));
});

test("powershell is found on PATH, and started without profile and questions", async () => {
  const bin = join(dir, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "pwsh"), '#!/bin/sh\nprintf "%s|" "$@"\necho here > "$MARK"\n');
  await chmod(join(bin, "pwsh"), 0o755);
  // One that is no program, and a folder of the name.
  await mkdir(join(dir, "other/bash"), { recursive: true });
  await writeFile(join(dir, "other/pwsh"), "");
  const path = process.env.PATH;
  const mark = join(dir, "mark");
  try {
    process.env.PATH = `${join(dir, "other")}:${bin}:${path}`;
    const both = node({ cwd: dir });
    assert.deepEqual(both.shells, ["bash", "powershell"]);
    const command = "Write-Output 'a b' \"c\"; $x";
    assert.equal(await codeOf(() => env.fileInfo(mark)), "not_found", "it is not run to be found");
    const { stdout } = await run(both, command, { shell: "powershell", env: { MARK: mark } });
    assert.equal(stdout, `-NoProfile|-NonInteractive|-Command|${command}|`);
    process.env.PATH = `.:${relative(process.cwd(), bin)}`;
    assert.deepEqual(node({ cwd: dir }).shells, ["bash"], "in its usual place");
    await rm(bin, { recursive: true });
    assert.equal(await codeOf(() => run(both, "x", { shell: "powershell" })), "no_shell");
  } finally {
    process.env.PATH = path;
  }
  assert.deepEqual(env.shells, ["bash"]);
});

test("real programs: a test runner, colours, a progress bar", async () => {
  await writeFile(join(dir, "one.test.mjs"), 'import { test } from "node:test"; test("it holds", () => {});');
  const runner = await run(env, `'${process.execPath}' --test one.test.mjs`, {
    unsetEnv: ["NODE_TEST_CONTEXT"],
  });
  assert.equal(runner.exitCode, 0, runner.stderr);
  assert.match(runner.stdout, /it holds[\s\S]*pass 1/);
  await mkdir(join(dir, "colours"));
  assert.ok((await run(env, "ls --color=always -d colours")).stdout.startsWith("\x1b["));
  const bar = await run(env, "for i in 1 2 3; do printf '\\r%d%%' $i >&2; done; echo >&2");
  assert.equal(bar.stderr, "\r1%\r2%\r3%\n");
});
