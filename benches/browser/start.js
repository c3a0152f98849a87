// In the page: from the package imported to the first read answered, in ms. Once a page.
import { createToolset } from "tackroom";
import { memory } from "tackroom/env/memory";

export async function start() {
  const started = performance.now();
  const toolset = await createToolset(memory({ f: "hello\n" }));
  const result = await toolset.call({ id: "1", name: "read", arguments: '{"path":"f"}' });
  const took = performance.now() - started;
  if (result.content[0].text !== "hello\n") throw new Error(result.content[0].text);
  return took;
}
