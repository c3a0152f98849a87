/**
 * Any environment, with just-bash as its shell.
 *
 * @module
 */

import type { ExecOptions, ExecResult, ExecutionEnv } from "../../types.js";
import { shareIdentity } from "../../writes.js";
import { checkAborted } from "../failure.js";
import { forwarding } from "../forward.js";
import type { BashLike } from "./bash-like.js";
import { fileSystemOf } from "./file-system.js";
import { Outside } from "./outside.js";
import { runCommand } from "./run.js";

/** just-bash's class `Bash`. `O`: its options. */
export type BashClass<O extends object> = new (options?: O) => BashLike;

/** Options of {@link withShell}, beside those of `Bash` itself. */
export interface ShellOptions {
  /** For the model. Default: the environment's, then `"simulated bash, no network, no git"`. */
  description?: string;
  /** Absolute path of the home directory, also `HOME` in the shell. Default: the environment's. */
  home?: string;
  /** Variables of every command, over `HOME` and `PATH`. Nothing of the host's is inherited. */
  env?: Record<string, string>;
}

/** Options of {@link withShell}: of `Bash` all but what the environment is asked for. */
export type WithShellOptions<O extends object> = ShellOptions & Omit<O, "fs" | "files" | "cwd" | "env">;

/** What {@link withShell} returns: all that the environment has, and a shell. */
export type ShellEnv<E extends ExecutionEnv> = Omit<E, "exec" | "shells" | "description" | "home"> & {
  readonly home?: string;
  readonly description: string;
  readonly shells: readonly ["bash"];
  /** Output comes with the result, never through the callbacks. An aborted command has no exit code. */
  exec(command: string, options: ExecOptions): Promise<ExecResult>;
};

/** For the model, after what the environment says of itself. */
const DESCRIPTION = "simulated bash, no network, no git";

/** Without `/bin`: on a disk there are programs in it, which just-bash would take for scripts. */
const PATH = "/usr/bin";

/**
 * Gives an environment a bash: just-bash, whose files are the environment's. Everything else of the environment is
 * there as it was, its own methods with it; a shell of its own is replaced. The file tools do not go through the
 * shell, and wait in the same queue as those of a toolset over the environment itself.
 *
 * @param env any environment: browser storage, a folder, an overlay, a disk
 * @param Bash the class of just-bash, which the host imports. An instance is made for each command
 * @param options see {@link ShellOptions}; `executionLimits`, `customCommands`, `network` and whatever else `Bash` takes
 * are passed to it
 *
 * @example
 * ```ts
 * import { Bash } from "just-bash";
 * import { createToolset } from "tackroom";
 * import { memory } from "tackroom/env/memory";
 * import { withShell } from "tackroom/env/just-bash";
 *
 * const env = withShell(memory({ "/project/a.txt": "b\na\n" }, { cwd: "/project" }), Bash, {
 *   executionLimits: { maxLoopIterations: 10_000 },
 * });
 * const toolset = await createToolset(env);
 * await toolset.call({ id: "1", name: "bash", arguments: { command: "sort a.txt > sorted.txt" } });
 * env.snapshot()["/project/sorted.txt"]; // "a\nb\n", as bytes
 * ```
 */
export function withShell<E extends ExecutionEnv, O extends object>(
  env: E,
  Bash: BashClass<O>,
  options: WithShellOptions<O> = {} as WithShellOptions<O>,
): ShellEnv<E> {
  const { description, home = env.home, env: variables, ...rest } = options as ShellOptions;

  async function exec(command: string, given: ExecOptions): Promise<ExecResult> {
    checkAborted(given);
    // Of this command alone: when its signal fires, it does nothing more to the files.
    const outside = new Outside(given.signal);
    try {
      const bash = new Bash({
        ...rest,
        fs: fileSystemOf(env, outside, { signal: given.signal }),
        cwd: env.cwd,
        env: { PATH, ...(home === undefined ? {} : { HOME: home }), ...variables },
      } as unknown as O);
      return await runCommand(bash, command, given);
    } finally {
      outside.close();
    }
  }

  const own = {
    ...(home === undefined ? {} : { home }),
    description: description ?? [env.description, DESCRIPTION].filter(Boolean).join("; "),
    shells: ["bash"],
    exec,
  };
  const wrapper = forwarding(env, own);
  shareIdentity(wrapper, env);
  return wrapper as unknown as ShellEnv<E>;
}
