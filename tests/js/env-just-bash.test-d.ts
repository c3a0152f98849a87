// Compiled, never run: just-bash's own classes fit where the adapter takes them.
import { Bash, InMemoryFs } from "just-bash";
import type { ExecutionEnv } from "tackroom";
import { type BashFileSystemLike, type BashLike, justBash } from "tackroom/env/just-bash";
import { type MemoryEnv, memory } from "tackroom/env/memory";

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

export { bash, content, env, fs, inMemory, typed };
