// Writes public/sample.json, the project that the playground opens: the sources of rxjs, as
// {name, version, files: {path: text}}. The text is kept byte for byte, line endings included.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const WANTED = /^(src\/.+|README\.md|CHANGELOG\.md|LICENSE\.txt|package\.json|tsconfig\.json)$/;
/** A bundle with mixed line endings: 153 of its lines end in CRLF. */
const MIXED = "dist/bundles/rxjs.umd.js";
const MIXED_CRLF = 153;
const LEAST_FILES = 200;

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(createRequire(import.meta.url).resolve("rxjs/package.json"));
const { name, version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const files = {};
let skipped = 0;
for (const path of await list(root)) {
  if (path.endsWith(".map") || !(path === MIXED || WANTED.test(path))) continue;
  try {
    files[path] = strict.decode(await readFile(join(root, path)));
  } catch {
    skipped++;
  }
}

const count = Object.keys(files).length;
expect(count >= LEAST_FILES, `expected at least ${LEAST_FILES} files in ${name} ${version}, found ${count}`);
const output = join(here, "public", "sample.json");
const text = JSON.stringify({ name, version, files });
await mkdir(dirname(output), { recursive: true });
await writeFile(output, text);

const written = JSON.parse(await readFile(output, "utf8"));
const crlf = written.files[MIXED]?.split("\r\n").length - 1;
expect(crlf === MIXED_CRLF, `expected ${MIXED_CRLF} CRLF lines in ${MIXED}, found ${crlf}`);

console.log(`${name} ${version}: ${count} files, ${(text.length / 1e6).toFixed(1)} MB`);
if (skipped > 0) console.log(`left out ${skipped} files that are not UTF-8`);

/** Paths of the files below `folder`, relative to it, with slashes, sorted. */
async function list(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

function expect(holds, message) {
  if (holds) return;
  console.error(message);
  process.exit(1);
}
