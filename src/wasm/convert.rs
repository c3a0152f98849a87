//! What a host throws, as a [`ToolError`]: one table, in the order in which hosts are believed.
//!
//! 1. `code`: ours, Node's (`ENOENT`, `ERR_FS_EISDIR`), a DOMException's name (a failed result has no other place
//!    for it) or the reference harness's (`shell_unavailable`).
//! 2. An `E…:` at the start of the message, which is all that some file systems give.
//! 3. The name of a DOMException, as the File System Standard and the Storage Standard use them.
//!
//! Anything else is `unknown`, with its text.

use crate::error::{ErrorCode, ToolError};

/// What could be read of a thrown value or of a failed result. Strings and `undefined` have only a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thrown {
    /// `.code`, if it is a string.
    pub code: Option<String>,
    /// `.name`, if it is a string.
    pub name: Option<String>,
    /// `.message`, or the value as text.
    pub message: Option<String>,
}

/// The failure behind a thrown value.
///
/// ```
/// use tackroom::error::ErrorCode;
/// use tackroom::wasm::convert::{Thrown, failure};
/// let thrown = Thrown { message: Some("ENOENT: no such file".into()), ..Thrown::default() };
/// assert_eq!(failure(thrown).code, ErrorCode::NotFound);
/// ```
pub fn failure(thrown: Thrown) -> ToolError {
    let code = thrown
        .code
        .as_deref()
        .and_then(by_code)
        .or_else(|| by_message(thrown.message.as_deref()?))
        .or_else(|| by_name(thrown.name.as_deref()?))
        .unwrap_or(ErrorCode::Unknown);
    let message = match (thrown.message, thrown.name) {
        (Some(message), _) if !message.trim().is_empty() => bounded(&message),
        (_, Some(name)) => bounded(&name),
        _ => "the environment gave no reason".to_owned(),
    };
    ToolError::new(code, message)
}

/// A host's words, as far as a model should have to read them.
fn bounded(text: &str) -> String {
    const MOST: usize = 1000;
    if text.len() <= MOST {
        return text.to_owned();
    }
    let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &text[..end])
}

fn by_code(code: &str) -> Option<ErrorCode> {
    let own = ErrorCode::from_name(code).or_else(|| by_errno(code)).or_else(|| by_name(code));
    own.or(match code {
        "shell_unavailable" => Some(ErrorCode::NoShell),
        "spawn_error" => Some(ErrorCode::SpawnFailed),
        _ => None,
    })
}

/// POSIX errno names, and Node's own that stand for them.
fn by_errno(name: &str) -> Option<ErrorCode> {
    Some(match name {
        "ENOENT" => ErrorCode::NotFound,
        "EACCES" | "EPERM" | "EROFS" => ErrorCode::PermissionDenied,
        "ENOTDIR" => ErrorCode::NotDirectory,
        "EISDIR" | "ERR_FS_EISDIR" => ErrorCode::IsDirectory,
        "EEXIST" | "ENOTEMPTY" => ErrorCode::AlreadyExists,
        "EBUSY" | "EAGAIN" | "ETXTBSY" | "EMFILE" | "ENFILE" => ErrorCode::Busy,
        "ENOSPC" | "EDQUOT" | "EFBIG" => ErrorCode::NoSpace,
        "ENOSYS" | "ENOTSUP" | "EOPNOTSUPP" => ErrorCode::NotSupported,
        "EINVAL" | "ENAMETOOLONG" | "ELOOP" | "ERR_INVALID_ARG_VALUE" => ErrorCode::InvalidPath,
        "ETIMEDOUT" => ErrorCode::Timeout,
        "ECANCELED" | "ABORT_ERR" => ErrorCode::Aborted,
        _ => return None,
    })
}

fn by_message(message: &str) -> Option<ErrorCode> {
    let end = message.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit()).unwrap_or(message.len());
    by_errno(&message[..end])
}

/// Names of DOMExceptions. A TypeMismatchError means a directory where a file was due or the other way round;
/// whoever knows the path can tell which.
fn by_name(name: &str) -> Option<ErrorCode> {
    Some(match name {
        "NotFoundError" => ErrorCode::NotFound,
        "NotAllowedError" | "SecurityError" => ErrorCode::PermissionDenied,
        "TypeMismatchError" => ErrorCode::NotDirectory,
        "NoModificationAllowedError" | "InvalidStateError" | "NotReadableError" => ErrorCode::Busy,
        "InvalidModificationError" => ErrorCode::AlreadyExists,
        "QuotaExceededError" => ErrorCode::NoSpace,
        "NotSupportedError" => ErrorCode::NotSupported,
        "TimeoutError" => ErrorCode::Timeout,
        "AbortError" => ErrorCode::Aborted,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(code: &str, name: &str, message: &str) -> &'static str {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        failure(Thrown { code: some(code), name: some(name), message: some(message) }).code.as_str()
    }

    #[test]
    fn hosts_are_believed_in_order() {
        for (given, expected) in [
            (("ENOENT", "Error", "x"), "not_found"),
            (("not_found", "", ""), "not_found"),
            (("ERR_FS_EISDIR", "", ""), "is_directory"),
            (("shell_unavailable", "", ""), "no_shell"),
            (("NotFoundError", "", ""), "not_found"),
            (("whatever", "Error", "EISDIR: is a directory"), "is_directory"),
            (("", "QuotaExceededError", "full"), "no_space"),
            (("", "NoModificationAllowedError", "locked"), "busy"),
            (("", "Error", "EVERYTHING is fine"), "unknown"),
            (("", "", "a thrown string"), "unknown"),
        ] {
            assert_eq!(code(given.0, given.1, given.2), expected, "{given:?}");
        }
    }

    #[test]
    fn there_is_always_a_text_and_it_is_bounded() {
        assert_eq!(failure(Thrown::default()).message, "the environment gave no reason");
        let long = Thrown { message: Some("é".repeat(5000)), ..Thrown::default() };
        assert!(failure(long).message.len() < 1100);
    }
}
