/**
 * The files that just-bash makes for itself when an instance is made: a stub for each of its commands, by which it
 * finds them, and a few devices. They are kept apart from the environment's.
 *
 * `/usr/bin`, and what it has in `/dev` and `/proc`, take the place of the environment's: `/dev/null` is never a file
 * that a redirection replaces, and a program on the host's disk is never run as a script. `/bin`, and the directories
 * themselves, are there only where the environment has nothing of that name, since `/bin` may be a project's.
 *
 * @module
 */

const ROOTS = ["/bin", "/usr/bin", "/dev", "/proc"];

/** The bytes of a file, or a directory. */
export type SystemEntry = Uint8Array | "directory";

export class SystemFiles {
  readonly #entries = new Map<string, SystemEntry>();

  /** What is at the path instead of the environment's. */
  instead(path: string): SystemEntry | undefined {
    const entry = this.#entries.get(path);
    return entry === "directory" || path.startsWith("/bin/") ? undefined : entry;
  }

  /** What is at the path where the environment has nothing. */
  else(path: string): SystemEntry | undefined {
    return this.#entries.get(path);
  }

  /** Whether nothing is at the path, whatever the environment has there. */
  hides(path: string): boolean {
    return path.startsWith("/usr/bin/") && this.#entries.has("/usr/bin") && !this.#entries.has(path);
  }

  /** The names in a directory. */
  names(path: string): string[] {
    const start = `${path}/`;
    const below = [...this.#entries.keys()].filter((entry) => entry.startsWith(start));
    return [...new Set(below.map((entry) => entry.slice(start.length).split("/")[0] ?? ""))];
  }

  /** What just-bash makes elsewhere, a home directory say, is not made. */
  makeDirectory(path: string): void {
    const names = path.split("/").slice(1);
    for (let length = 1; length <= names.length; length++) {
      const prefix = `/${names.slice(0, length).join("/")}`;
      if (isSystem(prefix)) this.#entries.set(prefix, "directory");
    }
  }

  writeFile(path: string, content: string | Uint8Array): void {
    if (!isSystem(path)) return;
    this.#entries.set(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }
}

function isSystem(path: string): boolean {
  return ROOTS.some((root) => path === root || path.startsWith(`${root}/`));
}
