//! `write {path, content}`

use serde_json::Value;

use super::declare::prefer_strict;
use super::dialect::{Aliases, PATH};
use super::{Builtin, ChangeKind, Declaration, Facts, FileChange, OnAbort, Output, ToolContext, files};
use crate::env::{Env, Host};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::path;
use crate::text::rewrite::{self, Rewrite};

/// Other names for its keys.
pub const ALIASES: Aliases = &[PATH, ("content", &["text", "contents"])];

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// The file.
    pub path: String,
    /// All of its new content.
    pub content: String,
}

impl Args {
    /// The arguments of a call; else what is wrong with them.
    ///
    /// # Errors
    /// For arguments that the schema refuses.
    pub fn read(arguments: Value) -> Result<Args, String> {
        let mut fields = Fields::of(arguments)?;
        Ok(Args {
            path: required("path", fields.text("path")?)?,
            content: required("content", fields.text("content")?)?,
        })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "File to write, absolute or relative to the working directory" },
            "content": { "type": "string", "description": "The whole new content of the file" }
        },
        "required": ["path", "content"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    let part = if facts.has(Builtin::Edit) { " To change a part of a file, use edit." } else { "" };
    Declaration {
        name: "write",
        label: "Write",
        description: format!(
            "Write a file: create it, with its parent directories, or replace everything in it.{part}"
        ),
        parameters: parameters(),
        constrained_sampling: Some(prefer_strict()),
        prompt_snippet: "write: create a file or replace all of it".into(),
        prompt_guidelines: match facts.has(Builtin::Edit) {
            true => vec!["Use write for new files and complete rewrites only".into()],
            false => vec![],
        },
    }
}

/// Writes it.
///
/// # Errors
/// `is_directory`, `no_space` and the like.
pub async fn run<E: Env, H: Host>(args: Args, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    let ticket = cx.queue.ticket();
    let file = ticket.enter(files::Finder::new(cx).to_change(&args.path, true)).await?;
    files::expect_file(&file)?;
    let held = cx.env.hold(&file.path).await;
    let _held = held.map_err(|error| files::unusable(error, &file.shown, &file.path))?;
    let before = match &file.info {
        None => None,
        // A link whose target is not there creates the target.
        Some(_) => match cx.env.read_file(&file.path).await {
            Ok(content) => Some(content),
            Err(error) if error.code == ErrorCode::NotFound => None,
            Err(error) => return Err(files::unusable(error, &file.shown, &file.path)),
        },
    };
    let Rewrite { bytes, changed } = rewrite::rewrite(before.as_deref(), &args.content, cx.preserve_encoding);
    let diff = rewrite::diff(path::relative(cx.env.cwd(), &file.path), before.as_deref(), &bytes);
    let kind = if before.is_some() { ChangeKind::Modify } else { ChangeKind::Create };
    let change = FileChange::new(file.path.as_str(), kind, diff);
    store(cx, &file.shown, &file.path, &bytes, before.is_none()).await?;
    (cx.mutated)(&change);
    let mut text = format!("Successfully wrote {} bytes to {}", bytes.len(), file.shown);
    if let Some(changed) = changed {
        text.push_str(&format!(". {changed}"));
    }
    Ok(Output::new(text, &change))
}

/// Stores the new content; an abort from here on says that it may land.
pub(super) async fn store<E: Env, H: Host>(
    cx: &ToolContext<'_, E, H>,
    shown: &str,
    path: &str,
    content: &[u8],
    is_new: bool,
) -> Result<(), ToolError> {
    let failed = |error| files::unusable(error, shown, path);
    if is_new {
        // A directory that is there already is no failure, so that is something else.
        let in_the_way = |error: ToolError| match error.code {
            ErrorCode::AlreadyExists => ToolError { code: ErrorCode::NotDirectory, ..error },
            _ => error,
        };
        cx.env.create_dir(path::parent(path)).await.map_err(in_the_way).map_err(failed)?;
    }
    *cx.on_abort.borrow_mut() = OnAbort::LetItLand(shown.to_owned());
    let stored = cx.env.write_file(path, content).await.map_err(failed);
    *cx.on_abort.borrow_mut() = OnAbort::Drop;
    stored
}
