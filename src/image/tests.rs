use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_be_bytes()[..], kind, data, b"crc!"].concat()
}

fn png(width: u32, height: u32, more: &[Vec<u8>]) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), b"\x08\x06\0\0\0"].concat();
    [&b"\x89PNG\r\n\x1A\n"[..], &chunk(b"IHDR", &header), &more.concat()].concat()
}

fn segment(marker: u8, data: &[u8]) -> Vec<u8> {
    [&[0xFF, marker][..], &(data.len() as u16 + 2).to_be_bytes(), data].concat()
}

fn frame(width: u16, height: u16) -> Vec<u8> {
    segment(0xC2, &[&[8][..], &height.to_be_bytes(), &width.to_be_bytes(), b"\x01\x01\x11\0"].concat())
}

fn jpeg(segments: &[Vec<u8>], coded: &[u8]) -> Vec<u8> {
    [b"\xFF\xD8", &segments.concat()[..], &segment(0xDA, b"\x01\x01\0\0\x3F\0"), coded].concat()
}

/// A TIFF header with some tags, the orientation in the middle.
fn tiff(is_little: bool, orientation: u16) -> Vec<u8> {
    let short = |n: u16| if is_little { n.to_le_bytes() } else { n.to_be_bytes() };
    let long = |n: u32| if is_little { n.to_le_bytes() } else { n.to_be_bytes() };
    let tag = |tag, value| [&short(tag)[..], &short(3), &long(1), &short(value), b"\0\0"].concat();
    let tags = [tag(0x010F, 7), tag(0x0112, orientation), tag(0x0128, 2)].concat();
    [if is_little { b"II" } else { b"MM" }, &short(42)[..], &long(8), &short(3), &tags, &long(0)].concat()
}

fn exif(is_little: bool, orientation: u16) -> Vec<u8> {
    segment(0xE1, &[b"Exif\0\0", &tiff(is_little, orientation)[..]].concat())
}

fn gif(flags: u8, blocks: &[&[u8]]) -> Vec<u8> {
    let colours = if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
    [b"GIF89a\x05\0\x07\0", &[flags, 0, 0][..], &vec![0x55; colours], &blocks.concat()].concat()
}

const GIF_FRAME: &[u8] = b"\x2C\0\0\0\0\x05\0\x07\0\0\x02\x02\x4C\x01\0";
const GIF_DELAY: &[u8] = b"\x21\xF9\x04\0\x0A\0\0\0";

fn webp(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let mut body = b"WEBP".to_vec();
    for (kind, data) in chunks {
        body.extend([&kind[..], &(data.len() as u32).to_le_bytes(), data].concat());
        body.resize(body.len().next_multiple_of(2), 0);
    }
    [b"RIFF", &(body.len() as u32).to_le_bytes()[..], &body].concat()
}

fn bmp(width: i32, height: i32, bits: u16, pixels: usize) -> Vec<u8> {
    let header = [
        &40_u32.to_le_bytes()[..],
        &width.to_le_bytes(),
        &height.to_le_bytes(),
        &1_u16.to_le_bytes(),
        &bits.to_le_bytes(),
        &[0; 24],
    ];
    let length = (54 + pixels) as u32;
    [b"BM", &length.to_le_bytes()[..], &[0; 4], &54_u32.to_le_bytes(), &header.concat(), &vec![0; pixels]]
        .concat()
}

fn picture(format: Format, bytes: &[u8]) -> Picture {
    assert_eq!(kind(&bytes[..bytes.len().min(HEAD)]), FileKind::Image(format));
    examine(format, bytes)
}

/// Width and height as shown, orientation, animated, whole.
fn facts(format: Format, bytes: &[u8]) -> (Option<(u32, u32)>, u8, bool, bool) {
    let found = picture(format, bytes);
    let size = found.shown().map(|size| (size.width, size.height));
    (size, found.orientation, found.animated, found.is_whole)
}

#[test]
fn png_headers() {
    let (data, end) = (chunk(b"IDAT", b"data"), chunk(b"IEND", b""));
    let whole = png(300, 70_000, &[chunk(b"gAMA", b"1234"), data.clone(), end.clone()]);
    assert_eq!(facts(Format::Png, &whole), (Some((300, 70_000)), 1, false, true));
    assert!(picture(Format::Png, &[&whole[..], b"what follows"].concat()).is_whole);
    for cut in 1..=end.len() {
        assert!(!picture(Format::Png, &whole[..whole.len() - cut]).is_whole, "{cut}");
    }
    let control = chunk(b"acTL", &[0, 0, 0, 2, 0, 0, 0, 0]);
    assert!(picture(Format::Png, &png(1, 1, &[control.clone(), data.clone(), end.clone()])).animated);
    assert!(!picture(Format::Png, &png(1, 1, &[data, control, end.clone()])).animated);
    assert_eq!(facts(Format::Png, &png(0, 1, &[end])), (None, 1, false, false));
    assert_eq!(facts(Format::Png, b"\x89PNG\r\n\x1A\n"), (None, 1, false, false));
}

#[test]
fn jpeg_headers_in_every_orientation() {
    for orientation in 1..=8 {
        for is_little in [true, false] {
            let segments = [segment(0xE0, b"JFIF\0"), exif(is_little, orientation), frame(40, 30)];
            let found = picture(Format::Jpeg, &jpeg(&segments, b"\x12\xFF\0\x34\xFF\xD9"));
            assert_eq!(u16::from(found.orientation), orientation);
            assert_eq!(found.stored, Size::new(40, 30));
            let turned = if orientation < 5 { Size::new(40, 30) } else { Size::new(30, 40) };
            assert_eq!((found.shown(), found.is_whole), (turned, true));
        }
    }
    for odd in [0, 9, 600] {
        assert_eq!(picture(Format::Jpeg, &jpeg(&[exif(true, odd)], b"")).orientation, 1);
    }
}

#[test]
fn jpeg_structure() {
    // A small picture inside has an end of its own, a table is no frame, and there may be fill before a marker.
    let small = segment(0xE2, &[jpeg(&[frame(1, 1)], b"\xFF\xD9"), vec![0xFF, 0xFF]].concat());
    let table = segment(0xC4, &[0; 20]);
    let filled = [b"\xFF\xFF\xFF".to_vec(), frame(640, 480)].concat();
    let cut = jpeg(&[small.clone(), table.clone(), filled.clone()], b"\x12\xFF\0\xD9");
    assert_eq!(facts(Format::Jpeg, &cut), (Some((640, 480)), 1, false, false));
    let whole = [&cut[..], b"\xFF\xD9 and a video"].concat();
    assert_eq!(facts(Format::Jpeg, &whole), (Some((640, 480)), 1, false, true));
    // XMP comes in APP1 too.
    let segments = [segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0"), exif(false, 6), frame(2, 1)];
    assert_eq!(facts(Format::Jpeg, &jpeg(&segments, b"\xFF\xD9")), (Some((1, 2)), 6, false, true));
    assert_eq!(facts(Format::Jpeg, b"\xFF\xD8\xFF\xE0\0\x10JFIF\0"), (None, 1, false, false));
    assert!(
        matches!(kind(b"\xFF\xD8\xFF\xF7\0\x0B"), FileKind::Other(Some(jls)) if jls.mime_type() == "image/jls")
    );
}

#[test]
fn gif_frames() {
    let one = gif(0x81, &[GIF_DELAY, GIF_FRAME, b";"]);
    assert_eq!(facts(Format::Gif, &one), (Some((5, 7)), 1, false, true));
    // The last byte is often missing.
    assert!(picture(Format::Gif, &one[..one.len() - 1]).is_whole);
    assert!(!picture(Format::Gif, &one[..one.len() - 2]).is_whole);
    let two = gif(0, &[GIF_DELAY, GIF_FRAME, GIF_DELAY, GIF_FRAME, b";"]);
    assert_eq!(facts(Format::Gif, &two), (Some((5, 7)), 1, true, true));
}

#[test]
fn webp_forms() {
    let lossy = webp(&[(b"VP8 ", b"\x30\x01\0\x9D\x01\x2A\x10\x41\x20\x80data")]);
    assert_eq!(facts(Format::Webp, &lossy), (Some((0x110, 0x20)), 1, false, true));
    assert!(!picture(Format::Webp, &lossy[..lossy.len() - 1]).is_whole);
    let lossless = webp(&[(b"VP8L", &[&[0x2F][..], &(639_u32 | 479 << 14).to_le_bytes()].concat())]);
    assert_eq!(facts(Format::Webp, &lossless), (Some((640, 480)), 1, false, true));
    let extended = |flags| [flags, 0, 0, 0, 0x2B, 0x01, 0, 0xC7, 0, 0];
    assert_eq!(facts(Format::Webp, &webp(&[(b"VP8X", &extended(2))])), (Some((300, 200)), 1, true, true));
    for prefix in [&b""[..], b"Exif\0\0"] {
        let exif = [prefix, &tiff(false, 8)].concat();
        let turned = webp(&[(b"VP8X", &extended(8)), (b"ALPH", b"odd"), (b"EXIF", &exif)]);
        assert_eq!(facts(Format::Webp, &turned), (Some((200, 300)), 8, false, true));
    }
}

#[test]
fn bmp_headers() {
    // Three pixels of 24 bits take 12 bytes a row.
    assert_eq!(facts(Format::Bmp, &bmp(3, 2, 24, 24)), (Some((3, 2)), 1, false, true));
    assert_eq!(facts(Format::Bmp, &bmp(3, -2, 24, 23)), (Some((3, 2)), 1, false, false));
    let core = b"BM\x1E\0\0\0\0\0\0\0\x1A\0\0\0\x0C\0\0\0\x02\0\x01\0\x01\0\x08\0ABCD";
    assert_eq!(facts(Format::Bmp, core), (Some((2, 1)), 1, false, true));
    assert_eq!(facts(Format::Bmp, &bmp(-1, 1, 24, 4)).0, None);
    for text in [&b"BMW is a car company, and this text is long enough\n"[..], b"BM", &bmp(1, 1, 5, 4)[..20]]
    {
        assert!(!bmp::is(text));
    }
}

#[test]
fn text_is_text_whatever_it_begins_with() {
    for text in [
        &b""[..],
        b"BMW is a car company, and this text is long enough\n",
        b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>",
        b"{\"error\":\"404\"}",
        b"GIF89a is the later version\n",
        b"RIFF is a format, WEBP one of its uses\n",
        b"RIFFing:)WEBP",
        b"MZ is a name",
        b"ID3 tags\n",
        b"OTTO the dog",
        b"SQLite format 3",
        b"!<arch> is ar",
        b"%PDF is how it begins",
        b"abcdftyp",
        b"\xFF\xFE\0\0\x01\0",
        b"caf\xE9\n",
    ] {
        assert_eq!(kind(text), FileKind::Text, "{}", text.escape_ascii());
    }
}

#[test]
fn what_is_not_shown_has_a_name() {
    let zip = |name: &str| [b"PK\x03\x04\x14\0\0\0\0\0", &[0; 20][..], name.as_bytes()].concat();
    let brand = |brands: &str| [&b"\0\0\0\x18ftyp"[..], brands.as_bytes()].concat();
    let tar = [&[b'a'; 100][..], &[0; 157], b"ustar\x0000"].concat();
    for (bytes, name, mime) in [
        (b"PK\x03\x04\x14\0\0\0\x08\0".to_vec(), "zip archive", "application/zip"),
        (zip("a.txt"), "zip archive", "application/zip"),
        (
            zip("[Content_Types].xml word/document.xml"),
            "Word document",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ),
        (
            zip("_rels/.rels xl/workbook.xml"),
            "Excel workbook",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        ),
        (
            zip("[Content_Types].xml ppt/"),
            "PowerPoint presentation",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ),
        (zip("word/a.txt"), "zip archive", "application/zip"),
        (zip("mimetypeapplication/epub+zip"), "EPUB book", "application/epub+zip"),
        (zip("META-INF/MANIFEST.MF"), "Java archive", "application/java-archive"),
        (brand("heic\0\0\0\0mif1heic"), "HEIC image", "image/heic"),
        (brand("mif1\0\0\0\0mif1heix"), "HEIC image", "image/heic"),
        (brand("mif1\0\0\0\0mif1avif"), "AVIF image", "image/avif"),
        (brand("mif1\0\0\0\0mif1"), "HEIF image", "image/heif"),
        (brand("avif\0\0\0\0"), "AVIF image", "image/avif"),
        (brand("isom\0\0\x02\0"), "MPEG-4 video", "video/mp4"),
        (brand("qt  \0\0\x02\0"), "QuickTime video", "video/quicktime"),
        (b"%PDF-1.7\n1 0 obj\n".to_vec(), "PDF document", "application/pdf"),
        (b"\x1F\x8B\x08\0".to_vec(), "gzip data", "application/gzip"),
        (b"\xCA\xFE\xBA\xBE\0\0\0\x3D".to_vec(), "Java class", "application/java-vm"),
        (b"\xCA\xFE\xBA\xBE\0\0\0\x02".to_vec(), "Mach-O executable", "application/x-mach-binary"),
        (b"\x7FELF\x02\x01\x01\0".to_vec(), "ELF executable", "application/x-elf"),
        (b"II*\0\x08\0\0\0".to_vec(), "TIFF image", "image/tiff"),
        (b"\0\0\x01\0\x01\0".to_vec(), "ICO image", "image/x-icon"),
        (b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0".to_vec(), "WAV audio", "audio/wav"),
        (b"MZ\x90\0\x03\0".to_vec(), "Windows executable", "application/vnd.microsoft.portable-executable"),
        (tar, "tar archive", "application/x-tar"),
    ] {
        let FileKind::Other(Some(known)) = kind(&bytes) else { panic!("{}", bytes.escape_ascii()) };
        assert_eq!((known.name(), known.mime_type()), (name, mime));
        assert_eq!(known.is_image(), mime.starts_with("image/"));
    }
    assert_eq!(kind(b"\x01\x02\0\x03"), FileKind::Other(None));
}

/// Bytes that begin like files do, and go on as they like.
fn filelike() -> impl Strategy<Value = Vec<u8>> {
    let starts = prop_oneof![
        Just(png(9, 9, &[chunk(b"acTL", b"12345678"), chunk(b"IDAT", b"x"), chunk(b"IEND", b"")])),
        Just(jpeg(&[exif(true, 6), frame(9, 8)], b"\xFF\xD9")),
        Just(gif(0x80, &[GIF_DELAY, GIF_FRAME, GIF_FRAME, b";"])),
        Just(webp(&[(b"VP8X", b"\x0A\0\0\0\x01\0\0\x01\0\0"), (b"EXIF", &tiff(true, 3))])),
        Just(bmp(2, 2, 24, 16)),
        Just(b"\0\0\0\x20ftypmif1\0\0\0\0mif1".to_vec()),
        Just(vec![]),
    ];
    let changes = vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (starts, changes, any::<prop::sample::Index>(), vec(any::<u8>(), 0..40)).prop_map(
        |(mut bytes, changes, cut, rest)| {
            for (place, byte) in changes {
                if !bytes.is_empty() {
                    let place = place.index(bytes.len());
                    bytes[place] = byte;
                }
            }
            bytes.truncate(cut.index(bytes.len() + 1));
            bytes.extend(rest);
            bytes
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_hold_the_promises(bytes in vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }

    #[test]
    fn bytes_that_begin_like_files_hold_the_promises(bytes in filelike()) {
        exercise(&bytes);
    }
}
