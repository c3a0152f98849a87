//! What a tool did to a file.

use serde::Serialize;

use crate::text::diff::FileDiff;

/// What happened to the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was not there before.
    Create,
    /// Its content was replaced.
    Modify,
    /// It is gone.
    Delete,
}

/// A change of one file, with its diff: the details of `write` and `edit`, and the `mutation` event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// Absolute and canonical.
    pub path: String,
    /// What happened.
    pub kind: ChangeKind,
    /// Numbered lines for people.
    pub diff: String,
    /// A unified diff that `git apply` takes, or null with the reason beside it.
    pub patch: Option<String>,
    /// Why there is no patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_omitted: Option<String>,
    /// 1-indexed, in the new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_changed_line: Option<usize>,
    /// Lines with a `+` in the diff.
    pub lines_added: usize,
    /// Lines with a `-` in the diff.
    pub lines_removed: usize,
}

impl FileChange {
    /// The change that a diff tells of.
    pub fn new(path: impl Into<String>, kind: ChangeKind, diff: FileDiff) -> Self {
        FileChange {
            path: path.into(),
            kind,
            diff: diff.diff,
            patch: diff.patch,
            patch_omitted: diff.patch_omitted,
            first_changed_line: diff.first_changed_line,
            lines_added: diff.lines_added,
            lines_removed: diff.lines_removed,
        }
    }
}
