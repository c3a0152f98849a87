//! Any text as a glob, on any path: it is compiled or refused in few words, and matches or does not.
//!
//! `cargo fuzz run glob` (nightly, or RUSTC_BOOTSTRAP=1).
#![no_main]

use libfuzzer_sys::fuzz_target;
use tackroom::search::glob::{FileGlob, FindGlob};

fuzz_target!(|input: (&str, &str)| {
    let (pattern, path) = input;
    match FindGlob::compile(pattern) {
        Ok(glob) => {
            let dotted = FindGlob::compile(&format!("./{pattern}"));
            // A "/" at the beginning is no longer one after "./".
            if !pattern.starts_with('/') {
                let dotted = dotted.expect("a leading ./ means nothing");
                assert_eq!(glob.matches("/work", path), dotted.matches("/work", path));
            }
        }
        Err(error) => assert!(error.message.len() < 2000),
    }
    match FileGlob::compile("/work", pattern) {
        Ok(glob) => {
            for is_directory in [false, true] {
                let _ = glob.verdict(&format!("/work/{path}"), is_directory);
            }
        }
        Err(error) => assert!(error.message.len() < 2000),
    }
});
