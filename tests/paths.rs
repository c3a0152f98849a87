#![cfg(not(target_arch = "wasm32"))]
//! What a path means to the tools: tolerance, the root, and that both agree with what a hook is told.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use tackroom::call::{
    AfterCall, Arguments, BeforeCall, Decision, Event, Hooks, Observer, Options, Patch, Registry, Scope,
    ToolCall, ToolResult, run,
};
use tackroom::env::{Abort, Env, FileInfo, ManualHost, MemoryEnv, MutationQueue};
use tackroom::error::{ErrorCode, ToolError};
use tackroom::tools::resolve_confined;

/// Notes every question that an environment is asked, and can leave out canonical paths.
#[derive(Clone)]
struct Recorder {
    env: MemoryEnv,
    asked: Rc<RefCell<Vec<(&'static str, String)>>>,
    has_canonical: bool,
}

impl Recorder {
    fn note(&self, what: &'static str, path: &str) {
        self.asked.borrow_mut().push((what, path.to_owned()));
    }

    fn calls(&self) -> Vec<&'static str> {
        self.asked.borrow().iter().map(|(what, _)| *what).collect()
    }

    /// The files whose content was asked for or given.
    fn touched(&self) -> Vec<String> {
        let asked = self.asked.borrow();
        let content = asked.iter().filter(|(what, _)| matches!(*what, "read" | "write"));
        content.map(|(_, path)| path.clone()).collect()
    }
}

impl Env for Recorder {
    fn cwd(&self) -> &str {
        self.env.cwd()
    }
    fn home(&self) -> Option<&str> {
        self.env.home()
    }
    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.note("read", path);
        self.env.read_file(path).await
    }
    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        self.note("write", path);
        self.env.write_file(path, content).await
    }
    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        self.note("lstat", path);
        self.env.file_info(path).await
    }
    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        self.note("list", path);
        self.env.list_dir(path).await
    }
    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        if !self.has_canonical {
            return Ok(None);
        }
        self.note("canonical", path);
        self.env.canonical_path(path).await
    }
    async fn create_dir(&self, path: &str) -> Result<Option<()>, ToolError> {
        self.note("mkdir", path);
        self.env.create_dir(path).await
    }
}

#[derive(Default)]
struct Answered(RefCell<Option<ToolResult>>);

impl Observer for Answered {
    fn event(&self, _event: Event<'_>) {}
    fn settle(&self, result: ToolResult) {
        *self.0.borrow_mut() = Some(result);
    }
}

/// Keeps the accesses it is shown, and does something to the files before it agrees.
#[derive(Default)]
struct Gate<'a> {
    access: RefCell<Vec<String>>,
    meanwhile: Option<&'a dyn Fn()>,
}

impl Hooks for Gate<'_> {
    fn has_before(&self) -> bool {
        true
    }
    async fn before(&self, call: BeforeCall<'_>) -> Result<Decision, ToolError> {
        self.access.borrow_mut().extend(call.access.iter().map(|access| access.path.clone()));
        if let Some(meanwhile) = self.meanwhile {
            meanwhile();
        }
        Ok(Decision::Run)
    }
    fn has_after(&self) -> bool {
        false
    }
    async fn after(&self, _call: AfterCall<'_>) -> Result<Patch, ToolError> {
        Ok(Patch::default())
    }
}

struct World {
    host: ManualHost,
    env: Recorder,
    options: Value,
}

fn world(make: impl FnOnce(MemoryEnv) -> MemoryEnv) -> World {
    let host = ManualHost::default();
    let env = make(MemoryEnv::new(&host));
    World { host, env: Recorder { env, asked: Rc::default(), has_canonical: true }, options: json!({}) }
}

impl World {
    fn with(mut self, options: Value) -> Self {
        self.options = options;
        self
    }

    fn call_with(&self, tool: &str, arguments: Value, hooks: &impl Hooks) -> ToolResult {
        self.env.asked.borrow_mut().clear();
        let options = Options::from_json(self.options.to_string().as_bytes()).unwrap();
        options.check_root(self.env.cwd()).unwrap();
        let answered = Answered::default();
        let scope = Scope {
            registry: &Registry::new(&options, self.env.shells()),
            options: &options,
            env: &self.env,
            host: &self.host,
            hooks,
            queue: &MutationQueue::default(),
            abort: &Abort::default(),
            redactor: None,
            observer: &answered,
        };
        let arguments = Arguments::Value(arguments);
        let call = ToolCall { id: "1".into(), name: tool.into(), arguments, incomplete: false };
        self.host.run(run(call, scope));
        answered.0.into_inner().expect("answered")
    }

    fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        self.call_with(tool, arguments, &tackroom::call::NoHooks)
    }

    fn read(&self, path: &str) -> ToolResult {
        self.call("read", json!({ "path": path }))
    }

    fn write(&self, path: &str) -> ToolResult {
        self.call("write", json!({ "path": path, "content": "new" }))
    }

    fn edit(&self, path: &str) -> ToolResult {
        self.call("edit", json!({ "path": path, "edits": [{ "oldText": "OLD", "newText": "NEW" }] }))
    }

    #[track_caller]
    fn reads(&self, path: &str, expected: &str) {
        let result = self.read(path);
        assert_eq!((result.text().as_str(), result.is_error), (expected, false), "{path:?}");
    }

    #[track_caller]
    fn fails(&self, result: &ToolResult, code: ErrorCode, part: &str) {
        assert_eq!(result.details["code"], code.as_str(), "{}", result.text());
        assert!(result.text().contains(part), "{}", result.text());
    }

    fn paths(&self) -> Vec<String> {
        self.env.env.files().into_keys().collect()
    }
}

#[test]
fn p01_a_mention_is_read_edited_and_overwritten() {
    let world = world(|env| env.with_file("/src/a.ts", "OLD\n"));
    world.reads("@src/a.ts", "OLD\n");
    let edited = world.edit("@src/a.ts");
    assert!(edited.text().contains("in @src/a.ts (resolved to /src/a.ts). -1 +1"), "{}", edited.text());
    let written = world.write("@src/a.ts");
    assert_eq!(written.text(), "Successfully wrote 3 bytes to @src/a.ts (resolved to /src/a.ts)");
    assert_eq!(written.details["path"], "/src/a.ts");
    assert_eq!(world.paths(), ["/src/a.ts"]);
}

#[test]
fn p02_a_real_at_directory_wins() {
    let world = world(|env| env.with_file("/@types/a.d.ts", "AT").with_file("/types/a.d.ts", "PLAIN"));
    world.reads("@types/a.d.ts", "AT");
    world.write("@types/new.d.ts");
    world.write("@types/deep/new.d.ts");
    world.write("@types/x/../a.d.ts");
    assert_eq!(
        world.paths(),
        ["/@types/a.d.ts", "/@types/deep/new.d.ts", "/@types/new.d.ts", "/types/a.d.ts"]
    );
    let new = world.write("@other/new.ts");
    assert_eq!(new.text(), "Successfully wrote 3 bytes to @other/new.ts (resolved to /other/new.ts)");
}

#[test]
fn p04_p08_p10_other_unicode_forms_are_found() {
    let names = [
        ("Screenshot 2026-05-12 at 4.42.48\u{202f}PM.png", "Screenshot 2026-05-12 at 4.42.48 PM.png"),
        ("cafe\u{301}.txt", "caf\u{e9}.txt"),
        ("r\u{e9}s.txt", "re\u{301}s.txt"),
        ("Capture d\u{2019}e\u{301}cran.png", "Capture d'\u{e9}cran.png"),
        ("dir\u{3000}one/e\u{301}t\u{e9}/x.txt", "dir one/\u{e9}te\u{301}/x.txt"),
    ];
    let world = world(|env| names.iter().fold(env, |env, (name, _)| env.with_file(name, "OLD")));
    for (name, asked) in names {
        world.reads(asked, "OLD");
        assert!(world.edit(asked).text().contains(&format!("(resolved to /{name})")));
        assert!(!world.write(asked).is_error);
    }
    assert_eq!(world.paths().len(), names.len(), "nothing was created beside them");
    // The parent of a new file, found the same way; the name stays as it is.
    let new = world.write("dir one/\u{e9}te\u{301}/ne w.txt");
    assert_eq!(new.details["path"], "/dir\u{3000}one/e\u{301}t\u{e9}/ne w.txt");
    let deep = world.write("dir one/more/n.txt");
    assert_eq!(deep.details["path"], "/dir\u{3000}one/more/n.txt");
}

#[test]
fn p06_exact_beats_alike_and_two_alikes_are_an_error() {
    let both = world(|env| env.with_file("/a\u{a0}b.txt", "NBSP").with_file("/a b.txt", "SPACE"));
    both.reads("a\u{a0}b.txt", "NBSP");
    both.reads("a b.txt", "SPACE");
    let result = both.read("a\u{2009}b.txt");
    both.fails(&result, ErrorCode::Ambiguous, "\"/a\\u00a0b.txt\"");
    both.fails(&result, ErrorCode::Ambiguous, "\"/a b.txt\"");
    both.fails(&both.write("a\u{2009}b.txt"), ErrorCode::Ambiguous, "two files");
    assert_eq!(both.paths().len(), 2);
}

#[test]
fn p11_file_urls() {
    let world = world(|env| env.with_file("/project/a b.txt", "AB").with_dir("/here").with_cwd("/here"));
    world.reads("file:///project/a%20b.txt", "AB");
    world.reads("file://localhost/project/a%20b.txt", "AB");
    world.fails(&world.read("file://host/x"), ErrorCode::InvalidPath, "another host");
    world.fails(&world.read("file:///project/%zz"), ErrorCode::InvalidPath, "hexadecimal");
    let new = world.write("file:///project/sub/n%C3%A9w.txt");
    assert_eq!(new.details["path"], "/project/sub/n\u{e9}w.txt");
    world.fails(&world.write("file://host/x"), ErrorCode::InvalidPath, "another host");
    assert_eq!(world.paths().len(), 2);
}

#[test]
fn p16_quotes_blanks_and_escapes() {
    let world = world(|env| env.with_file("/a b.txt", "AB").with_file("/src/x.ts", "X"));
    for asked in
        ["a b.txt", "\"a b.txt\"", "'a b.txt'", "`a b.txt`", " a b.txt ", "a\\ b.txt", "\" a b.txt\""]
    {
        world.reads(asked, "AB");
    }
    world.reads("src\\x.ts", "X");
    world.reads("@\"src\\x.ts\"", "X");
    let exact = self::world(|env| env.with_file("/\"q\"", "QUOTED").with_file("/q", "PLAIN"));
    exact.reads("\"q\"", "QUOTED");
    world.fails(&world.read("\"a c.txt\""), ErrorCode::NotFound, "Path not found: \"a c.txt\"\nNear names: ");
    // New files: the name stays, the directory may be found.
    world.write("src\\new.ts");
    world.write("\"src/quoted.ts\"");
    world.write("a\\ c.txt");
    world.write("none\\new.ts");
    assert_eq!(
        world.paths(),
        ["/a b.txt", "/a\\ c.txt", "/none\\new.ts", "/src/new.ts", "/src/quoted.ts", "/src/x.ts"]
    );
}

#[test]
fn p17_what_is_no_path() {
    let world = world(|env| env);
    let long = "x".repeat(5000);
    for path in ["~/x", "~", "", "a\0b", &long, "\"~/x\"", "@~/x"] {
        for result in [world.read(path), world.write(path), world.edit(path)] {
            let (code, part) = match path.contains('~') {
                true => (ErrorCode::NotFound, "no home directory"),
                false => (ErrorCode::InvalidPath, "path"),
            };
            world.fails(&result, code, part);
            assert!(result.text().len() < 400);
        }
    }
    assert!(world.paths().is_empty());
    let home =
        self::world(|env| env.with_home("/home/u").with_file("/home/u/x", "X").with_file("/y/~/x", "MINE"));
    home.reads("~/x", "X");
    assert_eq!(home.write("~/new/file").details["path"], "/home/u/new/file");
    home.reads("y/~/x", "MINE");
    let literal = self::world(|env| env.with_file("/~/x", "LITERAL"));
    literal.reads("~/x", "LITERAL");
    assert_eq!(literal.write("~/y").details["path"], "/~/y");
}

#[test]
fn p18_near_names() {
    let world = world(|env| {
        let env =
            env.with_file("/src/index.ts", "").with_file("/src/main.rs", "").with_file("/README.md", "");
        (0..20).fold(env, |env, n| env.with_file(&format!("/many/item-{n:02}.txt"), ""))
    });
    let near = |path: &str| world.read(path).text();
    assert_eq!(near("src/index.tsx"), "Path not found: src/index.tsx\nNear names: src/index.ts");
    assert_eq!(near("@src/index.tsx"), "Path not found: @src/index.tsx\nNear names: src/index.ts");
    assert_eq!(near("/readme.md"), "Path not found: /readme.md\nNear names: /README.md");
    assert_eq!(near("scr/index.ts"), "Path not found: scr/index.ts\nNear names: src/index.ts");
    assert_eq!(near("scr/other.ts"), "Path not found: scr/other.ts\nNear names: src/");
    assert_eq!(near("many/item-99.txt").matches("many/").count(), 4, "three, and the path itself");
    assert_eq!(near("src/nothing-like-it"), "Path not found: src/nothing-like-it");
    let edit = world.edit("src/index.tsx").text();
    assert!(
        edit.starts_with("Could not edit file: src/index.tsx. Path not found: src/index.tsx\n"),
        "{edit}"
    );
    assert_eq!(world.read("src/index.tsx").details["path"], "/src/index.tsx");
}

fn rooted() -> World {
    let world = world(|env| {
        env.with_cwd("/project")
            .with_file("/project/a.txt", "OLD")
            .with_file("/etc/passwd", "OLD")
            .with_file("/projector/x", "OLD")
            .with_home("/home/u")
            .with_file("/home/u/x", "OLD")
            .with_symlink("/etc/passwd", "/project/link")
            .with_symlink("/outside/file", "/project/new")
            .with_symlink("/", "/project/d")
            .with_symlink("loop", "/project/loop")
            .with_symlink("a.txt", "/project/inner")
    });
    world.with(json!({ "root": "/project" }))
}

#[test]
fn p12_nothing_leaves_the_root() {
    let world = rooted();
    let before = world.env.env.files();
    for path in [
        "../etc/passwd",
        "/etc/passwd",
        "a/../../etc/x",
        "..",
        "/",
        "/projector/x",
        "@/etc/passwd",
        "@../etc/passwd",
        "\"/etc/passwd\"",
        " ../etc/passwd ",
        "file:///etc/passwd",
        "file:///project/%2e%2e/etc/passwd",
        "~/x",
        "..\\etc\\passwd",
        "\"file:///etc/passwd\"",
    ] {
        for result in [world.read(path), world.write(path), world.edit(path)] {
            if result.details["code"] == "invalid_path" {
                assert!(path.ends_with("..") || path == "/", "{path}: {}", result.text());
                continue;
            }
            world.fails(&result, ErrorCode::OutsideRoot, "/project");
            world.fails(&result, ErrorCode::OutsideRoot, path);
            let asked = world.env.asked.borrow();
            let outside = asked.iter().find(|(_, asked)| !tackroom::path::is_inside("/project", asked));
            assert!(outside.is_none(), "{path}: {outside:?}");
        }
    }
    assert_eq!(world.env.env.files(), before);
    world.reads("/project/a.txt", "OLD");
    world.reads("@a.txt", "OLD");
    world.reads("inner", "OLD");
    assert!(!world.write("deep/er/new.txt").is_error);
}

#[test]
fn p14_p19_links_that_lead_out_or_nowhere() {
    let world = rooted();
    let before = world.env.env.files();
    for path in
        ["link", "new", "new/x", "d/etc/x", "d/etc/passwd", "d/etc/pass", "d/e tc/x", "loop", "loop/x", "d"]
    {
        for result in [world.read(path), world.write(path), world.edit(path)] {
            world.fails(&result, ErrorCode::OutsideRoot, "/project");
            assert!(world.env.touched().is_empty());
            assert!(!result.text().contains("passwd") || path.contains("pass"), "no name from outside");
            assert!(!world.env.calls().contains(&"mkdir") && !world.env.calls().contains(&"list"), "{path}");
        }
    }
    assert_eq!(world.env.env.files(), before);
}

#[test]
fn a_root_that_is_itself_reached_by_a_link_holds() {
    let linked = world(|env| {
        env.with_file("/real/a.txt", "A")
            .with_symlink("/real", "/work")
            .with_symlink("/real/a.txt", "/real/in")
            .with_cwd("/work")
    });
    let linked = linked.with(json!({ "root": "." }));
    linked.reads("a.txt", "A");
    linked.reads("in", "A");
    linked.fails(&linked.read("/real/a.txt"), ErrorCode::OutsideRoot, "/work");
}

#[test]
fn without_canonical_paths_links_are_refused() {
    let mut world = rooted();
    world.env.has_canonical = false;
    world.reads("a.txt", "OLD");
    assert!(!world.write("sub/b.txt").is_error);
    for path in ["link", "inner", "d/etc/passwd", "new"] {
        world.fails(&world.read(path), ErrorCode::OutsideRoot, "symbolic link");
        world.fails(&world.write(path), ErrorCode::OutsideRoot, "symbolic link");
    }
}

#[test]
fn the_rule_stands_alone() {
    let world = rooted();
    let ask = |path: &str| world.host.run(resolve_confined(&world.env, "/project", path));
    assert_eq!(ask("inner").unwrap(), "/project/a.txt");
    assert_eq!(ask("none/x").unwrap(), "/project/none/x");
    assert_eq!(ask("/project").unwrap(), "/project");
    for path in ["../x", "link", "d/x", "new", "loop/x"] {
        assert_eq!(ask(path).unwrap_err().code, ErrorCode::OutsideRoot, "{path}");
    }
}

/// Whatever tolerance there is: what the hook was shown is what the tool touches.
#[test]
fn access_is_what_is_touched() {
    let paths = [
        "a.txt",
        "@a.txt",
        "\"a.txt\"",
        "@new.txt",
        "~/x",
        "~/new",
        "file:///w/a.txt",
        "file:///w/n%20w.txt",
        "caf\u{e9}.txt",
        "caf\u{e9}/n.txt",
        "dir/new.txt",
        "li/n.txt",
        "lnk",
        "li/../a.txt",
        "b\\c.txt",
        "dangling",
        "x\\ y.txt",
        "none",
    ];
    for root in [None, Some("/")] {
        for path in paths {
            for (tool, rest) in [
                ("read", json!({})),
                ("write", json!({ "content": "x" })),
                ("edit", json!({ "edits": [{ "oldText": "OLD", "newText": "N" }] })),
            ] {
                let mut world = world(|env| {
                    env.with_cwd("/w")
                        .with_home("/home/u")
                        .with_file("/home/u/x", "OLD")
                        .with_file("/w/a.txt", "OLD")
                        .with_file("/w/cafe\u{301}.txt", "OLD")
                        .with_dir("/w/cafe\u{301}")
                        .with_file("/w/b/c.txt", "OLD")
                        .with_file("/w/x y.txt", "OLD")
                        .with_file("/far/away", "OLD")
                        .with_symlink("/far", "/w/li")
                        .with_symlink("/far/away", "/w/lnk")
                        .with_symlink("/far/none", "/w/dangling")
                });
                if let Some(root) = root {
                    world = world.with(json!({ "root": root }));
                }
                let mut arguments = rest;
                arguments["path"] = path.into();
                let gate = Gate::default();
                world.call_with(tool, arguments, &gate);
                let access = gate.access.into_inner();
                for touched in world.env.touched() {
                    assert!(access.contains(&touched), "{tool} {path}: {touched} is not in {access:?}");
                    let real = world.host.run(world.env.env.canonical_path(&touched));
                    assert!(real.is_err() || real.unwrap().unwrap() == touched, "{touched} is canonical");
                }
                assert!(!world.paths().contains(&"/far/none".into()), "no hook was shown that path");
            }
        }
    }
}

#[test]
fn a_path_that_turns_meanwhile_is_refused() {
    let world = world(|env| env.with_file("/a.txt", "OLD").with_file("/secret", "OLD"));
    let turn = || {
        let _ = world.env.env.clone().with_symlink("/secret", "/@a.txt");
    };
    let gate = Gate { meanwhile: Some(&turn), ..Gate::default() };
    let result = world.call_with("read", json!({ "path": "@a.txt" }), &gate);
    world.fails(&result, ErrorCode::Stale, "leads elsewhere");
    assert!(world.env.touched().is_empty());
}

#[test]
fn the_happy_path_asks_little() {
    let world = world(|env| env.with_file("/src/a b.ts", "OLD").with_dir("/dir"));
    world.read("src/a b.ts");
    assert_eq!(world.env.calls(), ["lstat", "read"]);
    world.edit("src/a b.ts");
    assert_eq!(world.env.calls(), ["lstat", "canonical", "read", "write"]);
    world.write("src/a b.ts");
    assert_eq!(world.env.calls(), ["lstat", "canonical", "read", "write"]);
    world.write("dir/new.ts");
    assert_eq!(world.env.calls(), ["lstat", "lstat", "canonical", "mkdir", "write"]);
}

#[test]
fn errors_name_the_canonical_path() {
    let world =
        world(|env| env.with_file("/real/a.txt", "x\n").with_symlink("/real", "/link").with_dir("/real/dir"));
    let path = |result: ToolResult| result.details["path"].clone();
    assert_eq!(path(world.call("read", json!({ "path": "link/a.txt", "offset": 100 }))), "/real/a.txt");
    assert_eq!(path(world.read("link/none")), "/real/none");
    assert_eq!(path(world.read("link/dir")), "/real/dir");
    assert_eq!(path(world.edit("link/a.txt")), "/real/a.txt");
    assert_eq!(path(world.write("link/dir")), "/real/dir");
}

#[test]
fn w01_bom_and_line_endings() {
    let before = b"\xEF\xBB\xBFa\r\nb\r\n";
    let verbatim = world(|env| env.with_file("/f", before));
    let result = verbatim.call("write", json!({ "path": "f", "content": "a\nc\n" }));
    assert_eq!(
        result.text(),
        "Successfully wrote 4 bytes to f. Line endings changed from CRLF to LF; the BOM was removed"
    );
    for content in ["a\nc\n", "a\r\nc\r\n", "\u{feff}a\nc\n"] {
        let kept =
            world(|env| env.with_file("/f", before)).with(json!({ "write": { "preserveEncoding": true } }));
        let result = kept.call("write", json!({ "path": "f", "content": content }));
        assert_eq!(result.text(), "Successfully wrote 9 bytes to f");
        assert_eq!(kept.env.env.files()["/f"], b"\xEF\xBB\xBFa\r\nc\r\n");
    }
}

#[test]
fn w03_and_what_is_no_content() {
    let world = world(|env| env);
    let result = world.call("write", json!({ "path": "a.txt", "content": null }));
    world.fails(&result, ErrorCode::InvalidArguments, "content: must be string, got null");
    let lone = Arguments::Text(br#"{"path":"a.txt","content":"\ud800"}"#.to_vec());
    let Arguments::Text(text) = lone else { unreachable!() };
    let result = world.call("write", Value::String(String::from_utf8(text).unwrap()));
    world.fails(&result, ErrorCode::InvalidArguments, "surrogate");
    for path in ["dir/", "dir/.", "a/..", "new/"] {
        world.fails(&world.write(path), ErrorCode::InvalidPath, "directory");
    }
    assert!(world.paths().is_empty());
}

#[test]
fn w05_a_file_in_the_middle_and_a_directory_at_the_end() {
    let world = world(|env| env.with_file("/a", "file").with_dir("/dir"));
    world.fails(&world.write("a/b.txt"), ErrorCode::NotDirectory, "a/b.txt");
    world.fails(&world.write("a/b/c.txt"), ErrorCode::NotDirectory, "a/b/c.txt");
    world.fails(&world.read("a/b.txt"), ErrorCode::NotDirectory, "a/b.txt");
    world.fails(&world.write("dir"), ErrorCode::IsDirectory, "dir");
    world.fails(&world.edit("dir"), ErrorCode::IsDirectory, "dir");
    assert_eq!(world.paths(), ["/a"]);
}

#[test]
fn a_dangling_link_is_written_through_where_nobody_decides_by_paths() {
    let world = world(|env| env.with_dir("/out").with_symlink("/out/file", "/new"));
    assert!(!world.write("new").is_error);
    assert_eq!(world.paths(), ["/out/file"]);
}

#[test]
fn a_root_that_does_not_hold_the_cwd_is_refused() {
    let options = Options::from_json(br#"{"root": "/project"}"#).unwrap();
    assert_eq!(options.check_root("/").unwrap_err().code, ErrorCode::OutsideRoot);
    assert!(options.check_root("/project/sub").is_ok());
    assert!(Options::from_json(br#"{"root": ""}"#).unwrap().check_root("/").is_err());
}
