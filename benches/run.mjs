// node --expose-gc benches/run.mjs [--quick] [--full] [--only GROUP,…] [--json FILE]: runs the benches over the
// package as it was built, and prints a table. A target that is missed is marked and is no failure; an error is one.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs, styleText } from "node:util";
import { compare } from "./measure.mjs";

const GROUPS = ["edit", "diff", "read", "search", "shell", "arguments", "start", "browser"];

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    full: { type: "boolean", default: false },
    only: { type: "string", default: GROUPS.join(",") },
    json: { type: "string" },
  },
});

const memories = watchMemories();
const { init } = await import("tackroom");
await init();

const lines = [];
let failed = false;
console.log(
  `Node ${process.version}, ${cpus()[0]?.model.trim() ?? "?"}, ${cpus().length} CPUs. CPU time, median of interleaved runs.\n`,
);
print(["workload", "ours", "peer", "", "ratio", "target", ""]);
for (const group of options.only.split(",")) {
  const { rows } = await import(`./${group}.mjs`);
  for await (const row of rows(options)) {
    try {
      for (const line of await measured(row)) record(line);
    } catch (error) {
      failed = true;
      record({ workload: row.workload, error: String(error?.message ?? error).split("\n")[0] });
    }
  }
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(lines, null, 2)}\n`);
process.exit(failed ? 1 : 0);

/** A row's lines: one for each peer, or one where there is a limit instead. */
async function measured(row) {
  const { workload } = row;
  if (row.skipped) return [{ workload, skipped: row.skipped }];
  if (row.bytes !== undefined)
    return [{ workload, bytes: row.bytes, limit: row.limit, met: row.bytes <= row.limit }];
  if (row.ms) {
    const { median, best } = row.ms;
    // Without a limit it is there to be seen.
    const met = row.limitMs === undefined || median <= row.limitMs;
    return [{ workload, oursMs: median, bestMs: best, limitMs: row.limitMs, met }];
  }
  if (row.peersMs) return compared(row, row.oursMs, Object.entries(row.peersMs));
  const before = memories();
  const names = Object.keys(row.actions).slice(1);
  const runs = row.runs ?? (options.quick ? 3 : 7);
  const budgetMs = options.quick ? 2000 : 8000;
  const [ours, ...theirs] = await compare(Object.values(row.actions), { runs, budgetMs });
  if (names.length === 0) return [{ workload, oursMs: ours, limitMs: row.limitMs, met: ours <= row.limitMs }];
  const found = compared(
    row,
    ours,
    names.map((peer, nth) => [peer, theirs[nth]]),
  );
  if (row.memoryLimit !== undefined) {
    const bytes = memories() - before;
    found.push({
      workload: `${workload}: memory`,
      bytes,
      limit: row.memoryLimit,
      met: bytes <= row.memoryLimit,
    });
  }
  return found;
}

function compared({ workload, targets }, oursMs, peers) {
  return peers.map(([peer, peerMs]) => {
    const target = targets[peer];
    const ratio = peerMs / oursMs;
    return { workload, oursMs, peer, peerMs, ratio, target, met: !target || ratio >= target };
  });
}

function record(line) {
  lines.push(line);
  if (line.skipped) return console.log(`${line.workload.padEnd(50)}skipped: ${line.skipped}`);
  const mark = line.met ? styleText("green", "✓") : styleText("red", "✗");
  if (line.error) return print([line.workload, line.error, "", "", "", "", styleText("red", "✗")]);
  if (line.bytes !== undefined) {
    return print([line.workload, kilobytes(line.bytes), "", "", "", `≤ ${kilobytes(line.limit)}`, mark]);
  }
  if (line.peer === undefined) {
    const best = line.bestMs === undefined ? "" : `best ${milliseconds(line.bestMs)}`;
    return print([
      line.workload,
      milliseconds(line.oursMs),
      "",
      best,
      "",
      line.limitMs === undefined ? "" : `≤ ${milliseconds(line.limitMs)}`,
      mark,
    ]);
  }
  const target = line.target ? `≥ ${line.target}×` : "";
  const cells = [
    milliseconds(line.oursMs),
    milliseconds(line.peerMs),
    line.peer,
    times(line.ratio),
    target,
    mark,
  ];
  return print([line.workload, ...cells]);
}

function print([workload, ours, peer, who, ratio, target, mark]) {
  const numbers = `${ours.padStart(10)}${peer.padStart(11)}  ${who.padEnd(13)}${ratio.padStart(7)}${target.padStart(11)}`;
  console.log(`${workload.padEnd(50)}${numbers}  ${mark}`);
}

function milliseconds(ms) {
  if (ms < 0.1) return `${(ms * 1000).toPrecision(3)} µs`;
  return `${ms < 100 ? ms.toPrecision(3) : Math.round(ms)} ms`;
}

function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

function times(ratio) {
  return `${ratio < 10 ? ratio.toFixed(1) : Math.round(ratio)}×`;
}

/** Sees the memories of instances made from here on; answers their bytes in all. */
function watchMemories() {
  const seen = new Set();
  const Instance = WebAssembly.Instance;
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      super(...args);
      for (const value of Object.values(this.exports))
        if (value instanceof WebAssembly.Memory) seen.add(value);
    }
  };
  return () => [...seen].reduce((sum, memory) => sum + memory.buffer.byteLength, 0);
}
