//! Calls through the wasm layer as it is compiled, in whatever runs the test: the executor, the environment over a
//! JavaScript object, and what becomes of its answers.
//!
//! The face here is the least that the core can work with, as text: the one of the package lies over its own
//! module's glue, and a snippet is nothing that every kind of test can load.

use std::cell::{Cell, OnceCell};

use js_sys::futures::JsFuture;
use js_sys::{Function, Promise, Reflect, eval};
use serde_json::{Value, json};
use tackroom::wasm::{exports, scratch, state};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::wasm_bindgen_test;

/// `(memory, report) => { boundary, put, result, updates }`
const FACE: &str = r#"(memory, report) => {
  const results = new Map();
  const slot = (call) => {
    if (!results.has(call)) {
      const own = {};
      own.promise = new Promise((resolve) => { own.resolve = resolve; });
      results.set(call, own);
    }
    return results.get(call);
  };
  const isThenable = (value) => typeof value?.then === "function";
  const signals = new Map();
  const signalOf = (call) => {
    if (!signals.has(call)) signals.set(call, new AbortController());
    return signals.get(call).signal;
  };
  const boundary = {
    invoke: (env, method, path, content, call) => method === "writeFile"
      ? env.writeFile(path, content, { signal: signalOf(call) })
      : env[method](path, { signal: signalOf(call) }),
    readRange: (env, path, start, end, call) => env.readRange(path, start, end, { signal: signalOf(call) }),
    exec: (env, request) => env.exec(JSON.parse(request).command, {}),
    spawn() {},
    abortExec() {},
    drained() {},
    closeExec() {},
    tempFile() {},
    number: Number,
    printed: String,
    earlierWrites() {},
    watch(value, id) {
      if (!isThenable(value)) return false;
      value.then((result) => report(id, true, result), (error) => report(id, false, error));
      return true;
    },
    explain(thrown) {
      if (typeof thrown !== "object" || thrown === null) return JSON.stringify({ message: String(thrown) });
      const text = (value) => typeof value === "string" ? value : undefined;
      return JSON.stringify({ code: text(thrown.code), name: text(thrown.name), message: text(thrown.message) });
    },
    bytes: (value) => value instanceof Uint8Array ? value : undefined,
    kind: (value) => typeof value,
    fileInfo: ({ name, path, kind, size, mtimeMs }) => JSON.stringify({ name, path, kind, size, mtimeMs }),
    fileInfos: (value) => JSON.stringify(value),
    now: () => performance.now(),
    setTimer: (id, ms) => { setTimeout(() => report(id, true, undefined), ms); },
    clearTimer() {},
    before: (call, args) => Promise.resolve(JSON.stringify({ kind: "run" })),
    after: () => Promise.resolve("{}"),
    started() {},
    wantsUpdates: () => false,
    updated() {},
    mutated() {},
    settled(call, result, durationMs, text) {
      if (text === undefined) return slot(call).resolve(result);
      const parsed = JSON.parse(result);
      parsed.content[0].text = text;
      slot(call).resolve(JSON.stringify(parsed));
    },
    ended() {},
  };
  return {
    boundary,
    put(at, text) { new Uint8Array(memory.buffer).set(new TextEncoder().encode(text), at); },
    result: (call) => slot(call).promise,
  };
}"#;

/// An environment whose one file is as the rest of the source says; `TEXT` are its bytes.
fn env(rest: &str) -> String {
    format!(
        r#"((TEXT) => ({{
  cwd: "/",
  readBinaryFile: () => TEXT,
  writeFile() {{}},
  fileInfo: (path) => ({{ name: "f", path, kind: "file", size: 5, mtimeMs: 0 }}),
  listDir: () => [],
  {rest}
}}))(new TextEncoder().encode("text\n"))"#
    )
}

thread_local! {
    /// There is one instance, and it takes one face.
    static LIVE: OnceCell<JsValue> = const { OnceCell::new() };
    static NEXT_CALL: Cell<u32> = const { Cell::new(0) };
}

fn face() -> JsValue {
    LIVE.with(|live| {
        live.get_or_init(|| {
            let report = Closure::<dyn FnMut(u32, bool, JsValue)>::new(state::promise_settled);
            let make: Function = eval(FACE).expect("the face is a function").unchecked_into();
            let made = make.call2(&JsValue::NULL, &wasm_bindgen::memory(), &report.into_js_value());
            let made = made.expect("the face is made");
            state::start(Reflect::get(&made, &"boundary".into()).expect("an object").unchecked_into());
            made
        })
        .clone()
    })
}

fn ask(method: &str, first: u32, second: &str) -> JsValue {
    let method: Function = Reflect::get(&face(), &method.into()).expect("an object").unchecked_into();
    method.call2(&JsValue::NULL, &first.into(), &second.into()).expect("the face does not throw")
}

/// Puts texts into the scratch buffer; answers their lengths.
fn put<const N: usize>(texts: [&str; N]) -> [usize; N] {
    let text = texts.concat();
    let at = scratch::scratch(text.len());
    ask("put", at.try_into().expect("an address"), &text);
    texts.map(str::len)
}

/// A toolset over the environment that the source makes.
fn toolset(source: &str) -> u32 {
    face();
    let env = eval(source).expect("the environment is made");
    let has = |name: &&str| Reflect::get(&env, &(*name).into()).is_ok_and(|method| method.is_function());
    let methods: Vec<&str> = ["canonicalPath", "createDir", "exec"].into_iter().filter(has).collect();
    let shells: &[&str] = if methods.contains(&"exec") { &["bash"] } else { &[] };
    let facts = json!({
        "cwd": "/", "home": null, "description": null, "shells": shells, "methods": methods, "key": 0,
    });
    let [options, facts] = put(["{}", &facts.to_string()]);
    let answer: Value = serde_json::from_str(&exports::toolset_new(env, options, facts)).expect("JSON");
    answer["ok"].as_u64().and_then(|id| id.try_into().ok()).expect("a toolset")
}

/// Starts a call; answers its number.
fn start(toolset: u32, name: &str, arguments: &Value) -> u32 {
    let call = NEXT_CALL.replace(NEXT_CALL.get() + 1);
    let header = json!({ "id": "1", "name": name, "incomplete": false, "before": true, "after": true });
    let [header, arguments] = put([&header.to_string(), &arguments.to_string()]);
    exports::call_start(toolset, call, header, arguments, false);
    call
}

async fn result(call: u32) -> Value {
    let promise: Promise = ask("result", call, "").unchecked_into();
    let text = JsFuture::from(promise).await.expect("a call does not reject").as_string();
    serde_json::from_str(&text.expect("JSON text")).expect("JSON")
}

async fn run(source: &str, name: &str, arguments: Value) -> Value {
    result(start(toolset(source), name, &arguments)).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

async fn fails(rest: &str, code: &str, words: &str) {
    let result = run(&env(rest), "read", json!({ "path": "f" })).await;
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(result["details"]["code"], code, "{result}");
    assert!(text(&result).contains(words), "{result}");
    assert_eq!(state::tasks(), 0);
}

#[wasm_bindgen_test]
async fn a_call_is_answered_at_once_and_later() {
    for rest in [
        "",
        "readBinaryFile: async () => TEXT",
        "readBinaryFile: () => ({ ok: true, value: TEXT })",
        "readBinaryFile: () => new Promise((resolve) => setTimeout(() => resolve(TEXT), 5))",
    ] {
        let result = run(&env(rest), "read", json!({ "path": "f" })).await;
        assert_eq!((text(&result), &result["isError"]), ("text\n", &json!(false)), "{rest}");
    }
    assert_eq!(state::tasks(), 0);
}

#[wasm_bindgen_test]
async fn a_getter_that_throws_is_a_failure() {
    fails("readBinaryFile: () => ({ get ok() { throw new Error('no ok') } })", "unknown", "no ok").await;
    fails("readBinaryFile: () => ({ ok: true, get value() { throw 'no value' } })", "unknown", "no value")
        .await;
    fails("readBinaryFile: () => ({ get then() { throw new Error('no then') } })", "unknown", "no then")
        .await;
    fails("get readBinaryFile() { throw new Error('no method') }", "unknown", "no method").await;
    fails("fileInfo: () => ({ get kind() { throw new Error('no kind') } })", "unknown", "no kind").await;
}

#[wasm_bindgen_test]
async fn a_rejected_promise_is_a_failure() {
    fails("readBinaryFile: () => Promise.reject('a string')", "unknown", "a string").await;
    fails("readBinaryFile: () => Promise.reject(undefined)", "unknown", "Could not use f").await;
    fails("readBinaryFile: async () => { throw new DOMException('x', 'NotFoundError') }", "not_found", "f")
        .await;
    fails(
        "readBinaryFile: async () => { throw new DOMException('x', 'QuotaExceededError') }",
        "no_space",
        "f",
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_answer_of_a_wrong_type_is_a_failure() {
    fails("readBinaryFile: () => 5", "unknown", "answered number").await;
    fails("readBinaryFile: async () => [1, 2]", "unknown", "expected a Uint8Array").await;
    fails("readBinaryFile: () => new ArrayBuffer(8)", "unknown", "expected a Uint8Array").await;
    fails("readBinaryFile: () => null", "not_found", "Path not found").await;
    fails("fileInfo: () => ({ kind: 'socket' })", "unknown", "socket").await;
}

#[wasm_bindgen_test]
async fn what_never_settles_is_left_by_an_abort() {
    let never = toolset(&env("readBinaryFile: () => new Promise(() => {})"));
    let calls = [1, 2, 3].map(|_| start(never, "read", &json!({ "path": "f" })));
    // The hook's decision is a promise: the environment is asked in a later turn.
    JsFuture::from(Promise::resolve(&JsValue::NULL)).await.expect("a turn");
    assert_eq!(state::tasks(), 3);
    state::call_abort(calls[1]);
    let aborted = result(calls[1]).await;
    assert_eq!((text(&aborted), &aborted["details"]["code"]), ("Operation aborted", &json!("aborted")));
    assert_eq!(state::tasks(), 2);
    exports::toolset_free(never);
    for call in [calls[0], calls[2]] {
        state::call_abort(call);
        assert_eq!(result(call).await["details"]["code"], "aborted");
    }
    assert_eq!(state::tasks(), 0);
}

#[wasm_bindgen_test]
async fn edits_of_one_file_do_not_overtake_each_other() {
    let slow = r#"
  readBinaryFile: () => new Promise((resolve) => setTimeout(() => resolve(TEXT), 3)),
  writeFile: (_, content) => new Promise((resolve) => setTimeout(() => { TEXT = content; resolve(); }, 3)),
"#;
    let toolset = toolset(&env(slow));
    let edits = [("t", "T"), ("e", "E"), ("x", "X")].map(|(old, new)| {
        let edits = json!([{ "oldText": old, "newText": new, "replaceAll": true }]);
        start(toolset, "edit", &json!({ "path": "f", "edits": edits }))
    });
    for call in edits {
        let result = result(call).await;
        assert_eq!(result["isError"], false, "{result}");
    }
    let read = result(start(toolset, "read", &json!({ "path": "f" }))).await;
    assert_eq!(text(&read), "TEXT\n");
    assert_eq!(state::tasks(), 0);
}

#[wasm_bindgen_test]
async fn a_command_is_timed_out() {
    let endless = env("exec: () => new Promise(() => {})");
    let result = run(&endless, "bash", json!({ "command": "sleep", "timeout": 0.01 })).await;
    assert_eq!(result["details"]["code"], "timeout", "{result}");
    assert_eq!(text(&result), "(no output)\n\nCommand timed out after 0.01 seconds");
    let answered = env("exec: async () => ({ exitCode: 3, stdout: 'out' })");
    let result = run(&answered, "bash", json!({ "command": "x" })).await;
    assert_eq!(text(&result), "out\n\nCommand exited with code 3");
    assert_eq!(state::tasks(), 0);
}
