//! The only doors to the outside: [`Env`], the place where tools work, and [`Host`], clock, timers and images.
//!
//! Hosts differ. A browser store has no shell and no links, a remote machine has both, a test wants neither
//! disk nor time. So the core asks through one trait and takes "there is no such thing" for an answer: what a
//! host may lack is an `Option` in the result, never a panic and never a guess.
//!
//! An `Env` value belongs to one tool call. It carries that call's abort signal, so that no method needs one;
//! what is shared between calls (the mutation queue) has its own type, [`MutationQueue`].

use std::ops::Range;
use std::rc::Rc;

use crate::error::{ErrorCode, ToolError};

pub mod manual;
pub mod memory;
pub mod queue;
pub mod wait;

pub use manual::ManualHost;
pub use memory::MemoryEnv;
pub use queue::{MutationQueue, WeakQueue};
pub use wait::{Abort, Flow};

/// What kind of thing a path names, as lstat sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it points to.
    Symlink,
}

/// What [`Env::file_info`] and [`Env::list_dir`] tell of one entry.
#[derive(Clone, Debug, PartialEq)]
pub struct FileInfo {
    /// The last segment of the path.
    pub name: String,
    /// Absolute path.
    pub path: String,
    /// As lstat sees it.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Milliseconds since the epoch.
    pub mtime_ms: f64,
}

/// A shell that commands can be written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash, or something that reads like it.
    Bash,
    /// PowerShell.
    PowerShell,
}

impl Shell {
    /// The name that crosses the boundary.
    pub fn as_str(self) -> &'static str {
        match self {
            Shell::Bash => "bash",
            Shell::PowerShell => "powershell",
        }
    }
}

/// Which of a command's streams a chunk came from.
pub use crate::text::accumulator::Stream;

/// A command to run.
#[derive(Clone, Debug)]
pub struct ExecRequest {
    /// The command as text, for the shell to read.
    pub command: String,
    /// The shell.
    pub shell: Shell,
    /// Absolute path of the directory to run in.
    pub cwd: String,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Variables to remove before that.
    pub unset_env: Vec<String>,
    /// Seconds, for information only: the caller raises `abort` when they are over.
    pub timeout: Option<f64>,
    /// Raised when the command is to end.
    pub abort: Abort,
    /// Closed while output that came has still to be stored: an environment that can lets the command wait.
    pub flow: Flow,
}

/// A command as it is about to be run, for [`Host::before_exec`].
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// The command as text, for the shell to read.
    pub command: String,
    /// Absolute path of the directory to run in.
    pub cwd: String,
    /// Variables to set.
    pub env: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Clone, Debug, Default)]
pub struct ExecOutcome {
    /// `None` where it ended without one. Windows has codes up to 2^32.
    pub exit_code: Option<i64>,
    /// All of standard output, where the environment did not stream.
    pub stdout: Option<Vec<u8>>,
    /// All of standard error, likewise.
    pub stderr: Option<Vec<u8>>,
}

/// Where a running command's output goes, in the order of its arrival. It is shared, so that an environment can
/// hand a chunk over the moment it comes, and nothing piles up on the way.
pub type OutputSink = Rc<dyn Fn(Stream, &[u8])>;

/// A file that is taken for a change, until this is dropped.
#[derive(Default)]
pub struct Held(Option<Box<dyn FnOnce()>>);

impl Held {
    /// Lets go by this.
    pub fn until(release: impl FnOnce() + 'static) -> Self {
        Held(Some(Box::new(release)))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(release) = self.0.take() {
            release();
        }
    }
}

/// A whole file that the host has at hand: what is not asked for is not copied.
pub trait Content {
    /// Bytes.
    fn size(&self) -> usize;
    /// Puts that part, which lies within, in place of what the buffer holds.
    fn copy_part(&self, part: Range<usize>, into: &mut Vec<u8>);
    /// All of it.
    ///
    /// # Errors
    /// `not_supported` where it is more than can be held.
    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, ToolError>;
}

impl Content for Vec<u8> {
    fn size(&self) -> usize {
        self.len()
    }

    fn copy_part(&self, part: Range<usize>, into: &mut Vec<u8>) {
        into.clear();
        into.extend_from_slice(&self[part]);
    }

    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, ToolError> {
        Ok(*self)
    }
}

/// The place where tools work. Paths are absolute POSIX paths; failures carry a code of
/// [`crate::error::ErrorCode`] and the environment's own words.
#[allow(async_fn_in_trait, reason = "one thread, no boxing: the futures need no Send")]
pub trait Env {
    /// What relative paths are resolved against; absolute.
    fn cwd(&self) -> &str;
    /// The home directory, where there is one.
    fn home(&self) -> Option<&str> {
        None
    }
    /// What kind of place this is, in words for the model.
    fn description(&self) -> Option<&str> {
        None
    }
    /// The shells that [`Env::exec`] understands; empty where there is none.
    fn shells(&self) -> &[Shell] {
        &[]
    }
    /// The whole file.
    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError>;
    /// The whole file, for a reader that takes it piece by piece.
    async fn open_file(&self, path: &str) -> Result<Box<dyn Content>, ToolError> {
        Ok(Box::new(self.read_file(path).await?))
    }
    /// The bytes from `start` to before `end`; fewer only where the file ends before that. `None` where the
    /// environment gives only whole files.
    async fn read_range(&self, _path: &str, _start: u64, _end: u64) -> Result<Option<Vec<u8>>, ToolError> {
        Ok(None)
    }
    /// Whole files, in the order of their paths. `None` where the environment reads them one by one.
    async fn read_files(
        &self,
        _paths: &[String],
    ) -> Result<Option<Vec<Result<Vec<u8>, ToolError>>>, ToolError> {
        Ok(None)
    }
    /// The files below a directory in the order of `rg --sort path`, without those that ignore files exclude. `None`
    /// where the environment only lists directories.
    async fn walk(&self, _request: &WalkRequest) -> Result<Option<Vec<WalkEntry>>, ToolError> {
        Ok(None)
    }
    /// The lines that a pattern matches, found where the files are. `None` where the environment does not search.
    async fn search(&self, _request: &SearchRequest) -> Result<Option<SearchAnswer>, ToolError> {
        Ok(None)
    }
    /// Replaces the file, or creates it in a directory that exists.
    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError>;
    /// lstat.
    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError>;
    /// The entries of a directory, in any order.
    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError>;
    /// The path with links resolved; `None` where the environment cannot tell.
    async fn canonical_path(&self, _path: &str) -> Result<Option<String>, ToolError> {
        Ok(None)
    }
    /// Creates a directory with its parents; `None` where the environment knows no directories.
    async fn create_dir(&self, _path: &str) -> Result<Option<()>, ToolError> {
        Ok(None)
    }
    /// Creates an empty file of a name that is new, outside of what the tools work on, with this beginning and end of
    /// its name; answers its absolute path. `None` where the environment has no such place, or cannot
    /// [append](Env::append_file).
    async fn create_temp_file(&self, _prefix: &str, _suffix: &str) -> Result<Option<String>, ToolError> {
        Ok(None)
    }
    /// Whether this canonical path is that of a file which [`Env::create_temp_file`] made.
    fn is_temp_file(&self, _path: &str) -> bool {
        false
    }
    /// Writes at the end of such a file. Goes on when the call is aborted.
    async fn append_file(&self, _path: &str, _content: &[u8]) -> Result<(), ToolError> {
        Err(ToolError::new(ErrorCode::NotSupported, "the environment cannot append to files"))
    }
    /// Removes a file that [`Env::create_temp_file`] made; nothing happens where the environment cannot.
    async fn remove_temp_file(&self, _path: &str) -> Result<(), ToolError> {
        Ok(())
    }
    /// Runs a command, or `None` where there is no shell. Ends when the command does; output after that is late
    /// and not heard.
    async fn exec(
        &self,
        _request: &ExecRequest,
        _output: OutputSink,
    ) -> Result<Option<ExecOutcome>, ToolError> {
        Ok(None)
    }
    /// Takes a file for a change, beyond this core: waits until writes to it that an earlier life of the core began
    /// have settled (a module that trapped leaves its writes with the host), then for the environment's own lock,
    /// where it has one.
    async fn hold(&self, _path: &str) -> Result<Held, ToolError> {
        Ok(Held::default())
    }
}

/// Files to be listed, as ripgrep would search them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkRequest {
    /// Absolute path of the directory.
    pub path: String,
    /// As find takes it: only what it matches.
    pub glob: Option<String>,
    /// How many at most.
    pub limit: Option<u64>,
}

/// A file, or a link, that a walk came by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkEntry {
    /// Relative to the directory.
    pub path: String,
    /// A file or a link.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
}

/// A search for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchRequest {
    /// Absolute path of a directory or a file.
    pub path: String,
    /// A regular expression in Rust's syntax, or, if `literal`, a text.
    pub pattern: String,
    /// As ripgrep's `--glob`.
    pub glob: Option<String>,
    /// Whether case makes no difference.
    pub ignore_case: bool,
    /// Whether the pattern is a text.
    pub literal: bool,
    /// Lines to show before and after each match.
    pub context: u64,
    /// Lines that match, at most.
    pub limit: u64,
}

/// A line that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLine {
    /// Relative to the directory; of a file, its name.
    pub path: String,
    /// From 1.
    pub line: u64,
    /// The line, without its end.
    pub text: Vec<u8>,
    /// Whether it is beside one that matches, and does not match itself.
    pub is_context: bool,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SearchAnswer {
    /// In the order of their paths, each file's by their numbers, none twice.
    pub lines: Vec<FoundLine>,
    /// Whether there is at least one more.
    pub limit_reached: bool,
    /// Files that could not be read.
    pub unreadable: u64,
}

/// An image that a tool wants to show to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRequest {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Of the file: `image/png`, `image/jpeg`, `image/gif`, `image/webp` or, to be processed, `image/bmp`.
    pub mime_type: &'static str,
    /// How it is to be processed; `None` if it is shown as it is.
    pub processing: Option<ImageLimits>,
}

/// What a processed image has to keep within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Whether one that does not fit is to be made smaller. Else it is not shown.
    pub auto_resize: bool,
    /// Pixels; default 2000.
    pub max_width: u32,
    /// Pixels; default 2000.
    pub max_height: u32,
    /// Bytes of base64; default 4.5 MB.
    pub max_bytes: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        ImageLimits { auto_resize: true, max_width: 2000, max_height: 2000, max_bytes: 4_718_592 }
    }
}

/// An image as a model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownImage {
    /// Base64. A host that carries results further itself may keep it, and leave this empty: JavaScript does.
    pub data: String,
    /// Of the data.
    pub mime_type: String,
    /// What was done to it, in words for the model: lines, or nothing.
    pub hints: String,
}

/// Clock, timers and images. They come from the host's runtime, not from the user's environment.
#[allow(async_fn_in_trait, reason = "one thread, no boxing: the futures need no Send")]
pub trait Host {
    /// Milliseconds on a clock that only goes forward.
    fn now_ms(&self) -> f64;
    /// Ends after that many milliseconds; dropping the future takes the timer back.
    async fn sleep(&self, ms: f64);
    /// The host's last look at a command: what it gives back is run.
    async fn before_exec(&self, spawn: Spawn) -> Result<Spawn, ToolError> {
        Ok(spawn)
    }
    /// Encodes an image, and processes it before where that is asked. What fails is a sentence for the model.
    async fn show_image(&self, request: ImageRequest) -> Result<ShownImage, String>;
    /// Runs a search where this build cannot: in the module that has ripgrep's crates, over the environment of the
    /// same call. The job, snapshots and the output are JSON texts (see `tools::search::Job`); the environment's
    /// abort ends it.
    ///
    /// # Errors
    /// Those of the search; `not_supported` where there is no such module.
    async fn search(&self, _job: String, _update: &dyn Fn(&str)) -> Result<String, ToolError> {
        Err(ToolError::new(ErrorCode::NotSupported, "This build cannot search: grep and find are not in it"))
    }
}
