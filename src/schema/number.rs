//! Numbers: exact comparison, what counts as an integer, and printing.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::json;

/// 2^53 − 1, the largest integer that JavaScript holds exactly.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// Longer texts are not taken for numbers: no number that a tool means is written like that.
const MAX_TEXT: usize = 400;

/// Compares exactly, whatever the two are stored as: 1 equals 1.0, and 2^53 + 1 is greater than 2^53.
pub(super) fn compare(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => integer_to_float(a, float(b)),
        (None, Some(b)) => integer_to_float(b, float(a)).reverse(),
        // JSON has no NaN, and serde_json no way to hold one.
        (None, None) => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}

/// JSON Schema's integer: a number without a fraction, however it is written.
pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || float(number).fract() == 0.0
}

/// The number as an integer (42.0 → 42) if it is whole and within ±(2^53 − 1).
pub(super) fn to_safe_integer(number: &Number) -> Option<Number> {
    let float = float(number);
    (float.fract() == 0.0 && float.abs() <= MAX_SAFE).then(|| Number::from(float as i64))
}

/// The numbers that stand for true and false, however they are written.
pub(super) fn one_or_zero(number: &Number) -> Option<bool> {
    match to_safe_integer(number)?.as_i64()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

/// A whole decimal JSON number in text, blanks around it allowed. Not "", hex, `+1`, `.5` or what
/// no double can hold.
pub(super) fn from_text(text: &str) -> Option<Number> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let starts_right = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if !starts_right || text.len() > MAX_TEXT {
        return None;
    }
    match json::from_slice(text.as_bytes()) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// The number as JavaScript's `String(n)` prints it: a double, so digits past 2^53 are rounded.
pub(super) fn to_js(number: &Number) -> String {
    match to_safe_integer(number) {
        Some(safe) => safe.to_string(),
        None => json::shown(float(number)),
    }
}

/// The number for a message: digits as they were sent, fractions as JavaScript prints them.
pub(super) fn to_message(number: &Number) -> String {
    if number.is_f64() { to_js(number) } else { number.to_string() }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn integer_to_float(a: i128, b: f64) -> Ordering {
    // Every integer here is within 64 bits, so a cast that saturates at 128 keeps the order.
    a.cmp(&(b.floor() as i128)).then(if b.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

/// Equality of JSON values as JSON Schema means it: 1 equals 1.0, key order does not matter.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn comparison_is_exact_across_representations() {
        for (a, b, order) in [
            ("1", "1.0", Ordering::Equal),
            ("-0", "0", Ordering::Equal),
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("18446744073709551615", "18446744073709551616", Ordering::Less),
            ("-9223372036854775808", "-1e300", Ordering::Greater),
            ("-3", "-2.5", Ordering::Less),
            ("-2", "-2.5", Ordering::Greater),
            ("3", "2.5", Ordering::Greater),
        ] {
            assert_eq!(compare(&number(a), &number(b)), order, "{a} {b}");
            assert_eq!(compare(&number(b), &number(a)), order.reverse(), "{b} {a}");
        }
        assert!(equal(&json!({"a": [1], "b": 2}), &json!({"b": 2.0, "a": [1.0]})));
        assert!(!equal(&json!([1]), &json!([1, 1])));
        assert!(!equal(&json!(0), &json!(false)));
    }

    #[test]
    fn text_must_be_a_json_number() {
        for text in ["42", " 42 ", "42\n", "-1", "1e2", "0.5"] {
            assert!(from_text(text).is_some(), "{text}");
        }
        for text in
            ["", " ", "0x10", "1e400", "Infinity", "NaN", "+1", ".5", "1.", "007", "1_000", "1 2", "١"]
        {
            assert!(from_text(text).is_none(), "{text}");
        }
        assert!(from_text(&"1".repeat(MAX_TEXT + 1)).is_none());
    }

    #[test]
    fn integers_are_whole_and_safe() {
        assert_eq!(to_safe_integer(&number("42.0")), Some(Number::from(42)));
        assert_eq!(to_safe_integer(&number("1e2")), Some(Number::from(100)));
        assert_eq!(to_safe_integer(&number("-0.0")), Some(Number::from(0)));
        assert_eq!(
            to_safe_integer(&number("9007199254740991")),
            Some(Number::from(9_007_199_254_740_991_i64))
        );
        for text in ["42.5", "9007199254740992", "9007199254740993", "1e300"] {
            assert_eq!(to_safe_integer(&number(text)), None, "{text}");
        }
        assert!(is_integer(&number("1e300")));
    }

    #[test]
    fn printing_follows_javascript() {
        for (text, printed) in [
            ("42", "42"),
            ("42.0", "42"),
            ("-0.0", "0"),
            ("0.1", "0.1"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("12345678901234567890", "12345678901234567000"),
        ] {
            assert_eq!(to_js(&number(text)), printed);
        }
        assert_eq!(to_message(&number("12345678901234567890")), "12345678901234567890");
    }
}
