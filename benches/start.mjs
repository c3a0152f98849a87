// Cold start, in processes of their own: from the package imported to the first read answered, and the same for the
// search and the schema module. And what is loaded.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { median } from "./measure.mjs";

const CORE = fileURLToPath(import.meta.resolve("tackroom/core.wasm"));
const SEARCH = fileURLToPath(import.meta.resolve("tackroom/search.wasm"));
const SCHEMA = fileURLToPath(import.meta.resolve("tackroom/schema.wasm"));

const READ = `
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

/** With the core loaded: from there to the first grep answered. */
const GREP = `
import { readFileSync } from "node:fs";
import { createToolset, init } from "tackroom";
import { memory } from "tackroom/env/memory";
const toolset = await createToolset(memory({ f: "hello\\n" }));
const bytes = process.argv[1] && readFileSync(process.argv[1]);
const started = performance.now();
if (bytes) await init({ search: bytes });
const result = await toolset.call({ id: "1", name: "grep", arguments: '{"pattern":"l+o$"}' });
const took = performance.now() - started;
if (result.content[0].text !== "f:1: hello") throw new Error(result.content[0].text);
console.log(took);
`;

/** With the core loaded: from there to arguments checked with a schema of the schema module. */
const CHECK = `
import { readFileSync } from "node:fs";
import { createToolset, init, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
await createToolset(memory());
const schema = process.argv[1] && readFileSync(process.argv[1]);
const started = performance.now();
await init({ schema });
const parameters = { properties: { n: { $ref: "#/$defs/n" } }, $defs: { n: { type: "integer" } } };
const { n } = validateToolArguments({ name: "t", parameters }, { arguments: '{"n":"6"}' });
const took = performance.now() - started;
if (n !== 6) throw new Error(String(n));
console.log(took);
`;

export async function* rows({ quick }) {
  const runs = quick ? 7 : 25;
  yield { workload: "cold start and first read, inline", ms: starts(READ, [], runs), limitMs: 12 };
  yield { workload: "cold start and first read, from bytes", ms: starts(READ, [CORE], runs), limitMs: 8 };
  yield { workload: "search module and first grep, inline", ms: starts(GREP, [], runs) };
  yield { workload: "search module and first grep, from bytes", ms: starts(GREP, [SEARCH], runs) };
  yield { workload: "schema module and first check, inline", ms: starts(CHECK, [], runs) };
  yield { workload: "schema module and first check, from bytes", ms: starts(CHECK, [SCHEMA], runs) };
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 22 };
  for (const [name, path, limit] of [
    ["core", CORE, 220_000],
    ["search", SEARCH, 400_000],
    ["schema", SCHEMA, 530_000],
  ]) {
    yield {
      workload: `${name}, brotli`,
      bytes: brotliCompressSync(readFileSync(path), { params }).length,
      limit,
    };
  }
}

function starts(program, args, runs) {
  const taken = Array.from({ length: runs }, () => {
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", program, ...args], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      encoding: "utf8",
    });
    if (child.status !== 0) throw new Error(child.stderr);
    return Number(child.stdout);
  });
  return { median: median(taken), best: Math.min(...taken) };
}
