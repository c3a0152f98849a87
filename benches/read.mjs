// Pages of a file whose bytes are in memory.
import { createToolset } from "tackroom";
import { referenceRead } from "./peers.mjs";
import { code, numberedLines } from "./texts.mjs";

export async function* rows({ full }) {
  for (const [name, isAscii] of [
    ["1 MB of source code", false],
    ["1 MB ASCII", true],
  ]) {
    const bytes = new TextEncoder().encode(code(1_000_000, { isAscii }));
    yield {
      workload: `read ${name}`,
      actions: {
        ours: await ours(oneFile(bytes), '{"path":"f"}'),
        "pi 1.6": theirs(bytes, '{"path":"f"}'),
        "JS by hand": byHand(bytes, 1),
      },
      targets: { "pi 1.6": 11, "JS by hand": 6 },
    };
  }
  if (!full) return;
  const large = [
    { name: "205 MB ASCII", bytes: numberedLines(205_000_000, "x".repeat(70)), target: 14 },
    { name: "192 MB CJK", bytes: numberedLines(192_000_000, "文字列の行".repeat(6)), target: 7 },
  ];
  for (const { name, bytes, target } of large) {
    const lines = bytes.reduce((count, byte) => count + (byte === 10), 0);
    for (const [where, offset] of [
      ["its start", 1],
      ["its middle", lines >> 1],
    ]) {
      const args = JSON.stringify({ path: "f", offset });
      yield {
        workload: `read ${name}, ${where}`,
        actions: { ours: await ours(oneFile(bytes), args), "pi 1.6": theirs(bytes, args) },
        targets: { "pi 1.6": target },
        runs: 3,
      };
    }
  }
}

async function ours(env, args) {
  const toolset = await createToolset(env);
  return async () => {
    const result = await toolset.call({ id: "1", name: "read", arguments: args });
    if (result.isError) throw new Error(result.content[0].text);
  };
}

function theirs(bytes, args) {
  const read = referenceRead(bytes);
  return () => read(args);
}

/** An environment with one file, which it hands out as it is: so the peers get it. (`memory()` hands out copies.) */
function oneFile(bytes) {
  const info = { name: "f", path: "/f", kind: "file", size: bytes.length, mtimeMs: 0 };
  return {
    cwd: "/",
    readBinaryFile: () => bytes,
    fileInfo: () => info,
    listDir: () => [info],
    writeFile() {
      throw new Error("read-only");
    },
  };
}

/** The first page, and the number of lines: decode all, look for LFs. */
function byHand(bytes, offset) {
  const decoder = new TextDecoder("utf-8");
  return () => {
    const text = decoder.decode(bytes);
    let lines = 0;
    let from = offset === 1 ? 0 : -1;
    let to = -1;
    for (let lf = text.indexOf("\n"); lf !== -1; lf = text.indexOf("\n", lf + 1)) {
      lines++;
      if (lines === offset - 1) from = lf + 1;
      if (from !== -1 && lf - from <= 51_200 && lines < offset + 2000) to = lf;
    }
    return { text: text.slice(from, to), lines };
  };
}
