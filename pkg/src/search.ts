/**
 * A search in the module that has ripgrep's parts, for a call of the core.
 *
 * @module
 */

import type { SearchModule } from "./search-module.js";
import type { ExecutionEnv } from "./types.js";
import { UnheardCall } from "./unheard-call.js";

/** A search, numbered like a call in the module that runs it. */
class Search extends UnheardCall {
  readonly signal: AbortSignal;
  #snapshot: string | undefined;
  #end: string | undefined;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    super();
    this.signal = signal;
  }

  /** The latest snapshot that was not taken yet, or the end. */
  async next(): Promise<string> {
    while (this.#end === undefined && this.#snapshot === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const snapshot = this.#snapshot;
    this.#snapshot = undefined;
    return this.#end ?? `{"update":${snapshot}}`;
  }

  override updated(partial: string): void {
    this.#snapshot = partial;
    this.#wake();
  }

  settled(answer: string): void {
    this.#end = answer;
    this.#wake();
  }

  trapped(reason: string): void {
    const message = `The search failed (${reason}); the search module is restarted for the next one`;
    this.settled(JSON.stringify({ error: { code: "trapped", message } }));
  }

  override wantsUpdates(): boolean {
    return true;
  }
}

/** Whoever asks how a search goes on. */
export type SearchProgress = () => Promise<string>;

/**
 * Starts a search, which the signal ends.
 *
 * @param facts JSON of what was read of the environment for the call's toolset.
 */
export async function startSearch(
  module: SearchModule,
  env: ExecutionEnv,
  facts: string,
  job: string,
  signal: AbortSignal,
): Promise<SearchProgress> {
  await module.ready();
  module.wake();
  const search = new Search(signal);
  const id = module.register(search);
  const abort = () => void module.enter(() => module.glue.call_abort(id));
  signal.addEventListener("abort", abort, { once: true });
  try {
    module.enter(
      (factsLength = 0, jobLength = 0) =>
        module.glue.search_start(env, id, factsLength, jobLength, signal.aborted),
      facts,
      job,
    );
  } catch (error) {
    // There was no room for it.
    signal.removeEventListener("abort", abort);
    module.forget(id);
    throw error;
  }
  return async () => {
    const news = await search.next();
    if (!news.startsWith('{"update":')) signal.removeEventListener("abort", abort);
    return news;
  };
}
