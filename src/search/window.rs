//! A long line, cut to what is around its match.

use std::ops::Range;

use crate::text::truncate::LINE_MARK;
use crate::text::utf8;

/// What stands before a line whose beginning is cut.
pub const HEAD_MARK: &str = "[truncated] ...";

/// At most `most` UTF-16 units of a line with its match in their middle, or as near to it as the ends of the line
/// leave; then the marks where it is cut, which are not counted. Also says whether it cut. No character is split.
/// Bytes that are no text show as U+FFFD.
///
/// ```
/// use tackroom::search::window::window;
/// assert_eq!(window(b"a needle", 2..8, 500), ("a needle".into(), false));
/// assert_eq!(window(b"0123456789", 5..6, 4), ("[truncated] ...4567... [truncated]".into(), true));
/// ```
pub fn window(line: &[u8], matched: Range<usize>, most: usize) -> (String, bool) {
    // No unit of UTF-16 is more than three bytes of UTF-8, so that what is shown is within these.
    let reach = most.saturating_mul(4).saturating_add(16);
    let (start, end) = (matched.start.min(line.len()), matched.end.min(line.len()));
    let from = utf8::ceil_boundary(line, start.saturating_sub(reach));
    let to = utf8::floor_boundary(line, end.min(start + reach).saturating_add(reach).min(line.len()));
    let (mut head, mut tail) = (from > 0, to < line.len());
    let before = utf8::to_text(&line[from..start.clamp(from, to)]);
    let text = utf8::to_text(&line[from..to]);
    let units = utf8::utf16_len(&text);
    if units <= most && !head && !tail {
        return (text.into_owned(), false);
    }
    let match_start = utf8::utf16_len(&before);
    let match_units = utf8::utf16_len(&utf8::to_text(&line[start.clamp(from, to)..end.clamp(from, to)]));
    let first =
        match_start.saturating_sub(most.saturating_sub(match_units) / 2).min(units.saturating_sub(most));
    let mut at = 0;
    let (mut begin, mut finish) = (text.len(), text.len());
    for (byte, c) in text.char_indices() {
        if at >= first && begin > byte {
            begin = byte;
        }
        at += c.len_utf16();
        if at > first + most {
            finish = byte;
            break;
        }
    }
    let begin = begin.min(finish);
    (head, tail) = (head || begin > 0, tail || finish < text.len());
    let (head_mark, tail_mark) = (if head { HEAD_MARK } else { "" }, if tail { LINE_MARK } else { "" });
    (format!("{head_mark}{}{tail_mark}", &text[begin..finish]), true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, matched: &str, most: usize) -> String {
        let start = line.find(matched).unwrap();
        window(line.as_bytes(), start..start + matched.len(), most).0
    }

    #[test]
    fn no_surrogate_pair_is_split() {
        let line = format!("{}😀{}", "x".repeat(499), "y".repeat(50));
        assert_eq!(shown(&line, "x", 500), format!("{}... [truncated]", "x".repeat(499)));
        assert_eq!(shown("😀😀😀😀a😀😀😀", "a", 4), "[truncated] ...a😀... [truncated]");
        assert_eq!(shown("😀😀", "😀", 1), "... [truncated]");
    }

    #[test]
    fn the_window_keeps_within_the_line() {
        let line = format!("start{}end", "-".repeat(600));
        assert_eq!(shown(&line, "start", 500), format!("start{}... [truncated]", "-".repeat(495)));
        assert_eq!(shown(&line, "end", 500), format!("[truncated] ...{}end", "-".repeat(497)));
    }

    #[test]
    fn a_match_longer_than_the_window_is_shown_from_its_start() {
        let line = format!("{}{}", "a".repeat(700), "b".repeat(700));
        let expected = format!("[truncated] ...{}... [truncated]", "b".repeat(500));
        assert_eq!(shown(&line, &"b".repeat(700), 500), expected);
    }

    #[test]
    fn far_into_a_line_the_match_is_in_the_middle() {
        let mut line = "é".repeat(450_000).into_bytes();
        line.extend(b"needle");
        line.extend("é".repeat(50_000).bytes());
        let (text, cut) = window(&line, 900_000..900_006, 500);
        let inner = text.strip_prefix(HEAD_MARK).and_then(|text| text.strip_suffix(LINE_MARK)).unwrap();
        assert!(cut && inner.encode_utf16().count() == 500);
        assert_eq!(inner.chars().position(|c| c == 'n'), Some(247));
    }

    #[test]
    fn any_range_of_any_bytes_gives_a_window() {
        let line: Vec<u8> = (0..3000_u32).map(|n| (n * 7 % 256) as u8).collect();
        for start in (0..3100).step_by(37) {
            for length in [0, 1, 700, 5000] {
                let (text, _) = window(&line, start..start + length, 50);
                let inner = text.strip_prefix(HEAD_MARK).unwrap_or(&text);
                let inner = inner.strip_suffix(LINE_MARK).unwrap_or(inner);
                assert!(inner.encode_utf16().count() <= 50);
            }
        }
    }
}
