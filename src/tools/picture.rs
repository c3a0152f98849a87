//! What `read` answers for a file that is no text: an image, or one line on what the file is.

use super::{Builtin, Content, Output, ToolContext, read};
use crate::env::{Env, Host, ImageLimits, ImageRequest, ShownImage};
use crate::image::{self, Format, Magic, Picture, Size};
use crate::text::truncate::format_size;

/// Who makes images fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImageProcessor {
    /// Nobody: they are shown as they are, if they fit.
    #[default]
    None,
    /// The host's runtime. It is asked where an image does not fit, and to turn one upright.
    Default,
    /// The host's own, which is asked for every image.
    Own,
}

/// Which images are shown, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSettings {
    /// Who makes them fit; default nobody.
    pub processor: ImageProcessor,
    /// Whether the model takes images at all; default true.
    pub supported: bool,
    /// What they have to keep within.
    pub limits: ImageLimits,
}

impl Default for ImageSettings {
    fn default() -> Self {
        ImageSettings { processor: ImageProcessor::None, supported: true, limits: ImageLimits::default() }
    }
}

impl ImageSettings {
    /// What the model is told of images, after "a text file".
    pub(super) fn declared(&self) -> &'static str {
        match (self.supported, self.processor) {
            (false, _) => "",
            (true, ImageProcessor::None) => ", or look at an image (PNG, JPEG, GIF, WebP)",
            (true, _) => ", or look at an image (PNG, JPEG, GIF, WebP, BMP)",
        }
    }
}

/// Files beyond this are no pictures to look at, and would only fill the memory.
const MOST_BYTES: usize = 256 << 20;
/// What a runtime can be trusted to decode: 400 MB of pixels.
const MOST_PIXELS: u64 = 100_000_000;

/// The line on a file whose bytes are not shown. `shown` is its path.
pub(super) fn not_shown<E: Env, H: Host>(
    known: Option<&Magic>,
    shown: &str,
    size: u64,
    cx: &ToolContext<'_, E, H>,
) -> Output {
    let size = format_size(size);
    notice(match known {
        Some(known) if known.is_image() => format!(
            "[{shown} is a binary file of {size}, an image in a format that is not supported ({}, {}): it is not \
             shown{}]",
            known.name(),
            known.mime_type(),
            advice(cx, "Convert it to PNG or JPEG to look at it"),
        ),
        Some(known) => {
            format!("[{shown} is a binary file of {size} ({}): its bytes are not shown]", known.name())
        }
        None => format!("[{shown} is a binary file of {size}: its bytes are not shown]"),
    })
}

/// An image, or why it is not shown.
pub(super) async fn show<E: Env, H: Host>(
    format: Format,
    shown: &str,
    bytes: Vec<u8>,
    cx: &ToolContext<'_, E, H>,
) -> Output {
    let picture = image::examine(format, &bytes);
    let ImageSettings { processor, supported, limits } = *cx.images;
    let size = format_size(bytes.len() as u64);
    let pixels = picture.shown().map(in_pixels).unwrap_or_default();
    let facts = format!("{size} ({}{})", format.mime_type(), picture.shown().map(sides).unwrap_or_default());
    if format == Format::Png && picture.animated {
        let advice = advice(cx, "Extract a frame of it as a PNG of its own to look at it");
        return notice(format!("[{shown} is an animated PNG of {facts}: it is not shown{advice}]"));
    }
    let omitted = |why: String| {
        let mime_type = format.mime_type();
        notice(format!("Read image file [{mime_type}]\n[Image omitted: {why}]"))
    };
    if !supported {
        return omitted(format!("the current model does not take images. It has {pixels}{size}"));
    }
    let fits = fits(format, &picture, bytes.len(), &limits);
    let is_vast = bytes.len() > MOST_BYTES || picture.stored.is_some_and(|size| area(size) > MOST_PIXELS);
    let (is_asked, can_fit) = match processor {
        ImageProcessor::None => (false, false),
        ImageProcessor::Default => {
            (!fits || format == Format::Bmp || picture.orientation != 1, limits.auto_resize)
        }
        ImageProcessor::Own => (true, true),
    };
    if picture.stored.is_some() && !fits && (is_vast || !can_fit) {
        let ImageLimits { max_width, max_height, max_bytes, .. } = limits;
        return omitted(format!(
            "it has {pixels}{size} ({} in base64), the limit is {max_width}x{max_height} pixels and {} in base64{}",
            format_size(encoded(bytes.len())),
            format_size(max_bytes),
            advice(cx, "Make a smaller copy to look at it"),
        ));
    }
    if picture.stored.is_none() || !picture.is_whole {
        let how = if picture.is_whole { "damaged" } else { "truncated" };
        return notice(format!("[{shown} is a {how} {} image of {facts}: it is not shown]", format.name()));
    }
    if format == Format::Bmp && !is_asked {
        let advice = advice(cx, "Convert it to PNG to look at it");
        return omitted(format!(
            "it has {pixels}{size}, and there is no image processor to convert BMP{advice}"
        ));
    }
    let processing = is_asked.then_some(limits);
    let request = ImageRequest { bytes, mime_type: format.mime_type(), processing };
    match cx.host.show_image(request).await {
        Err(message) => notice(format!("Read image file [{}]\n{message}", format.mime_type())),
        Ok(ShownImage { data, mime_type, hints }) => {
            let mut text = format!("Read image file [{mime_type}]");
            let still = "[Only the first frame of the animation is shown.]".to_owned();
            let is_still = picture.animated && processor == ImageProcessor::Default && is_asked;
            for hint in hints.into_iter().chain(is_still.then_some(still)) {
                text.push('\n');
                text.push_str(&hint);
            }
            let mut output = notice(text);
            output.content.push(Content::Image { data, mime_type });
            output
        }
    }
}

fn notice(text: String) -> Output {
    Output::new(text, &read::no_text())
}

/// What could be done about it, where the model has the tool for it.
fn advice<E: Env, H: Host>(cx: &ToolContext<'_, E, H>, what: &str) -> String {
    match cx.active.contains(&Builtin::Bash) {
        true => format!(". {what}"),
        false => String::new(),
    }
}

/// Bytes of base64.
fn encoded(bytes: usize) -> u64 {
    (bytes as u64).div_ceil(3) * 4
}

/// Whether it can be shown as large as it is. The bytes of a BMP say nothing of those of the PNG that it becomes.
fn fits(format: Format, picture: &Picture, bytes: usize, limits: &ImageLimits) -> bool {
    let fits = |Size { width, height }| width <= limits.max_width && height <= limits.max_height;
    picture.shown().is_some_and(fits) && (format == Format::Bmp || encoded(bytes) <= limits.max_bytes)
}

fn area(Size { width, height }: Size) -> u64 {
    u64::from(width) * u64::from(height)
}

fn in_pixels(Size { width, height }: Size) -> String {
    format!("{width}x{height} pixels, ")
}

fn sides(Size { width, height }: Size) -> String {
    format!(", {width}x{height}")
}
