//! Without the feature `search`: a search goes through the host to where it can run, and comes back.
#![cfg(all(not(target_arch = "wasm32"), not(feature = "search")))]

use std::cell::RefCell;

use serde_json::{Value, json};
use tackroom::call::{
    self, Arguments, Event, NoHooks, Observer, Options, Registry, Scope, ToolCall, ToolResult,
};
use tackroom::env::{Abort, Host, ImageRequest, ManualHost, MemoryEnv, MutationQueue, ShownImage};
use tackroom::error::{ErrorCode, ToolError};
use tackroom::tools::search::Job;

/// A host that has another module.
struct Elsewhere {
    host: ManualHost,
    answer: Result<&'static str, ErrorCode>,
    jobs: RefCell<Vec<Job>>,
}

impl Host for Elsewhere {
    fn now_ms(&self) -> f64 {
        self.host.now_ms()
    }

    async fn sleep(&self, ms: f64) {
        self.host.sleep(ms).await;
    }

    async fn show_image(&self, request: ImageRequest) -> Result<ShownImage, String> {
        self.host.show_image(request).await
    }

    async fn search(&self, job: String, update: &dyn Fn(&str)) -> Result<String, ToolError> {
        let job = serde_json::from_str(&job).expect("a job is JSON");
        self.jobs.borrow_mut().push(Job::read(job).expect("a job can be read"));
        update(r#"{"content": [{"type": "text", "text": "so far"}], "details": {}}"#);
        update("nonsense");
        self.answer.map(str::to_owned).map_err(|code| ToolError::new(code, "no"))
    }
}

#[derive(Default)]
struct Heard {
    updates: RefCell<usize>,
    result: RefCell<Option<ToolResult>>,
}

impl Observer for Heard {
    fn event(&self, event: Event<'_>) {
        *self.updates.borrow_mut() += usize::from(matches!(event, Event::Update(_)));
    }

    fn settle(&self, result: ToolResult) {
        *self.result.borrow_mut() = Some(result);
    }
}

fn run<H: Host>(host: &H, manual: &ManualHost, name: &str, arguments: Value) -> (ToolResult, usize) {
    let env = MemoryEnv::new(manual).with_cwd("/w").with_file("d/f", "x\n").with_symlink("d/f", "link");
    let options = br#"{"tools": ["grep", "find", "read"], "root": "/w", "limits": {"perTool": {"grep": {"limit": 7}}}}"#;
    let options = Options::from_json(options).expect("the options are good");
    let heard = Heard::default();
    let scope = Scope {
        registry: &Registry::new(&options, &[]),
        options: &options,
        env: &env,
        host,
        hooks: &NoHooks,
        queue: &MutationQueue::default(),
        abort: &Abort::default(),
        redactor: None,
        observer: &heard,
    };
    let arguments = Arguments::Value(arguments);
    let call = ToolCall { id: "1".into(), name: name.into(), arguments, incomplete: false };
    manual.run(call::run(call, scope));
    let updates = *heard.updates.borrow();
    (heard.result.take().expect("it answers"), updates)
}

#[test]
fn a_search_crosses_as_a_job() {
    let manual = ManualHost::default();
    let answer = r#"{"content": [{"type": "text", "text": "link:1: x"}], "details": {"matches": 1}}"#;
    let host = Elsewhere { host: manual.clone(), answer: Ok(answer), jobs: RefCell::default() };
    let (result, updates) = run(&host, &manual, "grep", json!({"pattern": "x", "path": "link"}));
    assert_eq!((result.text(), updates, &result.details["matches"]), ("link:1: x".into(), 1, &json!(1)));
    let job = host.jobs.borrow()[0].clone();
    assert_eq!(Job::read(job.to_json()), Ok(job.clone()));
    assert_eq!((job.tool.name(), &*job.start.path, &*job.start.name), ("grep", "/w/d/f", "link"));
    assert_eq!((job.start.is_directory, job.start.size, job.root.as_deref()), (false, 2, Some("/w")));
    assert_eq!((job.results, job.has_read, job.limits.max_lines), (Some(7), true, 2000));
    assert_eq!(job.arguments, json!({"pattern": "x", "path": "link"}));
    // What can be refused here does not cross.
    assert!(run(&host, &manual, "find", json!({"pattern": "x", "path": "link"})).0.is_error);
    assert!(run(&host, &manual, "grep", json!({"pattern": "x", "path": "/etc"})).0.is_error);
    assert_eq!(host.jobs.borrow().len(), 1);
}

#[test]
fn its_failure_is_that_of_the_call() {
    let manual = ManualHost::default();
    for (answer, code) in [
        (Err(ErrorCode::InvalidPattern), "invalid_pattern"),
        (Ok("nonsense"), "unknown"),
        (Ok(r#"{"content": 1}"#), "unknown"),
    ] {
        let host = Elsewhere { host: manual.clone(), answer, jobs: RefCell::default() };
        let (result, _) = run(&host, &manual, "grep", json!({"pattern": "x"}));
        assert_eq!(result.details["code"], code);
    }
    let (result, _) = run(&manual, &manual, "grep", json!({"pattern": "x"}));
    assert_eq!(result.details["code"], "not_supported");
}
