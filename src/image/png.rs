//! PNG: chunks of length, type, data and checksum.

use super::{Picture, Size, at, u32_be};

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(b"\x89PNG\r\n\x1A\n")
}

/// An `acTL` before the first `IDAT` makes it an animated one.
pub(super) fn examine(bytes: &[u8]) -> Picture {
    let mut picture = Picture::UNKNOWN;
    if at(bytes, 8) == Some(*b"\0\0\0\x0DIHDR") {
        picture.stored =
            u32_be(bytes, 16).zip(u32_be(bytes, 20)).and_then(|(width, height)| Size::new(width, height));
    }
    let mut has_data = false;
    let mut place = 8_usize;
    while let (Some(length), Some(kind)) = (u32_be(bytes, place), at::<4>(bytes, place + 4)) {
        let Some(end) = place.checked_add(length as usize).and_then(|end| end.checked_add(12)) else { break };
        match &kind {
            b"IDAT" => has_data = true,
            b"acTL" if !has_data => picture.animated = true,
            b"IEND" => {
                picture.is_whole = has_data && end <= bytes.len();
                break;
            }
            _ => {}
        }
        place = end;
    }
    picture
}
