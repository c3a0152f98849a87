/**
 * Options that are not known are refused: one that is ignored would be a hole.
 *
 * @module
 */

import { kindOf } from "../../values.js";
import { failure } from "../failure.js";

type Kind = "string" | "boolean" | "array" | "function";

/**
 * Looks at what a host passed.
 *
 * @throws `invalid_arguments` for a name that is not among `known`, and for a value of another kind
 */
export function refuseUnknown(what: string, options: object, known: Record<string, Kind>): void {
  if (typeof options !== "object" || options === null) {
    throw failure(
      "invalid_arguments",
      `expected an object as the options of ${what}, found ${kindOf(options)}`,
    );
  }
  for (const [name, value] of Object.entries(options)) {
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) {
      const names = Object.keys(known).join(", ");
      throw failure("invalid_arguments", `expected one of ${names} as an option of ${what}, found ${name}`);
    }
    const isRight =
      value === undefined ||
      (kind === "array"
        ? Array.isArray(value) && value.every((item) => typeof item === "string")
        : typeof value === kind);
    if (!isRight) {
      const expected = kind === "array" ? "an array of strings" : `a ${kind}`;
      throw failure(
        "invalid_arguments",
        `expected ${expected} as ${name} of ${what}, found ${kindOf(value)}`,
      );
    }
  }
}
