//! One page of a text, and the hint that leads to the next: whole lines, or a slice of a line that is too long.
//!
//! Following the hints from the start shows every byte of the text exactly once, and ends.

use super::encoding::Encoding;
use super::lines::LineEnding;
use super::pager::Pager;
use super::truncate::{self, Limits, TruncatedBy, Truncation, format_size};
use super::utf8;
use crate::error::{ErrorCode, ToolError};

/// Which part is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// The first line, from 1; 0 is read as 1.
    pub offset: u64,
    /// How many lines, if that was said.
    pub limit: Option<u64>,
    /// The first byte of that line, from 1, if that was said: a slice of this line alone.
    pub column: Option<u64>,
    /// The caps on what is shown at once.
    pub limits: Limits,
}

/// A page, and what a reader of the whole text has seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The text as it stands in the file, decoded; `(empty file)` for one without a character.
    pub text: String,
    /// How to go on, where there is more.
    pub hint: Option<String>,
    /// What was cut by the caps; `None` where they cut nothing.
    pub truncation: Option<Truncation>,
    /// How the whole text is stored.
    pub encoding: Encoding,
    /// What ends its lines, all of them.
    pub line_ending: LineEnding,
    /// Whether anything in it, shown or not, is no text and became U+FFFD.
    pub replaced: bool,
}

/// The page of a text that a range asks for; [`Pager`] for one that comes in parts.
///
/// The text is decoded by its BOM, which is not shown. What is invalid, and each NUL, becomes U+FFFD. Lines and bytes
/// are those of the decoded text.
///
/// # Errors
/// `invalid_arguments` when the range starts beyond the end of the text or of the line.
///
/// ```
/// use tackroom_base::text::{page::{page, Range}, truncate::Limits};
/// let range = Range { offset: 2, limit: Some(1), column: None, limits: Limits::default() };
/// let page = page(b"a\nb\nc\n", &range).unwrap();
/// assert_eq!((page.text.as_str(), page.hint.as_deref()), ("b\n", Some("[1 more lines in file. Use offset=3 to continue.]")));
/// ```
pub fn page(bytes: &[u8], range: &Range) -> Result<Page, ToolError> {
    let mut pager = Pager::new(*range);
    pager.push(bytes);
    pager.finish()
}

/// What a page is made of: as much of the text, from where it begins, as can be shown, and what there is in all.
#[derive(Clone, Debug, Default)]
pub(super) struct Material {
    /// From the start of the first line, or from the column.
    pub kept: String,
    /// The byte of the first line that `kept` begins at.
    pub from: u64,
    /// Bytes of the first line without its LF.
    pub line_bytes: u64,
    pub total_lines: u64,
    pub total_bytes: u64,
}

/// The parts of a page.
pub(super) struct Laid {
    pub text: String,
    pub hint: Option<String>,
    pub truncation: Option<Truncation>,
}

pub(super) fn lay_out(material: Material, range: &Range) -> Result<Laid, ToolError> {
    let total = material.total_lines;
    if total == 0 && range.offset <= 1 && range.column.is_none_or(|column| column <= 1) {
        return Ok(Laid { text: "(empty file)".into(), hint: None, truncation: None });
    }
    if range.offset > total {
        let advice = match total {
            0 => "the file is empty".to_owned(),
            1 => "use offset=1".to_owned(),
            total => format!("use an offset from 1 to {total}"),
        };
        return Err(beyond(format!(
            "Offset {} is beyond end of file ({total} lines total): {advice}",
            range.offset
        )));
    }
    if range.column.is_some() {
        return slice(material, range);
    }
    let cut = truncate::head(&material.kept, range.limits);
    if cut.facts.first_line_exceeds_limit {
        return slice(material, range);
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
        total_bytes: material.total_bytes,
        ..cut.facts
    });
    let shown = cut.content.len();
    let was_cut = shown < material.kept.len();
    let mut text = material.kept;
    text.truncate(shown);
    // A cut leaves out the LF of its last line. Before a hint it counts: that line may be blank.
    if hint.is_some() && was_cut {
        text.push('\n');
    }
    Ok(Laid { text, hint, truncation })
}

/// A slice of the first line: at least one character, even over the limit.
fn slice(material: Material, range: &Range) -> Result<Laid, ToolError> {
    let Material { mut kept, from, line_bytes, total_lines, total_bytes } = material;
    let column = range.column.unwrap_or(1);
    if column > 1 && column > line_bytes {
        return Err(beyond(format!(
            "Column {column} is beyond the end of line {} ({line_bytes} bytes): use a column from 1 to {}",
            range.offset,
            line_bytes.max(1),
        )));
    }
    let line = usize::try_from(line_bytes - from).unwrap_or(usize::MAX).min(kept.len());
    let mut end = utf8::floor_boundary(kept.as_bytes(), range.limits.max_bytes.min(line));
    if end == 0 && line > 0 {
        end = kept.chars().next().map_or(0, char::len_utf8);
    }
    kept.truncate(end);
    let to = from + end as u64;
    let size = format_size(line_bytes);
    let way = match (to < line_bytes, range.offset < total_lines) {
        (true, _) => format!(" Use offset={}, column={} to continue.", range.offset, to + 1),
        (false, true) => format!(" Use offset={} to continue.", range.offset + 1),
        (false, false) => " End of file.".to_owned(),
    };
    let hint = format!("[Showing bytes {}-{to} of line {} ({size}).{way}]", from + 1, range.offset);
    let truncated = from > 0 || to < line_bytes || total_lines > 1;
    Ok(Laid {
        text: kept,
        hint: Some(hint),
        truncation: Some(Truncation {
            truncated,
            truncated_by: truncated.then_some(TruncatedBy::Bytes),
            total_lines,
            total_bytes,
            output_lines: 1,
            output_bytes: end,
            last_line_partial: to < line_bytes,
            first_line_exceeds_limit: line_bytes > range.limits.max_bytes as u64,
            max_lines: range.limits.max_lines,
            max_bytes: range.limits.max_bytes,
            last_line_bytes: Some(line_bytes),
        }),
    })
}

fn beyond(message: String) -> ToolError {
    ToolError::new(ErrorCode::InvalidArguments, message)
}
