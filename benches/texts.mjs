// What the benches work on: plausible source code, made up, the same every time.

/** Lines of code that occur once each, as many as make up that many bytes. */
export function code(bytes) {
  const lines = [];
  for (let nth = 0, length = 0; length < bytes; nth++) {
    const indent = "  ".repeat(1 + (nth % 4));
    const line = `${indent}const value${nth} = compute(input[${(nth * 7919) % 1009}], "${(nth * 31) % 977}"); // step ${nth}`;
    lines.push(line);
    length += line.length + 1;
  }
  return `${lines.join("\n")}\n`;
}

/** `count` edits spread over the code, each of one line, and those that undo them. */
export function spreadEdits(text, count) {
  const lines = text.split("\n");
  const there = [];
  for (let nth = 0; nth < count; nth++) {
    const at = Math.floor(((nth + 0.5) * (lines.length - 1)) / count);
    const oldText = `${lines[at]}\n`;
    const newText = `${lines[at].replace("compute", "recompute")}\n    check(value${at});\n`;
    there.push({ oldText, newText });
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
