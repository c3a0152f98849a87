// Scalars and lists of types, and what ajv makes of one for the other.
import Ajv from "ajv";

/** As coercion "ajv" is defined. */
const ajv = new Ajv({ coerceTypes: true, strict: false, logger: false });

/** Compiled checks, by the JSON of the type: ajv keeps what it compiles for good. */
const checks = new Map();

/** `{value}` as ajv leaves it, or `{}` where it refuses: it writes into the object that holds the scalar. */
export function theirs(types, given) {
  const key = JSON.stringify(types);
  let check = checks.get(key);
  if (!check) {
    check = ajv.compile(schemaOf(types));
    checks.set(key, check);
  }
  const holder = { v: given };
  return check(holder) ? { value: holder.v } : {};
}

/** A scalar needs a place that ajv can write to, and one where null is not dropped. */
export const schemaOf = (types) => ({
  type: "object",
  properties: { v: { type: types } },
  required: ["v"],
});

export const isInfinite = ({ value }) => value === Infinity || value === -Infinity;

/** Each kind of scalar once, for the table. */
const SCALARS = [
  ...[null, true, false, 0, 1, -1, 2, 2.5, 1e21, 1e-7, 2 ** 53, 12345678901234567000],
  ...["", " ", "\n", "a", "true", "false", "True", "null", "[]", '["a"]', "{}"],
  ...[
    "0",
    "1",
    "-0",
    "42",
    " 42 ",
    "42.0",
    "2.5",
    "1e3",
    "1e300",
    "1e-400",
    "+1",
    ".5",
    "5.",
    "007",
    "1_000",
  ],
  ...["0x10", "0B11", "0o7", "-0x1", "9007199254740993", "NaN", "1 2", "\u00a01\ufeff", "\u00851"],
];
const TYPES = [
  ...["null", "boolean", "integer", "number", "string", "array", "object"],
  ...[
    ["null", "boolean"],
    ["boolean", "number"],
    ["integer", "string"],
    ["array", "null", "integer"],
  ],
];

/** Rows of types, scalar and what ajv makes of it, which is absent where it refuses. */
export function table() {
  const rows = TYPES.flatMap((types) => SCALARS.map((given) => [types, given, theirs(types, given)]));
  const lines = rows
    .filter(([, , outcome]) => !isInfinite(outcome))
    .map(([types, given, outcome]) => {
      const cells = [types, given, ...("value" in outcome ? [outcome.value] : [])];
      return `  [${cells.map(json).join(", ")}]`;
    });
  return `[\n${lines.join(",\n")}\n]\n`;
}

const json = (value) => (Object.is(value, -0) ? "-0.0" : JSON.stringify(value));

/** One type or a list of some, in any order. */
export function types(rng) {
  const all = ["null", "boolean", "integer", "number", "string", "array", "object"];
  if (rng.chance(0.6)) return rng.pick(all.slice(0, 5));
  const shuffled = rng
    .list(all.length, (index) => ({ type: all[index], order: rng.next() }))
    .sort((a, b) => a.order - b.order);
  return shuffled.slice(0, rng.between(1, 4)).map(({ type }) => type);
}

/** What JavaScript takes for blank, and what looks like it. */
const BLANKS = [
  ..." \t\n\v\f\r\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff",
  "\u0085",
  "\u200b",
  "\u180e",
];

/** A scalar: most of the texts are numbers, or nearly. */
export function scalar(rng) {
  if (rng.chance(0.15)) return rng.pick(SCALARS);
  if (rng.chance(0.2)) return number(rng);
  let text = rng.chance(0.1)
    ? rng.pick(["true", "false", "null", "Infinity", "-Infinity", "+Infinity"])
    : digits(rng);
  if (rng.chance(0.15)) {
    const at = rng.below(text.length + 1);
    const odd = rng.pick([..."0123456789+-.eExXob_,n١", "e5", "e-400", "e400", " ", "Infinity"]);
    text = text.slice(0, at) + odd + text.slice(at + rng.below(2));
  }
  if (rng.chance(0.2)) text = rng.pick(BLANKS) + text;
  if (rng.chance(0.2)) text += rng.pick(BLANKS);
  return text;
}

/** Of any size. −0 does not cross as JSON; as text it is among the scalars. */
function number(rng) {
  const size = 10 ** rng.between(-30, 30);
  const value = rng.pick([rng.between(-3, 3), rng.next() * size, Math.floor(-rng.next() * size)]);
  return value === 0 ? 0 : value;
}

function digits(rng) {
  const some = (most, from = "0123456789") =>
    rng.list(rng.between(1, most), () => rng.pick([...from])).join("");
  // Many, so that rounding is seen.
  const few = () => some(rng.pick([1, 2, 3, 17, 25]));
  switch (rng.below(8)) {
    case 0:
      return rng.pick(["0x", "0X"]) + some(rng.pick([2, 14, 20, 40]), "0123456789abcdefABCDEF");
    case 1:
      return rng.pick(["0o", "0O", "0b", "0B"]) + some(rng.pick([3, 54, 70]), rng.pick(["01", "01234567"]));
    case 2:
      return String(number(rng));
    case 3:
      // Half way between two doubles, and beside it.
      return `${BigInt(2) ** 53n * BigInt(rng.between(1, 9)) + BigInt(rng.between(-2, 2))}`;
    default: {
      const sign = rng.pick(["", "", "-", "+"]);
      const fraction = rng.chance(0.4) ? `.${rng.chance(0.9) ? few() : ""}` : "";
      const exponent = rng.chance(0.3) ? `${rng.pick(["e", "E"])}${rng.pick(["", "+", "-"])}${some(3)}` : "";
      return sign + (rng.chance(0.9) ? few() : "") + fraction + exponent;
    }
  }
}
