//! Which bytes are text, and what text they are.
//!
//! Encodings are told by their BOM alone; without one, text is UTF-8. Legacy code pages are not
//! guessed: their bytes show as U+FFFD. UTF-32 is not known either, and its little-endian BOM reads as
//! UTF-16's, as in browsers.

use std::borrow::Cow;

use memchr::memchr;

pub use super::lines::{LineEnding, LineEndings, line_ending};
use super::utf8::{REPLACEMENT, Utf8Decoder, incomplete_tail};

/// How a text's characters are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// UTF-8 without BOM; also what anything unknown is read as.
    #[default]
    Utf8,
    /// UTF-8 after `EF BB BF`.
    Utf8Bom,
    /// UTF-16, little-endian, after `FF FE`.
    Utf16Le,
    /// UTF-16, big-endian, after `FE FF`.
    Utf16Be,
}

impl Encoding {
    const WITH_BOM: [Encoding; 3] = [Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be];

    /// The name in `details.encoding`: `utf-8`, `utf-8-bom`, `utf-16le` or `utf-16be`.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoding::Utf8 => "utf-8",
            Encoding::Utf8Bom => "utf-8-bom",
            Encoding::Utf16Le => "utf-16le",
            Encoding::Utf16Be => "utf-16be",
        }
    }

    /// The BOM that such a text begins with; empty for [`Encoding::Utf8`].
    pub fn bom(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 => b"",
            Encoding::Utf8Bom => b"\xEF\xBB\xBF",
            Encoding::Utf16Le => b"\xFF\xFE",
            Encoding::Utf16Be => b"\xFE\xFF",
        }
    }

    /// Whether it is one of the two UTF-16 forms.
    pub fn is_utf16(self) -> bool {
        matches!(self, Encoding::Utf16Le | Encoding::Utf16Be)
    }
}

/// The encoding that the first bytes of a text tell. Three bytes are enough.
///
/// ```
/// use tackroom_base::text::encoding::{Encoding, detect};
/// assert_eq!(detect(b"\xEF\xBB\xBFhi\n"), Encoding::Utf8Bom);
/// assert_eq!(detect(b"hi\n"), Encoding::Utf8);
/// ```
pub fn detect(bytes: &[u8]) -> Encoding {
    Encoding::WITH_BOM.into_iter().find(|e| bytes.starts_with(e.bom())).unwrap_or_default()
}

/// Bytes of the BOM at the start: 0, 2 or 3.
pub fn bom_len(bytes: &[u8]) -> usize {
    detect(bytes).bom().len()
}

/// A text, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text without its BOM. Borrowed from valid UTF-8.
    pub text: Cow<'a, str>,
    /// How it was stored.
    pub encoding: Encoding,
    /// Whether anything invalid became U+FFFD. One that was there already doesn't count.
    pub replaced: bool,
}

/// Decodes a whole text by its BOM.
///
/// Invalid UTF-8, an unpaired surrogate and an odd last byte become U+FFFD each.
///
/// ```
/// use tackroom_base::text::encoding::{Encoding, decode};
/// let text = decode(b"\xFF\xFEh\0i\0");
/// assert_eq!((&*text.text, text.encoding, text.replaced), ("hi", Encoding::Utf16Le, false));
/// ```
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    let encoding = detect(bytes);
    if !encoding.is_utf16() {
        let bytes = &bytes[encoding.bom().len()..];
        return match simdutf8::basic::from_utf8(bytes) {
            Ok(text) => Decoded { text: Cow::Borrowed(text), encoding, replaced: false },
            Err(_) => Decoded { text: String::from_utf8_lossy(bytes), encoding, replaced: true },
        };
    }
    let mut decoder = Decoder::default();
    let mut text = String::with_capacity(bytes.len() / 2);
    decoder.push_with(bytes, |part| text.push_str(part));
    decoder.finish_with(|part| text.push_str(part));
    Decoded { text: Cow::Owned(text), encoding, replaced: decoder.replaced() }
}

/// Decodes a stream by the BOM it begins with. Cut anywhere, it gives what [`decode`] gives.
///
/// Holds at most 3 bytes back, and nothing where they can't be the beginning of a BOM or a character.
///
/// ```
/// use tackroom_base::text::encoding::Decoder;
/// let (mut decoder, mut out) = (Decoder::default(), String::new());
/// for byte in b"\xFE\xFF\0h\0i" {
///     decoder.push_with(&[*byte], |text| out.push_str(text));
/// }
/// decoder.finish_with(|text| out.push_str(text));
/// assert_eq!(out, "hi");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    encoding: Encoding,
    state: State,
}

#[derive(Clone, Debug)]
enum State {
    /// Nothing but what may become a BOM has come: so many bytes of it.
    Start([u8; 3], usize),
    Utf8(Utf8Decoder),
    Utf16(Utf16Decoder),
}

impl Default for State {
    fn default() -> Self {
        State::Start([0; 3], 0)
    }
}

impl Decoder {
    /// Gives the text that `bytes` completes to `emit`, in order and in few pieces.
    pub fn push_with(&mut self, mut bytes: &[u8], mut emit: impl FnMut(&str)) {
        if let State::Start(held, len) = &mut self.state {
            loop {
                let undecided = |e: Encoding| e.bom().len() > *len && e.bom().starts_with(&held[..*len]);
                if !Encoding::WITH_BOM.into_iter().any(undecided) {
                    break;
                }
                let Some((&first, rest)) = bytes.split_first() else { return };
                held[*len] = first;
                *len += 1;
                bytes = rest;
            }
            let (held, len) = (*held, *len);
            self.decide(&held[..len], &mut emit);
        }
        self.decode(bytes, emit);
    }

    /// Ends the stream: whatever lacks its rest becomes one U+FFFD. A second call adds nothing.
    pub fn finish_with(&mut self, mut emit: impl FnMut(&str)) {
        if let State::Start(held, len) = self.state {
            self.decide(&held[..len], &mut emit);
        }
        match &mut self.state {
            State::Start(..) => {}
            State::Utf8(decoder) => decoder.finish_with(emit),
            State::Utf16(decoder) => decoder.finish_with(emit),
        }
    }

    /// Whether ASCII bytes that come next are the text that they complete: it is UTF-8, and holds nothing back.
    pub(super) fn takes_ascii(&self) -> bool {
        matches!(&self.state, State::Utf8(decoder) if decoder.is_empty())
    }

    /// The encoding; [`Encoding::Utf8`] until a BOM has been seen.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Whether anything has become U+FFFD so far.
    pub fn replaced(&self) -> bool {
        match &self.state {
            State::Start(..) => false,
            State::Utf8(decoder) => decoder.replaced(),
            State::Utf16(decoder) => decoder.replaced,
        }
    }

    fn decide(&mut self, first: &[u8], emit: impl FnMut(&str)) {
        self.encoding = detect(first);
        self.state = match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Bom => State::Utf8(Utf8Decoder::default()),
            Encoding::Utf16Le => State::Utf16(Utf16Decoder::new(u16::from_le_bytes)),
            Encoding::Utf16Be => State::Utf16(Utf16Decoder::new(u16::from_be_bytes)),
        };
        self.decode(&first[self.encoding.bom().len()..], emit);
    }

    fn decode(&mut self, bytes: &[u8], emit: impl FnMut(&str)) {
        match &mut self.state {
            State::Start(..) => {}
            State::Utf8(decoder) => decoder.push_with(bytes, emit),
            State::Utf16(decoder) => decoder.push_with(bytes, emit),
        }
    }
}

/// The incremental half of UTF-16: an odd byte and a first surrogate wait for what follows them.
#[derive(Clone, Debug)]
struct Utf16Decoder {
    unit: fn([u8; 2]) -> u16,
    odd: Option<u8>,
    high: Option<u16>,
    replaced: bool,
}

impl Utf16Decoder {
    /// Bytes that are decoded at once.
    const BLOCK: usize = 16 * 1024;

    fn new(unit: fn([u8; 2]) -> u16) -> Self {
        Utf16Decoder { unit, odd: None, high: None, replaced: false }
    }

    fn push_with(&mut self, mut bytes: &[u8], mut emit: impl FnMut(&str)) {
        let mut out = String::with_capacity(bytes.len().min(Self::BLOCK) / 2 * 3 + 3);
        if let (Some(odd), Some((&first, rest))) = (self.odd, bytes.split_first()) {
            self.odd = None;
            bytes = rest;
            self.push_unit((self.unit)([odd, first]), &mut out);
        }
        for block in bytes.chunks(Self::BLOCK) {
            let (pairs, odd) = block.as_chunks::<2>();
            for &pair in pairs {
                self.push_unit((self.unit)(pair), &mut out);
            }
            self.odd = odd.first().copied();
            emit(&out);
            out.clear();
        }
        if !out.is_empty() {
            emit(&out);
        }
    }

    fn push_unit(&mut self, unit: u16, out: &mut String) {
        if let Some(high) = self.high.take() {
            if let Some(Ok(c)) = char::decode_utf16([high, unit]).next() {
                return out.push(c);
            }
            out.push_str(REPLACEMENT);
            self.replaced = true;
        }
        match char::from_u32(u32::from(unit)) {
            Some(c) => out.push(c),
            None if unit < 0xDC00 => self.high = Some(unit),
            None => {
                out.push_str(REPLACEMENT);
                self.replaced = true;
            }
        }
    }

    fn finish_with(&mut self, mut emit: impl FnMut(&str)) {
        if self.odd.take().is_some() | self.high.take().is_some() {
            self.replaced = true;
            emit(REPLACEMENT);
        }
    }
}

/// Bytes at the start of a file that tell whether it is binary.
pub const BINARY_WINDOW: usize = 8192;

/// Whether a file that begins with `bytes` is no text. Looks at the first 8 KB ([`BINARY_WINDOW`]).
///
/// A UTF-16 BOM makes it text. Else it is binary if the window has a NUL, or many control bytes:
/// more than 1 in 5 where it is valid UTF-8 (fields separated by U+001F are text), more than 1 in 32
/// where it isn't (compressed data has 1 in 10, text of an old code page none). Control bytes are C0
/// and DEL without BEL, BS, TAB, LF, FF, CR and ESC, so that coloured logs and man pages are text.
///
/// ```
/// use tackroom_base::text::encoding::is_binary;
/// assert!(is_binary(b"\x7FELF\x02\x01\x01\0"));
/// assert!(!is_binary(b"\x1B[31mred\x1B[0m\x0C\r\n"));
/// ```
pub fn is_binary(bytes: &[u8]) -> bool {
    if detect(bytes).is_utf16() {
        return false;
    }
    let window = &bytes[..bytes.len().min(BINARY_WINDOW)];
    if memchr(0, window).is_some() {
        return true;
    }
    let controls = window.iter().filter(|&&b| is_control(b)).count();
    let whole = &window[..window.len() - incomplete_tail(window)];
    let one_in = if simdutf8::basic::from_utf8(whole).is_ok() { 5 } else { 32 };
    controls * one_in > window.len()
}

fn is_control(byte: u8) -> bool {
    byte == 0x7F || (byte < 0x20 && !matches!(byte, 0x07..=0x0A | 0x0C | 0x0D | 0x1B))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2], bom: &[u8]) -> Vec<u8> {
        bom.iter().copied().chain(text.encode_utf16().flat_map(unit)).collect()
    }

    #[test]
    fn a_bom_is_not_shown() {
        let decoded = decode(b"\xEF\xBB\xBFhi\n");
        assert_eq!((&*decoded.text, decoded.encoding.as_str()), ("hi\n", "utf-8-bom"));
        assert_eq!(bom_len(b"\xFE\xFF"), 2);
        assert_eq!(bom_len(b"\xEF\xBB"), 0);
    }

    #[test]
    fn utf16_both_ways_and_byte_by_byte() {
        let text = "aé€🙂\r\n";
        for (bytes, encoding) in [
            (utf16(text, u16::to_le_bytes, b"\xFF\xFE"), Encoding::Utf16Le),
            (utf16(text, u16::to_be_bytes, b"\xFE\xFF"), Encoding::Utf16Be),
        ] {
            assert_eq!(decode(&bytes), Decoded { text: text.into(), encoding, replaced: false });
            let (mut decoder, mut out) = (Decoder::default(), String::new());
            for byte in &bytes {
                decoder.push_with(&[*byte], |t| out.push_str(t));
            }
            assert_eq!((out.as_str(), decoder.encoding()), (text, encoding));
        }
    }

    #[test]
    fn what_utf16_lacks() {
        for (bytes, want) in [
            (&b"\xFF\xFEa\0b"[..], "a\u{FFFD}"),
            (b"\xFF\xFE\x3D\xD8", "\u{FFFD}"),
            (b"\xFF\xFE\x3D\xD8a\0", "\u{FFFD}a"),
            (b"\xFF\xFE\x02\xDEa\0", "\u{FFFD}a"),
            (b"\xFF\xFE\x3D\xD8\x3D\xD8\x02\xDE", "\u{FFFD}😂"),
            (b"\xFF\xFE\x3D\xD8a", "\u{FFFD}"),
        ] {
            let decoded = decode(bytes);
            assert_eq!((&*decoded.text, decoded.replaced), (want, true), "{bytes:x?}");
        }
    }

    #[test]
    fn the_beginning_of_a_bom_alone() {
        for bytes in [&b"\xEF"[..], b"\xEF\xBB", b"\xFF", b"\xEF\xBBx", b"\xFFx"] {
            let (mut decoder, mut out) = (Decoder::default(), String::new());
            decoder.push_with(bytes, |t| out.push_str(t));
            decoder.finish_with(|t| out.push_str(t));
            assert_eq!(out, String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn text_or_binary() {
        let late_nul = [&[b'a'; BINARY_WINDOW][..], b"\0"].concat();
        let cut = [&[b'a'; BINARY_WINDOW - 1][..], "é".as_bytes()].concat();
        for text in [
            &b""[..],
            b"hello\x01world",
            b"a\x1Fbcd\x1Fefg\n",
            b"b\x08bo\x08ol\x08ld",
            b"caf\xE9 cr\xE8me",
            b"\xFF\xFEa\0",
            "日本語".as_bytes(),
            &late_nul,
            &cut,
        ] {
            assert!(!is_binary(text), "{text:x?}");
        }
        let dense: Vec<u8> = (1..=6).cycle().take(100).collect();
        for bytes in [&b"\0"[..], b"a\0", &dense, b"\x1F\x8B\x08\x08\x01\x02\x03\xFF\xFE"] {
            assert!(is_binary(bytes), "{bytes:x?}");
        }
    }
}
