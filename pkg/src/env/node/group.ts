/**
 * Ending a command with everything that it started.
 *
 * @module
 */

import { spawn } from "node:child_process";
import process from "node:process";
import { isWindows } from "./shells.js";

/** How long processes have to end by themselves, after SIGTERM, in milliseconds. */
export const TERM_GRACE = 250;

/**
 * Sends a signal to a process group. On Windows, where there are none, ends a process and its children.
 *
 * @returns whether there was one
 */
export function signalGroup(id: number, signal: "SIGTERM" | "SIGKILL"): boolean {
  if (!isWindows) return sent(id, signal);
  const killer = spawn("taskkill", ["/PID", String(id), "/T", "/F"], { stdio: "ignore", windowsHide: true });
  killer.on("error", () => {});
  killer.unref();
  return true;
}

/** Whether anything of a process group is left. */
export function isGroupAlive(id: number): boolean {
  return !isWindows && sent(id, 0);
}

function sent(id: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-id, signal);
    return true;
  } catch (error) {
    // EPERM: there is one, of somebody else's.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
