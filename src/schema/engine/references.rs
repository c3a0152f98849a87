//! Where a reference leads, within one document.

use jsonschema::Uri;
use serde_json::Value;

use super::documents::Document;
use super::draft::Draft;
use super::positions::{Position, below, position};
use crate::schema::compile::MAX_DEPTH;

/// What a reference refers to.
#[derive(Debug, PartialEq)]
pub(super) enum Target {
    /// What a JSON Pointer leads to, in the same document.
    Here(String),
    /// Another document by its URI, and `#` with the fragment in it.
    Elsewhere(String, String),
}

/// What a reference in the schema object at a pointer refers to; `None` where it leads nowhere, or is written in a way
/// that only the engine resolves.
pub(super) fn resolve(within: &Document<'_>, reference: &str, at: &str) -> Option<Target> {
    let Document { uri, schema: root, draft } = *within;
    let (mut base, mut place) = (jsonschema::uri::from_str(uri).ok()?, "");
    let start = base.clone();
    let parents = at.match_indices('/').map(|(end, _)| &at[..end]);
    for pointer in parents.chain([at]) {
        if let Some(id) = root.pointer(pointer).and_then(|schema| identity(schema, draft)) {
            (base, place) = (jsonschema::uri::resolve_against(&base.borrow(), id).ok()?, pointer);
        }
    }
    let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let embedded;
    if !document.is_empty() {
        let document = jsonschema::uri::resolve_against(&base.borrow(), document).ok()?;
        if document == start {
            place = "";
        } else if document != base {
            let wanted = Wanted::Document(&start, &document);
            let Some(found) = find(root, String::new(), MAX_DEPTH, draft, &wanted) else {
                return Some(Target::Elsewhere(document.as_str().to_owned(), format!("#{fragment}")));
            };
            embedded = found;
            place = &embedded;
        }
    }
    let fragment = decode(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        return Some(Target::Here(format!("{place}{fragment}")));
    }
    let anchor = Wanted::Anchor(&fragment);
    find(root.pointer(place)?, place.to_owned(), MAX_DEPTH, draft, &anchor).map(Target::Here)
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

/// The URI that a schema gives itself.
pub(super) fn identity(schema: &Value, draft: Draft) -> Option<&str> {
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

/// What a reference asks for.
enum Wanted<'a> {
    /// The base of what is around, and the document of that URI.
    Document(&'a Uri<String>, &'a Uri<String>),
    /// The schema of that name, in the same document.
    Anchor(&'a str),
}

/// The pointer to what is wanted: a schema, or one inside.
fn find(schema: &Value, pointer: String, levels: usize, draft: Draft, wanted: &Wanted<'_>) -> Option<String> {
    let map = schema.as_object().filter(|_| levels > 0)?;
    let id = identity(schema, draft);
    let base;
    let mut inside = wanted;
    let document;
    match wanted {
        Wanted::Document(around, wanted) => {
            if let Some(id) = id {
                base = jsonschema::uri::resolve_against(&around.borrow(), id).ok()?;
                if base == **wanted {
                    return Some(pointer);
                }
                document = Wanted::Document(&base, wanted);
                inside = &document;
            }
        }
        Wanted::Anchor(_) if id.is_some() && levels < MAX_DEPTH => return None,
        Wanted::Anchor(name) => {
            let named = |keyword: &str| map.get(keyword).and_then(Value::as_str);
            let own = named(draft.identifier()).and_then(|id| id.strip_prefix('#'));
            if [named("$anchor"), named("$dynamicAnchor"), own].contains(&Some(name)) {
                return Some(pointer);
            }
        }
    }
    for (keyword, value) in map {
        let place = below(&pointer, keyword);
        let find = |value, place| find(value, place, levels - 1, draft, inside);
        let found = match (position(keyword, value), value) {
            (Position::One, value) => find(value, place),
            (Position::List, Value::Array(list)) => {
                let mut list = list.iter().enumerate();
                list.find_map(|(index, value)| find(value, below(&place, &index.to_string())))
            }
            (Position::Map, Value::Object(map)) => {
                map.iter().find_map(|(key, value)| find(value, below(&place, key)))
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
    use super::super::documents::BASE;
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
            ("https://example.com/q#inner", "", Some("/$defs/q/$defs/z")),
            ("root#named", "/$defs/q/items", Some("/$defs/a~1b%")),
            ("tackroom:///schema#/$defs/q", "/$defs/q", Some("/$defs/q")),
            ("#inner", "", None),
            ("#/$defs/z", "/$defs/q/items", Some("/$defs/q/$defs/z")),
            ("#", "/$defs/q/items", Some("/$defs/q")),
            ("#unknown", "", None),
        ] {
            let document = Document { uri: BASE, schema: &root, draft: Draft::Draft202012 };
            let pointer = pointer.map(|pointer| Target::Here(pointer.to_owned()));
            assert_eq!(resolve(&document, reference, at), pointer, "{reference} at {at}");
        }
        let document = Document { uri: BASE, schema: &root, draft: Draft::Draft202012 };
        let other = Target::Elsewhere("https://example.com/other".to_owned(), "#a".to_owned());
        assert_eq!(resolve(&document, "other#a", "/$defs/q"), Some(other));
    }
}
