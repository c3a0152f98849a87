//! Line breaks as units: CRLF, LF and a lone CR.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

/// One line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    Lf,
    CrLf,
    Cr,
}

impl Break {
    pub fn as_bytes(self) -> &'static [u8] {
        match self {
            Break::Lf => b"\n",
            Break::CrLf => b"\r\n",
            Break::Cr => b"\r",
        }
    }
}

/// The first break at or after `from`, and where it ends.
pub fn next_break(text: &[u8], from: usize) -> Option<(usize, usize, Break)> {
    let at = from + memchr2(b'\r', b'\n', &text[from..])?;
    let kind = match (text[at], text.get(at + 1)) {
        (b'\n', _) => Break::Lf,
        (_, Some(b'\n')) => Break::CrLf,
        _ => Break::Cr,
    };
    Some((at, at + kind.as_bytes().len(), kind))
}

/// All breaks of `text`: where each starts, where it ends, what it is.
pub fn breaks(text: &[u8]) -> impl Iterator<Item = (usize, usize, Break)> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = next_break(text, from)?;
        from = found.1;
        Some(found)
    })
}

/// The span, widened so that it splits no CRLF.
pub fn widen(text: &[u8], span: Range<usize>) -> Range<usize> {
    let inside = |at: usize| at > 0 && at < text.len() && text[at - 1] == b'\r' && text[at] == b'\n';
    let start = if inside(span.start) { span.start - 1 } else { span.start };
    let end = if inside(span.end) { span.end + 1 } else { span.end };
    start..end
}

/// A text with every break written as LF, and the way back.
pub struct Unified<'a> {
    /// The text; borrowed where it has no CR.
    pub text: Cow<'a, [u8]>,
    /// Where in `text` the LFs are that were CRLF, ascending.
    crlf: Vec<usize>,
}

impl<'a> Unified<'a> {
    pub fn new(text: &'a [u8]) -> Self {
        if memchr(b'\r', text).is_none() {
            return Unified { text: Cow::Borrowed(text), crlf: Vec::new() };
        }
        let mut out = Vec::with_capacity(text.len());
        let mut crlf = Vec::new();
        let mut from = 0;
        for (start, end, kind) in breaks(text) {
            out.extend_from_slice(&text[from..start]);
            if kind == Break::CrLf {
                crlf.push(out.len());
            }
            out.push(b'\n');
            from = end;
        }
        out.extend_from_slice(&text[from..]);
        Unified { text: Cow::Owned(out), crlf }
    }

    /// The span of the original text that a span of the unified one stands for.
    pub fn original(&self, span: Range<usize>) -> Range<usize> {
        let back = |at: usize| at + self.crlf.partition_point(|&lf| lf < at);
        back(span.start)..back(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crlf_is_one_break() {
        let found: Vec<_> = breaks(b"a\r\r\n\n\rb").collect();
        assert_eq!(found, [(1, 2, Break::Cr), (2, 4, Break::CrLf), (4, 5, Break::Lf), (5, 6, Break::Cr)]);
    }

    #[test]
    fn spans_are_widened_to_whole_breaks() {
        assert_eq!(widen(b"a\r\nb", 2..4), 1..4);
        assert_eq!(widen(b"a\r\nb", 0..2), 0..3);
        assert_eq!(widen(b"a\r\nb", 1..3), 1..3);
        assert_eq!(widen(b"\r\n", 1..1), 0..2);
        assert_eq!(widen(b"\r\r", 1..2), 1..2);
    }

    #[test]
    fn unified_text_maps_back() {
        let text = b"a\r\nb\rc\n\r\nd";
        let unified = Unified::new(text);
        assert_eq!(&*unified.text, b"a\nb\nc\n\nd");
        assert_eq!(unified.original(1..2), 1..3);
        assert_eq!(unified.original(0..1), 0..1);
        assert_eq!(unified.original(2..4), 3..5);
        assert_eq!(unified.original(5..8), 6..10);
        assert_eq!(unified.original(0..8), 0..text.len());
    }
}
