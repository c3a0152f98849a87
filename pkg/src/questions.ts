/**
 * What a host's own tools ask of the core: a place in the mutation queue, and whether a path is inside of a root.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { factsOf } from "./environment.js";
import { ToolError } from "./errors.js";
import { unwrap } from "./instance.js";
import type { ExecutionEnv } from "./types.js";
import { UnheardCall } from "./unheard-call.js";
import { writesInFlight } from "./writes.js";

/** A question to the core, numbered like a call. */
class Question extends UnheardCall {
  readonly #controller = new AbortController();
  #resolve!: (text: string) => void;
  #reject!: (error: ToolError) => void;
  /** What `answer` of src/wasm/exports.rs makes. */
  readonly answer = new Promise<string>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  settled(text: string): void {
    this.#resolve(text);
  }

  trapped(reason: string): void {
    this.#controller.abort();
    this.#reject(new ToolError(`The tool core failed (${reason}) and is restarted: try again`, "trapped"));
  }
}

/** Puts a question, at once. Answers its number and its answer; the number is to be forgotten by the caller. */
function ask(
  core: Core,
  env: ExecutionEnv,
  texts: string[],
  entry: (id: number, lengths: number[]) => string,
): { id: number; answer: Promise<string> } {
  const facts = JSON.stringify(factsOf(env));
  for (const text of texts) {
    if (typeof text !== "string" || /\p{Surrogate}/u.test(text)) {
      throw new ToolError("Expected a path as a well-formed string", "invalid_path");
    }
  }
  core.wake();
  const question = new Question();
  // Whoever asked may have been told of a trap otherwise.
  question.answer.catch(() => {});
  const id = core.register(question);
  try {
    unwrap(core.enter((...lengths) => entry(id, lengths), facts, ...texts));
  } catch (error) {
    core.forget(id);
    throw error;
  }
  return { id, answer: question.answer };
}

/** See `withFileMutationQueue` of api.ts. The ticket is taken before this function first waits. */
export async function inMutationQueue<T>(
  core: Core,
  env: ExecutionEnv,
  path: string,
  run: () => Promise<T>,
): Promise<T> {
  const { id, answer } = ask(core, env, [path], (id, [facts = 0, length = 0]) =>
    glue.queue_enter(env, facts, length, id),
  );
  const generation = core.generation;
  try {
    const key = unwrap<string>(await answer);
    // After a trap the place is gone, but not what runs in it: the next instance waits for it as for a write.
    return await (writesInFlight.track(env, key, generation, started(run)) as Promise<T>);
  } finally {
    core.forget(id);
    if (core.generation === generation && core.isReady) core.enter(() => glue.queue_leave(id));
  }
}

async function started<T>(run: () => Promise<T>): Promise<T> {
  return run();
}

/** See `resolveConfined` of api.ts. */
export async function confined(core: Core, env: ExecutionEnv, root: string, path: string): Promise<string> {
  const { id, answer } = ask(core, env, [root, path], (id, [facts = 0, first = 0, second = 0]) =>
    glue.resolve_confined(env, facts, first, second, id),
  );
  try {
    return unwrap<string>(await answer);
  } finally {
    core.forget(id);
  }
}
