#![cfg(not(target_arch = "wasm32"))]
//! Coercion "ajv" against what ajv did: `tests/data/ajv-coercion.json` is made with it, and compared with it again, by
//! `tests/parity/coercion.test.mjs`.

use serde_json::{Value, json};
use tackroom::schema::{Coercion, CompiledSchema};

/// Numbers as the doubles that they are, −0 among them: 16 and 16.0 are one.
fn shown(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:?}", number.as_f64()),
        other => other.to_string(),
    }
}

#[test]
fn the_table_of_ajv_holds() {
    let table: Value = serde_json::from_str(include_str!("data/ajv-coercion.json")).unwrap();
    let rows = table.as_array().unwrap();
    assert!(rows.len() >= 300, "only {} rows", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        let [types, given, expected @ ..] = row.as_array().unwrap().as_slice() else { panic!("{row}") };
        let schema = json!({"properties": {"v": {"type": types}}, "required": ["v"]});
        let schema = CompiledSchema::compile(&schema).unwrap();
        let found = schema.check(json!({ "v": given }), Coercion::Ajv).ok();
        let found = found.as_ref().map(|value| shown(&value["v"]));
        // A row of two is a value that ajv refuses.
        if found != expected.first().map(shown) {
            wrong.push(format!("{row}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
