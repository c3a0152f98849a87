//! What must hold of a page of any file: whole or in parts, in any encoding, under any limits.
#![cfg(not(target_arch = "wasm32"))]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tackroom::error::ErrorCode;
use tackroom::text::encoding::{decode, line_ending};
use tackroom::text::page::{Page, Range, page};
use tackroom::text::pager::Pager;
use tackroom::text::truncate::{Limits, TruncatedBy, format_size};

/// Bytes of files as they are: text, with a little of everything that is none, after a BOM or without one.
fn file() -> impl Strategy<Value = Vec<u8>> {
    let character = prop_oneof![
        5 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r"), 8 => Just("a"), 3 => Just("é"), 2 => Just("€"),
        2 => Just("🙂"), 1 => Just("\u{feff}"), 1 => Just("\u{2028}"), 1 => Just("\0"), 1 => Just("\u{fffd}"),
    ];
    let text = vec(character, 0..50).prop_map(|parts| parts.concat());
    let long = (1..400_usize, prop_oneof![Just("x"), Just("é"), Just("🙂")]).prop_map(|(n, c)| c.repeat(n));
    let spoilt = prop_oneof![
        vec(any::<u8>(), 1..6),
        Just(vec![0xE2, 0x82]),
        Just(vec![0xF0, 0x9F, 0x99]),
        Just(vec![0xED, 0xA0, 0x80]),
        Just(vec![0; 3]),
    ];
    let piece = prop_oneof![
        5 => text.prop_map(String::into_bytes),
        1 => long.prop_map(String::into_bytes),
        1 => spoilt,
    ];
    let plain = vec(piece, 0..5).prop_map(|pieces| pieces.concat());
    let bom = prop_oneof![
        6 => Just(&b""[..]), 1 => Just(&b"\xEF\xBB\xBF"[..]), 1 => Just(&b"\xFF\xFE"[..]), 1 => Just(&b"\xFE\xFF"[..]),
    ];
    (bom, plain, any::<bool>()).prop_map(|(bom, plain, is_raw)| {
        let (little, big) = (bom == b"\xFF\xFE", bom == b"\xFE\xFF");
        let body = match String::from_utf8(plain) {
            // Now and then the bytes are taken for UTF-16 as they are: unpaired units, an odd one at the end.
            Ok(text) if !is_raw && (little || big) => {
                let unit = if little { u16::to_le_bytes } else { u16::to_be_bytes };
                text.encode_utf16().flat_map(unit).collect()
            }
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        [bom, &body].concat()
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    let lines = prop_oneof![2 => Just(1), 3 => 1..6_usize, 1 => 1..80_usize];
    let bytes = prop_oneof![2 => Just(1), 3 => 1..12_usize, 2 => 1..300_usize];
    (lines, bytes).prop_map(|(max_lines, max_bytes)| Limits { max_lines, max_bytes })
}

fn range() -> impl Strategy<Value = Range> {
    let number = || prop_oneof![4 => 1..10_u64, 1 => 1..400_u64, 1 => Just(u64::MAX)];
    let offset = prop_oneof![1 => Just(0), 1 => Just(1), 3 => number()];
    (offset, proptest::option::of(number()), proptest::option::weighted(0.3, number()), limits())
        .prop_map(|(offset, limit, column, limits)| Range { offset, limit, column, limits })
}

/// The page, made of the file in parts, cut at these places.
fn paged(bytes: &[u8], cuts: &[Index], range: Range) -> Result<Page, tackroom::error::ToolError> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.extend([0, bytes.len()]);
    at.sort_unstable();
    let mut pager = Pager::new(range);
    at.windows(2).for_each(|ends| pager.push(&bytes[ends[0]..ends[1]]));
    pager.finish()
}

/// What is shown of a file: the definition, and nothing of how it is done.
fn shown(bytes: &[u8]) -> String {
    decode(bytes).text.replace('\0', "\u{fffd}")
}

/// Its lines, and whether the last has its LF.
fn lines_of(text: &str) -> (Vec<&str>, bool) {
    match text.strip_suffix('\n') {
        Some(body) => (body.split('\n').collect(), true),
        None if text.is_empty() => (vec![], false),
        None => (text.split('\n').collect(), false),
    }
}

/// The page by the contract: text and hint, or none where the range is beyond the end.
fn by_the_book(text: &str, range: Range) -> Option<(String, Option<String>)> {
    let Range { limit, column, limits, .. } = range;
    let (lines, ends_in_break) = lines_of(text);
    let (offset, total) = (range.offset.max(1) as usize, lines.len());
    if total == 0 && offset == 1 && column.unwrap_or(1) == 1 {
        return Some(("(empty file)".into(), None));
    }
    let rest = lines.get(offset - 1..).filter(|rest| !rest.is_empty())?;
    // From the first byte on is the line as it is.
    if column.is_some_and(|column| column > 1) || rest[0].len() > limits.max_bytes {
        return slice_by_the_book(rest[0], column.unwrap_or(1), offset, total, limits);
    }
    let wanted = &rest[..rest.len().min(limit.unwrap_or(u64::MAX) as usize)];
    let count = (1..=wanted.len().min(limits.max_lines))
        .take_while(|&count| wanted[..count].join("\n").len() <= limits.max_bytes)
        .last()
        .unwrap_or(0);
    let (mut page, last) = (wanted[..count].join("\n"), offset + count - 1);
    let hint = if count < wanted.len() {
        let why = match count == limits.max_lines {
            true => String::new(),
            false => format!(" ({} limit)", format_size(limits.max_bytes as u64)),
        };
        Some(format!("[Showing lines {offset}-{last} of {total}{why}. Use offset={} to continue.]", last + 1))
    } else if last < total {
        Some(format!("[{} more lines in file. Use offset={} to continue.]", total - last, last + 1))
    } else {
        None
    };
    let has_break = last < total || ends_in_break;
    if has_break && (hint.is_some() || page.len() < limits.max_bytes) {
        page.push('\n');
    }
    Some((page, hint))
}

fn slice_by_the_book(
    line: &str,
    column: u64,
    offset: usize,
    total: usize,
    limits: Limits,
) -> Option<(String, Option<String>)> {
    let mut from = usize::try_from(column - 1).ok().filter(|from| *from < line.len() || *from == 0)?;
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    let mut to = from;
    for c in line[from..].chars() {
        if to > from && to + c.len_utf8() - from > limits.max_bytes {
            break;
        }
        to += c.len_utf8();
    }
    let way = if to < line.len() {
        format!(" Use offset={offset}, column={} to continue.", to + 1)
    } else if offset < total {
        format!(" Use offset={} to continue.", offset + 1)
    } else {
        " End of file.".into()
    };
    let size = format_size(line.len() as u64);
    let hint = format!("[Showing bytes {}-{to} of line {offset} ({size}).{way}]", from + 1);
    Some((line[from..to].into(), Some(hint)))
}

/// The number after `key=` in a hint.
fn number(hint: &str, key: &str) -> Option<u64> {
    let digits = hint.split_once(&format!("{key}="))?.1;
    digits.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_page_is_what_the_contract_says(bytes in file(), range in range(), cuts in vec(any::<Index>(), 0..6)) {
        let text = shown(&bytes);
        match (paged(&bytes, &cuts, range), by_the_book(&text, range)) {
            (Ok(page), Some(expected)) => {
                prop_assert_eq!((&page.text, &page.hint), (&expected.0, &expected.1));
                let decoded = decode(&bytes);
                prop_assert_eq!(page.encoding, decoded.encoding);
                prop_assert_eq!(page.line_ending, line_ending(text.as_bytes()));
                prop_assert_eq!(page.replaced, decoded.replaced || decoded.text.contains('\0'));
                if let Some(facts) = page.truncation {
                    prop_assert_eq!(facts.total_bytes, text.len() as u64);
                    prop_assert_eq!(facts.total_lines, lines_of(&text).0.len() as u64);
                    let by_lines = page.hint.as_deref().is_some_and(|hint| hint.contains("lines") && !hint.contains("limit"));
                    prop_assert_eq!(facts.truncated_by == Some(TruncatedBy::Lines), by_lines);
                }
            }
            (Err(error), None) => prop_assert_eq!(error.code, ErrorCode::InvalidArguments),
            (found, expected) => prop_assert!(false, "found {found:?}, expected {expected:?}"),
        }
    }

    #[test]
    fn chunk_boundaries_never_matter(bytes in file(), range in range(), cuts in vec(any::<Index>(), 0..12)) {
        let whole = page(&bytes, &range);
        prop_assert_eq!(&paged(&bytes, &cuts, range), &whole);
        let every = (0..bytes.len()).map(|at| &bytes[at..=at]);
        let mut pager = Pager::new(range);
        every.for_each(|byte| pager.push(byte));
        prop_assert_eq!(&pager.finish(), &whole);
    }

    #[test]
    fn following_the_hints_shows_every_byte_once_and_ends(
        bytes in file(), limits in limits(), limit in proptest::option::of(1..7_u64),
    ) {
        let text = shown(&bytes);
        let most_pages = text.chars().count() + lines_of(&text).0.len() + 1;
        let mut range = Range { offset: 1, limit, column: None, limits };
        let (mut read, mut pages) = (String::new(), 0);
        loop {
            pages += 1;
            prop_assert!(pages <= most_pages, "more pages than characters");
            let page = page(&bytes, &range).unwrap();
            // A whole character, even over the limit; and the LF that a hint follows.
            prop_assert!(page.text.len() <= limits.max_bytes.max(4) + 1 || text.is_empty());
            prop_assert!(!page.text.contains('\0'));
            if !text.is_empty() {
                read.push_str(&page.text);
            }
            let Some(hint) = page.hint else { break };
            let is_slice = hint.starts_with("[Showing bytes");
            let (offset, column) = (number(&hint, "offset"), number(&hint, "column"));
            if is_slice && column.is_none() {
                read.push('\n');
            }
            let Some(offset) = offset else { break };
            prop_assert!((offset, column) > (range.offset, range.column), "{hint} goes on");
            range = Range { offset, column, ..range };
        }
        // Of the last line's LF nothing is said where there was no room for it.
        prop_assert!(read == text || read == format!("{text}\n") || format!("{read}\n") == text, "{read:?} {text:?}");
    }
}

/// Large enough to go by in several blocks.
fn large_file() -> impl Strategy<Value = Vec<u8>> {
    (file(), vec(any::<Index>(), 0..4), 1..5_usize).prop_map(|(piece, places, blocks)| {
        let mut all = piece.repeat((blocks * 16 * 1024).div_ceil(piece.len().max(1)).min(60_000));
        // A BOM is one at the start only; and what repeats itself looks alike where it is cut.
        for place in places {
            let at = place.index(all.len() + 1);
            all.splice(at..at, "≠\n".bytes());
        }
        all
    })
}

fn large_range() -> impl Strategy<Value = Range> {
    let number = || prop_oneof![1 => 1..10_u64, 2 => 1..30_000_u64];
    let limits = prop_oneof![Just(Limits::default()), limits()];
    (number(), proptest::option::of(number()), proptest::option::weighted(0.3, 1..70_000_u64), limits)
        .prop_map(|(offset, limit, column, limits)| Range { offset, limit, column, limits })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn large_files_go_by_in_blocks(bytes in large_file(), range in large_range(), cuts in vec(any::<Index>(), 0..20)) {
        let text = shown(&bytes);
        let found = paged(&bytes, &cuts, range);
        prop_assert_eq!(&found, &page(&bytes, &range));
        match (found, by_the_book(&text, range)) {
            (Ok(page), Some(expected)) => {
                prop_assert!((&page.text, &page.hint) == (&expected.0, &expected.1), "{:?} {:?}", page.hint, expected.1);
                prop_assert_eq!(page.line_ending, line_ending(text.as_bytes()));
                if let Some(facts) = page.truncation {
                    prop_assert_eq!((facts.total_bytes, facts.total_lines), (text.len() as u64, lines_of(&text).0.len() as u64));
                }
            }
            (Err(error), None) => prop_assert_eq!(error.code, ErrorCode::InvalidArguments),
            (found, expected) => prop_assert!(false, "found {found:?}, expected {expected:?}"),
        }
    }
}
