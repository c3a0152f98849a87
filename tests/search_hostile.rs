//! Searches of what was made to be hard to search: each ends, in bounded memory and with words.
#![cfg(not(target_arch = "wasm32"))]
#[test]
fn placeholder() {}
