// A file that is larger than what should be held, made up as it is asked for: pages at its start, in the middle and
// past its end take little memory. 200 MB; READ_LARGE_MB=2048 for more.
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createToolset, init } from "tackroom";

const MEGABYTES = Number(process.env.READ_LARGE_MB ?? 200);

/** wasm memories, seen as they are made. */
const memories = new Set();
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    for (const value of Object.values(this.exports))
      if (value instanceof WebAssembly.Memory) memories.add(value);
  }
};
const wasmBytes = () => [...memories].reduce((sum, memory) => sum + memory.buffer.byteLength, 0);

before(() => init());

/** Lines of 64 bytes, each with its number; every one of them is known without those before it. */
const LINE = 64;
const lineAt = (nth) => `${String(nth).padStart(12, "0")} größe 文字 ${"x".repeat(LINE - 29)}\n`;
assert.equal(Buffer.byteLength(lineAt(1)), LINE);

/** An environment with one file, `/large.txt`, whose bytes are made when a range of them is asked for. */
function madeUp(lines, { isAsync }) {
  const size = lines * LINE;
  const stats = { asked: 0, whole: 0, most: 0 };
  const template = Buffer.from(lineAt(0).repeat(32 * 1024));
  const info = { name: "large.txt", path: "/large.txt", kind: "file", size, mtimeMs: 0 };
  const range = (_, from, to) => {
    const [start, end] = [Math.min(from, size), Math.min(to, size)];
    stats.asked++;
    stats.most = Math.max(stats.most, to - from);
    const first = Math.floor(start / LINE);
    const last = Math.ceil(end / LINE);
    const block = template.subarray(0, (last - first) * LINE);
    for (let nth = first; nth < last; nth++)
      block.write(String(nth + 1).padStart(12, "0"), (nth - first) * LINE, "latin1");
    return block.subarray(start - first * LINE, end - first * LINE);
  };
  const env = {
    cwd: "/",
    readBinaryFile() {
      stats.whole++;
      throw new Error("the whole file is more than anyone should ask for");
    },
    readRange: isAsync ? async (...args) => range(...args) : range,
    fileInfo: () => info,
    listDir: () => [info],
    writeFile() {},
  };
  return { env, stats };
}

for (const isAsync of [false, true]) {
  test(`${MEGABYTES} MB of text in flat memory, ${isAsync ? "through promises" : "at once"}`, async (t) => {
    const lines = (MEGABYTES * 1024 * 1024) / LINE;
    const { env, stats } = madeUp(lines, { isAsync });
    const toolset = await createToolset(env);
    const read = async (args) => {
      const result = await toolset.call({
        id: "1",
        name: "read",
        arguments: JSON.stringify({ path: "large.txt", ...args }),
      });
      return result.content[0].text;
    };
    // What any reading takes, and the first compilation, is not counted.
    await read({ limit: 1 });
    globalThis.gc?.();
    const [wasm, rss] = [wasmBytes(), process.memoryUsage().rss];
    let most = rss;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss);
    }, 20);

    const started = performance.now();
    assert.ok((await read({})).startsWith(`${lineAt(1)}${lineAt(2)}`));
    const middle = lines / 2;
    const page = await read({ offset: middle, limit: 3 });
    assert.equal(
      page,
      `${lineAt(middle)}${lineAt(middle + 1)}${lineAt(middle + 2)}\n` +
        `[${lines - middle - 2} more lines in file. Use offset=${middle + 3} to continue.]`,
    );
    assert.equal(await read({ offset: lines }), lineAt(lines));
    assert.match(
      await read({ offset: lines + 1 }),
      new RegExp(`^Offset ${lines + 1} is beyond end of file \\(${lines} lines total\\)`),
    );
    const ms = performance.now() - started;
    clearInterval(watch);
    most = Math.max(most, process.memoryUsage().rss);

    const megabytes = (bytes) => (bytes / 1024 / 1024).toFixed(1);
    const grown = wasmBytes() - wasm;
    t.diagnostic(
      `4 pages in ${ms.toFixed(0)} ms, ${(((MEGABYTES * 4) / ms) * 1000).toFixed(0)} MB/s with making the bytes up; ` +
        `wasm memory ${megabytes(wasmBytes())} MB (${megabytes(grown)} more), ` +
        `resident set ${megabytes(most)} MB (${megabytes(most - rss)} more)`,
    );
    assert.equal(stats.whole, 0);
    assert.ok(stats.most <= 1024 * 1024 && stats.asked >= MEGABYTES * 5);
    // The allocator may find no place for a piece among what is free; not with each.
    assert.ok(grown <= 256 * 1024, `wasm memory grows by ${megabytes(grown)} MB`);
    assert.ok(most - rss < 64 * 1024 * 1024, `the resident set grows by ${megabytes(most - rss)} MB`);
  });
}
