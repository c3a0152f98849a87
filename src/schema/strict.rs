//! The strict form of a tool's schema, which providers sample by: what a model sends then always fits it.
//!
//! Every property is required, at every level; one that was optional may be null instead, which is dropped again when
//! the arguments are checked. No object has other properties than those listed. So **a value that fits the strict form
//! fits the schema, once its optional nulls are dropped.** Where that cannot be had there is no strict form:
//! - objects that take any property (`additionalProperties` other than false, or none listed below the root), and what
//!   says nothing of its type;
//! - `oneOf`, `not`, `if`, `prefixItems`, `patternProperties` and every other assertion that the mode does not have;
//!   `allOf`, but for one of a single schema; `anyOf` at the root, or with anything but words beside it;
//! - formats and patterns (look-around, back-references) that the mode does not have;
//! - more than the mode's limits of size and depth.
//!
//! Annotations beside `title` and `description`, keywords that no draft has, and definitions that nothing refers to are
//! left out. References to definitions stay; others are inlined.

use serde_json::{Map, Value};

use super::compile::{Place, needs_engine};
use super::export::object_root;
use super::walk::{each_child, has_type, is_bound, merge, resolve, type_of, types};
use crate::error::{ErrorCode, ToolError};
use crate::json::Keys;

/// Whose strict mode: each takes another subset of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// OpenAI's function calling. It has the bounds of numbers, texts and arrays; up to 5000 properties, 10 levels of
    /// objects, 1000 values of enums and 120,000 characters of names and values
    /// (<https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>).
    OpenAi,
    /// Anthropic's strict tool use. It has neither bounds, but for `minItems` of 0 or 1, nor recursion, and up to 16
    /// unions (<https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations>).
    Anthropic,
}

/// How many unions (`anyOf`, or several types) Anthropic takes in all strict tools of a request.
pub const MAX_UNIONS: usize = 16;
/// How many strict tools Anthropic takes in a request.
pub const MAX_STRICT_TOOLS: usize = 20;

/// How many references may lead to each other.
const MAX_TRAIL: usize = 64;
const MAX_PROPERTIES: usize = 5000;
const MAX_OBJECT_LEVELS: usize = 10;
const MAX_VALUES: usize = 1000;
const MAX_CHARACTERS: usize = 120_000;
/// Of one enum with more than 250 values.
const MAX_ENUM_CHARACTERS: usize = 15_000;

/// The strict form of a tool's schema, in the subset of [`Mode::OpenAi`]. One that is strict stays as it is.
///
/// # Errors
/// `not_supported` with the place and the reason where there is none; `invalid_arguments` for what describes no object,
/// or is nested deeper than 128 levels.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::strict::strict;
/// let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "number"}},
///     "required": ["path"]});
/// let form = json!({"type": "object",
///     "properties": {"path": {"type": "string"}, "limit": {"type": ["number", "null"]}},
///     "required": ["path", "limit"], "additionalProperties": false});
/// assert_eq!(strict(&schema), Ok(form.clone()));
/// assert_eq!(strict(&form), Ok(form));
///
/// let error = strict(&json!({"properties": {"headers": {"type": "object"}}})).unwrap_err();
/// assert_eq!(error.message, "No strict form: /properties/headers takes any property: list them in properties");
/// ```
pub fn strict(schema: &Value) -> Result<Value, ToolError> {
    object_root(schema)?;
    strict_for(schema, Mode::OpenAi)
        .map_err(|why| ToolError::new(ErrorCode::NotSupported, format!("No strict form: {why}")))
}

/// The strict form for a mode; else the place and the reason why there is none, to stand in a sentence.
///
/// # Errors
/// The reason.
pub fn strict_for(schema: &Value, mode: Mode) -> Result<Value, String> {
    let root = object_root(schema).map_err(|error| error.message)?;
    let root = Value::Object(root);
    let mut strictness = Strictness {
        root: &root,
        mode,
        used: used_definitions(&root),
        trail: vec![],
        properties: 0,
        values: 0,
        characters: 0,
    };
    let form = strictness.node(&root, &Place::TOP, 0)?;
    let over = [
        (strictness.values > MAX_VALUES, "has enums of more than 1000 values in all"),
        (strictness.characters > MAX_CHARACTERS, "has names and values of more than 120,000 characters"),
        (
            mode == Mode::Anthropic && unions(&form) > MAX_UNIONS,
            "has more than 16 unions, optional properties among them",
        ),
        (mode == Mode::Anthropic && is_recursive(&form, &form, &mut vec![], &mut vec![]), "refers to itself"),
    ];
    match over.iter().find(|(is_over, _)| *is_over) {
        Some((_, what)) => Err(format!("the root {what}")),
        None => Ok(form),
    }
}

/// What is referred to, from outside of the root's definitions or from what is.
fn used_definitions(root: &Value) -> Vec<&Value> {
    fn walk<'a>(schema: &'a Value, root: &'a Value, used: &mut Vec<&'a Value>) {
        let Value::Object(map) = schema else { return };
        if let Some(target) = map.at("$ref").and_then(Value::as_str).and_then(|text| resolve(root, text))
            && !used.iter().any(|known| std::ptr::eq(*known, target))
        {
            used.push(target);
        }
        each_child(map, &mut |keyword, child| {
            if !(std::ptr::eq(schema, root) && ["$defs", "definitions"].contains(&keyword)) {
                walk(child, root, used);
            }
        });
    }
    let mut used = vec![root];
    let mut at = 0;
    while let Some(schema) = used.get(at).copied() {
        walk(schema, root, &mut used);
        at += 1;
    }
    used
}

/// How many unions a schema has: `anyOf`, or several types.
pub fn unions(schema: &Value) -> usize {
    let Value::Object(map) = schema else { return 0 };
    let mut count = usize::from(map.at("anyOf").is_some() || types(map).len() > 1);
    each_child(map, &mut |_, child| count += unions(child));
    count
}

/// Whether a reference leads to where it stands. `done` are those that do not.
fn is_recursive<'a>(
    schema: &'a Value,
    root: &'a Value,
    trail: &mut Vec<&'a str>,
    done: &mut Vec<&'a str>,
) -> bool {
    let Value::Object(map) = schema else { return false };
    if let Some(reference) = map.at("$ref").and_then(Value::as_str)
        && !done.contains(&reference)
    {
        // The root is where every trail begins; one without end is as bad.
        if trail.contains(&reference) || reference == "#" || trail.len() > MAX_TRAIL {
            return true;
        }
        trail.push(reference);
        if resolve(root, reference).is_some_and(|target| is_recursive(target, root, trail, done)) {
            return true;
        }
        trail.pop();
        done.push(reference);
    }
    let mut is_found = false;
    each_child(map, &mut |_, child| is_found = is_found || is_recursive(child, root, trail, done));
    is_found
}

struct Strictness<'a> {
    root: &'a Value,
    mode: Mode,
    /// What the references in use point to.
    used: Vec<&'a Value>,
    /// The references that are being inlined.
    trail: Vec<String>,
    properties: usize,
    values: usize,
    characters: usize,
}

impl Strictness<'_> {
    /// The strict form of a schema inside of so many objects.
    fn node(&mut self, schema: &Value, place: &Place<'_>, objects: usize) -> Result<Value, String> {
        let Value::Object(given) = schema else {
            return Err(said(place, "is true, false or no schema at all: give it a type"));
        };
        let map = &one_part(given);
        if let Some(reference) = map.at("$ref") {
            let reference = reference.as_str().unwrap_or_default();
            let Some(Value::Object(target)) = resolve(self.root, reference) else {
                return Err(said(place, "refers to what is no object schema"));
            };
            if !is_definition(reference) {
                return self.inline(map, target, reference, place, objects);
            }
        }
        let is_object = has_type(map, "object") || map.at("type").is_none() && map.at("properties").is_some();
        let objects = objects + usize::from(is_object);
        if objects > MAX_OBJECT_LEVELS {
            return Err(said(place, "is nested in more than 10 levels of objects"));
        }
        let mut out = Map::new();
        for (keyword, value) in map {
            let kept = match keyword.as_str() {
                "title" | "description" | "$ref" if value.is_string() => value.clone(),
                "type" => {
                    let listed = value.as_array().map_or(1, Vec::len);
                    if types(map).len() != listed || listed == 0 {
                        return Err(said(place, "has a type that there is not"));
                    }
                    let mut names = value.clone();
                    if map.at("nullable") == Some(&Value::Bool(true)) {
                        add_null(&mut names);
                    }
                    names
                }
                "const" | "enum" if keyword == "const" || value.is_array() => {
                    self.count(keyword, value, place)?;
                    value.clone()
                }
                "properties" if is_object => self.members(map, value, &place.key(keyword), objects)?,
                "additionalProperties" if *value == false => value.clone(),
                "additionalProperties" => return Err(said(place, ANY_PROPERTY)),
                "properties" | "required" => continue,
                "items" => self.node(value, &place.key(keyword), objects)?,
                "anyOf" if !map.list(keyword).is_empty() => {
                    let place = place.key(keyword);
                    let mut branches = Vec::new();
                    for (index, branch) in map.list(keyword).iter().enumerate() {
                        branches.push(self.node(branch, &place.index(index), objects)?);
                    }
                    branches.into()
                }
                "$defs" | "definitions" if place.is_root() => {
                    match self.definitions(value, &place.key(keyword))? {
                        Value::Null => continue,
                        used => used,
                    }
                }
                _ if self.takes(keyword, value) => value.clone(),
                keyword if needs_engine(keyword) || is_bound(keyword) || keyword == "format" => {
                    return Err(said(place, &format!("uses {keyword} as strict schemas do not")));
                }
                _ => continue,
            };
            out.put(keyword, kept);
        }
        self.finish(map, out, is_object, place)
    }

    /// The definitions that something refers to; null for none. The others may be as they like.
    fn definitions(&mut self, definitions: &Value, place: &Place<'_>) -> Result<Value, String> {
        let mut strict = Map::new();
        let Value::Object(definitions) = definitions else { return Ok(Value::Null) };
        for (name, schema) in definitions {
            if self.used.contains(&schema) {
                self.characters += name.len();
                strict.put(name, self.node(schema, &place.key(name), 0)?);
            }
        }
        Ok(if strict.is_empty() { Value::Null } else { strict.into() })
    }

    fn inline(
        &mut self,
        map: &Map<String, Value>,
        target: &Map<String, Value>,
        reference: &str,
        place: &Place<'_>,
        objects: usize,
    ) -> Result<Value, String> {
        if self.trail.iter().any(|known| known == reference) || self.trail.len() > MAX_OBJECT_LEVELS {
            return Err(said(place, "refers to itself: move it to $defs"));
        }
        let mut inlined = map.clone();
        inlined.cut("$ref");
        merge(&mut inlined, target);
        self.trail.push(reference.to_owned());
        let inlined = self.node(&inlined.into(), place, objects);
        self.trail.pop();
        inlined
    }

    /// The properties of an object. Those that are not required may be null.
    fn members(
        &mut self,
        map: &Map<String, Value>,
        properties: &Value,
        place: &Place<'_>,
        objects: usize,
    ) -> Result<Value, String> {
        let mut strict = Map::new();
        let Value::Object(properties) = properties else { return Ok(Map::new().into()) };
        for (name, schema) in properties {
            self.properties += 1;
            self.characters += name.len();
            let mut form = self.node(schema, &place.key(name), objects)?;
            // Here, too: what is inlined can multiply.
            if self.properties > MAX_PROPERTIES {
                return Err(format!("the root {TOO_MANY}"));
            }
            if !map.list("required").iter().any(|required| required == name) && !takes_null(&form) {
                form = nullable(form);
            }
            strict.put(name, form);
        }
        Ok(strict.into())
    }

    /// What the keywords that are there ask of each other, and those that have to be there.
    fn finish(
        &self,
        map: &Map<String, Value>,
        mut out: Map<String, Value>,
        is_object: bool,
        place: &Place<'_>,
    ) -> Result<Value, String> {
        if is_object {
            let properties = out.fields("properties");
            if !place.is_root()
                && out.at("additionalProperties").is_none()
                && properties.is_none_or(Map::is_empty)
            {
                return Err(said(place, ANY_PROPERTY));
            }
            let required = required(map, place)?;
            if out.at("properties").is_none() {
                out.put("properties", Map::new().into());
            }
            out.put("required", required);
            out.put("additionalProperties", false.into());
        }
        if out.at("type").is_none() {
            let name = match out.at("const") {
                Some(value) => Some(type_of(value)),
                None if is_object => Some("object"),
                None => out.at("items").map(|_| "array"),
            };
            if let Some(name) = name {
                out.put_text("type", name);
            }
        }
        const WORDS: [&str; 4] = ["title", "description", "$defs", "definitions"];
        let others = out.keys().filter(|key| !WORDS.contains(&key.as_str())).count();
        let wrong = if out.at("$ref").is_some() || out.at("anyOf").is_some() {
            if others > 1 || place.is_root() { "has more than words beside $ref or anyOf" } else { "" }
        } else if out.at("type").is_none() && out.at("enum").is_none() {
            "says nothing of its type"
        } else if has_type(&out, "array") && out.at("items").is_none() {
            "is an array of anything: say what its items are"
        } else if place.is_root() && (out.at("enum").is_some() || out.at("const").is_some()) {
            "lists its values"
        } else {
            ""
        };
        if !wrong.is_empty() {
            return Err(said(place, wrong));
        }
        // A reference stands alone.
        if out.len() > 1
            && let Some(reference) = out.cut("$ref")
        {
            out.put("anyOf", vec![Value::Object(Map::of("$ref", reference))].into());
        }
        Ok(out.into())
    }

    /// Whether the mode has a keyword with that value.
    fn takes(&self, keyword: &str, value: &Value) -> bool {
        const FORMATS: [&str; 9] =
            ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
        match (keyword, value) {
            ("format", Value::String(format)) => {
                FORMATS.contains(&format.as_str()) || self.mode == Mode::Anthropic && format == "uri"
            }
            ("pattern", Value::String(pattern)) => is_plain(pattern.as_bytes()),
            ("minItems", _) if *value == 0 || *value == 1 => true,
            (_, Value::Number(_)) => self.mode == Mode::OpenAi && is_bound(keyword),
            _ => false,
        }
    }

    /// Takes note of the values of an enum or a const.
    fn count(&mut self, keyword: &str, value: &Value, place: &Place<'_>) -> Result<(), String> {
        let values = match value {
            Value::Array(values) if keyword == "enum" => values,
            one => std::slice::from_ref(one),
        };
        let mut characters = 0;
        for value in values {
            match value {
                Value::String(text) => characters += text.len(),
                Value::Array(_) | Value::Object(_) => {
                    return Err(said(place, "lists values that are objects or arrays"));
                }
                _ => {}
            }
        }
        if values.len() > 250 && characters > MAX_ENUM_CHARACTERS {
            return Err(said(place, "has an enum of more than 15,000 characters"));
        }
        self.values += values.len();
        self.characters += characters;
        Ok(())
    }
}

const TOO_MANY: &str = "has more than 5000 properties";
const ANY_PROPERTY: &str = "takes any property: list them in properties";

/// A reason, after its place.
fn said(place: &Place<'_>, what: &str) -> String {
    match place.is_root() {
        true => format!("the root {what}"),
        false => format!("{} {what}", place.pointer()),
    }
}

/// A schema whose `allOf` has one part, and that part, as one; others as they are.
fn one_part(map: &Map<String, Value>) -> Map<String, Value> {
    let mut map = map.clone();
    if let Some(Value::Array(parts)) = map.at("allOf")
        && let [Value::Object(part)] = &parts[..]
        && !map.keys().any(|key| needs_engine(key) && key != "allOf" || key == "type" || key == "properties")
    {
        let part = part.clone();
        map.cut("allOf");
        merge(&mut map, &part);
    }
    map
}

/// Whether a reference is to the root or to one of its definitions, which stay where they are.
fn is_definition(reference: &str) -> bool {
    let name = reference.strip_prefix("#/$defs/").or_else(|| reference.strip_prefix("#/definitions/"));
    reference == "#" || name.is_some_and(|name| !name.contains('/'))
}

/// Every property's name: those that are required in their order, then the others.
fn required(map: &Map<String, Value>, place: &Place<'_>) -> Result<Value, String> {
    let properties = map.fields("properties");
    let mut names = map.list("required").to_vec();
    for name in &names {
        if properties.and_then(|known| known.at(name.as_str()?)).is_none() {
            return Err(said(place, &format!("requires {name}, which is not among its properties")));
        }
    }
    if let Some(properties) = properties {
        for name in properties.keys() {
            if !names.iter().any(|known| known == name) {
                names.push(name.as_str().into());
            }
        }
    }
    Ok(names.into())
}

/// Whether null fits a strict schema. Of a reference it is not known; another null does no harm.
fn takes_null(form: &Value) -> bool {
    let Value::Object(map) = form else { return false };
    let mut is_fitting = map.at("$ref").is_none() && (map.at("type").is_none() || has_type(map, "null"));
    if map.at("anyOf").is_some() {
        is_fitting = map.list("anyOf").iter().any(takes_null);
    }
    if let Some(Value::Array(values)) = map.at("enum") {
        is_fitting = is_fitting && values.contains(&Value::Null);
    }
    is_fitting && map.at("const").is_none_or(Value::is_null)
}

/// A strict schema, or null.
fn nullable(form: Value) -> Value {
    let Value::Object(mut map) = form else { return form };
    let null = Map::of("type", "null".into()).into();
    if let Some(Value::Array(branches)) = map.at_mut("anyOf") {
        branches.push(null);
        return Value::Object(map);
    }
    if map.at("$ref").is_some() || map.at("const").is_some() {
        let mut outer = Map::new();
        for keyword in ["title", "description"] {
            if let Some(text) = map.cut(keyword) {
                outer.put(keyword, text);
            }
        }
        outer.put("anyOf", vec![map.into(), null].into());
        return outer.into();
    }
    if let Some(names) = map.at_mut("type") {
        add_null(names);
    }
    if let Some(Value::Array(values)) = map.at_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    Value::Object(map)
}

/// Puts null into the value of `type`.
fn add_null(names: &mut Value) {
    if names.is_string() && names != "null" {
        *names = vec![names.take()].into();
    }
    if let Value::Array(list) = names
        && !list.iter().any(|name| name == "null")
    {
        list.push("null".into());
    }
}

/// Whether a pattern does without look-around, back-references and word boundaries, which no grammar has.
fn is_plain(pattern: &[u8]) -> bool {
    let mut rest = pattern.iter();
    while let Some(byte) = rest.next() {
        match byte {
            b'(' if rest.as_slice().starts_with(b"?") && !rest.as_slice().starts_with(b"?:") => return false,
            b'\\' if matches!(rest.next(), Some(b'b' | b'B' | b'k' | b'1'..=b'9')) => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    fn form(schema: Value) -> Value {
        strict(&schema).unwrap_or_else(|error| panic!("{error}"))
    }

    /// An object with one optional property.
    fn optional(property: Value) -> Value {
        json!({"type": "object", "properties": {"p": property}})
    }

    #[test]
    fn optional_properties_may_be_null_in_the_way_of_each() {
        for (schema, expected) in [
            (json!({"type": "string"}), json!({"type": ["string", "null"]})),
            (json!({"type": ["string", "number"]}), json!({"type": ["string", "number", "null"]})),
            (
                json!({"type": "string", "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (json!({"enum": ["a", 1]}), json!({"enum": ["a", 1, null]})),
            (
                json!({"const": 5, "description": "d"}),
                json!({"description": "d", "anyOf": [{"const": 5, "type": "integer"}, {"type": "null"}]}),
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "number"}], "title": "t"}),
                json!({"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}], "title": "t"}),
            ),
            (
                json!({"type": "array", "items": {"type": "object", "properties": {"q": {"type": "boolean"}}}}),
                json!({"type": ["array", "null"], "items": {"type": "object", "required": ["q"],
                    "properties": {"q": {"type": ["boolean", "null"]}}, "additionalProperties": false}}),
            ),
            // Those that may be null are left alone.
            (json!({"type": ["null", "string"]}), json!({"type": ["null", "string"]})),
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"const": null}), json!({"const": null, "type": "null"})),
            (
                json!({"anyOf": [{"type": "null"}, {"const": 1}]}),
                json!({"anyOf": [{"type": "null"},
                {"const": 1, "type": "integer"}]}),
            ),
            // A type that has null beside values that have not, and the other way round.
            (
                json!({"type": ["string", "null"], "enum": ["a"]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (
                json!({"type": "string", "enum": ["a", null]}),
                json!({"type": ["string", "null"], "enum": ["a", null]}),
            ),
            (
                json!({"type": ["string", "null"], "const": "a"}),
                json!({"anyOf": [{"type": ["string", "null"], "const": "a"}, {"type": "null"}]}),
            ),
        ] {
            let strict = form(optional(schema.clone()));
            assert_eq!(strict["properties"]["p"], expected, "{schema}");
            assert_eq!(
                (&strict["required"], &strict["additionalProperties"]),
                (&json!(["p"]), &json!(false))
            );
            assert_eq!(form(strict.clone()), strict);
        }
    }

    #[test]
    fn references_stay_if_they_are_to_definitions() {
        let schema = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/N", "description": "A"}, "b": {"$ref": "#/$defs/N", "title": "B"},
                "c": {"$ref": "#/properties/d"}, "d": {"type": "string"}, "e": {"$ref": "#"}},
            "required": ["b"],
            "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}, "unused": {"oneOf": []}},
        });
        let node = json!({"$ref": "#/$defs/N"});
        let no = json!({"type": "null"});
        assert_eq!(
            form(schema.clone()),
            json!({
                "type": "object",
                "properties": {
                    "a": {"description": "A", "anyOf": [node, no]},
                    "b": {"title": "B", "anyOf": [node]},
                    "c": {"type": ["string", "null"]},
                    "d": {"type": ["string", "null"]},
                    "e": {"anyOf": [{"$ref": "#"}, no]},
                },
                "required": ["b", "a", "c", "d", "e"],
                "$defs": {"N": {"type": "object", "properties": {"next": {"anyOf": [node, no]}},
                    "required": ["next"], "additionalProperties": false}},
                "additionalProperties": false,
            })
        );
        assert_eq!(strict_for(&schema, Mode::Anthropic).unwrap_err(), "the root refers to itself");
    }

    #[test]
    fn properties_named_like_keywords_are_properties() {
        let names = [
            "type",
            "properties",
            "required",
            "$ref",
            "const",
            "items",
            "enum",
            "anyOf",
            "$defs",
            "oneOf",
            "additionalProperties",
            "nullable",
            "format",
            "allOf",
            "not",
        ];
        let mut properties = Map::new();
        for name in names {
            properties.put(name, json!({"type": "string", "description": name}));
        }
        let strict = form(json!({"type": "object", "properties": properties, "required": names}));
        assert_eq!(strict["properties"], Value::from(properties));
        assert_eq!(strict["required"], json!(names));
    }

    #[test]
    fn reasons_say_where_and_what() {
        let mut text = String::new();
        for property in [
            json!(true),
            json!({}),
            json!({"description": "anything"}),
            json!({"type": "object"}),
            json!({"type": "object", "properties": {}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": true}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {}}),
            json!({"type": "array"}),
            json!({"type": "array", "items": [{"type": "string"}]}),
            json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
            json!({"oneOf": [{"type": "string"}]}),
            json!({"allOf": [{"type": "string"}, {"minLength": 1}]}),
            json!({"not": {}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}]}),
            json!({"type": "string", "anyOf": [{"enum": ["a"]}]}),
            json!({"type": "string", "format": "uri"}),
            json!({"type": "string", "pattern": "(?=a)"}),
            json!({"enum": [{}]}),
            json!({"$ref": "#/nowhere"}),
            json!({"$ref": "#/properties/p"}),
            json!({"$ref": "#/$defs/a", "minLength": 1}),
        ] {
            let mut schema = optional(property.clone());
            schema["$defs"] = json!({"a": {"type": "string"}});
            let why = strict_for(&schema, Mode::OpenAi).expect_err(&property.to_string());
            text += &format!("{property}\n    {why}\n");
        }
        for root in [
            json!({"anyOf": [{"type": "object"}]}),
            json!({"additionalProperties": true}),
            json!({"enum": [{}]}),
        ] {
            text += &format!("{root}\n    {}\n", strict_for(&root, Mode::OpenAi).unwrap_err());
        }
        for (keyword, value) in [("minimum", json!(0)), ("maxLength", json!(5)), ("minItems", json!(2))] {
            let schema = optional(json!({"type": "array", "items": {"type": "string"}, (keyword): value}));
            assert!(strict_for(&schema, Mode::OpenAi).is_ok(), "{keyword}");
            text += &format!("{keyword}\n    {}\n", strict_for(&schema, Mode::Anthropic).unwrap_err());
        }
        assert!(strict_for(&optional(json!({"type": "string", "format": "uri"})), Mode::Anthropic).is_ok());
        expect![[r##"
            true
                /properties/p is true, false or no schema at all: give it a type
            {}
                /properties/p says nothing of its type
            {"description":"anything"}
                /properties/p says nothing of its type
            {"type":"object"}
                /properties/p takes any property: list them in properties
            {"type":"object","properties":{}}
                /properties/p takes any property: list them in properties
            {"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":true}
                /properties/p takes any property: list them in properties
            {"type":"object","additionalProperties":{"type":"string"}}
                /properties/p takes any property: list them in properties
            {"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}
                /properties/p requires "b", which is not among its properties
            {"type":"object","properties":{"a":{"type":"string"}},"patternProperties":{}}
                /properties/p uses patternProperties as strict schemas do not
            {"type":"array"}
                /properties/p is an array of anything: say what its items are
            {"type":"array","items":[{"type":"string"}]}
                /properties/p/items is true, false or no schema at all: give it a type
            {"type":"array","items":{"type":"string"},"uniqueItems":true}
                /properties/p uses uniqueItems as strict schemas do not
            {"oneOf":[{"type":"string"}]}
                /properties/p uses oneOf as strict schemas do not
            {"allOf":[{"type":"string"},{"minLength":1}]}
                /properties/p uses allOf as strict schemas do not
            {"not":{}}
                /properties/p uses not as strict schemas do not
            {"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]}]}
                /properties/p/anyOf/0 says nothing of its type
            {"type":"string","anyOf":[{"enum":["a"]}]}
                /properties/p has more than words beside $ref or anyOf
            {"type":"string","format":"uri"}
                /properties/p uses format as strict schemas do not
            {"type":"string","pattern":"(?=a)"}
                /properties/p uses pattern as strict schemas do not
            {"enum":[{}]}
                /properties/p lists values that are objects or arrays
            {"$ref":"#/nowhere"}
                /properties/p refers to what is no object schema
            {"$ref":"#/properties/p"}
                /properties/p refers to itself: move it to $defs
            {"$ref":"#/$defs/a","minLength":1}
                /properties/p has more than words beside $ref or anyOf
            {"anyOf":[{"type":"object"}]}
                /anyOf/0 takes any property: list them in properties
            {"additionalProperties":true}
                the root takes any property: list them in properties
            {"enum":[{}]}
                the root lists values that are objects or arrays
            minimum
                /properties/p uses minimum as strict schemas do not
            maxLength
                /properties/p uses maxLength as strict schemas do not
            minItems
                /properties/p uses minItems as strict schemas do not
        "##]]
        .assert_eq(&text);
    }

    #[test]
    fn limits_are_those_of_the_documentation() {
        let nested = |levels: usize| {
            (1..levels).fold(json!({"type": "object", "properties": {"x": {"type": "null"}}}), |inner, _| {
                optional(inner)
            })
        };
        assert!(strict(&nested(10)).is_ok());
        assert_eq!(
            strict(&nested(11)).unwrap_err().message.matches("is nested in more than 10 levels").count(),
            1
        );

        let wide = |count: usize| {
            let names = (0..count).map(|at| (format!("p{at}"), json!({"type": "string"})));
            json!({"type": "object", "properties": names.collect::<Map<_, _>>()})
        };
        assert!(strict(&wide(5000)).is_ok() && strict(&wide(5001)).is_err());
        assert!(strict_for(&wide(16), Mode::Anthropic).is_ok());
        assert_eq!(
            strict_for(&wide(17), Mode::Anthropic).unwrap_err(),
            "the root has more than 16 unions, optional properties among them"
        );

        let listed = |count: usize, length: usize| {
            optional(json!({"enum": (0..count).map(|at| format!("{at:0length$}")).collect::<Vec<_>>()}))
        };
        assert!(strict(&listed(1000, 4)).is_ok() && strict(&listed(1001, 4)).is_err());
        assert!(strict(&listed(250, 400)).is_ok() && strict(&listed(251, 60)).is_err());
        assert!(strict(&listed(250, 481)).is_err(), "120,000 characters");
    }

    #[test]
    fn patterns_are_plain_without_look_around() {
        for plain in ["^a(?:b|c)$", r"\d+\.\w", r"a\(?b", "", "(", r"\"] {
            assert!(is_plain(plain.as_bytes()), "{plain}");
        }
        for other in ["(?=a)", "(?!a)", "(?<=a)", "(?<n>a)", r"\bword", r"(a)\1", "(?"] {
            assert!(!is_plain(other.as_bytes()), "{other}");
        }
    }
}
