// The JSON Schema Test Suite through the package: every required test of every draft, by whichever module the face
// takes. tests/schema_suite.rs is the same natively, checker by checker.
//
// The suite is read from the folder that JSON_SCHEMA_TEST_SUITE names, by default beside the project, and is not part
// of it. Where it is missing the tests are skipped.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { compileSchema, init } from "tackroom";

const suite =
  process.env.JSON_SCHEMA_TEST_SUITE ??
  fileURLToPath(new URL("../../../shared/data/json-schema-test-suite", import.meta.url));
const skip = !existsSync(suite) && `there is no JSON Schema Test Suite at ${suite}`;

const files = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(folder, name));
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The documents that the suite's schemas refer to, by the URIs that they have there. */
function remotes() {
  const folder = join(suite, "remotes");
  const uri = (path) => `http://localhost:1234/${relative(folder, path).split(sep).join("/")}`;
  return Object.fromEntries(files(folder).map((path) => [uri(path), read(path)]));
}

before(() => init());

for (const [folder, draft] of [
  ["draft4", "4"],
  ["draft6", "6"],
  ["draft7", "7"],
  ["draft2019-09", "2019-09"],
  ["draft2020-12", "2020-12"],
]) {
  test(folder, { skip }, (t) => {
    const options = { draft, coercion: "none", dropOptionalNulls: false };
    const withRemotes = { ...options, resources: remotes() };
    const wrong = [];
    let run = 0;
    // Optional tests are in folders below.
    for (const file of readdirSync(join(suite, "tests", folder)).filter((name) => name.endsWith(".json"))) {
      for (const { schema, description: group, tests } of read(join(suite, "tests", folder, file))) {
        // Most need none of them, and all of them are a lot to read.
        const needsRemotes = JSON.stringify(schema).includes("localhost:1234");
        const compiled = compileSchema(schema, needsRemotes ? withRemotes : options);
        for (const { data, valid, description } of tests) {
          run++;
          const outcome = compiled.check(data);
          if (outcome.ok !== valid)
            wrong.push(
              `${file}: ${group}: ${description}: expected ${valid}, got ${JSON.stringify(outcome)}`,
            );
          if (outcome.ok) assert.deepStrictEqual(outcome.value, data, "nothing may change");
          else assert.ok(outcome.errors.length > 0);
        }
        compiled.dispose();
      }
    }
    t.diagnostic(`${run} tests`);
    assert.deepEqual(wrong, []);
    assert.ok(run > 500, "the suite has more tests");
  });
}
