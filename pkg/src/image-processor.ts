/**
 * The image processor of pages and workers: the platform's codecs.
 *
 * @module
 */

import { base64Length, toBase64 } from "./base64.js";
import type { ImageProcessor } from "./types.js";

/** Whether the runtime can decode, scale and encode images without a document. */
export function hasPlatformCodecs(): boolean {
  return typeof createImageBitmap === "function" && typeof OffscreenCanvas === "function";
}

interface Size {
  width: number;
  height: number;
}

/** Of JPEG, for the first attempt and for those after it. */
const [QUALITY, LOWER_QUALITIES] = [0.8, [0.7, 0.55, 0.4]];

/** How much smaller each side is in the next attempt. */
const SHRINK = 0.75;

/**
 * Fits an image into the limits: upright, in the largest size in which it can be encoded in few enough bytes. See
 * `ImageOptions` of types.ts.
 */
export const platformProcessor: ImageProcessor = async (bytes, mimeType, options) => {
  const { autoResize, maxWidth, maxHeight, maxBytes, signal } = options;
  let image: ImageBitmap;
  try {
    image = await createImageBitmap(new Blob([bytes], { type: mimeType }), {
      imageOrientation: "from-image",
    });
  } catch {
    signal.throwIfAborted();
    return { ok: false, message: "[Image omitted: it could not be decoded. It may be damaged.]" };
  }
  try {
    const original = { width: image.width, height: image.height };
    let size = autoResize ? fitted(original, maxWidth, maxHeight) : original;
    for (;;) {
      signal.throwIfAborted();
      const blob = await encoded(image, size, maxBytes, signal);
      if (blob) {
        const data = toBase64(new Uint8Array(await blob.arrayBuffer()));
        return { ok: true, data, mimeType: blob.type, hints: hints(mimeType, blob.type, original, size) };
      }
      if (!autoResize || (size.width === 1 && size.height === 1)) break;
      size = { width: shrunk(size.width), height: shrunk(size.height) };
    }
    return {
      ok: false,
      message: "[Image omitted: could not be resized below the inline image size limit.]",
    };
  } finally {
    image.close();
  }
};

function shrunk(side: number): number {
  return Math.max(1, Math.floor(side * SHRINK));
}

/** The largest size of the same proportions within the limits. */
function fitted({ width, height }: Size, maxWidth: number, maxHeight: number): Size {
  const scale = Math.min(1, maxWidth / width, maxHeight / height);
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  return { width: side(width), height: side(height) };
}

/** The smaller of PNG and a good JPEG if it fits, else the best JPEG that does, else nothing. */
async function encoded(
  image: ImageBitmap,
  size: Size,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Blob | undefined> {
  const canvas = drawn(image, size);
  const fits = (blob: Blob) => base64Length(blob.size) <= maxBytes;
  const png = await canvas.convertToBlob({ type: "image/png" });
  signal.throwIfAborted();
  // JPEG knows no transparency: what is behind is white, as on a page, not black.
  const context = contextOf(canvas);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = "#fff";
  context.fillRect(0, 0, size.width, size.height);
  const jpeg = (quality: number) => canvas.convertToBlob({ type: "image/jpeg", quality });
  const good = await jpeg(QUALITY);
  const smaller = good.size < png.size ? good : png;
  if (fits(smaller)) return smaller;
  for (const quality of LOWER_QUALITIES) {
    signal.throwIfAborted();
    const blob = await jpeg(quality);
    if (fits(blob)) return blob;
  }
  return undefined;
}

/** The image in that size. It is halved until the last step is less than that: browsers look at few pixels only. */
function drawn(image: ImageBitmap, { width, height }: Size): OffscreenCanvas {
  let source: ImageBitmap | OffscreenCanvas = image;
  for (;;) {
    const half = (now: number, last: number) => Math.max(last, Math.ceil(now / 2));
    const [across, down] = [half(source.width, width), half(source.height, height)];
    const canvas: OffscreenCanvas = new OffscreenCanvas(across, down);
    const context = contextOf(canvas);
    context.imageSmoothingQuality = "high";
    context.drawImage(source, 0, 0, across, down);
    if (across === width && down === height) return canvas;
    source = canvas;
  }
}

function contextOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext("2d");
  if (!context) throw new Error(`no canvas of ${canvas.width}x${canvas.height} pixels is to be had`);
  return context;
}

function hints(from: string, to: string, original: Size, shown: Size): string[] {
  const lines: string[] = [];
  if (from === "image/bmp") lines.push(`[Image converted from ${from} to ${to}.]`);
  if (original.width === shown.width && original.height === shown.height) return lines;
  const [x, y] = [original.width / shown.width, original.height / shown.height];
  // The two differ by more than rounding where a side has few pixels.
  const isUniform = Math.abs(x / y - 1) < 0.02;
  const factor = isUniform
    ? `coordinates by ${x.toFixed(2)}`
    : `x by ${x.toFixed(2)} and y by ${y.toFixed(2)}`;
  lines.push(
    `[Image: original ${original.width}x${original.height}, displayed at ${shown.width}x${shown.height}. ` +
      `Multiply ${factor} to map to original image.]`,
  );
  return lines;
}
