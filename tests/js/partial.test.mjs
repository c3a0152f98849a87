// parsePartialArguments: arguments that are still being streamed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { init, parsePartialArguments, validateToolArguments } from "tackroom";

before(() => init());

const value = (text, tool) => parsePartialArguments(text, tool).value;

/** A call whose text has everything: escapes, characters of two units, raw breaks, nesting. */
const TEXT = `{"path":"größe/😀.ts","n":-12.5e1,"flags":[true,null,{"a":[]}],"content":"a\\n\\"b\\" \\ud83d\\ude00 C:\\Users
raw"}`;

test("each chunk shows more, and the whole text what a call is given", () => {
  const whole = validateToolArguments({ name: "t", parameters: {} }, { arguments: TEXT });
  assert.deepEqual(parsePartialArguments(TEXT), { value: whole, complete: true });
  const shown = { path: "", content: "" };
  for (let end = 1; end < TEXT.length; end++) {
    const partial = parsePartialArguments(TEXT.slice(0, end));
    assert.equal(partial.complete, false, TEXT.slice(0, end));
    for (const key of ["path", "content"]) {
      const text = partial.value[key] ?? "";
      assert.ok(whole[key].startsWith(text), `${text} begins ${whole[key]}`);
      assert.ok(text.startsWith(shown[key]), `${text} goes on from ${shown[key]}`);
      shown[key] = text;
    }
    const { n } = partial.value;
    assert.ok([undefined, -1, -12, -12.5, -125].includes(n), `n is ${n}`);
    assert.ok(Object.keys(whole).join().startsWith(Object.keys(partial.value).join()));
  }
  assert.deepEqual(shown, { path: whole.path, content: whole.content });
});

test("what is cut off is closed or left out", () => {
  const shown = [
    ['{"a', {}],
    ['{"a":', {}],
    ['{"a":tru', {}],
    ['{"a":true', { a: true }],
    ['{"a":-', {}],
    ['{"a":12', { a: 12 }],
    ['{"a":12.', { a: 12 }],
    ['{"a":"', { a: "" }],
    ['{"a":"x\\', { a: "x" }],
    ['{"a":"x\\u00', { a: "x" }],
    ['{"a":"x\\ud83d', { a: "x" }],
    ['{"a":[1,{"b":[2', { a: [1, { b: [2] }] }],
    ['"{\\"a\\":\\"x', { a: "x" }],
  ];
  for (const [text, expected] of shown) {
    assert.deepEqual(parsePartialArguments(text), { value: expected, complete: false }, text);
  }
});

test("a chunk may end inside of a character", () => {
  assert.deepEqual(parsePartialArguments('{"a":"x😀'.slice(0, -1)), { value: { a: "x" }, complete: false });
  // After a backslash too, which is then no escape.
  assert.deepEqual(value('{"a":"x\\😀'.slice(0, -1)), { a: "x" });
  assert.deepEqual(value('{"a":"x\\😀'), { a: "x\\😀" });
  assert.deepEqual(parsePartialArguments("{}\ud83d"), { value: {}, complete: false });
  // Half of one in the middle is a fault, as in a call.
  assert.deepEqual(parsePartialArguments('{"a":"x\ud83dy","b":1}'), { value: { a: "x" }, complete: false });
});

test("without a value there is none", () => {
  for (const text of ["", " ", "-", "nul", '"', "```json"]) {
    const partial = parsePartialArguments(text);
    assert.deepEqual(Object.entries(partial), [["complete", false]], text);
  }
});

test("malformed text shows what came before", () => {
  assert.deepEqual(parsePartialArguments('{"a":1,}'), { value: { a: 1 }, complete: false });
  assert.deepEqual(parsePartialArguments('{"a":1} that is all'), { value: { a: 1 }, complete: false });
  const deep = parsePartialArguments("[".repeat(100_000));
  assert.equal(JSON.stringify(deep.value), "[".repeat(128) + "]".repeat(128));
  assert.equal(deep.complete, false);
});

test("a built-in tool's other names are translated", () => {
  assert.deepEqual(value('{"file_path":"a', "read"), { path: "a" });
  assert.deepEqual(value('{"cmd":"ls -', "bash"), { command: "ls -" });
  assert.deepEqual(value('{"path":"a","text":"x', "write"), { path: "a", content: "x" });
  const edits = [{ oldText: "a", newText: "b" }];
  assert.deepEqual(value('{"path":"f","old_string":"a","new_string":"b', "edit"), { path: "f", edits });
  assert.deepEqual(value('{"path":"f","edits":"[{\\"old\\":\\"a\\",\\"new\\":\\"b', "edit"), {
    path: "f",
    edits,
  });
  assert.deepEqual(value('{"file_path":"a'), { file_path: "a" });
  assert.deepEqual(value('{"file_path":"a', "roll"), { file_path: "a" });
});

test("keys keep their order, __proto__ is one of them", () => {
  const own = value('{"z":1,"__proto__":{"x":1},"a":[');
  assert.deepEqual(Object.keys(own), ["z", "__proto__", "a"]);
  assert.equal(Object.getPrototypeOf(own), Object.prototype);
});

test("only text is taken", () => {
  for (const args of [[undefined], [{}], [new Uint8Array()], ["{}", 5], ["{}", null]]) {
    assert.throws(() => parsePartialArguments(...args), {
      name: "ToolError",
      code: "invalid_arguments",
      message: /^Expected (text|toolName) as a string, got /,
    });
  }
});

test("before init() the message says what to do", () => {
  const script = `
    import { parsePartialArguments } from "tackroom";
    try { parsePartialArguments("{}"); } catch (error) { console.log(error.code, error.message); }`;
  const options = { cwd: import.meta.dirname, encoding: "utf8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], options);
  assert.equal(stderr, "");
  assert.equal(stdout, "not_supported Call await init() before parsePartialArguments()\n");
});
