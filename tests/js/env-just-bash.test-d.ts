// Compiled, never run: just-bash's own classes fit where the adapter takes them.

import type { IFileSystem } from "just-bash";
import { Bash, InMemoryFs } from "just-bash";
import type { ExecutionEnv } from "tackroom";
import {
  type BashFileSystemLike,
  type BashLike,
  justBash,
  toJustBashFs,
  withShell,
} from "tackroom/env/just-bash";
import { type MemoryEnv, memory } from "tackroom/env/memory";
import { type NodeEnv, node } from "tackroom/env/node";

const bash: BashLike = new Bash();
const fs: BashFileSystemLike = new InMemoryFs();
const env: ExecutionEnv = justBash(new Bash({ fs: new InMemoryFs() }));
const inMemory: ExecutionEnv = memory();
const content: Uint8Array = memory().readBinaryFile("/a");
const typed: MemoryEnv = memory({ a: "text", b: new Uint8Array() }, { cwd: "/project" });

// @ts-expect-error a path takes text or bytes
memory({ a: 1 });
// @ts-expect-error not an option
justBash(bash, { workdir: "/" });

const forJustBash: IFileSystem = toJustBashFs(memory());
const again = new Bash({ fs: toJustBashFs(env), cwd: "/project" });
const shell = withShell(memory(), Bash, {
  executionLimits: { maxLoopIterations: 10 },
  env: { A: "1" },
  home: "/",
});
const shellEnv: ExecutionEnv = shell;
// What the environment has of its own is still there, with its types.
const snapshot: Record<string, Uint8Array> = shell.snapshot();
const result: Promise<{ exitCode: number | null }> = shell.exec("true", {
  shell: "bash",
  cwd: "/",
  env: {},
  unsetEnv: [],
  onStdout() {},
  onStderr() {},
  signal: new AbortController().signal,
});
const machine: NodeEnv = node({ cwd: "/" });
const machineEnv: ExecutionEnv = node();
const overMachine: ExecutionEnv = withShell(node(), Bash);

// @ts-expect-error not an option of just-bash
withShell(memory(), Bash, { executionLimit: {} });
// @ts-expect-error the files are the environment's
withShell(memory(), Bash, { files: {} });
// @ts-expect-error an instance is no class
withShell(memory(), new Bash());
// @ts-expect-error not an option
node({ directory: "/" });

export {
  again,
  bash,
  content,
  env,
  forJustBash,
  fs,
  inMemory,
  machine,
  machineEnv,
  overMachine,
  result,
  shellEnv,
  snapshot,
  typed,
};
