//! Lines of a text: counted, found, walked; and what ends them.
//!
//! A line ends at LF and nowhere else: CR, form feed and U+2028 end none, so that line numbers agree
//! with ripgrep and git. A final LF closes the last line and opens no further one, hence `""` has 0
//! lines, `"a"` and `"a\n"` have 1, `"a\n\n"` has 2. A file with CR alone is one line.
//!
//! Everything is in bytes and works on any UTF-8 superset of ASCII, valid or not; UTF-16 is decoded
//! first ([`super::encoding::decode`]).

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::census::Census;

/// Bytes whose breaks are counted at once while looking for a line.
const BLOCK: usize = 16 * 1024;

/// How many LF bytes there are.
pub fn breaks(bytes: &[u8]) -> usize {
    memchr_iter(b'\n', bytes).count()
}

/// How many lines there are.
///
/// ```
/// use tackroom_base::text::lines::count;
/// assert_eq!(["", "a", "a\n", "a\n\n", "\n", "a\rb"].map(|t| count(t.as_bytes())), [0, 1, 1, 2, 1, 1]);
/// ```
pub fn count(bytes: &[u8]) -> usize {
    breaks(bytes) + usize::from(bytes.last().is_some_and(|&b| b != b'\n'))
}

/// Where line `number`, counted from 1, begins; None if there is no such line.
///
/// ```
/// use tackroom_base::text::lines::line_start;
/// assert_eq!([0, 1, 2, 3].map(|n| line_start(b"ab\nc\n", n)), [None, Some(0), Some(3), None]);
/// ```
pub fn line_start(bytes: &[u8], number: usize) -> Option<usize> {
    let mut missing = number.checked_sub(1)?;
    let mut at = 0;
    while missing > 0 {
        let block = &bytes[at..bytes.len().min(at + BLOCK)];
        let found = breaks(block);
        if found < missing {
            missing -= found;
            at += block.len();
            if at == bytes.len() {
                return None;
            }
        } else {
            at += memchr_iter(b'\n', block).nth(missing - 1)? + 1;
            missing = 0;
        }
    }
    (at < bytes.len()).then_some(at)
}

/// The number, from 1, of the line in which the byte at `offset` lies. A LF belongs to the line it ends.
///
/// ```
/// use tackroom_base::text::lines::line_at;
/// assert_eq!([0, 1, 2].map(|at| line_at(b"a\nb", at)), [1, 1, 2]);
/// ```
pub fn line_at(bytes: &[u8], offset: usize) -> usize {
    breaks(&bytes[..offset.min(bytes.len())]) + 1
}

/// The line in which the byte at `offset` lies, its LF included. At the end of the text: what follows
/// the last LF, which may be empty.
///
/// ```
/// use tackroom_base::text::lines::line_range;
/// assert_eq!(line_range(b"one\ntwo\n", 5), 4..8);
/// ```
pub fn line_range(bytes: &[u8], offset: usize) -> Range<usize> {
    let offset = offset.min(bytes.len());
    let start = memrchr(b'\n', &bytes[..offset]).map_or(0, |lf| lf + 1);
    let end = memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |lf| offset + lf + 1);
    start..end
}

/// The ranges of all lines, each with its LF; one after another they cover the text.
///
/// ```
/// use tackroom_base::text::lines::ranges;
/// assert_eq!(ranges(b"a\n\nb").collect::<Vec<_>>(), [0..2, 2..3, 3..4]);
/// ```
pub fn ranges(bytes: &[u8]) -> Ranges<'_> {
    Ranges { bytes, at: 0 }
}

/// The iterator of [`ranges`].
#[derive(Clone, Debug)]
pub struct Ranges<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Ranges<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start == self.bytes.len() {
            return None;
        }
        self.at = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |lf| start + lf + 1);
        Some(start..self.at)
    }
}

/// What ends the lines of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LineEnding {
    /// LF, or no break at all.
    Lf,
    /// CR LF.
    Crlf,
    /// CR alone.
    Cr,
    /// More than one of them.
    Mixed,
}

impl LineEnding {
    /// The name in `details.lineEnding`: `lf`, `crlf`, `cr` or `mixed`.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::Lf => "lf",
            LineEnding::Crlf => "crlf",
            LineEnding::Cr => "cr",
            LineEnding::Mixed => "mixed",
        }
    }
}

/// The line ending of a whole text, UTF-16 decoded before.
///
/// ```
/// use tackroom_base::text::lines::line_ending;
/// assert_eq!(["", "a\n", "a\r\n", "a\r", "a\n\r\n"].map(|t| line_ending(t.as_bytes()).as_str()),
///     ["lf", "lf", "crlf", "cr", "mixed"]);
/// ```
pub fn line_ending(bytes: &[u8]) -> LineEnding {
    let mut endings = LineEndings::default();
    endings.push(bytes);
    endings.finish()
}

/// Finds the line ending of a text that comes in parts, cut anywhere, inside a CR LF too.
#[derive(Clone, Debug, Default)]
pub struct LineEndings {
    lf: bool,
    crlf: bool,
    cr: bool,
    ends_in_cr: bool,
}

impl LineEndings {
    /// Looks at the next part.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.ends_in_cr {
            match bytes.first() {
                None => return,
                Some(b'\n') => (self.crlf, bytes) = (true, &bytes[1..]),
                Some(_) => self.cr = true,
            }
        }
        self.ends_in_cr = bytes.last() == Some(&b'\r');
        if self.mixed() {
            return;
        }
        let crs = &bytes[..bytes.len() - usize::from(self.ends_in_cr)];
        let mut pairs = 0;
        for at in memchr_iter(b'\r', crs) {
            if bytes[at + 1] == b'\n' {
                (self.crlf, pairs) = (true, pairs + 1);
            } else {
                self.cr = true;
            }
            if self.mixed() {
                return;
            }
        }
        if !self.lf {
            self.lf = if pairs == 0 { memchr(b'\n', bytes).is_some() } else { breaks(bytes) > pairs };
        }
    }

    /// [`push`](Self::push) of a part that was looked at already.
    pub(super) fn push_counted(&mut self, bytes: &[u8], found: &Census) {
        if found.has_cr || self.ends_in_cr {
            self.push(bytes);
        } else {
            self.lf |= found.breaks > 0;
        }
    }

    /// What was found. A CR that ended the last part is a CR.
    pub fn finish(&self) -> LineEnding {
        match (self.lf, self.crlf, self.cr || self.ends_in_cr) {
            (_, false, false) => LineEnding::Lf,
            (false, true, false) => LineEnding::Crlf,
            (false, false, true) => LineEnding::Cr,
            _ => LineEnding::Mixed,
        }
    }

    fn mixed(&self) -> bool {
        u8::from(self.lf) + u8::from(self.crlf) + u8::from(self.cr) > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_starts_agree_with_the_ranges() {
        let long = format!("{}\n\n{}\nlast", "x\n".repeat(BLOCK), "y".repeat(3 * BLOCK));
        for text in ["", "\n", "a", "a\n", "a\n\n", "\n\nb", &long] {
            let bytes = text.as_bytes();
            let starts: Vec<_> = ranges(bytes).map(|r| r.start).collect();
            assert_eq!(starts.len(), count(bytes));
            for n in (1..=starts.len()).rev().take(50).chain(1..=starts.len().min(5)) {
                assert_eq!(line_start(bytes, n), Some(starts[n - 1]), "line {n}");
                assert_eq!(line_at(bytes, starts[n - 1]), n);
            }
            assert_eq!(line_start(bytes, starts.len() + 1), None);
        }
    }

    #[test]
    fn a_line_break_at_a_block_edge() {
        let text = format!("{}\nb", "x".repeat(BLOCK - 1));
        assert_eq!(line_start(text.as_bytes(), 2), Some(BLOCK));
        assert_eq!(line_start(&text.as_bytes()[..BLOCK], 2), None);
    }

    #[test]
    fn a_range_at_the_end() {
        assert_eq!(line_range(b"a\n", 2), 2..2);
        assert_eq!(line_range(b"a\n", 1), 0..2);
        assert_eq!(line_range(b"", 0), 0..0);
    }

    #[test]
    fn endings_cut_anywhere() {
        for text in ["a\r\nb\r\n", "a\rb\r", "a\nb", "a\r\nb\n", "\r\r\n", "\r", "\r\n\r"] {
            let mut endings = LineEndings::default();
            text.bytes().for_each(|b| endings.push(&[b]));
            assert_eq!(endings.finish(), line_ending(text.as_bytes()), "{text:?}");
        }
        assert_eq!(line_ending(b"\r\r\n"), LineEnding::Mixed);
        assert_eq!(line_ending(b"\r\n\r"), LineEnding::Mixed);
        assert_eq!(line_ending(b"a\r\nb\n"), LineEnding::Mixed);
    }
}
