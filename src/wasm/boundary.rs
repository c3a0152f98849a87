//! The JS face, as seen from wasm: one object with the few methods that the core needs, and the way a promise is
//! waited for.
//!
//! Every import is `catch`: a host value's getter may throw, and an exception that passes through wasm frames
//! would leave the instance half-way. The face itself throws only when this instance is dead.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use js_sys::Uint8Array;
use serde_json::{Map, Value, json};
use wasm_bindgen::prelude::*;

use super::convert::{Thrown, failure};
use crate::env::{Host, ImageRequest, ShownImage, Spawn};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::path;
use crate::table::Table;

#[wasm_bindgen]
extern "C" {
    /// `Boundary` of pkg/src/boundary.ts.
    #[derive(Clone)]
    pub type Boundary;

    /// Calls a method of the environment with a path, content where it takes some, and the call's signal.
    #[wasm_bindgen(method, catch)]
    pub fn invoke(
        this: &Boundary,
        env: &JsValue,
        method: &str,
        path: &str,
        content: &JsValue,
        call: u32,
    ) -> Result<JsValue, JsValue>;
    /// Calls `readRange` of the environment.
    #[wasm_bindgen(method, catch, js_name = readRange)]
    pub fn read_range(
        this: &Boundary,
        env: &JsValue,
        path: &str,
        start: f64,
        end: f64,
        call: u32,
    ) -> Result<JsValue, JsValue>;
    /// Starts a command; its chunks and its end are reported under the id.
    #[wasm_bindgen(method, catch)]
    pub fn exec(this: &Boundary, env: &JsValue, request: &str, exec: u32) -> Result<JsValue, JsValue>;
    /// Raises the command's signal.
    #[wasm_bindgen(method, catch, js_name = abortExec)]
    pub fn abort_exec(this: &Boundary, exec: u32) -> Result<(), JsValue>;
    /// The command is over: chunks that come now are late.
    #[wasm_bindgen(method, catch, js_name = closeExec)]
    pub fn close_exec(this: &Boundary, exec: u32) -> Result<(), JsValue>;
    /// The command may write again.
    #[wasm_bindgen(method, catch)]
    pub fn drained(this: &Boundary, exec: u32) -> Result<(), JsValue>;
    /// Runs the host's spawnHook; JSON of what it made of the command, or undefined, or a promise of either.
    #[wasm_bindgen(method, catch)]
    fn spawn(this: &Boundary, call: u32, spawn: &str) -> Result<JsValue, JsValue>;
    /// Calls `createTempFile` (with a prefix and a suffix), `appendFile` or `remove` of the environment; `note`
    /// remembers the path of such a file, `is` tells whether it is one.
    #[wasm_bindgen(method, catch, js_name = tempFile)]
    pub fn temp_file(
        this: &Boundary,
        env: &JsValue,
        method: &str,
        path: &str,
        content: &JsValue,
    ) -> Result<JsValue, JsValue>;
    /// A promise of the writes to this path that a dead instance began, or undefined.
    #[wasm_bindgen(method, catch, js_name = earlierWrites)]
    pub fn earlier_writes(this: &Boundary, env: u32, path: &str) -> Result<JsValue, JsValue>;

    /// A promise that is settled once the environment's lock on the path is held under the id.
    #[wasm_bindgen(method, catch)]
    pub fn lock(this: &Boundary, env: &JsValue, path: &str, id: u32) -> Result<JsValue, JsValue>;
    /// Lets go of it, or does not want it any more.
    #[wasm_bindgen(method, catch)]
    pub fn unlock(this: &Boundary, id: u32) -> Result<(), JsValue>;

    /// Whether the value is a promise; if so, its outcome is reported under the id.
    #[wasm_bindgen(method, catch)]
    fn watch(this: &Boundary, value: &JsValue, id: u32) -> Result<bool, JsValue>;
    /// JSON of a thrown value's code, name and message.
    #[wasm_bindgen(method, catch)]
    fn explain(this: &Boundary, thrown: &JsValue) -> Result<String, JsValue>;
    /// The value as a byte array of this realm, or undefined.
    #[wasm_bindgen(method, catch)]
    fn bytes(this: &Boundary, value: &JsValue) -> Result<JsValue, JsValue>;
    /// What kind of value it is, in words.
    #[wasm_bindgen(method, catch)]
    fn kind(this: &Boundary, value: &JsValue) -> Result<String, JsValue>;
    /// JSON of a file info's properties; undefined if the value is no object.
    #[wasm_bindgen(method, catch, js_name = fileInfo)]
    fn file_info(this: &Boundary, value: &JsValue) -> Result<Option<String>, JsValue>;
    /// JSON of a listing's entries, each as above or null; undefined if the value is no array.
    #[wasm_bindgen(method, catch, js_name = fileInfos)]
    fn file_infos(this: &Boundary, value: &JsValue) -> Result<Option<String>, JsValue>;
    /// The text in the form `"NFC"` or `"NFKC"`, or in `"lower"` case, by the runtime's tables.
    #[wasm_bindgen(method, catch)]
    pub fn normalize(this: &Boundary, text: &str, form: &str) -> Result<String, JsValue>;
    /// The double that a JSON number is.
    #[wasm_bindgen(method, catch)]
    pub fn number(this: &Boundary, text: &str) -> Result<f64, JsValue>;
    /// The number as text.
    #[wasm_bindgen(method, catch)]
    pub fn printed(this: &Boundary, number: f64) -> Result<String, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn now(this: &Boundary) -> Result<f64, JsValue>;
    /// Reports the id after that many milliseconds.
    #[wasm_bindgen(method, catch, js_name = setTimer)]
    fn set_timer(this: &Boundary, id: u32, ms: f64) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = clearTimer)]
    fn clear_timer(this: &Boundary, id: u32) -> Result<(), JsValue>;

    /// Shows an image in the call's result; the bytes are the face's from here on, which keeps their base64. The answer,
    /// or a promise of it, is a text: the MIME type, and after a line feed the hints. An empty type says that there is no
    /// image, and why.
    #[allow(clippy::too_many_arguments, reason = "JSON of the limits would be more code than these")]
    #[wasm_bindgen(method, catch, js_name = showImage)]
    fn show_image(
        this: &Boundary,
        call: u32,
        bytes: Uint8Array,
        mime_type: &str,
        is_processed: bool,
        auto_resize: bool,
        max_width: u32,
        max_height: u32,
        max_bytes: f64,
    ) -> Result<JsValue, JsValue>;

    /// Starts a search in the module that can, or, without a job, asks how it goes on; a promise of JSON: `{"update":
    /// output}` while it runs, at its end `{"ok": output}` or `{"error": {code, message, path, details}}`.
    #[wasm_bindgen(method, catch)]
    fn search(this: &Boundary, call: u32, job: Option<&str>) -> Result<JsValue, JsValue>;

    /// Runs beforeToolCall; a promise of the decision as JSON.
    #[wasm_bindgen(method, catch)]
    pub fn before(this: &Boundary, call: u32, args: &str, access: &str) -> Result<JsValue, JsValue>;
    /// Runs afterToolCall; a promise of the patch as JSON.
    #[wasm_bindgen(method, catch)]
    pub fn after(this: &Boundary, call: u32, args: &str, result: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn started(this: &Boundary, call: u32, shown: Option<&str>) -> Result<(), JsValue>;
    /// The text as the host's function shows it; fails where that does.
    #[wasm_bindgen(method, catch)]
    pub fn redact(this: &Boundary, call: u32, text: &str) -> Result<String, JsValue>;
    #[wasm_bindgen(method, catch, js_name = wantsUpdates)]
    pub fn wants_updates(this: &Boundary, call: u32) -> Result<bool, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn updated(this: &Boundary, call: u32, partial: &str) -> Result<(), JsValue>;
    #[wasm_bindgen(method, catch, js_name = wantsMutations)]
    pub fn wants_mutations(this: &Boundary, call: u32) -> Result<bool, JsValue>;
    #[wasm_bindgen(method, catch)]
    pub fn mutated(this: &Boundary, call: u32, change: &str) -> Result<(), JsValue>;
    /// The answer as JSON, and the text of its first part where that is empty there: a long text is not escaped.
    #[wasm_bindgen(method, catch)]
    pub fn settled(
        this: &Boundary,
        call: u32,
        result: &str,
        duration_ms: f64,
        text: Option<&str>,
    ) -> Result<(), JsValue>;
    /// Nothing more will be heard of the call. A write that outlived its abort ends after the answer.
    #[wasm_bindgen(method, catch)]
    pub fn ended(this: &Boundary, call: u32) -> Result<(), JsValue>;
}

/// What is waited for: promises and timers, by id.
#[derive(Default)]
struct Waiting {
    next: u32,
    slots: Table<u32, Slot>,
}

enum Slot {
    Waiting(Option<Waker>),
    Settled(Result<JsValue, JsValue>),
}

thread_local! {
    static WAITING: RefCell<Waiting> = RefCell::default();
}

/// A promise or timer was settled; a slot that nobody waits for any more is no failure.
pub fn report(id: u32, outcome: Result<JsValue, JsValue>) {
    let waker = WAITING.with_borrow_mut(|waiting| match waiting.slots.get_mut(&id) {
        Some(slot @ Slot::Waiting(_)) => match std::mem::replace(slot, Slot::Settled(outcome)) {
            Slot::Waiting(waker) => waker,
            Slot::Settled(_) => None,
        },
        _ => None,
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// A slot; dropping it means that nobody waits any more.
struct Wait(u32);

impl Wait {
    fn new() -> Self {
        WAITING.with_borrow_mut(|waiting| {
            let id = waiting.next;
            waiting.next = id.wrapping_add(1);
            waiting.slots.insert(id, Slot::Waiting(None));
            Wait(id)
        })
    }

    async fn outcome(&self) -> Result<JsValue, JsValue> {
        poll_fn(|cx| {
            WAITING.with_borrow_mut(|waiting| match waiting.slots.remove(&self.0) {
                Some(Slot::Settled(outcome)) => Poll::Ready(outcome),
                _ => {
                    waiting.slots.insert(self.0, Slot::Waiting(Some(cx.waker().clone())));
                    Poll::Pending
                }
            })
        })
        .await
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        WAITING.with_borrow_mut(|waiting| waiting.slots.remove(&self.0));
    }
}

impl Boundary {
    /// What a host's answer comes to: the value, or what its promise brings.
    pub async fn outcome(&self, answer: Result<JsValue, JsValue>) -> Result<JsValue, ToolError> {
        let value = match answer {
            Ok(value) if !value.is_object() && !value.is_function() => Ok(value),
            Ok(value) => {
                let wait = Wait::new();
                match self.watch(&value, wait.0) {
                    Ok(true) => wait.outcome().await,
                    Ok(false) => Ok(value),
                    Err(thrown) => Err(thrown),
                }
            }
            Err(thrown) => Err(thrown),
        };
        value.map_err(|thrown| failure(self.thrown(&thrown)))
    }

    /// What can be read of a thrown value.
    pub fn thrown(&self, value: &JsValue) -> Thrown {
        let text = self.explain(value).unwrap_or_default();
        let Ok(mut fields) = json::parse(text.as_bytes()).and_then(Fields::of) else {
            return Thrown::default();
        };
        let mut text = |key| fields.text(key).unwrap_or_default();
        Thrown { code: text("code"), name: text("name"), message: text("message") }
    }

    /// Bytes that an environment answered.
    pub fn to_bytes(&self, value: &JsValue) -> Option<Uint8Array> {
        self.bytes(value).ok()?.dyn_into().ok()
    }

    /// What kind of value it is, for a message. `Array.isArray`, for one, throws for some.
    pub fn kind_of(&self, value: &JsValue) -> String {
        self.kind(value).unwrap_or_else(|_| "something else".into())
    }

    /// The properties of a file info; else what was found instead.
    pub fn to_file_info<T>(
        &self,
        value: &JsValue,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<T, String> {
        self.parsed(self.file_info(value), read)
    }

    /// The entries of a listing; else what was found instead.
    pub fn to_file_infos<T>(
        &self,
        value: &JsValue,
        read: impl Fn(Value) -> Result<T, String>,
    ) -> Result<Vec<T>, String> {
        self.parsed(self.file_infos(value), |value| json::list(value, read))
    }

    fn parsed<T>(
        &self,
        text: Result<Option<String>, JsValue>,
        read: impl FnOnce(Value) -> Result<T, String>,
    ) -> Result<T, String> {
        let text = match text {
            Ok(text) => text.ok_or("something else")?,
            Err(thrown) => {
                let reason = failure(self.thrown(&thrown)).message;
                return Err(format!("something that cannot be read ({reason})"));
            }
        };
        json::parse(text.as_bytes()).and_then(read).map_err(|error| {
            let shown: String = text.chars().take(200).collect();
            format!("{shown} ({error})")
        })
    }
}

/// The failure of an environment that answered something else than it should.
pub fn wrong_answer(method: &str, path: &str, expected: &str, found: &str) -> ToolError {
    ToolError::new(
        ErrorCode::Unknown,
        format!("the environment's {method} answered {found} for {path}, expected {expected}"),
    )
}

/// Clock, timers and images of the JS runtime, for one call.
pub struct JsHost {
    pub boundary: Boundary,
    pub call: u32,
}

/// The failure of a search.
#[cfg(not(feature = "search"))]
fn searched(error: Value) -> Result<ToolError, String> {
    let mut fields = Fields::of(error)?;
    let code = fields.text("code")?.and_then(|name| ErrorCode::from_name(&name));
    Ok(ToolError {
        code: code.unwrap_or(ErrorCode::Unknown),
        message: required("message", fields.text("message")?)?,
        path: fields.text("path")?,
        details: match fields.take("details") {
            Some(Value::Object(details)) => Some(Box::new(details)),
            _ => None,
        },
    })
}

/// What a hook made of a command.
fn spawned(answer: Value, cwd: &str) -> Result<Spawn, String> {
    let mut fields = Fields::of(answer)?;
    let env = |value: Value| {
        Fields::of(value)?.entries().map(|(name, value)| Ok((name, json::text(value)?))).collect()
    };
    Ok(Spawn {
        command: required("command", fields.text("command")?)?,
        cwd: path::join(cwd, &required("cwd", fields.text("cwd")?)?),
        env: required("env", fields.read("env", env)?)?,
    })
}

struct Timer<'a>(&'a Boundary, Wait);

impl Drop for Timer<'_> {
    fn drop(&mut self) {
        // Only fails in a dead instance, whose timers are not heard anyway.
        let _ = self.0.clear_timer(self.1.0);
    }
}

impl Host for JsHost {
    fn now_ms(&self) -> f64 {
        self.boundary.now().unwrap_or_default()
    }

    async fn sleep(&self, ms: f64) {
        let timer = Timer(&self.boundary, Wait::new());
        if self.boundary.set_timer(timer.1.0, ms).is_ok() {
            let _ = timer.1.outcome().await;
        }
    }

    async fn before_exec(&self, spawn: Spawn) -> Result<Spawn, ToolError> {
        let env = Map::from_iter(spawn.env.iter().map(|(name, value)| (name.clone(), value.as_str().into())));
        let asked = json!({ "command": spawn.command, "cwd": spawn.cwd, "env": env });
        let answer = self.boundary.spawn(self.call, &asked.to_string());
        let failed = |error: ToolError| match error.code {
            ErrorCode::Unknown => {
                ToolError { message: format!("spawnHook failed: {}", error.message), ..error }
            }
            _ => error,
        };
        match self.boundary.outcome(answer).await.map_err(failed)?.as_string() {
            None => Ok(spawn),
            Some(text) => {
                json::parse(text.as_bytes()).and_then(|value| spawned(value, &spawn.cwd)).map_err(|error| {
                    ToolError::new(
                        ErrorCode::Unknown,
                        format!("spawnHook answered something else than it may: {error}"),
                    )
                })
            }
        }
    }

    #[cfg(not(feature = "search"))]
    async fn search(&self, job: String, update: &dyn Fn(&str)) -> Result<String, ToolError> {
        let mut answer = self.boundary.search(self.call, Some(&job));
        loop {
            let text = self.boundary.outcome(answer).await?.as_string().unwrap_or_default();
            let Ok(mut fields) = json::parse(text.as_bytes()).and_then(Fields::of) else {
                return Err(ToolError::new(ErrorCode::Unknown, "The search ended without an answer"));
            };
            if let Some(snapshot) = fields.take("update") {
                update(&snapshot.to_string());
            } else if let Some(output) = fields.take("ok") {
                return Ok(output.to_string());
            } else {
                return Err(searched(fields.take("error").unwrap_or_default()).unwrap_or_else(|why| {
                    ToolError::new(ErrorCode::Unknown, format!("The search answered wrongly: {why}"))
                }));
            }
            answer = self.boundary.search(self.call, None);
        }
    }

    async fn show_image(&self, request: ImageRequest) -> Result<ShownImage, String> {
        let bytes = Uint8Array::new_from_slice(&request.bytes);
        let ImageRequest { mime_type, processing, .. } = request;
        let limits = processing.unwrap_or_default();
        let answer = self.boundary.show_image(
            self.call,
            bytes,
            mime_type,
            processing.is_some(),
            limits.auto_resize,
            limits.max_width,
            limits.max_height,
            limits.max_bytes as f64,
        );
        let value = self.boundary.outcome(answer).await.map_err(|error| error.message)?;
        let text = value.as_string().unwrap_or_default();
        match text.split_once('\n').unwrap_or((&text, "")) {
            ("", why) => Err(why.into()),
            (mime_type, hints) => {
                Ok(ShownImage { data: String::new(), mime_type: mime_type.into(), hints: hints.into() })
            }
        }
    }
}
