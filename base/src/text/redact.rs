//! Secrets removed from texts: finished ones, rendered output as it comes, and raw bytes on their way to a file.
//!
//! There are two forms. **A list**: each occurrence of a secret becomes `[redacted]`, the longest first; occurrences that
//! overlap become one, so that of none of them a part is left. **A function** over whole lines, their LF included;
//! of a longer line it gets 64 KB at a time.
//!
//! What comes in parts is held back while it may still become a secret: of a list less than the longest secret, for a
//! function the line that has not ended.
//!
//! Not here: secrets in another form than they were given in, such as base64. Known are their line breaks as LF and as CR
//! LF, both as JSON has them, what a terminal would show of them and, in bytes, UTF-16. In bytes a secret with escape
//! sequences inside is none, in rendered text it is.

use std::fmt;
use std::mem;
use std::rc::Rc;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::tail::Tail;
use super::terminal::{Renderer, Sink, Stream};
use super::{lines, utf8};
use crate::table::sorted;

/// What a secret becomes.
pub const MARK: &str = "[redacted]";

/// Bytes of a line that are held for a function.
pub const MOST_HELD: usize = 64 * 1024;

/// A function over lines.
pub type LineFunction = Rc<dyn Fn(&str) -> String>;

/// What is to be hidden. Cheap to clone.
///
/// ```
/// use tackroom_base::text::redact::Redactor;
/// let redactor = Redactor::secrets(["pass", "password1"]);
/// assert_eq!(redactor.redact_whole("password1 pass").as_deref(), Some("[redacted] [redacted]"));
/// assert_eq!(redactor.redact_whole("passport").as_deref(), Some("[redacted]port"));
/// assert_eq!(redactor.redact_whole("nothing"), None);
/// ```
#[derive(Clone)]
pub struct Redactor(Form);

#[derive(Clone)]
enum Form {
    Secrets(Rc<Secrets>),
    Lines(LineFunction),
}

/// A list, in every form in which a text may have them.
struct Secrets {
    forms: Vec<String>,
    patterns: Patterns,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// Hides these texts. Empty ones are ignored.
    pub fn secrets<S: Into<String>>(secrets: impl IntoIterator<Item = S>) -> Self {
        Self::of(secrets.into_iter().map(Into::into).collect())
    }

    fn of(secrets: Vec<String>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        for secret in secrets {
            let lf = secret.replace("\r\n", "\n");
            let (mut renderer, mut rendered) = (Renderer::default(), String::new());
            // What is left of one that would be rewritten itself may be in every text.
            if !lf.contains(|c| matches!(c, '\r' | '\x1B' | '\u{80}'..='\u{9F}')) {
                renderer.push(&lf, Stream::Stdout, &mut rendered);
            }
            // Of a secret in control characters nothing would be left but what is in every text.
            let is_blank = lf.trim().is_empty();
            let json = lf.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            for form in [json.replace("\\n", "\\r\\n"), json, lf.replace('\n', "\r\n"), lf, rendered] {
                if !is_blank && !form.trim().is_empty() && !forms.contains(&form) {
                    forms.push(form);
                }
            }
            if !secret.is_empty() && !forms.contains(&secret) {
                forms.push(secret);
            }
        }
        let patterns = Patterns::new(&forms, &[Mark::Utf8]);
        Redactor(Form::Secrets(Rc::new(Secrets { forms, patterns })))
    }

    /// Hides what the function does not return. It gets lines, each with its LF, and must return the LF, too; a line
    /// of more than 64 KB in parts.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use tackroom_base::text::redact::Redactor;
    /// let redactor = Redactor::lines(Rc::new(|line| line.replace("id=7", "id=_")));
    /// assert_eq!(redactor.redact_whole("a\nid=7\n").as_deref(), Some("a\nid=_\n"));
    /// ```
    pub fn lines(function: LineFunction) -> Self {
        Redactor(Form::Lines(function))
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Form::Secrets(secrets) if secrets.forms.is_empty())
    }

    /// A finished text without secrets; None where there is none in it.
    pub fn redact_whole(&self, text: &str) -> Option<String> {
        match &self.0 {
            Form::Secrets(secrets) => secrets.patterns.redact(text),
            Form::Lines(function) => redact_lines(function, text),
        }
    }
}

fn redact_lines(function: &LineFunction, text: &str) -> Option<String> {
    let (mut redacted, mut is_changed) = (String::new(), false);
    for line in lines::ranges(text.as_bytes()) {
        let mut line = &text[line];
        while !line.is_empty() {
            let (part, rest) = line.split_at(utf8::floor_boundary(line.as_bytes(), MOST_HELD));
            let shown = function(part);
            is_changed |= shown != part;
            redacted.push_str(&shown);
            line = rest;
        }
    }
    is_changed.then_some(redacted)
}

/// What is sought, in bytes, and what each becomes.
#[derive(Clone, Debug)]
struct Patterns(Vec<(memmem::Finder<'static>, Mark)>);

/// In which encoding a secret is, and what it becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Mark {
    fn encode(self, text: &str) -> Vec<u8> {
        match self {
            Mark::Utf8 => text.as_bytes().to_vec(),
            Mark::Utf16Le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Mark::Utf16Be => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        }
    }
}

/// Part of a text that has been decided on.
enum Piece {
    /// From where to where it is shown.
    Text(usize, usize),
    /// Where a secret is.
    Secret { from: usize, to: usize, mark: Mark },
    /// Where one is that overlaps the one before, and by how much it is longer.
    More { from: usize, to: usize, longer: usize, mark: Mark },
}

impl Patterns {
    fn new(secrets: &[String], marks: &[Mark]) -> Self {
        let finder = |secret: &str, mark: Mark| memmem::Finder::new(&mark.encode(secret)).into_owned();
        let forms = |mark: &Mark| secrets.iter().map(|secret| (finder(secret, *mark), *mark)).collect();
        Patterns(marks.iter().flat_map(|mark| -> Vec<_> { forms(mark) }).collect())
    }

    /// Decides on a text, of which so many bytes at the start belong to the secret before. Answers how much of it is
    /// decided, which is all where it `is_all` there will be, and how many bytes after that belong to the secret
    /// before.
    fn walk(&self, text: &[u8], covered: usize, is_all: bool, mut take: impl FnMut(Piece)) -> (usize, usize) {
        let decided = if is_all { text.len() } else { self.undecided(text) };
        let mut at = covered;
        for (from, to, mark) in self.occurrences(text) {
            if from >= decided {
                break;
            }
            if from < at {
                take(Piece::More { from, to, longer: to.saturating_sub(at), mark });
            } else {
                if from > at {
                    take(Piece::Text(at, from));
                }
                take(Piece::Secret { from, to, mark });
            }
            at = at.max(to);
        }
        if at < decided {
            take(Piece::Text(at, decided));
            at = decided;
        }
        (decided, at - decided)
    }

    /// A whole text, in UTF-8, without secrets; None where there is none in it.
    fn redact(&self, text: &str) -> Option<String> {
        let (mut redacted, mut is_changed) = (String::new(), false);
        self.walk(text.as_bytes(), 0, true, |piece| match piece {
            Piece::Text(from, to) => redacted.push_str(&text[from..to]),
            Piece::Secret { .. } => {
                is_changed = true;
                redacted.push_str(MARK);
            }
            Piece::More { .. } => {}
        });
        is_changed.then_some(redacted)
    }

    /// From where to where there are secrets, in the order of their starts.
    fn occurrences(&self, text: &[u8]) -> Vec<(usize, usize, Mark)> {
        let mut found = Vec::new();
        for (finder, mark) in &self.0 {
            let mut from = 0;
            while let Some(at) = finder.find(&text[from..]) {
                let start = from + at;
                found.push((start, start + finder.needle().len(), *mark));
                from = start + 1;
            }
        }
        if found.len() < 2 { found } else { sorted(found) }
    }

    /// Where the longest end of the text begins that may become a secret.
    fn undecided(&self, text: &[u8]) -> usize {
        self.0.iter().fold(text.len(), |least, (finder, _)| {
            let secret = finder.needle();
            let from = text.len().saturating_sub(secret.len() - 1);
            memchr_iter(secret[0], &text[from..least.max(from)])
                .map(|at| from + at)
                .find(|&at| secret.starts_with(&text[at..]))
                .unwrap_or(least)
        })
    }
}

/// What lies between rendered text and its tail.
#[derive(Clone)]
pub(super) struct Stencil {
    how: Form,
    /// What is not decided yet.
    held: String,
    /// So many bytes of it belong to the secret before.
    covered: usize,
}

impl fmt::Debug for Stencil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stencil")
    }
}

impl Stencil {
    pub fn new(redactor: Redactor) -> Self {
        Stencil { how: redactor.0, held: String::new(), covered: 0 }
    }

    /// More text.
    pub fn text(&mut self, text: &str, tail: &mut Tail) {
        match &self.how {
            Form::Lines(function) => lines_through(function, &mut self.held, text, tail),
            Form::Secrets(_) if self.held.is_empty() => self.decide(text, false, tail),
            Form::Secrets(_) => {
                let mut all = mem::take(&mut self.held);
                all.push_str(text);
                self.decide(&all, false, tail);
            }
        }
    }

    fn decide(&mut self, text: &str, is_all: bool, tail: &mut Tail) {
        let Form::Secrets(secrets) = &self.how else { return };
        let (decided, covered) = secrets.patterns.walk(text.as_bytes(), self.covered, is_all, |piece| {
            let (from, to) = match piece {
                Piece::Text(from, to) => return tail.text(&text[from..to]),
                Piece::Secret { from, to, .. } => {
                    tail.text(MARK);
                    (from, to)
                }
                Piece::More { from, to, .. } => (from, to),
            };
            // The line that it began in has ended.
            if memchr(b'\n', &text.as_bytes()[from..to]).is_some() {
                tail.fix();
            }
        });
        self.held.push_str(&text[decided..]);
        self.covered = covered;
    }

    /// The open line is no more.
    pub fn restart(&mut self, tail: &mut Tail) {
        match memrchr(b'\n', self.held.as_bytes()) {
            Some(lf) => self.held.truncate(lf + 1),
            None => {
                self.held.clear();
                tail.restart();
            }
        }
        self.covered = self.covered.min(self.held.len());
    }

    /// What is held is decided as it is.
    pub fn finish(&mut self, tail: &mut Tail) {
        let held = mem::take(&mut self.held);
        match &self.how {
            Form::Lines(function) if !held.is_empty() => through(function, &held, tail),
            Form::Lines(_) => {}
            Form::Secrets(_) => self.decide(&held, true, tail),
        }
    }

    /// Looks again, at what is shown. Not with a function, which has seen it all in lines.
    pub fn redact_cut(&self, text: &str) -> Option<String> {
        match &self.how {
            Form::Secrets(secrets) => secrets.patterns.redact(text),
            Form::Lines(_) => None,
        }
    }
}

/// Lines that end go through the function, the one that does not is held.
fn lines_through(function: &LineFunction, held: &mut String, mut text: &str, tail: &mut Tail) {
    while !text.is_empty() {
        let room = MOST_HELD - held.len();
        let window = &text.as_bytes()[..room.min(text.len())];
        let end = match memchr(b'\n', window) {
            Some(lf) => lf + 1,
            None if text.len() < room => {
                held.push_str(text);
                return;
            }
            None => utf8::floor_boundary(text.as_bytes(), room),
        };
        let (part, rest) = text.split_at(end);
        text = rest;
        if held.is_empty() {
            through(function, part, tail);
        } else {
            held.push_str(part);
            through(function, held, tail);
            held.clear();
        }
    }
}

fn through(function: &LineFunction, line: &str, tail: &mut Tail) {
    let shown = function(line);
    if !shown.is_empty() {
        tail.text(&shown);
    }
    if line.ends_with('\n') && !shown.ends_with('\n') {
        tail.fix();
    }
}

/// Secrets removed from bytes that come in parts: UTF-8 or UTF-16, or anything around them.
///
/// The function form gets lines decoded as UTF-8; a line that it does not change stays as it is, byte for byte.
///
/// ```
/// use tackroom_base::text::redact::{RawRedactor, Redactor};
/// let mut redactor = RawRedactor::new(Redactor::secrets(["hunter2"]));
/// assert_eq!(redactor.push(b"\xFF hun"), b"\xFF ");
/// assert_eq!(redactor.push(b"ter2, hun"), b"[redacted], ");
/// assert_eq!(redactor.finish(), b"hun");
/// ```
#[derive(Clone)]
pub struct RawRedactor {
    how: RawForm,
    held: Vec<u8>,
    covered: usize,
}

#[derive(Clone)]
enum RawForm {
    Secrets(Patterns),
    Lines(LineFunction),
}

impl fmt::Debug for RawRedactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawRedactor")
    }
}

impl RawRedactor {
    /// Nothing yet.
    pub fn new(redactor: Redactor) -> Self {
        let marks = [Mark::Utf8, Mark::Utf16Le, Mark::Utf16Be];
        let how = match redactor.0 {
            Form::Secrets(secrets) => RawForm::Secrets(Patterns::new(&secrets.forms, &marks)),
            Form::Lines(function) => RawForm::Lines(function),
        };
        RawRedactor { how, held: Vec::new(), covered: 0 }
    }

    /// Takes the next bytes, and gives those that are decided.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.take(bytes, false)
    }

    /// Gives what was held.
    pub fn finish(&mut self) -> Vec<u8> {
        self.take(b"", true)
    }

    fn take(&mut self, bytes: &[u8], is_all: bool) -> Vec<u8> {
        let mut all = mem::take(&mut self.held);
        let bytes = if all.is_empty() {
            bytes
        } else {
            all.extend_from_slice(bytes);
            &all
        };
        let mut out = Vec::new();
        match &self.how {
            RawForm::Lines(function) => {
                let rest = raw_lines(function, bytes, is_all, &mut out);
                self.held = rest.to_vec();
            }
            RawForm::Secrets(patterns) => {
                let (decided, covered) = patterns.walk(bytes, self.covered, is_all, |piece| match piece {
                    Piece::Text(from, to) => out.extend_from_slice(&bytes[from..to]),
                    Piece::Secret { mark, .. } => out.extend_from_slice(&mark.encode(MARK)),
                    // Between ASCII characters a secret is there in both orders of bytes, one byte apart. So is the
                    // mark, with the byte that makes an odd number of them even.
                    Piece::More { longer, mark, .. } if mark != Mark::Utf8 && longer % 2 == 1 => out.push(0),
                    Piece::More { .. } => {}
                });
                self.held = bytes[decided..].to_vec();
                self.covered = covered;
            }
        }
        out
    }
}

/// The lines of `bytes` through the function, and what is left of them, which is nothing where it `is_all`.
fn raw_lines<'a>(function: &LineFunction, mut bytes: &'a [u8], is_all: bool, out: &mut Vec<u8>) -> &'a [u8] {
    while !bytes.is_empty() {
        let window = &bytes[..bytes.len().min(MOST_HELD)];
        let end = match memchr(b'\n', window) {
            Some(lf) => lf + 1,
            None if window.len() < MOST_HELD && !is_all => return bytes,
            None => utf8::floor_boundary(bytes, MOST_HELD),
        };
        let (line, rest) = bytes.split_at(end);
        let text = utf8::to_text(line);
        let shown = function(&text);
        out.extend_from_slice(if shown == text { line } else { shown.as_bytes() });
        bytes = rest;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::accumulator::Accumulator;
    use super::super::truncate::Limits;
    use super::*;

    fn accumulated(redactor: &Redactor, parts: &[&str]) -> Accumulator {
        let mut output = Accumulator::new(Limits::default()).redacting(redactor.clone());
        parts.iter().for_each(|part| output.push(part.as_bytes(), Stream::Stdout));
        output
    }

    #[test]
    fn overlapping_prefixed_and_empty_secrets() {
        let redact = |secrets: &[&str], text: &str| {
            Redactor::secrets(secrets.iter().copied()).redact_whole(text).unwrap_or_default()
        };
        assert_eq!(
            redact(&["abc", "", "abcdef"], "abcdef abcd abcabc"),
            "[redacted] [redacted]d [redacted][redacted]"
        );
        assert_eq!(redact(&["abcd", "cdef"], "-abcdef-"), "-[redacted]-");
        assert_eq!(redact(&["a.*b", "é\n\"ü"], "axb a.*b é\n\"ü"), "axb [redacted] [redacted]");
        assert_eq!(redact(&["one\r\ntwo"], "one\ntwo, one\r\ntwo"), "[redacted], [redacted]");
        assert_eq!(redact(&["k\0ey\x07", "ab\rx", "\r\n"], "key, x, ab\rx\n"), "[redacted], x, [redacted]\n");
        assert_eq!(
            redact(&["p\"a\\s\ns", "\n"], r#"{"a":"p\"a\\s\ns\n, p\"a\\s\r\ns"}"#),
            r#"{"a":"[redacted]\n, [redacted]"}"#
        );
        assert!(Redactor::secrets([""]).is_empty() && redact(&[], "a").is_empty());
    }

    #[test]
    fn a_secret_in_parts_is_never_seen() {
        let redactor = Redactor::secrets(["hunter2", "hunter2000"]);
        let parts = ["my hun", "\x1B[1mter", "2\x1B[0m", "!\n"];
        for shown in 0..=parts.len() {
            let output = accumulated(&redactor, &parts[..shown]);
            let want = ["", "my ", "my ", "my ", "my [redacted]!\n"][shown];
            assert_eq!(output.snapshot().content, want);
        }
        let mut output = accumulated(&redactor, &["my hunter2"]);
        assert_eq!(output.snapshot().content, "my ");
        output.finish();
        assert_eq!(output.snapshot().content, "my [redacted]");
        let mut output = accumulated(&redactor, &["my hun"]);
        output.finish();
        assert_eq!(output.snapshot().content, "my hun");
    }

    #[test]
    fn a_line_that_is_thrown_away() {
        let redactor = Redactor::secrets(["hunter2", "x\ny"]);
        assert_eq!(accumulated(&redactor, &["1\nhun", "\rter2 ."]).snapshot().content, "1\nter2 .");
        // The secret's line has ended, and what is rewritten is the one after it.
        assert_eq!(accumulated(&redactor, &["1 x\ny2", "\r3"]).snapshot().content, "1 [redacted]3");
        assert_eq!(accumulated(&redactor, &["1 x\n", "\r3"]).snapshot().content, "1 x\n3");
    }

    #[test]
    fn lines_through_a_function() {
        let redactor = Redactor::lines(Rc::new(|line| {
            assert!(line.ends_with('\n') || line.len() == MOST_HELD || line == "the end");
            line.replace("id=7", "id=_")
        }));
        let mut output = accumulated(&redactor, &["a id=", "7\nb id=7\nc i", "d=7"]);
        assert_eq!(output.snapshot().content, "a id=_\nb id=_\n");
        output.push(format!("\n{}", "x".repeat(100_000)).as_bytes(), Stream::Stdout);
        assert_eq!(output.totals().bytes, 21 + MOST_HELD as u64);
        output.push(b"\rthe end", Stream::Stdout);
        output.finish();
        output.finish();
        assert_eq!(output.snapshot().content, "a id=_\nb id=_\nc id=_\nthe end");
    }

    #[test]
    fn raw_bytes() {
        let redactor = Redactor::secrets(["pä"]);
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let bytes = [&utf16("a pä b")[..], b"\xFF", "pä p".as_bytes()].concat();
        let want = [&utf16("a [redacted] b")[..], b"\xFF[redacted] p"].concat();
        for size in 1..bytes.len() {
            let mut raw = RawRedactor::new(redactor.clone());
            let mut out: Vec<u8> = bytes.chunks(size).flat_map(|part| raw.push(part)).collect();
            out.extend(raw.finish());
            assert_eq!(out, want, "in parts of {size}");
        }
        let mut raw = RawRedactor::new(Redactor::lines(Rc::new(|line| line.replace("id=7", "id=_"))));
        assert_eq!(raw.push(b"\xFF id=8\nid=7 \xFF\nid"), b"\xFF id=8\nid=_ \xEF\xBF\xBD\n");
        assert_eq!(raw.finish(), b"id");
    }
}
