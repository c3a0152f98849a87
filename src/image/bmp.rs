//! BMP: a file header, then one of several that tell the dimensions.

use super::{Picture, Size, u16_le, u32_le};

/// What the two headers say.
struct Header {
    data: u32,
    size: Option<Size>,
    bits: u16,
    compression: u32,
}

pub(super) fn is(head: &[u8]) -> bool {
    header(head).is_some()
}

/// `None` for what is none: much text begins with `BM`.
fn header(bytes: &[u8]) -> Option<Header> {
    if !bytes.starts_with(b"BM") {
        return None;
    }
    let (file, data, own) = (u32_le(bytes, 2)?, u32_le(bytes, 10)?, u32_le(bytes, 14)?);
    // Some writers leave the file's length 0.
    if (file != 0 && (file < 26 || data >= file)) || data < 14_u32.checked_add(own)? {
        return None;
    }
    let (width, height, planes, bits, compression) = match own {
        12 => {
            (u16_le(bytes, 18)?.into(), u16_le(bytes, 20)?.into(), u16_le(bytes, 22)?, u16_le(bytes, 24)?, 0)
        }
        40..=124 => {
            // A negative height is that of an image stored from its top.
            let height = (u32_le(bytes, 22)? as i32).unsigned_abs();
            let compression = u32_le(bytes, 30).unwrap_or_default();
            (u32_le(bytes, 18)?, height, u16_le(bytes, 26)?, u16_le(bytes, 28)?, compression)
        }
        _ => return None,
    };
    if planes != 1 || !matches!(bits, 1 | 2 | 4 | 8 | 16 | 24 | 32) {
        return None;
    }
    let is_sane = width <= i32::MAX as u32;
    Some(Header { data, size: Size::new(width, height).filter(|_| is_sane), bits, compression })
}

pub(super) fn examine(bytes: &[u8]) -> Picture {
    let mut picture = Picture::UNKNOWN;
    let Some(header) = header(bytes) else { return picture };
    picture.stored = header.size;
    let Some(Size { width, height }) = header.size else { return picture };
    // Rows are whole numbers of four bytes. 3 is "uncompressed, with masks"; what is compressed may be of any length.
    let row = (u64::from(width) * u64::from(header.bits)).div_ceil(32) * 4;
    let pixels = match header.compression {
        0 | 3 => row.saturating_mul(height.into()),
        _ => 1,
    };
    picture.is_whole = pixels.saturating_add(header.data.into()) <= bytes.len() as u64;
    picture
}
