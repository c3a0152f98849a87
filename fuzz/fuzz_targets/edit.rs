//! Any bytes, any edits: no panic, bounded time and messages, and nothing changes outside the spans.
//!
//! `cargo fuzz run edit` (nightly, or RUSTC_BOOTSTRAP=1). Old texts are mostly pieces of the file, some of
//! them spoilt, as others match nothing and teach little.
#![no_main]

use std::time::{Duration, Instant};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tackroom::text::diff;
use tackroom::text::edit::{Edit, apply_edits};
use tackroom::text::encoding;

#[derive(Arbitrary, Debug)]
struct Input {
    file: Vec<u8>,
    edits: Vec<Asked>,
}

#[derive(Arbitrary, Debug)]
struct Asked {
    old: Old,
    new: String,
    replace_all: bool,
}

#[derive(Arbitrary, Debug)]
enum Old {
    Any(String),
    Piece { start: u16, length: u8 },
    Ascii { start: u16, length: u8, blanks: u8 },
    Numbered { start: u16, length: u8 },
}

impl Old {
    fn text(self, shown: &[char]) -> String {
        let piece = |start: u16, length: u8| -> String {
            let start = usize::from(start).min(shown.len());
            shown[start..].iter().take(usize::from(length)).collect()
        };
        match self {
            Old::Any(text) => text,
            Old::Piece { start, length } => piece(start, length),
            Old::Ascii { start, length, blanks } => {
                let plain = piece(start, length).replace(['“', '”'], "\"").replace(['—', '–'], "-");
                plain
                    .replace('\n', &format!("{}\n", " ".repeat(usize::from(blanks % 4))))
                    .replace('\u{a0}', " ")
            }
            Old::Numbered { start, length } => {
                piece(start, length).lines().map(|line| format!("7\t{line}\\n")).collect()
            }
        }
    }
}

fuzz_target!(|input: Input| {
    let Input { file, edits } = input;
    let shown: Vec<char> = encoding::decode(&file).text.chars().collect();
    let edits: Vec<Edit> = edits
        .into_iter()
        .take(20)
        .map(|edit| Edit {
            old_text: edit.old.text(&shown),
            new_text: edit.new,
            replace_all: edit.replace_all,
        })
        .collect();
    let started = Instant::now();
    let applied = apply_edits(&file, &edits, "some file");
    match applied {
        Err(error) => {
            let most = if edits.len() == 1 { 1024 } else { 2048 };
            assert!(error.message.len() <= most && !error.message.ends_with('.'), "{}", error.message);
        }
        Ok(applied) => {
            let (mut old, mut new) = (0, 0);
            for replacement in &applied.replacements {
                let kept = &file[old..replacement.range.start];
                assert!(applied.content[new..].starts_with(kept));
                new += kept.len();
                assert!(applied.content[new..].starts_with(&replacement.text));
                new += replacement.text.len();
                old = replacement.range.end;
                assert!(!replacement.range.is_empty());
                assert!(replacement.edit < edits.len() && !applied.unchanged.contains(&replacement.edit));
            }
            assert_eq!(file[old..], applied.content[new..]);
            assert!(applied.content.starts_with(encoding::detect(&file).bom()));
            assert!(!applied.replacements.is_empty());
            diff::from_replacements("some file", &file, &applied.content, &applied.replacements);
        }
    }
    assert!(started.elapsed() < Duration::from_secs(2));
});
