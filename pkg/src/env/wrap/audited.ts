/**
 * An environment that tells what is done with it.
 *
 * @module
 */

import { declareTwin, twinOf } from "../../copies.js";
import type { ExecutionEnv, MaybePromise, ToolErrorCode } from "../../types.js";
import { bytesOf, isThenable, settled, textOf } from "../../values.js";
import { shareIdentity } from "../../writes.js";
import { codeOf, failureOf } from "../answers.js";
import { forwarding } from "../forward.js";
import { refuseUnknown } from "./options.js";

/** An operation that has begun: what {@link AuditedOptions.onStart} is told. */
export interface StartedOperation {
  /** Counts the calls of this environment from 1: the same for a start and its end, and for all files of one call. */
  id: number;
  /**
   * What it does to the path. `"info"`: asks about it (`fileInfo`, `canonicalPath`, `absolutePath`). `"read"`: has its
   * content, that of files below it with `search`. `"list"`: has names (`listDir`, `walk`). `"write"`: makes or changes
   * it, `createDir` and `createTempFile` included. `"lock"` holds the environment's lock on it.
   */
  operation: "read" | "write" | "list" | "info" | "remove" | "rename" | "lock" | "exec";
  /** The method of the environment. */
  method: string;
  /**
   * As it was given. Of `exec` the working directory; of `createTempFile` the file that was made, before that and
   * where none was `""`.
   */
  path: string;
  /** Of a rename: where to. */
  to?: string;
  /** Of `exec`. */
  command?: string;
}

/** An operation that is over: what {@link audited} tells. */
export interface AuditedOperation extends StartedOperation {
  ok: boolean;
  /** What it failed with, where it did. */
  error?: { code: ToolErrorCode; message: string };
  /** Milliseconds, waiting included. */
  durationMs: number;
  /** Of what was read or written whole or in part: how many. */
  bytes?: number;
  /** Of `exec`: `null` where the command ended without one. */
  exitCode?: number | null;
}

/** Options of {@link audited}. */
export interface AuditedOptions {
  /** Is told before the environment is asked: for a log that shows also what never ended. */
  onStart?(operation: StartedOperation): MaybePromise<void>;
}

type Method = (...args: unknown[]) => unknown;
type Subject = Omit<StartedOperation, "id" | "method">;

const isText = (value: unknown): string => (typeof value === "string" ? value : "");
const at =
  (operation: Subject["operation"]) =>
  (args: unknown[]): Subject[] => [{ operation, path: isText(args[0]) }];
const requested =
  (operation: Subject["operation"]) =>
  (args: unknown[]): Subject[] => [
    { operation, path: isText((args[0] as { path?: unknown } | undefined)?.path) },
  ];

/** What each method does, by its arguments. */
const SUBJECTS: Record<string, (args: unknown[]) => Subject[]> = {
  readBinaryFile: at("read"),
  readRange: at("read"),
  readFiles: ([paths]) =>
    (Array.isArray(paths) ? paths : []).map((path) => ({ operation: "read", path: isText(path) })),
  search: requested("read"),
  writeFile: at("write"),
  appendFile: at("write"),
  createDir: at("write"),
  createTempFile: () => [{ operation: "write", path: "" }],
  fileInfo: at("info"),
  canonicalPath: at("info"),
  absolutePath: at("info"),
  listDir: at("list"),
  walk: requested("list"),
  remove: at("remove"),
  renameFile: ([from, to]) => [{ operation: "rename", path: isText(from), to: isText(to) }],
  lock: at("lock"),
  exec: ([command, options]) => [
    {
      operation: "exec",
      path: isText((options as { cwd?: unknown } | undefined)?.cwd),
      command: isText(command),
    },
  ],
};

/**
 * An environment that tells of each operation when it is over: one call of `onOperation` a method and path, so that
 * `readFiles` is one for each file. It changes nothing else: what the environment answers, when, and what it fails
 * with, is the same. A listener that throws, or rejects, is not heard of.
 *
 * The environment has all that `env` has. Methods of its own that are no part of {@link ExecutionEnv}, such as
 * `snapshot()`, are not told of; neither is what a command does with files, unless its shell works through this
 * environment (`withShell(audited(env, …), Bash)`).
 *
 * @param env any environment
 * @param onOperation is not waited for
 *
 * @example
 * ```ts
 * import { createToolset } from "tackroom";
 * import { memory } from "tackroom/env/memory";
 * import { audited } from "tackroom/env/wrap";
 *
 * const log: string[] = [];
 * const env = audited(memory({ "/a.txt": "one\n" }), ({ operation, path, ok }) => {
 *   if (operation !== "info") log.push(`${operation} ${path} ${ok ? "ok" : "failed"}`);
 * });
 * const toolset = await createToolset(env);
 * await toolset.call({ id: "1", name: "read", arguments: { path: "a.txt" } });
 * log; // ["read /a.txt ok"]
 * ```
 */
export function audited<E extends ExecutionEnv>(
  env: E,
  onOperation: (operation: AuditedOperation) => MaybePromise<void>,
  options: AuditedOptions = {},
): E {
  refuseUnknown("audited", { onOperation, ...options }, { onOperation: "function", onStart: "function" });
  const { onStart } = options;
  let calls = 0;

  const watched = (name: string, method: Method): Method => {
    return (...args) => {
      const id = ++calls;
      const subjects = (SUBJECTS[name]?.(args) ?? []).map((subject) => ({ id, method: name, ...subject }));
      for (const subject of subjects) tell(onStart, { ...subject });
      const started = performance.now();
      const over = (outcome: Outcome) => {
        const durationMs = performance.now() - started;
        subjects.forEach((subject, nth) => {
          const facts = outcome.ok ? factsOf(name, args, outcome.answer, nth) : failed(outcome.error);
          tell(onOperation, { ...subject, ...facts, durationMs });
        });
      };
      let answer: unknown;
      try {
        answer = Reflect.apply(method, env, args);
        if (!isThenable(answer)) {
          over({ ok: true, answer });
          return answer;
        }
      } catch (error) {
        over({ ok: false, error });
        throw error;
      }
      return settled(answer).then(
        (answer) => {
          over({ ok: true, answer });
          return answer;
        },
        (error) => {
          over({ ok: false, error });
          throw error;
        },
      );
    };
  };

  const own: Record<string, unknown> = {};
  for (const name of Object.keys(SUBJECTS)) {
    const method = (env as unknown as Record<string, unknown>)[name] as Method | undefined;
    if (typeof method !== "function") continue;
    const wrapped = watched(name, method);
    const bare = twinOf(method as never) as unknown as Method;
    if (bare !== method) declareTwin(wrapped as never, watched(name, bare) as never);
    own[name] = wrapped;
  }
  const wrapper = forwarding(env, own);
  shareIdentity(wrapper, env);
  return wrapper as E;
}

type Outcome = { ok: true; answer: unknown } | { ok: false; error: unknown };
type Facts = Pick<AuditedOperation, "ok" | "error" | "bytes" | "exitCode"> & { path?: string };

/** What there is to be told of an answer; `nth`: of which file, where there are several. */
function factsOf(method: string, args: unknown[], answer: unknown, nth: number): Facts {
  try {
    const failure = failureOf(answer);
    if (failure) return failed(failure);
    const value = valueIn(answer);
    switch (method) {
      case "readBinaryFile":
      case "readRange":
        return { ok: true, ...sizeOf(value) };
      case "readFiles": {
        const result = (value as unknown[])[nth];
        const failure = failureOf(result);
        return failure ? failed(failure) : { ok: true, ...sizeOf(valueIn(result)) };
      }
      case "writeFile":
      case "appendFile":
        return { ok: true, ...sizeOf(args[1]) };
      case "createTempFile":
        return { ok: true, path: isText(value) };
      case "exec": {
        const { exitCode } = value as { exitCode?: unknown };
        return { ok: true, exitCode: typeof exitCode === "number" ? exitCode : null };
      }
      default:
        return { ok: true };
    }
  } catch {
    // It answered; that the answer cannot be read is for whoever asked.
    return { ok: true };
  }
}

function failed(error: unknown): Facts {
  return { ok: false, error: { code: codeOf(error), message: textOf(error) } };
}

function valueIn(answer: unknown): unknown {
  const result = answer as { ok?: unknown; value?: unknown } | null | undefined;
  return typeof result === "object" && result !== null && result.ok === true ? result.value : answer;
}

function sizeOf(value: unknown): { bytes?: number } {
  const bytes = bytesOf(value);
  return bytes ? { bytes: bytes.length } : {};
}

/** Tells, and hears nothing back. */
function tell<T>(listener: ((event: T) => MaybePromise<void>) | undefined, event: T): void {
  try {
    const answer: unknown = listener?.(event);
    if (isThenable(answer)) settled(answer).catch(() => {});
  } catch {
    // A listener is no part of the operation.
  }
}
