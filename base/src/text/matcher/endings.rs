//! The line endings of new text.
//!
//! The n-th break of the new text takes the ending of the n-th break of the span it replaces, further
//! ones that of the last. A span without a break gives the ending of the line it starts in, else of
//! the line before, else CR where the file has CR and no LF; in a file without any break the new text
//! stays as given. Lines, here as in `read`, end at LF; a lone CR is a break only inside a span.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr};

use super::breaks::{Break, breaks};

/// Fits new text to the endings of one file.
pub struct Endings<'a> {
    body: &'a [u8],
    /// The last answer of [`Endings::around`] and the positions it holds for. Without it, many spans
    /// in one very long line would each search the line for its end.
    around: Option<(Range<usize>, Option<Break>)>,
}

impl<'a> Endings<'a> {
    pub fn new(body: &'a [u8]) -> Self {
        Endings { body, around: None }
    }

    /// `text` with its breaks as they have to be in place of `span`.
    pub fn fit(&mut self, text: &[u8], span: &Range<usize>) -> Vec<u8> {
        if memchr2(b'\r', b'\n', text).is_none() {
            return text.to_vec();
        }
        let mut in_span = breaks(&self.body[span.clone()]).map(|(_, _, kind)| kind);
        let first = in_span.next();
        let mut ending = first.or_else(|| self.around(span.start));
        let mut out = Vec::with_capacity(text.len() + 16);
        let mut from = 0;
        for (nth, (start, end, _)) in breaks(text).enumerate() {
            if nth > 0 && first.is_some() {
                ending = in_span.next().or(ending);
            }
            out.extend_from_slice(&text[from..start]);
            out.extend_from_slice(ending.map_or(&text[start..end], |kind| kind.as_bytes()));
            from = end;
        }
        out.extend_from_slice(&text[from..]);
        out
    }

    /// The ending of the line at `at`, else of the line before, else CR or nothing.
    fn around(&mut self, at: usize) -> Option<Break> {
        if let Some((range, answer)) = &self.around
            && range.contains(&at)
        {
            return *answer;
        }
        let next = memchr(b'\n', &self.body[at..]).map(|offset| at + offset);
        let line_end = next.or_else(|| memrchr(b'\n', &self.body[..at]));
        let answer = match line_end {
            Some(lf) if lf > 0 && self.body[lf - 1] == b'\r' => Some(Break::CrLf),
            Some(_) => Some(Break::Lf),
            None => memchr(b'\r', self.body).map(|_| Break::Cr),
        };
        self.around = Some((at..next.unwrap_or(self.body.len()) + 1, answer));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(body: &str, span: Range<usize>, text: &str) -> String {
        String::from_utf8(Endings::new(body.as_bytes()).fit(text.as_bytes(), &span)).unwrap()
    }

    #[test]
    fn the_nth_break_takes_the_nth_ending() {
        assert_eq!(fit("a\r\nb\nc\r\n", 0..6, "A\nB\nC"), "A\r\nB\nC");
        assert_eq!(fit("a\r\nb\nc\r\n", 0..6, "A\nB\nB2\nC"), "A\r\nB\nB2\nC");
        assert_eq!(fit("a\nb\r\n", 0..5, "A\r\nB\nC\n"), "A\nB\r\nC\r\n");
    }

    #[test]
    fn a_span_without_breaks_takes_those_around_it() {
        assert_eq!(fit("a\r\nb\n", 0..1, "A\nB"), "A\r\nB");
        assert_eq!(fit("a\r\nb\n", 3..4, "A\r\nB"), "A\nB");
        assert_eq!(fit("a\r\nb", 3..4, "A\nB"), "A\r\nB");
        assert_eq!(fit("a\rb", 2..3, "A\nB"), "A\rB");
        assert_eq!(fit("a\rb\nc", 0..1, "A\r\nB"), "A\nB");
        assert_eq!(fit("a", 0..1, "A\r\nB\nC\r"), "A\r\nB\nC\r");
    }

    #[test]
    fn the_remembered_answer_holds_for_its_line_only() {
        let body = b"ab\r\ncd\nef";
        let mut endings = Endings::new(body);
        for (at, want) in
            [(0, "\r\n"), (1, "\r\n"), (4, "\n"), (5, "\n"), (7, "\n"), (8, "\n"), (0, "\r\n"), (4, "\n")]
        {
            assert_eq!(endings.fit(b"\n", &(at..at + 1)), want.as_bytes(), "at {at}");
        }
    }
}
