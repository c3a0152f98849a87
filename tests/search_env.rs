//! What searches ask of an environment, and how they end where it is slow, broken or made to be hard to search.
#![cfg(not(target_arch = "wasm32"))]

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};
use tackroom::call::{
    self, Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult,
};
use tackroom::env::{
    Abort, Env, FileInfo, FileKind, FoundLine, Host, ManualHost, MemoryEnv, MutationQueue, SearchAnswer,
    SearchRequest, WalkEntry, WalkRequest,
};
use tackroom::error::{ErrorCode, ToolError};
use tackroom::text::truncate::Limits;
use tackroom::tools::Builtin;
use tackroom::tools::search::{Job, Start, search};

/// What was asked of an environment.
#[derive(Debug, Default)]
struct Asked {
    listed: RefCell<Vec<String>>,
    read: RefCell<Vec<String>>,
    parts: Cell<usize>,
    at_once: Cell<usize>,
    most_at_once: Cell<usize>,
    bytes: Cell<u64>,
    most_bytes: Cell<u64>,
    walks: RefCell<Vec<WalkRequest>>,
    searches: RefCell<Vec<SearchRequest>>,
    many: RefCell<Vec<usize>>,
}

/// Milliseconds that reading a file takes, by its path.
type Latency = fn(&str) -> f64;
/// What a made-up tree has in a directory: names, kinds and sizes.
type Listing = Rc<dyn Fn(&str) -> Vec<(String, FileKind, u64)>>;

/// Files in memory, or made up; counted.
struct Probe {
    memory: MemoryEnv,
    host: ManualHost,
    asked: Asked,
    latency: Latency,
    made_up: Option<Listing>,
    content: fn(&str) -> Vec<u8>,
    has_ranges: bool,
    unreadable: fn(&str) -> bool,
    walked: Option<Vec<WalkEntry>>,
    found: Option<SearchAnswer>,
    takes_many: bool,
    /// Whether it says that it neither walks nor searches when it is asked to.
    refuses: bool,
    /// Sizes that are not the files' own.
    claimed: fn(&str) -> u64,
}

impl Probe {
    fn new(files: &[(&str, &str)]) -> Probe {
        let host = ManualHost::default();
        let mut memory = MemoryEnv::new(&host).with_cwd("/w");
        for (path, content) in files {
            memory = memory.with_file(path, content);
        }
        Probe {
            memory,
            host,
            asked: Asked::default(),
            latency: |_| 0.0,
            made_up: None,
            content: |_| b"x\n".to_vec(),
            has_ranges: true,
            unreadable: |_| false,
            walked: None,
            found: None,
            takes_many: false,
            refuses: false,
            claimed: |_| 0,
        }
    }

    fn made_up(listing: impl Fn(&str) -> Vec<(String, FileKind, u64)> + 'static) -> Probe {
        Probe { made_up: Some(Rc::new(listing)), ..Probe::new(&[]) }
    }

    fn size(&self, path: &str) -> u64 {
        self.memory.files().get(path).map_or(0, |content| content.len() as u64)
    }
}

impl Env for Probe {
    fn cwd(&self) -> &str {
        self.memory.cwd()
    }

    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        let asked = &self.asked;
        let is_ignore_file = path.ends_with("ignore");
        if !is_ignore_file {
            asked.read.borrow_mut().push(path.to_owned());
            let size = self.size(path);
            asked.at_once.set(asked.at_once.get() + 1);
            asked.bytes.set(asked.bytes.get() + size);
            asked.most_at_once.set(asked.most_at_once.get().max(asked.at_once.get()));
            asked.most_bytes.set(asked.most_bytes.get().max(asked.bytes.get()));
            let ms = (self.latency)(path);
            if ms > 0.0 {
                self.host.sleep(ms).await;
            }
            asked.at_once.set(asked.at_once.get() - 1);
            asked.bytes.set(asked.bytes.get() - size);
        }
        if (self.unreadable)(path) {
            return Err(ToolError::new(ErrorCode::PermissionDenied, "no"));
        }
        match &self.made_up {
            Some(_) if is_ignore_file => Err(ToolError::new(ErrorCode::NotFound, "no such file")),
            Some(_) => Ok((self.content)(path)),
            None => self.memory.read_file(path).await,
        }
    }

    async fn read_range(&self, path: &str, start: u64, end: u64) -> Result<Option<Vec<u8>>, ToolError> {
        self.asked.parts.set(self.asked.parts.get() + 1);
        if (self.unreadable)(path) {
            return Err(ToolError::new(ErrorCode::PermissionDenied, "no"));
        }
        match (self.has_ranges, &self.made_up) {
            (false, _) => Ok(None),
            (true, None) => self.memory.read_range(path, start, end).await,
            (true, Some(_)) => {
                let content = (self.content)(path);
                Ok(Some(content.into_iter().cycle().take((end - start) as usize).collect()))
            }
        }
    }

    async fn read_files(
        &self,
        paths: &[String],
    ) -> Result<Option<Vec<Result<Vec<u8>, ToolError>>>, ToolError> {
        if !self.takes_many {
            return Ok(None);
        }
        self.asked.many.borrow_mut().push(paths.len());
        let mut contents = Vec::new();
        for path in paths {
            contents.push(self.memory.read_file(path).await);
        }
        Ok(Some(contents))
    }

    async fn walk(&self, request: &WalkRequest) -> Result<Option<Vec<WalkEntry>>, ToolError> {
        self.asked.walks.borrow_mut().push(request.clone());
        if self.refuses {
            return Err(ToolError::new(ErrorCode::NotSupported, "no"));
        }
        Ok(self.walked.clone())
    }

    async fn search(&self, request: &SearchRequest) -> Result<Option<SearchAnswer>, ToolError> {
        self.asked.searches.borrow_mut().push(request.clone());
        if self.refuses {
            return Err(ToolError::new(ErrorCode::NotSupported, "no"));
        }
        Ok(self.found.clone())
    }

    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        self.memory.write_file(path, content).await
    }

    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        let info = self.memory.file_info(path).await?;
        Ok(FileInfo { size: info.size.max((self.claimed)(path)), ..info })
    }

    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        self.asked.listed.borrow_mut().push(path.to_owned());
        if (self.unreadable)(path) {
            return Err(ToolError::new(ErrorCode::PermissionDenied, "no"));
        }
        let Some(listing) = &self.made_up else { return self.memory.list_dir(path).await };
        let entry = |(name, kind, size): (String, FileKind, u64)| FileInfo {
            path: format!("{path}/{name}"),
            name,
            kind,
            size,
            mtime_ms: 0.0,
        };
        Ok(listing(path).into_iter().map(entry).collect())
    }

    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        self.memory.canonical_path(path).await
    }
}

#[derive(Default)]
struct Heard {
    updates: RefCell<Vec<String>>,
    result: RefCell<Option<ToolResult>>,
}

impl Observer for Heard {
    fn event(&self, event: Event<'_>) {
        if let Event::Update(output) = event {
            self.updates.borrow_mut().push(format!("{:?}", output.content));
        }
    }

    fn settle(&self, result: ToolResult) {
        *self.result.borrow_mut() = Some(result);
    }
}

fn run(env: &Probe, name: &str, arguments: Value, abort: &Abort) -> (ToolResult, Vec<String>) {
    let options = Options::from_json(br#"{"tools": ["grep", "find", "ls"]}"#).expect("the options are good");
    let heard = Heard::default();
    let scope = Scope {
        registry: &Registry::new(&options, &[]),
        options: &options,
        env,
        host: &env.host,
        hooks: &NoHooks,
        queue: &MutationQueue::default(),
        abort,
        redactor: None,
        observer: &heard,
    };
    let arguments = Arguments::Value(arguments);
    let call = ToolCall { id: "1".into(), name: name.into(), arguments, incomplete: false };
    env.host.run(call::run(call, scope));
    (heard.result.take().expect("it answers"), heard.updates.take())
}

fn text(env: &Probe, name: &str, arguments: Value) -> String {
    run(env, name, arguments, &Abort::default()).0.text()
}

fn many(count: usize) -> Vec<(String, String)> {
    (0..count).map(|n| (format!("f{n:04}"), format!("{n} x\n"))).collect()
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect()
}

#[test]
fn results_are_in_order_whichever_file_comes_first() {
    let files = many(100);
    let latency: Latency =
        |path| f64::from(path.bytes().map(|byte| u32::from(byte) * 7919).sum::<u32>() % 97) + 1.0;
    let env = Probe { latency, ..Probe::new(&borrowed(&files)) };
    let expected: Vec<String> = (0..100).map(|n| format!("f{n:04}:1: {n} x")).collect();
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), expected.join("\n"));
    assert_eq!(env.asked.most_at_once.get(), 32, "files are read many at a time");
    assert!(env.host.now_ms() < 100.0 * 50.0 / 8.0, "{} ms", env.host.now_ms());
}

#[test]
fn no_more_bytes_are_asked_for_than_can_be_held() {
    let big = format!("x\n{}", "y".repeat(10 << 20));
    let env = Probe { latency: |_| 5.0, ..Probe::new(&[("a", &big), ("b", &big), ("c", &big), ("d", &big)]) };
    assert!(text(&env, "grep", json!({"pattern": "x"})).starts_with("a:1: x\nb:1: x\nc:1: x\nd:1: x"));
    assert!(env.asked.most_bytes.get() <= 32 << 20, "{} bytes", env.asked.most_bytes.get());
    assert_eq!(env.asked.most_at_once.get(), 3);
}

#[test]
fn reading_stops_at_the_limit() {
    let files = many(1000);
    let env = Probe { latency: |_| 1.0, ..Probe::new(&borrowed(&files)) };
    assert!(text(&env, "grep", json!({"pattern": "x", "limit": 3})).contains("[3 matches limit reached"));
    assert!(env.asked.read.borrow().len() <= 64, "{} files were read", env.asked.read.borrow().len());
}

#[test]
fn ignored_directories_are_neither_listed_nor_read() {
    let env = Probe::new(&[
        (".gitignore", "/node_modules/\n"),
        ("node_modules/a/b", "x\n"),
        (".git/objects/c", "x\n"),
        ("src/d", "x\n"),
    ]);
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), "src/d:1: x");
    assert_eq!(*env.asked.listed.borrow(), ["/w", "/w/src"]);
    assert_eq!(*env.asked.read.borrow(), ["/w/src/d"]);
}

#[test]
fn what_cannot_be_read_is_counted() {
    let unreadable = |path: &str| path.ends_with("secret") || path.ends_with("closed");
    let env = Probe { unreadable, ..Probe::new(&[("a", "x\n"), ("closed/b", "x\n"), ("secret", "x\n")]) };
    let (result, _) = run(&env, "grep", json!({"pattern": "x"}), &Abort::default());
    assert_eq!(result.text(), "a:1: x\n\n[Files and directories that could not be read: 2]");
    assert_eq!(result.details["unreadable"], 2);
    let found = text(&env, "find", json!({"pattern": "*"}));
    assert_eq!(found, "a\nsecret\n\n[Directories that could not be listed: 1]");
    let (result, _) = run(&env, "grep", json!({"pattern": "x", "path": "closed"}), &Abort::default());
    assert_eq!(result.details["code"], "permission_denied");
    let (result, _) = run(&env, "grep", json!({"pattern": "x", "path": "secret"}), &Abort::default());
    assert_eq!(result.details["code"], "permission_denied");
}

#[test]
fn an_abort_ends_it_between_two_files() {
    let files = many(1000);
    let env = Probe { latency: |_| 10.0, ..Probe::new(&borrowed(&files)) };
    let abort = Abort::default();
    let raise = async {
        env.host.sleep(35.0).await;
        abort.raise();
        std::future::pending::<()>().await;
    };
    let options = Options::from_json(br#"{"tools": ["grep"]}"#).expect("the options are good");
    let heard = Heard::default();
    let scope = Scope {
        registry: &Registry::new(&options, &[]),
        options: &options,
        env: &env,
        host: &env.host,
        hooks: &NoHooks,
        queue: &MutationQueue::default(),
        abort: &abort,
        redactor: None,
        observer: &heard,
    };
    let arguments = Arguments::Value(json!({"pattern": "nothing"}));
    let call = ToolCall { id: "1".into(), name: "grep".into(), arguments, incomplete: false };
    let (mut running, mut raise) = (std::pin::pin!(call::run(call, scope)), std::pin::pin!(raise));
    env.host.run(std::future::poll_fn(|cx| {
        let _ = raise.as_mut().poll(cx);
        running.as_mut().poll(cx)
    }));
    assert_eq!(heard.result.take().expect("it answers").text(), "Operation aborted");
    assert!(env.asked.read.borrow().len() < 200, "{} files were read", env.asked.read.borrow().len());
}

#[test]
fn an_abort_ends_it_where_no_answer_comes() {
    let env = Probe { latency: |_| f64::INFINITY, ..Probe::new(&[("f", "x\n")]) };
    let start = Start { shown: ".".into(), path: "/w".into(), is_directory: true, name: "w".into(), size: 0 };
    let job = Job {
        tool: Builtin::Grep,
        arguments: json!({"pattern": "x"}),
        start,
        root: None,
        limits: Limits::default(),
        results: None,
        has_read: true,
    };
    let abort = Abort::default();
    let mut running = std::pin::pin!(search(&job, &env, &env.host, &abort, &|_| ()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(running.as_mut().poll(&mut cx).is_pending());
    abort.raise();
    let Poll::Ready(Err(error)) = running.as_mut().poll(&mut cx) else { panic!("it has not ended") };
    assert_eq!(error.code, ErrorCode::Aborted);
}

#[test]
fn a_long_search_says_how_far_it_is() {
    let files = many(500);
    let env = Probe { latency: |_| 200.0, ..Probe::new(&borrowed(&files)) };
    let (_, updates) = run(&env, "grep", json!({"pattern": "1 x"}), &Abort::default());
    assert!((2..=4).contains(&updates.len()), "{updates:?}");
    assert!(updates[0].contains("files searched, ") && updates[0].contains("matches so far"), "{updates:?}");
}

#[test]
fn many_files_are_asked_for_at_once_where_that_can_be() {
    let files = many(100);
    let env = Probe { takes_many: true, ..Probe::new(&borrowed(&files)) };
    let expected: Vec<String> = (0..100).map(|n| format!("f{n:04}:1: {n} x")).collect();
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), expected.join("\n"));
    assert!(env.asked.read.borrow().is_empty());
    let asked = env.asked.many.borrow();
    assert_eq!(asked.iter().sum::<usize>(), 100);
    assert!(asked.len() <= 10 && asked.iter().all(|count| *count <= 16), "{asked:?}");
}

#[test]
fn an_environment_that_walks_is_asked_to() {
    let file = |path: &str, kind| WalkEntry { path: path.into(), kind, size: 4 };
    let walked = vec![
        file("a", FileKind::File),
        file("link", FileKind::Symlink),
        file("src/b", FileKind::File),
        file(".tackroom/spill", FileKind::File),
    ];
    let env =
        Probe { walked: Some(walked), ..Probe::new(&[("a", "x\n"), ("src/b", "x\n"), ("other", "x\n")]) };
    assert_eq!(text(&env, "find", json!({"pattern": "*", "limit": 7})), "a\nlink\nsrc/b");
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), "a:1: x\nsrc/b:1: x");
    let request =
        |glob: Option<&str>, limit| WalkRequest { path: "/w".into(), glob: glob.map(Into::into), limit };
    assert_eq!(*env.asked.walks.borrow(), [request(Some("*"), Some(8)), request(None, None)]);
    assert_eq!(*env.asked.listed.borrow(), [""; 0]);
    // A filter can bring back what is ignored, which a walk does not tell of.
    assert_eq!(text(&env, "grep", json!({"pattern": "x", "glob": "o*"})), "other:1: x");
}

#[test]
fn an_environment_that_searches_is_asked_to() {
    let line =
        |line, text: &str, is_context| FoundLine { path: "d/f".into(), line, text: text.into(), is_context };
    let long = format!("{}x{}", "a".repeat(1000), "b".repeat(1000));
    let lines = vec![line(1, "before", true), line(2, &long, false)];
    let found = Some(SearchAnswer { lines, limit_reached: true, unreadable: 3 });
    let env = Probe { found, ..Probe::new(&[("d/f", "y\n")]) };
    let arguments = json!({"pattern": "x", "limit": 1, "context": 1, "glob": "*", "ignoreCase": true});
    let (result, _) = run(&env, "grep", arguments, &Abort::default());
    let text = result.text();
    assert!(text.starts_with("d/f-1- before\nd/f:2: [truncated] ...aaa"), "{text}");
    assert!(text.contains("axb") && text.contains("[1 matches limit reached. Use limit=2"), "{text}");
    assert_eq!((&result.details["matches"], &result.details["unreadable"]), (&json!(1), &json!(3)));
    let request = SearchRequest {
        path: "/w".into(),
        pattern: "x".into(),
        glob: Some("*".into()),
        ignore_case: true,
        literal: false,
        context: 1,
        limit: 1,
    };
    assert_eq!(*env.asked.searches.borrow(), [request]);
    let (result, _) = run(&env, "grep", json!({"pattern": "("}), &Abort::default());
    assert_eq!(result.details["code"], "invalid_pattern");
    assert_eq!(env.asked.searches.borrow().len(), 1);
}

#[test]
fn what_an_environment_finds_is_held_to_the_limit_and_to_lines() {
    let line = |line, text: &str| FoundLine { path: "f".into(), line, text: text.into(), is_context: false };
    let lines = vec![line(1, "x\r\n"), line(2, "x\nand more"), line(3, "x")];
    let found = Some(SearchAnswer { lines, limit_reached: false, unreadable: 0 });
    let env = Probe { found, ..Probe::new(&[]) };
    let found = text(&env, "grep", json!({"pattern": "x", "limit": 2}));
    assert_eq!(found, "f:1: x\nf:2: x\n\n[2 matches limit reached. Use limit=4 for more, or refine pattern]");
    assert_eq!(text(&env, "grep", json!({"pattern": "x", "limit": 3})), "f:1: x\nf:2: x\nf:3: x");
}

#[test]
fn an_environment_that_turns_out_not_to_search_is_searched() {
    let env = Probe { refuses: true, ..Probe::new(&[("a", "x\n")]) };
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), "a:1: x");
    assert_eq!(text(&env, "find", json!({"pattern": "*"})), "a");
    assert_eq!((env.asked.walks.borrow().len(), env.asked.searches.borrow().len()), (2, 1));
}

#[test]
fn a_large_file_goes_by_in_parts() {
    let listing = |path: &str| match path {
        "/w" => vec![("big".into(), FileKind::File, 72 << 20), ("small".into(), FileKind::File, 2)],
        _ => vec![],
    };
    // It has that much.
    let env = Probe { content: |_| b"yyyyyyy\n".to_vec(), ..Probe::made_up(listing) };
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), "No matches found");
    assert_eq!(env.asked.parts.get(), 18);
    assert_eq!(*env.asked.read.borrow(), ["/w/small"]);
    let limited = text(&env, "grep", json!({"pattern": "y", "limit": 2}));
    assert!(limited.starts_with("big:1: yyyyyyy\nbig:2: yyyyyyy\n\n[2 matches limit"), "{limited}");
    assert_eq!(env.asked.parts.get(), 19);
    // It is one line.
    let env = Probe { content: |_| b"yyyyyyyy".to_vec(), ..Probe::made_up(listing) };
    let found = text(&env, "grep", json!({"pattern": "x"}));
    assert_eq!(found, "No matches found\n\n[Files searched only up to a line over 32.0MB: 1]");
    assert!(env.asked.parts.get() < 12);
    // It has less than it says.
    let env = Probe::made_up(listing);
    let env = Probe {
        made_up: Some(Rc::new(listing)),
        memory: env.memory.with_file("big", "x\n"),
        ..Probe::new(&[])
    };
    assert!(text(&env, "grep", json!({"pattern": "x", "limit": 1})).starts_with("big:1: x"));
    // The environment has no parts.
    let env = Probe { has_ranges: false, ..Probe::made_up(listing) };
    let (result, _) = run(&env, "grep", json!({"pattern": "x"}), &Abort::default());
    assert_eq!(result.text(), "small:1: x\n\n[Files and directories that could not be read: 1]");
    let named = Probe { memory: env.memory.clone().with_file("big", ""), ..env };
    let claims = |path: &str| if path == "/w/big" { 1 << 30 } else { 0 };
    let named = Probe { claimed: claims, ..named };
    let text = text(&named, "grep", json!({"pattern": "x", "path": "big"}));
    assert!(text.contains("big has 1.0GB: over 64.0MB a file is searched in parts"), "{text}");
}

#[test]
fn what_is_wrong_with_a_large_file_that_was_named_is_said() {
    let listing = |_: &str| vec![("big".into(), FileKind::File, 72 << 20)];
    let large = |content| Probe {
        content,
        made_up: Some(Rc::new(listing)),
        claimed: |_| 72 << 20,
        ..Probe::new(&[("big", "")])
    };
    let run = |env: &Probe| run(env, "grep", json!({"pattern": "y", "path": "big"}), &Abort::default()).0;
    let result = run(&large(|_| b"yyyyyyyy".to_vec()));
    let expected = "No matches found\n\n[big has a line over 32.0MB at byte 0 and was searched up to there]";
    assert_eq!(result.text(), expected);
    let env = Probe { unreadable: |_| true, ..large(|_| b"y\n".to_vec()) };
    let result = run(&env);
    assert_eq!(
        (&result.details["code"], &result.details["path"]),
        (&json!("permission_denied"), &json!("/w/big"))
    );
}

#[test]
fn sizes_that_no_file_has_are_no_trouble() {
    let listing = |path: &str| match path {
        "/w" => vec![("a".into(), FileKind::File, 2), ("b".into(), FileKind::File, u64::MAX)],
        _ => vec![],
    };
    let env = Probe { has_ranges: false, ..Probe::made_up(listing) };
    let found = text(&env, "grep", json!({"pattern": "x"}));
    assert_eq!(found, "a:1: x\n\n[Files and directories that could not be read: 1]");
}

#[test]
fn links_make_no_cycle() {
    let host = ManualHost::default();
    let memory = MemoryEnv::new(&host)
        .with_cwd("/w")
        .with_file("d/f", "x\n")
        .with_symlink("..", "d/up")
        .with_symlink("/w", "d/e/top")
        .with_symlink("self", "self");
    let env = Probe { memory, host, ..Probe::new(&[]) };
    assert_eq!(text(&env, "grep", json!({"pattern": "x"})), "d/f:1: x");
    assert_eq!(text(&env, "find", json!({"pattern": "**"})), "d/e/top\nd/f\nd/up\nself");
    assert_eq!(text(&env, "ls", json!({})), "d/\nself");
    assert_eq!(text(&env, "grep", json!({"pattern": "x", "path": "d/up/d"})), "f:1: x");
}

#[test]
fn two_hundred_thousand_files_are_searched_and_no_more() {
    let listing = |path: &str| match path {
        "/w" => (0..201).map(|n| (format!("d{n:03}"), FileKind::Directory, 0)).collect(),
        _ => (0..1000).map(|n| (format!("f{n:03}"), FileKind::File, 2)).collect(),
    };
    let env = Probe::made_up(listing);
    let found = text(&env, "find", json!({"pattern": "nothing"}));
    assert_eq!(
        found,
        "No files found matching pattern\n\n[Stopped after 200000 files or directories: narrow path]"
    );
    let (result, _) = run(&env, "grep", json!({"pattern": "y"}), &Abort::default());
    assert!(
        result.text().starts_with("No matches found\n\n[Stopped after 200000 files"),
        "{}",
        result.text()
    );
    assert_eq!(env.asked.read.borrow().len(), 200_000);
}

#[test]
fn a_tree_without_end_ends() {
    let deep = Probe::made_up(|_| vec![("d".into(), FileKind::Directory, 0)]);
    assert_eq!(text(&deep, "find", json!({"pattern": "*"})), "No files found matching pattern");
    assert!(deep.asked.listed.borrow().len() < 3000);
    let wide = Probe::made_up(|_| (0..40).map(|n| (format!("d{n}"), FileKind::Directory, 0)).collect());
    let found = text(&wide, "grep", json!({"pattern": "x"}));
    assert!(found.contains("Stopped after 200000 files or directories"), "{found}");
}
