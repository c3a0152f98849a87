// Compiled, never run: what the types say of commands. A line below `@ts-expect-error` must not compile.
import type {
  BashDetails,
  ExecutionEnv,
  MaybePromise,
  Result,
  ShellOptions,
  ShellSpawn,
  ToolsetOptions,
} from "tackroom";
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function assert<_ extends true>(): void {}

const env = memory();

// Options.

const inPlace: ShellOptions = {
  commandPrefix: "set -e",
  spawnHook(spawn) {
    assert<Equal<typeof spawn, ShellSpawn>>();
    spawn.env.A = "1";
  },
};
const byReturn: ShellOptions = { spawnHook: async ({ command }) => ({ command: `nice ${command}` }) };
export const options: ToolsetOptions[] = [
  { shell: inPlace, secrets: ["a"] as const, exposeSessionEnvironment: false },
  { shell: byReturn, secrets: (line) => line.trimEnd(), session: () => ({ model: "m" }) },
  { updates: { intervalMs: 250 }, session: { id: "1" }, tools: ["bash", "powershell"] },
];

export async function whatIsNoOption(): Promise<void> {
  // @ts-expect-error a prefix is a text
  await createToolset(env, { shell: { commandPrefix: ["set -e"] } });
  // @ts-expect-error a hook answers a part of a command
  await createToolset(env, { shell: { spawnHook: () => ({ cmd: "x" }) } });
  // @ts-expect-error nobody waits for it
  await createToolset(env, { secrets: async (line: string) => line });
  // @ts-expect-error texts
  await createToolset(env, { secrets: [/a/] });
  // @ts-expect-error a function that is asked before each command may not be async
  await createToolset(env, { session: async () => ({}) });
}

// Environments.

assert<Equal<ExecutionEnv["shells"], readonly ("bash" | "powershell")[] | undefined>>();
type Append = NonNullable<ExecutionEnv["appendFile"]>;
assert<Equal<ReturnType<Append>, MaybePromise<void | Result<void>>>>();
export const waiting: NonNullable<ExecutionEnv["exec"]> = async (_command, { onStdout, onStderr }) => {
  await onStdout(new Uint8Array());
  await onStderr("text");
  return { exitCode: null };
};
// @ts-expect-error an exit code, or null
export const without: NonNullable<ExecutionEnv["exec"]> = () => ({ exitCode: undefined });

// Results.

export async function details(): Promise<void> {
  const toolset = await createToolset(env, { tools: ["bash", "powershell"] });
  const result = await toolset.call({ id: "1", name: "powershell", arguments: { command: "x" } });
  if (result.toolName === "powershell") {
    assert<Equal<typeof result.details.exitCode, number | null | undefined>>();
    assert<Equal<typeof result.details.fullOutputPath, string | undefined>>();
    if (!result.isError) assert<Equal<typeof result.details, BashDetails>>();
  }
}
