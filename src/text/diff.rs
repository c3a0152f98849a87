//! Diffs of one file: a patch that `git apply` takes, and a numbered form for people.
//!
//! A diff is made from the spans that an edit replaced where they are known ([`from_replacements`]), so
//! that its cost follows the edit and not the file. [`between`] compares two whole contents.
//!
//! Lines end at LF; a CR belongs to its line, so lines that differ only in their ending differ. A diff
//! here is right, not always minimal: where a changed region is so large that finding the least change
//! would take long, it is shown as replaced as a whole (by size, never by a clock).
//!
//! UTF-16 (by its BOM) is compared as the text it stands for; it has no patch, as a patch is UTF-8.
//!
//! Not here: renames, modes, binary patches, files that vanish.

mod changes;
mod display;
mod few;
mod patch;
#[cfg(test)]
mod tests;
mod utf16;

use super::edit::Replacement;
use super::encoding;
use changes::Change;

/// Lines of context around a change, in both forms.
pub const CONTEXT: usize = 4;

/// What changed in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The numbered form, for people: `-NN text` with the line's old number, `+NN text` and ` NN text`
    /// with its new number, NN right-aligned, and an ellipsis in the place of a number where lines are
    /// left out (`    ...`). After 2,000 lines the last one says how many more there are. Invalid UTF-8 shows as U+FFFD, a CR at the end of a line not at all. Empty
    /// where nothing changed; lines are separated by LF, with none at the end.
    pub diff: String,
    /// The unified diff, from `--- a/PATH` on; empty where nothing changed, `None` where it cannot be text.
    pub patch: Option<String>,
    /// Why there is no `patch`.
    pub patch_omitted: Option<String>,
    /// The first line that changed, 1-indexed in the new content; where lines went at the very end,
    /// its last line (1 where nothing is left). `None` where nothing changed.
    pub first_changed_line: Option<usize>,
    /// How many `+` lines there are.
    pub lines_added: usize,
    /// How many `-` lines there are.
    pub lines_removed: usize,
}

/// The diff of an edit, from its replaced spans.
///
/// `path` is relative to the directory that the patch is to be applied in. `replacements` are those of
/// [`Applied`](super::edit::Applied): ascending, not overlapping, ranges of `before`.
///
/// ```
/// use tackroom::text::{diff, edit::{Edit, apply_edits}};
/// let before = b"a\nb\n";
/// let edit = Edit { old_text: "b".into(), new_text: "c".into(), replace_all: false };
/// let applied = apply_edits(before, &[edit], "f.txt").unwrap();
/// let diff = diff::from_replacements("f.txt", before, &applied.content, &applied.replacements);
/// assert_eq!(diff.diff, " 1 a\n-2 b\n+2 c");
/// assert_eq!(diff.patch.unwrap(), "--- a/f.txt\n+++ b/f.txt\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// assert_eq!((diff.first_changed_line, diff.lines_added, diff.lines_removed), (Some(2), 1, 1));
/// ```
pub fn from_replacements(path: &str, before: &[u8], after: &[u8], replacements: &[Replacement]) -> FileDiff {
    if encoding::detect(before).is_utf16() {
        let (before, after, replacements) = utf16::replaced(before, replacements);
        let changes = changes::from_replacements(&before, &after, &replacements);
        return utf16::file_diff(&before, &after, &changes);
    }
    let changes = changes::from_replacements(before, after, replacements);
    file_diff(path, before, after, &changes, false)
}

/// The diff of two contents; `None` before means that the file is created.
///
/// ```
/// use tackroom::text::diff::between;
/// let diff = between("new.txt", None, b"hello");
/// assert_eq!(
///     diff.patch.unwrap(),
///     "diff --git a/new.txt b/new.txt\nnew file mode 100644\n--- /dev/null\n+++ b/new.txt\n\
///      @@ -0,0 +1 @@\n+hello\n\\ No newline at end of file\n"
/// );
/// ```
pub fn between(path: &str, before: Option<&[u8]>, after: &[u8]) -> FileDiff {
    let old = before.unwrap_or_default();
    if utf16::either(old, after) {
        let (old, new) = (encoding::decode(old).text, encoding::decode(after).text);
        let (old, new) = (old.as_bytes(), new.as_bytes());
        return utf16::file_diff(old, new, &changes::between(old, new));
    }
    file_diff(path, old, after, &changes::between(old, after), before.is_none())
}

/// A unified diff of two contents, with `context` lines around each change; empty where they are the
/// same, `None` where one of its lines is not UTF-8 or one of them is UTF-16.
///
/// ```
/// use tackroom::text::diff::unified_diff;
/// let diff = unified_diff("f", b"a\nb\nc\n", b"a\nc\n", 0).unwrap();
/// assert_eq!(diff, "--- a/f\n+++ b/f\n@@ -2 +1,0 @@\n-b\n");
/// ```
pub fn unified_diff(path: &str, before: &[u8], after: &[u8], context: usize) -> Option<String> {
    if utf16::either(before, after) {
        return None;
    }
    patch::unified(path, before, after, &changes::between(before, after), context, false).ok()
}

fn file_diff(path: &str, before: &[u8], after: &[u8], changes: &[Change], created: bool) -> FileDiff {
    let patch = patch::unified(path, before, after, changes, CONTEXT, created)
        .map_err(|line| format!("not UTF-8 near line {line}, and a patch is text"));
    with_patch(patch, before, after, changes)
}

fn with_patch(patch: Result<String, String>, before: &[u8], after: &[u8], changes: &[Change]) -> FileDiff {
    let (patch, patch_omitted) = match patch {
        Ok(patch) => (Some(patch), None),
        Err(reason) => (None, Some(reason)),
    };
    FileDiff {
        diff: display::numbered(before, after, changes, CONTEXT),
        patch,
        patch_omitted,
        first_changed_line: changes.first().map(|change| {
            let beyond_the_end = change.new.bytes.start == after.len() && change.new.count == 0;
            (change.new.line + usize::from(!beyond_the_end)).max(1)
        }),
        lines_added: changes.iter().map(|change| change.new.count).sum(),
        lines_removed: changes.iter().map(|change| change.old.count).sum(),
    }
}
