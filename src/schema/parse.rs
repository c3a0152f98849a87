//! A model's argument text → a JSON value.
//!
//! Models cut texts off, put raw line breaks into strings, escape what needs no escape and encode
//! twice. What has one meaning is repaired; the rest is an error that says what happened and where.
//!
//! Repaired, inside strings only: a raw control character stands for itself; `\'` is `'`; before any
//! other character that makes no escape, the backslash stands for itself (`C:\Users`, `\d+`, `\u` without
//! four hex digits). Not repaired: Markdown fences, comments, single quotes, trailing commas.

use serde_json::{Map, Value};

use super::scan::{End, Scan, scan};
use super::wording::{clip, escape_controls};
use crate::error::{ErrorCode, ToolError};
use crate::json;

/// The deepest nesting of arrays and objects that arguments may have.
pub const MAX_DEPTH: usize = 128;

/// How many times a JSON string holding JSON is opened.
pub(super) const MAX_UNWRAPS: usize = 2;

/// The model's raw argument text as a JSON value, normally an object.
///
/// `no_required` says that the tool has no required parameters: blank text is then `{}`. A JSON string
/// that holds JSON is unwrapped, up to two levels. Key order is kept; of equal keys the last counts.
/// Whether the value is an object, and the right one, is for the schema to say.
///
/// # Errors
/// `cut_off` for text that is right but ends too early (whether or not the provider said so);
/// `invalid_arguments` for text that is blank or malformed, an unpaired surrogate, a number that no
/// double can hold, or nesting over [`MAX_DEPTH`]. The message says which, and where.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::parse;
///
/// assert_eq!(parse::arguments("read", br#"{"path":"f"}"#, false), Ok(json!({"path": "f"})));
/// assert_eq!(parse::arguments("read", br#""{\"path\":\"f\"}""#, false), Ok(json!({"path": "f"})));
/// assert_eq!(parse::arguments("ls", b"", true), Ok(json!({})));
///
/// let error = parse::arguments("write", br#"{"path":"a.txt","content":"hello wor"#, false).unwrap_err();
/// assert_eq!(error.code.as_str(), "cut_off");
/// ```
pub fn arguments(tool: &str, text: &[u8], no_required: bool) -> Result<Value, ToolError> {
    if text.trim_ascii().is_empty() {
        return blank(tool, no_required);
    }
    unwrap(tool, parse(text).map_err(|fault| fault.error(tool, text))?, no_required)
}

/// The same for arguments that came as a value: opens a string that holds JSON, refuses deep nesting.
///
/// # Errors
/// As [`arguments`], for the text in the string.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::parse;
/// assert_eq!(parse::unwrap_value("read", json!("{\"path\":\"f\"}"), false), Ok(json!({"path": "f"})));
/// ```
pub fn unwrap_value(tool: &str, value: Value, no_required: bool) -> Result<Value, ToolError> {
    if deeper_than(&value, MAX_DEPTH) {
        return Err(refusal(tool, &format!("the arguments are nested deeper than {MAX_DEPTH} levels")));
    }
    unwrap(tool, value, no_required)
}

/// JSON text inside a string, read as leniently as arguments are; `None` if it is not JSON.
pub(crate) fn json_text(text: &str) -> Option<Value> {
    parse(text.as_bytes()).ok()
}

/// Whether arrays and objects are nested more than that many levels.
pub(super) fn deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| deeper_than(item, levels - 1)),
        Value::Object(map) => levels == 0 || map.values().any(|item| deeper_than(item, levels - 1)),
        _ => false,
    }
}

fn blank(tool: &str, no_required: bool) -> Result<Value, ToolError> {
    if no_required {
        return Ok(Value::Object(Map::new()));
    }
    Err(refusal(tool, "the arguments are empty: send a JSON object with the tool's required parameters"))
}

fn unwrap(tool: &str, mut value: Value, no_required: bool) -> Result<Value, ToolError> {
    for unwraps in 0..=MAX_UNWRAPS {
        let Value::String(text) = &value else { break };
        let text = text.trim_ascii();
        if text.is_empty() {
            return blank(tool, no_required);
        }
        // Other text is no JSON container: a string where an object should be, for the schema to report.
        if !text.starts_with(['{', '[', '"']) {
            break;
        }
        if unwraps == MAX_UNWRAPS {
            let why = "the arguments are JSON text inside JSON text, more than two levels deep: \
                send them as a JSON object";
            return Err(refusal(tool, why));
        }
        value = parse(text.as_bytes()).map_err(|fault| fault.error(tool, text.as_bytes()))?;
    }
    Ok(value)
}

/// Why text is no JSON, with the bytes that it is about.
enum Fault {
    CutOff {
        key: Option<String>,
    },
    Expected {
        at: usize,
        what: &'static str,
    },
    Utf8 {
        at: usize,
        surrogate: bool,
    },
    Surrogate {
        at: usize,
    },
    Number {
        at: usize,
        len: usize,
    },
    Depth {
        at: usize,
    },
    /// serde_json refused what the scan let pass; its own words.
    Other(String),
}

fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    // The way of nearly every call; everything below is for when it fails.
    match json::from_slice(bytes) {
        Ok(value) => Ok(value),
        Err(_) => reparse(bytes),
    }
}

#[cold]
fn reparse(bytes: &[u8]) -> Result<Value, Fault> {
    let (text, cut_character) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let at = error.valid_up_to();
            if error.error_len().is_some() {
                let surrogate = matches!(bytes[at..], [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..]);
                return Err(Fault::Utf8 { at, surrogate });
            }
            // The last character is incomplete: look at what comes before.
            (std::str::from_utf8(&bytes[..at]).unwrap_or_default(), true)
        }
    };
    let Scan { end, repaired, key, too_deep, surrogate, out_of_range, .. } = scan(text, MAX_DEPTH);
    // A cut text is told as that whatever else is wrong with it: it has to be sent again anyway.
    match end {
        End::CutOff => return Err(Fault::CutOff { key: key.map(str::to_owned) }),
        End::Malformed { at, expected } => return Err(Fault::Expected { at, what: expected }),
        End::Complete if cut_character => return Err(Fault::Utf8 { at: text.len(), surrogate: false }),
        End::Complete => {}
    }
    if let Some(at) = too_deep {
        return Err(Fault::Depth { at });
    }
    if let Some(range) = surrogate {
        return Err(Fault::Surrogate { at: range.start });
    }
    if let Some(range) = out_of_range {
        return Err(Fault::Number { at: range.start, len: range.len() });
    }
    scanned(&repaired).map_err(|error| Fault::Other(error.to_string()))
}

/// The value of text that a scan has passed.
pub(super) fn scanned(text: &str) -> serde_json::Result<Value> {
    json::exact(text.as_bytes(), |text| {
        // From bytes, as everywhere in the core: a second kind of reader doubles serde_json's code in the module.
        // serde_json's own limit is one level less than ours; the scan has counted already.
        let mut deserializer = serde_json::Deserializer::from_slice(text);
        deserializer.disable_recursion_limit();
        serde::Deserialize::deserialize(&mut deserializer)
    })
}

impl Fault {
    #[cold]
    fn error(&self, tool: &str, text: &[u8]) -> ToolError {
        let why = match *self {
            Fault::CutOff { ref key } => {
                let inside = match key {
                    Some(key) => format!(", in the value of \"{}\"", escape_controls(&clip(key, 80))),
                    None => String::new(),
                };
                let message = format!(
                    "{}the arguments end in the middle (the output was cut after {} bytes{inside}): send \
                     the whole call again, in smaller parts if it was cut by the output limit",
                    prefix(tool),
                    text.len()
                );
                return ToolError::new(ErrorCode::CutOff, message);
            }
            Fault::Expected { at, what } => {
                let found = match text_at(text, at).chars().next() {
                    Some(found) => format!("\"{}\"", escape_controls(found.encode_utf8(&mut [0; 4]))),
                    None => "the end".to_owned(),
                };
                format!(
                    "the arguments are not valid JSON: expected {what}, found {found} {}",
                    place(text, at)
                )
            }
            Fault::Utf8 { at, surrogate: true } => {
                format!("the arguments hold an unpaired surrogate {}", place(text, at))
            }
            Fault::Utf8 { at, surrogate: false } => {
                format!("the arguments are not valid UTF-8 {}", place(text, at))
            }
            Fault::Surrogate { at } => format!(
                "the arguments hold the unpaired surrogate {} {}: send the whole character",
                clip(text_at(text, at), 6).trim_end_matches('…'),
                place(text, at)
            ),
            Fault::Number { at, len } => {
                let number = text_at(text, at).get(..len).unwrap_or_default();
                format!("the number {} is out of range {}", clip(number, 40), place(text, at))
            }
            Fault::Depth { at } => {
                format!("the arguments are nested deeper than {MAX_DEPTH} levels {}", place(text, at))
            }
            Fault::Other(ref why) => format!("the arguments are not valid JSON: {why}"),
        };
        refusal(tool, &why)
    }
}

fn prefix(tool: &str) -> String {
    format!("Tool call \"{}\" was not executed: ", escape_controls(&clip(tool, 80)))
}

fn refusal(tool: &str, why: &str) -> ToolError {
    ToolError::invalid_arguments(prefix(tool) + why)
}

/// The valid text from a byte on.
fn text_at(text: &[u8], at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    match std::str::from_utf8(rest) {
        Ok(rest) => rest,
        Err(error) => std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// `at line 1, column 17, near: …`, with up to 20 characters on each side.
fn place(text: &[u8], at: usize) -> String {
    let before = String::from_utf8_lossy(&text[..at.min(text.len())]);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let start = before.char_indices().rev().nth(19).map_or(0, |(index, _)| index);
    // Enough bytes for 20 characters, so that a long text is not decoded whole.
    let rest = text.get(at..).unwrap_or_default();
    let after = String::from_utf8_lossy(&rest[..rest.len().min(80)]);
    let after: String = after.chars().take(20).collect();
    let near = escape_controls(&before[start..]) + &escape_controls(&after);
    format!("at line {line}, column {column}, near: {near}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ok(text: &str) -> Value {
        arguments("t", text.as_bytes(), false).unwrap()
    }

    fn error(text: impl AsRef<[u8]>) -> (ErrorCode, String) {
        let error = arguments("t", text.as_ref(), false).unwrap_err();
        let message = error.message.strip_prefix("Tool call \"t\" was not executed: ").unwrap();
        assert!(error.message.len() < 1000);
        (error.code, message.to_owned())
    }

    #[test]
    fn order_and_odd_keys_are_kept() {
        let value = ok(r#"{"z":1,"__proto__":{"x":1},"a":2}"#);
        assert_eq!(value.to_string(), r#"{"z":1,"__proto__":{"x":1},"a":2}"#);
    }

    #[test]
    fn a16_truncated_arguments() {
        let error = arguments("write", br#"{"path":"a.txt","content":"hello wor"#, false).unwrap_err();
        assert_eq!(error.code, ErrorCode::CutOff);
        assert_eq!(
            error.message,
            "Tool call \"write\" was not executed: the arguments end in the middle (the output was cut after \
             36 bytes, in the value of \"content\"): send the whole call again, in smaller parts if it was \
             cut by the output limit"
        );
        let cut = "{\"a\":\"é".as_bytes();
        assert_eq!(error_code(&cut[..cut.len() - 1]), ErrorCode::CutOff);
        // Raw line breaks before the cut, and an odd escape, do not hide it.
        assert_eq!(error_code(b"{\"a\":\"x\ny\\_ \\ud800 z"), ErrorCode::CutOff);
        // Inside a string as well.
        assert_eq!(error_code(br#""{\"a\":""#), ErrorCode::CutOff);
    }

    fn error_code(text: &[u8]) -> ErrorCode {
        error(text).0
    }

    #[test]
    fn malformed_text_is_placed() {
        assert_eq!(
            error("{\"a\":\n \"he said \"hi\" to\"}"),
            (
                ErrorCode::InvalidArguments,
                "the arguments are not valid JSON: expected \",\" or \"}\", found \"h\" at line 2, column 12, \
                 near: {\"a\":\\n \"he said \"hi\" to\"}"
                    .to_owned()
            )
        );
        assert!(error("{} trailing").1.contains("expected the end of the arguments, found \"t\""));
        assert!(error("```json\n{}\n```").1.contains("expected a value, found \"`\""));
        assert!(error(b"{\"a\":\"\xff\"}").1.contains("not valid UTF-8 at line 1, column 7"));
        assert!(error(b"{}\xc3").1.contains("not valid UTF-8"));
        assert_eq!(error_code(b"{}\xc3"), ErrorCode::InvalidArguments);
    }

    #[test]
    fn surrogates_numbers_and_depth_are_named() {
        assert!(error(r#"{"a":"x\ud800y"}"#).1.contains(r"unpaired surrogate \ud800 at line 1, column 8"));
        assert!(error(b"{\"a\":\"\xed\xa0\x80\"}").1.contains("unpaired surrogate at line 1"));
        assert_eq!(ok(r#"{"a":"\ud83d\ude00"}"#), json!({"a": "😀"}));
        assert!(
            error(r#"{"a":1e400}"#).1.starts_with("the number 1e400 is out of range at line 1, column 6")
        );
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(arguments("t", nested(128).as_bytes(), false).is_ok());
        assert!(error(nested(129)).1.contains("nested deeper than 128 levels"));
        assert!(error(nested(100_000)).1.contains("nested deeper than 128 levels"));
        let mut deep = json!({});
        for _ in 0..128 {
            deep = json!([deep]);
        }
        assert!(unwrap_value("t", deep, false).unwrap_err().message.contains("deeper than 128 levels"));
    }

    #[test]
    fn strings_are_repaired() {
        assert_eq!(ok("{\"a\":\"x\ny\"}"), json!({"a": "x\ny"}));
        assert_eq!(ok(r#"{"a":"C:\Users\'\x"}"#), json!({"a": "C:\\Users'\\x"}));
    }

    #[test]
    fn a18_double_encoded_root() {
        let object = json!({"path": "f"});
        let once = json!(object.to_string());
        let twice = json!(once.to_string());
        for value in [&object, &once, &twice] {
            assert_eq!(ok(&value.to_string()), object);
            assert_eq!(unwrap_value("t", value.clone(), false), Ok(object.clone()));
        }
        assert!(error(json!(twice.to_string()).to_string()).1.contains("more than two levels deep"));
        assert_eq!(ok("[1]"), json!([1]));
        assert_eq!(ok("\"hello\""), json!("hello"));
    }

    #[test]
    fn blank_text_is_no_arguments() {
        for text in ["", " \n", "\"\"", "\" \""] {
            assert_eq!(arguments("t", text.as_bytes(), true), Ok(json!({})), "{text}");
            assert!(error(text).1.starts_with("the arguments are empty"), "{text}");
        }
    }
}
