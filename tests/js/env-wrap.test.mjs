// Environments around environments: what is hidden, told, kept back, and put together. What they share with all others
// is in env-suite.test.mjs, what lies inside of a root in env-wrap-root.test.mjs.
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm, symlink, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Bash } from "just-bash";
import { createToolset } from "tackroom";
import { withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { audited, confined, mounts, overlay } from "tackroom/env/wrap";
import { bytes, codeOf, run as execute, names, text } from "./support/env-suite.mjs";
import { nothingEscaped, run, textOf } from "./support/hold.mjs";
import { random } from "./support/trees.mjs";

/** A class with private fields, some of whose methods answer otherwise than by promises. */
class Store {
  #env;
  cwd = "/project";
  constructor(env) {
    this.#env = env;
  }
  readBinaryFile(path) {
    return this.#result(() => this.#env.readBinaryFile(path));
  }
  async writeFile(path, content) {
    return this.#env.writeFile(path, content);
  }
  fileInfo(path) {
    return this.#env.fileInfo(path);
  }
  listDir(path) {
    return this.#result(() => this.#env.listDir(path));
  }
  #result(action) {
    try {
      return { ok: true, value: action() };
    } catch ({ code, message }) {
      return { ok: false, error: { code, message } };
    }
  }
}

const METHODS = [
  "readRange",
  "readFiles",
  "canonicalPath",
  "absolutePath",
  "createDir",
  "remove",
  "renameFile",
  "appendFile",
  "createTempFile",
  "walk",
  "search",
  "lock",
  "exec",
];
const methodsOf = (env) => METHODS.filter((name) => name in env);

const grepAnswer = { matches: [], limitReached: false, unreadable: 0 };
/** An environment with everything. */
function complete(files = {}) {
  const env = memory(files, {
    cwd: "/project",
    home: "/home",
    exec: () => ({ exitCode: 0 }),
    shells: ["bash"],
  });
  return Object.assign(env, {
    readFiles: (paths) =>
      paths.map((path) => {
        try {
          return { ok: true, value: env.readBinaryFile(path) };
        } catch ({ code, message }) {
          return { ok: false, error: { code, message } };
        }
      }),
    absolutePath: (path) => (path.startsWith("/") ? path : `/project/${path}`),
    walk: () => [],
    search: () => grepAnswer,
    lock: (_, action) => action(),
  });
}

describe("what is there is told truthfully", () => {
  test("of everything", () => {
    const env = complete();
    const all = methodsOf(env);
    assert.deepEqual(all, METHODS);
    const without = (...names) => METHODS.filter((name) => !names.includes(name));
    assert.deepEqual(methodsOf(audited(env, () => {})), all);
    assert.deepEqual(methodsOf(confined(env, { exec: "allow" })), all);
    assert.deepEqual(methodsOf(confined(env)), without("exec"));
    assert.deepEqual(methodsOf(confined(env, { deny: ["x"] })), without("exec", "search"));
    assert.deepEqual(methodsOf(confined(env, { readOnly: true })), without("exec", "createTempFile"));
    assert.deepEqual(methodsOf(overlay(env)), without("walk", "search", "lock", "exec"));
    assert.deepEqual(methodsOf(mounts({ "/": env })), without("absolutePath", "walk", "search", "exec"));
    assert.deepEqual(
      methodsOf(mounts({ "/": env }, { exec: "/" })),
      without("absolutePath", "walk", "search"),
    );
  });

  test("of what has the least, a class with private fields", () => {
    const env = new Store(memory({}, { cwd: "/project" }));
    assert.deepEqual(methodsOf(audited(env, () => {})), []);
    assert.deepEqual(methodsOf(confined(env)), []);
    assert.deepEqual(methodsOf(mounts({ "/": env })), []);
    // These it does by itself.
    assert.deepEqual(methodsOf(overlay(env)), [
      "createDir",
      "remove",
      "renameFile",
      "appendFile",
      "createTempFile",
    ]);
    assert.equal("shells" in confined(complete()), false);
    assert.deepEqual(confined(complete(), { exec: "allow" }).shells, ["bash"]);
    assert.deepEqual(
      [confined(complete()).home, confined(complete(), { root: "/" }).home],
      [undefined, "/home"],
    );
  });

  test("private fields, promises, Results and throws are taken by all", async () => {
    for (const wrap of [confined, (env) => audited(env, () => {}), overlay, (env) => mounts({ "/": env })]) {
      const files = memory({ "a.txt": "one\n" }, { cwd: "/project" });
      const env = wrap(new Store(files));
      const toolset = await createToolset(env, { tools: ["read", "write", "ls", "grep"] });
      assert.match(textOf(await run(toolset, "read", { path: "a.txt" })), /^one/);
      assert.equal((await run(toolset, "read", { path: "b.txt" })).details.code, "not_found");
      assert.equal((await run(toolset, "write", { path: "a.txt", content: "two\n" })).isError, false);
      assert.match(textOf(await run(toolset, "grep", { pattern: "two" })), /^a.txt:1: two/);
      assert.equal(textOf(await run(toolset, "ls", {})), "a.txt");
      await env.commit?.();
      assert.equal(text(files.readBinaryFile("a.txt")), "two\n");
    }
  });

  test("options that are not known are refused", () => {
    const env = memory({}, { cwd: "/project" });
    for (const action of [
      () => confined(env, { rooot: "/project" }),
      () => confined(env, { readOnly: "yes" }),
      () => confined(env, { deny: ".env" }),
      () => confined(env, { deny: [1] }),
      () => confined(env, { exec: "keep" }),
      () => confined(env, null),
      () => audited(env, "log"),
      () => audited(env, () => {}, { onBegin() {} }),
      () => mounts({ "/": env }, { shell: "/" }),
      () => mounts({}),
      () => mounts({ "/a": null }),
      () => mounts({ "/a": env }, { cwd: "/b" }),
      () => mounts({ "/a": env, "/a/": env }),
      () => mounts({ "/": env }, { exec: "/" }),
    ]) {
      assert.throws(action, { code: "invalid_arguments" }, String(action));
    }
    assert.throws(() => confined(env, { root: "/other" }), { code: "outside_root" });
    assert.throws(() => confined(env, { root: "/project/sub" }), { code: "outside_root" });
    assert.throws(() => mounts({ a: env }), { code: "invalid_path" });
  });
});

describe("confined: the root", () => {
  const files = { "/project/a.txt": "in\n", "/etc/passwd": "SECRET", "/etc/hostname": "SECRET" };
  const make = (options, cwd = "/project") => {
    const base = memory(files, { cwd });
    base.symlink("/etc/hostname", "/project/link");
    base.symlink("/outside/file", "/project/new");
    base.symlink("/", "/project/d");
    base.symlink("a.txt", "/project/alias");
    return { base, env: confined(base, options) };
  };

  test("what leads out is refused, and nothing is made", async () => {
    const { base, env } = make();
    const before = base.snapshot();
    for (const path of [
      "../etc/passwd",
      "/etc/passwd",
      "a/../../etc/x",
      "link",
      "new",
      "d/etc/x",
      "d",
      "/project/../etc",
    ]) {
      for (const action of [
        () => env.readBinaryFile(path),
        () => env.readRange(path, 0, 9),
        () => env.writeFile(path, bytes("x")),
        () => env.appendFile(path, bytes("x")),
        () => env.listDir(path),
        () => env.canonicalPath(path),
        () => env.createDir(path),
      ]) {
        assert.equal(await codeOf(action), "outside_root", `${action} ${path}`);
      }
    }
    for (const path of ["../etc/passwd", "d/etc/passwd"]) {
      for (const action of [
        () => env.fileInfo(path),
        () => env.remove(path),
        () => env.renameFile(path, "/project/x"),
        () => env.renameFile("/project/a.txt", path),
      ]) {
        assert.equal(await codeOf(action), "outside_root", `${action} ${path}`);
      }
    }
    const toolset = await createToolset(env, { tools: ["read", "write", "edit", "grep"] });
    for (const [name, args] of [
      ["read", { path: "/etc/passwd" }],
      ["read", { path: "link" }],
      ["write", { path: "new", content: "x" }],
      ["edit", { path: "new", edits: [{ oldText: "a", newText: "b" }] }],
      ["write", { path: "d/etc/x", content: "x" }],
      ["grep", { pattern: "SECRET", path: "d" }],
    ]) {
      assert.equal((await run(toolset, name, args)).details.code, "outside_root", `${name} ${args.path}`);
    }
    assert.deepEqual(base.snapshot(), before);
  });

  test("links inside are followed, and a link itself can be seen, moved and removed", async () => {
    const { base, env } = make();
    assert.equal(text(await env.readBinaryFile("alias")), "in\n");
    assert.equal((await env.fileInfo("link")).kind, "symlink");
    assert.deepEqual(names(await env.listDir("/project")), ["a.txt", "alias", "d", "link", "new"]);
    await env.renameFile("d", "e");
    await env.remove("e", { recursive: true });
    await env.remove("link");
    assert.equal(text(base.readBinaryFile("/etc/hostname")), "SECRET");
    assert.equal(await codeOf(() => env.remove("/project", { recursive: true })), "permission_denied");
    assert.equal(await codeOf(() => env.renameFile("/project", "/project/x")), "permission_denied");
  });

  test("without canonical paths no link is followed", async () => {
    const { canonicalPath: _, ...blind } = make().base;
    const env = confined(blind);
    assert.equal(text(await env.readBinaryFile("a.txt")), "in\n");
    for (const path of ["alias", "link", "d/etc/passwd"]) {
      assert.equal(await codeOf(() => env.readBinaryFile(path)), "outside_root");
    }
  });

  test("a root that is a link, and one deeper than the top", async () => {
    const base = memory({ "/real/a": "1", "/other/b": "2" }, { cwd: "/project" });
    base.remove("/project");
    base.symlink("/real", "/project");
    const env = confined(base);
    assert.equal(text(await env.readBinaryFile("a")), "1");
    assert.equal((await env.fileInfo("a")).path, "/project/a");
    assert.deepEqual(
      (await env.listDir("/project")).map(({ path }) => path),
      ["/project/a"],
    );
    base.remove("/project");
    base.symlink("/other", "/project");
    assert.equal(await codeOf(() => env.readBinaryFile("b")), "outside_root");
  });

  test("what is the environment's own is not there", () => {
    const { env } = make();
    assert.deepEqual([env.snapshot, env.restore, env.symlink], [undefined, undefined, undefined]);
  });

  test("many files, a walk and a search", async () => {
    const asked = [];
    const base = complete(files);
    base.symlink("/etc/passwd", "/project/link");
    base.walk = (request) => {
      asked.push(request.path);
      return [
        { path: "a.txt", kind: "file", size: 3 },
        { path: "../etc/passwd", kind: "file", size: 6 },
      ];
    };
    base.search = (request) => {
      asked.push(request.path);
      const line = { line: 1, text: bytes("x"), isContext: false };
      return {
        ...grepAnswer,
        matches: [
          { path: "a.txt", ...line },
          { path: "../x", ...line },
        ],
      };
    };
    const env = confined(base);
    const read = await env.readFiles(["/project/a.txt", "/etc/passwd", "/project/no", "link"]);
    assert.deepEqual(
      read.map(({ ok, value, error }) => (ok ? text(value) : error.code)),
      ["in\n", "outside_root", "not_found", "outside_root"],
    );
    assert.deepEqual(await env.readFiles([]), []);
    assert.deepEqual(
      names(await env.walk({ path: "/project" }).then((all) => all.map(({ path }) => ({ name: path })))),
      ["a.txt"],
    );
    assert.deepEqual(
      (await env.search({ path: "/project" })).matches.map(({ path }) => path),
      ["a.txt"],
    );
    assert.equal(await codeOf(() => env.walk({ path: "/" })), "outside_root");
    assert.equal(await codeOf(() => env.search({ path: "/project/link" })), "outside_root");
    assert.equal(await codeOf(() => env.absolutePath("../x")), "outside_root");
    assert.deepEqual(asked, ["/project", "/project"]);
  });
});

describe("confined: what is denied", () => {
  const files = {
    ".env": "SECRET=1\n",
    ".env.example": "PUBLIC=1\n",
    "secrets/key": "SECRET\n",
    "secrets/deep/key": "SECRET\n",
    "src/a.ts": "SECRET in code\n",
    "src/Key.PEM": "SECRET\n",
    "src/caf\u00e9": "SECRET\n",
    "build/out": "SECRET\n",
    "docs/build": "a file\n",
  };
  const deny = [".env*", "!.env.example", "/secrets/", "*.pem", "cafe\u0301", "build/"];
  const make = (more) => {
    const base = memory(files, { cwd: "/project" });
    base.symlink("secrets/key", "/project/alias");
    base.symlink("secrets", "/project/safe");
    return { base, env: confined(base, { deny, ...more }) };
  };
  const hidden = [
    ".env",
    ".ENV",
    "./x/../.env",
    "secrets",
    "secrets/",
    "secrets/key",
    "Secrets/deep/key",
    "secrets/none",
    "src/Key.PEM",
    "src/caf\u00e9",
    "build/out",
    "alias",
    "safe/key",
    "safe",
  ];

  test("is not found, not listed, and not written", async () => {
    const { base, env } = make();
    const before = base.snapshot();
    for (const path of hidden) {
      for (const action of [
        () => env.readBinaryFile(path),
        () => env.readRange(path, 0, 9),
        () => env.canonicalPath(path),
      ]) {
        assert.equal(await codeOf(action), "not_found", `${action} ${path}`);
      }
      assert.equal(await codeOf(() => env.listDir(path)), "not_found", path);
      for (const action of [
        () => env.writeFile(path, bytes("x")),
        () => env.appendFile(path, bytes("x")),
        () => env.createDir(path),
      ]) {
        assert.equal(await codeOf(action), "permission_denied", `${action} ${path}`);
      }
    }
    for (const path of hidden.filter((path) => !/^(alias|safe)$/.test(path))) {
      assert.equal(await codeOf(() => env.fileInfo(path)), "not_found", path);
      for (const action of [
        () => env.remove(path, { recursive: true }),
        () => env.renameFile(path, "/project/x"),
        () => env.renameFile("/project/src/a.ts", path),
      ]) {
        assert.equal(await codeOf(action), "permission_denied", `${action} ${path}`);
      }
    }
    assert.deepEqual(names(await env.listDir("/project")), [".env.example", "alias", "docs", "safe", "src"]);
    assert.deepEqual(names(await env.listDir("/project/src")), ["a.ts"]);
    assert.equal(text(await env.readBinaryFile("docs/build")), "a file\n");
    assert.equal(text(await env.readBinaryFile(".env.example")), "PUBLIC=1\n");
    assert.deepEqual(base.snapshot(), before);
  });

  test("does not come to light by another name", async () => {
    const { base, env } = make();
    // Denied by where it is: elsewhere it would be an ordinary file.
    const at = confined(base, { deny: ["/src/a.ts"] });
    assert.equal(await codeOf(() => at.renameFile("src", "lib")), "permission_denied");
    assert.equal(await codeOf(() => at.remove("src", { recursive: true })), "permission_denied");
    assert.equal(await codeOf(() => env.renameFile("src", "lib")), "permission_denied");
    await env.renameFile("docs", "papers");
    assert.equal(text(await env.readBinaryFile("papers/build")), "a file\n");
    // A directory would be denied where a file is not.
    assert.equal(await codeOf(() => env.renameFile("papers", "build")), "permission_denied");
    await env.createDir("x");
    assert.equal(await codeOf(() => env.createDir("x/build/y")), "permission_denied");
    await env.writeFile("x/build", bytes(""));
    await env.remove("x", { recursive: true });
  });

  test("the tools do not see it: ls, find, grep, read, write, edit", async () => {
    const { base, env } = make();
    for (const subject of [env, confined(Object.assign(complete(), base), { deny })]) {
      const toolset = await createToolset(subject, {
        tools: ["ls", "find", "grep", "read", "write", "edit"],
      });
      const said = async (name, args) => textOf(await run(toolset, name, args));
      assert.equal(await said("ls", {}), ".env.example\nalias\ndocs/\nsafe\nsrc/");
      assert.equal(await said("ls", { path: "src" }), "a.ts");
      if (subject === env) {
        assert.deepEqual((await said("find", { pattern: "*" })).split("\n"), [
          ".env.example",
          "alias",
          "docs/build",
          "safe",
          "src/a.ts",
        ]);
        assert.equal(await said("grep", { pattern: "SECRET" }), "src/a.ts:1: SECRET in code");
      }
      for (const [name, args] of [
        ["grep", { pattern: "SECRET", path: "secrets" }],
        ["find", { pattern: "*", path: "secrets" }],
        ["ls", { path: "secrets" }],
        ["read", { path: ".env" }],
        ["read", { path: "alias" }],
        ["edit", { path: ".env", edits: [{ oldText: "SECRET", newText: "x" }] }],
      ]) {
        const result = await run(toolset, name, args);
        assert.equal(result.details.code, "not_found", `${name}: ${textOf(result)}`);
      }
      // No near names either.
      assert.doesNotMatch(await said("read", { path: ".envx" }), /\.env(,|$)/);
      for (const path of [".env", ".env.local", "secrets/new", "new.pem"]) {
        const result = await run(toolset, "write", { path, content: "x" });
        assert.equal(result.details.code, "permission_denied", `${path}: ${textOf(result)}`);
      }
    }
    assert.equal(text(base.readBinaryFile(".env")), "SECRET=1\n");
  });

  test("the patterns mean what they mean in a .gitignore", async () => {
    const parts = [
      "a",
      "b",
      "a*",
      "*b",
      "**",
      "?",
      "[ab]",
      "d",
      "d/",
      "/d",
      "a/b",
      "d/**",
      "**/a",
      "!a",
      "!d/a",
      "!*",
    ];
    const paths = ["a", "b", "ab", "ba", "d/a", "d/b", "d/d/a", "d/d/ab", "e/a/b", "e/d/a", "a1/b", "x"];
    const files = Object.fromEntries(paths.map((path) => [path, ""]));
    const found = async (env) => {
      const toolset = await createToolset(env, { tools: ["find"] });
      const listed = textOf(await run(toolset, "find", { pattern: "*" })).split("\n");
      toolset.dispose();
      return listed.filter((path) => !/^(\.gitignore|No files .*)$/.test(path));
    };
    const counts = new Set();
    for (let seed = 1; seed <= 150; seed++) {
      const pick = random(seed);
      const deny = Array.from({ length: 1 + pick(4) }, () => parts[pick(parts.length)]);
      const ignored = memory({ ...files, ".gitignore": deny.join("\n") }, { cwd: "/project" });
      const denied = confined(memory(files, { cwd: "/project" }), { deny });
      const shown = await found(denied);
      assert.deepEqual(shown, await found(ignored), JSON.stringify(deny));
      counts.add(shown.length);
    }
    assert.ok(counts.size > 6, [...counts].join());
  });

  test("a walk at the source is filtered, and its limit counts what is shown", async () => {
    const base = complete();
    const all = Array.from({ length: 100 }, (_, nth) => ({
      path: nth % 10 === 9 ? `f${nth}` : `f${nth}.pem`,
      kind: "file",
      size: 1,
    }));
    const asked = [];
    base.walk = ({ limit = 1000 }) => {
      asked.push(limit);
      return all.slice(0, limit);
    };
    const env = confined(base, { deny: ["*.pem"] });
    assert.equal((await env.walk({ path: "/project" })).length, 10);
    assert.deepEqual(
      (await env.walk({ path: "/project", limit: 3 })).map(({ path }) => path),
      ["f9", "f19", "f29"],
    );
    assert.equal((await env.walk({ path: "/project", limit: 50 })).length, 10);
    assert.deepEqual(asked, [1000, 3, 12, 48, 50, 200]);
  });
});

describe("confined: read-only, and shells", () => {
  test("nothing is changed", async () => {
    const base = complete({ "a.txt": "one\n" });
    base.createDir("/project/d");
    const before = base.snapshot();
    const env = confined(base, { readOnly: true });
    for (const action of [
      () => env.writeFile("a.txt", bytes("x")),
      () => env.writeFile("new", bytes("x")),
      () => env.appendFile("a.txt", bytes("x")),
      () => env.createDir("d"),
      () => env.createDir("e"),
      () => env.remove("a.txt"),
      () => env.renameFile("a.txt", "b.txt"),
    ]) {
      assert.equal(await codeOf(action), "permission_denied", String(action));
    }
    assert.deepEqual(base.snapshot(), before);
    assert.deepEqual(names(base.listDir("/project")), ["a.txt", "d"]);
    const toolset = await createToolset(env, { tools: ["read", "write"] });
    assert.equal(textOf(await run(toolset, "read", { path: "a.txt" })), "one\n");
    const refused = await run(toolset, "write", { path: "a.txt", content: "x" });
    assert.match(textOf(refused), /read-only/);
  });

  test("there is no shell unless it is asked for, and it starts inside", async () => {
    const base = () => {
      const files = memory({ "a.txt": "one\n", "/out/x": "" }, { cwd: "/project" });
      files.symlink("/out", "/project/link");
      return withShell(files, Bash);
    };
    const toolset = await createToolset(confined(base()));
    assert.deepEqual(toolset.active, ["read", "edit", "write", "grep", "find", "ls"]);
    const env = confined(base(), { exec: "allow", readOnly: true });
    const { stdout } = await execute(env, "pwd; cat a.txt");
    assert.equal(stdout, "/project\none\n");
    assert.equal(await codeOf(() => execute(env, "pwd", { cwd: "/out" })), "outside_root");
    assert.equal(await codeOf(() => execute(env, "pwd", { cwd: "/project/../out" })), "outside_root");
    assert.equal(await codeOf(() => execute(env, "pwd", { cwd: "/project/link" })), "outside_root");
  });

  test("output that is too long is kept and read, wherever that is; nothing beside it is", async () => {
    const onDisk = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
    const bases = {
      memory: withShell(memory({}, { cwd: "/project" }), Bash),
      node: node({ cwd: onDisk }),
      overlay: withShell(overlay(memory({}, { cwd: "/project" })), Bash),
    };
    for (const [place, base] of Object.entries(bases)) {
      for (const options of [{}, { readOnly: true }, { deny: ["*.log", "tmp*", ".tackroom"] }]) {
        const env = confined(base, { exec: "allow", ...options });
        const toolset = await createToolset(env, { tools: ["bash", "read", "grep", "write"] });
        const { details } = await run(toolset, "bash", { command: "seq 5000" });
        const path = details.fullOutputPath;
        assert.ok(path && !path.startsWith(`${env.cwd}/`), `${place}: ${path}`);
        assert.match(textOf(await run(toolset, "read", { path, limit: 2 })), /^1\n2\n/);
        assert.match(textOf(await run(toolset, "grep", { pattern: "^4321$", path })), /:4321: 4321/);
        const beside = await base.createTempFile();
        await base.writeFile(beside, bytes("SECRET"));
        assert.equal((await run(toolset, "read", { path: beside })).details.code, "outside_root", place);
        assert.equal((await run(toolset, "write", { path, content: "" })).isError, false);
        if (place === "node") {
          await unlink(path);
          await symlink(beside, path);
          assert.equal(
            (await run(toolset, "read", { path })).details.code,
            "outside_root",
            "a link in its place",
          );
        }
        await base.remove(beside);
        await env.remove(path).catch(() => base.remove(path));
      }
    }
    await rm(onDisk, { recursive: true });
  });
});

describe("views of the same files", () => {
  /** Reads and writes later, so that changes overlap. */
  const slow = (files) => {
    const base = memory(files, { cwd: "/project" });
    const wait = () => new Promise((resolve) => setTimeout(resolve, 2));
    return {
      ...base,
      readBinaryFile: (path) => wait().then(() => base.readBinaryFile(path)),
      writeFile: (path, content) => wait().then(() => base.writeFile(path, content)),
    };
  };

  test("wait in one queue; an overlay does not", async () => {
    const base = slow({ "a.txt": Array.from({ length: 12 }, (_, nth) => `<${nth}>\n`).join("") });
    const views = [
      base,
      confined(base),
      audited(base, () => {}),
      confined(
        audited(base, () => {}),
        { root: "/" },
      ),
    ];
    const toolsets = await Promise.all(views.map((env) => createToolset(env)));
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, nth) =>
        run(toolsets[nth % toolsets.length], "edit", {
          path: "a.txt",
          edits: [{ oldText: `<${nth}>`, newText: `done ${nth}` }],
        }),
      ),
    );
    assert.deepEqual(results.filter(({ isError }) => isError).map(textOf), []);
    const after = text(await base.readBinaryFile("/project/a.txt"));
    assert.equal(after, Array.from({ length: 12 }, (_, nth) => `done ${nth}\n`).join(""));

    const draft = overlay(base);
    const [mine, other] = [await createToolset(draft), toolsets[0]];
    await Promise.all([
      run(mine, "write", { path: "a.txt", content: "draft" }),
      run(other, "write", { path: "a.txt", content: "real" }),
    ]);
    assert.equal(text(await base.readBinaryFile("/project/a.txt")), "real");
    assert.equal(text(await draft.readBinaryFile("/project/a.txt")), "draft");
  });

  test("locks go through, of a tree to the environment that has one", async () => {
    const held = [];
    const base = complete();
    base.lock = async (key, action) => {
      held.push(key);
      return action();
    };
    for (const env of [
      confined(base),
      audited(base, () => {}),
      mounts({ "/": memory(), "/project": base }),
    ]) {
      const toolset = await createToolset(env, { tools: ["write"] });
      assert.equal((await run(toolset, "write", { path: "/project/a", content: "1" })).isError, false);
    }
    assert.deepEqual(held, ["/project/a", "/project/a", "/project/a"]);
  });

  test("a temporary file of one is known to the other", async () => {
    const base = withShell(memory({}, { cwd: "/project" }), Bash);
    const [one, other] = [
      await createToolset(base, { root: ".", tools: ["bash", "read"] }),
      await createToolset(
        audited(base, () => {}),
        { root: ".", tools: ["bash", "read"] },
      ),
    ];
    const { details } = await run(one, "bash", { command: "seq 5000" });
    const result = await run(other, "read", { path: details.fullOutputPath, limit: 1 });
    assert.match(textOf(result), /^1\n/);
  });
});

describe("audited", () => {
  const line = ({ operation, method, path, to, ok, error, bytes, command, exitCode }) =>
    [operation, method, path, to, command, ok ? "ok" : error.code, bytes, exitCode]
      .filter((part) => part !== undefined)
      .join(" ");

  test("tells of every operation, with what came of it", async () => {
    const log = [];
    const base = complete({ "a.txt": "one\n", "b.txt": "12" });
    const env = audited(base, (event) => {
      assert.ok(event.durationMs >= 0);
      log.push(line(event));
    });
    env.readBinaryFile("/project/a.txt");
    env.readRange("/project/a.txt", 0, 2);
    env.readFiles(["/project/a.txt", "/project/no", "/project/b.txt"]);
    env.writeFile("/project/c", bytes("123"));
    env.appendFile("/project/c", bytes("4"));
    env.createDir("/project/d");
    env.fileInfo("/project/c");
    env.listDir("/project");
    env.canonicalPath("/project/c");
    env.renameFile("/project/c", "/project/e");
    env.remove("/project/e");
    env.createTempFile();
    env.walk({ path: "/project" });
    env.search({ path: "/project" });
    await env.lock("/project/a.txt", async () => {});
    await execute(env, "true");
    assert.throws(() => env.readBinaryFile("/project/none"), { code: "not_found" });
    assert.deepEqual(log, [
      "read readBinaryFile /project/a.txt ok 4",
      "read readRange /project/a.txt ok 2",
      "read readFiles /project/a.txt ok 4",
      "read readFiles /project/no not_found",
      "read readFiles /project/b.txt ok 2",
      "write writeFile /project/c ok 3",
      "write appendFile /project/c ok 1",
      "write createDir /project/d ok",
      "info fileInfo /project/c ok",
      "list listDir /project ok",
      "info canonicalPath /project/c ok",
      "rename renameFile /project/c /project/e ok",
      "remove remove /project/e ok",
      "write createTempFile /.tackroom/tmp-1 ok",
      "list walk /project ok",
      "read search /project ok",
      "lock lock /project/a.txt ok",
      "exec exec /project true ok 0",
      "read readBinaryFile /project/none not_found",
    ]);
  });

  test("changes nothing: values at once, promises, Results and throws as they were", async () => {
    const events = [];
    const failing = { ok: false, error: { code: "busy", message: "later" } };
    const thrown = new DOMException("gone", "NotFoundError");
    const base = {
      cwd: "/",
      readBinaryFile: (path) =>
        path === "/r" ? failing : path === "/p" ? Promise.reject(thrown) : bytes("1"),
      writeFile: () => undefined,
      fileInfo() {
        throw thrown;
      },
      listDir: () => null,
    };
    const env = audited(base, (event) => void events.push(event));
    assert.ok(env.readBinaryFile("/a") instanceof Uint8Array);
    assert.equal(env.readBinaryFile("/r"), failing);
    assert.equal(await env.readBinaryFile("/p").catch((error) => error), thrown);
    assert.throws(
      () => env.fileInfo("/x"),
      (error) => error === thrown,
    );
    assert.equal(env.listDir("/"), null);
    assert.deepEqual(
      events.map(({ id, ok, error }) => [id, ok, error?.code]),
      [
        [1, true, undefined],
        [2, false, "busy"],
        [3, false, "not_found"],
        [4, false, "not_found"],
        [5, true, undefined],
      ],
    );
    // What is the environment's own is still there.
    const files = memory({ "/a": "1" });
    assert.deepEqual(Object.keys(audited(files, () => {}).snapshot()), ["/a"]);
  });

  test("tells of a start before the environment is asked", () => {
    const log = [];
    const base = memory({ "/a": "1" });
    const read = base.readBinaryFile;
    base.readBinaryFile = (path) => {
      log.push("read");
      return read(path);
    };
    const options = { onStart: ({ id, operation, path, ...rest }) => log.push([id, operation, path, rest]) };
    audited(base, ({ id }) => void log.push(`end ${id}`), options).readBinaryFile("/a");
    assert.deepEqual(log, [[1, "read", "/a", { method: "readBinaryFile" }], "read", "end 1"]);
  });

  test("a listener that throws or rejects does no harm", async () => {
    for (const listener of [
      () => {
        throw new Error("a listener");
      },
      () => Promise.reject(new Error("a listener")),
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is the point
        get then() {
          throw new Error("a getter");
        },
      }),
      (event) => {
        event.ok = "changed";
        event.path = "/elsewhere";
      },
    ]) {
      const env = audited(memory({ "/a.txt": "one\n" }), listener, { onStart: listener });
      const toolset = await createToolset(env);
      assert.equal(textOf(await run(toolset, "read", { path: "a.txt" })), "one\n");
      assert.equal((await run(toolset, "write", { path: "b.txt", content: "1" })).isError, false);
      await nothingEscaped();
    }
  });

  test("what a command does is seen where its shell works through it", async () => {
    const log = [];
    const env = withShell(
      audited(memory({ "/a.txt": "b\na\n" }), ({ operation, path }) => void log.push(`${operation} ${path}`)),
      Bash,
    );
    await execute(env, "sort a.txt > b.txt");
    assert.ok(log.includes("read /a.txt") && log.includes("write /b.txt"), log.join("\n"));
  });
});

const shown = (changes) => changes.map(({ kind, entry, path }) => `${kind} ${entry} ${path}`);

describe("overlay", () => {
  const files = { "a.txt": "a\n", "b.txt": "b\n", "d/x": "x\n", "d/e/y": "y\n" };
  const make = () => {
    const base = memory(files, { cwd: "/project" });
    return { base, env: overlay(base), before: base.snapshot() };
  };

  test("nothing is changed beneath until it is committed", async () => {
    const { base, env, before } = make();
    await env.writeFile("a.txt", bytes("A\n"));
    await env.writeFile("b.txt", bytes("b\n"));
    await env.writeFile("new", bytes("n"));
    await env.createDir("made/deep");
    await env.renameFile("d/x", "moved");
    await env.remove("d/e", { recursive: true });
    assert.deepEqual(base.snapshot(), before);
    const changes = await env.changes();
    assert.deepEqual(shown(changes), [
      "modify file /project/a.txt",
      "delete directory /project/d/e",
      "delete file /project/d/e/y",
      "delete file /project/d/x",
      "create directory /project/made",
      "create directory /project/made/deep",
      "create file /project/moved",
      "create file /project/new",
    ]);
    const [modified] = changes;
    assert.deepEqual([text(await modified.before()), text(modified.after())], ["a\n", "A\n"]);
    const removed = changes.find(({ path }) => path.endsWith("/x"));
    assert.deepEqual([text(await removed.before()), removed.after()], ["x\n", undefined]);
    assert.equal(await changes.at(-1).before(), undefined);
    const report = await env.commit();
    assert.deepEqual([report.failed, report.skipped], [[], []]);
    assert.deepEqual(
      Object.fromEntries(Object.entries(base.snapshot()).map(([path, content]) => [path, text(content)])),
      { "/project/a.txt": "A\n", "/project/b.txt": "b\n", "/project/new": "n", "/project/moved": "x\n" },
    );
    assert.deepEqual(names(base.listDir("/project")), ["a.txt", "b.txt", "d", "made", "moved", "new"]);
    assert.deepEqual(await env.changes(), []);
    // And falls through again.
    base.writeFile("/project/a.txt", bytes("later"));
    assert.equal(text(await env.readBinaryFile("a.txt")), "later");
  });

  test("what is discarded never was", async () => {
    const { base, env, before } = make();
    await env.writeFile("a.txt", bytes("A\n"));
    await env.remove("d", { recursive: true });
    await env.renameFile("b.txt", "c.txt");
    env.discard();
    assert.deepEqual(await env.changes(), []);
    assert.equal(text(await env.readBinaryFile("d/e/y")), "y\n");
    assert.deepEqual(names(await env.listDir("/project")), ["a.txt", "b.txt", "d"]);
    assert.deepEqual((await env.commit()).committed, []);
    assert.deepEqual(base.snapshot(), before);
  });

  test("what a bash command did can be discarded, and committed", async () => {
    const { base, env: draft, before } = make();
    const env = withShell(draft, Bash);
    const toolset = await createToolset(env);
    const command =
      "sed -i s/a/A/ a.txt; mv d moved; rm b.txt; mkdir -p new/deep; echo hi > new/deep/f; cat moved/e/y";
    const result = await run(toolset, "bash", { command });
    assert.equal(textOf(result), "y\n");
    assert.deepEqual(base.snapshot(), before, "nothing beneath");
    assert.equal(textOf(await run(toolset, "read", { path: "new/deep/f" })), "hi\n");
    assert.match(textOf(await run(toolset, "find", { pattern: "*" }).catch(() => "")), /./);
    env.discard();
    assert.deepEqual(base.snapshot(), before);
    assert.equal(
      textOf(await run(toolset, "bash", { command: "cat a.txt b.txt d/x; ls" })),
      "a\nb\nx\na.txt\nb.txt\nd\n",
    );
    await run(toolset, "bash", { command });
    assert.deepEqual((await env.commit()).failed, []);
    assert.deepEqual(Object.keys(base.snapshot()).sort(), [
      "/project/a.txt",
      "/project/moved/e/y",
      "/project/moved/x",
      "/project/new/deep/f",
    ]);
    assert.equal(text(base.readBinaryFile("/project/a.txt")), "A\n");
  });

  test("output that is kept is no change", async () => {
    const { base, env: draft } = make();
    const env = withShell(draft, Bash);
    const toolset = await createToolset(env);
    const { details } = await run(toolset, "bash", { command: "seq 5000" });
    assert.match(details.fullOutputPath, /^\/\.tackroom\//);
    assert.deepEqual(await draft.changes(), []);
    await draft.commit();
    draft.discard();
    assert.equal("/.tackroom" in base.snapshot() || names(base.listDir("/")).includes(".tackroom"), false);
    assert.match(textOf(await run(toolset, "read", { path: details.fullOutputPath, limit: 1 })), /^1\n/);
    // Moved elsewhere, it is one.
    await draft.renameFile(details.fullOutputPath, "/project/kept");
    assert.deepEqual(shown(await draft.changes()), ["create file /project/kept"]);
  });

  test("one thing in place of another", async () => {
    const { base, env } = make();
    // Two files change places.
    await env.renameFile("a.txt", "t");
    await env.renameFile("b.txt", "a.txt");
    await env.renameFile("t", "b.txt");
    // A directory becomes a file, whose content was in it.
    await env.renameFile("d/e/y", "y");
    await env.remove("d", { recursive: true });
    await env.renameFile("y", "d");
    const first = await env.commit();
    assert.deepEqual(first.failed, []);
    const now = () =>
      Object.fromEntries(Object.entries(base.snapshot()).map(([path, content]) => [path, text(content)]));
    assert.deepEqual(now(), { "/project/a.txt": "b\n", "/project/b.txt": "a\n", "/project/d": "y\n" });
    // And a file becomes a directory; one is made anew, empty.
    await env.remove("d");
    await env.writeFile("d2", bytes("2"));
    await env.createDir("d");
    await env.renameFile("d2", "d/inner");
    assert.deepEqual((await env.commit()).failed, []);
    assert.deepEqual(now(), { "/project/a.txt": "b\n", "/project/b.txt": "a\n", "/project/d/inner": "2" });
    await env.remove("d", { recursive: true });
    await env.createDir("d");
    assert.deepEqual(await env.listDir("d"), []);
    assert.deepEqual(shown(await env.changes()), ["delete file /project/d/inner"]);
    await env.commit();
    assert.deepEqual(base.listDir("/project/d"), []);
  });

  test("if a step fails nothing is removed, and a further commit does what is left", async () => {
    const { base, env } = make();
    await env.renameFile("d/x", "full/x").catch(() => {});
    await env.createDir("full");
    await env.renameFile("d/x", "full/x");
    await env.writeFile("new", bytes("n"));
    const write = base.writeFile;
    base.writeFile = (path, content) => {
      if (path.endsWith("/full/x")) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
      write(path, content);
    };
    const report = await env.commit();
    assert.deepEqual(shown(report.committed), ["create directory /project/full", "create file /project/new"]);
    assert.deepEqual(
      report.failed.map(({ path, error }) => [path, error]),
      [["/project/full/x", { code: "no_space", message: "no room" }]],
    );
    assert.deepEqual(shown(report.skipped), ["delete file /project/d/x"]);
    assert.equal(text(base.readBinaryFile("/project/d/x")), "x\n", "what was moved is not lost");
    assert.equal(text(await env.readBinaryFile("full/x")), "x\n");
    assert.deepEqual(shown(await env.changes()), ["delete file /project/d/x", "create file /project/full/x"]);
    base.writeFile = write;
    assert.deepEqual(shown((await env.commit()).committed), [
      "create file /project/full/x",
      "delete file /project/d/x",
    ]);
    assert.deepEqual(await env.changes(), []);
  });

  test("what changes while a commit runs is not lost", async () => {
    const base = memory(files, { cwd: "/project" });
    const slow = {
      ...base,
      writeFile: async (path, content) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        base.writeFile(path, content);
      },
    };
    const env = overlay(slow);
    await env.writeFile("a.txt", bytes("1"));
    await env.writeFile("b.txt", bytes("1"));
    await env.createDir("own");
    await env.writeFile("own/f", bytes("1"));
    const commit = env.commit();
    await new Promise((resolve) => setTimeout(resolve, 12));
    await env.appendFile("a.txt", bytes("2"));
    await env.remove("own/f");
    await commit;
    assert.equal(text(await env.readBinaryFile("a.txt")), "12");
    assert.deepEqual(names(await env.listDir("own")), []);
    await env.commit();
    assert.equal(text(base.readBinaryFile("/project/a.txt")), "12");
    assert.deepEqual(base.listDir("/project/own"), []);
  });

  test("a lock is held for each step, and an environment that cannot do a thing says so", async () => {
    const held = [];
    const base = memory(files, { cwd: "/project" });
    const { remove: _, createDir: __, ...least } = base;
    const env = overlay({
      ...least,
      lock: async (key, action) => {
        held.push(key);
        return action();
      },
    });
    await env.writeFile("a.txt", bytes("1"));
    await env.remove("b.txt");
    const { committed, failed } = await env.commit();
    assert.deepEqual(shown(committed), ["modify file /project/a.txt"]);
    assert.deepEqual(
      failed.map(({ path, error }) => [path, error.code]),
      [["/project/b.txt", "not_supported"]],
    );
    assert.deepEqual(held, ["/project/a.txt", "/project/b.txt"]);
  });

  test("links beneath: followed, moved, removed", async () => {
    const { base, env } = make();
    base.symlink("a.txt", "/project/link");
    base.symlink("d", "/project/to-d");
    base.symlink("nowhere", "/project/dangling");
    await env.writeFile("link", bytes("through\n"));
    await env.writeFile("to-d/new", bytes("n"));
    assert.deepEqual(shown(await env.changes()), [
      "modify file /project/a.txt",
      "create file /project/d/new",
    ]);
    assert.equal(await codeOf(() => env.writeFile("dangling", bytes(""))), "not_found");
    await env.renameFile("link", "d/renamed");
    assert.equal(text(await env.readBinaryFile("d/renamed")), "through\n");
    assert.equal((await env.fileInfo("d/renamed")).kind, "symlink");
    await env.remove("to-d", { recursive: true });
    await env.remove("dangling");
    assert.deepEqual((await env.commit()).failed, []);
    assert.deepEqual(names(base.listDir("/project")), ["a.txt", "b.txt", "d"]);
    assert.deepEqual(names(base.listDir("/project/d")), ["e", "new", "renamed", "x"]);
    assert.equal(base.fileInfo("/project/d/renamed").kind, "symlink");
    assert.deepEqual(await env.changes(), []);
    // A link whose place is taken by a directory is not followed any more.
    base.symlink("d", "/project/l");
    await env.remove("l");
    await env.createDir("l");
    await env.writeFile("l/own", bytes("1"));
    assert.equal(await env.canonicalPath("l/own"), "/project/l/own");
    assert.equal(await codeOf(() => env.readBinaryFile("l/x")), "not_found");
    await env.commit();
    assert.deepEqual(
      [base.fileInfo("/project/l").kind, names(base.listDir("/project/d")).includes("own")],
      ["directory", false],
    );
  });

  test("an abort is heard, and no write is torn off by another", async () => {
    const { env } = make();
    await Promise.all(Array.from({ length: 40 }, (_, nth) => env.appendFile("a.txt", bytes(`${nth}\n`))));
    const lines = text(await env.readBinaryFile("a.txt")).split("\n");
    assert.equal(lines.length, 42);
    const signal = AbortSignal.abort();
    assert.equal(await codeOf(() => env.changes({ signal })), "aborted");
    assert.equal(await codeOf(() => env.commit({ signal })), "aborted");
  });

  /** Any operation, on few names, so that they meet. */
  const operation = (pick, paths) => {
    const one = () => paths[pick(paths.length)];
    const [path, other, content] = [one(), one(), bytes(`${pick(1000)}`)];
    const recursive = pick(2) === 0;
    const [name, ...args] = [
      ["writeFile", path, content],
      ["appendFile", path, content],
      ["createDir", path],
      ["remove", path, { recursive }],
      ["renameFile", path, other],
      ["readBinaryFile", path],
      ["fileInfo", path],
      ["listDir", path],
    ][pick(8)];
    const action = (env) => env[name](...args);
    return Object.assign(action, { toString: () => `${name} ${args.join(" ")}` });
  };
  const outcome = async (env, action) => {
    try {
      const value = await action(env);
      if (value instanceof Uint8Array) return text(value);
      if (Array.isArray(value)) return names(value).filter((name) => name !== ".tackroom");
      return value && [value.name, value.path, value.kind, value.size];
    } catch (error) {
      return error.code ?? error;
    }
  };
  const treeOf = (env, at = "/") =>
    Object.fromEntries(
      env
        .listDir(at)
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ name, path, kind }) => [
          name,
          kind === "directory" ? treeOf(env, path) : text(env.readBinaryFile(path)),
        ]),
    );

  test("behaves as a file system, and a commit leaves what that has", async () => {
    const start = { "/a": "1", "/d/a": "2", "/d/e/a": "3", "/d/e/f/a": "4", "/f/a": "5" };
    const paths = [
      "/a",
      "/d",
      "/d/a",
      "/d/e",
      "/d/e/a",
      "/d/e/f",
      "/d/e/f/a",
      "/f",
      "/f/a",
      "/g",
      "/g/a",
      "/d/g",
      "/",
    ];
    for (let seed = 1; seed <= 300; seed++) {
      const pick = random(seed);
      const [base, model] = [memory(start), memory(start)];
      const env = overlay(base);
      for (let round = 0; round < 3; round++) {
        for (let count = 0; count < 12; count++) {
          const action = operation(pick, paths);
          const [own, expected] = [await outcome(env, action), await outcome(model, action)];
          assert.deepEqual(own, expected, `seed ${seed}: ${action}`);
        }
        const report = await env.commit();
        assert.deepEqual([report.failed, report.skipped], [[], []], `seed ${seed}`);
        assert.deepEqual(treeOf(base), treeOf(model), `seed ${seed}, round ${round}`);
        assert.deepEqual(await env.changes(), [], `seed ${seed}`);
      }
      const before = treeOf(base);
      for (let count = 0; count < 12; count++) await outcome(env, operation(pick, paths));
      env.discard();
      assert.deepEqual(treeOf(base), before);
      for (const path of paths) {
        const read = (env) => env.listDir(path);
        assert.deepEqual(await outcome(env, read), await outcome(base, read));
      }
    }
  });

  test("mounts behave as one file system, too", async () => {
    const start = { "/a": "1", "/d/a": "2", "/d/e/a": "3", "/m/a": "4", "/m/d/a": "5" };
    const paths = [
      "/a",
      "/d",
      "/d/a",
      "/d/e",
      "/d/e/a",
      "/g",
      "/m/a",
      "/m/d",
      "/m/d/a",
      "/m/g",
      "/m/g/a",
      "/none/x",
    ];
    for (let seed = 1; seed <= 300; seed++) {
      const pick = random(seed);
      const model = memory(start);
      const env = mounts({
        "/": memory({ "/a": "1", "/d/a": "2", "/d/e/a": "3" }),
        "/m": memory({ "/s/a": "4", "/s/d/a": "5" }, { cwd: "/s" }),
      });
      for (let count = 0; count < 30; count++) {
        const action = operation(pick, paths);
        const [own, expected] = [await outcome(env, action), await outcome(model, action)];
        // Where both paths of a rename are wrong, it does not matter which is named.
        const isEither = [own, expected].every((code) => code === "not_found" || code === "not_directory");
        if (isEither && `${action}`.startsWith("rename")) continue;
        assert.deepEqual(own, expected, `seed ${seed}: ${action}`);
      }
    }
  });
});

describe("mounts", () => {
  const make = () => {
    const base = memory({ "/etc/motd": "hi\n", "/app/hidden": "SECRET" }, { cwd: "/etc" });
    const app = memory({ "src/a.ts": "one\n", "/secret": "SECRET" }, { cwd: "/work" });
    const tmp = memory({ "/t": "t\n" });
    return { base, app, tmp, env: mounts({ "/": base, "/app": app, "/a/b/tmp": tmp }, { cwd: "/app" }) };
  };

  test("the longest prefix wins, and mount points are listed", async () => {
    const { env } = make();
    assert.deepEqual(names(await env.listDir("/")), ["a", "app", "etc"]);
    assert.deepEqual(names(await env.listDir("/a")), ["b"]);
    assert.deepEqual(names(await env.listDir("/app")), ["src"]);
    assert.equal(text(await env.readBinaryFile("src/a.ts")), "one\n");
    assert.equal(text(await env.readBinaryFile("/etc/motd")), "hi\n");
    assert.equal(text(await env.readBinaryFile("/app/../a//b/tmp/./t")), "t\n");
    assert.equal(await codeOf(() => env.readBinaryFile("/app/hidden")), "not_found");
    assert.equal(await codeOf(() => env.readBinaryFile("/app/../secret")), "not_found");
    for (const path of ["/", "/a", "/a/b", "/a/b/tmp", "/app"]) {
      const { name, path: shown, kind } = await env.fileInfo(path);
      assert.deepEqual([name, shown, kind], [path.split("/").at(-1), path, "directory"]);
      assert.equal(await env.canonicalPath(path), path);
      assert.equal(await codeOf(() => env.readBinaryFile(path)), "is_directory");
      assert.equal(await codeOf(() => env.writeFile(path, bytes(""))), "is_directory");
      assert.equal(await codeOf(() => env.remove(path, { recursive: true })), "permission_denied");
      assert.equal(await codeOf(() => env.renameFile(path, "/etc/x")), "permission_denied");
      await env.createDir(path);
    }
    const apart = mounts({ "/x/y": memory({ "/f": "" }), "/x/z": memory() });
    assert.equal(apart.cwd, "/x/y");
    assert.equal(await codeOf(() => apart.writeFile("/x/new", bytes(""))), "permission_denied");
    assert.equal(await codeOf(() => apart.createDir("/new")), "permission_denied");
    assert.equal(await codeOf(() => apart.readBinaryFile("/new")), "not_found");
    assert.deepEqual(names(await apart.listDir("/x")), ["y", "z"]);
  });

  test("tools see one tree", async () => {
    const { env } = make();
    const toolset = await createToolset(env, { tools: ["ls", "find", "grep", "write", "read"] });
    assert.equal(textOf(await run(toolset, "ls", { path: "/" })), "a/\napp/\netc/");
    const found = textOf(await run(toolset, "find", { pattern: "*", path: "/" }));
    assert.deepEqual(found.split("\n"), ["a/b/tmp/t", "app/src/a.ts", "etc/motd"]);
    assert.equal(
      textOf(await run(toolset, "grep", { pattern: "one|hi", path: "/" })),
      "app/src/a.ts:1: one\netc/motd:1: hi",
    );
    const { details } = await run(toolset, "write", { path: "new/f", content: "x" });
    assert.equal(details.path, "/app/new/f");
  });

  test("a rename across mounts copies, then removes", async () => {
    const { env, app, tmp } = make();
    await env.renameFile("/app/src", "/a/b/tmp/src");
    assert.deepEqual(
      [Object.keys(app.snapshot()), text(tmp.readBinaryFile("/src/a.ts"))],
      [["/secret"], "one\n"],
    );
    await env.renameFile("/a/b/tmp/t", "/app/t");
    assert.deepEqual(names(tmp.listDir("/")), ["src"]);
    app.symlink("t", "/work/link");
    assert.equal(await codeOf(() => env.renameFile("/app/link", "/etc/link")), "not_supported");
    await env.createDir("/app/with");
    app.symlink("../t", "/work/with/link");
    await env.writeFile("/app/with/f", bytes("f"));
    assert.equal(await codeOf(() => env.renameFile("/app/with", "/etc/with")), "not_supported");
    assert.equal(await codeOf(() => env.fileInfo("/etc/with")), "not_found", "it had not begun");
    // Without remove there is nothing to be moved away.
    const { remove: _, ...keeps } = memory({ "/f": "1" });
    const other = mounts({ "/k": keeps, "/o": memory() });
    assert.equal(await codeOf(() => other.renameFile("/k/f", "/o/f")), "not_supported");
    assert.deepEqual(await other.listDir("/o"), []);
  });

  test("links: within a mount, out of it, and to where another is", async () => {
    const { env, base, app } = make();
    app.symlink("src/a.ts", "/work/link");
    app.symlink("/secret", "/work/out");
    base.symlink("/app/src/a.ts", "/etc/to-app");
    base.symlink("/a/b", "/etc/to-mounts");
    assert.equal(text(await env.readBinaryFile("link")), "one\n");
    assert.equal(await env.canonicalPath("link"), "/app/src/a.ts");
    assert.equal(await codeOf(() => env.readBinaryFile("out")), "outside_root");
    assert.equal(await codeOf(() => env.writeFile("out", bytes(""))), "outside_root");
    // Beneath, /app/src/a.ts is nothing: a link there does not resolve.
    assert.equal(await codeOf(() => env.readBinaryFile("/etc/to-app")), "outside_root");
    base.createDir("/app/src");
    base.writeFile("/app/src/a.ts", bytes("SECRET"));
    assert.equal(text(await env.readBinaryFile("/etc/to-app")), "one\n");
    assert.equal(await env.canonicalPath("/etc/to-app"), "/app/src/a.ts");
    const { canonicalPath: _, ...blind } = app;
    const mixed = mounts({ "/": base, "/app": blind });
    assert.equal(await codeOf(() => mixed.canonicalPath("/app/link")), "outside_root");
    assert.equal(await mixed.canonicalPath("/app/src/a.ts"), "/app/src/a.ts");
  });

  test("a part of an environment, and a shell that is named", async () => {
    const files = memory({ "/work/app/a": "b\na\n", "/x": "" }, { cwd: "/work" });
    const env = mounts(
      { "/code": { env: withShell(files, Bash), path: "/work" }, "/tmp": memory() },
      { exec: "/code" },
    );
    assert.deepEqual(
      [env.cwd, env.shells, env.description],
      ["/code", ["bash"], "simulated bash, no network, no git"],
    );
    assert.deepEqual(names(await env.listDir("/code")), ["app"]);
    const { stdout } = await execute(env, "pwd; sort a", { cwd: "/code/app" });
    assert.equal(stdout, "/work/app\na\nb\n");
    assert.equal(await codeOf(() => execute(env, "pwd", { cwd: "/tmp" })), "not_supported");
    const toolset = await createToolset(env, { tools: ["bash", "read", "ls"] });
    const { details } = await run(toolset, "bash", { command: "seq 5000" });
    // It lies where no path of the tree leads, and has one of its own.
    assert.match(details.fullOutputPath, /^\/\.tackroom\//);
    assert.match(textOf(await run(toolset, "read", { path: details.fullOutputPath, limit: 1 })), /^1\n/);
    assert.equal("exec" in mounts({ "/": withShell(files, Bash) }), false);
  });

  test("many files at once go to their environments", async () => {
    const asked = [];
    const base = complete({ "/project/a": "a" });
    const { readFiles } = base;
    base.readFiles = (paths) => {
      asked.push(paths);
      return readFiles(paths);
    };
    const env = mounts({ "/p": base, "/m": memory({ "/b": "b" }) });
    const read = await env.readFiles(["/m/b", "/p/a", "/no", "/p/none"]);
    assert.deepEqual(
      read.map(({ ok, value, error }) => (ok ? text(value) : error.code)),
      ["b", "a", "not_found", "not_found"],
    );
    assert.deepEqual(asked, [["/project/a", "/project/none"]]);
  });
});
