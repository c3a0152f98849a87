//! A schema as its author meant it: what the meta-schema rejects goes, what refers to nothing accepts nothing.
//!
//! Each schema object is looked at alone, with `true` in place of the schemas in it, so that a mistake deep inside
//! costs one keyword and not all that is around it.

use std::cell::OnceCell;

use jsonschema::meta::MetaValidator;
use jsonschema::{PatternCache, Registry};
use referencing::Resolver;
use serde_json::{Map, Value, json};

use super::documents::{BASE, Resources};
use super::draft::Draft;
use super::positions::{Position, position};
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
    let mut repairer = Repairer { draft, patterns: PatternCache::new(), warnings, is_any_broken: false };
    repairer.is_any_broken = !repairer.are_patterns(&all_patterns(&schema));
    repairer.schema(&mut schema, "", MAX_DEPTH);
    references(&mut schema, draft, options, warnings)?;
    Ok(Repaired { schema, draft })
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
    patterns: PatternCache,
    warnings: &'a mut Vec<Warning>,
    /// Whether any pattern of the schema is none.
    is_any_broken: bool,
}

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
        self.no_schemas(map, pointer);
        self.rejected(map, pointer);
        self.broken_patterns(map, pointer);
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
        let mut keywords = validator.iter_errors(schema).filter_map(|error| {
            let path = error.instance_path().as_str();
            let keyword = path.strip_prefix('/')?.split('/').next()?;
            Some(keyword.replace("~1", "/").replace("~0", "~"))
        });
        keywords.next()
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

/// References that lead nowhere become schemas that accept nothing.
fn references(
    schema: &mut Value,
    draft: Draft,
    options: &EngineOptions,
    warnings: &mut Vec<Warning>,
) -> Result<(), String> {
    let engines = draft.of_engine();
    let resources = Resources::new(&options.resources);
    let registry = Registry::new()
        .draft(engines)
        .retriever(resources.clone())
        .add(BASE, engines.create_resource(schema.clone()))
        .and_then(jsonschema::RegistryBuilder::prepare)
        .map_err(|error| error.to_string())?;
    let base = jsonschema::uri::from_str(BASE).map_err(|error| error.to_string())?;
    let mut walk = Walk { draft, resources: &resources, dangling: Vec::new() };
    walk.schema(schema, &registry.resolver(base), "", MAX_DEPTH);
    for (pointer, keyword) in walk.dangling {
        let Some(place) = schema.pointer_mut(&pointer) else { continue };
        let message = format!(
            "expected a reference to a schema that is here or in the resources, found {}: no value fits",
            brief(&place[keyword])
        );
        *place = if draft == Draft::Draft4 { json!({"not": {}}) } else { Value::Bool(false) };
        warnings.push(Warning { path: below(&pointer, keyword), message });
    }
    Ok(())
}

struct Walk<'a> {
    draft: Draft,
    resources: &'a Resources,
    /// Pointers to schema objects, and the keyword whose reference leads nowhere.
    dangling: Vec<(String, &'static str)>,
}

impl Walk<'_> {
    fn schema(&mut self, schema: &Value, resolver: &Resolver<'_>, pointer: &str, levels: usize) {
        let Some(map) = schema.as_object().filter(|_| levels > 0) else { return };
        let here = resolver.in_subresource(self.draft.of_engine().create_resource_ref(schema));
        let Ok(resolver) = here else { return };
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            let Some(Value::String(reference)) = map.get(keyword) else { continue };
            if self.is_dangling(&resolver, reference) {
                self.dangling.push((pointer.to_owned(), keyword));
                return;
            }
        }
        if self.draft.ref_stands_alone() && map.contains_key("$ref") {
            // Definitions beside it can be referred to all the same.
            for (keyword, value) in map.iter().filter(|(keyword, _)| *keyword == "definitions") {
                self.children(keyword, value, &resolver, pointer, levels);
            }
            return;
        }
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
                !is_schema || self.resources.is_missing(document.as_str())
            }
            _ => true,
        }
    }
}

/// A JSON Pointer, one level down.
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
