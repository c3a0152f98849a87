// The suite over the environments of this package, and over what wraps them.
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bash } from "just-bash";
import { Bash as BrowserBash } from "just-bash/browser";
import { justBash, withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { audited, confined, mounts, overlay } from "tackroom/env/wrap";
import { envSuite } from "./support/env-suite.mjs";

function inMemory(wrap = (env) => env, top = "/") {
  const files = memory({}, { cwd: "/project" });
  const link = (target, path) => files.symlink(target, path);
  return { env: wrap(files), dir: "/project", top, link };
}

async function onDisk(wrap = (env) => env, top = () => "/") {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  return {
    env: wrap(node({ cwd: dir })),
    dir,
    top: top(dir),
    link: symlink,
    tearDown: () => rm(dir, { recursive: true }),
  };
}

async function instance() {
  const bash = new Bash({ cwd: "/project" });
  return { env: justBash(bash), dir: "/project", link: (target, path) => bash.fs.symlink(target, path) };
}

/** As a remote one is: it answers later, and needs of the host what just-bash forbids its commands. */
function remote(base) {
  const methods = Object.entries(base).filter(([, value]) => typeof value === "function");
  const later = methods.map(([name, method]) => [
    name,
    async (...args) => {
      await new Promise((resolve) => setTimeout(resolve, 0));
      if (process.env.PATH === undefined) throw new Error("expected the host's variables");
      return new Proxy(method, {})(...args);
    },
  ]);
  return { cwd: base.cwd, ...Object.fromEntries(later) };
}

/** Answers with Results, which the suite does not know: for below a shell only. */
function results(base) {
  const wrapped = Object.entries(base).map(([name, value]) => {
    if (typeof value !== "function") return [name, value];
    const method = (...args) => {
      try {
        return { ok: true, value: value(...args) };
      } catch ({ code, message }) {
        return { ok: false, error: { code, message } };
      }
    };
    return [name, method];
  });
  return Object.fromEntries(wrapped);
}

/** A shell over one environment, the files of another view of the same store. */
const shellOver = (view) => (base) => {
  const { exec } = withShell(view(base), Bash);
  return { ...base, exec };
};

/** Without what is optional: rename, and append, are done by other means. */
function least({ renameFile: _, appendFile: __, readRange: ___, ...rest }) {
  return rest;
}

const simulated = { isBinaryOutput: false };
envSuite("memory", inMemory);
envSuite("node", onDisk);
envSuite("justBash", instance, { ...simulated, checksPaths: false });
envSuite("withShell(memory)", () => inMemory((env) => withShell(env, Bash)), simulated);
envSuite("withShell(memory), in a page", () => inMemory((env) => withShell(env, BrowserBash)), simulated);
envSuite("withShell(node)", () => onDisk((env) => withShell(env, Bash)), simulated);
envSuite("withShell(remote)", () => inMemory((env) => withShell(remote(env), Bash)), simulated);
envSuite("withShell(results)", () => inMemory(shellOver(results)), simulated);
envSuite("withShell(least)", () => inMemory(shellOver(least)), simulated);

const tell = () => {};
/** What does not resolve is refused, with another code. */
const rooted = { links: false };
envSuite("confined(memory)", () => inMemory((env) => confined(env), "/project"), rooted);
envSuite("confined(memory) at the top", () => inMemory((env) => confined(env, { root: "/" })), rooted);
envSuite(
  "confined(memory), with something denied",
  () => inMemory((env) => confined(env, { deny: ["/no-such", "never/"] }), "/project"),
  rooted,
);
envSuite("confined(results)", () => inMemory((env) => confined(results(env)), "/project"), rooted);
envSuite("confined(remote)", () => inMemory((env) => confined(remote(env)), "/project"), rooted);
envSuite("confined(node)", () => onDisk(confined, (dir) => dir), rooted);
envSuite(
  "confined(node) with its shell",
  () =>
    onDisk(
      (env) => confined(env, { exec: "allow" }),
      (dir) => dir,
    ),
  rooted,
);
envSuite("withShell(confined(memory))", () => inMemory((env) => withShell(confined(env), Bash), "/project"), {
  ...rooted,
  ...simulated,
});
envSuite("audited(memory)", () => inMemory((env) => audited(env, tell)));
envSuite("audited(node)", () => onDisk((env) => audited(env, tell)));

/** What a link leads to has to be beneath: where one leads that does not resolve there, nobody says. */
const ofBase = { danglingLinks: false };
/** A link is made beneath, after all that was written is there. */
const committing = (make) => {
  const overlays = [];
  const kept = (env) => {
    overlays.unshift(overlay(env));
    return overlays[0];
  };
  const withLink = ({ link, ...made }) => ({
    ...made,
    link: async (target, path) => {
      for (const each of overlays) assert.deepEqual((await each.commit()).failed, []);
      await link(target, path);
    },
  });
  const made = make(kept);
  return made.then ? made.then(withLink) : withLink(made);
};
envSuite("overlay(memory)", () => committing((over) => inMemory(over)), ofBase);
envSuite("overlay(results)", () => committing((over) => inMemory((env) => over(results(env)))), ofBase);
envSuite("overlay(least)", () => committing((over) => inMemory((env) => over(least(env)))), ofBase);
envSuite("overlay(remote)", () => committing((over) => inMemory((env) => over(remote(env)))), ofBase);
envSuite("overlay(node)", () => committing((over) => onDisk(over)), ofBase);
envSuite("overlay(overlay)", () => committing((over) => inMemory((env) => over(over(env)))), ofBase);
envSuite(
  "withShell(overlay(memory))",
  () => committing((over) => inMemory((env) => withShell(over(env), Bash))),
  { ...ofBase, ...simulated },
);

const tree = (env) => mounts({ "/": env, "/tmp": memory(), "/a/b": memory() }, { cwd: env.cwd });
envSuite("mounts, at the top", () => inMemory(tree), rooted);
envSuite(
  "mounts, below the top",
  () => {
    const files = memory({}, { cwd: "/elsewhere" });
    return { env: mounts({ "/tmp": memory(), "/app": files }, { cwd: "/app" }), dir: "/app" };
  },
  rooted,
);
envSuite("mounts(least)", () => inMemory((env) => tree(least(env))), rooted);
envSuite("mounts(results)", () => inMemory((env) => tree(results(env))), rooted);
envSuite(
  "mounts(node) with its shell",
  () => onDisk((env) => mounts({ "/": env, "/mnt": memory() }, { exec: "/", cwd: env.cwd })),
  rooted,
);
envSuite("withShell(mounts)", () => inMemory((env) => withShell(tree(env), Bash)), {
  ...rooted,
  ...simulated,
});
