// The peers: the reference's tools over bytes in memory, and edits as one would write them by hand in JavaScript.
import { validateToolArguments } from "@earendil-works/pi-ai/utils/validation";
import { reference } from "../tests/parity/support.mjs";

const [{ createEditTool }, { createReadTool }, { OutputAccumulator }] = await Promise.all([
  reference("edit"),
  reference("read"),
  reference("output-accumulator"),
]);

export { validateToolArguments };

/** The reference's edit tool over one file, from argument text to result. */
export function referenceEdit(text) {
  let bytes = Buffer.from(text);
  const operations = {
    access: async () => {},
    readFile: async () => bytes,
    writeFile: async (_, content) => {
      bytes = Buffer.from(content);
    },
  };
  const tool = createEditTool("/", { operations });
  return async (args) => {
    const call = { id: "1", name: "edit", arguments: JSON.parse(args) };
    return tool.execute("1", validateToolArguments(tool, call));
  };
}

/** The reference's read tool over bytes that come in pieces, as they do from a disk. */
export function referenceRead(bytes) {
  const operations = {
    access: async () => {},
    readFile: async () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    createReadStream: async function* () {
      for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
    },
  };
  const tool = createReadTool("/", { operations, autoResizeImages: false });
  return async (args) => {
    const call = { id: "1", name: "read", arguments: JSON.parse(args) };
    return tool.execute("1", validateToolArguments(tool, call));
  };
}

/** The reference's accumulator, which writes what is long into a file on the disk. */
export { OutputAccumulator as KeepingAccumulator };

/** The same without its file. */
export class Accumulator extends OutputAccumulator {
  ensureTempFile() {
    this.tempFilePath = "none";
    this.rawChunks = [];
  }
}

/** Exact edits by hand: decode, search, splice, and a diff of the windows around the spans. */
export function handTunedEdit(text) {
  let bytes = Buffer.from(text);
  return async (args) => {
    const { edits } = JSON.parse(args);
    const raw = bytes.toString("utf8");
    const before = raw.includes("\r") ? raw.replace(/\r\n?/g, "\n") : raw;
    const spans = edits.map(({ oldText, newText }, index) => {
      const start = before.indexOf(oldText);
      if (start === -1) throw new Error(`Could not find edits[${index}]`);
      if (before.indexOf(oldText, start + 1) !== -1) throw new Error(`edits[${index}] is not unique`);
      return { start, end: start + oldText.length, newText };
    });
    spans.sort((a, b) => a.start - b.start);
    const parts = [];
    let at = 0;
    for (const { start, end, newText } of spans) {
      if (start < at) throw new Error("overlap");
      parts.push(before.slice(at, start), newText);
      at = end;
    }
    parts.push(before.slice(at));
    const after = parts.join("");
    const difference = windowedDiff(before, spans);
    bytes = Buffer.from(after);
    return difference;
  };
}

const CONTEXT = 4;

/** A patch and a numbered diff from the replaced spans, without looking at the rest of the file. */
function windowedDiff(before, spans) {
  const lineStart = (at) => (at === 0 ? 0 : before.lastIndexOf("\n", at - 1) + 1);
  const lineEnd = (at) => {
    const lf = before.indexOf("\n", at);
    return lf === -1 ? before.length : lf + 1;
  };
  // Spans as whole lines; those that touch are one.
  const changes = [];
  for (const { start, end, newText } of spans) {
    const last = changes.at(-1);
    const from = lineStart(start);
    const to = end > start && before[end - 1] === "\n" ? end : lineEnd(end);
    if (last && from < last.to) {
      last.text += before.slice(last.end, start) + newText;
      last.end = end;
      last.to = to;
    } else {
      changes.push({ from, to, end, text: before.slice(from, start) + newText });
    }
  }
  const patch = ["--- a/f\n+++ b/f\n"];
  const numbered = [];
  let line = 1;
  let counted = 0;
  let shift = 0;
  const linesOf = (text) => {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    return lines;
  };
  for (let nth = 0; nth < changes.length; ) {
    // A hunk: changes whose contexts touch.
    let first = changes[nth].from;
    for (let step = 0; step < CONTEXT && first > 0; step++) first = lineStart(first - 1);
    for (let lf = before.indexOf("\n", counted); lf !== -1 && lf < first; lf = before.indexOf("\n", lf + 1))
      line++;
    counted = first;
    let [oldLine, newLine] = [line, line + shift];
    const [oldFirst, newFirst] = [oldLine, newLine];
    const body = [];
    let at = first;
    const context = (to) => {
      for (const text of linesOf(before.slice(at, to))) {
        body.push(` ${text}`);
        numbered.push(` ${newLine} ${text}`);
        oldLine++;
        newLine++;
      }
      at = to;
    };
    for (;;) {
      const change = changes[nth++];
      context(change.from);
      let old = linesOf(before.slice(change.from, change.to));
      let fresh = linesOf(change.text + before.slice(change.end, change.to));
      let same = 0;
      while (same < old.length && same < fresh.length && old[same] === fresh[same]) same++;
      for (const text of old.slice(0, same)) {
        body.push(` ${text}`);
        numbered.push(` ${newLine} ${text}`);
        oldLine++;
        newLine++;
      }
      old = old.slice(same);
      fresh = fresh.slice(same);
      for (const text of old) {
        body.push(`-${text}`);
        numbered.push(`-${oldLine++} ${text}`);
      }
      for (const text of fresh) {
        body.push(`+${text}`);
        numbered.push(`+${newLine++} ${text}`);
      }
      at = change.to;
      let reach = at;
      for (let step = 0; step < 2 * CONTEXT && reach < before.length; step++) reach = lineEnd(reach);
      if (nth === changes.length || changes[nth].from > reach) break;
    }
    let end = at;
    for (let step = 0; step < CONTEXT && end < before.length; step++) end = lineEnd(end);
    context(end);
    numbered.push("...");
    shift = newLine - oldLine;
    line = oldLine;
    counted = at;
    patch.push(
      `@@ -${oldFirst},${oldLine - oldFirst} +${newFirst},${newLine - newFirst} @@\n${body.join("\n")}\n`,
    );
  }
  return { patch: patch.join(""), diff: numbered.join("\n") };
}
