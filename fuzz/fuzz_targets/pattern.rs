//! Any text as a pattern, on any bytes: it is compiled or refused in few words; many lines at once match as one by one;
//! and a file in parts shows what the whole shows.
//!
//! `cargo fuzz run pattern` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tackroom::search::exercise::{self, Manner};

fuzz_target!(|input: (&str, bool, bool, u8, u8, u8, &[u8])| {
    let (text, ignore_case, literal, context, limit, part, bytes) = input;
    let (context, limit, part) = (u64::from(context % 4), u64::from(limit), usize::from(part));
    exercise::pattern(text, bytes, Manner { ignore_case, literal, context, limit, part });
});
