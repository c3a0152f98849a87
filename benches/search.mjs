// grep over 5,000 files of 47 MB, and find over 50,000. Whole calls, from the listings to the result.
//
// - "in memory": over memory(). The peers: RegExp, over the same environment and what TextDecoder makes of its bytes;
//   ripgrep's own program on one thread, where it is installed: its CPU time over a folder that is in the page cache,
//   its start included; just-bash's grep and rg over its own files.
// - "on the disk": over node(). The peer: just-bash over the same environment.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Bash } from "just-bash";
import { createToolset } from "tackroom";
import { toJustBashFs } from "tackroom/env/just-bash";
import { memory } from "tackroom/env/memory";
import { node } from "tackroom/env/node";
import { median } from "./measure.mjs";
import { code } from "./texts.mjs";

const PATTERNS = [
  { name: "rare literal", pattern: "raresNeedle", flags: [], re: () => /raresNeedle/g },
  { name: "no match", pattern: "quiteUnheardOf", flags: [], re: () => /quiteUnheardOf/g },
  {
    name: "ignoring case",
    pattern: "RARESNEEDLE",
    ignoreCase: true,
    flags: ["-i"],
    re: () => /RARESNEEDLE/gi,
  },
  {
    name: "regex",
    pattern: "rares[A-Z]\\w+ = \\d+",
    flags: [],
    re: () => /rares[A-Z]\w+ = \d+/g,
  },
];

const FILES = 5000;
const BYTES = 47_000_000;

export async function* rows({ quick }) {
  const files = sources(quick ? FILES / 10 : FILES, quick ? BYTES / 10 : BYTES);
  const size = `${Object.keys(files).length} files`;
  const disk = mkdtempSync(join(tmpdir(), "tackroom-bench-"));
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(disk + path), { recursive: true });
      writeFileSync(disk + path, content);
    }
    const bash = new Bash({ files, cwd: "/work" });
    const onDisk = new Bash({ fs: toJustBashFs(node({ cwd: `${disk}/work` })), cwd: `${disk}/work` });
    const places = { memory: memory(files, { cwd: "/work" }), disk: node({ cwd: `${disk}/work` }) };
    for (const asked of PATTERNS) {
      const found = await grep(places.memory, asked);
      yield {
        workload: `grep ${size} in memory, ${asked.name}`,
        actions: { ours: found, RegExp: byHand(places.memory, asked) },
        targets: { RegExp: 1.5 },
        runs: 5,
      };
      const native = ripgrep(`${disk}/work`, asked);
      if (native !== undefined)
        yield {
          workload: `grep ${size} in memory, ${asked.name}`,
          oursMs: await cpu(found, 5),
          peersMs: { "rg -j1": native },
          targets: { "rg -j1": 0.4 },
        };
      yield* against(`grep ${size} in memory, ${asked.name}`, found, 70, {
        "just-bash grep": shell(bash, `grep -rn ${asked.flags.join(" ")} -E '${perl(asked.pattern)}' .`),
        "just-bash rg": shell(bash, `rg -n --hidden ${asked.flags.join(" ")} '${asked.pattern}' .`),
      });
    }
    for (const asked of PATTERNS) {
      const found = await grep(places.disk, asked);
      yield* against(`grep ${size} on the disk, ${asked.name}`, found, 30, {
        "just-bash grep": shell(onDisk, `grep -rn ${asked.flags.join(" ")} -E '${perl(asked.pattern)}' .`),
      });
    }
  } finally {
    rmSync(disk, { recursive: true });
  }
  yield* walks(quick ? 5000 : 50_000);
}

/** Slow peers run once each. */
async function* against(workload, ours, target, peers) {
  const oursMs = await cpu(ours, 3);
  const [peersMs, targets] = [{}, {}];
  for (const [name, peer] of Object.entries(peers)) {
    peersMs[name] = await cpu(peer, 1);
    targets[name] = target;
  }
  yield { workload, oursMs, peersMs, targets };
}

async function cpu(action, runs) {
  const taken = [];
  if (runs > 1) for (let nth = 0; nth < 3; nth++) await action();
  for (let nth = 0; nth < runs; nth++) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    await action();
    const { user, system } = process.cpuUsage(before);
    taken.push((user + system) / 1000);
  }
  return median(taken);
}

async function* walks(count) {
  const files = {};
  for (let nth = 0; nth < count; nth++)
    files[`/work/p${nth % 50}/d${nth % 1000}/file-${nth}.${nth % 100 ? "ts" : "md"}`] = "x";
  files["/work/.gitignore"] = "node_modules/\n*.log\n/build/\n";
  const toolset = await createToolset(memory(files, { cwd: "/work" }), { tools: ["find"] });
  const ours = async () => {
    const result = await toolset.call({
      id: "1",
      name: "find",
      arguments: '{"pattern":"*.md","limit":9999}',
    });
    const found = result.content[0].text.split("\n").length;
    if (result.isError || found < count / 100) throw new Error(result.content[0].text);
  };
  const bash = new Bash({ files, cwd: "/work" });
  yield* against(`find among ${count} files`, ours, undefined, {
    "just-bash find": shell(bash, "find . -name '*.md'"),
  });
}

/** Real code, of which every 500th file has something that no other has. */
function sources(count, bytes) {
  const text = code(2_000_000);
  const lines = text.split("\n");
  const files = {};
  let at = 0;
  for (let nth = 0; nth < count; nth++) {
    // Of 2 to 17 KB.
    const most = (bytes / count) * (0.2 + ((nth * 7919) % 1000) / 625);
    let content = "";
    while (content.length < most) {
      content += `${lines[at]}\n`;
      at = (at + 1) % lines.length;
    }
    if (nth % 500 === 250) content += `const raresNeedle = ${nth};\n`;
    files[`/work/p${nth % 20}/d${nth % 200}/file${nth}.ts`] = new TextEncoder().encode(content);
  }
  files["/work/.gitignore"] = new TextEncoder().encode("node_modules/\n*.log\n/build/\n");
  return files;
}

async function grep(env, { pattern, ignoreCase }) {
  const toolset = await createToolset(env, { tools: ["grep"] });
  const text = JSON.stringify({ pattern, ignoreCase });
  return async () => {
    const result = await toolset.call({ id: "1", name: "grep", arguments: text });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  };
}

/** The lines and their numbers, as one would find them without a tool. */
function byHand(env, { re }) {
  const decoder = new TextDecoder();
  const search = (directory, found) => {
    const entries = env.listDir(directory).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const { kind, path } of entries) {
      if (kind === "directory") search(path, found);
      if (kind !== "file") continue;
      const text = decoder.decode(env.readBinaryFile(path));
      if (text.includes("\0")) continue;
      const pattern = re();
      let [line, at] = [1, 0];
      for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
        for (
          let lf = text.indexOf("\n", at);
          lf !== -1 && lf < match.index;
          lf = text.indexOf("\n", lf + 1)
        ) {
          line++;
          at = lf + 1;
        }
        const end = text.indexOf("\n", match.index);
        found.push(`${path}:${line}: ${text.slice(at, end === -1 ? undefined : end)}`);
        pattern.lastIndex = end === -1 ? text.length : end;
      }
    }
    return found;
  };
  return () => search(env.cwd, []).join("\n");
}

function shell(bash, command) {
  return async () => {
    const { exitCode, stderr } = await bash.exec(command);
    if (exitCode > 1) throw new Error(`${command}: ${stderr}`);
  };
}

/** grep -E knows no \d and \w. */
function perl(pattern) {
  return pattern.replaceAll("\\d", "[0-9]").replaceAll("\\w", "[A-Za-z0-9_]");
}

/** CPU ms of the program, where it is installed. */
function ripgrep(folder, { pattern, flags }) {
  const taken = [];
  for (let nth = 0; nth < 5; nth++) {
    const script = 'TIMEFORMAT="%U %S"; time rg "$@" > /dev/null; [ $? -le 1 ]';
    const args = ["-n", "--hidden", "--no-require-git", "--crlf", "-j1", ...flags, pattern, "."];
    const { status, stderr } = spawnSync("bash", ["-c", script, "rg", ...args], {
      cwd: folder,
      encoding: "utf8",
    });
    if (status !== 0 || /not found/.test(stderr)) return undefined;
    const [user, system] = stderr.trim().split("\n").at(-1).split(" ").map(Number);
    taken.push((user + system) * 1000);
  }
  return median(taken);
}
