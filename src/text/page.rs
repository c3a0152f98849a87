//! One page of a text, and the hint that leads to the next: whole lines, or a slice of a line that is too long.
//!
//! Following the hints from the start shows every byte of the text exactly once, and ends.

use super::truncate::{self, Limits, TruncatedBy, Truncation, format_size};
use super::{lines, utf8};
use crate::error::{ErrorCode, ToolError};

/// Which part is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first line, from 1.
    pub offset: u64,
    /// How many lines, if that was said.
    pub limit: Option<u64>,
    /// The first byte of that line, from 1, if that was said: a slice of this line alone.
    pub column: Option<u64>,
    /// The caps on what is shown at once.
    pub limits: Limits,
}

/// A page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The text as it stands in the file; `(empty file)` for one without a byte.
    pub text: String,
    /// How to go on, where there is more.
    pub hint: Option<String>,
    /// What was cut by the caps; `None` where they cut nothing.
    pub truncation: Option<Truncation>,
}

/// The page of a text that a range asks for.
///
/// # Errors
/// `invalid_arguments` when the range starts beyond the end of the text or of the line.
///
/// ```
/// use tackroom::text::{page::{page, Range}, truncate::Limits};
/// let range = Range { offset: 2, limit: Some(1), column: None, limits: Limits::default() };
/// let page = page("a\nb\nc\n", &range).unwrap();
/// assert_eq!((page.text.as_str(), page.hint.as_deref()), ("b\n", Some("[1 more lines in file. Use offset=3 to continue.]")));
/// ```
pub fn page(text: &str, range: &Range) -> Result<Page, ToolError> {
    let total = lines::count(text.as_bytes()) as u64;
    if total == 0 && range.offset <= 1 && range.column.is_none_or(|column| column <= 1) {
        return Ok(Page { text: "(empty file)".into(), hint: None, truncation: None });
    }
    let start = match usize::try_from(range.offset) {
        Ok(offset) if range.offset <= total => lines::line_start(text.as_bytes(), offset),
        _ => None,
    };
    let Some(start) = start else {
        let advice = match total {
            0 => "the file is empty".to_owned(),
            1 => "use offset=1".to_owned(),
            total => format!("use an offset from 1 to {total}"),
        };
        return Err(beyond(format!(
            "Offset {} is beyond end of file ({total} lines total): {advice}",
            range.offset
        )));
    };
    if let Some(column) = range.column {
        return slice(text, start, total, column, range);
    }
    let rest = &text[start..];
    let wanted = match range.limit.and_then(|limit| usize::try_from(limit).ok()) {
        Some(limit) => {
            &rest[..lines::line_start(rest.as_bytes(), limit.saturating_add(1)).unwrap_or(rest.len())]
        }
        None => rest,
    };
    let cut = truncate::head(wanted, range.limits);
    if cut.facts.first_line_exceeds_limit {
        return slice(text, start, total, 1, range);
    }
    let last = range.offset + cut.facts.output_lines as u64 - 1;
    let next = last + 1;
    let hint = match cut.facts.truncated_by {
        None if last < total => {
            Some(format!("[{} more lines in file. Use offset={next} to continue.]", total - last))
        }
        None => None,
        Some(by) => {
            let why = match by {
                TruncatedBy::Bytes => format!(" ({} limit)", format_size(range.limits.max_bytes as u64)),
                TruncatedBy::Lines => String::new(),
            };
            let first = range.offset;
            Some(format!("[Showing lines {first}-{last} of {total}{why}. Use offset={next} to continue.]"))
        }
    };
    let truncation = cut.facts.truncated.then_some(Truncation {
        total_lines: total,
        total_bytes: text.len() as u64,
        ..cut.facts
    });
    let mut shown = cut.content.to_owned();
    // A cut leaves out the LF of its last line. Before a hint it counts: that line may be blank.
    if hint.is_some() && shown.len() < wanted.len() {
        shown.push('\n');
    }
    Ok(Page { text: shown, hint, truncation })
}

/// A slice of the line that starts at a byte: at least one character, even over the limit.
fn slice(text: &str, start: usize, total: u64, column: u64, range: &Range) -> Result<Page, ToolError> {
    let line = &text[start..];
    let line = &line[..memchr::memchr(b'\n', line.as_bytes()).unwrap_or(line.len())];
    let from = usize::try_from(column - 1).unwrap_or(usize::MAX);
    if from > 0 && from >= line.len() {
        return Err(beyond(format!(
            "Column {column} is beyond the end of line {} ({} bytes): use a column from 1 to {}",
            range.offset,
            line.len(),
            line.len().max(1),
        )));
    }
    let from = utf8::floor_boundary(line.as_bytes(), from);
    let mut to =
        utf8::floor_boundary(line.as_bytes(), from.saturating_add(range.limits.max_bytes).min(line.len()));
    if to == from {
        to = from + line[from..].chars().next().map_or(0, char::len_utf8);
    }
    let (first, last) = (from + 1, to);
    let size = format_size(line.len() as u64);
    let way = match (to < line.len(), range.offset < total) {
        (true, _) => format!(" Use offset={}, column={} to continue.", range.offset, to + 1),
        (false, true) => format!(" Use offset={} to continue.", range.offset + 1),
        (false, false) => " End of file.".to_owned(),
    };
    Ok(Page {
        text: line[from..to].to_owned(),
        hint: Some(format!("[Showing bytes {first}-{last} of line {} ({size}).{way}]", range.offset)),
        truncation: Some(Truncation {
            truncated: from > 0 || to < line.len() || total > 1,
            truncated_by: Some(TruncatedBy::Bytes),
            total_lines: total,
            total_bytes: text.len() as u64,
            output_lines: 1,
            output_bytes: to - from,
            last_line_partial: to < line.len(),
            first_line_exceeds_limit: line.len() > range.limits.max_bytes,
            max_lines: range.limits.max_lines,
            max_bytes: range.limits.max_bytes,
            last_line_bytes: Some(line.len() as u64),
        }),
    })
}

fn beyond(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
