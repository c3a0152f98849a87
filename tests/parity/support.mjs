// What the parity tests share: the reference by file path, seeded randomness, counts of differences.
//
// The reference's main entry does not load on Node 20; its tools, file by file, do.

const TOOLS = new URL("./core/tools/", import.meta.resolve("@earendil-works/pi-coding-agent"));

/** A module of the reference's tools. */
export const reference = (name) => import(new URL(`${name}.js`, TOOLS).href);

/** PARITY_SEED repeats a run; PARITY_CASES makes it longer. */
export const SEED = Number(process.env.PARITY_SEED ?? 20_251_130) >>> 0;
export const CASES = Number(process.env.PARITY_CASES ?? 2500);

/** Random numbers from a seed (mulberry32), and what is made of them. */
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end) => Math.floor(next() * end);
  return {
    next,
    below,
    between: (from, to) => from + below(to - from + 1),
    chance: (share) => next() < share,
    pick: (list) => list[below(list.length)],
    list: (length, make) => Array.from({ length }, (_, index) => make(index)),
  };
}

/** Counts outcomes by name, and prints them at the end. */
export function tally(title) {
  const counts = new Map();
  return {
    add: (name) => counts.set(name, (counts.get(name) ?? 0) + 1),
    of: (name) => counts.get(name) ?? 0,
    print(test) {
      test.diagnostic(`${title}, seed ${SEED}`);
      const sorted = [...counts].sort(([, a], [, b]) => b - a);
      for (const [name, count] of sorted) test.diagnostic(`${String(count).padStart(6)}  ${name}`);
    },
  };
}

/** What a failing case needs to be seen again. */
export function shown(value) {
  const text = JSON.stringify(value, null, 2) ?? String(value);
  return text.length > 6000 ? `${text.slice(0, 6000)}…` : text;
}
