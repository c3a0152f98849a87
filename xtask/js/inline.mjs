// node inline.mjs IN.wasm OUT.js: the module as gzip + base64 text, for bundlers that cannot load .wasm files.
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const [input, output] = process.argv.slice(2);
const raw = readFileSync(input);
const packed = gzipSync(raw, { level: 9 });
packed[9] = 0xff; // the header's "operating system": unknown, so that every machine writes the same bytes
writeFileSync(
  output,
  `/** Bytes of the module once unpacked. */
export const rawLength = ${raw.length};
export default "${packed.toString("base64")}";
`,
);
