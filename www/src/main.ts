/** The page: the tools over a sample project, run by hand. */

import { type AgentTool, createToolset, type Toolset } from "tackroom";
import { byId, element } from "./dom";
import { createForm, type Form } from "./form";
import { createLog } from "./log";
import { showNothing, showResult, showRunning } from "./result";
import { EXAMPLES, loadSample } from "./sample";
import { createTree, type Tree } from "./tree";

const raw = byId<HTMLTextAreaElement>("raw");
const incomplete = byId<HTMLInputElement>("incomplete");
const run = byId<HTMLButtonElement>("run");
const abort = byId<HTMLButtonElement>("abort");
const result = byId("result");

/** A tool's form, and the text that Run would send: both stay as they were left when another tool is chosen. */
interface Tab {
  tool: AgentTool;
  button: HTMLButtonElement;
  form: Form;
  text: string;
}

async function start(): Promise<void> {
  showNothing(result);
  const { env, title } = await loadSample();
  const toolset = await createToolset(env);
  const tree = createTree(env, byId("tree"), byId("viewer"), usePath);
  toolset.subscribe(createLog(byId("log")));
  await tree.refresh();
  const tabs = createTabs(toolset.tools);
  let calls = 0;

  async function send(): Promise<void> {
    const id = `call-${++calls}`;
    const controller = new AbortController();
    const stop = () => controller.abort();
    abort.addEventListener("click", stop);
    run.disabled = true;
    abort.disabled = false;
    showRunning(result, id);
    const answer = await toolset.call(
      { id, name: tabs.current().tool.name, arguments: raw.value, incomplete: incomplete.checked },
      { signal: controller.signal, onUpdate: (partial) => showRunning(result, id, partial) },
    );
    abort.removeEventListener("click", stop);
    run.disabled = false;
    abort.disabled = true;
    showResult(result, answer);
  }

  run.addEventListener("click", () => void send());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || run.disabled) return;
    event.preventDefault();
    void send();
  });
  keepFresh(toolset, tree);
  byId("status").textContent = title;
  run.disabled = false;
}

/** Puts a path into the form, as if typed. */
function usePath(path: string): void {
  const input = byId("fields").querySelector<HTMLInputElement>('[data-testid="arg-path"]');
  if (!input) return;
  input.value = path;
  input.dispatchEvent(new Event("input"));
}

/** Reads the tree again after every change: a mutation, or the end of a command, which may have made some. */
function keepFresh(toolset: Toolset, tree: Tree): void {
  toolset.subscribe((event) => {
    const changed =
      event.type === "mutation" || (event.type === "tool_execution_end" && event.toolName === "bash");
    if (changed) void tree.refresh();
  });
}

/** One tab a tool, with arrow keys between them. */
function createTabs(tools: AgentTool[]): { current(): Tab } {
  const all = tools.map((tool): Tab => {
    const form = createForm(tool.parameters, EXAMPLES[tool.name] ?? {}, () => {
      tab.text = raw.value = JSON.stringify(form.read(), null, 2);
    });
    const button = element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${tool.name}`,
        "aria-controls": "panel",
        "data-testid": `tab-${tool.name}`,
      },
      tool.name,
    );
    const tab: Tab = { tool, button, form, text: JSON.stringify(form.read(), null, 2) };
    return tab;
  });
  let current = all[0];
  if (!current) throw new Error("expected a tool, found none");

  function select(tab: Tab): void {
    current = tab;
    for (const { button } of all) {
      button.setAttribute("aria-selected", String(button === tab.button));
      button.tabIndex = button === tab.button ? 0 : -1;
    }
    byId("panel").setAttribute("aria-labelledby", tab.button.id);
    byId("description").textContent = tab.tool.description;
    byId("fields").replaceChildren(tab.form.view);
    raw.value = tab.text;
  }

  all.forEach((tab, index) => {
    tab.button.addEventListener("click", () => select(tab));
    tab.button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step && all[(index + step + all.length) % all.length];
      if (!next) return;
      event.preventDefault();
      next.button.focus();
      select(next);
    });
  });
  raw.addEventListener("input", () => {
    if (current) current.text = raw.value;
  });
  byId("fields").addEventListener("submit", (event) => event.preventDefault());
  byId("tabs").replaceChildren(...all.map(({ button }) => button));
  select(current);
  return { current: () => current as Tab };
}

start().catch((error: unknown) => {
  const status = byId("status");
  status.textContent = `Could not start: ${error instanceof Error ? error.message : String(error)}`;
  status.classList.add("failed");
});
