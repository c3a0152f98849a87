//! The orientation in EXIF data, which is a TIFF header with a list of tags.

use super::{u16_be, u16_le, u32_be, u32_le};

const ORIENTATION: u16 = 0x0112;

/// From 1 to 8; 1 where it is not told.
pub(super) fn orientation(tiff: &[u8]) -> u8 {
    find(tiff).unwrap_or(1)
}

type U16 = fn(&[u8], usize) -> Option<u16>;
type U32 = fn(&[u8], usize) -> Option<u32>;

fn find(tiff: &[u8]) -> Option<u8> {
    let (short, long): (U16, U32) = match tiff.first_chunk()? {
        b"II" => (u16_le, u32_le),
        b"MM" => (u16_be, u32_be),
        _ => return None,
    };
    if short(tiff, 2)? != 42 {
        return None;
    }
    let tags = tiff.get(long(tiff, 4)? as usize..)?;
    for nth in 0..usize::from(short(tags, 0)?) {
        let tag = 2 + nth * 12;
        if short(tags, tag)? == ORIENTATION {
            let value = short(tags, tag + 8)?;
            return u8::try_from(value).ok().filter(|value| (1..=8).contains(value));
        }
    }
    None
}
