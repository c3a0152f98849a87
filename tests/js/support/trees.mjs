// Trees with links, and paths into them, made of a seed.

/** Numbers below `count`, the same for the same seed. */
export function random(seed) {
  let state = (seed * 0x9e3779b1 + 0x7f4a7c15) | 0;
  return (count) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % count;
  };
}

const NAMES = ["a", "b", "d", "größe", "e\u0301", "..x", "é", "...", "a b", "-"];

/**
 * What is in a tree: files in and around `root`, and links from anywhere in it to anywhere, nowhere and each other.
 * Paths are absolute below `base`; `link` targets may be relative.
 */
export function treeOf(seed, base) {
  const pick = random(seed);
  const one = (list) => list[pick(list.length)];
  const root = `${base}/root`;
  const inside = new Set([root]);
  for (let count = 2 + pick(5); count > 0; count--) inside.add(`${one([...inside])}/${one(NAMES)}`);
  const directories = [...inside];
  const files = new Map();
  const addFile = (path, content) => {
    if (!inside.has(path)) files.set(path, content);
  };
  for (let count = pick(6); count > 0; count--) addFile(`${one(directories)}/f${pick(3)}`, `inside ${count}`);
  const outside = [`${base}/outside`, `${base}/outside/deep`, `${base}/rootlike`];
  for (const directory of outside) {
    for (const name of ["f0", "a", "secret", "only-outside"])
      files.set(`${directory}/${name}`, `SECRET ${directory}`);
  }
  const targets = () => [
    ...directories,
    ...outside,
    ...files.keys(),
    `${base}/outside/new`,
    `${root}/nowhere`,
    base,
    "/",
    "..",
    "../..",
    "../outside",
    "../../outside/secret",
    ".",
    "a",
    "d/..",
    "l0",
    "l1",
    "f0/x",
  ];
  const links = new Map();
  for (let count = 1 + pick(6); count > 0; count--) {
    const path = `${one(directories)}/l${pick(4)}`;
    if (!files.has(path)) links.set(path, one(targets()));
  }
  return { root, directories: [...directories, ...outside], files, links };
}

/** A path as somebody might write it who wants to get out, absolute or relative to `root`. */
export function pathOf(pick, { root, directories, files, links }) {
  const one = (list) => list[pick(list.length)];
  const known = [...directories, ...files.keys(), ...links.keys()];
  const segment = () =>
    one(["..", "..", ".", "", "f0", "f1", "l0", "l1", "l2", "l3", "secret", "new", "deep", ...NAMES]);
  const segments = (most) => Array.from({ length: pick(most) }, segment).join("/");
  switch (pick(6)) {
    case 0:
      return one(known);
    case 1:
      return `${one(known)}/${segments(4)}`;
    case 2:
      return `${segments(5) || "."}${one(["", "/", "//", "/."])}`;
    case 3:
      return `${root}/${segments(6)}`;
    case 4:
      return `${one([...links.keys(), root])}/${segments(3)}${one(["", "/"])}`;
    default:
      return `${one(["/", "//", `${root}//`, `${root}x`, "../root/", `${root}/../outside/`])}${segments(4)}`;
  }
}
