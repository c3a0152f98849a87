//! [`Env`] over the host's object. Whatever it answers is looked at before it is believed.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::ops::Range;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use js_sys::{Reflect, Uint8Array};
use serde_json::{Map, Value, json};
use wasm_bindgen::prelude::*;

use super::boundary::{Boundary, wrong_answer};
use super::convert::failure;
use crate::env::{
    Content, Env, ExecOutcome, ExecRequest, FileInfo, FileKind, Flow, Held, OutputSink, Shell, Stream,
};
#[cfg(feature = "search")]
use crate::env::{SearchAnswer, SearchRequest, WalkEntry, WalkRequest};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::path;
use crate::table::Table;
use crate::tools::Place;

/// The largest file that is taken in whole: wasm memory ends at 4 GiB, and an edit holds a few copies.
const MOST_BYTES: u32 = 1 << 30;

/// What the face read of an environment when the toolset was made.
#[derive(Debug)]
pub struct EnvFacts {
    /// Absolute.
    pub cwd: String,
    /// Absolute.
    pub home: Option<String>,
    /// For the model.
    pub description: Option<String>,
    /// Names of shells.
    pub shells: Vec<String>,
    /// Names of the optional methods that it has.
    pub methods: Vec<String>,
    /// The environment's identity: the same for every toolset over it.
    pub key: u32,
}

impl EnvFacts {
    /// What the face sends.
    ///
    /// # Errors
    /// `invalid_arguments` where it is something else.
    pub fn from_json(text: &[u8]) -> Result<EnvFacts, ToolError> {
        json::parse(text)
            .and_then(EnvFacts::read)
            .map_err(|error| ToolError::invalid_arguments(format!("Environment: {error}")))
    }

    fn read(value: Value) -> Result<EnvFacts, String> {
        let mut fields = Fields::of(value)?;
        Ok(EnvFacts {
            cwd: required("cwd", fields.text("cwd")?)?,
            home: fields.text("home")?,
            description: fields.text("description")?,
            shells: required("shells", fields.texts("shells")?)?,
            methods: required("methods", fields.texts("methods")?)?,
            key: required("key", fields.number("key")?)? as u32,
        })
    }

    /// What declarations say of it.
    pub fn place(&self) -> Place<'_> {
        let has = |method: &str| self.methods.iter().any(|name| name == method);
        Place {
            description: self.description.as_deref(),
            has_temp_files: has("createTempFile") && has("appendFile"),
        }
    }

    /// The shells that the core knows.
    pub fn known_shells(&self) -> Vec<Shell> {
        let known = [Shell::Bash, Shell::PowerShell].into_iter();
        known.filter(|shell| self.shells.iter().any(|name| name == shell.as_str())).collect()
    }
}

/// The host's environment, for one call.
pub struct JsEnv {
    pub boundary: Boundary,
    pub object: JsValue,
    pub facts: Rc<EnvFacts>,
    pub shells: Rc<[Shell]>,
    pub call: u32,
}

impl JsEnv {
    fn has(&self, method: &str) -> bool {
        self.facts.methods.iter().any(|name| name == method)
    }

    /// The entries that a method answered.
    pub(super) fn file_infos(
        &self,
        value: &JsValue,
        method: &str,
        path: &str,
    ) -> Result<Vec<FileInfo>, ToolError> {
        self.boundary
            .to_file_infos(value, |answer| info(answer, None))
            .map_err(|found| wrong_answer(method, path, &format!("an array of {INFO}"), &found))
    }

    /// About temporary files. No signal goes along: output that has come is kept.
    async fn temp(&self, method: &str, path: &str, content: &JsValue) -> Result<JsValue, ToolError> {
        let answer = self.boundary.temp_file(&self.object, method, path, content);
        let value = self.boundary.outcome(answer).await?;
        self.unwrap(value)
    }

    async fn ask(&self, method: &str, path: &str, content: &JsValue) -> Result<JsValue, ToolError> {
        let answer = self.boundary.invoke(&self.object, method, path, content, self.call);
        let value = self.boundary.outcome(answer).await?;
        self.unwrap(value)
    }

    /// A value, or what a `Result` holds. An object counts as one only with a boolean `ok`.
    pub(super) fn unwrap(&self, value: JsValue) -> Result<JsValue, ToolError> {
        if !value.is_object() {
            return Ok(value);
        }
        let get = |object: &JsValue, key: &str| {
            Reflect::get(object, &key.into()).map_err(|thrown| failure(self.boundary.thrown(&thrown)))
        };
        match get(&value, "ok")?.as_bool() {
            None => Ok(value),
            Some(true) => get(&value, "value"),
            Some(false) => Err(failure(self.boundary.thrown(&get(&value, "error")?))),
        }
    }

    /// The bytes that a method answered.
    pub(super) async fn bytes_of(
        &self,
        answer: Result<JsValue, ToolError>,
        method: &str,
        path: &str,
    ) -> Result<Uint8Array, ToolError> {
        let value = match answer {
            Ok(value) => due(value, path)?,
            Err(error) => return Err(self.told_apart(error, path).await),
        };
        self.boundary
            .to_bytes(&value)
            .ok_or_else(|| wrong_answer(method, path, "a Uint8Array", &self.boundary.kind_of(&value)))
    }

    /// The File System Standard has one name for both mismatches: look which one it is.
    async fn told_apart(&self, error: ToolError, path: &str) -> ToolError {
        if error.code != ErrorCode::NotDirectory {
            return error;
        }
        match self.file_info(path).await {
            Ok(info) if info.kind == FileKind::Directory => {
                ToolError { code: ErrorCode::IsDirectory, ..error }
            }
            _ => error,
        }
    }
}

/// A file that the host holds.
pub(super) struct JsContent(pub(super) Uint8Array);

impl JsContent {
    pub(super) fn bytes(&self) -> Result<Vec<u8>, ToolError> {
        if self.0.length() > MOST_BYTES {
            let size = crate::text::truncate::format_size(self.0.length().into());
            let message = format!("the file has {size}, the most that is read at once is 1.0GB");
            return Err(ToolError::new(ErrorCode::NotSupported, message));
        }
        Ok(self.0.to_vec())
    }
}

impl Content for JsContent {
    fn size(&self) -> usize {
        self.0.length() as usize
    }

    fn copy_part(&self, part: Range<usize>, into: &mut Vec<u8>) {
        into.resize(part.len(), 0);
        // Not more than the file has, whose size is a u32.
        self.0.subarray(part.start as u32, part.end as u32).copy_to(into);
    }

    fn into_bytes(self: Box<Self>) -> Result<Vec<u8>, ToolError> {
        self.bytes()
    }
}

const INFO: &str = "{ name, path, kind, size, mtimeMs }";

/// The info that an answer is, with what a host may leave out; else what is wrong with it.
fn info(answer: Value, path: Option<&str>) -> Result<FileInfo, String> {
    let mut fields = Fields::of(answer)?;
    let kind = match required("kind", fields.text("kind")?)?.as_str() {
        "file" => FileKind::File,
        "directory" => FileKind::Directory,
        "symlink" => FileKind::Symlink,
        other => return Err(format!("the kind \"{other}\"")),
    };
    let at = fields.text("path")?.or(path.map(Into::into)).unwrap_or_default();
    Ok(FileInfo {
        name: fields.text("name")?.unwrap_or_else(|| path::name(&at).to_owned()),
        path: at,
        kind,
        size: fields.number("size")?.unwrap_or(0.0).max(0.0) as u64,
        mtime_ms: fields.number("mtimeMs")?.unwrap_or(0.0),
    })
}

/// Refuses null and undefined where a value is due: some stores answer so for what is not there.
fn due(value: JsValue, path: &str) -> Result<JsValue, ToolError> {
    match value.is_null() || value.is_undefined() {
        true => Err(ToolError::new(ErrorCode::NotFound, format!("no such file: {path}"))),
        false => Ok(value),
    }
}

impl Env for JsEnv {
    fn cwd(&self) -> &str {
        &self.facts.cwd
    }

    fn home(&self) -> Option<&str> {
        self.facts.home.as_deref()
    }

    fn description(&self) -> Option<&str> {
        self.facts.description.as_deref()
    }

    fn shells(&self) -> &[Shell] {
        &self.shells
    }

    #[cfg(not(feature = "search"))]
    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.open_file(path).await?.into_bytes()
    }

    #[cfg(feature = "search")]
    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.whole_file(path).await
    }

    async fn open_file(&self, path: &str) -> Result<Box<dyn Content>, ToolError> {
        let answer = self.ask("readBinaryFile", path, &JsValue::UNDEFINED).await;
        let bytes = self.bytes_of(answer, "readBinaryFile", path).await?;
        #[cfg(feature = "fault")]
        assert!(!path.ends_with("/__trap__"), "a fault was asked for");
        Ok(Box::new(JsContent(bytes)))
    }

    async fn read_range(&self, path: &str, start: u64, end: u64) -> Result<Option<Vec<u8>>, ToolError> {
        if !self.has("readRange") {
            return Ok(None);
        }
        // Exact: a file of 8 PB is not to be had.
        let answer = self.boundary.read_range(&self.object, path, start as f64, end as f64, self.call);
        let answer = self.boundary.outcome(answer).await.and_then(|value| self.unwrap(value));
        let bytes = self.bytes_of(answer, "readRange", path).await?;
        if u64::from(bytes.length()) > end - start {
            let most = format!("at most {} (from {start} to {end})", end - start);
            return Err(wrong_answer("readRange", path, &most, &format!("{} bytes", bytes.length())));
        }
        Ok(Some(bytes.to_vec()))
    }

    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        // Owned by the host from here on, not a view into wasm memory.
        let bytes = Uint8Array::new_from_slice(content);
        match self.ask("writeFile", path, &bytes).await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.told_apart(error, path).await),
        }
    }

    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        let value = due(self.ask("fileInfo", path, &JsValue::UNDEFINED).await?, path)?;
        self.boundary
            .to_file_info(&value, |answer| info(answer, Some(path)))
            .map_err(|found| wrong_answer("fileInfo", path, INFO, &found))
    }

    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        let value = due(self.ask("listDir", path, &JsValue::UNDEFINED).await?, path)?;
        #[cfg(feature = "search")]
        if let Some(entries) = self.entries(&value, path) {
            return Ok(entries);
        }
        self.file_infos(&value, "listDir", path)
    }

    #[cfg(feature = "search")]
    async fn read_files(
        &self,
        paths: &[String],
    ) -> Result<Option<Vec<Result<Vec<u8>, ToolError>>>, ToolError> {
        if self.has("readFiles") { self.many_files(paths).await.map(Some) } else { Ok(None) }
    }

    #[cfg(feature = "search")]
    async fn walk(&self, request: &WalkRequest) -> Result<Option<Vec<WalkEntry>>, ToolError> {
        if self.has("walk") { self.walked(request).await.map(Some) } else { Ok(None) }
    }

    #[cfg(feature = "search")]
    async fn search(&self, request: &SearchRequest) -> Result<Option<SearchAnswer>, ToolError> {
        if self.has("search") { self.searched(request).await.map(Some) } else { Ok(None) }
    }

    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        if !self.has("canonicalPath") {
            return Ok(None);
        }
        let value = due(self.ask("canonicalPath", path, &JsValue::UNDEFINED).await?, path)?;
        match value.as_string().filter(|real| real.starts_with('/')) {
            Some(real) => Ok(Some(path::join("/", &real))),
            None => {
                Err(wrong_answer("canonicalPath", path, "an absolute path", &self.boundary.kind_of(&value)))
            }
        }
    }

    async fn create_dir(&self, path: &str) -> Result<Option<()>, ToolError> {
        if !self.has("createDir") {
            return Ok(None);
        }
        self.ask("createDir", path, &JsValue::UNDEFINED).await.map(|_| Some(()))
    }

    async fn create_temp_file(&self, prefix: &str, suffix: &str) -> Result<Option<String>, ToolError> {
        if !self.has("createTempFile") || !self.has("appendFile") {
            return Ok(None);
        }
        let value = self.temp("createTempFile", prefix, &suffix.into()).await?;
        let Some(path) = value.as_string().filter(|path| path.starts_with('/')) else {
            let found = self.boundary.kind_of(&value);
            return Err(wrong_answer("createTempFile", prefix, "an absolute path", &found));
        };
        // What it is named by, and what a link on the way makes of that.
        let real = self.canonical_path(&path).await.ok().flatten();
        for path in [Some(path::join("/", &path)), real].into_iter().flatten() {
            self.temp("note", &path, &JsValue::UNDEFINED).await?;
        }
        Ok(Some(path))
    }

    fn is_temp_file(&self, path: &str) -> bool {
        let answer = self.boundary.temp_file(&self.object, "is", path, &JsValue::UNDEFINED);
        answer.is_ok_and(|answer| answer.is_truthy())
    }

    async fn append_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        self.temp("appendFile", path, &Uint8Array::new_from_slice(content)).await.map(drop)
    }

    async fn remove_temp_file(&self, path: &str) -> Result<(), ToolError> {
        if self.has("remove") {
            self.temp("remove", path, &JsValue::UNDEFINED).await?;
        }
        Ok(())
    }

    async fn exec(
        &self,
        request: &ExecRequest,
        output: OutputSink,
    ) -> Result<Option<ExecOutcome>, ToolError> {
        if !self.has("exec") {
            return Ok(None);
        }
        let running = Running::start(&self.boundary, output, &request.flow);
        let options = json!({
            "command": request.command,
            "shell": request.shell.as_str(),
            "cwd": request.cwd,
            "env": Map::from_iter(request.env.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())))),
            "unsetEnv": request.unset_env,
            "timeout": request.timeout,
        });
        let answer = self.boundary.exec(&self.object, &options.to_string(), running.id);
        let mut ended = pin!(self.boundary.outcome(answer));
        let mut told = false;
        let value = poll_fn(|cx| {
            if !told && request.abort.poll(cx).is_ready() {
                told = true;
                // Only fails in a dead instance.
                let _ = self.boundary.abort_exec(running.id);
            }
            if !request.flow.watch(cx) && running.awaited.replace(false) {
                let _ = self.boundary.drained(running.id);
            }
            match ended.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(outcome),
                Poll::Pending => Poll::Pending,
            }
        })
        .await?;
        self.exec_outcome(self.unwrap(value)?).map(Some)
    }

    async fn hold(&self, path: &str) -> Result<Held, ToolError> {
        let earlier = self.boundary.earlier_writes(self.facts.key, path);
        let _ = self.boundary.outcome(earlier).await;
        if !self.has("lock") {
            return Ok(Held::default());
        }
        let id = NEXT_LOCK.replace(NEXT_LOCK.get().wrapping_add(1));
        let boundary = self.boundary.clone();
        // Made before the wait: who gives up waiting lets go, too. Unlocking only fails in a dead instance.
        let held = Held::until(move || drop(boundary.unlock(id)));
        self.boundary.outcome(self.boundary.lock(&self.object, path, id)).await?;
        Ok(held)
    }
}

impl JsEnv {
    fn exec_outcome(&self, value: JsValue) -> Result<ExecOutcome, ToolError> {
        let wrong = |found: &str| {
            let message = format!(
                "the environment's exec answered {found}, expected {{ exitCode: number | null, stdout?, stderr? }}"
            );
            ToolError::new(ErrorCode::Unknown, message)
        };
        if !value.is_object() {
            return Err(wrong(&self.boundary.kind_of(&value)));
        }
        let get = |key: &str| {
            Reflect::get(&value, &key.into()).map_err(|thrown| failure(self.boundary.thrown(&thrown)))
        };
        let exit_code = get("exitCode")?;
        let exit_code = match exit_code.as_f64() {
            Some(code) if code.fract() == 0.0 => Some(code as i64),
            None if exit_code.is_null() => None,
            _ => return Err(wrong(&format!("{} as its exitCode", self.boundary.kind_of(&exit_code)))),
        };
        let text = |key: &str| -> Result<Option<Vec<u8>>, ToolError> {
            let value = get(key)?;
            if value.is_undefined() || value.is_null() {
                return Ok(None);
            }
            match (value.as_string(), self.boundary.to_bytes(&value)) {
                (Some(text), _) => Ok(Some(text.into_bytes())),
                (None, Some(bytes)) => Ok(Some(bytes.to_vec())),
                (None, None) => Err(wrong(&format!("{} as its {key}", self.boundary.kind_of(&value)))),
            }
        };
        Ok(ExecOutcome { exit_code, stdout: text("stdout")?, stderr: text("stderr")? })
    }
}

thread_local! {
    static NEXT_LOCK: Cell<u32> = const { Cell::new(0) };
    static SINKS: RefCell<(u32, Table<u32, Sink>)> = RefCell::default();
}

/// Where a command's output goes.
#[derive(Clone)]
struct Sink {
    push: OutputSink,
    flow: Flow,
    /// The face waits for the flow to open.
    awaited: Rc<Cell<bool>>,
}

/// What becomes of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: the command is over.
    Late = 0,
    /// It is taken.
    Heard = 1,
    /// It is taken, and the next one should wait for `Boundary.drained`.
    Wait = 2,
}

/// A chunk of a running command's output.
pub fn chunk(exec: u32, stream: Stream, bytes: &[u8]) -> Taken {
    // Cloned out: the sink wakes a task, and nothing is borrowed meanwhile.
    let Some(sink) = SINKS.with_borrow(|sinks| sinks.1.get(&exec).cloned()) else { return Taken::Late };
    (sink.push)(stream, bytes);
    match sink.flow.is_closed() {
        true => {
            sink.awaited.set(true);
            Taken::Wait
        }
        false => Taken::Heard,
    }
}

/// A running command's place among the sinks.
struct Running<'a> {
    boundary: &'a Boundary,
    id: u32,
    awaited: Rc<Cell<bool>>,
}

impl<'a> Running<'a> {
    fn start(boundary: &'a Boundary, push: OutputSink, flow: &Flow) -> Self {
        let awaited = Rc::new(Cell::new(false));
        let sink = Sink { push, flow: flow.clone(), awaited: awaited.clone() };
        let id = SINKS.with_borrow_mut(|(next, sinks)| {
            *next = next.wrapping_add(1);
            sinks.insert(*next, sink);
            *next
        });
        Running { boundary, id, awaited }
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        SINKS.with_borrow_mut(|sinks| sinks.1.remove(&self.id));
        // Only fails in a dead instance.
        let _ = self.boundary.close_exec(self.id);
    }
}
