//! JSON Schema → the `Schema` of Gemini's function declarations: one scalar `type`, `nullable`, string enums, `anyOf`
//! that stands alone, and no references (<https://ai.google.dev/api/caching#Schema>). A field that it does not have, or
//! has for another type, fails the whole request.
//!
//! What cannot be said there is left out; the arguments are checked against the schema itself. Some is said otherwise:
//! - `const` is an enum of one. Enums are of strings only; other values are named in the description.
//! - A reference is inlined, what stands beside it kept. One that leads back to where it is (or nowhere) is
//!   `{"type": "object"}`; so is everything after 10,000 schemas.
//! - Of `type: ["string", "null"]` null becomes `nullable`; several types, and `oneOf`, are `anyOf`, in whose branches
//!   everything beside it goes. `allOf` is merged as far as it can be.
//! - An exclusive bound of an integer is the next integer, that of a number is inclusive.
//! - What says nothing of its type may be text, a number, a boolean, an object or a list of texts.

use serde_json::{Map, Value};

use super::walk::{merge, resolve, type_of, types};
use crate::json::{self, Keys};

/// How many schemas the result is made of: references, and what stands beside a union, can multiply them.
const MAX_PARTS: usize = 10_000;

/// How deep the result may be nested.
const MAX_LEVELS: usize = 64;

/// The form of an object's schema, which has neither references nor unions at the top.
pub(super) fn lower(mut map: Map<String, Value>, root: &Value) -> Value {
    for definitions in ["$defs", "definitions"] {
        map.cut(definitions);
    }
    let mut lowering = Lowering { root, trail: vec![], left: MAX_PARTS };
    let mut lowered = lowering.schema(&Value::Object(map), MAX_LEVELS);
    if lowered.at("properties").is_none() {
        lowered.put("properties", Map::new().into());
    }
    Value::Object(lowered)
}

struct Lowering<'a> {
    root: &'a Value,
    /// The references that led here.
    trail: Vec<String>,
    /// How many schemas there may still be.
    left: usize,
}

impl Lowering<'_> {
    fn schema(&mut self, schema: &Value, levels: usize) -> Map<String, Value> {
        let mut part = self.part(schema, levels);
        if is_null(&part) {
            // There is no type of null alone.
            part.put_text("type", "string");
            part.put("nullable", true.into());
        }
        part
    }

    /// The same, for a part of a union: null alone is `{"type": "null"}`.
    fn part(&mut self, schema: &Value, levels: usize) -> Map<String, Value> {
        if self.left == 0 {
            return typed("object", &Map::new());
        }
        self.left -= 1;
        let followed = self.trail.len();
        let part = match schema {
            Value::Object(map) => self.object(map.clone(), levels),
            _ => anything(),
        };
        self.trail.truncate(followed);
        part
    }

    fn object(&mut self, mut map: Map<String, Value>, levels: usize) -> Map<String, Value> {
        if !self.expand(&mut map) || levels == 0 {
            return typed("object", &map);
        }
        let is_nullable = map.cut("nullable") == Some(Value::Bool(true));
        for union in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = map.cut(union) {
                let mut parts = Vec::new();
                for branch in branches {
                    let mut branch = match branch {
                        Value::Object(branch) => branch,
                        Value::Bool(false) => continue,
                        _ => Map::new(),
                    };
                    merge(&mut branch, &map);
                    parts.push(self.part(&Value::Object(branch), levels - 1));
                }
                return one_of(parts, is_nullable);
            }
        }
        let mut values = match (map.at("const"), map.at("enum")) {
            (Some(one), _) => vec![one.clone()],
            (_, Some(Value::Array(values))) => values.clone(),
            _ => vec![],
        };
        let is_listed = !values.is_empty();
        let mut names: Vec<&str> = types(&map);
        if names.is_empty() {
            names = inferred(&map, &values);
        }
        if names.is_empty() {
            let mut any = anything();
            if let Some(Value::Array(parts)) = any.at_mut("anyOf") {
                parts.iter_mut().filter_map(Value::as_object_mut).for_each(|part| words(part, &map));
            }
            return any;
        }
        let is_nullable =
            is_nullable || names.contains(&"null") && (!is_listed || values.contains(&Value::Null));
        names.retain(|name| *name != "null");
        values.retain(|value| !value.is_null());
        if is_listed {
            names.retain(|name| values.iter().any(|value| is_of(value, name)));
        }
        let parts: Vec<_> = names
            .iter()
            .map(|name| {
                let values = values.iter().filter(|value| is_of(value, name)).cloned().collect();
                self.leaf(name, &map, values, levels - 1)
            })
            .collect();
        match parts.is_empty() {
            true => typed("null", &map),
            false => one_of(parts, is_nullable),
        }
    }

    /// Follows references and merges `allOf`. False where a reference leads nowhere.
    fn expand(&mut self, map: &mut Map<String, Value>) -> bool {
        loop {
            if let Some(reference) = map.cut("$ref") {
                let reference = reference.as_str().unwrap_or_default().to_owned();
                if self.trail.contains(&reference) || self.trail.len() > MAX_LEVELS {
                    return false;
                }
                match resolve(self.root, &reference) {
                    Some(Value::Object(target)) => merge(map, target),
                    Some(Value::Bool(true)) => {}
                    _ => return false,
                }
                self.trail.push(reference);
            } else if let Some(Value::Array(parts)) = map.cut("allOf") {
                for part in parts {
                    if let Value::Object(mut part) = part
                        && self.expand(&mut part)
                    {
                        merge(map, &part);
                    }
                }
            } else {
                return true;
            }
        }
    }

    /// A schema of one type, with the keywords that this type has.
    fn leaf(
        &mut self,
        name: &str,
        map: &Map<String, Value>,
        values: Vec<Value>,
        levels: usize,
    ) -> Map<String, Value> {
        let mut leaf = typed(name, map);
        for (of, keyword) in KEYWORDS {
            if let Some(value) = map.at(keyword)
                && (of == name || of == "number" && name == "integer")
                && if keyword == "pattern" { value.is_string() } else { value.is_number() }
            {
                leaf.put(keyword, value.clone());
            }
        }
        if let Some(Value::String(format)) = map.at("format")
            && FORMATS.contains(&(name, format))
        {
            leaf.put_text("format", format);
        }
        match name {
            "string" => {
                // An empty text is refused in an enum.
                let texts: Vec<Value> = values.into_iter().filter(|value| value != "").collect();
                if !texts.is_empty() {
                    leaf.put("enum", texts.into());
                }
            }
            "array" => {
                let mut items = map.at("items");
                if let Some(Value::Array(_)) = map.at("prefixItems") {
                    items = map.at("prefixItems");
                }
                let items = match items {
                    Some(Value::Array(tuple)) if !tuple.is_empty() => {
                        let mut parts = Vec::new();
                        for item in tuple {
                            parts.push(self.schema(item, levels));
                        }
                        one_of(parts, false)
                    }
                    Some(items) => self.schema(items, levels),
                    None => anything(),
                };
                leaf.put("items", items.into());
            }
            "object" => self.properties(&mut leaf, map, levels),
            _ => {
                if name != "boolean" {
                    exclusive(&mut leaf, map, "minimum", "exclusiveMinimum", 1.0);
                    exclusive(&mut leaf, map, "maximum", "exclusiveMaximum", -1.0);
                }
                describe_values(&mut leaf, values);
            }
        }
        leaf
    }

    fn properties(&mut self, leaf: &mut Map<String, Value>, map: &Map<String, Value>, levels: usize) {
        let Some(properties) = map.fields("properties") else { return };
        if properties.is_empty() {
            return;
        }
        let mut lowered = Map::new();
        for (name, schema) in properties {
            lowered.put(name, self.schema(schema, levels).into());
        }
        leaf.put("properties", lowered.into());
        let mut known: Vec<Value> = Vec::new();
        for name in map.list("required") {
            if name.as_str().is_some_and(|name| properties.at(name).is_some()) && !known.contains(name) {
                known.push(name.clone());
            }
        }
        if !known.is_empty() {
            leaf.put("required", known.into());
        }
    }
}

/// A schema of a type, with the words of another.
fn typed(name: &str, of: &Map<String, Value>) -> Map<String, Value> {
    let mut map = Map::of("type", name.into());
    words(&mut map, of);
    map
}

fn words(into: &mut Map<String, Value>, of: &Map<String, Value>) {
    for keyword in ["title", "description"] {
        if let Some(text @ Value::String(_)) = of.at(keyword) {
            into.put(keyword, text.clone());
        }
    }
}

/// What may be anything.
fn anything() -> Map<String, Value> {
    match json::known(
        r#"{"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "object"},
            {"type": "array", "items": {"type": "string"}}]}"#,
    ) {
        Value::Object(map) => map,
        _ => unreachable!("it is an object"),
    }
}

fn is_null(part: &Map<String, Value>) -> bool {
    part.at("type").is_some_and(|name| name == "null")
}

/// Whether a value is of a type.
fn is_of(value: &Value, name: &str) -> bool {
    let own = type_of(value);
    own == name || own == "integer" && name == "number"
}

/// The types that a schema without `type` is about.
fn inferred(map: &Map<String, Value>, values: &[Value]) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for name in values.iter().map(type_of) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.contains(&"number") {
        names.retain(|name| *name != "integer");
    }
    if !names.is_empty() {
        return names;
    }
    let shapes = [
        ("object", "properties"),
        ("object", "additionalProperties"),
        ("array", "items"),
        ("array", "prefixItems"),
    ];
    for (name, keyword) in shapes {
        if map.at(keyword).is_some() {
            return vec![name];
        }
    }
    let mut about = KEYWORDS.iter().filter(|(_, keyword)| map.at(keyword).is_some());
    about.next().map(|(name, _)| *name).into_iter().collect()
}

/// What stays as it is, and for which type; and what tells the type where there is none. What the type alone has is read
/// elsewhere.
const KEYWORDS: [(&str, &str); 9] = [
    ("string", "minLength"),
    ("string", "maxLength"),
    ("string", "pattern"),
    ("number", "minimum"),
    ("number", "maximum"),
    ("array", "minItems"),
    ("array", "maxItems"),
    ("object", "minProperties"),
    ("object", "maxProperties"),
];

const FORMATS: [(&str, &str); 6] = [
    ("string", "date-time"),
    ("string", "enum"),
    ("number", "float"),
    ("number", "double"),
    ("integer", "int32"),
    ("integer", "int64"),
];

/// Makes an exclusive bound an inclusive one, if it is the tighter.
fn exclusive(leaf: &mut Map<String, Value>, map: &Map<String, Value>, bound: &str, keyword: &str, step: f64) {
    let Some(exclusive) = map.at(keyword).and_then(Value::as_f64) else { return };
    let is_integer = leaf.at("type").is_some_and(|name| name == "integer");
    let inclusive = match (is_integer, step > 0.0) {
        (true, true) => (exclusive + step).floor(),
        (true, false) => (exclusive + step).ceil(),
        _ => exclusive,
    };
    let known = leaf.at(bound).and_then(Value::as_f64);
    if known.is_none_or(|known| (inclusive - known) * step > 0.0) {
        let whole = inclusive as i64;
        let value = if whole as f64 == inclusive { Value::from(whole) } else { Value::from(inclusive) };
        leaf.put(bound, value);
    }
}

/// Says in words which values there are.
fn describe_values(leaf: &mut Map<String, Value>, values: Vec<Value>) {
    let mut text = match &values[..] {
        [] => return,
        [one] => format!("Always {one}"),
        _ => format!("One of {}", Value::Array(values)),
    };
    if let Some(Value::String(before)) = leaf.at("description") {
        text = format!("{before} ({text})");
    }
    leaf.put("description", text.into());
}

/// A union: `anyOf` has nothing beside it, and no branch of null.
fn one_of(parts: Vec<Map<String, Value>>, is_nullable: bool) -> Map<String, Value> {
    let is_nullable = is_nullable || parts.iter().any(is_null);
    let mut branches: Vec<Map<String, Value>> = Vec::new();
    let mut add = |part: Map<String, Value>| {
        if !is_null(&part) && !branches.contains(&part) {
            branches.push(part);
        }
    };
    for mut part in parts {
        match part.cut("anyOf") {
            Some(Value::Array(inner)) => inner.into_iter().for_each(|part| {
                if let Value::Object(part) = part {
                    add(part);
                }
            }),
            _ => add(part),
        }
    }
    if branches.is_empty() {
        return typed("null", &Map::new());
    }
    join_enums(&mut branches);
    if is_nullable {
        branches.iter_mut().for_each(|part| part.put("nullable", true.into()));
    }
    match <[_; 1]>::try_from(branches) {
        Ok([one]) => one,
        Err(several) => Map::of("anyOf", several.into()),
    }
}

/// Makes one of several enums that say the same of themselves.
fn join_enums(branches: &mut Vec<Map<String, Value>>) {
    let mut values: Vec<Value> = Vec::new();
    let mut words = Map::new();
    for branch in branches.iter() {
        let mut rest = branch.clone();
        let Some(Value::Array(own)) = rest.cut("enum") else { return };
        if !values.is_empty() && rest != words {
            return;
        }
        words = rest;
        for value in own {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    if branches.len() > 1 {
        words.put("enum", values.into());
        *branches = vec![words];
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn lowered(property: Value) -> Value {
        let root = json!({"type": "object", "properties": {"p": property},
            "$defs": {"S": {"type": "string", "description": "theirs"}, "A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}});
        lower(root.as_object().unwrap().clone(), &root)["properties"]["p"].clone()
    }

    #[test]
    fn types_and_null() {
        for (schema, expected) in [
            (json!({"type": ["string", "null"]}), json!({"type": "string", "nullable": true})),
            (
                json!({"type": ["string", "integer", "null"], "description": "d", "minLength": 1, "minimum": 2}),
                json!({"anyOf": [{"type": "string", "description": "d", "minLength": 1, "nullable": true},
                    {"type": "integer", "description": "d", "minimum": 2, "nullable": true}]}),
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"$ref": "#/$defs/S"}], "description": "mine"}),
                json!({"type": "string", "description": "mine", "nullable": true}),
            ),
            (json!({"type": "null"}), json!({"type": "string", "nullable": true})),
            (json!({"enum": ["a", null]}), json!({"type": "string", "enum": ["a"], "nullable": true})),
            (json!({"type": "string", "nullable": true}), json!({"type": "string", "nullable": true})),
            (
                json!({"oneOf": [{"type": "number"}, {"anyOf": [{"type": "boolean"}, {"type": "number"}]}]}),
                json!({"anyOf": [{"type": "number"}, {"type": "boolean"}]}),
            ),
            (
                json!({"properties": {"a": {"type": "string"}}}),
                json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            ),
            (json!({"minLength": 2}), json!({"type": "string", "minLength": 2})),
        ] {
            assert_eq!(lowered(schema.clone()), expected, "{schema}");
        }
        assert_eq!(lowered(json!({})), Value::from(anything()));
        assert_eq!(lowered(json!(true)), Value::from(anything()));
        assert_eq!(
            lowered(json!({"description": "d"}))["anyOf"][3],
            json!({"type": "object", "description": "d"})
        );
    }

    #[test]
    fn enums_are_of_texts() {
        for (schema, expected) in [
            (json!({"const": true}), json!({"type": "boolean", "description": "Always true"})),
            (
                json!({"type": "integer", "enum": [1, 2], "description": "Size"}),
                json!({"type": "integer", "description": "Size (One of [1,2])"}),
            ),
            (json!({"enum": ["", "a"]}), json!({"type": "string", "enum": ["a"]})),
            (
                json!({"enum": ["a", 1, 2.5]}),
                json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "number", "description": "One of [1,2.5]"}]}),
            ),
            (
                json!({"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}], "description": "d"}),
                json!({"type": "string", "description": "d", "enum": ["a", "b"], "nullable": true}),
            ),
            (
                json!({"oneOf": [{"const": "a", "description": "A"}, {"const": "b", "description": "B"}]}),
                json!({"anyOf": [{"type": "string", "description": "A", "enum": ["a"]},
                    {"type": "string", "description": "B", "enum": ["b"]}]}),
            ),
        ] {
            assert_eq!(lowered(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_said_otherwise_or_left_out() {
        for (schema, expected) in [
            (
                json!({"type": "number", "exclusiveMinimum": 1.5, "minimum": 1, "exclusiveMaximum": 9, "maximum": 8}),
                json!({"type": "number", "minimum": 1.5, "maximum": 8}),
            ),
            (
                json!({"type": "integer", "exclusiveMinimum": 1.5, "exclusiveMaximum": 9, "format": "int32"}),
                json!({"type": "integer", "format": "int32", "minimum": 2, "maximum": 8}),
            ),
            (
                json!({"type": "integer", "exclusiveMinimum": true, "minimum": 1}),
                json!({"type": "integer", "minimum": 1}),
            ),
            (json!({"type": "string", "format": "uri"}), json!({"type": "string"})),
            (
                json!({"type": "string", "format": "date-time"}),
                json!({"type": "string", "format": "date-time"}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": anything()})),
            (
                json!({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false}),
                json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "string"}]}}),
            ),
            (
                json!({"type": "array", "items": [{"type": "number"}, {"type": "number"}]}),
                json!({"type": "array", "items": {"type": "number"}}),
            ),
            (
                json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"properties": {"b": {"type": "number"}}, "required": ["b", "c"]}]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "number"}},
                    "required": ["a", "b"]}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {}]}),
                json!({"anyOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                    {"type": "object", "properties": {"a": {"type": "string"}}}]}),
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object"}),
            ),
            (
                json!({"$ref": "#/$defs/A", "description": "round"}),
                json!({"type": "object", "description": "round"}),
            ),
            // What was referred to may be referred to again.
            (
                json!({"prefixItems": [{"$ref": "#/$defs/S"}, {"$ref": "#/$defs/S", "description": "mine"}]}),
                json!({"type": "array", "items": {"anyOf": [{"type": "string", "description": "theirs"},
                    {"type": "string", "description": "mine"}]}}),
            ),
            (json!({"$ref": "https://example.com/x.json"}), json!({"type": "object"})),
        ] {
            assert_eq!(lowered(schema.clone()), expected, "{schema}");
        }
    }
}
