//! The files that tools read and change, and the words for when they cannot be had.

use super::locate::{Found, Lookup, Seen};
use super::{Access, Builtin, ToolContext};
use crate::env::{Env, FileInfo, FileKind, Host};
use crate::error::{ErrorCode, ToolError};
use crate::path;

/// A file that a path was found to mean.
#[derive(Debug)]
pub(super) struct Located {
    /// As the model sent it, followed by what it was resolved to where that is something else.
    pub shown: String,
    /// Absolute. Of a file to change, canonical.
    pub path: String,
    /// `None`: there is nothing at this path yet.
    pub info: Option<FileInfo>,
}

impl AsRef<str> for Located {
    fn as_ref(&self) -> &str {
        &self.path
    }
}

/// What a tool asks of its call to find files.
pub(super) struct Finder<'a, E: Env> {
    env: &'a E,
    root: Option<&'a str>,
    cleared: Option<&'a [Access]>,
}

impl<'a, E: Env> Finder<'a, E> {
    pub fn new<H: Host>(cx: &ToolContext<'a, E, H>) -> Self {
        Finder { env: cx.env, root: cx.root, cleared: cx.cleared }
    }

    /// For whoever is outside of a call.
    pub fn outside_a_call(env: &'a E, root: Option<&'a str>) -> Self {
        Finder { env, root, cleared: None }
    }

    /// Where they are.
    pub fn env(&self) -> &'a E {
        self.env
    }

    /// The file to read. Its path is canonical only where somebody is to hold it to that (a root, a hook): a reader
    /// needs no more, and it saves a round trip.
    pub async fn existing(&self, asked: &str) -> Result<Located, ToolError> {
        let lookup = Lookup::new(self.env, self.root_for(asked).await, asked);
        let Some(Found { path, info }) = lookup.find().await? else {
            return Err(missing(&lookup, self.env, asked).await);
        };
        let shown = shown(self.env, asked, &path);
        if self.root.is_none() && self.cleared.is_none() {
            return Ok(Located { shown, path, info: Some(info) });
        }
        let path = lookup.real(&path).await?;
        self.hold_to(&path, &shown)?;
        Ok(Located { shown, path, info: Some(info) })
    }

    /// The file to change, or, if that is allowed, to create where nothing is there.
    pub async fn to_change(&self, asked: &str, may_create: bool) -> Result<Located, ToolError> {
        if matches!(asked.rsplit('/').next(), Some("" | "." | "..")) && !asked.is_empty() {
            let message = format!("The path names a directory, expected a file: {asked}");
            return Err(ToolError::new(ErrorCode::InvalidPath, message));
        }
        let lookup = Lookup::new(self.env, self.root, asked);
        let (path, info) = match lookup.find().await? {
            Some(found) => (found.path, Some(found.info)),
            None if may_create => (lookup.place().await?, None),
            None => return Err(missing(&lookup, self.env, asked).await),
        };
        let shown = shown(self.env, asked, &path);
        let is_link = info.as_ref().is_some_and(|info| info.kind == FileKind::Symlink);
        let real = match lookup.real(&path).await {
            // As everywhere, writing to such a link creates its target. Where somebody decides by paths it is
            // refused: nobody can tell where that is.
            Err(error)
                if error.code == ErrorCode::NotFound
                    && is_link
                    && self.root.is_none()
                    && self.cleared.is_none() =>
            {
                path::join(&lookup.real(path::parent(&path)).await?, path::name(&path))
            }
            real => real?,
        };
        self.hold_to(&real, &shown)?;
        Ok(Located { shown, path: real, info })
    }

    /// The root, but for a reader of a file that a tool has put beside the tree: there it is none. Somebody may have
    /// put a link in its place.
    async fn root_for(&self, asked: &str) -> Option<&'a str> {
        let root = self.root?;
        let Ok(path) = path::absolute(self.env.cwd(), asked) else { return Some(root) };
        if !self.env.is_temp_file(&path) {
            return Some(root);
        }
        match Lookup::new(self.env, None, asked).real(&path).await {
            Ok(real) if self.env.is_temp_file(&real) => None,
            _ => Some(root),
        }
    }

    /// The canonical path that a call of the tool would touch, for a rule on paths.
    pub async fn accessed(&self, asked: &str, tool: Builtin) -> Result<String, ToolError> {
        let root = if tool.is_read_only() { self.root_for(asked).await } else { self.root };
        Finder { root, ..*self }.touched(asked, tool == Builtin::Write).await
    }

    /// The canonical path that a call would touch, for a rule on paths and for the mutation queue.
    pub async fn touched(&self, asked: &str, may_create: bool) -> Result<String, ToolError> {
        let lookup = Lookup::new(self.env, self.root, asked);
        let path = match lookup.find().await? {
            Some(found) => found.path,
            None if may_create => lookup.place().await?,
            None => path::absolute(self.env.cwd(), asked)?,
        };
        lookup.real(&path).await
    }

    /// An error about a file that was found, by its canonical path.
    pub async fn about(&self, found: &Located, error: ToolError) -> ToolError {
        let lookup = Lookup::new(self.env, None, &found.path);
        let path = lookup.real(&found.path).await.unwrap_or_else(|_| found.path.clone());
        ToolError { path: Some(path), ..error }
    }

    /// A hook has agreed to certain paths. What is there may have changed meanwhile, and with it what a path means.
    fn hold_to(&self, path: &str, shown: &str) -> Result<(), ToolError> {
        match self.cleared {
            Some(cleared) if !cleared.iter().any(|access| access.path == path) => {
                let message =
                    format!("The path leads elsewhere than when the call was checked: {shown}. Try again");
                Err(ToolError::new(ErrorCode::Stale, message).at(path))
            }
            _ => Ok(()),
        }
    }
}

/// The failure of a path under which nothing was found, with names that are near.
async fn missing<E: Env>(lookup: &Lookup<'_, E>, env: &E, asked: &str) -> ToolError {
    let exact = path::join(env.cwd(), asked);
    let real = match lookup.real(&exact).await {
        Ok(real) => real,
        Err(error) => return error,
    };
    match lookup.look(&exact).await {
        Ok(Seen::BelowFile(error) | Seen::NoPath(error)) | Err(error) => {
            return unusable(error, asked, &real);
        }
        Ok(_) => {}
    }
    let near = lookup.near().await;
    let message = match near.is_empty() {
        true => format!("Path not found: {asked}"),
        false => format!("Path not found: {asked}\nNear names: {}", near.join(", ")),
    };
    ToolError::new(ErrorCode::NotFound, message).at(real)
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

fn shown<E: Env>(env: &E, asked: &str, path: &str) -> String {
    match path::join(env.cwd(), asked) == path {
        true => asked.to_owned(),
        false => format!("{asked} (resolved to {path})"),
    }
}
