/**
 * Bytes as base64.
 *
 * @module
 */

/** Characters of base64 that so many bytes have. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Bytes that are encoded at once where the engine has no way of its own: a multiple of 3. */
const PART = 0x6000;

interface NodeBuffer {
  from(buffer: ArrayBuffer, offset: number, length: number): { toString(encoding: string): string };
}

/** The engine's own way, where it has one; else Node's, else the web's. */
export function toBase64(bytes: Uint8Array<ArrayBuffer>): string {
  const own = bytes as { toBase64?(): string };
  if (own.toBase64) return own.toBase64();
  const node = (globalThis as { Buffer?: NodeBuffer }).Buffer;
  if (node) return node.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  let text = "";
  for (let at = 0; at < bytes.length; at += PART)
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + PART)));
  return text;
}
