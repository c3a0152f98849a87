//! Globs: those that name what to find, and those that filter what to search.

use globset::{GlobBuilder, GlobMatcher};
use ignore::overrides::{Override, OverrideBuilder};

use super::{MOST_PATTERN_BYTES, invalid, quoted};
use crate::error::ToolError;
use crate::text::truncate::format_size;

/// Braces within each other, at most.
const MOST_BRACES: usize = 50;

/// A glob that names files to find.
///
/// Without a "/" it matches names, at any depth; with one, paths relative to the directory that is searched; beginning
/// with one, absolute paths. Case counts, `*` and `?` match no "/", and a leading "./" means nothing.
///
/// ```
/// use tackroom::search::glob::FindGlob;
/// let sources = FindGlob::compile("./src/**/*.{ts,tsx}").unwrap();
/// assert!(sources.matches("/work", "src/a.ts") && sources.matches("/work", "src/deep/b.tsx"));
/// assert!(!sources.matches("/work", "lib/src/a.ts"));
/// ```
#[derive(Clone, Debug)]
pub struct FindGlob {
    matcher: GlobMatcher,
    subject: Subject,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Subject {
    Name,
    Path,
    AbsolutePath,
}

impl FindGlob {
    /// Compiles it.
    ///
    /// # Errors
    /// `invalid_pattern`.
    pub fn compile(pattern: &str) -> Result<FindGlob, ToolError> {
        check(pattern)?;
        let pattern = without_dots(pattern);
        let subject = match pattern.find('/') {
            None => Subject::Name,
            Some(0) => Subject::AbsolutePath,
            Some(_) => Subject::Path,
        };
        let mut builder = GlobBuilder::new(pattern);
        builder.literal_separator(true).backslash_escape(true).empty_alternates(true);
        let glob = builder.build().map_err(|error| wrong(pattern, &error.kind().to_string()))?;
        Ok(FindGlob { matcher: glob.compile_matcher(), subject })
    }

    /// Whether it matches a file, by the directory that is searched (absolute) and the file's path relative to that.
    pub fn matches(&self, directory: &str, path: &str) -> bool {
        match self.subject {
            Subject::Name => self.matcher.is_match(crate::path::name(path)),
            Subject::Path => self.matcher.is_match(path),
            Subject::AbsolutePath => self.matcher.is_match(crate::path::join(directory, path)),
        }
    }
}

/// A glob that filters files, as `rg --glob`: a line of an ignore file, where `!` leaves out what it matches. Its
/// verdict is above that of ignore files.
///
/// ```
/// use tackroom::search::glob::FileGlob;
/// let glob = FileGlob::compile("/work", "*.ts").unwrap();
/// assert_eq!(glob.verdict("/work/deep/a.ts", false), Some(true));
/// assert_eq!(glob.verdict("/work/a.js", false), Some(false));
/// assert_eq!(glob.verdict("/work/deep", true), None);
/// ```
#[derive(Clone, Debug)]
pub struct FileGlob(Override);

impl FileGlob {
    /// Compiles it, for paths below this directory (absolute).
    ///
    /// # Errors
    /// `invalid_pattern`.
    pub fn compile(directory: &str, glob: &str) -> Result<FileGlob, ToolError> {
        check(glob)?;
        let line = match glob.strip_prefix('!') {
            Some(rest) => format!("!{}", without_dots(rest)),
            None => without_dots(glob).to_owned(),
        };
        let mut builder = OverrideBuilder::new(directory);
        let why = |error: ignore::Error| match error {
            ignore::Error::Glob { err, .. } => wrong(glob, &err),
            other => wrong(glob, &other.to_string()),
        };
        builder.add(&line).map_err(why)?;
        builder.build().map(FileGlob).map_err(why)
    }

    /// Whether a path (absolute) is kept; `None` where ignore files decide.
    pub fn verdict(&self, path: &str, is_directory: bool) -> Option<bool> {
        match self.0.matched(path, is_directory) {
            ignore::Match::None => None,
            ignore::Match::Ignore(_) => Some(false),
            ignore::Match::Whitelist(_) => Some(true),
        }
    }
}

/// The glob without a leading "./", which means nothing and would match nothing.
fn without_dots(mut glob: &str) -> &str {
    while let Some(rest) = glob.strip_prefix("./") {
        glob = rest.trim_start_matches('/');
    }
    glob
}

/// Whether braces are within braces so often that a compiler that calls itself for each could run out of stack.
pub(super) fn is_too_deep(glob: &str) -> bool {
    let mut depth = 0_usize;
    glob.bytes().any(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MOST_BRACES
    })
}

fn check(glob: &str) -> Result<(), ToolError> {
    if is_too_deep(glob) {
        return Err(wrong(glob, &format!("more than {MOST_BRACES} braces are within each other")));
    }
    if glob.len() <= MOST_PATTERN_BYTES {
        return Ok(());
    }
    let size = format_size(glob.len() as u64);
    let most = format_size(MOST_PATTERN_BYTES as u64);
    Err(invalid(format!("The glob is {size} long, expected at most {most}: {}", quoted(glob))))
}

fn wrong(glob: &str, why: &str) -> ToolError {
    invalid(format!(
        "Invalid glob {}: {why}. Write \\ before a character that is meant as it is, such as \\[ or \\{{",
        quoted(glob)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    #[test]
    fn names_match_at_any_depth_and_paths_from_the_top() {
        for (pattern, path, expected) in [
            ("*.ts", "a.ts", true),
            ("*.ts", "deep/er/a.ts", true),
            ("*.ts", "a.TS", false),
            ("*", "deep/.hidden", true),
            ("src/*.ts", "src/a.ts", true),
            ("src/*.ts", "src/deep/a.ts", false),
            ("./src/*.ts", "src/a.ts", true),
            (".//./src/*.ts", "src/a.ts", true),
            ("**/*.ts", "a.ts", true),
            ("**/*.ts", "x/y/a.ts", true),
            ("src/**", "src/x/y", true),
            ("src/**", "src", false),
            ("**", "x/y", true),
            ("*.{ts,tsx}", "x/a.tsx", true),
            ("*.ts{,x}", "x/a.ts", true),
            ("[ab].ts", "b.ts", true),
            ("[!ab].ts", "b.ts", false),
            ("a?.ts", "ab.ts", true),
            ("!*", "!a", true),
            ("!*", "a", false),
            ("\\*.ts", "*.ts", true),
            ("\\*.ts", "a.ts", false),
            ("/work/src/*.ts", "src/a.ts", true),
            ("/src/*.ts", "src/a.ts", false),
        ] {
            let glob = FindGlob::compile(pattern).unwrap();
            assert_eq!(glob.matches("/work", path), expected, "{pattern} on {path}");
        }
    }

    #[test]
    fn a_negated_filter_leaves_out() {
        let glob = FileGlob::compile("/", "!./src/*.ts").unwrap();
        assert_eq!(glob.verdict("/src/a.ts", false), Some(false));
        assert_eq!(glob.verdict("/src/deep/a.ts", false), None);
    }

    #[test]
    fn what_is_no_glob_is_said() {
        for glob in ["[", "{a", "a{b,{c}", &"x".repeat(100_000), &"{a,".repeat(20_000)] {
            let errors = [FindGlob::compile(glob).err(), FileGlob::compile("/", glob).err()];
            for error in errors.map(|error| error.expect("it does not compile")) {
                assert_eq!(error.code, ErrorCode::InvalidPattern);
                assert!(error.message.len() < 500, "{error}");
            }
        }
    }
}
