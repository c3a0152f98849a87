//! Whether JSON text fits a schema as it is, in one pass over the bytes: the way of nearly every call, on which no value
//! is built.
//!
//! "Yes" is certain. "No" may also mean that this reader does not know: text that serde_json refuses or JavaScript
//! reads differently, and what is too rare to be worth code here. Whoever hears it takes the long way.
//!
//! Of equal keys the last counts. Here each of them has to fit, so the last one does.

use std::borrow::Cow;

use serde_json::Value;

use super::check::scalar;
use super::compile::{Node, Rules, Type};
use super::parse::MAX_DEPTH;
use crate::json;

/// So many required properties can be kept account of.
const MOST_REQUIRED: usize = 128;

/// Whole numbers of so many digits are safe integers.
const SAFE_DIGITS: usize = 15;

/// How far ahead of the last property found the next one is looked for, before all are searched.
const NEAR: usize = 8;

/// Whether the text is one JSON value, no string at the top, that fits.
pub(super) fn fits(root: &Node, text: &[u8]) -> bool {
    let mut reader = Reader { text, at: 0, beyond_ascii: false };
    // A string may hold the arguments as JSON text.
    if reader.next() == b'"' || !reader.value(root, MAX_DEPTH) {
        return false;
    }
    reader.next();
    reader.at == text.len() && (!reader.beyond_ascii || simdutf8::basic::from_utf8(text).is_ok())
}

/// The properties of a schema in the order in which it lists them: models keep to it.
#[derive(Debug, Default)]
pub(super) struct Order {
    listed: Vec<Listed>,
}

#[derive(Debug)]
struct Listed {
    /// Its row among the properties.
    row: usize,
    /// Its place among the required ones.
    required: Option<usize>,
}

impl Order {
    /// Of rules that are complete otherwise.
    pub fn new<'a>(keys: impl Iterator<Item = &'a String>, rules: &Rules) -> Order {
        let listed = keys.filter_map(|key| {
            let required = rules.required.binary_search(key).ok();
            Some(Listed { row: rules.properties.row(key)?, required })
        });
        Order { listed: listed.collect() }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether a string had bytes that may be no UTF-8.
    beyond_ascii: bool,
}

/// A string's bytes between its quotes.
struct Raw<'a> {
    bytes: &'a [u8],
    has_escapes: bool,
}

impl<'a> Reader<'a> {
    /// The byte here; 0, which no JSON has, at the end.
    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    /// The first byte from here that is no blank.
    fn next(&mut self) -> u8 {
        while let b' ' | b'\t' | b'\n' | b'\r' = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_here = self.peek() == byte;
        self.at += usize::from(is_here);
        is_here
    }

    /// Goes past the value here. So do all of these, as far as they answer yes.
    fn value(&mut self, node: &Node, levels: usize) -> bool {
        let rules = match node {
            Node::Any => return self.beside_any_of(None, levels),
            Node::Never => return false,
            Node::Rules(rules) => rules,
        };
        let start = self.at;
        if !self.beside_any_of(Some(rules), levels) {
            return false;
        }
        let Some(branches) = &rules.any_of else { return true };
        branches.iter().any(|branch| {
            self.at = start;
            self.value(branch, levels)
        })
    }

    fn beside_any_of(&mut self, rules: Option<&Rules>, levels: usize) -> bool {
        match self.peek() {
            b'"' => self.string(rules),
            b'{' => self.object(rules, levels),
            b'[' => self.array(rules, levels),
            b't' => self.literal(b"true", Value::Bool(true), rules),
            b'f' => self.literal(b"false", Value::Bool(false), rules),
            b'n' => self.literal(b"null", Value::Null, rules),
            _ => self.number(rules),
        }
    }

    fn object(&mut self, rules: Option<&Rules>, levels: usize) -> bool {
        let start = self.at;
        if levels == 0 || !allows(rules, Type::Object) || !is_countable(rules) {
            return false;
        }
        self.at += 1;
        let (mut found, mut near) = (0_u128, 0);
        if self.next() != b'}' {
            loop {
                self.next();
                let node = match rules {
                    Some(rules) if !rules.properties.is_empty() || !rules.required.is_empty() => {
                        self.key(rules, &mut near, &mut found)
                    }
                    _ => self.raw().map(|_| rules.and_then(|rules| rules.additional.as_ref())),
                };
                let Some(node) = node else { return false };
                if self.next() != b':' {
                    return false;
                }
                self.at += 1;
                self.next();
                if !self.value(node.unwrap_or(&Node::Any), levels - 1) {
                    return false;
                }
                match self.next() {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return false,
                }
            }
        }
        self.at += 1;
        let Some(rules) = rules else { return true };
        found.count_ones() as usize == rules.required.len() && self.is_listed(rules, start)
    }

    /// The key here: the schema of its value, if there is one, and a note of it if it is required.
    fn key<'r>(&mut self, rules: &'r Rules, near: &mut usize, found: &mut u128) -> Option<Option<&'r Node>> {
        let key = self.raw()?;
        if !key.has_escapes {
            let listed = &rules.order.listed;
            for (at, one) in listed.iter().enumerate().skip(*near).take(NEAR) {
                let (name, node) = rules.properties.at(one.row);
                if name.as_bytes() == key.bytes {
                    *near = at + 1;
                    if let Some(place) = one.required {
                        *found |= 1 << place;
                    }
                    return Some(Some(node));
                }
            }
        }
        let key = key.text()?;
        if let Ok(place) = rules.required.binary_search_by(|known| known.as_str().cmp(&key)) {
            *found |= 1 << place;
        }
        Some(rules.properties.get(&*key).or(rules.additional.as_ref()))
    }

    fn array(&mut self, rules: Option<&Rules>, levels: usize) -> bool {
        let start = self.at;
        if levels == 0 || !allows(rules, Type::Array) {
            return false;
        }
        self.at += 1;
        let items = rules.and_then(|rules| rules.items.as_ref()).unwrap_or(&Node::Any);
        let mut count = 0;
        if self.next() != b']' {
            loop {
                self.next();
                if !self.value(items, levels - 1) {
                    return false;
                }
                count += 1;
                match self.next() {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return false,
                }
            }
        }
        self.at += 1;
        let Some(rules) = rules else { return true };
        rules.min_items.is_none_or(|min| count >= min)
            && rules.max_items.is_none_or(|max| count <= max)
            && self.is_listed(rules, start)
    }

    /// Whether the array or object that began there is what `enum` and `const` ask for.
    fn is_listed(&self, rules: &Rules, start: usize) -> bool {
        (rules.any_value_of.is_none() && rules.constant.is_none())
            || json::from_slice(&self.text[start..self.at]).is_ok_and(|value| scalar(rules, &value))
    }

    fn literal(&mut self, word: &[u8], value: Value, rules: Option<&Rules>) -> bool {
        let is_here = self.text[self.at..].starts_with(word);
        self.at += word.len();
        is_here && scalar_fits(rules, &value)
    }

    fn number(&mut self, rules: Option<&Rules>) -> bool {
        let start = self.at;
        let is_negative = self.take(b'-');
        let first = self.at;
        let mut whole = 0_i64;
        while let digit @ b'0'..=b'9' = self.peek() {
            whole = whole.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        let is_plain = match self.at - first {
            0 => return false,
            1 => true,
            digits => digits <= SAFE_DIGITS && self.text[first] != b'0',
        };
        if is_plain && !matches!(self.peek(), b'.' | b'e' | b'E') {
            return scalar_fits(rules, &Value::from(if is_negative { -whole } else { whole }));
        }
        while let b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-' = self.peek() {
            self.at += 1;
        }
        json::from_slice(&self.text[start..self.at]).is_ok_and(|value| scalar_fits(rules, &value))
    }

    fn string(&mut self, rules: Option<&Rules>) -> bool {
        if !allows(rules, Type::String) {
            return false;
        }
        let Some(raw) = self.raw() else { return false };
        let Some(rules) = rules else { return true };
        if rules.any_value_of.is_none() && rules.constant.is_none() {
            // A character has one to four bytes, or escapes of up to twelve.
            let most = raw.bytes.len() as u64;
            let least = most.div_ceil(if raw.has_escapes { 12 } else { 4 });
            if rules.min_length.is_none_or(|min| least >= min)
                && rules.max_length.is_none_or(|max| most <= max)
            {
                return true;
            }
        }
        raw.text().is_some_and(|text| scalar(rules, &Value::String(text.into_owned())))
    }

    /// The string here, if it is one that needs no repair.
    fn raw(&mut self) -> Option<Raw<'a>> {
        if !self.take(b'"') {
            return None;
        }
        let start = self.at;
        let mut has_escapes = false;
        loop {
            match self.until_special() {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return None,
            }
            has_escapes = true;
        }
        let bytes = &self.text[start..self.at];
        self.at += 1;
        Some(Raw { bytes, has_escapes })
    }

    /// Goes to the next quote, backslash or control character, eight bytes at a time. Answers it; 0 at the end.
    fn until_special(&mut self) -> u8 {
        const ONES: u64 = u64::MAX / 255;
        const HIGHS: u64 = ONES << 7;
        // The high bit of each byte that is 0 or more; the first that is set is right.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
        let rest = &self.text[self.at..];
        let (words, last) = rest.as_chunks::<8>();
        for (nth, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            let special = zeros(word ^ (ONES * u64::from(b'"')))
                | zeros(word ^ (ONES * u64::from(b'\\')))
                | (word.wrapping_sub(ONES * 0x20) & !word);
            self.beyond_ascii |= word & HIGHS != 0;
            if special & HIGHS != 0 {
                self.at += nth * 8 + (special & HIGHS).trailing_zeros() as usize / 8;
                return self.peek();
            }
        }
        self.at = self.text.len() - last.len();
        for byte in last {
            match byte {
                b'"' | b'\\' | 0..0x20 => return *byte,
                0x80.. => self.beyond_ascii = true,
                _ => {}
            }
            self.at += 1;
        }
        0
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 2;
        match self.text.get(self.at - 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(()),
            b'u' => match self.unit()? {
                0xD800..0xDC00 if self.take(b'\\') && self.take(b'u') => {
                    (0xDC00..0xE000).contains(&self.unit()?).then_some(())
                }
                0xD800..0xE000 => None,
                _ => Some(()),
            },
            _ => None,
        }
    }

    /// The four hex digits here.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.text.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |unit, digit| Some(unit * 16 + char::from(*digit).to_digit(16)?))
    }
}

impl Raw<'_> {
    fn text(&self) -> Option<Cow<'_, str>> {
        if !self.has_escapes {
            return std::str::from_utf8(self.bytes).ok().map(Cow::Borrowed);
        }
        match serde_json::from_slice(&[b"\"", self.bytes, b"\""].concat()) {
            Ok(Value::String(text)) => Some(Cow::Owned(text)),
            _ => None,
        }
    }
}

fn allows(rules: Option<&Rules>, one: Type) -> bool {
    rules.and_then(|rules| rules.types.as_ref()).is_none_or(|types| types.contains(one))
}

fn is_countable(rules: Option<&Rules>) -> bool {
    rules.is_none_or(|rules| rules.required.len() <= MOST_REQUIRED)
}

fn scalar_fits(rules: Option<&Rules>, value: &Value) -> bool {
    let Some(rules) = rules else { return true };
    rules.types.as_ref().is_none_or(|types| types.accepts(value)) && scalar(rules, value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::CompiledSchema;
    use super::*;

    fn accepts(schema: Value, text: impl AsRef<[u8]>) -> bool {
        CompiledSchema::compile(&schema).unwrap().accepts_text(text.as_ref())
    }

    #[test]
    fn what_is_no_plain_json_is_left_to_others() {
        for text in [
            "",
            " ",
            "{",
            "{}x",
            "{} {}",
            "[1,]",
            "{\"a\":1,}",
            "{,}",
            "[,]",
            "{\"a\"}",
            "{a:1}",
            "{\"a\" 1}",
            "[1 2]",
            "01",
            "-",
            "-01",
            "1.",
            ".5",
            "1e",
            "+1",
            "1e400",
            "-1e400",
            "1e+",
            "1.5.2",
            "nul",
            "nulll",
            "True",
            "NaN",
            "\"x\"",
            "[\"\n\"]",
            "[\"\u{1f}\"]",
            "[\"\\x\"]",
            "[\"\\u12\"]",
            "[\"\\u12g4\"]",
            "[\"\\u+123\"]",
            "[\"\\ud800\"]",
            "[\"\\ude00\"]",
            "[\"\\ud800\\n\"]",
            "[\"\\ud800\\ud800\"]",
            "[\"",
            "[\"\\",
            "[\"\\u",
            "[\"\\\"]",
            "[\"a]",
            "\u{feff}{}",
            "\u{a0}{}",
            "{}\0",
            "\0",
        ] {
            assert!(!accepts(json!(true), text), "{text}");
        }
        for text in [
            "{}",
            " \t\r\n{ } ",
            "[]",
            "[ ]",
            "0",
            "-0",
            "-0.0",
            "1.5e+3",
            "1E2",
            "123456789012345678901234567890",
            "null",
            "true",
            "false",
            "{\"a\" : [ 1 , -2 ] , \"b\":{}}",
            "[\"\u{7f}é😀\"]",
            "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\"]",
        ] {
            assert!(accepts(json!(true), text), "{text}");
            assert!(serde_json::from_slice::<Value>(text.as_bytes()).is_ok());
        }
        for bytes in
            [&b"[\"\xff\"]"[..], b"[\"\xed\xa0\x80\"]", b"[\"\xc3\"]", b"{\"\xc3\":1}", b"[\"12345678\x80\"]"]
        {
            assert!(!accepts(json!(true), bytes), "{bytes:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(accepts(json!(true), nested(MAX_DEPTH)));
        assert!(!accepts(json!(true), nested(MAX_DEPTH + 1)));
        assert!(!accepts(json!(true), "[".repeat(1_000_000)));
    }

    #[test]
    fn specials_are_found_wherever_they_stand() {
        // Bytes beside the limits, and those that a borrow could take for others.
        for ordinary in ["!", "#", "[", "]", " ", "\u{7f}", "\u{80}", "\u{a2}", "\u{ff}"] {
            for before in 0..20 {
                for after in 0..20 {
                    let inside = ordinary.repeat(before);
                    let rest = ordinary.repeat(after);
                    assert!(accepts(
                        json!({"items": {"maxLength": before + after}}),
                        format!("[\"{inside}{rest}\"]")
                    ));
                    assert!(accepts(json!(true), format!("[\"{inside}\\n{rest}\"]")));
                    for wrong in ["\u{0}", "\u{1f}", "\"", "\\ "] {
                        assert!(!accepts(json!(true), format!("[\"{inside}{wrong}{rest}\"]")));
                    }
                }
            }
        }
    }

    #[test]
    fn keys_are_found_in_any_order_and_spelling() {
        let names: Vec<String> = (0..40).map(|nth| format!("p{}", nth * 7 % 40)).collect();
        let properties: Value =
            names.iter().enumerate().map(|(nth, name)| (name.clone(), json!({"const": nth}))).collect();
        let schema = json!({"properties": properties, "required": ["p3", "p39", "other"], "additionalProperties": false});
        let mut open = schema.clone();
        open["additionalProperties"] = json!({"type": "boolean"});
        let text = |order: &mut dyn Iterator<Item = usize>, more: &str| {
            let entries: Vec<_> = order.map(|nth| format!("\"{}\":{nth}", names[nth])).collect();
            format!("{{{}{more}}}", entries.join(","))
        };
        for step in [1, 3, 7, 9, 39] {
            let mut order = (0..40).map(|nth| nth * step % 40);
            assert!(accepts(open.clone(), text(&mut order, r#","other":true"#)));
            let mut order = (0..40).map(|nth| nth * step % 40);
            assert!(!accepts(schema.clone(), text(&mut order, r#","other":true"#)));
        }
        assert!(accepts(open.clone(), r#"{"p\u0033":29,"\u0070\u00339":17,"\u006fther":false}"#));
        assert!(!accepts(open.clone(), r#"{"p\u0033":28,"p39":17,"other":false}"#));
        for one_missing in [r#"{"p3":29,"p39":17}"#, r#"{"p3":29,"p3":29,"other":true}"#, "{}"] {
            assert!(!accepts(open.clone(), one_missing), "{one_missing}");
        }
    }

    #[test]
    fn of_equal_keys_each_has_to_fit() {
        let schema = json!({"properties": {"a": {"type": "integer"}}});
        assert!(accepts(schema.clone(), r#"{"a":1,"a":2}"#));
        assert!(!accepts(schema.clone(), r#"{"a":1,"a":"2"}"#));
        assert!(!accepts(schema, r#"{"a":"1","a":2}"#));
        // As a whole it is looked at as it will be.
        let schema = json!({"enum": [{"a": 2}]});
        assert!(accepts(schema.clone(), r#"{"a":1,"a":2}"#));
        assert!(!accepts(schema, r#"{"a":2,"a":1}"#));
    }

    #[test]
    fn lengths_are_counted_in_characters() {
        for (schema, text, fits) in [
            (json!({"maxLength": 2}), "[\"😀😀\"]", true),
            (json!({"maxLength": 1}), "[\"😀😀\"]", false),
            (json!({"maxLength": 1}), r#"["\ud83d\ude00"]"#, true),
            (json!({"minLength": 2}), r#"["\ud83d\ude00"]"#, false),
            (json!({"minLength": 2}), r#"["\n\n"]"#, true),
            (json!({"minLength": 1}), r#"[""]"#, false),
            (json!({"minLength": 1}), r#"["a"]"#, true),
            (json!({"enum": ["é\n", 1]}), r#"["\u00e9\n",1.0]"#, true),
            (json!({"enum": ["é\n", 1]}), r#"["\u00e9"]"#, false),
        ] {
            assert_eq!(accepts(json!({"items": schema}), text), fits, "{text}");
        }
    }

    #[test]
    fn more_required_properties_than_are_counted() {
        let names: Vec<String> = (0..=MOST_REQUIRED).map(|nth| format!("p{nth:03}")).collect();
        let text = |names: &[String]| {
            names.iter().map(|name| (name.clone(), json!(1))).collect::<Value>().to_string()
        };
        assert!(accepts(json!({"required": names[1..]}), text(&names[1..])));
        assert!(!accepts(json!({"required": names[1..]}), text(&names[2..])));
        assert!(!accepts(json!({"required": names}), text(&names)), "it does not know");
    }
}
