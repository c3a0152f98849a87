// Output of commands, generated: what OutputAccumulator shows of plain text, cut anywhere, is what the reference's does.
// Differences on purpose are named and counted. Control characters are not here: the reference shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { truncateTail } from "@earendil-works/pi-agent-core";
import { init, OutputAccumulator } from "tackroom";
import { CASES, random, reference, SEED, shown, tally } from "./support.mjs";

const { OutputAccumulator: Reference } = await reference("output-accumulator");

/** The reference's without its file on disk. */
class Theirs extends Reference {
  ensureTempFile() {
    this.tempFilePath = "none";
    this.rawChunks = [];
  }
}

const PIECES = ["a", "word ", "0123456789", "é", "文字", "🙂", "½", "\t", "ﬁn，", "\ufffd", "x".repeat(40)];

function text(rng) {
  // Some are many times what is kept.
  const most = rng.chance(0.2) ? 300 : 40;
  const made = rng.list(rng.below(most), () =>
    rng.chance(0.15) ? "" : rng.list(rng.below(rng.chance(0.05) ? 120 : 8), () => rng.pick(PIECES)).join(""),
  );
  return made.join("\n") + (rng.chance(0.6) ? "\n" : "");
}

function limits(rng, bytes) {
  if (rng.chance(0.1)) return {};
  return {
    maxLines: rng.chance(0.3) ? 2000 : rng.between(1, 30),
    // Often right at the size of the text, where one byte decides.
    maxBytes: rng.chance(0.3) ? Math.max(1, bytes + rng.between(-3, 3)) : rng.between(1, 300),
  };
}

const FACTS = [
  ...["content", "truncated", "truncatedBy", "totalLines", "totalBytes", "outputLines", "outputBytes"],
  ...["lastLinePartial", "firstLineExceedsLimit", "maxLines", "maxBytes"],
];
const facts = (cut) => Object.fromEntries(FACTS.map((name) => [name, cut[name]]));

/** Why the two differ, where they may. */
function difference(text, ours, theirs) {
  const same = { ...theirs };
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const onlyTheBreak = text.endsWith("\n") && Buffer.byteLength(text) === ours.maxBytes + 1;
  if (onlyTheBreak && lines <= ours.maxLines) {
    Object.assign(same, { truncated: false, truncatedBy: null });
    assert.deepEqual(ours, same);
    return "final LF is no line: where it alone is over the limit, nothing was cut";
  }
  if (ours.truncatedBy === theirs.truncatedBy) return "the same";
  // What the reference has thrown away already does not count as cut.
  same.truncatedBy = ours.truncatedBy;
  assert.deepEqual(ours, same);
  if (ours.lastLinePartial) return "one line allowed and its start cut off: cut by bytes";
  const isFull = ours.outputLines === ours.maxLines;
  assert.equal(ours.truncatedBy, isFull ? "lines" : "bytes");
  return `the reference kept no more: cut by ${ours.truncatedBy}`;
}

test("a snapshot is the reference's", async (t) => {
  await init();
  const rng = random(SEED + 4);
  const counts = tally("output");
  for (let nth = 0; nth < CASES; nth++) {
    const whole = text(rng);
    const bytes = new TextEncoder().encode(whole);
    const given = limits(rng, bytes.length);
    const [ours, theirs] = [new OutputAccumulator(given), new Theirs(given)];
    const why = () => shown({ nth, seed: SEED, whole, given });
    const compare = (so) => {
      const own = facts(ours.snapshot());
      const reasonOf = (other) => {
        const reason = difference(so, own, other);
        if (reason !== "the same") return reason;
        assert.deepEqual(own, other);
        return own.truncated ? reason : "the same, whole";
      };
      try {
        counts.add(reasonOf(facts(theirs.snapshot().truncation)));
      } catch {
        try {
          reasonOf(facts(truncateTail(so, { maxLines: own.maxLines, maxBytes: own.maxBytes })));
        } catch (error) {
          assert.fail(`${error.message}\n${why()}`);
        }
        counts.add("the reference has thrown away where its last line begins: what its truncateTail keeps");
      }
    };
    const most = rng.chance(0.3) ? 10 : bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + rng.between(1, most));
      ours.push(bytes.subarray(at, end));
      theirs.append(bytes.subarray(at, end));
      at = end;
      if (rng.chance(0.05)) compare(new TextDecoder().decode(bytes.subarray(0, at), { stream: true }));
    }
    ours.finish();
    theirs.finish();
    compare(whole);
    ours.dispose();
  }
  counts.print(t);
});
