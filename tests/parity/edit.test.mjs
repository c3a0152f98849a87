// Exact edits, generated: the reference's edit tool and ours leave the same file, count the same blocks and name the
// same first line. Where they differ on purpose, the difference has a name here and is counted; any other fails.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
import { CASES, random, reference, SEED, shown, tally } from "./support.mjs";

const { createEditTool, applied, normalised } = await prepared();

async function prepared() {
  const [{ createEditTool }, { normalizeForFuzzyMatch, normalizeToLF }] = await Promise.all([
    reference("edit"),
    reference("edit-diff"),
  ]);
  return {
    createEditTool,
    applied: applyPatch,
    normalised: { fuzzy: normalizeForFuzzyMatch, lf: normalizeToLF },
  };
}

const WORDS = [
  ..."const return if else value index 0 1 42 { } ( ) => ; // TODO".split(" "),
  ..."größe naïve 文字列 🙂 👩‍👩‍👧 é ½ ﬁ “quoted” — \u00a0 Ω\u0301 \u200b ".split(" "),
  "\t",
  "  ",
];

function line(rng) {
  if (rng.chance(0.1)) return "";
  const indent = " ".repeat(2 * rng.below(4));
  const words = rng.list(rng.between(1, 7), () => rng.pick(WORDS));
  const number = rng.chance(0.8) ? ` #${rng.below(100_000)}` : "";
  return indent + words.join(" ") + number + (rng.chance(0.05) ? " " : "");
}

/** A file and what is to be done to it. */
function example(rng) {
  const lines = rng.list(rng.chance(0.05) ? rng.between(300, 900) : rng.between(1, 60), () => line(rng));
  const plain = lines.join("\n") + (rng.chance(0.8) ? "\n" : "");
  const endings = rng.pick(["lf", "lf", "lf", "crlf", "crlf", "mixed"]);
  const ending = { lf: () => "\n", crlf: () => "\r\n", mixed: () => rng.pick(["\n", "\r\n"]) }[endings];
  const text = (rng.chance(0.15) ? "\ufeff" : "") + plain.replace(/\n/g, ending);
  return { text, endings, edits: edits(rng, plain, endings) };
}

function edits(rng, plain, endings) {
  const wanted = rng.chance(0.5) ? 1 : rng.between(2, 5);
  const cuts = rng.list(wanted * 2, () => rng.below(plain.length + 1)).sort((a, b) => a - b);
  const made = [];
  for (let at = 0; at < cuts.length; at += 2) {
    const from = whole(plain, cuts[at]);
    // Mostly a line or some, now and then a word or a large block.
    const reach = rng.pick([3, 30, 90, 200, 1500]);
    const end = cuts[at + 2] ?? plain.length;
    let to = whole(plain, Math.min(cuts[at + 1], from + 1 + rng.below(reach)));
    if (to <= from) continue;
    // Mostly it is made long enough to be there once, as far as the next one lets it.
    if (rng.chance(0.95))
      while (to < end && positions(plain, plain.slice(from, to)) > 1) to = whole(plain, to + 1);
    if (positions(plain, plain.slice(from, to)) > 1 && rng.chance(0.95)) continue;
    const oldText = plain.slice(from, to);
    const drawn = replacement(rng, oldText);
    const newText = drawn === oldText && rng.chance(0.9) ? `${oldText} more` : drawn;
    const asGiven = (given) => (endings === "crlf" && rng.chance(0.3) ? given.replace(/\n/g, "\r\n") : given);
    made.push({ oldText: asGiven(oldText), newText: asGiven(newText) });
  }
  if (rng.chance(0.04)) made.push({ oldText: `nowhere ${rng.below(1e9)}`, newText: "x" });
  if (made.length > 1 && rng.chance(0.03)) made.push({ ...made[0] });
  if (made.length === 0) made.push({ oldText: plain.slice(0, whole(plain, 20)) || "a", newText: line(rng) });
  return rng.chance(0.3) ? made.reverse() : made;
}

function replacement(rng, oldText) {
  switch (rng.below(7)) {
    case 0:
      return "";
    case 1:
      return rng.list(rng.between(1, 6), () => line(rng)).join("\n");
    case 2:
      return `${line(rng)}\n${oldText}`;
    case 3:
      return `${oldText}\n${line(rng)}\n`;
    case 4:
      return oldText.replace(/\S+/, `changed${rng.below(1000)}`);
    case 5:
      return rng.chance(0.1) ? oldText : `${oldText}${line(rng)}`;
    default:
      return oldText
        .split("\n")
        .map((part) => (rng.chance(0.4) ? line(rng) : part))
        .join("\n");
  }
}

/** An offset that splits no surrogate pair. */
function whole(text, at) {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
const PATH = "/work/file.txt";

async function theirs({ text, edits }) {
  let content = text;
  const operations = {
    access: async () => {},
    readFile: async () => Buffer.from(text),
    writeFile: async (_, written) => {
      content = written;
    },
  };
  const tool = createEditTool("/work", { operations });
  try {
    const result = await tool.execute("1", { path: "file.txt", edits });
    const { patch, firstChangedLine } = result.details;
    return { content, blocks: blocks(result.content[0].text), firstChangedLine, patch };
  } catch (error) {
    return { code: codeOf(error.message), message: error.message };
  }
}

async function ours(toolset, env, { text, edits }) {
  env.restore({ [PATH]: text });
  const args = { path: "file.txt", edits };
  const result = await toolset.call({ id: "1", name: "edit", arguments: JSON.stringify(args) });
  const message = result.content[0].text;
  if (result.isError) return { code: result.details.code, message };
  const { patch, firstChangedLine } = result.details;
  return {
    content: decoder.decode(env.readBinaryFile(PATH)),
    blocks: blocks(message),
    firstChangedLine,
    patch,
    message,
  };
}

const blocks = (text) => Number(/^Successfully replaced (\d+) block\(s\)/.exec(text)?.[1]);

function codeOf(message) {
  if (/^Found \d+ occurrences/.test(message)) return "ambiguous";
  if (/^Could not find/.test(message)) return "no_match";
  if (/overlap in/.test(message)) return "overlap";
  if (/^No changes made/.test(message)) return "no_change";
  if (/must not be empty/.test(message)) return "invalid_arguments";
  return `unknown: ${message}`;
}

/** Positions of `sought`, overlapping ones too. */
function positions(text, sought) {
  let count = 0;
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) count++;
  return count;
}

/** A name for the difference, or undefined where there is no excuse for it. */
function difference(example, reference, own) {
  const { edits, endings, text } = example;
  const file = normalised.lf(text.replace(/^\ufeff/, ""));
  const olds = edits.map((edit) => normalised.lf(edit.oldText));
  if (reference.code === "ambiguous" && own.code !== "ambiguous") {
    const named = olds[Number(/edits\[(\d+)\]/.exec(reference.message)?.[1] ?? 0)];
    const lookAlike = positions(file, named) === 1 && countFuzzy(file, named) > 1;
    if (lookAlike) return "exact beats look-alike: the reference counts look-alikes of unique text";
  }
  const missed = olds.some((old) => positions(file, old) > 1 && countFuzzy(file, old) < 2);
  if (own.code === "ambiguous" && missed)
    return "exact beats look-alike: the reference misses occurrences that it composes";
  const overlapping = olds.some((old) => positions(file, old) > file.split(old).length - 1);
  if (own.code === "ambiguous" && overlapping) return "overlapping occurrences are occurrences";
  if (own.code === "ambiguous" && reference.code === "overlap") return "ambiguous before overlapping";
  if (reference.code || own.code) return undefined;

  const alike = normalised.lf(reference.content) === normalised.lf(own.content);
  if (!alike) return undefined;
  if (reference.content !== own.content) {
    if (!/[\r\n]/.test(text)) return "a file without any line break: those of newText stay as given";
    if (endings !== "mixed") return undefined;
    return "only the span changes: the n-th break takes the ending of the n-th break it replaces";
  }
  if (reference.blocks !== own.blocks) {
    const noops = edits.filter((edit) => normalised.lf(edit.oldText) === normalised.lf(edit.newText)).length;
    return reference.blocks - noops === own.blocks
      ? "an edit that changes nothing is not counted"
      : undefined;
  }
  // Both patches are right: equal lines can be told apart in more than one way.
  return "the same change, aligned otherwise among equal lines";
}

function countFuzzy(file, old) {
  return normalised.fuzzy(file).split(normalised.fuzzy(old)).length - 1;
}

test("the same edits leave the same file", { timeout: 120_000 }, async (t) => {
  const rng = random(SEED);
  const counts = tally("edit");
  const env = memory({}, { cwd: "/work" });
  const toolset = await createToolset(env);
  const sample = [];
  for (let nth = 0; nth < CASES; nth++) {
    const made = example(rng);
    const [reference, own] = [await theirs(made), await ours(toolset, env, made)];
    const fail = (why) =>
      assert.fail(`${why}\ncase ${nth}, seed ${SEED}: ${shown({ made, reference, own })}`);

    if (!own.code) {
      if (applied(own.patch, made.text) !== own.content) fail("our patch does not lead to our file");
      if (nth % 50 === 0) sample.push({ before: made.text, after: own.content, patch: own.patch, nth });
    }
    if (!reference.code) {
      const [before, after] = [made.text, reference.content].map((text) =>
        normalised.lf(text.replace(/^\ufeff/, "")),
      );
      if (applied(reference.patch, before) !== after) fail("the reference's patch does not lead to its file");
    }
    const same =
      reference.code || own.code
        ? reference.code === own.code
        : reference.content === own.content &&
          reference.blocks === own.blocks &&
          reference.firstChangedLine === own.firstChangedLine;
    if (same) {
      counts.add(own.code ? `the same refusal: ${own.code}` : `the same edit (${made.endings})`);
      continue;
    }
    const name = difference(made, reference, own);
    if (!name) fail("a difference that nobody has meant");
    counts.add(name);
  }
  counts.print(t);
  const edited = ["lf", "crlf", "mixed"].map((endings) => counts.of(`the same edit (${endings})`));
  assert.ok(edited.reduce((sum, count) => sum + count) > CASES * 0.6, "most edits are to be edits");
  gitApplies(sample);
});

/** What `git apply` makes of a sample of our patches. */
function gitApplies(sample) {
  const folder = mkdtempSync(join(tmpdir(), "parity-"));
  try {
    for (const { before, after, patch, nth } of sample) {
      writeFileSync(join(folder, "file.txt"), before);
      const git = spawnSync("git", ["apply", "--whitespace=nowarn", "-"], { cwd: folder, input: patch });
      assert.equal(git.status, 0, `git apply, case ${nth}: ${git.stderr}\n${patch}`);
      assert.equal(readFileSync(join(folder, "file.txt"), "utf8"), after, `git apply, case ${nth}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Applies a unified diff, strictly: every line of context has to be where the patch says. */
function applyPatch(patch, before) {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const out = [];
  let at = 0;
  for (const hunk of patch.split(/^(?=@@ )/m).slice(1)) {
    const [, start, count = "1"] = /^@@ -(\d+)(?:,(\d+))? /.exec(hunk);
    const first = Number(start) - (count === "0" ? 0 : 1);
    out.push(...old.slice(at, first));
    at = first;
    // A CR belongs to its line, so lines end at LF alone.
    const lines = hunk.slice(hunk.indexOf("\n") + 1).match(/[^\n]*\n|[^\n]+$/g) ?? [];
    for (const [index, entry] of lines.entries()) {
      if (entry.startsWith("\\")) continue;
      const bare = lines[index + 1]?.startsWith("\\") ? entry.slice(1, -1) : entry.slice(1);
      if (entry[0] !== "+" && old[at++] !== bare) return `${JSON.stringify(bare)} is not line ${at}`;
      if (entry[0] !== "-") out.push(bare);
    }
  }
  out.push(...old.slice(at));
  return out.join("");
}
