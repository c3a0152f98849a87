//! What to look for: a regular expression as `rg --crlf` reads it, or a text.

use std::ops::Range;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use memchr::{memchr, memrchr};
use regex_syntax::ast::{self, parse::Parser};
use regex_syntax::hir::translate::TranslatorBuilder;

use super::caseless::Caseless;
use super::{MOST_PATTERN_BYTES, invalid, quoted};
use crate::error::ToolError;
use crate::text::truncate::format_size;

/// The most that a compiled pattern may take, in bytes.
const MOST_COMPILED_BYTES: usize = 16 << 20;
/// What the states of an automaton may take that is built as it is used; beyond that it begins again.
const MOST_STATES_BYTES: usize = 8 << 20;

/// A pattern that lines are matched against, each without its end.
///
/// The syntax is that of Rust's regex crate, with Unicode; `^` and `$` are the ends of a line, also where it ends in
/// CR LF. The time that a search takes is linear in the size of what is searched.
#[derive(Clone, Debug)]
pub struct Pattern {
    matcher: RegexMatcher,
    /// Whether it can be looked for in many lines at once.
    is_for_lines: bool,
    /// What is in every line that matches.
    required: Option<Caseless>,
}

impl Pattern {
    /// Compiles it.
    ///
    /// # Errors
    /// `invalid_pattern`, which says where and what to do.
    ///
    /// ```
    /// use tackroom::search::pattern::Pattern;
    /// let pattern = Pattern::compile("foo$", false, false).unwrap();
    /// assert_eq!(pattern.next_line(b"foot\nfoo\r\nfoo", 0), Some(5..10));
    /// assert!(Pattern::compile("foo(", false, false).is_err());
    /// assert!(Pattern::compile("foo(", false, true).is_ok());
    /// ```
    pub fn compile(pattern: &str, ignore_case: bool, literal: bool) -> Result<Pattern, ToolError> {
        if pattern.len() > MOST_PATTERN_BYTES {
            let size = format_size(pattern.len() as u64);
            let most = format_size(MOST_PATTERN_BYTES as u64);
            let start = quoted(pattern);
            return Err(invalid(format!("The pattern is {size} long, expected at most {most}: {start}")));
        }
        if pattern.contains(['\n', '\r']) {
            return Err(line_break(pattern));
        }
        if !literal {
            check(pattern)?;
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .crlf(true)
            .case_insensitive(ignore_case)
            .fixed_strings(literal)
            .size_limit(MOST_COMPILED_BYTES)
            .dfa_size_limit(MOST_STATES_BYTES);
        let matcher = builder.build(pattern).map_err(|error| match error.kind() {
            ErrorKind::NotAllowed(_) => line_break(pattern),
            _ if error.to_string().contains("size limit") => invalid(format!(
                "The pattern {} is too large once its repetitions are written out. Use smaller counts, or * and +",
                quoted(pattern)
            )),
            _ => invalid(format!("Invalid pattern {}: {error}. {WAY_OUT}", quoted(pattern))),
        })?;
        let is_for_lines = matcher.line_terminator().is_some()
            || matcher.non_matching_bytes().is_some_and(|bytes| bytes.contains(b'\n'));
        // Without regard to case, the matcher looks at every byte.
        let required = if ignore_case { Caseless::of(pattern, literal) } else { None };
        Ok(Pattern { matcher, is_for_lines, required })
    }

    /// The next line that matches, with its end; of lines that begin at or after `from`, where a line begins.
    pub fn next_line(&self, bytes: &[u8], from: usize) -> Option<Range<usize>> {
        let mut at = from;
        while at < bytes.len() {
            if let Some(required) = &self.required {
                let line = line_at(bytes, at + required.find(&bytes[at..])?);
                if self.find(&bytes[line.clone()]).is_some() {
                    return Some(line);
                }
                at = line.end;
                continue;
            }
            if !self.is_for_lines {
                let line = line_at(bytes, at);
                if self.find(&bytes[line.clone()]).is_some() {
                    return Some(line);
                }
                at = line.end;
                continue;
            }
            let found = self.matcher.find_candidate_line(&bytes[at..]).ok().flatten();
            let (LineMatchKind::Confirmed(offset) | LineMatchKind::Candidate(offset)) = found?;
            let line = line_at(bytes, at + offset);
            // An empty match after the last line's end is in no line.
            if line.start == bytes.len() {
                return None;
            }
            // Whatever was found may be nothing, or be in the CR that ends a line.
            if self.find(&bytes[line.clone()]).is_some() {
                return Some(line);
            }
            at = line.end;
        }
        None
    }

    /// Where it first matches in a line.
    pub fn find(&self, line: &[u8]) -> Option<Range<usize>> {
        // It cannot fail.
        let found = self.matcher.find(without_end(line)).ok().flatten();
        found.map(|found| found.start()..found.end())
    }
}

/// The line around a place, with its end.
fn line_at(bytes: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &bytes[..at]).map_or(0, |lf| lf + 1);
    let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |lf| at + lf + 1);
    start..end
}

/// A line without the LF that ends it, and without a CR before that, or at the end of the file.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

const WAY_OUT: &str = "To search for the text as it is, set literal: true";

fn line_break(pattern: &str) -> ToolError {
    invalid(format!(
        "The pattern {} has a line break, and lines are matched one by one, without their ends: search for a part \
         that is within one line",
        quoted(&pattern.replace('\n', "\\n").replace('\r', "\\r"))
    ))
}

/// Refuses what is no regular expression, with the place: the matcher's own errors do not tell it.
fn check(pattern: &str) -> Result<(), ToolError> {
    let parsed = Parser::new().parse(pattern);
    let (what, span) = match &parsed {
        Ok(ast) => match TranslatorBuilder::new().utf8(false).build().translate(pattern, ast) {
            Ok(_) => return Ok(()),
            Err(error) => (error.kind().to_string(), *error.span()),
        },
        Err(error) => (explained(error.kind()), *error.span()),
    };
    let column = pattern[..span.start.offset.min(pattern.len())].chars().count() + 1;
    let found: String = pattern[span.start.offset..].chars().take(20).collect();
    let found = if found.is_empty() { "the end".to_owned() } else { format!("\"{found}\"") };
    Err(invalid(format!(
        "Invalid regular expression {} at character {column} ({found}): {what}. {WAY_OUT}; to keep the rest a \
         regular expression, write \\ before a character that is meant as it is",
        quoted(pattern)
    )))
}

fn explained(kind: &ast::ErrorKind) -> String {
    match kind {
        ast::ErrorKind::UnsupportedLookAround => {
            "look-around (such as (?=, (?! and (?<=) is not supported in this syntax (Rust's). Search for the part \
             without it"
                .into()
        }
        ast::ErrorKind::UnsupportedBackreference => {
            "back-references (such as \\1) are not supported in this syntax (Rust's). Search for the part without it"
                .into()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    fn lines(pattern: &str, text: &str) -> Vec<String> {
        let pattern = Pattern::compile(pattern, false, false).unwrap();
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(line) = pattern.next_line(text.as_bytes(), at) {
            found.push(text[line.clone()].trim_end().to_owned());
            at = line.end;
        }
        found
    }

    #[test]
    fn lines_match_as_with_ripgrep() {
        for (pattern, text, expected) in [
            ("foo|bar", "foo\nbar\nbaz\n", &["foo", "bar"][..]),
            ("^b", "ab\nb\n", &["b"]),
            ("foo$", "foo\r\nfood\r\nfoo", &["foo", "foo"]),
            ("^$", "a\n\nb\r\n\r\nc\r", &["", ""]),
            ("", "a\nb\n", &["a", "b"]),
            ("a.b", "a\nb\na\rb\naxb\n", &["axb"]),
            ("a\\s+b", "a\nb\na \tb\n", &["a \tb"]),
            ("[^x]y", "\ny\nay\n", &["ay"]),
            ("\\Ab", "a\nb\n", &["b"]),
            ("b\\z", "ab\nbc\n", &["ab"]),
            ("\\bé\\b", "é\née\n", &["é"]),
            ("(?i)É", "é\n", &["é"]),
            ("\\w{3}foo\\d", "abcfoox\nabcfoo1\n", &["abcfoo1"]),
            ("\\p{Greek}", "a\nλ\n", &["λ"]),
            ("x*", "a\n", &["a"]),
        ] {
            assert_eq!(lines(pattern, text), expected, "{pattern:?} in {text:?}");
        }
    }

    #[test]
    fn case_and_literals() {
        let find = |pattern: &str, ignore_case, literal, text: &str| {
            Pattern::compile(pattern, ignore_case, literal).unwrap().find(text.as_bytes())
        };
        assert_eq!(find("foo()", false, true, "a foo()"), Some(2..7));
        assert_eq!(find("FOO()", true, true, "a foo()"), Some(2..7));
        assert_eq!(find("straße", true, false, "STRAßE"), Some(0..7));
        assert_eq!(find("i++", false, true, "i++"), Some(0..3));
    }

    #[test]
    fn without_regard_to_case_the_same_lines_match() {
        let text =
            "Stra\u{17F}\u{17F}e KELVIN\n\u{212A}elvin nEEdle\nneedle\r\nNEEDL\nsnEEdLeK\nelvinneed le\n";
        for (pattern, literal, expected) in [
            ("needle", false, &["\u{212A}elvin nEEdle", "needle", "snEEdLeK"][..]),
            ("kelvin", true, &["Stra\u{17F}\u{17F}e KELVIN", "\u{212A}elvin nEEdle"]),
            ("^needle$", false, &["needle"]),
            ("strasse", false, &["Stra\u{17F}\u{17F}e KELVIN"]),
            (
                "needle|kelvin$",
                false,
                &["Stra\u{17F}\u{17F}e KELVIN", "\u{212A}elvin nEEdle", "needle", "snEEdLeK"],
            ),
            ("(need)?le", false, &["\u{212A}elvin nEEdle", "needle", "snEEdLeK", "elvinneed le"]),
            ("(?-i)nEEdle", false, &["\u{212A}elvin nEEdle"]),
            ("need[ ]?le", false, &["\u{212A}elvin nEEdle", "needle", "snEEdLeK", "elvinneed le"]),
            ("(?x) need le", false, &["\u{212A}elvin nEEdle", "needle", "snEEdLeK"]),
        ] {
            let compiled = Pattern::compile(pattern, true, literal).unwrap();
            let plain = Pattern { required: None, ..compiled.clone() };
            for pattern in [&compiled, &plain] {
                let (mut found, mut at) = (Vec::new(), 0);
                while let Some(line) = pattern.next_line(text.as_bytes(), at) {
                    found.push(text[line.clone()].trim_end());
                    at = line.end;
                }
                assert_eq!(found, expected, "{pattern:?}");
            }
        }
    }

    #[test]
    fn what_does_not_compile_is_said_with_its_place() {
        for (pattern, place) in [
            ("foo(", "at character 4 (\"(\")"),
            ("é[", "at character 2"),
            ("a(?=b)", "look-around"),
            ("(a)\\1", "back-references"),
            ("a{2,1}", "at character 2"),
            ("\\p{Nonsense}", "at character 1"),
            ("*a", "at character 1"),
            ("a\nb", "line break"),
            ("a\\nb", "line break"),
            ("\\r\\n", "line break"),
            ("((a{200}){200}){200}", "too large"),
            (&"(".repeat(60_000), "at character"),
            (&"a".repeat(10_000_000), "9.5MB long"),
        ] {
            let error = Pattern::compile(pattern, false, false).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidPattern);
            assert!(error.message.contains(place) && error.message.len() < 800, "{error}");
        }
        let error = Pattern::compile("foo(", false, false).unwrap_err();
        assert!(error.message.contains("literal: true"), "{error}");
    }

    #[test]
    fn repeated_repetitions_take_no_time() {
        let text = format!("{}!", "a".repeat(100_000));
        assert_eq!(lines("(a+)+$", &text), [""; 0]);
        assert_eq!(lines("(a*)*b", &text), [""; 0]);
    }
}
