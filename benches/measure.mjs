// How everything here is measured: in one process, ours and the peer in turn, CPU time of the whole process (its
// compiler and collector threads included), the median of several runs. Machines are shared; ratios hold better than
// milliseconds.

/** CPU time of an action, in ms. */
async function cpuTime(action, times) {
  const before = process.cpuUsage();
  for (let nth = 0; nth < times; nth++) await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / times;
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How often an action has to run for its time to be more than the clock's grain. */
async function repetitions(action, atLeastMs) {
  let times = 1;
  for (;;) {
    const took = await cpuTime(action, times);
    if (took * times >= atLeastMs || times >= 1 << 17) return times;
    times = Math.ceil(Math.min(times * 8, Math.max(times * 2, (atLeastMs / Math.max(took, 1e-4)) * 1.2)));
  }
}

/** Runs a short action until the engine has its best code for it, JavaScript and wasm alike; a long one has had it. */
async function warm(action, ms = 500) {
  const end = performance.now() + ms;
  while (performance.now() < end) await action();
}

/**
 * Median CPU milliseconds of each action, measured in turn. The first action is ours. An action that takes long is
 * run less often: `budgetMs` bounds what is spent on each of them.
 */
export async function compare(actions, { runs = 7, batchMs = 40, budgetMs = 8000 } = {}) {
  const times = [];
  for (const action of actions) times.push(await repetitions(action, batchMs));
  for (const action of actions) await warm(action);
  const taken = actions.map(() => []);
  const spent = actions.map(() => 0);
  for (let run = 0; run < runs; run++) {
    for (const [index, action] of actions.entries()) {
      if (run > 0 && spent[index] + spent[index] / run > budgetMs) continue;
      globalThis.gc?.();
      // The collector leaves the caches cold; and what was thrown away is not this action's.
      if (taken[index][0] === undefined || taken[index][0] < 200) await action();
      const took = await cpuTime(action, times[index]);
      spent[index] += took * times[index];
      taken[index].push(took);
    }
  }
  return taken.map(median);
}
