//! A whole file written anew: what becomes of its BOM, encoding and line endings.
//!
//! Either the new text is stored as it is, as UTF-8, and what that changes is said; or it is stored in the form that
//! the file has. A file whose endings are mixed has no form to keep, and neither has one that is no text.

use super::diff::{self, FileDiff};
use super::encoding::{self, Encoding};
use super::lines::{LineEnding, line_ending};

/// What is to be stored, and what that changes beside the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewrite {
    /// The whole new content.
    pub bytes: Vec<u8>,
    /// Such as `Line endings changed from CRLF to LF; the BOM was removed`; `None` where nothing of the kind is.
    pub changed: Option<String>,
}

/// The new content of a file, from a text and from what is there before (`None`: nothing).
///
/// ```
/// use tackroom::text::rewrite::rewrite;
/// let before = b"\xEF\xBB\xBFa\r\nb\r\n";
/// assert_eq!(rewrite(Some(before), "a\nc\n", true).bytes, b"\xEF\xBB\xBFa\r\nc\r\n");
/// let verbatim = rewrite(Some(before), "a\nc\n", false);
/// assert_eq!(verbatim.bytes, b"a\nc\n");
/// assert_eq!(verbatim.changed.unwrap(), "Line endings changed from CRLF to LF; the BOM was removed");
/// ```
pub fn rewrite(before: Option<&[u8]>, text: &str, preserve: bool) -> Rewrite {
    let Some(before) = before.filter(|before| !encoding::is_binary(before)) else {
        return Rewrite { bytes: text.as_bytes().to_vec(), changed: None };
    };
    let old = encoding::decode(before);
    let old_ending = ending(&old.text);
    let bytes = match preserve {
        true => encode(old.encoding, text.strip_prefix('\u{feff}').unwrap_or(text), old_ending),
        false => text.as_bytes().to_vec(),
    };
    let changed = changes(&old.encoding, old_ending, &bytes);
    Rewrite { bytes, changed }
}

/// The diff of two whole contents. UTF-16 is compared as the text that it is, and has no patch.
pub fn diff(path: &str, before: Option<&[u8]>, after: &[u8]) -> FileDiff {
    let is_utf16 = |bytes: &[u8]| encoding::detect(bytes).is_utf16();
    if !before.is_some_and(is_utf16) && !is_utf16(after) {
        return diff::between(path, before, after);
    }
    let text = |bytes: &[u8]| match is_utf16(bytes) {
        true => encoding::decode(bytes).text.into_owned().into_bytes(),
        false => bytes.to_vec(),
    };
    let before = before.map(text);
    FileDiff {
        patch: None,
        patch_omitted: Some("the file is UTF-16, and a patch is bytes of UTF-8".into()),
        ..diff::between(path, before.as_deref(), &text(after))
    }
}

/// What ends the lines of a text; `None` where it has no break.
fn ending(text: &str) -> Option<LineEnding> {
    text.contains(['\n', '\r']).then(|| line_ending(text.as_bytes()))
}

fn encode(encoding: Encoding, text: &str, ending: Option<LineEnding>) -> Vec<u8> {
    let text = with_endings(text, ending);
    let mut bytes = encoding.bom().to_vec();
    match encoding {
        Encoding::Utf8 | Encoding::Utf8Bom => bytes.extend_from_slice(text.as_bytes()),
        Encoding::Utf16Le => text.encode_utf16().for_each(|unit| bytes.extend(unit.to_le_bytes())),
        Encoding::Utf16Be => text.encode_utf16().for_each(|unit| bytes.extend(unit.to_be_bytes())),
    }
    bytes
}

/// The text with these line endings. CRLF is one break; a lone CR is one only where the file has no other.
fn with_endings(text: &str, ending: Option<LineEnding>) -> String {
    match ending {
        None | Some(LineEnding::Mixed) => text.to_owned(),
        Some(LineEnding::Lf) => text.replace("\r\n", "\n"),
        Some(LineEnding::Crlf) => text.replace("\r\n", "\n").replace('\n', "\r\n"),
        Some(LineEnding::Cr) => text.replace("\r\n", "\r").replace('\n', "\r"),
    }
}

fn changes(encoding: &Encoding, ending_before: Option<LineEnding>, after: &[u8]) -> Option<String> {
    let new = encoding::decode(after);
    let mut parts = Vec::new();
    if let (Some(old), Some(new)) = (ending_before, ending(&new.text))
        && old != new
    {
        parts.push(format!("line endings changed from {} to {}", shown(old), shown(new)));
    }
    match (*encoding, new.encoding) {
        (old, new) if old == new => {}
        (Encoding::Utf8Bom, _) => parts.push("the BOM was removed".into()),
        (Encoding::Utf8, Encoding::Utf8Bom) => parts.push("a BOM was added".into()),
        (old, new) => {
            let [old, new] = [old, new].map(|encoding| encoding.as_str().to_ascii_uppercase());
            parts.push(format!("the encoding changed from {old} to {new}"));
        }
    }
    let text = parts.join("; ");
    let first = text.chars().next()?;
    Some(format!("{}{}", first.to_ascii_uppercase(), &text[first.len_utf8()..]))
}

fn shown(ending: LineEnding) -> String {
    match ending {
        LineEnding::Mixed => "mixed ones".into(),
        one => one.as_str().to_ascii_uppercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str) -> Vec<u8> {
        encode(Encoding::Utf16Le, text, None)
    }

    #[test]
    fn preserving_keeps_the_form_and_says_nothing() {
        let be = encode(Encoding::Utf16Be, "a\r\n", None);
        for (before, text, after) in [
            (&b"\xEF\xBB\xBFa\r\nb\r\n"[..], "a\nc\n", &b"\xEF\xBB\xBFa\r\nc\r\n"[..]),
            (b"a\r\n", "x\r\ny\n", b"x\r\ny\r\n"),
            (b"a\n", "x\r\ny\n", b"x\ny\n"),
            (b"a\rb", "x\ny\r\nz", b"x\ry\rz"),
            (b"a", "x\r\n", b"x\r\n"),
            (b"", "x\n", b"x\n"),
            (b"\xEF\xBB\xBF", "\u{feff}x", b"\xEF\xBB\xBFx"),
            (&utf16("a\r\n"), "\u{1f642}\n", &utf16("\u{1f642}\r\n")),
            (&be, "b\n", b"\xFE\xFF\0b\0\r\0\n"),
        ] {
            let rewritten = rewrite(Some(before), text, true);
            assert_eq!(
                (rewritten.bytes.as_slice(), rewritten.changed),
                (after, None),
                "{before:x?} {text:?}"
            );
        }
    }

    #[test]
    fn verbatim_says_what_it_changes() {
        for (before, text, changed) in [
            (&b"a\r\n"[..], "b\n", Some("Line endings changed from CRLF to LF")),
            (b"a\n", "b\r\n", Some("Line endings changed from LF to CRLF")),
            (b"a\nb\r\n", "b\n", Some("Line endings changed from mixed ones to LF")),
            (b"a\n", "b", None),
            (b"a", "b\r\n", None),
            (b"\xEF\xBB\xBFa\n", "b\n", Some("The BOM was removed")),
            (b"\xEF\xBB\xBFa\n", "\u{feff}b\n", None),
            (b"a\n", "\u{feff}b\n", Some("A BOM was added")),
            (&utf16("a\n"), "b\n", Some("The encoding changed from UTF-16LE to UTF-8")),
            (b"\0\r\n", "b\n", None),
        ] {
            let rewritten = rewrite(Some(before), text, false);
            assert_eq!(rewritten.bytes, text.as_bytes());
            assert_eq!(rewritten.changed.as_deref(), changed, "{before:x?} {text:?}");
        }
    }

    #[test]
    fn mixed_endings_are_no_form_to_keep() {
        let rewritten = rewrite(Some(b"a\nb\r\n"), "x\ny\n", true);
        assert_eq!(rewritten.bytes, b"x\ny\n");
        assert_eq!(rewritten.changed.unwrap(), "Line endings changed from mixed ones to LF");
    }

    #[test]
    fn utf16_is_compared_as_text() {
        let told = diff("f", Some(&utf16("a\nb\n")), &utf16("a\nc\n"));
        assert_eq!((told.diff.as_str(), told.patch), (" 1 a\n-2 b\n+2 c", None));
        assert!(told.patch_omitted.unwrap().contains("UTF-16"));
        assert!(diff("f", None, b"x\n").patch.is_some());
    }
}
