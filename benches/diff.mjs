// The diff of a block that was replaced as a whole, by lines that repeat themselves: the hard case of a diff.
import { diffLines, structuredPatch } from "diff";
import { ourEdit } from "./edit.mjs";
import { repetitive } from "./texts.mjs";

export async function* rows({ quick }) {
  const lines = quick ? 1000 : 5000;
  yield {
    workload: `diff of a replaced block, ${lines} lines`,
    actions: { ours: await ours(lines), "jsdiff 8": theirs(lines) },
    targets: quick ? {} : { "jsdiff 8": 100 },
  };
  yield {
    workload: "diff of a replaced block, 20000 lines",
    actions: { ours: await ours(20_000) },
    limitMs: 500,
  };
}

const blocks = (lines) => [repetitive(lines, 7919), repetitive(lines, 104_723)];

/** The whole edit call, of which the diff is the most. */
async function ours(lines) {
  const [one, other] = blocks(lines);
  const edit = await ourEdit(`head\n${one}tail\n`);
  const calls = [
    { oldText: one, newText: other },
    { oldText: other, newText: one },
  ].map((replaced) => JSON.stringify({ path: "f", edits: [replaced] }));
  let nth = 0;
  return () => edit(calls[nth++ % 2]);
}

/** What the reference asks of jsdiff: once for the display, once for the patch. */
function theirs(lines) {
  const [one, other] = blocks(lines);
  return () => [diffLines(one, other), structuredPatch("f", "f", one, other, "", "", { context: 4 })];
}
