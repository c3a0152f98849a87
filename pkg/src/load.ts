/**
 * From whatever a host has of a wasm module to the module.
 *
 * @module
 */

import { isToolError, ToolError } from "./errors.js";
import type { WasmSource } from "./types.js";
import { kindOf, textOf } from "./values.js";

/** A source that is no promise any more. */
export type SettledSource = Exclude<WasmSource, Promise<unknown>>;

/** For the message about what is none. */
export const SOURCES = "a URL, a Response, bytes, a WebAssembly.Module, or a promise of one";

/** What a source is, of this realm or another; `undefined` for what is none, a promise among others. Never throws. */
export function sourceKind(source: unknown): "module" | "bytes" | "response" | "url" | undefined {
  if (typeof source === "string") return "url";
  if (ArrayBuffer.isView(source)) return "bytes";
  // By name: a look at the global `Response` costs Node some ten milliseconds, and another realm has its own.
  switch (tagOf(source)) {
    case "[object WebAssembly.Module]":
      return "module";
    case "[object ArrayBuffer]":
      return "bytes";
    case "[object Response]":
      return "response";
    case "[object URL]":
      return "url";
  }
  return undefined;
}

function tagOf(value: unknown): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
}

/** Where a source lies, if it says so. */
export function urlOf(source: unknown): string | undefined {
  const kind = sourceKind(source);
  if (kind === "url") return String(source);
  return (kind === "response" && (source as Response).url) || undefined;
}

/**
 * Compiles a source.
 *
 * @param name the module's, for messages.
 * @throws {ToolError} that says what to do.
 */
export async function compile(source: SettledSource, name: string): Promise<WebAssembly.Module> {
  try {
    switch (sourceKind(source)) {
      case "module":
        // One of another realm is none to the glue.
        return source instanceof WebAssembly.Module
          ? source
          : structuredClone(source as unknown as WebAssembly.Module);
      case "bytes":
        return await WebAssembly.compile(bytesOfView(source as BufferSource));
      case "response":
        return await compileResponse(source as Response, name);
      case "url":
        return await compileResponse(await fetched(source as string | URL, name), name);
    }
  } catch (error) {
    throw explained(error, name, urlOf(source));
  }
  throw new ToolError(
    `Expected in init() for ${name}.wasm ${SOURCES}, found ${kindOf(source)}`,
    "invalid_arguments",
  );
}

/** A DataView is a BufferSource, but not to every runtime. */
function bytesOfView(source: BufferSource): BufferSource {
  if (!(source instanceof DataView)) return source;
  return new Uint8Array(source.buffer, source.byteOffset, source.byteLength) as Uint8Array<ArrayBuffer>;
}

async function fetched(url: string | URL, name: string): Promise<Response> {
  try {
    return await fetch(url);
  } catch (error) {
    // Not by way of `explained`: it is another directive that forbids a request.
    const way = /^file:/i.test(String(url)) ? ". Give init() the file's bytes instead" : "";
    throw new ToolError(
      `Could not fetch Tackroom's ${name}.wasm from ${url}: ${textOf(error)}${way}`,
      "unknown",
    );
  }
}

/** Streaming needs the very MIME type, parameters excluded, which plain static servers do not always send. */
async function compileResponse(response: Response, name: string): Promise<WebAssembly.Module> {
  if (!response.ok) {
    const message = `${response.url || "The server"} answered ${response.status} for Tackroom's ${name}.wasm`;
    throw new ToolError(message, "not_found");
  }
  // In this spelling: Node compares it so.
  const isWasm = response.headers.get("content-type")?.trim() === "application/wasm";
  if (isWasm && typeof WebAssembly.compileStreaming === "function") {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** `(module (func (result v128) (i8x16.splat (i32.const 0))))` */
const SIMD_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
]);

/** What forbids WebAssembly, in the words of Chromium, Firefox and WebKit. */
const FORBIDDEN = /unsafe-eval|Content Security Policy|\bCSP\b/i;

function explained(error: unknown, name: string, url: string | undefined): unknown {
  if (isToolError(error)) return error;
  const text = textOf(error);
  if (FORBIDDEN.test(text)) {
    return new ToolError(
      `The page's Content Security Policy forbids WebAssembly: add 'wasm-unsafe-eval' to script-src (${text})`,
      "not_supported",
    );
  }
  if (/disallowed by embedder/i.test(text)) {
    return new ToolError(
      `This runtime compiles no WebAssembly at run time: import tackroom/${name}.wasm as a module and give it to ` +
        `init(), or resolve tackroom with the condition workerd (${text})`,
      "not_supported",
    );
  }
  if (!WebAssembly.validate(SIMD_PROBE)) {
    return new ToolError(
      "This runtime has no WebAssembly SIMD (simd128), which Tackroom needs",
      "not_supported",
    );
  }
  const from = url === undefined ? "" : ` from ${url}`;
  return new ToolError(`Could not load Tackroom's ${name}.wasm${from}: ${text}`, "unknown");
}
