/**
 * What a toolset reads of its environment when it is made.
 *
 * @module
 */

import { isToolError, ToolError } from "./errors.js";
import type { ExecutionEnv } from "./types.js";
import { textOf } from "./values.js";
import { environmentKey } from "./writes.js";

const REQUIRED = ["readBinaryFile", "writeFile", "fileInfo", "listDir"] as const;
const OPTIONAL = [
  "appendFile",
  "canonicalPath",
  "createDir",
  "createTempFile",
  "exec",
  "lock",
  "readFiles",
  "readRange",
  "remove",
  "search",
  "walk",
] as const;

/** `EnvFacts` of src/wasm/js_env.rs. */
interface EnvFacts {
  cwd: string;
  home: string | null;
  description: string | null;
  shells: string[];
  methods: string[];
  key: number;
}

/** Reads the environment's properties. Throws a {@link ToolError} that names what is missing. */
export function factsOf(env: ExecutionEnv): EnvFacts {
  if ((typeof env !== "object" && typeof env !== "function") || env === null) {
    throw wrong("an object with readBinaryFile, writeFile, fileInfo and listDir", typeof env);
  }
  try {
    for (const method of REQUIRED) {
      if (typeof env[method] !== "function") throw wrong(`a method ${method}`, typeof env[method]);
    }
    const { cwd, home, description, shells } = env;
    if (typeof cwd !== "string" || !cwd.startsWith("/"))
      throw wrong("an absolute path as its cwd", JSON.stringify(cwd));
    const methods = OPTIONAL.filter((method) => typeof env[method] === "function");
    const known = shells ?? (methods.includes("exec") ? ["bash"] : []);
    return {
      cwd,
      home: typeof home === "string" ? home : null,
      description: typeof description === "string" ? description : null,
      shells: methods.includes("exec") ? [...known].filter((shell) => typeof shell === "string") : [],
      methods,
      key: environmentKey(env),
    };
  } catch (error) {
    if (isToolError(error)) throw error;
    throw new ToolError(`The environment cannot be read: ${textOf(error)}`, "invalid_arguments");
  }
}

function wrong(expected: string, found: string | undefined): ToolError {
  return new ToolError(
    `The environment lacks something: expected ${expected}, found ${found}`,
    "invalid_arguments",
  );
}
