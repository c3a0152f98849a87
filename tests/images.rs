//! What `read` makes of images with a processor behind it: whom it asks, for which images, and what it does with
//! the answer.
#![cfg(not(target_arch = "wasm32"))]

use std::cell::RefCell;

use serde_json::json;
use tackroom::call::{
    self, Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult,
};
use tackroom::env::{
    Abort, Host, ImageLimits, ImageRequest, ManualHost, MemoryEnv, MutationQueue, ShownImage,
};
use tackroom::tools::Content;

type Answer = Result<ShownImage, String>;

/// A host that notes what it is asked.
struct Fake {
    host: ManualHost,
    answer: Option<Answer>,
    asked: RefCell<Vec<(&'static str, Option<ImageLimits>)>>,
}

impl Host for Fake {
    fn now_ms(&self) -> f64 {
        self.host.now_ms()
    }

    async fn sleep(&self, ms: f64) {
        self.host.sleep(ms).await;
    }

    async fn show_image(&self, request: ImageRequest) -> Answer {
        self.asked.borrow_mut().push((request.mime_type, request.processing));
        match &self.answer {
            Some(answer) => answer.clone(),
            None => std::future::pending().await,
        }
    }
}

#[derive(Default)]
struct Last(RefCell<Option<ToolResult>>);

impl Observer for Last {
    fn event(&self, _event: Event<'_>) {}

    fn settle(&self, result: ToolResult) {
        assert!(self.0.replace(Some(result)).is_none(), "answered once");
    }
}

const FITTED: ImageLimits =
    ImageLimits { auto_resize: true, max_width: 2000, max_height: 2000, max_bytes: 4_718_592 };

fn png(width: u32, height: u32) -> Vec<u8> {
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), b"\x08\x06\0\0\0crc!"].concat();
    let data = b"\0\0\0\x04IDATdatacrc!\0\0\0\0IEND\xAE\x42\x60\x82";
    [&b"\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR"[..], &header, data].concat()
}

fn jpeg(orientation: u8, coded: &[u8]) -> Vec<u8> {
    let tag = [0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0];
    let exif = [&b"\xFF\xD8\xFF\xE1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0"[..], &tag, b"\0\0\0\0"].concat();
    let frame = b"\xFF\xC0\0\x0B\x08\0\x03\0\x05\x01\x01\x11\0\xFF\xDA\0\x08\x01\x01\0\0\x3F\0";
    [&exif[..], frame, coded, b"\xFF\xD9"].concat()
}

fn gif(frames: usize, width: u8) -> Vec<u8> {
    let frame = b"\x2C\0\0\0\0\x01\0\x01\0\0\x02\x02\x4C\x01\0".repeat(frames);
    [&b"GIF89a"[..], &[width, 0, 8, 0, 0, 0, 0], &frame, b";"].concat()
}

fn bmp(width: i32) -> Vec<u8> {
    let mut bytes = vec![0; 54 + usize::try_from(width).unwrap() * 4];
    bytes[..2].copy_from_slice(b"BM");
    bytes[10] = 54;
    bytes[14] = 40;
    bytes[18..22].copy_from_slice(&width.to_le_bytes());
    bytes[22] = 1;
    bytes[26] = 1;
    bytes[28] = 32;
    bytes
}

/// The text, the image's data and type, and what the host was asked.
struct Read {
    text: String,
    image: Option<(String, String)>,
    asked: Vec<(&'static str, Option<ImageLimits>)>,
}

fn try_read(
    images: serde_json::Value,
    bytes: Vec<u8>,
    answer: Option<Answer>,
    abort: &Abort,
) -> Option<Read> {
    let options = json!({ "images": images }).to_string();
    let options = Options::from_json(options.as_bytes()).expect("the test's options are right");
    let host = ManualHost::default();
    let env = MemoryEnv::new(&host).with_file("/f", bytes);
    let fake = Fake { host: host.clone(), answer, asked: RefCell::default() };
    let last = Last::default();
    let call = ToolCall {
        id: "1".into(),
        name: "read".into(),
        arguments: Arguments::Value(json!({ "path": "/f" })),
        incomplete: false,
    };
    let scope = Scope {
        registry: &Registry::new(&options, &[]),
        options: &options,
        env: &env,
        host: &fake,
        hooks: &NoHooks,
        queue: &MutationQueue::default(),
        abort,
        redactor: None,
        observer: &last,
    };
    let end = async {
        host.sleep(1000.0).await;
        abort.raise();
    };
    let mut running = std::pin::pin!(call::run(call, scope));
    let mut end = std::pin::pin!(end);
    let both = std::future::poll_fn(|cx| {
        let done = running.as_mut().poll(cx).is_ready();
        if !abort.is_raised() {
            let _ = end.as_mut().poll(cx);
        }
        if done { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    });
    host.run_within(both, 100);
    let result = last.0.take()?;
    let image = result.content.iter().find_map(|part| match part {
        Content::Image { data, mime_type } => Some((data.clone(), mime_type.clone())),
        Content::Text { .. } => None,
    });
    Some(Read { text: result.text(), image, asked: fake.asked.take() })
}

fn read(images: serde_json::Value, bytes: Vec<u8>) -> Read {
    let hints = "[A hint.]".into();
    let answer = ShownImage { data: "AAAA".into(), mime_type: "image/webp".into(), hints };
    try_read(images, bytes, Some(Ok(answer)), &Abort::default()).expect("answered")
}

#[test]
fn the_runtime_is_asked_where_it_is_needed() {
    let default = || json!({ "processor": "default" });
    for (bytes, mime_type, processing) in [
        (png(2000, 2000), "image/png", None),
        (png(2001, 1), "image/png", Some(FITTED)),
        (png(1, 2001), "image/png", Some(FITTED)),
        (jpeg(1, b""), "image/jpeg", None),
        (jpeg(3, b""), "image/jpeg", Some(FITTED)),
        (jpeg(1, &vec![1; 4_000_000]), "image/jpeg", Some(FITTED)),
        (gif(2, 8), "image/gif", None),
        (bmp(8), "image/bmp", Some(FITTED)),
    ] {
        let Read { text, image, asked } = read(default(), bytes);
        assert_eq!(asked, [(mime_type, processing)]);
        assert_eq!(text, "Read image file [image/webp]\n[A hint.]");
        assert_eq!(image, Some(("AAAA".into(), "image/webp".into())));
    }
    let small = json!({ "processor": "default", "maxWidth": 4, "maxHeight": 9, "maxBytes": 90 });
    let limits = ImageLimits { auto_resize: true, max_width: 4, max_height: 9, max_bytes: 90 };
    let Read { text, asked, .. } = read(small, gif(2, 8));
    assert_eq!(asked, [("image/gif", Some(limits))]);
    let still = "Read image file [image/webp]\n[A hint.]\n[Only the first frame of the animation is shown.]";
    assert_eq!(text, still);
}

#[test]
fn an_own_processor_is_asked_for_every_image() {
    for auto_resize in [true, false] {
        let images = json!({ "processor": "own", "autoResize": auto_resize });
        for bytes in [png(1, 1), png(5000, 1), bmp(3000), jpeg(6, b"")] {
            let Read { asked, image, .. } = read(images.clone(), bytes);
            assert_eq!(asked.len(), 1);
            assert_eq!(asked[0].1, Some(ImageLimits { auto_resize, ..FITTED }));
            assert!(image.is_some());
        }
    }
}

#[test]
fn what_is_not_to_be_resized_is_not() {
    let images = || json!({ "processor": "default", "autoResize": false });
    let Read { text, image, asked } = read(images(), png(5000, 3000));
    assert!(text.contains("5000x3000 pixels") && text.contains("limit is 2000x2000"), "{text}");
    assert_eq!((image, asked.len()), (None, 0));
    // Converting and turning is no resizing.
    assert_eq!(
        read(images(), bmp(8)).asked,
        [("image/bmp", Some(ImageLimits { auto_resize: false, ..FITTED }))]
    );
    assert!(read(images(), bmp(2001)).asked.is_empty());
}

#[test]
fn nobody_is_asked_for_what_cannot_be_shown() {
    for processor in ["default", "own"] {
        let images = json!({ "processor": processor });
        let mut cut = png(5000, 5000);
        cut.truncate(50);
        for (bytes, expected) in [
            (cut, "truncated PNG"),
            (png(0, 5), "damaged PNG"),
            (png(20_000, 20_000), "20000x20000 pixels"),
            (b"II*\0\x08\0\0\0".to_vec(), "TIFF image, image/tiff"),
        ] {
            let Read { text, image, asked } = read(images.clone(), bytes);
            assert!(text.contains(expected), "{text}");
            assert_eq!((image, asked.len()), (None, 0));
        }
        let Read { text, asked, .. } = read(json!({ "processor": processor, "supported": false }), png(1, 1));
        assert!(text.contains("does not take images") && asked.is_empty(), "{text}");
    }
}

#[test]
fn a_processor_that_cannot_says_so() {
    let images = json!({ "processor": "own" });
    let answer = Some(Err("[Image omitted: no.]".into()));
    let Read { text, image, .. } = try_read(images, png(1, 1), answer, &Abort::default()).unwrap();
    assert_eq!((text.as_str(), image), ("Read image file [image/png]\n[Image omitted: no.]", None));
}

#[test]
fn a_processor_that_never_answers_ends_with_the_call() {
    let abort = Abort::default();
    let Read { text, asked, .. } = try_read(json!({ "processor": "own" }), png(1, 1), None, &abort).unwrap();
    assert_eq!((text.as_str(), asked.len()), ("Operation aborted", 1));
}

#[test]
fn limits_are_whole_numbers_from_one() {
    for images in [
        json!({ "maxWidth": 0 }),
        json!({ "maxHeight": 1.5 }),
        json!({ "maxBytes": -1 }),
        json!({ "maxBytes": "1" }),
        json!({ "processor": "mine" }),
        json!({ "supported": "yes" }),
        json!({ "maxwidth": 5 }),
        json!([]),
    ] {
        let options = json!({ "images": images }).to_string();
        let error = Options::from_json(options.as_bytes()).unwrap_err();
        assert!(error.message.contains("images"), "{}", error.message);
    }
}
