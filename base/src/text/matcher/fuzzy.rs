//! The third tier: text that looks the same.
//!
//! Both the file and the sought text are folded: Unicode normalisation form KC ([UAX #15]), then quotes,
//! dashes and spaces as ASCII, every line break as LF, no blanks at line ends. The file is folded segment
//! by segment, so that a match leads back to exact bytes. A segment begins where normalisation can be
//! cut: at a character that stays apart from what is before it. A match begins and ends with a
//! segment: the 1 of ½ is none, nor is an e that carries an accent.
//!
//! [UAX #15]: https://www.unicode.org/reports/tr15/

use std::mem::take;
use std::ops::Range;

use super::breaks::{Break, breaks};
use super::segments::View;
use crate::unicode::{Form, joins, normalize, stays};

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

/// A file, folded.
pub struct Folded(View);

impl Folded {
    pub fn new(file: &[u8]) -> Self {
        let mut folder = Folder::new(file.len());
        folder.all(file);
        folder.end_line();
        Folded(folder.view)
    }

    pub fn text(&self) -> &[u8] {
        self.0.text()
    }

    /// The span of the file for a place where `sought.text` is, if it is a match.
    pub fn original(&self, span: Range<usize>, sought: &Sought) -> Option<Range<usize>> {
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
pub struct Sought {
    /// Without the blanks at its end.
    pub text: Vec<u8>,
    /// Those blanks: they are in the file, or the file's line has nothing but blanks from there.
    tail: Vec<u8>,
    /// It begins with blanks before a line break, which therefore belong to the span.
    blanks_first: bool,
}

impl Sought {
    /// `None` for what matches nothing here: blanks and breaks alone, or no text.
    pub fn new(old: &[u8]) -> Option<Self> {
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
/// So many bytes are normalised together, and about as much again.
const BATCH_BYTES: usize = 64 * 1024;
/// So many parts are kept until they are.
const BATCH_PARTS: usize = 4096;

/// What a part of the text is.
#[derive(Clone, Copy)]
enum Part {
    /// Characters that each are a segment and stay as they are, and line breaks.
    Plain,
    /// A segment that looks like this character.
    Alike(char),
    /// A segment of one character that may become something else.
    Single,
    /// A segment of more than one character.
    Joined,
}

/// The parts of a text, in order.
struct Parts<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Parts<'_> {
    type Item = (Range<usize>, Part);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        self.at = self.plain_end();
        if self.at > start {
            return Some((start..self.at, Part::Plain));
        }
        let mut chars = self.text[start..].chars();
        let first = chars.next()?;
        let alone = start + first.len_utf8();
        self.at = alone + chars.take_while(|&c| joins(c)).map(char::len_utf8).sum::<usize>();
        let part = match look_alike(first) {
            _ if self.at > alone => Part::Joined,
            Some(plain) => Part::Alike(plain),
            None => Part::Single,
        };
        Some((start..self.at, part))
    }
}

impl Parts<'_> {
    /// Where the plain characters from here on end.
    fn plain_end(&self) -> usize {
        let bytes = self.text.as_bytes();
        let (mut end, mut last) = (self.at, self.at);
        while end < bytes.len() {
            let ascii = ascii_len(&bytes[end..]);
            if ascii > 0 {
                end += ascii;
                last = end - 1;
            }
            for c in self.text[end..].chars() {
                if c.is_ascii() {
                    break;
                }
                if !stays(c) {
                    // A line break carries nothing.
                    let carries = last < end && !matches!(bytes[last], b'\r' | b'\n') && joins(c);
                    return if carries { last } else { end };
                }
                last = end;
                end += c.len_utf8();
            }
        }
        end
    }
}

struct Folder {
    view: View,
    /// The length of the view up to its last segment that is no blank.
    solid: usize,
    /// Parts that are not in the view yet.
    parts: Vec<(Range<usize>, Part)>,
    /// Those of them that have to be normalised, a line each.
    lines: String,
    scratch: String,
}

impl Folder {
    fn new(bytes: usize) -> Self {
        Folder {
            view: View::with_capacity(bytes),
            solid: 0,
            parts: Vec::new(),
            lines: String::new(),
            scratch: String::new(),
        }
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
                at += chunk.invalid().len();
                self.view.hole(at);
                self.solid = self.view.text().len();
            }
        }
    }

    /// Folds text that lies at `source`.
    fn text(&mut self, source: usize, text: &str) {
        for (range, part) in (Parts { text, at: 0 }) {
            let (original, at) = (&text[range.clone()], source + range.start..source + range.end);
            if matches!(part, Part::Single | Part::Joined) {
                // What is too long will be a hole.
                if original.len() <= usize::from(u16::MAX) {
                    self.lines.push_str(original);
                }
                self.lines.push('\n');
            } else if self.lines.is_empty() {
                self.part(at, original, part);
                continue;
            }
            self.parts.push((range, part));
            if self.parts.len() >= BATCH_PARTS || self.lines.len() >= BATCH_BYTES {
                self.batch(source, text);
            }
        }
        self.batch(source, text);
    }

    /// Takes the parts that wait into the view.
    fn batch(&mut self, source: usize, text: &str) {
        let (mut parts, mut lines) = (take(&mut self.parts), take(&mut self.lines));
        let normal = normalize(&lines, Form::Nfkc);
        let mut normal = normal.split('\n');
        for (range, part) in parts.drain(..) {
            let (original, at) = (&text[range.clone()], source + range.start..source + range.end);
            let form = match part {
                Part::Single | Part::Joined => normal.next().unwrap_or_default(),
                Part::Plain | Part::Alike(_) => original,
            };
            let part = match part {
                Part::Single if form == original => Part::Plain,
                other => other,
            };
            self.part(at, form, part);
        }
        lines.clear();
        (self.parts, self.lines) = (parts, lines);
    }

    /// Takes a part into the view, normalised.
    fn part(&mut self, source: Range<usize>, normal: &str, part: Part) {
        let mut buffer = [0; 4];
        let folded = match part {
            Part::Plain => return self.plain(source.start, normal.as_bytes()),
            Part::Alike(plain) => plain.encode_utf8(&mut buffer),
            Part::Single | Part::Joined if normal.is_ascii() => normal,
            Part::Single | Part::Joined => {
                self.scratch.clear();
                self.scratch.extend(normal.chars().map(|c| look_alike(c).unwrap_or(c)));
                &self.scratch
            }
        };
        self.view.segment(source, folded.as_bytes());
        if folded != " " {
            self.solid = self.view.text().len();
        }
    }

    fn plain(&mut self, source: usize, bytes: &[u8]) {
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

    /// Plain characters without a break.
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
}

fn ascii_len(bytes: &[u8]) -> usize {
    let whole = bytes.chunks_exact(CHUNK).take_while(|chunk| chunk.is_ascii()).count() * CHUNK;
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use std::iter::once;

    use unicode_normalization::UnicodeNormalization;

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
    fn look_alikes_are_what_the_table_says() {
        for (odd, plain) in LOOK_ALIKES {
            assert_eq!(look_alike(odd), Some(plain));
            assert!(!joins(odd) && !stays(odd));
            assert_eq!(fold(&format!("x{odd}x")), format!("x{plain}x"));
        }
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
        let joining: Vec<char> = every_char().filter(|&c| joins(c)).collect();
        let mapped: Vec<char> = every_char().filter(|&c| !joins(c) && !once(c).nfkc().eq(once(c))).collect();
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
