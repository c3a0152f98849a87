// Images through the package where there are no codecs, and processors of the host's own, good and bad.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createToolset, detectFileKind, init } from "tackroom";
import { memory } from "tackroom/env/memory";
import {
  assertFailed,
  bytes,
  deferred,
  nothingEscaped,
  nothingLeft,
  run,
  stillWorks,
  textOf,
  until,
} from "./support/hold.mjs";

/** Two pixels. */
const PNG = Uint8Array.from(
  atob(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAYAAAD0In+KAAAAFElEQVR4AQEJAPb/AP8AAP8AAP//D/kD/aYucFEAAAAASUVORK5CYII=",
  ),
  (character) => character.charCodeAt(0),
);
const BASE64 = Buffer.from(PNG).toString("base64");
const imageOf = (result) => result.content.find((part) => part.type === "image");

async function toolsetWith(images, options) {
  const env = memory({ "/a.png": PNG, "/good.txt": "good\n" });
  return createToolset(env, { images, ...options });
}

test("without codecs an image passes as it is", async () => {
  const toolset = await toolsetWith(undefined);
  const result = await run(toolset, "read", { path: "/a.png" });
  assert.deepEqual(result.content, [
    { type: "text", text: "Read image file [image/png]" },
    { type: "image", data: BASE64, mimeType: "image/png" },
  ]);
  assert.deepEqual(result.details, { lineEnding: "lf", encoding: "utf-8" });
});

test("a large image crosses whole", async () => {
  const noise = new Uint8Array(3_000_001);
  for (let at = 0; at < noise.length; at += 65_536) crypto.getRandomValues(noise.subarray(at, at + 65_536));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, noise.length);
  const parts = [PNG.subarray(0, 33), length, bytes("IDAT"), noise, bytes("crc!"), PNG.subarray(-12)];
  const large = new Uint8Array(Buffer.concat(parts));
  const toolset = await createToolset(memory({ "/large": large }));
  const result = await run(toolset, "read", { path: "/large" });
  assert.ok(Buffer.from(imageOf(result).data, "base64").equals(large));
});

test("a processor gets the bytes as its own, the limits and the signal", async () => {
  let asked;
  const toolset = await toolsetWith({
    maxWidth: 10,
    autoResize: false,
    processor: async (...given) => {
      asked = given;
      return { ok: true, data: "AAAA", mimeType: "image/webp", hints: ["[One.]", "[Two.]"] };
    },
  });
  const result = await run(toolset, "read", { path: "/a.png" });
  assert.equal(textOf(result).trim(), "Read image file [image/webp]\n[One.]\n[Two.]");
  assert.deepEqual(imageOf(result), { type: "image", data: "AAAA", mimeType: "image/webp" });
  const [given, mimeType, { signal, ...limits }] = asked;
  assert.deepEqual([given, mimeType], [PNG, "image/png"]);
  assert.deepEqual(limits, { autoResize: false, maxWidth: 10, maxHeight: 2000, maxBytes: 4_718_592 });
  assert.ok(signal instanceof AbortSignal && !signal.aborted);
  given.fill(0);
  const again = await run(toolset, "read", { path: "/a.png" });
  assert.equal(again.isError, false);
  assert.deepEqual(asked[0], PNG);
});

test("what a processor may not answer costs the image, and says so", async () => {
  const good = { ok: true, data: "AAAA", mimeType: "image/png", hints: [] };
  const thrower = {
    get ok() {
      throw new Error("a getter");
    },
  };
  for (const [answer, expected] of [
    [{ ok: false, message: "[Too odd.]" }, "[Too odd.]"],
    [{ ok: false }, "no reason was given"],
    [undefined, "something else than it may"],
    [null, "something else than it may"],
    ["AAAA", "something else than it may"],
    [{ ...good, ok: "yes" }, "something else than it may"],
    [{ ...good, data: 5 }, "no base64"],
    [{ ...good, data: "" }, "no base64"],
    [{ ...good, data: "AAA" }, "no base64"],
    [{ ...good, data: "AA\nA" }, "no base64"],
    [{ ...good, data: "data:image/png;base64,AAAA" }, "no base64"],
    [{ ...good, data: "A".repeat(104) }, "104 bytes of base64, the limit is 100"],
    [{ ...good, mimeType: "text/html" }, "no MIME type"],
    [{ ...good, mimeType: 'image/png" onload="' }, "no MIME type"],
    [thrower, "the image processor failed: a getter"],
    [Promise.reject(new Error("a codec")), "the image processor failed: a codec"],
  ]) {
    const toolset = await toolsetWith({ maxBytes: 100, processor: () => answer });
    const result = await run(toolset, "read", { path: "/a.png" });
    assert.equal(result.isError, false);
    assert.equal(result.content.length, 1);
    assert.ok(textOf(result).startsWith("Read image file [image/png]\n["), textOf(result));
    assert.ok(textOf(result).includes(expected), textOf(result));
    await stillWorks(toolset);
  }
  const throws = await toolsetWith({
    processor() {
      throw new RangeError("at once");
    },
  });
  assert.match(textOf(await run(throws, "read", { path: "/a.png" })), /the image processor failed: at once/);
  const odd = await toolsetWith({ processor: async () => ({ ...good, hints: [5, "\ud800x", ""] }) });
  const result = await run(odd, "read", { path: "/a.png" });
  assert.equal(textOf(result).trim(), "Read image file [image/png]\n\ufffdx");
  await nothingEscaped();
  await nothingLeft();
});

test("an abort ends a processor that never answers", async () => {
  const { promise, resolve } = deferred();
  let signal;
  const toolset = await toolsetWith({
    processor: (_bytes, _type, options) => {
      signal = options.signal;
      return promise;
    },
  });
  const controller = new AbortController();
  const call = run(toolset, "read", { path: "/a.png" }, { signal: controller.signal });
  await until(() => signal !== undefined, "the question");
  controller.abort();
  assertFailed(await call, "aborted");
  assert.ok(signal.aborted);
  // Late, and not heard.
  resolve({ ok: true, data: "AAAA", mimeType: "image/png", hints: [] });
  await nothingEscaped();
  await nothingLeft();
  await stillWorks(toolset);
});

test("hooks and listeners see the image", async () => {
  const seen = [];
  const toolset = await toolsetWith(undefined, {
    afterToolCall({ result }) {
      seen.push(imageOf(result).data);
      if (seen.length === 2) return { content: [...result.content, { type: "text", text: "seen" }] };
    },
  });
  toolset.subscribe((event) => {
    if (event.type === "tool_execution_end") seen.push(imageOf(event.result).data);
  });
  await run(toolset, "read", { path: "/a.png" });
  assert.deepEqual(seen, [BASE64, BASE64]);
  seen.length = 1;
  const changed = await run(toolset, "read", { path: "/a.png" });
  assert.deepEqual(
    changed.content.map(({ text, data }) => text ?? data),
    ["Read image file [image/png]", BASE64, "seen"],
  );
});

test("two calls at once keep their images apart", async () => {
  const answers = [deferred(), deferred()];
  let asked = 0;
  const toolset = await toolsetWith({ processor: () => answers[asked++].promise });
  const calls = [1, 2].map(() => run(toolset, "read", { path: "/a.png" }));
  await until(() => asked === 2);
  answers[1].resolve({ ok: true, data: "BBBB", mimeType: "image/png", hints: [] });
  answers[0].resolve({ ok: true, data: "AAAA", mimeType: "image/png", hints: [] });
  const results = await Promise.all(calls);
  assert.deepEqual(
    results.map((result) => imageOf(result).data),
    ["AAAA", "BBBB"],
  );
});

test("whether the model takes images is asked before each call", async () => {
  let takes = true;
  const toolset = await toolsetWith({ supported: () => takes });
  assert.ok(imageOf(await run(toolset, "read", { path: "/a.png" })));
  assert.match(toolset.tools[0].description, /look at an image/);
  takes = false;
  const without = await run(toolset, "read", { path: "/a.png" });
  assert.equal(imageOf(without), undefined);
  assert.match(textOf(without), /the current model does not take images/);
  assert.doesNotMatch(toolset.tools[0].description, /image/);
});

test("options that are wrong are refused", async () => {
  for (const images of [
    null,
    "all",
    { processor: "own" },
    { processor: {} },
    { maxWidth: 0 },
    { maxBytes: Infinity },
    { supported: "yes" },
    { autoresize: false },
  ]) {
    await assert.rejects(toolsetWith(images), (error) => {
      assert.equal(error.code, "invalid_arguments");
      assert.match(error.message, /images/);
      return true;
    });
  }
  for (const images of [undefined, {}, { processor: undefined, supported: undefined }, { processor: null }])
    (await toolsetWith(images)).dispose();
});

test("detectFileKind", async () => {
  await init();
  const hex = (text) => new Uint8Array(Buffer.from(text, "hex"));
  for (const [given, expected] of [
    [PNG, { kind: "image", mimeType: "image/png", width: 2, height: 1, animated: false }],
    [PNG.subarray(0, 8), { kind: "image", mimeType: "image/png", animated: false }],
    [
      hex("474946383961020003008000003b"),
      { kind: "image", mimeType: "image/gif", width: 2, height: 3, animated: false },
    ],
    [hex("0000001866747970686569630000"), { kind: "image", mimeType: "image/heic" }],
    [hex("504b0304140000000800"), { kind: "binary", mimeType: "application/zip" }],
    [hex("00010203"), { kind: "binary" }],
    [bytes("<svg/>"), { kind: "text", encoding: "utf-8" }],
    [bytes("BMW is a car company"), { kind: "text", encoding: "utf-8" }],
    [new Uint8Array(), { kind: "text", encoding: "utf-8" }],
    [hex("fffe68000a00"), { kind: "text", encoding: "utf-16le" }],
    [hex("efbbbf68"), { kind: "text", encoding: "utf-8-bom" }],
    [new Uint8Array(5_000_000).fill(97), { kind: "text", encoding: "utf-8" }],
  ]) {
    assert.deepEqual(detectFileKind(given), expected);
  }
  // A view of a part is that part.
  assert.equal(detectFileKind(Buffer.concat([bytes("xx"), PNG]).subarray(2)).kind, "image");
  for (const wrong of ["text", undefined, [1], new Uint16Array(2)]) {
    assert.throws(() => detectFileKind(wrong), { code: "invalid_arguments", message: /Uint8Array/ });
  }
});
