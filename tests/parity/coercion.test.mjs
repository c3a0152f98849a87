// Coercion "ajv", generated: the same verdict and the same value as ajv with `coerceTypes: true`, scalar by scalar. Only
// infinities, which JSON cannot hold, are errors here; they are counted. Any other difference fails.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import * as tackroom from "tackroom";
import { isInfinite, scalar, schemaOf, table, theirs, types } from "./scalars.mjs";
import { CASES, random, SEED, shown, tally } from "./support.mjs";

const TABLE = new URL("../data/ajv-coercion.json", import.meta.url);

test("the table that the native test goes by is ajv's", async () => {
  const made = table();
  // PARITY_UPDATE=1 writes it anew.
  if (process.env.PARITY_UPDATE) await writeFile(TABLE, made);
  assert.equal(await readFile(TABLE, "utf8"), made);
});

const skip = "compileSchema" in tackroom ? false : "the package has no compileSchema yet";

test("scalars are coerced as ajv does", { skip }, async (t) => {
  await tackroom.init();
  const rng = random(SEED + 4);
  const counts = tally("coercion");
  const compiled = new Map();
  for (let nth = 0; nth < CASES * 3; nth++) {
    const wanted = types(rng);
    const given = scalar(rng);
    const key = JSON.stringify(wanted);
    if (!compiled.has(key)) {
      compiled.set(key, tackroom.compileSchema(schemaOf(wanted), { coercion: "ajv" }));
    }
    const outcome = compiled.get(key).check({ v: given });
    const own = outcome.ok ? { value: outcome.value.v } : {};
    const expected = theirs(wanted, given);
    const facts = () => shown({ nth, SEED, wanted, given, theirs: expected, own, errors: outcome.errors });
    if (isInfinite(expected)) {
      assert.deepEqual(own, {}, facts());
      counts.add("an infinity: refused here");
      continue;
    }
    // Strict: it tells −0 from 0.
    assert.deepStrictEqual(own, expected, facts());
    counts.add(
      "value" in own ? `the same, ${own.value === given ? "as it was" : "coerced"}` : "the same: refused",
    );
  }
  counts.print(t);
  for (const check of compiled.values()) check.dispose();
  assert.ok(counts.of("the same, coerced") > CASES / 2, "too few were coerced to say anything");
});
