//! JPEG: segments behind markers, then coded data, then the marker of the end.

use memchr::memrchr;

use super::{Picture, Size, exif, u16_be};

/// Lossless JPEG-LS begins like one, and no browser shows it.
pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(b"\xFF\xD8\xFF") && head.get(3) != Some(&0xF7)
}

pub(super) fn examine(bytes: &[u8]) -> Picture {
    let mut picture = Picture::UNKNOWN;
    let mut has_exif = false;
    let mut place = 2;
    while bytes.get(place) == Some(&0xFF) {
        let Some(&marker) = bytes.get(place + 1) else { break };
        match marker {
            // Fill.
            0xFF => {
                place += 1;
                continue;
            }
            // Without data.
            0x01 | 0xD0..=0xD8 => {
                place += 2;
                continue;
            }
            0xD9 => break,
            _ => {}
        }
        let Some(length) = u16_be(bytes, place + 2).map(usize::from).filter(|length| *length >= 2) else {
            break;
        };
        let data = place + 4;
        match marker {
            // The frame; C4, C8 and CC are tables and such.
            0xC0..=0xCF if !matches!(marker, 0xC4 | 0xC8 | 0xCC) && picture.stored.is_none() => {
                picture.stored = u16_be(bytes, data + 3)
                    .zip(u16_be(bytes, data + 1))
                    .and_then(|(width, height)| Size::new(width.into(), height.into()));
            }
            0xE1 if !has_exif => {
                let segment = bytes.get(data..(place + 2 + length).min(bytes.len())).unwrap_or_default();
                if let Some(tiff) = segment.strip_prefix(b"Exif\0\0") {
                    picture.orientation = exif::orientation(tiff);
                    has_exif = true;
                }
            }
            0xDA => {
                picture.is_whole = bytes.get(data..).is_some_and(has_end);
                break;
            }
            _ => {}
        }
        place += 2 + length;
    }
    picture
}

/// In coded data an FF is followed by 00 or by a restart marker, so FF D9 is nothing but the end. Other data may
/// follow: phones put videos there.
fn has_end(coded: &[u8]) -> bool {
    let mut before = coded.len();
    while let Some(place) = memrchr(0xD9, &coded[..before]) {
        if place > 0 && coded[place - 1] == 0xFF {
            return true;
        }
        before = place;
    }
    false
}
