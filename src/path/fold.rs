//! The fold of a file name: what stays the same where a keyboard, a model or a file system writes a name in
//! another of its Unicode forms.
//!
//! macOS puts U+202F before AM and PM in the names of screenshots and a curly apostrophe into French ones; its file
//! system keeps the decomposed form of an accented letter where one was given. A model writes the plain form.

use crate::unicode::{Form, normalize};

/// NFC, every space of Unicode's `Zs` that looks like one as U+0020, curly quotes straight.
///
/// ```
/// use tackroom::path::fold;
/// assert_eq!(fold("4.42\u{202f}PM"), "4.42 PM");
/// assert_eq!(fold("d\u{2019}e\u{301}cran"), "d'\u{e9}cran");
/// ```
pub fn fold(segment: &str) -> String {
    normalize(segment, Form::Nfc).chars().map(plain).collect()
}

/// Whether another name can have the same fold: where not, there is no use in listing a directory.
pub fn could_fold(segment: &str) -> bool {
    // `;`, `` ` `` and `K` are what U+037E, U+1FEF and U+212A are normalised to.
    segment.bytes().any(|byte| !byte.is_ascii() || matches!(byte, b' ' | b'\'' | b'"' | b';' | b'`' | b'K'))
}

fn plain(c: char) -> char {
    match c {
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
        '\u{2018}'..='\u{201b}' => '\'',
        '\u{201c}'..='\u{201f}' => '"',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_name_folds_alike() {
        for (one, other) in [
            ("caf\u{e9}.txt", "cafe\u{301}.txt"),
            ("a b", "a\u{a0}b"),
            ("a b", "a\u{3000}b"),
            ("a b", "a\u{2009}b"),
            ("Capture d'\u{e9}cran", "Capture d\u{2019}e\u{301}cran"),
            ("\"x\"", "\u{201c}x\u{201d}"),
        ] {
            assert_eq!(fold(one), fold(other), "{one:?} {other:?}");
        }
        assert_ne!(fold("a"), fold("A"));
        assert_ne!(fold("\u{fb01}"), fold("fi"), "NFC, not NFKC");
    }

    #[test]
    fn a_name_that_could_not_fold_is_the_fold_of_no_other() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let folded = fold(c.encode_utf8(&mut [0; 4]));
            let is_own = folded.chars().eq([c]);
            assert!(is_own || could_fold(&folded), "{c:?} folds to {folded:?}");
        }
    }
}
