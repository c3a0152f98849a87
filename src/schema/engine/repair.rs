//! A schema as its author meant it: what the meta-schema rejects goes, what refers to nothing accepts nothing.
//!
//! Each schema object is looked at alone, with `true` in place of the schemas in it, so that a mistake deep inside
//! costs one keyword and not all that is around it.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use jsonschema::meta::MetaValidator;
use jsonschema::{PatternCache, Uri};
use referencing::Resolver;
use serde_json::{Map, Value, json};

use super::documents::{BASE, Document, Documents};
use super::draft::Draft;
use super::positions::{Position, below, position};
use super::references::{Target, resolve};
use super::{EngineOptions, Warning};
use crate::schema::compile::MAX_DEPTH;
use crate::schema::wording::brief;

/// A schema that compiles.
pub(super) struct Repaired {
    pub schema: Value,
    pub draft: Draft,
}

/// Mends a schema; each thing that was mended is one warning.
///
/// # Errors
/// When it is neither an object nor a boolean.
pub(super) fn repair(
    schema: &Value,
    options: &EngineOptions,
    warnings: &mut Vec<Warning>,
) -> Result<Repaired, String> {
    if !schema.is_object() && !schema.is_boolean() {
        return Err(format!("expected an object or a boolean, found {}", brief(schema)));
    }
    let mut schema = schema.clone();
    let draft = draft_of(&mut schema, options, warnings);
    let mut repairer = Repairer {
        draft,
        resources: &options.resources,
        base: jsonschema::uri::from_str(BASE).map_err(|error| error.to_string())?,
        patterns: PatternCache::new(),
        warnings,
        is_any_broken: false,
        seen: BTreeSet::new(),
        referred: Vec::new(),
        no_references: Vec::new(),
    };
    repairer.is_any_broken = !repairer.are_patterns(&all_patterns(&schema));
    repairer.schema(&mut schema, "", MAX_DEPTH);
    let elsewhere = repairer.elsewhere(&mut schema);
    let mut dangling = repairer.no_references;
    dangling.extend(references(&schema, &elsewhere, draft, options)?);
    for (pointer, keyword, reference) in dangling {
        let Some(place) = schema.pointer_mut(&pointer).filter(|place| place.is_object()) else { continue };
        refuse(place, keyword, draft);
        let reference = brief(&reference);
        let message = format!(
            "expected a reference to a schema that is here or in the resources, found {reference}: no value fits"
        );
        warnings.push(Warning { path: below(&pointer, keyword), message });
    }
    Ok(Repaired { schema, draft })
}

/// Makes a schema object accept nothing, in place of a reference to nothing. What else may refer to, in it or as it,
/// stays where it is.
fn refuse(place: &mut Value, keyword: &str, draft: Draft) {
    let nothing = if draft == Draft::Draft4 { json!({"not": {}}) } else { Value::Bool(false) };
    let Value::Object(map) = place else { return };
    map.shift_remove(keyword);
    let is_name = |id: &Value| id.as_str().is_some_and(|id| !id.starts_with('#'));
    if keyword == "$ref" && draft.ref_stands_alone() && map.get(draft.identifier()).is_some_and(is_name) {
        // It was ignored.
        map.shift_remove(draft.identifier());
    }
    let names = ["$anchor", "$dynamicAnchor", draft.identifier()];
    if map.iter().any(|(key, value)| value.is_object() || value.is_array() || names.contains(&key.as_str())) {
        if let Value::Array(all) = map.entry("allOf").or_insert_with(|| json!([])) {
            all.push(nothing);
        }
    } else {
        *place = nothing;
    }
}

/// The draft that the schema is written in. A `$schema` that leads nowhere goes.
fn draft_of(schema: &mut Value, options: &EngineOptions, warnings: &mut Vec<Warning>) -> Draft {
    let default = options.draft.unwrap_or_default();
    let Some(named) = schema.get("$schema").cloned() else { return default };
    match Draft::of_schema(schema, &options.resources) {
        Some(draft) => {
            if named.as_str().and_then(Draft::of_uri).is_some() {
                schema["$schema"] = draft.uri().into();
            }
            draft
        }
        None => {
            if let Some(map) = schema.as_object_mut() {
                map.shift_remove("$schema");
            }
            let message = format!(
                "expected the URI of draft 4, 6, 7, 2019-09 or 2020-12, or one of the resources, found {}: the keyword \
                 is ignored",
                brief(&named)
            );
            warnings.push(Warning { path: "/$schema".to_owned(), message });
            default
        }
    }
}

struct Repairer<'a> {
    draft: Draft,
    resources: &'a Map<String, Value>,
    /// What references are relative to.
    base: Uri<String>,
    patterns: PatternCache,
    warnings: &'a mut Vec<Warning>,
    /// Whether any pattern of the schema is none.
    is_any_broken: bool,
    /// Pointers to the schema objects that were looked at.
    seen: BTreeSet<String>,
    /// References, and pointers to the schema objects that they stand in.
    referred: Vec<(String, String)>,
    no_references: Vec<Dangling>,
}

/// A pointer to a schema object, the keyword that refers to nothing, and its value.
type Dangling = (String, &'static str, Value);

impl Repairer<'_> {
    fn warn(&mut self, path: String, message: String) {
        self.warnings.push(Warning { path, message });
    }

    fn schema(&mut self, schema: &mut Value, pointer: &str, levels: usize) {
        let Value::Object(map) = schema else { return };
        if levels == 0 {
            self.warn(
                pointer.to_owned(),
                format!("nested deeper than {MAX_DEPTH} levels: nothing is checked from here on"),
            );
            *schema = json!({});
            return;
        }
        if !self.seen.insert(pointer.to_owned()) {
            return;
        }
        let around = (self.draft, self.base.clone());
        if !pointer.is_empty() {
            self.dialect(map, pointer);
        }
        self.no_uris(map, pointer);
        self.no_schemas(map, pointer);
        // Before the meta-schema, which in some drafts would reject all patterns for one.
        self.broken_patterns(map, pointer);
        self.rejected(map, pointer);
        nullable(map);
        for (keyword, value) in map.iter_mut() {
            let place = below(pointer, keyword);
            match (position(keyword, value), value) {
                (Position::One, value) => self.schema(value, &place, levels - 1),
                (Position::List, Value::Array(schemas)) => {
                    for (index, schema) in schemas.iter_mut().enumerate() {
                        self.schema(schema, &below(&place, &index.to_string()), levels - 1);
                    }
                }
                (Position::Map, Value::Object(schemas)) => {
                    for (key, schema) in schemas.iter_mut() {
                        self.schema(schema, &below(&place, key), levels - 1);
                    }
                }
                _ => {}
            }
        }
        (self.draft, self.base) = around;
    }

    /// The draft of a schema inside another: only a document of its own may have another.
    fn dialect(&mut self, map: &mut Map<String, Value>, pointer: &str) {
        let Some(named) = map.get("$schema") else { return };
        let draft = match named.as_str().and_then(Draft::of_uri) {
            Some(draft) => Some(draft),
            None => Draft::of_schema(&json!({ "$schema": named }), self.resources),
        };
        let is_document = |draft: Draft| map.get(draft.identifier()).is_some_and(Value::is_string);
        match draft {
            Some(draft) if draft == self.draft || is_document(draft) => {
                if named.as_str().and_then(Draft::of_uri).is_some() {
                    map["$schema"] = draft.uri().into();
                }
                self.draft = draft;
            }
            _ => {
                let found = brief(named);
                let message = format!(
                    "expected the draft of the schema around it, found {found}: the keyword is ignored"
                );
                map.shift_remove("$schema");
                self.warn(below(pointer, "$schema"), message);
            }
        }
    }

    /// Schemas in places where no keyword has them, such as `/components/schemas`, are looked at if something refers to
    /// them. Tells where they are.
    fn elsewhere(&mut self, schema: &mut Value) -> Vec<String> {
        let mut found = Vec::new();
        while let Some((reference, at)) = self.referred.pop() {
            let document = Document { uri: BASE, schema, draft: self.draft };
            let Some(Target::Here(pointer)) = resolve(&document, &reference, &at) else { continue };
            if self.seen.contains(&pointer) {
                continue;
            }
            if let Some(target) = schema.pointer_mut(&pointer) {
                self.schema(target, &pointer, MAX_DEPTH);
                found.push(pointer);
            }
        }
        found
    }

    /// References and names that are no URIs, which no meta-schema looks at closely.
    fn no_uris(&mut self, map: &mut Map<String, Value>, pointer: &str) {
        for keyword in [self.draft.identifier(), "$ref", "$dynamicRef", "$recursiveRef"] {
            let names_itself = keyword == self.draft.identifier();
            if let Some(Value::String(reference)) = map.get_mut(keyword).filter(|_| !names_itself) {
                *reference = spelled(reference);
            }
            let Some(value) = map.get(keyword).filter(|_| self.draft.knows(keyword)) else { continue };
            let uri = value.as_str().map(|uri| jsonschema::uri::resolve_against(&self.base.borrow(), uri));
            match (uri, value) {
                (Some(Ok(uri)), _) if names_itself => {
                    self.base = uri;
                    continue;
                }
                (Some(Ok(_)), Value::String(reference)) => {
                    self.referred.push((reference.clone(), pointer.to_owned()));
                    continue;
                }
                (Some(Err(_)), value) if !names_itself => {
                    self.no_references.push((pointer.to_owned(), keyword, value.clone()));
                }
                (_, value) => {
                    let found = brief(value);
                    let message = format!("expected a URI reference, found {found}: the keyword is ignored");
                    self.warn(below(pointer, keyword), message);
                }
            }
            map.shift_remove(keyword);
        }
    }

    /// In maps of schemas, entries that are none.
    fn no_schemas(&mut self, map: &mut Map<String, Value>, pointer: &str) {
        let is_schema = |keyword: &str, value: &Value| {
            value.is_object() || value.is_boolean() || (keyword == "dependencies" && value.is_array())
        };
        for (keyword, value) in map.iter_mut() {
            if position(keyword, value) != Position::Map {
                continue;
            }
            let Value::Object(schemas) = value else { continue };
            schemas.retain(|key, value| {
                let keep = is_schema(keyword, value);
                if !keep {
                    let path = below(&below(pointer, keyword), key);
                    self.warn(path, format!("expected a schema, found {}: it is ignored", brief(value)));
                }
                keep
            });
        }
    }

    /// Keywords whose value the meta-schema rejects.
    fn rejected(&mut self, map: &mut Map<String, Value>, pointer: &str) {
        loop {
            let shallow =
                Value::Object(map.iter().map(|(key, value)| (key.clone(), stub(key, value))).collect());
            let rejected = first_rejected(self.draft, &shallow);
            let Some(removed) = rejected.and_then(|keyword| Some((map.shift_remove(&keyword)?, keyword)))
            else {
                return;
            };
            let (value, keyword) = removed;
            let message =
                format!("not a value of \"{keyword}\", found {}: the keyword is ignored", brief(&value));
            self.warn(below(pointer, &keyword), message);
        }
    }

    fn broken_patterns(&mut self, map: &mut Map<String, Value>, pointer: &str) {
        if !self.is_any_broken {
            return;
        }
        if let Some(Value::String(pattern)) = map.get("pattern")
            && let Some(message) = self.broken_pattern(pattern)
        {
            map.shift_remove("pattern");
            self.warn(below(pointer, "pattern"), message);
        }
        let Some(Value::Object(patterns)) = map.get_mut("patternProperties") else { return };
        patterns.retain(|pattern, _| match self.broken_pattern(pattern) {
            Some(message) => {
                self.warn(below(&below(pointer, "patternProperties"), pattern), message);
                false
            }
            None => true,
        });
    }

    fn broken_pattern(&self, pattern: &str) -> Option<String> {
        let broken = !self.are_patterns(&[pattern]);
        broken.then(|| {
            let pattern = brief(&Value::from(pattern));
            format!("expected an ECMA-262 regular expression, found {pattern}: the keyword is ignored")
        })
    }

    /// Whether the engine takes them all.
    fn are_patterns(&self, patterns: &[&str]) -> bool {
        if patterns.is_empty() {
            return true;
        }
        let schemas: Vec<Value> = patterns.iter().map(|pattern| json!({ "pattern": pattern })).collect();
        // In wasm each build makes the meta-schema's validator anew: this draft's is a small one.
        let options = jsonschema::options()
            .with_draft(jsonschema::Draft::Draft6)
            .with_pattern_cache(self.patterns.clone());
        options.build(&json!({ "allOf": schemas })).is_ok()
    }
}

/// Every string that may be a pattern; others among them do no harm.
fn all_patterns(schema: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut left = vec![schema];
    while let Some(value) = left.pop() {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(pattern) if key == "pattern" => found.push(pattern.as_str()),
                        Value::Object(patterns) if key == "patternProperties" => {
                            found.extend(patterns.keys().map(String::as_str));
                            left.extend(patterns.values());
                        }
                        value => left.push(value),
                    }
                }
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    found
}

/// A reference as URIs are spelled: generators write names into it as they are (`#/definitions/List<Item>`). The empty
/// one is the document.
fn spelled(reference: &str) -> String {
    if reference.is_empty() {
        return "#".to_owned();
    }
    let mut out = String::with_capacity(reference.len());
    let mut in_fragment = false;
    for (at, byte) in reference.bytes().enumerate() {
        let is_escape = || {
            let code = reference.as_bytes().get(at + 1..at + 3);
            code.is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit))
        };
        let stays = match byte {
            b'%' => is_escape(),
            b'#' | b'[' | b']' => !in_fragment,
            b'<' | b'>' | b'"' | b' ' | b'{' | b'}' | b'|' | b'\\' | b'^' | b'`' => false,
            byte => byte.is_ascii() && !byte.is_ascii_control(),
        };
        in_fragment |= byte == b'#';
        if stays {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The value of a keyword with `true` in place of schemas.
fn stub(keyword: &str, value: &Value) -> Value {
    let stub = |value: &Value| if value.is_object() { json!({}) } else { value.clone() };
    match (position(keyword, value), value) {
        (Position::One, value) => stub(value),
        (Position::List, Value::Array(schemas)) => schemas.iter().map(stub).collect(),
        (Position::Map, Value::Object(schemas)) => {
            schemas.iter().map(|(key, value)| (key.clone(), stub(value))).collect()
        }
        _ => value.clone(),
    }
}

thread_local! {
    /// Validators of the meta-schemas, by draft. In wasm the engine makes one anew each time that it is asked.
    static METAS: [OnceCell<MetaValidator<'static>>; 5] = const { [const { OnceCell::new() }; 5] };
}

/// The keyword of the first thing that the meta-schema finds wrong.
fn first_rejected(draft: Draft, schema: &Value) -> Option<String> {
    use jsonschema::{draft4, draft6, draft7, draft201909, draft202012};
    let (index, make): (_, fn() -> MetaValidator<'static>) = match draft {
        Draft::Draft4 => (0, draft4::meta::validator),
        Draft::Draft6 => (1, draft6::meta::validator),
        Draft::Draft7 => (2, draft7::meta::validator),
        Draft::Draft201909 => (3, draft201909::meta::validator),
        Draft::Draft202012 => (4, draft202012::meta::validator),
    };
    METAS.with(|metas| {
        let validator = metas[index].get_or_init(make);
        if validator.is_valid(schema) {
            return None;
        }
        let keyword_of = |error: jsonschema::ValidationError<'_>| {
            let path = error.instance_path().as_str();
            let keyword = path.strip_prefix('/')?.split('/').next()?;
            Some(keyword.replace("~1", "/").replace("~0", "~"))
        };
        if let Some(keyword) = validator.iter_errors(schema).find_map(keyword_of) {
            return Some(keyword);
        }
        // Keywords that do not go together, or do not go alone: the first without which the rest is right.
        let map = schema.as_object()?;
        let is_right_without = |keyword: &&String| {
            let rest = map.iter().filter(|(other, _)| other != keyword);
            validator
                .is_valid(&Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect()))
        };
        map.keys().find(is_right_without).or_else(|| map.keys().next()).cloned()
    })
}

/// OpenAPI's `nullable: true` as the union that it stands for.
fn nullable(map: &mut Map<String, Value>) {
    if map.get("nullable") != Some(&Value::Bool(true)) {
        return;
    }
    match map.get_mut("type") {
        Some(Value::Array(types)) if !types.iter().any(|one| one == "null") => types.push("null".into()),
        Some(one @ Value::String(_)) if one != "null" => *one = json!([one, "null"]),
        _ => {}
    }
}

/// References that lead nowhere.
fn references(
    schema: &Value,
    elsewhere: &[String],
    draft: Draft,
    options: &EngineOptions,
) -> Result<Vec<Dangling>, String> {
    let documents = Documents::new(schema, draft, options)?;
    let resolver = documents.resolver()?;
    let mut walk = Walk { draft, documents: &documents, dangling: Vec::new() };
    walk.schema(schema, &resolver, "", MAX_DEPTH);
    for pointer in elsewhere {
        if let Some(schema) = schema.pointer(pointer) {
            walk.schema(schema, &resolver, pointer, MAX_DEPTH);
        }
    }
    Ok(walk.dangling)
}

struct Walk<'a> {
    draft: Draft,
    documents: &'a Documents,
    dangling: Vec<Dangling>,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, resolver: &Resolver<'_>, pointer: &str, levels: usize) {
        let Some(map) = schema.as_object().filter(|_| levels > 0) else { return };
        let here = resolver.in_subresource(self.draft.of_engine().create_resource_ref(schema));
        let Ok(resolver) = here else { return };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(Value::String(reference)) = map.get(keyword) else { continue };
            if self.is_dangling(&resolver, reference) {
                self.dangling.push((pointer.to_owned(), keyword, reference.clone().into()));
            }
        }
        // What older drafts ignore beside a reference can be referred to all the same.
        for (keyword, value) in map {
            self.children(keyword, value, &resolver, pointer, levels);
        }
    }

    fn children(
        &mut self,
        keyword: &str,
        value: &Value,
        resolver: &Resolver<'_>,
        pointer: &str,
        levels: usize,
    ) {
        let place = below(pointer, keyword);
        match (position(keyword, value), value) {
            (Position::One, value) => self.schema(value, resolver, &place, levels - 1),
            (Position::List, Value::Array(schemas)) => {
                for (index, schema) in schemas.iter().enumerate() {
                    self.schema(schema, resolver, &below(&place, &index.to_string()), levels - 1);
                }
            }
            (Position::Map, Value::Object(schemas)) => {
                for (key, schema) in schemas {
                    self.schema(schema, resolver, &below(&place, key), levels - 1);
                }
            }
            _ => {}
        }
    }

    fn is_dangling(&self, resolver: &Resolver<'_>, reference: &str) -> bool {
        let base = resolver.base_uri();
        let document = resolver.resolve_uri(&base.borrow(), reference.split('#').next().unwrap_or_default());
        match (document, resolver.lookup(reference)) {
            (Ok(document), Ok(target)) => {
                let is_schema = target.contents().is_object() || target.contents().is_boolean();
                !is_schema || self.documents.is_missing(document.as_str())
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Engine;
    use super::*;

    const ALL: [Draft; 5] =
        [Draft::Draft4, Draft::Draft6, Draft::Draft7, Draft::Draft201909, Draft::Draft202012];

    fn compile(schema: &Value, draft: Draft) -> Engine {
        let options = EngineOptions { draft: Some(draft), ..EngineOptions::default() };
        Engine::compile(schema, &options).unwrap_or_else(|error| panic!("{draft:?} {schema}: {error}"))
    }

    fn warned(schema: &Value, draft: Draft) -> Vec<String> {
        compile(schema, draft).warnings().iter().map(|warning| warning.path.clone()).collect()
    }

    #[test]
    fn a30_what_the_meta_schema_rejects_is_one_warning_each() {
        for (schema, path) in [
            (json!({"type": "strng"}), "/type"),
            (json!({"type": []}), "/type"),
            (json!({"type": ["string", "string"]}), "/type"),
            (json!({"required": true}), "/required"),
            (json!({"required": ["a", "a"]}), "/required"),
            (json!({"enum": "a"}), "/enum"),
            (json!({"items": 5}), "/items"),
            (json!({"anyOf": []}), "/anyOf"),
            (json!({"anyOf": {}}), "/anyOf"),
            (json!({"allOf": [5]}), "/allOf"),
            (json!({"not": "x"}), "/not"),
            (json!({"properties": []}), "/properties"),
            (json!({"properties": {"a": 5}}), "/properties/a"),
            (json!({"patternProperties": {"a": "x"}}), "/patternProperties/a"),
            (json!({"patternProperties": {"(": {}}}), "/patternProperties/("),
            (json!({"additionalProperties": "x"}), "/additionalProperties"),
            (json!({"definitions": {"A": {"minLength": -1}}}), "/definitions/A/minLength"),
            (json!({"minLength": "1"}), "/minLength"),
            (json!({"maxItems": 1.5}), "/maxItems"),
            (json!({"multipleOf": 0}), "/multipleOf"),
            (json!({"uniqueItems": "yes"}), "/uniqueItems"),
            (json!({"pattern": "("}), "/pattern"),
            (json!({"pattern": 5}), "/pattern"),
            (json!({"pattern": "(?i)a(?z)"}), "/pattern"),
            (json!({"dependencies": {"a": 5}}), "/dependencies/a"),
            (json!({"$ref": 5}), "/$ref"),
            (json!({"items": {"properties": {"a/b~": {"type": "x"}}}}), "/items/properties/a~1b~0/type"),
            (json!({"allOf": [{}, {"anyOf": [{"pattern": "["}]}]}), "/allOf/1/anyOf/0/pattern"),
            (json!({"$ref": "#/definitions/A"}), "/$ref"),
            (json!({"properties": {"a": {"$ref": "https://example.com/none"}}}), "/properties/a/$ref"),
            (json!({"properties": {"a": {"$ref": "#none"}}}), "/properties/a/$ref"),
            (json!({"properties": {"a": {"$ref": "http://["}}}), "/properties/a/$ref"),
            (json!({"$schema": "http://example.com/own"}), "/$schema"),
            (json!({"$schema": 5}), "/$schema"),
            (json!({"properties": {"a": {"$schema": "x"}}}), "/properties/a/$schema"),
        ] {
            for draft in ALL {
                assert_eq!(warned(&schema, draft), [path], "{draft:?} {schema}");
            }
        }
    }

    #[test]
    fn a30_drafts_differ_in_what_they_know() {
        for (schema, path, from) in [
            (json!({"const": 1, "contains": 5}), "/contains", Draft::Draft6),
            (json!({"propertyNames": []}), "/propertyNames", Draft::Draft6),
            (json!({"if": 5}), "/if", Draft::Draft7),
            (json!({"if": {}, "then": {"type": 1}}), "/then/type", Draft::Draft4),
            (json!({"dependentRequired": {"a": "b"}}), "/dependentRequired", Draft::Draft201909),
            (json!({"unevaluatedProperties": 1}), "/unevaluatedProperties", Draft::Draft201909),
            (json!({"prefixItems": {}}), "/prefixItems", Draft::Draft202012),
            (json!({"items": [{}]}), "/items", Draft::Draft202012),
        ] {
            for draft in ALL {
                let expected: &[&str] = if draft >= from { &[path] } else { &[] };
                assert_eq!(warned(&schema, draft), expected, "{draft:?} {schema}");
            }
        }
        // A flag in draft 4, a number since.
        let flag = json!({"maximum": 1, "exclusiveMaximum": true});
        assert_eq!(warned(&flag, Draft::Draft4), [""; 0]);
        assert!(!compile(&flag, Draft::Draft4).accepts(&json!(1)));
        assert_eq!(warned(&flag, Draft::Draft7), ["/exclusiveMaximum"]);
        assert!(compile(&flag, Draft::Draft7).accepts(&json!(1)));
        assert_eq!(warned(&json!({"exclusiveMaximum": true}), Draft::Draft4), ["/exclusiveMaximum"]);
    }

    #[test]
    fn the_rest_of_a_mended_schema_holds() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "strng", "minLength": 2},
                "b": {"type": "string", "required": true},
                "c": {"$ref": "#/$defs/None"},
                "d": {"type": "integer", "pattern": "("},
            },
            "required": ["d"],
        });
        let engine = compile(&schema, Draft::Draft202012);
        assert_eq!(engine.warnings().len(), 4);
        for (value, fits) in [
            (json!({"a": "xy", "b": "x", "d": 1}), true),
            (json!({"a": "x", "d": 1}), false),
            (json!({"b": 1, "d": 1}), false),
            (json!({"c": 1, "d": 1}), false),
            (json!({}), false),
        ] {
            assert_eq!(engine.accepts(&value), fits, "{value}");
        }
    }

    #[test]
    fn what_stands_beside_a_reference_is_mended_too() {
        let schema = json!({
            "$ref": "#/components/schemas/A",
            "definitions": {"B": {"type": "strng"}},
            "components": {"schemas": {"A": {"required": true, "type": "integer"}, "Unused": {"type": "strng"}}},
        });
        for draft in ALL {
            let engine = compile(&schema, draft);
            assert_eq!(warned(&schema, draft), ["/definitions/B/type", "/components/schemas/A/required"]);
            assert!(engine.accepts(&json!(1)) && !engine.accepts(&json!("1")));
        }
    }

    #[test]
    fn what_others_refer_to_stays_where_a_reference_leads_nowhere() {
        let schema = json!({
            "properties": {
                "named": {"$ref": "#name"},
                "inside": {"$ref": "#/$defs/A/$defs/B"},
                "inner": {"$ref": "#inner"},
                "document": {"$ref": "https://example.com/d"},
                "dynamic": {"$dynamicRef": "#dynamic"},
            },
            "$defs": {
                "A": {"$anchor": "name", "$ref": "#none", "$defs": {"B": {"$anchor": "inner", "type": "integer"}}},
                "D": {"$id": "https://example.com/d", "$ref": "#none", "minLength": 1},
                "Y": {"$dynamicAnchor": "dynamic", "$dynamicRef": "#none"},
            },
        });
        let engine = compile(&schema, Draft::Draft202012);
        let paths = ["/$defs/A/$ref", "/$defs/D/$ref", "/$defs/Y/$dynamicRef"];
        assert_eq!(warned(&schema, Draft::Draft202012), paths);
        for (key, fits) in
            [("named", false), ("inside", true), ("inner", true), ("document", false), ("dynamic", false)]
        {
            assert_eq!(engine.accepts(&json!({(key): 1})), fits, "{key}");
            assert!(!engine.accepts(&json!({(key): "x"})), "{key}");
        }
        for draft in [Draft::Draft4, Draft::Draft6, Draft::Draft7] {
            let mut schema = json!({
                "properties": {"a": {"$ref": "#name"}, "b": {"$ref": "#/definitions/A/definitions/B"}},
                "definitions": {"A": {"$ref": "#none", "definitions": {"B": {"type": "integer"}}}},
            });
            schema["definitions"]["A"][draft.identifier()] = "#name".into();
            let engine = compile(&schema, draft);
            assert_eq!(warned(&schema, draft), ["/definitions/A/$ref"]);
            assert!(!engine.accepts(&json!({"a": 1})) && engine.accepts(&json!({"b": 1})), "{draft:?}");
            assert!(!engine.accepts(&json!({"b": "x"})), "{draft:?}");
        }
    }

    #[test]
    fn what_was_mended_away_is_referred_to_in_vain() {
        let schema = json!({
            "items": {"anyOf": [{"$ref": "#a"}, {"$ref": "#b"}, {"$ref": "https://example.com/d"}]},
            "allOf": {"x": {"$anchor": "a"}},
            "not": [{"$anchor": "b"}],
            "enum": {"$id": "https://example.com/d"},
        });
        let paths = warned(&schema, Draft::Draft202012);
        assert_eq!(paths[3..], ["/items/anyOf/0/$ref", "/items/anyOf/1/$ref", "/items/anyOf/2/$ref"]);
        assert!(!compile(&schema, Draft::Draft202012).accepts(&json!([1])));
    }

    #[test]
    fn what_is_referred_to_by_its_document_is_mended() {
        let schema = json!({
            "$id": "https://example.com/root.json",
            "$ref": "root.json#/components/A",
            "components": {"A": {"required": true, "type": "integer"}},
        });
        for draft in [Draft::Draft201909, Draft::Draft202012] {
            assert_eq!(warned(&schema, draft), ["/components/A/required"]);
            assert!(!compile(&schema, draft).accepts(&json!("1")));
        }
    }

    #[test]
    fn documents_inside_have_drafts_of_their_own() {
        let inner = json!({
            "$id": "https://example.com/inner",
            "$schema": "http://json-schema.org/draft-07/schema",
            "items": [{"type": "integer"}],
            "definitions": {"A": {"minLength": "x"}},
        });
        let schema =
            json!({"properties": {"a": {"$ref": "https://example.com/inner"}}, "$defs": {"I": inner}});
        let engine = compile(&schema, Draft::Draft202012);
        assert_eq!(warned(&schema, Draft::Draft202012), ["/$defs/I/definitions/A/minLength"]);
        assert!(!engine.accepts(&json!({"a": ["x"]})) && engine.accepts(&json!({"a": [1, "x"]})));
        // Without a name it is no document, and has the draft of what is around it.
        let schema = json!({"$defs": {"I": {"$schema": "http://json-schema.org/draft-04/schema#"}}});
        assert_eq!(warned(&schema, Draft::Draft202012), ["/$defs/I/$schema"]);
    }

    #[test]
    fn references_in_other_documents_that_lead_nowhere_are_false() {
        let other = json!({"properties": {"a": {"$ref": "#/$defs/None"}, "b": {"type": "integer"}}});
        let resources = [("https://example.com/other".to_owned(), other)].into_iter().collect();
        let schema = json!({"$ref": "https://example.com/other"});
        let compiled = Engine::compile(&schema, &EngineOptions { resources, ..EngineOptions::default() });
        // Broken documents are the host's to mend.
        assert!(compiled.is_err_and(|error| error.contains("None")));
    }
}
