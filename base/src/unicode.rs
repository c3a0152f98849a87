//! Unicode normalisation ([UAX #15]), by whoever has the tables: natively a crate, in wasm the platform, as every
//! JavaScript runtime brings them along and they would be 50 KB of the module.
//!
//! The platform's Unicode may be older or newer than the table of [`joins`]. That only matters for characters that
//! one of the two does not know, and which the other then takes for ones that stay as they are.
//!
//! [UAX #15]: https://www.unicode.org/reports/tr15/

mod joining;

use std::borrow::Cow;
use std::cmp::Ordering;

use joining::JOINING;

/// What can be made of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A normalisation form, canonical and composed: another spelling of the same characters.
    Nfc,
    /// Another, of compatibility: what the characters stand for, such as the two letters of a ligature.
    Nfkc,
    /// Small letters.
    LowerCase,
}

/// The text in small letters; as it is, but for those of ASCII, where there is nobody who knows others.
pub fn lower_case(text: &str) -> String {
    let known = if text.is_ascii() { None } else { platform::normalize(text, Form::LowerCase) };
    known.unwrap_or_else(|| text.to_ascii_lowercase())
}

/// The text in that form; as it is where there is nobody to normalise it.
///
/// LF neither joins anything nor comes of anything, so the lines of the text are those of the result: many pieces
/// can be normalised as lines of one text.
pub fn normalize(text: &str, form: Form) -> Cow<'_, str> {
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    platform::normalize(text, form).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Whether the character may combine with what is before it, or change places with it. Before one that does not, text
/// can be cut: the parts, normalised, are the whole, normalised.
pub fn joins(c: char) -> bool {
    let place = |&(first, last): &(char, char)| match () {
        () if last < c => Ordering::Less,
        () if first > c => Ordering::Greater,
        () => Ordering::Equal,
    };
    c >= JOINING[0].0 && JOINING.binary_search_by(place).is_ok()
}

/// Whether the character is one of many that join nothing and that every form leaves as they are. What comes after
/// may still join it.
pub fn stays(c: char) -> bool {
    matches!(c,
        // ASCII, Latin letters.
        '\0'..='\u{9f}' | '\u{c0}'..='\u{131}' | '\u{14a}'..='\u{17e}' | '\u{1ea0}'..='\u{1ef9}'
        // Letters: Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai.
        | '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3cf}' | '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}'
        | '\u{5d0}'..='\u{5ea}' | '\u{620}'..='\u{64a}' | '\u{660}'..='\u{66f}' | '\u{679}'..='\u{6d3}'
        | '\u{900}'..='\u{93b}' | '\u{93d}'..='\u{94c}' | '\u{e01}'..='\u{e32}' | '\u{e34}'..='\u{e37}'
        | '\u{e3f}'..='\u{e47}'
        // Arrows, operators; boxes, blocks and dingbats.
        | '\u{2190}'..='\u{2211}' | '\u{2213}'..='\u{222b}' | '\u{2500}'..='\u{27bf}'
        // Ideographs and their punctuation, kana without sound marks, Hangul syllables.
        | '\u{3001}'..='\u{3029}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fe}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{20000}'..='\u{2a6df}'
        // Private use, the selector of emoji, emoji.
        | '\u{e000}'..='\u{f8ff}' | '\u{fe0f}' | '\u{1f300}'..='\u{1f64f}' | '\u{1f900}'..='\u{1f9ff}')
}

#[cfg(not(target_arch = "wasm32"))]
mod platform {
    use unicode_normalization::UnicodeNormalization;

    use super::Form;

    pub(super) fn normalize(text: &str, form: Form) -> Option<String> {
        Some(match form {
            Form::Nfc => text.nfc().collect(),
            Form::Nfkc => text.nfkc().collect(),
            Form::LowerCase => text.to_lowercase(),
        })
    }
}

#[cfg(target_arch = "wasm32")]
pub use platform::install;

#[cfg(target_arch = "wasm32")]
mod platform {
    use std::cell::Cell;

    use super::Form;

    type Normalize = fn(&str, Form) -> Option<String>;

    std::thread_local! {
        static NORMALIZE: Cell<Option<Normalize>> = const { Cell::new(None) };
    }

    /// Says who normalises.
    pub fn install(normalize: Normalize) {
        NORMALIZE.set(Some(normalize));
    }

    pub(super) fn normalize(text: &str, form: Form) -> Option<String> {
        let lines = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        NORMALIZE.get()?(text, form).filter(|normal| lines(normal) == lines(text))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::iter::once;

    use unicode_normalization::char::{canonical_combining_class, compose, decompose_compatible};
    use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

    use super::*;

    fn every_char() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    #[test]
    fn what_joins_is_what_the_table_says() {
        let first_of = |c: char| {
            let mut first = None;
            decompose_compatible(c, |part| first = first.or(Some(part)));
            first.unwrap()
        };
        let mut right: Vec<(char, char)> = Vec::new();
        let mut wrong = 0;
        for c in every_char() {
            let first = first_of(c);
            let is_joining =
                canonical_combining_class(first) != 0 || is_nfc_quick(once(first)) == IsNormalized::Maybe;
            wrong += usize::from(is_joining != joins(c));
            match right.last_mut() {
                Some((_, last)) if is_joining && *last as u32 + 1 == c as u32 => *last = c,
                _ if is_joining => right.push((c, c)),
                _ => {}
            }
        }
        let line = |(first, last): &(char, char)| {
            format!("    ('{}', '{}'),\n", first.escape_unicode(), last.escape_unicode())
        };
        assert!(wrong == 0, "{} ranges:\n{}", right.len(), right.iter().map(line).collect::<String>());
    }

    #[test]
    fn the_second_of_a_composition_joins() {
        for c in every_char() {
            let parts: Vec<char> = once(c).nfd().collect();
            for pair in parts.windows(2) {
                assert!(compose(pair[0], pair[1]).is_none() || joins(pair[1]), "{:04x}", c as u32);
            }
        }
        assert!(['\u{301}', '\u{1161}', '\u{9be}', '\u{ff9e}'].into_iter().all(joins));
    }

    #[test]
    fn what_stays_is_itself_in_every_form() {
        for c in every_char().filter(|&c| stays(c)) {
            assert!(!joins(c), "{:04x}", c as u32);
            assert!(once(c).nfkc().eq(once(c)) && once(c).nfc().eq(once(c)), "{:04x}", c as u32);
        }
    }

    #[test]
    fn lines_stay_lines() {
        for c in every_char().filter(|&c| c != '\n') {
            assert!(!once(c).nfkd().any(|part| part == '\n'), "{:04x}", c as u32);
        }
        let text = "e\n\u{301}\n\u{1100}\n\u{1161}\n\u{f900}\n\n";
        assert_eq!(normalize(text, Form::Nfkc), "e\n\u{301}\n\u{1100}\n\u{1161}\n\u{8c48}\n\n");
        assert_eq!(normalize("\u{fb01}e\u{301}", Form::Nfc), "\u{fb01}\u{e9}");
        assert_eq!(normalize("\u{fb01}e\u{301}", Form::Nfkc), "fi\u{e9}");
        assert!(matches!(normalize("日本\n", Form::Nfc), Cow::Borrowed("日本\n")));
    }
}
