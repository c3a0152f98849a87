// The functions that cut texts and print sizes: what the contract says of them, and odd arguments. What they have in
// common with the reference is in tests/parity/truncate.test.mjs.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, test } from "node:test";
import { formatSize, init, truncateHead, truncateLine, truncateTail, utf8ByteLength } from "tackroom";

before(() => init());

const bytes = (text) => new TextEncoder().encode(text);

test("lines are counted by their LFs (T03)", () => {
  for (const [text, count] of [
    ["", 0],
    ["a", 1],
    ["a\n", 1],
    ["a\n\n", 2],
    ["\n", 1],
    ["a\rb\rc", 1],
  ]) {
    for (const cut of [truncateHead(text), truncateTail(text), truncateHead(bytes(text))]) {
      assert.equal(cut.totalLines, count, JSON.stringify(text));
      assert.equal(cut.content, text);
      assert.equal(cut.truncated, false);
    }
  }
});

test("a result says everything", () => {
  assert.deepEqual(truncateHead("one\ntwo\nthree\n", { maxLines: 2 }), {
    content: "one\ntwo",
    truncated: true,
    truncatedBy: "lines",
    totalLines: 3,
    totalBytes: 14,
    outputLines: 2,
    outputBytes: 7,
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines: 2,
    maxBytes: 51_200,
  });
  const tail = truncateTail("one\nééé\n", { maxBytes: 5 });
  assert.deepEqual([tail.content, tail.lastLinePartial, tail.lastLineBytes], ["éé", true, 6]);
  const head = truncateHead("ééé\n", { maxBytes: 5 });
  assert.deepEqual([head.content, head.firstLineExceedsLimit, head.truncatedBy], ["", true, "bytes"]);
});

test("the defaults are 2000 lines and 50 KB", () => {
  const lines = "x\n".repeat(2001);
  assert.equal(truncateHead(lines).outputLines, 2000);
  assert.equal(truncateTail(lines).outputLines, 2000);
  assert.equal(truncateTail("é".repeat(60_000)).outputBytes, 51_200);
  assert.deepEqual(truncateLine("x".repeat(501)), {
    text: `${"x".repeat(500)}... [truncated]`,
    wasTruncated: true,
  });
  assert.deepEqual(truncateLine("x".repeat(500)), { text: "x".repeat(500), wasTruncated: false });
});

test("a surrogate pair is whole or absent (R16)", () => {
  const line = `${"x".repeat(499)}😀${"y".repeat(50)}`;
  assert.equal(truncateLine(line).text, `${"x".repeat(499)}... [truncated]`);
  assert.equal(truncateLine(line, 501).text, `${"x".repeat(499)}😀... [truncated]`);
  for (let most = 1; most < 12; most++) {
    const { text } = truncateLine("😀a😀é😀".repeat(3), most);
    assert.ok(text.isWellFormed() && text.indexOf("...") <= most);
  }
});

test("an unpaired surrogate is U+FFFD and counts 3", () => {
  for (const [text, shown] of [
    ["a\ud800b", "a\ufffdb"],
    ["\udc00", "\ufffd"],
    ["\ud83d\ud83d\ude00", "\ufffd😀"],
    ["a\ud83d", "a\ufffd"],
  ]) {
    const whole = bytes(text).length;
    assert.equal(utf8ByteLength(text), whole);
    for (const cut of [truncateHead(text), truncateTail(text)]) {
      assert.equal(cut.content, shown);
      assert.equal(cut.totalBytes, whole);
    }
    assert.deepEqual(truncateLine(text), { text: shown, wasTruncated: false });
  }
  assert.equal(truncateHead("ab\ud800", { maxBytes: 4 }).firstLineExceedsLimit, true);
});

test("bytes that are no UTF-8 become U+FFFD, and a BOM is content", () => {
  assert.equal(truncateHead(Uint8Array.of(0x61, 0xff, 0x62)).content, "a\ufffdb");
  assert.equal(truncateTail(bytes("\ufeffa")).content, "\ufeffa");
  assert.equal(truncateHead("\ufeffa").content, "\ufeffa");
});

test("bytes are counted as they are made", () => {
  const units = [0, 0x41, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff];
  for (const a of units) {
    for (const b of units) {
      for (const c of units) {
        const text = String.fromCharCode(a, b, c);
        assert.equal(utf8ByteLength(text), bytes(text).length, JSON.stringify(text));
      }
    }
  }
});

test("sizes", () => {
  const sizes = [0, 512, 1023, 1024, 1536, 51_200, 2 ** 20 - 1, 2 ** 21, 2 ** 30, 1.5];
  assert.deepEqual(sizes.map(formatSize), [
    "0B",
    "512B",
    "1023B",
    "1.0KB",
    "1.5KB",
    "50.0KB",
    "1.0MB",
    "2.0MB",
    "1.0GB",
    "1B",
  ]);
});

test("a text of 30 MB", () => {
  const text = "0123456789é\n".repeat(2_500_000);
  const tail = truncateTail(text);
  assert.deepEqual(
    [tail.totalLines, tail.totalBytes, tail.outputLines],
    [2_500_000, utf8ByteLength(text), 2000],
  );
  assert.equal(truncateHead(bytes(text)).totalBytes, tail.totalBytes);
});

test("odd arguments are refused in words", () => {
  const refused = (action, message) =>
    assert.throws(action, (error) => error.code === "invalid_arguments" && message.test(error.message));
  for (const cut of [truncateHead, truncateTail]) {
    refused(() => cut(5), /^Expected content as a string or a Uint8Array, got 5$/);
    refused(() => cut(undefined), /content/);
    for (const odd of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "9", {}]) {
      refused(() => cut("a", { maxLines: odd }), /^Expected maxLines as a whole number from 1/);
      refused(() => cut("a", { maxBytes: odd }), /^Expected maxBytes as a whole number from 1/);
    }
    assert.equal(cut("a\nb", { maxLines: Number.MAX_SAFE_INTEGER, maxBytes: 2 ** 40 }).content, "a\nb");
  }
  refused(() => truncateLine(5), /^Expected line as a string/);
  refused(() => truncateLine("a", 0), /maxChars/);
  for (const odd of [-1, Number.NaN, Number.POSITIVE_INFINITY, "5", undefined])
    refused(() => formatSize(odd), /^Expected bytes as a number from 0/);
  refused(() => utf8ByteLength(5), /^Expected text as a string/);
});

test("before init they say what to do", () => {
  const program = `
    import { formatSize, truncateHead, truncateLine, truncateTail, utf8ByteLength } from "tackroom";
    for (const use of [() => truncateHead(""), () => truncateTail(""), () => truncateLine(""), () => formatSize(1)]) {
      try { use(); console.log("no error"); } catch (error) { console.log(error.code, error.message); }
    }
    console.log(utf8ByteLength("é"));`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  assert.equal(
    stdout,
    `${["truncateHead", "truncateTail", "truncateLine", "formatSize"]
      .map((name) => `not_supported Call await init() before ${name}()\n`)
      .join("")}2\n`,
  );
});
