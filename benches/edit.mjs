// Edits of a file in memory: argument text in, file written, diff and patch out.
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";
import { handTunedEdit, referenceEdit } from "./peers.mjs";
import { code, spreadEdits } from "./texts.mjs";

const KB = 1000;
const MB = 1000 * KB;

const SIZES = [
  { name: "100 KB × 1", bytes: 100 * KB, count: 1, target: 5 },
  { name: "100 KB × 1, pure ASCII", bytes: 100 * KB, count: 1, target: 5, isAscii: true },
  { name: "1 MB × 10", bytes: MB, count: 10, target: 25 },
  { name: "1 MB × 10, pure ASCII", bytes: MB, count: 10, target: 25, isAscii: true },
  { name: "10 MB × 10", bytes: 10 * MB, count: 10, target: 40, slow: true },
  { name: "10 MB × 100", bytes: 10 * MB, count: 100, target: 60, slow: true },
];

export async function* rows({ quick }) {
  for (const { name, bytes, count, target, slow, isAscii } of SIZES) {
    if (quick && slow) continue;
    const text = code(bytes, { isAscii });
    const calls = spreadEdits(text, count).map((edits) => JSON.stringify({ path: "f", edits }));
    const ours = alternate(await ourEdit(text), calls);
    yield {
      workload: `edit exact, ${name}`,
      actions: {
        ours,
        "pi 1.6": alternate(referenceEdit(text), calls),
        "JS by hand": alternate(handTunedEdit(text), calls),
      },
      targets: { "pi 1.6": target, "JS by hand": 2 },
    };
  }

  const plain = code(MB);
  const fancy = plain.replaceAll('"', "”").replaceAll("//", "—");
  const [there] = spreadEdits(plain, 100);
  const fuzzy = there.map(({ oldText, newText }) => ({
    oldText: oldText.replaceAll("//", "-"),
    newText: newText.replaceAll("compute", `re${"compute"}`),
  }));
  const args = JSON.stringify({ path: "f", edits: fuzzy });
  if (!quick) {
    yield {
      workload: "edit fuzzy, 1 MB × 100",
      actions: { ours: await restored(fancy, args), "pi 1.6": () => referenceEdit(fancy)(args) },
      targets: { "pi 1.6": 100 },
    };
  }

  // 200 KB of arguments: one block of a file replaced by another.
  const file = code(MB);
  const block = file.slice(file.indexOf("\n", 400_000) + 1, file.indexOf("\n", 500_000) + 1);
  const changed = block.replaceAll(";\n", "; //\n");
  const large = [
    JSON.stringify({ path: "f", edits: [{ oldText: block, newText: changed }] }),
    JSON.stringify({ path: "f", edits: [{ oldText: changed, newText: block }] }),
  ];
  yield {
    workload: "edit, 200 KB of arguments as text",
    actions: { ours: alternate(await ourEdit(file), large), "pi 1.6": alternate(referenceEdit(file), large) },
    targets: { "pi 1.6": 4 },
  };
}

/** Edits that do and undo in turn, so that every call finds its text. */
function alternate(edit, calls) {
  let nth = 0;
  return () => edit(calls[nth++ % calls.length]);
}

export async function ourEdit(text) {
  const toolset = await createToolset(memory({ f: text }));
  return async (args) => {
    const result = await toolset.call({ id: "1", name: "edit", arguments: args });
    if (result.isError) throw new Error(result.content[0].text);
    return result;
  };
}

async function restored(text, args) {
  const env = memory();
  const toolset = await createToolset(env);
  const bytes = new TextEncoder().encode(text);
  return async () => {
    env.writeFile("/f", bytes);
    const result = await toolset.call({ id: "1", name: "edit", arguments: args });
    if (result.isError) throw new Error(result.content[0].text);
  };
}
