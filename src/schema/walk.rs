//! A schema as a JSON value: where its subschemas stand, what a reference means, and two schemas taken as one.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::number::compare;
use crate::json::Keys;

/// The deepest nesting, of any JSON, that a schema may have to be rewritten: every walk recurses as deep.
const MAX_DEPTH: usize = 128;

/// Whether a value is nested no deeper than a schema may be.
pub(super) fn is_shallow(value: &Value) -> bool {
    fn fits(value: &Value, levels: usize) -> bool {
        match value {
            Value::Array(items) => levels > 0 && items.iter().all(|item| fits(item, levels - 1)),
            Value::Object(map) => levels > 0 && map.values().all(|item| fits(item, levels - 1)),
            _ => true,
        }
    }
    fits(value, MAX_DEPTH)
}

/// The schemas that stand directly in a schema, each with its keyword. What is named like a keyword elsewhere, a
/// property say, is none.
pub(super) fn each_child<'a>(schema: &'a Map<String, Value>, then: &mut dyn FnMut(&str, &'a Value)) {
    for (keyword, value) in schema {
        match (held_by(keyword), value) {
            (Holds::Named, Value::Object(named)) => named.values().for_each(|child| then(keyword, child)),
            (Holds::Some, Value::Array(list)) => list.iter().for_each(|child| then(keyword, child)),
            (Holds::Some, value) => then(keyword, value),
            _ => {}
        }
    }
}

/// The same, to change them.
pub(super) fn each_child_mut(schema: &mut Map<String, Value>, then: &mut dyn FnMut(&mut Value)) {
    for (keyword, value) in schema {
        match (held_by(keyword), value) {
            (Holds::Named, Value::Object(named)) => named.values_mut().for_each(&mut *then),
            (Holds::Some, Value::Array(list)) => list.iter_mut().for_each(&mut *then),
            (Holds::Some, value) => then(value),
            _ => {}
        }
    }
}

enum Holds {
    /// Schemas by name.
    Named,
    /// A schema, or several in an array.
    Some,
    Nothing,
}

fn held_by(keyword: &str) -> Holds {
    const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
    const SOME: [&str; 15] = [
        "items",
        "prefixItems",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
    ];
    match keyword {
        _ if NAMED.contains(&keyword) => Holds::Named,
        _ if SOME.contains(&keyword) => Holds::Some,
        _ => Holds::Nothing,
    }
}

/// What a reference into the same document points to: `#`, or `#` and a JSON Pointer. Anchors and other documents are
/// not followed.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let mut at = root;
    let mut segments = pointer.split('/');
    if !segments.next()?.is_empty() {
        return None;
    }
    for segment in segments {
        let key = decoded(segment)?;
        at = match at {
            Value::Object(map) => map.at(&key)?,
            Value::Array(list) => list.get(key.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }
    Some(at)
}

/// A segment of a pointer in a URI: `~0` and `~1` are escapes, as is `%` with two hexadecimal digits.
fn decoded(segment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.bytes();
    let digit = |byte: Option<u8>| (byte? as char).to_digit(16);
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => (digit(rest.next())? * 16 + digit(rest.next())?) as u8,
            b'~' => match rest.next() {
                Some(b'1') => b'/',
                _ => b'~',
            },
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

const NAMES: [&str; 7] = ["object", "array", "string", "number", "integer", "boolean", "null"];

/// The types that `type` lists; names that are none are left out.
pub(super) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    let listed = match schema.at("type") {
        Some(Value::Array(several)) => several,
        Some(one) => std::slice::from_ref(one),
        None => return vec![],
    };
    listed.iter().filter_map(Value::as_str).filter(|name| NAMES.contains(name)).collect()
}

/// Whether `type` lists a name.
#[inline(never)]
pub(super) fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    types(schema).contains(&name)
}

/// The name of a value's type. A number without a fraction is an integer.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if super::number::is_integer(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Adds to a schema what another asks for, so that a value has to fit both. Where two keywords cannot be told in one,
/// those that are there stay: then it asks for less than both. References and unions are not looked into.
pub(super) fn merge(into: &mut Map<String, Value>, other: &Map<String, Value>) {
    for (keyword, theirs) in other {
        let Some(ours) = into.at_mut(keyword) else {
            into.put(keyword, theirs.clone());
            continue;
        };
        match (ours, theirs) {
            (Value::Object(ours), Value::Object(theirs)) => match keyword.as_str() {
                "properties" => merge_properties(ours, theirs),
                "items" => merge(ours, theirs),
                _ => {}
            },
            (Value::Array(ours), Value::Array(theirs)) if keyword == "required" => {
                for name in theirs {
                    if !ours.contains(name) {
                        ours.push(name.clone());
                    }
                }
            }
            (Value::Array(ours), Value::Array(theirs))
                if keyword == "enum" && ours.iter().any(|value| theirs.contains(value)) =>
            {
                ours.retain(|value| theirs.contains(value));
            }
            (Value::Number(ours), Value::Number(theirs)) => {
                let is_tighter = match keyword.as_str() {
                    "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                        Ordering::Greater
                    }
                    "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                        Ordering::Less
                    }
                    _ => continue,
                };
                if compare(theirs, ours) == is_tighter {
                    *ours = theirs.clone();
                }
            }
            (ours, _) if keyword == "type" => narrow(ours, other),
            _ => {}
        }
    }
}

fn merge_properties(ours: &mut Map<String, Value>, theirs: &Map<String, Value>) {
    for (name, schema) in theirs {
        match (ours.at_mut(name), schema) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => merge(ours, theirs),
            (Some(_), _) => {}
            (None, schema) => ours.put(name, schema.clone()),
        }
    }
}

/// Makes `type` what another schema's `type` lists, if that is a part of it.
fn narrow(ours: &mut Value, other: &Map<String, Value>) {
    let is_ours = |name: &str| match &*ours {
        Value::Array(list) => list.iter().any(|known| known == name),
        one => one == name,
    };
    let theirs = types(other);
    if !theirs.is_empty()
        && theirs.iter().all(|name| is_ours(name) || *name == "integer" && is_ours("number"))
    {
        *ours = other["type"].clone();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_pointers_into_the_document() {
        let root = json!({"$defs": {"a b": {"x": 1}, "p/q": 2}});
        assert_eq!(resolve(&root, "#"), Some(&root));
        assert_eq!(resolve(&root, "#/$defs/a%20b/x"), Some(&json!(1)));
        assert_eq!(resolve(&root, "#/$defs/p~1q"), Some(&json!(2)));
        for wrong in ["#/nothing", "#anchor", "other.json#/$defs", "#/%", "#/%zz", "#/%e4", "#/%\u{e9}a"] {
            assert_eq!(resolve(&root, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn both_schemas_are_asked_for() {
        let merged = |a: Value, b: Value| {
            let mut a = a.as_object().unwrap().clone();
            merge(&mut a, b.as_object().unwrap());
            Value::Object(a)
        };
        assert_eq!(
            merged(
                json!({"description": "mine", "properties": {"a": {"type": ["number", "string"]}}, "required": ["a"]}),
                json!({"description": "theirs", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["b", "a"]}),
            ),
            json!({"description": "mine", "properties": {"a": {"type": "integer"}, "b": {}}, "required": ["a", "b"]})
        );
        assert_eq!(
            merged(
                json!({"enum": [1, 2], "minimum": 1, "maximum": 9}),
                json!({"enum": [2, 3], "minimum": 2, "maximum": 10})
            ),
            json!({"enum": [2], "minimum": 2, "maximum": 9})
        );
        // What cannot be both stays as it is.
        assert_eq!(
            merged(json!({"type": "string", "enum": ["a"]}), json!({"type": "number", "enum": ["b"]})),
            json!({"type": "string", "enum": ["a"]})
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |levels| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert!(is_shallow(&deep(128)) && !is_shallow(&deep(129)));
    }
}
