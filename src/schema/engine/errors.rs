//! What the engine finds wrong, in the words of the structural checker.
//!
//! An error about a structural keyword is worded by giving that keyword alone to the structural collector; only what
//! no structural keyword says has its words here.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use super::Engine;
use super::beyond::Tree;
use crate::schema::Repairs;
use crate::schema::check::{Fit, fit};
use crate::schema::compile::Node;
use crate::schema::errors::{Collector, Kind, SchemaError};
use crate::schema::number::to_message;
use crate::schema::wording::{brief, clip, compact};

/// How much of a schema or a pattern is shown.
const MAX_SHOWN: usize = 80;

/// Everything that is wrong with a value that does not fit.
#[cold]
pub(super) fn collect(engine: &Engine, value: &Value, repairs: Repairs) -> Vec<SchemaError> {
    let mut wording = Wording { engine, repairs };
    let mut collector = Collector::new(repairs);
    wording.all(&engine.validator, value, &mut collector);
    let mut errors = collector.errors;
    if errors.is_empty() {
        errors.push(SchemaError {
            path: String::new(),
            kind: Kind::Keyword("$schema"),
            message: "is not allowed".to_owned(),
        });
    }
    errors
}

struct Wording<'a> {
    engine: &'a Engine,
    repairs: Repairs,
}

impl Wording<'_> {
    /// The errors of a value, at the collector's path.
    fn all(&mut self, validator: &Validator, value: &Value, collector: &mut Collector) {
        let errors: Vec<_> = validator.iter_errors(value).collect();
        self.list(&errors, collector);
    }

    fn list(&mut self, errors: &[ValidationError<'_>], collector: &mut Collector) {
        for error in errors {
            if collector.is_full() {
                return;
            }
            // Whatever else a schema says of a value of the wrong type follows from that.
            let follows = |other: &ValidationError<'_>| {
                matches!(other.kind(), ValidationErrorKind::Type { .. })
                    && !std::ptr::eq(other, error)
                    && is_below(error.schema_path().as_str(), parent(other.schema_path().as_str()))
                    && is_below(error.instance_path().as_str(), other.instance_path().as_str())
            };
            if errors.iter().any(follows) {
                continue;
            }
            let segments: Vec<_> =
                error.instance_path().into_iter().map(|segment| segment.to_string()).collect();
            self.at(&segments, error, collector);
        }
    }

    fn at(&mut self, segments: &[String], error: &ValidationError<'_>, collector: &mut Collector) {
        match segments {
            [] => self.one(error, collector),
            [first, rest @ ..] => collector.inside(first, |inside| self.at(rest, error, inside)),
        }
    }

    fn one(&mut self, error: &ValidationError<'_>, collector: &mut Collector) {
        use ValidationErrorKind as K;
        let value = &**error.instance();
        let structural = |keyword: &str, wanted: Value, collector: &mut Collector| {
            collector.keyword(keyword, wanted, value);
        };
        match error.kind() {
            K::Type { kind } => structural("type", self.types(error, kind), collector),
            K::Required { property } => structural("required", json!([property]), collector),
            K::Enum { options } => structural("enum", Value::clone(options), collector),
            K::Constant { expected_value } => structural("const", Value::clone(expected_value), collector),
            K::Minimum { limit } => structural("minimum", limit.clone(), collector),
            K::Maximum { limit } => structural("maximum", limit.clone(), collector),
            K::ExclusiveMinimum { limit } => structural("exclusiveMinimum", limit.clone(), collector),
            K::ExclusiveMaximum { limit } => structural("exclusiveMaximum", limit.clone(), collector),
            K::MinLength { limit } => structural("minLength", json!(limit), collector),
            K::MaxLength { limit } => structural("maxLength", json!(limit), collector),
            K::MinItems { limit } => structural("minItems", json!(limit), collector),
            K::MaxItems { limit } => structural("maxItems", json!(limit), collector),
            K::AdditionalProperties { unexpected } => {
                for key in unexpected {
                    let message = "is not allowed".to_owned();
                    collector.inside(key, |inside| inside.add(Kind::AdditionalProperties, message));
                }
            }
            K::UnevaluatedProperties { unexpected } => {
                for key in unexpected {
                    let message = "is not allowed".to_owned();
                    collector
                        .inside(key, |inside| inside.add(Kind::Keyword("unevaluatedProperties"), message));
                }
            }
            K::FalseSchema => collector.add(Kind::FalseSchema, "is not allowed".to_owned()),
            K::AnyOf { context } | K::OneOfNotValid { context } => self.branches(error, context, collector),
            kind => {
                let message = message(kind, value);
                collector.add(Kind::Keyword(keyword(kind)), message);
            }
        }
    }

    /// The types that were expected, in the schema's order.
    fn types(&self, error: &ValidationError<'_>, kind: &TypeKind) -> Value {
        let expected: Vec<Value> = match kind {
            TypeKind::Single(one) => vec![one.to_string().into()],
            TypeKind::Multiple(types) => types.iter().map(|one| one.to_string().into()).collect(),
        };
        match self.engine.schema.pointer(error.schema_path().as_str()) {
            Some(Value::Array(listed))
                if listed.len() == expected.len() && expected.iter().all(|one| listed.contains(one)) =>
            {
                Value::Array(listed.clone())
            }
            _ => Value::Array(expected),
        }
    }

    /// No branch of `anyOf` or `oneOf` fits: the one that the value comes closest to speaks for all.
    fn branches(
        &mut self,
        error: &ValidationError<'_>,
        context: &[Vec<ValidationError<'static>>],
        collector: &mut Collector,
    ) {
        let value = &**error.instance();
        let path = error.schema_path().as_str();
        let schemas = self.engine.schema.pointer(path).and_then(Value::as_array);
        let schemas = schemas.filter(|schemas| schemas.len() == context.len());
        let mut lists = Vec::with_capacity(context.len());
        let mut nodes = Vec::with_capacity(context.len());
        for (index, errors) in context.iter().enumerate() {
            let mut inner = collector.same_place();
            match schemas {
                Some(_) => nodes.push(self.branch(&format!("{path}/{index}"), value, &mut inner)),
                None => self.list(errors, &mut inner),
            }
            lists.push(inner.errors);
        }
        let kind = match error.kind() {
            ValidationErrorKind::AnyOf { .. } => Kind::AnyOf,
            _ => Kind::Keyword("oneOf"),
        };
        collector.closest(kind, lists, &nodes, value);
    }

    /// What is wrong with a value by the schema at a pointer, once it is repaired as that asks.
    fn branch(&mut self, pointer: &str, value: &Value, inner: &mut Collector) -> Node {
        let engine = self.engine;
        let Tree { root, targets } = Tree::part(&engine.schema, engine.draft, &engine.documents, pointer);
        let mut candidate = value.clone();
        fit(&root, &mut candidate, Fit::new(self.repairs, &targets));
        if let Some(validator) = engine.documents.part(pointer) {
            self.all(&validator, &candidate, inner);
        }
        root
    }
}

/// Whether a pointer leads to another's place, or below it.
fn is_below(pointer: &str, other: &str) -> bool {
    pointer.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The name of what was not met.
fn keyword(kind: &ValidationErrorKind) -> &'static str {
    use ValidationErrorKind as K;
    match kind {
        K::AdditionalItems { .. } => "additionalItems",
        K::Contains => "contains",
        K::ContentEncoding { .. } | K::FromUtf8 { .. } => "contentEncoding",
        K::ContentMediaType { .. } => "contentMediaType",
        K::Format { .. } => "format",
        K::MaxProperties { .. } => "maxProperties",
        K::MinProperties { .. } => "minProperties",
        K::MultipleOf { .. } => "multipleOf",
        K::Not { .. } => "not",
        K::OneOfMultipleValid { .. } => "oneOf",
        K::Pattern { .. } | K::BacktrackLimitExceeded { .. } | K::RegexEngineFailure { .. } => "pattern",
        K::PropertyNames { .. } => "propertyNames",
        K::UnevaluatedItems { .. } => "unevaluatedItems",
        K::UniqueItems => "uniqueItems",
        _ => "$ref",
    }
}

/// What was expected and what was found, for keywords beyond the structural ones.
fn message(kind: &ValidationErrorKind, value: &Value) -> String {
    use ValidationErrorKind as K;
    let found = brief(value);
    let size = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    match kind {
        K::AdditionalItems { limit } => format!("must have at most {limit} item(s), got {size}"),
        K::Contains => "must have an item of the form that `contains` describes".to_owned(),
        K::ContentEncoding { content_encoding } => format!("must be {content_encoding}, got {found}"),
        K::ContentMediaType { content_media_type } => format!("must hold {content_media_type}, got {found}"),
        K::FromUtf8 { .. } => format!("must hold UTF-8 text, got {found}"),
        K::Format { format } => format!("must be of the format \"{}\", got {found}", clip(format, MAX_SHOWN)),
        K::MaxProperties { limit } => format!("must have at most {limit} key(s), got {size}"),
        K::MinProperties { limit } => format!("must have at least {limit} key(s), got {size}"),
        K::MultipleOf { multiple_of } => {
            let step = serde_json::Number::from_f64(*multiple_of);
            let step = step.map(|step| to_message(&step)).unwrap_or_default();
            format!("must be a multiple of {step}, got {found}")
        }
        K::Not { schema } => format!("must not be of the form {}, got {found}", compact(schema, MAX_SHOWN)),
        K::OneOfMultipleValid { context } => {
            let fitting = context.iter().filter(|errors| errors.is_empty()).count();
            format!("must match exactly one of the {} forms, matches {fitting}", context.len())
        }
        K::Pattern { pattern } => format!("must match the pattern {}, got {found}", clip(pattern, MAX_SHOWN)),
        K::BacktrackLimitExceeded { .. } | K::RegexEngineFailure { .. } => {
            format!("could not be matched with the pattern in bounded time, got {found}")
        }
        K::PropertyNames { error } => {
            let inner = match error.kind() {
                K::Pattern { pattern } => format!("must match the pattern {}", clip(pattern, MAX_SHOWN)),
                K::Enum { options } => format!("must be one of {}", compact(options, MAX_SHOWN)),
                kind => format!("must fit `propertyNames` ({})", kind.keyword()),
            };
            format!("its keys {inner}, got {}", brief(error.instance()))
        }
        K::UnevaluatedItems { unexpected } => format!("must not have {} more item(s)", unexpected.len()),
        K::UniqueItems => "must not have the same item twice".to_owned(),
        _ => "is not allowed".to_owned(),
    }
}
