// The plumbing alone: the package and the sample project load, each when it is asked for.
const status = document.querySelector<HTMLElement>("#status");

function show(text: string, state: "ready" | "failed"): void {
  if (!status) return;
  status.textContent = text;
  status.dataset.state = state;
}

try {
  const tackroom = await import("tackroom");
  const response = await fetch(new URL("sample.json", document.baseURI));
  if (!response.ok) throw new Error(`sample.json: HTTP ${response.status}`);
  const sample: { name: string; version: string; files: Record<string, string> } = await response.json();
  const count = Object.keys(sample.files).length;
  const names = Object.keys(tackroom).join(", ");
  show(`tackroom (${names}) and ${sample.name} ${sample.version}, ${count} files`, "ready");
} catch (error) {
  show(`Could not start: ${error instanceof Error ? error.message : String(error)}`, "failed");
}
