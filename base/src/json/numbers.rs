//! Numbers of JSON text, each the double that is nearest to it; and doubles as JavaScript prints them.
//!
//! serde_json computes a number of up to 15 digits and a small exponent exactly, by one multiplication or division;
//! for all others its feature `float_roundtrip` brings big-integer arithmetic and tables, together 8 KB of the core
//! module. There the platform reads those few instead, as it would in `JSON.parse`: each is taken out of the text
//! before that is parsed, a string in its place, and put back after. It prints them, too. Where the
//! feature is on anyway (the schema module, which calls nothing of JavaScript) nothing of this happens.

use memchr::{memchr2, memmem};
use serde_json::{Number, Value};

/// How text is parsed.
pub type Read = fn(&[u8]) -> serde_json::Result<Value>;

/// JSON text as a value.
///
/// # Errors
/// As `read` fails for the text.
pub fn exact(text: &[u8], read: Read) -> serde_json::Result<Value> {
    let odd = match cfg!(feature = "float_roundtrip") {
        true => vec![],
        false => odd(text),
    };
    match odd.is_empty() {
        true => read(text),
        false => read_around(text, odd, read),
    }
}

/// A number that serde_json would not read exactly.
struct Odd {
    start: usize,
    end: usize,
    value: Number,
}

#[cold]
fn read_around(text: &[u8], odd: Vec<Odd>, read: Read) -> serde_json::Result<Value> {
    // Longer than any string that could be taken for it, escaped or not.
    let marks = memmem::find_iter(text, "\u{FFFE}").count() + memmem::find_iter(text, "\\u").count();
    let mark = "\u{FFFE}".repeat(marks + 1);
    let mut without = Vec::with_capacity(text.len());
    let mut from = 0;
    for (n, number) in odd.iter().enumerate() {
        without.extend_from_slice(&text[from..number.start]);
        without.extend_from_slice(format!("\"{mark}{n}\"").as_bytes());
        from = number.end;
    }
    without.extend_from_slice(&text[from..]);
    if let Ok(mut value) = read(&without)
        && put_back(&mut value, &mark, &odd)
    {
        return Ok(value);
    }
    // Not JSON, or only so because a string may be where a number may not: a key.
    read(text)
}

/// False if a number was a key.
fn put_back(value: &mut Value, mark: &str, odd: &[Odd]) -> bool {
    match value {
        Value::String(text) => {
            if let Some(n) = text.strip_prefix(mark)
                && let Some(number) = n.parse().ok().and_then(|n: usize| odd.get(n))
            {
                *value = Value::Number(number.value.clone());
            }
            true
        }
        Value::Array(items) => items.iter_mut().all(|item| put_back(item, mark, odd)),
        Value::Object(map) => {
            map.iter_mut().all(|(key, value)| !key.starts_with(mark) && put_back(value, mark, odd))
        }
        _ => true,
    }
}

fn odd(text: &[u8]) -> Vec<Odd> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => at = after_string(text, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = text[at..].iter().take_while(|byte| is_part(byte)).count();
                if let Some(value) = odd_number(&text[at..at + length]) {
                    found.push(Odd { start: at, end: at + length, value });
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    found
}

/// What follows the string whose content begins there.
fn after_string(text: &[u8], mut at: usize) -> usize {
    while let Some(ahead) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        match text[at + ahead] {
            b'"' => return at + ahead + 1,
            _ => at += ahead + 2,
        }
    }
    text.len()
}

/// The value of a token, if it is a JSON number that serde_json would not read exactly, and one that a double can hold.
fn odd_number(token: &[u8]) -> Option<Number> {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let unsigned = token.strip_prefix(b"-").unwrap_or(token);
    let whole = digits(unsigned);
    let mut rest = &unsigned[whole..];
    if whole == 0 || (whole > 1 && unsigned[0] == b'0') {
        return None;
    }
    if rest.is_empty() && whole < 19 {
        return None;
    }
    let mut places = 0;
    if let [b'.', fraction @ ..] = rest {
        places = digits(fraction);
        rest = &fraction[places..];
        if places == 0 {
            return None;
        }
    }
    let mut exponent = 0_i64;
    if let [b'e' | b'E', power @ ..] = rest {
        let power = std::str::from_utf8(power).ok()?;
        let size = power.strip_prefix(['+', '-']).unwrap_or(power);
        if size.is_empty() || !size.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        // What does not fit leads out of all doubles, or to zero.
        exponent = power.parse().unwrap_or(i64::MAX);
        rest = &[];
    }
    if !rest.is_empty()
        || (whole + places <= 15 && exponent.saturating_sub(places as i64).unsigned_abs() <= 22)
    {
        return None;
    }
    let token = std::str::from_utf8(token).ok()?;
    if whole == unsigned.len() && (token.parse::<u64>().is_ok() || token.parse::<i64>().is_ok()) {
        return None;
    }
    Number::from_f64(platform::number(token)?)
}

/// A number as JavaScript's `String(n)` prints it.
pub(super) fn printed(number: f64) -> String {
    platform::printed(number)
}

#[cfg(any(not(target_arch = "wasm32"), feature = "float_roundtrip"))]
mod platform {
    pub(super) fn number(text: &str) -> Option<f64> {
        text.parse().ok()
    }

    pub(super) fn printed(number: f64) -> String {
        ryu_js::Buffer::new().format(number).to_owned()
    }
}

#[cfg(all(target_arch = "wasm32", not(feature = "float_roundtrip")))]
pub use platform::install;

#[cfg(all(target_arch = "wasm32", not(feature = "float_roundtrip")))]
mod platform {
    use std::cell::Cell;

    type Parse = fn(&str) -> Option<f64>;
    type Print = fn(f64) -> String;

    std::thread_local! {
        static PLATFORM: Cell<Option<(Parse, Print)>> = const { Cell::new(None) };
    }

    /// Says who reads and who prints numbers.
    pub fn install(parse: Parse, print: Print) {
        PLATFORM.set(Some((parse, print)));
    }

    pub(super) fn number(text: &str) -> Option<f64> {
        PLATFORM.get()?.0(text)
    }

    pub(super) fn printed(number: f64) -> String {
        PLATFORM.get().map(|(_, print)| print(number)).unwrap_or_default()
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> serde_json::Result<Value> {
        exact(text.as_bytes(), |text| serde_json::from_slice(text))
    }

    #[test]
    fn numbers_stay_where_they_are() {
        let text = r#"{"a": 0.12345678901234567, "b": [1, -1.7976931348623157e308, "0.12345678901234567"], "a": 2.2250738585072014E-308}"#;
        let expected = json!({"a": 2.2250738585072014e-308, "b": [1, f64::MIN, "0.12345678901234567"]});
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("9007199254740993.0").unwrap(), json!(9007199254740992.0));
        assert_eq!(read("18446744073709551615").unwrap(), json!(u64::MAX));
        assert_eq!(read("-9223372036854775808").unwrap(), json!(i64::MIN));
        assert_eq!(read("18446744073709551616").unwrap(), json!(18446744073709551616.0));
        assert_eq!(read("1e-400").unwrap(), json!(0.0));
    }

    /// Whatever serde_json was built with.
    #[test]
    fn the_odd_ones_are_found() {
        let found = |text: &str| -> Vec<String> {
            let odd = odd(text.as_bytes());
            odd.iter().map(|number| text[number.start..number.end].to_owned()).collect()
        };
        let text = r#"{"0.12345678901234567": [0.5, 1e22, 12345678901234.5, -12, 1e23, "1e23\\" , 0.12345678901234567]}"#;
        assert_eq!(found(text), ["1e23", "0.12345678901234567"]);
        assert_eq!(
            found("[1234567890123456.5,18446744073709551616,1e400]"),
            ["1234567890123456.5", "18446744073709551616"]
        );
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for text in [
            "1e400",
            "[1e400, 0.12345678901234567]",
            "{0.12345678901234567: 1}",
            "[0.12345678901234567.1]",
            "[00.12345678901234567]",
            "[0.12345678901234567e]",
            "[0.12345678901234567",
            "\"0.12345678901234567",
        ] {
            let expected = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn a_text_with_the_mark_in_it() {
        let text = "[\"\u{FFFE}0\", 0.12345678901234567, \"\u{FFFE}\u{FFFE}0\"]";
        let expected = json!(["\u{FFFE}0", 0.12345678901234567, "\u{FFFE}\u{FFFE}0"]);
        assert_eq!(read(text).unwrap(), expected);
        let text = r#"["\ufffe0", 0.12345678901234567]"#;
        assert_eq!(read(text).unwrap(), json!(["\u{FFFE}0", 0.12345678901234567]));
    }

    proptest! {
        #[test]
        fn every_double_comes_back(bits in any::<u64>()) {
            let number = f64::from_bits(bits);
            prop_assume!(number.is_finite());
            for text in [format!("{number:?}"), format!("{number:e}"), format!("{number}.0").replace(".0.0", ".0")] {
                if let Ok(expected) = text.parse::<f64>() && text.matches('.').count() <= 1 {
                    let found = read(&text).unwrap().as_f64().unwrap();
                    prop_assert_eq!(found.to_bits(), expected.to_bits(), "{}", text);
                }
            }
        }

        #[test]
        fn every_decimal_is_the_nearest_double(text in "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?") {
            let expected: f64 = text.parse().unwrap();
            match read(&text) {
                Ok(value) => prop_assert_eq!(value.as_f64().unwrap(), expected, "{}", text),
                Err(_) => prop_assert!(expected.is_infinite(), "{}", text),
            }
        }
    }
}
