// From a model's argument text to arguments that fit a schema.
import { createToolset, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
import { argumentCases } from "./argument-cases.mjs";
import { validateToolArguments as validateTheirs } from "./peers.mjs";

export async function* rows() {
  const toolset = await createToolset(memory());
  const schema = (name) => toolset.tools.find((tool) => tool.name === name).parameters;
  for (const [name, parameters, args] of argumentCases(schema)) {
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
