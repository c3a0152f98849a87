#![cfg(not(target_arch = "wasm32"))]
//! Two checkers, one verdict, one value, one wording: what the structural checker says of a schema that it takes, the
//! full engine says too.

mod generate;

use generate::Choices;
use proptest::prelude::*;
use serde_json::{Number, Value, json};
use tackroom::schema::engine::{Engine, EngineOptions};
use tackroom::schema::{Coercion, CompiledSchema, Repairs, wording};

const MODES: [Coercion; 3] = [Coercion::Safe, Coercion::Ajv, Coercion::None];

/// With every number as a double: 42.0 is 42, in JSON Schema and in JavaScript. Keys stay in order.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => json!(0.0),
            float => float.and_then(Number::from_f64).map_or(Value::Null, Value::Number),
        },
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), plain(value))).collect())
        }
        other => other.clone(),
    }
}

/// Where the two differ, in words.
fn differing(schema: &Value, value: &Value) -> Option<String> {
    let structural = CompiledSchema::compile(schema).expect("a structural schema");
    let engine = Engine::compile(schema, &EngineOptions::default()).expect("the engine takes anything");
    if !engine.warnings().is_empty() {
        return Some(format!("{schema}: {:?}", engine.warnings()));
    }
    if (structural.accepts(value), structural.has_required())
        != (engine.accepts(value), engine.has_required())
    {
        return Some(format!("{schema} accepts {value}: one yes, one no"));
    }
    for coercion in MODES {
        for drop_optional_nulls in [true, false] {
            let repairs = Repairs { coercion, drop_optional_nulls };
            let words = |checked: Result<Value, Vec<_>>| match checked {
                Ok(value) => plain(&value).to_string(),
                Err(errors) => wording::report("tool", &errors, value),
            };
            let one = words(structural.check(value.clone(), repairs));
            let other = words(engine.check(value.clone(), repairs));
            if one != other {
                return Some(format!("{schema}\n{value}\n{repairs:?}\nstructural: {one}\nengine: {other}"));
            }
        }
    }
    None
}

fn config() -> ProptestConfig {
    let cases = ProptestConfig::default().cases.max(2048);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn both_checkers_say_the_same(
        schema in prop::collection::vec(any::<u8>(), 0..120),
        value in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let schema = generate::structural(&mut Choices::new(&schema), 3);
        let mut choices = Choices::new(&value);
        let value = match choices.pick(5) {
            4 => generate::any(&mut choices, 3),
            _ => generate::near(&mut choices, &schema),
        };
        let found = differing(&schema, &value);
        prop_assert!(found.is_none(), "{}", found.unwrap_or_default());
    }
}

/// What generated cases found once, and what they are made to find.
#[test]
fn chosen_cases() {
    for (schema, values) in [
        (json!({"minLength": 2.0, "maxItems": 1.0}), vec![json!("a"), json!([1, 2])]),
        (json!({"enum": []}), vec![json!(1), json!(null)]),
        (json!({"enum": [[1], {"a": 2}]}), vec![json!([2]), json!([1.0])]),
        (json!({"required": ["z", "a"]}), vec![json!({"b": 1}), json!([])]),
        (json!({"type": ["string", "null"], "nullable": true}), vec![json!(1), json!([])]),
        (json!({"properties": {"a": false}, "additionalProperties": false}), vec![json!({"a": 1, "b": 2})]),
        (json!({"items": false}), vec![json!([1, 2])]),
        (json!(false), vec![json!(1)]),
    ] {
        for value in values {
            assert_eq!(differing(&schema, &value), None);
        }
    }
}
