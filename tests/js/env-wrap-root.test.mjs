// What lies inside of a root: the rule of the wrappers against the core's, and what it keeps safe.
import assert from "node:assert/strict";
import {
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createToolset, resolveConfined } from "tackroom";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { confined, mounts, overlay } from "tackroom/env/wrap";
import { Root } from "../../pkg/dist/env/wrap/root.js";
import { pathOf, random, treeOf } from "./support/trees.mjs";

const bytes = (text) => new TextEncoder().encode(text);

function inMemory(tree) {
  const env = memory(Object.fromEntries(tree.files), { cwd: tree.root });
  for (const directory of tree.directories) env.createDir(directory);
  for (const [path, target] of tree.links) env.symlink(target, path);
  return env;
}

async function onDisk(tree) {
  for (const directory of tree.directories) await mkdir(directory, { recursive: true });
  for (const [path, content] of tree.files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  }
  for (const [path, target] of tree.links) await symlink(target, path);
  return node({ cwd: tree.root });
}

/** Makes a directory on the disk for the time of `body`. */
async function withDirectory(body) {
  const base = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  try {
    await body(base);
  } finally {
    await rm(base, { recursive: true });
  }
}

const outcomeOf = async (answer) => {
  try {
    return await answer;
  } catch ({ code }) {
    return { code };
  }
};

/** Compares the two rules; counts what they said. */
async function compare(env, tree, pick, count, seen) {
  for (; count > 0; count--) {
    const path = pathOf(pick, tree);
    const root = [tree.root, tree.root, ".", tree.directories[1] ?? "."][pick(4)];
    const rule = new Root(env, root);
    const own = await outcomeOf((async () => rule.real(rule.admit(path)))());
    const core = await outcomeOf(resolveConfined(env, root, path));
    assert.deepEqual(
      own,
      core,
      `${JSON.stringify(path)} in ${root}, links ${JSON.stringify([...tree.links])}`,
    );
    const kind = own.code ?? "inside";
    seen[kind] = (seen[kind] ?? 0) + 1;
  }
}

test("the rule is the core's, in memory and on a disk, with and without canonical paths", async () => {
  const seen = {};
  for (let seed = 1; seed <= 150; seed++) {
    const pick = random(seed);
    const tree = treeOf(seed, "/base");
    const env = inMemory(tree);
    const { canonicalPath: _, ...blind } = env;
    await compare(env, tree, pick, 40, seen);
    await compare(blind, tree, pick, 15, seen);
  }
  await withDirectory(async (base) => {
    for (let seed = 1; seed <= 10; seed++) {
      const tree = treeOf(seed, join(base, `${seed}`));
      await compare(await onDisk(tree), tree, random(seed), 30, seen);
    }
  });
  for (const kind of ["inside", "outside_root", "not_directory"]) {
    assert.ok(seen[kind] > 50, `too few: ${JSON.stringify(seen)}`);
  }
});

test("paths that are none", async () => {
  const env = memory({}, { cwd: "/root" });
  for (const path of ["", "a\0b", "x".repeat(5000), "ü".repeat(2100)]) {
    const core = await outcomeOf(resolveConfined(env, "/root", path));
    const own = await outcomeOf((async () => new Root(env, "/root").admit(path))());
    assert.deepEqual(own, core);
    assert.equal(own.code, "invalid_path");
  }
});

/** Everything outside of the root, as it is on its base. */
async function outsideOf(tree, list) {
  const found = {};
  for (const directory of [`${dirname(tree.root)}`]) {
    const walk = async (at) => {
      if (at === tree.root) return;
      for (const [name, kind, content] of await list(at)) {
        const path = `${at}/${name}`;
        if (path === tree.root) continue;
        found[path] = kind === "directory" ? kind : content;
        if (kind === "directory") await walk(path);
      }
    };
    await walk(directory);
  }
  return found;
}

const listMemory = (env) => async (at) =>
  env
    .listDir(at)
    .map(({ name, path, kind }) => [
      name,
      kind,
      kind === "file" ? Buffer.from(env.readBinaryFile(path)).toString() : kind,
    ]);

const listDisk = async (at) =>
  Promise.all(
    (await readdir(at)).map(async (name) => {
      const path = `${at}/${name}`;
      const stat = await lstat(path);
      if (stat.isDirectory()) return [name, "directory"];
      return stat.isSymbolicLink()
        ? [name, "link", await readlink(path)]
        : [name, "file", await readFile(path, "utf8")];
    }),
  );

/** Does whatever can be done with these paths. Answers with what came back. */
async function use(env, tree, pick, count) {
  const said = [];
  const failures = {};
  for (; count > 0; count--) {
    const [path, other] = [pathOf(pick, tree), pathOf(pick, tree)];
    const actions = [
      () => env.readBinaryFile(path),
      () => env.readRange(path, 0, 100),
      () => env.readFiles?.([path, other]),
      () => env.fileInfo(path),
      () => env.listDir(path),
      () => env.canonicalPath(path),
      () => env.writeFile(path, bytes("WRITTEN")),
      () => env.appendFile(path, bytes("WRITTEN")),
      () => env.createDir(path),
      () => env.renameFile(path, other),
      () => env.remove(path, { recursive: pick(2) === 0 }),
    ];
    // What is there is of more use than what is removed.
    const action = actions[pick(4) === 0 ? pick(actions.length) : pick(actions.length - 2)];
    try {
      const answer = await action();
      said.push([String(action), path, other, answer]);
    } catch (error) {
      assert.equal(typeof error.code, "string", `${error.stack}`);
      failures[error.code] = (failures[error.code] ?? 0) + 1;
    }
  }
  return { said, failures };
}

function assertNothingLeaked(said, tree) {
  for (const [action, path, other, answer] of said) {
    const where = `${action} of ${JSON.stringify(path)} and ${JSON.stringify(other)}`;
    const answers = Array.isArray(answer) ? answer : [answer];
    for (const part of answers) {
      const content = part?.ok ? part.value : part;
      if (content instanceof Uint8Array)
        assert.doesNotMatch(Buffer.from(content).toString(), /SECRET/, where);
      if (typeof content === "string")
        assert.ok(`${content}/`.startsWith(`${tree.root}/`), `${where}: ${content}`);
      if (content?.path) {
        assert.ok(`${content.path}/`.startsWith(`${tree.root}/`), `${where}: ${content.path}`);
        assert.notEqual(content.name, "only-outside", where);
      }
    }
  }
}

test("no path reads, lists or writes outside of a root in memory", async () => {
  const total = {};
  let done = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const tree = treeOf(seed, "/base");
    const pick = random(seed + 1000);
    const base = inMemory(tree);
    base.readFiles = (paths, options) =>
      paths.map((path) => {
        try {
          return { ok: true, value: base.readBinaryFile(path, options) };
        } catch ({ code, message }) {
          return { ok: false, error: { code, message } };
        }
      });
    const { canonicalPath: _, ...blind } = base;
    for (const subject of [base, blind, overlay(base)]) {
      const before = await outsideOf(tree, listMemory(base));
      const env = confined(subject, seed % 3 === 0 ? { deny: ["b/"] } : {});
      const { said, failures } = await use(
        subject === blind ? { canonicalPath: () => tree.root, ...env } : env,
        tree,
        pick,
        40,
      );
      assertNothingLeaked(said, tree);
      assert.deepEqual(await outsideOf(tree, listMemory(base)), before, `seed ${seed}`);
      done += said.length;
      for (const [code, count] of Object.entries(failures)) total[code] = (total[code] ?? 0) + count;
    }
  }
  assert.ok(done > 3000 && total.outside_root > 3000, JSON.stringify({ done, total }));
});

test("no path reads, lists or writes outside of a root on a disk", async () => {
  await withDirectory(async (base) => {
    for (let seed = 1; seed <= 25; seed++) {
      const tree = treeOf(seed, join(base, `${seed}`));
      const env = confined(await onDisk(tree));
      const before = await outsideOf(tree, listDisk);
      const { said } = await use(env, tree, random(seed + 2000), 60);
      assertNothingLeaked(said, tree);
      assert.deepEqual(await outsideOf(tree, listDisk), before, `seed ${seed}`);
    }
  });
});

test("no path gets out of a part that is mounted", async () => {
  for (let seed = 1; seed <= 100; seed++) {
    const tree = treeOf(seed, "/base");
    const base = inMemory(tree);
    const before = await outsideOf(tree, listMemory(base));
    const env = mounts({ [tree.root]: { env: base, path: tree.root } }, { cwd: tree.root });
    const { said } = await use({ readRange: env.readBinaryFile, ...env }, tree, random(seed + 4000), 40);
    // What is above the mount is there: a directory with the mount in it.
    const isAbove = (path) =>
      typeof path === "string" && `${tree.root}/`.startsWith(path === "/" ? path : `${path}/`);
    assertNothingLeaked(
      said.filter(([, , , answer]) => !isAbove(answer?.path ?? answer) && !isAbove(answer?.[0]?.path)),
      tree,
    );
    assert.deepEqual(await outsideOf(tree, listMemory(base)), before, `seed ${seed}`);
  }
});

test("no argument of a tool does either", async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const tree = treeOf(seed, "/base");
    const pick = random(seed + 3000);
    const base = inMemory(tree);
    const before = await outsideOf(tree, listMemory(base));
    const toolset = await createToolset(confined(base), {
      tools: ["read", "write", "edit", "ls", "find", "grep"],
    });
    for (let count = 0; count < 25; count++) {
      const path = pathOf(pick, tree);
      const [name, args] = [
        ["read", { path }],
        ["write", { path, content: "WRITTEN" }],
        ["edit", { path, edits: [{ oldText: "SECRET", newText: "WRITTEN" }] }],
        ["ls", { path }],
        ["find", { pattern: "*", path }],
        ["grep", { pattern: "SECRET|inside", path }],
      ][pick(6)];
      const result = await toolset.call({ id: "1", name, arguments: args });
      const text = result.content.map((part) => part.text).join("\n");
      if (!result.isError) assert.doesNotMatch(text, /SECRET|only-outside/, `${name} ${path}: ${text}`);
    }
    assert.deepEqual(await outsideOf(tree, listMemory(base)), before, `seed ${seed}`);
    toolset.dispose();
  }
});
