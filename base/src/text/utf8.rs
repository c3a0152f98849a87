//! UTF-8 counted and decoded by our own code, so that every host gets the same numbers.
//!
//! "Lossy" means one thing here: an invalid sequence becomes one U+FFFD by the WHATWG rule of the
//! maximal subpart, as in [`String::from_utf8_lossy`] and in a browser's `TextDecoder`. A file, a
//! stream cut anywhere and a counter that keeps no text all agree on it.
//!
//! There is no normalisation here, no graphemes and no BOM: see [`super::encoding`] for the BOM.

use std::borrow::Cow;
use std::str::Utf8Error;

use super::lines;

/// U+FFFD, what an invalid sequence becomes. Three bytes of UTF-8.
pub const REPLACEMENT: &str = "\u{FFFD}";

/// Work is done in blocks of this many bytes, so that what was validated is counted while in cache.
const BLOCK: usize = 16 * 1024;

/// The text of `bytes`, invalid sequences as U+FFFD. Borrows when `bytes` is valid UTF-8.
///
/// ```
/// use tackroom_base::text::utf8::to_text;
/// assert_eq!(to_text(b"caf\xC3\xA9"), "café");
/// assert_eq!(to_text(b"caf\xC3"), "caf\u{FFFD}");
/// ```
pub fn to_text(bytes: &[u8]) -> Cow<'_, str> {
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// How many bytes [`to_text`] has, without making it. An invalid sequence counts 3.
///
/// ```
/// use tackroom_base::text::utf8::lossy_len;
/// assert_eq!(lossy_len("é🙂".as_bytes()), 6);
/// assert_eq!(lossy_len(b"a\xFFb"), 5);
/// ```
pub fn lossy_len(bytes: &[u8]) -> usize {
    blocks(bytes)
        .map(|block| match simdutf8::basic::from_utf8(block) {
            Ok(text) => text.len(),
            Err(_) => block
                .utf8_chunks()
                .map(|c| c.valid().len() + if c.invalid().is_empty() { 0 } else { REPLACEMENT.len() })
                .sum(),
        })
        .sum()
}

/// UTF-16 code units of `text`: what JavaScript calls its `length`.
///
/// ```
/// assert_eq!(tackroom_base::text::utf8::utf16_len("aé🙂"), 4);
/// ```
pub fn utf16_len(text: &str) -> usize {
    // Every character's first byte is one unit, and those of four bytes have a second.
    text.bytes().map(|b| usize::from(!is_continuation(b)) + usize::from(b >= 0xF0)).sum()
}

/// Whether a cut before `bytes[at]` splits no character. True at 0, at the end and beyond it.
///
/// Looks at one byte; in invalid UTF-8 a stray continuation byte is taken for the middle of a character.
pub fn is_boundary(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes.get(at).is_none_or(|&b| !is_continuation(b))
}

/// The last boundary at or before `at`; `at` beyond the end is the end.
///
/// Moves at most 3 bytes: in a run of stray continuation bytes `at` itself is as good a place as any.
///
/// ```
/// use tackroom_base::text::utf8::{ceil_boundary, floor_boundary};
/// let smile = "a🙂b".as_bytes();
/// assert_eq!((floor_boundary(smile, 3), ceil_boundary(smile, 3)), (1, 5));
/// ```
pub fn floor_boundary(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    (0..=3).filter_map(|back| at.checked_sub(back)).find(|&p| is_boundary(bytes, p)).unwrap_or(at)
}

/// The first boundary at or after `at`; `at` beyond the end is the end. Moves at most 3 bytes.
pub fn ceil_boundary(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    (at..=at + 3).find(|&p| is_boundary(bytes, p)).unwrap_or(at)
}

pub(super) fn is_continuation(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// How many bytes at the end begin a character and lack the rest of it: 0 to 3.
///
/// A sequence that can't be completed any more, such as `E0 80`, counts 0: it is invalid already.
pub fn incomplete_tail(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let tail = &bytes[bytes.len() - back..];
        if !is_continuation(tail[0]) {
            return if is_incomplete(std::str::from_utf8(tail)) { back } else { 0 };
        }
    }
    0
}

fn is_incomplete(result: Result<&str, Utf8Error>) -> bool {
    result.is_err_and(|e| e.valid_up_to() == 0 && e.error_len().is_none())
}

/// Cuts `bytes` into blocks none of which but the last ends inside a character.
fn blocks(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let at = match bytes.get(..BLOCK) {
            Some(block) if bytes.len() > BLOCK => BLOCK - incomplete_tail(block),
            _ => bytes.len(),
        };
        let (block, rest) = bytes.split_at(at);
        bytes = rest;
        Some(block)
    })
}

/// Decodes a stream of UTF-8, cut anywhere, into the text that the whole would give.
///
/// Holds at most 3 bytes: the beginning of a character whose rest has not come.
///
/// ```
/// use tackroom_base::text::utf8::Utf8Decoder;
/// let (mut decoder, mut out) = (Utf8Decoder::default(), String::new());
/// decoder.push(b"\xE2", &mut out);
/// decoder.push(b"\x80\x94\xF0\x9F", &mut out);
/// assert_eq!(out, "—");
/// decoder.finish(&mut out);
/// assert_eq!(out, "—\u{FFFD}");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Utf8Decoder {
    held: [u8; 4],
    held_len: usize,
    replaced: bool,
}

impl Utf8Decoder {
    /// Appends to `out` the text that `bytes` completes.
    pub fn push(&mut self, bytes: &[u8], out: &mut String) {
        self.push_with(bytes, |text| out.push_str(text));
    }

    /// Gives the text that `bytes` completes to `emit`, in order and in few pieces.
    ///
    /// Valid UTF-8 is passed on where it lies, uncopied.
    pub fn push_with(&mut self, mut bytes: &[u8], mut emit: impl FnMut(&str)) {
        while self.held_len > 0 {
            let Some((&next, rest)) = bytes.split_first() else { return };
            self.held[self.held_len] = next;
            match std::str::from_utf8(&self.held[..=self.held_len]) {
                Ok(text) => {
                    emit(text);
                    self.held_len = 0;
                }
                Err(e) if e.error_len().is_none() => self.held_len += 1,
                Err(_) => {
                    // What is held can't go on with `next`, which begins something of its own.
                    emit(REPLACEMENT);
                    self.replaced = true;
                    self.held_len = 0;
                    continue;
                }
            }
            bytes = rest;
        }
        let (whole, tail) = bytes.split_at(bytes.len() - incomplete_tail(bytes));
        self.held[..tail.len()].copy_from_slice(tail);
        self.held_len = tail.len();
        for block in blocks(whole) {
            match simdutf8::basic::from_utf8(block) {
                Ok(text) => emit(text),
                Err(_) => {
                    self.replaced = true;
                    emit(&String::from_utf8_lossy(block));
                }
            }
        }
    }

    /// Ends the stream: a character that lacks its rest becomes one U+FFFD. A second call adds nothing.
    pub fn finish(&mut self, out: &mut String) {
        self.finish_with(|text| out.push_str(text));
    }

    /// [`finish`](Self::finish), for users of [`push_with`](Self::push_with).
    pub fn finish_with(&mut self, mut emit: impl FnMut(&str)) {
        if self.held_len > 0 {
            self.held_len = 0;
            self.replaced = true;
            emit(REPLACEMENT);
        }
    }

    /// Whether anything has become U+FFFD so far.
    pub fn replaced(&self) -> bool {
        self.replaced
    }

    /// Whether nothing waits for its rest.
    pub(super) fn is_empty(&self) -> bool {
        self.held_len == 0
    }
}

/// Counts a stream's lines and lossy bytes without keeping any of it: totals of a file read in ranges.
///
/// ```
/// use tackroom_base::text::utf8::Meter;
/// let mut meter = Meter::default();
/// meter.push(b"one\ntw\xC3");
/// meter.push(b"\xB6");
/// meter.finish();
/// assert_eq!((meter.lines(), meter.bytes(), meter.replaced()), (2, 8, false));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Meter {
    decoder: Utf8Decoder,
    bytes: u64,
    breaks: u64,
    ends_in_break: bool,
}

impl Meter {
    /// Counts `bytes`, which may begin and end inside a character.
    pub fn push(&mut self, bytes: &[u8]) {
        let Meter { decoder, bytes: total, breaks, ends_in_break } = self;
        decoder.push_with(bytes, |text| {
            *total += text.len() as u64;
            *breaks += lines::breaks(text.as_bytes()) as u64;
            *ends_in_break = text.ends_with('\n');
        });
    }

    /// Ends the stream: a character that lacks its rest counts 3 bytes.
    pub fn finish(&mut self) {
        let Meter { decoder, bytes, ends_in_break, .. } = self;
        decoder.finish_with(|text| {
            *bytes += text.len() as u64;
            *ends_in_break = false;
        });
    }

    /// Lines so far; a final LF opens no further one.
    pub fn lines(&self) -> u64 {
        self.breaks + u64::from(self.bytes > 0 && !self.ends_in_break)
    }

    /// Bytes of the decoded text so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether anything was invalid so far.
    pub fn replaced(&self) -> bool {
        self.decoder.replaced()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_tails() {
        for (bytes, want) in [
            (&b""[..], 0),
            (b"a", 0),
            (b"a\xE2", 1),
            (b"a\xE2\x82", 2),
            (b"\xF0\x9F\x99", 3),
            ("🙂".as_bytes(), 0),
            (b"\xE0\x80", 0),
            (b"\xC0", 0),
            (b"\x80\x80\x80\x80", 0),
        ] {
            assert_eq!(incomplete_tail(bytes), want, "{bytes:x?}");
        }
    }

    #[test]
    fn blocks_never_split_a_character() {
        for shift in 0..5 {
            let mut text = "x".repeat(shift);
            text.push_str(&"🙂".repeat(BLOCK / 2));
            let bytes = text.as_bytes();
            assert!(blocks(bytes).all(|b| std::str::from_utf8(b).is_ok()));
            assert_eq!(blocks(bytes).map(<[u8]>::len).sum::<usize>(), bytes.len());
            assert_eq!(lossy_len(bytes), bytes.len());
        }
    }

    #[test]
    fn boundaries_at_the_edges() {
        assert_eq!(floor_boundary(b"", 9), 0);
        assert_eq!(ceil_boundary(b"abc", 9), 3);
        assert_eq!(floor_boundary(b"\x80\x80\x80\x80\x80\x80", 5), 5);
        assert_eq!(ceil_boundary("é".as_bytes(), 1), 2);
    }
}
