//! Any bytes, any range, cut anywhere: no panic, the page of the whole, bounded, and hints that show every byte once
//! and end.
//!
//! `cargo fuzz run read` (nightly, or RUSTC_BOOTSTRAP=1). Small files are repeated now and then, so that they are
//! larger than what is worked on at once.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use tackroom::text::encoding;
use tackroom::text::page::{Page, Range, page};
use tackroom::text::pager::Pager;
use tackroom::text::truncate::Limits;

#[derive(Arbitrary, Debug)]
struct Input {
    file: Vec<u8>,
    times: u8,
    offset: u16,
    limit: Option<u8>,
    column: Option<u16>,
    max_lines: u8,
    max_bytes: u16,
    cuts: Vec<u16>,
}

/// The number after `key=` in a hint.
fn number(hint: &str, key: &str) -> Option<u64> {
    let digits = hint.split_once(&format!("{key}="))?.1;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn check(page: &Page, text: &str, limits: Limits) {
    // A whole character, even over the limit; and the LF that a hint follows.
    assert!(text.is_empty() || page.text.len() <= limits.max_bytes.max(4) + 1);
    assert!(!page.text.contains('\0') && !page.hint.as_deref().is_some_and(|hint| hint.contains('\n')));
    if let Some(facts) = page.truncation {
        assert_eq!(facts.total_bytes, text.len() as u64);
        let lines = text.matches('\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'));
        assert_eq!(facts.total_lines, lines as u64);
    }
}

fuzz_target!(|input: Input| {
    let file = match input.times {
        0..8 if input.file.len() < 4096 => input.file.repeat(1 << input.times),
        _ => input.file,
    };
    let text = encoding::decode(&file).text.replace('\0', "\u{fffd}");
    let limits =
        Limits { max_lines: usize::from(input.max_lines).max(1), max_bytes: usize::from(input.max_bytes).max(1) };
    let limit = input.limit.map(|limit| u64::from(limit.max(1)));
    let range = Range {
        offset: input.offset.into(),
        limit,
        column: input.column.map(|column| u64::from(column.max(1))),
        limits,
    };

    let whole = page(&file, &range);
    let mut at: Vec<usize> = input.cuts.iter().map(|&cut| usize::from(cut).min(file.len())).collect();
    at.extend([0, file.len()]);
    at.sort_unstable();
    let mut pager = Pager::new(range);
    at.windows(2).for_each(|ends| pager.push(&file[ends[0]..ends[1]]));
    assert_eq!(pager.finish(), whole);
    match &whole {
        Ok(page) => check(page, &text, limits),
        Err(error) => assert!(error.message.len() < 300 && !error.message.ends_with('.')),
    }

    // Each page goes through the whole file: not for a large one, character by character.
    let pages = text.len() / limits.max_bytes + text.matches('\n').count() / limits.max_lines;
    if pages.saturating_mul(file.len()) > 1 << 20 || limit.is_some_and(|limit| limit < 4) {
        return;
    }
    let mut range = Range { offset: 1, limit, column: None, limits };
    let (mut read, mut left) = (String::new(), text.chars().count() + text.matches('\n').count() + 2);
    loop {
        left = left.checked_sub(1).expect("no more pages than characters");
        let Page { text: shown, hint, .. } = page(&file, &range).expect("a hint leads into the file");
        if !text.is_empty() {
            read.push_str(&shown);
        }
        let Some(hint) = hint else { break };
        let (offset, column) = (number(&hint, "offset"), number(&hint, "column"));
        if hint.starts_with("[Showing bytes") && column.is_none() {
            read.push('\n');
        }
        let Some(offset) = offset else { break };
        assert!((offset, column) > (range.offset, range.column));
        range = Range { offset, column, ..range };
    }
    // Of the last line's LF nothing is said where there was no room for it.
    assert!(read == text || read == format!("{text}\n") || format!("{read}\n") == text, "{read:?} {text:?}");
});
