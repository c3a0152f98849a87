//! Any bytes as ignore files, on any names: verdicts come without a panic, a CR before each line's end changes none, and
//! what a walk gives out is in order and not ignored.
//!
//! `cargo fuzz run ignore` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tackroom::search::exercise;
use tackroom::search::ignore::Own;
use tackroom::search::walk::{Entry, Kind};

fuzz_target!(|input: (&[u8], &[u8], bool, Vec<(&str, u8)>)| {
    let (gitignore, ignore, is_top, names) = input;
    let own = Own { gitignore: Some(gitignore.into()), ignore: Some(ignore.into()), is_top };
    let entry = |(name, kind): (&str, u8)| {
        let kind = [Kind::File, Kind::Directory, Kind::Link][usize::from(kind) % 3];
        Entry { name: name.into(), kind, size: 0 }
    };
    exercise::ignore(&own, &names.into_iter().map(entry).collect::<Vec<_>>());
});
