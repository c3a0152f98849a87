/** A result: what the model sees, beside what programs get. */

import type { Content, PartialResult, ToolResult } from "tackroom";
import { element } from "./dom";

/** Says that the call runs, and shows its output so far. */
export function showRunning(view: HTMLElement, callId: string, partial?: PartialResult): void {
  mark(view, callId, "running");
  view.replaceChildren(heading("Running…", "running"), ...content(partial?.content ?? []));
}

export function showResult(view: HTMLElement, result: ToolResult): void {
  const details = result.details as unknown as Record<string, unknown> | undefined;
  const badge = result.isError ? `Error · ${String(details?.code ?? "unknown")}` : "Success";
  mark(view, result.toolCallId, result.isError ? "error" : "ok");
  const diff = typeof details?.diff === "string" && details.diff !== "" ? [coloured(details.diff)] : [];
  view.replaceChildren(
    heading(badge, result.isError ? "error" : "ok"),
    ...content(result.content),
    ...diff,
    element(
      "section",
      { class: "part details" },
      element("h3", {}, "Details, for programs"),
      element(
        "pre",
        { "data-testid": "details", tabindex: 0 },
        JSON.stringify(result.details, null, 2) ?? "",
      ),
    ),
  );
}

/** Before the first call. */
export function showNothing(view: HTMLElement): void {
  view.replaceChildren(element("p", { class: "hint" }, "Run a call to see what the model would see."));
}

function mark(view: HTMLElement, callId: string, state: "running" | "ok" | "error"): void {
  view.dataset.state = state;
  view.dataset.call = callId;
}

function heading(text: string, kind: string): HTMLElement {
  return element("p", { class: `badge ${kind}`, role: "status" }, text);
}

function content(parts: Content[]): HTMLElement[] {
  const views = parts.map((part) =>
    part.type === "text"
      ? element("pre", { "data-testid": "content", tabindex: 0 }, part.text)
      : element("img", { src: `data:${part.mimeType};base64,${part.data}`, alt: `Image, ${part.mimeType}` }),
  );
  return [element("section", { class: "part content" }, element("h3", {}, "As the model sees it"), ...views)];
}

/** The numbered diff, a line each; the first character tells what happened to it. */
function coloured(diff: string): HTMLElement {
  const lines = diff.replace(/\n$/, "").split("\n");
  const views = lines.map((line) => {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "same";
    return element("span", { class: kind }, `${line}\n`);
  });
  return element(
    "section",
    { class: "part diff" },
    element("h3", {}, "Diff"),
    element("pre", { "data-testid": "diff", tabindex: 0 }, ...views),
  );
}
