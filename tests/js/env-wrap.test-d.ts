// Compiled, never run: the wrappers fit one into another, and typos do not compile.

import { Bash } from "just-bash";
import type { ExecutionEnv, ToolErrorCode } from "tackroom";
import { withShell } from "tackroom/env/just-bash";
import { type MemoryEnv, memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import {
  type AuditedOperation,
  audited,
  type CommitReport,
  type ConfinedOptions,
  confined,
  type Mounted,
  type MountsOptions,
  mounts,
  type OverlayChange,
  type OverlayEntry,
  type OverlayEnv,
  overlay,
  type StartedOperation,
} from "tackroom/env/wrap";

const options: ConfinedOptions = { root: "/project", readOnly: true, deny: [".env*"], exec: "allow" };
const inside: ExecutionEnv = confined(node(), options);
// @ts-expect-error not an option
confined(memory(), { readonly: true });
// @ts-expect-error "drop" or "allow"
confined(memory(), { exec: "keep" });
// @ts-expect-error what is the environment's own is not there
confined(memory()).snapshot();

// What the environment has of its own is still there.
const told: MemoryEnv = audited(memory(), (operation: AuditedOperation) => {
  const { ok, durationMs, path }: { ok: boolean; durationMs: number; path: string } = operation;
  const code: ToolErrorCode | undefined = operation.error?.code;
  // @ts-expect-error no such operation
  if (operation.operation === "delete") return;
  console.log(ok, durationMs, path, code);
});
audited(memory(), async () => {}, { onStart: ({ id, method }: StartedOperation) => console.log(id, method) });
// @ts-expect-error a start has no outcome
audited(memory(), () => {}, { onStart: ({ ok }) => ok });
// @ts-expect-error a listener is a function
audited(memory(), console);

const draft: OverlayEnv = overlay(memory());
const withBash: ExecutionEnv = withShell(draft, Bash);
// Through the shell, too.
const changes: Promise<OverlayChange[]> = withShell(draft, Bash).changes();
const report: Promise<CommitReport> = draft.commit({ signal: new AbortController().signal });
const discarded: void = draft.discard();
const kind: "create" | "modify" | "delete" = (await changes)[0]?.kind ?? "create";
const before: Uint8Array | undefined = await (await changes)[0]?.before();
const committed: OverlayEntry[] = (await report).committed;
// @ts-expect-error what was committed has no contents any more
(await report).committed[0]?.before();

const part: Mounted = { env: node(), path: "/work" };
const settings: MountsOptions = { cwd: "/app", exec: "/app" };
const tree: ExecutionEnv = mounts({ "/app": part, "/tmp": memory(), "/": draft }, settings);
// @ts-expect-error an environment, or a part of one
mounts({ "/app": "/work" });
// @ts-expect-error a part has a path
mounts({ "/app": { env: node() } });

export { before, committed, discarded, inside, kind, told, tree, withBash };
