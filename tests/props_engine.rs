#![cfg(not(target_arch = "wasm32"))]
//! Properties of the full engine, over schemas of any keywords and over what is no schema at all.

mod generate;

use std::time::{Duration, Instant};

use generate::{Choices, DRAFTS};
use proptest::prelude::*;
use serde_json::{Value, json};
use tackroom::schema::engine::{Draft, Engine, EngineOptions};
use tackroom::schema::{Coercion, CompiledSchema, MAX_ERRORS, Repairs, wording};

/// What one check may take in a build that is not optimised, on a machine that does other things.
const MOST: Duration = Duration::from_secs(20);

fn options(formats: bool) -> EngineOptions {
    EngineOptions { formats, draft: None, resources: generate::resources() }
}

fn all_repairs() -> impl Iterator<Item = Repairs> {
    [Coercion::Safe, Coercion::Ajv, Coercion::None].into_iter().flat_map(|coercion| {
        [true, false].map(|drop_optional_nulls| Repairs { coercion, drop_optional_nulls })
    })
}

/// How many nulls there are in a value, in the JSON text of strings too: it may be opened.
fn nulls(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::String(text) => text.matches("null").count(),
        Value::Array(items) => items.iter().map(nulls).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.matches("null").count() + nulls(value)).sum(),
        _ => 0,
    }
}

/// What is wrong with how an engine treats a value.
fn broken(engine: &Engine, value: &Value) -> Result<(), String> {
    for repairs in all_repairs() {
        let started = Instant::now();
        let checked = engine.check(value.clone(), repairs);
        if checked != engine.check(value.clone(), repairs) {
            return Err(format!("{repairs:?}: not the same twice"));
        }
        match &checked {
            Ok(fitting) => {
                if !engine.accepts(fitting) {
                    return Err(format!("{repairs:?}: {fitting} does not fit"));
                }
                // Texts, as they keep the order of keys.
                let (after, before) = (fitting.to_string(), value.to_string());
                if engine.accepts(value) && after != before {
                    return Err(format!("{repairs:?}: it fits, and became {fitting}"));
                }
                if engine.check(fitting.clone(), repairs).as_ref() != Ok(fitting) {
                    return Err(format!("{repairs:?}: {fitting} does not stay"));
                }
                if repairs.coercion == Coercion::None && !repairs.drop_optional_nulls && fitting != value {
                    return Err(format!("nothing may change, and became {fitting}"));
                }
                if repairs.coercion == Coercion::Safe
                    && !repairs.drop_optional_nulls
                    && nulls(fitting) != nulls(value)
                {
                    return Err(format!("a null came or went: {fitting}"));
                }
            }
            Err(errors) => {
                if engine.accepts(value) {
                    return Err(format!("{repairs:?}: it fits, but {errors:?}"));
                }
                if errors.is_empty() || errors.len() > MAX_ERRORS {
                    return Err(format!("{repairs:?}: {} errors", errors.len()));
                }
                let report = wording::report("tool", errors, value);
                if report.len() >= 4096 {
                    return Err(format!("{repairs:?}: a report of {} bytes", report.len()));
                }
                for error in errors {
                    if error.message.is_empty() || error.message.ends_with('.') || error.message.len() > 2000
                    {
                        return Err(format!("{repairs:?}: {error:?}"));
                    }
                }
            }
        }
        if started.elapsed() > MOST {
            return Err(format!("{repairs:?}: {:?}", started.elapsed()));
        }
    }
    Ok(())
}

/// What was mended is in the schema that was given, and is mended once.
fn well_warned(engine: &Engine, schema: &Value) -> Result<(), String> {
    let mut seen: Vec<&str> = Vec::new();
    for warning in engine.warnings() {
        if schema.pointer(&warning.path).is_none() {
            return Err(format!("a warning about nothing: {warning:?}"));
        }
        if seen.contains(&warning.path.as_str()) {
            return Err(format!("two warnings: {:?}", engine.warnings()));
        }
        if warning.message.len() > 1000 || warning.message.ends_with('.') {
            return Err(format!("{warning:?}"));
        }
        seen.push(&warning.path);
    }
    Ok(())
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn config(cases: u32) -> ProptestConfig {
    let cases = ProptestConfig::default().cases.max(cases);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(1024))]

    #[test]
    fn the_engine_keeps_its_word(schema in bytes(160), value in bytes(60), formats in any::<bool>()) {
        let schema = generate::full(&mut Choices::new(&schema));
        let engine = Engine::compile(&schema, &options(formats)).map_err(TestCaseError::fail)?;
        prop_assert_eq!(well_warned(&engine, &schema), Ok(()), "{}", schema);
        let mut choices = Choices::new(&value);
        let value = match choices.pick(5) {
            4 => generate::any(&mut choices, 3),
            _ => generate::near(&mut choices, &schema),
        };
        prop_assert_eq!(broken(&engine, &value), Ok(()), "{} {}", schema, value);
    }

    #[test]
    fn anything_for_a_schema_is_compiled_or_refused(schema in bytes(200), value in bytes(40)) {
        let mut choices = Choices::new(&schema);
        let schema = match choices.pick(9) {
            8 => generate::any(&mut choices, 4),
            _ => generate::hostile(&mut choices, 4),
        };
        let started = Instant::now();
        let engine = Engine::compile(&schema, &options(false));
        if !schema.is_object() && !schema.is_boolean() {
            prop_assert!(engine.is_err(), "{}", schema);
            return Ok(());
        }
        let engine = engine.map_err(|error| TestCaseError::fail(format!("{error} {schema}")))?;
        prop_assert_eq!(well_warned(&engine, &schema), Ok(()), "{}", schema);
        let value = generate::near(&mut Choices::new(&value), &schema);
        prop_assert_eq!(broken(&engine, &value), Ok(()), "{} {}", schema, value);
        // Where another document is no schema either, the one that refers to it may not compile.
        let mut resources = generate::resources();
        resources.insert("file:///a".to_owned(), generate::hostile(&mut choices, 2));
        match Engine::compile(&schema, &EngineOptions { resources, ..EngineOptions::default() }) {
            Ok(engine) => prop_assert_eq!(broken(&engine, &value), Ok(()), "{} {}", schema, value),
            Err(error) => prop_assert!(!error.is_empty() && error.len() < 4000, "{}", error),
        }
        prop_assert!(started.elapsed() < MOST, "{:?} {}", started.elapsed(), schema);
    }
}

#[test]
fn what_only_the_structural_checker_takes_for_a_schema_has_its_words_in_every_draft() {
    // The drafts differ in what they know, not in what they say of it.
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["k"]});
    let value = json!({"n": "x"});
    let structural = CompiledSchema::compile(&schema).unwrap();
    let errors = structural.check(value.clone(), Coercion::Safe).unwrap_err();
    for draft in DRAFTS {
        let mut schema = schema.clone();
        schema["$schema"] = draft.into();
        let engine = Engine::compile(&schema, &EngineOptions::default()).unwrap();
        assert_eq!(engine.check(value.clone(), Coercion::Safe.into()), Err(errors.clone()), "{draft}");
    }
}

/// An expression as many tools have it: endless, in several forms.
fn expressions(marked: bool) -> Value {
    let form = |name: &str| {
        let op = if marked { json!({"const": name}) } else { json!({"type": "string"}) };
        json!({
            "type": "object",
            "properties": {"op": op, "args": {"type": "array", "items": {"$ref": "#/$defs/E"}}},
            "required": ["op", "args"],
        })
    };
    let leaf = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    json!({"$ref": "#/$defs/E", "$defs": {"E": {"anyOf": [form("and"), form("or"), form("not"), leaf]}}})
}

fn nested(levels: usize, innermost: Value) -> Value {
    (0..levels).fold(innermost, |inner, level| {
        let op = if level % 2 == 0 { "and" } else { "or" };
        json!({"op": op, "args": [inner]})
    })
}

#[test]
fn endless_schemas_take_time_by_the_size_of_the_value() {
    for marked in [true, false] {
        let engine = Engine::compile(&expressions(marked), &EngineOptions::default()).unwrap();
        for innermost in [json!({"n": "1"}), json!({"n": "x"})] {
            assert_eq!(broken(&engine, &nested(10, innermost.clone())), Ok(()));
            let started = Instant::now();
            let checked = engine.check(nested(40, innermost.clone()), Coercion::Safe.into());
            assert!(started.elapsed() < MOST, "{:?}", started.elapsed());
            assert_eq!(checked.is_ok(), marked && innermost["n"] == "1", "{checked:?}");
        }
    }
    // Where a mark tells the forms apart, it is repaired however deep it stands.
    let engine = Engine::compile(&expressions(true), &EngineOptions::default()).unwrap();
    let checked = engine.check(nested(40, json!({"n": "1"})), Coercion::Safe.into());
    assert_eq!(checked, Ok(nested(40, json!({"n": 1}))));
    let errors = engine.check(nested(3, json!({"n": "x"})), Coercion::Safe.into()).unwrap_err();
    assert_eq!(errors.len(), 1);
    assert_eq!(
        (errors[0].path.as_str(), errors[0].message.as_str()),
        ("args.0.args.0.args.0.n", "must be integer, got \"x\"")
    );
}

#[test]
fn endless_schemas_in_other_documents_end_too() {
    let resources = [("https://example.com/e".to_owned(), expressions(false))].into_iter().collect();
    let options = EngineOptions { resources, ..EngineOptions::default() };
    let engine = Engine::compile(&json!({"$ref": "https://example.com/e"}), &options).unwrap();
    for levels in [2, 40] {
        assert_eq!(broken(&engine, &nested(levels, json!({"n": "x"}))), Ok(()));
    }
}

#[test]
fn deep_and_wide_schemas_end() {
    let nest = |levels: usize, around: &dyn Fn(Value) -> Value| {
        (0..levels).fold(json!({"type": "integer"}), |inner, _| around(inner))
    };
    let mut many = json!({"enum": (0..20_000).map(|one| json!(format!("v{one}"))).collect::<Vec<_>>(), "not": {"const": 1}});
    many["properties"] = (0..2_000).map(|one| (format!("p{one}"), json!({"pattern": "^a"}))).collect();
    for (schema, value) in [
        (nest(200, &|inner| json!({"items": inner})), json!([[["1"]]])),
        (nest(200, &|inner| json!({"allOf": [inner]})), json!("1")),
        (nest(100, &|inner| json!({"anyOf": [inner]})), json!("x")),
        (nest(100, &|inner| json!({"oneOf": [inner, {"type": "null"}]})), json!("x")),
        (nest(100, &|inner| json!({"not": inner})), json!("x")),
        (nest(60, &|inner| json!({"items": inner, "additionalItems": {"minimum": 1}})), json!([[["x"]]])),
        (nest(60, &|inner| json!({"if": {"type": "string"}, "then": inner, "else": false})), json!("x")),
        (
            nest(60, &|inner| json!({"properties": {"a": inner}, "unevaluatedProperties": false})),
            json!({"a": {"b": 1}}),
        ),
        (many, json!("x")),
        (json!({"pattern": "(a+)+$"}), json!(format!("{}!", "a".repeat(5_000)))),
        (json!({"pattern": "^(?=a)(a+)+$"}), json!(format!("{}!", "a".repeat(5_000)))),
        (json!({"pattern": "^(?=a)(a|aa)+\\1$"}), json!(format!("{}!", "a".repeat(5_000)))),
        (json!({"pattern": "((a{1,50}){1,50}){1,50}"}), json!("a")),
        (json!({"uniqueItems": true}), json!((0..20_000).collect::<Vec<_>>())),
    ] {
        let started = Instant::now();
        let engine = Engine::compile(&schema, &EngineOptions::default()).unwrap();
        assert!(started.elapsed() < MOST, "{:?} {:.200}", started.elapsed(), schema.to_string());
        assert_eq!(broken(&engine, &value), Ok(()));
    }
}

#[test]
fn schemas_that_refer_to_themselves_end() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"oneOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"minimum": 5, "anyOf": [{"$ref": "#"}]}),
        json!({"maximum": -5, "maxLength": 0, "oneOf": [{"$ref": "#"}, {"anyOf": [{"$ref": "#"}]}]}),
        json!({"anyOf": [{"type": "array", "items": {"$ref": "#"}}]}),
        json!({"type": "array", "items": {"type": ["array", "object"], "items": {"$ref": "#"}}}),
        json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}, "else": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
        json!({"$ref": "#/$ref"}),
        json!({"$ref": "#/allOf/0", "allOf": [{"$ref": "#"}]}),
        json!({"items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}, "type": ["array", "object", "integer"]}),
        json!({"$dynamicRef": "#a", "$dynamicAnchor": "a"}),
        json!({"$id": "https://example.com/me", "$ref": "https://example.com/me"}),
        json!({"dependentSchemas": {"a": {"$ref": "#"}}, "propertyNames": {"$ref": "#"}}),
        json!({"unevaluatedProperties": {"$ref": "#"}, "contains": {"$ref": "#"}}),
        // A lone item in an array, which a branch takes for what was sent, and so on.
        json!({"type": "array", "items": {"type": "array", "anyOf": [{"allOf": [{"$ref": "#"}]}]}}),
        json!({"items": {"type": "array", "anyOf": [{"oneOf": [{"type": "integer"}], "anyOf": [{"$ref": "#"}]}]}}),
        json!({
            "type": "string",
            "anyOf": [{"type": "array", "items": {"type": "number", "anyOf": [{"$ref": "#"}]}}],
        }),
    ] {
        let engine = Engine::compile(&schema, &EngineOptions::default()).unwrap();
        for value in [
            json!("1"),
            json!("x"),
            json!(1),
            json!({"a": {"a": "1"}}),
            json!([["1"], {"b": null}]),
            json!(null),
        ] {
            assert_eq!(broken(&engine, &value), Ok(()), "{schema} {value}");
        }
    }
}

#[test]
fn references_that_lead_through_many_end() {
    for around in [
        json!({"anyOf": [{}, {"const": 0}]}),
        json!({"allOf": [{}]}),
        json!({"properties": {"a": {}}}),
        json!({"type": "array", "items": {}}),
        json!({}),
    ] {
        let mut definitions = json!({"A400": {"type": "integer"}});
        for one in 0..400 {
            let reference = json!({"$ref": format!("#/$defs/A{}", one + 1)});
            let mut schema = around.clone();
            for place in ["/anyOf/0", "/allOf/0", "/properties/a", "/items", ""] {
                if let Some(place) = schema.pointer_mut(place) {
                    *place = reference;
                    break;
                }
            }
            definitions[format!("A{one}")] = schema;
        }
        let schema = json!({"$ref": "#/$defs/A0", "$defs": definitions});
        let engine = Engine::compile(&schema, &EngineOptions::default()).unwrap();
        for value in [json!("5"), json!("x")] {
            match engine.check(value, Coercion::Safe.into()) {
                Ok(value) => assert!(engine.accepts(&value), "{around}"),
                Err(errors) => assert!(!errors.is_empty(), "{around}"),
            }
        }
    }
}

#[test]
fn every_draft_is_named() {
    for (name, draft) in ["4", "6", "7", "2019-09", "2020-12"].into_iter().zip(DRAFTS.iter().rev()) {
        assert!(Draft::named(name).is_some());
        let schema = json!({"$schema": draft, "type": "integer"});
        assert!(Engine::compile(&schema, &EngineOptions::default()).unwrap().warnings().is_empty());
    }
}
