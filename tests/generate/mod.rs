//! Schemas, and values near them, out of bytes: for proptest and the fuzzer alike. Fewer and smaller bytes make
//! simpler ones, so that shrinking the bytes shrinks what they stand for.

#![allow(dead_code, reason = "each test uses its part")]

use serde_json::{Map, Value, json};

/// Decisions, made by bytes; once there are none left, always the first.
pub struct Choices<'a>(&'a [u8]);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices(bytes)
    }

    /// Below `count`.
    pub fn pick(&mut self, count: usize) -> usize {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                usize::from(*first) % count
            }
            [] => 0,
        }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, count: usize) -> bool {
        self.pick(count) == count - 1
    }

    pub fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.pick(all.len())].clone()
    }

    fn list<T>(&mut self, least: usize, most: usize, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = least + self.pick(most - least + 1);
        (0..count).map(|_| make(self)).collect()
    }
}

const KEYS: [&str; 7] = ["a", "b", "c", "", "a.b", "__proto__", "é\n/~%"];
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "null", "array", "object"];
const TEXTS: [&str; 26] = [
    "a",
    "",
    "1",
    " 42 ",
    "42.0",
    "-0",
    ".5",
    "1e2",
    "1e400",
    "0x10",
    "true",
    "FALSE",
    "null",
    "[]",
    "[1,\"2\"]",
    "[\"a\"",
    "{\"a\":1}",
    "{\"a\":null,\"b\":\"3\"}",
    "[[\"1\"],{\"c\":null}]",
    "😀",
    "é\u{301}",
    "line\nline\u{7f}",
    "[ab]*.ts",
    "{",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
];

fn number(choices: &mut Choices) -> Value {
    let floats = [1.0, 0.5, -0.0, 42.0, 1e21, 1e300, 9_007_199_254_740_993.0, -2.5, 0.1];
    match choices.pick(6) {
        0..=2 => (choices.pick(9) as i64 - 3).into(),
        3 | 4 => choices.of(&floats).into(),
        _ => choices.of(&[
            json!(u64::MAX),
            json!(i64::MIN),
            json!(9_007_199_254_740_993_i64),
            json!(1_000_000),
        ]),
    }
}

/// A length or a number of items, in the ways in which it may be written.
fn count(choices: &mut Choices) -> Value {
    match choices.pick(5) {
        4 => choices.of(&[0.0, 1.0, 2.0, 80.0]).into(),
        count => count.into(),
    }
}

/// Any value, of so many levels.
pub fn any(choices: &mut Choices, levels: usize) -> Value {
    match choices.pick(if levels == 0 { 7 } else { 10 }) {
        0..=2 => choices.of(&TEXTS).into(),
        3 | 4 => number(choices),
        5 => choices.once_in(2).into(),
        6 => Value::Null,
        7 => choices.list(0, 3, |choices| any(choices, levels - 1)).into(),
        _ => object(choices, 3, |choices| any(choices, levels - 1)),
    }
}

fn object(choices: &mut Choices, most: usize, mut make: impl FnMut(&mut Choices) -> Value) -> Value {
    let entries = choices.list(0, most, |choices| (choices.of(&KEYS).to_owned(), make(choices)));
    Value::Object(entries.into_iter().collect())
}

fn types(choices: &mut Choices) -> Value {
    if !choices.once_in(5) {
        return choices.of(&TYPES).into();
    }
    let mut listed: Vec<&str> = Vec::new();
    for one in choices.list(1, 3, |choices| choices.of(&TYPES)) {
        if !listed.contains(&one) {
            listed.push(one);
        }
    }
    listed.into()
}

fn keys(choices: &mut Choices) -> Value {
    let mut listed: Vec<&str> = Vec::new();
    for one in choices.list(0, 3, |choices| choices.of(&KEYS)) {
        if !listed.contains(&one) {
            listed.push(one);
        }
    }
    listed.into()
}

/// A schema out of structural keywords, which the structural checker takes.
pub fn structural(choices: &mut Choices, levels: usize) -> Value {
    let mut schema = Map::new();
    let groups = 1 + choices.pick(3);
    if choices.once_in(20) {
        return choices.of(&[
            json!(true),
            json!(false),
            json!({}),
            json!({"description": "d", "x-any": [1]}),
        ]);
    }
    for _ in 0..groups {
        structural_keywords(choices, &mut schema, levels, &mut structural);
    }
    Value::Object(schema)
}

type Make<'m> = dyn FnMut(&mut Choices, usize) -> Value + 'm;

/// Keywords that belong together. `make` makes the schemas inside.
fn structural_keywords(
    choices: &mut Choices,
    schema: &mut Map<String, Value>,
    levels: usize,
    make: &mut Make,
) {
    let mut set = |keyword: &str, value: Value| schema.insert(keyword.to_owned(), value);
    match choices.pick(if levels == 0 { 10 } else { 20 }) {
        0 | 1 => drop(set("type", types(choices))),
        2 => {
            let keyword = choices.of(&["minLength", "maxLength"]);
            set(keyword, count(choices));
            if choices.once_in(2) {
                set("type", "string".into());
            }
        }
        3 | 4 => {
            let keyword = choices.of(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
            set(keyword, number(choices));
            if choices.once_in(2) {
                set("type", choices.of(&["number", "integer"]).into());
            }
        }
        5 => drop(set("enum", choices.list(0, 3, |choices| any(choices, 2)).into())),
        6 => drop(set("const", any(choices, 2))),
        7 => {
            set("type", types(choices));
            set("nullable", choices.of(&[true, false]).into());
        }
        8 => drop(set(choices.of(&["minItems", "maxItems"]), count(choices))),
        9 => drop(set("required", keys(choices))),
        10..=14 => {
            set("properties", object(choices, 3, |choices| make(choices, levels - 1)));
            if choices.once_in(2) {
                set("type", "object".into());
            }
            if choices.once_in(2) {
                set("required", keys(choices));
            }
            if choices.once_in(3) {
                set("additionalProperties", make(choices, levels - 1));
            } else if choices.once_in(4) {
                set("additionalProperties", false.into());
            }
        }
        15 | 16 => {
            set("items", make(choices, levels - 1));
            if choices.once_in(2) {
                set("type", "array".into());
            }
        }
        _ => drop(set("anyOf", choices.list(1, 3, |choices| make(choices, levels - 1)).into())),
    }
}

/// The drafts, as `$schema` names them.
pub const DRAFTS: [&str; 5] = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
];

const PATTERNS: [&str; 11] = [
    "a",
    "^.{2,3}$",
    "^\\p{L}+$",
    "(?<=a)b",
    "(?!a)",
    "^(a+)+$",
    "(a|aa)+$",
    "\\d",
    "^(?<x>a)\\k<x>$",
    "[^\\w]",
    "b",
];

const REFERENCES: [&str; 13] = [
    "#/$defs/A",
    "#/$defs/B",
    "#/definitions/A",
    "#",
    "#/$defs/a~1b%25",
    "#anchor",
    "#/properties/a",
    "https://example.com/other",
    "https://example.com/other#/$defs/X",
    "#/$defs/Missing",
    "https://example.com/missing",
    "#nowhere",
    "tree",
];

/// A whole schema of any draft, of any keywords with right values.
pub fn full(choices: &mut Choices) -> Value {
    let draft = choices.of(&DRAFTS);
    let make = |choices: &mut Choices, levels| beyond(choices, levels);
    let mut schema = match make(choices, 3) {
        Value::Object(schema) => schema,
        other => return other,
    };
    if choices.once_in(2) || draft != DRAFTS[0] {
        schema.insert("$schema".to_owned(), draft.into());
    }
    if choices.once_in(6) {
        schema.insert(
            "$id".to_owned(),
            choices.of(&["https://example.com/root.json", "root.json", "urn:x:y"]).into(),
        );
    }
    let mut defs = json!({"A": beyond(choices, 2), "B": beyond(choices, 2), "a/b%": beyond(choices, 1)});
    let mut anchored = beyond(choices, 1);
    if anchored.is_object() {
        anchored["$anchor"] = "anchor".into();
    }
    defs["anchored"] = anchored;
    schema.insert(if choices.once_in(2) { "definitions" } else { "$defs" }.to_owned(), defs);
    Value::Object(schema)
}

/// Documents that the references lead to.
pub fn resources() -> Map<String, Value> {
    let other = json!({
        "$id": "https://example.com/other",
        "type": ["object", "integer"],
        "properties": {"a": {"$ref": "#/$defs/X"}},
        "$defs": {"X": {"type": "integer", "multipleOf": 2}},
    });
    [("https://example.com/other".to_owned(), other)].into_iter().collect()
}

fn beyond(choices: &mut Choices, levels: usize) -> Value {
    let mut schema = Map::new();
    let groups = 1 + choices.pick(3);
    if choices.once_in(20) {
        return choices.of(&[json!({}), json!(true), json!(false)]);
    }
    for _ in 0..groups {
        match choices.pick(2) {
            0 => structural_keywords(choices, &mut schema, levels, &mut beyond),
            _ => beyond_keywords(choices, &mut schema, levels),
        }
    }
    Value::Object(schema)
}

fn beyond_keywords(choices: &mut Choices, schema: &mut Map<String, Value>, levels: usize) {
    let mut set = |keyword: &str, value: Value| schema.insert(keyword.to_owned(), value);
    let schemas = |choices: &mut Choices| choices.list(1, 3, |choices| beyond(choices, levels - 1)).into();
    match choices.pick(if levels == 0 { 9 } else { 30 }) {
        0..=2 => drop(set("$ref", choices.of(&REFERENCES).into())),
        3 => drop(set("pattern", choices.of(&PATTERNS).into())),
        4 => drop(set("uniqueItems", true.into())),
        5 => drop(set("multipleOf", choices.of(&[json!(1), json!(0.1), json!(2.0), json!(1e-7), json!(7)]))),
        6 => drop(set(choices.of(&["minProperties", "maxProperties"]), count(choices))),
        7 => drop(set("dependentRequired", object(choices, 2, keys))),
        8 => drop(set("format", choices.of(&["date", "uri", "ipv4", "x-foo"]).into())),
        9..=11 => drop(set("allOf", schemas(choices))),
        12..=14 => drop(set("oneOf", schemas(choices))),
        15 => drop(set("not", beyond(choices, levels - 1))),
        16 | 17 => {
            set("if", beyond(choices, levels - 1));
            set("then", beyond(choices, levels - 1));
            set("else", beyond(choices, levels - 1));
        }
        18 | 19 => {
            let entries =
                choices.list(1, 2, |choices| (choices.of(&PATTERNS).to_owned(), beyond(choices, levels - 1)));
            set("patternProperties", Value::Object(entries.into_iter().collect()));
        }
        20 | 21 => drop(set(choices.of(&["prefixItems", "items"]), schemas(choices))),
        22 => drop(set("additionalItems", beyond(choices, levels - 1))),
        23 => drop(set("propertyNames", beyond(choices, levels - 1))),
        24 | 25 => {
            set("contains", beyond(choices, levels - 1));
            if choices.once_in(2) {
                set(choices.of(&["minContains", "maxContains"]), choices.pick(3).into());
            }
        }
        26 => drop(set("unevaluatedProperties", beyond(choices, levels - 1))),
        27 => drop(set("unevaluatedItems", beyond(choices, levels - 1))),
        28 => drop(set("dependentSchemas", object(choices, 2, |choices| beyond(choices, levels - 1)))),
        _ => {
            let either = |choices: &mut Choices| match choices.pick(2) {
                0 => keys(choices),
                _ => beyond(choices, levels - 1),
            };
            set("dependencies", object(choices, 2, either));
        }
    }
}

const KEYWORDS: [&str; 48] = [
    "$schema",
    "$id",
    "id",
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$vocabulary",
    "$defs",
    "definitions",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "anyOf",
    "allOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "pattern",
    "patternProperties",
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "uniqueItems",
    "multipleOf",
    "minProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "propertyNames",
    "unevaluatedProperties",
];

/// What somebody may write where a schema belongs: keywords with values of any kind, nonsense for references.
pub fn hostile(choices: &mut Choices, levels: usize) -> Value {
    let entries = choices.list(1, 5, |choices| {
        let keyword = choices.of(&KEYWORDS);
        (keyword.to_owned(), hostile_value(choices, levels))
    });
    let mut schema: Map<String, Value> = entries.into_iter().collect();
    if choices.once_in(3) {
        schema.insert("$schema".to_owned(), choices.of(&DRAFTS).into());
    }
    Value::Object(schema)
}

fn hostile_value(choices: &mut Choices, levels: usize) -> Value {
    let odd = [
        "#",
        "##",
        "#/%zz",
        "#/~2",
        "#/$defs/",
        "http://[",
        "urn:",
        "//",
        "../..",
        "\u{0}",
        "#/allOf/0",
        "#/properties/a",
        "file:///a",
        "tackroom:///schema",
        "tackroom:///schema#/$defs/A",
        "https://example.com/other",
        "json-schema:///",
        "%",
        " ",
        "#a",
        "a b",
        "https://json-schema.org/draft/2020-12/schema",
        "http://json-schema.org/draft-04/schema",
        "#/a/b/c",
        "#/definitions",
    ];
    let patterns = [
        "(",
        "[",
        "(?i)a",
        "\\",
        "a{99999999}",
        "(?<=a",
        "\\p{Nope}",
        "*",
        "(a+)+$",
        "[[:alpha:]]",
        "\\u{110000}",
        "(?:)",
    ];
    match choices.pick(if levels == 0 { 6 } else { 12 }) {
        0 => any(choices, 1),
        1 | 2 => choices.of(&odd).into(),
        3 => choices.of(&patterns).into(),
        4 => types(choices),
        5 => choices.of(&[json!(5), json!(-1), json!([]), json!(1.5), json!(["a", "a"]), json!({"a": 5})]),
        6 | 7 => hostile(choices, levels - 1),
        8 => choices.list(0, 3, |choices| hostile(choices, levels - 1)).into(),
        9 => beyond(choices, levels - 1),
        _ => {
            let keys = ["a", "", "A", "(", "$ref", "/", "^a", "type"];
            let entries = choices
                .list(0, 3, |choices| (choices.of(&keys).to_owned(), hostile_value(choices, levels - 1)));
            Value::Object(entries.into_iter().collect())
        }
    }
}

/// A value that mostly fits the schema: right, or spelled as models spell it, or null, or wrong here and there.
pub fn near(choices: &mut Choices, schema: &Value) -> Value {
    near_in(choices, schema, schema, 8)
}

fn near_in(choices: &mut Choices, schema: &Value, root: &Value, levels: usize) -> Value {
    let value = right(choices, schema, root, levels);
    match choices.pick(12) {
        0..=5 => value,
        6 | 7 => spelled(choices, value),
        8 => Value::Null,
        9 => any(choices, 1),
        10 => json!([value]),
        _ => match value {
            Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
            value => value,
        },
    }
}

/// As models send it.
fn spelled(choices: &mut Choices, value: Value) -> Value {
    match value {
        Value::String(text) => choices.of(&[json!(format!(" {text}")), json!([text]), json!(text)]),
        Value::Bool(value) => choices.of(&[json!(value.to_string().to_uppercase()), json!(u8::from(value))]),
        Value::Number(number) => choices.of(&[
            json!(number.to_string()),
            json!(format!(" {number}\n")),
            json!(format!("{number}.0")),
            json!(number.as_f64()),
        ]),
        Value::Null => choices.of(&[json!(""), json!("null"), json!(false), json!(0)]),
        value => value.to_string().into(),
    }
}

fn right(choices: &mut Choices, schema: &Value, root: &Value, levels: usize) -> Value {
    let Some(schema) = schema.as_object().filter(|_| levels > 0) else { return any(choices, 1) };
    let levels = levels - 1;
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return choices.of(values);
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.trim_start_matches('#').replace("%25", "%");
        if let Some(target) = root.pointer(&pointer) {
            return near_in(choices, target, root, levels);
        }
    }
    let named = schema.get("type").and_then(|types| match types {
        Value::Array(types) if !types.is_empty() => choices.of(types).as_str().map(str::to_owned),
        one => one.as_str().map(str::to_owned),
    });
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    for keyword in ["anyOf", "oneOf", "allOf", "if", "then", "else"] {
        let one_of = match schema.get(keyword) {
            Some(Value::Array(branches)) if !branches.is_empty() => choices.of(branches),
            Some(one @ Value::Object(_)) if choices.once_in(3) => one.clone(),
            _ => continue,
        };
        let below = near_in(choices, &one_of, root, levels);
        match (below, has(&["properties"])) {
            (Value::Object(mut map), true) => {
                if let Value::Object(here) = right_object(choices, schema, root, levels) {
                    map.extend(here);
                }
                return Value::Object(map);
            }
            (below, _) => return below,
        }
    }
    let named = named.as_deref().unwrap_or_else(|| {
        if has(&[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "minProperties",
            "propertyNames",
        ]) {
            "object"
        } else if has(&["items", "minItems", "maxItems", "prefixItems", "contains", "uniqueItems"]) {
            "array"
        } else if has(&["minLength", "maxLength", "pattern", "format"]) {
            "string"
        } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
            "number"
        } else {
            ""
        }
    });
    match named {
        "null" => Value::Null,
        "boolean" => choices.once_in(2).into(),
        "integer" | "number" => {
            let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
            match bounds.iter().find_map(|keyword| schema.get(*keyword)).filter(|_| !choices.once_in(3)) {
                Some(bound) => match (bound.as_i64(), choices.pick(3)) {
                    (Some(bound), 1) => bound.saturating_add(1).into(),
                    (Some(bound), 2) => bound.saturating_sub(1).into(),
                    _ => bound.clone(),
                },
                None => number(choices),
            }
        }
        "string" => choices.of(&TEXTS).into(),
        "array" => {
            let tuple: Vec<&Value> = ["prefixItems", "items"]
                .iter()
                .filter_map(|keyword| schema.get(*keyword)?.as_array())
                .flatten()
                .collect();
            let rest =
                ["items", "additionalItems", "contains"].iter().find_map(|keyword| schema.get(*keyword));
            let rest = rest.filter(|rest| !rest.is_array());
            let count = choices.pick(4);
            let items = (0..count).map(|index| match tuple.get(index).copied().or(rest) {
                Some(item) => near_in(choices, item, root, levels),
                None => any(choices, 1),
            });
            items.collect()
        }
        "object" => right_object(choices, schema, root, levels),
        _ => any(choices, 2),
    }
}

fn right_object(choices: &mut Choices, schema: &Map<String, Value>, root: &Value, levels: usize) -> Value {
    let mut map = Map::new();
    for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if !choices.once_in(5) {
            map.insert(key.clone(), near_in(choices, property, root, levels));
        }
    }
    for key in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
        let Some(key) = key.as_str() else { continue };
        if !map.contains_key(key) && !choices.once_in(5) {
            map.insert(key.to_owned(), any(choices, 1));
        }
    }
    if choices.once_in(3) {
        let value = match schema.get("additionalProperties") {
            Some(additional) => near_in(choices, additional, root, levels),
            None => any(choices, 1),
        };
        map.insert(choices.of(&KEYS).to_owned(), value);
    }
    Value::Object(map)
}
