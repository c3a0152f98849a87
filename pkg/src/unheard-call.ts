/**
 * What is numbered like a call and is none: a question to the core, a search. Nobody hears how it goes, and no hook is
 * asked.
 *
 * @module
 */

import type { RunningCall } from "./instance.js";
import type { Options } from "./types.js";

export abstract class UnheardCall implements RunningCall {
  abstract readonly signal: AbortSignal;
  abstract settled(answer: string): void;
  abstract trapped(reason: string): void;

  get options(): Options {
    return { signal: this.signal };
  }

  started(): void {}
  redact(text: string): string {
    return text;
  }
  wantsUpdates(): boolean {
    return false;
  }
  updated(_partial: string): void {}
  wantsMutations(): boolean {
    return false;
  }
  mutated(): void {}
  async showImage(): Promise<string> {
    return "";
  }
  async before(): Promise<string> {
    return '{"kind":"run"}';
  }
  async after(): Promise<string> {
    return "{}";
  }
  spawn(): undefined {}
  async search(): Promise<string> {
    return "";
  }
}
