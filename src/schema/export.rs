//! A tool's schema as each provider takes it.
//!
//! | format | what is changed |
//! |---|---|
//! | `json-schema`, `mcp` | the root says `type: "object"`; nothing else of what is right |
//! | `openai-chat`, `openai-responses` | the [`strict`] form where there is one, else the open form |
//! | `anthropic` | the same, in the smaller subset that its strict tools take |
//! | `gemini` | the subset of OpenAPI that function declarations have |
//!
//! The **open form** is JSON Schema 2020-12 without what these providers refuse at the root: `anyOf` and `oneOf` of
//! objects become one object that has the properties of all and requires what all require, `allOf` one that has and
//! requires all, and `not`, `enum` and `const` are left out. It asks for less than the schema; the arguments are
//! checked against the schema itself when the call comes.
//!
//! In every format a keyword whose value it cannot have (`"type": "strng"`, `"required": true`, `"pattern": "("`) is left
//! out, as it is where arguments are checked: providers refuse the tool for it. And the root is an object. `{}`, `true` and null, a tool without parameters, are
//! `{"type": "object", "properties": {}}`; only [`strict`] closes that.

use serde_json::{Map, Value};

use super::walk::{each_child_mut, has_type, is_shallow, mend, merge, resolve};
use super::{gemini, strict};
use crate::error::ToolError;
use crate::json::Keys;

/// Whose tool declarations a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON Schema as it is.
    JsonSchema,
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Gemini's function declarations (`parameters`).
    Gemini,
    /// The Model Context Protocol.
    Mcp,
}

impl Format {
    /// Every format there is.
    pub const ALL: [Format; 6] = [
        Format::JsonSchema,
        Format::Anthropic,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Gemini,
        Format::Mcp,
    ];

    /// The name that crosses the boundary.
    pub fn as_str(self) -> &'static str {
        match self {
            Format::JsonSchema => "json-schema",
            Format::Anthropic => "anthropic",
            Format::OpenAiChat => "openai-chat",
            Format::OpenAiResponses => "openai-responses",
            Format::Gemini => "gemini",
            Format::Mcp => "mcp",
        }
    }

    /// The format of that name.
    ///
    /// # Errors
    /// `invalid_arguments` with the names there are.
    pub fn named(name: &str) -> Result<Format, ToolError> {
        Format::ALL.into_iter().find(|format| format.as_str() == name).ok_or_else(|| {
            let names = Format::ALL.map(Format::as_str).join(", ");
            let found: String = name.chars().take(80).collect();
            ToolError::invalid_arguments(format!("Expected a format (one of {names}), found {found:?}"))
        })
    }

    /// The strict mode that tools of this format can have.
    pub fn strict_mode(self) -> Option<strict::Mode> {
        match self {
            Format::Anthropic => Some(strict::Mode::Anthropic),
            Format::OpenAiChat | Format::OpenAiResponses => Some(strict::Mode::OpenAi),
            Format::JsonSchema | Format::Gemini | Format::Mcp => None,
        }
    }
}

/// A schema as the provider takes it, strict where it can be: see the table of this module.
///
/// # Errors
/// `invalid_arguments` for what describes no object, or is nested deeper than 128 levels.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::export::{Format, export};
/// let schema = json!({"type": "object", "properties": {"n": {"const": 1}, "m": {"type": "string"}}, "required": ["m"]});
/// assert_eq!(
///     export(&schema, Format::Gemini),
///     Ok(json!({"type": "object", "properties": {"n": {"type": "integer", "description": "Always 1"},
///         "m": {"type": "string"}}, "required": ["m"]}))
/// );
/// assert_eq!(export(&json!({}), Format::Mcp), Ok(json!({"type": "object", "properties": {}})));
/// ```
pub fn export(schema: &Value, format: Format) -> Result<Value, ToolError> {
    let root = object_root(schema)?;
    if root.len() == 2 && root.fields("properties").is_some_and(Map::is_empty) {
        return Ok(root.into());
    }
    match format.strict_mode().map(|mode| strict::strict_for(schema, mode)) {
        Some(Ok(strict)) => Ok(strict),
        _ => open(schema, format),
    }
}

/// A schema as the provider takes it for a tool that is not strict.
///
/// # Errors
/// Those of [`export`].
pub fn open(schema: &Value, format: Format) -> Result<Value, ToolError> {
    let mut map = object_root(schema)?;
    let root = Value::Object(map.clone());
    if matches!(format, Format::JsonSchema | Format::Mcp) {
        return Ok(root);
    }
    flatten(&mut map, &root, MAX_STEPS, &mut { MAX_PARTS });
    if format == Format::Gemini {
        return Ok(gemini::lower(map, &root));
    }
    // What follows is not of an older draft any more.
    map.cut("$schema");
    let mut schema = Value::Object(map);
    modernise(&mut schema);
    Ok(schema)
}

/// How many references may lead from the root to an object, and how deep its unions may be nested.
const MAX_STEPS: usize = 8;
/// How many parts its unions may have, and theirs: references can multiply them.
const MAX_PARTS: usize = 500;

/// The schema with a root that is an object and says so, references at the root followed.
pub(super) fn object_root(schema: &Value) -> Result<Map<String, Value>, ToolError> {
    rooted(schema).map_err(|found| {
        ToolError::invalid_arguments(format!(
            "Expected the schema of an object, found {found}: a tool's arguments are an object, so make this a property of one"
        ))
    })
}

/// The same; else what was found.
fn rooted(schema: &Value) -> Result<Map<String, Value>, String> {
    let mut map = match schema {
        Value::Null | Value::Bool(true) => Map::new(),
        Value::Object(map) => map.clone(),
        other => return Err(other.to_string().chars().take(80).collect()),
    };
    if !is_shallow(schema) {
        return Err("one that is nested deeper than 128 levels".into());
    }
    mend(&mut map);
    let root = &Value::Object(map.clone());
    let mut steps = 0;
    while let Some(reference) = map.cut("$ref") {
        match resolve(root, reference.as_str().unwrap_or_default()) {
            Some(Value::Object(target)) if steps < MAX_STEPS => merge(&mut map, target),
            _ => return Err(format!("a reference that leads to none, {reference}")),
        }
        steps += 1;
    }
    if let Some(other) = map.at("type")
        && !has_type(&map, "object")
    {
        return Err(format!("type {other}"));
    }
    map.put_text("type", "object");
    map.cut("nullable");
    for union in ["anyOf", "oneOf"] {
        let branches = map.list(union);
        if !branches.is_empty() && branches.iter().all(|branch| object_branch(branch, root).is_none()) {
            return Err(format!("{union} without one"));
        }
    }
    if map.fields("properties").is_none() {
        map.put("properties", Map::new().into());
    }
    Ok(map)
}

/// A branch as an object's schema, references followed; none for one that no object fits.
fn object_branch(branch: &Value, root: &Value) -> Option<Map<String, Value>> {
    let mut map = match branch {
        Value::Object(map) => map.clone(),
        Value::Bool(true) => Map::new(),
        _ => return None,
    };
    for _ in 0..MAX_STEPS {
        let Some(reference) = map.cut("$ref") else { break };
        if let Some(Value::Object(target)) = reference.as_str().and_then(|text| resolve(root, text)) {
            merge(&mut map, target);
        }
    }
    (map.at("type").is_none() || has_type(&map, "object")).then_some(map)
}

/// Takes unions and intersections away from the top of an object's schema, so that what is left asks for no more than
/// before.
fn flatten(map: &mut Map<String, Value>, root: &Value, levels: usize, left: &mut usize) {
    for union in ["allOf", "anyOf", "oneOf"] {
        let Some(Value::Array(given)) = map.cut(union) else { continue };
        let mut parts = Vec::new();
        for part in &given {
            if let Some(mut part) = object_branch(part, root) {
                if levels > 0 && *left > 0 {
                    *left -= 1;
                    flatten(&mut part, root, levels - 1, left);
                }
                parts.push(part);
            }
        }
        if union != "allOf" {
            unite(map, &parts);
            continue;
        }
        for mut part in parts {
            // The others may add what this one alone would refuse.
            part.cut("additionalProperties");
            part.cut("type");
            merge(map, &part);
        }
    }
    for keyword in ["allOf", "anyOf", "oneOf", "$ref", "nullable", "not", "enum", "const"] {
        map.cut(keyword);
    }
}

/// Adds what objects of any of the branches may have, and must have in all of them.
fn unite(map: &mut Map<String, Value>, branches: &[Map<String, Value>]) {
    let mut properties: Map<String, Value> = Map::new();
    let mut is_closed = true;
    let mut required: Option<Vec<Value>> = None;
    for branch in branches {
        if let Some(own) = branch.fields("properties") {
            for (name, schema) in own {
                match properties.at_mut(name) {
                    Some(known) => add_form(known, schema),
                    None => properties.put(name, schema.clone()),
                }
            }
        }
        is_closed = is_closed && branch.at("additionalProperties") == Some(&Value::Bool(false));
        let own = branch.list("required");
        match &mut required {
            Some(names) => names.retain(|name| own.contains(name)),
            None => required = Some(own.to_vec()),
        }
    }
    if is_closed && map.at("additionalProperties").is_none() {
        map.put("additionalProperties", false.into());
    }
    let mut union = Map::of("properties", properties.into());
    if let Some(names) = required.filter(|names| !names.is_empty()) {
        union.put("required", names.into());
    }
    // What stands beside the union and in it has to fit both; one of several forms is not looked into.
    merge(map, &union);
}

/// Makes a schema a union of itself and another.
fn add_form(known: &mut Value, schema: &Value) {
    if let Value::Object(union) = known
        && union.len() == 1
        && let Some(Value::Array(forms)) = union.at_mut("anyOf")
    {
        if !forms.contains(schema) {
            forms.push(schema.clone());
        }
    } else if known != schema {
        let forms = vec![known.take(), schema.clone()];
        *known = Map::of("anyOf", forms.into()).into();
    }
}

/// Draft 4 and 7 as draft 2020-12 says it; and an array says what its items are, as OpenAI demands.
fn modernise(schema: &mut Value) {
    let Value::Object(map) = schema else { return };
    if matches!(map.at("items"), Some(Value::Array(_))) {
        let tuple = map.cut("items").unwrap_or_default();
        map.put("prefixItems", tuple);
        if let Some(rest) = map.cut("additionalItems") {
            map.put("items", rest);
        }
    }
    if has_type(map, "array") && map.at("items").is_none() {
        map.put("items", Map::new().into());
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if let Some(Value::Bool(is_exclusive)) = map.at(exclusive) {
            let moved = if *is_exclusive { map.cut(bound) } else { None };
            match moved {
                Some(value) if value.is_number() => map.put(exclusive, value),
                _ => {
                    map.cut(exclusive);
                }
            }
        }
    }
    each_child_mut(map, &mut |child| modernise(child));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_those_of_the_formats() {
        for format in Format::ALL {
            assert_eq!(Format::named(format.as_str()), Ok(format));
        }
        assert_eq!(
            Format::named("openai").unwrap_err().message,
            "Expected a format (one of json-schema, anthropic, openai-chat, openai-responses, gemini, mcp), found \"openai\""
        );
    }

    #[test]
    fn unions_at_the_root_become_one_object() {
        let schema = json!({
            "type": "object",
            "properties": {"kind": {"type": "string"}, "version": {"type": "string"}},
            "required": ["kind"],
            "oneOf": [
                {"$ref": "#/definitions/A"},
                {"properties": {"b": {"type": "number"}, "kind": {"const": "b"}}, "required": ["b", "c", "kind"]},
                {"type": "string"}
            ],
            "allOf": [{"properties": {"d": {"type": "null"}}, "required": ["d"]}, {"if": {}, "then": {}}],
            "not": {"required": ["x"]},
            "definitions": {"A": {"type": ["object", "null"], "properties": {"a": {}, "b": {"type": "string"}},
                "required": ["c", "kind"]}}
        });
        let mut open = open(&schema, Format::Anthropic).unwrap();
        assert!(open.as_object_mut().unwrap().cut("definitions").is_some());
        assert_eq!(
            open,
            json!({
                "type": "object",
                "properties": {"kind": {"type": "string", "const": "b"}, "version": {"type": "string"}, "d": {"type": "null"},
                    "a": {}, "b": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
                "required": ["kind", "d", "c"],
                "if": {}, "then": {}
            })
        );
    }

    #[test]
    fn older_drafts_are_said_anew() {
        let schema = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": {
            "pair": {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
            "n": {"type": "number", "minimum": 1, "exclusiveMinimum": true, "maximum": 5, "exclusiveMaximum": false},
            "list": {"type": ["array", "null"]},
        }, "patternProperties": {"^x": {"type": "array"}}});
        assert_eq!(
            open(&schema, Format::OpenAiChat).unwrap(),
            json!({"type": "object", "properties": {
                "pair": {"type": "array", "prefixItems": [{"type": "string"}], "items": false},
                "n": {"type": "number", "exclusiveMinimum": 1, "maximum": 5},
                "list": {"type": ["array", "null"], "items": {}},
            }, "patternProperties": {"^x": {"type": "array", "items": {}}}})
        );
    }

    #[test]
    fn what_a_keyword_cannot_be_is_left_out() {
        let schema = json!({
            "type": "object",
            "description": 5,
            "required": true,
            "properties": {
                "type": {"type": "strng", "minLength": "2", "description": "d", "required": true},
                "pattern": {"type": "string", "pattern": "(", "format": []},
                "list": {"type": "array", "items": 5, "anyOf": [], "allOf": [3], "enum": "a"},
                "no": 5,
                "$ref": {"items": {"type": ["string", "string"], "not": "x", "pattern": "[(]\\)"}},
            },
            "$defs": [],
        });
        let right = json!({
            "type": "object",
            "properties": {
                "type": {"description": "d"},
                "pattern": {"type": "string"},
                "list": {"type": "array"},
                "$ref": {"items": {"pattern": "[(]\\)"}},
            },
        });
        assert_eq!(export(&schema, Format::Mcp), Ok(right.clone()));
        assert_eq!(export(&right, Format::Mcp), Ok(right));
        for format in Format::ALL {
            let exported = export(&schema, format).unwrap().to_string();
            assert!(!exported.contains("strng") && !exported.contains("true"), "{exported}");
            assert!(!exported.contains(r#""pattern":"(""#) && !exported.contains(":5"), "{exported}");
        }
    }

    #[test]
    fn references_by_name_are_followed() {
        let schema = json!({
            "$id": "https://example.com/tool.json",
            "type": "object",
            "properties": {
                "a": {"$ref": "#size"},
                "b": {"$ref": "https://example.com/tool.json#/$defs/S"},
                "c": {"$ref": "unit"},
                "d": {"$ref": "/unit#inner"},
            },
            "required": ["a", "b", "c", "d"],
            "$defs": {
                "S": {"$anchor": "size", "type": "integer"},
                "U": {"$id": "https://example.com/unit", "type": "string", "$defs": {
                    "I": {"$anchor": "inner", "type": "boolean"},
                }},
            },
        });
        let types = json!({
            "a": {"type": "integer"}, "b": {"type": "integer"}, "c": {"type": "string"}, "d": {"type": "boolean"},
        });
        assert_eq!(open(&schema, Format::Gemini).unwrap()["properties"], types);
        for mode in [strict::Mode::OpenAi, strict::Mode::Anthropic] {
            assert_eq!(strict::strict_for(&schema, mode).unwrap()["properties"], types);
        }
        let root = json!({"$ref": "#top", "$defs": {"T": {"$id": "#top", "properties": {"a": {}}}}});
        assert_eq!(
            export(&root, Format::Gemini).unwrap()["properties"]["a"]["anyOf"][0],
            json!({"type": "string"})
        );
    }

    #[test]
    fn a_root_that_is_no_object_is_refused() {
        for schema in [
            json!(false),
            json!("x"),
            json!([]),
            json!({"type": "array"}),
            json!({"type": ["null"]}),
            json!({"oneOf": [{"type": "null"}, false]}),
            json!({"$ref": "#"}),
            json!({"$ref": "#/x"}),
            json!({"$ref": 5}),
        ] {
            for format in Format::ALL {
                let error = export(&schema, format).unwrap_err();
                assert!(
                    error.message.starts_with("Expected the schema of an object, found "),
                    "{schema}: {error}"
                );
            }
        }
        let deep = (0..130).fold(json!({}), |inner, _| json!({"items": inner}));
        assert!(
            export(&deep, Format::Mcp)
                .unwrap_err()
                .message
                .contains("found one that is nested deeper than 128 levels")
        );
    }
}
