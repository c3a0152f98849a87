/**
 * Reading values that the host supplies: they may be of any type, of another realm, or throw when looked at.
 *
 * @module
 */

import { twinOf } from "./copies.js";
import { ToolError } from "./errors.js";

/** Calls a method of a host object. Throws what it throws. */
export function callMethod(target: object, name: string, ...args: unknown[]): unknown {
  const method = (target as Record<string, unknown>)[name];
  if (typeof method !== "function") {
    throw new ToolError(`The environment has no method ${name}`, "not_supported");
  }
  return Reflect.apply(twinOf(method as () => unknown), target, args);
}

/** Whether the value is a promise of any kind. Throws what its `then` getter throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/** A promise that is fulfilled with a promise is followed this far. By the standard, one that is fulfilled with
 * itself is followed for ever, and nothing else runs meanwhile. */
const MOST_STEPS = 8;

/** Waits for a promise of any kind. Exactly one of the two is called, once; perhaps at once. */
export function settle(
  promise: PromiseLike<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (error: unknown) => void,
  steps = MOST_STEPS,
): void {
  let isSettled = false;
  const once = (then: (value: unknown) => void) => (value: unknown) => {
    if (isSettled) return;
    isSettled = true;
    then(value);
  };
  const next = (value: unknown) => {
    try {
      if (!isThenable(value)) return fulfilled(value);
    } catch (error) {
      return rejected(error);
    }
    if (steps > 0) return settle(value, fulfilled, rejected, steps - 1);
    rejected(new TypeError("expected a promise of a value, got one of promises without end"));
  };
  try {
    promise.then(once(next), once(rejected));
  } catch (error) {
    once(rejected)(error);
  }
}

/** The same as a promise of this realm; of other values, a promise that has settled. */
export async function settled(value: unknown): Promise<unknown> {
  if (!isThenable(value)) return value;
  return new Promise((resolve, reject) => settle(value, resolve, reject));
}

const viewPrototype = Object.getPrototypeOf(Uint8Array.prototype);

/** Reads a typed array's own property, whatever a subclass makes of it. Throws for what is no typed array. */
function reader<T>(key: string | symbol): (view: object) => T {
  const get = Object.getOwnPropertyDescriptor(viewPrototype, key)?.get as () => T;
  return (view) => Reflect.apply(get, view, []);
}
const kindOfView = reader<string | undefined>(Symbol.toStringTag);
const bufferOf = reader<ArrayBuffer>("buffer");
const byteOffsetOf = reader<number>("byteOffset");
const byteLengthOf = reader<number>("byteLength");

/**
 * The value as bytes of this realm, which have no surprises: other realms' come from an iframe or a test runner,
 * and a proxy or a subclass may throw when it is read. Undefined for what is no Uint8Array. Throws for one whose
 * buffer was detached, which would else read as an empty file.
 */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (!ArrayBuffer.isView(value) || kindOfView(value) !== "Uint8Array") return undefined;
  return new Uint8Array(bufferOf(value), byteOffsetOf(value), byteLengthOf(value));
}

/** What can be read of a thrown value. Never throws. */
export function explained(thrown: unknown): { code?: string; name?: string; message?: string } {
  if (thrown === undefined) return {};
  if (typeof thrown !== "object" || thrown === null) return { message: printed(thrown) };
  const facts: { code?: string; name?: string; message?: string } = {};
  for (const key of ["code", "name", "message"] as const) {
    try {
      const value = (thrown as Record<string, unknown>)[key];
      if (typeof value === "string") facts[key] = value;
    } catch {
      // A getter that throws tells nothing.
    }
  }
  facts.message ??= printed(thrown);
  return facts;
}

/** The text of whatever was thrown, as far as somebody should have to read it. Never throws, never empty. */
export function textOf(thrown: unknown): string {
  const { message, name } = explained(thrown);
  const text = message?.trim() || name || "no reason was given";
  return text.length > 1000 ? `${text.slice(0, 1000)}…` : text;
}

/** A value as a text. Never throws. */
export function printed(value: unknown): string {
  try {
    if (typeof value !== "object" || value === null) return String(value);
    const text = JSON.stringify(value);
    return text && text !== "{}" ? text : String(value);
  } catch {
    return "something that cannot be read";
  }
}

/** What kind of value it is, in words. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  if (ArrayBuffer.isView(value)) {
    const kind = `a ${kindOfView(value) ?? "DataView"}`;
    return isDetached(value.buffer) ? `${kind} whose buffer was detached` : kind;
  }
  return Array.isArray(value) ? "an array" : "an object";
}

function isDetached(buffer: ArrayBufferLike): boolean {
  try {
    return new Uint8Array(buffer).length < 0;
  } catch {
    return true;
  }
}

/** JSON text that any parser reads: half a surrogate pair, which JSON can only escape, becomes U+FFFD. */
export function jsonOf(value: object): string {
  return wellFormed(JSON.stringify(value));
}

/** JSON text without escapes of half a surrogate pair: they become U+FFFD. */
export function wellFormed(json: string): string {
  return json.replace(/(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g, "$1\ufffd");
}
