/**
 * Images on their way into a result: whoever processes them, and base64. The data stays on this side of the core.
 *
 * @module
 */

import { toBase64 } from "./base64.js";
import { hasPlatformCodecs, platformProcessor } from "./image-processor.js";
import type { ImageProcessor } from "./types.js";
import { printed, settled, textOf } from "./values.js";

/** What a processed image has to keep within. */
export type ImageLimits = Omit<Parameters<ImageProcessor>[2], "signal">;

/** Who processes images, as the core has it. Throws for what is no processor. */
export function processorKind(processor: unknown): "none" | "default" | "own" {
  if (typeof processor === "function") return "own";
  if (processor === null) return "none";
  if (processor !== undefined)
    throw new TypeError(`images.processor must be a function or null, got ${printed(processor)}`);
  return hasPlatformCodecs() ? "default" : "none";
}

type Answer = { data: string; mimeType: string; hints: string[] } | { message: string };

/** The image as a model gets it; else why it does not, in words for the model. */
export async function shownImage(
  bytes: Uint8Array<ArrayBuffer>,
  mimeType: string,
  options: Parameters<ImageProcessor>[2] | undefined,
  processor: ImageProcessor | null | undefined,
): Promise<Answer> {
  if (!options) return { data: toBase64(bytes), mimeType, hints: [] };
  try {
    const answer = await settled((processor ?? platformProcessor)(bytes, mimeType, options));
    return checked(answer, options.maxBytes);
  } catch (error) {
    return omitted(`the image processor failed: ${textOf(error)}`);
  }
}

function omitted(why: string): Answer {
  return { message: `[Image omitted: ${why}]` };
}

/** A provider refuses a whole conversation for one image that is none. */
function checked(answer: unknown, maxBytes: number): Answer {
  const { ok, data, mimeType, hints, message } = Object(answer) as Record<string, unknown>;
  if (ok === false)
    return typeof message === "string" && message
      ? { message: shortened(message) }
      : omitted("no reason was given");
  if (ok !== true) return omitted("the image processor answered something else than it may");
  if (typeof mimeType !== "string" || !/^image\/[\w.+-]{1,100}$/.test(mimeType))
    return omitted("the image processor answered no MIME type of an image");
  if (typeof data !== "string" || !isBase64(data))
    return omitted("the image processor answered no base64 as data");
  if (data.length > maxBytes)
    return omitted(`the image processor answered ${data.length} bytes of base64, the limit is ${maxBytes}`);
  const lines = Array.isArray(hints) ? hints.filter((hint) => typeof hint === "string" && hint !== "") : [];
  return { data, mimeType, hints: lines.slice(0, MOST_HINTS).map(shortened) };
}

/** What a processor says goes into the model's context. */
const MOST_HINTS = 20;
const MOST_TEXT = 1000;

function shortened(text: string): string {
  const plain = text.replaceAll("\0", "\uFFFD");
  return plain.length > MOST_TEXT ? `${plain.slice(0, MOST_TEXT).replace(/\p{Surrogate}$/u, "")}…` : plain;
}

function isBase64(text: string): boolean {
  return text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}
