//! The block of a file that is closest to a text which is not in it.
//!
//! Lines are compared by what is in them besides blanks. Each line of the text that the file has votes
//! for the block that would begin at the right distance before it, rare and long lines the most. Where
//! no line is the same, the longest line of the text looks for the line that shares the most trigrams;
//! in a very long line (minified, or of a file with CR alone) the whole text looks for the piece that
//! does. The work is one pass over the file and a bounded number of votes: no clock, no backtracking.

use std::cmp::Reverse;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::show::is_odd_space;
use crate::table::sorted;

/// At most so many lines of the text vote: the longest ones.
const MAX_VOTERS: usize = 64;
/// At most so many lines of the file count for one voter.
const MAX_PLACES: usize = 256;
/// At most so many bytes of a line are looked at for its trigrams.
const MAX_ANCHOR: usize = 512;
const TRIGRAM_BITS: usize = 1 << 14;
/// Longer lines are looked at piece by piece.
const LONG_LINE: usize = 400;
/// The least likeness of a line and of a piece of one, in thousandths.
const LIKE_LINE: usize = 400;
const LIKE_PIECE: usize = 500;

/// What comes closest.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Closest<'a> {
    Block(Block<'a>),
    Piece(Piece),
}

/// A run of whole lines in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// The 0-indexed first line.
    pub(super) first_line: usize,
    /// The lines, without their endings; at most as many as the text has.
    pub(super) lines: Vec<&'a [u8]>,
}

/// A piece of one long line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The 0-indexed line, and where in the file it lies.
    pub(super) number: usize,
    pub(super) line: Range<usize>,
    /// Where in the file the piece lies.
    pub(super) range: Range<usize>,
}

/// The closest to `old`, if anything in `body` is like it.
pub(super) fn closest<'a>(body: &'a [u8], old: &[u8]) -> Option<Closest<'a>> {
    let wanted = lines_of(old);
    let block = |first_line| {
        let lines = lines(body).skip(first_line).take(wanted.len()).collect();
        Closest::Block(Block { first_line, lines })
    };
    match by_votes(body, &wanted) {
        Some(first_line) => Some(block(first_line)),
        None => match by_trigrams(body, &wanted)? {
            Like::Line(first_line) => Some(block(first_line)),
            Like::Piece(piece) => Some(Closest::Piece(piece)),
        },
    }
}

/// Whether two lines differ in nothing but blanks.
pub(super) fn same_but_blanks(a: &[u8], b: &[u8]) -> bool {
    squeezed(a).eq(squeezed(b))
}

/// The lines of a text, without their endings; a final break opens no further one.
pub(super) fn lines_of(text: &[u8]) -> Vec<&[u8]> {
    lines(text).collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(end) = memchr(b'\n', rest) else { return Some(std::mem::take(&mut rest)) };
        let line = &rest[..end];
        rest = &rest[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// The bytes of a line that are not blanks.
fn squeezed(line: &[u8]) -> impl Iterator<Item = u8> + '_ {
    squeezed_at(line).map(|(_, byte)| byte)
}

/// The bytes of a line that are not blanks, and where they are.
fn squeezed_at(line: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = &line[at..];
            let &byte = rest.first()?;
            if matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
                at += 1;
                continue;
            }
            // All odd spaces begin with one of these bytes in UTF-8.
            if matches!(byte, 0xc2 | 0xe1 | 0xe2 | 0xe3 | 0xef) {
                let length = if byte == 0xc2 { 2 } else { 3 };
                let odd = rest
                    .get(..length)
                    .and_then(|c| str::from_utf8(c).ok())
                    .is_some_and(|s| s.chars().all(is_odd_space));
                if odd {
                    at += length;
                    continue;
                }
            }
            at += 1;
            return Some((at - 1, byte));
        }
    })
}

/// A hash of what is in a line besides blanks (FNV-1a), and how much that is.
fn key(line: &[u8]) -> (u64, usize) {
    squeezed(line).fold((0xcbf2_9ce4_8422_2325, 0), |(hash, length), byte| {
        ((hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3), length + 1)
    })
}

struct Voter {
    hash: u64,
    /// Its places in the text, the first few.
    in_text: Vec<usize>,
    length: usize,
    /// Its lines in the file, the first few.
    in_file: Vec<usize>,
    count: usize,
}

fn by_votes(body: &[u8], wanted: &[&[u8]]) -> Option<usize> {
    let keys = wanted.iter().enumerate().map(|(index, line)| {
        let (hash, length) = key(line);
        (hash, index, length)
    });
    let keys = sorted(keys.filter(|(_, _, length)| *length > 0).collect());
    let mut voters: Vec<Voter> = keys
        .chunk_by(|a, b| a.0 == b.0)
        .map(|same| Voter {
            hash: same[0].0,
            in_text: same.iter().take(4).map(|(_, index, _)| *index).collect(),
            length: same[0].2,
            in_file: Vec::new(),
            count: 0,
        })
        .collect();
    if voters.len() > MAX_VOTERS {
        let rank = |voter: &Voter| (voter.length, voter.in_text[0]);
        let ranks = sorted(voters.iter().map(rank).collect());
        let least = ranks[ranks.len() - MAX_VOTERS];
        voters.retain(|voter| rank(voter) >= least);
    }
    for (number, line) in lines(body).enumerate() {
        let (hash, _) = key(line);
        if let Ok(at) = voters.binary_search_by_key(&hash, |voter| voter.hash) {
            let voter = &mut voters[at];
            voter.count += 1;
            if voter.in_file.len() < MAX_PLACES {
                voter.in_file.push(number);
            }
        }
    }
    let mut votes: Vec<(usize, u64)> = Vec::new();
    for voter in voters {
        let weight = voter.length.min(64) as u64 * 4096 / voter.count.clamp(1, 4096) as u64;
        for &place in &voter.in_file {
            for &index in &voter.in_text {
                votes.push((place.saturating_sub(index), weight.max(1)));
            }
        }
    }
    let votes = sorted(votes);
    let blocks = votes.chunk_by(|a, b| a.0 == b.0);
    let blocks = blocks.map(|same| (same.iter().map(|(_, weight)| weight).sum::<u64>(), Reverse(same[0].0)));
    blocks.max().map(|(_, Reverse(line))| line)
}

enum Like {
    /// A block that begins with this line.
    Line(usize),
    Piece(Piece),
}

fn by_trigrams(body: &[u8], wanted: &[&[u8]]) -> Option<Like> {
    let (index, anchor) = wanted.iter().enumerate().max_by_key(|(_, line)| key(line).1)?;
    let anchor = Trigrams::new(squeezed(anchor));
    let whole = Trigrams::new(wanted.iter().flat_map(|line| squeezed(line)));
    if anchor.size == 0 {
        return None;
    }
    let mut best: Option<(usize, Like)> = None;
    let mut better = |score: usize, like: Like| {
        if best.as_ref().is_none_or(|(before, _)| score > *before) {
            best = Some((score, like));
        }
    };
    let mut start = 0;
    for (number, line) in lines(body).enumerate() {
        if line.len() > LONG_LINE {
            let (score, piece) = whole.closest_piece(line);
            if score >= LIKE_PIECE {
                let range = start + piece.start..start + piece.end;
                better(score, Like::Piece(Piece { number, line: start..start + line.len(), range }));
            }
        } else {
            let (mut hits, mut all) = (0, 0);
            for (trigram, _) in trigrams(squeezed_at(line)) {
                hits += usize::from(anchor.has(trigram));
                all += 1;
            }
            // Dice's coefficient, in thousandths.
            let score = 2000 * hits.min(anchor.size) / (all + anchor.size);
            if score >= LIKE_LINE {
                better(score, Like::Line(number.saturating_sub(index)));
            }
        }
        start = next_line(body, start + line.len());
    }
    best.map(|(_, like)| like)
}

/// Where the next line begins after one whose text ends at `at`.
fn next_line(body: &[u8], at: usize) -> usize {
    memchr(b'\n', &body[at..]).map_or(body.len(), |lf| at + lf + 1)
}

/// The trigrams of the beginning of a text.
struct Trigrams {
    known: Vec<u64>,
    size: usize,
}

impl Trigrams {
    fn new(bytes: impl Iterator<Item = u8>) -> Self {
        let mut known = vec![0u64; TRIGRAM_BITS / 64];
        let mut size = 0;
        for (trigram, _) in trigrams(bytes.take(MAX_ANCHOR).map(|byte| (0, byte))) {
            known[trigram / 64] |= 1 << (trigram % 64);
            size += 1;
        }
        Trigrams { known, size }
    }

    fn has(&self, trigram: usize) -> bool {
        self.known[trigram / 64] >> (trigram % 64) & 1 != 0
    }

    /// The piece of a line, with as many trigrams as there are here, that has the most of them; and how
    /// many, in thousandths.
    fn closest_piece(&self, line: &[u8]) -> (usize, Range<usize>) {
        let mut window = vec![(false, 0); self.size];
        let (mut hits, mut best, mut found) = (0, 0, 0..0);
        for (nth, (trigram, at)) in trigrams(squeezed_at(line)).enumerate() {
            let slot = &mut window[nth % self.size];
            hits -= usize::from(slot.0);
            *slot = (self.has(trigram), at);
            hits += usize::from(slot.0);
            if hits > best {
                best = hits;
                // The oldest of the window is the next to go.
                let (_, first) = if nth < self.size { window[0] } else { window[(nth + 1) % self.size] };
                found = first.saturating_sub(2)..at + 1;
            }
        }
        (1000 * best / self.size, found)
    }
}

/// Hashes of every three bytes, ASCII letters alike in both cases, and where the last of them is.
fn trigrams(bytes: impl Iterator<Item = (usize, u8)>) -> impl Iterator<Item = (usize, usize)> {
    let mut last = 0u32;
    bytes.enumerate().filter_map(move |(nth, (at, byte))| {
        last = (last << 8 | u32::from(byte.to_ascii_lowercase())) & 0x00ff_ffff;
        (nth >= 2).then_some((last.wrapping_mul(0x9e37_79b1) as usize >> 8 & (TRIGRAM_BITS - 1), at))
    })
}

/// The 0-indexed line that a position is in.
pub(super) fn line_at(body: &[u8], at: usize) -> usize {
    memchr_iter(b'\n', &body[..at]).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(body: &str, old: &str) -> Option<usize> {
        match closest(body.as_bytes(), old.as_bytes())? {
            Closest::Block(block) => Some(block.first_line),
            Closest::Piece(piece) => panic!("{piece:?}"),
        }
    }

    #[test]
    fn blanks_do_not_matter() {
        assert!(same_but_blanks(b"\tif x:", b"    if  x:"));
        assert!(same_but_blanks("a\u{a0}b\u{3000}".as_bytes(), b"a b"));
        assert!(!same_but_blanks("é".as_bytes(), b"e"));
        let block = closest(b"x\n\tif x:\n\t\treturn 1\n", b"    if x:\n        return 1").unwrap();
        assert_eq!(block, Closest::Block(Block { first_line: 1, lines: vec![b"\tif x:", b"\t\treturn 1"] }));
    }

    #[test]
    fn rare_lines_decide() {
        let body = "}\n}\n}\nfn rare() {\n    body\n}\n}\n";
        assert_eq!(first_line(body, "fn rare() {\n    other\n}\n"), Some(3));
        assert_eq!(first_line(body, "    nothing like it\n    body\n}\n"), Some(3));
    }

    #[test]
    fn a_similar_line_is_found() {
        assert_eq!(first_line("a\nlet total = sum(items);\nb\n", "let total = sum(item);"), Some(1));
        assert_eq!(first_line("a\nb\n", "entirely different"), None);
        assert_eq!(first_line("", "x"), None);
        assert_eq!(first_line("abc\n", "\n  \n"), None);
    }

    #[test]
    fn a_piece_of_a_long_line_is_found() {
        let noise: String = (0..2000).map(|n| format!("v{n}=q({n});")).collect();
        let body = format!("head\r\n{noise}function add(a, b){{return a+b}}{noise}\n");
        for old in ["function add(a,b) {return a + b;}", "function add(a,b) {\n  return a + b\n}\n"] {
            let Some(Closest::Piece(piece)) = closest(body.as_bytes(), old.as_bytes()) else { panic!() };
            assert_eq!((piece.number, piece.line), (1, 6..body.len() - 1));
            let shown = &body[piece.range];
            assert!(shown.contains("tion add(a, b){return a+b"), "{shown}");
        }
        assert_eq!(closest(noise.as_bytes(), b"nothing of the kind"), None);
    }
}
