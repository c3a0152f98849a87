// An entry on a stack that is as good as full is refused before it enters wasm: an overflow in there is a trap, which
// ends every call in flight. One that needs more than is kept free for it may trap, and the instance is replaced.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { glue, loadCore } from "../../pkg/dist/core.js";
import { TRAPPED, unwrap } from "../../pkg/dist/instance.js";
import { exhaustStack } from "./support/hold.mjs";

const module = await WebAssembly.compile(readFileSync(new URL("../../pkg/wasm/core.wasm", import.meta.url)));
const core = await loadCore(module);

/** What becomes of an entry, with ever more stack, after so many of them with enough. */
function outcomes(levels, warmUps) {
  const text = `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  core.wake();
  const schema = unwrap(
    core.enter((...lengths) => glue.schema_new(...lengths), "t", '{"required":["a"]}', "{}"),
  );
  const entry = () => core.enter((length) => glue.arguments_fit(schema, length), text);
  for (let nth = 0; nth < warmUps; nth++) assert.equal(entry(), true);
  const counts = { refused: 0, trapped: 0, done: 0 };
  const attempt = () => {
    try {
      if (entry() === TRAPPED) counts.trapped++;
      else counts.done++;
    } catch {
      counts.refused++;
    }
  };
  // Compiled, for which hardly any stack is not enough.
  attempt();
  exhaustStack(attempt);
  return counts;
}

// Interpreted, and at its best.
for (const warmUps of [2, 30_000]) {
  describe(`after ${warmUps} entries`, () => {
    test("a small entry never traps", () => {
      const { generation } = core;
      const { refused, trapped, done } = outcomes(8, warmUps);
      assert.equal(trapped, 0);
      assert.ok(refused > 0 && done > 0, `${refused} refused, ${done} done`);
      assert.ok(core.isAlive && core.generation === generation);
    });

    test("a large one may, and is noticed", () => {
      const { trapped } = outcomes(100, warmUps);
      assert.ok(trapped > 0);
      assert.equal(core.isAlive, false);
      core.wake();
      assert.ok(core.isAlive);
    });
  });
}
