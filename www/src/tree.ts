/** The file tree, and the viewer under it. */

import type { FileInfo } from "tackroom";
import type { JustBashEnv } from "tackroom/env/just-bash";
import { element } from "./dom";

export interface Tree {
  /** Reads the directories again, and the open file. */
  refresh(): Promise<void>;
}

/** @param use takes the path, relative to the project, of the open file, where its button is pressed */
export function createTree(
  env: JustBashEnv,
  tree: HTMLElement,
  viewer: HTMLElement,
  use: (path: string) => void,
): Tree {
  const expanded = new Set<string>();
  let open: string | null = null;
  let generation = 0;

  async function refresh(): Promise<void> {
    const mine = ++generation;
    const list = await directory("");
    if (mine !== generation) return;
    const focused = document.activeElement?.getAttribute("data-testid");
    const { scrollTop } = tree;
    tree.replaceChildren(list);
    tree.scrollTop = scrollTop;
    if (focused) tree.querySelector<HTMLElement>(`[data-testid="${CSS.escape(focused)}"]`)?.focus();
    await show();
  }

  async function directory(path: string): Promise<HTMLElement> {
    const entries = await env.listDir(absolute(env, path));
    entries.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
    const items = entries.map(async (entry) => {
      const inner = path === "" ? entry.name : `${path}/${entry.name}`;
      return element(
        "li",
        {},
        entry.kind === "directory"
          ? folder(entry.name, inner, await directory(inner))
          : file(entry.name, inner),
      );
    });
    return element("ul", {}, ...(await Promise.all(items)));
  }

  function folder(name: string, path: string, content: HTMLElement): HTMLElement {
    const details = element(
      "details",
      { open: expanded.has(path) },
      element("summary", { "data-testid": `dir:${path}` }, name),
      content,
    );
    details.addEventListener("toggle", () => {
      if (details.open) expanded.add(path);
      else expanded.delete(path);
    });
    return details;
  }

  function file(name: string, path: string): HTMLElement {
    const pick = () => {
      open = path;
      for (const other of tree.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
      button.setAttribute("aria-current", "true");
      void show();
    };
    const button = element("button", { type: "button", "data-testid": `file:${path}`, click: pick }, name);
    if (path === open) button.setAttribute("aria-current", "true");
    return button;
  }

  async function show(): Promise<void> {
    if (open === null) {
      viewer.replaceChildren(element("p", { class: "hint" }, "Choose a file to look at its text."));
      return;
    }
    const path = open;
    const read = () => env.readBinaryFile(absolute(env, path));
    let content: Uint8Array;
    try {
      content = await read();
    } catch {
      viewer.replaceChildren(element("p", { class: "hint" }, `${path} is gone.`));
      return;
    }
    if (path !== open) return;
    const download = async () => save(path, await read());
    const scroller = viewer.querySelector(".text");
    const position = scroller?.getAttribute("data-path") === path ? scroller.scrollTop : 0;
    const text = textOf(content);
    const shown = text === null ? element("p", { class: "hint" }, "Not text.") : numbered(path, text);
    viewer.replaceChildren(
      element(
        "header",
        {},
        element("div", {}, element("h3", {}, path), element("p", { class: "hint" }, facts(content, text))),
        element(
          "div",
          { class: "buttons" },
          element(
            "button",
            { type: "button", class: "quiet", "data-testid": "use", click: () => use(path) },
            "Use as path",
          ),
          element(
            "button",
            { type: "button", class: "quiet", "data-testid": "download", click: () => void download() },
            "Download",
          ),
        ),
      ),
      shown,
    );
    shown.scrollTop = position;
  }

  return { refresh };
}

/** Directories first. */
function rank(entry: FileInfo): number {
  return entry.kind === "directory" ? 0 : 1;
}

function absolute(env: JustBashEnv, path: string): string {
  return path === "" ? env.cwd : `${env.cwd}/${path}`;
}

function textOf(content: Uint8Array): string | null {
  return content.subarray(0, 8192).includes(0) ? null : new TextDecoder().decode(content);
}

function facts(content: Uint8Array, text: string | null): string {
  const size = content.length < 1024 ? `${content.length} B` : `${(content.length / 1024).toFixed(1)} KB`;
  if (text === null) return size;
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const crlf = lines.filter((line) => line.endsWith("\r")).length;
  const endings = crlf === 0 ? "LF" : crlf >= lines.length - 1 ? "CRLF" : `LF, ${crlf} lines CRLF`;
  return `${size} · ${lines.length} lines · ${endings}`;
}

function numbered(path: string, text: string): HTMLElement {
  const count = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const numbers = Array.from({ length: count }, (_, index) => index + 1).join("\n");
  return element(
    "div",
    { class: "text", "data-path": path, tabindex: 0, role: "region", "aria-label": path },
    element("pre", { class: "numbers", "aria-hidden": "true" }, numbers),
    element("pre", {}, text),
  );
}

/** Hands the file to the browser's downloads. */
function save(path: string, content: Uint8Array): void {
  const url = URL.createObjectURL(new Blob([content.slice()]));
  element("a", { href: url, download: path.split("/").at(-1) ?? path }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
