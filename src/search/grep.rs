//! The lines of one file that match, with the lines around them.
//!
//! A file comes whole, or in parts that end where lines do: then the last lines of a part are kept before the next,
//! so that they can be shown before a match there.

use std::ops::Range;

use memchr::{memchr, memrchr};

use super::pattern::{Pattern, without_end};
use crate::text::encoding::{self, Encoding};
use crate::text::lines;

/// Bytes in which a NUL makes a file a binary one, of which nothing is searched: as much as ripgrep looks at first.
pub const BINARY_WINDOW: usize = 64 * 1024;

/// A line to show.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Without its end.
    pub text: &'a [u8],
    /// Where the pattern first matches; `None` for a line that is only beside one that does.
    pub matched: Option<Range<usize>>,
}

/// How many matching lines may still be shown, over all files, and whether there are more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// So many.
    pub left: u64,
    /// Whether a line matched after the last of them.
    pub is_exceeded: bool,
}

/// The search of one file.
#[derive(Debug)]
pub struct Search<'a> {
    pattern: &'a Pattern,
    context: u64,
    /// The number of the next line.
    number: u64,
    /// The number of the last line that was shown.
    shown: u64,
    /// Lines that are still to be shown after a match.
    after: u64,
}

impl<'a> Search<'a> {
    /// A search with so many lines around each match.
    pub fn new(pattern: &'a Pattern, context: u64) -> Self {
        Search { pattern, context, number: 1, shown: 0, after: 0 }
    }

    /// Whether the quota is exceeded, and nothing is left to be shown.
    pub fn is_done(&self, quota: &Quota) -> bool {
        quota.is_exceeded && self.after == 0
    }

    /// Searches the lines of a part from `from`. Those before it are of parts before; all are whole, but the last
    /// of the file may lack its end.
    pub fn part(&mut self, bytes: &[u8], from: usize, quota: &mut Quota, show: &mut dyn FnMut(Line<'_>)) {
        let at = self.lines(bytes, from, quota, show);
        self.number += lines::breaks(&bytes[at..]) as u64;
    }

    /// The same of the last part; says where the last line ends that was counted.
    fn lines(
        &mut self,
        bytes: &[u8],
        from: usize,
        quota: &mut Quota,
        show: &mut dyn FnMut(Line<'_>),
    ) -> usize {
        let mut at = from;
        loop {
            let found = self.pattern.next_line(bytes, at);
            let start = found.as_ref().map_or(bytes.len(), |line| line.start);
            while self.after > 0 && at < start {
                at = self.beside(bytes, at, show);
            }
            if self.is_done(quota) {
                return at;
            }
            let Some(line) = found else { return at };
            if quota.left == 0 {
                quota.is_exceeded = true;
                if self.after == 0 {
                    return at;
                }
                // It is shown for the match before.
                at = self.beside(bytes, at, show);
                continue;
            }
            let number = self.number + lines::breaks(&bytes[at..line.start]) as u64;
            let mut before = line.start;
            let mut first = number;
            while first > 1 && number - first < self.context && first - 1 > self.shown && before > 0 {
                before = memrchr(b'\n', &bytes[..before - 1]).map_or(0, |lf| lf + 1);
                first -= 1;
            }
            self.number = first;
            while before < line.start {
                before = self.show(bytes, before, None, show);
            }
            let matched = self.pattern.find(&bytes[line.clone()]);
            at = self.show(bytes, line.start, matched, show);
            quota.left -= 1;
            self.after = self.context;
        }
    }

    fn beside(&mut self, bytes: &[u8], at: usize, show: &mut dyn FnMut(Line<'_>)) -> usize {
        self.after -= 1;
        self.show(bytes, at, None, show)
    }

    /// Shows the line that begins there, and says where the next one does.
    fn show(
        &mut self,
        bytes: &[u8],
        at: usize,
        matched: Option<Range<usize>>,
        show: &mut dyn FnMut(Line<'_>),
    ) -> usize {
        let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |lf| at + lf + 1);
        show(Line { number: self.number, text: without_end(&bytes[at..end]), matched });
        self.shown = self.number;
        self.number += 1;
        end
    }
}

/// How much of a file is text that can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Searchable {
    /// All of it.
    All,
    /// The lines before the first NUL, which is there.
    Before(usize),
    /// Nothing: a NUL is within [`BINARY_WINDOW`], there.
    Nothing(usize),
    /// The lines before one that does not end within [`MOST_LINE_BYTES`], which begins there.
    BeforeLine(usize),
}

/// How much of a file can be searched, of which these are the first bytes, after decoding.
///
/// ```
/// use tackroom::search::grep::{Searchable, searchable};
/// assert_eq!(searchable(b"text\n"), Searchable::All);
/// assert_eq!(searchable(b"\x7FELF\0"), Searchable::Nothing(4));
/// ```
pub fn searchable(bytes: &[u8]) -> Searchable {
    match memchr(0, bytes) {
        None => Searchable::All,
        Some(at) if at < BINARY_WINDOW => Searchable::Nothing(at),
        Some(at) => Searchable::Before(at),
    }
}

/// A whole file as it is searched: without its BOM, and UTF-16 as UTF-8.
pub fn decoded(mut bytes: Vec<u8>) -> Vec<u8> {
    match encoding::detect(&bytes) {
        Encoding::Utf8 => bytes,
        Encoding::Utf8Bom => {
            bytes.drain(..Encoding::Utf8Bom.bom().len());
            bytes
        }
        Encoding::Utf16Le | Encoding::Utf16Be => encoding::decode(&bytes).text.into_owned().into_bytes(),
    }
}

/// Searches a whole file, and says how much of it could be.
pub fn whole(
    bytes: Vec<u8>,
    mut search: Search<'_>,
    quota: &mut Quota,
    show: &mut dyn FnMut(Line<'_>),
) -> Searchable {
    let bytes = decoded(bytes);
    let searchable = searchable(&bytes);
    match searchable {
        Searchable::All => {
            search.lines(&bytes, 0, quota, show);
        }
        Searchable::Before(nul) => {
            let end = memrchr(b'\n', &bytes[..nul]).map_or(0, |lf| lf + 1);
            search.lines(&bytes[..end], 0, quota, show);
        }
        // A whole file has no line that is too long.
        Searchable::Nothing(_) | Searchable::BeforeLine(_) => {}
    }
    searchable
}

/// A line that does not end within so many bytes is not searched, nor what is after it.
pub const MOST_LINE_BYTES: usize = 32 << 20;
/// Bytes of lines that are held at most to be shown before a match.
const MOST_HELD_BYTES: usize = 16 << 20;

/// The search of a file that comes in parts. They may be cut anywhere, but the first has three bytes, if the file has.
#[derive(Debug)]
pub struct Parts<'a> {
    search: Search<'a>,
    /// Of UTF-16; UTF-8 is searched as it is, invalid bytes included.
    decoder: Option<encoding::Decoder>,
    has_begun: bool,
    /// Lines that may be shown before a match, then what has not been searched.
    held: Vec<u8>,
    /// Where that begins.
    from: usize,
    /// Bytes that are no longer held.
    gone: usize,
    searchable: Searchable,
}

impl<'a> Parts<'a> {
    /// Nothing has come yet.
    pub fn new(search: Search<'a>) -> Self {
        Parts {
            search,
            decoder: None,
            has_begun: false,
            held: Vec::new(),
            from: 0,
            gone: 0,
            searchable: Searchable::All,
        }
    }

    /// Searches the next part.
    ///
    /// Returns whether another is of use: not after a NUL, the quota's end, or a line over [`MOST_LINE_BYTES`].
    pub fn push(&mut self, mut bytes: &[u8], quota: &mut Quota, show: &mut dyn FnMut(Line<'_>)) -> bool {
        if !std::mem::replace(&mut self.has_begun, true) {
            match encoding::detect(bytes) {
                Encoding::Utf8 => {}
                Encoding::Utf8Bom => bytes = &bytes[Encoding::Utf8Bom.bom().len()..],
                Encoding::Utf16Le | Encoding::Utf16Be => self.decoder = Some(encoding::Decoder::default()),
            }
        }
        let new = self.held.len();
        match &mut self.decoder {
            None => self.held.extend_from_slice(bytes),
            Some(decoder) => decoder.push_with(bytes, |text| self.held.extend_from_slice(text.as_bytes())),
        }
        self.advance(new, false, quota, show)
    }

    /// Ends the file.
    pub fn finish(mut self, quota: &mut Quota, show: &mut dyn FnMut(Line<'_>)) -> Searchable {
        if self.searchable == Searchable::All {
            let new = self.held.len();
            if let Some(decoder) = &mut self.decoder {
                decoder.finish_with(|text| self.held.extend_from_slice(text.as_bytes()));
            }
            self.advance(new, true, quota, show);
        }
        self.searchable
    }

    fn advance(
        &mut self,
        new: usize,
        is_last: bool,
        quota: &mut Quota,
        show: &mut dyn FnMut(Line<'_>),
    ) -> bool {
        let nul = memchr(0, &self.held[new..]).map(|at| new + at);
        if let Some(nul) = nul {
            let at = self.gone + nul;
            self.searchable =
                if at < BINARY_WINDOW { Searchable::Nothing(at) } else { Searchable::Before(at) };
        }
        let known = nul.unwrap_or(self.held.len());
        let end = match is_last && nul.is_none() {
            true => known,
            false => memrchr(b'\n', &self.held[..known]).map_or(0, |lf| lf + 1),
        };
        if end > self.from && !matches!(self.searchable, Searchable::Nothing(_)) {
            self.search.part(&self.held[..end], self.from, quota, show);
            self.from = end;
        }
        let mut keep = self.from;
        for _ in 0..self.search.context {
            if keep == 0 || self.held.len() - keep > MOST_HELD_BYTES {
                break;
            }
            keep = memrchr(b'\n', &self.held[..keep - 1]).map_or(0, |lf| lf + 1);
        }
        self.held.drain(..keep);
        self.gone += keep;
        self.from -= keep;
        if self.searchable == Searchable::All && self.held.len() - self.from > MOST_LINE_BYTES {
            self.searchable = Searchable::BeforeLine(self.gone + self.from);
        }
        self.searchable == Searchable::All && !self.search.is_done(quota)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a search shows: `3:` for a match, `3-` beside one; and what is left of the quota.
    fn shown(pattern: &str, text: &[u8], context: u64, left: u64) -> (Vec<String>, Quota) {
        let pattern = Pattern::compile(pattern, false, false).unwrap();
        let mut quota = Quota { left, is_exceeded: false };
        let mut found = Vec::new();
        let mut show = |line: Line<'_>| {
            let mark = if line.matched.is_some() { ':' } else { '-' };
            found.push(format!("{}{mark}{}", line.number, String::from_utf8_lossy(line.text)));
        };
        whole(text.to_vec(), Search::new(&pattern, context), &mut quota, &mut show);
        (found, quota)
    }

    #[test]
    fn context_is_merged_and_nothing_is_shown_twice() {
        let text = b"1\n2\nx\n4\nx\n6\n7\n8\nx\n10\n";
        assert_eq!(shown("x", text, 0, 9).0, ["3:x", "5:x", "9:x"]);
        assert_eq!(shown("x", text, 1, 9).0, ["2-2", "3:x", "4-4", "5:x", "6-6", "8-8", "9:x", "10-10"]);
        let all = ["1-1", "2-2", "3:x", "4-4", "5:x", "6-6", "7-7", "8-8", "9:x", "10-10"];
        assert_eq!(shown("x", text, 3, 9).0, all);
        assert_eq!(shown("x", text, u64::MAX, 9).0, all);
    }

    #[test]
    fn the_quota_is_exceeded_by_one_more_match_only() {
        let text = b"x\nx\n3\nx\n";
        assert_eq!(shown("x", text, 0, 3).1, Quota { left: 0, is_exceeded: false });
        assert_eq!(
            shown("x", text, 0, 2),
            (vec!["1:x".into(), "2:x".into()], Quota { left: 0, is_exceeded: true })
        );
        // A match within the context of the last one is shown as context.
        let (found, quota) = shown("x", text, 1, 1);
        assert_eq!((found, quota.is_exceeded), (vec!["1:x".into(), "2-x".into()], true));
        let (found, quota) = shown("x", text, 1, 2);
        assert_eq!((found, quota.is_exceeded), (vec!["1:x".into(), "2:x".into(), "3-3".into()], true));
    }

    #[test]
    fn ends_of_lines_are_not_shown() {
        assert_eq!(shown("a", b"a\r\nb\na", 0, 9).0, ["1:a", "3:a"]);
        assert_eq!(shown("$", b"a\r\n\r\n", 0, 9).0, ["1:a", "2:"]);
        assert_eq!(shown("a", b"a\r\r\n", 0, 9).0, ["1:a\r"]);
        assert_eq!(shown("a", b"a\r", 0, 9).0, ["1:a"]);
    }

    #[test]
    fn encodings_and_binary_files() {
        assert_eq!(shown("^é", b"\xFF\xFE\xE9\0\n\0", 0, 9).0, ["1:é"]);
        assert_eq!(shown("^a", b"\xEF\xBB\xBFa", 0, 9).0, ["1:a"]);
        assert_eq!(shown("a", b"a\xFF\n", 0, 9).0, ["1:a\u{FFFD}"]);
        assert_eq!(shown("a", b"a\n\0", 0, 9).0, [""; 0]);
        let mut long = b"a\n".repeat(BINARY_WINDOW);
        long.extend(b"a\0\na\n");
        assert_eq!(shown("a", &long, 0, u64::MAX).0.len(), BINARY_WINDOW);
    }

    #[test]
    fn parts_cut_anywhere_show_what_the_whole_shows() {
        let mut late = b"x\nyy\nz\n".repeat(BINARY_WINDOW / 8);
        late.extend(b"x\n\0\nx\n");
        let texts: [&[u8]; 6] = [
            b"1\nx\n3\n4\n5\nx\n7\nx",
            b"\xEF\xBB\xBFx\r\n2\r\nx\r\n",
            b"\xFE\xFF\0x\0\n\xD8\x3D\xDE\x00\0x\0\n\0y",
            b"x\xFF\nx\n\0x\n",
            b"",
            &late,
        ];
        let pattern = Pattern::compile("x", false, false).unwrap();
        for text in texts {
            for (context, left) in [(0, 9), (1, 9), (2, 1), (0, 20_000)] {
                let render = |line: Line<'_>| format!("{line:?}");
                let (mut expected, mut quota) = (Vec::new(), Quota { left, is_exceeded: false });
                let mut show = |line: Line<'_>| expected.push(render(line));
                let how = whole(text.to_vec(), Search::new(&pattern, context), &mut quota, &mut show);
                for size in [3, 4, 7, 1000] {
                    if text.len() > 1000 && size < 1000 {
                        continue;
                    }
                    let (mut found, mut rest) = (Vec::new(), Quota { left, is_exceeded: false });
                    let mut show = |line: Line<'_>| found.push(render(line));
                    let mut parts = Parts::new(Search::new(&pattern, context));
                    let mut chunks = text.chunks(size);
                    while chunks.next().is_some_and(|chunk| parts.push(chunk, &mut rest, &mut show)) {}
                    let how_parts = parts.finish(&mut rest, &mut show);
                    if !rest.is_exceeded {
                        assert_eq!(how_parts, how);
                    }
                    // What was found before a NUL came is shown where the file comes in parts.
                    if !matches!(how, Searchable::Nothing(_)) {
                        assert_eq!((&found, rest), (&expected, quota), "{size}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let pattern = Pattern::compile("x", false, false).unwrap();
        let mut quota = Quota { left: 9, is_exceeded: false };
        let mut parts = Parts::new(Search::new(&pattern, 0));
        let part = vec![b'a'; 8 << 20];
        let pushed = (0..100).take_while(|_| parts.push(&part, &mut quota, &mut |_| {})).count();
        assert_eq!(pushed, MOST_LINE_BYTES / part.len());
    }
}
