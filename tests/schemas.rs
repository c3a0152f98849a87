#![cfg(not(target_arch = "wasm32"))]
//! Each tool's schema and the struct that its arguments are read into are one thing said twice. They are compared:
//! a property of the schema is a field of the struct, required or optional in both, of the same type; and the error
//! codes that TypeScript lists are those of the core.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};
use tackroom::error::ErrorCode;
use tackroom::schema::{Coercion, CompiledSchema};
use tackroom::tools::{Builtin, edit, find, grep, ls, read, shell, write};

/// A value that fits the schema, with every property.
fn full(schema: &Value) -> Value {
    match schema["type"].as_str().expect("every schema has a type") {
        "string" => json!("text"),
        "boolean" => json!(true),
        "integer" => json!(7),
        "number" => json!(1.5),
        "array" => json!([full(&schema["items"])]),
        "object" => properties(schema)
            .iter()
            .map(|(key, value)| (key.clone(), full(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => panic!("no value for {other}"),
    }
}

fn properties(schema: &Value) -> &Map<String, Value> {
    schema["properties"].as_object().expect("an object has properties")
}

fn is_required(schema: &Value, key: &str) -> bool {
    schema["required"].as_array().is_some_and(|keys| keys.contains(&key.into()))
}

/// A value of another type, which fits neither.
fn wrong(value: &Value) -> Value {
    if value.is_object() { json!([]) } else { json!({}) }
}

/// What does not agree, of an object's schema and the struct that `parse` makes. `place` puts an object of that kind
/// where it belongs in the arguments.
fn compare<T>(
    read: fn(Value) -> Result<T, String>,
    schema: &Value,
    place: &dyn Fn(Value) -> Value,
    found: &mut Vec<String>,
) {
    let whole = full(schema);
    let reads = |object: Value| read(place(object)).map(drop);
    if let Err(error) = reads(whole.clone()) {
        found.push(format!("{whole} is refused: {error}"));
    }
    for (key, property) in properties(schema) {
        let mut without = whole.clone();
        without.as_object_mut().expect("an object").shift_remove(key);
        if reads(without).is_err() != is_required(schema, key) {
            found.push(format!("{key}: required in one, optional in the other"));
        }
        // A struct without the field would take anything there.
        let mut changed = whole.clone();
        changed[key] = wrong(&whole[key]);
        if reads(changed).is_ok() {
            found.push(format!("{key}: not a field of the struct, or of any type"));
        }
        if property["type"] == "array" && property["items"]["type"] == "object" {
            let inner = |item: Value| {
                let mut with = whole.clone();
                with[key] = json!([item]);
                place(with)
            };
            compare(read, &property["items"], &inner, found);
        }
    }
}

/// The fields of a struct that no property of the schema fills: Debug names every field of arguments that were read.
fn extra_fields(schema: &Value, shown: &str, names: &[&str]) -> Vec<String> {
    let known: Vec<String> = properties(schema).keys().map(|key| snake(key)).collect();
    let all = shown.split(['{', ',', '}']).filter_map(|part| part.split_once(": "));
    all.map(|(name, _)| name.trim().to_owned())
        .filter(|name| !known.contains(name) && !names.contains(&name.as_str()))
        .collect()
}

fn snake(key: &str) -> String {
    let mut name = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

fn agree<T: std::fmt::Debug>(tool: Builtin, read: fn(Value) -> Result<T, String>, nested: &[&str]) {
    let schema = tool.parameters();
    let mut found = Vec::new();
    compare(read, &schema, &|arguments| arguments, &mut found);
    let args = read(full(&schema)).expect("compared above");
    found.extend(
        extra_fields(&schema, &format!("{args:?}"), nested)
            .into_iter()
            .map(|name| format!("{name}: a field of the struct alone")),
    );
    assert_eq!(found, [""; 0], "{}", tool.name());
}

#[test]
fn schemas_and_structs_agree() {
    for tool in Builtin::ALL {
        match tool {
            Builtin::Read => agree(tool, read::Args::read, &[]),
            Builtin::Bash | Builtin::PowerShell => agree(tool, shell::Args::read, &[]),
            Builtin::Edit => agree(tool, edit::Args::read, &["old_text", "new_text", "replace_all"]),
            Builtin::Write => agree(tool, write::Args::read, &[]),
            Builtin::Grep => agree(tool, grep::Args::read, &["ignore_case"]),
            Builtin::Find => agree(tool, find::Args::read, &[]),
            Builtin::Ls => agree(tool, ls::Args::read, &[]),
        }
    }
}

#[test]
fn the_comparison_finds_what_differs() {
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code, reason = "only read into")]
    struct Other {
        a: String,
        b: Option<u64>,
        d: Option<u64>,
    }
    let schema = |required: Value| {
        let properties = json!({"a": {"type": "string"}, "b": {"type": "integer"}});
        json!({"type": "object", "properties": properties, "required": required})
    };
    let differing = |schema: &Value| {
        let mut found = Vec::new();
        let read = |value| serde_json::from_value::<Other>(value).map_err(|error| error.to_string());
        compare(read, schema, &|arguments| arguments, &mut found);
        found
    };
    assert_eq!(differing(&schema(json!(["a"]))), [""; 0]);
    assert_eq!(differing(&schema(json!(["a", "b"]))), ["b: required in one, optional in the other"]);
    assert_eq!(differing(&schema(json!([]))), ["a: required in one, optional in the other"]);
    let mut more = schema(json!(["a"]));
    more["properties"]["c"] = json!({"type": "string"});
    assert_eq!(differing(&more), ["c: not a field of the struct, or of any type"]);
    let args: Other = serde_json::from_value(full(&more)).expect("fits");
    assert_eq!(extra_fields(&more, &format!("{args:?}"), &[]), ["d"]);
}

#[test]
fn every_schema_compiles_and_takes_what_it_describes() {
    for tool in Builtin::ALL {
        let schema = tool.parameters();
        let compiled = CompiledSchema::compile(&schema).expect("built-ins use structural keywords only");
        let arguments = full(&schema);
        assert_eq!(
            compiled.check(arguments.clone(), Coercion::None),
            Ok(arguments.clone()),
            "{}",
            tool.name()
        );
        assert_eq!(
            tool.prepare(arguments.clone()),
            arguments,
            "{}: its own keys are no dialect",
            tool.name()
        );
    }
}

/// The string literals of `export type NAME = | "a" | "b";` in TypeScript.
fn union_members<'a>(source: &'a str, name: &str) -> Vec<&'a str> {
    let start = source.find(&format!("export type {name} =")).expect("the type is declared");
    let declaration = &source[start..];
    let end = declaration.find(';').expect("a declaration ends");
    declaration[..end].split('"').skip(1).step_by(2).collect()
}

#[test]
fn error_codes_are_the_same_in_typescript() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("pkg/src/types.ts");
    let source = fs::read_to_string(path).expect("the types can be read");
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(union_members(&source, "ToolErrorCode"), codes);
}
