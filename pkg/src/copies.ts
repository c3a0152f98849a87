/**
 * Methods of an environment that copy bytes to be safe from their callers, and what the core, which keeps none, may
 * call instead. By the method, so that an environment that replaces one loses its twin.
 *
 * @module
 */

type Method = (...args: never[]) => unknown;

const twins = new WeakMap<Method, Method>();

/** Says that `bare` does what `method` does, without copying. Its bytes are read at once, or given away. */
export function declareTwin<M extends Method>(method: M, bare: M): void {
  twins.set(method, bare);
}

/** The method that the core should call in this one's place. */
export function twinOf(method: Method): Method {
  return twins.get(method) ?? method;
}
