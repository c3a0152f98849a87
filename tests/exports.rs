#![cfg(not(target_arch = "wasm32"))]
//! Exports of real tool schemas, by rules that are written down here once more: what each provider's documentation
//! refuses. The corpus has the shapes that public MCP servers, SDKs and their documentation declare.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tackroom::schema::export::{Format, export, open};
use tackroom::schema::strict::{Mode, strict, strict_for};
use tackroom::schema::{Coercion, CompiledSchema};

struct Entry {
    name: String,
    schema: Value,
}

fn corpus() -> Vec<Entry> {
    let text = include_str!("data/tool-schemas.json");
    let entries: Vec<Value> = serde_json::from_str(text).expect("the corpus is JSON");
    let read = |entry: Value| Entry {
        name: format!("{}: {}", entry["source"].as_str().unwrap(), entry["name"].as_str().unwrap()),
        schema: entry["schema"].clone(),
    };
    entries.into_iter().map(read).collect()
}

/// Every schema in a schema, with its place; what is named like a keyword is not mistaken for one.
fn schemas<'a>(schema: &'a Value, place: String, found: &mut Vec<(String, &'a Map<String, Value>)>) {
    let Some(map) = schema.as_object() else { return };
    found.push((place.clone(), map));
    for (keyword, value) in map {
        let below = |step: &str| format!("{place}/{keyword}/{step}");
        match (keyword.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas",
                Value::Object(named),
            ) => {
                named.iter().for_each(|(name, schema)| schemas(schema, below(name), found));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
                list.iter()
                    .enumerate()
                    .for_each(|(at, schema)| schemas(schema, below(&at.to_string()), found));
            }
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames",
                value,
            ) => schemas(value, format!("{place}/{keyword}"), found),
            _ => {}
        }
    }
}

fn all(schema: &Value) -> Vec<(String, &Map<String, Value>)> {
    let mut found = Vec::new();
    schemas(schema, String::new(), &mut found);
    found
}

/// The names in `type`.
fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(name) => name.as_str().into_iter().collect(),
        None => vec![],
    }
}

fn only(schema: &Map<String, Value>, keywords: &[&str]) -> Option<String> {
    schema.keys().find(|key| !keywords.contains(&key.as_str())).map(|key| format!("has {key}"))
}

/// What strict tools of a provider would be refused for.
fn against_strict(schema: &Value, mode: Mode) -> Vec<String> {
    let words = ["title", "description", "$defs", "definitions"];
    let mut known = vec!["type", "properties", "required", "additionalProperties", "items", "enum", "const"];
    known.extend(["anyOf", "$ref", "pattern", "format", "minItems"]);
    known.extend(words);
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    if mode == Mode::OpenAi {
        known.extend(bounds);
        known.extend(["minLength", "maxLength", "maxItems"]);
    }
    let formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    let mut wrong = Vec::new();
    for (place, node) in all(schema) {
        let mut no = |what: String| wrong.push(format!("{place} {what}"));
        if let Some(what) = only(node, &known) {
            no(what);
        }
        let alone = |keyword: &str| node.keys().all(|key| key == keyword || words.contains(&key.as_str()));
        if node.contains_key("$ref") && node.len() > 1 {
            no("has more than $ref".into());
        }
        if node.contains_key("anyOf") && (place.is_empty() || !alone("anyOf")) {
            no("has more than anyOf".into());
        }
        let names = ["object", "array", "string", "number", "integer", "boolean", "null"];
        if node.contains_key("type")
            && (types(node).is_empty() || !types(node).iter().all(|name| names.contains(name)))
        {
            no(format!("has type {}", node["type"]));
        }
        if !["type", "enum", "anyOf", "$ref"].iter().any(|keyword| node.contains_key(*keyword)) {
            no("has no type".into());
        }
        if types(node).contains(&"object") {
            let names: Vec<&String> = node["properties"].as_object().unwrap().keys().collect();
            let required: Vec<&str> =
                node["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            if names.len() != required.len() || !names.iter().all(|name| required.contains(&name.as_str())) {
                no(format!("requires {required:?} of {names:?}"));
            }
            if node["additionalProperties"] != json!(false) {
                no("is open".into());
            }
        }
        if types(node).contains(&"array") && !node.get("items").is_some_and(Value::is_object) {
            no("has no items".into());
        }
        if let Some(format) = node.get("format")
            && !formats.iter().any(|known| format == known)
            && !(mode == Mode::Anthropic && format == "uri")
        {
            no(format!("has format {format}"));
        }
        if mode == Mode::Anthropic && node.get("minItems").is_some_and(|count| count != 0 && count != 1) {
            no("has minItems".into());
        }
    }
    if schema["type"] != "object" {
        wrong.push("the root is no object".into());
    }
    wrong
}

/// What tools that are not strict would be refused for, by Anthropic or OpenAI.
fn against_open(schema: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for keyword in ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"] {
        if schema.get(keyword).is_some() {
            wrong.push(format!("the root has {keyword}"));
        }
    }
    if schema["type"] != "object" || !schema["properties"].is_object() {
        wrong.push("the root is no object with properties".into());
    }
    for (place, node) in all(schema) {
        if types(node).contains(&"array") && !node.contains_key("items") {
            wrong.push(format!("{place} has no items"));
        }
        if node.get("items").is_some_and(Value::is_array) {
            wrong.push(format!("{place} has a tuple of draft 7"));
        }
        for bound in ["exclusiveMinimum", "exclusiveMaximum"] {
            if node.get(bound).is_some_and(Value::is_boolean) {
                wrong.push(format!("{place} has {bound} of draft 4"));
            }
        }
    }
    wrong
}

/// What Gemini would refuse function declarations for.
fn against_gemini(schema: &Value) -> Vec<String> {
    let known = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "minimum",
        "maximum",
    ];
    let of_type: [(&str, &[&str]); 4] = [
        ("object", &["properties", "required", "minProperties", "maxProperties"]),
        ("array", &["items", "minItems", "maxItems"]),
        ("string", &["enum", "minLength", "maxLength", "pattern"]),
        ("number", &["minimum", "maximum"]),
    ];
    let formats = [
        "string date-time",
        "string enum",
        "number float",
        "number double",
        "integer int32",
        "integer int64",
    ];
    let mut wrong = Vec::new();
    for (place, node) in all(schema) {
        let mut no = |what: String| wrong.push(format!("{place} {what}"));
        if let Some(what) = only(node, &known) {
            no(what);
        }
        if let Some(branches) = node.get("anyOf") {
            if node.len() > 1 || branches.as_array().unwrap().len() < 2 {
                no("has something beside anyOf, or one branch".into());
            }
            continue;
        }
        let name = node.get("type").and_then(Value::as_str).unwrap_or_default();
        if !["object", "array", "string", "number", "integer", "boolean"].contains(&name) {
            no(format!("has type {:?}", node.get("type")));
        }
        for (of, keywords) in of_type {
            let is_of = name == of || name == "integer" && of == "number";
            if let Some(keyword) = keywords.iter().find(|keyword| !is_of && node.contains_key(**keyword)) {
                no(format!("has {keyword} for {name}"));
            }
        }
        if name == "array" && !node.get("items").is_some_and(Value::is_object) {
            no("has no items".into());
        }
        if let Some(values) = node.get("enum")
            && !values
                .as_array()
                .unwrap()
                .iter()
                .all(|value| value.as_str().is_some_and(|text| !text.is_empty()))
        {
            no("has an enum of more than texts".into());
        }
        if let Some(format) = node.get("format")
            && !formats.contains(&format!("{name} {}", format.as_str().unwrap()).as_str())
        {
            no(format!("has format {format}"));
        }
        let is_property = |name: &Value| node["properties"].get(name.as_str().unwrap()).is_some();
        if node.get("required").is_some_and(|names| !names.as_array().unwrap().iter().all(is_property)) {
            no("requires what it does not have".into());
        }
        if !place.is_empty() && node.get("properties").is_some_and(|map| map.as_object().unwrap().is_empty())
        {
            no("has empty properties".into());
        }
    }
    if schema["type"] != "object" || !schema["properties"].is_object() {
        wrong.push("the root is no object with properties".into());
    }
    wrong
}

#[test]
fn the_corpus_is_of_some_size_and_variety() {
    let entries = corpus();
    assert!(entries.len() >= 60, "{}", entries.len());
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &entries {
        for (_, node) in all(&entry.schema) {
            for keyword in
                ["$ref", "anyOf", "oneOf", "allOf", "const", "prefixItems", "nullable", "propertyNames"]
            {
                *seen.entry(keyword).or_default() += usize::from(node.contains_key(keyword));
            }
        }
    }
    assert!(seen.values().all(|count| *count > 0) && seen.len() == 8, "{seen:?}");
}

#[test]
fn every_export_obeys_its_format() {
    let mut wrong = Vec::new();
    let mut strict_tools = [0, 0];
    for Entry { name, schema } in corpus() {
        for format in Format::ALL {
            let exported = export(&schema, format).unwrap_or_else(|error| panic!("{name}: {error}"));
            if exported == json!({"type": "object", "properties": {}}) {
                continue;
            }
            let form = format.strict_mode().map(|mode| (mode, strict_for(&schema, mode)));
            let found = match &form {
                Some((mode, Ok(form))) => {
                    assert_eq!(&exported, form, "{name}");
                    strict_tools[usize::from(*mode == Mode::Anthropic)] += 1;
                    against_strict(form, *mode)
                }
                Some((_, Err(_))) => against_open(&exported),
                None if format == Format::Gemini => against_gemini(&exported),
                None => against_same(&exported, &schema),
            };
            let found = found.into_iter().chain(match format.strict_mode() {
                // The open form is there for every tool, also where it is not the one that export takes.
                Some(_) => against_open(&open(&schema, format).unwrap()),
                None => vec![],
            });
            wrong.extend(found.map(|what| format!("{name} for {}: {what}", format.as_str())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // By two formats of OpenAI.
    assert!(strict_tools[0] / 2 >= 60 && strict_tools[1] >= 30, "{strict_tools:?}");
}

/// JSON Schema as it was, with a root that says that it is an object.
fn against_same(exported: &Value, schema: &Value) -> Vec<String> {
    if schema.get("$ref").is_some() {
        return if exported["type"] == "object" && exported.get("$ref").is_none() {
            vec![]
        } else {
            vec!["root".into()]
        };
    }
    let mut expected = schema.clone();
    expected["type"] = json!("object");
    if expected.get("properties").is_none() {
        expected["properties"] = json!({});
    }
    if *exported == expected { vec![] } else { vec![format!("is {exported}")] }
}

#[test]
fn strict_forms_are_strict_already() {
    for Entry { name, schema } in corpus() {
        for mode in [Mode::OpenAi, Mode::Anthropic] {
            if let Ok(form) = strict_for(&schema, mode) {
                assert_eq!(strict_for(&form, mode), Ok(form.clone()), "{name}");
            }
        }
    }
    // As OpenAI's documentation has them: these stay as they are.
    for Entry { name, schema } in corpus() {
        if name.starts_with("openai docs, function calling") || name.ends_with("structured outputs: query") {
            assert_eq!(strict(&schema), Ok(schema.clone()), "{name}");
        }
    }
}

/// A small generator of pseudo-random numbers, so that a failure can be seen again.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// A value that fits a schema, more or less: who wants one that does, checks it. `optional` of 4 optional
    /// properties are there.
    fn value(&mut self, schema: &Value, optional: usize) -> Value {
        let Some(map) = schema.as_object() else { return json!("anything") };
        if let Some(one) = map.get("const") {
            return one.clone();
        }
        if let Some(values) = map.get("enum") {
            let values = values.as_array().unwrap();
            return values[self.below(values.len())].clone();
        }
        if let Some(branches) = map.get("anyOf") {
            let branches = branches.as_array().unwrap();
            let mut branch = branches[self.below(branches.len())].clone();
            // What stands beside it holds as well.
            for (keyword, value) in map.iter().filter(|(keyword, _)| *keyword != "anyOf") {
                let merged = branch.as_object_mut().unwrap();
                if keyword == "required" && merged.contains_key("required") {
                    let theirs = value.as_array().unwrap().clone();
                    merged["required"].as_array_mut().unwrap().extend(theirs);
                } else {
                    merged.entry(keyword.clone()).or_insert(value.clone());
                }
            }
            return self.value(&branch, optional);
        }
        let names = types(map);
        let name = if names.is_empty() { "object" } else { names[self.below(names.len())] };
        let number = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
        match name {
            "null" => Value::Null,
            "boolean" => json!(self.below(2) == 1),
            "integer" | "number" => {
                let least =
                    number("minimum").or(number("exclusiveMinimum").map(|bound| bound + 1.0)).unwrap_or(-5.0);
                let most = number("maximum").or(number("exclusiveMaximum").map(|bound| bound - 1.0));
                let whole = (least.ceil() + self.below(9) as f64).min(most.unwrap_or(f64::MAX));
                if name == "number" && most.is_none() && self.below(2) == 1 {
                    return json!(whole + 0.5);
                }
                json!(whole as i64)
            }
            "string" => {
                let least = map.get("minLength").and_then(Value::as_u64).unwrap_or_default() as usize;
                json!("text\u{e9}".chars().cycle().take(least.max(self.below(6))).collect::<String>())
            }
            "array" => {
                let least = map.get("minItems").and_then(Value::as_u64).unwrap_or_default() as usize;
                let most = map.get("maxItems").and_then(Value::as_u64).unwrap_or(9) as usize;
                let count = (least + self.below(3)).min(most);
                let items = map.get("items").unwrap_or(&Value::Null);
                (0..count).map(|_| self.value(items, optional)).collect()
            }
            "object" => {
                let mut object = Map::new();
                for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
                    let is_required = map
                        .get("required")
                        .is_some_and(|names| names.as_array().unwrap().contains(&json!(name)));
                    if is_required || self.below(4) < optional {
                        object.insert(name.clone(), self.value(schema, optional));
                    }
                }
                object.into()
            }
            other => panic!("{other}"),
        }
    }
}

impl Random {
    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Any schema, right or wrong: keywords of all drafts, some with values that they cannot have.
    fn schema(&mut self, levels: usize) -> Value {
        if levels == 0 || self.below(12) == 0 {
            return self
                .one(&[json!(true), json!(false), json!({}), json!({"type": "string"}), json!(5)])
                .clone();
        }
        let keywords = [
            "type",
            "type",
            "type",
            "properties",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "const",
            "anyOf",
            "oneOf",
            "allOf",
            "$ref",
            "nullable",
            "minimum",
            "exclusiveMinimum",
            "minLength",
            "format",
            "pattern",
            "description",
            "default",
            "not",
            "prefixItems",
            "minItems",
            "uniqueItems",
            "title",
        ];
        let mut map = Map::new();
        for _ in 0..=self.below(4) {
            let keyword = *self.one(&keywords);
            let value = match keyword {
                _ if self.below(15) == 0 => {
                    self.one(&[json!(null), json!(1), json!("x"), json!([]), json!({}), json!([1])]).clone()
                }
                "type" => {
                    let names =
                        ["object", "object", "array", "string", "number", "integer", "boolean", "null"];
                    match self.below(4) {
                        0 => json!([self.one(&names), self.one(&names)]),
                        _ => json!(self.one(&names)),
                    }
                }
                "properties" => {
                    let names = ["a", "type", "$ref", "properties"];
                    (0..self.below(3))
                        .map(|at| (names[at].to_owned(), self.schema(levels - 1)))
                        .collect::<Map<_, _>>()
                        .into()
                }
                "required" => {
                    self.one(&[json!(["a"]), json!(["a", "type"]), json!(["nowhere"]), json!(true)]).clone()
                }
                "additionalProperties" | "items" | "not" => self.schema(levels - 1),
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    (0..=self.below(2)).map(|_| self.schema(levels - 1)).collect::<Vec<_>>().into()
                }
                "enum" => self
                    .one(&[json!(["a", "b"]), json!(["", null]), json!([1, "a", true]), json!([{}])])
                    .clone(),
                "const" => self.one(&[json!("a"), json!(null), json!(1.5), json!({"type": 5})]).clone(),
                "$ref" => json!(self.one(&[
                    "#",
                    "#/$defs/A",
                    "#/definitions/B",
                    "#/properties/a",
                    "#/x",
                    "other.json"
                ])),
                "nullable" | "uniqueItems" => json!(true),
                "minimum" | "exclusiveMinimum" | "minLength" | "minItems" => {
                    self.one(&[json!(0), json!(1), json!(2.5), json!(true)]).clone()
                }
                "format" => json!(self.one(&["uri", "date-time", "int32", "uuid"])),
                "pattern" => json!(self.one(&["^a$", "(?=a)"])),
                _ => json!("words"),
            };
            map.insert(keyword.to_owned(), value);
        }
        map.into()
    }
}

#[test]
fn any_schema_at_all_is_exported_by_the_rules() {
    let mut random = Random(3);
    let (mut exported, mut forms, mut refused) = (0, [0, 0], 0);
    for _ in 0..20_000 {
        let mut schema = random.schema(4);
        if let Some(map) = schema.as_object_mut() {
            map.insert("$defs".into(), json!({"A": random.schema(3)}));
            map.insert("definitions".into(), json!({"B": random.schema(3)}));
        }
        for format in [Format::Gemini, Format::Anthropic, Format::OpenAiChat] {
            let Ok(form) = open(&schema, format) else {
                refused += 1;
                assert!(export(&schema, format).is_err() && strict(&schema).is_err(), "{schema}");
                continue;
            };
            let wrong = if format == Format::Gemini { against_gemini(&form) } else { against_open(&form) };
            assert!(wrong.is_empty(), "{wrong:?}\nof {schema}\nas {form}");
            exported += 1;
        }
        for (at, mode) in [Mode::OpenAi, Mode::Anthropic].into_iter().enumerate() {
            let Ok(form) = strict_for(&schema, mode) else { continue };
            let wrong = against_strict(&form, mode);
            assert!(wrong.is_empty(), "{wrong:?}\nof {schema}\nas {form}");
            assert_eq!(strict_for(&form, mode), Ok(form.clone()), "{schema}");
            forms[at] += 1;
        }
    }
    assert!(
        exported > 10_000 && refused > 1000 && forms.iter().all(|count| *count > 1000),
        "{exported} {refused} {forms:?}"
    );
}

/// Definitions of which each refers to the next, inside of such a schema.
fn chain(schema: Value) -> Value {
    let mut definitions = Map::new();
    for at in 0..1000 {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let mut one = schema.clone();
        match one.get_mut("allOf") {
            Some(parts) => parts[0] = next,
            None => one["properties"]["x"] = next,
        }
        definitions.insert(format!("d{at}"), one);
    }
    definitions.insert("d1000".into(), json!({"type": "object", "properties": {"y": {"type": "string"}}}));
    json!({"type": "object", "properties": {"top": {"$ref": "#/$defs/d0"}}, "$defs": definitions})
}

/// References and unions that multiply: what comes is bounded, and comes soon.
#[test]
fn schemas_that_multiply_are_cut_off() {
    let me = json!({"$ref": "#"});
    let mut nested = json!({"type": "object"});
    for _ in 0..20 {
        let branches: Vec<Value> = (0..10).map(|at| json!({"title": at.to_string()})).collect();
        nested = json!({"type": "object", "properties": {"x": nested}, "anyOf": branches});
    }
    let mut wide = Map::new();
    for at in 0..10 {
        let inner =
            (0..10).map(|key| (key.to_string(), json!({"$ref": format!("#/properties/p{}", at + 1)})));
        wide.insert(format!("p{at}"), json!({"type": "object", "properties": inner.collect::<Map<_, _>>()}));
    }
    wide.insert("p10".into(), json!({"type": "string"}));
    for schema in [
        json!({"allOf": [me, me, me, me, me, me, me, me]}),
        json!({"anyOf": [me, me, me, me, me, me, me, me], "oneOf": [me, me, me]}),
        json!({"properties": {"x": nested}}),
        json!({"properties": wide}),
        chain(json!({"type": "object", "properties": {"x": {}}})),
        chain(json!({"allOf": [{}]})),
    ] {
        for format in Format::ALL {
            let form = export(&schema, format).unwrap();
            assert!(form.to_string().len() < 5_000_000, "{}", format.as_str());
        }
    }
}

/// The value with null where the strict form has properties that it has not.
fn with_nulls(value: &Value, form: &Value, fits: &dyn Fn(&Value, &Value) -> bool) -> Value {
    if let Some(branches) = form.get("anyOf").and_then(Value::as_array) {
        let filled = branches.iter().map(|branch| (branch, with_nulls(value, branch, fits)));
        let fitting = filled.into_iter().find(|(branch, value)| fits(branch, value));
        return fitting.map_or_else(|| value.clone(), |(_, value)| value);
    }
    match value {
        Value::Object(object) if form.get("properties").is_some() => {
            let mut filled = object.clone();
            for (name, schema) in form["properties"].as_object().unwrap() {
                let value = object.get(name).map_or(Value::Null, |value| with_nulls(value, schema, fits));
                filled.insert(name.clone(), value);
            }
            filled.into()
        }
        Value::Array(items) => items.iter().map(|item| with_nulls(item, &form["items"], fits)).collect(),
        other => other.clone(),
    }
}

/// Without the properties that are null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let there = object.iter().filter(|(_, value)| !value.is_null());
            there.map(|(name, value)| (name.clone(), without_nulls(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// What is wrong with a strict form, of values there and back. `fits` is whether a value fits a schema; `checked` what
/// becomes of a value by the original, optional nulls dropped.
fn round_trips(
    schema: &Value,
    form: &Value,
    fits: &dyn Fn(&Value, &Value) -> bool,
    checked: &dyn Fn(&Value) -> Option<Value>,
) -> Result<usize, String> {
    let mut random = Random(7);
    let mut count = 0;
    for round in 0..60 {
        let value = random.value(schema, round % 5);
        if fits(schema, &value) {
            let sent = with_nulls(&value, form, fits);
            if !fits(form, &sent) {
                return Err(format!("{sent} does not fit the strict form"));
            }
            let Some(back) = checked(&sent) else { return Err(format!("{sent} is refused")) };
            if without_nulls(&back) != without_nulls(&value) || !fits(schema, &back) {
                return Err(format!("{value} came back as {back}"));
            }
            count += 1;
        }
        // What the provider may sample, the tool takes.
        let sampled = random.value(form, 4);
        if fits(form, &sampled) {
            let Some(back) = checked(&sampled) else {
                return Err(format!("{sampled} is sampled and refused"));
            };
            if without_nulls(&back) != without_nulls(&sampled) {
                return Err(format!("{sampled} became {back}"));
            }
            count += 1;
        }
    }
    if count < 60 { Err(format!("only {count} values fit: the generator is too poor")) } else { Ok(count) }
}

fn fits(schema: &Value, value: &Value) -> bool {
    CompiledSchema::compile(schema).expect("a part of a structural schema is one").accepts(value)
}

/// Those that the structural checker leaves to the engine.
#[test]
fn strict_forms_round_trip() {
    let (mut values, mut done, mut skipped) = (0, 0, Vec::new());
    for Entry { name, schema } in corpus() {
        let Ok(compiled) = CompiledSchema::compile(&schema) else {
            skipped.push(name);
            continue;
        };
        for mode in [Mode::OpenAi, Mode::Anthropic] {
            let Ok(form) = strict_for(&schema, mode) else { continue };
            let checked = |value: &Value| compiled.check(value.clone(), Coercion::None).ok();
            match round_trips(&schema, &form, &fits, &checked) {
                Ok(count) => values += count,
                Err(why) => panic!("{name}: {why}\nof {schema}\nas {form}"),
            }
            done += 1;
        }
    }
    println!("{done} strict forms, {values} values; left to the engine: {}", skipped.len());
    skipped.iter().for_each(|name| println!("  {name}"));
    assert!(done >= 80 && values >= 5000, "{done} forms, {values} values");
    assert!(skipped.len() <= 29, "{} are left to the engine", skipped.len());
}

/// A schema with its local references in place, so deep.
#[cfg(feature = "schema")]
fn inlined(schema: &Value, root: &Value, levels: usize) -> Value {
    match schema {
        Value::Object(map) => {
            let target =
                map.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
            if let Some(target) = target.and_then(|pointer| root.pointer(pointer)) {
                return if levels == 0 { json!({"not": {}}) } else { inlined(target, root, levels - 1) };
            }
            let below = |(key, value): (&String, &Value)| (key.clone(), inlined(value, root, levels));
            let kept = map.iter().filter(|(key, _)| !matches!(key.as_str(), "$defs" | "definitions"));
            kept.map(below).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(|item| inlined(item, root, levels)).collect(),
        other => other.clone(),
    }
}

/// The rest, by the engine. Every schema compiles; what has to be mended is listed.
#[cfg(feature = "schema")]
#[test]
fn the_engine_takes_the_rest() {
    use std::cell::RefCell;
    use std::collections::HashMap;
    use std::rc::Rc;
    use tackroom::schema::engine::{Engine, EngineOptions};

    let compile = |schema: &Value| Engine::compile(schema, &EngineOptions::default()).unwrap();
    let known: RefCell<HashMap<String, Rc<Engine>>> = RefCell::default();
    let fits = |schema: &Value, value: &Value| {
        let engine = known.borrow().get(&schema.to_string()).cloned();
        let engine = engine.unwrap_or_else(|| {
            let made = Rc::new(compile(schema));
            known.borrow_mut().insert(schema.to_string(), made.clone());
            made
        });
        engine.accepts(value)
    };
    let (mut entries, mut values, mut done, mut mended, mut poor) = (0, 0, 0, Vec::new(), Vec::new());
    for Entry { name, schema } in corpus() {
        let engine = compile(&schema);
        entries += 1;
        if !engine.warnings().is_empty() {
            mended.push(format!("{name}: {:?}", engine.warnings()));
        }
        if CompiledSchema::compile(&schema).is_ok() {
            continue;
        }
        for mode in [Mode::OpenAi, Mode::Anthropic] {
            let Ok(form) = strict_for(&schema, mode) else { continue };
            assert_eq!(compile(&form).warnings(), [], "{name}");
            let checked = |value: &Value| engine.check(value.clone(), Coercion::None.into()).ok();
            let (plain, strict) = (inlined(&schema, &schema, 3), inlined(&form, &form, 3));
            match round_trips(&plain, &strict, &fits, &checked) {
                Ok(count) => values += count,
                // Patterns, formats of texts: what fits them is not generated here.
                Err(why) if why.starts_with("only ") => poor.push(format!("{name}: {why}")),
                Err(why) => panic!("{name}: {why}\nof {schema}\nas {form}"),
            }
            done += 1;
        }
    }
    println!(
        "{entries} schemas; {done} strict forms, {values} values; mended: {mended:#?}; few values: {poor:#?}"
    );
    assert!(entries >= 60 && done >= 10 && values >= 500, "{entries} schemas, {done} forms, {values} values");
    assert!(mended.len() <= 2, "{mended:#?}");
    assert!(poor.len() <= 6, "{poor:#?}");
}

/// What fits a schema fits what a provider is told of it: exports that are not strict ask for no more.
#[test]
fn open_forms_take_what_the_schema_takes() {
    let (mut done, mut values) = (0, 0);
    for Entry { name, schema } in corpus() {
        if CompiledSchema::compile(&schema).is_err() {
            continue;
        }
        for format in Format::ALL {
            let form = open(&schema, format).unwrap();
            let mut shape = form.clone();
            comparable(&mut shape);
            let compiled = CompiledSchema::compile(&shape).unwrap_or_else(|why| panic!("{name}: {why:?}"));
            let mut random = Random(11);
            for round in 0..25 {
                let value = random.value(&schema, round % 5);
                if fits(&schema, &value) {
                    assert!(compiled.accepts(&value), "{name}: {value}\nof {schema}\nas {form}");
                    values += 1;
                }
            }
            done += 1;
        }
    }
    assert!(done >= 300 && values >= 6000, "{done} forms, {values} values");
}

/// What the checker here does not have: patterns; and Gemini's nullable enums, which cannot list null.
fn comparable(schema: &mut Value) {
    if let Some(map) = schema.as_object_mut() {
        if map.get("pattern").is_some_and(Value::is_string) {
            map.shift_remove("pattern");
        }
        if map.get("nullable") == Some(&json!(true))
            && let Some(Value::Array(values)) = map.get_mut("enum")
        {
            values.push(Value::Null);
        }
        map.values_mut().for_each(comparable);
    } else if let Some(list) = schema.as_array_mut() {
        list.iter_mut().for_each(comparable);
    }
}

#[test]
fn the_checkers_of_this_test_find_what_is_wrong() {
    let schema =
        json!({"type": "object", "properties": {"a": {"type": "array"}, "b": {"const": 1, "default": 2}}});
    assert!(
        against_strict(
            &json!({"type": "object", "properties": {"a": {"minLength": 1}}, "required": [],
        "additionalProperties": true}),
            Mode::Anthropic
        )
        .len()
            >= 4
    );
    assert_eq!(against_open(&schema), ["/properties/a has no items"]);
    assert_eq!(against_gemini(&schema).len(), 3, "{:?}", against_gemini(&schema));
}

/// The form that a provider's tools have.
fn read_schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}, "offset": {"type": "number"},
        "limit": {"type": "number"}}, "required": ["path"]})
}

#[test]
fn s01_gemini_subset() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "kind": {"const": "a", "description": "Kind"},
            "n": {"type": "integer", "exclusiveMinimum": 0, "multipleOf": 2},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
            "at": {"$ref": "#/$defs/Point", "description": "Where"},
            "tree": {"$ref": "#/$defs/Node"},
            "const": {"type": "string"},
            "$ref": {"type": "string"}
        },
        "required": ["kind", "$ref"],
        "additionalProperties": false,
        "$defs": {
            "Point": {"type": "object", "description": "A point", "properties": {"x": {"type": "number"}},
                "additionalProperties": false},
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
        }
    });
    assert_eq!(
        export(&schema, Format::Gemini).unwrap(),
        json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "description": "Kind", "enum": ["a"]},
                "n": {"type": "integer", "minimum": 1},
                "tags": {"type": "array", "items": {"type": "string"}},
                "at": {"type": "object", "description": "Where", "properties": {"x": {"type": "number"}}},
                "tree": {"type": "object", "properties": {"next": {"type": "object"}}},
                "const": {"type": "string"},
                "$ref": {"type": "string"}
            },
            "required": ["kind", "$ref"]
        })
    );
}

#[test]
fn s02_openai_strict() {
    let form = json!({"type": "object", "properties": {"path": {"type": "string"},
        "offset": {"type": ["number", "null"]}, "limit": {"type": ["number", "null"]}},
        "required": ["path", "offset", "limit"], "additionalProperties": false});
    assert_eq!(export(&read_schema(), Format::OpenAiChat).unwrap(), form);
    assert_eq!(export(&read_schema(), Format::OpenAiResponses).unwrap(), form);
    assert_eq!(strict(&read_schema()).unwrap(), form);
    let compiled = CompiledSchema::compile(&read_schema()).unwrap();
    let sent = json!({"path": "a", "offset": null, "limit": null});
    assert_eq!(compiled.check(sent, Coercion::Safe), Ok(json!({"path": "a"})));
}

#[test]
fn s04_no_arguments_and_a_union_at_the_root() {
    for schema in [json!({}), Value::Null, json!(true)] {
        let mut empty = json!({"type": "object", "properties": {}});
        for format in Format::ALL {
            assert_eq!(export(&schema, format).unwrap(), empty);
            assert_eq!(open(&schema, format).unwrap(), empty);
        }
        empty["required"] = json!([]);
        empty["additionalProperties"] = json!(false);
        assert_eq!(strict(&schema).unwrap(), empty);
    }
    let union = json!({"anyOf": [
        {"type": "object", "properties": {"id": {"type": "string"}, "all": {"type": "boolean"}}, "required": ["id"]},
        {"type": "object", "properties": {"id": {"type": "number"}, "path": {"type": "string"}}, "required": ["path", "id"]}
    ]});
    let flat = json!({"type": "object", "properties": {"id": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "all": {"type": "boolean"}, "path": {"type": "string"}}, "required": ["id"]});
    for format in [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini] {
        assert_eq!(export(&union, format).unwrap(), flat);
    }
    for format in [Format::JsonSchema, Format::Mcp] {
        let exported = export(&union, format).unwrap();
        assert_eq!((&exported["type"], &exported["anyOf"]), (&json!("object"), &union["anyOf"]));
    }
    let why = export(&json!({"anyOf": [{"type": "string"}]}), Format::OpenAiChat).unwrap_err();
    assert_eq!(
        (why.code.as_str(), why.message.as_str()),
        (
            "invalid_arguments",
            "Expected the schema of an object, found anyOf without one: a tool's arguments are an object, so make this a property of one"
        )
    );
}
