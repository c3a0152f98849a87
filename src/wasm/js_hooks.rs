//! [`Hooks`] over the host's functions. Arguments and decisions cross as JSON text.

use serde_json::Value;

use super::boundary::Boundary;
use crate::call::{AfterCall, BeforeCall, Decision, Hooks, Patch};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::tools::Content;

/// The hooks of one call.
pub struct JsHooks {
    pub boundary: Boundary,
    pub call: u32,
    pub has_before: bool,
    pub has_after: bool,
}

fn decision(answer: Value) -> Result<Decision, String> {
    let mut fields = Fields::of(answer)?;
    match required("kind", fields.text("kind")?)?.as_str() {
        "run" => Ok(Decision::Run),
        "block" => Ok(Decision::Block {
            reason: fields.text("reason")?,
            terminate: fields.flag("terminate")?.unwrap_or_default(),
        }),
        "change" => Ok(Decision::Change(fields.take("args").unwrap_or_default())),
        other => Err(format!("unknown variant `{other}`, expected one of `run`, `block`, `change`")),
    }
}

fn patch(answer: Value) -> Result<Patch, String> {
    let mut fields = Fields::of(answer)?;
    Ok(Patch {
        content: fields.read("content", |parts| json::list(parts, Content::read))?,
        details: fields.take("details"),
        is_error: fields.flag("isError")?,
        usage: fields.take("usage"),
        terminate: fields.flag("terminate")?,
    })
}

impl JsHooks {
    async fn ask<T>(
        &self,
        name: &str,
        answer: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<T, ToolError> {
        let value = self.boundary.outcome(answer).await.map_err(|error| match error.code {
            ErrorCode::Unknown => ToolError { message: format!("{name} failed: {}", error.message), ..error },
            _ => error,
        })?;
        let text = value.as_string().unwrap_or_default();
        json::parse(text.as_bytes()).and_then(read).map_err(|error| {
            ToolError::new(ErrorCode::Unknown, format!("{name} answered something else than it may: {error}"))
        })
    }
}

impl Hooks for JsHooks {
    fn has_before(&self) -> bool {
        self.has_before
    }

    async fn before(&self, call: BeforeCall<'_>) -> Result<Decision, ToolError> {
        let access = serde_json::to_string(call.access).unwrap_or_default();
        let answer = self.boundary.before(self.call, &call.args.to_string(), &access);
        self.ask("beforeToolCall", answer, decision).await
    }

    fn has_after(&self) -> bool {
        self.has_after
    }

    async fn after(&self, call: AfterCall<'_>) -> Result<Patch, ToolError> {
        let result = serde_json::to_string(call.result).unwrap_or_default();
        let answer = self.boundary.after(self.call, &call.args.to_string(), &result);
        self.ask("afterToolCall", answer, patch).await
    }
}
