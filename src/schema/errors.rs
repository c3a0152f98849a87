//! What is wrong with a value that did not fit: the slow walk, taken only on failure.

use std::cmp::Ordering;
use std::fmt::Write as _;
use std::{mem, ptr};

use serde_json::{Map, Value};

use super::Coercion;
use super::check::{Fit, MAX_STEPS, fit, gather, is_marked_otherwise, valid};
use super::compile::{Node, Rules, Type, Types};
use super::number::{compare, equal, to_message};
use super::wording::{brief, clip, compact, escape_controls};

/// No more errors than this are collected; a list of a million wrong items is told by its first.
pub const MAX_ERRORS: usize = 1000;

/// Bytes of the list of allowed values, after which it is cut.
const MAX_VALUES: usize = 400;

/// How long one part of a path is shown.
const MAX_SEGMENT: usize = 80;

/// One thing that is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where, keys and indexes joined by dots: `edits.0.newText`, "" for the top. Over-long keys are cut.
    pub path: String,
    /// Which keyword was not met.
    pub kind: Kind,
    /// What was expected and what was found, without the path: `must be string, got array`.
    pub message: String,
}

/// The keyword that a value did not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `type`
    Type,
    /// `required`; the path is the missing property's
    Required,
    /// `additionalProperties: false`; the path is the property's
    AdditionalProperties,
    /// `enum`
    Enum,
    /// `const`
    Const,
    /// `minimum`
    Minimum,
    /// `maximum`
    Maximum,
    /// `exclusiveMinimum`
    ExclusiveMinimum,
    /// `exclusiveMaximum`
    ExclusiveMaximum,
    /// `minLength`
    MinLength,
    /// `maxLength`
    MaxLength,
    /// `minItems`
    MinItems,
    /// `maxItems`
    MaxItems,
    /// `anyOf`, where no branch is close enough to speak of
    AnyOf,
    /// The schema `false`
    FalseSchema,
    /// Any other keyword, which only the full engine checks
    Keyword(&'static str),
}

impl Kind {
    /// The keyword; `false` for the schema that nothing fits.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Type => "type",
            Kind::Required => "required",
            Kind::AdditionalProperties => "additionalProperties",
            Kind::Enum => "enum",
            Kind::Const => "const",
            Kind::Minimum => "minimum",
            Kind::Maximum => "maximum",
            Kind::ExclusiveMinimum => "exclusiveMinimum",
            Kind::ExclusiveMaximum => "exclusiveMaximum",
            Kind::MinLength => "minLength",
            Kind::MaxLength => "maxLength",
            Kind::MinItems => "minItems",
            Kind::MaxItems => "maxItems",
            Kind::AnyOf => "anyOf",
            Kind::FalseSchema => "false",
            Kind::Keyword(keyword) => keyword,
        }
    }
}

/// Every error of a value that is not valid, up to [`MAX_ERRORS`]; how it was made to fit, as far as it does.
#[cold]
pub(super) fn collect(node: &Node, value: &Value, how: Fit<'_>) -> Vec<SchemaError> {
    let mut collector = Collector::new(how);
    collector.node(node, value);
    // What stands beside a branch, and several parts of a schema, may say the same.
    let mut errors: Vec<SchemaError> = Vec::with_capacity(collector.errors.len());
    for error in collector.errors {
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    errors
}

pub(super) struct Collector<'a> {
    path: String,
    pub errors: Vec<SchemaError>,
    /// What was done to the value before it came here.
    how: Fit<'a>,
    /// The schema objects that the value here is held against, so that references may go round.
    here: Vec<*const Rules>,
    /// How many steps led here, into the value or into a schema object.
    steps: usize,
}

impl<'a> Collector<'a> {
    pub fn new(how: Fit<'a>) -> Self {
        Collector { path: String::new(), errors: Vec::new(), how, here: Vec::new(), steps: 0 }
    }

    /// Another one, of the same path.
    pub fn same_place(&self) -> Self {
        Collector { path: self.path.clone(), errors: Vec::new(), here: self.here.clone(), ..*self }
    }

    pub fn add(&mut self, kind: Kind, message: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(SchemaError { path: self.path.clone(), kind, message });
        }
    }

    /// There is something wrong, even if nothing says what.
    #[cfg(feature = "schema")]
    pub fn add_if_none(&mut self, kind: Kind, message: &str) {
        if self.errors.is_empty() {
            self.add(kind, message.to_owned());
        }
    }

    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Does something one level deeper in the path.
    pub fn inside(&mut self, segment: &str, then: &mut dyn FnMut(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        // An empty key would make the path that of its parent.
        let segment = if segment.is_empty() { "\"\"" } else { segment };
        self.path.push_str(&escape_controls(&clip(segment, MAX_SEGMENT)));
        let here = mem::take(&mut self.here);
        then(self);
        self.here = here;
        self.path.truncate(length);
    }

    fn node(&mut self, node: &Node, value: &Value) {
        match node {
            Node::Any => {}
            Node::Never => self.add(Kind::FalseSchema, "is not allowed".to_owned()),
            Node::Rules(rules) => self.rules(rules, value),
        }
    }

    fn rules(&mut self, rules: &Rules, value: &Value) {
        if let Some(types) = &rules.types
            && !types.accepts(value)
        {
            // Whatever else is wrong follows from this.
            self.add(
                Kind::Type,
                format!("must be {}, got {}", list(types), got(types, value, self.how.coercion)),
            );
            return;
        }
        if self.here.contains(&ptr::from_ref(rules)) {
            return;
        }
        if self.steps > MAX_STEPS {
            let message = format!("is not of the form that it has to be, got {}", brief(value));
            self.add(Kind::Keyword("$ref"), message);
            return;
        }
        self.steps += 1;
        self.here.push(rules);
        let before = self.errors.len();
        self.beside_branches(rules, value);
        let exactly_one = rules.beyond.as_ref().and_then(|beyond| beyond.one_of());
        for (kind, branches) in
            [(Kind::AnyOf, rules.any_of.as_deref()), (Kind::Keyword("oneOf"), exactly_one)]
        {
            let Some(branches) = branches else { continue };
            match branches.iter().filter(|branch| valid(branch, value)).count() {
                0 => self.branches(kind, rules, branches, value),
                fitting if fitting > 1 && kind != Kind::AnyOf => {
                    let count = branches.len();
                    let message = format!("must match exactly one of the {count} forms, matches {fitting}");
                    self.add(kind, message);
                }
                _ => {}
            }
        }
        if let Some(beyond) = &rules.beyond
            && self.errors.len() == before
        {
            beyond.other_errors(value, self);
        }
        self.here.pop();
        self.steps -= 1;
    }

    fn beside_branches(&mut self, rules: &Rules, value: &Value) {
        self.values(rules, value);
        match value {
            Value::Number(_) => self.number(rules, value),
            Value::String(text) => self.length(rules, text),
            Value::Array(items) => self.items(rules, items),
            Value::Object(map) => self.properties(rules, map),
            _ => {}
        }
        let Some(beyond) = &rules.beyond else { return };
        beyond.own_errors(value, self);
        for part in beyond.parts(value, self.how.targets) {
            if !valid(part, value) {
                self.node(part, value);
            }
        }
    }

    fn values(&mut self, rules: &Rules, value: &Value) {
        if let Some(values) = &rules.any_value_of
            && !values.iter().any(|one| equal(one, value))
        {
            let message = match values.as_slice() {
                [] => "has no allowed value".to_owned(),
                [only] => format!("must be {}, got {}", brief(only), brief(value)),
                values => format!("must be one of {}, got {}", enumerate(values), brief(value)),
            };
            self.add(Kind::Enum, message);
        }
        if let Some(constant) = &rules.constant
            && !equal(constant, value)
        {
            self.add(Kind::Const, format!("must be {}, got {}", brief(constant), brief(value)));
        }
    }

    fn number(&mut self, rules: &Rules, value: &Value) {
        let Value::Number(number) = value else { return };
        let bounds = [
            (&rules.minimum, Kind::Minimum, ">=", [Ordering::Greater, Ordering::Equal]),
            (&rules.maximum, Kind::Maximum, "<=", [Ordering::Less, Ordering::Equal]),
            (&rules.exclusive_minimum, Kind::ExclusiveMinimum, ">", [Ordering::Greater; 2]),
            (&rules.exclusive_maximum, Kind::ExclusiveMaximum, "<", [Ordering::Less; 2]),
        ];
        for (bound, kind, sign, right) in bounds {
            if let Some(bound) = bound
                && !right.contains(&compare(number, bound))
            {
                let message = format!("must be {sign} {}, got {}", to_message(bound), to_message(number));
                self.add(kind, message);
            }
        }
    }

    fn length(&mut self, rules: &Rules, text: &str) {
        if rules.min_length.is_none() && rules.max_length.is_none() {
            return;
        }
        let length = text.chars().count() as u64;
        let characters = |count: u64| if count == 1 { "character" } else { "characters" };
        if let Some(min) = rules.min_length
            && length < min
        {
            self.add(Kind::MinLength, format!("must be at least {min} {}, got {length}", characters(min)));
        }
        if let Some(max) = rules.max_length
            && length > max
        {
            self.add(Kind::MaxLength, format!("must be at most {max} {}, got {length}", characters(max)));
        }
    }

    fn items(&mut self, rules: &Rules, items: &[Value]) {
        let count = items.len() as u64;
        if let Some(min) = rules.min_items
            && count < min
        {
            self.add(Kind::MinItems, format!("must have at least {min} item(s), got {count}"));
        }
        if let Some(max) = rules.max_items
            && count > max
        {
            self.add(Kind::MaxItems, format!("must have at most {max} item(s), got {count}"));
        }
        for (index, item) in items.iter().enumerate() {
            let Some(node) = rules.item(index) else { continue };
            if self.is_full() {
                break;
            }
            if !valid(node, item) {
                self.inside(&index.to_string(), &mut |inside| inside.node(node, item));
            }
        }
    }

    fn properties(&mut self, rules: &Rules, map: &Map<String, Value>) {
        let missing: Vec<_> = rules.required.iter().filter(|key| !map.contains_key(*key)).collect();
        if !missing.is_empty() {
            let message = format!("is required (received: {})", keys(map));
            for key in missing {
                self.inside(key, &mut |inside| inside.add(Kind::Required, message.clone()));
            }
        }
        if !rules.checks_keys() {
            return;
        }
        for (key, value) in map {
            if self.is_full() {
                break;
            }
            for node in rules.nodes_of(key).filter(|node| !valid(node, value)) {
                let undeclared = matches!(node, Node::Never) && !rules.properties.contains_key(key);
                self.inside(key, &mut |inside| match undeclared {
                    true => inside.add(Kind::AdditionalProperties, "is not allowed".to_owned()),
                    false => inside.node(node, value),
                });
            }
        }
    }

    /// No branch fits. If the value's type fits none, the types are listed; else the branch that it comes closest to
    /// speaks for all.
    fn branches(&mut self, kind: Kind, rules: &Rules, branches: &[Node], value: &Value) {
        let how = self.how;
        let is_other = |branch: &&Node| is_marked_otherwise(branch, value, how.targets);
        // Where a mark says which branch was meant, the others do not speak.
        let all_other = branches.iter().all(|branch| is_other(&branch));
        let errors_of = |branch: &Node| {
            let mut collector = self.same_place();
            // Where no branch fits the value was left alone; its errors are those of the coerced one.
            let mut candidate = value.clone();
            if !how.effort.take() {
                return Vec::new();
            }
            if fit(branch, &mut candidate, how) {
                collector.beside_branches(rules, &candidate);
            } else {
                collector.node(branch, &candidate);
            }
            collector.errors
        };
        let meant = branches.iter().filter(|branch| all_other || !is_other(branch));
        let errors = meant.map(errors_of).collect();
        self.closest(kind, errors, &|| forms(branches, how.targets, value), value);
    }

    /// What is wrong by each of several forms: the one that the value comes closest to speaks for all.
    pub fn closest(
        &mut self,
        kind: Kind,
        lists: Vec<Vec<SchemaError>>,
        forms: &dyn Fn() -> String,
        value: &Value,
    ) {
        let is_other_form = |error: &SchemaError| {
            error.path == self.path && matches!(error.kind, Kind::Type | Kind::FalseSchema)
        };
        let speaks = |errors: &Vec<SchemaError>| !errors.is_empty() && !errors.iter().any(is_other_form);
        let lists: Vec<_> = lists.into_iter().filter(speaks).collect();
        if let Some(error) = any_mark_of(&lists) {
            self.errors.push(error);
            return;
        }
        let mut closest: Option<(usize, Vec<SchemaError>)> = None;
        for errors in lists {
            // A wrong constant says that another branch was meant; it outweighs many other mistakes.
            let distance = errors.iter().fold(0, |sum, error| match error.kind {
                Kind::Const | Kind::Enum => sum + 100,
                _ => sum + 1,
            });
            if closest.as_ref().is_none_or(|(least, _)| distance < *least) {
                closest = Some((distance, errors));
            }
        }
        match closest {
            Some((_, errors)) => {
                let room = MAX_ERRORS - self.errors.len();
                self.errors.extend(errors.into_iter().take(room));
            }
            None => {
                let forms = forms();
                let message = if forms.is_empty() {
                    "is not allowed".to_owned()
                } else {
                    format!("must match one of the allowed forms: {forms}, got {}", brief(value))
                };
                self.add(kind, message);
            }
        }
    }

    /// What a structural keyword alone says of a value that does not meet it.
    #[cfg(feature = "schema")]
    pub fn keyword(&mut self, keyword: &str, wanted: Value, value: &Value) {
        let schema = Value::Object([(keyword.to_owned(), wanted)].into_iter().collect());
        if let Ok(super::CompiledSchema { root }) = super::CompiledSchema::compile(&schema) {
            self.node(&root, value);
        }
    }
}

/// Where each of several branches wants another constant at the same place, the one error that names all of them. What
/// else is wrong by one branch or another is nothing to speak of then.
fn any_mark_of(lists: &[Vec<SchemaError>]) -> Option<SchemaError> {
    let mark_of = |errors: &Vec<SchemaError>| {
        let mut marks = errors.iter().filter(|error| matches!(error.kind, Kind::Const | Kind::Enum));
        marks.next().filter(|_| marks.next().is_none()).cloned()
    };
    let marks: Vec<SchemaError> = lists.iter().map(mark_of).collect::<Option<_>>()?;
    let [first, _, ..] = marks.as_slice() else { return None };
    // `must be "x", got "w"` or `must be one of "x", "y", got "w"`
    let parts_of = |mark: &SchemaError| {
        let (wanted, got) = mark.message.rsplit_once(", got ")?;
        let wanted = wanted.strip_prefix("must be one of ").or_else(|| wanted.strip_prefix("must be "))?;
        Some((wanted.to_owned(), got.to_owned()))
    };
    let (mut all, found) = parts_of(first)?;
    for (nth, mark) in marks.iter().enumerate().skip(1) {
        let (wanted, got) = parts_of(mark)?;
        if mark.path != first.path || got != found {
            return None;
        }
        if all.len() + wanted.len() > MAX_VALUES {
            let _ = write!(all, ", … ({} more forms)", marks.len() - nth);
            break;
        }
        all.push_str(", ");
        all.push_str(&wanted);
    }
    let message = format!("must be one of {all}, got {found}");
    Some(SchemaError { path: first.path.clone(), kind: Kind::Enum, message })
}

/// The types of the branches, each once: `string, number`.
fn forms(branches: &[Node], targets: &[Node], value: &Value) -> String {
    let mut names: Vec<&str> = Vec::new();
    for branch in branches {
        let mut all = Vec::new();
        gather(branch, targets, value, &mut all);
        for one in all.iter().filter_map(|rules| rules.types.as_ref()).flat_map(Types::iter) {
            if !names.contains(&one.as_str()) {
                names.push(one.as_str());
            }
        }
    }
    names.join(", ")
}

/// `string`, `string or null`, `string, number or null`
fn list(types: &Types) -> String {
    let names: Vec<&str> = types.iter().map(Type::as_str).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// The value's type, or the value itself where its type alone would not explain the error.
fn got(types: &Types, value: &Value, coercion: Coercion) -> String {
    let wants_scalar =
        types.contains(Type::Number) || types.contains(Type::Integer) || types.contains(Type::Boolean);
    match value {
        Value::String(text) if !wants_scalar => {
            let open = text.trim_ascii_start().chars().next();
            let wants_text = (types.contains(Type::Array) && open == Some('['))
                || (types.contains(Type::Object) && open == Some('{'));
            // It would have been opened otherwise.
            let why = if wants_text && coercion == Coercion::Safe { " that is not valid JSON" } else { "" };
            format!("string{why}")
        }
        Value::Number(_) if types.contains(Type::Array) || types.contains(Type::Object) => {
            "number".to_owned()
        }
        value => brief(value),
    }
}

/// The values of an enum, as many as fit in some 400 bytes.
fn enumerate(values: &[Value]) -> String {
    let mut out = String::new();
    for (index, value) in values.iter().enumerate() {
        if out.len() > MAX_VALUES {
            let _ = write!(out, ", … ({} more)", values.len() - index);
            break;
        }
        if index > 0 {
            out.push_str(", ");
        }
        // Values of an enum can be arrays and objects, and are shown whole.
        out.push_str(&compact(value, 80));
    }
    out
}

/// The keys of an object, at most ten.
pub(super) fn keys(map: &Map<String, Value>) -> String {
    if map.is_empty() {
        return "nothing".to_owned();
    }
    let mut out: Vec<String> = map.keys().take(10).map(|key| escape_controls(&clip(key, 40))).collect();
    if map.len() > 10 {
        out.push(format!("… {} more", map.len() - 10));
    }
    out.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::{Coercion, CompiledSchema};
    use super::*;
    use serde_json::json;

    fn errors(schema: Value, value: Value) -> Vec<String> {
        let schema = CompiledSchema::compile(&schema).unwrap();
        let errors = schema.check(value, Coercion::None).unwrap_err();
        errors.iter().map(|error| format!("{}: {}", error.path, error.message)).collect()
    }

    #[test]
    fn messages() {
        for (schema, value, message) in [
            (json!({"minimum": 1}), json!(0), "must be >= 1, got 0"),
            (json!({"maximum": 1.5}), json!(2.0), "must be <= 1.5, got 2"),
            (json!({"exclusiveMinimum": 1}), json!(1), "must be > 1, got 1"),
            (json!({"exclusiveMaximum": 1}), json!(1), "must be < 1, got 1"),
            (json!({"minItems": 1}), json!([]), "must have at least 1 item(s), got 0"),
            (json!({"maxItems": 1}), json!([1, 2]), "must have at most 1 item(s), got 2"),
            (json!({"maxLength": 5}), json!("123456789"), "must be at most 5 characters, got 9"),
            (json!({"minLength": 1}), json!(""), "must be at least 1 character, got 0"),
            (
                json!({"enum": ["Text", "Binary"]}),
                json!("text"),
                "must be one of \"Text\", \"Binary\", got \"text\"",
            ),
            (json!({"enum": [[1], {"a": 2}]}), json!([2]), "must be one of [1], {\"a\":2}, got array"),
            (json!({"const": "a"}), json!("b"), "must be \"a\", got \"b\""),
            (json!({"type": "boolean"}), json!("yes"), "must be boolean, got \"yes\""),
            (json!({"type": "object"}), json!([]), "must be object, got array"),
            (json!({"type": "array"}), json!("[1"), "must be array, got string"),
            (
                json!({"type": ["string", "number", "null"]}),
                json!([]),
                "must be string, number or null, got array",
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "number"}]}),
                json!([]),
                "must match one of the allowed forms: string, number, got array",
            ),
        ] {
            assert_eq!(errors(schema, value), [format!(": {message}")]);
        }
    }

    #[test]
    fn a14_a28_missing_properties_name_what_came() {
        let edit = json!({"properties": {"edits": {"items": {"required": ["oldText", "newText"]}}}});
        assert_eq!(
            errors(edit, json!({"edits": [{"oldText": "x"}]})),
            ["edits.0.newText: is required (received: oldText)"]
        );
        let read = json!({"required": ["path"]});
        assert_eq!(
            errors(read.clone(), json!({"file_path": "f"})),
            ["path: is required (received: file_path)"]
        );
        assert_eq!(errors(read, json!({})), ["path: is required (received: nothing)"]);
    }

    #[test]
    fn any_of_reports_the_closest_branch() {
        let schema = json!({"anyOf": [
            {"type": "string"},
            {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind", "x", "y"]},
            {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
        ]});
        assert_eq!(errors(schema, json!({"kind": "a", "x": 1})), ["y: is required (received: kind, x)"]);
    }

    #[test]
    fn paths_are_bounded_and_one_line() {
        let closed = json!({"additionalProperties": false});
        let long = "k".repeat(1_000_000);
        let found = errors(closed, json!({(long): 1, "a\nb": 1, "": 1, "a.b": 1}));
        assert!(found.iter().all(|error| error.len() < 200));
        assert_eq!(found[1..], ["a\\nb: is not allowed", "\"\": is not allowed", "a.b: is not allowed"]);
        assert_eq!(errors(json!({"items": false}), json!(vec![0; 5000])).len(), MAX_ERRORS);
    }
}
