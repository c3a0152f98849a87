//! The numbered form of a diff, for people.
//!
//! Each line is a sign, the line's number and its text: `-` with the old number, `+` and context with
//! the new one, as those are the lines that a reader finds in the file now. Where lines are left out,
//! `...` stands in the column of the text.

use std::fmt::Write as _;

use super::changes::{Change, lines};
use super::patch::hunks;

/// The numbered form; empty where there are no changes, else without a final LF.
pub(super) fn numbered(before: &[u8], after: &[u8], changes: &[Change], context: usize) -> String {
    let Some(last) = changes.last() else { return String::new() };
    // The largest number that can be shown: no side goes further than its context.
    let hunks = hunks(before, changes, context);
    let trail = hunks.last().map_or(0, |hunk| hunk.trail.1);
    let largest = (last.old.line + last.old.count).max(last.new.line + last.new.count + trail);
    let width = largest.max(1).to_string().len();

    let mut out = String::new();
    let mut shown_to = 0;
    for hunk in &hunks {
        let first = &hunk.changes[0];
        if hunk.lead.0.start > shown_to {
            skipped(&mut out, width);
        }
        let mut number = first.new.line - hunk.lead.1;
        number = block(&mut out, ' ', number, width, &before[hunk.lead.0.clone()]);
        let mut from = first.old.bytes.start;
        for change in hunk.changes {
            block(&mut out, ' ', number, width, &before[from..change.old.bytes.start]);
            block(&mut out, '-', change.old.line, width, &before[change.old.bytes.clone()]);
            number = block(&mut out, '+', change.new.line, width, &after[change.new.bytes.clone()]);
            from = change.old.bytes.end;
        }
        block(&mut out, ' ', number, width, &before[hunk.trail.0.clone()]);
        shown_to = hunk.trail.0.end;
    }
    if shown_to < before.len() {
        skipped(&mut out, width);
    }
    out.pop();
    out
}

/// Shows lines from the 0-indexed `number` on; gives the number after them.
fn block(out: &mut String, sign: char, mut number: usize, width: usize, bytes: &[u8]) -> usize {
    for line in lines(bytes) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        number += 1;
        let _ = writeln!(out, "{sign}{number:>width$} {}", String::from_utf8_lossy(line));
    }
    number
}

fn skipped(out: &mut String, width: usize) {
    let _ = writeln!(out, " {:width$} ...", "");
}
