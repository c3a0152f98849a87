//! The numbered form of a diff, for people.
//!
//! Each line is a sign, the line's number and its text: `-` with the old number, `+` and context with
//! the new one, as those are the lines that a reader finds in the file now. Where lines are left out,
//! `...` stands in the column of the text. A long diff is cut, as nobody reads all of it.

use std::fmt::Write as _;

use super::changes::{Change, lines};
use super::patch::hunks;

/// Further lines are only counted.
const MAX_LINES: usize = 2000;

/// The numbered form; empty where there are no changes, else without a final LF.
pub(super) fn numbered(before: &[u8], after: &[u8], changes: &[Change], context: usize) -> String {
    let Some(last) = changes.last() else { return String::new() };
    // The largest number that can be shown: no side goes further than its context.
    let hunks = hunks(before, changes, context);
    let trail = hunks.last().map_or(0, |hunk| hunk.trail.1);
    let largest = (last.old.line + last.old.count).max(last.new.line + last.new.count + trail);
    let width = largest.max(1).to_string().len();

    let mut out = Listing { text: String::new(), width, lines: 0, gap: false };
    let mut shown_to = 0;
    for hunk in &hunks {
        let first = &hunk.changes[0];
        out.gap = hunk.lead.0.start > shown_to;
        let mut number = first.new.line - hunk.lead.1;
        number = out.block(' ', number, &before[hunk.lead.0.clone()]);
        let mut from = first.old.bytes.start;
        for change in hunk.changes {
            out.block(' ', number, &before[from..change.old.bytes.start]);
            out.block('-', change.old.line, &before[change.old.bytes.clone()]);
            number = out.block('+', change.new.line, &after[change.new.bytes.clone()]);
            from = change.old.bytes.end;
        }
        out.block(' ', number, &before[hunk.trail.0.clone()]);
        shown_to = hunk.trail.0.end;
    }
    if out.lines > MAX_LINES {
        out.skipped(&format!(" {} more lines", out.lines - MAX_LINES));
    } else if shown_to < before.len() {
        out.skipped("");
    }
    out.text.pop();
    out.text
}

struct Listing {
    text: String,
    width: usize,
    /// Of the contents, those that are not shown too.
    lines: usize,
    /// Lines are left out before the next one.
    gap: bool,
}

impl Listing {
    /// Shows lines from the 0-indexed `number` on; gives the number after them.
    fn block(&mut self, sign: char, number: usize, bytes: &[u8]) -> usize {
        let width = self.width;
        let mut at = number;
        for line in lines(bytes) {
            at += 1;
            self.lines += 1;
            if self.lines > MAX_LINES {
                continue;
            }
            if std::mem::take(&mut self.gap) {
                self.skipped("");
            }
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let _ = writeln!(self.text, "{sign}{at:>width$} {}", String::from_utf8_lossy(line));
        }
        at
    }

    fn skipped(&mut self, what: &str) {
        let _ = writeln!(self.text, " {:width$} ...{what}", "", width = self.width);
    }
}
