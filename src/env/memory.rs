//! An environment in memory, for native tests and for Rust programs that want one.
//!
//! It has files, directories and symbolic links, and never waits unless a latency is set. It does not have
//! permissions, times that move, or a shell: commands are answered by a script (see [`Step`]).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Env, ExecOutcome, ExecRequest, FileInfo, FileKind, Host, ManualHost, OutputSink, Shell, Stream};
use crate::error::{ErrorCode, ToolError};
use crate::path;

#[derive(Clone, Debug, PartialEq)]
enum Node {
    File(Vec<u8>),
    Directory,
    Symlink(String),
}

/// One thing that a scripted command does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Writes to a stream, and waits where it is asked to.
    Write(Stream, Vec<u8>),
    /// Writes so many times to a stream, and waits for nothing.
    Flood(Stream, Vec<u8>, usize),
    /// Lets so many milliseconds pass, or ends early when the command is aborted.
    Wait(f64),
    /// Ends with this exit code, or with none.
    Exit(Option<i64>),
    /// Ends with all output at once, as an environment that does not stream.
    Finish(ExecOutcome),
    /// Fails.
    Fail(ToolError),
}

/// A command's answer, by its text.
pub type Script = Rc<dyn Fn(&str) -> Vec<Step>>;

/// Files in memory. Clones are the same store.
///
/// ```
/// use tackroom::env::{Env, ManualHost, MemoryEnv};
/// let host = ManualHost::default();
/// let env = MemoryEnv::new(&host).with_file("/a.txt", "hello\n");
/// assert_eq!(host.run(env.read_file("/a.txt")).unwrap(), b"hello\n");
/// ```
#[derive(Clone)]
pub struct MemoryEnv {
    host: ManualHost,
    nodes: Rc<RefCell<BTreeMap<String, Node>>>,
    cwd: String,
    home: Option<String>,
    latency_ms: f64,
    script: Option<Script>,
    writes: Rc<Cell<usize>>,
    has_ranges: bool,
    temp_files: Option<TempFiles>,
    shells: Vec<Shell>,
}

/// Temporary files, and how storing to them goes.
#[derive(Clone, Debug, Default)]
struct TempFiles {
    made: Rc<RefCell<Vec<String>>>,
    latency_ms: f64,
    /// Bytes that there is room for.
    room: Option<usize>,
}

impl MemoryEnv {
    /// An empty store with `/` as its working directory.
    pub fn new(host: &ManualHost) -> Self {
        let nodes = BTreeMap::from([("/".to_owned(), Node::Directory)]);
        MemoryEnv {
            host: host.clone(),
            nodes: Rc::new(RefCell::new(nodes)),
            cwd: "/".into(),
            home: None,
            latency_ms: 0.0,
            script: None,
            writes: Rc::default(),
            has_ranges: true,
            temp_files: Some(TempFiles::default()),
            shells: vec![Shell::Bash],
        }
    }

    /// The same store, seen from this directory.
    pub fn with_cwd(mut self, cwd: &str) -> Self {
        self.cwd = path::join("/", cwd);
        self.make_dirs(&self.cwd.clone());
        self
    }

    /// The same store, with a home directory.
    pub fn with_home(mut self, home: &str) -> Self {
        self.home = Some(path::join("/", home));
        self.make_dirs(&path::join("/", home));
        self
    }

    /// The same store, with a file (and its parents).
    pub fn with_file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.put(path, Node::File(content.as_ref().to_vec()));
        self
    }

    /// The same store, with a directory (and its parents).
    pub fn with_dir(self, path: &str) -> Self {
        self.make_dirs(&path::join(&self.cwd, path));
        self
    }

    /// The same store, with a link to a target that need not exist.
    pub fn with_symlink(self, target: &str, path: &str) -> Self {
        self.put(path, Node::Symlink(target.into()));
        self
    }

    /// The same store, where every operation takes this long.
    pub fn with_latency(mut self, ms: f64) -> Self {
        self.latency_ms = ms;
        self
    }

    /// The same store, which gives whole files only.
    pub fn without_ranges(mut self) -> Self {
        self.has_ranges = false;
        self
    }

    /// The same store, with no place for temporary files.
    pub fn without_temp_files(mut self) -> Self {
        self.temp_files = None;
        self
    }

    /// The same store, where appending to a temporary file takes so long, and fails beyond so many bytes.
    pub fn with_temp_files(mut self, latency_ms: f64, room: Option<usize>) -> Self {
        self.temp_files = Some(TempFiles { latency_ms, room, ..TempFiles::default() });
        self
    }

    /// The same store, whose commands are for these shells. It has to have a script.
    pub fn with_shells(mut self, shells: &[Shell]) -> Self {
        self.shells = shells.to_vec();
        self
    }

    /// The same store, with a shell that answers by this script.
    pub fn with_shell(mut self, script: impl Fn(&str) -> Vec<Step> + 'static) -> Self {
        self.script = Some(Rc::new(script));
        self
    }

    /// Every file, by its absolute path.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let nodes = self.nodes.borrow();
        let files = nodes.iter().filter_map(|(path, node)| match node {
            Node::File(content) => Some((path.clone(), content.clone())),
            _ => None,
        });
        files.collect()
    }

    /// How many times a file was written, failures included.
    pub fn writes(&self) -> usize {
        self.writes.get()
    }

    fn put(&self, path: &str, node: Node) {
        let path = path::join(&self.cwd, path);
        self.make_dirs(path::parent(&path));
        self.nodes.borrow_mut().insert(path, node);
    }

    fn make_dirs(&self, path: &str) {
        let mut nodes = self.nodes.borrow_mut();
        let mut at = path;
        while at != "/" && !nodes.contains_key(at) {
            nodes.insert(at.to_owned(), Node::Directory);
            at = path::parent(at);
        }
    }

    async fn wait(&self) {
        if self.latency_ms > 0.0 {
            self.host.sleep(self.latency_ms).await;
        }
    }

    /// Follows links in the parents and, where asked, at the end. A missing last segment is no failure.
    fn resolve(&self, path: &str, follow_last: bool) -> Result<String, ToolError> {
        let nodes = self.nodes.borrow();
        let mut todo: Vec<String> = path.split('/').rev().filter(|s| !s.is_empty()).map(Into::into).collect();
        let (mut at, mut links) = ("/".to_owned(), 0);
        while let Some(segment) = todo.pop() {
            if segment == ".." {
                at = path::parent(&at).to_owned();
                continue;
            }
            let next = path::join(&at, &segment);
            match nodes.get(&next) {
                Some(Node::Symlink(target)) if follow_last || !todo.is_empty() => {
                    links += 1;
                    if links > 40 {
                        return Err(failure(
                            ErrorCode::InvalidPath,
                            "too many levels of symbolic links",
                            path,
                        ));
                    }
                    if target.starts_with('/') {
                        at = "/".to_owned();
                    }
                    let parts = target.split('/').rev().filter(|s| !s.is_empty() && *s != ".");
                    todo.extend(parts.map(Into::into));
                }
                Some(Node::File(_)) if !todo.is_empty() => {
                    return Err(failure(ErrorCode::NotDirectory, "not a directory", &next));
                }
                None if !todo.is_empty() => {
                    return Err(failure(ErrorCode::NotFound, "no such directory", &next));
                }
                _ => at = next,
            }
        }
        Ok(at)
    }

    fn with_content<T>(&self, path: &str, look: impl FnOnce(&Vec<u8>) -> T) -> Result<T, ToolError> {
        let at = self.resolve(path, true)?;
        match self.nodes.borrow().get(&at) {
            Some(Node::File(content)) => Ok(look(content)),
            Some(_) => Err(failure(ErrorCode::IsDirectory, "is a directory", path)),
            None => Err(failure(ErrorCode::NotFound, "no such file", path)),
        }
    }

    fn info(&self, path: &str) -> Option<FileInfo> {
        let (kind, size) = match self.nodes.borrow().get(path)? {
            Node::File(content) => (FileKind::File, content.len()),
            Node::Directory => (FileKind::Directory, 0),
            Node::Symlink(target) => (FileKind::Symlink, target.len()),
        };
        Some(FileInfo {
            name: path::name(path).into(),
            path: path.into(),
            kind,
            size: size as u64,
            mtime_ms: 0.0,
        })
    }
}

fn failure(code: ErrorCode, what: &str, path: &str) -> ToolError {
    ToolError::new(code, format!("{what}: {path}")).at(path)
}

impl Env for MemoryEnv {
    fn cwd(&self) -> &str {
        &self.cwd
    }

    fn home(&self) -> Option<&str> {
        self.home.as_deref()
    }

    fn shells(&self) -> &[Shell] {
        if self.script.is_some() { &self.shells } else { &[] }
    }

    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.wait().await;
        self.with_content(path, Vec::clone)
    }

    async fn read_range(&self, path: &str, start: u64, end: u64) -> Result<Option<Vec<u8>>, ToolError> {
        if !self.has_ranges {
            return Ok(None);
        }
        self.wait().await;
        self.with_content(path, |content| {
            let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(content.len());
            Some(content[within(start).min(within(end))..within(end)].to_vec())
        })
    }

    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        self.writes.set(self.writes.get() + 1);
        self.wait().await;
        let at = self.resolve(path, true)?;
        let mut nodes = self.nodes.borrow_mut();
        match (nodes.get(path::parent(&at)), nodes.get(&at)) {
            (_, Some(Node::Directory)) => Err(failure(ErrorCode::IsDirectory, "is a directory", path)),
            (Some(Node::Directory), _) => {
                nodes.insert(at, Node::File(content.to_vec()));
                Ok(())
            }
            (Some(_), _) => Err(failure(ErrorCode::NotDirectory, "not a directory", path::parent(path))),
            (None, _) => Err(failure(ErrorCode::NotFound, "no such directory", path::parent(path))),
        }
    }

    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        self.wait().await;
        let at = self.resolve(path, false)?;
        let info = self.info(&at).ok_or_else(|| failure(ErrorCode::NotFound, "no such file", path))?;
        Ok(FileInfo { path: path.into(), name: path::name(path).into(), ..info })
    }

    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        self.wait().await;
        let at = self.resolve(path, true)?;
        match self.nodes.borrow().get(&at) {
            Some(Node::Directory) => {}
            Some(_) => return Err(failure(ErrorCode::NotDirectory, "not a directory", path)),
            None => return Err(failure(ErrorCode::NotFound, "no such directory", path)),
        }
        let names: Vec<String> = self.nodes.borrow().keys().cloned().collect();
        let children = names.iter().filter(|name| *name != "/" && path::parent(name) == at);
        Ok(children.filter_map(|child| self.info(child)).collect())
    }

    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        self.wait().await;
        let at = self.resolve(path, true)?;
        match self.nodes.borrow().contains_key(&at) {
            true => Ok(Some(at)),
            false => Err(failure(ErrorCode::NotFound, "no such file", path)),
        }
    }

    async fn create_dir(&self, path: &str) -> Result<Option<()>, ToolError> {
        self.wait().await;
        let mut at = "/".to_owned();
        for segment in path.split('/').filter(|segment| !segment.is_empty()) {
            at = self.resolve(&path::join(&at, segment), true)?;
            let mut nodes = self.nodes.borrow_mut();
            match nodes.get(&at) {
                Some(Node::Directory) => {}
                Some(_) => return Err(failure(ErrorCode::NotDirectory, "not a directory", &at)),
                None => {
                    nodes.insert(at.clone(), Node::Directory);
                }
            }
        }
        Ok(Some(()))
    }

    async fn create_temp_file(&self, prefix: &str, suffix: &str) -> Result<Option<String>, ToolError> {
        let Some(temp) = &self.temp_files else { return Ok(None) };
        self.wait().await;
        // The store is all there is, so they lie in it, in a directory of their own.
        let path = format!("/.tackroom/{prefix}{}{suffix}", temp.made.borrow().len());
        self.put(&path, Node::File(vec![]));
        temp.made.borrow_mut().push(path.clone());
        Ok(Some(path))
    }

    fn is_temp_file(&self, path: &str) -> bool {
        self.temp_files.as_ref().is_some_and(|temp| temp.made.borrow().iter().any(|made| made == path))
    }

    async fn append_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        let TempFiles { latency_ms, room, .. } = self.temp_files.clone().unwrap_or_default();
        if latency_ms > 0.0 {
            self.host.sleep(latency_ms).await;
        }
        match self.nodes.borrow_mut().get_mut(path) {
            Some(Node::File(file)) if room.is_none_or(|room| file.len() + content.len() <= room) => {
                file.extend_from_slice(content);
                Ok(())
            }
            Some(_) => Err(failure(ErrorCode::NoSpace, "no space left", path)),
            None => Err(failure(ErrorCode::NotFound, "no such file", path)),
        }
    }

    async fn remove_temp_file(&self, path: &str) -> Result<(), ToolError> {
        self.nodes.borrow_mut().remove(path);
        Ok(())
    }

    async fn exec(
        &self,
        request: &ExecRequest,
        output: OutputSink,
    ) -> Result<Option<ExecOutcome>, ToolError> {
        let Some(script) = &self.script else { return Ok(None) };
        for step in script(&request.command) {
            match step {
                Step::Write(stream, bytes) => {
                    output(stream, &bytes);
                    request.flow.opened().await;
                }
                Step::Flood(stream, bytes, times) => (0..times).for_each(|_| output(stream, &bytes)),
                Step::Wait(ms) => {
                    if request.abort.race(self.host.sleep(ms)).await.is_none() {
                        return Ok(Some(ExecOutcome::default()));
                    }
                }
                Step::Exit(exit_code) => return Ok(Some(ExecOutcome { exit_code, ..Default::default() })),
                Step::Finish(outcome) => return Ok(Some(outcome)),
                Step::Fail(error) => return Err(error),
            }
        }
        Ok(Some(ExecOutcome { exit_code: Some(0), ..Default::default() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_followed_and_loops_end() {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host)
            .with_file("/real/a.txt", "A")
            .with_symlink("real", "/link")
            .with_symlink("loop", "/loop");
        assert_eq!(host.run(env.read_file("/link/a.txt")).unwrap(), b"A");
        assert_eq!(host.run(env.canonical_path("/link/a.txt")).unwrap().unwrap(), "/real/a.txt");
        assert_eq!(host.run(env.file_info("/link")).unwrap().kind, FileKind::Symlink);
        assert_eq!(host.run(env.read_file("/loop")).unwrap_err().code, ErrorCode::InvalidPath);
    }

    #[test]
    fn ranges_end_with_the_file() {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host).with_file("/a", "0123456789").with_symlink("a", "/link");
        for (start, end, expected) in [
            (0, 3, "012"),
            (8, 12, "89"),
            (0, u64::MAX, "0123456789"),
            (10, 20, ""),
            (99, 100, ""),
            (5, 5, ""),
        ] {
            let answer = host.run(env.read_range("/link", start, end)).unwrap();
            assert_eq!(answer.as_deref(), Some(expected.as_bytes()), "{start} to {end}");
        }
        assert_eq!(host.run(env.read_range("/none", 0, 1)).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(host.run(env.without_ranges().read_range("/a", 0, 1)), Ok(None));
    }

    #[test]
    fn a_file_is_no_directory() {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host).with_file("/a", "file").with_dir("/dir");
        let code = |result: Result<(), ToolError>| result.unwrap_err().code;
        assert_eq!(code(host.run(env.write_file("/a/b", b"x"))), ErrorCode::NotDirectory);
        assert_eq!(code(host.run(env.write_file("/dir", b"x"))), ErrorCode::IsDirectory);
        assert_eq!(code(host.run(env.write_file("/none/b", b"x"))), ErrorCode::NotFound);
        host.run(env.create_dir("/none/deep")).unwrap();
        host.run(env.write_file("/none/deep/b", b"x")).unwrap();
        assert_eq!(env.files().len(), 2);
    }
}
