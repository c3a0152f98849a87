//! Any text as a glob, on any path: it is compiled or refused in few words, and matches or does not.
//!
//! `cargo fuzz run glob` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str)| {
    tackroom::search::exercise::glob(input.0, input.1);
});
