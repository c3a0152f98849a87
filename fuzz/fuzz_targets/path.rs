//! Any text as a path: its forms, their folds and near names keep their promises, and nothing panics.
//!
//! `cargo fuzz run path` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, bool)| {
    let (asked, has_home) = input;
    tackroom::path::exercise(asked, has_home.then_some("/home/someone"));
});
