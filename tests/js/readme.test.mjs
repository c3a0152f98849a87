// README.md: every block of TypeScript or JavaScript is a program that runs, and prints what it says it prints.
// A block whose first line is `// sketch` is none. `// → text` is a line of the output.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = join(root, "README.md");
const compiler = join(root, "node_modules/typescript/bin/tsc");

/** The programs in a text: where each begins, its language and its code. */
function programs(markdown) {
  const found = [];
  for (const block of markdown.matchAll(/^```(ts|js)\b[^\n]*\n(.*?)^```[ \t]*$/gms)) {
    const [, language, code] = block;
    const line = markdown.slice(0, block.index).split("\n").length;
    if (!/^\s*\/\/ sketch\b/.test(code)) found.push({ line, language, code });
  }
  return found;
}

/** Runs a program where `tackroom` can be imported. Types are checked on the way. */
function run({ language, code }) {
  const folder = join(root, "target/readme");
  mkdirSync(folder, { recursive: true });
  const here = mkdtempSync(join(folder, "block-"));
  try {
    writeFileSync(join(here, language === "ts" ? "block.mts" : "block.mjs"), code);
    if (language === "ts") {
      const config = {
        extends: "../../../tests/js/tsconfig.json",
        compilerOptions: { noEmit: false },
        files: ["block.mts"],
        include: [],
      };
      writeFileSync(join(here, "tsconfig.json"), JSON.stringify(config));
      const compiled = node(here, compiler, "-p", ".", "--pretty", "false");
      if (compiled.status !== 0) return { status: compiled.status, stdout: "", stderr: compiled.stdout };
    }
    return node(here, "block.mjs");
  } finally {
    rmSync(here, { recursive: true });
  }
}

function node(cwd, ...parameters) {
  return spawnSync(process.execPath, parameters, { cwd, encoding: "utf8", timeout: 60_000 });
}

/** Fails unless the program ends well and its output has the promised lines, in their order. */
function check(program) {
  const { status, stdout, stderr } = run(program);
  assert.equal(status, 0, `exit code ${status}:\n${stderr}`);
  const lines = stdout.split("\n").map((line) => line.trimEnd());
  let from = 0;
  for (const [, promised] of program.code.matchAll(/\/\/ →[ \t]?([^\n]*)/g)) {
    const at = lines.indexOf(promised.trimEnd(), from);
    assert.ok(at >= 0, `expected the line ${JSON.stringify(promised)} in:\n${lines.slice(from).join("\n")}`);
    from = at + 1;
  }
}

const inReadme = programs(existsSync(readme) ? readFileSync(readme, "utf8") : "");

test("README.md has a program over memory(), one over node() and one over withShell()", () => {
  for (const name of ["memory(", "node(", "withShell("]) {
    assert.ok(
      inReadme.some(({ code }) => code.includes(name)),
      `a \`\`\`ts or \`\`\`js block with ${name}`,
    );
  }
});

for (const program of inReadme) {
  test(`the ${program.language} block at line ${program.line} of README.md runs`, () => check(program));
}

test("blocks are found, sketches and other languages are not", () => {
  const markdown = `# A

\`\`\`ts
// sketch
throw new Error();
\`\`\`
\`\`\`sh
rm -rf /
\`\`\`

\`\`\`js
one
\`\`\`
text
\`\`\`ts title="a"
two
\`\`\`
`;
  assert.deepEqual(programs(markdown), [
    { line: 11, language: "js", code: "one\n" },
    { line: 15, language: "ts", code: "two\n" },
  ]);
});

test("a block that fails, or prints something else, is found out", () => {
  const ts = (code) => () => check({ language: "ts", code });
  const js = (code) => () => check({ language: "js", code });
  const good = `import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
using toolset = await createToolset(memory());
console.log("first\\nsecond"); // → first
// → second
console.log(toolset.active.join(" "));
// → read edit write grep find ls
`;
  ts(good)();
  js('console.log("a");\nconsole.log();\nconsole.log("b"); // → b\n')();
  assert.throws(ts(good.replace("// → second", "// → third")), /third/);
  assert.throws(ts(good.replace("toolset.active", "toolset.activ")), /activ/);
  assert.throws(js('console.log("a\\nb"); // → b\n// → a\n'), /expected the line "a"/);
  assert.throws(js("throw new Error('no');"), /exit code 1/);
  assert.throws(js("process.exitCode = 3;"), /exit code 3/);
});
