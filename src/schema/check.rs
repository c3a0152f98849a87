//! The two walks of the checker: `valid` only looks, `fit` also changes the value on its way.
//!
//! Neither builds a message; see `errors`. Both recurse as deep as the schema is nested, no deeper.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use super::Coercion;
use super::coerce;
use super::compile::{Node, Rules, Type};
use super::number::{compare, equal, to_safe_integer};
use super::parse::MAX_DEPTH;

/// What `fit` may do to a value.
#[derive(Clone, Copy)]
pub(super) struct Fit {
    pub coercion: Coercion,
    /// How many levels of nesting are left below here, for JSON text that becomes a part of the value.
    pub levels: usize,
}

impl Fit {
    pub fn new(coercion: Coercion) -> Fit {
        Fit { coercion, levels: MAX_DEPTH }
    }

    pub fn below(self) -> Fit {
        Fit { levels: self.levels.saturating_sub(1), ..self }
    }
}

/// Whether the value fits as it is.
pub(super) fn valid(node: &Node, value: &Value) -> bool {
    match node {
        Node::Any => true,
        Node::Never => false,
        Node::Rules(rules) => valid_beside_any_of(rules, value) && fits_a_branch(rules, value),
    }
}

fn valid_beside_any_of(rules: &Rules, value: &Value) -> bool {
    if !rules.types.as_ref().is_none_or(|types| types.accepts(value)) || !scalar(rules, value) {
        return false;
    }
    match value {
        Value::Array(items) => {
            rules.items.as_ref().is_none_or(|node| items.iter().all(|item| valid(node, item)))
        }
        Value::Object(map) => {
            has_required(rules, map)
                && (!rules.checks_keys() || map.iter().all(|(key, value)| valid(rules.property(key), value)))
        }
        _ => true,
    }
}

fn fits_a_branch(rules: &Rules, value: &Value) -> bool {
    rules.any_of.as_ref().is_none_or(|branches| branches.iter().any(|branch| valid(branch, value)))
}

/// Drops optional nulls and coerces, in place; tells whether the value fits now.
///
/// Where it does not, the walk still goes over everything, so that the errors are about what is wrong
/// and not about what would have been coerced.
pub(super) fn fit(node: &Node, value: &mut Value, how: Fit) -> bool {
    let rules = match node {
        Node::Any => return true,
        Node::Never => return false,
        Node::Rules(rules) => rules,
    };
    match &rules.types {
        Some(types) if !types.accepts(value) => {
            how.coercion == Coercion::Safe && coerce::change_type(rules, types, value, how)
        }
        Some(types) => {
            if let (Value::Number(number), Coercion::Safe) = (&*value, how.coercion)
                && number.is_f64()
                && types.contains(Type::Integer)
                && !types.contains(Type::Number)
                && let Some(integer) = to_safe_integer(number)
            {
                *value = Value::Number(integer);
            }
            fit_typed(rules, value, how)
        }
        None => fit_typed(rules, value, how),
    }
}

/// `fit` for a value whose type is accepted already.
pub(super) fn fit_typed(rules: &Rules, value: &mut Value, how: Fit) -> bool {
    let children_fit = match value {
        Value::Array(items) => match &rules.items {
            Some(node) => {
                let mut all = true;
                for item in items {
                    all &= fit(node, item, how.below());
                }
                all
            }
            None => true,
        },
        Value::Object(map) => fit_object(rules, map, how),
        _ => true,
    };
    if fits_a_branch(rules, value) {
        return children_fit && scalar(rules, value);
    }
    fit_a_branch(rules, value, how)
}

fn fit_object(rules: &Rules, map: &mut Map<String, Value>, how: Fit) -> bool {
    let mut fits = true;
    if rules.checks_keys() {
        map.retain(|key, value| {
            let node = rules.property(key);
            if value.is_null() && !valid(node, value) && rules.required.binary_search(key).is_err() {
                return false;
            }
            fits &= fit(node, value, how.below());
            true
        });
    }
    fits && has_required(rules, map)
}

/// For a value that no branch of anyOf accepts: first without its optional nulls, then coerced, the
/// first branch that works decides. If none does, the value stays.
fn fit_a_branch(rules: &Rules, value: &mut Value, how: Fit) -> bool {
    let branches = rules.any_of.as_deref().unwrap_or_default();
    let gentle = Fit { coercion: Coercion::None, ..how };
    let rounds = if how.coercion == Coercion::None { &[gentle][..] } else { &[gentle, how] };
    for how in rounds {
        for branch in branches {
            let mut candidate = value.clone();
            if fit(branch, &mut candidate, *how) && valid_beside_any_of(rules, &candidate) {
                *value = candidate;
                return true;
            }
        }
    }
    false
}

fn has_required(rules: &Rules, map: &Map<String, Value>) -> bool {
    rules.required.iter().all(|key| map.contains_key(key))
}

/// The keywords that look at a value without going into it.
pub(super) fn scalar(rules: &Rules, value: &Value) -> bool {
    let sized = match value {
        Value::Number(number) => within_bounds(rules, number),
        Value::String(text) => {
            rules.min_length.is_none_or(|min| has_length(text, min))
                && rules.max_length.is_none_or(|max| !has_length(text, max + 1))
        }
        Value::Array(items) => {
            let count = items.len() as u64;
            rules.min_items.is_none_or(|min| count >= min) && rules.max_items.is_none_or(|max| count <= max)
        }
        _ => true,
    };
    sized
        && rules.any_value_of.as_ref().is_none_or(|values| values.iter().any(|one| equal(one, value)))
        && rules.constant.as_ref().is_none_or(|one| equal(one, value))
}

fn within_bounds(rules: &Rules, number: &Number) -> bool {
    rules.minimum.as_ref().is_none_or(|min| compare(number, min) != Ordering::Less)
        && rules.maximum.as_ref().is_none_or(|max| compare(number, max) != Ordering::Greater)
        && rules.exclusive_minimum.as_ref().is_none_or(|min| compare(number, min) == Ordering::Greater)
        && rules.exclusive_maximum.as_ref().is_none_or(|max| compare(number, max) == Ordering::Less)
}

/// Whether the text has at least so many code points; counts no further than it has to.
fn has_length(text: &str, length: u64) -> bool {
    let bytes = text.len() as u64;
    // A code point is one to four bytes.
    bytes >= length && (bytes.div_ceil(4) >= length || text.chars().count() as u64 >= length)
}

#[cfg(test)]
mod tests {
    use super::super::{CompiledSchema, Kind};
    use super::*;
    use serde_json::json;

    fn check(schema: Value, value: Value) -> Result<Value, Vec<(String, Kind)>> {
        check_as(schema, value, Coercion::Safe)
    }

    fn check_as(schema: Value, value: Value, coercion: Coercion) -> Result<Value, Vec<(String, Kind)>> {
        let schema = CompiledSchema::compile(&schema).unwrap();
        let checked = schema.check(value, coercion);
        checked.map_err(|errors| errors.into_iter().map(|error| (error.path, error.kind)).collect())
    }

    fn one(path: &str, kind: Kind) -> Result<Value, Vec<(String, Kind)>> {
        Err(vec![(path.to_owned(), kind)])
    }

    #[test]
    fn a08_optional_nulls_are_dropped_at_every_depth() {
        let schema = json!({
            "properties": {
                "a": {"type": "string"},
                "b": {"type": "array", "items": {"properties": {"c": {"type": "number"}}}},
                "any": {},
            },
            "additionalProperties": {"type": "number"},
        });
        let sent = json!({"a": null, "any": null, "b": [{"c": null, "d": null}], "x": null});
        for coercion in [Coercion::Safe, Coercion::None] {
            let right = Ok(json!({"any": null, "b": [{"d": null}]}));
            assert_eq!(check_as(schema.clone(), sent.clone(), coercion), right);
        }
        // An item is no property: its null stays and fails.
        assert_eq!(check(json!({"items": {"type": "string"}}), json!([null])), one("0", Kind::Type));
        assert_eq!(check(json!({"type": "array"}), json!(null)), one("", Kind::Type));
    }

    #[test]
    fn a09_a11_nullable_keeps_null() {
        for schema in [
            json!({"anyOf": [{"type": "number"}, {"type": "null"}]}),
            json!({"type": ["number", "null"]}),
            json!({"type": "string", "nullable": true}),
            json!({"enum": ["a", null]}),
        ] {
            let schema = json!({"properties": {"a": schema}});
            assert_eq!(check(schema, json!({"a": null})), Ok(json!({"a": null})));
        }
    }

    #[test]
    fn w03_a_required_null_fails() {
        let schema = json!({"properties": {"content": {"type": "string"}}, "required": ["content"]});
        assert_eq!(check(schema, json!({"content": null})), one("content", Kind::Type));
    }

    #[test]
    fn a13_extra_properties() {
        let sent = json!({"k": 1, "z": 2});
        assert_eq!(check(json!({"properties": {"k": {}}}), sent.clone()), Ok(sent.clone()));
        let closed = json!({"properties": {"k": {}}, "additionalProperties": false});
        assert_eq!(check(closed, sent), one("z", Kind::AdditionalProperties));
    }

    #[test]
    fn a20_enum_case_matters() {
        let schema = json!({"enum": ["Text", "Binary", 1]});
        assert_eq!(check(schema.clone(), json!("text")), one("", Kind::Enum));
        assert_eq!(check(schema, json!(1.0)), Ok(json!(1.0)));
    }

    #[test]
    fn sizes_and_bounds() {
        assert_eq!(check(json!({"maxLength": 1}), json!("😀")), Ok(json!("😀")));
        assert_eq!(check(json!({"minLength": 2}), json!("😀")), one("", Kind::MinLength));
        assert_eq!(check(json!({"maxLength": 1}), json!("😀😀")), one("", Kind::MaxLength));
        assert_eq!(check(json!({"minimum": 1}), json!(0)), one("", Kind::Minimum));
        assert_eq!(check(json!({"maximum": 1}), json!(1.0)), Ok(json!(1.0)));
        assert_eq!(check(json!({"exclusiveMinimum": 0}), json!(0.0)), one("", Kind::ExclusiveMinimum));
        assert_eq!(check(json!({"exclusiveMaximum": 0}), json!(0)), one("", Kind::ExclusiveMaximum));
        assert_eq!(check(json!({"minItems": 1}), json!([])), one("", Kind::MinItems));
        assert_eq!(check(json!({"maxItems": 1}), json!([1, 2])), one("", Kind::MaxItems));
        assert_eq!(check(json!({"const": {"a": 1}}), json!({"a": 1.0})), Ok(json!({"a": 1.0})));
        assert_eq!(check(json!({"const": 1}), json!(2)), one("", Kind::Const));
        assert_eq!(check(json!(false), json!(2)), one("", Kind::FalseSchema));
    }

    #[test]
    fn any_of_leaves_what_a_branch_accepts_and_tries_in_order() {
        let number_or_string = json!({"anyOf": [{"type": "number"}, {"type": "string"}]});
        assert_eq!(check(number_or_string.clone(), json!("1")), Ok(json!("1")));
        assert_eq!(check(number_or_string, json!(true)), Ok(json!("true")));
        let boolean_or_number = json!({"anyOf": [{"type": "boolean"}, {"type": "number"}]});
        assert_eq!(check(boolean_or_number.clone(), json!("1")), Ok(json!(1)));
        assert_eq!(check(boolean_or_number.clone(), json!("TRUE")), Ok(json!(true)));
        assert_eq!(check(boolean_or_number, json!("yes")), one("", Kind::AnyOf));
    }

    #[test]
    fn any_of_drops_nulls_before_it_coerces() {
        let schema = json!({"anyOf": [
            {"properties": {"kind": {"const": "a"}, "n": {"type": "number"}}, "required": ["kind", "n"]},
            {"properties": {"kind": {"const": "b"}, "s": {"type": "string"}}, "required": ["kind"]},
        ]});
        assert_eq!(check(schema.clone(), json!({"kind": "b", "s": null})), Ok(json!({"kind": "b"})));
        assert_eq!(check(schema.clone(), json!({"kind": "a", "n": "1"})), Ok(json!({"kind": "a", "n": 1})));
        assert_eq!(check(schema, json!({"kind": "a"})), one("n", Kind::Required));
        // What stands beside anyOf holds for what a branch made of the value.
        let schema = json!({"anyOf": [{"type": "number"}, {"type": "array"}], "minItems": 2, "minimum": 5});
        assert_eq!(check(schema.clone(), json!("[1,2]")), Ok(json!([1, 2])));
        assert!(check(schema, json!("1")).is_err());
    }

    #[test]
    fn errors_are_about_the_coerced_value() {
        let schema = json!({"properties": {"a": {"type": "number"}, "b": {"type": "integer", "minimum": 1}}});
        assert_eq!(check(schema, json!({"a": "1", "b": "0"})), one("b", Kind::Minimum));
    }
}
