//! Ignore files: `.gitignore` and `.ignore`, each directory's and its parents', as ripgrep and git weigh them.
//!
//! The nearest line that says something about a path decides, and what is in an ignored directory is never asked for.
//! A `.gitignore` counts with and without a repository around it, up to the top of the repository; an `.ignore` counts
//! above any `.gitignore`.

use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::glob::is_too_deep;
use crate::path::MAX_BYTES as MOST_LINE_BYTES;

/// The name of the one, whose rules end at the top of a repository.
pub const GITIGNORE: &str = ".gitignore";
/// The name of the other, whose rules are above those.
pub const IGNORE: &str = ".ignore";
/// What a directory has that is the top of a repository: a directory, or a file in a work tree.
pub const GIT: &str = ".git";

/// The rules that hold in a directory: its own, and those of the directories around it.
#[derive(Debug, Default)]
pub struct Rules {
    gitignore: Lines,
    ignore: Lines,
    is_top: bool,
    outer: Option<Rc<Rules>>,
}

/// The lines of an ignore file, in order: in one matcher where they are not too many for one.
type Lines = Vec<Gitignore>;

/// What a directory says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// The content of its `.gitignore`.
    pub gitignore: Option<Vec<u8>>,
    /// The content of its `.ignore`.
    pub ignore: Option<Vec<u8>>,
    /// Whether it has a [`GIT`].
    pub is_top: bool,
}

impl Rules {
    /// The rules in a directory (absolute) that is within these.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use tackroom::search::ignore::{Own, Rules};
    /// let own = |text: &str| Own { gitignore: Some(text.into()), ..Own::default() };
    /// let top = Rules::within(&Rc::default(), "/work", &own("*.log\n!keep.log\n"));
    /// let deep = Rules::within(&top, "/work/deep", &own("keep.log\n"));
    /// assert_eq!(deep.verdict("/work/deep/a.log", false), Some(true));
    /// assert_eq!(top.verdict("/work/keep.log", false), Some(false));
    /// assert_eq!(deep.verdict("/work/deep/keep.log", false), Some(true));
    /// assert_eq!(deep.verdict("/work/deep/a.txt", false), None);
    /// ```
    pub fn within(outer: &Rc<Rules>, directory: &str, own: &Own) -> Rc<Rules> {
        let read = |content: &Option<Vec<u8>>| read(directory, content.as_deref().unwrap_or_default());
        let (gitignore, ignore) = (read(&own.gitignore), read(&own.ignore));
        if gitignore.is_empty() && ignore.is_empty() && !own.is_top {
            return outer.clone();
        }
        Rc::new(Rules { gitignore, ignore, is_top: own.is_top, outer: Some(outer.clone()) })
    }

    /// Whether a path (absolute, in the directory of these rules) is ignored (`true`) or asked for (`false`); `None`
    /// where no line says anything about it.
    pub fn verdict(&self, path: &str, is_directory: bool) -> Option<bool> {
        let mut git = None;
        let (mut level, mut within_repository) = (Some(self), true);
        while let Some(rules) = level {
            if let Some(verdict) = said(&rules.ignore, path, is_directory) {
                return Some(verdict);
            }
            if within_repository {
                git = git.or_else(|| said(&rules.gitignore, path, is_directory));
                within_repository = !rules.is_top;
            }
            level = rules.outer.as_deref();
        }
        git
    }
}

/// What the last line that says something says.
fn said(lines: &Lines, path: &str, is_directory: bool) -> Option<bool> {
    lines.iter().rev().find_map(|lines| match lines.matched(path, is_directory) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    })
}

/// Lines that are no glob, or no UTF-8, say nothing; the others count. A BOM and a CR before a line's end are not of
/// the line.
fn read(directory: &str, content: &[u8]) -> Lines {
    let content = content.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(content);
    let line = |line| {
        let line = std::str::from_utf8(<[u8]>::strip_suffix(line, b"\r").unwrap_or(line)).ok()?;
        (line.len() <= MOST_LINE_BYTES && !is_too_deep(line)).then_some(line)
    };
    let lines: Vec<&str> = content.split(|byte| *byte == b'\n').filter_map(line).collect();
    let mut compiled = Lines::new();
    compile(directory, &lines, &mut compiled);
    compiled
}

/// Compiles lines, in halves where they are too many to be compiled at once.
fn compile(directory: &str, lines: &[&str], compiled: &mut Lines) {
    let mut builder = GitignoreBuilder::new(directory);
    for line in lines {
        let _ = builder.add_line(None, line);
    }
    match builder.build() {
        Ok(lines) if lines.is_empty() => {}
        Ok(lines) => compiled.push(lines),
        Err(_) if lines.len() > 1 => {
            let (first, second) = lines.split_at(lines.len() / 2);
            compile(directory, first, compiled);
            compile(directory, second, compiled);
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(text: &str) -> Own {
        Own { gitignore: Some(text.into()), ..Own::default() }
    }

    fn top(own: &Own) -> Rc<Rules> {
        Rules::within(&Rc::default(), "/w", own)
    }

    #[test]
    fn lines_are_read_as_git_reads_them() {
        for (text, path, is_directory, expected) in [
            ("a", "/w/x/a", false, Some(true)),
            ("/a", "/w/x/a", false, None),
            ("x/a", "/w/x/a", false, Some(true)),
            ("x/a", "/w/y/x/a", false, None),
            ("a/", "/w/a", false, None),
            ("a/", "/w/a", true, Some(true)),
            ("# a", "/w/# a", false, None),
            ("\\# a", "/w/# a", false, Some(true)),
            ("\\!a", "/w/!a", false, Some(true)),
            ("a   ", "/w/a", false, Some(true)),
            ("a\\ ", "/w/a ", false, Some(true)),
            ("*\n!a", "/w/a", false, Some(false)),
            ("**/a", "/w/x/y/a", false, Some(true)),
            ("x/**/a", "/w/x/a", false, Some(true)),
            ("x/**", "/w/x/y/z", false, Some(true)),
            ("x/**", "/w/x", true, None),
            ("A", "/w/a", false, None),
            ("a\r\nb\r\n", "/w/b", false, Some(true)),
            ("\u{FEFF}a\n", "/w/a", false, Some(true)),
            ("[", "/w/[", false, Some(true)),
            ("!", "/w/a", false, None),
            ("/", "/w/a", true, None),
            ("é", "/w/é", false, Some(true)),
        ] {
            assert_eq!(top(&git(text)).verdict(path, is_directory), expected, "{text:?} on {path}");
        }
    }

    #[test]
    fn many_and_odd_lines_take_no_time() {
        let mut text: String = (0..8_000).map(|n| format!("a{n}*b?c[x-z]\n")).collect();
        text.push_str(&"{a,".repeat(50_000));
        text.push('\n');
        text.push_str(&"*a".repeat(50_000));
        text.push_str("\nlast\n");
        let rules = top(&git(&text));
        assert_eq!(rules.verdict("/w/a17xbxcz", false), Some(true));
        assert_eq!(rules.verdict("/w/last", false), Some(true));
    }

    #[test]
    fn a_line_that_is_no_text_says_nothing() {
        let own = Own { gitignore: Some(b"\xFF*\na\n".to_vec()), ..Own::default() };
        assert_eq!(top(&own).verdict("/w/a", false), Some(true));
        assert_eq!(top(&own).verdict("/w/b", false), None);
    }

    #[test]
    fn ignore_is_above_any_gitignore() {
        let outer = top(&Own { ignore: Some(b"!a\n".to_vec()), ..Own::default() });
        let inner = Rules::within(&outer, "/w/x", &git("a\n"));
        assert_eq!(inner.verdict("/w/x/a", false), Some(false));
    }

    #[test]
    fn a_repository_within_another_has_rules_of_its_own() {
        let outer = top(&Own { ignore: Some(b"b\n".to_vec()), ..git("a\n") });
        let inner = Rules::within(&outer, "/w/x", &Own { is_top: true, ..Own::default() });
        assert_eq!(inner.verdict("/w/x/a", false), None);
        assert_eq!(inner.verdict("/w/x/b", false), Some(true));
    }

    #[test]
    fn without_rules_nothing_is_kept() {
        let outer = top(&git("a\n"));
        assert!(Rc::ptr_eq(&outer, &Rules::within(&outer, "/w/x", &git("# only words\n"))));
    }
}
