//! The tools: one file each, with its schema, its words for the model, its dialects and a short `run`.
//!
//! A tool is an async function over an environment; the thinking is in the pure functions of [`crate::text`].
//! It fails by returning an error: what a failure looks like to the model is decided in one place, the pipeline.

use std::cell::RefCell;
use std::pin::Pin;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::env::{Abort, Env, Host, MutationQueue, Shell};
use crate::error::ToolError;
use crate::json::{Fields, required};
use crate::text::redact::Redactor;
use crate::text::truncate::Limits;

pub mod change;
pub mod declare;
pub mod dialect;
pub mod edit;
mod files;
pub mod find;
pub mod grep;
mod locate;
pub mod ls;
mod picture;
pub mod read;
pub mod search;
pub mod shell;
mod suggest;
pub mod write;

pub use change::{ChangeKind, FileChange};
pub use locate::resolve_confined;
pub use picture::{ImageProcessor, ImageSettings};

/// The tools there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
    /// [`read`]
    Read,
    /// [`shell`], bash
    Bash,
    /// [`shell`], PowerShell
    PowerShell,
    /// [`edit`]
    Edit,
    /// [`mod@write`]
    Write,
    /// [`grep`]
    Grep,
    /// [`find`]
    Find,
    /// [`ls`]
    Ls,
}

/// A part of a result, for the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    #[serde(rename_all = "camelCase")]
    Image {
        /// Base64; empty where the host keeps it (see [`crate::env::ShownImage`]).
        data: String,
        /// Such as `image/png`.
        mime_type: String,
    },
}

impl Content {
    /// A part from JSON.
    pub(crate) fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        match required("type", fields.text("type")?)?.as_str() {
            "text" => Ok(Content::Text { text: required("text", fields.text("text")?)? }),
            "image" => Ok(Content::Image {
                data: required("data", fields.text("data")?)?,
                mime_type: required("mimeType", fields.text("mimeType")?)?,
            }),
            other => Err(format!("unknown variant `{other}`, expected `text` or `image`")),
        }
    }

    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Content::Text { text: text.into() }
    }
}

/// What a tool gives back when it works, and its snapshots while it runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Output {
    /// For the model.
    pub content: Vec<Content>,
    /// For programs and people.
    pub details: Map<String, Value>,
}

impl Output {
    /// One text, and the details as their struct says.
    ///
    /// # Panics
    /// When the details are no object: a tool's own struct is.
    pub fn new(text: impl Into<String>, details: &impl Serialize) -> Self {
        Output { content: vec![Content::text(text)], details: object(details) }
    }
}

/// The JSON object of a struct.
pub(crate) fn object(details: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(details) {
        Ok(Value::Object(map)) => map,
        _ => unreachable!("details are a struct of plain values"),
    }
}

/// What a call touches, with canonical paths.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// What is done there.
    pub operation: Operation,
    /// The canonical path.
    pub path: String,
}

/// What is done at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// The content is read.
    Read,
    /// The content is replaced, or the file created.
    Write,
    /// Entries are listed.
    List,
    /// A command is run there.
    Exec,
}

/// What the pipeline does when a call is aborted while its tool runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OnAbort {
    /// Answers, and drops the tool.
    #[default]
    Drop,
    /// Answers that the write to this path may land, and lets the tool end unheard: its place in the mutation
    /// queue must be held until the write has settled.
    LetItLand(String),
    /// Waits for the tool, which ends by itself and keeps what it has.
    LetItAnswer,
}

/// What a running tool sees of the world.
pub struct ToolContext<'a, E: Env, H: Host> {
    /// The place to work in.
    pub env: &'a E,
    /// Clock and timers.
    pub host: &'a H,
    /// The mutation queue of this environment.
    pub queue: &'a MutationQueue,
    /// Raised when the call is aborted.
    pub abort: &'a Abort,
    /// What to do then; the tool sets it as it goes.
    pub on_abort: &'a RefCell<OnAbort>,
    /// The directory that file tools are confined to, absolute and normal.
    pub root: Option<&'a str>,
    /// What a hook has agreed to; a call that would touch another path is refused. `None` where no hook was asked.
    pub cleared: Option<&'a [Access]>,
    /// Whether `write` keeps a file's BOM, encoding and line endings.
    pub preserve_encoding: bool,
    /// This tool's limits.
    pub limits: Limits,
    /// How many results this tool shows where the model does not say; `None` is the tool's own default.
    pub results: Option<u64>,
    /// The tools that the model can name in its next call: a hint names no other.
    pub active: &'a [Builtin],
    /// For shell tools.
    pub shell: &'a ShellSettings,
    /// Which images are shown, and how.
    pub images: &'a ImageSettings,
    /// What nobody is to see. The pipeline hides it in results; a tool does so in what it stores.
    pub redactor: Option<&'a Redactor>,
    /// Takes snapshots of the output so far.
    pub update: &'a dyn Fn(Output),
    /// Hears of every change that has landed.
    pub mutated: &'a dyn Fn(&FileChange),
}

/// Settings of the shell tools.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellSettings {
    /// Milliseconds between two snapshots of a running command's output.
    pub update_interval_ms: f64,
    /// What every bash command begins with, in a line of its own.
    pub command_prefix: Option<String>,
    /// Variables about the session, to be set for each command.
    pub session_env: Vec<(String, String)>,
}

/// What a declaration is built from.
pub struct Facts<'a> {
    /// The tools that the model sees.
    pub active: &'a [Builtin],
    /// This tool's limits.
    pub limits: Limits,
    /// How many results this tool shows where the model does not say; `None` is the tool's own default.
    pub results: Option<u64>,
    /// Which images are shown, and how.
    pub images: &'a ImageSettings,
    /// The environment.
    pub place: Place<'a>,
}

/// What declarations say of an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Place<'a> {
    /// Its own words.
    pub description: Option<&'a str>,
    /// Whether it has room for output that is not shown.
    pub has_temp_files: bool,
}

impl Facts<'_> {
    /// Whether the model sees that tool.
    pub fn has(&self, tool: Builtin) -> bool {
        self.active.contains(&tool)
    }
}

/// What a model sees of a tool, and what a prompt says of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Declaration {
    /// The name that a call has.
    pub name: &'static str,
    /// The name for people.
    pub label: &'static str,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
    /// How a provider is asked to sample them: see [`declare::Sampling::read`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constrained_sampling: Option<Value>,
    /// One line for a system prompt.
    pub prompt_snippet: String,
    /// Rules for a system prompt.
    pub prompt_guidelines: Vec<String>,
}

impl Builtin {
    /// Every tool, in the order in which they are registered.
    pub const ALL: [Builtin; 8] = [
        Builtin::Read,
        Builtin::Bash,
        Builtin::PowerShell,
        Builtin::Edit,
        Builtin::Write,
        Builtin::Grep,
        Builtin::Find,
        Builtin::Ls,
    ];

    /// The name in a call.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Read => "read",
            Builtin::Bash => "bash",
            Builtin::PowerShell => "powershell",
            Builtin::Edit => "edit",
            Builtin::Write => "write",
            Builtin::Grep => "grep",
            Builtin::Find => "find",
            Builtin::Ls => "ls",
        }
    }

    /// The tool of that name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// Whether it changes nothing.
    pub fn is_read_only(self) -> bool {
        matches!(self, Builtin::Read) || self.is_search()
    }

    /// Whether it looks for files and lines: active by default where no shell does that.
    pub fn is_search(self) -> bool {
        matches!(self, Builtin::Grep | Builtin::Find | Builtin::Ls)
    }

    /// The shell that it needs, if it needs one.
    pub fn shell(self) -> Option<Shell> {
        match self {
            Builtin::Bash => Some(Shell::Bash),
            Builtin::PowerShell => Some(Shell::PowerShell),
            _ => None,
        }
    }

    /// JSON Schema of the arguments.
    pub fn parameters(self) -> Value {
        match self {
            Builtin::Read => read::parameters(),
            Builtin::Bash | Builtin::PowerShell => shell::parameters(),
            Builtin::Edit => edit::parameters(),
            Builtin::Write => write::parameters(),
            Builtin::Grep => grep::parameters(),
            Builtin::Find => find::parameters(),
            Builtin::Ls => ls::parameters(),
        }
    }

    /// What a model sees of it.
    pub fn declaration(self, facts: &Facts<'_>) -> Declaration {
        match self {
            Builtin::Read => read::declaration(facts),
            Builtin::Bash => shell::declaration(Shell::Bash, facts),
            Builtin::PowerShell => shell::declaration(Shell::PowerShell, facts),
            Builtin::Edit => edit::declaration(facts),
            Builtin::Write => write::declaration(facts),
            Builtin::Grep => grep::declaration(facts),
            Builtin::Find => find::declaration(facts),
            Builtin::Ls => ls::declaration(facts),
        }
    }

    /// Brings the dialects that models speak to the schema's own keys. What it does not know it leaves alone.
    pub fn prepare(self, arguments: Value) -> Value {
        match self {
            Builtin::Read => dialect::rename(arguments, read::ALIASES),
            Builtin::Bash | Builtin::PowerShell => dialect::rename(arguments, shell::ALIASES),
            Builtin::Edit => edit::prepare(arguments),
            Builtin::Write => dialect::rename(arguments, write::ALIASES),
            Builtin::Grep => dialect::rename(arguments, grep::ALIASES),
            Builtin::Find => dialect::rename(arguments, find::ALIASES),
            Builtin::Ls => dialect::rename(arguments, ls::ALIASES),
        }
    }

    /// [`Builtin::prepare`] for arguments that are still being written.
    pub fn prepare_partial(self, arguments: Value) -> Value {
        match self {
            Builtin::Edit => edit::prepare_partial(arguments),
            _ => self.prepare(arguments),
        }
    }

    /// What a call with these (valid) arguments would touch.
    ///
    /// # Errors
    /// Those of finding the path: the call would fail with the same.
    pub async fn access<E: Env>(
        self,
        arguments: &Value,
        env: &E,
        root: Option<&str>,
    ) -> Result<Vec<Access>, ToolError> {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
        let (operations, path): (&[Operation], &str) = match self {
            Builtin::Bash | Builtin::PowerShell => {
                let cwd = env.canonical_path(env.cwd()).await.ok().flatten();
                let path = cwd.unwrap_or_else(|| env.cwd().to_owned());
                return Ok(vec![Access { operation: Operation::Exec, path }]);
            }
            Builtin::Read => (&[Operation::Read], path),
            Builtin::Grep => (&[Operation::Read], search::or_here(path)),
            Builtin::Find | Builtin::Ls => (&[Operation::List], search::or_here(path)),
            Builtin::Write => (&[Operation::Write], path),
            Builtin::Edit => (&[Operation::Read, Operation::Write], path),
        };
        let path = files::Finder::outside_a_call(env, root).accessed(path, self).await?;
        Ok(operations.iter().map(|&operation| Access { operation, path: path.clone() }).collect())
    }

    /// Runs it with arguments that fit its schema. Mutations take their place in the queue at the first poll.
    ///
    /// # Errors
    /// Whatever keeps it from doing what it was asked to do.
    pub async fn run<E: Env, H: Host>(
        self,
        arguments: Value,
        cx: &ToolContext<'_, E, H>,
    ) -> Result<Output, ToolError> {
        // Each a function of its own, and not parts of one: engines compile wasm functions at their first call.
        let running = match self {
            Builtin::Read => boxed(read::run(read_arguments(read::Args::read, arguments)?, cx)),
            Builtin::Bash | Builtin::PowerShell => {
                let shell = if self == Builtin::Bash { Shell::Bash } else { Shell::PowerShell };
                boxed(shell::run(shell, read_arguments(shell::Args::read, arguments)?, cx))
            }
            Builtin::Edit => boxed(edit::run(read_arguments(edit::Args::read, arguments)?, cx)),
            Builtin::Write => boxed(write::run(read_arguments(write::Args::read, arguments)?, cx)),
            Builtin::Ls => boxed(ls::run(read_arguments(ls::Args::read, arguments)?, cx)),
            Builtin::Grep | Builtin::Find => boxed(search::run(self, arguments, cx)),
        };
        running.await
    }
}

/// A future whose code is not inlined where it is awaited.
pub(crate) fn boxed<'a, T>(future: impl Future<Output = T> + 'a) -> Pin<Box<dyn Future<Output = T> + 'a>> {
    Box::pin(future)
}

/// The key of a file in the mutation queue: the path that a tool would change if it were sent this one.
///
/// # Errors
/// Those of finding the path.
pub async fn mutation_key<E: Env>(env: &E, path: &str) -> Result<String, ToolError> {
    files::Finder::outside_a_call(env, None).touched(path, true).await
}

/// Arguments that passed the schema, as the tool's struct. The two are tested against each other.
fn read_arguments<T>(read: fn(Value) -> Result<T, String>, arguments: Value) -> Result<T, ToolError> {
    read(arguments)
        .map_err(|error| ToolError::invalid_arguments(format!("Arguments do not fit the tool: {error}")))
}
