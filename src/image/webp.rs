//! WebP: RIFF chunks.

use super::{Picture, Size, at, exif, u16_le, u32_le};

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(b"RIFF") && at(head, 8) == Some(*b"WEBP")
}

/// Whether the first chunk is one that an image begins with.
pub(super) fn has_chunk(head: &[u8]) -> bool {
    at::<4>(head, 12).is_some_and(|kind| matches!(&kind, b"VP8 " | b"VP8L" | b"VP8X"))
}

pub(super) fn examine(bytes: &[u8]) -> Picture {
    let mut picture = Picture::UNKNOWN;
    let Some(length) = u32_le(bytes, 4) else { return picture };
    picture.is_whole =
        (length as usize).checked_add(8).is_some_and(|end| end <= bytes.len()) && has_chunk(bytes);
    match at::<4>(bytes, 12).as_ref() {
        Some(b"VP8 ") if at(bytes, 23) == Some([0x9D, 0x01, 0x2A]) => {
            picture.stored = u16_le(bytes, 26)
                .zip(u16_le(bytes, 28))
                .and_then(|(width, height)| Size::new((width & 0x3FFF).into(), (height & 0x3FFF).into()));
        }
        Some(b"VP8L") if bytes.get(20) == Some(&0x2F) => {
            picture.stored =
                u32_le(bytes, 21).and_then(|bits| Size::new((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1));
        }
        Some(b"VP8X") => {
            let three = |place| at::<3>(bytes, place).map(|[a, b, c]| u32::from_le_bytes([a, b, c, 0]) + 1);
            picture.stored = three(24).zip(three(27)).and_then(|(width, height)| Size::new(width, height));
            let flags = bytes.get(20).copied().unwrap_or_default();
            picture.animated = flags & 0x02 != 0;
            if flags & 0x08 != 0 {
                picture.orientation = exif_chunk(bytes).map_or(1, exif::orientation);
            }
        }
        _ => {}
    }
    picture
}

/// The data of the EXIF chunk, which some writers begin as JPEG has it.
fn exif_chunk(bytes: &[u8]) -> Option<&[u8]> {
    let mut place = 12_usize;
    loop {
        let length = u32_le(bytes, place + 4)? as usize;
        let end = place.checked_add(8)?.checked_add(length)?;
        if at(bytes, place)? == *b"EXIF" {
            let data = bytes.get(place + 8..end.min(bytes.len()))?;
            return Some(data.strip_prefix(b"Exif\0\0").unwrap_or(data));
        }
        // Chunks begin at even places.
        place = end.checked_add(length % 2)?;
    }
}
