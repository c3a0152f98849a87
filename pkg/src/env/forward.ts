/**
 * Wrappers of environments: an object that has what another has.
 *
 * @module
 */

import { declareTwin, twinOf } from "../copies.js";

type Method = (...args: never[]) => unknown;

/**
 * An object with the members of `base`, but for those that `own` has. Methods are called on `base` itself, which may
 * be an instance of a class with private fields; values are read when they are asked for.
 */
export function forwarding(base: object, own: Record<string, unknown>): object {
  const bound = new WeakMap<Method, Method>();
  const member = (key: string | symbol): unknown => {
    const value: unknown = (base as Record<string | symbol, unknown>)[key];
    if (typeof value !== "function") return value;
    const method = value as Method;
    const known = bound.get(method);
    if (known) return known;
    const forward: Method = (...args) => method.apply(base, args);
    const twin = twinOf(method);
    if (twin !== method) declareTwin(forward, (...args) => twin.apply(base, args));
    bound.set(method, forward);
    return forward;
  };
  const wrapper = {};
  for (const key of keysOf(base)) {
    Object.defineProperty(wrapper, key, { get: () => member(key), enumerable: true, configurable: true });
  }
  for (const [key, value] of Object.entries(own)) {
    Object.defineProperty(wrapper, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return wrapper;
}

/** The names of its members, inherited ones too, but for those that every object has. */
function keysOf(base: object): Set<string | symbol> {
  const keys = new Set<string | symbol>();
  for (let at: object | null = base; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Reflect.ownKeys(at)) if (key !== "constructor") keys.add(key);
  }
  return keys;
}
