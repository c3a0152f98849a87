//! Any bytes as ignore files, on any path: verdicts come without a panic, a CR before each line's end changes none, and
//! what a walk gives out is in order and not ignored.
//!
//! `cargo fuzz run ignore` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use std::rc::Rc;

use libfuzzer_sys::fuzz_target;
use tackroom::search::ignore::{Own, Rules};
use tackroom::search::walk::{Entry, Kind, Walk};

fuzz_target!(|input: (&[u8], &[u8], bool, Vec<(&str, u8)>)| {
    let (gitignore, ignore, is_top, names) = input;
    let own = Own { gitignore: Some(gitignore.into()), ignore: Some(ignore.into()), is_top };
    let rules = Rules::within(&Rc::default(), "/work", &own);
    let crlf = |bytes: &[u8]| -> Option<Vec<u8>> {
        Some(bytes.split(|byte| *byte == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]))
    };
    let same = Own { gitignore: crlf(gitignore), ignore: crlf(ignore), is_top };
    let same = Rules::within(&Rc::default(), "/work", &same);
    let is_comparable = ![gitignore, ignore].iter().any(|bytes| bytes.contains(&b'\r'));
    let mut walk = Walk::new("/work", Rc::default(), None, vec![]);
    let entries: Vec<Entry> = names
        .iter()
        .map(|(name, kind)| {
            let kind = [Kind::File, Kind::Directory, Kind::Link][usize::from(*kind) % 3];
            Entry { name: (*name).into(), kind, size: 0 }
        })
        .collect();
    let mut last: Option<Vec<String>> = None;
    for depth in 0..3 {
        while let Some(directory) = walk.next_directory() {
            // Below the third level there is nothing.
            let entries = if depth < 2 { entries.clone() } else { vec![] };
            walk.listed(&directory, entries, &own);
            if depth < 2 {
                break;
            }
        }
        while let Some(file) = walk.next_file() {
            let path = format!("/work/{}", file.path);
            if !file.path.contains('/') {
                let verdict = rules.verdict(&path, false);
                assert_ne!(verdict, Some(true), "{path} is ignored");
                if is_comparable {
                    assert_eq!(same.verdict(&path, false), verdict);
                }
            }
            let segments: Vec<String> = file.path.split('/').map(Into::into).collect();
            assert!(last.as_ref().is_none_or(|last| *last < segments), "{last:?} before {segments:?}");
            last = Some(segments);
        }
    }
});
