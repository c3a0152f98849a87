/**
 * Text to bytes and back, by the encodings that just-bash names.
 *
 * @module
 */

export type Encoding = "utf8" | "utf-8" | "ascii" | "binary" | "base64" | "hex" | "latin1";

/** Strings of one character a byte are made of parts of this length: arguments of a call are limited. */
const PART = 8192;

export function encode(content: string | Uint8Array, encoding: Encoding): Uint8Array {
  if (typeof content !== "string") return content;
  switch (encoding) {
    case "ascii":
    case "binary":
    case "latin1":
      return latin1(content);
    case "base64":
      return latin1(atob(content));
    case "hex":
      return Uint8Array.from(content.match(/[0-9a-f]{2}/gi) ?? [], (pair) => Number.parseInt(pair, 16));
    default:
      return new TextEncoder().encode(content);
  }
}

export function decode(bytes: Uint8Array, encoding: Encoding): string {
  switch (encoding) {
    case "ascii":
    case "binary":
    case "latin1":
      return characters(bytes);
    case "base64":
      return btoa(characters(bytes));
    case "hex":
      return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    default:
      // A BOM is a part of the file: what is read and written back keeps it.
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  }
}

/** The bytes of a string of one character a byte. */
export function latin1(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

function characters(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += PART) {
    text += String.fromCharCode(...bytes.subarray(at, at + PART));
  }
  return text;
}
