//! What kind of file bytes are, told by the bytes alone, and what an image's header says of it.
//!
//! Two questions, for two amounts of bytes:
//!
//! - [`kind`] looks at the beginning of a file ([`HEAD`] bytes are plenty): text, an image that models are shown,
//!   or something else, with its name where it has one. A file's name is not asked: it may lie.
//! - [`examine`] walks an image's structure, which is cheap but needs the whole file to be sure: dimensions,
//!   orientation, animation, and whether the end is there. Of a part of a file it tells what that part tells.
//!
//! Pixels are not decoded here. Every walk goes forward through the bytes once.

use crate::text::encoding;

mod bmp;
mod exif;
mod gif;
mod jpeg;
mod magic;
mod png;
mod webp;

pub use magic::Magic;

/// Bytes of a file's beginning that [`kind`] should be given, where the file has so many.
pub const HEAD: usize = encoding::BINARY_WINDOW;

/// Formats that are shown to models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// PNG. An animated one is not shown.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
    /// BMP, which models do not take: it is converted.
    Bmp,
}

impl Format {
    /// Such as `image/png`.
    pub fn mime_type(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
            Format::Bmp => "image/bmp",
        }
    }

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Format::Png => "PNG",
            Format::Jpeg => "JPEG",
            Format::Gif => "GIF",
            Format::Webp => "WebP",
            Format::Bmp => "BMP",
        }
    }
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Text, in one of the encodings of [`encoding`].
    Text,
    /// An image that models are shown, whole or not.
    Image(Format),
    /// Anything else, by name where the first bytes tell.
    Other(Option<&'static Magic>),
}

/// What the first bytes of a file tell of its kind.
///
/// A format counts only if more than a word says so: text that begins with `BM` or `GIF89a` is text.
///
/// ```
/// use tackroom::image::{FileKind, Format, kind};
/// assert_eq!(kind(b"BMW is a car company"), FileKind::Text);
/// assert_eq!(kind(b"\xFF\xD8\xFF\xE0"), FileKind::Image(Format::Jpeg));
/// let FileKind::Other(Some(known)) = kind(b"PK\x03\x04\x14\0\0\0\x08\0") else { panic!() };
/// assert_eq!(known.name(), "zip archive");
/// ```
pub fn kind(head: &[u8]) -> FileKind {
    if encoding::detect(head).is_utf16() {
        return FileKind::Text;
    }
    let is_binary = encoding::is_binary(head);
    let is_image = |format: &Format| match format {
        Format::Png => png::is(head),
        Format::Jpeg => jpeg::is(head),
        Format::Gif => gif::is(head) && (is_binary || gif::has_block(head)),
        Format::Webp => webp::is(head) && (is_binary || webp::has_chunk(head)),
        Format::Bmp => bmp::is(head),
    };
    let formats = [Format::Png, Format::Jpeg, Format::Gif, Format::Webp, Format::Bmp];
    if let Some(format) = formats.into_iter().find(is_image) {
        return FileKind::Image(format);
    }
    match magic::find(head) {
        Some(known) if is_binary || known.is_sure() => FileKind::Other(Some(known)),
        _ if is_binary => FileKind::Other(None),
        _ => FileKind::Text,
    }
}

/// Pixels across and down; neither is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Across.
    pub width: u32,
    /// Down.
    pub height: u32,
}

impl Size {
    fn new(width: u32, height: u32) -> Option<Size> {
        (width > 0 && height > 0).then_some(Size { width, height })
    }
}

/// What an image's structure tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// As the pixels are stored. `None` where the header is cut off or says nonsense.
    pub stored: Option<Size>,
    /// EXIF's, from 1 (as stored) to 8; 1 where there is none.
    pub orientation: u8,
    /// Whether there is more than one frame, or the format's flag says so.
    pub animated: bool,
    /// Whether the bytes reach to the image's end.
    pub is_whole: bool,
}

impl Picture {
    const UNKNOWN: Picture = Picture { stored: None, orientation: 1, animated: false, is_whole: false };

    /// As the image is shown: on their side where the orientation is one of 5 to 8.
    pub fn shown(&self) -> Option<Size> {
        let Size { width, height } = self.stored?;
        Some(if self.orientation < 5 {
            Size { width, height }
        } else {
            Size { width: height, height: width }
        })
    }
}

/// Walks the structure of an image of that format.
///
/// ```
/// use tackroom::image::{Format, Size, examine};
/// let picture = examine(Format::Gif, b"GIF89a\x02\0\x03\0\0\0\0;");
/// assert_eq!(picture.shown(), Some(Size { width: 2, height: 3 }));
/// ```
pub fn examine(format: Format, bytes: &[u8]) -> Picture {
    match format {
        Format::Png => png::examine(bytes),
        Format::Jpeg => jpeg::examine(bytes),
        Format::Gif => gif::examine(bytes),
        Format::Webp => webp::examine(bytes),
        Format::Bmp => bmp::examine(bytes),
    }
}

/// The promises that hold of any bytes; for properties and fuzzing.
///
/// # Panics
/// When one is broken.
#[doc(hidden)]
pub fn exercise(bytes: &[u8]) {
    let head = &bytes[..bytes.len().min(HEAD)];
    let found = kind(head);
    if found == FileKind::Text {
        assert!(!encoding::is_binary(head), "binary bytes are no text");
    }
    for format in [Format::Png, Format::Jpeg, Format::Gif, Format::Webp, Format::Bmp] {
        let picture = examine(format, bytes);
        assert!((1..=8).contains(&picture.orientation));
        assert!(picture.stored.is_none_or(|size| size.width > 0 && size.height > 0));
        assert_eq!(picture.stored.is_some(), picture.shown().is_some());
        // What a part tells of the size, the whole does not take back.
        let part = examine(format, &bytes[..bytes.len() / 2]);
        assert!(part.stored.is_none() || part.stored == picture.stored, "{format:?}");
        assert!(!part.animated || picture.animated, "{format:?}");
    }
}

/// Bytes at a place, if they are there.
fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..)?.first_chunk().copied()
}

fn u16_be(bytes: &[u8], place: usize) -> Option<u16> {
    at(bytes, place).map(u16::from_be_bytes)
}

fn u16_le(bytes: &[u8], place: usize) -> Option<u16> {
    at(bytes, place).map(u16::from_le_bytes)
}

fn u32_be(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u32::from_be_bytes)
}

fn u32_le(bytes: &[u8], place: usize) -> Option<u32> {
    at(bytes, place).map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests;
