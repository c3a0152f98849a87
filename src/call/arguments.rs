//! Arguments without a toolset: checked against a host's own schema, or shown while they are being written.

use serde_json::Value;

use super::cut_off;
use crate::error::{ErrorCode, ToolError};
use crate::json;
use crate::schema::partial::{self, Partial};
use crate::schema::{Coercion, CompiledSchema, parse, wording};
use crate::tools::Builtin;

/// The schema of one tool's arguments, compiled once.
///
/// ```
/// use serde_json::json;
/// use tackroom::call::ArgumentSchema;
/// let schema = ArgumentSchema::compile("roll", br#"{"properties": {"n": {"type": "integer"}}}"#).unwrap();
/// assert_eq!(schema.validate(br#"{"n": "6"}"#, false), Ok(json!({"n": 6})));
/// ```
#[derive(Debug)]
pub struct ArgumentSchema {
    tool: String,
    compiled: CompiledSchema,
}

impl ArgumentSchema {
    /// From a schema's JSON text; the tool's name is for messages.
    ///
    /// # Errors
    /// `invalid_arguments` for text that is no JSON; `not_supported` for a keyword beyond the structural ones.
    pub fn compile(tool: &str, schema: &[u8]) -> Result<ArgumentSchema, ToolError> {
        let schema = json::parse(schema).map_err(|error| {
            let message = format!("The parameters of tool \"{tool}\" are no JSON Schema: {error}");
            ToolError::invalid_arguments(message)
        })?;
        let compiled = CompiledSchema::compile(&schema).map_err(|needs| {
            let place = if needs.path.is_empty() { "the top" } else { &needs.path };
            let message = format!(
                "The parameters of tool \"{tool}\" use \"{}\" at {place}, which this version does not check: it \
                 knows type, properties, required, additionalProperties, items, enum, const, the bounds of numbers, \
                 strings and arrays, anyOf and nullable",
                needs.keyword,
            );
            ToolError::new(ErrorCode::NotSupported, message)
        })?;
        Ok(ArgumentSchema { tool: tool.to_owned(), compiled })
    }

    /// Whether the text, read as plain JSON, fits as it is, so that [`ArgumentSchema::validate`] would answer just
    /// that. It is the rule, and saves whoever can read JSON the way back.
    pub fn fits(&self, text: &[u8]) -> bool {
        // A string may hold the arguments as JSON text.
        serde_json::from_slice::<Value>(text)
            .is_ok_and(|value| !value.is_string() && self.compiled.accepts(&value))
    }

    /// The arguments as the tool should get them. `incomplete`: the response was cut off while they were written.
    ///
    /// # Errors
    /// `cut_off`, and `invalid_arguments` with a report that a model can act on.
    pub fn validate(&self, text: &[u8], incomplete: bool) -> Result<Value, ToolError> {
        if incomplete {
            return Err(cut_off(&self.tool));
        }
        let received = parse::arguments(&self.tool, text, !self.compiled.has_required())?;
        self.compiled
            .check(received.clone(), Coercion::Safe)
            .map_err(|errors| ToolError::invalid_arguments(wording::report(&self.tool, &errors, &received)))
    }
}

/// What the beginning of an argument text says so far, in the keys of the built-in tool of that name: the text as
/// [`partial::arguments`] reads it, aliases and dialects as in a call. Any other name knows none. Nothing is checked.
///
/// ```
/// use serde_json::json;
/// use tackroom::call::partial_arguments;
/// let so_far = partial_arguments(br#"{"file_path":"a.txt","content":"hello wor"#, "write");
/// assert_eq!(so_far.value, Some(json!({"path": "a.txt", "content": "hello wor"})));
/// assert!(!so_far.complete);
/// ```
pub fn partial_arguments(text: &[u8], tool: &str) -> Partial {
    let Partial { value, complete } = partial::arguments(text);
    let Some(tool) = Builtin::named(tool) else { return Partial { value, complete } };
    let prepare = |value| if complete { tool.prepare(value) } else { tool.prepare_partial(value) };
    Partial { value: value.map(prepare), complete }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> ArgumentSchema {
        let schema =
            br#"{"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]}"#;
        ArgumentSchema::compile("roll", schema).unwrap()
    }

    #[test]
    fn what_fits_is_what_validation_leaves_alone() {
        for text in [r#"{"n":1}"#, r#"{"n":1,"s":"x"}"#, r#"{"n":1,"z":[null]}"#] {
            assert!(schema().fits(text.as_bytes()), "{text}");
            let plain: Value = serde_json::from_slice(text.as_bytes()).unwrap();
            assert_eq!(schema().validate(text.as_bytes(), false), Ok(plain));
        }
        for text in [r#"{"n":"1"}"#, r#"{"n":1,"s":null}"#, r#""{\"n\":1}""#] {
            assert!(!schema().fits(text.as_bytes()), "{text}");
            assert_eq!(schema().validate(text.as_bytes(), false), Ok(json!({"n": 1})), "{text}");
        }
        for text in ["", "{", "{}", r#"{"n":"x"}"#] {
            assert!(!schema().fits(text.as_bytes()) && schema().validate(text.as_bytes(), false).is_err());
        }
    }

    #[test]
    fn dialects_are_known_while_they_are_written() {
        for (tool, text, expected) in [
            ("read", r#"{"file":"a"#, json!({"path": "a"})),
            ("bash", r#"{"cmd":"ls -"#, json!({"command": "ls -"})),
            ("edit", r#"{"path":"f","old_str":"a"#, json!({"path": "f", "edits": [{"oldText": "a"}]})),
            ("edit", r#"{"edits":"[{\"old\":\"a"#, json!({"edits": [{"oldText": "a"}]})),
            ("roll", r#"{"file":"a"#, json!({"file": "a"})),
            ("", r#"{"file":"a"#, json!({"file": "a"})),
        ] {
            let partial = partial_arguments(text.as_bytes(), tool);
            assert_eq!(partial, Partial { value: Some(expected), complete: false }, "{tool} {text}");
        }
        assert_eq!(partial_arguments(b"", "read"), Partial::default());
        // What is whole is what a call would get, faults in it too.
        for text in [r#"{"cmd":"ls"}"#, r#"{"edits":"[{\"old\":\"a"}"#] {
            let partial = partial_arguments(text.as_bytes(), "edit");
            let parsed = parse::arguments("edit", text.as_bytes(), false).unwrap();
            assert_eq!(partial, Partial { value: Some(Builtin::Edit.prepare(parsed)), complete: true });
        }
    }

    #[test]
    fn failures_have_their_codes() {
        let code = |schema: &[u8]| ArgumentSchema::compile("roll", schema).unwrap_err().code;
        assert_eq!(code(b"{"), ErrorCode::InvalidArguments);
        let unknown = ArgumentSchema::compile("roll", br#"{"pattern": "x"}"#).unwrap_err();
        assert_eq!(unknown.code, ErrorCode::NotSupported);
        assert!(unknown.message.contains("\"pattern\" at the top"), "{}", unknown.message);
        assert_eq!(schema().validate(br#"{"n":1}"#, true).unwrap_err().code, ErrorCode::CutOff);
        assert_eq!(schema().validate(br#"{"n":1"#, false).unwrap_err().code, ErrorCode::CutOff);
    }
}
