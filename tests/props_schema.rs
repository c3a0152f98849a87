//! Properties of the argument side: parsing, coercion, wording, over random schemas and values.

use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};
use tackroom::error::ErrorCode;
use tackroom::schema::{Coercion, CompiledSchema, SchemaError, parse, partial, wording};

/// Keys from a small set, so that values meet schemas.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("c"), Just("__proto__")].prop_map(str::to_owned)
}

/// Text that coercion looks at, and text of any kind.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop::sample::select(vec![
            "", " ", "1", " 42 ", "42.0", "-0", ".5", "-1", "1e2", "1e400", "0x10", "true", "FALSE", "null", "a",
            "[]", "[1,\"2\"]", "[\"a\"", "{\"a\":1}", "{\"a\":null,\"b\":\"3\"}", "[[\"1\"],{\"c\":null}]",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-3..4_i64).prop_map(Value::from),
        prop::sample::select(vec![0.0, -0.0, 1.0, 42.0, 0.5, 1e21, 9_007_199_254_740_993.0])
            .prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|float| Number::from_f64(float).map_or(json!(0), Value::Number)),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn types() -> impl Strategy<Value = Value> {
    let names = vec!["null", "boolean", "integer", "number", "string", "array", "object"];
    prop_oneof![
        3 => prop::sample::select(names.clone()).prop_map(Value::from),
        1 => prop::sample::subsequence(names, 1..4).prop_shuffle().prop_map(Value::from),
    ]
}

/// A schema object out of optional keywords.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::from),
        8 => types().prop_map(|types| json!({"type": types})),
        1 => types().prop_map(|types| json!({"type": types, "nullable": true})),
        1 => prop::collection::vec(value(), 1..3).prop_map(|values| json!({"enum": values})),
        1 => value().prop_map(|value| json!({"const": value})),
        1 => number().prop_map(|bound| json!({"type": "number", "minimum": bound})),
        1 => number().prop_map(|bound| json!({"type": "integer", "exclusiveMaximum": bound})),
        1 => (0..3_u8, 0..9_u8).prop_map(|(min, max)| json!({"type": "string", "minLength": min, "maxLength": max})),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let object = (
            prop::collection::vec((key(), inner.clone()), 0..3),
            prop::option::of(prop::sample::subsequence(vec!["a", "b", "c"], 0..3)),
            prop::option::of(inner.clone()),
            prop::option::of(inner.clone()),
            prop::option::of(prop::collection::vec(inner, 1..4)),
            prop::option::of(types()),
            prop::option::of(0..3_u8),
        );
        object.prop_map(|(properties, required, additional, items, any_of, types, min_items)| {
            let mut schema = Map::new();
            let properties: Map<String, Value> = properties.into_iter().collect();
            schema.insert("properties".to_owned(), Value::Object(properties));
            let optional = [
                ("required", required.map(Value::from)),
                ("additionalProperties", additional),
                ("items", items),
                ("anyOf", any_of.map(Value::from)),
                ("type", types),
                ("minItems", min_items.map(Value::from)),
            ];
            for (keyword, value) in optional {
                if let Some(value) = value {
                    schema.insert(keyword.to_owned(), value);
                }
            }
            Value::Object(schema)
        })
    })
}

fn coercion() -> impl Strategy<Value = Coercion> {
    prop::sample::select(vec![Coercion::Safe, Coercion::Ajv, Coercion::None])
}

fn compile(schema: &Value) -> CompiledSchema {
    CompiledSchema::compile(schema).unwrap_or_else(|why| panic!("{schema}: {why:?}"))
}

/// Equal as JSON Schema means it: 42.0 is 42.
fn same(a: &Value, b: &Value) -> bool {
    compile(&json!({"const": a})).check(b.clone(), Coercion::None).is_ok()
}

fn report_is_well_formed(errors: &[SchemaError], value: &Value) {
    let text = wording::report("tool", errors, value);
    assert!(text.len() < 4096);
    assert!(text.starts_with("Validation failed for tool \"tool\":\n  - "));
    assert!(text.contains("\n\nReceived arguments:\n"));
    let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
    assert!(lines.clone().all(|line| line.starts_with("  - ")), "{text}");
    assert!(lines.count() <= 21);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_coerced_is_valid_and_stays(schema in schema(), value in value(), coercion in coercion()) {
        let compiled = compile(&schema);
        match compiled.check(value.clone(), coercion) {
            Ok(coerced) => {
                prop_assert!(compiled.accepts(&coerced));
                prop_assert_eq!(&compiled.check(coerced.clone(), Coercion::None).unwrap(), &coerced);
                prop_assert!(same(&compiled.check(coerced.clone(), coercion).unwrap(), &coerced));
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty(), "{} {}", schema, value);
                // Coercion only ever makes more values fit.
                prop_assert!(compiled.check(value.clone(), Coercion::None).is_err());
                report_is_well_formed(&errors, &value);
            }
        }
    }

    #[test]
    fn without_coercion_only_nulls_go(schema in schema(), value in value()) {
        let compiled = compile(&schema);
        if let Ok(checked) = compiled.check(value.clone(), Coercion::None) {
            prop_assert!(nulls_dropped(&value, &checked));
            // A value that fits as it is comes back as it is, but for the spelling of whole numbers.
            let safe = compiled.check(checked.clone(), Coercion::Safe).unwrap();
            prop_assert!(same(&safe, &checked));
            prop_assert_eq!(compiled.check(checked.clone(), Coercion::Ajv).unwrap(), checked);
        }
    }

    #[test]
    fn reports_on_any_value_are_bounded(value in value(), long in "\\PC{0,3000}") {
        let compiled = compile(&json!({"type": "object", "additionalProperties": false, "required": [long]}));
        for value in [value.clone(), json!({(long.clone()): value, "text": long})] {
            if let Err(errors) = compiled.check(value.clone(), Coercion::Safe) {
                report_is_well_formed(&errors, &value);
            }
        }
    }

    #[test]
    fn parsing_gives_back_what_was_written(entries in prop::collection::vec((any::<String>(), value()), 0..4)) {
        let object = Value::Object(entries.into_iter().collect());
        for text in [object.to_string(), json!(object.to_string()).to_string(), format!("{object:#}")] {
            let parsed = parse::arguments("tool", text.as_bytes(), false).unwrap();
            prop_assert_eq!(parsed.to_string(), object.to_string());
        }
    }

    #[test]
    fn a_cut_text_is_cut_off(entries in prop::collection::vec((any::<String>(), value()), 0..3)) {
        let object = Value::Object(entries.into_iter().collect());
        // Once as it is, once with every character escaped that may be.
        for text in [object.to_string(), ascii(&object.to_string())] {
            for end in 1..text.len() {
                let error = parse::arguments("tool", &text.as_bytes()[..end], true).unwrap_err();
                prop_assert_eq!(error.code, ErrorCode::CutOff, "{}", error.message);
            }
        }
    }

    #[test]
    fn every_beginning_shows_the_value_so_far(entries in prop::collection::vec((any::<String>(), value()), 0..3)) {
        let object = Value::Object(entries.into_iter().collect());
        let escaped = ascii(&object.to_string());
        for text in [object.to_string(), format!("{object:#}"), json!(escaped).to_string(), escaped] {
            // A string that holds the arguments shows them from their brace on, too.
            let opened = text.find('{').unwrap();
            let mut before = None;
            for end in 0..=text.len() {
                let partial = partial::arguments(&text.as_bytes()[..end]);
                prop_assert_eq!(partial.complete, end == text.len());
                prop_assert_eq!(partial.value.is_some(), end > opened);
                let Some(value) = partial.value else { continue };
                prop_assert!(begins(&value, &object), "{} {}", &text.as_bytes()[..end].escape_ascii(), value);
                prop_assert!(before.is_none_or(|before| begins(&before, &value)), "{}", value);
                before = Some(value);
            }
            prop_assert_eq!(before.map(|value| value.to_string()), Some(object.to_string()));
        }
    }

    #[test]
    fn a_value_is_complete_where_it_is_one(bytes in prop::collection::vec(any::<u8>(), 0..60), text in fragments()) {
        for input in [&bytes[..], text.as_bytes(), json!(text).to_string().as_bytes()] {
            let partial = partial::arguments(input);
            let parsed = parse::arguments("tool", input, false);
            prop_assert_eq!(partial.complete, parsed.is_ok(), "{}", input.escape_ascii());
            if let Ok(value) = parsed {
                prop_assert_eq!(partial.value.unwrap().to_string(), value.to_string());
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "[\\[\\]{}\",:\\\\u0-9dDeE.+-]{0,40}") {
        for input in [&bytes[..], text.as_bytes()] {
            if let Err(error) = parse::arguments("tool", input, false) {
                prop_assert!(error.message.len() < 1000);
            }
        }
    }
}

/// Whether the second is the first without some keys that were null.
fn nulls_dropped(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len() && before.iter().zip(after).all(|(b, a)| nulls_dropped(b, a))
        }
        (Value::Object(before), Value::Object(after)) => {
            after.keys().all(|key| before.contains_key(key))
                && before.iter().all(|(key, before)| match after.get(key) {
                    Some(after) => nulls_dropped(before, after),
                    None => before.is_null(),
                })
        }
        (before, after) => before == after,
    }
}

/// Whether the first is what has been written of the second, where keys come in one order: all is as it will be but for
/// the last part of each level, where a string is a beginning and a number any.
fn begins(first: &Value, whole: &Value) -> bool {
    let all_begin = |first: &[&Value], whole: &[&Value]| {
        let last = first.len().saturating_sub(1);
        first.len() <= whole.len()
            && first.iter().zip(whole).enumerate().all(|(index, (first, whole))| {
                if index < last { first == whole } else { begins(first, whole) }
            })
    };
    match (first, whole) {
        (Value::String(first), Value::String(whole)) => whole.starts_with(first.as_str()),
        (Value::Number(_), Value::Number(_)) => true,
        (Value::Array(first), Value::Array(whole)) => {
            all_begin(&first.iter().collect::<Vec<_>>(), &whole.iter().collect::<Vec<_>>())
        }
        (Value::Object(first), Value::Object(whole)) => {
            first.keys().zip(whole.keys()).all(|(first, whole)| first == whole)
                && all_begin(&first.values().collect::<Vec<_>>(), &whole.values().collect::<Vec<_>>())
        }
        (first, whole) => first == whole,
    }
}

/// Pieces of JSON, in and out of place.
fn fragments() -> impl Strategy<Value = String> {
    let pieces = vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\"",
        "\\",
        "\\\"",
        "\"a\":",
        "\"b\"",
        "{\"a\":1}",
        "\"{\\\"a\\\":",
        "1",
        "-",
        ".5",
        "e9",
        "0",
        "1e400",
        "true",
        "nul",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\n",
        " ",
        "x",
        "é",
        "\u{c}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..9).prop_map(|pieces| pieces.concat())
}

/// Escapes everything outside ASCII as UTF-16 units.
fn ascii(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Texts of a value, all of them plain JSON.
fn spellings(value: &Value) -> [String; 4] {
    let text = value.to_string();
    let spaced = format!(" {value:#}\r\n\t");
    [ascii(&text), ascii(&spaced), text, spaced]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn text_is_accepted_where_its_value_is(schema in schema(), value in value()) {
        let compiled = compile(&schema);
        for text in spellings(&value) {
            let fits = !value.is_string() && compiled.accepts(&value);
            prop_assert_eq!(compiled.accepts_text(text.as_bytes()), fits, "{} {}", schema, text);
        }
    }

    /// Whatever the text: one that is accepted is read as JSON reads it, and validation leaves it alone.
    #[test]
    fn text_that_is_accepted_stays(
        schema in schema(),
        entries in prop::collection::vec((key(), value()), 0..5),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]{}\",:\\\\u0-9abceEnt.+ \n-]{0,2}", 0..3_usize), 0..3),
    ) {
        // Keys may come twice.
        let entries: Vec<_> = entries.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
        let mut text = format!("{{{}}}", entries.join(","));
        for (place, put, len) in changes {
            let mut at = place.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let mut end = (at + len).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(at..end, &put);
        }
        let compiled = compile(&schema);
        if compiled.accepts_text(text.as_bytes()) {
            let plain: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(compiled.accepts(&plain), "{} {}", schema, text);
            let sent = parse::arguments("tool", text.as_bytes(), false).unwrap();
            prop_assert_eq!(&sent, &plain);
            prop_assert!(same(&compiled.check(sent, Coercion::Safe).unwrap(), &plain));
        }
    }
}
