// node size.mjs FILE...: one line a file, "raw gzip brotli" in bytes.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

for (const path of process.argv.slice(2)) {
  const raw = readFileSync(path);
  const brotli = brotliCompressSync(raw, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 22,
      [constants.BROTLI_PARAM_SIZE_HINT]: raw.length,
    },
  });
  console.log(`${raw.length} ${gzipSync(raw, { level: 9 }).length} ${brotli.length}`);
}
