//! Cases that only the full engine knows.

use serde_json::{Value, json};

use super::{Engine, EngineOptions};
use crate::schema::{Coercion, Repairs};

fn engine(schema: &Value) -> Engine {
    Engine::compile(schema, &EngineOptions::default()).unwrap()
}

fn check(schema: &Value, value: Value) -> Result<Value, String> {
    let checked = engine(schema).check(value, Coercion::Safe.into());
    checked
        .map_err(|errors| errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect())
}

fn warned(schema: &Value) -> Vec<String> {
    engine(schema).warnings().iter().map(|warning| warning.path.clone()).collect()
}

#[test]
fn a21_formats_are_checked_only_where_asked() {
    let formats = EngineOptions { formats: true, ..EngineOptions::default() };
    for (format, value, asserted) in [
        ("x-foo", json!("anything"), true),
        ("uint64", json!(-1), true),
        ("int32", json!(1e300), true),
        ("uri", json!("not a uri"), false),
        ("uri", json!("https://a.example/b?c"), true),
        ("date", json!("2026-02-30"), false),
        ("date", json!("2026-02-28"), true),
    ] {
        let schema = json!({ "format": format });
        assert!(engine(&schema).accepts(&value), "{format}: an annotation");
        let asserting = Engine::compile(&schema, &formats).unwrap();
        assert_eq!(asserting.accepts(&value), asserted, "{format}: {value}");
        assert!(asserting.warnings().is_empty());
        if !asserted {
            let errors = asserting.check(value, Coercion::Safe.into()).unwrap_err();
            assert!(errors[0].message.contains(format), "{}", errors[0].message);
        }
    }
}

#[test]
fn a22_references_are_followed() {
    let number = json!({"type": "number"});
    for schema in [
        json!({"properties": {"n": {"$ref": "#/$defs/A"}}, "$defs": {"A": number}}),
        json!({"properties": {"n": {"$ref": "#/definitions/A"}}, "definitions": {"A": number}}),
        json!({"$ref": "#/$defs/O", "$defs": {"O": {"properties": {"n": {"$ref": "#/$defs/A"}}}, "A": number}}),
        json!({"allOf": [{"$ref": "#/$defs/O"}], "$defs": {"O": {"properties": {"n": number}}}}),
    ] {
        assert_eq!(check(&schema, json!({"n": "1"})), Ok(json!({"n": 1})), "{schema}");
        assert_eq!(
            check(&schema, json!({"n": "x"})).unwrap_err(),
            "n: must be number, got \"x\"",
            "{schema}"
        );
    }
}

#[test]
fn a22_recursion_ends() {
    let tree = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
        "required": ["n"],
    });
    let sent = json!({"n": "1", "children": [{"n": "2"}, {"n": 3, "children": [{"n": "4"}]}]});
    let right = json!({"n": 1, "children": [{"n": 2}, {"n": 3, "children": [{"n": 4}]}]});
    assert_eq!(check(&tree, sent), Ok(right));
    let wrong = check(&tree, json!({"n": 1, "children": [{"n": 2, "children": [{}]}]})).unwrap_err();
    assert_eq!(wrong, "children.0.children.0.n: is required (received: nothing)");
    // References that only lead to each other say nothing; that they end is all that counts.
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
        json!({"properties": {"a": {"allOf": [{"$ref": "#/properties/a"}]}}}),
    ] {
        drop(check(&schema, json!({"a": "1"})));
    }
}

#[test]
fn a22_a_dangling_reference_fits_nothing_where_it_stands() {
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/Nope"}, "b": {"type": "integer"}}});
    assert_eq!(warned(&schema), ["/properties/a/$ref"]);
    assert_eq!(check(&schema, json!({"b": "1"})), Ok(json!({"b": 1})));
    assert!(check(&schema, json!({"a": 1})).unwrap_err().starts_with("a: "));
}

#[test]
fn a24_a_pattern_that_is_none_is_ignored() {
    let schema = json!({"properties": {"s": {"type": "string", "pattern": "("}}});
    assert_eq!(warned(&schema), ["/properties/s/pattern"]);
    assert_eq!(check(&schema, json!({"s": "anything"})), Ok(json!({"s": "anything"})));
    assert!(check(&schema, json!({"s": []})).is_err());
}

#[test]
fn a24_patterns_are_those_of_javascript() {
    for (pattern, fits, fails) in [
        ("(?<=a)b", "ab", "cb"),
        ("a(?!b)", "ac", "ab"),
        (r"^\p{L}+$", "größe", "a1"),
        (r"^(\w)\1$", "aa", "ab"),
        (r"^\d$", "1", "١"),
    ] {
        let schema = json!({ "pattern": pattern });
        assert_eq!(warned(&schema), [""; 0], "{pattern}");
        assert_eq!(check(&schema, json!(fits)), Ok(json!(fits)), "{pattern}");
        assert!(check(&schema, json!(fails)).unwrap_err().contains("must match"), "{pattern}");
    }
}

#[test]
fn a27_code_points_and_decimals() {
    // `not: false` is nothing to the value, and too much for the structural checker.
    let schema = json!({"maxLength": 1, "not": false});
    assert!(check(&schema, json!("😀")).is_ok() && check(&schema, json!("ab")).is_err());
    for (multiple, of, fits) in
        [(0.3, 0.1, true), (19.99, 0.01, true), (0.35, 0.1, false), (1e300, 0.5, true), (7.0, 2.0, false)]
    {
        assert_eq!(check(&json!({ "multipleOf": of }), json!(multiple)).is_ok(), fits, "{multiple} of {of}");
    }
}

#[test]
fn a30_a_schema_with_mistakes_works() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "strng"},
            "b": {"type": "string", "required": true},
            "c": {"type": "string", "pattern": "("},
        },
        "required": ["b"],
    });
    assert_eq!(warned(&schema), ["/properties/a/type", "/properties/b/required", "/properties/c/pattern"]);
    assert_eq!(check(&schema, json!({"a": [1], "b": 5})), Ok(json!({"a": [1], "b": "5"})));
    assert_eq!(check(&schema, json!({})).unwrap_err(), "b: is required (received: nothing)");
    assert!(check(&schema, json!({"b": []})).is_err(), "what is right in it counts");
}

#[test]
fn nothing_is_repaired_that_is_not_to_be() {
    let schema = json!({"allOf": [{"properties": {"n": {"type": "integer"}}}]});
    let none = Repairs { coercion: Coercion::None, drop_optional_nulls: false };
    for value in [json!({"n": "1"}), json!({"n": null})] {
        assert!(engine(&schema).check(value, none).is_err());
    }
}
