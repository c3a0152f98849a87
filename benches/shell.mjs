// A command that floods: 100 MB of output, of which the end is shown. Three things are measured.
//
// - "accumulator": what keeps the end, alone: ours and the reference's, neither with a file.
// - "bash, nothing kept": the whole tool call, over an environment that has no temporary files.
// - "bash, kept": the whole tool call, the output stored in a file on the disk; so does the reference's accumulator.
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolset, OutputAccumulator } from "tackroom";
import { memory } from "tackroom/env/memory";
import { Accumulator, KeepingAccumulator } from "./peers.mjs";
import { numberedLines } from "./texts.mjs";

/** Others that are open meanwhile. Where a collection finds none, V8 throws its code for the class away with it. */
const open = [];

export async function* rows({ quick }) {
  open.push(new OutputAccumulator());
  const megabytes = quick ? 10 : 100;
  const block = numberedLines(1_000_000, "compiling module, one of many, warning: unused");
  const disk = mkdtempSync(join(tmpdir(), "tackroom-bench-"));
  try {
    for (const kilobytes of [4, 64]) {
      const chunks = [];
      for (let at = 0; at < block.length; at += kilobytes * 1024)
        chunks.push(block.subarray(at, at + kilobytes * 1024));
      const of = (what) => `${what}, ${megabytes} MB in chunks of ${kilobytes} KB`;
      const flood = { chunks, times: megabytes };
      yield {
        workload: of("accumulator"),
        actions: { ours: () => alone(flood), "pi 1.6": () => theirs(flood) },
        targets: { "pi 1.6": 20 },
        memoryLimit: 4_000_000,
      };
      yield {
        workload: of("bash, nothing kept"),
        actions: { ours: await tool(flood), "pi 1.6": () => theirs(flood) },
        targets: { "pi 1.6": 20 },
        memoryLimit: 4_000_000,
      };
      yield {
        workload: of("bash, kept"),
        actions: { ours: await tool(flood, disk), "pi 1.6": () => theirsKept(flood) },
        targets: {},
        memoryLimit: 4_000_000,
      };
    }
  } finally {
    rmSync(disk, { recursive: true });
  }
}

/** A command that waits when it is asked to, and an environment that keeps its output, or does not. */
async function tool({ chunks, times }, disk) {
  const exec = async (_, { onStdout }) => {
    for (let nth = 0; nth < times; nth++)
      for (const chunk of chunks) {
        const room = onStdout(chunk);
        if (room) await room;
      }
    return { exitCode: 0 };
  };
  const { createTempFile: _, appendFile: __, ...env } = memory({}, { exec });
  if (disk) Object.assign(env, temporaryFiles(disk));
  const toolset = await createToolset(env);
  return async () => {
    const result = await toolset.call({ id: "1", name: "bash", arguments: '{"command":"make"}' });
    if (result.isError) throw new Error(result.content[0].text);
    const { fullOutputPath: path } = result.details;
    if ((path !== undefined) !== (disk !== undefined) || / only: /.test(result.content[0].text))
      throw new Error(`expected all of it to be kept, or nothing, found ${path}`);
    if (path) env.tidy(path);
  };
}

/** On the disk, with a file descriptor that stays open, as the reference has. */
function temporaryFiles(disk) {
  const open = new Map();
  let made = 0;
  return {
    createTempFile() {
      const path = join(disk, `output-${made++}`);
      open.set(path, openSync(path, "ax"));
      return path;
    },
    appendFile: (path, content) => appendFileSync(open.get(path), content),
    tidy(path) {
      closeSync(open.get(path));
      open.delete(path);
      rmSync(path);
    },
  };
}

function alone({ chunks, times }) {
  const output = new OutputAccumulator();
  for (let nth = 0; nth < times; nth++) for (const chunk of chunks) output.push(chunk);
  output.finish();
  const snapshot = output.snapshot();
  output.dispose();
  return snapshot;
}

function theirs({ chunks, times }, output = new Accumulator()) {
  for (let nth = 0; nth < times; nth++) for (const chunk of chunks) output.append(chunk);
  output.finish();
  return output.snapshot();
}

/** Its stream takes everything at once, and is waited for in the end. */
async function theirsKept(flood) {
  const output = new KeepingAccumulator();
  const { fullOutputPath } = theirs(flood, output);
  await output.closeTempFile();
  rmSync(fullOutputPath);
}
