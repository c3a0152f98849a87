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
pub(super) const MOST_BYTES: u64 = 256 << 20;
/// What a runtime can be trusted to decode: 400 MB of pixels.
const MOST_PIXELS: u64 = 100_000_000;

/// The line on a file whose bytes are not shown. `shown` is its path.
pub(super) fn not_shown(known: Option<&Magic>, shown: &str, size: u64, active: &[Builtin]) -> Output {
    let (what, result) = match known {
        Some(known) if known.is_image() => (
            format!(", an image in a format that is not supported ({}, {})", known.name(), known.mime_type()),
            ["it is not shown", advice(active, ". Convert it to PNG or JPEG to look at it")].concat(),
        ),
        Some(known) => (format!(" ({})", known.name()), "its bytes are not shown".into()),
        None => (String::new(), "its bytes are not shown".into()),
    };
    notice(format!("[{shown} is a binary file of {}{what}: {result}]", format_size(size)))
}

/// An image, or why it is not shown. `shown` is its path.
pub(super) async fn show<E: Env, H: Host>(
    format: Format,
    shown: &str,
    bytes: Vec<u8>,
    cx: &ToolContext<'_, E, H>,
) -> Output {
    match plan(format, shown, bytes, cx.images, cx.active) {
        Plan::Say(text) => notice(text),
        Plan::Show { request, is_still } => {
            let mime_type = request.mime_type;
            result(mime_type, is_still, cx.host.show_image(request).await)
        }
    }
}

/// What is to be done with an image.
enum Plan {
    /// It is not shown, and this is why.
    Say(String),
    /// The host is asked for it; `is_still` if that leaves one frame of many.
    Show { request: ImageRequest, is_still: bool },
}

fn plan(format: Format, path: &str, bytes: Vec<u8>, images: &ImageSettings, active: &[Builtin]) -> Plan {
    let picture = image::examine(format, &bytes);
    let ImageSettings { processor, supported, limits } = *images;
    let mime_type = format.mime_type();
    let size = format_size(bytes.len() as u64);
    let sides = picture.shown().map(|Size { width, height }| format!("{width}x{height}"));
    let fits = fits(format, &picture, bytes.len(), &limits);
    let is_vast =
        bytes.len() as u64 > MOST_BYTES || picture.stored.is_some_and(|size| area(size) > MOST_PIXELS);
    let (is_asked, can_fit) = match processor {
        ImageProcessor::None => (false, false),
        ImageProcessor::Default => {
            (!fits || format == Format::Bmp || picture.orientation != 1, limits.auto_resize)
        }
        ImageProcessor::Own => (true, true),
    };
    // Of the file as it is.
    let flaw = match &sides {
        _ if format == Format::Png && picture.animated => Some("an animated"),
        Some(_) if supported && !fits && (is_vast || !can_fit) => None,
        _ if !picture.is_whole => Some("a truncated"),
        None => Some("a damaged"),
        Some(_) => None,
    };
    if let Some(flaw) = flaw {
        let sides = sides.map(|sides| format!(", {sides}")).unwrap_or_default();
        let name = format.name();
        return Plan::Say(format!(
            "[{path} is {flaw} {name} image of {size} ({mime_type}{sides}): it is not shown]"
        ));
    }
    let sides = sides.unwrap_or_default();
    // Of what is to be done with it.
    let (why, advised) = if !supported {
        ("the current model does not take images".into(), "")
    } else if !fits && (is_vast || !can_fit) {
        let ImageLimits { max_width, max_height, max_bytes, .. } = limits;
        let [base64, most] = [encoded(bytes.len()), max_bytes].map(format_size);
        let why =
            format!("{base64} in base64, the limit is {max_width}x{max_height} pixels and {most} in base64");
        (why, ". Make a smaller copy to look at it")
    } else if format == Format::Bmp && !is_asked {
        ("there is no image processor to convert BMP".into(), ". Convert it to PNG to look at it")
    } else {
        let is_still = picture.animated && processor == ImageProcessor::Default && is_asked;
        let request = ImageRequest { bytes, mime_type, processing: is_asked.then_some(limits) };
        return Plan::Show { request, is_still };
    };
    let advised = advice(active, advised);
    Plan::Say(format!(
        "Read image file [{mime_type}]\n[Image omitted: {sides} pixels, {size}, {why}{advised}]"
    ))
}

fn result(mime_type: &str, is_still: bool, answer: Result<ShownImage, String>) -> Output {
    let (mime_type, hints, data) = match answer {
        Ok(ShownImage { data, mime_type, hints }) => (mime_type, hints, Some(data)),
        Err(message) => (mime_type.to_owned(), message, None),
    };
    let mut text = ["Read image file [", &mime_type, "]"].concat();
    let still =
        if is_still && data.is_some() { "[Only the first frame of the animation is shown.]" } else { "" };
    for more in [hints.as_str(), still] {
        if !more.is_empty() {
            text.push('\n');
            text.push_str(more);
        }
    }
    let mut output = notice(text);
    output.content.extend(data.map(|data| Content::Image { data, mime_type }));
    output
}

fn notice(text: String) -> Output {
    Output::new(text, &read::no_text())
}

/// What could be done about it, where the model has the tool for it.
fn advice<'a>(active: &[Builtin], what: &'a str) -> &'a str {
    if active.contains(&Builtin::Bash) { what } else { "" }
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
