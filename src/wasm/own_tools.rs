//! Entries for a host's own tools: the mutation queue and the rule of the root. Each is a question that the face
//! numbers like a call, and that is answered through `Boundary.settled`.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::exports::queue_of;
use super::js_env::{EnvFacts, JsEnv};
use super::scratch::{answer, parts};
use super::state::{self, STATE};
use crate::env::queue::Ticket;
use crate::env::{Env, Held};
use crate::error::ToolError;
use crate::table::Table;
use crate::tools;

thread_local! {
    /// Places in a mutation queue that a host holds, by the number of its question.
    static HELD: RefCell<Table<u32, (Held, Ticket)>> = RefCell::default();
}

/// The environment of a question; what the face read of it is JSON text.
fn environment(object: JsValue, facts: &[u8], question: u32) -> Result<JsEnv, ToolError> {
    let facts = EnvFacts::from_json(facts)?;
    let boundary = state::boundary().ok_or_else(ToolError::aborted)?;
    Ok(JsEnv { boundary, object, shells: [].into(), facts: Rc::new(facts), call: question })
}

/// Takes a place in the queue of the environment's mutations, at once; scratch holds the environment's facts and a
/// path. The answer is the key, once the file is the host's alone, until [`queue_leave`].
#[wasm_bindgen]
pub fn queue_enter(env: JsValue, facts: usize, path: usize, question: u32) -> String {
    let [facts, path] = parts([facts, path]);
    answer(environment(env, &facts, question).map(|env| {
        let ticket = queue_of(env.facts.key).ticket();
        ask(env, question, async move |env: &JsEnv| {
            let path = String::from_utf8_lossy(&path);
            let key = ticket.enter(tools::mutation_key(env, &path)).await?;
            let held = env.hold(&key).await?;
            HELD.with_borrow_mut(|places| places.insert(question, (held, ticket)));
            Ok(key)
        });
        Value::Null
    }))
}

/// Gives a place up.
#[wasm_bindgen]
pub fn queue_leave(question: u32) {
    // Dropped outside of the borrow: it wakes whoever waits.
    let place = HELD.with_borrow_mut(|places| places.remove(&question));
    drop(place);
    STATE.with(|state| state.executor.run());
}

/// The canonical path of a path inside of a root; scratch holds the environment's facts, the root and the path.
#[wasm_bindgen]
pub fn resolve_confined(env: JsValue, facts: usize, root: usize, path: usize, question: u32) -> String {
    let [facts, root, path] = parts([facts, root, path]);
    answer(environment(env, &facts, question).map(|env| {
        ask(env, question, async move |env: &JsEnv| {
            let [root, path] = [&root, &path].map(|text| String::from_utf8_lossy(text));
            tools::resolve_confined(env, &root, &path).await
        });
        Value::Null
    }))
}

fn ask(env: JsEnv, question: u32, work: impl AsyncFnOnce(&JsEnv) -> Result<String, ToolError> + 'static) {
    state::spawn(async move {
        let outcome = work(&env).await;
        // A face that does not listen any more (a dead instance's) is no failure.
        let _ = env.boundary.settled(question, &answer(outcome.map(Value::from)), 0.0, None);
    });
}
