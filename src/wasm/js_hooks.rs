//! [`Hooks`] over the host's functions. Arguments and decisions cross as JSON text.

use serde::Deserialize;
use serde_json::Value;

use super::boundary::Boundary;
use crate::call::{AfterCall, BeforeCall, Decision, Hooks, Patch};
use crate::error::{ErrorCode, ToolError};
use crate::tools::Content;

/// The hooks of one call.
pub struct JsHooks {
    pub boundary: Boundary,
    pub call: u32,
    pub has_before: bool,
    pub has_after: bool,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum DecisionText {
    Run,
    Block {
        reason: Option<String>,
        #[serde(default)]
        terminate: bool,
    },
    Change {
        args: Value,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct PatchText {
    content: Option<Vec<Content>>,
    details: Option<Value>,
    is_error: Option<bool>,
    usage: Option<Value>,
    terminate: Option<bool>,
}

impl JsHooks {
    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
        answer: Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>,
    ) -> Result<T, ToolError> {
        let value = self.boundary.outcome(answer).await.map_err(|error| match error.code {
            ErrorCode::Unknown => ToolError { message: format!("{name} failed: {}", error.message), ..error },
            _ => error,
        })?;
        let text = value.as_string().unwrap_or_default();
        serde_json::from_slice(text.as_bytes()).map_err(|error| {
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
        Ok(match self.ask("beforeToolCall", answer).await? {
            DecisionText::Run => Decision::Run,
            DecisionText::Block { reason, terminate } => Decision::Block { reason, terminate },
            DecisionText::Change { args } => Decision::Change(args),
        })
    }

    fn has_after(&self) -> bool {
        self.has_after
    }

    async fn after(&self, call: AfterCall<'_>) -> Result<Patch, ToolError> {
        let result = serde_json::to_string(call.result).unwrap_or_default();
        let answer = self.boundary.after(self.call, &call.args.to_string(), &result);
        let patch: PatchText = self.ask("afterToolCall", answer).await?;
        Ok(Patch {
            content: patch.content,
            details: patch.details,
            is_error: patch.is_error,
            usage: patch.usage,
            terminate: patch.terminate,
        })
    }
}
