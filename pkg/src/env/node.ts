/// <reference types="node" />
/**
 * The machine's disk and shells, for Node 20 and later, and what runs Node's modules. This entry alone has imports of
 * Node.
 *
 * | what | here |
 * |---|---|
 * | a write | in one step: a temporary file beside the target, then a rename. Links are followed, mode and owner kept; other links to the same file keep the old bytes |
 * | a file that is mounted, another's, or in a directory that takes no new files | is written where it is: not in one step |
 * | named pipes, sockets, devices | are refused, not waited for |
 * | names that are no UTF-8 | are left out of listings |
 * | files that do not say their size, as in /proc | are read up to 16 MB; more is `not_supported` |
 * | output | as it comes, and no faster than the callbacks take it |
 * | standard input | empty |
 * | abort | SIGTERM to the process group, after 250 ms SIGKILL. What has left the group (`setsid`) is not reached |
 * | a command in the background | lives on. If it keeps the shell's output open, that is waited for 200 ms, 1 s at the most while something comes; what it writes there later is lost, and fails once this process has ended: send it to a file |
 * | the process exits | running commands end with it |
 * | Windows | `/c/work` stands for `C:\work`; Git's bash where it is installed; abort ends the process tree at once |
 *
 * Nothing confines a shell: it may do what this process may.
 *
 * @module
 */

import { lstat, mkdir, realpath } from "node:fs/promises";
import { arch, homedir, release, type } from "node:os";
import { resolve } from "node:path";
import type { ExecOptions, ExecResult, ExecutionEnv, FileInfo, Options } from "../types.js";
import { checkAborted, failure } from "./failure.js";
import { append, move, remove } from "./node/change.js";
import { withCodes } from "./node/errors.js";
import { fileInfoOf, listDirectory } from "./node/list.js";
import { fromSystem, resolved, toSystem } from "./node/paths.js";
import { readPart, readWhole } from "./node/read.js";
import { runCommand } from "./node/run.js";
import { findShells, isWindows } from "./node/shells.js";
import { TemporaryFiles } from "./node/temporary.js";
import { writeWhole } from "./node/write.js";

/** Options of {@link node}. */
export interface NodeOptions {
  /** The working directory, as the system writes it; relative ones are against the process's. Default: the process's. */
  cwd?: string;
}

/**
 * What {@link node} returns. Its methods reject with an Error that has a `code`: `not_found`, `not_directory`,
 * `is_directory`, `already_exists`, `permission_denied`, `busy`, `no_space`, `invalid_path`, `not_supported` (what is
 * no regular file), `aborted`, else `unknown`. The message, and `cause`, are Node's.
 */
export interface NodeEnv extends ExecutionEnv {
  readonly home: string;
  /** The system's name, version and processor: `"Linux 6.8 (x64)"`. */
  readonly description: string;
  /** Those that were found when the environment was made. Without any, there is no `exec`. */
  readonly shells: readonly ("bash" | "powershell")[];
  readBinaryFile(path: string, options?: Options): Promise<Uint8Array>;
  /** With one open file a call. */
  readRange(path: string, start: number, end: number, options?: Options): Promise<Uint8Array>;
  /**
   * Replaces or creates the file in one step; a link at the end is followed. The mode and the owner stay, new files
   * have `0666` less the umask. On failure or abort nothing is left behind.
   */
  writeFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  /** lstat. */
  fileInfo(path: string, options?: Options): Promise<FileInfo>;
  /** The entries, sorted by name. */
  listDir(path: string, options?: Options): Promise<FileInfo[]>;
  /** realpath. */
  canonicalPath(path: string, options?: Options): Promise<string>;
  absolutePath(path: string, options?: Options): string;
  createDir(path: string, options?: Options): Promise<void>;
  remove(path: string, options?: Options & { recursive?: boolean }): Promise<void>;
  renameFile(from: string, to: string, options?: Options): Promise<void>;
  appendFile(path: string, content: Uint8Array, options?: Options): Promise<void>;
  /** In a directory of this environment's own below the system's, which its owner alone can enter. */
  createTempFile(options?: Options & { prefix?: string; suffix?: string }): Promise<string>;
  /**
   * Runs a command; output comes through the callbacks alone. The exit code is null where a signal ended the shell.
   * Rejects with `no_shell` for a shell that there is not, `not_found` or `not_directory` for a `cwd` that is none,
   * `spawn_failed` for what the system does not start, `aborted` where `signal` had fired before. A callback that
   * throws or rejects ends the command, and `exec` rejects with that as its `cause`.
   */
  exec?(command: string, options: ExecOptions): Promise<ExecResult>;
}

/**
 * Makes an environment of this machine.
 * The shells are looked for, nothing is run and nothing on the disk is touched.
 *
 * @example
 * ```ts
 * import { createToolset } from "tackroom";
 * import { node } from "tackroom/env/node";
 *
 * const tools = await createToolset(node({ cwd: "/work/project" }));
 * await tools.call({ id: "1", name: "bash", arguments: { command: "git status --short", timeout: 10 } });
 * ```
 */
export function node(options: NodeOptions = {}): NodeEnv {
  const cwd = fromSystem(resolve(options.cwd ?? "."), isWindows);
  const shells = findShells();
  const temporary = new TemporaryFiles();
  const system = (path: string) => toSystem(path, { isWindows, cwd });

  const env: NodeEnv = {
    cwd,
    home: fromSystem(homedir(), isWindows),
    description: `${type()} ${release().split(".", 2).join(".")} (${arch()})`,
    shells: [...shells.keys()],
    readBinaryFile: (path, options) => answering(options, () => readWhole(system(path), path, options)),
    readRange: (path, start, end, options) =>
      answering(options, () => readPart(system(path), path, start, end, options)),
    writeFile: (path, content, options) =>
      answering(options, () => writeWhole(system(path), path, content, options)),
    fileInfo: (path, options) =>
      answering(options, async () => {
        const absolute = resolved(path, cwd);
        const name = absolute.slice(absolute.lastIndexOf("/") + 1);
        return fileInfoOf(name, absolute, await lstat(system(path)));
      }),
    listDir: (path, options) =>
      answering(options, () => listDirectory(system(path), resolved(path, cwd), options)),
    canonicalPath: (path, options) =>
      answering(options, async () => fromSystem(await realpath(system(path)), isWindows)),
    absolutePath(path, options) {
      checkAborted(options);
      return resolved(path, cwd);
    },
    createDir: (path, options) =>
      answering(options, async () => void (await mkdir(system(path), { recursive: true }))),
    remove: (path, options) =>
      answering(options, async () => {
        if (resolved(path, cwd) === "/") {
          throw failure("permission_denied", `expected a path below the top: ${path}`);
        }
        await remove(system(path), options?.recursive ?? false);
      }),
    renameFile: (from, to, options) => answering(options, () => move(system(from), system(to))),
    appendFile: (path, content, options) => answering(options, () => append(system(path), path, content)),
    createTempFile: (options) =>
      answering(options, async () =>
        fromSystem(await temporary.create(options?.prefix, options?.suffix), isWindows),
      ),
  };
  if (shells.size === 0) return env;
  return Object.assign(env, {
    exec: (command: string, options: ExecOptions) =>
      answering(options, async () => {
        const shell = shells.get(options.shell);
        if (shell) return runCommand(shell, command, system(options.cwd), options);
        const known = [...shells.keys()].join(" or ");
        throw failure("no_shell", `expected ${known} as the shell, found ${JSON.stringify(options.shell)}`);
      }),
  });
}

/** Does it unless the signal has fired. Failures come out with a code. */
function answering<T>(options: Options | undefined, action: () => Promise<T>): Promise<T> {
  return withCodes(
    (async () => {
      checkAborted(options);
      return action();
    })(),
  );
}
