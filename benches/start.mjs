// Cold start, in processes of their own: from the package imported to the first read answered. And what is loaded.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { median } from "./measure.mjs";

const WASM = fileURLToPath(import.meta.resolve("tackroom/core.wasm"));

const PROGRAM = `
import { readFileSync } from "node:fs";
import { createToolset, init } from "tackroom";
import { memory } from "tackroom/env/memory";
const bytes = process.argv[1] && readFileSync(process.argv[1]);
const started = performance.now();
if (bytes) await init(bytes);
const toolset = await createToolset(memory({ f: "hello\\n" }));
const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"f"}' });
const took = performance.now() - started;
if (result.content[0].text !== "hello\\n") throw new Error(result.content[0].text);
console.log(took);
`;

export async function* rows({ quick }) {
  const runs = quick ? 7 : 25;
  yield { workload: "cold start and first read, inline", ms: starts([], runs), limitMs: 12 };
  yield { workload: "cold start and first read, from bytes", ms: starts([WASM], runs), limitMs: 8 };
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 };
  yield {
    workload: "core, brotli",
    bytes: brotliCompressSync(readFileSync(WASM), { params }).length,
    limit: 220_000,
  };
}

function starts(args, runs) {
  const taken = Array.from({ length: runs }, () => {
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM, ...args], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      encoding: "utf8",
    });
    if (child.status !== 0) throw new Error(child.stderr);
    return Number(child.stdout);
  });
  return { median: median(taken), best: Math.min(...taken) };
}
