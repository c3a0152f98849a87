#![cfg(not(target_arch = "wasm32"))]
//! The JSON Schema Test Suite: every required test of drafts 4, 6, 7, 2019-09 and 2020-12, by the engine and, where it
//! takes the schema, by the structural checker. The two agree on every verdict, and with the suite, and say the same
//! about what is not valid.
//!
//! The suite is read from the folder that JSON_SCHEMA_TEST_SUITE names, by default beside the project, and is not part
//! of it. Where it is missing the tests say so and pass.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tackroom::schema::engine::{Draft, Engine, EngineOptions};
use tackroom::schema::{Coercion, CompiledSchema, Repairs, SchemaError, wording};

/// Tests whose verdict is another here, with the reason. There are none.
const DIFFERENT: [(&str, &str, &str, &str); 0] = [];

const UNCHANGED: Repairs = Repairs { coercion: Coercion::None, drop_optional_nulls: false };

fn suite() -> Option<PathBuf> {
    let folder = std::env::var_os("JSON_SCHEMA_TEST_SUITE").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/json-schema-test-suite"),
        PathBuf::from,
    );
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: there is no JSON Schema Test Suite at {}", folder.display());
    None
}

fn json(path: &Path) -> Value {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path, deep: bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the suite") {
        let path = entry.expect("an entry of it").path();
        if path.is_dir() && deep {
            found.extend(files(&path, deep));
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The documents that the suite's schemas refer to, by the URIs that they have there.
fn remotes(suite: &Path) -> Map<String, Value> {
    let folder = suite.join("remotes");
    let uri = |path: &Path| {
        let path = path.strip_prefix(&folder).expect("inside").to_str().expect("plain names");
        format!("http://localhost:1234/{path}")
    };
    files(&folder, true).iter().map(|path| (uri(path), json(path))).collect()
}

fn run(folder: &str, draft: Draft) {
    let Some(suite) = suite() else { return };
    let options = EngineOptions { draft: Some(draft), resources: remotes(&suite), formats: false };
    let (mut run, mut structural, mut wrong) = (0, 0, Vec::new());
    for path in files(&suite.join("tests").join(folder), false) {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        for group in json(&path).as_array().expect("groups") {
            let schema = &group["schema"];
            let engine = Engine::compile(schema, &options);
            // It takes what has no `$schema` for 2020-12, which in its keywords is draft 7 too.
            let plain = match draft {
                Draft::Draft7 | Draft::Draft202012 => CompiledSchema::compile(schema).ok(),
                _ => None,
            };
            for test in group["tests"].as_array().expect("tests") {
                let name = format!("{folder}/{file}: {}: {}", group["description"], test["description"]);
                let (data, right) = (&test["data"], test["valid"] == true);
                let engine = match &engine {
                    Ok(engine) => engine,
                    Err(error) => {
                        wrong.push(format!("{name}: does not compile: {error}"));
                        continue;
                    }
                };
                run += 1;
                let checked = engine.check(data.clone(), UNCHANGED);
                if checked.is_ok() != right || engine.accepts(data) != right {
                    wrong.push(format!("{name}: expected {right}, got {checked:?} {:?}", engine.warnings()));
                }
                if let Ok(value) = &checked {
                    assert_eq!(value, data, "{name}: nothing may change");
                }
                if let Some(plain) = &plain {
                    structural += 1;
                    let alone = plain.check(data.clone(), UNCHANGED);
                    if alone.is_ok() != right || plain.accepts(data) != right {
                        wrong.push(format!("{name}: structural: expected {right}, got {alone:?}"));
                    }
                    let words = |checked: Result<Value, Vec<SchemaError>>| {
                        checked.err().map(|errors| wording::report("tool", &errors, data))
                    };
                    let (engines, structurals) = (words(checked), words(alone));
                    if engines != structurals {
                        wrong.push(format!("{name}: the engine says {engines:?}, but {structurals:?}"));
                    }
                }
            }
        }
    }
    wrong.retain(|line| {
        !DIFFERENT
            .iter()
            .any(|(draft, file, test, _)| *draft == folder && line.contains(file) && line.contains(test))
    });
    eprintln!("{folder}: {run} tests, {structural} of them by the structural checker too");
    assert!(wrong.is_empty(), "{} of {run}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run > 500, "the suite has more tests");
}

#[test]
fn draft4() {
    run("draft4", Draft::Draft4);
}

#[test]
fn draft6() {
    run("draft6", Draft::Draft6);
}

#[test]
fn draft7() {
    run("draft7", Draft::Draft7);
}

#[test]
fn draft2019_09() {
    run("draft2019-09", Draft::Draft201909);
}

#[test]
fn draft2020_12() {
    run("draft2020-12", Draft::Draft202012);
}
