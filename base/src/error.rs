//! Failure, as a model reads it.
//!
//! Everything that can go wrong ends as one [`ToolError`]: a flat [`ErrorCode`] for programs, a
//! message for the model ("expected X, found Y", what to do, no full stop), and the path it is about.
//! Sentences that programs and prompts rely on have a constructor here, so that they exist once.

use std::fmt;

use serde_json::{Map, Value};

/// Declares [`ErrorCode`] with its snake_case names, so that the list exists once.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What went wrong, for programs: one flat list, the same in Rust and in TypeScript.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode { $($(#[$doc])* $variant,)* }

        impl ErrorCode {
            /// Every code there is.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)*];

            /// The name that crosses the boundary, such as `not_found`.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)* }
            }

            /// The code of that name, if there is one.
            pub fn from_name(name: &str) -> Option<ErrorCode> {
                match name { $($name => Some(ErrorCode::$variant),)* _ => None }
            }
        }
    };
}

error_codes! {
    /// No file or directory at the path.
    NotFound = "not_found",
    /// The environment refused access.
    PermissionDenied = "permission_denied",
    /// A directory was needed and something else is there.
    NotDirectory = "not_directory",
    /// A file was needed and a directory is there.
    IsDirectory = "is_directory",
    /// The target exists already.
    AlreadyExists = "already_exists",
    /// Somebody else holds the file; trying again can help.
    Busy = "busy",
    /// The store is full.
    NoSpace = "no_space",
    /// The environment, or this build, cannot do that.
    NotSupported = "not_supported",
    /// The call was aborted.
    Aborted = "aborted",
    /// A time limit ran out.
    Timeout = "timeout",
    /// The path is empty, has a NUL, is too long or is no path.
    InvalidPath = "invalid_path",
    /// The path leads outside the root.
    OutsideRoot = "outside_root",
    /// The arguments do not fit the tool's schema, or ask for something that is not there.
    InvalidArguments = "invalid_arguments",
    /// The argument text ends in the middle.
    CutOff = "cut_off",
    /// No active tool has that name.
    NoSuchTool = "no_such_tool",
    /// A hook refused the call.
    Blocked = "blocked",
    /// The text to replace is not in the file.
    NoMatch = "no_match",
    /// The text to replace is in the file more than once, or the path means more than one file.
    Ambiguous = "ambiguous",
    /// Two edits touch the same bytes.
    Overlap = "overlap",
    /// The edit would leave the file as it is.
    NoChange = "no_change",
    /// The file is not what it was when it was looked at.
    Stale = "stale",
    /// The toolset was disposed.
    Disposed = "disposed",
    /// The call may have run before; it was not run again.
    OutcomeUnknown = "outcome_unknown",
    /// The command ended with an exit code other than 0, or with none.
    ExitCode = "exit_code",
    /// The environment has no shell.
    NoShell = "no_shell",
    /// The command could not be started.
    SpawnFailed = "spawn_failed",
    /// The pattern does not compile.
    InvalidPattern = "invalid_pattern",
    /// The wasm module trapped; the next call gets a new one.
    Trapped = "trapped",
    /// Anything else, with the text it came with.
    Unknown = "unknown",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure: of a tool, of an environment, of the arguments.
///
/// ```
/// use tackroom_base::error::{ErrorCode, ToolError};
/// let error = ToolError::new(ErrorCode::NotFound, "Path not found: a.txt").at("/work/a.txt");
/// assert_eq!(error.code.as_str(), "not_found");
/// assert_eq!(error.to_string(), "Path not found: a.txt");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolError {
    /// What kind of failure this is.
    pub code: ErrorCode,
    /// The whole text that the model reads.
    pub message: String,
    /// The canonical path that it is about, where there is one.
    pub path: Option<String>,
    /// Further facts for the result's `details` (a command's exit code, say).
    pub details: Option<Box<Map<String, Value>>>,
}

impl ToolError {
    /// A failure with its text.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ToolError { code, message: message.into(), path: None, details: None }
    }

    /// The same failure, about this path.
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same failure, with further facts.
    pub fn with_details(mut self, details: Map<String, Value>) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// `Operation aborted`
    pub fn aborted() -> Self {
        ToolError::new(ErrorCode::Aborted, "Operation aborted")
    }

    /// Arguments that cannot work, in words that say which and why.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        ToolError::new(ErrorCode::InvalidArguments, message)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::from_name(code.as_str()), Some(*code));
        }
        assert_eq!(ErrorCode::from_name("nonsense"), None);
    }
}
