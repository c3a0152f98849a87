// compileSchema: its options, what it answers, and how long it lasts. What it accepts of which schema is in
// arguments.test.mjs and schema-suite.test.mjs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, describe, mock, test } from "node:test";
import { compileSchema, createToolset, init, ToolError, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
import { core, schema as schemaModule } from "../../pkg/dist/modules.js";
import { exhaustStack } from "./support/hold.mjs";

const modules = { core, schema: schemaModule };

/** One for each module, both with a repair and a refusal to tell. */
const SCHEMAS = {
  core: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  schema: { allOf: [{ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }] },
};

/** The ToolError that an action throws. */
function errorOf(action) {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof ToolError, `a ToolError, not ${error}`);
    return error;
  }
  assert.fail("expected a failure");
}

function works(compiled) {
  assert.deepEqual(compiled.check({ n: 1 }), { ok: true, value: { n: 1 } });
  assert.deepEqual(compiled.check({ n: "5" }), { ok: true, value: { n: 5 } });
  const { ok, errors } = compiled.check({ n: "x" });
  assert.deepEqual([ok, errors], [false, [{ path: "n", message: 'must be integer, got "x"' }]]);
}

before(() => init());

test("a value is checked, and stays as it is", () => {
  for (const schema of Object.values(SCHEMAS)) {
    const compiled = compileSchema(schema);
    works(compiled);
    const given = Object.freeze({ n: "5", more: Object.freeze([null]) });
    const outcome = compiled.check(given);
    assert.deepEqual(outcome, { ok: true, value: { n: 5, more: [null] } });
    assert.notEqual(outcome.value.more, given.more);
    // Its methods are no less without it.
    const { check, dispose } = compiled;
    assert.equal(check({ n: 1 }).ok, true);
    dispose();
  }
});

test("any value can be checked: text is text, and what is no JSON does not fit", () => {
  const any = compileSchema(true);
  for (const value of [null, 0, "", "{}", '"a"', [], {}, { __proto__: null, a: 1 }])
    assert.deepEqual(any.check(value), { ok: true, value: JSON.parse(JSON.stringify(value)) });
  const circular = {};
  circular.self = circular;
  let deep = [];
  for (let level = 0; level < 200; level++) deep = [deep];
  const thrower = {
    toJSON() {
      throw new Error("not me");
    },
  };
  for (const [value, message] of [
    [undefined, "must be JSON, got undefined"],
    [() => {}, "must be JSON, got a function"],
    [Symbol("s"), "must be JSON, got a symbol"],
    [5n, /^must be JSON: /],
    [circular, /^must be JSON: [^\n]*$/],
    [thrower, "must be JSON: not me"],
    ["\ud800", /^must be JSON without unpaired surrogates/],
    [deep, /nested no deeper than 128 levels/],
  ]) {
    const { ok, errors } = any.check(value);
    assert.equal(ok, false);
    assert.deepEqual([errors.length, errors[0].path], [1, ""]);
    if (typeof message === "string") assert.equal(errors[0].message, message);
    else assert.match(errors[0].message, message);
  }
  assert.equal(compileSchema(false).check(1).ok, false);
});

test("errors are sorted by path, and bounded", () => {
  const schema = { properties: { b: { type: "null" }, a: { items: { type: "null" } } } };
  for (const one of [schema, { allOf: [schema] }]) {
    const { errors } = compileSchema(one).check({ b: 1, a: Array(2000).fill(1) });
    assert.equal(errors.length, 1000);
    assert.deepEqual(errors[0], { path: "a.0", message: "must be null, got 1" });
  }
});

test("options say how", () => {
  const of = (options, value, schema = SCHEMAS.core) => compileSchema(schema, options).check(value);
  assert.deepEqual(of({ coercion: "ajv" }, { n: true }), { ok: true, value: { n: 1 } });
  assert.equal(of({}, { n: true }).ok, false);
  assert.equal(of({ coercion: "none" }, { n: "5" }).ok, false);
  const optional = { properties: { n: { type: "integer" } } };
  assert.deepEqual(of({}, { n: null }, optional), { ok: true, value: {} });
  assert.equal(of({ dropOptionalNulls: false }, { n: null }, optional).ok, false);
  assert.equal(of({ formats: true }, "x", { format: "date" }).ok, false);
  assert.equal(of({}, "x", { format: "date" }).ok, true);
  // Draft 4's exclusiveMinimum is a boolean; of another draft it is a mistake.
  const exclusive = { minimum: 1, exclusiveMinimum: true };
  for (const draft of ["4", "draft-04"]) assert.equal(of({ draft }, 1, exclusive).ok, false);
  assert.equal(of({}, 1, exclusive).ok, true);
  const named = { $schema: "http://json-schema.org/draft-04/schema#", ...exclusive };
  assert.equal(of({ draft: "7" }, 1, named).ok, false, "$schema counts more");
  const resources = { "urn:a": { type: "integer" }, "urn:b": true };
  assert.equal(of({ resources }, "x", { $ref: "urn:a" }).ok, false);
  assert.equal(of({ resources }, "x", { $ref: "urn:b" }).ok, true);
  assert.deepEqual(of({ coercion: undefined, resources: undefined }, { n: "5" }), {
    ok: true,
    value: { n: 5 },
  });
});

test("options that there are not are refused by name", () => {
  for (const [options, expected] of [
    [
      { format: true },
      /`format`, expected one of `coercion`, `dropOptionalNulls`, `formats`, `draft`, `resources`/,
    ],
    [{ onWarning() {} }, /`onWarning`/],
    [{ coercion: "strict" }, /`strict`, expected `safe`, `ajv` or `none`/],
    [{ formats: "yes" }, /"yes".*`formats`/],
    [{ formats: () => true }, /`formats`/],
    [{ dropOptionalNulls: 1 }, /`dropOptionalNulls`/],
    [{ draft: "3" }, /draft: expected one of 4, 6, 7, .*, found `3`/],
    [{ draft: 7 }, /`draft`/],
    [{ resources: new Map() }, /expected resources as an object, documents by URI, found Map/],
    [{ resources: [] }, /resources/],
    [{ resources: "urn:a" }, /resources/],
    ["none", /expected options as an object, found a string/],
    [null, /expected options as an object, found null/],
  ]) {
    const error = errorOf(() => compileSchema({}, options));
    assert.equal(error.code, "invalid_arguments");
    assert.match(error.message, expected);
  }
});

test("warnings say what was mended", () => {
  const { warnings } = compileSchema({ type: "strng", properties: { "a/b": { minimum: "1" } } });
  assert.deepEqual(
    warnings.map(({ path }) => path),
    ["/type", "/properties/a~1b/minimum"],
  );
  assert.throws(() => warnings.push({}), TypeError);
  assert.throws(() => {
    warnings[0].path = "";
  }, TypeError);
  for (const schema of Object.values(SCHEMAS)) assert.deepEqual(compileSchema(schema).warnings, []);
});

test("a schema is read once", () => {
  const schema = structuredClone(SCHEMAS.core);
  const compiled = compileSchema(schema);
  const options = { coercion: "none" };
  const strict = compileSchema(schema, options);
  schema.properties.n.type = "string";
  options.coercion = "safe";
  works(compiled);
  assert.equal(strict.check({ n: "5" }).ok, false);
});

test("what was disposed of is so for good, and twice is once", () => {
  for (const schema of Object.values(SCHEMAS)) {
    const [one, other] = [compileSchema(schema), compileSchema(schema)];
    one.dispose();
    one.dispose();
    one[Symbol.dispose]();
    assert.equal(errorOf(() => one.check({ n: 1 })).code, "disposed");
    assert.equal(errorOf(() => one.warnings).code, "disposed");
    works(other);
  }
});

test("what is forgotten is freed", () => {
  const script = `
    import { compileSchema, init } from "tackroom";
    import * as modules from "../../pkg/dist/modules.js";
    await init();
    const freed = { core: 0, schema: 0 };
    for (const name of ["core", "schema"]) {
      const { loaded } = modules[name];
      const enter = loaded.enter;
      loaded.enter = (entry, ...texts) => {
        if (String(entry).includes("schema_free") || texts.length === 0) freed[name]++;
        return enter.call(loaded, entry, ...texts);
      };
    }
    const kept = compileSchema({ allOf: [true] });
    for (let nth = 0; nth < 50; nth++) { compileSchema({}); compileSchema({ allOf: [true] }); }
    for (let nth = 0; nth < 100 && (freed.core < 50 || freed.schema < 50); nth++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    console.log(freed.core, freed.schema, kept.check(1).ok);`;
  const flags = ["--expose-gc", "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  assert.equal(stdout, "50 50 true\n", stderr);
});

test("without the schema module, a schema that needs it says what to do", () => {
  const script = `
    import { compileSchema, createToolset, init, validateToolArguments } from "tackroom";
    import { memory } from "tackroom/env/memory";
    await createToolset(memory());
    const said = (run) => { try { console.log(JSON.stringify(run())); } catch ({ code, message }) { console.log(code, message); } };
    const parameters = { type: "object", properties: { s: { pattern: "^a" } } };
    const validate = () => validateToolArguments({ name: "t", parameters }, { arguments: '{"s":"b"}' });
    said(() => compileSchema({ type: "integer" }).check("5"));
    said(() => compileSchema(parameters));
    said(() => compileSchema({}, { draft: "4" }));
    said(validate);
    await init();
    said(validate);
    said(() => compileSchema(parameters).check({ s: "ab" }));`;
  const flags = ["--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, flags, {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  const lines = stdout.split("\n");
  assert.equal(lines[0], '{"ok":true,"value":5}', stderr);
  const needed = "at /properties/s, for which the schema module has to be loaded: call await init() first";
  assert.equal(lines[1], `not_supported The schema needs "pattern" ${needed}`);
  assert.match(lines[2], /^not_supported The schema needs "\$schema" at the top, .*await init\(\)/);
  assert.equal(lines[3], `not_supported The parameters of tool "t" need "pattern" ${needed}`);
  assert.match(lines[4], /^invalid_arguments Validation failed/);
  assert.equal(lines.at(-2), '{"ok":true,"value":{"s":"ab"}}');
});

for (const [name, schema] of Object.entries(SCHEMAS)) {
  describe(`when the ${name} module traps`, () => {
    /** What a trap looks like from outside: the entry throws. */
    const trap = () => {
      const said = mock.method(console, "error", () => {});
      try {
        modules[name].loaded.enter(() => {
          throw new WebAssembly.RuntimeError("unreachable");
        });
      } catch {
        // The schema module says so by throwing.
      }
      said.mock.restore();
    };

    test("the schema is compiled again, and the next check works", () => {
      const compiled = compileSchema(schema);
      const tool = { name: "t", parameters: structuredClone(schema) };
      validateToolArguments(tool, { arguments: { n: 1 } });
      const { generation } = modules[name].loaded;
      for (let nth = 1; nth <= 3; nth++) {
        trap();
        works(compiled);
        trap();
        assert.deepEqual(validateToolArguments(tool, { arguments: { n: "5" } }), { n: 5 });
        trap();
        assert.deepEqual(compiled.warnings, []);
        assert.equal(modules[name].loaded.generation, generation + 3 * nth);
      }
      trap();
      compiled.dispose();
      works(compileSchema(schema));
    });

    test("a check that traps says so", () => {
      const compiled = compileSchema(schema);
      works(compiled);
      const { loaded } = modules[name];
      const fails = mock.method(loaded, "enter", (_, ...texts) => {
        fails.mock.restore();
        return loaded.enter(
          () => {
            throw new WebAssembly.RuntimeError("unreachable");
          },
          ...texts,
        );
      });
      const error = errorOf(() => compiled.check({ n: 1 }));
      assert.equal(error.code, "trapped");
      assert.match(error.message, /failed and was restarted/);
      works(compiled);
    });

    test("as on a stack that is full", () => {
      const compiled = compileSchema(schema);
      const outcomes = new Set();
      exhaustStack(() => {
        try {
          const { ok, errors } = compiled.check({ n: "5" });
          outcomes.add(ok || errors[0].message);
        } catch {
          outcomes.add("threw");
        }
      });
      outcomes.delete("must be JSON: Maximum call stack size exceeded");
      assert.ok(outcomes.delete(true), "with enough of it");
      outcomes.delete("threw");
      assert.deepEqual([...outcomes], []);
      works(compiled);
    });
  });

  test(`checks by the ${name} module inside of others`, async () => {
    const compiled = compileSchema(schema);
    const inner = {
      toJSON() {
        works(compiled);
        return { n: "7" };
      },
    };
    assert.deepEqual(compiled.check(inner), { ok: true, value: { n: 7 } });
    // In an entry into the core, which calls the environment.
    const env = memory({ f: "text" });
    const fresh = { ...schema, title: "fresh" };
    for (const method of ["fileInfo", "readBinaryFile"]) {
      const original = env[method].bind(env);
      env[method] = (...args) => {
        works(compiled);
        const another = compileSchema({ ...fresh });
        works(another);
        another.dispose();
        assert.deepEqual(
          validateToolArguments({ name: "t", parameters: fresh }, { arguments: '{"n":"1"}' }),
          { n: 1 },
        );
        return original(...args);
      };
    }
    const toolset = await createToolset(env);
    const { content } = await toolset.call({ id: "1", name: "read", arguments: { path: "f" } });
    assert.equal(content[0].text, "text");
    // The schema may go while it is in use.
    const suicidal = compileSchema(schema);
    const value = {
      toJSON() {
        suicidal.dispose();
        return { n: 1 };
      },
    };
    assert.equal(errorOf(() => suicidal.check(value)).code, "disposed");
  });
}

test("tools may share a schema, and each is named in its messages", () => {
  const parameters = { ...SCHEMAS.schema };
  for (let round = 0; round < 2; round++) {
    for (let nth = 0; nth < 40; nth++) {
      const tool = { name: `tool${nth}`, parameters };
      assert.deepEqual(validateToolArguments(tool, { arguments: { n: "1" } }), { n: 1 });
      const { message } = errorOf(() => validateToolArguments(tool, { arguments: {} }));
      assert.match(message, new RegExp(`for tool "tool${nth}":`));
    }
  }
});
