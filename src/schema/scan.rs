//! The second look at text that serde_json refused: where it stops being JSON, whether it merely
//! ends too early, and the same text with the mistakes that models make inside strings repaired; all
//! of it, or as much of its beginning as can be closed to a whole value.
//!
//! One loop over the bytes with its own stack, so that no nesting can overflow ours. It runs only on
//! failure and on text that is still being written; the parser proper stays serde_json, which also has
//! the last word on what is repaired here.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

/// How the text ends.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// One whole JSON value (once repaired).
    Complete,
    /// Right so far, and then there is no more.
    CutOff,
    /// At this byte something else was expected.
    Malformed { at: usize, expected: &'static str },
}

/// What a scan found.
pub(super) struct Scan<'a> {
    /// How the text ends.
    pub end: End,
    /// The text with control characters and bad escapes inside strings repaired.
    pub repaired: Cow<'a, str>,
    /// The key of the outermost object whose value was being read.
    pub key: Option<&'a str>,
    /// Where nesting first went over the limit.
    pub too_deep: Option<usize>,
    /// The first escape that is half of a surrogate pair.
    pub surrogate: Option<Range<usize>>,
    /// The first number that no double can hold.
    pub out_of_range: Option<Range<usize>>,
    /// How much of the repaired text is a whole value once what is open there is closed.
    kept: usize,
    /// Whether a string is open there, and in what it stands.
    in_string: bool,
    stack: Vec<Open>,
}

impl Scan<'_> {
    /// As much of the repaired text as is a whole value once it is closed, and closed; "" if none is. A string is
    /// kept up to its last whole character, a number up to its last digit that makes one, a key with its value.
    pub fn closed(&self) -> String {
        let mut closed = self.repaired[..self.kept].to_owned();
        if self.in_string {
            closed.push('"');
        }
        closed.extend(self.stack.iter().rev().map(|open| match open {
            Open::Object => '}',
            Open::Array => ']',
        }));
        closed
    }
}

/// Scans text as one JSON value nested at most `max_depth` levels.
pub(super) fn scan(text: &str, max_depth: usize) -> Scan<'_> {
    let mut scanner = Scanner {
        text,
        at: 0,
        stack: Vec::new(),
        out: String::new(),
        copied: 0,
        key: None,
        too_deep: None,
        surrogate: None,
        out_of_range: None,
        kept: 0,
        in_string: false,
    };
    let end = match scanner.run(max_depth) {
        Ok(()) => End::Complete,
        Err(end) => end,
    };
    let repaired = if scanner.copied == 0 {
        Cow::Borrowed(text)
    } else {
        scanner.out.push_str(&text[scanner.copied..]);
        Cow::Owned(scanner.out)
    };
    Scan {
        end,
        repaired,
        key: scanner.key.map(|key| &text[key]),
        too_deep: scanner.too_deep,
        surrogate: scanner.surrogate,
        out_of_range: scanner.out_of_range,
        kept: scanner.kept,
        in_string: scanner.in_string,
        stack: scanner.stack,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    Array,
}

enum State {
    Value,
    FirstKey,
    Key,
    FirstItem,
    After,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    stack: Vec<Open>,
    /// The repaired text up to `copied`; untouched until the first repair.
    out: String,
    copied: usize,
    key: Option<Range<usize>>,
    too_deep: Option<usize>,
    surrogate: Option<Range<usize>>,
    out_of_range: Option<Range<usize>>,
    kept: usize,
    in_string: bool,
}

impl Scanner<'_> {
    fn run(&mut self, max_depth: usize) -> Result<(), End> {
        let mut state = State::Value;
        loop {
            self.skip_blanks();
            let Some(byte) = self.peek(0) else {
                let done = matches!(state, State::After) && self.stack.is_empty();
                return if done { Ok(()) } else { Err(End::CutOff) };
            };
            state = match (state, byte) {
                (State::FirstItem, b']') | (State::FirstKey, b'}') => self.close(),
                (State::Value | State::FirstItem, b'{') => self.open(Open::Object, max_depth),
                (State::Value | State::FirstItem, b'[') => self.open(Open::Array, max_depth),
                (State::Value | State::FirstItem, _) => self.scalar(byte)?,
                (State::FirstKey | State::Key, b'"') => self.entry()?,
                (State::FirstKey, _) => return self.malformed("a key in double quotes or \"}\""),
                (State::Key, _) => return self.malformed("a key in double quotes"),
                (State::After, _) => self.after(byte)?,
            };
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn malformed<T>(&self, expected: &'static str) -> Result<T, End> {
        Err(End::Malformed { at: self.at, expected })
    }

    /// What is before here can be closed to a whole value.
    fn keep(&mut self) {
        self.kept = self.out.len() + self.at - self.copied;
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek(0) {
            self.at += 1;
        }
    }

    fn open(&mut self, open: Open, max_depth: usize) -> State {
        self.stack.push(open);
        if self.stack.len() > max_depth && self.too_deep.is_none() {
            self.too_deep = Some(self.at);
        }
        self.at += 1;
        self.keep();
        if open == Open::Object { State::FirstKey } else { State::FirstItem }
    }

    fn close(&mut self) -> State {
        self.stack.pop();
        self.at += 1;
        self.keep();
        State::After
    }

    fn after(&mut self, byte: u8) -> Result<State, End> {
        match (self.stack.last(), byte) {
            (None, _) => self.malformed("the end of the arguments"),
            (Some(Open::Object), b'}') | (Some(Open::Array), b']') => Ok(self.close()),
            (Some(open), b',') => {
                let next = if *open == Open::Object { State::Key } else { State::Value };
                self.at += 1;
                Ok(next)
            }
            (Some(Open::Object), _) => self.malformed("\",\" or \"}\""),
            (Some(Open::Array), _) => self.malformed("\",\" or \"]\""),
        }
    }

    /// A key and its colon.
    fn entry(&mut self) -> Result<State, End> {
        let outermost = self.stack.len() == 1;
        if outermost {
            self.key = None;
        }
        let start = self.at + 1;
        self.string()?;
        if outermost {
            self.key = Some(start..self.at - 1);
        }
        self.skip_blanks();
        match self.peek(0) {
            Some(b':') => {
                self.at += 1;
                Ok(State::Value)
            }
            Some(_) => self.malformed("\":\""),
            None => Err(End::CutOff),
        }
    }

    fn scalar(&mut self, byte: u8) -> Result<State, End> {
        match byte {
            b'"' => {
                let whole = self.string();
                self.in_string = whole.is_err();
                // As far as it goes: an escape that is cut off is still ahead.
                self.keep();
                whole?;
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b't' => self.literal("true")?,
            b'f' => self.literal("false")?,
            b'n' => self.literal("null")?,
            _ => return self.malformed("a value"),
        }
        self.keep();
        Ok(State::After)
    }

    fn literal(&mut self, word: &'static str) -> Result<(), End> {
        let rest = &self.text.as_bytes()[self.at..];
        if rest.starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(());
        }
        if word.as_bytes().starts_with(rest) { Err(End::CutOff) } else { self.malformed("a value") }
    }

    fn number(&mut self) -> Result<(), End> {
        let start = self.at;
        if self.peek(0) == Some(b'-') {
            self.at += 1;
        }
        if self.peek(0) == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        self.keep();
        if self.peek(0) == Some(b'.') {
            self.at += 1;
            self.digits()?;
            self.keep();
        }
        if let Some(b'e' | b'E') = self.peek(0) {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek(0) {
                self.at += 1;
            }
            self.digits()?;
        }
        let range = start..self.at;
        if self.out_of_range.is_none()
            && serde_json::from_slice::<Value>(self.text[range.clone()].as_bytes()).is_err()
        {
            self.out_of_range = Some(range);
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), End> {
        match self.peek(0) {
            Some(byte) if !byte.is_ascii_digit() => return self.malformed("a digit"),
            None => return Err(End::CutOff),
            Some(_) => {}
        }
        while self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), End> {
        self.at += 1;
        loop {
            match self.peek(0) {
                None => return Err(End::CutOff),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(byte @ 0..0x20) => self.replace(1, &format!("\\u{byte:04x}")),
                Some(_) => self.at += 1,
            }
        }
    }

    /// `\'` is `'`, as in JavaScript. Before anything else that is no escape the backslash is meant:
    /// a Windows path, a regular expression, the end of a shell line.
    fn escape(&mut self) -> Result<(), End> {
        match self.peek(1) {
            None => return Err(End::CutOff),
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => match self.unit(0) {
                Unit::CutOff => return Err(End::CutOff),
                Unit::None => self.replace(1, "\\\\"),
                Unit::Some(0xD800..0xDC00) => match self.unit(6) {
                    Unit::CutOff => return Err(End::CutOff),
                    Unit::Some(0xDC00..0xE000) => self.at += 12,
                    _ => self.unpaired(),
                },
                Unit::Some(0xDC00..0xE000) => self.unpaired(),
                Unit::Some(_) => self.at += 6,
            },
            Some(b'\'') => self.replace(2, "'"),
            Some(_) => self.replace(1, "\\\\"),
        }
        Ok(())
    }

    /// The `\uXXXX` that is so far ahead, if there is one.
    fn unit(&self, ahead: usize) -> Unit {
        let mut unit = 0;
        for index in 0..6 {
            let Some(byte) = self.peek(ahead + index) else { return Unit::CutOff };
            let fits = match index {
                0 => byte == b'\\',
                1 => byte == b'u',
                _ => byte.is_ascii_hexdigit(),
            };
            if !fits {
                return Unit::None;
            }
            if index > 1 {
                unit = unit * 16 + (byte as char).to_digit(16).unwrap_or(0);
            }
        }
        Unit::Some(unit)
    }

    fn unpaired(&mut self) {
        let range = self.at..self.at + 6;
        self.surrogate.get_or_insert(range);
        self.at += 6;
    }

    /// Puts other text in place of the next `len` bytes.
    fn replace(&mut self, len: usize, with: &str) {
        self.out.push_str(&self.text[self.copied..self.at]);
        self.out.push_str(with);
        self.at += len;
        self.copied = self.at;
    }
}

enum Unit {
    Some(u32),
    None,
    CutOff,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(text: &str) -> String {
        let scan = scan(text, 128);
        assert_eq!(scan.end, End::Complete, "{text}");
        scan.repaired.into_owned()
    }

    #[test]
    fn strings_are_repaired_and_nothing_else() {
        for (text, expected) in [
            ("{\"a\":\"b\nc\td\u{0}\"}", r#"{"a":"b\u000ac\u0009d\u0000"}"#),
            (r#"["it\'s"]"#, r#"["it's"]"#),
            (r#"["C:\Users\_x"]"#, r#"["C:\\Users\\_x"]"#),
            (r#"["\d+\s\x41"]"#, r#"["\\d+\\s\\x41"]"#),
            (r#"["\users \u12 \u12g4"]"#, r#"["\\users \\u12 \\u12g4"]"#),
            (r#"["\é"]"#, r#"["\\é"]"#),
            ("[\"a \\\nb\"]", r#"["a \\\u000ab"]"#),
            (r#"["\u0041\n\"\\"]"#, r#"["\u0041\n\"\\"]"#),
        ] {
            assert_eq!(repaired(text), expected);
            serde_json::from_str::<serde_json::Value>(expected).unwrap();
        }
        assert!(matches!(scan("[1, 2]", 128).repaired, Cow::Borrowed(_)));
    }

    #[test]
    fn a_beginning_is_closed_where_it_is_whole() {
        for (text, closed) in [
            ("", ""),
            (" {", " {}"),
            ("[{\"a\":[1", "[{\"a\":[1]}]"),
            ("{\"a\":1,\"b", "{\"a\":1}"),
            ("{\"a\":1,\"b\":", "{\"a\":1}"),
            ("{\"a\":\"x\ny", "{\"a\":\"x\\u000ay\"}"),
            ("{\"a\":1,\"b\\_\nc\":tru", "{\"a\":1}"),
            ("[1,2}", "[1,2]"),
            ("[1] x", "[1]"),
        ] {
            assert_eq!(scan(text, 128).closed(), closed, "{text}");
        }
    }

    #[test]
    fn early_ends_and_errors_are_told_apart() {
        for text in [
            "{",
            "{\"a",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":t",
            "{\"a\":1",
            "{\"a\":-",
            "{\"a\":1.",
            "{\"a\":1e",
            "{\"a\":1,",
            "[\"\\",
            "[\"\\u00",
            "[\"\\ud83d",
            "[\"\\ud83d\\ude",
            "[[]",
        ] {
            assert_eq!(scan(text, 128).end, End::CutOff, "{text}");
        }
        for (text, at, expected) in [
            ("{a:1}", 1, "a key in double quotes or \"}\""),
            ("{\"a\":1,}", 7, "a key in double quotes"),
            ("{\"a\" 1}", 5, "\":\""),
            ("{\"a\":'x'}", 5, "a value"),
            ("{\"a\":01}", 6, "\",\" or \"}\""),
            ("[1 2]", 3, "\",\" or \"]\""),
            ("[1}", 2, "\",\" or \"]\""),
            ("{}x", 2, "the end of the arguments"),
            ("[1.x]", 3, "a digit"),
            ("[trux]", 1, "a value"),
        ] {
            assert_eq!(scan(text, 128).end, End::Malformed { at, expected }, "{text}");
        }
    }

    #[test]
    fn facts_are_noted_with_their_place() {
        assert_eq!(scan(r#"["\ud800"]"#, 128).surrogate, Some(2..8));
        assert_eq!(scan(r#"["\ude00"]"#, 128).surrogate, Some(2..8));
        assert_eq!(scan(r#"["\ud83d\users"]"#, 128).surrogate, Some(2..8));
        assert_eq!(scan(r#"["\ud83d\ude00"]"#, 128).surrogate, None);
        assert_eq!(scan("[1,-1e400]", 128).out_of_range, Some(3..9));
        assert_eq!(scan("[[1]]", 2).too_deep, None);
        assert_eq!(scan("[[1]]", 1).too_deep, Some(1));
        assert_eq!(scan(r#"{"a":1,"b":{"c":"#, 128).key, Some("b"));
        assert_eq!(scan(&"[".repeat(1_000_000), 128).end, End::CutOff);
    }
}
