/**
 * Which shells there are, and how each is started. Nothing is run to find out.
 *
 * @module
 */

import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import process from "node:process";

export type ShellName = "bash" | "powershell";

/** A shell of this machine. */
export interface Shell {
  /** Its program. */
  program: string;
  /** The arguments that run a command. */
  argumentsFor(command: string): string[];
}

/** The shells that are found: on PATH, and where they are commonly installed. */
export function findShells(): Map<ShellName, Shell> {
  const shells = new Map<ShellName, Shell>();
  const bash = findBash();
  // After `--` a command may begin with a dash.
  if (bash) shells.set("bash", { program: bash, argumentsFor: (command) => ["-c", "--", command] });
  const powershell = onPath("pwsh") ?? onPath("powershell");
  if (powershell) {
    const begin = ["-NoProfile", "-NonInteractive", "-Command"];
    shells.set("powershell", { program: powershell, argumentsFor: (command) => [...begin, command] });
  }
  return shells;
}

export const isWindows = process.platform === "win32";

function findBash(): string | undefined {
  if (!isWindows) return onPath("bash") ?? ["/bin/bash", "/usr/local/bin/bash"].find(isProgram);
  // Git's. The one in Windows' own folder belongs to another system, with paths of its own.
  const { ProgramFiles, "ProgramFiles(x86)": older, LocalAppData } = process.env;
  const programs = [ProgramFiles, older, LocalAppData && join(LocalAppData, "Programs")];
  const installed = programs.flatMap((folder) => (folder ? [join(folder, "Git", "bin", "bash.exe")] : []));
  const git = onPath("git");
  const besideGit = git ? [join(git, "..", "..", "bin", "bash.exe")] : [];
  return [...besideGit, ...installed].find(isProgram) ?? onPath("bash", /[\\/]windows[\\/]system32/i);
}

/**
 * The first program of this name in the directories of PATH, but for those that are left out, and relative ones: what a
 * command's own directory has is no shell.
 */
function onPath(name: string, leftOut?: RegExp): string | undefined {
  const file = isWindows ? `${name}.exe` : name;
  const directories = (process.env.PATH ?? "").split(delimiter);
  return directories
    .filter((directory) => isAbsolute(directory) && !leftOut?.test(directory))
    .map((directory) => join(directory, file))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
