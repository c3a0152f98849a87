//! Where a reference leads, within one document.

use serde_json::Value;

use super::draft::Draft;
use super::positions::{Position, below, position};
use crate::schema::compile::MAX_DEPTH;

/// The JSON Pointer to what a reference in the schema object at a pointer refers to; `None` where it leads out of the
/// document, or is written in a way that only the engine resolves.
pub(super) fn resolve(root: &Value, draft: Draft, reference: &str, at: &str) -> Option<String> {
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let mut base = resource(root, draft, at);
    let names = |pointer: &str| identity(root.pointer(pointer)?, draft);
    if !document.is_empty() && names(base) != Some(document) {
        base = "";
    }
    let embedded;
    if !document.is_empty() && names(base) != Some(document) {
        let is_it = |schema: &Value| identity(schema, draft) == Some(document);
        embedded = find(root, String::new(), MAX_DEPTH, &is_it)?;
        base = &embedded;
    }
    let fragment = decode(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        return Some(format!("{base}{fragment}"));
    }
    let is_it = |schema: &Value| {
        let named = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let own = named(draft.identifier()).and_then(|id| id.strip_prefix('#'));
        [named("$anchor"), named("$dynamicAnchor"), own].contains(&Some(&fragment))
    };
    find(root.pointer(base)?, base.to_owned(), MAX_DEPTH, &is_it)
}

/// Whether there is a reference in a value, or what may be one.
pub(super) fn has_any(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            map.keys().any(|key| matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef"))
                || map.values().any(has_any)
        }
        Value::Array(items) => items.iter().any(has_any),
        _ => false,
    }
}

/// The pointer to the innermost schema around a pointer that is a document of its own.
fn resource<'a>(root: &Value, draft: Draft, at: &'a str) -> &'a str {
    let mut pointer = at;
    while let Some((parent, _)) = pointer.rsplit_once('/') {
        if root.pointer(pointer).and_then(|schema| identity(schema, draft)).is_some() {
            return pointer;
        }
        pointer = parent;
    }
    ""
}

/// The URI that a schema gives itself.
fn identity(schema: &Value, draft: Draft) -> Option<&str> {
    let id = schema.get(draft.identifier())?.as_str()?;
    // In older drafts it is ignored beside a reference, and may be an anchor.
    let is_ignored = draft.ref_stands_alone() && schema.get("$ref").is_some();
    let id = id.trim_end_matches('#');
    (!is_ignored && !id.is_empty() && !id.starts_with('#')).then_some(id)
}

/// A fragment without its percent-encoding.
fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [byte, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The pointer to the first schema of which something holds, itself or one inside.
fn find(schema: &Value, pointer: String, levels: usize, is_it: &dyn Fn(&Value) -> bool) -> Option<String> {
    let map = schema.as_object().filter(|_| levels > 0)?;
    if is_it(schema) {
        return Some(pointer);
    }
    for (keyword, value) in map {
        let place = below(&pointer, keyword);
        let found = match (position(keyword, value), value) {
            (Position::One, value) => find(value, place, levels - 1, is_it),
            (Position::List, Value::Array(list)) => {
                let mut list = list.iter().enumerate();
                list.find_map(|(index, value)| {
                    find(value, below(&place, &index.to_string()), levels - 1, is_it)
                })
            }
            (Position::Map, Value::Object(map)) => {
                map.iter().find_map(|(key, value)| find(value, below(&place, key), levels - 1, is_it))
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_lead_to_pointers() {
        let root = json!({
            "$id": "https://example.com/root",
            "$defs": {
                "a/b%": {"$anchor": "named", "type": "integer"},
                "q": {"$id": "q", "items": {}, "$defs": {"z": {"$dynamicAnchor": "inner"}}},
            },
        });
        for (reference, at, pointer) in [
            ("#", "", Some("")),
            ("#", "/$defs/a~1b%", Some("")),
            ("#/$defs/a~1b%25", "", Some("/$defs/a~1b%")),
            ("#named", "", Some("/$defs/a~1b%")),
            ("https://example.com/root#/$defs/q", "", Some("/$defs/q")),
            ("https://example.com/root", "/$defs/q/items", Some("")),
            ("q", "", Some("/$defs/q")),
            ("q#/$defs/z", "", Some("/$defs/q/$defs/z")),
            ("q#inner", "", Some("/$defs/q/$defs/z")),
            ("#/$defs/z", "/$defs/q/items", Some("/$defs/q/$defs/z")),
            ("#", "/$defs/q/items", Some("/$defs/q")),
            ("#unknown", "", None),
            ("https://example.com/other", "", None),
        ] {
            let found = resolve(&root, Draft::Draft202012, reference, at);
            assert_eq!(found.as_deref(), pointer, "{reference} at {at}");
        }
    }
}
