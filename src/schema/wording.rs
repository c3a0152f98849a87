//! What a model reads when its arguments do not fit: short, exact, and bounded whatever it sent.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::Value;

use super::errors::{MAX_ERRORS, SchemaError};
use super::number::to_message;

/// The whole report stays below this.
const MAX_REPORT: usize = 4096;

/// Error lines stop here at the latest, so that room for the received arguments remains.
const MAX_LINES_BYTES: usize = 2600;

/// At most so many errors are listed.
const MAX_LINES: usize = 20;

/// Longer strings in the received arguments are shown as head and length.
const MAX_STRING: usize = 200;

/// How much of one value a message shows.
const MAX_VALUE: usize = 80;

/// The report on arguments that did not fit: the errors sorted by path, then keyword, at most 20, and
/// what the model sent (`received`, before any change to it). Under 4 KB, whatever the input.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::{Coercion, CompiledSchema, wording};
///
/// let schema = CompiledSchema::compile(&json!({"properties": {"a": {"type": "number"}}, "required": ["b"]}));
/// let sent = json!({"a": "x"});
/// let errors = schema.unwrap().check(sent.clone(), Coercion::Safe).unwrap_err();
/// assert_eq!(wording::report("t", &errors, &sent), r#"Validation failed for tool "t":
///   - a: must be number, got "x"
///   - b: is required (received: a)
///
/// Received arguments:
/// {
///   "a": "x"
/// }"#);
/// ```
pub fn report(tool: &str, errors: &[SchemaError], received: &Value) -> String {
    let mut out = format!("Validation failed for tool \"{}\":\n", escape_controls(&clip(tool, MAX_VALUE)));
    let sorted = sorted(errors.to_vec());
    let mut shown = 0;
    for error in sorted.iter().take(MAX_LINES) {
        let path = if error.path.is_empty() { Cow::Borrowed("root") } else { clip_middle(&error.path) };
        // The collectors' messages are shorter; this holds for other people's too.
        let line = format!("  - {path}: {}", escape_controls(&clip(&error.message, 900)));
        if shown > 0 && out.len() + line.len() >= MAX_LINES_BYTES {
            break;
        }
        out.push_str(clip_bytes(&line, MAX_LINES_BYTES - out.len()));
        out.push('\n');
        shown += 1;
    }
    if shown < errors.len() {
        let or_more = if errors.len() >= MAX_ERRORS { " or more" } else { "" };
        let _ = writeln!(out, "  - … and {}{or_more} more", errors.len() - shown);
    }
    out.push_str("\nReceived arguments:\n");
    let room = MAX_REPORT - 1 - out.len();
    out.push_str(&received_within(received, room));
    out
}

/// Errors by their paths, then by their keywords; those of equal rank stay in order.
pub fn sorted(errors: Vec<SchemaError>) -> Vec<SchemaError> {
    let mut sorted: Vec<SchemaError> = Vec::new();
    for error in errors {
        let comes_before = |other: &SchemaError| {
            let by_path = compare_paths(&other.path, &error.path);
            by_path.then_with(|| other.kind.as_str().cmp(error.kind.as_str())).is_le()
        };
        sorted.insert(sorted.partition_point(comes_before), error);
    }
    sorted
}

/// Paths by their parts, indexes as numbers: `edits.2` comes before `edits.10`.
fn compare_paths(a: &str, b: &str) -> Ordering {
    let index = |part: &str| part.parse::<u64>().ok();
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return a.cmp(b),
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (index(a), index(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The value as indented JSON: whole but for long strings, else with shorter strings, else cut.
fn received_within(received: &Value, room: usize) -> String {
    let mut printed = String::new();
    for head in [MAX_STRING, 40] {
        let mut printer = Printer { out: String::new(), room, head, indent: Some(0) };
        let whole = printer.value(received).is_some();
        printed = printer.out;
        if whole {
            return printed;
        }
    }
    printed.truncate(clip_bytes(&printed, room - "\n…".len()).len());
    printed.push_str("\n…");
    printed
}

/// A value on one line, cut to so many characters.
pub(super) fn compact(value: &Value, max: usize) -> String {
    let mut printer = Printer { out: String::new(), room: max * 4, head: max, indent: None };
    let whole = printer.value(value).is_some();
    let clipped = clip(&printer.out, max + 20);
    if whole || clipped.ends_with('…') { clipped.into_owned() } else { clipped.into_owned() + "…" }
}

/// What was found, for a message: a scalar itself, else its type.
pub(super) fn brief(value: &Value) -> String {
    match value {
        Value::Array(_) => "array".to_owned(),
        Value::Object(_) => "object".to_owned(),
        Value::Number(number) => to_message(number),
        Value::String(text) => quote(&clip(text, MAX_VALUE)),
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// The text, or its first characters and an ellipsis.
pub(super) fn clip(text: &str, max: usize) -> Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
    }
}

/// Control characters as JSON escapes, so that text stays on its line.
pub(super) fn escape_controls(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// A path of many parts: its beginning and its end, the part that matters most.
fn clip_middle(path: &str) -> Cow<'_, str> {
    const SIDE: usize = 80;
    if path.chars().count() <= 2 * SIDE {
        return Cow::Borrowed(path);
    }
    let tail = path.char_indices().rev().nth(SIDE - 1).map_or(0, |(index, _)| index);
    Cow::Owned(clip(path, SIDE).into_owned() + &path[tail..])
}

fn clip_bytes(text: &str, max: usize) -> &str {
    let end = (0..=max.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Prints JSON until it has no more room. Every level prints something before it recurses, so that no
/// nesting can outlast the room.
struct Printer {
    out: String,
    room: usize,
    head: usize,
    /// The present level; none prints on one line.
    indent: Option<usize>,
}

impl Printer {
    fn push(&mut self, text: &str) -> Option<()> {
        let fits = self.out.len() + text.len() <= self.room;
        self.out.push_str(if fits { text } else { clip_bytes(text, self.room - self.out.len()) });
        fits.then_some(())
    }

    fn value(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Null | Value::Bool(_) => self.push(&value.to_string()),
            Value::Number(number) => self.push(&to_message(number)),
            Value::String(text) => self.string(text),
            Value::Array(items) => self.list('[', ']', items, |printer, item| printer.value(item)),
            Value::Object(map) => self.list('{', '}', map, |printer, (key, value)| {
                printer.string(key)?;
                printer.push(if printer.indent.is_some() { ": " } else { ":" })?;
                printer.value(value)
            }),
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        items: impl IntoIterator<Item = T>,
        print: impl Fn(&mut Self, T) -> Option<()>,
    ) -> Option<()> {
        self.push(open.encode_utf8(&mut [0; 4]))?;
        self.indent = self.indent.map(|level| level + 1);
        let mut any = false;
        for item in items {
            if any {
                self.push(",")?;
            }
            any = true;
            self.new_line()?;
            print(self, item)?;
        }
        self.indent = self.indent.map(|level| level - 1);
        if any {
            self.new_line()?;
        }
        self.push(close.encode_utf8(&mut [0; 4]))
    }

    fn new_line(&mut self) -> Option<()> {
        match self.indent {
            Some(level) => {
                self.push("\n")?;
                self.push(&"  ".repeat(level))
            }
            None => Some(()),
        }
    }

    fn string(&mut self, text: &str) -> Option<()> {
        // Counting a megabyte is cheap; only a text that may be too long is counted.
        let length = if text.len() > self.head { text.chars().count() } else { 0 };
        if length <= self.head {
            return self.push(&quote(text));
        }
        let head = clip(text, self.head);
        let note = if self.indent.is_some() { format!(" ({length} characters)") } else { String::new() };
        self.push(&quote(&(head.into_owned() + &note)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Coercion, CompiledSchema, Kind};
    use super::*;
    use serde_json::json;

    fn error(path: &str, kind: Kind, message: &str) -> SchemaError {
        SchemaError { path: path.to_owned(), kind, message: message.to_owned() }
    }

    #[test]
    fn a28_the_shape_of_a_report() {
        let schema = CompiledSchema::compile(&json!({
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "m": {"enum": ["Text", "Binary"]},
                "edits": {"type": "array", "items": {"type": "object", "required": ["oldText", "newText"]}},
            },
            "required": ["path"],
            "additionalProperties": false,
        }))
        .unwrap();
        let sent =
            json!({"path": ["a"], "m": "text", "z": "x".repeat(1_000_000), "edits": [{"oldText": "é\n"}]});
        let errors = schema.check(sent.clone(), Coercion::Safe).unwrap_err();
        let head = "x".repeat(200);
        let expected = format!(
            r#"Validation failed for tool "edit":
  - edits.0.newText: is required (received: oldText)
  - m: must be one of "Text", "Binary", got "text"
  - path: must be string, got array
  - z: is not allowed

Received arguments:
{{
  "path": [
    "a"
  ],
  "m": "text",
  "z": "{head}… (1000000 characters)",
  "edits": [
    {{
      "oldText": "é\n"
    }}
  ]
}}"#
        );
        assert_eq!(report("edit", &errors, &sent), expected);
    }

    #[test]
    fn errors_are_sorted_and_counted() {
        let errors = [
            error("edits.10", Kind::Type, "x"),
            error("edits.2", Kind::Type, "x"),
            error("edits", Kind::MinItems, "x"),
            error("edits", Kind::Enum, "x"),
            error("", Kind::Type, "x"),
        ];
        let text = report("t", &errors, &json!([]));
        let lines = "\n  - root: x\n  - edits: x\n  - edits: x\n  - edits.2: x\n  - edits.10: x\n\nReceived arguments:\n[]";
        assert!(text.ends_with(lines), "{text}");

        let many: Vec<_> = (0..50).map(|index| error(&index.to_string(), Kind::Type, "x")).collect();
        let text = report("t", &many, &json!([]));
        assert!(text.contains("  - 19: x\n  - … and 30 more\n\n"), "{text}");
    }

    #[test]
    fn a_root_of_the_wrong_type() {
        let schema = CompiledSchema::compile(&json!({"type": "object"})).unwrap();
        let errors = schema.check(json!([]), Coercion::Safe).unwrap_err();
        let text = report("read", &errors, &json!([]));
        assert!(text.contains("\n  - root: must be object, got array\n"), "{text}");
    }

    #[test]
    fn a_report_is_bounded_whatever_came() {
        let long = "😀\u{1}".repeat(50_000);
        let wide: serde_json::Map<_, _> =
            (0..5000).map(|key| (format!("é{key}"), json!(long[..200 * 5]))).collect();
        let mut deep = json!("x");
        for _ in 0..500 {
            deep = Value::Array(vec![deep]);
        }
        let errors: Vec<_> = (0..25).map(|_| error(&long, Kind::Type, &long)).collect();
        for received in
            [json!(long), json!({(long.clone()): long}), json!(wide), json!(vec![0; 100_000]), deep]
        {
            for errors in [&errors[..], &errors[..1]] {
                let text = report(&long, errors, &received);
                assert!(text.len() < MAX_REPORT, "{}", text.len());
                assert!(text.contains("\n\nReceived arguments:\n"));
            }
        }
    }

    #[test]
    fn values_in_messages_are_bounded() {
        assert_eq!(brief(&json!("a\n\"")), r#""a\n\"""#);
        assert_eq!(brief(&json!("x".repeat(81))), format!("\"{}…\"", "x".repeat(80)));
        assert_eq!(compact(&json!({"a": [1, "b"]}), 80), r#"{"a":[1,"b"]}"#);
        assert!(compact(&json!(vec!["x"; 1000]), 80).chars().count() <= 102);
    }
}
