/** What happened, an event a line. */

import type { ToolEvent } from "tackroom";
import { element } from "./dom";

const KEPT = 400;

/** Returns the listener to subscribe with. */
export function createLog(view: HTMLElement): (event: ToolEvent) => void {
  const start = performance.now();
  view.replaceChildren(element("p", { class: "hint" }, "Nothing yet."));
  return (event) => {
    if (view.firstElementChild?.matches("p.hint")) view.replaceChildren();
    const atEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - 4;
    const seconds = ((performance.now() - start) / 1000).toFixed(2);
    const { kind, text, duration = "" } = describe(event);
    view.append(
      element(
        "div",
        { class: `event ${kind}`, "data-testid": "event", "data-type": event.type },
        element("span", { class: "time" }, `${seconds} s`),
        element("span", { class: "id" }, event.toolCallId),
        element("span", { class: "tool" }, event.toolName),
        element("span", { class: "what" }, event.type.replace("tool_execution_", "")),
        element("span", { class: "text" }, text),
        element("span", { class: "duration" }, duration),
      ),
    );
    while (view.childElementCount > KEPT) view.firstElementChild?.remove();
    if (atEnd) view.scrollTop = view.scrollHeight;
  };
}

function describe(event: ToolEvent): { kind: string; text: string; duration?: string } {
  switch (event.type) {
    case "tool_execution_start":
      return {
        kind: "start",
        text: short(typeof event.args === "string" ? event.args : JSON.stringify(event.args)),
      };
    case "tool_execution_update":
      return {
        kind: "update",
        text: short(
          event.partial.content.map((part) => (part.type === "text" ? part.text : "image")).join(" "),
        ),
      };
    case "mutation": {
      const { kind, path, linesAdded, linesRemoved } = event.change;
      return { kind: "mutation", text: `${kind} ${path} +${linesAdded} -${linesRemoved}` };
    }
    case "tool_execution_end": {
      const first = event.result.content[0];
      const text = first?.type === "text" ? short(first.text) : "";
      return { kind: event.isError ? "error" : "end", text, duration: milliseconds(event.durationMs) };
    }
  }
}

function milliseconds(value: number): string {
  return value < 10 ? `${value.toFixed(1)} ms` : `${Math.round(value)} ms`;
}

/** At most 160 characters, on one line. */
function short(text: string): string {
  const line = text.slice(0, 1000).replace(/\s+/g, " ").trim();
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
