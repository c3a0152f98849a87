//! Any bytes of two streams, cut anywhere, any limits, any secrets: no panic, the end of the whole, and no secret, in
//! what is shown nor in what goes to a file.
//!
//! `cargo fuzz run accumulator` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tackroom::text::accumulator::{Accumulator, Stream, Terminal};
use tackroom::text::encoding::Decoder;
use tackroom::text::redact::{RawRedactor, Redactor};
use tackroom::text::terminal::Renderer;
use tackroom::text::truncate::{Limits, tail};

#[derive(Arbitrary, Debug)]
struct Input {
    chunks: Vec<(bool, Vec<u8>)>,
    times: u8,
    size: u8,
    max_lines: u8,
    max_bytes: u16,
    secrets: Vec<String>,
    is_raw: bool,
}

fuzz_target!(|input: Input| {
    let limits =
        Limits { max_lines: usize::from(input.max_lines).max(1), max_bytes: usize::from(input.max_bytes).max(1) };
    let terminal = if input.is_raw { Terminal::Raw } else { Terminal::Render };
    let mut output = Accumulator::with(limits, terminal);
    // By the book: each stream decoded, merged, rendered, cut.
    let (mut stdout, mut stderr, mut renderer, mut shown) =
        (Decoder::default(), Decoder::default(), Renderer::default(), String::new());
    let mut show = |text: &str, stream| match terminal {
        Terminal::Raw => shown.push_str(text),
        Terminal::Render => renderer.push(text, stream, &mut shown),
    };
    let secrets: Vec<String> = input.secrets.iter().filter(|secret| secret.chars().count() > 1).cloned().collect();
    let redactor = Redactor::secrets(secrets.clone());
    let mut hidden = Accumulator::with(limits, terminal).redacting(redactor.clone());
    let (mut raw, mut file, mut whole) = (RawRedactor::new(redactor), Vec::new(), Vec::new());
    for (is_error, bytes) in &input.chunks {
        let bytes = if bytes.len() < 200 { bytes.repeat(1 << (input.times % 8)) } else { bytes.clone() };
        let (stream, decoder) =
            if *is_error { (Stream::Stderr, &mut stderr) } else { (Stream::Stdout, &mut stdout) };
        decoder.push_with(&bytes, |text| show(text, stream));
        for part in bytes.chunks(usize::from(input.size).max(1)) {
            output.push(part, stream);
            hidden.push(part, stream);
            file.extend(raw.push(part));
        }
        whole.extend(bytes);
    }
    stdout.finish_with(|text| show(text, Stream::Stdout));
    stderr.finish_with(|text| show(text, Stream::Stderr));
    output.finish();
    assert_eq!(output.snapshot(), tail(&shown, limits));
    assert_eq!(output.totals().bytes, shown.len() as u64);

    let is_marked = |secret: &String| "[redacted]".contains(secret.as_str()) || secret.contains(['[', ']']);
    if secrets.iter().any(is_marked) {
        return;
    }
    hidden.finish();
    let content = hidden.snapshot().content;
    file.extend(raw.finish());
    for secret in &secrets {
        assert!(content.split("[redacted]").all(|part| !part.contains(secret.as_str())));
        let ends = memmem(&whole, secret.as_bytes());
        assert!(!ends || file != whole);
    }
});

fn memmem(bytes: &[u8], sought: &[u8]) -> bool {
    bytes.windows(sought.len()).any(|window| window == sought)
}
