// A command that floods: 100 MB of output, of which the end is shown.
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
import { Accumulator } from "./peers.mjs";
import { numberedLines } from "./texts.mjs";

export async function* rows({ quick }) {
  const megabytes = quick ? 10 : 100;
  const block = numberedLines(1_000_000, "compiling module, one of many, warning: unused");
  for (const kilobytes of [4, 64]) {
    const chunks = [];
    for (let at = 0; at < block.length; at += kilobytes * 1024)
      chunks.push(block.subarray(at, at + kilobytes * 1024));
    const flood = (take) => {
      for (let nth = 0; nth < megabytes; nth++) for (const chunk of chunks) take(chunk);
    };
    yield {
      workload: `shell output, ${megabytes} MB in chunks of ${kilobytes} KB`,
      actions: { ours: await ours(flood), "pi 1.6": () => theirs(flood) },
      targets: { "pi 1.6": 20 },
      memoryLimit: 4_000_000,
    };
  }
}

async function ours(flood) {
  const exec = async (_, { onStdout }) => {
    flood(onStdout);
    return { exitCode: 0 };
  };
  const toolset = await createToolset(memory({}, { exec }));
  return async () => {
    const result = await toolset.call({ id: "1", name: "bash", arguments: '{"command":"make"}' });
    if (result.isError) throw new Error(result.content[0].text);
  };
}

function theirs(flood) {
  const output = new Accumulator();
  flood((chunk) => output.append(chunk));
  output.finish();
  return output.snapshot();
}
