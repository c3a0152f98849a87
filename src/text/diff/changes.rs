//! Which lines changed.

use std::collections::HashMap;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::super::edit::Replacement;
use super::few::few_changes;

/// A region with more lines than this, both sides together, is only searched for a few differences.
const MAX_SEARCHED: usize = 200_000;
/// So many; where there are more, such a region is replaced as a whole.
const FEW: usize = 200;

/// A run of whole lines on one side of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Side {
    /// The 0-indexed first line; where there are no lines, the line they would come before.
    pub(super) line: usize,
    /// How many lines.
    pub(super) count: usize,
    /// Their bytes, endings included.
    pub(super) bytes: Range<usize>,
}

/// Lines of the old content and what stands in their place. Changes are ascending; between two of them
/// there is at least one line that both contents have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: Side,
    pub(super) new: Side,
}

/// The lines of some bytes, each with its LF if it has one.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (line, after) = rest.split_at(memchr(b'\n', rest).map_or(rest.len(), |lf| lf + 1));
        rest = after;
        Some(line)
    })
}

fn starts_line(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes[at - 1] == b'\n'
}

pub(super) fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at]).map_or(0, |lf| lf + 1)
}

/// The end of the line that `at` is in, past its LF.
pub(super) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |lf| at + lf + 1)
}

pub(super) fn from_replacements(before: &[u8], after: &[u8], replacements: &[Replacement]) -> Vec<Change> {
    let mut collector = Collector::new(before, after);
    // Where an old position is in the new content: this far on (wrapping, as it may be back).
    let mut shift = 0usize;
    let mut rest = replacements.iter().peekable();
    while let Some(first) = rest.next() {
        let old_start = line_start(before, first.range.start);
        let new_start = old_start.wrapping_add(shift);
        let mut old_end = line_end(before, first.range.end);
        shift = shift.wrapping_add(first.text.len()).wrapping_sub(first.range.len());
        while let Some(next) = rest.next_if(|next| {
            // Where one begins at the end of the window, a line may go on from one to the other.
            let goes_on =
                || !(starts_line(before, old_end) && starts_line(after, old_end.wrapping_add(shift)));
            next.range.start < old_end || (next.range.start == old_end && goes_on())
        }) {
            // Looked up once a line, which may be very long and have very many.
            if next.range.end >= old_end {
                old_end = line_end(before, next.range.end);
            }
            shift = shift.wrapping_add(next.text.len()).wrapping_sub(next.range.len());
        }
        collector.window(old_start..old_end, new_start..old_end.wrapping_add(shift));
    }
    collector.changes
}

pub(super) fn between(before: &[u8], after: &[u8]) -> Vec<Change> {
    let mut collector = Collector::new(before, after);
    collector.window(0..before.len(), 0..after.len());
    collector.changes
}

/// Collects the changes of windows, counting lines on the way.
struct Collector<'a> {
    before: &'a [u8],
    after: &'a [u8],
    changes: Vec<Change>,
    /// The positions that lines were counted up to, and their lines.
    old: (usize, usize),
    new: (usize, usize),
}

impl<'a> Collector<'a> {
    fn new(before: &'a [u8], after: &'a [u8]) -> Self {
        Collector { before, after, changes: Vec::new(), old: (0, 0), new: (0, 0) }
    }

    /// Adds the changes between two ranges of whole lines. What lies before both, from the last window
    /// on, is the same in both contents.
    fn window(&mut self, old: Range<usize>, new: Range<usize>) {
        let (old, new) = trim(self.before, self.after, old, new);
        if old.is_empty() && new.is_empty() {
            return;
        }
        // All that was skipped is the same on both sides, so that it is counted once.
        let skipped = memchr_iter(b'\n', &self.before[self.old.0..old.start]).count();
        self.old = (old.start, self.old.1 + skipped);
        self.new = (new.start, self.new.1 + skipped);

        let old_lines: Vec<&[u8]> = lines(&self.before[old]).collect();
        let new_lines: Vec<&[u8]> = lines(&self.after[new]).collect();
        let (mut old_at, mut new_at) = (0, 0);
        for (same, removed, added) in compare(&old_lines, &new_lines) {
            let old = advance(&mut self.old, &old_lines, &mut old_at, same, removed);
            let new = advance(&mut self.new, &new_lines, &mut new_at, same, added);
            self.push(Change { old, new });
        }
    }

    fn push(&mut self, change: Change) {
        match self.changes.last_mut() {
            // One block of lines, however many spans it was made of.
            Some(last)
                if last.old.bytes.end == change.old.bytes.start
                    && last.new.bytes.end == change.new.bytes.start =>
            {
                last.old.count += change.old.count;
                last.old.bytes.end = change.old.bytes.end;
                last.new.count += change.new.count;
                last.new.bytes.end = change.new.bytes.end;
            }
            _ => self.changes.push(change),
        }
    }
}

/// Steps over `same` lines and takes the next `count` of them.
fn advance(
    (byte, line): &mut (usize, usize),
    lines: &[&[u8]],
    at: &mut usize,
    same: usize,
    count: usize,
) -> Side {
    let size = |range: Range<usize>| lines[range].iter().map(|line| line.len()).sum::<usize>();
    let start = *byte + size(*at..*at + same);
    let end = start + size(*at + same..*at + same + count);
    let side = Side { line: *line + same, count, bytes: start..end };
    *at += same + count;
    (*byte, *line) = (end, side.line + count);
    side
}

/// Takes away the lines that both ranges begin with and those that both end with.
fn trim(before: &[u8], after: &[u8], old: Range<usize>, new: Range<usize>) -> (Range<usize>, Range<usize>) {
    let (a, b) = (&before[old.clone()], &after[new.clone()]);
    let prefix = common_prefix(a, b);
    // Equal to the end on one side only: that last line may go on in the other.
    let whole = prefix == a.len() && prefix == b.len();
    let prefix = if whole { prefix } else { line_start(a, prefix) };
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let mut suffix = common_suffix(a, b);
    let starts_line = |bytes: &[u8]| suffix == bytes.len() || bytes[bytes.len() - suffix - 1] == b'\n';
    if !(starts_line(a) && starts_line(b)) {
        suffix -= line_end(&a[a.len() - suffix..], 0);
    }
    (old.start + prefix..old.end - suffix, new.start + prefix..new.end - suffix)
}

/// Comparing chunks lets the machine compare many bytes at a time.
const CHUNK: usize = 256;

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let from = chunks * CHUNK;
    from + a[from..].iter().zip(&b[from..]).take_while(|(a, b)| a == b).count()
}

fn common_suffix(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let from = chunks * CHUNK;
    let (a, b) = (&a[..a.len() - from], &b[..b.len() - from]);
    from + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// What turns one list of lines into another: steps of (same, removed, added) lines, in this order.
fn compare(old: &[&[u8]], new: &[&[u8]]) -> Vec<(usize, usize, usize)> {
    let whole = vec![(0, old.len(), new.len())];
    if old.is_empty() || new.is_empty() {
        return whole;
    }
    let large = old.len() + new.len() > MAX_SEARCHED;
    let (old, new) = intern(old, new);
    if large {
        return few_changes(&old, &new, FEW).unwrap_or(whole);
    }
    let mut steps = Vec::new();
    let mut same = 0;
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (removed, added) = match op {
            DiffOp::Equal { len, .. } => {
                same += len;
                continue;
            }
            DiffOp::Delete { old_len, .. } => (old_len, 0),
            DiffOp::Insert { new_len, .. } => (0, new_len),
            DiffOp::Replace { old_len, new_len, .. } => (old_len, new_len),
        };
        steps.push((std::mem::take(&mut same), removed, added));
    }
    steps
}

/// Numbers in the place of lines: each line is hashed once, and comparing two is cheap.
fn intern<'a>(old: &[&'a [u8]], new: &[&'a [u8]]) -> (Vec<u32>, Vec<u32>) {
    let mut ids: HashMap<&'a [u8], u32> = HashMap::with_capacity(old.len());
    let mut id = |line: &&'a [u8]| {
        let next = ids.len() as u32;
        *ids.entry(line).or_insert(next)
    };
    (old.iter().map(&mut id).collect(), new.iter().map(&mut id).collect())
}
