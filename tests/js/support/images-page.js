// In a browser's page, and in a worker: real images through `read`, and the results decoded again. Reports to the
// server that it came from.
import { createToolset, detectFileKind, init } from "tackroom";
import { memory } from "tackroom/env/memory";

const isWorker = typeof document === "undefined";
const RED = [230, 30, 30];
const GREEN = [30, 200, 30];
const BLUE = [30, 30, 230];
const YELLOW = [240, 230, 30];
const WHITE = [255, 255, 255];
/** Corners: top left, top right, bottom left, bottom right. */
const UPRIGHT = [RED, GREEN, BLUE, YELLOW];
/** The corners as they are shown, by EXIF orientation. */
const TURNED = {
  1: UPRIGHT,
  2: [GREEN, RED, YELLOW, BLUE],
  3: [YELLOW, BLUE, GREEN, RED],
  4: [BLUE, YELLOW, RED, GREEN],
  5: [RED, BLUE, GREEN, YELLOW],
  6: [BLUE, RED, YELLOW, GREEN],
  7: [YELLOW, GREEN, BLUE, RED],
  8: [GREEN, YELLOW, RED, BLUE],
};

// Images.

function canvasOf(width, height, paint = quadrants) {
  const canvas = new OffscreenCanvas(width, height);
  paint(canvas.getContext("2d"), width, height);
  return canvas;
}

function quadrants(context, width, height) {
  const [across, down] = [Math.ceil(width / 2), Math.ceil(height / 2)];
  UPRIGHT.forEach(([r, g, b], nth) => {
    context.fillStyle = `rgb(${r} ${g} ${b})`;
    context.fillRect((nth % 2) * across, Math.floor(nth / 2) * down, across, down);
  });
}

/** Something to look at: quadrants, thin lines, a circle and words. */
function poster(context, width, height) {
  quadrants(context, width, height);
  context.strokeStyle = "#000";
  for (let at = 0; at <= 40; at++) {
    context.lineWidth = 1 + at / 4;
    context.beginPath();
    context.moveTo(width / 2, height / 2);
    context.lineTo(width * (0.1 + 0.02 * at), height * 0.12);
    context.stroke();
  }
  context.lineWidth = height / 100;
  context.beginPath();
  context.arc(width / 2, height / 2, height / 3, 0, 7);
  context.stroke();
  context.fillStyle = "#000";
  context.font = `${Math.round(height / 12)}px sans-serif`;
  context.textAlign = "center";
  context.fillText("Tackroom 5000x3000", width / 2, height * 0.7);
}

/** Nothing that compresses. */
function noise(context, width, height) {
  const image = context.createImageData(width, height);
  let state = 1;
  for (let at = 0; at < image.data.length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    image.data[at] = at % 4 === 3 ? 255 : state >>> 24;
  }
  context.putImageData(image, 0, 0);
}

async function encode(canvas, type, quality = 0.95) {
  const blob = await canvas.convertToBlob({ type, quality });
  if (blob.type !== type) throw new Error(`this browser writes no ${type}`);
  return new Uint8Array(await blob.arrayBuffer());
}

function concat(...parts) {
  return new Uint8Array(parts.flatMap((part) => Array.from(part)));
}

/** The JPEG with an EXIF segment in front. */
function withOrientation(jpeg, orientation, isLittle) {
  const tiff = new DataView(new ArrayBuffer(26));
  tiff.setUint16(0, isLittle ? 0x4949 : 0x4d4d);
  tiff.setUint16(2, 42, isLittle);
  tiff.setUint32(4, 8, isLittle);
  tiff.setUint16(8, 1, isLittle);
  tiff.setUint16(10, 0x0112, isLittle);
  tiff.setUint16(12, 3, isLittle);
  tiff.setUint32(14, 1, isLittle);
  tiff.setUint16(18, orientation, isLittle);
  const segment = concat(
    [0xff, 0xe1, 0, 34],
    new TextEncoder().encode("Exif\0\0"),
    new Uint8Array(tiff.buffer),
  );
  return concat(jpeg.subarray(0, 2), segment, jpeg.subarray(2));
}

/** An uncompressed bitmap of the canvas, from its top or from its bottom. */
function bitmap(canvas, isFromTop) {
  const { width, height } = canvas;
  const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = new Uint8Array(54 + row * height);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 0x424d);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, 54, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, isFromTop ? -height : height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * 4;
      const to = 54 + row * (isFromTop ? y : height - 1 - y) + x * 3;
      bytes.set([pixels[from + 2], pixels[from + 1], pixels[from]], to);
    }
  return bytes;
}

/** A GIF of frames in one colour each: a code for every pixel, cleared before the codes grow. */
function gif(width, height, colours) {
  const table = [...colours, ...Array(4).fill([0, 0, 0])].slice(0, 4).flat();
  const frames = colours.map((_, colour) => {
    const codes = [];
    for (let pixel = 0; pixel < width * height; pixel++) {
      if (pixel % 2 === 0) codes.push(4);
      codes.push(colour);
    }
    codes.push(5);
    const data = [];
    codes.forEach((code, nth) => {
      for (let bit = 0; bit < 3; bit++) {
        const at = nth * 3 + bit;
        data[at >> 3] = (data[at >> 3] ?? 0) | (((code >> bit) & 1) << (at & 7));
      }
    });
    const blocks = [];
    for (let at = 0; at < data.length; at += 255) {
      const block = data.slice(at, at + 255);
      blocks.push(block.length, ...block);
    }
    const control = [0x21, 0xf9, 4, 0, 10, 0, 0, 0];
    return [
      ...control,
      0x2c,
      0,
      0,
      0,
      0,
      width & 255,
      width >> 8,
      height & 255,
      height >> 8,
      0,
      2,
      ...blocks,
      0,
    ];
  });
  const screen = [width & 255, width >> 8, height & 255, height >> 8, 0x81, 0, 0, ...table];
  return concat(new TextEncoder().encode("GIF89a"), screen, frames.flat(), [0x3b]);
}

// Reading.

async function read(bytes, images = {}) {
  const toolset = await createToolset(memory({ "/f": bytes }), { images });
  const result = await toolset.call({ id: "1", name: "read", arguments: { path: "/f" } });
  toolset.dispose();
  const [first, image, ...more] = result.content;
  expect(
    !result.isError && more.length === 0,
    `expected at most two parts: ${JSON.stringify(result).slice(0, 500)}`,
  );
  return { text: first.text, image };
}

/** The decoded image of a result. */
async function decoded({ image, text }) {
  expect(image?.type === "image", `expected an image, found ${text}`);
  expect(
    text.split("\n")[0] === `Read image file [${image.mimeType}]`,
    `the first line is of the image: ${text}`,
  );
  const binary = atob(image.data);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const kind = detectFileKind(bytes);
  same(kind.mimeType, image.mimeType, "the type of the data");
  const picture = await createImageBitmap(new Blob([bytes], { type: image.mimeType }));
  same([picture.width, picture.height], [kind.width, kind.height], "the header's dimensions");
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const at = (x, y) => Array.from(context.getImageData(x, y, 1, 1).data);
  return { width: picture.width, height: picture.height, at, bytes };
}

/** Colours a little inside of the corners. */
function corners({ width, height, at }) {
  const [x, y] = [Math.floor(width * 0.03), Math.floor(height * 0.03)];
  return [at(x, y), at(width - 1 - x, y), at(x, height - 1 - y), at(width - 1 - x, height - 1 - y)];
}

function near(found, expected, what) {
  const isNear = expected.every((colour, nth) =>
    colour.every((part, channel) => Math.abs(part - found[nth][channel]) <= 24),
  );
  expect(isNear, `${what}: expected about ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

function same(found, expected, what) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  expect(a === b, `${what}: expected ${b}, found ${a}`);
}

function expect(condition, message) {
  if (!condition) throw new Error(message);
}

const base64 = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const note = (from, to, factor) =>
  `[Image: original ${from}, displayed at ${to}. Multiply ${factor} to map to original image.]`;

// What is checked.

const INLINE_LIMIT = 4_718_592;

const checks = {
  async "images within the limits pass unchanged"() {
    const canvas = canvasOf(120, 80);
    for (const [type, bytes] of [
      ["image/png", await encode(canvas, "image/png")],
      ["image/jpeg", await encode(canvas, "image/jpeg")],
      ["image/webp", await encode(canvas, "image/webp")],
      ["image/gif", gif(12, 8, [RED, BLUE])],
    ]) {
      const { text, image } = await read(bytes);
      same(text, `Read image file [${type}]`, "text");
      expect(image.data === base64(bytes) && image.mimeType === type, `${type} is what it was`);
      const size = type === "image/gif" ? [12, 8] : [120, 80];
      const kind = detectFileKind(bytes);
      same([kind.kind, kind.width, kind.height], ["image", ...size], type);
      same(kind.animated, type === "image/gif", `${type} animated`);
    }
  },

  async "a bitmap becomes a PNG"() {
    for (const isFromTop of [true, false]) {
      const bytes = bitmap(canvasOf(101, 60), isFromTop);
      const kind = detectFileKind(bytes);
      same([kind.mimeType, kind.width, kind.height], ["image/bmp", 101, 60], "kind");
      const result = await read(bytes);
      same(
        result.text,
        "Read image file [image/png]\n[Image converted from image/bmp to image/png.]",
        "text",
      );
      const picture = await decoded(result);
      same([picture.width, picture.height], [101, 60], "size");
      near(corners(picture), UPRIGHT, `from top: ${isFromTop}`);
    }
  },

  async "every EXIF orientation is turned upright, in both byte orders"() {
    const jpeg = await encode(canvasOf(96, 64), "image/jpeg");
    for (const [orientation, expected] of Object.entries(TURNED)) {
      for (const isLittle of [true, false]) {
        const bytes = withOrientation(jpeg, Number(orientation), isLittle);
        const result = await read(bytes);
        const picture = await decoded(result);
        const size = Number(orientation) < 5 ? [96, 64] : [64, 96];
        same([picture.width, picture.height], size, `size of ${orientation}`);
        const kind = detectFileKind(bytes);
        same([kind.width, kind.height], size, `detected size of ${orientation}`);
        near(corners(picture), expected, `orientation ${orientation}`);
        same(result.text.split("\n").length, 1, "no hint");
        same(result.image.data === base64(bytes), orientation === "1", "what is upright passes unchanged");
      }
    }
  },

  async "a large image that is turned is fitted as it is shown"() {
    const jpeg = await encode(canvasOf(3000, 1000), "image/jpeg");
    const result = await read(withOrientation(jpeg, 6, false));
    const picture = await decoded(result);
    same([picture.width, picture.height], [667, 2000], "size");
    near(corners(picture), TURNED[6], "corners");
    expect(result.text.endsWith(`\n${note("1000x3000", "667x2000", "coordinates by 1.50")}`), result.text);
  },

  async "a huge image is fitted"() {
    const bytes = await encode(canvasOf(5000, 3000, poster), "image/png");
    const result = await read(bytes);
    const picture = await decoded(result);
    same([picture.width, picture.height], [2000, 1200], "size");
    near(corners(picture), UPRIGHT, "corners");
    const line = note("5000x3000", "2000x1200", "coordinates by 2.50");
    same(result.text, `Read image file [${result.image.mimeType}]\n${line}`, "text");
    expect(result.image.data.length <= INLINE_LIMIT, `${result.image.data.length} bytes of base64`);
    if (!isWorker)
      await send("picture", { name: "huge", data: result.image.data, mimeType: result.image.mimeType });
  },

  async "what does not compress is still made to fit"() {
    const bytes = await encode(canvasOf(1400, 1400, noise), "image/png");
    const whole = await read(bytes);
    const picture = await decoded(whole);
    same(
      [whole.image.mimeType, picture.width, picture.height],
      ["image/jpeg", 1400, 1400],
      "a JPEG as large",
    );
    expect(whole.image.data.length <= INLINE_LIMIT, `${whole.image.data.length} bytes of base64`);
    for (const maxBytes of [300_000, 20_000, 1200]) {
      const result = await read(bytes, { maxBytes });
      const { width, height } = await decoded(result);
      expect(result.image.data.length <= maxBytes, `${result.image.data.length} of ${maxBytes} bytes`);
      expect(width === height && width < 1400 && width > 8, `${maxBytes}: ${width}x${height}`);
      const factor = (1400 / width).toFixed(2);
      expect(
        result.text.endsWith(note("1400x1400", `${width}x${height}`, `coordinates by ${factor}`)),
        result.text,
      );
    }
    const never = await read(bytes, { maxBytes: 4 });
    expect(never.image === undefined && never.text.includes("could not be resized below"), never.text);
  },

  async "the smaller of PNG and JPEG"() {
    const flat = await decoded(await read(await encode(canvasOf(2400, 100), "image/png")));
    same([detectFileKind(flat.bytes).mimeType, flat.width, flat.height], ["image/png", 2000, 83], "flat");
    const rough = await read(await encode(canvasOf(1200, 300, noise), "image/png"), { maxWidth: 600 });
    same(rough.image.mimeType, "image/jpeg", "rough");
  },

  async "what is transparent is white in a JPEG, and transparent in a PNG"() {
    const half = canvasOf(600, 600, (context) => {
      noise(context, 600, 600);
      context.clearRect(0, 0, 600, 300);
    });
    const jpeg = await read(await encode(half, "image/png"), { maxWidth: 300 });
    same(jpeg.image.mimeType, "image/jpeg", "type");
    near([(await decoded(jpeg)).at(20, 20)], [WHITE], "behind it");
    const stripes = canvasOf(600, 600, (context) => {
      for (let x = 0; x < 600; x += 8) context.fillRect(x, 300, 4, 300);
    });
    const png = await decoded(await read(await encode(stripes, "image/png"), { maxWidth: 300 }));
    same(detectFileKind(png.bytes).mimeType, "image/png", "type");
    same([png.at(20, 20)[3], png.at(0, 280)[3]], [0, 255], "alpha");
  },

  async "a side of one pixel stays, and both factors are given"() {
    const result = await read(await encode(canvasOf(1, 20_000), "image/png"));
    const picture = await decoded(result);
    same([picture.width, picture.height], [1, 2000], "size");
    expect(result.text.endsWith(note("1x20000", "1x2000", "x by 1.00 and y by 10.00")), result.text);
  },

  async "an animation over a limit is its first frame"() {
    const result = await read(gif(40, 30, [GREEN, RED]), { maxWidth: 20 });
    const picture = await decoded(result);
    same([picture.width, picture.height], [20, 15], "size");
    near([picture.at(10, 7)], [GREEN], "colour");
    expect(result.text.endsWith("\n[Only the first frame of the animation is shown.]"), result.text);
  },

  async "what is cut off or broken is no image"() {
    const canvas = canvasOf(300, 200);
    for (const [name, bytes] of [
      ["PNG", await encode(canvas, "image/png")],
      ["JPEG", await encode(canvas, "image/jpeg")],
      ["WebP", await encode(canvas, "image/webp")],
      ["GIF", gif(30, 20, [RED])],
    ]) {
      for (const length of [bytes.length - 3, Math.floor(bytes.length / 2)]) {
        const { text, image } = await read(bytes.subarray(0, length));
        expect(
          image === undefined && text.includes(`is a truncated ${name} image`),
          `${name} of ${length}: ${text}`,
        );
      }
    }
    const broken = await encode(canvasOf(2100, 30, noise), "image/png");
    // A colour type that there is not.
    broken[25] = 7;
    const { text, image } = await read(broken);
    expect(image === undefined && text.includes("could not be decoded"), text);
  },

  async "what may not be made smaller is not"() {
    const bytes = await encode(canvasOf(2001, 10), "image/png");
    for (const images of [{ autoResize: false }, { processor: null }]) {
      const { text, image } = await read(bytes, images);
      expect(image === undefined && text.includes("2001x10 pixels") && text.includes("2000x2000"), text);
    }
  },

  async "base64 without the engine's own"() {
    const own = Object.getOwnPropertyDescriptor(Uint8Array.prototype, "toBase64");
    delete Uint8Array.prototype.toBase64;
    try {
      const bytes = await encode(canvasOf(300, 300, noise), "image/png");
      const { image } = await read(bytes);
      expect(image.data === base64(bytes), "the same base64");
    } finally {
      if (own) Object.defineProperty(Uint8Array.prototype, "toBase64", own);
    }
  },
};

// The report.

async function send(path, value) {
  await fetch(`/${path}`, { method: "POST", body: JSON.stringify(value) });
}

const results = [];
try {
  await init();
  for (const [name, check] of Object.entries(checks)) {
    const started = performance.now();
    try {
      await check();
      results.push({ name, ms: performance.now() - started });
    } catch (error) {
      results.push({ name, error: `${error}\n${error?.stack}` });
    }
  }
} catch (error) {
  results.push({ name: "loading", error: String(error?.stack ?? error) });
}
await send(isWorker ? "worker" : "page", results);
if (!isWorker) new Worker("/page.js", { type: "module" });
