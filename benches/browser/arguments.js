// In the page: argument rows, ours and the peer's in turn, wall time in µs of one call each.
import { validateToolArguments as validateTheirs } from "@earendil-works/pi-ai/utils/validation";
import { createToolset, validateToolArguments } from "tackroom";
import { memory } from "tackroom/env/memory";
import { argumentCases } from "../argument-cases.mjs";

const BATCH_MS = 40;
const WARM_MS = 500;

/** Keeps what was made, so that no engine can tell that nobody wants it. */
globalThis.sink = undefined;

export async function measure({ runs }) {
  if (!globalThis.crossOriginIsolated) throw new Error("expected an isolated page, whose clock is fine");
  const toolset = await createToolset(memory());
  const schema = (name) => toolset.tools.find((tool) => tool.name === name).parameters;
  return argumentCases(schema).map(([name, parameters, args]) => {
    const text = JSON.stringify(args);
    const tool = { name: "tool", description: "", parameters };
    const actions = [
      () => validateToolArguments(tool, { arguments: text }),
      () => validateTheirs(tool, { id: "1", name: "tool", arguments: JSON.parse(text) }),
    ];
    for (const action of actions) {
      const found = JSON.stringify(action());
      if (found !== text) throw new Error(`expected ${text}, found ${found}`);
    }
    const times = actions.map(warm);
    const taken = actions.map(() => []);
    for (let run = 0; run < runs; run++) {
      for (const [nth, action] of actions.entries()) taken[nth].push(batch(action, times[nth]));
    }
    return { name, taken };
  });
}

/** Runs it until the engine has its best code for it. Answers how often it runs in a batch. */
function warm(action) {
  const started = performance.now();
  let times = 1;
  while (performance.now() - started < WARM_MS)
    times = Math.ceil(BATCH_MS / Math.max(batch(action, times), 1e-5));
  return times;
}

/** Milliseconds of each of so many calls. */
function batch(action, times) {
  const started = performance.now();
  for (let nth = 0; nth < times; nth++) globalThis.sink = action();
  return (performance.now() - started) / times;
}
