//! What every module has that runs calls: the face's boundary object, the executor, and the calls that can be aborted.

use std::cell::RefCell;

use wasm_bindgen::prelude::*;

use super::boundary::{self, Boundary};
use super::executor::Executor;
use crate::env::Abort;
use crate::table::Table;
use crate::{json, unicode};

#[derive(Default)]
pub(super) struct State {
    pub boundary: RefCell<Option<Boundary>>,
    pub executor: Executor,
    pub calls: RefCell<Table<u32, Abort>>,
}

thread_local! {
    pub(super) static STATE: State = State::default();
}

/// The face's boundary object; nothing before it has come.
pub(super) fn boundary() -> Option<Boundary> {
    STATE.with(|state| state.boundary.borrow().clone())
}

/// Runs a task, and what else can go on.
pub(super) fn spawn(task: impl Future<Output = ()> + 'static) {
    STATE.with(|state| {
        state.executor.spawn(task);
        state.executor.run();
    });
}

/// A call that can be aborted by its number, until it is forgotten.
pub(super) fn abortable(call: u32, is_aborted: bool) -> Abort {
    let abort = Abort::default();
    if is_aborted {
        abort.raise();
    }
    STATE.with(|state| state.calls.borrow_mut().insert(call, abort.clone()));
    abort
}

/// It cannot be aborted any more.
pub(super) fn forget(call: u32) {
    STATE.with(|state| state.calls.borrow_mut().remove(&call));
}

/// Takes the face's boundary object. Once per instance, before anything else.
#[wasm_bindgen]
pub fn start(boundary: Boundary) {
    console_error_panic_hook::set_once();
    STATE.with(|state| *state.boundary.borrow_mut() = Some(boundary));
    unicode::install(|text, form| {
        STATE.with(|state| state.boundary.borrow().as_ref()?.normalize(text, form).ok())
    });
    json::install(
        |text| STATE.with(|state| state.boundary.borrow().as_ref()?.number(text).ok()),
        |number| {
            let printed = STATE.with(|state| state.boundary.borrow().as_ref()?.printed(number).ok());
            printed.unwrap_or_default()
        },
    );
}

/// The call is to end.
#[wasm_bindgen]
pub fn call_abort(call: u32) {
    STATE.with(|state| {
        let abort = state.calls.borrow().get(&call).cloned();
        if let Some(abort) = abort {
            abort.raise();
            state.executor.run();
        }
    });
}

/// A promise or a timer was settled.
#[wasm_bindgen]
pub fn promise_settled(id: u32, fulfilled: bool, value: JsValue) {
    boundary::report(id, if fulfilled { Ok(value) } else { Err(value) });
    STATE.with(|state| state.executor.run());
}

/// How many calls and commands have not ended, for the tests of what is left behind.
#[wasm_bindgen]
pub fn tasks() -> usize {
    STATE.with(|state| state.executor.len())
}
