//! Coercion "ajv": what AJV 8 makes of a scalar that no listed type accepts, with `coerceTypes: true`.
//!
//! The rules are those that ajv 8.20.0 runs by, which the table of its documentation rounds off: blank text is 0,
//! `"0x10"` is 16, and `"TRUE"` is no boolean. Arrays and objects are neither source nor result. The one difference is
//! text that JavaScript reads as infinite, which JSON cannot hold: it stays, and fails.
//! `tests/parity/coercion.test.mjs` compares, value by value.

use serde_json::{Number, Value};

use super::compile::Type;
use super::number::{self, one_or_zero};
use crate::json;

/// The value as that type, if AJV has a way from one to the other.
pub(super) fn convert(target: Type, value: &Value) -> Option<Value> {
    let value = match (target, value) {
        (Type::Null, Value::Bool(false)) => Value::Null,
        (Type::Null, Value::String(text)) if text.is_empty() => Value::Null,
        (Type::Null, Value::Number(number)) if one_or_zero(number) == Some(false) => Value::Null,
        (Type::Boolean, Value::Null) => Value::Bool(false),
        (Type::Boolean, Value::Number(number)) => Value::Bool(one_or_zero(number)?),
        (Type::Boolean, Value::String(text)) if text == "true" => Value::Bool(true),
        (Type::Boolean, Value::String(text)) if text == "false" => Value::Bool(false),
        (Type::Number | Type::Integer, Value::Null) => Value::from(0),
        (Type::Number | Type::Integer, Value::Bool(value)) => Value::from(u8::from(*value)),
        // "" is no number to AJV, though it is one to JavaScript.
        (Type::Number | Type::Integer, Value::String(text)) if !text.is_empty() => {
            let float = to_number(text)?;
            if target == Type::Integer && float.fract() != 0.0 {
                return None;
            }
            Value::Number(as_written(float)?)
        }
        (Type::String, Value::Null) => Value::from(""),
        (Type::String, Value::Bool(value)) => Value::from(value.to_string()),
        (Type::String, Value::Number(number)) => Value::from(number::to_js(number)),
        _ => return None,
    };
    Some(value)
}

/// A double as JSON writes it: without a fraction where there is none (−0 is a double only), an infinity not at all.
fn as_written(float: f64) -> Option<Number> {
    let number = Number::from_f64(float)?;
    let is_negative_zero = float == 0.0 && float.is_sign_negative();
    if is_negative_zero { Some(number) } else { number::to_safe_integer(&number).or(Some(number)) }
}

/// What JavaScript's `Number(text)` is, `None` for NaN and for the word Infinity (ECMA-262, StringToNumber).
fn to_number(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c == '\u{FEFF}' || (c.is_whitespace() && c != '\u{85}'));
    if text.is_empty() {
        return Some(0.0);
    }
    for (marks, bits) in [(["0x", "0X"], 4), (["0o", "0O"], 3), (["0b", "0B"], 1)] {
        if let Some(digits) = marks.iter().find_map(|mark| text.strip_prefix(mark)) {
            return binary(digits, bits);
        }
    }
    decimal(text)
}

/// Digits of so many bits each, rounded once, to even, as a literal is.
fn binary(digits: &str, bits: u32) -> Option<f64> {
    // The first 62 bits and whether any of the rest is set: more than the 53 and one that decide.
    let (mut head, mut rest, mut sticky) = (0_u64, 0_i32, 0_u64);
    for digit in digits.chars() {
        let digit = digit.to_digit(1 << bits)?;
        for bit in (0..bits).rev().map(|place| u64::from(digit >> place & 1)) {
            if head >> 61 == 0 {
                head = head << 1 | bit;
            } else {
                sticky |= bit;
                rest = rest.saturating_add(1);
            }
        }
    }
    (!digits.is_empty()).then(|| (head | sticky) as f64 * 2_f64.powi(rest))
}

/// JavaScript's decimal numbers are JSON's and a little more: `+1`, `.5`, `1.`, `007`.
fn decimal(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => ("-", text),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (whole, text) = digits(text);
    let (fraction, exponent) = text.strip_prefix('.').map_or(("", text), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let or_zero = |digits| if str::is_empty(digits) { "0" } else { digits };
    let whole = or_zero(whole.trim_start_matches('0'));
    let number = format!("{sign}{whole}.{}{exponent}", or_zero(fraction));
    json::from_slice(number.as_bytes()).ok()?.as_f64()
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Coercion, CompiledSchema};
    use super::*;

    fn coerce(schema: &Value, value: Value) -> Option<Value> {
        CompiledSchema::compile(schema).unwrap().check(value, Coercion::Ajv).ok()
    }

    #[test]
    fn text_is_a_number_as_javascript_reads_it() {
        for (text, number) in [
            (" ", 0.0),
            ("\u{FEFF}\u{A0}\u{2028}1\u{3000}", 1.0),
            ("+1", 1.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-007.50e+1", -75.0),
            ("0x1F", 31.0),
            ("0B101", 5.0),
            ("0o17", 15.0),
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x20000000000003", 9_007_199_254_740_996.0),
            ("0x200000000000010000000000000001", 166_153_499_473_114_524_950_030_835_681_067_009.0),
            ("1e-400", 0.0),
        ] {
            assert_eq!(to_number(text), Some(number), "{text}");
        }
        for text in
            ["-", ".", "e1", "0x", "0xg", "-0x1", "1_000", "1 2", "1e", "\u{85}1", "Infinity", "١", "1,"]
        {
            assert_eq!(to_number(text), None, "{text}");
        }
        assert!(to_number(&format!("0x{}", "f".repeat(300))).unwrap().is_infinite());
    }

    #[test]
    fn whole_numbers_are_written_whole() {
        let integer = json!({"type": "integer"});
        assert_eq!(coerce(&integer, json!("42.0")).unwrap().to_string(), "42");
        assert_eq!(coerce(&integer, json!("-0")).unwrap().to_string(), "-0.0");
        // As doubles are: JavaScript has no 2^53 + 1.
        assert_eq!(
            coerce(&integer, json!("9007199254740993")).unwrap().as_f64(),
            Some(9_007_199_254_740_992.0)
        );
        assert_eq!(coerce(&integer, json!("42.5")), None);
    }

    #[test]
    fn infinities_are_errors() {
        for text in ["Infinity", "-Infinity", "1e400", "-1e400"] {
            for types in [json!("number"), json!("integer"), json!(["integer", "null"])] {
                assert_eq!(coerce(&json!({ "type": types }), json!(text)), None, "{text} {types}");
            }
        }
    }

    #[test]
    fn only_scalars_become_scalars() {
        for types in ["array", "object"] {
            for value in [json!("[1]"), json!("{}"), json!("a"), json!(1), json!(null)] {
                assert_eq!(coerce(&json!({ "type": types }), value), None);
            }
        }
        for value in [json!([1]), json!([]), json!({})] {
            assert_eq!(coerce(&json!({"type": ["null", "boolean", "number", "string"]}), value), None);
        }
    }

    #[test]
    fn a_required_null_is_coerced_and_an_optional_one_dropped() {
        let schema = json!({
            "properties": {"s": {"type": "string"}, "n": {"type": "integer"}, "b": {"type": "boolean"}},
            "required": ["s", "n"],
        });
        assert_eq!(coerce(&schema, json!({"s": null, "n": null, "b": null})), Some(json!({"s": "", "n": 0})));
        assert_eq!(
            coerce(&json!({"items": {"type": "boolean"}}), json!([null, 1])),
            Some(json!([false, true]))
        );
    }

    #[test]
    fn unions_keep_what_fits_and_try_in_order() {
        for (types, given, expected) in [
            (["number", "string"], json!("1"), Some(json!("1"))),
            (["boolean", "number"], json!("1"), Some(json!(1))),
            (["boolean", "null"], json!(""), Some(json!(null))),
            (["null", "boolean"], json!(0), Some(json!(null))),
            (["string", "number"], json!(null), Some(json!(""))),
            (["number", "null"], json!("1e400"), None),
        ] {
            assert_eq!(coerce(&json!({ "type": types }), given.clone()), expected, "{types:?} {given}");
            let branches: Vec<Value> = types.iter().map(|one| json!({ "type": one })).collect();
            assert_eq!(coerce(&json!({ "anyOf": branches }), given.clone()), expected, "{types:?} {given}");
        }
        // The first type in which it fits, not the first that it can be made.
        let bounded = json!({"type": ["integer", "boolean"], "minimum": 5});
        assert_eq!(coerce(&bounded, json!("true")), Some(json!(true)));
        assert_eq!(
            coerce(&json!({"type": ["integer", "string"], "minimum": 5}), json!(null)),
            Some(json!(""))
        );
    }

    #[test]
    fn errors_are_about_what_it_became() {
        let schema = CompiledSchema::compile(&json!({"type": "integer", "minimum": 5})).unwrap();
        let errors = schema.check(json!(null), Coercion::Ajv).unwrap_err();
        assert_eq!(errors[0].message, "must be >= 5, got 0");
    }
}
