//! Where the text of an edit is, tier by tier.
//!
//! A tier is a view of the file, the same view of the sought text, and a way back from a match in the
//! view to a span of the file. The search itself is the same for all: linear in the file, whatever
//! the sought text looks like.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem::Finder;

use super::breaks::{Unified, widen};
use super::fuzzy::{Folded, Sought};

/// How many positions of an ambiguous text are kept for the message.
const KEPT_STARTS: usize = 16;
/// After so many matches of a view that are none of the file, the search no longer skips ahead.
const MAX_RESTARTS: usize = 16;

/// Where a text is.
#[derive(Debug, PartialEq, Eq)]
pub enum Located {
    /// In no tier.
    Nowhere,
    /// At one place, or with replaceAll at one or more: ascending, none overlapping.
    Spans(Vec<Range<usize>>),
    /// At `count` places, overlapping ones included, where one is wanted; the first few starts.
    Ambiguous { count: usize, starts: Vec<usize> },
}

/// The tiers, strictest first.
#[derive(Clone, Copy)]
enum Tier {
    /// The same bytes.
    Exact,
    /// The same bytes but for CRLF, CR and LF, which are alike.
    LineEndings,
    /// The same but for Unicode forms, quotes, dashes, spaces, and blanks at line ends.
    Fuzzy,
}

const TIERS: [Tier; 3] = [Tier::Exact, Tier::LineEndings, Tier::Fuzzy];

/// A file without its BOM, and the views of it that were needed so far.
pub struct Source<'a> {
    pub body: &'a [u8],
    unified: OnceCell<Unified<'a>>,
    folded: OnceCell<Folded>,
}

impl<'a> Source<'a> {
    pub fn new(body: &'a [u8]) -> Self {
        Source { body, unified: OnceCell::new(), folded: OnceCell::new() }
    }

    /// The file with every break as LF.
    pub fn unified(&self) -> &Unified<'a> {
        self.unified.get_or_init(|| Unified::new(self.body))
    }

    fn folded(&self) -> &Folded {
        self.folded.get_or_init(|| Folded::new(self.body))
    }

    /// Looks for `old`, which is not empty. The first tier with any match decides.
    pub fn locate(&self, old: &[u8], all: bool) -> Located {
        TIERS
            .into_iter()
            .map(|tier| self.locate_in(tier, old, all))
            .find(|located| *located != Located::Nowhere)
            .unwrap_or(Located::Nowhere)
    }

    /// Where `old` first is, in the strictest tier that has it. Counts nothing, so it is quick.
    pub fn first(&self, old: &[u8]) -> Option<usize> {
        if old.is_empty() {
            return None;
        }
        let unified = self.unified();
        if let Some(at) = memchr::memmem::find(&unified.text, &Unified::new(old).text) {
            return Some(unified.original(at..at).start);
        }
        let (folded, sought) = (self.folded(), Sought::new(old)?);
        let found = memchr::memmem::find_iter(folded.text(), &sought.text).take(MAX_RESTARTS);
        let mut spans = found.filter_map(|at| folded.original(at..at + sought.text.len(), &sought));
        spans.next().map(|span| span.start)
    }

    fn locate_in(&self, tier: Tier, old: &[u8], all: bool) -> Located {
        match tier {
            Tier::Exact => search(self.body, old, all, |span| Some(widen(self.body, span))),
            Tier::LineEndings => {
                // Without a break in it the text matches here what it matches exactly.
                if memchr::memchr2(b'\r', b'\n', old).is_none() {
                    return Located::Nowhere;
                }
                let unified = self.unified();
                search(&unified.text, &Unified::new(old).text, all, |span| Some(unified.original(span)))
            }
            Tier::Fuzzy => {
                let Some(sought) = Sought::new(old) else { return Located::Nowhere };
                let folded = self.folded();
                search(folded.text(), &sought.text, all, |span| folded.original(span, &sought))
            }
        }
    }
}

/// Looks for `needle` in a view. `back` gives the span of the file, or `None` where a match of the view
/// is no match of the file; it keeps the order.
fn search(
    view: &[u8],
    needle: &[u8],
    all: bool,
    back: impl Fn(Range<usize>) -> Option<Range<usize>>,
) -> Located {
    let finder = Finder::new(needle);
    let next = |from: usize| finder.find(view.get(from..)?).map(|at| from + at);
    let Some(first) = next(0) else { return Located::Nowhere };
    if all {
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut restarts = 0;
        // Widening can make neighbours overlap; then the left one wins.
        let mut take = |at: usize| {
            let free_from = spans.last().map_or(0, |span| span.end);
            let span = back(at..at + needle.len()).filter(|span| span.start >= free_from);
            span.map(|span| spans.push(span)).is_some()
        };
        let mut candidate = Some(first);
        while let Some(at) = candidate {
            if take(at) {
                candidate = next(at + needle.len());
                continue;
            }
            restarts += 1;
            if restarts > MAX_RESTARTS {
                for_each_overlapping(&view[at + 1..], needle, |offset| {
                    take(at + 1 + offset);
                });
                break;
            }
            candidate = next(at + 1);
        }
        return if spans.is_empty() { Located::Nowhere } else { Located::Spans(spans) };
    }
    if next(first + 1).is_none() {
        return back(first..first + needle.len()).map_or(Located::Nowhere, |span| Located::Spans(vec![span]));
    }
    let mut count = 0;
    let mut spans = Vec::new();
    for_each_overlapping(view, needle, |at| {
        if let Some(span) = back(at..at + needle.len()) {
            count += 1;
            if spans.len() < KEPT_STARTS {
                spans.push(span);
            }
        }
    });
    match count {
        0 => Located::Nowhere,
        1 => Located::Spans(spans),
        _ => Located::Ambiguous { count, starts: spans.into_iter().map(|span| span.start).collect() },
    }
}

/// Every position of `needle`, overlapping ones too (Knuth, Morris, Pratt). Restarting a substring
/// search one byte on would be quadratic where the needle repeats itself.
fn for_each_overlapping(text: &[u8], needle: &[u8], mut found: impl FnMut(usize)) {
    let mut border = vec![0usize; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[at] != needle[length] {
            length = border[length - 1];
        }
        length += usize::from(needle[at] == needle[length]);
        border[at] = length;
    }
    let mut matched = 0;
    for (at, &byte) in text.iter().enumerate() {
        while matched > 0 && (matched == needle.len() || byte != needle[matched]) {
            matched = border[matched - 1];
        }
        matched += usize::from(byte == needle[matched]);
        if matched == needle.len() {
            found(at + 1 - matched);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locate(body: &str, old: &str, all: bool) -> Located {
        Source::new(body.as_bytes()).locate(old.as_bytes(), all)
    }

    fn spans(spans: &[(usize, usize)]) -> Located {
        Located::Spans(spans.iter().map(|&(start, end)| start..end).collect())
    }

    #[test]
    fn overlapping_positions_count() {
        assert_eq!(locate("aaa", "aa", false), Located::Ambiguous { count: 2, starts: vec![0, 1] });
        assert_eq!(locate("aaaaa", "aa", true), spans(&[(0, 2), (2, 4)]));
        assert_eq!(locate("abababa", "aba", false), Located::Ambiguous { count: 3, starts: vec![0, 2, 4] });
        assert_eq!(locate("x", "x", false), spans(&[(0, 1)]));
    }

    #[test]
    fn the_exact_tier_decides_alone() {
        assert_eq!(locate("a\nb a\r\nb", "a\nb", false), spans(&[(0, 3)]));
        assert_eq!(locate("a\nb a\r\nb", "a\rb", false), Located::Ambiguous { count: 2, starts: vec![0, 4] });
        assert_eq!(locate("a\nb a\r\nb", "a\nb", true), spans(&[(0, 3)]));
        assert_eq!(locate("a\nb a\r\nb", "a\rb", true), spans(&[(0, 3), (4, 8)]));
    }

    #[test]
    fn no_crlf_is_split() {
        assert_eq!(locate("a\r\nb", "\n", false), spans(&[(1, 3)]));
        assert_eq!(locate("a\r\nb", "a\r", false), spans(&[(0, 3)]));
        assert_eq!(locate("\r\n\r\n", "\n\r", false), spans(&[(0, 4)]));
        assert_eq!(locate("a\r\n\r\nb", "\n\n", false), spans(&[(1, 5)]));
        assert_eq!(locate("a\r\r\nb", "\r", true), spans(&[(1, 2), (2, 4)]));
    }

    #[test]
    fn widened_neighbours_do_not_overlap() {
        let text = "\r\nx\r\nx\r\nx\r\n";
        assert_eq!(locate(text, "\nx\r", true), spans(&[(0, 5), (6, 11)]));
        assert_eq!(locate(text, "\nx\r", false), Located::Ambiguous { count: 3, starts: vec![0, 3, 6] });
    }

    #[test]
    fn look_alikes_match() {
        assert_eq!(locate("a “x” b", "\"x\"", false), spans(&[(2, 9)]));
        assert_eq!(locate("“x” 'x' ‘x’", "'x'", false), spans(&[(8, 11)]));
        assert_eq!(locate("‘x’ ‘x’", "'x'", false), Located::Ambiguous { count: 2, starts: vec![0, 8] });
        assert_eq!(locate("‘’‘’‘", "'''", true), spans(&[(0, 9)]));
        assert_eq!(locate("‘’‘’", "'''", false), Located::Ambiguous { count: 2, starts: vec![0, 3] });
    }

    #[test]
    fn a_match_begins_and_ends_with_a_segment() {
        for (body, old) in [
            ("½", "1"),
            ("x½", "x1"),
            ("ﬁx", "ix"),
            ("ﬁ", "f"),
            ("q\u{301}—", "q"),
            ("q\u{301}—", "\u{301}-"),
        ] {
            assert_eq!(
                locate(body, old, false),
                if body.contains(old) { spans(&[(0, 1)]) } else { Located::Nowhere }
            );
        }
        assert_eq!(locate("½", "1\u{2044}2", false), spans(&[(0, 2)]));
        assert_eq!(locate("ﬁx", "fi", false), spans(&[(0, 3)]));
        assert_eq!(locate("\u{1100}\u{1161}\u{11a8}", "\u{ac01}", false), spans(&[(0, 9)]));
        assert_eq!(locate("\u{ac01}", "\u{1100}\u{1161}", false), Located::Nowhere);
    }

    #[test]
    fn blanks_at_line_ends() {
        // Before a break inside they lie in the span, at the very end they stay.
        assert_eq!(locate("a  \n b \t\nc", "a\n b\n", false), spans(&[(0, 9)]));
        assert_eq!(locate("a  \n b \t\nc", "a \n b", false), spans(&[(0, 6)]));
        assert_eq!(locate("a  \nb\n", "a     ", false), spans(&[(0, 1)]));
        assert_eq!(locate("“a”  b", "\"a\"   ", false), Located::Nowhere);
        assert_eq!(locate("“a”  b", "\"a\"  ", false), spans(&[(0, 9)]));
        assert_eq!(locate("“a”", "\"a\"  ", false), spans(&[(0, 7)]));
        // At its start they belong to it where the text has some.
        assert_eq!(locate("a \n“b”", "\n\"b\"", false), spans(&[(2, 10)]));
        assert_eq!(locate("a \r\n“b”", "   \n\"b\"", false), spans(&[(1, 11)]));
        assert_eq!(locate("a\n“b”", "   \n\"b\"", false), spans(&[(1, 9)]));
        assert_eq!(locate("a\n\n“b” ", "a\n   \n\"b\"\t", false), spans(&[(0, 10)]));
    }

    #[test]
    fn invalid_bytes_match_nothing() {
        let source = Source::new(b"\xff\xe2\x80\x9cx\xe2\x80\x9d\xe2\x80 y");
        assert_eq!(source.locate(b"\"x\"", false), spans(&[(1, 8)]));
        assert_eq!(source.locate("\"x\"\u{fffd}".as_bytes(), false), Located::Nowhere);
        assert_eq!(source.locate("\u{fffd}".as_bytes(), false), Located::Nowhere);
    }

    #[test]
    fn repetition_stays_linear() {
        let text = vec![b'a'; 1 << 20];
        let needle = vec![b'a'; 1 << 16];
        let located = Source::new(&text).locate(&needle, false);
        assert!(matches!(located, Located::Ambiguous { count: 983_041, .. }));
        // Every match of the view is refused.
        let sought = [&needle[..], b" "].concat();
        assert_eq!(Source::new(&[&text[..], b"b"].concat()).locate(&sought, true), Located::Nowhere);
    }
}
