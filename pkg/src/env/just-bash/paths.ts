/**
 * Absolute POSIX paths as text.
 *
 * @module
 */

export function split(path: string): { parent: string; name: string } {
  const trimmed = path.replace(/\/+$/, "");
  const slash = trimmed.lastIndexOf("/");
  return { parent: trimmed.slice(0, slash) || "/", name: trimmed.slice(slash + 1) };
}

export function join(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}

/** Without `.`, `..` and repeated slashes. */
export function normalized(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return `/${names.join("/")}`;
}
