/**
 * What is done when the process exits: one listener, however many environments there are.
 *
 * @module
 */

const tasks = new Set<() => void>();

const runAll = () => {
  for (const task of tasks) task();
};

/** Does it when the process exits. Answers what takes that back. */
export function atExit(task: () => void): () => void {
  if (tasks.size === 0) process.on("exit", runAll);
  tasks.add(task);
  return () => {
    tasks.delete(task);
    if (tasks.size === 0) process.off("exit", runAll);
  };
}
