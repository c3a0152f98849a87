//! Entries to the functions over bytes and schemas that need no environment. Contents come through scratch, and go back
//! as an array that the face owns.

use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use super::scratch::{answer, parts, with};
use crate::call;
use crate::error::{ErrorCode, ToolError};
use crate::image::{self, FileKind};
use crate::json;
use crate::path;
use crate::schema::export::{Format, export};
use crate::schema::strict::strict;
use crate::text::diff;
use crate::text::edit::{self, Edit};
use crate::text::encoding;
use crate::tools::{ChangeKind, FileChange, object};

std::thread_local! {
    static CONTENT: std::cell::RefCell<Vec<u8>> = std::cell::RefCell::default();
}

/// Applies edits (JSON) to a content; scratch holds a path for the messages, the edits and the content. Answers the
/// change; the new content is to be had from [`content`].
#[wasm_bindgen]
pub fn apply_edits(path: usize, edits: usize, content: usize) -> String {
    let [path, edits, content] = parts([path, edits, content]);
    answer(edited(&String::from_utf8_lossy(&path), &edits, &content))
}

fn edited(path: &str, edits: &[u8], before: &[u8]) -> Result<Value, ToolError> {
    let edits = json::parse(edits).and_then(|edits| json::list(edits, Edit::read)).map_err(|error| {
        ToolError::invalid_arguments(format!(
            "Expected edits as an array of {{ oldText: string, newText: string, replaceAll?: boolean }}: {error}"
        ))
    })?;
    let applied = edit::apply_edits(before, &edits, path)?;
    let name = path::relative("/", path);
    let diff = diff::from_replacements(name, before, &applied.content, &applied.replacements);
    let change = FileChange::new(path, ChangeKind::Modify, diff);
    set_content(applied.content);
    Ok(Value::Object(object(&change)))
}

/// What the argument text in scratch says so far, for the tool whose name follows it. Answers `{value, complete}`,
/// without `value` where there is none.
#[wasm_bindgen]
pub fn partial_arguments(text: usize, tool: usize) -> String {
    let [text, tool] = parts([text, tool]);
    let partial = call::partial_arguments(&text, &String::from_utf8_lossy(&tool));
    answer(Ok(match partial.value {
        Some(value) => json!({ "value": value, "complete": partial.complete }),
        None => json!({ "complete": partial.complete }),
    }))
}

/// The content that the last function made which makes one, once.
#[wasm_bindgen]
pub fn content() -> Vec<u8> {
    CONTENT.take()
}

/// Keeps a content until the face takes it.
pub(super) fn set_content(content: Vec<u8>) {
    CONTENT.set(content);
}

/// The unified diff of two contents; scratch holds a path for its header and both.
#[wasm_bindgen]
pub fn unified_diff(path: usize, before: usize, after: usize, context: u32) -> String {
    let [path, before, after] = parts([path, before, after]);
    let path = String::from_utf8_lossy(&path);
    let diff = diff::unified_diff(path::relative("/", &path), &before, &after, context as usize);
    answer(diff.map(Value::from).ok_or_else(|| {
        let message = format!("A diff is text, and a line of it would not be UTF-8: {path}");
        ToolError::new(ErrorCode::NotSupported, message)
    }))
}

/// The strict form of the schema in scratch.
#[wasm_bindgen]
pub fn strict_schema(schema: usize) -> String {
    let [schema] = parts([schema]);
    answer(read(&schema).and_then(|schema| strict(&schema)))
}

/// A schema for a provider; scratch holds it and the name of the format.
#[wasm_bindgen]
pub fn export_schema(schema: usize, format: usize) -> String {
    let [schema, format] = parts([schema, format]);
    let format = Format::named(&String::from_utf8_lossy(&format));
    answer(format.and_then(|format| export(&read(&schema)?, format)))
}

fn read(schema: &[u8]) -> Result<Value, ToolError> {
    json::parse(schema)
        .map_err(|error| ToolError::invalid_arguments(format!("Expected a JSON Schema as JSON: {error}")))
}

/// What kind of file begins with the bytes in scratch, as JSON. What is not known is not there.
#[wasm_bindgen]
pub fn file_kind(length: usize) -> String {
    with(length, |bytes| match image::kind(&bytes[..bytes.len().min(image::HEAD)]) {
        FileKind::Text => {
            format!(r#"{{"kind":"text","encoding":"{}"}}"#, encoding::detect(bytes).as_str())
        }
        FileKind::Image(format) => {
            let picture = image::examine(format, bytes);
            let size =
                picture.shown().map(|size| format!(r#""width":{},"height":{},"#, size.width, size.height));
            format!(
                r#"{{"kind":"image","mimeType":"{}",{}"animated":{}}}"#,
                format.mime_type(),
                size.unwrap_or_default(),
                picture.animated
            )
        }
        FileKind::Other(None) => r#"{"kind":"binary"}"#.into(),
        FileKind::Other(Some(known)) => {
            let kind = if known.is_image() { "image" } else { "binary" };
            format!(r#"{{"kind":"{kind}","mimeType":"{}"}}"#, known.mime_type())
        }
    })
}
