// Argument texts and the schemas they fit: for Node and for browsers.

/** `[name, parameters, arguments]`; `schema` gives a built-in tool's parameters. */
export function argumentCases(schema) {
  const edits = [
    { oldText: "const a = 1;\n", newText: "const a = 2;\n" },
    { oldText: "return b;", newText: "return c;" },
  ];
  const many = Array.from({ length: 60 }, (_, nth) => [`property${nth}`, nth]);
  const wide = {
    type: "object",
    properties: Object.fromEntries(
      many.map(([name, nth]) => [
        name,
        nth % 3 ? { type: "string", maxLength: 100 } : { type: "integer", minimum: 0 },
      ]),
    ),
    required: many.slice(0, 20).map(([name]) => name),
  };
  const wideArguments = Object.fromEntries(many.map(([name, nth]) => [name, nth % 3 ? `value ${nth}` : nth]));
  return [
    ["read", schema("read"), { path: "src/components/Button.tsx", offset: 120, limit: 80 }],
    ["edit, small", schema("edit"), { path: "src/main.ts", edits }],
    ["60 properties", wide, wideArguments],
  ];
}
