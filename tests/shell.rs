#![cfg(not(target_arch = "wasm32"))]
//! Commands over environments that store slowly, badly or not at all, natively. What needs no such environment is in
//! tests/cases.

use std::cell::RefCell;

use serde_json::{Value, json};
use tackroom::call::{
    Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult, run,
};
use tackroom::env::memory::Step;
use tackroom::env::{Abort, Env, Host, ManualHost, MemoryEnv, MutationQueue, Stream};
use tackroom::tools::Output;

#[derive(Default)]
struct Heard {
    updates: RefCell<Vec<Output>>,
    result: RefCell<Option<ToolResult>>,
}

impl Observer for Heard {
    fn event(&self, event: Event<'_>) {
        if let Event::Update(output) = event {
            self.updates.borrow_mut().push(output.clone());
        }
    }
    fn settle(&self, result: ToolResult) {
        *self.result.borrow_mut() = Some(result);
    }
}

struct World {
    host: ManualHost,
    env: MemoryEnv,
    abort: Abort,
}

impl World {
    /// One command, whatever its text.
    fn new(steps: Vec<Step>) -> World {
        let host = ManualHost::default();
        let env = MemoryEnv::new(&host).with_shell(move |_| steps.clone());
        World { host, env, abort: Abort::default() }
    }

    fn run(&self, options: &Value) -> (ToolResult, Vec<Output>) {
        self.host.run(self.run_async(options))
    }

    async fn run_async(&self, options: &Value) -> (ToolResult, Vec<Output>) {
        let options = Options::from_json(options.to_string().as_bytes()).unwrap();
        let registry = Registry::new(&options, self.env.shells());
        let heard = Heard::default();
        let redactor = options.redactor();
        let scope = Scope {
            registry: &registry,
            options: &options,
            env: &self.env,
            host: &self.host,
            hooks: &NoHooks,
            queue: &MutationQueue::default(),
            abort: &self.abort,
            redactor: redactor.as_ref(),
            observer: &heard,
        };
        let call = ToolCall {
            id: "1".into(),
            name: "bash".into(),
            arguments: Arguments::Value(json!({"command": "run"})),
            incomplete: false,
        };
        run(call, scope).await;
        let result = heard.result.take().expect("a call is answered");
        (result, heard.updates.take())
    }

    fn spill(&self, result: &ToolResult) -> Vec<u8> {
        let path = result.details["fullOutputPath"].as_str().expect("there is a file");
        self.env.files()[path].clone()
    }
}

const LINE: &[u8] = b"0123456789abcde\n";

fn lines(count: usize) -> Step {
    Step::Write(Stream::Stdout, LINE.repeat(count))
}

#[test]
fn a_command_waits_for_a_slow_store() {
    let mut world = World::new(vec![lines(4096); 200]);
    world.env = world.env.with_temp_files(50.0, None);
    let (result, _) = world.run(&json!({}));
    assert!(!result.is_error);
    assert_eq!(world.spill(&result), LINE.repeat(200 * 4096));
    // 12.8 MB, of which about half a megabyte waits at a time: it took the store's time.
    assert!(world.host.now_ms() > 400.0, "{} ms", world.host.now_ms());
}

#[test]
fn one_that_does_not_leaves_a_file_that_says_what_it_lacks() {
    let mut world = World::new(vec![Step::Flood(Stream::Stdout, LINE.repeat(4096), 320)]);
    world.env = world.env.with_temp_files(50.0, None);
    let (result, _) = world.run(&json!({}));
    let spill = world.spill(&result);
    assert_eq!(spill.len(), 8 << 20);
    assert_eq!(spill, LINE.repeat((8 << 20) / LINE.len()));
    let text = result.text();
    assert!(
        text.contains("Showing lines 1308721-1310720 of 1310720. Output, its first 8.0MB only: /.tackroom/"),
        "{text}"
    );
    assert!(text.ends_with("(it came faster than the environment stored it)]"), "{text}");
}

#[test]
fn a_full_disk() {
    let mut world = World::new(vec![lines(4096); 100]);
    world.env = world.env.with_temp_files(0.0, Some(2_000_000));
    let (result, _) = world.run(&json!({}));
    assert!(!result.is_error);
    let spill = world.spill(&result);
    assert!(!spill.is_empty() && spill.len() <= 2_000_000 && LINE.repeat(200_000).starts_with(&spill));
    let text = result.text();
    assert!(text.contains("only: /.tackroom/") && text.contains("(no space left"), "{text}");
}

#[test]
fn nowhere_to_store() {
    for env in
        [|env: MemoryEnv| env.without_temp_files(), |env: MemoryEnv| env.with_temp_files(0.0, Some(10))]
    {
        let mut world = World::new(vec![lines(4096); 20]);
        world.env = env(world.env);
        let (result, _) = world.run(&json!({}));
        assert!(!result.is_error);
        assert!(result.text().starts_with("0123456789abcde\n"), "{}", result.text());
        assert_eq!(world.env.files().len(), 0);
    }
    let mut world = World::new(vec![lines(4096)]);
    world.env = world.env.without_temp_files();
    let (result, _) = world.run(&json!({}));
    let hint = "[Showing lines 2097-4096 of 4096. The rest was not kept: narrow the command, or send its output to a file]";
    assert!(result.text().ends_with(hint), "{}", result.text());
    assert_eq!(result.details.get("fullOutputPath"), None);
}

/// A progress bar: a lot of bytes, one line.
#[test]
fn the_file_of_what_is_shown_whole_is_removed() {
    let frames: Vec<u8> =
        (0..100_000).flat_map(|n| format!("{n}%\r").into_bytes()).chain(*b"done\n").collect();
    let world =
        World::new(frames.chunks(1000).map(|chunk| Step::Write(Stream::Stdout, chunk.to_vec())).collect());
    let (result, _) = world.run(&json!({}));
    assert_eq!((result.text().as_str(), result.is_error), ("done\n", false));
    assert_eq!(result.details.get("fullOutputPath"), None);
    assert_eq!(world.env.files().len(), 0);
}

#[test]
fn an_abort_waits_a_second_for_the_store() {
    // Of the last, the command waits for the store.
    for (latency, times, is_whole) in [(10.0, 1, true), (60_000.0, 1, false), (60_000.0, 9, false)] {
        let mut steps = vec![lines(40_000); times];
        steps.push(Step::Wait(600_000.0));
        let mut world = World::new(steps);
        world.env = world.env.with_temp_files(latency, None);
        let abort = world.abort.clone();
        let host = world.host.clone();
        let result = world.host.run(async {
            let started = host.now_ms();
            let options = json!({});
            let call = world.run_async(&options);
            let raise = async {
                host.sleep(100.0).await;
                abort.raise();
            };
            let (result, ()) = join(call, raise).await;
            (result, host.now_ms() - started)
        });
        let ((result, _), ms) = result;
        assert_eq!(result.details["code"], "aborted");
        assert!(result.text().ends_with("\n\nCommand aborted"), "{}", result.text());
        assert!(ms < 1200.0, "{ms} ms");
        match is_whole {
            true => assert_eq!(world.spill(&result).len(), 640_000),
            false => assert!(result.text().contains("The rest was not kept"), "{}", result.text()),
        }
    }
}

#[test]
fn snapshots_are_whole_and_the_last_one_is_the_result() {
    let world = World::new(vec![
        Step::Write(Stream::Stdout, b"one\n".to_vec()),
        Step::Wait(250.0),
        Step::Write(Stream::Stderr, b"two\n".to_vec()),
        Step::Write(Stream::Stdout, b"three\n".to_vec()),
    ]);
    let (result, updates) = world.run(&json!({}));
    let texts: Vec<String> = updates
        .iter()
        .map(|update| match &update.content[..] {
            [tackroom::tools::Content::Text { text }] => text.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["", "one\n", "one\ntwo\nthree\n"]);
    assert_eq!(result.text(), "one\ntwo\nthree\n");
}

/// Both to their ends.
async fn join<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    use std::pin::pin;
    use std::task::Poll;
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut left, mut right) = (None, None);
    std::future::poll_fn(|cx| {
        if left.is_none()
            && let Poll::Ready(value) = a.as_mut().poll(cx)
        {
            left = Some(value);
        }
        if right.is_none()
            && let Poll::Ready(value) = b.as_mut().poll(cx)
        {
            right = Some(value);
        }
        if left.is_some() && right.is_some() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    (left.unwrap(), right.unwrap())
}
