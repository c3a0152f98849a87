/**
 * The inline form of a wasm module, gzip and base64 in a string, back to bytes.
 *
 * @module
 */

/** One of `wasm/*-inline.js`. */
export interface Inline {
  default: string;
  rawLength: number;
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

/** The module's bytes. Node has quicker ways than the web. */
export async function unpack({ default: packed, rawLength }: Inline): Promise<BufferSource> {
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
