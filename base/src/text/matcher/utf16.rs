//! UTF-16 as UTF-8, and the way back.

use std::ops::Range;

use super::super::encoding::Encoding;
use super::segments::View;

/// A UTF-16 text as UTF-8. What no UTF-8 can hold, unpaired units and an odd last byte, is something
/// that nothing matches.
pub struct Utf16 {
    view: View,
    bytes: fn(u16) -> [u8; 2],
}

impl Utf16 {
    /// `body` is the text without its BOM.
    pub fn decode(body: &[u8], encoding: Encoding) -> Self {
        let big = encoding == Encoding::Utf16Be;
        let unit = if big { u16::from_be_bytes } else { u16::from_le_bytes };
        let bytes = if big { u16::to_be_bytes } else { u16::to_le_bytes };
        let mut view = View::with_capacity(body.len() / 2);
        let (units, odd) = body.as_chunks::<2>();
        let mut at = 0;
        for c in char::decode_utf16(units.iter().map(|&pair| unit(pair))) {
            match c {
                Ok(c) => {
                    let length = c.len_utf16() * 2;
                    view.segment(at..at + length, c.encode_utf8(&mut [0; 4]).as_bytes());
                    at += length;
                }
                Err(_) => {
                    view.hole(at);
                    at += 2;
                }
            }
        }
        if !odd.is_empty() {
            view.hole(at);
        }
        Utf16 { view, bytes }
    }

    /// The text; not UTF-8 where the original is not UTF-16.
    pub fn text(&self) -> &[u8] {
        self.view.text()
    }

    /// The bytes of the file for a span of the text.
    pub fn original(&self, span: Range<usize>) -> Range<usize> {
        self.view.original(span).expect("a match is made of characters, and so is the view")
    }

    /// New text, as the file stores text.
    pub fn encode(&self, text: &[u8]) -> Vec<u8> {
        String::from_utf8_lossy(text).encode_utf16().flat_map(self.bytes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_maps_back() {
        let text = "aé€🙂\r\n";
        for (encoding, bytes) in [
            (Encoding::Utf16Le, u16::to_le_bytes as fn(u16) -> [u8; 2]),
            (Encoding::Utf16Be, u16::to_be_bytes),
        ] {
            let body: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
            let utf16 = Utf16::decode(&body, encoding);
            assert_eq!(utf16.text(), text.as_bytes());
            assert_eq!(utf16.encode(text.as_bytes()), body);
            for (at, c) in text.char_indices() {
                let range = utf16.original(at..at + c.len_utf8());
                assert_eq!(utf16.encode(&text.as_bytes()[at..at + c.len_utf8()]), body[range]);
            }
        }
    }

    #[test]
    fn what_is_unpaired_matches_nothing() {
        let utf16 = Utf16::decode(b"a\0\x3d\xd8\x3d\xd8\x02\xde\x02\xdeb\0c", Encoding::Utf16Le);
        assert_eq!(utf16.text(), b"a\xff\xf0\x9f\x98\x82\xffb\xff");
        assert_eq!(utf16.original(2..6), 4..8);
        assert_eq!(utf16.original(7..8), 10..12);
    }
}
