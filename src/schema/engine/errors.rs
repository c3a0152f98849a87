//! What the engine finds wrong, in the words of the structural checker.
//!
//! An error about a structural keyword is worded by giving that keyword alone to the structural collector; only what
//! no structural keyword says has its words here.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Number, Value, json};

use crate::schema::errors::{Collector, Kind, keys};
use crate::schema::number::to_message;
use crate::schema::parse::deeper_than;
use crate::schema::wording::{brief, clip, compact};

/// How much of a schema or a pattern is shown.
const MAX_SHOWN: usize = 80;

/// How deeply a value may be nested of which the engine lists all errors.
const MAX_LEVELS: usize = 12;

/// Adds what a validator finds wrong with the value at the collector's path. `keywords`: those of the schema object, as
/// far as they help to say it.
pub(super) fn collect(
    validator: &Validator,
    keywords: Option<&Value>,
    value: &Value,
    collector: &mut Collector<'_>,
) {
    // What is wrong in each of several forms takes twice as long, or longer, with each level of a value.
    if deeper_than(value, MAX_LEVELS) {
        collector.add(
            Kind::Keyword("$ref"),
            format!("is not of the form that it has to be, got {}", brief(value)),
        );
        return;
    }
    let errors: Vec<_> = validator.iter_errors(value).collect();
    list(&errors, "", keywords, collector);
}

/// [`collect`] where a schema may be endless: what is wrong by each of several forms takes twice as long, or longer, with
/// each level of a value.
pub(super) fn collect_shallow(
    validator: &Validator,
    keywords: Option<&Value>,
    value: &Value,
    collector: &mut Collector<'_>,
) {
    if !deeper_than(value, MAX_LEVELS) {
        collect(validator, keywords, value, collector);
    } else if !validator.is_valid(value) {
        let found = brief(value);
        collector.add(Kind::Keyword("$ref"), format!("is not of the form that it has to be, got {found}"));
    }
}

/// Adds errors; the collector is where the pointer `base` leads.
fn list(errors: &[ValidationError<'_>], base: &str, keywords: Option<&Value>, collector: &mut Collector<'_>) {
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
        let path = error.instance_path().as_str();
        let path = path.strip_prefix(base).unwrap_or(path);
        let segments: Vec<_> =
            path.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~")).collect();
        at(&segments, error, keywords, collector);
    }
}

fn at(
    segments: &[String],
    error: &ValidationError<'_>,
    keywords: Option<&Value>,
    collector: &mut Collector<'_>,
) {
    match segments {
        [] => one(error, keywords, collector),
        [first, rest @ ..] => collector.inside(first, &mut |inside| at(rest, error, keywords, inside)),
    }
}

fn one(error: &ValidationError<'_>, keywords: Option<&Value>, collector: &mut Collector<'_>) {
    use ValidationErrorKind as K;
    let value = &**error.instance();
    let structural = |keyword: &str, wanted: Value, collector: &mut Collector<'_>| {
        collector.keyword(keyword, wanted, value);
    };
    let not_allowed = || "is not allowed".to_owned();
    match error.kind() {
        K::Type { kind } => structural("type", types(kind), collector),
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
                collector.inside(key, &mut |inside| inside.add(Kind::AdditionalProperties, not_allowed()));
            }
        }
        K::UnevaluatedProperties { unexpected } => {
            let form = keywords.and_then(|keywords| keywords.get("unevaluatedProperties"));
            for key in unexpected {
                let message = match (form, value.get(key)) {
                    (Some(form), Some(value)) => {
                        format!("must be of the form {}, got {}", compact(form, MAX_SHOWN), brief(value))
                    }
                    _ => not_allowed(),
                };
                let kind = Kind::Keyword("unevaluatedProperties");
                collector.inside(key, &mut |inside| inside.add(kind, message.clone()));
            }
        }
        K::FalseSchema if error.schema_path().as_str().ends_with("/propertyNames") => {
            let found = value.as_object().map(keys).unwrap_or_default();
            collector.add(Kind::Keyword("propertyNames"), format!("must have no keys, got {found}"));
        }
        K::FalseSchema => collector.add(Kind::FalseSchema, not_allowed()),
        K::AnyOf { context } => branches(error, Kind::AnyOf, context, collector),
        K::OneOfNotValid { context } => branches(error, Kind::Keyword("oneOf"), context, collector),
        K::PropertyNames { error } => {
            let name = error.instance();
            let mut inner = collector.same_place();
            one(error, None, &mut inner);
            let what = inner.errors.first().map_or("is not allowed", |error| &error.message);
            let what = what.strip_suffix(&format!(", got {}", brief(name))).unwrap_or(what);
            collector.add(Kind::Keyword("propertyNames"), format!("its key {} {what}", brief(name)));
        }
        kind => {
            let (keyword, message) = message(kind, error.schema_path().as_str(), keywords, value);
            collector.add(Kind::Keyword(keyword), message);
        }
    }
}

fn types(kind: &TypeKind) -> Value {
    match kind {
        TypeKind::Single(one) => one.to_string().into(),
        TypeKind::Multiple(types) => types.iter().map(|one| one.to_string()).collect(),
    }
}

/// No branch of `anyOf` or `oneOf` fits.
fn branches(
    error: &ValidationError<'_>,
    kind: Kind,
    context: &[Vec<ValidationError<'static>>],
    collector: &mut Collector<'_>,
) {
    let errors_of = |errors: &Vec<ValidationError<'static>>| {
        let mut inner = collector.same_place();
        list(errors, error.instance_path().as_str(), None, &mut inner);
        inner.errors
    };
    let lists = context.iter().map(errors_of).collect();
    let forms = || {
        let mut names: Vec<String> = Vec::new();
        for error in context.iter().flatten() {
            if let ValidationErrorKind::Type { kind } = error.kind() {
                let listed = match types(kind) {
                    Value::Array(types) => types,
                    one => vec![one],
                };
                for name in listed.iter().filter_map(Value::as_str) {
                    if !names.iter().any(|known| known == name) {
                        names.push(name.to_owned());
                    }
                }
            }
        }
        names.join(", ")
    };
    collector.closest(kind, lists, &forms, error.instance());
}

/// Whether a pointer leads to another's place, or below it.
fn is_below(pointer: &str, other: &str) -> bool {
    pointer.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn parent(pointer: &str) -> &str {
    pointer.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The keyword, and what was expected and what was found, beyond the structural ones.
fn message(
    kind: &ValidationErrorKind,
    schema_path: &str,
    keywords: Option<&Value>,
    value: &Value,
) -> (&'static str, String) {
    use ValidationErrorKind as K;
    let found = brief(value);
    let size = match value {
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => 0,
    };
    match kind {
        K::AdditionalItems { limit } => {
            ("additionalItems", format!("must have at most {limit} item(s), got {size}"))
        }
        K::Contains => ("contains", contains(schema_path, keywords)),
        K::Format { format } => {
            ("format", format!("must be of the format \"{}\", got {found}", clip(format, MAX_SHOWN)))
        }
        K::MaxProperties { limit } => {
            ("maxProperties", format!("must have at most {limit} key(s), got {size}"))
        }
        K::MinProperties { limit } => {
            ("minProperties", format!("must have at least {limit} key(s), got {size}"))
        }
        K::MultipleOf { multiple_of } => {
            let step = Number::from_f64(*multiple_of).map(|step| to_message(&step)).unwrap_or_default();
            ("multipleOf", format!("must be a multiple of {step}, got {found}"))
        }
        K::Not { schema } => {
            ("not", format!("must not be of the form {}, got {found}", compact(schema, MAX_SHOWN)))
        }
        K::OneOfMultipleValid { context } => {
            let fitting = context.iter().filter(|errors| errors.is_empty()).count();
            let count = context.len();
            ("oneOf", format!("must match exactly one of the {count} forms, matches {fitting}"))
        }
        K::Pattern { pattern } => {
            ("pattern", format!("must match the pattern /{}/, got {found}", clip(pattern, MAX_SHOWN)))
        }
        K::BacktrackLimitExceeded { .. } | K::RegexEngineFailure { .. } => {
            ("pattern", format!("could not be matched with the pattern in bounded time, got {found}"))
        }
        K::UnevaluatedItems { unexpected } => {
            let count = unexpected.len();
            ("unevaluatedItems", format!("must have no items but those described, got {count} more"))
        }
        K::UniqueItems => ("uniqueItems", "must not have the same item twice".to_owned()),
        _ => ("$ref", "is not allowed".to_owned()),
    }
}

/// What `contains` asks, with how often it has to be met.
fn contains(schema_path: &str, keywords: Option<&Value>) -> String {
    let keyword = schema_path.rsplit('/').next().unwrap_or_default();
    let bound = keywords.and_then(|keywords| keywords.get(keyword)).and_then(Value::as_number);
    let many = match (keyword, bound) {
        ("maxContains", Some(most)) => format!("at most {} item(s)", to_message(most)),
        ("maxContains", None) => "fewer items".to_owned(),
        ("minContains", Some(least)) => format!("at least {} item(s)", to_message(least)),
        ("minContains", None) => "more items".to_owned(),
        _ => "an item".to_owned(),
    };
    match keywords.and_then(|keywords| keywords.get("contains")) {
        Some(form) => format!("must have {many} of the form {}", compact(form, MAX_SHOWN)),
        None => format!("must have {many} of the form that \"contains\" describes"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Engine, EngineOptions};
    use super::*;
    use crate::schema::Coercion;

    const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

    fn errors(schema: Value, value: Value) -> Vec<String> {
        let options = EngineOptions { formats: true, ..EngineOptions::default() };
        let engine = Engine::compile(&schema, &options).unwrap();
        assert_eq!(engine.warnings(), [], "{schema}");
        let errors = engine.check(value, Coercion::Safe.into()).unwrap_err();
        errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
    }

    #[test]
    fn every_keyword_has_its_words() {
        for (schema, value, expected) in [
            (json!({"pattern": "^a/b"}), json!("x"), ": must match the pattern /^a/b/, got \"x\""),
            (json!({"multipleOf": 0.1}), json!(0.35), ": must be a multiple of 0.1, got 0.35"),
            (json!({"uniqueItems": true}), json!([1, 1.0]), ": must not have the same item twice"),
            (json!({"minProperties": 2}), json!({"a": 1}), ": must have at least 2 key(s), got 1"),
            (json!({"maxProperties": 0}), json!({"a": 1}), ": must have at most 0 key(s), got 1"),
            (json!({"format": "date"}), json!("x"), ": must be of the format \"date\", got \"x\""),
            (
                json!({"not": {"type": "string"}}),
                json!("x"),
                ": must not be of the form {\"type\":\"string\"}, got \"x\"",
            ),
            (json!({"contains": {"const": 1}}), json!([2]), ": must have an item of the form {\"const\":1}"),
            (
                json!({"contains": {"const": 1}, "minContains": 2}),
                json!([1]),
                ": must have at least 2 item(s) of the form {\"const\":1}",
            ),
            (
                json!({"contains": {"const": 1}, "maxContains": 1}),
                json!([1, 1]),
                ": must have at most 1 item(s) of the form {\"const\":1}",
            ),
            (
                json!({"propertyNames": {"pattern": "^a"}}),
                json!({"b": 1}),
                ": its key \"b\" must match the pattern /^a/",
            ),
            (
                json!({"propertyNames": {"maxLength": 2}}),
                json!({"bcd": 1}),
                ": its key \"bcd\" must be at most 2 characters, got 3",
            ),
            (json!({"propertyNames": false}), json!({"b": 1}), ": must have no keys, got b"),
            (json!({"dependentRequired": {"a": ["b"]}}), json!({"a": 1}), "b: is required (received: a)"),
            (
                json!({"dependentSchemas": {"a": {"minProperties": 2}}}),
                json!({"a": 1}),
                ": must have at least 2 key(s), got 1",
            ),
            (
                json!({"$schema": DRAFT_7, "dependencies": {"a": ["b"]}}),
                json!({"a": 1}),
                "b: is required (received: a)",
            ),
            (json!({"prefixItems": [{}], "items": false}), json!([1, 2]), "1: is not allowed"),
            (
                json!({"$schema": DRAFT_7, "items": [{}], "additionalItems": {"type": "null"}}),
                json!([1, 2]),
                "1: must be null, got 2",
            ),
            (
                json!({"prefixItems": [{}], "unevaluatedItems": false}),
                json!([1, 2]),
                ": must have no items but those described, got 1 more",
            ),
            (
                json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
                json!({"a": 1, "b": 1}),
                "b: is not allowed",
            ),
            (
                json!({"unevaluatedProperties": {"type": "null"}}),
                json!({"b": 1}),
                "b: must be of the form {\"type\":\"null\"}, got 1",
            ),
            (
                json!({"patternProperties": {"^x": {"type": "null"}}}),
                json!({"x1": 1}),
                "x1: must be null, got 1",
            ),
            (
                json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
                json!({"a": 1}),
                "b: is required (received: a)",
            ),
            (json!({"if": {"required": ["a"]}, "else": false}), json!({"b": 1}), ": is not allowed"),
            (
                json!({"oneOf": [{"type": "integer"}, {"minimum": 2}, {"minimum": 3}]}),
                json!(2),
                ": must match exactly one of the 3 forms, matches 2",
            ),
            (
                json!({"oneOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "$defs": {"A": {"type": "boolean"}}}),
                json!("x"),
                ": must match one of the allowed forms: boolean, null, got \"x\"",
            ),
            (
                json!({"oneOf": [
                    {"properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"]},
                    {"properties": {"kind": {"const": "b"}}, "required": ["kind"]},
                ]}),
                json!({"kind": "a", "n": "x"}),
                "n: must be integer, got \"x\"",
            ),
            (
                json!({"$dynamicRef": "#a", "$defs": {"A": {"$dynamicAnchor": "a", "type": "null"}}}),
                json!(1),
                ": must be null, got 1",
            ),
            (
                json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
                json!({"type": 5}),
                "type: must be one of \"array\", \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\", got 5",
            ),
        ] {
            assert_eq!(errors(schema.clone(), value), [expected], "{schema}");
        }
    }

    #[test]
    fn what_follows_from_a_wrong_type_is_not_said() {
        let schema =
            json!({"type": "array", "not": {"type": "object"}, "allOf": [{"type": "array"}], "minItems": 1});
        assert_eq!(errors(schema, json!(null)), [": must be array, got null"]);
    }

    #[test]
    fn keys_of_any_kind_are_in_the_path() {
        let schema = json!({"properties": {"": {"patternProperties": {"/": {"pattern": "^a"}}}}});
        assert_eq!(
            errors(schema, json!({"": {"a~/b": "x"}})),
            ["\"\".a~/b: must match the pattern /^a/, got \"x\""]
        );
    }

    #[test]
    fn messages_are_bounded() {
        let long = "k".repeat(100_000);
        let schema = json!({
            "not": {"required": [long]},
            "propertyNames": {"pattern": format!("^({long})?$")},
            "additionalProperties": {"enum": [long]},
        });
        let found = errors(schema, json!({(long.clone()): long, "a": 1}));
        assert!(found.len() >= 3 && found.iter().all(|error| error.len() < 500), "{}", found.len());
    }
}
