//! Coercion: a value of a type that the schema does not accept → one of a type that it does.
//!
//! What a value may become is the mode's: "safe" is here, where null is neither source nor result, and what has
//! more than one reading is left alone, and fails; "ajv" is in `ajv`.

use serde_json::Value;

use super::check::{All, Fit, fit_typed};
use super::compile::{Node, Type, Types};
use super::number::one_or_zero;
use super::{Coercion, ajv, number, parse};

/// What a value could be meant as.
struct Candidate {
    value: Value,
    /// Whether errors should speak of this one if it does not fit either.
    meant: bool,
    /// Whether it is the value with an array around it.
    is_wrapped: bool,
}

/// Changes the value to the first of the types, in their order, in which it fits; tells whether one
/// was found. If none was, a value that was surely meant as another type is changed all the same, so
/// that the errors are about its inside.
pub(super) fn change_type(all: All<'_>, types: &Types, value: &mut Value, how: Fit<'_>) -> bool {
    let mut meant = None;
    for target in types.iter() {
        let converted = match how.coercion {
            Coercion::Ajv => {
                ajv::convert(target, value).map(|value| Candidate { value, meant: true, is_wrapped: false })
            }
            _ => {
                let keeps_objects = how.keeps_objects || types.contains(Type::Object);
                convert(all, target, value, Fit { keeps_objects, ..how })
            }
        };
        let Some(Candidate { value: mut candidate, meant: is_meant, is_wrapped }) = converted else {
            continue;
        };
        // What one schema would take, another that holds as well may not.
        if !all.iter().all(|rules| rules.types.as_ref().is_none_or(|types| types.accepts(&candidate))) {
            continue;
        }
        let wrapped = if is_wrapped { how.wrap(all) } else { None };
        if is_wrapped && wrapped.is_none() {
            continue;
        }
        // Another scalar has the same around it.
        let around = wrapped.as_ref().or(how.wrapped.filter(|_| !candidate.is_array()));
        let how = Fit { wrapped: around, is_wrapping: is_wrapped, ..how };
        let fits = fit_typed(all, &mut candidate, how);
        if fits {
            *value = candidate;
            return true;
        }
        if is_meant && meant.is_none() {
            meant = Some(candidate);
        }
    }
    if let Some(candidate) = meant {
        *value = candidate;
    }
    false
}

fn convert(all: All<'_>, target: Type, value: &Value, how: Fit<'_>) -> Option<Candidate> {
    let value = match (target, value) {
        (Type::Array, Value::String(text)) => match array_text(text, how.levels) {
            ArrayText::Array(value) => value,
            ArrayText::Broken => return None,
            ArrayText::Other if how.keeps_objects && json_text(text, '{', how.levels).is_some() => {
                return None;
            }
            ArrayText::Other => return Some(lone_item(all, value)),
        },
        (Type::Null, _) | (_, Value::Null) => return None,
        (Type::Array, _) => return Some(lone_item(all, value)),
        (Type::Object, Value::String(text)) => json_text(text, '{', how.levels)?,
        (Type::Number, Value::String(text)) => Value::Number(number::from_text(text)?),
        (Type::Integer, Value::String(text)) => {
            Value::Number(number::to_safe_integer(&number::from_text(text)?)?)
        }
        (Type::String, Value::Number(number)) => Value::String(number::to_js(number)),
        (Type::String, Value::Bool(value)) => Value::String(value.to_string()),
        (Type::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("true") => Value::Bool(true),
        (Type::Boolean, Value::String(text)) if text.eq_ignore_ascii_case("false") => Value::Bool(false),
        (Type::Boolean, Value::Number(number)) => Value::Bool(one_or_zero(number)?),
        _ => return None,
    };
    Some(Candidate { value, meant: true, is_wrapped: false })
}

fn lone_item(all: All<'_>, item: &Value) -> Candidate {
    // An object where a list of objects should be: its errors help, "must be array" does not.
    let meant = all.iter().any(|rules| match &rules.items {
        Some(Node::Rules(items)) => items.types.as_ref().is_some_and(|types| types.accepts(item)),
        _ => false,
    });
    Candidate { value: Value::Array(vec![item.clone()]), meant: meant && item.is_object(), is_wrapped: true }
}

enum ArrayText {
    /// JSON text of an array: never wrapped, even if its items turn out wrong.
    Array(Value),
    /// Meant as one, but no JSON: wrapping it would hide that.
    Broken,
    /// Anything else; `[ab]*.ts` and `[[:alpha:]]` are ordinary strings.
    Other,
}

fn array_text(text: &str, levels: usize) -> ArrayText {
    if let Some(value) = json_text(text, '[', levels) {
        return ArrayText::Array(value);
    }
    let inside = text.trim_ascii().strip_prefix('[').unwrap_or_default().trim_ascii_start();
    if inside.starts_with(['"', '{']) { ArrayText::Broken } else { ArrayText::Other }
}

/// Text as the array or object it holds, if it begins as one and is nested no deeper than may be here.
fn json_text(text: &str, open: char, levels: usize) -> Option<Value> {
    if !text.trim_ascii_start().starts_with(open) {
        return None;
    }
    parse::json_text(text).filter(|value| !parse::deeper_than(value, levels))
}

#[cfg(test)]
mod tests {
    use super::super::{Coercion, CompiledSchema};
    use serde_json::{Value, json};

    fn coerce(schema: Value, value: Value) -> Result<Value, String> {
        let schema = CompiledSchema::compile(&schema).unwrap();
        schema.check(value, Coercion::Safe).map_err(|errors| {
            errors
                .iter()
                .map(|error| format!("{}: {}", error.path, error.message))
                .collect::<Vec<_>>()
                .join("; ")
        })
    }

    fn error(schema: Value, value: Value) -> String {
        coerce(schema, value).unwrap_err()
    }

    #[test]
    fn a01_array_as_text() {
        let strings = json!({"type": "array", "items": {"type": "string"}});
        assert_eq!(coerce(strings.clone(), json!("[\"test\"]")), Ok(json!(["test"])));
        assert_eq!(coerce(strings.clone(), json!(" [1, true]\n")), Ok(json!(["1", "true"])));
        assert_eq!(coerce(strings.clone(), json!("abc")), Ok(json!(["abc"])));
        assert_eq!(coerce(strings.clone(), json!("[ab]*.ts")), Ok(json!(["[ab]*.ts"])));
        assert_eq!(coerce(strings.clone(), json!(5)), Ok(json!(["5"])));
        assert_eq!(coerce(strings.clone(), json!("")), Ok(json!([""])));
        let broken = error(strings.clone(), json!("[\"a\", \"b"));
        assert_eq!(broken, ": must be array, got string that is not valid JSON");
        assert_eq!(error(strings.clone(), json!("[[1]]")), "0: must be string, got array");
        assert_eq!(error(strings, json!(null)), ": must be array, got null");
        // The schema accepts a string: that is what it stays.
        let either = json!({"type": ["string", "array"]});
        assert_eq!(coerce(either, json!("[1]")), Ok(json!("[1]")));
        // Text that was decoded once too often has raw line breaks in it.
        let array = json!({"type": "array"});
        assert_eq!(coerce(array, json!("[{\"a\":\"x\ny\"}]")), Ok(json!([{"a": "x\ny"}])));
    }

    #[test]
    fn a03_object_as_text() {
        let schema =
            json!({"properties": {"target": {"type": "object", "properties": {"kind": {"type": "string"}}}}});
        let right = Ok(json!({"target": {"kind": "agent"}}));
        assert_eq!(coerce(schema.clone(), json!({"target": "{\"kind\":\"agent\"}"})), right);
        assert_eq!(error(schema.clone(), json!({"target": "[1]"})), "target: must be object, got string");
        assert_eq!(
            error(schema, json!({"target": "{\"kind\":[]}"})),
            "target.kind: must be string, got array"
        );
    }

    #[test]
    fn an_object_as_text_is_no_lone_item_where_objects_fit() {
        let object = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        let strings = json!({"type": "array", "items": {"type": "string"}});
        for schema in [
            json!({"anyOf": [{"type": "array"}, object]}),
            json!({"anyOf": [strings, object]}),
            json!({"type": ["array", "object"], "properties": {"n": {"type": "integer"}}}),
        ] {
            assert_eq!(coerce(schema.clone(), json!(" {\"n\": \"1\"}")), Ok(json!({"n": 1})), "{schema}");
            assert_eq!(coerce(schema.clone(), json!("{a,b}")), Ok(json!(["{a,b}"])), "{schema}");
            assert_eq!(coerce(schema, json!("[\"a\"]")), Ok(json!(["a"])));
        }
        // Where none does it is text like any other.
        assert_eq!(coerce(strings.clone(), json!("{}")), Ok(json!(["{}"])));
        let either = json!({"anyOf": [strings, {"type": "number"}]});
        assert_eq!(coerce(either, json!("{}")), Ok(json!(["{}"])));
    }

    #[test]
    fn a05_r06_numbers_as_text() {
        let number = json!({"type": "number"});
        for text in ["42", " 42 "] {
            assert_eq!(coerce(number.clone(), json!(text)), Ok(json!(42)));
        }
        for text in ["", "0x10", "1e400", "Infinity"] {
            assert_eq!(error(number.clone(), json!(text)), format!(": must be number, got \"{text}\""));
        }
        let read = json!({"properties": {"offset": {"type": "integer"}, "limit": {"type": "integer"}}});
        let right = json!({"offset": 2480, "limit": 90});
        assert_eq!(coerce(read, json!({"offset": "2480", "limit": "90"})), Ok(right));
    }

    #[test]
    fn a06_integers() {
        let integer = json!({"type": "integer"});
        for value in [json!(42.0), json!("42.0"), json!(42), json!("42")] {
            assert_eq!(coerce(integer.clone(), value), Ok(json!(42)));
        }
        assert_eq!(error(integer.clone(), json!(42.5)), ": must be integer, got 42.5");
        assert_eq!(error(integer.clone(), json!("42.5")), ": must be integer, got \"42.5\"");
        assert_eq!(coerce(integer.clone(), json!("9007199254740991")), Ok(json!(9_007_199_254_740_991_u64)));
        assert!(coerce(integer.clone(), json!("9007199254740993")).is_err());
        // What came as a number is not changed beyond its spelling.
        assert_eq!(coerce(integer, json!(u64::MAX)), Ok(json!(u64::MAX)));
    }

    #[test]
    fn a12_booleans() {
        let boolean = json!({"type": "boolean"});
        for value in [json!("true"), json!("True"), json!(1), json!(1.0)] {
            assert_eq!(coerce(boolean.clone(), value), Ok(json!(true)));
        }
        for value in [json!("false"), json!("False"), json!(0)] {
            assert_eq!(coerce(boolean.clone(), value), Ok(json!(false)));
        }
        for value in [json!("yes"), json!("0"), json!(""), json!(2), json!([])] {
            assert!(coerce(boolean.clone(), value).is_err());
        }
    }

    #[test]
    fn scalars_to_text_as_javascript_prints_them() {
        let string = json!({"type": "string"});
        for (value, text) in
            [(json!(5), "5"), (json!(5.0), "5"), (json!(1e21), "1e+21"), (json!(false), "false")]
        {
            assert_eq!(coerce(string.clone(), value), Ok(json!(text)));
        }
        assert_eq!(error(string.clone(), json!(["a"])), ": must be string, got array");
        assert_eq!(error(string, json!({})), ": must be string, got object");
    }

    #[test]
    fn unions_keep_what_fits_and_try_in_order() {
        let union = |types: &[&str]| json!({"type": types});
        assert_eq!(coerce(union(&["number", "string"]), json!("1")), Ok(json!("1")));
        assert_eq!(coerce(union(&["boolean", "number"]), json!("1")), Ok(json!(1)));
        assert_eq!(coerce(union(&["integer", "string"]), json!(42.5)), Ok(json!("42.5")));
        assert_eq!(coerce(union(&["null", "array"]), json!("a")), Ok(json!(["a"])));
        assert_eq!(error(union(&["number", "null"]), json!("")), ": must be number or null, got \"\"");
    }

    #[test]
    fn a_lone_object_becomes_a_list_and_reports_its_own_errors() {
        let schema = json!({"type": "array", "items": {"type": "object", "required": ["a"]}});
        assert_eq!(coerce(schema.clone(), json!({"a": 1})), Ok(json!([{"a": 1}])));
        assert_eq!(error(schema.clone(), json!({"b": 1})), "0.a: is required (received: b)");
        assert_eq!(coerce(schema.clone(), json!("{\"a\":1}")), Ok(json!([{"a": 1}])));
        assert_eq!(error(schema, json!(5)), ": must be array, got number");
    }

    #[test]
    fn text_cannot_nest_deeper_than_arguments_may() {
        let text = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let schema = json!({"items": {"type": "array"}});
        assert!(coerce(schema.clone(), json!([text(127)])).unwrap()[0][0].is_array());
        // Too deep to be opened; a schema of arrays wraps it as the string it then is.
        assert!(coerce(schema, json!([text(128)])).unwrap()[0][0].is_string());
    }
}
