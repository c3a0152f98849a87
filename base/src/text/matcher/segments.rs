//! A view of a text, made of segments, and the way back.
//!
//! A segment is a piece of the source and what stands for it in the view; a span of the view that begins
//! and ends between segments is a span of the source. Segments of one kind in a row are one run, so
//! that the map of a text which is mostly itself stays small.

use std::ops::Range;

/// Stands for what nothing matches: it is in no UTF-8 text.
const HOLE: u8 = 0xff;

/// How long the segments of a run are in the view and in the source.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Step {
    view: u16,
    source: u16,
}

impl Step {
    /// Characters, each a segment of its own and as long as in the source.
    const SAME: Step = Step { view: 0, source: 0 };
    /// A hole. Its place in the source is where it ends: a span never begins in it, but may begin after it.
    const HOLE: Step = Step { view: 1, source: 0 };
}

/// Segments with the same step, one after another in the view and in the source.
struct Run {
    view: usize,
    source: usize,
    step: Step,
}

impl Run {
    /// The place in the source of a place in the view that is in the run or at its end.
    fn source(&self, view: usize) -> Option<usize> {
        let offset = view - self.view;
        if self.step == Step::SAME {
            return Some(self.source + offset);
        }
        let (nth, inside) = (offset / usize::from(self.step.view), offset % usize::from(self.step.view));
        (inside == 0).then(|| self.source + nth * usize::from(self.step.source))
    }
}

/// The view. Pieces of the source may have nothing in it; they lie between segments.
#[derive(Default)]
pub struct View {
    text: Vec<u8>,
    runs: Vec<Run>,
}

impl View {
    pub fn with_capacity(bytes: usize) -> Self {
        View { text: Vec::with_capacity(bytes), runs: Vec::new() }
    }

    /// UTF-8, but for holes.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Adds characters that stand for as many bytes of the source, from `source` on.
    pub fn copy(&mut self, source: usize, text: &[u8]) {
        if !text.is_empty() {
            self.run(source, Step::SAME);
            self.text.extend_from_slice(text);
        }
    }

    /// Adds a segment; a hole where a part of it is too long (64 KB).
    pub fn segment(&mut self, source: Range<usize>, text: &[u8]) {
        match (u16::try_from(text.len()), u16::try_from(source.len())) {
            (Ok(view @ 1..), Ok(length)) => {
                self.run(source.start, Step { view, source: length });
                self.text.extend_from_slice(text);
            }
            _ => self.hole(source.end),
        }
    }

    /// Adds something that nothing matches, and that ends there.
    pub fn hole(&mut self, end: usize) {
        match self.runs.last_mut() {
            Some(last) if self.text.last() == Some(&HOLE) => last.source = end,
            _ => {
                self.runs.push(Run { view: self.text.len(), source: end, step: Step::HOLE });
                self.text.push(HOLE);
            }
        }
    }

    /// Takes away what comes after the first `length` bytes, which end with a segment.
    pub fn truncate(&mut self, length: usize) {
        self.text.truncate(length);
        while self.runs.pop_if(|run| run.view >= length).is_some() {}
    }

    /// The span of the source that a span of the view stands for; not empty, and without what has no
    /// place in the view before and after it. `None` where it does not begin and end with a segment.
    pub fn original(&self, span: Range<usize>) -> Option<Range<usize>> {
        let start = self.runs[self.run_at(span.start)].source(span.start)?;
        let end = self.runs[self.run_at(span.end - 1)].source(span.end)?;
        Some(start..end)
    }

    /// Where the segment before the one at `view` ends in the source.
    pub fn end_before(&self, view: usize) -> Option<usize> {
        match view {
            0 => Some(0),
            _ => self.runs[self.run_at(view - 1)].source(view),
        }
    }

    /// Where in the source the first segment begins.
    pub fn start(&self) -> usize {
        self.runs.first().map_or(0, |run| run.source)
    }

    fn run_at(&self, view: usize) -> usize {
        self.runs.partition_point(|run| run.view <= view) - 1
    }

    /// Makes the last run one of that step that goes on at `source`.
    fn run(&mut self, source: usize, step: Step) {
        let view = self.text.len();
        let goes_on =
            self.runs.last().is_some_and(|last| last.step == step && last.source(view) == Some(source));
        if !goes_on {
            self.runs.push(Run { view, source, step });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ab`, CRLF, two blanks that are nothing, `cd`, two wide letters, a hole, `e`.
    fn view() -> View {
        let mut view = View::default();
        view.copy(0, b"a");
        view.copy(1, b"b");
        view.segment(2..4, b"\n");
        view.copy(6, b"cd");
        view.segment(8..11, b"x");
        view.segment(11..14, b"y");
        view.hole(15);
        view.hole(16);
        view.copy(16, b"e");
        view
    }

    #[test]
    fn spans_map_back() {
        let view = view();
        assert_eq!(view.text(), b"ab\ncdxy\xffe");
        assert_eq!(view.runs.len(), 6);
        for (span, original) in [
            (0..1, 0..1),
            (1..3, 1..4),
            (2..3, 2..4),
            (3..4, 6..7),
            (2..4, 2..7),
            (5..6, 8..11),
            (4..7, 7..14),
            (8..9, 16..17),
        ] {
            assert_eq!(view.original(span.clone()), Some(original), "{span:?}");
        }
        let ends = [0, 2, 3, 5, 8].map(|at| view.end_before(at));
        assert_eq!(ends, [Some(0), Some(2), Some(4), Some(8), Some(16)]);
    }

    #[test]
    fn a_span_inside_a_segment_is_none() {
        let mut view = View::default();
        view.segment(0..2, b"1/2");
        view.copy(2, b"3");
        assert_eq!(view.original(0..1), None);
        assert_eq!(view.original(2..4), None);
        assert_eq!(view.original(0..4), Some(0..3));
    }

    #[test]
    fn what_is_too_long_is_a_hole() {
        let mut view = View::default();
        view.segment(0..70_000, b"a");
        view.segment(70_000..70_001, &[b'a'; 70_000]);
        view.copy(70_001, b"b");
        assert_eq!(view.text(), b"\xffb");
        assert_eq!(view.original(1..2), Some(70_001..70_002));
    }

    #[test]
    fn a_view_can_be_cut() {
        let mut view = view();
        view.truncate(4);
        view.copy(7, b"d");
        view.copy(20, b"z");
        assert_eq!(view.text(), b"ab\ncdz");
        assert_eq!(view.original(3..6), Some(6..21));
        view.truncate(0);
        assert!(view.runs.is_empty());
    }
}
