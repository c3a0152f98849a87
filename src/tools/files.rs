//! Finding the file that a path means, and the words for when it cannot be had.

use crate::env::{Env, FileInfo, FileKind};
use crate::error::{ErrorCode, ToolError};
use crate::path;

/// A file that a path was found to mean.
#[derive(Debug)]
pub(super) struct Located {
    /// As the model sent it, followed by what it was resolved to where that is something else.
    pub shown: String,
    /// Absolute, with links resolved where the environment can.
    pub path: String,
    /// `None`: there is nothing at this path yet.
    pub info: Option<FileInfo>,
}

impl AsRef<str> for Located {
    fn as_ref(&self) -> &str {
        &self.path
    }
}

/// The file to read. Its path is absolute, not canonical: a reader needs no more, and it saves a round trip.
pub(super) async fn existing<E: Env>(env: &E, asked: &str) -> Result<Located, ToolError> {
    let exact = path::absolute(env.cwd(), asked)?;
    let mut missing = None;
    for candidate in path::candidates(asked) {
        let path = path::join(env.cwd(), candidate);
        match env.file_info(&path).await {
            Ok(info) => {
                let shown = shown(asked, candidate, &path);
                return Ok(Located { shown, path, info: Some(info) });
            }
            Err(error) if is_absence(&error) => missing = missing.or(Some(error)),
            Err(error) => return Err(unusable(error, asked, &path)),
        }
    }
    let error = missing.unwrap_or_else(|| ToolError::new(ErrorCode::NotFound, ""));
    Err(unusable(error, asked, &exact))
}

/// The file to change or create, by its canonical path: of a file that is not there, that of the deepest ancestor
/// that is, and the rest.
pub(super) async fn to_change<E: Env>(env: &E, asked: &str) -> Result<Located, ToolError> {
    if asked.ends_with('/') {
        let message = format!("The path names a directory, expected a file: {asked}");
        return Err(ToolError::new(ErrorCode::InvalidPath, message));
    }
    let exact = path::absolute(env.cwd(), asked)?;
    let found = match existing(env, asked).await {
        Ok(found) => found,
        Err(error) if error.code == ErrorCode::NotFound => {
            Located { shown: asked.to_owned(), path: exact, info: None }
        }
        Err(error) => return Err(error),
    };
    let path = canonical(env, &found.path).await.map_err(|error| unusable(error, asked, &found.path))?;
    Ok(Located { path, ..found })
}

/// The canonical path that a call would touch, for a rule on paths.
pub(super) async fn canonical_of<E: Env>(env: &E, asked: &str) -> Result<String, ToolError> {
    let path = match existing(env, asked).await {
        Ok(found) => found.path,
        Err(error) if is_absence(&error) => path::absolute(env.cwd(), asked)?,
        Err(error) => return Err(error),
    };
    canonical(env, &path).await.map_err(|error| unusable(error, asked, &path))
}

async fn canonical<E: Env>(env: &E, path: &str) -> Result<String, ToolError> {
    let mut ancestor = path;
    loop {
        match env.canonical_path(ancestor).await {
            Ok(None) => return Ok(path.to_owned()),
            Ok(Some(real)) => return Ok(path::join(&real, path[ancestor.len()..].trim_start_matches('/'))),
            Err(error) if is_absence(&error) && ancestor != "/" => ancestor = path::parent(ancestor),
            Err(error) if is_absence(&error) => return Ok(path.to_owned()),
            Err(error) => return Err(error),
        }
    }
}

/// Refuses a directory where a file is due.
pub(super) fn expect_file(found: &Located) -> Result<(), ToolError> {
    match &found.info {
        Some(info) if info.kind == FileKind::Directory => {
            Err(unusable(ToolError::new(ErrorCode::IsDirectory, ""), &found.shown, &found.path))
        }
        _ => Ok(()),
    }
}

/// An environment's failure, in words for the model.
pub(super) fn unusable(error: ToolError, shown: &str, path: &str) -> ToolError {
    let message = match error.code {
        ErrorCode::NotFound => format!("Path not found: {shown}"),
        ErrorCode::NotDirectory => {
            format!("Not a directory: {shown} (a part of the path before the last is a file)")
        }
        ErrorCode::IsDirectory => format!("Expected a file, found a directory: {shown}"),
        ErrorCode::PermissionDenied => with_reason(&format!("Permission denied: {shown}"), &error.message),
        ErrorCode::Busy => {
            with_reason(&format!("The file is in use: {shown}. Try again in a moment"), &error.message)
        }
        ErrorCode::NoSpace => {
            with_reason(&format!("No space left for {shown}. Free some space first"), &error.message)
        }
        ErrorCode::InvalidPath | ErrorCode::OutsideRoot | ErrorCode::Aborted => error.message.clone(),
        _ => with_reason(&format!("Could not use {shown}"), &error.message),
    };
    ToolError { message, path: Some(path.to_owned()), ..error }
}

fn with_reason(message: &str, reason: &str) -> String {
    if reason.is_empty() { message.to_owned() } else { format!("{message} ({reason})") }
}

fn shown(asked: &str, candidate: &str, path: &str) -> String {
    if asked == candidate { asked.to_owned() } else { format!("{asked} (resolved to {path})") }
}

/// Nothing is at the path, for this or that reason.
fn is_absence(error: &ToolError) -> bool {
    matches!(error.code, ErrorCode::NotFound)
}
