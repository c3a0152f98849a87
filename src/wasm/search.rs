//! The entry of the search module: one search, handed over by the core of the same page.

use std::rc::Rc;

use serde_json::json;
use wasm_bindgen::prelude::*;

use super::boundary::JsHost;
use super::js_env::{EnvFacts, JsEnv};
use super::scratch::parts;
use super::state;
use crate::error::ToolError;
use crate::json;
use crate::tools::Output;
use crate::tools::search::{Job, search};

/// Starts a search of an environment; scratch holds what the face read of that, and the job. Snapshots go through
/// `Boundary.updated`, the answer through `Boundary.settled`: `{"ok": output}` or `{"error": {code, message, path,
/// details}}`.
#[wasm_bindgen]
pub fn search_start(env: JsValue, call: u32, facts: usize, job: usize, aborted: bool) {
    let [facts, job] = parts([facts, job]);
    let Some(boundary) = state::boundary() else { return };
    let abort = state::abortable(call, aborted);
    state::spawn(async move {
        let update = |output: Output| {
            // A face that does not listen any more (a dead instance's) is no failure; so below.
            let _ = boundary.updated(call, &output.to_json().to_string());
        };
        let read = || {
            let facts = EnvFacts::from_json(&facts)?;
            let job = json::parse(&job).and_then(Job::read);
            Ok((
                Rc::new(facts),
                job.map_err(|error| ToolError::invalid_arguments(format!("Search: {error}")))?,
            ))
        };
        let outcome = match read() {
            Ok((facts, job)) => {
                let env = JsEnv { boundary: boundary.clone(), object: env, facts, shells: [].into(), call };
                let host = JsHost { boundary: boundary.clone(), call };
                search(&job, &env, &host, &abort, &update).await
            }
            Err(error) => Err(error),
        };
        let answer = match outcome {
            Ok(output) => json!({ "ok": output.to_json() }),
            Err(error) => {
                let ToolError { code, message, path, details, .. } = error;
                json!({ "error": { "code": code.as_str(), "message": message, "path": path, "details": details } })
            }
        };
        state::forget(call);
        let _ = boundary.settled(call, &answer.to_string(), 0.0, None);
        let _ = boundary.ended(call);
    });
}
