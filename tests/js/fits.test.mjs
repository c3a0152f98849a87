// Argument text that fits as it is never comes back from the core: the face reads it itself, and has to read the same.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { glue, loadCore } from "../../pkg/dist/core.js";
import { unwrap } from "../../pkg/dist/instance.js";

test("what fits as it is reads the same here as in the core", async () => {
  const module = readFileSync(new URL("../../pkg/wasm/core.wasm", import.meta.url));
  const core = await loadCore(await WebAssembly.compile(module));
  const parameters = '{"properties":{"n":{"type":"number"},"s":{"type":"string"}},"required":["n"]}';
  const id = unwrap(core.enter((...lengths) => glue.schema_new(...lengths), "t", parameters, "{}"));
  const fits = (text) => core.enter((length) => glue.arguments_fit(id, length), text);
  const long = "é".repeat(15_000);
  for (const text of [
    '{"n":-0}',
    '{"n":-0.0,"s":""}',
    '{"n":1e-400}',
    '{"n":5e-324}',
    '{"n":1.7976931348623157e308}',
    '{"n":0.1,"m":[9007199254740993,18446744073709551615,123456789012345678901234567890,-9223372036854775809]}',
    '{"n":1,"n":2,"z":1,"a":2,"z":3}',
    '{"__proto__":{"x":1},"n":1,"constructor":null,"toJSON":1}',
    '{"10":1,"n":1,"2":2}',
    '\t{"n" : 1 ,\r\n"s":"\\ud83d\\ude00 \\u0000 \\/ \u2028 \u007f"} ',
    `{"n":1,"s":${JSON.stringify(long)}}`,
    `{"n":1,"s":"${"x".repeat(2_000_000)}"}`,
    `{"n":1,"a":${"[".repeat(127)}${"]".repeat(127)}}`,
  ]) {
    const shown = text.slice(0, 100);
    assert.equal(fits(text), true, shown);
    const answer = core.enter((length) => glue.validate_arguments(id, length, false), text);
    assert.equal(JSON.stringify(unwrap(answer)), JSON.stringify(JSON.parse(text)), shown);
  }
  for (const text of ["", '{"n":1e400}', '{"n":1,"s":"\\ud800"}', '{"n":1}\ufeff', '"{\\"n\\":1}"']) {
    assert.equal(fits(text), false, text);
  }
});
