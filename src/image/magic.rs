//! Names for what is neither text nor an image that is shown, by the bytes that it begins with.

use memchr::memmem;

use super::{at, u32_be};

/// A kind of file.
#[derive(Debug, PartialEq, Eq)]
pub struct Magic {
    place: usize,
    bytes: &'static [u8],
    /// The MIME type, and after a space the name for people.
    known: &'static str,
}

const fn magic(place: usize, bytes: &'static [u8], known: &'static str) -> Magic {
    Magic { place, bytes, known }
}

impl Magic {
    /// Such as `application/zip`.
    pub fn mime_type(&self) -> &'static str {
        self.words().0
    }

    /// For people, such as `zip archive`.
    pub fn name(&self) -> &'static str {
        self.words().1
    }

    fn words(&self) -> (&'static str, &'static str) {
        self.known.split_once(' ').unwrap_or((self.known, ""))
    }

    /// Whether it is an image, of a kind that models are not shown.
    pub fn is_image(&self) -> bool {
        self.known.starts_with("image/")
    }

    /// Whether text cannot begin so. A PDF is one even where it is all ASCII: its text is not in it as text.
    pub(super) fn is_sure(&self) -> bool {
        // Two bytes may be the beginning of a text of an old code page.
        if self.bytes.len() < 3 {
            return false;
        }
        let odd = |byte: &u8| !byte.is_ascii() || byte.is_ascii_control();
        self.bytes.iter().any(odd) || self.bytes.starts_with(b"%PDF-")
    }
}

/// The first that fits counts.
const KNOWN: &[Magic] = &[
    magic(0, b"%PDF-1.", "application/pdf PDF document"),
    magic(0, b"%PDF-2.", "application/pdf PDF document"),
    magic(0, b"PK\x03\x04", "application/zip zip archive"),
    magic(0, b"PK\x05\x06", "application/zip zip archive, empty"),
    magic(0, b"PK\x07\x08", "application/zip zip archive"),
    magic(0, b"\x1F\x8B", "application/gzip gzip data"),
    magic(4, b"1AY&SY", "application/x-bzip2 bzip2 data"),
    magic(0, b"\xFD7zXZ\0", "application/x-xz xz data"),
    magic(0, b"\x28\xB5\x2F\xFD", "application/zstd zstd data"),
    magic(0, b"7z\xBC\xAF\x27\x1C", "application/x-7z-compressed 7z archive"),
    magic(0, b"Rar!\x1A\x07", "application/vnd.rar rar archive"),
    magic(257, b"ustar", "application/x-tar tar archive"),
    magic(0, b"\x7FELF", "application/x-elf ELF executable"),
    magic(0, b"\xCF\xFA\xED\xFE", "application/x-mach-binary Mach-O executable"),
    magic(0, b"\xCE\xFA\xED\xFE", "application/x-mach-binary Mach-O executable"),
    magic(0, b"MZ", "application/vnd.microsoft.portable-executable Windows executable"),
    magic(0, b"\0asm", "application/wasm WebAssembly module"),
    magic(0, b"SQLite format 3\0", "application/vnd.sqlite3 SQLite database"),
    magic(0, b"wOFF", "font/woff WOFF font"),
    magic(0, b"wOF2", "font/woff2 WOFF2 font"),
    magic(0, b"\0\x01\0\0\0", "font/ttf TrueType font"),
    magic(0, b"OTTO", "font/otf OpenType font"),
    magic(0, b"ID3", "audio/mpeg MP3 audio"),
    magic(0, b"\xFF\xFB", "audio/mpeg MP3 audio"),
    magic(0, b"fLaC", "audio/flac FLAC audio"),
    magic(0, b"OggS", "application/ogg Ogg audio or video"),
    magic(8, b"WAVEfmt ", "audio/wav WAV audio"),
    magic(0, b"\x1A\x45\xDF\xA3", "video/webm WebM or Matroska video"),
    magic(0, b"II*\0", "image/tiff TIFF image"),
    magic(0, b"MM\0*", "image/tiff TIFF image"),
    magic(0, b"\0\0\x01\0", "image/x-icon ICO image"),
    magic(0, b"\xFF\x0A", "image/jxl JPEG XL image"),
    magic(0, b"\0\0\0\x0CJXL \r\n\x87\n", "image/jxl JPEG XL image"),
    magic(0, b"\xFF\xD8\xFF\xF7", "image/jls JPEG-LS image"),
    magic(0, b"8BPS", "image/vnd.adobe.photoshop Photoshop image"),
];

/// By their brand, after `ftyp`.
const BRANDS: &[Magic] = &[
    magic(0, b"avif", "image/avif AVIF image"),
    magic(0, b"avis", "image/avif AVIF image"),
    magic(0, b"hei", "image/heic HEIC image"),
    magic(0, b"hev", "image/heic HEIC image"),
    magic(0, b"mif1", "image/heif HEIF image"),
    magic(0, b"msf1", "image/heif HEIF image"),
    magic(0, b"qt  ", "video/quicktime QuickTime video"),
    magic(0, b"M4A", "audio/mp4 MPEG-4 audio"),
    magic(0, b"", "video/mp4 MPEG-4 video"),
];

/// What a zip file is, by what stands in its first local headers.
const IN_ZIP: &[Magic] = &[
    magic(30, b"mimetypeapplication/epub+zip", "application/epub+zip EPUB book"),
    magic(30, b"mimetypeapplication/vnd.oasis", "application/vnd.oasis.opendocument OpenDocument file"),
    magic(30, b"META-INF/", "application/java-archive Java archive"),
    magic(
        0,
        b"word/",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document Word document",
    ),
    magic(0, b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet Excel workbook"),
    magic(
        0,
        b"ppt/",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation PowerPoint presentation",
    ),
];

static JAVA_CLASS: Magic = magic(0, b"\xCA\xFE\xBA\xBE", "application/java-vm Java class");
static UNIVERSAL: Magic = magic(0, b"\xCA\xFE\xBA\xBE", "application/x-mach-binary Mach-O executable");

/// What a file that begins so is called.
pub(super) fn find(head: &[u8]) -> Option<&'static Magic> {
    if at(head, 4) == Some(*b"ftyp") {
        // "HEIF" alone says little: the brands that it is compatible with say more.
        let own = brand(head, 8);
        let is_heif = |brand: &&Magic| brand.known.starts_with("image/heif ");
        let more = (16..64)
            .step_by(4)
            .filter_map(|place| brand(head, place))
            .find(|brand| brand.is_image() && !is_heif(brand));
        return own.map(|own| if is_heif(&own) { more.unwrap_or(own) } else { own });
    }
    if let Some(number) = u32_be(head, 4).filter(|_| head.starts_with(JAVA_CLASS.bytes)) {
        // A class has its version there, from 45 on; a universal binary a number of machines.
        return Some(if number < 45 { &UNIVERSAL } else { &JAVA_CLASS });
    }
    let known = KNOWN.iter().find(|known| begins(head, known))?;
    if known.bytes == b"PK\x03\x04" {
        let is_office = at(head, 30) == Some(*b"[Content") || at(head, 30) == Some(*b"_rels/.r");
        let inside = |inner: &&Magic| match inner.place {
            0 => is_office && memmem::find(head, inner.bytes).is_some(),
            _ => begins(head, inner),
        };
        return IN_ZIP.iter().find(inside).or(Some(known));
    }
    Some(known)
}

fn begins(head: &[u8], magic: &Magic) -> bool {
    head.get(magic.place..).is_some_and(|rest| rest.starts_with(magic.bytes))
}

fn brand(head: &[u8], place: usize) -> Option<&'static Magic> {
    let brand = at::<4>(head, place)?;
    BRANDS.iter().find(|known| brand.starts_with(known.bytes))
}
