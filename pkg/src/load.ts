/**
 * From whatever a host has of a wasm module to the module.
 *
 * @module
 */

import { isToolError, ToolError } from "./errors.js";
import type { WasmSource } from "./types.js";
import { textOf } from "./values.js";

type Settled = Exclude<WasmSource, Promise<unknown>>;

/** Compiles a source. Throws a {@link ToolError} that says what to do. */
export async function compile(source: WasmSource): Promise<WebAssembly.Module> {
  try {
    return await compileAny(await source);
  } catch (error) {
    throw explained(error);
  }
}

async function compileAny(source: Settled): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  // Before anything asks for Response, which costs Node some ten milliseconds to load.
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (typeof source === "string" || source instanceof URL) return compileAny(await fetch(source));
  if (typeof Response === "function" && source instanceof Response) {
    if (!source.ok)
      throw new ToolError(`${source.url || "the module"} answered ${source.status}`, "not_found");
    return compileResponse(source);
  }
  // Bytes of another realm; what is none is refused.
  return WebAssembly.compile(source as unknown as BufferSource);
}

/** Streaming needs the right MIME type, which plain static servers do not always send. */
async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const isWasm = response.headers.get("content-type")?.split(";")[0]?.trim() === "application/wasm";
  if (isWasm && typeof WebAssembly.compileStreaming === "function") {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

/** `(module (func (result v128) (i8x16.splat (i32.const 0))))` */
const SIMD_PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 8, 1, 6, 0, 65, 0, 253, 15, 11,
]);

function explained(error: unknown): unknown {
  if (isToolError(error)) return error;
  const text = textOf(error);
  if (/unsafe-eval|Content Security Policy/i.test(text)) {
    return new ToolError(
      `The page's Content Security Policy forbids WebAssembly: add 'wasm-unsafe-eval' to script-src (${text})`,
      "not_supported",
    );
  }
  if (!WebAssembly.validate(SIMD_PROBE)) {
    return new ToolError(
      "This runtime has no WebAssembly SIMD (simd128), which Tackroom needs",
      "not_supported",
    );
  }
  return new ToolError(`Could not load Tackroom's wasm module: ${text}`, "unknown");
}

interface NodeModules {
  "node:buffer": { Buffer: { from(text: string, encoding: "base64"): Uint8Array<ArrayBuffer> } };
  "node:zlib": { gunzipSync(bytes: Uint8Array): Uint8Array<ArrayBuffer> };
}

/** A module of Node's, where there is one. */
function builtin<N extends keyof NodeModules>(name: N): NodeModules[N] | undefined {
  const node = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  return node?.getBuiltinModule?.(name) as NodeModules[N] | undefined;
}

/** Unpacks a module that is gzip and base64 in a string. Node has quicker ways than the web. */
export async function unpack(packed: string, rawLength: number): Promise<BufferSource> {
  const bytes = builtin("node:buffer")?.Buffer.from(packed, "base64") ?? fromBase64(packed);
  const zlib = builtin("node:zlib");
  if (zlib) return zlib.gunzipSync(bytes);
  const raw = new Uint8Array(rawLength);
  let at = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    raw.set(part.value, at);
    at += part.value.length;
  }
  return raw;
}

/**
 * The engine's own way, where it has one; else a loop over char codes: `Uint8Array.from(atob(text), …)` takes several
 * times as long.
 */
function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const own = Uint8Array as { fromBase64?(text: string): Uint8Array<ArrayBuffer> };
  if (own.fromBase64) return own.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
