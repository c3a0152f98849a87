//! What a terminal would show of a command's output, as plain text.
//!
//! A command that thinks it talks to a terminal colours its lines and writes some of them again and again. A model
//! needs the text, and of a line that is rewritten what it said last.
//!
//! - **Escape sequences** show nothing: CSI, OSC, DCS, SOS, PM, APC and the shorter forms (ECMA-48, ECMA-35), begun by
//!   ESC or by a C1 character. Each stream is in a sequence of its own, so one that the other stream's text is cut
//!   into still ends where it should. Nothing is held: what has come of a sequence is a state.
//! - **A line that CR goes back in** shows its last frame. A frame begins at the first printable character after the
//!   CR, so `100%\r\n` and `100%\r\r\n` are `100%`. A space is printable: a program that overwrites with blanks
//!   means them. A tab is not, it moves.
//! - **Erasing** (`CSI K`, and `CSI J` without a parameter) empties the line, where the cursor, as far as frames tell, is
//!   on the right side of the text. `CSI G`, a `CSI D` over all of the line and a return to where the cursor was saved
//!   go back as CR does.
//! - **Each LF is one LF**, whatever is around it, so that line numbers are those of the bytes; and a line that LF
//!   has ended is never changed. Moves to other lines are ignored.
//! - Other C0 controls, DEL, other C1 and U+FFF9 to U+FFFB are dropped.
//!
//! A string (OSC, DCS…) that never ends would swallow everything: LF, CAN, SUB, ESC or any C1 ends it, BEL ends an OSC,
//! and after 1 MiB it was none.
//!
//! Not here: columns. A frame that is shorter than the last does not leave the other's end, and a backspace goes
//! nowhere.

use memchr::{memchr, memrchr};

use super::utf8;

/// Which of a command's two streams bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What becomes of what is meant for a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Terminal {
    /// The text that it would show.
    #[default]
    Render,
    /// It stays as it is.
    Raw,
}

/// Where rendered text goes.
pub trait Sink {
    /// More text: characters, tabs and LFs, never empty.
    fn text(&mut self, text: &str);

    /// What came since the last LF is no more.
    fn restart(&mut self);
}

/// Appends; for texts that are not cut.
impl Sink for String {
    fn text(&mut self, text: &str) {
        self.push_str(text);
    }

    fn restart(&mut self) {
        self.truncate(memrchr(b'\n', self.as_bytes()).map_or(0, |lf| lf + 1));
    }
}

/// Renders two streams of text into one.
///
/// ```
/// use tackroom_base::text::terminal::{Renderer, Stream};
/// let (mut renderer, mut shown) = (Renderer::default(), String::new());
/// renderer.push("10%\r\x1B[3", Stream::Stdout, &mut shown);
/// renderer.push("warning\n", Stream::Stderr, &mut shown);
/// renderer.push("2m100%\r", Stream::Stdout, &mut shown);
/// assert_eq!(shown, "warning\n100%");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Renderer {
    stdout: Escape,
    stderr: Escape,
    line: Line,
}

impl Renderer {
    /// Renders the next text of a stream. Cut anywhere, it gives what the whole gives.
    pub fn push(&mut self, text: &str, stream: Stream, sink: &mut impl Sink) {
        let Renderer { stdout, stderr, line } = self;
        let escape = match stream {
            Stream::Stdout => stdout,
            Stream::Stderr => stderr,
        };
        let mut rest = text;
        while !rest.is_empty() {
            let taken = match escape.state {
                State::Ground => ground(rest, escape, line, sink),
                State::Text { .. } => escape.skip_text(rest),
                _ => escape.step(rest, line, sink),
            };
            rest = &rest[taken..];
        }
    }
}

impl Renderer {
    /// Whether bytes of ASCII that a terminal shows as they are would be shown as they are.
    pub(super) fn takes_plain(&self, stream: Stream) -> bool {
        let escape = match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        };
        matches!(escape.state, State::Ground) && !self.line.is_back
    }

    /// Takes note of such bytes, which have been shown.
    pub(super) fn showed(&mut self, bytes: &[u8]) {
        self.line.showed(bytes);
    }
}

/// Text outside sequences: how much of it was taken, at least one character.
fn ground(text: &str, escape: &mut Escape, line: &mut Line, sink: &mut impl Sink) -> usize {
    let plain = plain_len(text.as_bytes());
    if plain > 0 {
        line.print(&text[..plain], sink);
        return plain;
    }
    let (c, len) = first(text);
    match c {
        '\r' => line.back(),
        '\x1B' => escape.state = State::Escape,
        c => escape.begin(c),
    }
    len
}

/// The first character, and its bytes.
fn first(text: &str) -> (char, usize) {
    text.chars().next().map_or(('\0', 0), |c| (c, c.len_utf8()))
}

/// The line being written, which both streams share.
#[derive(Clone, Debug, Default)]
struct Line {
    /// Bytes of it that are shown.
    shown: u64,
    /// The cursor is at its start again: the next printable character begins a new frame.
    is_back: bool,
    /// Tabs since then. They are shown with what follows them.
    tabs: u64,
    /// The cursor was saved at the start of this line.
    is_saved: bool,
}

impl Line {
    fn print(&mut self, mut text: &str, sink: &mut impl Sink) {
        if self.is_back {
            let printed = text.trim_start_matches('\t');
            self.tabs += (text.len() - printed.len()) as u64;
            text = printed;
            match text.as_bytes().first() {
                None => return,
                // The line ends as it is.
                Some(b'\n') => self.tabs = 0,
                Some(_) => self.clear(sink),
            }
            self.is_back = false;
        }
        sink.text(text);
        self.showed(text.as_bytes());
    }

    fn showed(&mut self, bytes: &[u8]) {
        self.shown = match memrchr(b'\n', bytes) {
            Some(lf) => {
                self.is_saved = false;
                (bytes.len() - lf - 1) as u64
            }
            None => self.shown + bytes.len() as u64,
        };
    }

    /// CR, and what else goes to the start of the line.
    fn back(&mut self) {
        self.is_back = self.shown > 0;
        self.tabs = 0;
    }

    /// Empties the line; the tabs that the cursor went are the first of what follows.
    fn clear(&mut self, sink: &mut impl Sink) {
        const TABS: &str = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";
        if self.shown > 0 {
            sink.restart();
        }
        (self.shown, self.is_back) = (self.tabs, false);
        while self.tabs > 0 {
            let some = self.tabs.min(TABS.len() as u64);
            sink.text(&TABS[..some as usize]);
            self.tabs -= some;
        }
    }

    /// What a control sequence does to the line, where it does anything.
    fn control(&mut self, command: u8, sequence: Sequence, sink: &mut impl Sink) {
        let is_at_start = self.is_back && self.tabs == 0;
        match (command, sequence.parameter) {
            (b'K' | b'J', 0) if is_at_start => self.clear(sink),
            (b'K', 1) if !self.is_back => self.clear(sink),
            (b'K', 2) => self.clear(sink),
            (b'G' | b'`', 0 | 1) => self.back(),
            // No character is wider than its bytes are many.
            (b'D', columns) if u64::from(columns.max(1)) >= self.shown => self.back(),
            (b's', _) if !sequence.has_parameter => self.save(),
            (b'u', _) if !sequence.has_parameter => self.restore(),
            _ => {}
        }
    }

    fn save(&mut self) {
        self.is_saved = self.shown == 0 || self.is_back && self.tabs == 0;
    }

    fn restore(&mut self) {
        if self.is_saved {
            self.back();
        }
    }
}

/// Where a stream is within an escape sequence.
#[derive(Clone, Debug, Default)]
struct Escape {
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// In none.
    #[default]
    Ground,
    /// After ESC.
    Escape,
    /// After ESC and intermediate bytes.
    Intermediate,
    /// In a control sequence.
    Control(Sequence),
    /// In a string of so many bytes.
    Text { is_osc: bool, length: usize },
}

/// What is known of a control sequence.
#[derive(Clone, Copy, Debug, Default)]
struct Sequence {
    /// The first.
    parameter: u32,
    has_parameter: bool,
    /// There are others.
    has_more: bool,
    /// A private one, or one with intermediate bytes: what its last byte means is not the standard's.
    is_other: bool,
}

/// Bytes of a string at most.
const MOST_TEXT: usize = 1024 * 1024;

impl Escape {
    /// A control character outside of strings: C1 may begin a sequence; the others do nothing.
    fn begin(&mut self, c: char) {
        self.state = match c {
            '\u{9B}' => State::Control(Sequence::default()),
            '\u{9D}' => State::Text { is_osc: true, length: 0 },
            '\u{90}' | '\u{98}' | '\u{9E}' | '\u{9F}' => State::Text { is_osc: false, length: 0 },
            _ => State::Ground,
        };
    }

    /// One character of a sequence: how much of the text was taken, which is nothing where it is none of the sequence.
    fn step(&mut self, text: &str, line: &mut Line, sink: &mut impl Sink) -> usize {
        let (c, len) = first(text);
        match c {
            '\x1B' => self.state = State::Escape,
            '\u{80}'..='\u{9F}' => self.begin(c),
            // CAN and SUB.
            '\x18' | '\x1A' => self.state = State::Ground,
            // A line ends and begins whatever is broken off in it, and what is not ASCII is text.
            '\n' | '\r' | '\u{A0}'.. => {
                self.state = State::Ground;
                return 0;
            }
            // A terminal would act on them, and go on.
            '\0'..' ' | '\x7F' => {}
            ' '..='~' => self.printable(c as u8, line, sink),
        }
        len
    }

    fn printable(&mut self, byte: u8, line: &mut Line, sink: &mut impl Sink) {
        self.state = match (self.state, byte) {
            (State::Escape | State::Intermediate, b' '..=b'/') => State::Intermediate,
            (State::Escape, b'[' | b']' | b'P' | b'X' | b'^' | b'_') => {
                // The C1 character that ESC and the byte stand for.
                return self.begin(char::from(byte + 0x40));
            }
            (State::Escape, b'7') => {
                line.save();
                State::Ground
            }
            (State::Escape, b'8') => {
                line.restore();
                State::Ground
            }
            (State::Control(sequence), b'@'..) => {
                if !sequence.is_other {
                    line.control(byte, sequence, sink);
                }
                State::Ground
            }
            (State::Control(mut sequence), _) => {
                sequence.has_parameter = true;
                match byte {
                    b'0'..=b'9' if !sequence.has_more => {
                        sequence.parameter =
                            sequence.parameter.saturating_mul(10).saturating_add(u32::from(byte - b'0'));
                    }
                    b'0'..=b'9' => {}
                    b':' | b';' => sequence.has_more = true,
                    _ => sequence.is_other = true,
                }
                State::Control(sequence)
            }
            _ => State::Ground,
        };
    }

    /// The part of a string that the text has: how much was taken.
    fn skip_text(&mut self, text: &str) -> usize {
        let State::Text { is_osc, length } = &mut self.state else { return 0 };
        let bytes = text.as_bytes();
        let bytes = &bytes[..utf8::ceil_boundary(bytes, MOST_TEXT.saturating_sub(*length))];
        if bytes.is_empty() {
            self.state = State::Ground;
            return 0;
        }
        let plain = plain_len(bytes);
        if let Some(lf) = memchr(b'\n', &bytes[..plain]) {
            self.state = State::Ground;
            return lf;
        }
        if plain > 0 {
            *length += plain;
            return plain;
        }
        let (c, len) = first(text);
        match c {
            '\x1B' => self.state = State::Escape,
            '\u{80}'..='\u{9F}' => self.begin(c),
            '\x18' | '\x1A' => self.state = State::Ground,
            '\x07' if *is_osc => self.state = State::Ground,
            _ => *length += len,
        }
        len
    }
}

/// How many bytes from the start are as a terminal shows them: no control characters but tab and LF, and none of
/// U+FFF9 to U+FFFB. At most all; what follows is a whole character.
fn plain_len(bytes: &[u8]) -> usize {
    // They often follow each other.
    if bytes.first().is_some_and(|&byte| is_candidate(byte) && byte < 0x80) {
        return 0;
    }
    let mut at = 0;
    while let Some(candidate) = candidate(&bytes[at..]) {
        at += candidate;
        match &bytes[at..] {
            [0xC2, 0xA0..=0xBF, ..] => at += 2,
            [0xEF, 0xBF, 0xB9..=0xBB, ..] => return at,
            [0xEF, ..] => at += 3,
            _ => return at,
        }
    }
    bytes.len()
}

/// Whether the byte is a control character or the first of one, or of U+FFF9 to U+FFFB.
fn is_candidate(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0B..=0x1F | 0x7F | 0xC2 | 0xEF)
}

/// Where the first byte is that has to be looked at closer.
#[cfg(not(target_feature = "simd128"))]
fn candidate(bytes: &[u8]) -> Option<usize> {
    // Block by block, so that a compiler can look at many at once.
    let mut at = 0;
    for block in bytes.chunks(64) {
        if block.iter().fold(false, |found, &byte| found | is_candidate(byte)) {
            return block.iter().position(|&byte| is_candidate(byte)).map(|place| at + place);
        }
        at += block.len();
    }
    None
}

/// Where the first byte is that has to be looked at closer.
#[cfg(target_feature = "simd128")]
fn candidate(bytes: &[u8]) -> Option<usize> {
    use core::arch::wasm32::*;

    let candidates = |part| {
        let is = |byte| u8x16_eq(part, u8x16_splat(byte));
        // Tab and LF are the two that are not more than 1 from tab on.
        let c0 = v128_andnot(
            u8x16_lt(part, u8x16_splat(0x20)),
            u8x16_le(u8x16_sub(part, u8x16_splat(b'\t')), u8x16_splat(1)),
        );
        v128_or(v128_or(c0, is(0x7F)), v128_or(is(0xC2), is(0xEF)))
    };
    let (blocks, rest) = bytes.as_chunks::<64>();
    for (nth, block) in blocks.iter().enumerate() {
        let [a, b, c, d] = super::census::vectors(block).map(candidates);
        if v128_any_true(v128_or(v128_or(a, b), v128_or(c, d))) {
            let masks = [a, b, c, d].map(|part| u64::from(i8x16_bitmask(part)));
            let mask = masks[0] | masks[1] << 16 | masks[2] << 32 | masks[3] << 48;
            return Some(nth * 64 + mask.trailing_zeros() as usize);
        }
    }
    let at = blocks.len() * 64;
    rest.iter().position(|&byte| is_candidate(byte)).map(|place| at + place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        let (mut renderer, mut shown) = (Renderer::default(), String::new());
        renderer.push(text, Stream::Stdout, &mut shown);
        let (mut renderer, mut cut) = (Renderer::default(), String::new());
        let most = if text.len() > 100_000 { 4099 } else { 1 };
        let mut rest = text;
        while !rest.is_empty() {
            let (part, more) = rest.split_at(utf8::ceil_boundary(rest.as_bytes(), most));
            renderer.push(part, Stream::Stdout, &mut cut);
            rest = more;
        }
        assert_eq!(cut, shown, "{text:?} in parts");
        assert_eq!(shown.matches('\n').count(), text.matches('\n').count(), "{text:?}");
        shown
    }

    fn check(cases: &[(&str, &str)]) {
        for (text, want) in cases {
            assert_eq!(rendered(text), *want, "{text:?}");
        }
    }

    #[test]
    fn sequences_show_nothing() {
        check(&[
            ("a\x1B[31mb\x1B[0;1;38:5:7mc\x1B[mz", "abcz"),
            ("a\u{9B}31mb\u{9D}0;title\u{9C}c\u{90}q\u{9C}d", "abcd"),
            ("a\x1B]0;title\x07b\x1B]8;;http://x/\x1B\\link\x1B]8;;\x1B\\c", "ablinkc"),
            ("a\x1BP1$q\"p\x07m\x1B\\b\x1BXs\x1B\\c\x1B^p\x1B\\d\x1B_G\x07x\u{9C}e", "abcde"),
            ("a\x1B(Bb\x1B%Gc\x1B#8d\x1B=e\x1BMf\x1Bcg\x1B$(Ch", "abcdefgh"),
            ("a\x1B[?25lb\x1B[>4;2mc\x1B[!pd\x1B[2 qe\x1B[?Kf", "abcdef"),
            ("\x1B[0mcaf\u{e9} \u{a0}\u{9f00}\u{ff0c}\u{fffd}", "caf\u{e9} \u{a0}\u{9f00}\u{ff0c}\u{fffd}"),
        ]);
    }

    #[test]
    fn sequences_that_are_broken_off() {
        check(&[
            ("a\x1B", "a"),
            ("a\x1B\nb", "a\nb"),
            ("a\x1B[31\nmore", "a\nmore"),
            ("a\x1B[31\x18b\x1B[3\x1Ac", "abc"),
            ("a\x1B[31\x1B[32mb", "ab"),
            ("a\x1B[31é", "aé"),
            ("a\x1B]0;title\nb", "a\nb"),
            ("a\x1B]0;ti\x18tle", "atle"),
            ("a\x1B]0;title\x1B[31mb", "ab"),
            ("a\x1B]0;title\u{85}b", "ab"),
            ("a\x1B[3\x001\x07mb", "ab"),
        ]);
    }

    #[test]
    fn a_string_without_end_is_none_after_a_mebibyte() {
        for filler in ["x", "é", "\r"] {
            let text = format!("a\x1B]{}b\n", filler.repeat(MOST_TEXT / filler.len()));
            assert_eq!(rendered(&text), "ab\n", "{filler:?}");
        }
    }

    #[test]
    fn controls() {
        check(&[
            ("a\0b\x07c\x08d\x0Be\x0Cf\x7Fg\u{80}h\u{85}i\u{FFF9}j\u{FFFB}k\tl", "abcdefghijk\tl"),
            ("\u{FFF8}\u{FFFC}", "\u{FFF8}\u{FFFC}"),
        ]);
    }

    #[test]
    fn the_last_frame_of_a_line() {
        check(&[
            ("10%\r20%\r100%\ndone\n", "100%\ndone\n"),
            ("100%\r\n", "100%\n"),
            ("100%\r\r\r\n\r\n", "100%\n\n"),
            ("100%\r", "100%"),
            ("100%\r\x1B[0m\x07\r\n", "100%\n"),
            ("100%\r\t\n", "100%\n"),
            ("100%\r\t\tx\n", "\t\tx\n"),
            ("50%\r    \rdone\n", "done\n"),
            ("50%\r    \n", "    \n"),
            ("\rReading... 0%\r\rReading... Done\r\n", "Reading... Done\n"),
            ("a\nb\rc\n", "a\nc\n"),
        ]);
    }

    #[test]
    fn erased() {
        check(&[
            ("Downloading\r\x1B[Kdone\n", "done\n"),
            ("Downloading\r\x1B[Jdone\n", "done\n"),
            ("x\r\x1B[K\n", "\n"),
            ("x\r\x1B[0K\n", "\n"),
            ("x\x1B[K\n", "x\n"),
            ("x\x1B[1Ky\n", "y\n"),
            ("x\r\x1B[1K\n", "x\n"),
            ("x\x1B[2Ky\n", "y\n"),
            ("x\r\x1B[2K\r\n", "\n"),
            ("x\r\t\x1B[2Ky\n", "\ty\n"),
            ("x\r\t\x1B[2K\x1B[2Ky\n", "y\n"),
            ("x\x1B[1G\x1B[0Ky\x1B[Gz\n", "z\n"),
            ("x\x1B[5Gy\n", "xy\n"),
            ("xyz\x1B[3Dq\x1B[100Dr\x1B[Ds\n", "s\n"),
            ("xyz\x1B[2Dq\n", "xyzq\n"),
            ("keep\n\x1B[1A\x1B[2K\x1B[J\x1B[2Jnew\n", "keep\nnew\n"),
        ]);
    }

    /// apt draws its bar at the foot of the screen.
    #[test]
    fn a_saved_cursor() {
        check(&[
            ("\x1B7\x1B[24;0fProgress: [ 50%]\x1B8Setting up x\n", "Setting up x\n"),
            ("ab\x1B[sc\x1B[ud\n", "abcd\n"),
            ("\x1B[sbar\n\x1B[uc\x1B[ud\n", "bar\ncd\n"),
        ]);
    }

    #[test]
    fn a_sequence_around_the_other_stream() {
        let (mut renderer, mut shown) = (Renderer::default(), String::new());
        for (text, stream) in [
            ("a\x1B", Stream::Stdout),
            ("b\x1B]0;t", Stream::Stderr),
            ("[3", Stream::Stdout),
            ("itle\x07c", Stream::Stderr),
            ("1md\r", Stream::Stdout),
            ("e\n", Stream::Stderr),
        ] {
            renderer.push(text, stream, &mut shown);
        }
        assert_eq!(shown, "e\n");
    }

    /// The fast way and the slow one.
    #[test]
    fn what_is_plain() {
        let is_dropped =
            |c: char| c.is_control() && c != '\t' && c != '\n' || ('\u{FFF9}'..='\u{FFFB}').contains(&c);
        let samples = ('\0'..='\u{120}').chain('\u{EFF0}'..='\u{F010}').chain('\u{FEF0}'..='\u{10010}');
        for c in samples {
            for before in [0, 1, 15, 62, 63, 64, 127] {
                let text = format!("{}{c}{}", "x".repeat(before), "y".repeat(130));
                let want = if is_dropped(c) { before } else { text.len() };
                assert_eq!(plain_len(text.as_bytes()), want, "{c:?} after {before}");
            }
        }
    }
}
