//! Any bytes as a file: its kind is told and an image's structure walked without a panic, and what a part of a file
//! tells the whole does not take back.
//!
//! `cargo fuzz run image` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    tackroom::image::exercise(bytes);
});
