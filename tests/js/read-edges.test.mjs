// Edges of read that only show through the package: sizes beyond 32 bits, environments that give little at a time,
// options that come too late.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";

async function read(env, args, options) {
  const toolset = await createToolset(env, options);
  return toolset.call({ id: "1", name: "read", arguments: args });
}
const textOf = (result) => result.content[0].text;

test("limits beyond 32 bits are no limits", async () => {
  for (const most of [2 ** 32 - 2, 2 ** 32 - 1, 2 ** 32, 1e12, Number.MAX_SAFE_INTEGER]) {
    const env = memory({ f: "a\nb\n" });
    assert.equal(
      textOf(await read(env, { path: "f" }, { limits: { maxLines: most } })),
      "a\nb\n",
      String(most),
    );
    assert.equal(textOf(await read(env, { path: "f", limit: most })), "a\nb\n", String(most));
  }
});

test("from the first byte on, a line is as it is", async () => {
  const result = await read(memory({ f: "a\nb\nc\n" }), { path: "f", offset: 2, limit: 2000, column: 1 });
  assert.equal(textOf(result), "b\nc\n");
  assert.equal(result.details.truncation, undefined);
});

/** A file that is given in ranges of at most so many bytes. */
function few(bytes, most) {
  const info = { name: "f", path: "/f", kind: "file", size: bytes.length, mtimeMs: 0 };
  return {
    cwd: "/",
    fileInfo: () => info,
    listDir: () => [info],
    readBinaryFile: () => bytes,
    readRange: (_, start, end) => bytes.slice(start, Math.min(end, start + most)),
    writeFile() {},
  };
}

test("what comes in small parts is read to its end", async () => {
  const bytes = new TextEncoder().encode("0123456789\n".repeat(300_000));
  for (const most of [0, 1000, 65_536, 2 ** 20 - 1]) {
    const result = await read(few(bytes, most), { path: "f", offset: 299_999 });
    assert.equal(textOf(result), "0123456789\n0123456789\n", String(most));
  }
});

test("a function among the options answers at once", async () => {
  await assert.rejects(createToolset(memory(), { limits: async () => ({ maxLines: 4 }) }), {
    code: "invalid_arguments",
    message: /limits must not be a promise/,
  });
});

test("a text of an old code page that begins like a sound is text", async () => {
  for (const start of [
    [0xff, 0x0a],
    [0xff, 0xfb],
  ]) {
    const result = await read(memory({ f: Uint8Array.of(...start, 0x68, 0x69, 0x0a) }), { path: "f" });
    assert.match(textOf(result), /hi\n/);
  }
});

test("what a processor says is bounded", async () => {
  const png = Uint8Array.from(
    atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="),
    (char) => char.charCodeAt(0),
  );
  const processor = async () => ({ ok: false, message: "x\0".repeat(1e6) });
  const result = await read(memory({ "a.png": png }), { path: "a.png" }, { images: { processor } });
  const text = textOf(result);
  assert.ok(text.length < 1200 && !text.includes("\0"), String(text.length));
});
