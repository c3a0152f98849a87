//! A text that every match has, whatever its letters' case, looked for by two of its bytes.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// Fewer bytes are too often there to be worth it.
const LEAST_BYTES: usize = 3;

/// From the rarest in source code and prose on. What is none of these is as rare as those in the middle.
const COMMON: &[u8] = b"zqxjvwybghfpmudcl_ioanrte";

/// Places that are looked at together: the compiler makes vectors of them.
const WIDE: usize = 64;

/// ASCII text in either case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caseless {
    /// In small letters.
    text: Vec<u8>,
    /// The two bytes that are looked for.
    rare: [Rare; 2],
}

/// A byte of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rare {
    /// Where it is in there.
    at: usize,
    byte: u8,
    /// The bit in which a capital letter differs.
    case: u8,
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
        let mut places: Vec<usize> = (0..text.len()).collect();
        places.sort_by_key(|at| rank(&text[*at]));
        let rare = |at: &usize| {
            let byte = text[*at];
            Rare { at: *at, byte, case: if byte.is_ascii_lowercase() { 0x20 } else { 0 } }
        };
        match places.as_slice() {
            [first, second, ..] if text.len() >= LEAST_BYTES => {
                let rare = [rare(first), rare(second)];
                Some(Caseless { text, rare })
            }
            _ => None,
        }
    }

    /// Where it is first.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        let is_at = |at: &usize| bytes[*at..*at + self.text.len()].eq_ignore_ascii_case(&self.text);
        // How many places there are for it.
        let places = (bytes.len() + 1).checked_sub(self.text.len())?;
        let mut at = 0;
        while at + WIDE <= places {
            let wide = |rare: &Rare| bytes[at + rare.at..].first_chunk::<WIDE>();
            if let (Some(first), Some(second)) = (wide(&self.rare[0]), wide(&self.rare[1]))
                && are_there(first, second, &self.rare)
                && let Some(found) = (at..at + WIDE).find(is_at)
            {
                return Some(found);
            }
            at += WIDE;
        }
        (at..places).find(is_at)
    }
}

/// Whether at any of the places both bytes are there.
fn are_there(first: &[u8; WIDE], second: &[u8; WIDE], rare: &[Rare; 2]) -> bool {
    let mut found = 0;
    for (one, other) in first.iter().zip(second) {
        found |=
            u8::from((one | rare[0].case) == rare[0].byte) & u8::from((other | rare[1].case) == rare[1].byte);
    }
    found != 0
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
        for before in 0..200 {
            for after in [0, 1, 63, 64, 65, 130] {
                let text = format!("{}nEEdlE{}", "needl ".repeat(34).split_at(before).0, "d".repeat(after));
                assert_eq!(needle.find(text.as_bytes()), text.find("nEEdlE"), "{before}, {after}");
            }
        }
    }
}
