//! Arguments checked against a host's own schema, without a toolset.

use serde_json::Value;

use super::cut_off;
use crate::error::{ErrorCode, ToolError};
use crate::json;
use crate::schema::{Coercion, CompiledSchema, parse, wording};

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
    /// that. It is the rule, and saves whoever can read JSON the way back. No is also said of some that would do, see
    /// [`CompiledSchema::accepts_text`].
    pub fn fits(&self, text: &[u8]) -> bool {
        self.compiled.accepts_text(text)
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
