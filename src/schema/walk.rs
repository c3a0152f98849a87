//! A schema as a JSON value: where its subschemas stand, what a reference means, and two schemas taken as one.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::compile;
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

/// What a reference into the same document points to: a JSON Pointer or the name of an anchor, after `#`; before it,
/// the document or a schema in it by the `$id` that it has, whole or its last segments. Other documents are not
/// followed.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let mut at = root;
    if !document.is_empty() {
        at = find(root, &|schema| {
            let own = id(schema).trim_end_matches('#').strip_suffix(document);
            own.is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || document.starts_with('/'))
        })?;
    }
    let mut segments = fragment.split('/');
    let name = segments.next()?;
    if !name.is_empty() {
        let is_name =
            |keyword: &str, schema: &Map<String, Value>| schema.at(keyword).is_some_and(|own| own == name);
        return find(at, &|schema| {
            is_name("$anchor", schema)
                || is_name("$dynamicAnchor", schema)
                || id(schema).strip_prefix('#') == Some(name)
        });
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

/// The URI or the name that a schema gives itself.
fn id(schema: &Map<String, Value>) -> &str {
    schema.at("$id").or_else(|| schema.at("id")).and_then(Value::as_str).unwrap_or_default()
}

/// The first schema of which something holds, itself or one inside.
fn find<'a>(schema: &'a Value, is_it: &dyn Fn(&Map<String, Value>) -> bool) -> Option<&'a Value> {
    let Value::Object(map) = schema else { return None };
    if is_it(map) {
        return Some(schema);
    }
    let mut found = None;
    each_child(map, &mut |_, child| found = found.or_else(|| find(child, is_it)));
    found
}

/// Takes away keywords whose value they have in no draft.
pub(super) fn mend(schema: &mut Map<String, Value>) {
    schema.keep(&mut |keyword, value| {
        if let (Holds::Named, Value::Object(named)) = (held_by(keyword), &mut *value) {
            named.keep(&mut |_, value| is_schema(value));
        }
        is_right(keyword, value)
    });
    each_child_mut(schema, &mut |child| {
        if let Value::Object(child) = child {
            mend(child);
        }
    });
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

/// Whether a keyword can have a value.
fn is_right(keyword: &str, value: &Value) -> bool {
    let is_list = keyword.ends_with("Of") || keyword == "prefixItems";
    match (held_by(keyword), value) {
        (Holds::Named, value) => value.is_object(),
        (Holds::Some, Value::Array(list)) if is_list => !list.is_empty() && list.iter().all(is_schema),
        (Holds::Some, Value::Array(list)) => keyword == "items" && list.iter().all(is_schema),
        (Holds::Some, value) => !is_list && is_schema(value),
        _ => match keyword {
            "type" => compile::types(value).is_some(),
            "required" => compile::required(value).is_some(),
            "enum" => value.is_array(),
            "title" | "description" | "format" => value.is_string(),
            "pattern" => value.as_str().is_some_and(is_pattern),
            _ => {
                !is_bound(keyword)
                    || value.is_number()
                    || value.is_boolean() && keyword.starts_with("exclusive")
            }
        },
    }
}

/// Whether a pattern may be one: its brackets match, and there is something to repeat and to escape.
fn is_pattern(pattern: &str) -> bool {
    let (mut groups, mut is_class) = (0, false);
    let mut rest = pattern.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' if rest.next().is_none() => return false,
            b'[' => is_class = true,
            b']' => is_class = false,
            b'(' if !is_class => groups += 1,
            b')' if !is_class => groups -= 1,
            _ => {}
        }
        if groups < 0 {
            return false;
        }
    }
    groups == 0 && !is_class && !pattern.starts_with(['*', '+', '?'])
}

/// The bounds of numbers, texts and arrays.
pub(super) fn is_bound(keyword: &str) -> bool {
    const BOUNDS: [&str; 9] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
    ];
    BOUNDS.contains(&keyword)
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
        for wrong in
            ["#/nothing", "#anchor", "#a b", "other.json#/$defs", "#/%", "#/%zz", "#/%e4", "#/%\u{e9}a"]
        {
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
