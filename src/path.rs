//! POSIX paths, as text: joining, normalising, naming, and what else a path that a model wrote may mean
//! ([`forms`], [`fold()`], [`near()`]). No environment is asked here.
//!
//! The rules are those of POSIX pathname resolution, lexically: `.` and empty segments go, `..` takes the
//! segment before it, and `..` at the top stays at the top.

use crate::error::{ErrorCode, ToolError};

mod fold;
mod forms;
mod near;
#[cfg(test)]
mod props;

pub use fold::{could_fold, fold};
pub use forms::{Forms, Prefix, forms, prefix, unwrapped};
pub use near::near;

/// The longest path accepted, in bytes: Linux's PATH_MAX.
pub const MAX_BYTES: usize = 4096;

/// The absolute, normal form of a path that a model named.
///
/// # Errors
/// `invalid_path` when it is empty, has a NUL, or is longer than [`MAX_BYTES`].
///
/// ```
/// assert_eq!(tackroom::path::absolute("/work", "./src/../a.txt").unwrap(), "/work/a.txt");
/// assert!(tackroom::path::absolute("/work", "").is_err());
/// ```
pub fn absolute(cwd: &str, path: &str) -> Result<String, ToolError> {
    if path.is_empty() {
        return Err(ToolError::new(ErrorCode::InvalidPath, "The path is empty: expected a file name"));
    }
    if path.contains('\0') {
        return Err(ToolError::new(
            ErrorCode::InvalidPath,
            format!(
                "The path has a NUL character, which no file name can have: {}",
                path.replace('\0', "\\0")
            ),
        ));
    }
    if path.len() > MAX_BYTES {
        let head: String = path.chars().take(80).collect();
        return Err(ToolError::new(
            ErrorCode::InvalidPath,
            format!("The path is {} bytes long, the limit is {MAX_BYTES}: {head}…", path.len()),
        ));
    }
    Ok(join(cwd, path))
}

/// Resolves a path against a directory and normalises it; an absolute path stands alone.
pub fn join(base: &str, path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let base = if path.starts_with('/') { "" } else { base };
    for segment in base.split('/').chain(path.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}

/// The directory of an absolute path; `/` is its own.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

/// The last segment.
pub fn name(path: &str) -> &str {
    &path[path.rfind('/').map_or(0, |at| at + 1)..]
}

/// The path as a diff's header names it: relative to a directory that it is in, else from the top without the
/// first slash (`git apply` takes neither `..` nor absolute paths).
pub fn relative<'a>(base: &str, path: &'a str) -> &'a str {
    let inside = path.strip_prefix(base).filter(|rest| base == "/" || rest.starts_with('/'));
    inside.unwrap_or(path).trim_start_matches('/')
}

/// Whether an absolute, normal path is the directory or lies below it, by its text.
///
/// ```
/// use tackroom::path::is_inside;
/// assert!(is_inside("/work", "/work/a") && is_inside("/work", "/work") && is_inside("/", "/a"));
/// assert!(!is_inside("/work", "/workshop/a"));
/// ```
pub fn is_inside(directory: &str, path: &str) -> bool {
    directory == "/"
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Asks everything here about one text and holds the answers to what they promise, for fuzzing and property
/// tests: nothing panics, and no form of a path leaves a root without being seen to.
///
/// # Panics
/// Where a promise is broken.
#[cfg(any(test, fuzzing))]
pub fn exercise(asked: &str, home: Option<&str>) {
    const ROOT: &str = "/work/root";
    let Forms { others, .. } = forms(asked, home);
    for form in std::iter::once(asked).chain(others.iter().map(String::as_str)) {
        let path = join(ROOT, form);
        assert!(path.starts_with('/') && !path.split('/').any(|segment| segment == ".." || segment == "."));
        assert_eq!(join("/", &path), path, "a normal path stays as it is");
        assert_eq!(join(parent(&path), name(&path)), path);
        if is_inside(ROOT, &path) {
            assert!(path.len() == ROOT.len() || path.as_bytes()[ROOT.len()] == b'/');
        }
        for segment in path.split('/') {
            let folded = fold(segment);
            assert_eq!(fold(&folded), folded, "folding twice is folding once");
            assert!(could_fold(segment) || segment == folded);
            assert!(near(segment, [asked, form, "index.ts"]).len() <= near::MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_normalises() {
        for (base, path, joined) in [
            ("/work", "a.txt", "/work/a.txt"),
            ("/work", "/etc/x", "/etc/x"),
            ("/work", "../../..", "/"),
            ("/", "a//b/./c/", "/a/b/c"),
            ("/work", ".", "/work"),
        ] {
            assert_eq!(join(base, path), joined, "{base} + {path}");
        }
    }

    #[test]
    fn refuses_what_is_no_path() {
        let long = "x".repeat(5000);
        for bad in ["", "a\0b", long.as_str()] {
            let error = absolute("/", bad).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidPath);
            assert!(error.message.len() < 300);
        }
    }

    #[test]
    fn names_parents_and_relatives() {
        assert_eq!((parent("/a/b"), parent("/a"), parent("/")), ("/a", "/", "/"));
        assert_eq!((name("/a/b"), name("/")), ("b", ""));
        assert_eq!(relative("/work", "/work/src/a"), "src/a");
        assert_eq!(relative("/work", "/workshop/a"), "workshop/a");
        assert_eq!(relative("/", "/a"), "a");
    }
}
