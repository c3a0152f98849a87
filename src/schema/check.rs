//! The two walks of the checker: `valid` only looks, `fit` also changes the value on its way.
//!
//! Neither builds a message; see `errors`. Both recurse as deep as the schema is nested, no deeper: where a reference
//! makes a schema endless, as deep as the value is.
//!
//! A value has to fit one schema object, or several at once where `allOf` or a reference says so: [`All`].

use std::cell::Cell;
use std::cmp::Ordering;
use std::{ptr, slice};

use serde_json::{Map, Number, Value};

use super::coerce;
use super::compile::{Node, Rules, Type};
use super::number::{compare, equal, to_safe_integer};
use super::parse::MAX_DEPTH;
use super::{Coercion, Repairs};
use crate::json::Keys;

/// Schema objects that a value has to fit at once; never none.
#[cfg(feature = "schema")]
pub(super) type All<'a> = &'a [&'a Rules];

/// The same: without references and `allOf` there is one, which spares the core the code for more.
#[cfg(not(feature = "schema"))]
pub(super) type All<'a> = &'a [&'a Rules; 1];

/// What `fit` may do to a value.
#[derive(Clone, Copy)]
pub(super) struct Fit<'a> {
    pub coercion: Coercion,
    pub drop_optional_nulls: bool,
    /// How many levels of nesting are left below here, for JSON text that becomes a part of the value.
    pub levels: usize,
    /// What references point to.
    pub targets: &'a [Node],
    pub effort: &'a Effort,
    /// Whether this is one branch of several, on trial.
    pub on_trial: bool,
    /// The arrays that were put around the value on the way here.
    pub wrapped: Option<&'a Wrapped<'a>>,
    /// Whether the value is one of them.
    pub is_wrapping: bool,
    /// Whether text that holds an object is no lone item of an array: a branch may want the object.
    pub keeps_objects: bool,
    /// The branches that are on trial for the very value.
    pub trying: Option<&'a Trying<'a>>,
    /// How many steps, into a value or into a branch, may still be taken.
    pub steps: usize,
}

/// How many steps, into a value or into a branch, lead from the top of a value to a place in it: a value is nested 128
/// levels, branches that refer to branches are not so many. Each takes a few hundred bytes of the stack, and five
/// thousand where nothing is optimised.
pub(super) const MAX_STEPS: usize = 256;

/// Branches on trial.
#[derive(Clone, Copy)]
pub(super) struct Trying<'a> {
    branches: &'a [Node],
    outer: Option<&'a Trying<'a>>,
}

/// An array that was put around a lone item.
#[derive(Clone, Copy)]
pub(super) struct Wrapped<'a> {
    /// What asked for an array.
    all: All<'a>,
    outer: Option<&'a Wrapped<'a>>,
}

impl<'a> Fit<'a> {
    pub fn new(repairs: Repairs, targets: &'a [Node], effort: &'a Effort) -> Fit<'a> {
        let Repairs { coercion, drop_optional_nulls } = repairs;
        Fit {
            coercion,
            drop_optional_nulls,
            levels: MAX_DEPTH,
            targets,
            effort,
            on_trial: false,
            wrapped: None,
            is_wrapping: false,
            keeps_objects: false,
            trying: None,
            steps: MAX_STEPS,
        }
    }

    pub fn below(self) -> Fit<'a> {
        let (levels, steps) = (self.levels.saturating_sub(1), self.steps.saturating_sub(1));
        Fit { levels, is_wrapping: false, keeps_objects: false, trying: None, steps, ..self }
    }

    /// What is known of a lone item that an array is put around; `None` where a schema object that asks for one did so
    /// before, and would without end, and where the value is nested as deep as it may be.
    pub fn wrap(self, all: All<'a>) -> Option<Wrapped<'a>> {
        if self.levels == 0 {
            return None;
        }
        let mut outer = self.wrapped;
        while let Some(wrapped) = outer {
            let asked = |rules: &&Rules| wrapped.all.iter().any(|one| ptr::eq(*one, *rules));
            if all.iter().any(|rules| rules.types.is_some() && asked(rules)) {
                return None;
            }
            outer = wrapped.outer;
        }
        Some(Wrapped { all, outer: self.wrapped })
    }
}

/// How many branches may still be tried within branches: where references make a schema endless, each level of a
/// value would double the work. Then a value that no branch accepts stays as it is.
#[derive(Debug)]
pub(super) struct Effort(Cell<u32>);

impl Effort {
    pub fn new() -> Self {
        Effort(Cell::new(20_000))
    }

    /// Takes one, if there is one left.
    pub fn take(&self) -> bool {
        let left = self.0.get();
        self.0.set(left.saturating_sub(1));
        left > 0
    }
}

/// Whether the value fits as it is.
pub(super) fn valid(node: &Node, value: &Value) -> bool {
    match node {
        Node::Any => true,
        Node::Never => false,
        Node::Rules(rules) => match rules.beyond.as_ref().and_then(|beyond| beyond.verdict(value)) {
            Some(verdict) => verdict,
            None => valid_beside_any_of(rules, value) && fits_a_branch(rules, value),
        },
    }
}

fn valid_beside_any_of(rules: &Rules, value: &Value) -> bool {
    if !rules.types.as_ref().is_none_or(|types| types.accepts(value)) || !scalar(rules, value) {
        return false;
    }
    match value {
        Value::Array(items) => {
            let from = rules.beyond.as_ref().map_or(0, |beyond| beyond.tuple().len());
            rules.items.as_ref().is_none_or(|node| items.iter().skip(from).all(|item| valid(node, item)))
        }
        Value::Object(map) => {
            let fits = |(key, value): (&String, &Value)| match rules.beyond {
                None => valid(rules.property(key), value),
                Some(_) => rules.nodes_of(key).all(|node| valid(node, value)),
            };
            has_required(rules, map) && (!rules.checks_keys() || map.iter().all(fits))
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
pub(super) fn fit(node: &Node, value: &mut Value, how: Fit<'_>) -> bool {
    match node {
        Node::Any => true,
        Node::Never => false,
        Node::Rules(rules) if rules.beyond.is_none() => fit_all(&[rules], value, how),
        #[cfg(not(feature = "schema"))]
        Node::Rules(_) => false,
        #[cfg(feature = "schema")]
        node => fit_nodes(&[node], value, how),
    }
}

/// `fit` for several schemas at once.
#[cfg(feature = "schema")]
fn fit_nodes(nodes: &[&Node], value: &mut Value, how: Fit<'_>) -> bool {
    let mut all = Vec::new();
    let mut possible = true;
    for node in nodes {
        possible &= gather(node, how.targets, value, &mut all);
    }
    (all.is_empty() || fit_all(&all, value, how)) && possible
}

#[cfg(not(feature = "schema"))]
fn fit_nodes(nodes: &[&Node], value: &mut Value, how: Fit<'_>) -> bool {
    nodes.iter().all(|node| fit(node, value, how))
}

/// The schema objects that a value has to fit by a schema; false if one is `false`. Each once, so that references may go
/// round.
pub(super) fn gather<'a>(
    node: &'a Node,
    targets: &'a [Node],
    value: &Value,
    all: &mut Vec<&'a Rules>,
) -> bool {
    let first = all.len();
    let mut possible = true;
    let mut add = |node: &'a Node, all: &mut Vec<&'a Rules>| match node {
        Node::Any => {}
        Node::Never => possible = false,
        Node::Rules(rules) if all.iter().any(|known| ptr::eq(*known, &**rules)) => {}
        Node::Rules(rules) => all.push(rules),
    };
    add(node, all);
    let mut at = first;
    while let Some(rules) = all.get(at).copied() {
        for node in rules.beyond.iter().flat_map(|beyond| beyond.parts(value, targets)) {
            add(node, all);
        }
        at += 1;
    }
    possible
}

/// Whether a schema requires any property of an object.
#[cfg(feature = "schema")]
pub(super) fn requires_any(node: &Node, targets: &[Node]) -> bool {
    let mut all = Vec::new();
    gather(node, targets, &Value::Object(Map::new()), &mut all);
    all.iter().any(|rules| !rules.required.is_empty())
}

fn fit_all(all: All<'_>, value: &mut Value, how: Fit<'_>) -> bool {
    let types = || all.iter().filter_map(|rules| rules.types.as_ref());
    if let Some(types) = types().find(|types| !types.accepts(value)) {
        return how.coercion != Coercion::None && coerce::change_type(all, types, value, how);
    }
    if let (Value::Number(number), Coercion::Safe) = (&*value, how.coercion)
        && number.is_f64()
        && types().any(|types| types.contains(Type::Integer) && !types.contains(Type::Number))
        && let Some(integer) = to_safe_integer(number)
    {
        *value = Value::Number(integer);
    }
    // What is in an array that was sent has nothing around it but that.
    let wrapped = if value.is_array() && !how.is_wrapping { None } else { how.wrapped };
    fit_typed(all, value, Fit { wrapped, ..how })
}

/// `fit` for a value whose type is accepted already.
pub(super) fn fit_typed(all: All<'_>, value: &mut Value, how: Fit<'_>) -> bool {
    let mut fits = match value {
        Value::Array(items) => fit_items(all, items, how),
        Value::Object(map) => fit_object(all, map, how),
        _ => true,
    };
    fits &= all.iter().all(|rules| scalar(rules, value));
    for rules in all {
        let exactly_one = rules.beyond.as_ref().and_then(|beyond| beyond.one_of());
        for branches in rules.any_of.as_deref().into_iter().chain(exactly_one) {
            if !branches.iter().any(|branch| valid(branch, value)) {
                // A branch that changes the value decides about what stands beside it, too.
                fits = fit_a_branch(branches, all, value, how);
            }
        }
    }
    fits
}

fn fit_items(all: All<'_>, items: &mut [Value], how: Fit<'_>) -> bool {
    let mut fits = true;
    if let [rules] = all
        && rules.beyond.is_none()
    {
        if let Some(node) = &rules.items {
            for item in items {
                fits &= fit(node, item, how.below());
            }
        }
        return fits;
    }
    for (index, item) in items.iter_mut().enumerate() {
        let nodes: Vec<&Node> = all.iter().filter_map(|rules| rules.item(index)).collect();
        fits &= fit_nodes(&nodes, item, how.below());
    }
    fits
}

fn fit_object(all: All<'_>, map: &mut Map<String, Value>, how: Fit<'_>) -> bool {
    let how = Fit { wrapped: None, ..how };
    let mut fits = true;
    let is_required = |key: &String| all.iter().any(|rules| rules.required.binary_search(key).is_ok());
    let may_drop =
        |key: &String, value: &Value| value.is_null() && how.drop_optional_nulls && !is_required(key);
    if let [rules] = all
        && rules.beyond.is_none()
    {
        if rules.checks_keys() {
            map.keep(&mut |key, value| {
                let node = rules.property(key);
                if may_drop(key, value) && !valid(node, value) {
                    return false;
                }
                fits &= fit(node, value, how.below());
                true
            });
        }
        return fits && has_required(rules, map);
    }
    // What a branch or a condition looks at is evaluated, too.
    let has_branches = all.iter().any(|rules| {
        rules.any_of.is_some() || rules.beyond.as_ref().is_some_and(|beyond| beyond.has_branches())
    });
    map.keep(&mut |key, value| {
        let mut nodes: Vec<&Node> = all.iter().flat_map(|rules| rules.nodes_of(key)).collect();
        if nodes.is_empty() && !has_branches {
            nodes.extend(all.iter().filter_map(|rules| rules.beyond.as_ref()?.unevaluated()));
        }
        if may_drop(key, value) && !nodes.iter().all(|node| valid(node, value)) {
            return false;
        }
        fits &= fit_nodes(&nodes, value, how.below());
        true
    });
    fits && all.iter().all(|rules| has_required(rules, map))
}

/// For a value that no branch accepts: first without its optional nulls, then coerced, the first branch that works
/// decides. If none does, the value stays.
fn fit_a_branch(branches: &[Node], all: All<'_>, value: &mut Value, how: Fit<'_>) -> bool {
    let mut outer = how.trying;
    while let Some(trying) = outer {
        if ptr::eq(trying.branches, branches) {
            // A branch that refers to what it is a branch of.
            return false;
        }
        outer = trying.outer;
    }
    let Some(steps) = how.steps.checked_sub(1) else { return false };
    let trying = Trying { branches, outer: how.trying };
    let nested = how.on_trial;
    let how = Fit { on_trial: true, trying: Some(&trying), steps, ..how };
    let gentle = Fit { coercion: Coercion::None, ..how };
    let keeping = Fit { keeps_objects: true, ..how };
    let is_object_text = matches!(&*value, Value::String(text) if text.trim_ascii_start().starts_with('{'));
    let rounds = match how.coercion {
        Coercion::None => slice::from_ref(&gentle),
        Coercion::Safe if is_object_text => &[gentle, keeping, how],
        _ => &[gentle, how],
    };
    for how in rounds {
        for branch in branches {
            if is_marked_otherwise(branch, value, how.targets) {
                continue;
            }
            if nested && !how.effort.take() {
                return false;
            }
            let mut candidate = value.clone();
            if fit(branch, &mut candidate, *how)
                && all.iter().all(|rules| valid_beside_any_of(rules, &candidate))
            {
                *value = candidate;
                return true;
            }
        }
    }
    false
}

/// Whether an object has the mark of another branch, such as `"kind": "b"` where this one has `"const": "a"`: text that
/// is not what it has to be can never be made that.
pub(super) fn is_marked_otherwise(branch: &Node, value: &Value, targets: &[Node]) -> bool {
    let Value::Object(map) = value else { return false };
    let mut all = Vec::new();
    gather(branch, targets, value, &mut all);
    let is_otherwise = |rules: &Rules, key: &String, text: &String| {
        let Some(Node::Rules(property)) = rules.properties.get(key) else { return false };
        let is_other = |one: &Value| matches!(one, Value::String(one) if one != text);
        let listed = property.any_value_of.as_deref().filter(|values| !values.is_empty());
        property.constant.as_ref().is_some_and(is_other)
            || listed.is_some_and(|values| values.iter().all(is_other))
    };
    // Where objects are of the wrong type, it may become a list's lone item.
    all.iter().all(|rules| rules.types.as_ref().is_none_or(|types| types.accepts(value)))
        && map.iter().any(|(key, value)| match value {
            Value::String(text) => all.iter().any(|rules| is_otherwise(rules, key, text)),
            _ => false,
        })
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
