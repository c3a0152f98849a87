#![cfg(not(target_arch = "wasm32"))]
//! Imports point one way: wasm → call → tools → {schema, search, image, text, path, env} → {error, unicode, table,
//! json}. A layer may use those below it; `schema`, `search`, `image` and `text` know no environment, no tool and no JavaScript.

use std::fs;
use std::path::{Path, PathBuf};

/// A module of the crate, and the modules that it may name.
const LAYERS: [(&str, &[&str]); 13] = [
    ("error", &[]),
    ("unicode", &[]),
    ("table", &[]),
    ("json", &[]),
    ("path", &["error", "unicode", "table", "json"]),
    ("text", &["error", "unicode", "table", "json"]),
    ("image", &["text"]),
    ("search", &["error", "path", "text"]),
    ("schema", &["error", "table", "json"]),
    ("env", &["error", "path", "text"]),
    ("tools", &["error", "unicode", "table", "json", "path", "text", "image", "schema", "search", "env"]),
    ("call", &["error", "table", "json", "path", "text", "image", "schema", "env", "tools"]),
    (
        "wasm",
        &["error", "unicode", "table", "json", "path", "text", "image", "schema", "env", "tools", "call"],
    ),
];

/// Crates that only the wasm layer may name.
const BOUNDARY: [&str; 4] = ["wasm_bindgen", "js_sys", "web_sys", "console_error_panic_hook"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("src can be listed") {
        let path = entry.expect("src can be listed").path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The code of a file without comments: a doc link may point anywhere.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("a source file is text");
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The modules that code names as `crate::x`, or in `use crate::{x, y::z}`.
fn named(code: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => names.push(identifier(rest)),
            Some(group) => {
                let mut depth = 0;
                let mut start = 0;
                for (i, c) in group.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => {
                            names.push(identifier(group[start..i].trim_start()));
                            break;
                        }
                        '}' => depth -= 1,
                        ',' if depth == 0 => {
                            names.push(identifier(group[start..i].trim_start()));
                            start = i + 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

fn layer_of(src: &Path, path: &Path) -> Option<&'static str> {
    let inside = path.strip_prefix(src).expect("found below src");
    let first = inside.components().next().expect("a file name").as_os_str().to_string_lossy().into_owned();
    let name = first.trim_end_matches(".rs");
    LAYERS.iter().map(|layer| layer.0).find(|layer| *layer == name)
}

#[test]
fn imports_point_one_way() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    // What is in `base` is below what is in `src`: the compiler says so.
    for folder in ["src", "base/src"] {
        let src = root.join(folder);
        let mut found = Vec::new();
        sources(&src, &mut found);
        assert!(found.len() > 20, "the sources were found");
        files.extend(found.into_iter().map(|file| (src.clone(), file)));
    }
    let mut wrong = Vec::new();
    for (src, file) in files {
        if file.ends_with("src/lib.rs") {
            continue;
        }
        let layer = layer_of(&src, &file).unwrap_or_else(|| panic!("{} belongs to no layer", file.display()));
        let allowed = LAYERS.iter().find(|known| known.0 == layer).expect("known").1;
        let code = code(&file);
        for name in named(&code) {
            if name != layer && !allowed.contains(&name.as_str()) {
                wrong.push(format!("{}: {layer} must not use crate::{name}", file.display()));
            }
        }
        for outside in BOUNDARY {
            if layer != "wasm" && code.contains(outside) {
                wrong.push(format!("{}: only wasm may use {outside}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_imports_sees_groups() {
    let code = "use crate::env::Env;\nuse crate::{text::{a, b}, tools, call::x};\nlet y = crate::error::E;";
    assert_eq!(named(code), ["env", "text", "tools", "call", "error"]);
}
