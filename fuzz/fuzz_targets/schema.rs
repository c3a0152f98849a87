//! Any schema, any value: structural ones through both checkers, which agree; those of every keyword and those that are
//! no schemas through the engine.
//!
//! `cargo fuzz run schema` (nightly, or RUSTC_BOOTSTRAP=1). Schemas and values are made of bytes as in the tests.
#![no_main]

#[path = "../../tests/generate/mod.rs"]
mod generate;

use std::time::{Duration, Instant};

use arbitrary::Arbitrary;
use generate::Choices;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use tackroom::schema::engine::{Engine, EngineOptions};
use tackroom::schema::{Coercion, CompiledSchema, MAX_ERRORS, Repairs, SchemaError, wording};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    sort: Sort,
    value_is_near: bool,
    formats: bool,
    repairs: u8,
    value: Vec<u8>,
    schema: &'a [u8],
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq)]
enum Sort {
    Structural,
    Full,
    Hostile,
    Json,
}

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

fn words(checked: &Result<Value, Vec<SchemaError>>, sent: &Value) -> String {
    match checked {
        Ok(value) => plain(value).to_string(),
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= MAX_ERRORS);
            let report = wording::report("tool", errors, sent);
            assert!(report.len() < 4096);
            report
        }
    }
}

fuzz_target!(|input: Input| {
    let mut choices = Choices::new(input.schema);
    let schema = match input.sort {
        Sort::Structural => generate::structural(&mut choices, 4),
        Sort::Full => generate::full(&mut choices),
        Sort::Hostile => generate::hostile(&mut choices, 4),
        Sort::Json => match serde_json::from_slice(input.schema) {
            Ok(schema) => schema,
            Err(_) => return,
        },
    };
    let mut choices = Choices::new(&input.value);
    let value = match input.value_is_near {
        true => generate::near(&mut choices, &schema),
        false => generate::any(&mut choices, 4),
    };
    let coercion = [Coercion::Safe, Coercion::Ajv, Coercion::None][usize::from(input.repairs % 3)];
    let repairs = Repairs { coercion, drop_optional_nulls: input.repairs < 128 };

    let started = Instant::now();
    let options = EngineOptions { formats: input.formats, draft: None, resources: generate::resources() };
    let engine = match Engine::compile(&schema, &options) {
        Ok(engine) => engine,
        Err(error) => {
            assert!(!schema.is_object() && !schema.is_boolean(), "{error} {schema}");
            return;
        }
    };
    for warning in engine.warnings() {
        assert!(schema.pointer(&warning.path).is_some(), "{warning:?}");
        assert!(warning.message.len() < 1000);
    }
    let checked = engine.check(value.clone(), repairs);
    let said = words(&checked, &value);
    assert_eq!(said, words(&engine.check(value.clone(), repairs), &value), "the same twice");
    match &checked {
        Ok(fitting) => {
            assert!(engine.accepts(fitting), "{schema} {value} {fitting}");
            assert_eq!(engine.check(fitting.clone(), repairs).as_ref(), Ok(fitting), "{schema} {value}");
            assert!(!engine.accepts(&value) || *fitting == value, "{schema} {value} {fitting}");
        }
        Err(_) => assert!(!engine.accepts(&value), "{schema} {value}"),
    }
    if let Ok(structural) = CompiledSchema::compile(&schema) {
        if !input.formats {
            assert_eq!(structural.accepts(&value), engine.accepts(&value), "{schema} {value}");
            assert_eq!(words(&structural.check(value.clone(), repairs), &value), said, "{schema} {value}");
        }
    } else {
        assert!(input.sort != Sort::Structural, "{schema}");
    }
    assert!(started.elapsed() < Duration::from_secs(4), "{:?} {schema} {value}", started.elapsed());
});
