#![cfg(not(target_arch = "wasm32"))]
//! Several calls at once, natively: none is lost, none overtakes another on the same file, an abort answers at once.
//! The same through the package, and what only JavaScript can do, is in tests/js/concurrency.test.mjs.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use serde_json::{Value, json};
use tackroom::call::{
    Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult, run,
};
use tackroom::env::{Abort, Env, FileInfo, Host, ManualHost, MemoryEnv, MutationQueue};
use tackroom::error::{ErrorCode, ToolError};

/// Memory that is slow to write, and fails the first writes as it is told to.
struct Disk {
    env: MemoryEnv,
    host: ManualHost,
    write_ms: f64,
    failures: RefCell<Vec<ErrorCode>>,
    written: Cell<usize>,
}

impl Env for Disk {
    fn cwd(&self) -> &str {
        self.env.cwd()
    }
    async fn read_file(&self, path: &str) -> Result<Vec<u8>, ToolError> {
        self.env.read_file(path).await
    }
    async fn write_file(&self, path: &str, content: &[u8]) -> Result<(), ToolError> {
        self.host.sleep(self.write_ms).await;
        if let Some(code) = self.failures.borrow_mut().pop() {
            return Err(ToolError::new(code, "the disk says no"));
        }
        self.written.set(self.written.get() + 1);
        self.env.write_file(path, content).await
    }
    async fn file_info(&self, path: &str) -> Result<FileInfo, ToolError> {
        self.env.file_info(path).await
    }
    async fn list_dir(&self, path: &str) -> Result<Vec<FileInfo>, ToolError> {
        self.env.list_dir(path).await
    }
    async fn canonical_path(&self, path: &str) -> Result<Option<String>, ToolError> {
        self.env.canonical_path(path).await
    }
}

struct World {
    host: ManualHost,
    disk: Disk,
    queue: MutationQueue,
    options: Options,
    registry: Registry,
}

/// The answer, and when it came.
type Answer = Rc<RefCell<Option<(ToolResult, f64)>>>;

struct Listener(Answer, ManualHost);

impl Observer for Listener {
    fn event(&self, _event: Event<'_>) {}
    fn settle(&self, result: ToolResult) {
        *self.0.borrow_mut() = Some((result, self.1.now_ms()));
    }
}

impl World {
    fn new(content: &str) -> World {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host).with_latency(20.0).with_file("/race.txt", content);
        let options = Options::default();
        World {
            disk: Disk {
                env,
                host: host.clone(),
                // Longer than finding and reading a file takes: an edit that did not wait would read too early.
                write_ms: 200.0,
                failures: RefCell::default(),
                written: Cell::new(0),
            },
            queue: MutationQueue::default(),
            registry: Registry::new(&options, &[]),
            options,
            host,
        }
    }

    /// A call, and the place where its answer will be. Nothing runs before it is polled.
    fn call<'a>(
        &'a self,
        tool: &str,
        arguments: Value,
        abort: &'a Abort,
    ) -> (Answer, Pin<Box<dyn Future<Output = ()> + 'a>>) {
        let answer = Answer::default();
        let listener = Listener(answer.clone(), self.host.clone());
        let arguments = Arguments::Value(arguments);
        let call = ToolCall { id: "1".into(), name: tool.into(), arguments, incomplete: false };
        let running = Box::pin(async move {
            let scope = Scope {
                registry: &self.registry,
                options: &self.options,
                env: &self.disk,
                host: &self.host,
                hooks: &NoHooks,
                queue: &self.queue,
                abort,
                redactor: None,
                observer: &listener,
            };
            run(call, scope).await;
        });
        (answer, running)
    }

    /// Runs them side by side to their ends.
    fn join<'a>(&self, mut running: Vec<Pin<Box<dyn Future<Output = ()> + 'a>>>) {
        self.host.run(poll_fn(|cx| {
            running.retain_mut(|one| one.as_mut().poll(cx).is_pending());
            if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        }));
    }

    fn content(&self) -> String {
        String::from_utf8(self.disk.env.files()["/race.txt"].clone()).unwrap()
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "edits": [{ "oldText": old, "newText": new }] })
}

fn answered(answer: &Answer) -> (ToolResult, f64) {
    answer.borrow_mut().take().expect("answered")
}

#[test]
fn c01_two_edits_of_one_file_by_two_of_its_paths() {
    let world = World::new("50\n75\n");
    let abort = Abort::default();
    let (one, first) = world.call("edit", edit("race.txt", "50", "FIFTY"), &abort);
    let (other, second) = world.call("edit", edit("./race.txt", "75", "SEVENTY"), &abort);
    world.join(vec![first, second]);
    assert!(!answered(&one).0.is_error && !answered(&other).0.is_error);
    assert_eq!(world.content(), "FIFTY\nSEVENTY\n");
    assert!(world.queue.is_empty(), "no place is left behind");
}

#[test]
fn c03_neither_a_failure_nor_an_abort_in_the_queue_keeps_others_out() {
    let world = World::new("1\n2\n3\n");
    world.disk.failures.borrow_mut().push(ErrorCode::Unknown);
    let (none, given_up) = (Abort::default(), Abort::default());
    let (first, a) = world.call("edit", edit("race.txt", "1", "one"), &none);
    let (second, b) = world.call("edit", edit("race.txt", "2", "two"), &none);
    let (third, c) = world.call("edit", edit("race.txt", "3", "three"), &given_up);
    let raise = Box::pin(async {
        world.host.sleep(1.0).await;
        given_up.raise();
    });
    world.join(vec![a, b, c, raise]);
    assert!(answered(&first).0.is_error);
    assert!(!answered(&second).0.is_error);
    let (aborted, at) = answered(&third);
    assert_eq!((aborted.text().as_str(), at), ("Operation aborted", 1.0), "at once");
    assert_eq!(world.content(), "1\ntwo\n3\n");
    assert_eq!(world.disk.written.get(), 1, "the aborted one did not touch the file");
    assert!(world.queue.is_empty());
}

#[test]
fn c07_a_held_file_and_a_full_disk_are_told_apart_and_the_next_call_works() {
    let world = World::new("a\n");
    world.disk.failures.borrow_mut().extend([ErrorCode::NoSpace, ErrorCode::Busy]);
    let abort = Abort::default();
    for (code, word) in [("busy", "again"), ("no_space", "space")] {
        let (answer, running) = world.call("write", json!({"path": "race.txt", "content": "b\n"}), &abort);
        world.join(vec![running]);
        let (result, _) = answered(&answer);
        assert_eq!(result.details["code"], code);
        assert!(result.text().contains(word), "{}", result.text());
        assert_eq!(world.content(), "a\n", "nothing is lost");
    }
    let (answer, running) = world.call("write", json!({"path": "race.txt", "content": "b\n"}), &abort);
    world.join(vec![running]);
    assert!(!answered(&answer).0.is_error);
    assert_eq!(world.content(), "b\n");
}

#[test]
fn c10_an_abort_in_the_middle_of_a_write() {
    let mut world = World::new("old\n");
    world.disk.write_ms = 1000.0;
    let (given_up, none) = (Abort::default(), Abort::default());
    let (first, a) = world.call("write", json!({"path": "race.txt", "content": "first\n"}), &given_up);
    let (second, b) = world.call("write", json!({"path": "race.txt", "content": "second\n"}), &none);
    let raise = Box::pin(async {
        world.host.sleep(500.0).await;
        given_up.raise();
    });
    world.join(vec![a, b, raise]);
    let (aborted, at) = answered(&first);
    assert_eq!(aborted.text(), "Operation aborted; the write to race.txt had begun and may land");
    assert_eq!(at, 500.0, "at once");
    let (landed, at) = answered(&second);
    assert!(!landed.is_error);
    assert!(at > 2000.0, "the second began only after the first had settled, and ended at {at} ms");
    assert_eq!(world.content(), "second\n");
    assert!(world.queue.is_empty());
}
