//! Any text as a pattern, on any bytes: it is compiled or refused in few words; many lines at once match as one by one;
//! and a file in parts shows what the whole shows.
//!
//! `cargo fuzz run pattern` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tackroom::search::grep::{Line, Parts, Quota, Search, Searchable, decoded, whole};
use tackroom::search::pattern::Pattern;
use tackroom::search::window::window;

fuzz_target!(|input: (&str, bool, bool, u8, u8, u8, &[u8])| {
    let (text, ignore_case, literal, context, left, size, bytes) = input;
    let pattern = match Pattern::compile(text, ignore_case, literal) {
        Ok(pattern) => pattern,
        Err(error) => return assert!(error.message.len() < 4000, "{error}"),
    };
    let searched = decoded(bytes.to_vec());
    let mut at = 0;
    for line in searched.split_inclusive(|byte| *byte == b'\n') {
        let found = pattern.next_line(&searched, at);
        let matched = pattern.find(line);
        assert_eq!(found.is_some_and(|found| found.start == at), matched.is_some(), "{line:?}");
        if let Some(matched) = matched {
            assert!(window(line, matched, 20).0.chars().count() <= 20 + 30);
        }
        at += line.len();
    }
    let quota = Quota { left: u64::from(left), is_exceeded: false };
    let search = || Search::new(&pattern, u64::from(context % 4));
    let (mut expected, mut quota_whole) = (Vec::new(), quota);
    let mut show = |line: Line<'_>| expected.push(format!("{line:?}"));
    let how = whole(bytes.to_vec(), search(), &mut quota_whole, &mut show);
    let (mut found, mut quota_parts) = (Vec::new(), quota);
    let mut show = |line: Line<'_>| found.push(format!("{line:?}"));
    let mut parts = Parts::new(search());
    for part in bytes.chunks(usize::from(size).max(3)) {
        if !parts.push(part, &mut quota_parts, &mut show) {
            break;
        }
    }
    parts.finish(&mut quota_parts, &mut show);
    if how == Searchable::All {
        assert_eq!((expected, quota_whole), (found, quota_parts));
    }
});
