//! JSON Schema in full: drafts 4, 6, 7, 2019-09 and 2020-12, by the `jsonschema` crate.
//!
//! The crate decides whether a value fits; what is ours is the rest of what a model's arguments need. Before compiling,
//! [`repair`] mends what a schema's author got wrong. A value that does not fit is repaired by the same walk as in the
//! structural checker ([`super::check`]), over the structural keywords, local references, `allOf`, `oneOf`, `if`, tuples
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
    /// Other documents, by URI. They are looked at when a reference asks for them.
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
        let validator = documents.validator(&repaired.schema)?;
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

#[cfg(test)]
mod tests {
    use super::super::Coercion;
    use super::*;
    use serde_json::json;

    fn engine(schema: Value) -> Engine {
        Engine::compile(&schema, &EngineOptions::default()).unwrap()
    }

    fn safe(schema: Value, value: Value) -> Result<Value, Vec<String>> {
        engine(schema).check(value, Coercion::Safe.into()).map_err(|errors| {
            errors.into_iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
        })
    }

    #[test]
    fn a22_coerces_through_references() {
        let integer = json!({"type": "integer"});
        for schema in [
            json!({"$ref": "#/$defs/A", "$defs": {"A": integer}}),
            json!({"$ref": "#/definitions/A", "definitions": {"A": integer}}),
            json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": integer}}),
            json!({"$ref": "#/$defs/a~1b%25", "$defs": {"a/b%": integer}}),
            json!({"$ref": "#named", "$defs": {"A": {"$anchor": "named", "type": "integer"}}}),
            json!({"$id": "https://example.com/me", "$ref": "https://example.com/me#/$defs/A", "$defs": {"A": integer}}),
            json!({"$ref": "#/components/schemas/A", "components": {"schemas": {"A": integer}}}),
            json!({"allOf": [{"$ref": "#/$defs/A"}, {"minimum": 0}], "$defs": {"A": integer}}),
            json!({"if": {"type": "string"}, "then": integer, "else": integer}),
        ] {
            assert_eq!(safe(schema.clone(), json!("1")), Ok(json!(1)), "{schema}");
        }
        // What an older draft ignores beside a reference does nothing.
        let draft_7 = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$ref": "#/definitions/A",
            "type": "string",
            "definitions": {"A": integer},
        });
        assert_eq!(safe(draft_7, json!("1")), Ok(json!(1)));
    }

    #[test]
    fn a22_recursion_ends() {
        let tree = json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "of": {"type": "array", "items": {"$ref": "#"}}},
            "additionalProperties": false,
        });
        let sent = json!({"n": "1", "of": {"n": "2", "of": "[{\"n\": \"3\"}]"}});
        assert_eq!(safe(tree.clone(), sent), Ok(json!({"n": 1, "of": [{"n": 2, "of": [{"n": 3}]}]})));
        let sent = json!({"of": [{"of": [{"n": "x", "m": 1}]}]});
        let errors = ["of.0.of.0.n: must be integer, got \"x\"", "of.0.of.0.m: is not allowed"];
        assert_eq!(safe(tree, sent).map_err(|found| found == errors), Err(true));
        // An array is put around a lone item once, however endless the arrays are.
        let lists = json!({"type": ["array", "integer"], "items": {"$ref": "#"}});
        assert_eq!(safe(lists.clone(), json!("1")), Ok(json!([1])));
        assert_eq!(safe(lists, json!("x")), Err(vec![": must be array or integer, got \"x\"".to_owned()]));
    }

    #[test]
    fn a22_dangling_references_reject_only_at_their_place() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/Nope"}, "n": {"type": "integer"}}});
        let compiled = engine(schema.clone());
        assert_eq!(compiled.warnings().len(), 1);
        assert_eq!(compiled.warnings()[0].path, "/properties/a/$ref");
        assert_eq!(safe(schema.clone(), json!({"n": "1"})), Ok(json!({"n": 1})));
        assert_eq!(safe(schema, json!({"a": 1, "n": 1})), Err(vec!["a: is not allowed".to_owned()]));
    }

    #[test]
    fn a24_patterns_are_those_of_javascript() {
        let broken = json!({"properties": {"s": {"type": "string", "pattern": "("}}});
        assert_eq!(engine(broken.clone()).warnings()[0].path, "/properties/s/pattern");
        assert_eq!(safe(broken, json!({"s": 5})), Ok(json!({"s": "5"})));
        for (pattern, right, wrong) in [
            ("(?<=a)b", "ab", "cb"),
            ("^\\p{L}+$", "éß字", "a1"),
            ("^(?!x)", "y", "x"),
            ("^(['\"]).*\\1$", "'a'", "'a\""),
            ("^(?<x>a)b$", "ab", "abb"),
            ("^\\d$", "1", "١"),
            ("^.$", "😀", "ab"),
        ] {
            let engine = engine(json!({ "pattern": pattern }));
            assert_eq!(engine.warnings(), [], "{pattern}");
            assert!(engine.accepts(&json!(right)) && !engine.accepts(&json!(wrong)), "{pattern}");
        }
    }

    #[test]
    fn a27_code_points_and_decimals() {
        let sizes = engine(json!({"maxLength": 1, "multipleOf": 0.1}));
        assert!(sizes.accepts(&json!("😀")) && !sizes.accepts(&json!("😀😀")));
        for number in [json!(0.3), json!(1.1), json!(4.35e10), json!(7)] {
            assert!(sizes.accepts(&number), "{number}");
        }
        assert!(!sizes.accepts(&json!(0.35)));
    }

    #[test]
    fn content_is_an_annotation_in_every_draft() {
        for draft in ["4", "6", "7", "2019-09", "2020-12"] {
            let schema =
                json!({"contentEncoding": "base64", "contentMediaType": "application/json", "multipleOf": 1});
            let options = EngineOptions { draft: Draft::named(draft), ..EngineOptions::default() };
            let engine = Engine::compile(&schema, &options).unwrap();
            assert!(engine.accepts(&json!("{!")), "{draft}");
        }
    }

    #[test]
    fn marks_tell_branches_apart() {
        let schema = json!({"oneOf": [
            {"properties": {"kind": {"const": "a"}, "v": {"type": "string"}}, "required": ["kind"]},
            {"$ref": "#/$defs/B"},
        ], "$defs": {"B": {"properties": {"kind": {"enum": ["b", "c"]}, "v": {"type": "integer"}}, "required": ["kind"]}}});
        assert_eq!(safe(schema.clone(), json!({"kind": "c", "v": "1"})), Ok(json!({"kind": "c", "v": 1})));
        assert_eq!(safe(schema.clone(), json!({"kind": "a", "v": 1})), Ok(json!({"kind": "a", "v": "1"})));
        let errors = safe(schema, json!({"kind": "b", "v": "x"})).unwrap_err();
        assert_eq!(errors, ["v: must be integer, got \"x\""]);
    }
}
