//! What an edit error says.
//!
//! A model reads it and sends the edit again, so it names every failing edit, what was expected, what
//! is there, and what to do. Built only on failure; at most 1 KB an edit and 2 KB in all.

use super::Edit;
use super::closest::{Block, Closest, Piece, closest, line_at, lines_of, same_but_blanks};
use super::show::{self, Visible, clip};
use crate::error::{ErrorCode, ToolError};
use crate::text::matcher::breaks::Unified;
use crate::text::matcher::locate::Source;

const MAX_EDIT: usize = 1024;
const MAX_ALL: usize = 2048;
/// Only the first failing edits get the full treatment, which passes over the file a few times.
const MAX_EXPLAINED: usize = 3;
/// Room for the line that names the edits which are not explained.
const TAIL: usize = 200;

/// An edit that cannot be applied.
pub(super) struct Failure<'a> {
    pub(super) index: usize,
    /// Its oldText, without a BOM.
    pub(super) old: &'a [u8],
    pub(super) reason: Reason,
}

/// Why it cannot.
pub(super) enum Reason {
    Empty,
    Missing,
    Ambiguous { count: usize, starts: Vec<usize> },
}

impl Reason {
    fn code(&self) -> ErrorCode {
        match self {
            Reason::Empty => ErrorCode::InvalidArguments,
            Reason::Missing => ErrorCode::NoMatch,
            Reason::Ambiguous { .. } => ErrorCode::Ambiguous,
        }
    }
}

/// The error for edits of which each could not be placed; there is at least one.
pub(super) fn failures(source: &Source, failures: &[Failure], batch: bool, path: &str) -> ToolError {
    let path = show::path(path);
    let explained = failures.len().min(MAX_EXPLAINED);
    let room = MAX_ALL - if failures.len() > explained { TAIL } else { 0 };
    let each = (room / explained).saturating_sub(1).min(MAX_EDIT);
    let mut parts: Vec<String> = Vec::new();
    for failure in &failures[..explained] {
        let name = |alone: &str| if batch { format!("edits[{}]", failure.index) } else { alone.to_string() };
        let part = match &failure.reason {
            Reason::Empty if batch => format!("edits[{}].oldText must not be empty in {path}", failure.index),
            Reason::Empty => format!("oldText must not be empty in {path}"),
            Reason::Missing => {
                let head = format!("Could not find {} in {path}", name("the exact text"));
                let room = each.saturating_sub(head.len());
                head + &missing(source, failure.old, room)
            }
            Reason::Ambiguous { count, starts } => {
                let head = format!("Found {count} occurrences of {} in {path}", name("the text"));
                head + &ambiguous(source.body, *count, starts)
            }
        };
        parts.push(clip(part, each));
    }
    if failures.len() > explained {
        parts.push(clip(others(&failures[explained..]), TAIL));
    }
    ToolError::new(failures[0].reason.code(), parts.join("\n"))
}

/// `Also failing: edits[3] (not found), edits[4] (2 occurrences)`
fn others(failures: &[Failure]) -> String {
    let mut text = String::from("Also failing: ");
    for (nth, failure) in failures.iter().enumerate() {
        if text.len() > TAIL - 60 {
            text.push_str(&format!(", and {} more", failures.len() - nth));
            break;
        }
        let why = match &failure.reason {
            Reason::Empty => "empty oldText".to_string(),
            Reason::Missing => "not found".to_string(),
            Reason::Ambiguous { count, .. } => format!("{count} occurrences"),
        };
        let comma = if nth > 0 { ", " } else { "" };
        text.push_str(&format!("{comma}edits[{}] ({why})", failure.index));
    }
    text
}

/// What is known about a text that is not in the file: what is wrong with it, or what comes closest.
fn missing(source: &Source, old: &[u8], room: usize) -> String {
    if source.body.is_empty() {
        return ": the file is empty; use write to fill it".to_string();
    }
    let hints = [numbered(source, old), escaped(source, old), padded(source, old), replaced(source, old)];
    let located: String =
        hints.iter().flatten().filter(|hint| hint.located).map(|hint| format!("\n{}", hint.text)).collect();
    if !located.is_empty() {
        return located;
    }
    let mut text: String = hints.iter().flatten().map(|hint| format!("\n{}", hint.text)).collect();
    let plain = if hints[0].is_some() { without_numbers(old) } else { None };
    let sought = plain.as_deref().unwrap_or(old);
    match closest(source.body, sought) {
        Some(Closest::Block(block)) => {
            let room = room.saturating_sub(text.len());
            text.push_str(&describe(&block, sought, room));
        }
        Some(Closest::Piece(piece)) => {
            let room = room.saturating_sub(text.len());
            text.push_str(&describe_piece(source.body, &piece, sought, room));
        }
        None => {
            text.push_str("\nNothing in the file is like it; read the file again and copy oldText from it")
        }
    }
    text
}

struct Hint {
    text: String,
    /// The text was found once the fault was taken away, so that nothing further need be said.
    located: bool,
}

/// Line numbers pasted from a listing.
fn numbered(source: &Source, old: &[u8]) -> Option<Hint> {
    let plain = without_numbers(old)?;
    let found = if plain.is_empty() { None } else { source.first(&plain) };
    if found.is_none() {
        // A file can have numbered lines of its own.
        let number = old.trim_ascii_start();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let own =
            number.get(..digits + 1).is_some_and(|own| memchr::memmem::find(source.body, own).is_some());
        if own {
            return None;
        }
    }
    let place = match found {
        Some(at) => format!(": without it the text is at line {}", line_at(source.body, at) + 1),
        None => String::new(),
    };
    let text = format!(
        "oldText begins with a line-number prefix{place}. Send oldText and newText without line numbers"
    );
    Some(Hint { text, located: found.is_some() })
}

/// `old` without the number that every line of it begins with, as `read`, `grep` and others print it.
fn without_numbers(old: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::with_capacity(old.len());
    for (nth, line) in old.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let number = line.trim_ascii_start();
        let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 || digits > 7 {
            // A blank line may have lost its number on the way.
            if nth > 0 && line.trim_ascii().is_empty() {
                plain.extend_from_slice(line);
                continue;
            }
            return None;
        }
        let rest = &number[digits..];
        let separators: [&[u8]; 6] = [b"\t", "→".as_bytes(), b": ", b":", b" | ", b"|"];
        let separator = separators.into_iter().find(|separator| rest.starts_with(separator))?;
        plain.extend_from_slice(&rest[separator.len()..]);
    }
    Some(plain)
}

/// `\n` as two characters.
fn escaped(source: &Source, old: &[u8]) -> Option<Hint> {
    let at = memchr::memmem::find(old, b"\\n")?;
    let mut plain = Vec::with_capacity(old.len());
    let mut rest = old;
    while let Some((&byte, after)) = rest.split_first() {
        let unescaped = match (byte, after.first()) {
            (b'\\', Some(b'n')) => Some(b'\n'),
            (b'\\', Some(b't')) => Some(b'\t'),
            (b'\\', Some(b'r')) => Some(b'\r'),
            (b'\\', Some(&quoted @ (b'"' | b'\'' | b'\\'))) => Some(quoted),
            _ => None,
        };
        plain.push(unescaped.unwrap_or(byte));
        rest = &after[usize::from(unescaped.is_some())..];
    }
    let named = r"oldText contains a literal \n (a backslash and an n)";
    if let Some(found) = source.first(&plain) {
        let line = line_at(source.body, found) + 1;
        let text = format!("{named} where line {line} of the file has a line break; send a real line break");
        return Some(Hint { text, located: true });
    }
    // Source code has \n of its own; only say so where this file does not.
    let own = memchr::memmem::find(source.body, &old[at..at + 2]).is_some();
    let text = format!("{named}; where a line break is meant, send a real one");
    (!own).then_some(Hint { text, located: false })
}

/// Breaks or blanks at the start or the end of the text that the file does not have there.
fn padded(source: &Source, old: &[u8]) -> Option<Hint> {
    let end = old.len() - old.iter().rev().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let text = &source.unified().text;
    if end > 0 && end < old.len() && text.ends_with(&Unified::new(&old[..end]).text) {
        let text = "oldText ends with a line break and the file has none there: it ends without a final newline. \
                    Leave the line break at the end of oldText out";
        return Some(Hint { text: text.to_string(), located: true });
    }
    let trimmed = old.trim_ascii();
    if trimmed.is_empty() || trimmed.len() == old.len() {
        return None;
    }
    let line = line_at(source.body, source.first(trimmed)?) + 1;
    // A short word is found anywhere and explains nothing.
    if trimmed.len() < 4 && lines_of(trimmed).len() < 2 {
        return None;
    }
    let text = format!(
        "Without the blanks or line breaks at its start and end, oldText begins at line {line} of the file"
    );
    Some(Hint { text, located: false })
}

/// The sign for what is no text, copied from what was shown of the file.
fn replaced(source: &Source, old: &[u8]) -> Option<Hint> {
    let shown = memchr::memmem::find(old, "\u{fffd}".as_bytes()).is_some();
    let text = "oldText contains U+FFFD, which stands for bytes of the file that are no text and cannot be \
                matched; leave them out";
    (shown && simdutf8::basic::from_utf8(source.body).is_err())
        .then(|| Hint { text: text.to_string(), located: false })
}

/// What is shown of a line, at most.
const SHOWN: usize = 160;

/// Where to begin to show a long line that differs from another, so that the difference is seen.
fn cut_before_difference(line: &[u8], other: &[u8]) -> usize {
    let same = line.iter().zip(other).take_while(|(a, b)| a == b).count();
    if same < SHOWN - 60 {
        return 0;
    }
    let at = same - 40;
    (at..same).find(|&at| starts_char(line, at)).unwrap_or(at)
}

fn starts_char(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

/// The closest block, with its line numbers, and where it first differs.
fn describe(block: &Block, old: &[u8], room: usize) -> String {
    let wanted = lines_of(old);
    let total = block.lines.len();
    let range = match total {
        1 => format!("line {}", block.first_line + 1),
        _ => format!("lines {}-{}", block.first_line + 1, block.first_line + total),
    };
    let same = |at: usize| wanted.get(at) == block.lines.get(at);
    let first_difference = (0..wanted.len()).find(|&at| !same(at));
    let blanks_only =
        wanted.len() == total && wanted.iter().zip(&block.lines).all(|(a, b)| same_but_blanks(a, b));
    let mut visible = Visible::default();

    let mut tail = String::new();
    if let Some(at) = first_difference {
        let expected = wanted[at];
        let what = if blanks_only { "It differs only in blanks. First" } else { "First difference" };
        let what = if blanks_only { format!("{what} at") } else { format!("{what}: at") };
        let number = block.first_line + at + 1;
        let cut = block.lines.get(at).map_or(0, |line| cut_before_difference(expected, line));
        let shown = visible.line_from(expected, cut, SHOWN);
        tail.push_str(&format!("\n{what} line {number}, where oldText has: {shown}"));
        if at >= total {
            tail.push_str(" (the file ends before it)");
        }
    }

    // The line of the first difference has to be among those shown, with a little before it.
    let shown_from = match first_difference {
        Some(at) if at < total => at.saturating_sub(2),
        _ => 0,
    };
    let heading = format!("\nThe closest block is {range}:");
    let advice = "\nCopy oldText from the file as it is, blanks included";
    // The legend is known only when all lines are shown; this is the longest there is.
    let mut left = room.saturating_sub(heading.len() + tail.len() + advice.len() + 140);
    let mut body = String::new();
    for (at, line) in block.lines.iter().enumerate().skip(shown_from) {
        let cut = match wanted.get(at) {
            Some(expected) if first_difference == Some(at) => cut_before_difference(line, expected),
            _ => 0,
        };
        let shown = format!("\n{}: {}", block.first_line + at + 1, visible.line_from(line, cut, SHOWN));
        if shown.len() > left || at - shown_from >= 12 {
            body.push_str(&format!("\n[{} more lines]", total - at));
            break;
        }
        left -= shown.len();
        body.push_str(&shown);
    }
    let legend = visible.legend();
    let space = if legend.is_empty() { "" } else { " " };
    format!("{heading}{body}{tail}{advice}{space}{legend}")
}

/// The closest piece of a long line, and where it first differs.
fn describe_piece(body: &[u8], piece: &Piece, old: &[u8], room: usize) -> String {
    const AROUND: usize = 40;
    let boundary =
        |at: usize| (at..piece.line.end).find(|&at| starts_char(body, at)).unwrap_or(piece.line.end);
    let start = boundary(piece.range.start.saturating_sub(AROUND).max(piece.line.start));
    let end = boundary((piece.range.end + AROUND).min(piece.line.end));
    let mut visible = Visible::default();
    let mut tail = String::new();
    // As much of the text as the file has there, to its first difference.
    let (around, sought) = (Unified::new(&body[start..end]), Unified::new(old));
    let (mut same, mut different, mut at) = (0, sought.text.len(), 0);
    while different - same > 1 {
        let middle = same + (different - same) / 2;
        match memchr::memmem::find(&around.text, &sought.text[..middle]) {
            Some(found) => (same, at) = (middle, found),
            None => different = middle,
        }
    }
    while same > 0 && !starts_char(&sought.text, same) {
        same -= 1;
    }
    let mut first = boundary(piece.range.start);
    if same >= 8 {
        first = start + around.original(at..at).start;
        let rest = start + around.original(at + same..at + same).start;
        let after = visible.line(&body[rest..end], 60);
        let from = (same.saturating_sub(24)..same).find(|&at| starts_char(&sought.text, at)).unwrap_or(same);
        let before = visible.line(&sought.text[from..same], 60);
        let expected = visible.line(&sought.text[same..], 60);
        tail = format!(
            "\nFirst difference: after {before} the file has: {after}\nwhere oldText has: {expected}"
        );
    }
    let (line, column) = (piece.number + 1, first - piece.line.start + 1);
    let heading = format!("\nThe closest text is in line {line} at byte {column}:\n");
    let advice = "\nCopy oldText from the file as it is, blanks included";
    let left = room.saturating_sub(heading.len() + tail.len() + advice.len() + 150).min(400);
    // Between marks where the line goes on.
    let mut shown = visible.line_from(&body[piece.line.start..end], start - piece.line.start, left);
    if end < piece.line.end && !shown.ends_with('…') {
        shown.push('…');
    }
    let legend = visible.legend();
    let space = if legend.is_empty() { "" } else { " " };
    format!("{heading}{shown}{tail}{advice}{space}{legend}")
}

/// Where an ambiguous text is, and what to do.
fn ambiguous(body: &[u8], count: usize, starts: &[usize]) -> String {
    let mut numbers: Vec<usize> = Vec::new();
    let (mut line, mut counted) = (0, 0);
    for &start in starts {
        line += memchr::memchr_iter(b'\n', &body[counted..start]).count();
        counted = start;
        if numbers.last() != Some(&(line + 1)) {
            numbers.push(line + 1);
        }
    }
    let word = if numbers.len() == 1 { "line" } else { "lines" };
    let more = if count > starts.len() { " and further" } else { "" };
    let list: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let mut text = format!(", at {word} {}{more}:", list.join(", "));
    let mut visible = Visible::default();
    let mut previewed = None;
    for &start in starts {
        let begin = memchr::memrchr(b'\n', &body[..start]).map_or(0, |lf| lf + 1);
        if previewed == Some(begin) {
            continue;
        }
        previewed = Some(begin);
        let number = line_at(body, begin) + 1;
        if numbers.iter().position(|&n| n == number).is_some_and(|nth| nth >= 4) {
            break;
        }
        let end = memchr::memchr(b'\n', &body[begin..]).map_or(body.len(), |lf| begin + lf);
        // A match far into a long line is shown where it is.
        let from = if start - begin > 60 { start - 20 } else { begin };
        let cut = if from > begin { "…" } else { "" };
        let line = body[from..end].strip_suffix(b"\r").unwrap_or(&body[from..end]);
        text.push_str(&format!("\n{number}: {cut}{}", visible.line(line, 100)));
    }
    let legend = visible.legend();
    let space = if legend.is_empty() { "" } else { " " };
    let advice = "oldText must be in the file exactly once: add surrounding lines to make it unique, or set \
                  replaceAll to replace every occurrence";
    format!("{text}\n{advice}{space}{legend}")
}

/// The error for pairs of edits that overlap, each with the position where they do.
pub(super) fn overlap(body: &[u8], pairs: &[(usize, usize, usize)], path: &str) -> ToolError {
    let path = show::path(path);
    let mut text = String::new();
    for (nth, (a, b, at)) in pairs.iter().enumerate() {
        let line = line_at(body, *at) + 1;
        let part = format!("edits[{a}] and edits[{b}] overlap in {path}, at line {line}\n");
        if nth > 0 && text.len() + part.len() > MAX_ALL - 200 {
            text.push_str(&format!("and {} more pairs\n", pairs.len() - nth));
            break;
        }
        text.push_str(&part);
    }
    text.push_str(
        "All edits match the original file, so no two may touch the same text: merge them into one edit",
    );
    ToolError::new(ErrorCode::Overlap, clip(text, MAX_ALL))
}

/// The error for edits that all match and change nothing.
pub(super) fn no_change(edits: &[Edit], path: &str) -> ToolError {
    let path = show::path(path);
    let why = if edits.iter().all(|edit| edit.old_text == edit.new_text) {
        "oldText and newText are the same"
    } else {
        "newText is what the file has there (a replaced text keeps the line endings of the file)"
    };
    ToolError::new(ErrorCode::NoChange, format!("No changes made to {path}: {why}"))
}
