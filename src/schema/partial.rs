//! Argument text that a model is still writing → as much of its value as can be shown.

use serde_json::Value;

use super::parse::{MAX_DEPTH, MAX_UNWRAPS, scanned};
use super::scan::{End, scan};

/// What a text says so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Partial {
    /// The value, `None` while there is nothing of it.
    pub value: Option<Value>,
    /// Whether the text is one whole value, which is then the one that [`super::parse::arguments`] gives. Blank text is
    /// not.
    pub complete: bool,
}

/// The value that the beginning of an argument text already stands for.
///
/// Arrays and objects are closed where they end, and strings too: an escape, half of a surrogate pair or a UTF-8
/// character that is cut off is left out. Then a string at any place is only ever the beginning of what it will be. Of a
/// number the digits so far count, so that it may still grow (`12` of `123`, 1 of `1.`); a lone `-`, a part of `true`,
/// `false` or `null`, and a key without a value are left out.
///
/// What [`super::parse::arguments`] repairs is repaired here, JSON text in a string is unwrapped as there, while it
/// is being written as well, and key order is kept. Malformed text, an unpaired surrogate, a number that no double can
/// hold, and nesting over [`MAX_DEPTH`] levels end the value where they begin; text inside text on a third level is
/// no value. The time is linear in the text's length.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::partial;
/// let so_far = partial::arguments(br#"{"path":"a.txt","content":"hello wor"#);
/// assert_eq!(so_far.value, Some(json!({"path": "a.txt", "content": "hello wor"})));
/// assert!(!so_far.complete);
/// assert!(partial::arguments(br#"{"path":"a.txt"}"#).complete);
/// assert_eq!(partial::arguments(b"").value, None);
/// ```
pub fn arguments(text: &[u8]) -> Partial {
    let mut partial = read(text);
    for unwraps in 0..=MAX_UNWRAPS {
        let Some(Value::String(text)) = &partial.value else { break };
        // Blanks at the end of a text that goes on may be a string's.
        let text = if partial.complete { text.trim_ascii() } else { text.trim_ascii_start() };
        if text.is_empty() || (unwraps == MAX_UNWRAPS && begins_as_json(text)) {
            return Partial::default();
        }
        if !begins_as_json(text) {
            break;
        }
        let inside = read(text.as_bytes());
        partial = Partial { complete: partial.complete && inside.complete, ..inside };
    }
    partial
}

/// [`arguments`] for JSON text in a string that is one of them: an array or an object, or nothing.
pub(crate) fn json_text(text: &str) -> Option<Value> {
    read(text.as_bytes()).value
}

fn begins_as_json(text: &str) -> bool {
    text.starts_with(['{', '[', '"'])
}

fn read(text: &[u8]) -> Partial {
    let (text, is_utf8) = match std::str::from_utf8(text) {
        Ok(text) => (text, true),
        Err(error) => (std::str::from_utf8(&text[..error.valid_up_to()]).unwrap_or_default(), false),
    };
    let mut found = scan(text, MAX_DEPTH);
    let mut complete = is_utf8 && found.end == End::Complete;
    let (surrogate, number) = (found.surrogate.as_ref(), found.out_of_range.as_ref());
    let faults = [found.too_deep, surrogate.map(|range| range.start), number.map(|range| range.start)];
    if let Some(fault) = faults.into_iter().flatten().min() {
        found = scan(&text[..fault], MAX_DEPTH);
        complete = false;
    }
    let value = scanned(&found.closed()).ok();
    Partial { complete: complete && value.is_some(), value }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::parse;
    use super::*;

    fn so_far(text: impl AsRef<[u8]>) -> Option<Value> {
        let partial = arguments(text.as_ref());
        assert!(!partial.complete);
        partial.value
    }

    fn whole(text: &str) -> Value {
        let partial = arguments(text.as_bytes());
        assert!(partial.complete, "{text}");
        assert_eq!(parse::arguments("t", text.as_bytes(), false).ok(), partial.value);
        partial.value.unwrap()
    }

    #[test]
    fn containers_are_closed_and_keys_wait_for_their_values() {
        for text in ["{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":-", "{\"a\": n", "{\"a\":fals"] {
            assert_eq!(so_far(text), Some(json!({})), "{text}");
        }
        for text in ["{\"a\":[", "{\"a\":[t", "{\"a\":[-"] {
            assert_eq!(so_far(text), Some(json!({"a": []})), "{text}");
        }
        for text in
            ["{\"a\":[true", "{\"a\":[true,", "{\"a\":[true]", "{\"a\":[true],", "{\"a\":[true],\"b\":"]
        {
            assert_eq!(so_far(text), Some(json!({"a": [true]})), "{text}");
        }
        let nested = so_far(r#"{"z":1,"a":[{"b":{"c":"d"#).unwrap();
        assert_eq!(nested.to_string(), r#"{"z":1,"a":[{"b":{"c":"d"}}]}"#);
    }

    #[test]
    fn nothing_is_no_value() {
        for text in ["", " \n", "-", "tr", "\"", "\" \\n", "\"\"", "\" \"", "x", "```json\n{}"] {
            assert_eq!(so_far(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_grow() {
        for (text, number) in [
            ("1", json!(1)),
            ("12.", json!(12)),
            ("12.5", json!(12.5)),
            ("12.5e", json!(12.5)),
            ("1e+", json!(1)),
        ] {
            assert_eq!(so_far(format!("[{text}")), Some(json!([number])), "{text}");
        }
        assert_eq!(whole("12"), json!(12));
    }

    #[test]
    fn strings_end_with_their_last_whole_character() {
        for text in [r"x", r"x\", r"x\u", r"x\u00e", r"x\ud83d", r"x\ud83d\", r"x\ud83d\ude0"] {
            assert_eq!(so_far(format!("{{\"a\":\"{text}")), Some(json!({"a": "x"})), "{text}");
        }
        assert_eq!(so_far(r#"["\ud83d\ude00"#), Some(json!(["😀"])));
        let cut = "[\"é😀".as_bytes();
        assert_eq!(so_far(&cut[..cut.len() - 1]), Some(json!(["é"])));
        assert_eq!(so_far("[\"a\nb\\_c\\'\\d"), Some(json!(["a\nb\\_c'\\d"])));
        assert_eq!(so_far("[\"a "), Some(json!(["a "])));
    }

    #[test]
    fn a_fault_ends_the_value() {
        for (text, value) in [
            ("{\"a\":1,}", json!({"a": 1})),
            ("{\"a\":1 \"b\":2}", json!({"a": 1})),
            ("{\"a\":1,b:2}", json!({"a": 1})),
            ("{\"a\":1} done", json!({"a": 1})),
            ("[1,1e400,2]", json!([1])),
            (r#"["a","b\ud800c","d"]"#, json!(["a", "b"])),
            (r#"{"a":1,"\ud800":2}"#, json!({"a": 1})),
            (r#"["a",1e400,"\ud800"]"#, json!(["a"])),
        ] {
            assert_eq!(so_far(text), Some(value), "{text}");
        }
        assert_eq!(so_far(b"[\"a\xffb\", 1]"), Some(json!(["a"])));
        assert_eq!(so_far(b"[1]\xc3"), Some(json!([1])));
    }

    #[test]
    fn nesting_stops_at_its_limit() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(whole(&nested(128)).to_string(), nested(128));
        for text in [nested(129), "[".repeat(129), "[".repeat(1_000_000)] {
            assert_eq!(so_far(&text).unwrap().to_string(), nested(128));
        }
        assert!(so_far("{\"a\":".repeat(200_000)).is_some());
    }

    #[test]
    fn text_in_a_string_is_unwrapped_while_it_is_written() {
        let object = json!({"path": "a \"b\"\n"});
        let once = json!(object.to_string()).to_string();
        let twice = json!(once).to_string();
        assert_eq!(whole(&once), object);
        assert_eq!(whole(&twice), object);
        assert_eq!(so_far(&once[..once.len() - 8]), Some(json!({"path": "a \"b"})));
        assert_eq!(so_far(r#""{\"a\":\"x "#), Some(json!({"a": "x "})));
        assert_eq!(so_far(r#"" {"#), Some(json!({})));
        // Whole outside, cut off inside.
        assert_eq!(so_far(r#""{\"a\":\"x""#), Some(json!({"a": "x"})));
        assert_eq!(so_far(json!(twice).to_string()), None);
        assert_eq!(so_far("\"hel"), Some(json!("hel")));
        assert_eq!(whole("\"hello\""), json!("hello"));
    }
}
