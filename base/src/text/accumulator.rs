//! The output of a running command: two byte streams in, the end of their text out.
//!
//! ```text
//! stdout bytes ─▶ decoder ┐
//!                         ├─▶ (renderer) ─▶ tail: the last bytes, and the totals of everything
//! stderr bytes ─▶ decoder ┘
//! ```
//!
//! Each stream has a decoder of its own, so a character cut in two on one survives a line that the
//! other gets in between. Text is merged as it arrives. Whatever the flood, memory stays at about
//! twice the byte limit. Feeding byte by byte gives what one chunk gives.
//!
//! Not here: terminal sequences and rewritten lines, which belong between decoder and tail, and files
//! for output that is cut.

use memchr::memrchr;

use super::encoding::Decoder;
use super::truncate::{Limits, Totals, Truncated, tail_of};
use super::{lines, utf8};

/// Which of a command's two streams bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Collects a command's output and gives its end.
///
/// ```
/// use tackroom_base::text::accumulator::{Accumulator, Stream};
/// use tackroom_base::text::truncate::Limits;
/// let mut output = Accumulator::new(Limits { max_lines: 2, ..Limits::default() });
/// output.push(b"one\n\xF0\x9F", Stream::Stdout);
/// output.push(b"oops\n", Stream::Stderr);
/// output.push(b"\x99\x82\n", Stream::Stdout);
/// output.finish();
/// assert_eq!(output.snapshot().content, "oops\n🙂");
/// assert_eq!(output.snapshot().facts.total_lines, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Accumulator {
    limits: Limits,
    stdout: Decoder,
    stderr: Decoder,
    tail: Tail,
}

impl Accumulator {
    /// Nothing yet. Reserves no memory.
    pub fn new(limits: Limits) -> Self {
        // What `tail_of` asks for.
        let keep = limits.max_bytes.saturating_add(2);
        Accumulator {
            limits,
            stdout: Decoder::default(),
            stderr: Decoder::default(),
            tail: Tail { keep, ..Tail::default() },
        }
    }

    /// Takes the next bytes of a stream, cut anywhere.
    // A caller that is built for size would have it built so, too.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8], stream: Stream) {
        let Accumulator { stdout, stderr, tail, .. } = self;
        let decoder = match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        decoder.push_with(bytes, |text| tail.push(text));
    }

    /// Ends both streams: a character that lacks its rest becomes one U+FFFD. A second call adds nothing.
    pub fn finish(&mut self) {
        let Accumulator { stdout, stderr, tail, .. } = self;
        stdout.finish_with(|text| tail.push(text));
        stderr.finish_with(|text| tail.push(text));
    }

    /// The end of the output so far, cut as [`super::truncate::tail`] would cut all of it.
    ///
    /// Costs at most a walk over what is kept; what is pushed later does not change it.
    pub fn snapshot(&self) -> Truncated<'_> {
        tail_of(&self.tail.kept, self.tail.totals(), self.limits)
    }

    /// Whether [`Accumulator::snapshot`] shows less than all there is.
    pub fn is_cut(&self) -> bool {
        let totals = self.tail.totals();
        totals.lines > self.limits.max_lines as u64 || totals.bytes > self.limits.max_bytes as u64
    }

    /// Whether there is no text so far. Bytes that are the beginning of a character are none yet.
    pub fn is_empty(&self) -> bool {
        self.tail.bytes == 0
    }
}

/// The last `keep` bytes of a text, or some more, and what is to be known of all of it.
#[derive(Clone, Debug, Default)]
struct Tail {
    keep: usize,
    /// Not longer than twice `keep`, or `keep` and a character.
    kept: String,
    bytes: u64,
    breaks: u64,
    /// Bytes after the last LF.
    open_line: u64,
    /// Bytes of the line that the last LF ended.
    closed_line: u64,
}

impl Tail {
    fn push(&mut self, text: &str) {
        self.count(text.as_bytes());
        // Moves at most `keep` bytes, once for every `keep` bytes that come.
        if text.len() >= self.keep {
            self.kept.clear();
        } else if self.kept.len() + text.len() > self.keep.saturating_mul(2) {
            let surplus = self.kept.len() + text.len() - self.keep;
            self.kept.drain(..utf8::floor_boundary(self.kept.as_bytes(), surplus));
        }
        let surplus = text.len().saturating_sub(self.keep);
        let text = &text[utf8::floor_boundary(text.as_bytes(), surplus)..];
        // Doubling, as String does, but not past what is ever kept.
        let needed = self.kept.len() + text.len();
        if needed > self.kept.capacity() {
            let capacity = needed.max((needed * 2).min(self.keep.saturating_mul(2)));
            self.kept.reserve_exact(capacity - self.kept.len());
        }
        self.kept.push_str(text);
    }

    fn count(&mut self, text: &[u8]) {
        self.bytes += text.len() as u64;
        let Some(last) = memrchr(b'\n', text) else {
            self.open_line += text.len() as u64;
            return;
        };
        self.closed_line = match memrchr(b'\n', &text[..last]) {
            Some(before) => (last - before - 1) as u64,
            None => self.open_line + last as u64,
        };
        self.open_line = (text.len() - last - 1) as u64;
        self.breaks += lines::breaks(text) as u64;
    }

    fn totals(&self) -> Totals {
        let open = self.open_line > 0;
        Totals {
            lines: self.breaks + u64::from(open),
            bytes: self.bytes,
            last_line: if open { self.open_line } else { self.closed_line },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max_lines: usize, max_bytes: usize) -> Limits {
        Limits { max_lines, max_bytes }
    }

    #[test]
    fn a_character_survives_the_other_stream() {
        let mut output = Accumulator::new(Limits::default());
        output.push(b"\xF0", Stream::Stdout);
        assert!(output.is_empty());
        output.push(b"stderr\n", Stream::Stderr);
        output.push(b"\x9F\x99\x82", Stream::Stdout);
        output.finish();
        assert_eq!(output.snapshot().content, "stderr\n🙂");
    }

    #[test]
    fn a_stream_that_ends_inside_a_character() {
        let mut output = Accumulator::new(Limits::default());
        output.push(b"\xE2\x82", Stream::Stdout);
        output.finish();
        output.finish();
        assert_eq!(output.snapshot().content, "\u{FFFD}");
        assert_eq!(output.snapshot().facts.total_bytes, 3);
    }

    /// T01
    #[test]
    fn byte_by_byte() {
        let mut output = Accumulator::new(Limits::default());
        for byte in "héllo\n😀".bytes() {
            output.push(&[byte], Stream::Stdout);
        }
        assert_eq!((output.snapshot().content, output.snapshot().facts.total_lines), ("héllo\n😀", 2));
    }

    #[test]
    fn two_and_a_half_thousand_lines() {
        let mut output = Accumulator::new(Limits::default());
        for n in 1..=2500 {
            output.push(format!("{n}\n").as_bytes(), Stream::Stdout);
        }
        let cut = output.snapshot();
        assert!(cut.content.starts_with("501\n") && cut.content.ends_with("\n2500"));
        assert_eq!((cut.facts.output_lines, cut.facts.total_lines), (2000, 2500));
    }

    #[test]
    fn the_size_of_a_line_that_is_not_kept() {
        for end in ["", "\n"] {
            let mut output = Accumulator::new(limits(10, 100));
            output.push(b"first\n", Stream::Stdout);
            for _ in 0..1000 {
                output.push("é".as_bytes(), Stream::Stdout);
            }
            output.push(end.as_bytes(), Stream::Stdout);
            let facts = output.snapshot().facts;
            assert_eq!((facts.last_line_partial, facts.last_line_bytes), (true, Some(2000)));
            assert_eq!((facts.output_bytes, facts.total_lines), (100, 2));
        }
    }

    #[test]
    fn memory_stays_bounded() {
        let mut output = Accumulator::new(Limits::default());
        for size in [1, 4096, 65_536, 1 << 20, 51_201, 51_202, 51_203, 100_000] {
            let chunk = "€uro\n".repeat(size / 7 + 1);
            for _ in 0..20 {
                output.push(&chunk.as_bytes()[..size], Stream::Stdout);
                assert!(output.tail.kept.len() <= 2 * (51_200 + 2) + 4);
            }
        }
        assert!(output.tail.kept.capacity() <= 2 * (51_200 + 2) + 4);
    }
}
