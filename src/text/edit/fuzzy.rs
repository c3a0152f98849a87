//! The third tier: text that looks the same.
//!
//! Both the file and the sought text are folded: Unicode normalisation form KC ([UAX #15]), then quotes,
//! dashes and spaces as ASCII, every line break as LF, no blanks at line ends. The file is folded segment
//! by segment, so that a match leads back to exact bytes. A segment begins where normalisation can be
//! cut: at a character that stays apart from what is before it. A match begins and ends with a
//! segment: the 1 of ½ is none, nor is an e that carries an accent.
//!
//! [UAX #15]: https://www.unicode.org/reports/tr15/

use std::cmp::Ordering;
use std::iter::once;
use std::ops::{Range, RangeInclusive};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

use super::breaks::{Break, breaks};
use super::segments::View;

/// What looks like an ASCII character. Primes and guillemets are left out: a quotation mark is not what
/// one types for them. The spaces are here for speed, as form KC maps them too, and so it does with the
/// full-width, small and vertical forms of all of these.
const LOOK_ALIKES: [(char, char); 30] = [
    ('\u{2018}', '\''), // left single quotation mark
    ('\u{2019}', '\''), // right single quotation mark
    ('\u{201A}', '\''), // single low-9 quotation mark
    ('\u{201B}', '\''), // single high-reversed-9 quotation mark
    ('\u{201C}', '"'),  // left double quotation mark
    ('\u{201D}', '"'),  // right double quotation mark
    ('\u{201E}', '"'),  // double low-9 quotation mark
    ('\u{201F}', '"'),  // double high-reversed-9 quotation mark
    ('\u{2010}', '-'),  // hyphen
    ('\u{2011}', '-'),  // non-breaking hyphen
    ('\u{2012}', '-'),  // figure dash
    ('\u{2013}', '-'),  // en dash
    ('\u{2014}', '-'),  // em dash
    ('\u{2015}', '-'),  // horizontal bar
    ('\u{2212}', '-'),  // minus sign
    ('\u{00A0}', ' '),  // no-break space
    ('\u{2000}', ' '),  // en quad
    ('\u{2001}', ' '),  // em quad
    ('\u{2002}', ' '),  // en space
    ('\u{2003}', ' '),  // em space
    ('\u{2004}', ' '),  // three-per-em space
    ('\u{2005}', ' '),  // four-per-em space
    ('\u{2006}', ' '),  // six-per-em space
    ('\u{2007}', ' '),  // figure space
    ('\u{2008}', ' '),  // punctuation space
    ('\u{2009}', ' '),  // thin space
    ('\u{200A}', ' '),  // hair space
    ('\u{202F}', ' '),  // narrow no-break space
    ('\u{205F}', ' '),  // medium mathematical space
    ('\u{3000}', ' '),  // ideographic space
];

fn look_alike(c: char) -> Option<char> {
    match c {
        '\u{a0}' | '\u{2000}'..='\u{2212}' | '\u{3000}' => {
            LOOK_ALIKES.iter().find(|(odd, _)| *odd == c).map(|(_, plain)| *plain)
        }
        _ => None,
    }
}

/// What a character is to its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It begins a segment and normalisation leaves it as it is.
    Stable,
    /// It begins a segment and becomes something else.
    Mapped,
    /// It may combine with what is before it, or change places with it.
    Joins,
}

fn class(c: char) -> Class {
    match c {
        // ASCII, letters with accents, Cyrillic letters, kana without sound marks, ideographs, Hangul
        // syllables.
        '\0'..='\u{7f}'
        | '\u{c0}'..='\u{131}'
        | '\u{14a}'..='\u{17e}'
        | '\u{400}'..='\u{481}'
        | '\u{1ea0}'..='\u{1ef9}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30fa}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}' => Class::Stable,
        _ => looked_up(c),
    }
}

/// A starter that never is the second of a composition stays apart from what is before it, and so does
/// whatever such a one begins the decomposition of.
fn looked_up(c: char) -> Class {
    let (mut first, mut parts) = (None, 0);
    decompose_compatible(c, |part| {
        first = first.or(Some(part));
        parts += 1;
    });
    match first {
        Some(first) if canonical_combining_class(first) == 0 && !is_second(first) => {
            let same = if parts == 1 { first == c } else { c.encode_utf8(&mut [0; 4]).nfkc().eq(once(c)) };
            if same { Class::Stable } else { Class::Mapped }
        }
        _ => Class::Joins,
    }
}

/// The starters that compose with what is before them (`NFC_QC=Maybe`, `ccc=0`), from the vowel signs
/// of Bengali to those of Kirat Rai. The quick check of unicode-normalization knows them too, with
/// tables for much else.
const SECONDS: [RangeInclusive<char>; 31] = [
    '\u{9be}'..='\u{9be}',
    '\u{9d7}'..='\u{9d7}',
    '\u{b3e}'..='\u{b3e}',
    '\u{b56}'..='\u{b57}',
    '\u{bbe}'..='\u{bbe}',
    '\u{bd7}'..='\u{bd7}',
    '\u{cc2}'..='\u{cc2}',
    '\u{cd5}'..='\u{cd6}',
    '\u{d3e}'..='\u{d3e}',
    '\u{d57}'..='\u{d57}',
    '\u{dcf}'..='\u{dcf}',
    '\u{ddf}'..='\u{ddf}',
    '\u{102e}'..='\u{102e}',
    '\u{1161}'..='\u{1175}',
    '\u{11a8}'..='\u{11c2}',
    '\u{1b35}'..='\u{1b35}',
    '\u{11127}'..='\u{11127}',
    '\u{1133e}'..='\u{1133e}',
    '\u{11357}'..='\u{11357}',
    '\u{113b8}'..='\u{113b8}',
    '\u{113bb}'..='\u{113bb}',
    '\u{113c2}'..='\u{113c2}',
    '\u{113c5}'..='\u{113c5}',
    '\u{113c7}'..='\u{113c9}',
    '\u{114b0}'..='\u{114b0}',
    '\u{114ba}'..='\u{114ba}',
    '\u{114bd}'..='\u{114bd}',
    '\u{115af}'..='\u{115af}',
    '\u{11930}'..='\u{11930}',
    '\u{1611e}'..='\u{16129}',
    '\u{16d67}'..='\u{16d68}',
];

fn is_second(c: char) -> bool {
    let place = |range: &RangeInclusive<char>| match () {
        () if *range.end() < c => Ordering::Less,
        () if *range.start() > c => Ordering::Greater,
        () => Ordering::Equal,
    };
    SECONDS.binary_search_by(place).is_ok()
}

/// A file, folded.
pub(super) struct Folded(View);

impl Folded {
    pub(super) fn new(file: &[u8]) -> Self {
        let mut folder = Folder::new(file.len());
        folder.all(file);
        folder.end_line();
        Folded(folder.view)
    }

    pub(super) fn text(&self) -> &[u8] {
        self.0.text()
    }

    /// The span of the file for a place where `sought.text` is, if it is a match.
    pub(super) fn original(&self, span: Range<usize>, sought: &Sought) -> Option<Range<usize>> {
        let Range { start, mut end } = span;
        let rest = &self.text()[end..];
        if rest.starts_with(&sought.tail) {
            end += sought.tail.len();
        } else if !matches!(rest.first(), None | Some(b'\n')) {
            return None;
        }
        let mut original = self.0.original(start..end)?;
        if sought.blanks_first {
            original.start = self.0.end_before(start)?;
        }
        Some(original)
    }
}

/// What to look for in a folded file.
pub(super) struct Sought {
    /// Without the blanks at its end.
    pub(super) text: Vec<u8>,
    /// Those blanks: they are in the file, or the file's line has nothing but blanks from there.
    tail: Vec<u8>,
    /// It begins with blanks before a line break, which therefore belong to the span.
    blanks_first: bool,
}

impl Sought {
    /// `None` for what matches nothing here: blanks and breaks alone, or no text.
    pub(super) fn new(old: &[u8]) -> Option<Self> {
        let mut folder = Folder::new(old.len());
        folder.all(old);
        let tail = folder.view.text()[folder.solid..].to_vec();
        folder.end_line();
        let text = folder.view.text().to_vec();
        if str::from_utf8(&text).is_ok_and(|text| !text.trim().is_empty()) {
            Some(Sought { text, tail, blanks_first: folder.view.start() > 0 })
        } else {
            None
        }
    }
}

/// Bytes that are looked at together.
const CHUNK: usize = 32;

struct Folder {
    view: View,
    /// The length of the view up to its last segment that is no blank.
    solid: usize,
    scratch: String,
}

impl Folder {
    fn new(bytes: usize) -> Self {
        Folder { view: View::with_capacity(bytes), solid: 0, scratch: String::new() }
    }

    fn all(&mut self, bytes: &[u8]) {
        if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
            return self.text(0, text);
        }
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            self.text(at, chunk.valid());
            at += chunk.valid().len();
            if !chunk.invalid().is_empty() {
                self.view.hole(at);
                self.solid = self.view.text().len();
                at += chunk.invalid().len();
            }
        }
    }

    /// Folds text that lies at `source`.
    fn text(&mut self, source: usize, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut next = None;
        while at < bytes.len() {
            if next.is_none() {
                let end = at + ascii_len(&bytes[at..]);
                next = text[end..].chars().next().map(|c| (c, class(c)));
                let joined = matches!(next, Some((_, Class::Joins)));
                // A line break carries nothing.
                let carries = joined && bytes[at..end].last().is_some_and(|last| !b"\r\n".contains(last));
                let apart = if carries { end - 1 } else { end };
                self.ascii(source + at, &bytes[at..apart]);
                at = apart;
                if carries {
                    next = Some((char::from(bytes[at]), Class::Stable));
                }
            }
            let Some((first, kind)) = next else { break };
            let mut chars = text[at..].chars();
            chars.next();
            let mut end = at + first.len_utf8();
            next = None;
            for c in chars {
                let following = (c, class(c));
                if following.1 != Class::Joins {
                    next = Some(following).filter(|_| !c.is_ascii());
                    break;
                }
                end += c.len_utf8();
            }
            let single = end == at + first.len_utf8();
            self.segment(source + at, &text[at..end], single.then_some((first, kind)));
            at = end;
        }
    }

    fn ascii(&mut self, source: usize, bytes: &[u8]) {
        let mut from = 0;
        for (start, end, kind) in breaks(bytes) {
            self.line(source + from, &bytes[from..start]);
            self.end_line();
            match kind {
                Break::CrLf => self.view.segment(source + start..source + end, b"\n"),
                Break::Lf | Break::Cr => self.view.copy(source + start, b"\n"),
            }
            self.solid += 1;
            from = end;
        }
        self.line(source + from, &bytes[from..]);
    }

    /// ASCII without a break.
    fn line(&mut self, source: usize, bytes: &[u8]) {
        self.view.copy(source, bytes);
        let blanks = bytes.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if blanks < bytes.len() {
            self.solid = self.view.text().len() - blanks;
        }
    }

    /// Drops the blanks at the end of the line.
    fn end_line(&mut self) {
        if self.solid < self.view.text().len() {
            self.view.truncate(self.solid);
        }
    }

    fn segment(&mut self, source: usize, text: &str, single: Option<(char, Class)>) {
        if let Some((c, Class::Stable)) = single
            && look_alike(c).is_none()
        {
            self.view.copy(source, text.as_bytes());
        } else {
            self.scratch.clear();
            if text.len() <= usize::from(u16::MAX) {
                match single.and_then(|(c, _)| look_alike(c)) {
                    Some(plain) => self.scratch.push(plain),
                    None => self.scratch.extend(text.nfkc().map(|c| look_alike(c).unwrap_or(c))),
                }
            }
            self.view.segment(source..source + text.len(), self.scratch.as_bytes());
            if self.scratch == " " {
                return;
            }
        }
        self.solid = self.view.text().len();
    }
}

fn ascii_len(bytes: &[u8]) -> usize {
    let whole = bytes.chunks_exact(CHUNK).take_while(|chunk| chunk.is_ascii()).count() * CHUNK;
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(test)]
mod tests {
    use unicode_normalization::char::compose;
    use unicode_normalization::{IsNormalized, is_nfc_quick};

    use super::*;

    fn fold(text: &str) -> String {
        String::from_utf8(Folded::new(text.as_bytes()).text().to_vec()).unwrap()
    }

    fn every_char() -> impl Iterator<Item = char> {
        '\0'..=char::MAX
    }

    #[test]
    fn what_is_folded() {
        assert_eq!(
            fold("“a” ‘b’ — x\u{a0}y\u{3000}z ½ ﬁ e\u{301}"),
            "\"a\" 'b' - x y z 1\u{2044}2 fi \u{e9}"
        );
        assert_eq!(fold("a \t\u{a0}\r\n\u{2003}\rb\n \n  c  "), "a\n\nb\n\n  c");
        assert_eq!(fold("«a» 5′ ＂－＇"), "«a» 5\u{2032} \"-'");
        assert_eq!(fold(" \u{301} \n\u{301}\r\n\u{301}"), " \u{301}\n\u{301}\n\u{301}");
        assert_eq!(Folded::new(b"a \xff\xfe \xe2\x82 b").text(), b"a \xff \xff b");
    }

    #[test]
    fn the_fast_classes_are_right() {
        for c in every_char() {
            assert_eq!(class(c), looked_up(c), "{:04x}", c as u32);
        }
    }

    #[test]
    fn look_alikes_are_what_the_table_says() {
        for (odd, plain) in LOOK_ALIKES {
            assert_eq!(look_alike(odd), Some(plain));
            assert_eq!(
                (class(odd) == Class::Joins, fold(&format!("x{odd}x"))),
                (false, format!("x{plain}x"))
            );
        }
    }

    #[test]
    fn no_segment_begins_with_the_second_of_a_composition() {
        for c in every_char() {
            let parts: Vec<char> = once(c).nfd().collect();
            for pair in parts.windows(2) {
                if compose(pair[0], pair[1]).is_some() {
                    assert_eq!(class(pair[1]), Class::Joins, "{:04x}", c as u32);
                }
            }
        }
        for c in every_char().filter(|&c| canonical_combining_class(c) == 0) {
            assert_eq!(is_second(c), is_nfc_quick(once(c)) == IsNormalized::Maybe, "{:04x}", c as u32);
        }
        assert_eq!(class('\u{1161}'), Class::Joins);
        assert_eq!(class('\u{9be}'), Class::Joins);
        assert_eq!(class('\u{ff9e}'), Class::Joins);
    }

    #[test]
    fn a_character_alone_leaves_no_blank_behind() {
        // Else a blank at the end of a line could be the end of a segment.
        for c in every_char() {
            let folded: String = once(c).nfkc().collect();
            assert!(folded == " " || !folded.ends_with([' ', '\t', '\n', '\r']) || c.is_ascii(), "{c:?}");
        }
    }

    #[test]
    fn a_long_row_of_marks_matches_nothing() {
        let text = format!("e{}", "\u{301}".repeat(40_000));
        assert_eq!(Folded::new(text.as_bytes()).text(), b"\xff");
        assert!(Sought::new(text.as_bytes()).is_none());
    }

    #[test]
    fn blanks_alone_are_not_sought() {
        for old in [" ", "\n", " \t\n\u{a0}", "\u{3000}\r\n"] {
            assert!(Sought::new(old.as_bytes()).is_none(), "{old:?}");
        }
    }

    #[test]
    fn folding_by_segments_is_folding_the_whole() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: u32| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as u32 % below
        };
        let joining: Vec<char> = every_char().filter(|&c| class(c) == Class::Joins).collect();
        let mapped: Vec<char> = every_char().filter(|&c| class(c) == Class::Mapped).collect();
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..random(12) {
                text.extend(match random(6) {
                    0 => Some(joining[random(joining.len() as u32) as usize]),
                    1 => char::from_u32(0x300 + random(0x70)),
                    2 => Some(mapped[random(mapped.len() as u32) as usize]),
                    3 => char::from_u32(random(0x11_0000)),
                    4 => char::from_u32(0x1100 + random(0x100)),
                    _ => [' ', '\t', '\n', '\r', 'e', 'a', '“', '\u{a0}', '\u{ac00}']
                        .get(random(9) as usize)
                        .copied(),
                });
            }
            let whole: String = text.nfkc().map(|c| look_alike(c).unwrap_or(c)).collect();
            let whole = whole.replace("\r\n", "\n").replace('\r', "\n");
            let lines: Vec<_> = whole.split('\n').map(|line| line.trim_end_matches([' ', '\t'])).collect();
            assert_eq!(fold(&text), lines.join("\n"), "{text:?}");
        }
    }
}
