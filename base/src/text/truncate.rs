//! Cutting a text to what a model should be sent.
//!
//! Two limits, whichever is hit first: lines ([`DEFAULT_MAX_LINES`]) and bytes of UTF-8
//! ([`DEFAULT_MAX_BYTES`]). Lines are those of [`super::lines`].
//!
//! - [`head`] keeps whole lines from the start, [`tail`] whole lines from the end, [`line()`] the start
//!   of one line.
//! - What counts is what is shown: the lines and the LF between them. The LF that ends the last line
//!   shown is not counted. It stays if nothing is cut and it fits, and goes otherwise, because a
//!   hint follows after a blank line. So `"abc\n"` at 3 bytes is `"abc"` and not called cut: no line is
//!   missing, and a hint to go on would lead nowhere.
//! - The hints themselves are the caller's, and outside the limits.

use std::borrow::Cow;

use memchr::{memchr, memrchr};
use serde::Serialize;

use super::{lines, utf8};

/// Lines that are shown at most, unless set otherwise.
pub const DEFAULT_MAX_LINES: usize = 2000;
/// Bytes that are shown at most, unless set otherwise: 50 KB.
pub const DEFAULT_MAX_BYTES: usize = 51_200;
/// UTF-16 units of one line that are shown at most, where lines are cut at all.
pub const DEFAULT_LINE_UTF16: usize = 500;
/// What follows a line that [`line()`] cut.
pub const LINE_MARK: &str = "... [truncated]";

/// How much is shown. Values below 1 are refused where a tool set is made; here 0 shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Lines at most; default 2000.
    pub max_lines: usize,
    /// Bytes of UTF-8 at most; default 51,200.
    pub max_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { max_lines: DEFAULT_MAX_LINES, max_bytes: DEFAULT_MAX_BYTES }
    }
}

/// Which limit made the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncatedBy {
    /// The line limit was reached, and the bytes were still within theirs.
    Lines,
    /// The next line would have passed the byte limit.
    Bytes,
}

/// What was cut: a truncation result without its content, as `details.truncation` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// Whether any line, or part of one, is missing.
    pub truncated: bool,
    /// Which limit did it; None (null) if nothing is missing.
    pub truncated_by: Option<TruncatedBy>,
    /// Lines of the whole text.
    pub total_lines: u64,
    /// Bytes of the whole text, its final LF included.
    pub total_bytes: u64,
    /// Lines of the content, one that is shown in part included.
    pub output_lines: usize,
    /// Bytes of the content.
    pub output_bytes: usize,
    /// [`tail`] only: the last line alone is over the byte limit, and the content is its end.
    pub last_line_partial: bool,
    /// [`head`] only: the first line alone is over the byte limit, and the content is empty.
    pub first_line_exceeds_limit: bool,
    /// The line limit that was applied.
    pub max_lines: usize,
    /// The byte limit that was applied.
    pub max_bytes: usize,
    /// With `last_line_partial`: bytes of the whole last line, without its LF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line_bytes: Option<u64>,
}

/// A truncation result: what is left of a text, and what was cut. As JSON, one flat object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Truncated<'a> {
    /// What is left: always a part of the text.
    pub content: &'a str,
    /// What was cut.
    #[serde(flatten)]
    pub facts: Truncation,
}

/// What is known of a whole text when only its end is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Lines; one without its LF is one.
    pub lines: u64,
    /// Bytes of UTF-8.
    pub bytes: u64,
    /// Of the last line, without its LF.
    pub last_line: u64,
}

/// Keeps whole lines from the start.
///
/// If the first line alone is over the byte limit, the content is empty and
/// `first_line_exceeds_limit` is set.
///
/// ```
/// use tackroom_base::text::truncate::{Limits, TruncatedBy, head};
/// let cut = head("one\ntwo\nthree\n", Limits { max_lines: 2, ..Limits::default() });
/// assert_eq!(cut.content, "one\ntwo");
/// assert_eq!(cut.facts.truncated_by, Some(TruncatedBy::Lines));
/// assert_eq!((cut.facts.output_lines, cut.facts.total_lines), (2, 3));
/// ```
pub fn head(text: &str, limits: Limits) -> Truncated<'_> {
    let bytes = text.as_bytes();
    let total_lines = lines::count(bytes);
    if fits(total_lines as u64, bytes.len() as u64, limits) {
        return whole(text, total_lines as u64, limits);
    }
    // The LF of a line that fits lies at most one past the limit, so nothing further is looked at.
    let window = &bytes[..bytes.len().min(limits.max_bytes.saturating_add(1))];
    let (mut end, mut shown, mut next) = (0, 0, 0);
    while shown < limits.max_lines && next < bytes.len() {
        let line_end = match memchr(b'\n', window.get(next..).unwrap_or_default()) {
            Some(lf) => next + lf,
            None => bytes.len(),
        };
        if line_end > limits.max_bytes {
            break;
        }
        (end, shown, next) = (line_end, shown + 1, line_end + 1);
    }
    let truncated = shown < total_lines;
    let by = if shown == limits.max_lines { TruncatedBy::Lines } else { TruncatedBy::Bytes };
    Truncated {
        content: &text[..end],
        facts: Truncation {
            truncated,
            truncated_by: truncated.then_some(by),
            total_lines: total_lines as u64,
            total_bytes: bytes.len() as u64,
            output_lines: shown,
            output_bytes: end,
            last_line_partial: false,
            first_line_exceeds_limit: shown == 0 && by == TruncatedBy::Bytes,
            max_lines: limits.max_lines,
            max_bytes: limits.max_bytes,
            last_line_bytes: None,
        },
    }
}

/// Keeps whole lines from the end.
///
/// If the last line alone is over the byte limit, the content is its end, cut at a character
/// boundary; `last_line_partial` is set and `last_line_bytes` says how long it is.
///
/// ```
/// use tackroom_base::text::truncate::{Limits, tail};
/// let limits = Limits { max_bytes: 7, ..Limits::default() };
/// assert_eq!(tail("one\ntwo\nsix\n", limits).content, "two\nsix");
/// let cut = tail("ééééé\n", limits);
/// assert_eq!((cut.content, cut.facts.last_line_bytes), ("ééé", Some(10)));
/// ```
pub fn tail(text: &str, limits: Limits) -> Truncated<'_> {
    let bytes = text.as_bytes();
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let last_line = (body.len() - memrchr(b'\n', body).map_or(0, |lf| lf + 1)) as u64;
    let totals = Totals { lines: lines::count(bytes) as u64, bytes: bytes.len() as u64, last_line };
    tail_of(text, totals, limits)
}

/// [`tail`] of a text of which only the end is at hand.
///
/// `end` is the whole text, or at least its last `max_bytes + 2` bytes: those shown, the byte before
/// them, which tells whether they begin a line, and a final LF.
pub(super) fn tail_of(end: &str, totals: Totals, limits: Limits) -> Truncated<'_> {
    if fits(totals.lines, totals.bytes, limits) {
        return whole(end, totals.lines, limits);
    }
    let bytes = end.as_bytes();
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    // A line may be shown if it begins at or after `low`; the LF before it lies one further left.
    let low = body.len().saturating_sub(limits.max_bytes);
    let (mut start, mut shown, mut edge) = (body.len(), 0, body.len());
    while shown < limits.max_lines {
        let window_start = low.saturating_sub(1).min(edge);
        let line_start = match memrchr(b'\n', &body[window_start..edge]) {
            Some(lf) => window_start + lf + 1,
            None if low == 0 => 0,
            None => break,
        };
        (start, shown) = (line_start, shown + 1);
        match line_start.checked_sub(1) {
            Some(lf) if line_start > low => edge = lf,
            _ => break,
        }
    }
    let partial = shown == 0 && limits.max_lines > 0;
    if partial {
        (start, shown) = (utf8::ceil_boundary(body, low), 1);
    }
    let truncated = partial || totals.lines > shown as u64;
    let by = if partial || shown < limits.max_lines { TruncatedBy::Bytes } else { TruncatedBy::Lines };
    Truncated {
        content: &end[start..body.len()],
        facts: Truncation {
            truncated,
            truncated_by: truncated.then_some(by),
            total_lines: totals.lines,
            total_bytes: totals.bytes,
            output_lines: shown,
            output_bytes: body.len() - start,
            last_line_partial: partial,
            first_line_exceeds_limit: false,
            max_lines: limits.max_lines,
            max_bytes: limits.max_bytes,
            last_line_bytes: partial.then_some(totals.last_line),
        },
    }
}

/// Keeps the first `max_utf16` UTF-16 units of one line, fewer where that would split a character,
/// and marks the cut with [`LINE_MARK`], which comes on top. Also says whether it cut.
///
/// ```
/// use tackroom_base::text::truncate::line;
/// assert_eq!(line("abc", 3), ("abc".into(), false));
/// assert_eq!(line("ab🙂", 3), ("ab... [truncated]".into(), true));
/// ```
pub fn line(text: &str, max_utf16: usize) -> (Cow<'_, str>, bool) {
    // No character has more UTF-16 units than bytes.
    if text.len() <= max_utf16 {
        return (Cow::Borrowed(text), false);
    }
    let mut left = max_utf16;
    for (at, c) in text.char_indices() {
        match left.checked_sub(c.len_utf16()) {
            Some(rest) => left = rest,
            None => return (Cow::Owned(format!("{}{LINE_MARK}", &text[..at])), true),
        }
    }
    (Cow::Borrowed(text), false)
}

/// A size as people read it: `512B`, `1.5KB`, `2.0MB`, `1.0GB`; a KB is 1024 bytes.
///
/// Rounds half up. What would print as 1024 of a unit is 1.0 of the next.
///
/// ```
/// use tackroom_base::text::truncate::format_size;
/// assert_eq!([512, 1536, 51_200, 2 << 20].map(format_size), ["512B", "1.5KB", "50.0KB", "2.0MB"]);
/// ```
pub fn format_size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let mut tenths = 0;
    for (power, unit) in ["KB", "MB", "GB"].into_iter().enumerate() {
        let one = 1024_u128 << (10 * power);
        tenths = (u128::from(bytes) * 10 + one / 2) / one;
        if tenths < 10_240 {
            return format!("{}.{}{unit}", tenths / 10, tenths % 10);
        }
    }
    format!("{}.{}GB", tenths / 10, tenths % 10)
}

fn fits(lines: u64, bytes: u64, limits: Limits) -> bool {
    lines <= limits.max_lines as u64 && bytes <= limits.max_bytes as u64
}

fn whole(text: &str, lines: u64, limits: Limits) -> Truncated<'_> {
    Truncated {
        content: text,
        facts: Truncation {
            truncated: false,
            truncated_by: None,
            total_lines: lines,
            total_bytes: text.len() as u64,
            // Not more than max_lines, which is a usize.
            output_lines: lines as usize,
            output_bytes: text.len(),
            last_line_partial: false,
            first_line_exceeds_limit: false,
            max_lines: limits.max_lines,
            max_bytes: limits.max_bytes,
            last_line_bytes: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max_lines: usize, max_bytes: usize) -> Limits {
        Limits { max_lines, max_bytes }
    }

    #[test]
    fn what_fits_stays_with_its_final_break() {
        for text in ["", "a", "a\n", "\n", "a\n\n"] {
            for cut in [head(text, limits(2, 3)), tail(text, limits(2, 3))] {
                assert_eq!((cut.content, cut.facts.truncated), (text, false));
            }
        }
    }

    #[test]
    fn a_final_break_is_no_line() {
        for cut in [head("abc\n", limits(1, 3)), tail("abc\n", limits(1, 3))] {
            assert_eq!((cut.content, cut.facts.truncated, cut.facts.output_lines), ("abc", false, 1));
        }
        let text = "x\n".repeat(2001);
        assert_eq!(head(&text, Limits::default()).facts.total_lines, 2001);
        assert_eq!(tail(&text, Limits::default()).facts.output_lines, 2000);
    }

    #[test]
    fn the_break_between_lines_counts() {
        assert_eq!(head("ab\ncd\nef", limits(9, 5)).content, "ab\ncd");
        assert_eq!(head("ab\ncd\nef", limits(9, 4)).content, "ab");
        assert_eq!(tail("ab\ncd\nef\n", limits(9, 5)).content, "cd\nef");
        assert_eq!(tail("ab\ncd\nef\n", limits(9, 4)).content, "ef");
    }

    #[test]
    fn a_line_over_the_limit() {
        let cut = head("abcd\ne\n", limits(9, 3));
        assert_eq!((cut.content, cut.facts.first_line_exceeds_limit), ("", true));
        assert_eq!(cut.facts.truncated_by, Some(TruncatedBy::Bytes));
        let cut = tail("e\nabcd", limits(1, 3));
        assert_eq!((cut.content, cut.facts.last_line_partial), ("bcd", true));
        assert_eq!((cut.facts.truncated_by, cut.facts.last_line_bytes), (Some(TruncatedBy::Bytes), Some(4)));
        let wide = "é".repeat(60_000);
        let cut = tail(&wide, Limits::default());
        assert_eq!((cut.facts.output_bytes, cut.facts.last_line_bytes), (51_200, Some(120_000)));
    }

    #[test]
    fn the_smallest_limits() {
        for (text, first, last) in
            [("a\nb", "a", "b"), ("\n\n", "", ""), ("ab", "", "b"), ("é", "", ""), ("a\n\n", "a", "")]
        {
            assert_eq!(head(text, limits(1, 1)).content, first, "{text:?}");
            assert_eq!(tail(text, limits(1, 1)).content, last, "{text:?}");
        }
        assert_eq!(tail("abc", limits(0, 0)).content, "");
        assert_eq!(head("abc", limits(0, 9)).facts.truncated_by, Some(TruncatedBy::Lines));
    }

    #[test]
    fn as_json() {
        let json = serde_json::to_string(&tail("a\nbcd", limits(2, 2))).unwrap();
        expect_test::expect![[r#"{"content":"cd","truncated":true,"truncatedBy":"bytes","totalLines":2,"totalBytes":5,"outputLines":1,"outputBytes":2,"lastLinePartial":true,"firstLineExceedsLimit":false,"maxLines":2,"maxBytes":2,"lastLineBytes":3}"#]].assert_eq(&json);
        let json = serde_json::to_string(&head("a", Limits::default()).facts).unwrap();
        expect_test::expect![[r#"{"truncated":false,"truncatedBy":null,"totalLines":1,"totalBytes":1,"outputLines":1,"outputBytes":1,"lastLinePartial":false,"firstLineExceedsLimit":false,"maxLines":2000,"maxBytes":51200}"#]].assert_eq(&json);
    }

    #[test]
    fn sizes() {
        for (bytes, want) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (1280, "1.3KB"),
            (122_880, "120.0KB"),
            ((1 << 20) - 1, "1.0MB"),
            (1 << 30, "1.0GB"),
            (u64::MAX, "17179869184.0GB"),
        ] {
            assert_eq!(format_size(bytes), want);
        }
    }

    #[test]
    fn one_line_with_a_surrogate_pair_at_the_cut() {
        let text = format!("{}😀{}", "x".repeat(499), "y".repeat(50));
        let (cut, was_cut) = line(&text, DEFAULT_LINE_UTF16);
        assert_eq!((cut.len(), was_cut), (499 + LINE_MARK.len(), true));
        let (cut, was_cut) = line(&text, 501);
        assert!(cut.contains("😀... ") && was_cut);
        assert_eq!(line(&"é".repeat(500), 500), ("é".repeat(500).into(), false));
    }
}
