//! Entries to accumulators of a host's own: a command's output in, its end out.

use std::cell::{Cell, RefCell};

use wasm_bindgen::prelude::*;

use super::pure;
use super::scratch::{answer, with};
use crate::table::Table;
use crate::text::accumulator::{Accumulator, Stream, Terminal};
use crate::text::truncate::Limits;
use crate::tools::object;

thread_local! {
    static OUTPUTS: RefCell<Table<u32, Accumulator>> = RefCell::default();
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// Makes one, and answers its id.
#[wasm_bindgen]
pub fn output_new(max_lines: usize, max_bytes: usize, is_raw: bool) -> u32 {
    let terminal = if is_raw { Terminal::Raw } else { Terminal::Render };
    let id = NEXT.get();
    NEXT.set(id.wrapping_add(1));
    let output = Accumulator::with(Limits { max_lines, max_bytes }, terminal);
    OUTPUTS.with_borrow_mut(|outputs| outputs.insert(id, output));
    id
}

/// Gives it the bytes in scratch.
#[wasm_bindgen]
pub fn output_push(id: u32, length: usize, is_stderr: bool) {
    let stream = if is_stderr { Stream::Stderr } else { Stream::Stdout };
    with(length, |bytes| {
        OUTPUTS.with_borrow_mut(|outputs| outputs.get_mut(&id).map(|output| output.push(bytes, stream)))
    });
}

/// Ends both streams.
#[wasm_bindgen]
pub fn output_finish(id: u32) {
    OUTPUTS.with_borrow_mut(|outputs| outputs.get_mut(&id).map(Accumulator::finish));
}

/// Answers what was cut; the end of the output is to be had from [`pure::content`].
#[wasm_bindgen]
pub fn output_snapshot(id: u32) -> String {
    let snapshot = OUTPUTS.with_borrow(|outputs| outputs.get(&id).map(Accumulator::snapshot));
    let Some(snapshot) = snapshot else { return answer(Ok(serde_json::Value::Null)) };
    pure::set_content(snapshot.content.into_bytes());
    answer(Ok(object(&snapshot.facts).into()))
}

/// Forgets it.
#[wasm_bindgen]
pub fn output_free(id: u32) {
    OUTPUTS.with_borrow_mut(|outputs| outputs.remove(&id));
}
