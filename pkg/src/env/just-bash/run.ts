/**
 * One command in a just-bash instance, as `exec` of an environment runs it.
 *
 * @module
 */

import type { ExecOptions, ExecResult, ToolErrorCode } from "../../types.js";
import { explained, textOf } from "../../values.js";
import { checkAborted, codeOfErrno, failure } from "../failure.js";
import type { BashLike } from "./bash-like.js";
import { latin1 } from "./encoding.js";

/** What just-bash appends when a signal ends a command, and the exit code it gives. */
const ABORT_NOTICE = "bash: execution aborted\n";
const ABORT_EXIT_CODE = 124;

/** Runs a command. Output comes with the result, never through the callbacks. */
export async function runCommand(bash: BashLike, command: string, options: ExecOptions): Promise<ExecResult> {
  checkAborted(options);
  if (!(await coded(bash.fs.stat(options.cwd))).isDirectory) {
    throw failure("not_directory", `expected a directory to run in, found a file: ${options.cwd}`);
  }
  try {
    const result = await bash.exec(command, {
      cwd: options.cwd,
      signal: options.signal,
      // Without it, just-bash may trim the lines of the command.
      rawScript: true,
      ...environment(bash, options),
    });
    const aborted = options.signal.aborted && result.exitCode === ABORT_EXIT_CODE;
    return {
      exitCode: aborted ? null : result.exitCode,
      stdout: isBytes(result) ? latin1(result.stdout) : result.stdout,
      stderr: aborted ? withoutEnd(result.stderr, ABORT_NOTICE) : result.stderr,
    };
  } catch (error) {
    // A redirection that the file system refuses comes out of just-bash as a throw.
    if (options.signal.aborted) return { exitCode: null, stdout: "", stderr: "" };
    const message = textOf(error);
    if (!/^E[A-Z0-9]+: /.test(message)) throw error;
    return { exitCode: 1, stdout: "", stderr: `bash: ${message}\n` };
  }
}

/**
 * The variables of one command. just-bash can add to the inherited ones or replace them all, not remove one:
 * where one that it has is to go, the rest is passed whole.
 */
function environment(bash: BashLike, { env, unsetEnv }: ExecOptions) {
  const inherited = bash.getEnv();
  const removed = unsetEnv.filter((name) => Object.hasOwn(inherited, name) && !Object.hasOwn(env, name));
  if (removed.length === 0) return { env };
  const kept = Object.entries(inherited).filter(
    ([name]) => !removed.includes(name) && !PER_COMMAND.has(name),
  );
  return { env: { ...Object.fromEntries(kept), ...env }, replaceEnv: true };
}

/** Variables that just-bash sets anew for each command, from its working directory. */
const PER_COMMAND = new Set(["PWD", "OLDPWD"]);

/** The same outcome; an Error that begins with `ENOENT:` comes out with a code. */
export async function coded<T>(outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    const { message = "" } = explained(error);
    const name = /^(E[A-Z]+):/.exec(message)?.[1] ?? "";
    const code: ToolErrorCode = codeOfErrno(name) ?? "unknown";
    throw failure(code, message, error);
  }
}

/** just-bash marks output that is a byte buffer in a string, one character a byte. */
function isBytes(result: { stdoutKind?: "text" | "bytes"; stdoutEncoding?: "binary" }): boolean {
  return (result.stdoutKind ?? (result.stdoutEncoding === "binary" ? "bytes" : "text")) === "bytes";
}

function withoutEnd(text: string, end: string): string {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}
