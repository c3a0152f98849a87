// The third tier over every part of Unicode, through the npm package, where the runtime normalises. The same cases as
// in tests/unicode.rs, drawn in the same way; what comes out natively is in tests/unicode.txt.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { applyEdits, createToolset, init } from "tackroom";
import { memory } from "tackroom/env/memory";

await init();

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
const source = read("unicode.rs");
const RANGES = [...source.matchAll(/\(0x(\w+), 0x(\w+)\)/g)].map(([, first, last]) => [
  Number.parseInt(first, 16),
  Number.parseInt(last, 16),
]);
const PIECES = [...source.matchAll(/^ {4}"(.*)",$/gm)].map(([, piece]) =>
  JSON.parse(
    `"${piece.replace(/\\u\{(\w+)\}/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))}"`,
  ),
);
const FORMS = [
  (text) => text,
  ...["NFC", "NFD", "NFKC", "NFKD"].map((form) => (text) => text.normalize(form)),
];
const NEW = "\u{10ffff}";

function random(state) {
  return (end) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % end;
  };
}

function draw(below) {
  let text = "";
  for (let left = below(6); left >= 0; left--) {
    if (below(4) === 0) {
      text += PIECES[below(PIECES.length)];
    } else {
      const [first, last] = RANGES[below(RANGES.length)];
      text += String.fromCodePoint(first + below(last - first + 1));
    }
  }
  return text;
}

function outcome(below) {
  const text = draw(below);
  const [before, after] = [draw(below), draw(below)];
  const file = before + FORMS[below(5)](text) + after;
  const chars = Array.from(text);
  const start = below(4) === 0 ? below(chars.length) : 0;
  const end = below(4) === 0 ? start + 1 + below(chars.length - start) : chars.length;
  const oldText = FORMS[below(5)](chars.slice(start, end).join(""));
  try {
    const { content } = applyEdits(file, [{ oldText, newText: NEW }], "f");
    const [head, tail] = content.split(NEW).map((part) => Buffer.byteLength(part));
    return `${head}..${Buffer.byteLength(file) - tail}`;
  } catch (error) {
    return error.code;
  }
}

test("the third tier finds what it finds natively", () => {
  assert.equal(RANGES.length, 43);
  assert.equal(PIECES.length, 16);
  const expected = read("unicode.txt").split(/\s+/).filter(Boolean);
  const below = random(0x9e3779b9);
  assert.deepEqual(
    expected.map(() => outcome(below)),
    expected,
  );
});

test("many pieces, and long ones", () => {
  const lines = Array.from(
    { length: 20_000 },
    (_, at) => `ｌｉｎｅ ${at}: e\u0301ﬁ½ ｶﾞ ${"\u0e01\u0e48".repeat(at % 7)}`,
  );
  const content = lines.join("\r\n");
  const oldText = lines.slice(15_000, 15_003).join("\n").normalize("NFKC");
  const expected = content.replace(lines.slice(15_000, 15_003).join("\r\n"), "x");
  assert.equal(applyEdits(content, [{ oldText, newText: "x" }], "f").content, expected);
  // A segment of more than 64 KB is matched by nothing, and what is around it still is.
  const long = `ﬁ e${"\u0301".repeat(100_000)} ﬂ`;
  const changed = applyEdits(
    long,
    [
      { oldText: "fi", newText: "1" },
      { oldText: "fl", newText: "2" },
    ],
    "f",
  );
  assert.equal(changed.content, `1 e${"\u0301".repeat(100_000)} 2`);
});

test("a byte order mark in the middle stays", () => {
  const changed = applyEdits("a\ufeff\u0301b ﬁ", [{ oldText: "a\ufeff\u0301b fi", newText: "x" }], "f");
  assert.equal(changed.content, "x");
});

test("names fold in every form", async () => {
  const names = ["caf\u00e9", "\ud55c\uae00", "\u0958", "\u1e69", "\u304c", "\u212b", "\u{1109a}"];
  for (const name of names) {
    for (const [has, asks] of [
      ["NFD", "NFC"],
      ["NFC", "NFD"],
    ]) {
      const toolset = await createToolset(
        memory({ [`/work/${name.normalize(has)}.txt`]: "here" }, { cwd: "/work" }),
      );
      const result = await toolset.call({
        id: "1",
        name: "read",
        arguments: { path: `${name.normalize(asks)}.txt` },
      });
      assert.ok(!result.isError, `${name} ${has} ${asks}`);
    }
  }
});

test("where the runtime does not normalise, text is matched as it is, and nothing breaks", () => {
  const own = String.prototype.normalize;
  try {
    for (const normalize of [
      undefined,
      () => undefined,
      () => "\n\n\n",
      () => "",
      () => {
        throw new Error("no tables");
      },
    ]) {
      String.prototype.normalize = normalize;
      const edits = [{ oldText: '"e\u0301"', newText: "x" }];
      assert.equal(applyEdits("“e\u0301” ﬁ", edits, "f").content, "x ﬁ");
      assert.throws(() => applyEdits("ﬁ", [{ oldText: "fi", newText: "x" }], "f"), { code: "no_match" });
    }
  } finally {
    String.prototype.normalize = own;
  }
  assert.equal(applyEdits("ﬁ", [{ oldText: "fi", newText: "x" }], "f").content, "x");
});
