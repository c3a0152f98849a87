/** A form made of a tool's JSON Schema. */

import { element } from "./dom";

/** The part of JSON Schema that the built-in tools use. */
export interface Schema {
  type?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

/** One input, or a group of them. */
interface Field {
  view: HTMLElement;
  /** What it holds now; undefined where it is optional and empty. */
  read(): unknown;
}

export interface Form {
  view: HTMLElement;
  read(): Record<string, unknown>;
}

/** Strings that are one line each; the others get a box that grows. */
const ONE_LINE = /^(path|from|to|glob|pattern)$/;

let made = 0;

/** @param onChange called after every change by hand */
export function createForm(schema: Schema, initial: Record<string, unknown>, onChange: () => void): Form {
  const { view, read } = objectField("", schema, initial, onChange);
  return { view, read: () => read() as Record<string, unknown> };
}

function objectField(prefix: string, schema: Schema, initial: unknown, onChange: () => void): Field {
  const values = (initial ?? {}) as Record<string, unknown>;
  const fields = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = !schema.required?.includes(name);
    return { name, field: anyField(name, prefix + name, property, optional, values[name], onChange) };
  });
  return {
    view: element("div", { class: "object" }, ...fields.map(({ field }) => field.view)),
    read: () =>
      Object.fromEntries(
        fields.map(({ name, field }) => [name, field.read()]).filter(([, value]) => value !== undefined),
      ),
  };
}

function anyField(
  name: string,
  key: string,
  schema: Schema,
  optional: boolean,
  initial: unknown,
  onChange: () => void,
): Field {
  switch (schema.type) {
    case "array":
      return listField(name, key, schema, initial, onChange);
    case "boolean":
      return booleanField(name, key, schema, initial, onChange);
    case "number":
    case "integer":
      return numberField(name, key, schema, optional, initial, onChange);
    default:
      return stringField(name, key, schema, optional, initial, onChange);
  }
}

function stringField(
  name: string,
  key: string,
  schema: Schema,
  optional: boolean,
  initial: unknown,
  onChange: () => void,
): Field {
  const attributes = {
    ...common(key),
    spellcheck: "false",
    autocapitalize: "off",
    autocomplete: "off",
    input: onChange,
  };
  const input = ONE_LINE.test(name)
    ? element("input", { type: "text", ...attributes })
    : element("textarea", { rows: 1, ...attributes });
  input.value = typeof initial === "string" ? initial : "";
  return {
    view: labelled(name, schema, optional, input),
    read: () => (optional && input.value === "" ? undefined : input.value),
  };
}

function numberField(
  name: string,
  key: string,
  schema: Schema,
  optional: boolean,
  initial: unknown,
  onChange: () => void,
): Field {
  const step = schema.type === "integer" ? "1" : "any";
  const input = element("input", { type: "number", step, ...common(key), input: onChange });
  input.value = typeof initial === "number" ? String(initial) : "";
  return {
    view: labelled(name, schema, optional, input),
    read: () => (Number.isNaN(input.valueAsNumber) ? undefined : input.valueAsNumber),
  };
}

function booleanField(
  name: string,
  key: string,
  schema: Schema,
  initial: unknown,
  onChange: () => void,
): Field {
  const input = element("input", { type: "checkbox", ...common(key), change: onChange });
  input.checked = initial === true;
  const label = element("label", { class: "check", for: input.id }, input, name);
  return {
    view: described(element("div", { class: "field" }, label), schema, input),
    read: () => (input.checked ? true : undefined),
  };
}

/** Objects that can be added and taken away. */
function listField(name: string, key: string, schema: Schema, initial: unknown, onChange: () => void): Field {
  const rows: Field[] = [];
  const list = element("div", { class: "rows" });
  const insert = (value: unknown) => {
    const field = objectField(`${key}.${made++}.`, schema.items ?? {}, value, onChange);
    const remove = () => {
      rows.splice(rows.indexOf(row), 1);
      row.view.remove();
      add.focus();
      onChange();
    };
    const button = element("button", { type: "button", class: "quiet", click: remove }, "Remove");
    const row: Field = { view: element("fieldset", { class: "row" }, field.view, button), read: field.read };
    rows.push(row);
    list.append(row.view);
    return row;
  };
  const another = () => {
    insert({}).view.querySelector<HTMLElement>("input, textarea")?.focus();
    onChange();
  };
  const add = element(
    "button",
    { type: "button", class: "quiet", "data-testid": `add-${key}`, click: another },
    "Add another",
  );
  for (const value of Array.isArray(initial) ? initial : [{}]) insert(value);
  const group = element("fieldset", { class: "field list" }, element("legend", {}, name));
  if (schema.description) group.append(element("p", { class: "hint" }, schema.description));
  group.append(list, add);
  return { view: group, read: () => rows.map((row) => row.read()) };
}

function common(key: string): { id: string; "data-testid": string } {
  return { id: `field-${made++}`, "data-testid": `arg-${key}` };
}

function labelled(name: string, schema: Schema, optional: boolean, input: HTMLElement): HTMLElement {
  const label = element("label", { for: input.id }, name);
  if (optional) label.append(" ", element("span", { class: "hint" }, "optional"));
  return described(element("div", { class: "field" }, label, input), schema, input);
}

function described(field: HTMLElement, schema: Schema, input: HTMLElement): HTMLElement {
  if (!schema.description) return field;
  const hint = element("p", { class: "hint", id: `${input.id}-hint` }, schema.description);
  input.setAttribute("aria-describedby", hint.id);
  field.append(hint);
  return field;
}
