//! Where the text of an edit is, tier by tier.
//!
//! A tier is a view of the file, the same view of the sought text, and a way back from a match in the
//! view to a span of the file. The search itself is the same for all: linear in the file, whatever
//! the sought text looks like.

use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem::Finder;

use super::breaks::{Unified, widen};

/// How many positions of an ambiguous text are kept for the message.
const KEPT_STARTS: usize = 16;

/// Where a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Located {
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
}

const TIERS: [Tier; 2] = [Tier::Exact, Tier::LineEndings];

/// A file without its BOM, and the views of it that were needed so far.
pub(super) struct Source<'a> {
    pub(super) body: &'a [u8],
    unified: OnceCell<Unified<'a>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(body: &'a [u8]) -> Self {
        Source { body, unified: OnceCell::new() }
    }

    /// The file with every break as LF.
    pub(super) fn unified(&self) -> &Unified<'a> {
        self.unified.get_or_init(|| Unified::new(self.body))
    }

    /// Looks for `old`, which is not empty. The first tier with any match decides.
    pub(super) fn locate(&self, old: &[u8], all: bool) -> Located {
        TIERS
            .into_iter()
            .map(|tier| self.locate_in(tier, old, all))
            .find(|located| *located != Located::Nowhere)
            .unwrap_or(Located::Nowhere)
    }

    /// Where `old` first is, line endings aside.
    pub(super) fn first(&self, old: &[u8]) -> Option<usize> {
        let unified = self.unified();
        let at = memchr::memmem::find(&unified.text, &Unified::new(old).text)?;
        Some(unified.original(at..at).start)
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
        let mut candidate = Some(first);
        while let Some(at) = candidate {
            let free_from = spans.last().map_or(0, |span| span.end);
            let resume = match back(at..at + needle.len()) {
                Some(span) if span.start >= free_from => {
                    spans.push(span);
                    at + needle.len()
                }
                // Widening can make neighbours overlap; then the left one wins.
                _ => at + 1,
            };
            candidate = next(resume);
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
    fn repetition_stays_linear() {
        let text = vec![b'a'; 1 << 20];
        let needle = vec![b'a'; 1 << 16];
        let located = Source::new(&text).locate(&needle, false);
        assert!(matches!(located, Located::Ambiguous { count: 983_041, .. }));
    }
}
