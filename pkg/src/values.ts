/**
 * Reading values that the host supplies: they may be of any type, of another realm, or throw when looked at.
 *
 * @module
 */

import { ToolError } from "./errors.js";

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Calls a method of a host object. Throws what it throws. */
export function callMethod(target: object, name: string, ...args: unknown[]): unknown {
  const method = (target as Record<string, unknown>)[name];
  if (typeof method !== "function") {
    throw new ToolError(`The environment has no method ${name}`, "not_supported");
  }
  return (method as Method).apply(target, args);
}

/** Whether the value is a promise of any kind. Throws what its `then` getter throws. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") &&
    value !== null &&
    typeof (value as { then?: unknown }).then === "function"
  );
}

/** The value as bytes of this realm. Another realm's come from an iframe, or from a test runner. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]") {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return undefined;
}

/** What can be read of a thrown value. Never throws. */
export function explained(thrown: unknown): { code?: string; name?: string; message?: string } {
  if (typeof thrown !== "object" || thrown === null) {
    return thrown === undefined ? {} : { message: String(thrown) };
  }
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

/** The text of whatever was thrown. Never throws. */
export function textOf(thrown: unknown): string {
  return explained(thrown).message ?? "no reason was given";
}

function printed(thrown: object): string {
  try {
    const text = JSON.stringify(thrown);
    return text && text !== "{}" ? text : String(thrown);
  } catch {
    return "an error that cannot be read";
  }
}
