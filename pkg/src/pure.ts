/**
 * Functions over contents, texts and schemas: no environment, no promise. Contents cross as bytes, the rest as text.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { ToolError } from "./errors.js";
import { TRAPPED, unwrap } from "./instance.js";
import { schemaText } from "./plain-schema.js";
import { argumentText } from "./toolset.js";
import type { DeclarationFormat, Edit, FileChange, FileKind, ToolSchema } from "./types.js";
import { bytesOf, kindOf, wellFormed } from "./values.js";

const encoder = new TextEncoder();
// A BOM is content.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** See `applyEdits` of api.ts. */
export function applyEdits<T extends string | Uint8Array>(
  core: Core,
  content: T,
  edits: Edit[],
  path: string,
): FileChange & { content: T } {
  const text = JSON.stringify(edits) ?? "null";
  const bytes = bytesFrom(content, "content");
  core.wake();
  const change = unwrap<FileChange>(
    core.enter(
      (first = 0, second = 0, third = 0) => glue.apply_edits(first, second, third),
      path,
      text,
      bytes,
    ),
  );
  const edited = core.enter(() => glue.content());
  if (edited === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
  return { ...change, content: (typeof content === "string" ? decoder.decode(edited) : edited) as T };
}

/** See `parsePartialArguments` of api.ts. */
export function parsePartialArguments(
  core: Core,
  text: string,
  toolName: string,
): { value?: unknown; complete: boolean } {
  for (const [name, given] of Object.entries({ text, toolName })) {
    if (typeof given !== "string")
      throw new ToolError(`Expected ${name} as a string, got ${typeof given}`, "invalid_arguments");
  }
  // A chunk may end between the two halves of a character.
  const isCut = /[\ud800-\udbff]/.test(text.slice(-1));
  const whole = argumentText(toolName, isCut ? text.slice(0, -1) : text);
  core.wake();
  const partial = unwrap<{ value?: unknown; complete: boolean }>(
    core.enter((length = 0, name = 0) => glue.partial_arguments(length, name), whole, toolName),
  );
  return isCut ? { ...partial, complete: false } : partial;
}

/** See `unifiedDiff` of api.ts. */
export function unifiedDiff(
  core: Core,
  path: string,
  before: string | Uint8Array,
  after: string | Uint8Array,
  context: number,
): string {
  if (!(Number.isInteger(context) && context >= 0)) {
    throw new ToolError(`Expected context as a whole number from 0, got ${context}`, "invalid_arguments");
  }
  const [old, now] = [bytesFrom(before, "before"), bytesFrom(after, "after")];
  core.wake();
  return unwrap<string>(
    core.enter(
      (first = 0, second = 0, third = 0) =>
        glue.unified_diff(first, second, third, Math.min(context, 0x7fffffff)),
      path,
      old,
      now,
    ),
  );
}

/** See `strictSchema` of api.ts. */
export function strictSchema(core: Core, schema: ToolSchema): object {
  const text = toolSchemaText(schema);
  core.wake();
  return unwrap<object>(core.enter((length = 0) => glue.strict_schema(length), text));
}

/** See `exportSchema` of api.ts. */
export function exportSchema(core: Core, schema: ToolSchema, format: DeclarationFormat): object {
  const [text, name] = [toolSchemaText(schema), formatText(format)];
  core.wake();
  return unwrap<object>(core.enter((first = 0, second = 0) => glue.export_schema(first, second), text, name));
}

/** The name of a format, which the core knows or refuses. */
export function formatText(format: unknown): string {
  if (typeof format === "string") return format;
  throw new ToolError(`Expected the name of a format, found ${kindOf(format)}`, "invalid_arguments");
}

function toolSchemaText(schema: unknown): string {
  if (schema === undefined || schema === null || schema === true) return "true";
  return wellFormed(schemaText(schema, "The schema"));
}

function bytesFrom(content: unknown, name: string): Uint8Array {
  if (typeof content === "string") {
    if (!/\p{Surrogate}/u.test(content)) return encoder.encode(content);
    throw new ToolError(
      `Expected ${name} as well-formed text, found an unpaired surrogate: pass the file's bytes`,
      "invalid_arguments",
    );
  }
  const bytes = bytesOf(content);
  if (bytes) return bytes;
  throw new ToolError(
    `Expected ${name} as a string or a Uint8Array, got ${typeof content}`,
    "invalid_arguments",
  );
}

/** Bytes of a file that its kind is told by. As many as the scratch buffer keeps. */
const HEAD = 1024 * 1024;

/** See `detectFileKind` of api.ts. */
export function detectFileKind(core: Core, bytes: Uint8Array): FileKind {
  const head = bytesOf(bytes)?.subarray(0, HEAD);
  if (!head) throw new ToolError(`Expected bytes as a Uint8Array, got ${kindOf(bytes)}`, "invalid_arguments");
  core.wake();
  const answer = core.enter((length = 0) => glue.file_kind(length), head);
  if (answer === TRAPPED) throw new ToolError("The tool core failed and was restarted: try again", "trapped");
  return JSON.parse(answer);
}
