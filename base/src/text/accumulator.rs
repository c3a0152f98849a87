//! The output of a running command: two byte streams in, the end of their text out.
//!
//! ```text
//! stdout bytes ─▶ decoder ┐
//!                         ├─▶ renderer ─▶ redactor ─▶ tail: the last bytes, and the totals of everything
//! stderr bytes ─▶ decoder ┘
//! ```
//!
//! Each stream has a decoder and escape sequences of its own, so a character or a sequence that is cut in two on one
//! survives a line that the other gets in between. Text is merged as it arrives. Whatever the flood, memory stays at
//! about twice the byte limit. Feeding byte by byte gives what one chunk gives.
//!
//! Not here: files for output that is cut, see [`super::redact::RawRedactor`] for what goes into them.

use super::census::breaks_of_plain;
use super::encoding::Decoder;
use super::redact::{Redactor, Stencil};
use super::tail::Tail;
use super::terminal::{Renderer, Sink};
pub use super::terminal::{Stream, Terminal};
use super::truncate::{Limits, Totals, Truncated, Truncation};

/// Bytes that are looked at together, while they are in the cache.
const BLOCK: usize = 16 * 1024;

/// Collects a command's output and gives its end.
///
/// ```
/// use tackroom_base::text::accumulator::{Accumulator, Stream};
/// use tackroom_base::text::truncate::Limits;
/// let mut output = Accumulator::new(Limits { max_lines: 2, ..Limits::default() });
/// output.push(b"one\n10%\r\x1B[32m100% \xF0\x9F", Stream::Stdout);
/// output.push(b"oops\n", Stream::Stderr);
/// output.push(b"\x99\x82\n", Stream::Stdout);
/// output.finish();
/// assert_eq!(output.snapshot().content, "100% oops\n🙂");
/// assert_eq!(output.snapshot().facts.total_lines, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Accumulator {
    stdout: Decoder,
    stderr: Decoder,
    renderer: Option<Renderer>,
    shown: Shown,
}

/// The end of the output at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// What is shown.
    pub content: String,
    /// What was cut.
    pub facts: Truncation,
}

impl PartialEq<Truncated<'_>> for Snapshot {
    fn eq(&self, other: &Truncated<'_>) -> bool {
        self.content == other.content && self.facts == other.facts
    }
}

impl Accumulator {
    /// Nothing yet; shows what a terminal would. Reserves no memory.
    pub fn new(limits: Limits) -> Self {
        Self::with(limits, Terminal::Render)
    }

    /// Nothing yet, with a choice of what becomes of what is meant for a terminal.
    pub fn with(limits: Limits, terminal: Terminal) -> Self {
        Accumulator {
            stdout: Decoder::default(),
            stderr: Decoder::default(),
            renderer: (terminal == Terminal::Render).then(Renderer::default),
            shown: Shown { tail: Tail::new(limits), stencil: None },
        }
    }

    /// Keeps secrets out of what is shown: call it before anything is pushed.
    ///
    /// They are looked for in what is shown, so that neither chunks, streams and colours nor the cut can hide a part
    /// of one. What may become one, and with the function form a line that has not ended, is not shown until that is
    /// decided, at the latest when the output is finished.
    ///
    /// ```
    /// use tackroom_base::text::accumulator::{Accumulator, Stream};
    /// use tackroom_base::text::redact::Redactor;
    /// let mut output = Accumulator::new(Default::default()).redacting(Redactor::secrets(["hunter2"]));
    /// output.push(b"password: hun\x1B[1mt", Stream::Stdout);
    /// assert_eq!(output.snapshot().content, "password: ");
    /// output.push(b"er2\n", Stream::Stdout);
    /// assert_eq!(output.snapshot().content, "password: [redacted]\n");
    /// ```
    #[must_use]
    pub fn redacting(mut self, redactor: Redactor) -> Self {
        self.shown.stencil = (!redactor.is_empty()).then(|| Box::new(Stencil::new(redactor)));
        self
    }

    /// Takes the next bytes of a stream, cut anywhere.
    // A caller that is built for size would have it built so, too.
    #[inline(never)]
    pub fn push(&mut self, bytes: &[u8], stream: Stream) {
        let Accumulator { stdout, stderr, renderer, shown } = self;
        let decoder = match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        let mut rest = bytes;
        while !rest.is_empty() {
            if decoder.takes_ascii() {
                rest = shown.plain(renderer, rest, stream);
            }
            let (block, more) = rest.split_at(rest.len().min(BLOCK));
            decoder.push_with(block, |text| shown.render(renderer, text, stream));
            rest = more;
        }
    }

    /// Ends both streams: a character that lacks its rest becomes one U+FFFD, what was held of a secret is shown. A
    /// second call adds nothing.
    pub fn finish(&mut self) {
        let Accumulator { stdout, stderr, renderer, shown } = self;
        stdout.finish_with(|text| shown.render(renderer, text, Stream::Stdout));
        stderr.finish_with(|text| shown.render(renderer, text, Stream::Stderr));
        if let Some(stencil) = &mut shown.stencil {
            stencil.finish(&mut shown.tail);
        }
    }

    /// The end of the output so far, cut as [`super::truncate::tail`] would cut all of it.
    ///
    /// Costs a copy of what is shown; what is pushed later does not change it.
    pub fn snapshot(&self) -> Snapshot {
        let (mut content, mut facts) = self.shown.tail.cut();
        // Two parts of a secret that something between them kept apart.
        if let Some(redacted) = self.shown.stencil.as_ref().and_then(|stencil| stencil.redact_cut(&content)) {
            facts.output_bytes = redacted.len();
            content = redacted;
        }
        Snapshot { content, facts }
    }

    /// Of all the output so far, as it would be shown: cheap.
    pub fn totals(&self) -> Totals {
        self.shown.tail.totals()
    }

    /// Whether [`Accumulator::snapshot`] shows less than all there is.
    pub fn is_cut(&self) -> bool {
        self.shown.tail.is_cut()
    }

    /// Whether there is no text so far. Bytes that are the beginning of a character are none yet.
    pub fn is_empty(&self) -> bool {
        self.totals().bytes == 0
    }
}

/// Where text goes once it is rendered.
#[derive(Clone, Debug)]
struct Shown {
    tail: Tail,
    stencil: Option<Box<Stencil>>,
}

impl Shown {
    /// Takes the first blocks that need no decoder, no renderer and no redactor; most output has no others. Answers
    /// the rest.
    fn plain<'a>(&mut self, renderer: &mut Option<Renderer>, bytes: &'a [u8], stream: Stream) -> &'a [u8] {
        if self.stencil.is_some() || renderer.as_ref().is_some_and(|renderer| !renderer.takes_plain(stream)) {
            return bytes;
        }
        let (mut taken, mut breaks) = (0, 0);
        for block in bytes.chunks(BLOCK) {
            let Some(found) = breaks_of_plain(block) else { break };
            taken += block.len();
            breaks += found;
        }
        let (plain, rest) = bytes.split_at(taken);
        if !plain.is_empty() {
            self.tail.push(plain, Some(breaks));
            if let Some(renderer) = renderer {
                renderer.showed(plain);
            }
        }
        rest
    }

    fn render(&mut self, renderer: &mut Option<Renderer>, text: &str, stream: Stream) {
        match renderer {
            Some(renderer) => renderer.push(text, stream, self),
            None if text.is_empty() => {}
            None => self.text(text),
        }
    }
}

impl Sink for Shown {
    fn text(&mut self, text: &str) {
        match &mut self.stencil {
            Some(stencil) => stencil.text(text, &mut self.tail),
            None => self.tail.text(text),
        }
    }

    fn restart(&mut self) {
        match &mut self.stencil {
            Some(stencil) => stencil.restart(&mut self.tail),
            None => self.tail.restart(),
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
        assert_eq!(output.snapshot(), super::super::truncate::tail("héllo\n😀", Limits::default()));
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

    /// B04, B05, B07, whole and byte by byte.
    #[test]
    fn what_is_meant_for_a_terminal() {
        for (bytes, want) in [
            (&b"10%\r20%\r100%\ndone\n"[..], "100%\ndone\n"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"\x1B[31mred\x1B[0m\n", "red\n"),
            (b"a\0b\n", "ab\n"),
        ] {
            let (mut whole, mut cut) =
                (Accumulator::new(Limits::default()), Accumulator::new(Limits::default()));
            whole.push(bytes, Stream::Stdout);
            bytes.iter().for_each(|&byte| cut.push(&[byte], Stream::Stdout));
            assert_eq!(whole.snapshot().content, want);
            assert_eq!(cut.snapshot(), whole.snapshot());
            let mut raw = Accumulator::with(Limits::default(), Terminal::Raw);
            raw.push(bytes, Stream::Stdout);
            assert_eq!(raw.snapshot().content.as_bytes(), bytes);
        }
    }

    #[test]
    fn a_line_that_is_thrown_away_leaves_what_was_before_it() {
        for size in [10, 200, 1_000_000] {
            let mut output = Accumulator::new(limits(10, 100));
            output.push(b"one\ntwo\n", Stream::Stdout);
            output.push("x".repeat(size).as_bytes(), Stream::Stdout);
            assert!(output.shown.tail.memory() <= 2 * (100 + 5));
            output.push(b"\rthree", Stream::Stderr);
            assert_eq!(output.snapshot().content, "one\ntwo\nthree");
            assert_eq!(output.totals(), Totals { lines: 3, bytes: 13, last_line: 5 });
        }
    }

    #[test]
    fn memory_stays_bounded() {
        let mut output = Accumulator::new(Limits::default());
        for size in [1, 4096, 65_536, 1 << 20, 51_201, 51_202, 51_203, 100_000] {
            let chunk = "€uro\n".repeat(size / 7 + 1);
            for _ in 0..20 {
                output.push(&chunk.as_bytes()[..size], Stream::Stdout);
                assert!(output.shown.tail.memory() <= 2 * (51_200 + 5));
            }
        }
        for max_bytes in [0, 1, usize::MAX] {
            let mut output = Accumulator::new(limits(1, max_bytes));
            output.push("€\n€".as_bytes(), Stream::Stdout);
            assert!(output.shown.tail.memory() <= 12, "{max_bytes}");
        }
    }
}
