//! What arguments become by schemas beyond the structural keywords.

use serde_json::{Value, json};

use super::super::Coercion;
use super::{Draft, Engine, EngineOptions};

fn engine(schema: Value) -> Engine {
    Engine::compile(&schema, &EngineOptions::default()).unwrap()
}

fn safe(schema: Value, value: Value) -> Result<Value, Vec<String>> {
    engine(schema).check(value, Coercion::Safe.into()).map_err(|errors| {
        errors.into_iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
    })
}

#[test]
fn a22_coerces_through_references() {
    let integer = json!({"type": "integer"});
    for schema in [
        json!({"$ref": "#/$defs/A", "$defs": {"A": integer}}),
        json!({"$ref": "#/definitions/A", "definitions": {"A": integer}}),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": integer}}),
        json!({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": integer}}),
        json!({"$ref": "#named", "$defs": {"A": {"$anchor": "named", "type": "integer"}}}),
        json!({"$id": "https://example.com/me", "$ref": "https://example.com/me#/$defs/A", "$defs": {"A": integer}}),
        json!({"$ref": "#/components/schemas/A", "components": {"schemas": {"A": integer}}}),
        json!({"allOf": [{"$ref": "#/$defs/A"}, {"minimum": 0}], "$defs": {"A": integer}}),
        json!({"if": {"type": "string"}, "then": integer, "else": integer}),
    ] {
        assert_eq!(safe(schema.clone(), json!("1")), Ok(json!(1)), "{schema}");
    }
    // What an older draft ignores beside a reference does nothing.
    let draft_7 = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/A",
        "type": "string",
        "definitions": {"A": integer},
    });
    assert_eq!(safe(draft_7, json!("1")), Ok(json!(1)));
}

#[test]
fn a22_references_may_be_spelled_as_names_are() {
    for name in ["List<Foo>", "Foo[int]", "a b", "Größe", "Pick<A,\"b\"|\"c\">", "x^{y}", "a%b"] {
        let schema =
            json!({"$ref": format!("#/definitions/{name}"), "definitions": {(name): {"type": "integer"}}});
        assert_eq!(engine(schema.clone()).warnings(), [], "{name}");
        assert_eq!(safe(schema.clone(), json!("1")), Ok(json!(1)), "{name}");
        assert!(safe(schema, json!("x")).is_err(), "{name}");
    }
    let whole = json!({"properties": {"v": {"type": "integer"}, "n": {"$ref": ""}}});
    assert_eq!(safe(whole.clone(), json!({"n": {"v": "1"}})), Ok(json!({"n": {"v": 1}})));
    assert!(safe(whole, json!({"n": {"v": "x"}})).is_err());
}

#[test]
fn a20_a_union_of_constants_names_all() {
    let one = |schema: Value, value: Value| safe(schema, value).unwrap_err().join("; ");
    for branches in ["anyOf", "oneOf"] {
        let schema = json!({(branches): [{"const": "x"}, {"const": "y"}, {"enum": ["z", 1]}]});
        assert_eq!(one(schema, json!("w")), ": must be one of \"x\", \"y\", \"z\", 1, got \"w\"");
        let tagged = json!({(branches): [
            {"type": "object", "properties": {"k": {"const": "a"}, "n": {"type": "number"}}, "required": ["k", "n"]},
            {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]},
        ]});
        assert_eq!(one(tagged, json!({"k": "z"})), "k: must be one of \"a\", \"b\", got \"z\"");
    }
}

#[test]
fn a22_recursion_ends() {
    let tree = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "of": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": false,
    });
    let sent = json!({"n": "1", "of": {"n": "2", "of": "[{\"n\": \"3\"}]"}});
    assert_eq!(safe(tree.clone(), sent), Ok(json!({"n": 1, "of": [{"n": 2, "of": [{"n": 3}]}]})));
    let sent = json!({"of": [{"of": [{"n": "x", "m": 1}]}]});
    let errors = ["of.0.of.0.n: must be integer, got \"x\"", "of.0.of.0.m: is not allowed"];
    assert_eq!(safe(tree, sent).map_err(|found| found == errors), Err(true));
    // An array is put around a lone item once, however endless the arrays are.
    let lists = json!({"type": ["array", "integer"], "items": {"$ref": "#"}});
    assert_eq!(safe(lists.clone(), json!("1")), Ok(json!([1])));
    assert_eq!(safe(lists, json!("x")), Err(vec![": must be array or integer, got \"x\"".to_owned()]));
}

#[test]
fn a22_dangling_references_reject_only_at_their_place() {
    let schema = json!({"properties": {"a": {"$ref": "#/$defs/Nope"}, "n": {"type": "integer"}}});
    let compiled = engine(schema.clone());
    assert_eq!(compiled.warnings().len(), 1);
    assert_eq!(compiled.warnings()[0].path, "/properties/a/$ref");
    assert_eq!(safe(schema.clone(), json!({"n": "1"})), Ok(json!({"n": 1})));
    assert_eq!(safe(schema, json!({"a": 1, "n": 1})), Err(vec!["a: is not allowed".to_owned()]));
}

#[test]
fn a24_patterns_are_those_of_javascript() {
    let broken = json!({"properties": {"s": {"type": "string", "pattern": "("}}});
    assert_eq!(engine(broken.clone()).warnings()[0].path, "/properties/s/pattern");
    assert_eq!(safe(broken, json!({"s": 5})), Ok(json!({"s": "5"})));
    for (pattern, right, wrong) in [
        ("(?<=a)b", "ab", "cb"),
        ("^\\p{L}+$", "éß字", "a1"),
        ("^(?!x)", "y", "x"),
        ("^(['\"]).*\\1$", "'a'", "'a\""),
        ("^(?<x>a)b$", "ab", "abb"),
        ("^\\d$", "1", "١"),
        ("^.$", "😀", "ab"),
    ] {
        let engine = engine(json!({ "pattern": pattern }));
        assert_eq!(engine.warnings(), [], "{pattern}");
        assert!(engine.accepts(&json!(right)) && !engine.accepts(&json!(wrong)), "{pattern}");
    }
}

#[test]
fn a27_code_points_and_decimals() {
    let sizes = engine(json!({"maxLength": 1, "multipleOf": 0.1}));
    assert!(sizes.accepts(&json!("😀")) && !sizes.accepts(&json!("😀😀")));
    for number in [json!(0.3), json!(1.1), json!(4.35e10), json!(7)] {
        assert!(sizes.accepts(&number), "{number}");
    }
    assert!(!sizes.accepts(&json!(0.35)));
}

#[test]
fn content_is_an_annotation_in_every_draft() {
    for draft in ["4", "6", "7", "2019-09", "2020-12"] {
        let schema =
            json!({"contentEncoding": "base64", "contentMediaType": "application/json", "multipleOf": 1});
        let options = EngineOptions { draft: Draft::named(draft), ..EngineOptions::default() };
        let engine = Engine::compile(&schema, &options).unwrap();
        assert!(engine.accepts(&json!("{!")), "{draft}");
    }
}

#[test]
fn marks_tell_branches_apart() {
    let schema = json!({"oneOf": [
        {"properties": {"kind": {"const": "a"}, "v": {"type": "string"}}, "required": ["kind"]},
        {"$ref": "#/$defs/B"},
    ], "$defs": {"B": {"properties": {"kind": {"enum": ["b", "c"]}, "v": {"type": "integer"}}, "required": ["kind"]}}});
    assert_eq!(safe(schema.clone(), json!({"kind": "c", "v": "1"})), Ok(json!({"kind": "c", "v": 1})));
    assert_eq!(safe(schema.clone(), json!({"kind": "a", "v": 1})), Ok(json!({"kind": "a", "v": "1"})));
    let errors = safe(schema, json!({"kind": "b", "v": "x"})).unwrap_err();
    assert_eq!(errors, ["v: must be integer, got \"x\""]);
}

#[test]
fn other_documents_are_followed_too() {
    let other = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "properties": {"n": {"type": "integer"}, "s": {"$ref": "#/definitions/S"}, "d": {"$ref": "deep.json#named"}},
        "definitions": {"S": {"type": "string", "minLength": 2}},
        "dependencies": {"n": ["s"]},
    });
    let deep = json!({"$defs": {"D": {"$anchor": "named", "items": {"type": "boolean"}}}});
    for (id, key, reference) in [
        (None, "other.json", "other.json"),
        (Some("https://example.com/a/root.json"), "other.json", "other.json"),
        (Some("https://example.com/a/root.json"), "https://example.com/other.json", "../other.json"),
        (None, "https://example.com/other.json#", "https://example.com/other.json"),
    ] {
        let relative = key.replace("other", "deep");
        let resources = [(key.to_owned(), other.clone()), (relative, deep.clone())].into_iter().collect();
        let mut schema =
            json!({"properties": {"o": {"$ref": reference}, "a": {"allOf": [{"$ref": reference}]}}});
        if let Some(id) = id {
            schema["$id"] = id.into();
        }
        let options = EngineOptions { resources, ..EngineOptions::default() };
        let engine = Engine::compile(&schema, &options).unwrap();
        assert_eq!(engine.warnings(), [], "{key}");
        let check = |value: Value| engine.check(value, Coercion::Safe.into());
        let sent = json!({"o": {"n": null, "s": 12, "d": ["true"]}, "a": {"n": "1", "s": "ab"}});
        let right = json!({"o": {"s": "12", "d": [true]}, "a": {"n": 1, "s": "ab"}});
        assert_eq!(check(sent), Ok(right), "{key}");
        let errors = check(json!({"o": {"n": "x", "s": "a", "d": ["?"]}})).unwrap_err();
        let mut paths: Vec<&str> = errors.iter().map(|error| error.path.as_str()).collect();
        paths.sort_unstable();
        assert_eq!(paths, ["o.d.0", "o.n", "o.s"], "{errors:?}");
        let errors = check(json!({"o": {"n": 1}})).unwrap_err();
        assert_eq!((errors[0].path.as_str(), errors[0].kind.as_str()), ("o.s", "required"), "{errors:?}");
    }
}

#[test]
fn unevaluated_properties_are_repaired_as_additional_ones() {
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        let closed = json!({"properties": {"a": {"type": "string"}}, (keyword): false});
        assert_eq!(safe(closed.clone(), json!({"a": "x", "z": null})), Ok(json!({"a": "x"})), "{keyword}");
        assert_eq!(safe(closed, json!({"z": 1})), Err(vec!["z: is not allowed".to_owned()]), "{keyword}");
        let integers = json!({"properties": {"a": {}}, (keyword): {"type": "integer"}});
        assert_eq!(safe(integers, json!({"y": "1", "z": null})), Ok(json!({"y": 1})), "{keyword}");
    }
    // What something else describes is none of theirs.
    let branches = json!({
        "anyOf": [{"properties": {"z": {"type": ["null", "string"]}}}],
        "properties": {"n": {"type": "integer"}},
        "unevaluatedProperties": false,
    });
    assert_eq!(safe(branches, json!({"n": "1", "z": null})), Ok(json!({"n": 1, "z": null})));
}
