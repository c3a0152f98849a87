//! What `grep`, `find` and `ls` share: where they start, how their results end, and where a search runs.
//!
//! A search needs ripgrep's crates, which are in a module of their own (the feature `search`). So a call is split in
//! two. Here, in the core, arguments are checked, hooks asked and paths found. What is left is a [`Job`]: it goes as
//! JSON through [`Host::search`] to the other module, or natively, where the crate has the feature, runs at once. In
//! both cases it is the same code that runs it, over the environment of the same call.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::files::{Finder, Located};
use super::{Builtin, Content, Output, ToolContext, files};
use crate::env::{Env, FileKind, Host};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, Keys, required};
use crate::path;
use crate::text::truncate::{Limits, TruncatedBy, Truncation, format_size, head};

#[cfg(feature = "search")]
mod batch;
#[cfg(feature = "search")]
mod find;
#[cfg(feature = "search")]
mod grep;
#[cfg(feature = "search")]
mod run;
#[cfg(feature = "search")]
mod tree;

#[cfg(feature = "search")]
pub use run::search;

/// Where spill files lie in an environment that is nothing but a work tree.
const SPILL: &str = ".tackroom";

/// A path as it was sent, or the working directory where none was.
pub(super) fn or_here(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

/// Where a search starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// As a message names it.
    pub shown: String,
    /// Absolute; canonical, where the environment can tell.
    pub path: String,
    /// Else it is a file.
    pub is_directory: bool,
    /// What a file is called in results: by its link, where one was named.
    pub name: String,
    /// Bytes of a file.
    pub size: u64,
}

impl Start {
    /// Finds it, and follows it where it is a link: a path that is named may be one.
    pub(super) async fn find<E: Env, H: Host>(
        asked: &str,
        cx: &ToolContext<'_, E, H>,
    ) -> Result<Start, ToolError> {
        let asked = or_here(asked);
        let Located { shown, path, info } = Finder::new(cx).existing(asked).await?;
        let failed = |error| files::unusable(error, &shown, &path);
        let real = cx.env.canonical_path(&path).await.map_err(failed)?;
        let (mut kind, mut size) = info.map_or((FileKind::File, 0), |info| (info.kind, info.size));
        let mut name = path::name(&path).to_owned();
        if kind == FileKind::Symlink {
            if path.ends_with(&*path::join("/", asked)) || real.as_ref() == Some(&path) {
                name = path::name(&path::join("/", asked)).to_owned();
            }
            if let Some(real) = &real {
                let info = cx.env.file_info(real).await.map_err(failed)?;
                (kind, size) = (info.kind, info.size);
            }
        }
        let is_directory = match kind {
            FileKind::File => false,
            FileKind::Directory => true,
            // Nobody can tell where it leads, so that it is tried.
            FileKind::Symlink => cx.env.list_dir(&path).await.is_ok(),
        };
        Ok(Start { path: real.unwrap_or(path), shown, is_directory, name, size })
    }

    pub(super) fn expect_directory(&self) -> Result<(), ToolError> {
        match self.is_directory {
            true => Ok(()),
            false => {
                let message = format!("Not a directory: {}", self.shown);
                Err(ToolError::new(ErrorCode::NotDirectory, message).at(&*self.path))
            }
        }
    }

    /// An environment's failure there, in words for the model.
    pub(super) fn unusable(&self, error: ToolError) -> ToolError {
        files::unusable(error, &self.shown, &self.path)
    }

    /// Whether an entry there is of no interest unless it is named: spill files, at the top of a tree.
    pub(super) fn hides(&self, name: &str, cwd: &str, root: Option<&str>) -> bool {
        name == SPILL && (self.path == "/" || self.path == cwd || root == Some(&self.path))
    }
}

impl<E: Env> Finder<'_, E> {
    /// Whether a link in a directory leads to a directory; with a root, to one inside.
    pub(super) async fn leads_to_directory(&self, directory: &str, name: &str) -> bool {
        let link = path::join(directory, &format!("./{name}"));
        match self.touched(&link, false).await {
            Ok(real) if real != link => {
                matches!(self.env().file_info(&real).await, Ok(info) if info.kind == FileKind::Directory)
            }
            _ => false,
        }
    }
}

/// What is said of a result after it, in brackets.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes(String);

impl Notes {
    /// Where the next note is written.
    pub fn next(&mut self) -> &mut String {
        if !self.0.is_empty() {
            self.0.push_str(". ");
        }
        &mut self.0
    }
}

/// The lines of a result. Those beyond the limits are counted and not kept.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    kept: String,
    limits: Limits,
    count: u64,
    bytes: u64,
}

impl Lines {
    pub fn new(limits: Limits) -> Self {
        Lines { kept: String::new(), limits, count: 0, bytes: 0 }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a line of these parts.
    pub fn push(&mut self, parts: &[&str]) {
        // One that is over a limit is kept, so that it is seen that there is one.
        let shown = self.bytes.saturating_sub(1);
        if shown <= self.limits.max_bytes as u64 && self.count <= self.limits.max_lines as u64 {
            parts.iter().for_each(|part| self.kept.push_str(part));
            self.kept.push('\n');
        }
        self.bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>() + 1;
        self.count += 1;
    }

    /// The text of a result: the lines, cut to the limits, or `none`; then the notes. `rest` says how what was cut
    /// can be seen.
    pub fn finish(&self, none: &str, rest: &str, mut notes: Notes) -> (String, Option<Truncation>) {
        let lines = self.kept.strip_suffix('\n').unwrap_or_default();
        let cut = head(lines, self.limits);
        let mut text = if self.is_empty() { none } else { cut.content }.to_owned();
        let facts =
            Truncation { total_lines: self.count, total_bytes: self.bytes.saturating_sub(1), ..cut.facts };
        if facts.truncated {
            let _ = match facts.truncated_by {
                Some(TruncatedBy::Lines) => write!(notes.next(), "{} lines limit reached", facts.max_lines),
                _ => write!(notes.next(), "{} limit reached", format_size(facts.max_bytes as u64)),
            };
            let _ = write!(notes.next(), "{rest}");
        }
        if !notes.0.is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            let _ = write!(text, "[{}]", notes.0);
        }
        (text, facts.truncated.then_some(facts))
    }
}

/// A name without what would make two lines of it.
pub(super) fn on_one_line(name: &str) -> std::borrow::Cow<'_, str> {
    match name.contains(['\n', '\r']) {
        true => name.replace(['\n', '\r'], "\u{FFFD}").into(),
        false => name.into(),
    }
}

/// A search that may run: all that it needs beside an environment and a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// [`Builtin::Grep`] or [`Builtin::Find`].
    pub tool: Builtin,
    /// As its schema lets them through.
    pub arguments: Value,
    /// Where it starts.
    pub start: Start,
    /// The directory that file tools are confined to, canonical: nothing above it is read.
    pub root: Option<String>,
    /// This tool's limits.
    pub limits: Limits,
    /// How many results it shows where the model does not say; `None` is the tool's own default.
    pub results: Option<u64>,
    /// Whether a hint can name `read`.
    pub has_read: bool,
}

impl Job {
    /// The job as JSON.
    pub fn to_json(&self) -> Value {
        let mut map = Map::of("tool", self.tool.name().into());
        map.put("arguments", self.arguments.clone());
        map.put_text("shown", &self.start.shown);
        map.put_text("path", &self.start.path);
        map.put("isDirectory", self.start.is_directory.into());
        map.put_text("name", &self.start.name);
        map.put("size", self.start.size.into());
        map.put("root", self.root.clone().into());
        map.put("maxLines", self.limits.max_lines.into());
        map.put("maxBytes", self.limits.max_bytes.into());
        map.put("results", self.results.into());
        map.put("hasRead", self.has_read.into());
        Value::Object(map)
    }

    /// A job that [`Job::to_json`] gave.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(value: Value) -> Result<Job, String> {
        let mut fields = Fields::of(value)?;
        let whole = |value: Value| value.as_u64().ok_or_else(|| json::wrong(&value, "an integer"));
        let limit = |number: Option<u64>| usize::try_from(number.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
        let tool = required("tool", fields.text("tool")?)?;
        Ok(Job {
            tool: Builtin::named(&tool).ok_or_else(|| format!("no tool is called {tool}"))?,
            arguments: required("arguments", fields.take("arguments"))?,
            start: Start {
                shown: required("shown", fields.text("shown")?)?,
                path: required("path", fields.text("path")?)?,
                is_directory: required("isDirectory", fields.flag("isDirectory")?)?,
                name: fields.text("name")?.unwrap_or_default(),
                size: fields.read("size", whole)?.unwrap_or_default(),
            },
            root: fields.text("root")?,
            limits: Limits {
                max_lines: limit(fields.read("maxLines", whole)?),
                max_bytes: limit(fields.read("maxBytes", whole)?),
            },
            results: fields.read("results", whole)?,
            has_read: fields.flag("hasRead")?.unwrap_or_default(),
        })
    }
}

impl Output {
    /// The output as JSON.
    pub fn to_json(&self) -> Value {
        json::parse(&serde_json::to_vec(self).unwrap_or_default()).unwrap_or_default()
    }

    /// An output that [`Output::to_json`] gave.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(value: Value) -> Result<Output, String> {
        let mut fields = Fields::of(value)?;
        Ok(Output {
            content: required("content", fields.read("content", |value| json::list(value, Content::read))?)?,
            details: match fields.take("details") {
                Some(Value::Object(details)) => details,
                _ => Map::new(),
            },
        })
    }
}

/// Runs `grep` or `find`.
///
/// # Errors
/// `not_found` and the like for the path; `invalid_pattern`; `not_supported` where nothing can search.
pub(super) async fn run<E: Env, H: Host>(
    tool: Builtin,
    arguments: Value,
    cx: &ToolContext<'_, E, H>,
) -> Result<Output, ToolError> {
    let start = Start::find(arguments.get("path").and_then(Value::as_str).unwrap_or_default(), cx).await?;
    if tool == Builtin::Find {
        start.expect_directory()?;
    }
    let root = match cx.root {
        Some(root) => Some(cx.env.canonical_path(root).await.ok().flatten().unwrap_or_else(|| root.into())),
        None => None,
    };
    let job = Job {
        tool,
        arguments,
        start,
        root,
        limits: cx.limits,
        results: cx.results,
        has_read: cx.active.contains(&Builtin::Read),
    };
    dispatch(&job, cx).await
}

#[cfg(feature = "search")]
async fn dispatch<E: Env, H: Host>(job: &Job, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    search(job, cx.env, cx.host, cx.abort, cx.update).await
}

#[cfg(not(feature = "search"))]
async fn dispatch<E: Env, H: Host>(job: &Job, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    let broken = |error| ToolError::new(ErrorCode::Unknown, format!("The search answered wrongly: {error}"));
    let read = |text: &str| json::parse(text.as_bytes()).and_then(Output::read);
    let update = |snapshot: &str| {
        if let Ok(output) = read(snapshot) {
            (cx.update)(output);
        }
    };
    let answer = cx.host.search(job.to_json().to_string(), &update).await?;
    read(&answer).map_err(broken)
}
