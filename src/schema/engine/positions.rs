//! Where schemas stand in a schema, over all drafts.

use serde_json::Value;

/// What a keyword's value is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// No schema.
    Plain,
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Map,
}

/// What the value of a keyword is made of.
pub(super) fn position(keyword: &str, value: &Value) -> Position {
    match keyword {
        "items" if value.is_array() => Position::List,
        "items"
        | "additionalItems"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Position::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Position::List,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => Position::Map,
        _ => Position::Plain,
    }
}

/// A JSON Pointer, one level down.
pub(super) fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
