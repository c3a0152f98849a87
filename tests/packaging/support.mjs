// The package as npm packs it, installed in a folder far from this repository, and a program that uses it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The browser that CHROME names, else the first that is installed. */
export const chromium =
  process.env.CHROME ?? BROWSERS.map((name) => `/usr/bin/${name}`).find((path) => existsSync(path));
/** For a browser that nobody watches. */
export const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** What npm would publish. */
let packed;

function pack(folder) {
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(run("npm", pack, join(root, "pkg")));
  return join(folder, filename);
}

/** A folder of a project that has the packed package and nothing else. It goes when the tests are over. */
export function project() {
  const folder = mkdtempSync(join(tmpdir(), "tackroom-packed-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const installed = join(folder, "node_modules/tackroom");
  mkdirSync(installed, { recursive: true });
  packed ??= pack(folder);
  run("tar", ["-xzf", packed, "--strip-components=1", "-C", installed], folder);
  put(folder, "package.json", '{ "type": "module", "dependencies": { "tackroom": "*" } }');
  put(folder, "exercise.js", EXERCISE);
  return folder;
}

/** Writes a file of a project. */
export function put(folder, path, text) {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function run(command, parameters, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, parameters, { cwd, encoding: "utf8" });
  if (status !== 0) throw error ?? new Error(`${command} ${parameters.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/**
 * Calls tools, which the core and the search module run, and checks arguments against a schema that only the schema
 * module understands.
 */
const EXERCISE = `
const parameters = {
  type: "object",
  properties: { price: { $ref: "#/$defs/price" } },
  required: ["price"],
  $defs: { price: { type: "string", pattern: "(?<=€)[0-9]+$" } },
};
export async function exercise({ createToolset, validateToolArguments }, { memory }) {
  const toolset = await createToolset(memory({ "notes.txt": "milk\\n" }));
  const edits = [{ oldText: "milk", newText: "eggs" }];
  await toolset.call({ id: "1", name: "edit", arguments: JSON.stringify({ path: "notes.txt", edits }) });
  const read = await toolset.call({ id: "2", name: "read", arguments: '{"path":"notes.txt"}' });
  const grep = await toolset.call({ id: "3", name: "grep", arguments: '{"pattern":"e[a-z]+s$"}' });
  const check = (price) => validateToolArguments({ name: "buy", parameters }, { arguments: JSON.stringify({ price }) });
  return {
    text: read.content[0].text,
    found: grep.content[0].text,
    checked: check("€5"),
    refused: reasonOf(() => check("$5")),
  };
}
export function reasonOf(body) {
  try {
    return { answered: body() };
  } catch (error) {
    return { name: error.name, code: error.code };
  }
}
/** What became of a promise. */
export async function outcome(promise) {
  try {
    return { answered: await promise };
  } catch (error) {
    return { name: error.name, code: error.code, message: error.message };
  }
}
`;
/** What it answers. */
export const EXERCISED = {
  text: "eggs\n",
  found: "notes.txt:1: eggs",
  checked: { price: "€5" },
  refused: { name: "ToolError", code: "invalid_arguments" },
};
