//! Any argument text, as it is and in the ways in which models wrap it: parsed, shown while it is written, and checked
//! against every built-in's schema and a wide one.
//!
//! `cargo fuzz run arguments` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tackroom::call::{ArgumentSchema, SchemaOptions};
use tackroom::schema::{parse, partial};
use tackroom::tools::Builtin;

/// Those of the built-ins, a wide one of structural keywords, and one that needs the engine.
fn schemas() -> Vec<ArgumentSchema> {
    let wide = json!({
        "type": "object",
        "properties": {
            "s": {"type": "string", "minLength": 1, "maxLength": 4},
            "n": {"type": "number", "minimum": -2.5, "exclusiveMaximum": 1e21},
            "i": {"type": ["integer", "null"]},
            "b": {"type": "boolean"},
            "e": {"enum": ["a", 1, null, [1, {"a": 2}]]},
            "c": {"const": {"a": [1.0]}},
            "l": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
            "o": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "string"}}},
                "required": ["a"],
                "additionalProperties": false,
            },
            "u": {"anyOf": [
                {"type": "object", "properties": {"kind": {"const": "x"}, "v": {"type": "number"}}, "required": ["kind"]},
                {"type": "object", "properties": {"kind": {"const": "y"}, "v": {"type": "string"}}, "required": ["kind"]},
                {"type": "boolean"},
            ]},
        },
        "additionalProperties": {"type": "integer", "nullable": true},
    });
    let engine = json!({
        "properties": {"t": {"$ref": "#"}, "s": {"type": "string", "pattern": "^(?!x)[a-z]*$"}, "i": {"type": "integer"}},
        "patternProperties": {"^x-": {"type": "number", "multipleOf": 0.5}},
        "dependentRequired": {"s": ["i"]},
        "unevaluatedProperties": false,
    });
    let built_ins = Builtin::ALL.into_iter().map(|tool| tool.parameters());
    built_ins
        .chain([wide, engine])
        .map(|schema| {
            let text = schema.to_string();
            ArgumentSchema::compile("tool", text.as_bytes(), SchemaOptions::default()).expect("a schema")
        })
        .collect()
}

thread_local! {
    static SCHEMAS: Vec<ArgumentSchema> = schemas();
}

/// How JavaScript sees it: every number a double, 42.0 and 42 the same.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().map(|float| if float == 0.0 { 0.0 } else { float })),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

fn check(text: &[u8]) {
    let parsed = parse::arguments("tool", text, true);
    if let Err(error) = &parsed {
        assert!(error.message.len() < 1000, "{}", error.message);
    }
    let strictly = parse::arguments("tool", text, false);
    assert!(strictly.is_err() || strictly == parsed);
    let partial = partial::arguments(text);
    assert_eq!(partial.complete, strictly.is_ok());
    if let Ok(value) = &strictly {
        assert_eq!(partial.value.as_ref(), Some(value));
    }
    SCHEMAS.with(|schemas| {
        for schema in schemas {
            let validated = schema.validate(text, false);
            assert_eq!(validated, schema.validate(text, false), "the same twice");
            if schema.fits(text) {
                let value: Value = serde_json::from_slice(text).expect("what fits is JSON");
                let validated = validated.as_ref().expect("what fits is valid");
                assert_eq!(plain(validated), plain(&value));
            }
            match &validated {
                Err(error) => assert!(error.message.len() < 4096, "{}", error.message.len()),
                Ok(value) => {
                    let again = schema.validate(value.to_string().as_bytes(), false);
                    assert_eq!(again.as_ref().map(plain), Ok(plain(value)), "what is valid stays");
                }
            }
            if let Err(errors) = schema.check(text) {
                assert!(!errors.is_empty());
            }
            assert!(schema.validate(text, true).is_err());
        }
    });
}

fuzz_target!(|text: &[u8]| {
    check(text);
    // Encoded once more, as some models do.
    if let Ok(text) = std::str::from_utf8(text) {
        check(json!(text).to_string().as_bytes());
        check(json!({"s": text, "o": text, "l": text, "path": text, "edits": text}).to_string().as_bytes());
    }
});
