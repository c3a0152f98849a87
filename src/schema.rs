//! Arguments: from a model's text to a value that fits the tool's JSON Schema.
//!
//! Three steps, each a pure function: [`parse`] turns argument text into a JSON value ([`partial`] a text
//! that is still being written, to be shown),
//! [`CompiledSchema::check`] drops optional nulls, coerces and checks in one pass, and
//! [`wording::report`] says what is wrong in words that a model can act on.
//!
//! The checker here is structural: it knows the keywords that tool schemas are made of (see
//! [`CompiledSchema::compile`]). A schema that uses any other is refused at compile time with
//! [`NeedsEngine`], never half-checked. What is absent on purpose: references, patterns, formats,
//! every keyword that needs a validation engine.
//!
//! The other way round, from a schema to what a model is told of it, go [`strict`] and [`export`].
//!
//! ```
//! use serde_json::json;
//! use tackroom::schema::{Coercion, CompiledSchema, parse, wording};
//!
//! let schema = CompiledSchema::compile(&json!({
//!     "type": "object",
//!     "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
//!     "required": ["path"],
//! })).unwrap();
//!
//! let sent = parse::arguments("read", br#"{"path":"a.txt","limit":"90"}"#, !schema.has_required()).unwrap();
//! assert_eq!(schema.check(sent, Coercion::Safe), Ok(json!({"path": "a.txt", "limit": 90})));
//!
//! let sent = json!({"path": ["a.txt"]});
//! let errors = schema.check(sent.clone(), Coercion::Safe).unwrap_err();
//! let text = wording::report("read", &errors, &sent);
//! assert!(text.starts_with("Validation failed for tool \"read\":\n  - path: must be string, got array\n"));
//! ```

mod ajv;
mod beyond;
mod check;
mod coerce;
mod compile;
#[cfg(feature = "schema")]
pub mod engine;
mod errors;
pub mod export;
mod gemini;
mod number;
pub mod parse;
pub mod partial;
mod plain;
mod scan;
pub mod strict;
mod walk;
pub mod wording;

use serde_json::Value;

pub use compile::{CompiledSchema, NeedsEngine};
pub use errors::{Kind, MAX_ERRORS, SchemaError};

/// How far a value may be bent to fit its schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coercion {
    /// Only changes that cannot guess wrong: `"42"` → 42, 5 → `"5"`, `"true"` → true, JSON text → the
    /// array or object it holds, a lone item → an array of one.
    #[default]
    Safe,
    /// As AJV 8 with `coerceTypes: true`, between scalars only: `"0x10"` → 16, `" "` → 0, true → 1, null → 0, `""` or
    /// false, `""` → null. What a listed type accepts stays as it is; otherwise the types are tried in their order.
    /// Text that stands for an infinity is an error.
    Ajv,
    /// None.
    None,
}

impl Coercion {
    /// By the name that it has in options.
    ///
    /// # Errors
    /// What was expected and what was found.
    pub fn named(name: &str) -> Result<Coercion, String> {
        match name {
            "safe" => Ok(Coercion::Safe),
            "ajv" => Ok(Coercion::Ajv),
            "none" => Ok(Coercion::None),
            other => Err(format!("unknown variant `{other}`, expected `safe`, `ajv` or `none`")),
        }
    }
}

/// What may be done to a value before it is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repairs {
    /// How far values may be bent.
    pub coercion: Coercion,
    /// Whether an optional property that is null where null does not fit is dropped.
    pub drop_optional_nulls: bool,
}

impl From<Coercion> for Repairs {
    /// With optional nulls dropped.
    fn from(coercion: Coercion) -> Self {
        Repairs { coercion, drop_optional_nulls: true }
    }
}

impl CompiledSchema {
    /// Whether the value fits as it is. [`CompiledSchema::check`] then changes nothing, except that it may write a
    /// whole number without its fraction.
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::schema::CompiledSchema;
    /// let schema = CompiledSchema::compile(&json!({"properties": {"n": {"type": "integer"}}})).unwrap();
    /// assert!(schema.accepts(&json!({"n": 42})) && !schema.accepts(&json!({"n": "42"})));
    /// ```
    pub fn accepts(&self, value: &Value) -> bool {
        check::valid(&self.root, value)
    }

    /// Whether JSON text, read as it stands, fits as it is; not where it is a string, which may hold JSON text. Yes is
    /// certain, and then [`CompiledSchema::accepts`] says so of the value too. No may also be said of text with a
    /// repeated key or more than 128 required properties.
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::schema::CompiledSchema;
    /// let schema = CompiledSchema::compile(&json!({"properties": {"n": {"type": "integer"}}})).unwrap();
    /// assert!(schema.accepts_text(br#"{"n": 42}"#) && !schema.accepts_text(br#"{"n": "42"}"#));
    /// assert!(!schema.accepts_text(br#"{"n": 42"#));
    /// ```
    pub fn accepts_text(&self, text: &[u8]) -> bool {
        plain::fits(&self.root, text)
    }

    /// Drops optional nulls, coerces and checks, in one pass over the value; a [`Coercion`] alone stands for
    /// [`Repairs`] that drop nulls.
    ///
    /// The value that comes back always fits the schema. An optional property that is null where null
    /// does not fit is dropped, at every depth; a required one stays and fails. Null never becomes
    /// another value, but in [`Coercion::Ajv`]. Key order is kept.
    ///
    /// # Errors
    /// Everything that is wrong with the value after coercion, in no particular order, at most
    /// [`MAX_ERRORS`]; never an empty list.
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::schema::{Coercion, CompiledSchema, Kind};
    /// let schema = CompiledSchema::compile(&json!({"properties": {"n": {"type": "integer"}}})).unwrap();
    /// assert_eq!(schema.check(json!({"n": 42.0}), Coercion::Safe), Ok(json!({"n": 42})));
    /// assert_eq!(schema.check(json!({"n": null}), Coercion::None), Ok(json!({})));
    /// let errors = schema.check(json!({"n": "0x10"}), Coercion::Safe).unwrap_err();
    /// assert_eq!((errors[0].path.as_str(), errors[0].kind), ("n", Kind::Type));
    /// assert_eq!(errors[0].message, "must be integer, got \"0x10\"");
    /// ```
    pub fn check(&self, mut value: Value, repairs: impl Into<Repairs>) -> Result<Value, Vec<SchemaError>> {
        let (repairs, effort) = (repairs.into(), check::Effort::new());
        let how = check::Fit::new(repairs, &[], &effort);
        if check::fit(&self.root, &mut value, how) {
            return Ok(value);
        }
        Err(errors::collect(&self.root, &value, how))
    }
}
