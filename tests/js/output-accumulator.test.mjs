// OutputAccumulator: what a host's own shell pushes, cut anywhere, and odd arguments. What is rendered is tested natively;
// what it has in common with the reference, in tests/parity/output.test.mjs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { init, OutputAccumulator, truncateTail } from "tackroom";

before(() => init());

const bytes = (text) => new TextEncoder().encode(text);

/** What is shown of chunks: text, bytes, or either with its stream. */
function shown(chunks, options) {
  const output = new OutputAccumulator(options);
  for (const chunk of chunks) output.push(...(Array.isArray(chunk) ? chunk : [chunk]));
  output.finish();
  const { content } = output.snapshot();
  output.dispose();
  return content;
}

test("rewritten lines, colours and control characters (B04, B05, B07), whole and byte by byte (T01)", () => {
  for (const [text, want] of [
    ["10%\r20%\r100%\ndone\n", "100%\ndone\n"],
    ["a\r\nb\r\n", "a\nb\n"],
    ["\x1b[31mred\x1b[0m\n", "red\n"],
    ["a\0b\n", "ab\n"],
    ["x\r\x1b[K\x1b]0;title\x07é🙂\n", "é🙂\n"],
  ]) {
    assert.equal(shown([text]), want);
    assert.equal(shown([...bytes(text)].map((byte) => Uint8Array.of(byte))), want);
    assert.equal(shown(text.split("")), want, "by UTF-16 units");
    assert.equal(shown([text], { terminal: "raw" }), text);
  }
});

test("each stream is decoded on its own (B02, B03)", () => {
  const smile = bytes("🙂");
  assert.equal(shown([smile.subarray(0, 1), ["stderr\n", "stderr"], smile.subarray(1)]), "stderr\n🙂");
  assert.equal(shown(["\ud83d", ["\ude42", "stderr"], "\ude42"]), "\ufffd🙂");
  assert.equal(shown(["\ud83d", bytes("a")]), "\ufffda");
  assert.equal(shown([Uint8Array.of(0xe2, 0x82), ["\ud83d", "stderr"]]), "\ufffd\ufffd");
});

test("a snapshot is a truncation result, at any time", () => {
  const output = new OutputAccumulator({ maxLines: 2, maxBytes: 100 });
  assert.deepEqual(output.snapshot(), truncateTail("", { maxLines: 2, maxBytes: 100 }));
  output.push("one\ntwo\nthree\n50%");
  const first = output.snapshot();
  assert.deepEqual(first, truncateTail("one\ntwo\nthree\n50%", { maxLines: 2, maxBytes: 100 }));
  output.push("\r100%\n");
  output.finish();
  output.finish();
  assert.deepEqual(
    output.snapshot(),
    truncateTail("one\ntwo\nthree\n100%\n", { maxLines: 2, maxBytes: 100 }),
  );
  assert.equal(first.content, "three\n50%");
  assert.deepEqual([first.maxLines, first.maxBytes, first.totalLines], [2, 100, 4]);
});

test("chunks of any size", () => {
  const text = "0123456789é\n".repeat(250_000);
  const want = truncateTail(text);
  for (const chunk of [text, bytes(text)]) {
    const output = new OutputAccumulator();
    output.push(chunk);
    output.finish();
    assert.deepEqual(output.snapshot(), want);
  }
  const huge = new OutputAccumulator({ maxLines: Number.MAX_SAFE_INTEGER, maxBytes: 2 ** 40 });
  huge.push("a\nb");
  assert.equal(huge.snapshot().content, "a\nb");
});

test("two do not mix, and after the end chunks are ignored", () => {
  const [one, other] = [new OutputAccumulator(), new OutputAccumulator()];
  one.push("one");
  other.push("other");
  one.finish();
  one.push("late");
  assert.equal(one.snapshot().content, "one");
  one.dispose();
  one.dispose();
  one.push("later");
  for (const use of [() => one.snapshot(), () => one.finish()])
    assert.throws(use, { code: "disposed", message: "The output was disposed: make another" });
  assert.equal(other.snapshot().content, "other");
  other[Symbol.dispose]();
  assert.throws(() => other.snapshot(), { code: "disposed" });
});

test("odd arguments are refused in words", () => {
  const refused = (action, message) =>
    assert.throws(action, (error) => error.code === "invalid_arguments" && message.test(error.message));
  for (const odd of [0, -1, 1.5, Number.NaN, "9", {}]) {
    refused(() => new OutputAccumulator({ maxLines: odd }), /^Expected maxLines as a whole number from 1/);
    refused(() => new OutputAccumulator({ maxBytes: odd }), /^Expected maxBytes as a whole number from 1/);
  }
  refused(() => new OutputAccumulator({ terminal: "pretty" }), /^Expected terminal as "render" or "raw"/);
  const output = new OutputAccumulator();
  refused(() => output.push("a", "stdin"), /^Expected stream as "stdout" or "stderr"/);
  for (const odd of [5, undefined, null, new Uint16Array(1), [1]])
    refused(() => output.push(odd), /^Expected chunk as a string or a Uint8Array/);
  assert.equal(output.snapshot().content, "");
});

test("before init it says what to do", () => {
  const program = `
    import { OutputAccumulator } from "tackroom";
    try { new OutputAccumulator(); } catch (error) { console.log(error.code, error.message); }`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  assert.equal(stdout, "not_supported Call await init() before new OutputAccumulator()\n");
});

test("what is forgotten is freed", () => {
  const program = `
    import { init, OutputAccumulator } from "tackroom";
    await init();
    const chunk = new Uint8Array(1 << 20).fill(120);
    let highest = 0;
    for (let nth = 0; nth < 400; nth++) {
      new OutputAccumulator({ maxBytes: 1 << 20 }).push(chunk);
      if (nth % 10 === 9) { gc(); await new Promise((resolve) => setTimeout(resolve)); }
      highest = Math.max(highest, process.memoryUsage.rss());
    }
    console.log(highest < 500e6);`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--expose-gc", "--input-type=module", "-e", program],
    { encoding: "utf8" },
  );
  assert.equal(stdout, "true\n", stderr);
});
