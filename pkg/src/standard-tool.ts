/**
 * Tools as libraries see them: Standard Schema and Standard JSON Schema (https://standardschema.dev).
 *
 * @module
 */

import { isToolError, ToolError } from "./errors.js";
import { DRAFT_07, DRAFT_2020_12 } from "./plain-schema.js";
import type { StandardTool } from "./standard.js";
import type { AgentTool, SchemaIssue } from "./types.js";

/** Built-in tools' schemas mean the same in both. */
const TARGETS: Record<string, string> = { "draft-2020-12": DRAFT_2020_12, "draft-07": DRAFT_07 };

/** What says that a check was not made, and nothing of the arguments. */
const NOT_CHECKED = new Set<string>(["disposed", "trapped"]);

/** Adds `"~standard"`, which is not enumerable: it is nothing to send to a model. */
export function withStandard(
  tool: AgentTool,
  check: (value: unknown) => { value: unknown } | { errors: SchemaIssue[] },
): AgentTool & StandardTool {
  const schema = ({ target }: { target: string }) => {
    if (!Object.hasOwn(TARGETS, target))
      throw new ToolError(
        `Expected one of ${Object.keys(TARGETS).join(", ")} as target, found ${target}`,
        "not_supported",
      );
    return { $schema: TARGETS[target], ...structuredClone(tool.parameters) };
  };
  const standard: StandardTool["~standard"] = {
    version: 1,
    vendor: "tackroom",
    validate(value) {
      try {
        const checked = check(value);
        if ("value" in checked) return { value: checked.value as Record<string, unknown> };
        return { issues: checked.errors.map(issueOf) };
      } catch (error) {
        if (!isToolError(error) || NOT_CHECKED.has(error.code)) throw error;
        return { issues: [{ message: error.message }] };
      }
    },
    jsonSchema: { input: schema, output: schema },
  };
  Object.defineProperty(tool, "~standard", { value: Object.freeze(standard) });
  return tool as AgentTool & StandardTool;
}

/** No key of a built-in tool has a dot in it. */
function issueOf({ path, message }: SchemaIssue): { message: string; path?: PropertyKey[] } {
  if (path === "") return { message };
  return { message, path: path.split(".").map((key) => (/^\d+$/.test(key) ? Number(key) : key)) };
}
