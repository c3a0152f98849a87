//! What else a path may mean, as text: models put an `@` before it, quote it, escape it for a shell that is not
//! there, write it as a URL or with backslashes.
//!
//! Nothing here decides. The forms are looked for in order, the path as it was written before all others, and only
//! what exists counts; see [`crate::tools`] for files that do not exist yet.

use crate::error::{ErrorCode, ToolError};

/// The most forms of one path; more than any path that is not made to have them.
const MOST: usize = 24;

/// The forms of a path besides the one that was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forms {
    /// In the order in which they are to be looked for; never the path itself, never empty. Backslashes as slashes
    /// come last.
    pub others: Vec<String>,
    /// What to say where none of them exists: the path is a URL that names no file here, or `~` has no meaning.
    pub refusal: Option<ToolError>,
}

/// The forms of `asked`; those with `~` need a home directory.
///
/// ```
/// use tackroom::path::forms;
/// assert_eq!(forms("@src/a.ts", None).others, ["src/a.ts"]);
/// assert_eq!(forms("\"~/a b.txt\"", Some("/home/u")).others, ["~/a b.txt", "/home/u/a b.txt"]);
/// assert_eq!(forms("file:///project/a%20b.txt", None).others, ["/project/a b.txt"]);
/// assert!(forms("src/a.ts", None).others.is_empty());
/// ```
pub fn forms(asked: &str, home: Option<&str>) -> Forms {
    let mut found = Forms::default();
    collect(asked, &mut found.others, |text, forms| {
        match prefix(text, home) {
            Some(Prefix::Mention(rest)) => forms.push(rest.to_owned()),
            Some(Prefix::Means(path)) => forms.push(path),
            Some(Prefix::Refused(error)) => found.refusal = found.refusal.take().or(Some(error)),
            None => {}
        }
        forms.extend(unwrapped_once(text));
    });
    found
}

/// The forms that leave a prefix alone: trimmed, unquoted, unescaped, with slashes for backslashes.
pub fn unwrapped(asked: &str) -> Vec<String> {
    let mut found = Vec::new();
    collect(asked, &mut found, |text, forms| forms.extend(unwrapped_once(text)));
    found
}

/// All that `step` leads to from `asked`, breadth first; then the same from where backslashes are slashes.
fn collect(asked: &str, found: &mut Vec<String>, mut step: impl FnMut(&str, &mut Vec<String>)) {
    let add = |text: String, found: &mut Vec<String>| {
        if found.len() < MOST && !text.is_empty() && text != asked && !found.contains(&text) {
            found.push(text);
        }
    };
    let mut next = Vec::new();
    step(asked, &mut next);
    let mut looked_at = 0;
    let mut has_slashed = false;
    loop {
        next.drain(..).for_each(|text| add(text, found));
        if looked_at == found.len() {
            if std::mem::replace(&mut has_slashed, true) {
                break;
            }
            let known = std::iter::once(asked).chain(found.iter().map(String::as_str));
            next.extend(known.filter(|text| text.contains('\\')).map(|text| text.replace('\\', "/")));
            continue;
        }
        step(&found[looked_at].clone(), &mut next);
        looked_at += 1;
    }
}

/// Blanks around it gone, quotes around it gone, a shell's escapes gone: each by itself.
fn unwrapped_once(text: &str) -> impl Iterator<Item = String> {
    let trimmed = text.trim();
    let trimmed = (trimmed.len() != text.len()).then(|| trimmed.to_owned());
    let quoted = ['"', '\'', '`']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .map(ToOwned::to_owned);
    let escapes = has_escape(text).then(|| unescaped(text));
    [trimmed, quoted, escapes].into_iter().flatten()
}

/// Whether a backslash stands before what a shell needs one for. Before a letter it is a separator.
fn has_escape(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if(needs_escape).is_some() {
            return true;
        }
    }
    false
}

/// Whether a shell needs it escaped. Letters of all scripts are more tables than this is worth.
fn needs_escape(c: &char) -> bool {
    if c.is_ascii() { !c.is_ascii_alphanumeric() } else { c.is_whitespace() }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.next_if(|next| c == '\\' && needs_escape(next))) {
            ('\\', Some(escaped)) => out.push(escaped),
            _ => out.push(c),
        }
    }
    out
}

/// What the beginning of a path says of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Prefix<'a> {
    /// `@`, the mark of a mention; what follows it.
    Mention(&'a str),
    /// `~` or a URL, and the path that it stands for.
    Means(String),
    /// `~` or a URL that stands for nothing here.
    Refused(ToolError),
}

/// What the beginning of a path says of it, if anything.
///
/// ```
/// use tackroom::path::{Prefix, prefix};
/// assert_eq!(prefix("@a", None), Some(Prefix::Mention("a")));
/// assert_eq!(prefix("~/a", Some("/home/u")), Some(Prefix::Means("/home/u/a".into())));
/// assert!(matches!(prefix("~/a", None), Some(Prefix::Refused(_))));
/// assert_eq!(prefix("~a", None), None);
/// ```
pub fn prefix<'a>(text: &'a str, home: Option<&str>) -> Option<Prefix<'a>> {
    if let Some(rest) = text.strip_prefix('@').filter(|rest| !rest.is_empty()) {
        return Some(Prefix::Mention(rest));
    }
    if let Some(rest) = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')) {
        return Some(match home {
            Some(home) => Prefix::Means(format!("{}{rest}", home.trim_end_matches('/'))).or_root(),
            None => Prefix::Refused(ToolError::new(
                ErrorCode::NotFound,
                format!(
                    "Path not found: {} (~ means nothing here: this environment has no home directory)",
                    cut(text)
                ),
            )),
        });
    }
    let is_url = text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("file:/"));
    is_url.then(|| match file_url(&text["file:".len()..]) {
        Ok(path) => Prefix::Means(path),
        Err(reason) => Prefix::Refused(invalid(reason, text)),
    })
}

impl Prefix<'_> {
    /// A home that is `/` leaves nothing of `~`.
    fn or_root(self) -> Self {
        match self {
            Prefix::Means(path) if path.is_empty() => Prefix::Means("/".into()),
            other => other,
        }
    }
}

fn invalid(reason: &str, text: &str) -> ToolError {
    ToolError::new(ErrorCode::InvalidPath, format!("{reason}: {}", cut(text)))
}

fn cut(text: &str) -> &str {
    &text[..text.char_indices().nth(200).map_or(text.len(), |(at, _)| at)]
}

/// The path of a file URL (RFC 8089), from after its scheme. A query and a fragment are no part of it.
fn file_url(rest: &str) -> Result<String, &'static str> {
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err("The file URL names another host, expected file:///PATH");
            }
            if path.is_empty() { "/" } else { path }
        }
    };
    let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else {
            return Err("The file URL has a % without two hexadecimal digits after it");
        };
        match (high * 16 + low) as u8 {
            0 => return Err("The file URL has an encoded NUL, which no file name can have"),
            b'/' => return Err("The file URL has an encoded slash, which no file name can have"),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).map_err(|_| "The file URL does not decode to UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_come_in_order() {
        for (asked, expected) in [
            ("a.txt", &[][..]),
            ("@types/a.d.ts", &["types/a.d.ts"]),
            ("@@types/a.d.ts", &["@types/a.d.ts", "types/a.d.ts"]),
            ("\"a b.txt\"", &["a b.txt"]),
            (" a b.txt ", &["a b.txt"]),
            ("`a`", &["a"]),
            ("a\\ b.txt", &["a b.txt", "a/ b.txt"]),
            ("src\\a.ts", &["src/a.ts"]),
            ("@\"a b\"", &["\"a b\"", "a b"]),
            ("'@a'", &["@a", "a"]),
            ("file:///p/a%20b", &["/p/a b"]),
            ("FILE://localhost/p", &["/p"]),
            ("file:/p?x#y", &["/p"]),
            ("~\\a", &["~/a", "/h/a"]),
            ("@", &[]),
            ("\"\"", &[]),
            ("\"", &[]),
            ("\\", &["/"]),
        ] {
            assert_eq!(forms(asked, Some("/h")).others, expected, "{asked}");
        }
    }

    #[test]
    fn what_names_no_file_here_is_refused_in_words() {
        for (asked, part) in [
            ("~/x", "no home directory"),
            ("~", "no home directory"),
            ("file://host/x", "another host"),
            ("file:///project/%zz", "hexadecimal"),
            ("file:///%4", "hexadecimal"),
            ("file:///a%00b", "NUL"),
            ("file:///a%2fb", "slash"),
            ("file:///%ff", "UTF-8"),
        ] {
            let refusal = forms(asked, None).refusal.unwrap();
            let is_home = asked.starts_with('~');
            assert_eq!(refusal.code, if is_home { ErrorCode::NotFound } else { ErrorCode::InvalidPath });
            assert!(refusal.message.contains(part), "{}", refusal.message);
        }
    }

    #[test]
    fn many_quotes_end() {
        assert!(forms(&"\"".repeat(3000), None).others.len() <= MOST);
        assert!(forms(&" @\\ ".repeat(900), None).others.len() <= MOST);
    }
}
