//! What every module has: the buffer that contents come in through, and the form of an answer.

use std::cell::RefCell;

use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use crate::error::ToolError;

thread_local! {
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A larger buffer is not kept.
const LARGE: usize = 1024 * 1024;

/// The address of a buffer of at least that many bytes, which the face fills before the next entry. One of up to a
/// megabyte stays where it is until this is called again.
#[wasm_bindgen]
pub fn scratch(length: usize) -> usize {
    SCRATCH.with_borrow_mut(|scratch| {
        // Nothing is no buffer yet: the face would take what is at its address for one.
        if scratch.is_empty() || scratch.len() < length || scratch.len() > LARGE {
            // At least 64 KB, so that a stream's chunks need one buffer; a large one is given back below.
            *scratch = vec![0; length.max(64 * 1024)];
        }
        scratch.as_mut_ptr() as usize
    })
}

/// What the face put into the buffer, in parts that follow each other.
pub(super) fn parts<const N: usize>(lengths: [usize; N]) -> [Vec<u8>; N] {
    SCRATCH.with_borrow_mut(|scratch| {
        let mut from = 0;
        let parts = lengths.map(|length| {
            let part = scratch[from..from + length].to_vec();
            from += length;
            part
        });
        if scratch.len() > LARGE {
            *scratch = Vec::new();
        }
        parts
    })
}

/// Looks at what the face put into the buffer. Who looks may call the host, which may enter again: the buffer is not in
/// its place meanwhile, and an entry that needs one gets another.
pub(super) fn with<T>(length: usize, look: impl FnOnce(&[u8]) -> T) -> T {
    let buffer = SCRATCH.take();
    let seen = look(&buffer[..length]);
    SCRATCH.with_borrow_mut(|scratch| {
        // The face uses the one that it asked for last.
        if scratch.is_empty() {
            *scratch = buffer;
        }
    });
    seen
}

/// `{"ok": …}` or `{"error": {code, message, path}}`.
pub(super) fn answer(outcome: Result<Value, ToolError>) -> String {
    match outcome {
        Ok(value) => json!({ "ok": value }),
        Err(error) => json!({
            "error": { "code": error.code.as_str(), "message": error.message, "path": error.path }
        }),
    }
    .to_string()
}
