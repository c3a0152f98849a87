// From a model's argument text to arguments that fit a schema.
import { createToolset, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
import { validateToolArguments as validateTheirs } from "./peers.mjs";

export async function* rows() {
  const toolset = await createToolset(memory());
  const schema = (name) => toolset.tools.find((tool) => tool.name === name).parameters;
  const edits = [
    { oldText: "const a = 1;\n", newText: "const a = 2;\n" },
    { oldText: "return b;", newText: "return c;" },
  ];
  const many = Array.from({ length: 60 }, (_, nth) => [`property${nth}`, nth]);
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      many.map(([name, nth]) => [
        name,
        nth % 3 ? { type: "string", maxLength: 100 } : { type: "integer", minimum: 0 },
      ]),
    ),
    required: many.slice(0, 20).map(([name]) => name),
  };
  const wideArguments = Object.fromEntries(many.map(([name, nth]) => [name, nth % 3 ? `value ${nth}` : nth]));
  const cases = [
    ["read", schema("read"), { path: "src/components/Button.tsx", offset: 120, limit: 80 }],
    ["edit, small", schema("edit"), { path: "src/main.ts", edits }],
    ["60 properties", wide, wideArguments],
  ];
  for (const [name, parameters, args] of cases) {
    const text = JSON.stringify(args);
    const tool = { name: "tool", description: "", parameters };
    yield {
      workload: `arguments, ${name}`,
      actions: {
        ours: () => validateToolArguments(tool, { arguments: text }),
        "pi 1.6": () => validateTheirs(tool, { id: "1", name: "tool", arguments: JSON.parse(text) }),
      },
      targets: { "pi 1.6": 2 },
    };
  }
}
