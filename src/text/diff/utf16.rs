//! Diffs of UTF-16 files: of the text, for people only.

use super::super::edit::Replacement;
use super::super::encoding::{self, Encoding};
use super::changes::Change;
use super::{FileDiff, with_patch};

pub(super) fn either(before: &[u8], after: &[u8]) -> bool {
    encoding::detect(before).is_utf16() || encoding::detect(after).is_utf16()
}

pub(super) fn file_diff(before: &[u8], after: &[u8], changes: &[Change]) -> FileDiff {
    with_patch(Err("the file is UTF-16, and a patch is UTF-8".into()), before, after, changes)
}

/// The text before, the text after and the replaced spans of the text, decoded piece by piece.
pub(super) fn replaced(before: &[u8], replacements: &[Replacement]) -> (Vec<u8>, Vec<u8>, Vec<Replacement>) {
    let encoding = encoding::detect(before);
    let (mut old, mut new, mut spans) = (String::new(), String::new(), Vec::new());
    let mut from = encoding.bom().len();
    for Replacement { range, text, edit } in replacements {
        // A span that somebody put over the BOM begins after it.
        let start = range.start.max(from);
        let end = range.end.max(start);
        let kept = decode(&before[from..start], encoding);
        let gone = decode(&before[start..end], encoding);
        let text = decode(text, encoding);
        old.push_str(&kept);
        new.push_str(&kept);
        let at = old.len();
        old.push_str(&gone);
        new.push_str(&text);
        spans.push(Replacement { range: at..old.len(), text: text.into_bytes(), edit: *edit });
        from = end;
    }
    let kept = decode(&before[from..], encoding);
    ((old + &kept).into_bytes(), (new + &kept).into_bytes(), spans)
}

/// UTF-16 without a BOM; what is no text becomes U+FFFD.
fn decode(bytes: &[u8], encoding: Encoding) -> String {
    let unit = if encoding == Encoding::Utf16Be { u16::from_be_bytes } else { u16::from_le_bytes };
    let (units, odd) = bytes.as_chunks::<2>();
    let chars = char::decode_utf16(units.iter().map(|&pair| unit(pair)));
    let text: String = chars.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if odd.is_empty() { text } else { text + "\u{fffd}" }
}
