// The suite over the environments of this package, and over what wraps them.
import { mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Bash } from "just-bash";
import { Bash as BrowserBash } from "just-bash/browser";
import { justBash, withShell } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { envSuite } from "./support/env-suite.mjs";

function inMemory(wrap = (env) => env) {
  const files = memory({}, { cwd: "/project" });
  const link = (target, path) => files.symlink(target, path);
  return { env: wrap(files), dir: "/project", link };
}

async function onDisk(wrap = (env) => env) {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "tackroom-test-")));
  return {
    env: wrap(node({ cwd: dir })),
    dir,
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
