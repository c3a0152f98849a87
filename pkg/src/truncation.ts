/**
 * Texts cut to what a model should be sent, and sizes in words. Contents cross as bytes.
 *
 * @module
 */

import { type Core, glue } from "./core.js";
import { ToolError } from "./errors.js";
import { TRAPPED, unwrap } from "./instance.js";
import type { TruncationDetails, TruncationResult } from "./types.js";
import { bytesOf } from "./values.js";

// A BOM is content.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The largest number that crosses: wasm memory has no more bytes. */
const MOST = 0xffff_ffff;

/** See `truncateHead` and `truncateTail` of api.ts. */
export function truncate(
  core: Core,
  content: string | Uint8Array,
  isTail: boolean,
  limits: { maxLines?: number; maxBytes?: number },
): TruncationResult {
  const maxLines = counted(limits?.maxLines ?? 2000, "maxLines");
  const maxBytes = counted(limits?.maxBytes ?? 51_200, "maxBytes");
  const given = typeof content === "string" ? content : bytesOf(content);
  if (given === undefined) throw wrong("content as a string or a Uint8Array", content);
  core.wake();
  const facts = unwrap<TruncationDetails>(
    core.enter((length = 0) => glue.truncate_text(length, isTail, maxLines, maxBytes), given),
  );
  return { content: made(core), ...facts };
}

/** See `truncateLine` of api.ts. */
export function truncateLine(
  core: Core,
  line: string,
  maxChars: number,
): { text: string; wasTruncated: boolean } {
  if (typeof line !== "string") throw wrong("line as a string", line);
  const most = counted(maxChars, "maxChars");
  core.wake();
  const wasTruncated = unwrap<boolean>(core.enter((length = 0) => glue.truncate_line(length, most), line));
  return { text: made(core), wasTruncated };
}

/** See `formatSize` of api.ts. */
export function formatSize(core: Core, bytes: number): string {
  if (!(Number.isFinite(bytes) && bytes >= 0)) throw wrong("bytes as a number from 0", bytes);
  core.wake();
  return unwrap<string>(core.enter(() => glue.format_size(bytes)));
}

/** See `utf8ByteLength` of api.ts. Counted where the text is: it may be larger than what should cross for a number. */
export function utf8ByteLength(text: string): number {
  if (typeof text !== "string") throw wrong("text as a string", text);
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    // A pair has four bytes, two for each of its halves.
    if (unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) at++;
  }
  return bytes;
}

/** The content that the last entry made. */
export function made(core: Core): string {
  const content = core.enter(() => glue.content());
  if (content === TRAPPED)
    throw new ToolError("The tool core failed and was restarted: try again", "trapped");
  return decoder.decode(content);
}

/** A limit that crosses. */
export function counted(value: unknown, name: string): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 1)
    throw wrong(`${name} as a whole number from 1`, value);
  return Math.min(value, MOST);
}

/** What is thrown for an argument. */
export function wrong(expected: string, found: unknown): ToolError {
  const shown = typeof found === "number" ? String(found) : typeof found;
  return new ToolError(`Expected ${expected}, got ${shown}`, "invalid_arguments");
}
