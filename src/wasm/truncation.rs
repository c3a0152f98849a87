//! Entries to the functions that cut texts and print sizes.

use wasm_bindgen::prelude::*;

use super::pure;
use super::scratch::{answer, parts};
use crate::text::truncate::{self, Limits};
use crate::text::utf8;
use crate::tools::object;

/// Cuts the content in scratch to so many lines and bytes, its end or its start. Answers what was cut; what is left is
/// to be had from [`pure::content`].
#[wasm_bindgen]
pub fn truncate_text(content: usize, end: bool, max_lines: usize, max_bytes: usize) -> String {
    let [content] = parts([content]);
    let text = utf8::to_text(&content);
    let limits = Limits { max_lines, max_bytes };
    let cut = if end { truncate::tail(&text, limits) } else { truncate::head(&text, limits) };
    let facts = object(&cut.facts);
    pure::set_content(cut.content.as_bytes().to_vec());
    answer(Ok(facts.into()))
}

/// Cuts the line in scratch to so many UTF-16 units. Answers whether it did; the line is to be had from
/// [`pure::content`].
#[wasm_bindgen]
pub fn truncate_line(line: usize, max_utf16: usize) -> String {
    let [line] = parts([line]);
    let text = utf8::to_text(&line);
    let (text, was_cut) = truncate::line(&text, max_utf16);
    pure::set_content(text.into_owned().into_bytes());
    answer(Ok(was_cut.into()))
}

/// A size in words.
#[wasm_bindgen]
pub fn format_size(bytes: f64) -> String {
    answer(Ok(truncate::format_size(bytes as u64).into()))
}
