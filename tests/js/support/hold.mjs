// What has to hold whatever an environment, a hook or a caller does.
import assert from "node:assert/strict";
import { after } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import * as glue from "../../../pkg/wasm/core.js";

/** contract.md §8 */
export const CODES = new Set(
  (
    "not_found permission_denied not_directory is_directory already_exists busy no_space not_supported aborted " +
    "timeout invalid_path outside_root invalid_arguments cut_off no_such_tool blocked no_match ambiguous overlap " +
    "no_change stale disposed outcome_unknown exit_code no_shell spawn_failed invalid_pattern trapped unknown"
  ).split(" "),
);

/** What nobody caught. node:test would only fail the test that happens to run. */
const escaped = [];
for (const event of ["unhandledRejection", "uncaughtException"]) {
  process.on(event, (error) => escaped.push([event, error]));
}
after(() => assert.deepEqual(escaped, []));

/** Fails if something has escaped so far. A rejection counts as unhandled once a turn is over. */
export async function nothingEscaped() {
  await turn();
  await turn();
  assert.deepEqual(escaped.splice(0), []);
}

export const textOf = (result) => result.content.map((part) => part.text ?? "").join("\n");

/** The result is a failure as a model and a program can use it. */
export function assertFailed(result, code) {
  assert.equal(result.isError, true, JSON.stringify(result));
  assert.ok(CODES.has(result.details.code), `no code of the list: ${JSON.stringify(result.details)}`);
  assert.ok(textOf(result).trim().length > 0, "an error without a text");
  assert.ok(textOf(result).length < 5000, "an error that is too long");
  assert.equal(typeof result.toolCallId, "string");
  assert.equal(typeof result.toolName, "string");
  // What a log would do with it.
  structuredClone(result);
  JSON.stringify(result);
  if (code) assert.equal(result.details.code, code, textOf(result));
}

/** The promise settles: nobody hangs. */
export async function soon(promise, ms = 5000) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled after ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

let nextId = 0;

/** Calls a tool. */
export function run(toolset, name, args, options) {
  return soon(toolset.call({ id: `c${nextId++}`, name, arguments: args }, options));
}

/** An ordinary call works: nothing was poisoned. `good.txt` is to be in the environment. */
export async function stillWorks(toolset) {
  const result = await run(toolset, "read", { path: "/good.txt" });
  assert.equal(result.isError, false, textOf(result));
  assert.equal(textOf(result), "good\n");
}

/** The core has nothing running and waits for nothing. */
export async function nothingLeft() {
  await turn();
  assert.equal(glue.tasks(), 0);
}

/** A promise with its handles. */
export function deferred() {
  let resolve;
  let reject;
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

export const bytes = (text) => new TextEncoder().encode(text);
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** An `exec` that writes this, and ends. */
export const says =
  (chunk, exitCode = 0) =>
  (_, { onStdout }) => {
    onStdout(chunk);
    return { exitCode };
  };

/** Waits until the condition holds. */
export async function until(condition, what = "the condition") {
  for (let i = 0; i < 2000; i++) {
    if (condition()) return;
    await sleep(1);
  }
  assert.fail(`${what} did not come about`);
}

/** Calls the function with hardly any stack left, then with a little more each time. */
export function exhaustStack(then, times = 2000) {
  let left = times;
  const deep = () => {
    try {
      deep();
    } catch {
      // This was the end of it.
    }
    if (left-- <= 0) return;
    try {
      then();
    } catch {
      // Not even enough to begin.
    }
  };
  deep();
}
