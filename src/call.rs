//! A tool call, from a model's text to a result.
//!
//! ```text
//! argument text → parse → prepare (dialects) → drop optional nulls → coerce → validate
//!    → beforeToolCall → (changed arguments: again) → execute over the env → afterToolCall → result
//! ```
//!
//! There is one way in, [`run`], and it does not fail: whatever a model, a tool, an environment or a hook does
//! becomes a [`ToolResult`]. What a tool is lives in [`crate::tools`]; this layer only decides whether, when and
//! with what it runs.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{ErrorCode, ToolError};
use crate::tools::{Content, FileChange, Output};

mod arguments;
pub mod hooks;
pub mod options;
mod pipeline;
pub mod registry;
mod secrets;

pub use arguments::{ArgumentSchema, NotCompiled, SchemaOptions, needs_engine, partial_arguments};
pub use hooks::{AfterCall, BeforeCall, Decision, Hooks, NoHooks, Patch};
pub use options::Options;
pub use pipeline::{Scope, check_arguments, run};
pub use registry::Registry;

/// A model's request to run a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that the result carries back.
    pub id: String,
    /// The tool.
    pub name: String,
    /// As the model sent them.
    pub arguments: Arguments,
    /// The response ended at its token limit while the call was being written.
    pub incomplete: bool,
}

/// Arguments, as text or as the value that a client library made of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Arguments {
    /// JSON text, or what was meant to be.
    Text(Vec<u8>),
    /// A JSON value.
    Value(Value),
}

/// What a call answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call's id.
    pub tool_call_id: String,
    /// The name in the call, even where there is no such tool.
    pub tool_name: String,
    /// For the model.
    pub content: Vec<Content>,
    /// For programs and people: plain JSON.
    pub details: Value,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether the agent's turn is to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminate: Option<bool>,
    /// What the call cost, where a hook says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
}

impl ToolResult {
    fn of(call: &ToolCall, outcome: Result<Output, ToolError>) -> Self {
        let is_error = outcome.is_err();
        let (content, details) = match outcome {
            Ok(output) => (output.content, output.details),
            Err(error) => failure(error),
        };
        ToolResult {
            tool_call_id: call.id.clone(),
            tool_name: call.name.clone(),
            content,
            details: Value::Object(details),
            is_error,
            terminate: None,
            usage: None,
        }
    }

    /// The text of its text parts, one after the other.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// The one place where a failure takes the shape that a model reads.
fn failure(error: ToolError) -> (Vec<Content>, Map<String, Value>) {
    let mut details = Map::new();
    details.insert("code".into(), error.code.as_str().into());
    if let Some(path) = error.path {
        details.insert("path".into(), path.into());
    }
    details.extend(error.details.map(|facts| *facts).unwrap_or_default());
    (vec![Content::text(error.message)], details)
}

/// What happens during a call, in this order: one start, updates, mutations, one end. Names and arguments are as
/// the model sent them.
#[derive(Debug)]
pub enum Event<'a> {
    /// The call was taken. Also for calls that turn out unknown, invalid, blocked or cut off.
    Start {
        /// JSON of the arguments without the secrets in them; `None` where there are none.
        shown: Option<&'a str>,
    },
    /// The output so far; each replaces the one before.
    Update(&'a Output),
    /// A change has landed. A write that lands after its call was aborted is told when it lands, after the end.
    Mutation(&'a FileChange),
    /// The call is answered.
    End {
        /// The answer.
        result: &'a ToolResult,
        /// Since the start.
        duration_ms: f64,
    },
}

/// Who hears of a call.
pub trait Observer {
    /// Something happened.
    fn event(&self, event: Event<'_>);
    /// The call is answered; said once, right after its end event.
    fn settle(&self, result: ToolResult);
}

/// The failure of a call that was cut off by its response's token limit.
pub fn cut_off(name: &str) -> ToolError {
    ToolError::new(
        ErrorCode::CutOff,
        format!(
            "Tool call \"{name}\" was not executed: the response hit the output token limit while the call was \
             being written, so its arguments may be incomplete. Send it again, whole; split large content over \
             several calls"
        ),
    )
}
