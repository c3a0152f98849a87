//! Any bytes of two streams, cut anywhere: no panic, the text of the whole, one LF for each LF, nothing that a terminal
//! would not show.
//!
//! `cargo fuzz run terminal` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tackroom::text::terminal::{Renderer, Stream};
use tackroom::text::utf8;

#[derive(Arbitrary, Debug)]
struct Input {
    chunks: Vec<(bool, Vec<u8>)>,
    times: u8,
    size: u8,
}

fuzz_target!(|input: Input| {
    let (mut whole, mut cut) = (Renderer::default(), Renderer::default());
    let (mut shown, mut again) = (String::new(), String::new());
    let mut breaks = 0;
    for (is_error, bytes) in &input.chunks {
        let stream = if *is_error { Stream::Stderr } else { Stream::Stdout };
        // Now and then longer than what is worked on at once.
        let text = utf8::to_text(bytes).repeat(1 << (input.times % 8).min(if bytes.len() < 200 { 7 } else { 1 }));
        breaks += text.matches('\n').count();
        whole.push(&text, stream, &mut shown);
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let (part, more) = rest.split_at(utf8::ceil_boundary(rest.as_bytes(), usize::from(input.size).max(1)));
            cut.push(part, stream, &mut again);
            rest = more;
        }
    }
    assert_eq!(shown, again);
    assert_eq!(shown.matches('\n').count(), breaks);
    let is_ill = |c: char| c.is_control() && c != '\t' && c != '\n' || ('\u{FFF9}'..='\u{FFFB}').contains(&c);
    assert!(!shown.contains(is_ill));
});
