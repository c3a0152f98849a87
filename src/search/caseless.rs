//! A text that every match has, whatever its letters' case, looked for by its rarest byte.

use memchr::memchr2;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Fewer bytes are too often there to be worth it.
const LEAST_BYTES: usize = 3;

/// From the rarest in source code and prose on. What is none of these is as rare as those in the middle.
const COMMON: &[u8] = b"zqxjvwybghfpmudcl_ioanrte";

/// ASCII text in either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caseless {
    /// In small letters.
    text: Vec<u8>,
    /// Which of its bytes is looked for.
    rarest: usize,
}

impl Caseless {
    /// The longest text that is in every match of a pattern, if there is one.
    pub fn of(pattern: &str, is_literal: bool) -> Option<Caseless> {
        let longest = if is_literal {
            longest_run(pattern.as_bytes())
        } else {
            let hir = ParserBuilder::new().utf8(false).build().parse(pattern).ok()?;
            required(&hir)
        };
        let text = longest.to_ascii_lowercase();
        let rank = |byte: &u8| COMMON.iter().position(|common| common == byte).unwrap_or(COMMON.len() / 2);
        let rarest = (0..text.len()).min_by_key(|at| rank(&text[*at]))?;
        (text.len() >= LEAST_BYTES).then_some(Caseless { text, rarest })
    }

    /// Where it is first.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        let byte = self.text[self.rarest];
        let mut at = self.rarest;
        loop {
            let found = at + memchr2(byte, byte.to_ascii_uppercase(), bytes.get(at..)?)?;
            let start = found - self.rarest;
            let there = bytes.get(start..start + self.text.len())?;
            if there.eq_ignore_ascii_case(&self.text) {
                return Some(start);
            }
            at = found + 1;
        }
    }
}

/// The longest of the texts that are in every match.
fn required(hir: &Hir) -> Vec<u8> {
    match hir.kind() {
        HirKind::Literal(literal) => longest_run(&literal.0),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => longest(parts.iter().map(required)),
        _ => Vec::new(),
    }
}

/// The longest part of ASCII. In Unicode, s and k are also small forms of U+017F and U+212A, so that these end it.
fn longest_run(text: &[u8]) -> Vec<u8> {
    let ends = |byte: &u8| !byte.is_ascii() || matches!(byte, b's' | b'S' | b'k' | b'K');
    longest(text.split(ends).map(<[u8]>::to_vec))
}

fn longest(texts: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    texts.max_by_key(Vec::len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_match_has() {
        for (pattern, is_literal, expected) in [
            ("RaresNeedle", false, Some("needle")),
            ("a.b*(foo)+[cd]barbaz?", false, Some("barba")),
            ("foo|bar", false, None),
            ("(foo)*", false, None),
            ("(?i)foo", false, None),
            ("ab", false, None),
            ("sssss", true, None),
            ("a.b*(", true, Some("a.b*(")),
            ("\u{e9}tude", false, Some("tude")),
        ] {
            let text = Caseless::of(pattern, is_literal).map(|found| String::from_utf8(found.text).unwrap());
            assert_eq!(text.as_deref(), expected, "{pattern}");
        }
    }

    #[test]
    fn it_is_found_where_it_is_first() {
        let needle = Caseless::of("NeedLe", true).unwrap();
        for (text, expected) in [
            ("", None),
            ("needl", None),
            ("eedle", None),
            ("needle", Some(0)),
            ("dneedddleneEdLEneedle", Some(9)),
            ("xNEEDLE", Some(1)),
            ("ddddddd", None),
        ] {
            assert_eq!(needle.find(text.as_bytes()), expected, "{text}");
        }
    }
}
