//! What a host may do before and after a tool runs.

use serde_json::{Map, Value};

use super::ToolResult;
use crate::error::{ErrorCode, ToolError};
use crate::tools::{Access, Content};

/// A call that is about to run.
#[derive(Debug)]
pub struct BeforeCall<'a> {
    /// The call's id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Valid arguments.
    pub args: &'a Value,
    /// What it would touch, with canonical paths.
    pub access: &'a [Access],
}

/// What is to become of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It runs.
    Run,
    /// It does not.
    Block {
        /// For the model, instead of `Tool execution was blocked`.
        reason: Option<String>,
        /// The agent's turn is to end.
        terminate: bool,
    },
    /// It runs with these arguments, if they are valid.
    Change(Value),
}

/// A call that has run.
#[derive(Debug)]
pub struct AfterCall<'a> {
    /// The call's id.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// The arguments that it ran with.
    pub args: &'a Value,
    /// What came of it.
    pub result: &'a ToolResult,
}

/// What to replace in a result, field by field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// For the model.
    pub content: Option<Vec<Content>>,
    /// For programs.
    pub details: Option<Value>,
    /// Whether it failed.
    pub is_error: Option<bool>,
    /// What it cost.
    pub usage: Option<Value>,
    /// Whether the agent's turn is to end.
    pub terminate: Option<bool>,
}

impl Patch {
    /// The result with the patch applied. One that fails has a code, whatever the hook made of its details.
    pub fn apply(self, result: ToolResult) -> ToolResult {
        let mut details = self.details.unwrap_or(result.details);
        if self.is_error.unwrap_or(result.is_error) && !details["code"].is_string() {
            if !details.is_object() {
                details = Value::Object(Map::new());
            }
            details["code"] = ErrorCode::Unknown.as_str().into();
        }
        ToolResult {
            content: self.content.unwrap_or(result.content),
            details,
            is_error: self.is_error.unwrap_or(result.is_error),
            usage: self.usage.or(result.usage),
            terminate: self.terminate.or(result.terminate),
            ..result
        }
    }
}

/// The host's hooks. An error makes that call an error, and no other.
#[allow(async_fn_in_trait, reason = "one thread, no boxing: the futures need no Send")]
pub trait Hooks {
    /// Whether there is a hook before; without one nothing is prepared for it.
    fn has_before(&self) -> bool;
    /// Decides about a call.
    async fn before(&self, call: BeforeCall<'_>) -> Result<Decision, ToolError>;
    /// Whether there is a hook after.
    fn has_after(&self) -> bool;
    /// Looks at a result.
    async fn after(&self, call: AfterCall<'_>) -> Result<Patch, ToolError>;
}

/// No hooks.
#[derive(Clone, Copy, Debug)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn has_before(&self) -> bool {
        false
    }
    async fn before(&self, _call: BeforeCall<'_>) -> Result<Decision, ToolError> {
        Ok(Decision::Run)
    }
    fn has_after(&self) -> bool {
        false
    }
    async fn after(&self, _call: AfterCall<'_>) -> Result<Patch, ToolError> {
        Ok(Patch::default())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_a_hook_makes_an_error_has_a_code() {
        for (details, expected) in [
            (json!({"a": 1}), json!({"a": 1, "code": "unknown"})),
            (json!({"code": "busy"}), json!({"code": "busy"})),
            (json!({"code": 5}), json!({"code": "unknown"})),
            (json!([1]), json!({"code": "unknown"})),
            (json!(null), json!({"code": "unknown"})),
        ] {
            let result = ToolResult {
                tool_call_id: "1".into(),
                tool_name: "read".into(),
                content: vec![],
                details: json!({"lineEnding": "lf"}),
                is_error: false,
                terminate: None,
                usage: None,
            };
            let patch = Patch { details: Some(details), is_error: Some(true), ..Patch::default() };
            assert_eq!(patch.apply(result).details, expected);
        }
    }
}
