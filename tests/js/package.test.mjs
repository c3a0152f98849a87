// The package as it lies in pkg/: its entries exist, and the two forms of the module are one module.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const folder = new URL("../../pkg/", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", folder), "utf8"));

test("every entry of exports has its files", () => {
  const paths = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry),
  );
  const missing = paths.filter((path) => !existsSync(new URL(path, folder)));
  assert.deepEqual(missing, []);
});

test("every entry resolves by its name", () => {
  for (const entry of Object.keys(manifest.exports)) {
    const url = import.meta.resolve(`tackroom${entry.slice(1)}`);
    assert.ok(existsSync(fileURLToPath(url)), url);
  }
});

test("the inline form unpacks to core.wasm, byte for byte", async () => {
  const inline = await import(new URL("wasm/core-inline.js", folder));
  const raw = readFileSync(new URL("wasm/core.wasm", folder));
  assert.equal(inline.rawLength, raw.length);
  assert.ok(raw.equals(gunzipSync(Buffer.from(inline.default, "base64"))));
});

test("the module is optimised: no names, no producers, and it compiles", async () => {
  const module = await WebAssembly.compile(readFileSync(new URL("wasm/core.wasm", folder)));
  for (const section of ["name", "producers", "target_features"]) {
    assert.deepEqual(WebAssembly.Module.customSections(module, section), [], section);
  }
});

test("the glue names no file of its own", () => {
  const glue = readFileSync(new URL("wasm/core.js", folder), "utf8");
  assert.doesNotMatch(glue, /import\.meta|core_bg\.wasm/);
  assert.match(glue, /export function __wbg_reset_state/);
});
