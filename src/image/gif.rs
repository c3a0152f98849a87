//! GIF: a screen, then blocks: extensions, frames, and a last one that says so.

use super::{Picture, Size, u16_le};

const EXTENSION: u8 = 0x21;
const FRAME: u8 = 0x2C;
const TRAILER: u8 = 0x3B;

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a")
}

/// Whether the first block is there: text that begins so has none, but by chance.
pub(super) fn has_block(head: &[u8]) -> bool {
    matches!(first_block(head).and_then(|place| head.get(place)), Some(&(EXTENSION | FRAME | TRAILER)))
}

/// Where the first block is: after the screen and its colours.
fn first_block(bytes: &[u8]) -> Option<usize> {
    Some(13 + colours(*bytes.get(10)?))
}

/// Bytes of the colour table that the flags announce.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

pub(super) fn examine(bytes: &[u8]) -> Picture {
    let mut picture = Picture::UNKNOWN;
    picture.stored = u16_le(bytes, 6)
        .zip(u16_le(bytes, 8))
        .and_then(|(width, height)| Size::new(width.into(), height.into()));
    let Some(mut place) = first_block(bytes) else { return picture };
    let mut frames = 0;
    loop {
        let next = match bytes.get(place) {
            Some(&EXTENSION) => after_data(bytes, place + 2),
            Some(&FRAME) => bytes.get(place + 9).and_then(|flags| {
                frames += 1;
                picture.animated = frames > 1;
                after_data(bytes, place + 10 + colours(*flags) + 1)
            }),
            Some(&TRAILER) => {
                picture.is_whole = true;
                None
            }
            // The last block is often left out, and not missed.
            None => {
                picture.is_whole = frames > 0 && place == bytes.len();
                None
            }
            Some(_) => None,
        };
        let Some(next) = next else { return picture };
        place = next;
    }
}

/// Where a run of sub-blocks ends: each has its length before it, the last one 0.
fn after_data(bytes: &[u8], mut place: usize) -> Option<usize> {
    loop {
        let length = usize::from(*bytes.get(place)?);
        place += 1 + length;
        if length == 0 {
            return Some(place);
        }
    }
}
