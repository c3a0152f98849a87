//! The edit matcher: finds the text of each edit in a file and puts the new text in its place.
//!
//! Everything works on bytes, and everything outside the replaced spans stays as it is: a BOM, mixed
//! line endings, invalid UTF-8, NUL, a missing final line break. All edits match the original file,
//! never one another's output, and either all of them are applied or none.
//!
//! Each edit is looked for in tiers, strictest first: the same bytes, then the same bytes but for line
//! endings, then text that looks the same (Unicode forms, quotes, dashes, spaces, blanks at line ends).
//! The first tier with any match decides, so an exact match is never made ambiguous by a look-alike.
//! CRLF is one unit everywhere: a span never begins or ends inside one, and the line breaks of the new
//! text take the endings that the file has there. UTF-16 is edited through a view of it in UTF-8.
//!
//! Not here: reading and writing the file, and the diff (see [`super::diff`]).

mod closest;
mod diagnose;
mod show;
#[cfg(test)]
mod tests;

use std::ops::Range;

use serde_json::Value;

use super::encoding;
use super::matcher::endings::Endings;
use super::matcher::locate::{Located, Source};
use super::matcher::utf16::Utf16;
use crate::error::ToolError;
use crate::json::{Fields, required};
use crate::table::{Table, sorted};
use diagnose::{Failure, Reason};

/// Replacements may not add more than this many bytes in all, so that `replaceAll` with a long
/// newText is an error and not the end of the memory.
const MAX_NEW_BYTES: usize = 256 << 20;

/// One edit, as the model sends it: `{oldText, newText, replaceAll?}`.
///
/// ```
/// use tackroom::text::edit::Edit;
/// let edit: Edit = serde_json::from_str(r#"{"oldText":"a","newText":"b"}"#).unwrap();
/// assert_eq!(edit, Edit { old_text: "a".into(), new_text: "b".into(), replace_all: false });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edit {
    /// The text to find; not empty. A leading U+FEFF is ignored.
    pub old_text: String,
    /// The text to put in its place, literally. A leading U+FEFF is ignored.
    pub new_text: String,
    /// Replace every occurrence, from left to right; without it there must be exactly one.
    #[serde(default)]
    pub replace_all: bool,
}

impl Edit {
    /// An edit from JSON.
    pub fn read(value: Value) -> Result<Edit, String> {
        let mut fields = Fields::of(value)?;
        Ok(Edit {
            old_text: required("oldText", fields.text("oldText")?)?,
            new_text: required("newText", fields.text("newText")?)?,
            replace_all: fields.flag("replaceAll")?.unwrap_or_default(),
        })
    }
}

/// One replaced span of the original, in order of position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// The bytes of the original that go.
    pub range: Range<usize>,
    /// The bytes that come, with the line endings they were given.
    pub text: Vec<u8>,
    /// The index of the edit that asked for it.
    pub edit: usize,
}

/// What a batch of edits came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The whole new content.
    pub content: Vec<u8>,
    /// The spans that changed, in order of position; they never overlap. Spans whose text stays
    /// the same are left out.
    pub replacements: Vec<Replacement>,
    /// The indices of the edits that matched and changed nothing, ascending.
    pub unchanged: Vec<usize>,
}

/// Applies all edits to `original`, or none.
///
/// `path` is only used in messages, as the model sent it.
///
/// # Errors
///
/// - `invalid_arguments`: no edits, an empty oldText (`oldText must not be empty in PATH`), or a
///   result that would be too large
/// - `no_match`: `Could not find the exact text in PATH`, in a batch `Could not find edits[1] in PATH`,
///   with the closest block and what is probably wrong
/// - `ambiguous`: `Found 3 occurrences of the text in PATH`, with their lines
/// - `overlap`: `edits[0] and edits[1] overlap in PATH`
/// - `no_change`: `No changes made to PATH`
///
/// Every failing edit is named; the code is that of the first. A message has at most 1 KB an edit and
/// 2 KB in all.
///
/// ```
/// use tackroom::text::edit::{Edit, apply_edits};
/// let edit = Edit { old_text: "a\nb".into(), new_text: "A\nB".into(), replace_all: false };
/// let applied = apply_edits(b"a\r\nb\r\n", &[edit], "a.txt").unwrap();
/// assert_eq!(applied.content, b"A\r\nB\r\n");
/// assert_eq!(applied.replacements[0].range, 0..4);
/// ```
pub fn apply_edits(original: &[u8], edits: &[Edit], path: &str) -> Result<Applied, ToolError> {
    if edits.is_empty() {
        let message =
            format!("No edits for {}: expected at least one in edits, found none", show::path(path));
        return Err(ToolError::invalid_arguments(message));
    }
    // The file's BOM lies outside everything that can be matched.
    let encoding = encoding::detect(original);
    let bom = encoding.bom().len();
    let utf16 = encoding.is_utf16().then(|| Utf16::decode(&original[bom..], encoding));
    let body = utf16.as_ref().map_or(&original[bom..], Utf16::text);

    let spans = locate_all(body, edits, path)?;
    let mut replacements = Vec::with_capacity(spans.len());
    let mut changes = vec![false; edits.len()];
    let mut endings = Endings::new(body);
    let mut added = 0usize;
    for (start, end, edit) in spans {
        let new = without_bom(&edits[edit].new_text);
        // The same text changes nothing, even where the file has a look-alike of it.
        if new == without_bom(&edits[edit].old_text) {
            continue;
        }
        let mut range = start..end;
        let mut text = endings.fit(new.as_bytes(), &range);
        if text == body[range.clone()] {
            continue;
        }
        if let Some(utf16) = &utf16 {
            text = utf16.encode(&text);
            range = utf16.original(range);
        }
        added += text.len();
        if added > MAX_NEW_BYTES {
            let limit = MAX_NEW_BYTES >> 20;
            let message =
                format!("Could not edit {}: the edits add more than {limit} MB of text", show::path(path));
            return Err(ToolError::invalid_arguments(message));
        }
        changes[edit] = true;
        replacements.push(Replacement { range: range.start + bom..range.end + bom, text, edit });
    }
    if replacements.is_empty() {
        return Err(diagnose::no_change(edits, path));
    }
    let content = splice(original, &replacements);
    if content == original {
        return Err(diagnose::no_change(edits, path));
    }
    let unchanged = (0..edits.len()).filter(|&i| !changes[i]).collect();
    Ok(Applied { content, replacements, unchanged })
}

/// Where an edit's text starts and ends, and the edit's index.
type Span = (usize, usize, usize);

/// The spans of all edits in `body`, in order of position, or the error that names every edit that
/// has none.
fn locate_all(body: &[u8], edits: &[Edit], path: &str) -> Result<Vec<Span>, ToolError> {
    let source = Source::new(body);
    let mut spans = Vec::new();
    let mut failures = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let old = without_bom(&edit.old_text).as_bytes();
        let reason = if old.is_empty() {
            Reason::Empty
        } else {
            match source.locate(old, edit.replace_all) {
                Located::Spans(found) => {
                    spans.extend(found.into_iter().map(|span| (span.start, span.end, index)));
                    continue;
                }
                Located::Nowhere => Reason::Missing,
                Located::Ambiguous { count, starts } => Reason::Ambiguous { count, starts },
            }
        };
        failures.push(Failure { index, old, reason });
    }
    if !failures.is_empty() {
        return Err(diagnose::failures(&source, &failures, edits.len() > 1, path));
    }
    if !spans.is_sorted() {
        spans = sorted(spans);
    }
    let overlaps = overlaps(&spans);
    if overlaps.is_empty() { Ok(spans) } else { Err(diagnose::overlap(body, &overlaps, path)) }
}

/// Pairs of edits that touch the same bytes, each once, with the place where they first do.
/// `spans` are sorted by their start.
fn overlaps(spans: &[Span]) -> Vec<(usize, usize, usize)> {
    let mut pairs: Vec<(usize, usize, usize)> = Vec::new();
    let mut seen = Table::default();
    let mut furthest: Option<Span> = None;
    for &(start, end, edit) in spans {
        if let Some((_, _, before)) = furthest.filter(|furthest| start < furthest.1) {
            let pair = (before.min(edit), before.max(edit));
            if seen.insert(pair, ()).is_none() {
                pairs.push((pair.0, pair.1, start));
            }
        }
        if furthest.is_none_or(|furthest| end > furthest.1) {
            furthest = Some((start, end, edit));
        }
    }
    pairs
}

fn splice(original: &[u8], replacements: &[Replacement]) -> Vec<u8> {
    let added: usize = replacements.iter().map(|r| r.text.len()).sum();
    let removed: usize = replacements.iter().map(|r| r.range.len()).sum();
    let mut content = Vec::with_capacity(original.len() + added - removed);
    let mut from = 0;
    for replacement in replacements {
        content.extend_from_slice(&original[from..replacement.range.start]);
        content.extend_from_slice(&replacement.text);
        from = replacement.range.end;
    }
    content.extend_from_slice(&original[from..]);
    content
}

/// Models send the BOM that they saw, or one that the file does not have; it is never part of an edit.
fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
