//! Output of commands as it is shown, against models that take their time: a split never shows, lines are those of the
//! bytes, nothing ill-formed and no secret comes out.
#![cfg(not(target_arch = "wasm32"))]

use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tackroom::text::accumulator::{Accumulator, Snapshot, Stream, Terminal};
use tackroom::text::encoding::decode;
use tackroom::text::redact::{RawRedactor, Redactor};
use tackroom::text::terminal::Renderer;
use tackroom::text::truncate::{Limits, tail};

const PIECES: &[&str] = &[
    "a",
    "word ",
    "é",
    "文，",
    "🙂",
    "\u{fffd}",
    "\n",
    "\n",
    "\r\n",
    "\r\r\n",
    "\r",
    "\r",
    "\t",
    "   ",
    "100%",
    "\0",
    "\x07",
    "\x08",
    "\x7f",
    "\u{85}",
    "\u{fff9}",
    "\x1B[31m",
    "\x1B[0m",
    "\x1B[K",
    "\x1B[2K",
    "\x1B[1K",
    "\x1B[1G",
    "\x1B[2D",
    "\x1B[?25l",
    "\x1B[A",
    "\x1B]0;title\x07",
    "\x1B]8;;u\x1B\\",
    "\x1B]",
    "\x1BP",
    "\u{9b}1m",
    "\u{9d}t\u{9c}",
    "\x1B(B",
    "\x1B7",
    "\x1B8",
    "\x1B",
    "[",
    "\x18",
];

/// Output with much of what terminals know, and some garbage.
fn output() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => any::<Index>().prop_map(|index| index.get(PIECES).as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..5),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn limits() -> impl Strategy<Value = Limits> {
    let bytes = prop_oneof![9 => 1_usize..60, 1 => Just(51_200), 1 => Just(usize::MAX)];
    (1_usize..12, bytes).prop_map(|(max_lines, max_bytes)| Limits { max_lines, max_bytes })
}

/// Chunks of two streams.
fn chunks() -> impl Strategy<Value = Vec<(Vec<u8>, Stream)>> {
    vec((output(), prop_oneof![3 => Just(Stream::Stdout), 1 => Just(Stream::Stderr)]), 0..5)
}

fn accumulated(mut output: Accumulator, chunks: &[(Vec<u8>, Stream)], size: usize) -> Accumulator {
    for (bytes, stream) in chunks {
        bytes.chunks(size).for_each(|part| output.push(part, *stream));
    }
    output.finish();
    output
}

/// All of the text, in one string.
fn rendered(bytes: &[u8]) -> String {
    let (mut renderer, mut shown) = (Renderer::default(), String::new());
    renderer.push(&decode(bytes).text, Stream::Stdout, &mut shown);
    shown
}

fn lf(text: &str) -> usize {
    text.matches('\n').count()
}

proptest! {
    #[test]
    fn a_split_never_shows(chunks in chunks(), sizes in vec(1_usize..9, 1..3), limits in limits()) {
        for terminal in [Terminal::Render, Terminal::Raw] {
            let whole = accumulated(Accumulator::with(limits, terminal), &chunks, usize::MAX);
            for &size in &sizes {
                let cut = accumulated(Accumulator::with(limits, terminal), &chunks, size);
                prop_assert_eq!(cut.snapshot(), whole.snapshot());
                prop_assert_eq!(cut.totals(), whole.totals());
            }
        }
    }

    #[test]
    fn a_snapshot_is_the_tail_of_the_whole(bytes in output(), cuts in vec(any::<Index>(), 0..5), limits in limits()) {
        let mut output = Accumulator::new(limits);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        at.windows(2).for_each(|ends| output.push(&bytes[ends[0]..ends[1]], Stream::Stdout));
        output.finish();
        let whole = rendered(&bytes);
        prop_assert_eq!(output.snapshot(), tail(&whole, limits));
        prop_assert_eq!(output.totals().bytes, whole.len() as u64);
        prop_assert_eq!(output.is_empty(), whole.is_empty());
    }

    #[test]
    fn lines_are_those_of_the_bytes(bytes in output()) {
        let (text, whole) = (decode(&bytes).text, rendered(&bytes));
        prop_assert_eq!(lf(&whole), lf(&text));
        let is_ill = |c: char| c.is_control() && c != '\t' && c != '\n' || ('\u{FFF9}'..='\u{FFFB}').contains(&c);
        prop_assert!(!whole.contains(is_ill), "{:?}", whole);
        // What is rendered once is plain, and each line is a part of its line.
        prop_assert_eq!(rendered(whole.as_bytes()), whole.strip_prefix('\u{feff}').unwrap_or(&whole));
    }

    #[test]
    fn plain_text_is_shown_as_it_is(text in "(\\PC|[\n\t]){0,80}", limits in limits()) {
        let plain = text.trim_start_matches('\u{feff}').replace(['\u{fff9}', '\u{fffa}', '\u{fffb}'], "");
        let mut output = Accumulator::new(limits);
        output.push(plain.as_bytes(), Stream::Stdout);
        output.finish();
        prop_assert_eq!(output.snapshot(), tail(&plain, limits));
    }
}

/// Secrets of a small alphabet, so that they overlap, begin alike and are found.
fn secrets() -> impl Strategy<Value = Vec<String>> {
    vec("[abé\n]{2,6}|[abé]{2,3}", 1..4)
}

/// Text of the same alphabet, with secrets.
fn leaky() -> impl Strategy<Value = (Vec<String>, String)> {
    secrets().prop_flat_map(|secrets| {
        let piece = prop_oneof![
            2 => any::<Index>().prop_map({ let secrets = secrets.clone(); move |index| index.get(&secrets).clone() }),
            5 => "[abé\n .]",
            1 => "[abé]{1,4}",
        ];
        (Just(secrets), vec(piece, 0..30).prop_map(|pieces| pieces.concat()))
    })
}

/// Each occurrence covered, and runs of what is covered by occurrences that overlap marked once: by the book.
fn redacted(text: &str, secrets: &[String]) -> String {
    let mut starts = vec![0; text.len()];
    for secret in secrets {
        for (at, longest) in starts.iter_mut().enumerate() {
            if text.as_bytes()[at..].starts_with(secret.as_bytes()) {
                *longest = secret.len().max(*longest);
            }
        }
    }
    let (mut out, mut covered) = (String::new(), 0);
    for (at, c) in text.char_indices() {
        if starts[at] > 0 {
            if at >= covered {
                out.push_str("[redacted]");
            }
            covered = covered.max(at + starts[at]);
        }
        if at >= covered {
            out.push(c);
        }
    }
    out
}

fn hidden(snapshot: &Snapshot, secrets: &[String]) -> bool {
    let rest = snapshot.content.replace("[redacted]", "|");
    !secrets.iter().any(|secret| rest.contains(secret.as_str()))
}

proptest! {
    #[test]
    fn no_secret_in_any_snapshot((secrets, text) in leaky(), cuts in vec((any::<Index>(), any::<bool>(), any::<bool>()), 0..12)) {
        let redactor = Redactor::secrets(secrets.clone());
        let mut output = Accumulator::new(Limits::default()).redacting(redactor.clone());
        let mut raw = RawRedactor::new(redactor.clone());
        let mut file = Vec::new();
        let mut at: Vec<_> = cuts.iter().map(|(cut, is_error, is_coloured)| (cut.index(text.len() + 1), *is_error, *is_coloured)).collect();
        at.retain(|(cut, ..)| text.is_char_boundary(*cut));
        at.extend([(0, false, false), (text.len(), false, false)]);
        at.sort_unstable();
        let want = redacted(&text, &secrets);
        for ends in at.windows(2) {
            let stream = if ends[0].1 { Stream::Stderr } else { Stream::Stdout };
            let part = &text.as_bytes()[ends[0].0..ends[1].0];
            if ends[0].2 {
                output.push(b"\x1B[1m", stream);
            }
            output.push(part, stream);
            file.extend(raw.push(part));
            let snapshot = output.snapshot();
            prop_assert!(hidden(&snapshot, &secrets), "{:?}", snapshot.content);
            // It shows the beginning of what will be shown, so no part of a secret.
            prop_assert!(want.starts_with(&snapshot.content), "{:?} {:?}", snapshot.content, want);
            prop_assert!(want.as_bytes().starts_with(&file));
        }
        output.finish();
        file.extend(raw.finish());
        prop_assert_eq!(&output.snapshot().content, &want);
        prop_assert_eq!(String::from_utf8(file).unwrap(), want.clone());
        prop_assert_eq!(redactor.redact_whole(&text).unwrap_or_else(|| text.clone()), want);
    }

    /// Nor where lines are rewritten and the tail is cut.
    #[test]
    fn no_secret_in_what_is_rewritten(
        secrets in secrets(), pieces in vec(any::<Index>(), 0..30), limits in limits(), size in 1_usize..9,
    ) {
        let mut all: Vec<&str> = vec!["a", "b", "é", "\n", "\r", "\r\n", "\x1B[K", "\x1B[2K", "\x1B[1m", "\x1B[1G", " "];
        all.extend(secrets.iter().map(String::as_str));
        let text: String = pieces.iter().map(|piece| *piece.get(&all)).collect();
        let redactor = Redactor::secrets(secrets.clone());
        let (mut output, mut whole) =
            (Accumulator::new(limits).redacting(redactor.clone()), Accumulator::new(limits).redacting(redactor));
        for part in text.as_bytes().chunks(size) {
            output.push(part, Stream::Stdout);
            prop_assert!(hidden(&output.snapshot(), &secrets), "{:?}", output.snapshot().content);
        }
        output.finish();
        prop_assert!(hidden(&output.snapshot(), &secrets), "{:?}", output.snapshot().content);
        whole.push(text.as_bytes(), Stream::Stdout);
        whole.finish();
        prop_assert_eq!(output.snapshot(), whole.snapshot());
    }

    #[test]
    fn lines_through_a_function(chunks in chunks(), size in 1_usize..20) {
        let redactor = Redactor::lines(Rc::new(|line| line.replace("word", "w_").replace('a', "")));
        let mut output = Accumulator::new(Limits::default()).redacting(redactor.clone());
        let mut plain = Accumulator::new(Limits::default());
        for (bytes, stream) in &chunks {
            bytes.chunks(size).for_each(|part| output.push(part, *stream));
            plain.push(bytes, *stream);
        }
        output.finish();
        plain.finish();
        let shown = plain.snapshot().content;
        prop_assert_eq!(output.snapshot().content, redactor.redact_whole(&shown).unwrap_or(shown));
    }
}
