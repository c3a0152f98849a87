/** The project that the page works on: rxjs, in a simulated bash. */

import { Bash } from "just-bash";
import { type JustBashEnv, justBash } from "tackroom/env/just-bash";

export interface Sample {
  title: string;
  env: JustBashEnv;
}

/** Fetches the files and puts them into a bash of their own. */
export async function loadSample(): Promise<Sample> {
  const response = await fetch(`${import.meta.env.BASE_URL}sample.json`);
  if (!response.ok) throw new Error(`expected sample.json, found HTTP status ${response.status}`);
  const { name, version, files } = (await response.json()) as {
    name: string;
    version: string;
    files: Record<string, string>;
  };
  const cwd = "/project";
  const absolute = Object.entries(files).map(([path, text]) => [`${cwd}/${path}`, text]);
  const bash = new Bash({ files: Object.fromEntries(absolute), cwd });
  return { title: `${name} ${version} · ${absolute.length} files in ${cwd}`, env: justBash(bash) };
}

/** What each tool's form holds at the start. */
export const EXAMPLES: Record<string, Record<string, unknown>> = {
  read: { path: "dist/bundles/rxjs.umd.js" },
  write: { path: "notes/plan.md", content: "# Plan\n\n1. Read the source.\n2. Change one thing.\n" },
  edit: {
    path: "src/internal/operators/map.ts",
    edits: [{ oldText: "  let index = 0;", newText: "  let index = -1;" }],
  },
  bash: { command: 'grep -rn "switchMap" src | cut -d: -f1 | sort | uniq -c | sort -rn | head -5' },
};
