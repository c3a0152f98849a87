//! JSON Schema in full: drafts 4, 6, 7, 2019-09 and 2020-12, by the `jsonschema` crate.
//!
//! The crate decides whether a value fits; what is ours is the rest of what a model's arguments need. Before compiling,
//! [`repair`] mends what a schema's author got wrong. A value that does not fit is repaired by the same walk as in the
//! structural checker ([`super::check`]), over the structural keywords, references, `allOf`, `oneOf`, `if`, tuples
//! and `patternProperties`; where that walk has to know whether a part fits, it asks the crate. What is wrong is found
//! and worded by the same walk too ([`super::errors`]), which asks the crate for what it cannot know itself: a list of
//! all errors by the crate would take twice as long with each level of a value, where a schema is endless.
//!
//! Patterns are ECMA-262's, look-around included. `format` is an annotation unless it is asked to assert. Nothing is
//! fetched: other documents come through [`EngineOptions::resources`].

pub(super) mod beyond;
mod documents;
mod draft;
mod errors;
mod positions;
mod references;
mod repair;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod values;

use std::rc::Rc;

use serde_json::{Map, Value};

use self::beyond::Tree;
use self::documents::Documents;
pub use self::draft::Draft;
use super::check::{self, Effort, Fit};
use super::errors::Collector;
use super::{Kind, Repairs, SchemaError};

/// How a schema is compiled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// Whether `format` asserts. Formats that no draft defines are ignored either way.
    pub formats: bool,
    /// The draft of a schema whose `$schema` names none. Default 2020-12.
    pub draft: Option<Draft>,
    /// Other documents, by URI, which may be relative to the schema's `$id`. They are looked at when a reference asks
    /// for them.
    pub resources: Map<String, Value>,
}

/// Something in a schema that had to be mended. The tool works all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// JSON Pointer to what is wrong in the schema, such as `/properties/a/type`.
    pub path: String,
    /// What was expected, what was found, and what was done about it.
    pub message: String,
}

/// A schema, compiled by the full engine.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::engine::{Engine, EngineOptions};
/// use tackroom::schema::{Coercion, Repairs};
/// let schema = json!({
///     "$ref": "#/$defs/Range",
///     "$defs": {"Range": {"properties": {"from": {"type": "integer", "multipleOf": 5}}, "patternProperties": {"(": {}}}},
/// });
/// let engine = Engine::compile(&schema, &EngineOptions::default()).unwrap();
/// assert_eq!(engine.check(json!({"from": "15"}), Coercion::Safe.into()), Ok(json!({"from": 15})));
/// let errors = engine.check(json!({"from": 7}), Coercion::Safe.into()).unwrap_err();
/// assert_eq!(errors[0].message, "must be a multiple of 5, got 7");
/// assert_eq!(engine.warnings()[0].path, "/$defs/Range/patternProperties/(");
/// ```
#[derive(Debug)]
pub struct Engine {
    validator: jsonschema::Validator,
    tree: Tree,
    warnings: Vec<Warning>,
}

impl Engine {
    /// Compiles a schema. What its meta-schema rejects, a pattern that is none and a reference to nothing are
    /// mended, with a warning each.
    ///
    /// # Errors
    /// The engine's own words where a schema cannot be mended: one that is neither an object nor a boolean, and one
    /// whose other documents are broken.
    pub fn compile(schema: &Value, options: &EngineOptions) -> Result<Engine, String> {
        let mut warnings = Vec::new();
        let repaired = repair::repair(schema, options, &mut warnings)?;
        let documents = Rc::new(Documents::new(&repaired.schema, repaired.draft, options)?);
        let validator = documents.whole(&repaired.schema)?;
        let tree = Tree::compile(&repaired.schema, repaired.draft, &documents);
        Ok(Engine { validator, tree, warnings })
    }

    /// What was mended, in the order in which it was found.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Whether the top level requires any property: if not, no arguments at all may be `{}`.
    pub fn has_required(&self) -> bool {
        check::requires_any(self.tree.root(), &self.tree.targets)
    }

    /// Whether the value fits as it is.
    pub fn accepts(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Drops optional nulls, coerces and checks. A value that fits as it is stays as it is.
    ///
    /// # Errors
    /// Everything that is wrong with the value after coercion, in no particular order, at most
    /// [`MAX_ERRORS`](super::MAX_ERRORS); never an empty list.
    pub fn check(&self, mut value: Value, repairs: Repairs) -> Result<Value, Vec<SchemaError>> {
        if self.accepts(&value) {
            return Ok(value);
        }
        let effort = Effort::new();
        let how = Fit::new(repairs, &self.tree.targets, &effort);
        check::fit(self.tree.root(), &mut value, how);
        if self.accepts(&value) {
            return Ok(value);
        }
        Err(self.errors(&value, how))
    }

    /// What is wrong with a value that does not fit. The tree says most of it, in the same walk as for a structural
    /// schema; what it does not know, the engine says.
    #[cold]
    fn errors(&self, value: &Value, how: Fit<'_>) -> Vec<SchemaError> {
        let errors = super::errors::collect(self.tree.root(), value, how);
        if !errors.is_empty() {
            return errors;
        }
        let mut collector = Collector::new(how);
        errors::collect_shallow(&self.validator, None, value, &mut collector);
        collector.add_if_none(Kind::Keyword("$ref"), "is not allowed");
        collector.errors
    }
}
