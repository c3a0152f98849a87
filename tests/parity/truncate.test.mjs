// Cutting, generated: what `read` and `bash` show of a text is what the reference's truncateHead and truncateTail
// keep of it, and `read`'s pages are the reference's. Differences on purpose are named and counted.
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatSize, truncateHead, truncateLine, truncateTail } from "@earendil-works/pi-agent-core";
import * as own from "tackroom";
import { createToolset, init } from "tackroom";
import { memory } from "tackroom/env/memory";
import { CASES, random, reference, SEED, shown, tally } from "./support.mjs";

const { createReadTool } = await reference("read");

const PIECES = ["a", "word ", "0123456789", "é", "文字", "🙂", "½", " ", "ﬁn", "x".repeat(40)];

/** Lines of any length, some blank, with a final LF or without. No control characters: `bash` renders those. */
function lines(rng, most) {
  const made = rng.list(rng.below(most), () =>
    rng.chance(0.15) ? "" : rng.list(rng.below(rng.chance(0.05) ? 60 : 8), () => rng.pick(PIECES)).join(""),
  );
  return made.join("\n") + (rng.chance(0.6) ? "\n" : "");
}

function limits(rng, text) {
  const bytes = Buffer.byteLength(text);
  return {
    maxLines: rng.chance(0.3) ? 2000 : rng.between(1, 30),
    // Often right at the size of the text, where one byte decides.
    maxBytes: rng.chance(0.3) ? Math.max(1, bytes + rng.between(-3, 3)) : rng.between(1, 300),
  };
}

const FACTS = [
  ...["truncated", "truncatedBy", "totalLines", "totalBytes", "outputLines", "outputBytes"],
  ...["lastLinePartial", "firstLineExceedsLimit", "maxLines", "maxBytes"],
];
const facts = (truncation) => Object.fromEntries(FACTS.map((name) => [name, truncation?.[name]]));

function failing(nth, more) {
  return (why) => assert.fail(`${why}\ncase ${nth}, seed ${SEED}: ${shown(more)}`);
}

test("the exported functions are the reference's", async (t) => {
  await init();
  const rng = random(SEED + 3);
  const counts = tally("exports");
  for (let nth = 0; nth < CASES; nth++) {
    const text = paged(rng);
    const given = rng.chance(0.5) ? limits(rng, text) : {};
    const all = { maxLines: 2000, maxBytes: 51_200, ...given };
    const fail = failing(nth, { text, given });
    for (const [name, ours, theirs] of [
      ["truncateHead", own.truncateHead(text, given), truncateHead(text, given)],
      ["truncateTail", own.truncateTail(text, given), truncateTail(text, given)],
    ]) {
      if (onlyTheFinalBreakIsOver(text, all)) {
        if (ours.truncated || ours.content !== text.slice(0, -1)) fail(`${name}: all lines fit`);
        counts.add("final LF is no line: where it alone is over the limit, nothing was cut");
        continue;
      }
      const oneLine = theirs.lastLinePartial && all.maxLines === 1;
      // With one line allowed and its start cut off, the reference says "lines".
      if (oneLine) theirs.truncatedBy = "bytes";
      const { lastLineBytes, ...rest } = ours;
      assert.deepEqual(
        { ...facts(rest), content: rest.content },
        { ...facts(theirs), content: theirs.content },
        name,
      );
      if ((lastLineBytes !== undefined) !== theirs.lastLinePartial) fail(`${name}: lastLineBytes`);
      counts.add(
        oneLine ? `${name}: one line allowed and its start cut off: cut by bytes` : `${name}: the same`,
      );
    }
    assert.deepEqual(own.truncateHead(new TextEncoder().encode(text), given), own.truncateHead(text, given));
    const line = rng.list(rng.below(300), () => rng.pick(PIECES)).join("");
    const most = rng.pick([undefined, 500, rng.between(1, 600)]);
    const [mine, reference] = [own.truncateLine(line, most), truncateLine(line, most)];
    // The reference cuts between the halves of a pair.
    const whole = reference.text.isWellFormed();
    if (whole) assert.deepEqual(mine, reference, shown({ line, most }));
    else
      assert.equal(
        mine.text,
        reference.text.replace(/[\ud800-\udbff](?=\.\.\. )/, ""),
        shown({ line, most }),
      );
    counts.add(whole ? "truncateLine: the same" : "truncateLine: half a character is left out");
    const bytes = rng.below(2 ** rng.below(40));
    const [size, theirSize] = [own.formatSize(bytes), formatSize(bytes)];
    if (size === theirSize) counts.add("formatSize: the same");
    else if (/^1\.0(MB|GB)$/.test(size) && /^1024\.0/.test(theirSize))
      counts.add("formatSize: 1024.0 of a unit is 1.0");
    else if (size.endsWith("GB") && theirSize.endsWith("MB")) counts.add("formatSize: GB from 1024 MB on");
    else fail(`formatSize(${bytes}): ${size}, ${theirSize}`);
    assert.equal(own.utf8ByteLength(text), Buffer.byteLength(text));
  }
  counts.print(t);
});

test("read cuts as truncateHead does", async (t) => {
  const rng = random(SEED);
  const counts = tally("head");
  let current;
  const env = memory();
  const toolset = await createToolset(env, { limits: () => current });
  for (let nth = 0; nth < CASES; nth++) {
    const text = lines(rng, 40);
    current = limits(rng, text);
    const expected = truncateHead(text, current);
    env.restore({ "/f": text });
    const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"f"}' });
    const got = result.content[0].text;
    const fail = failing(nth, { text, current, expected, result });
    if (text === "") {
      if (got !== "(empty file)") fail("an empty file");
      counts.add('an empty file is said to be "(empty file)"');
    } else if (expected.firstLineExceedsLimit) {
      if (!/^\[Showing bytes 1-\d+ of line 1 \(/m.test(got)) fail("a line over the limit is shown in slices");
      counts.add("a line over the limit: a slice and `column`, not advice to use sed");
    } else if (onlyTheFinalBreakIsOver(text, current)) {
      if (got !== text.slice(0, -1) && got !== text) fail("all lines fit");
      if (result.details.truncation) fail("no line was cut");
      counts.add("final LF is no line: where it alone is over the limit, nothing was cut");
    } else if (!expected.truncated) {
      if (got !== text || result.details.truncation) fail("nothing was to be cut");
      counts.add("the same, whole");
    } else {
      assert.deepEqual(
        facts(result.details.truncation),
        facts(expected),
        shown({ text, current, expected, result }),
      );
      const next = expected.outputLines + 1;
      const why = expected.truncatedBy === "bytes" ? ` (${formatSize(current.maxBytes)} limit)` : "";
      const range = `1-${expected.outputLines} of ${expected.totalLines}${why}`;
      const hint = `[Showing lines ${range}. Use offset=${next} to continue.]`;
      if (got !== `${expected.content}\n\n${hint}`) fail(`expected the hint ${hint}`);
      counts.add(`the same, cut by ${expected.truncatedBy}`);
    }
  }
  counts.print(t);
});

/** Every line fits, and one byte is too much: the reference says "cut by lines" and shows them all. */
function onlyTheFinalBreakIsOver(text, { maxLines, maxBytes }) {
  const lines = text.split("\n").length - 1;
  return text.endsWith("\n") && lines <= maxLines && Buffer.byteLength(text) === maxBytes + 1;
}

test("bash cuts as truncateTail does", async (t) => {
  const rng = random(SEED + 1);
  const counts = tally("tail");
  let current;
  let output;
  const exec = async (_, { onStdout }) => {
    // In pieces, cut anywhere: also inside a character.
    for (let at = 0; at < output.length; ) {
      const end = at + rng.between(1, output.length);
      onStdout(output.subarray(at, end));
      at = end;
    }
    return { exitCode: 0 };
  };
  const toolset = await createToolset(memory({}, { exec }), { limits: () => current });
  for (let nth = 0; nth < CASES; nth++) {
    const text = lines(rng, 40);
    output = new TextEncoder().encode(text);
    current = limits(rng, text);
    const expected = truncateTail(text, current);
    const result = await toolset.call({ id: "1", name: "bash", arguments: '{"command":"x"}' });
    const got = result.content[0].text;
    const fail = failing(nth, { text, current, expected, result });
    if (result.isError) fail("the command worked");
    if (onlyTheFinalBreakIsOver(text, current)) {
      if (got !== text.slice(0, -1) || result.details.truncation) fail("all lines fit");
      counts.add("final LF is no line: where it alone is over the limit, nothing was cut");
    } else if (expected.truncated) {
      const oneLine = expected.lastLinePartial && current.maxLines === 1;
      // With one line allowed and its start cut off, the reference says "lines".
      if (oneLine) expected.truncatedBy = "bytes";
      assert.deepEqual(
        facts(result.details.truncation),
        facts(expected),
        shown({ text, current, expected, result }),
      );
      // Before the hint, blank lines at the end are one.
      if (!got.startsWith(expected.content.replace(/\n+$/, ""))) fail("another end is shown");
      counts.add(
        oneLine
          ? "one line allowed and its start cut off: cut by bytes"
          : expected.lastLinePartial
            ? "the same, the end of one line"
            : `the same, cut by ${expected.truncatedBy}`,
      );
    } else if (text.trim() === "") {
      counts.add("blank output");
    } else {
      if (got !== text && got !== text.replace(/\n$/, "")) fail("nothing was to be cut");
      counts.add("the same, whole");
    }
  }
  counts.print(t);
});

/** A text of pages: of many lines now and then, with a BOM, with CR LF, with a line that is too long. */
function paged(rng) {
  let text = lines(rng, rng.chance(0.1) ? 6000 : 60) || "a";
  if (rng.chance(0.2)) text = text.replaceAll("\n", rng.pick(["\r\n", "\r", "\n\r\n"]));
  if (rng.chance(0.03))
    text += `${rng.pick(["x", "é", "文", "🙂"]).repeat(rng.between(20_000, 60_000))}\nend\n`;
  return rng.chance(0.05) ? `\ufeff${text}` : text;
}

test("pages are the reference's", async (t) => {
  const rng = random(SEED + 2);
  const counts = tally("pages");
  const env = memory();
  const toolset = await createToolset(env);
  for (let nth = 0; nth < CASES; nth++) {
    const text = paged(rng);
    const total = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
    const args = { path: "f" };
    if (rng.chance(0.7)) args.offset = rng.below(total + 4);
    if (rng.chance(0.6)) args.limit = rng.between(1, total + 2);
    env.restore({ "/f": text });
    // The reference shows a BOM, and counts it: ours is its page of the text without.
    const hasBom = text.startsWith("\ufeff");
    const bare = hasBom ? text.slice(1) : text;
    const [answer, theirs] = await Promise.all([
      toolset.call({ id: "1", name: "read", arguments: JSON.stringify(args) }),
      theirRead(bare, args),
    ]);
    const fail = failing(nth, { args, text, answer, theirs });
    const name = pageDifference({ text: bare, total, args, own: answer.content[0].text, theirs });
    if (!name) fail("a difference that nobody has meant");
    counts.add(hasBom ? `a BOM is not shown; else ${name}` : name);
  }
  counts.print(t);
});

async function theirRead(text, args) {
  const operations = {
    access: async () => {},
    readFile: async () => Buffer.from(text),
    createReadStream: async function* () {
      yield Buffer.from(text);
    },
  };
  const tool = createReadTool("/", { operations, autoResizeImages: false });
  return tool.execute("1", args).then(
    (result) => result.content[0].text,
    (error) => error.message,
  );
}

function pageDifference({ text, total, args, own, theirs }) {
  if (own === theirs) return "the same page";
  const long = / is [\d.]+KB, exceeds 50\.0KB limit/.exec(theirs);
  if (long) {
    const line = (args.offset || 1) - 1;
    const slice =
      /^(.+)\n\n\[Showing bytes 1-(\d+) of line (\d+) \([\d.]+KB\)\. Use offset=\d+, column=(\d+) to continue\.\]$/s.exec(
        own,
      );
    const [, shown, bytes, number, column] = slice ?? [];
    const isSlice =
      text.split("\n")[line]?.startsWith(shown) &&
      Buffer.byteLength(shown) === Number(bytes) &&
      Number(column) === Number(bytes) + 1 &&
      Number(number) === line + 1;
    return isSlice ? "a line over the limit: a slice and `column`, not advice to use sed" : undefined;
  }
  // The reference counts one line more where a file ends in LF: undo that in its words, and look again.
  const all = total + (text.endsWith("\n") ? 1 : 0);
  const beyond = `is beyond end of file (${all} lines total)`;
  if (
    theirs.includes(beyond) &&
    own.startsWith(theirs.replace(beyond, `is beyond end of file (${total} lines total)`))
  )
    return all === total ? "beyond the end: the same, and what to do" : "final LF is no line: beyond the end";
  if (!text.endsWith("\n")) return undefined;
  if ((args.offset ?? 1) === all && own.startsWith(`Offset ${all} is beyond end of file`) && theirs === "")
    return "final LF is no line: nothing is shown at it";
  const recounted = theirs
    .replace(` of ${all}`, ` of ${total}`)
    .replace(/\[(\d+) more lines/, (_, more) => `[${more - 1} more lines`);
  if (own === recounted) return "final LF is no line: one line fewer in the hint";
  const last = (args.offset || 1) + (args.limit ?? Number.POSITIVE_INFINITY) - 1;
  const unhinted = theirs.replace(/\n\n\[1 more lines in file[^\n]*\]$/, "");
  if (last === total && (own === unhinted || own === `${unhinted}\n`))
    return "final LF is no line: no hint to it";
  return undefined;
}
