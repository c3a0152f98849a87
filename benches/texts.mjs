// What the benches work on: real source code, the same on every machine, because packages at exact versions hold it.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Where the code comes from. A little of it is not ASCII, as in most repositories. */
const SOURCES = [
  "@earendil-works/pi-coding-agent",
  "@earendil-works/pi-ai",
  "@earendil-works/pi-agent-core",
  "openai",
];
/** Files beyond this are bundles and tables. */
const MOST_BYTES = 100_000;

/** That many bytes of source code, cut at a line. */
export function code(bytes, { isAscii = false } = {}) {
  // One character beyond Latin-1, and JavaScript's strings take twice the space and the time.
  if (isAscii) return code(bytes).replace(/[^\0-\x7f]/g, "?");
  let text = "";
  for (const name of SOURCES) {
    for (const path of sourceFiles(packageFolder(name))) {
      const content = readFileSync(path, "utf8");
      // Lines as people write them.
      if (/[^\n]{400}/.test(content)) continue;
      text += content.endsWith("\n") ? content : `${content}\n`;
      if (text.length >= bytes) return text.slice(0, text.lastIndexOf("\n", bytes) + 1);
    }
  }
  throw new Error(`There are ${text.length} bytes of code, ${bytes} were asked for`);
}

/** The folder of a package, of which any module is known. */
function packageFolder(name) {
  const entry = fileURLToPath(import.meta.resolve(name));
  const folder = join("node_modules", name);
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}

function* sourceFiles(folder) {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && entry.name !== "node_modules") yield* sourceFiles(path);
    else if (/\.[jt]s$/.test(entry.name) && statSync(path).size < MOST_BYTES) yield path;
  }
}

/** `count` edits of three lines each, spread over the code, and those that undo them. */
export function spreadEdits(text, count) {
  const lines = text.split("\n");
  const there = [];
  let free = 0;
  for (let nth = 0; nth < count; nth++) {
    let at = Math.max(free, Math.floor(((nth + 0.5) * (lines.length - 9)) / count));
    // The block has to be there once.
    const block = () => `${lines.slice(at, at + 3).join("\n")}\n`;
    while (block().length < 60 || text.indexOf(block()) !== text.lastIndexOf(block())) at++;
    const oldText = block();
    free = at + 3;
    there.push({
      oldText,
      newText: `${lines[at]}\nchanged(${nth}, "${"x".repeat(30)}");\n${lines[at + 2]}\n`,
    });
  }
  const back = there.map(({ oldText, newText }) => ({ oldText: newText, newText: oldText }));
  return [there, back];
}

/** Lines that repeat themselves, in one order or another. */
export function repetitive(count, salt) {
  let text = "";
  for (let nth = 0; nth < count; nth++) text += `    <li class="row">item ${(nth * salt) % 97}</li>\n`;
  return text;
}

/** Bytes of numbered lines, one buffer of that length. */
export function numberedLines(bytes, filling) {
  const block = Buffer.from(
    Array.from({ length: 1000 }, (_, nth) => `${String(nth).padStart(4)} ${filling}\n`).join(""),
  );
  const all = Buffer.alloc(Math.floor(bytes / block.length) * block.length, block);
  return new Uint8Array(all.buffer, all.byteOffset, all.length);
}
