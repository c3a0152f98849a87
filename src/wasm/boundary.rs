//! The JS face, as seen from wasm: one object with the few methods that the core needs, and the way a promise is
//! waited for.
//!
//! Every import is `catch`: a host value's getter may throw, and an exception that passes through wasm frames
//! would leave the instance half-way. The face itself throws only when this instance is dead.

use std::cell::RefCell;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use js_sys::Uint8Array;
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::convert::{Thrown, failure};
use crate::env::{Host, ImageRequest, ShownImage};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields};
use crate::table::Table;
use crate::unicode::Form;

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
    /// The text in that form, by the runtime's tables.
    #[wasm_bindgen(method, catch)]
    fn normalize(this: &Boundary, text: &str, form: &str) -> Result<String, JsValue>;
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

    /// Runs beforeToolCall; a promise of the decision as JSON.
    #[wasm_bindgen(method, catch)]
    pub fn before(this: &Boundary, call: u32, args: &str, access: &str) -> Result<JsValue, JsValue>;
    /// Runs afterToolCall; a promise of the patch as JSON.
    #[wasm_bindgen(method, catch)]
    pub fn after(this: &Boundary, call: u32, args: &str, result: &str) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(method, catch)]
    pub fn started(this: &Boundary, call: u32) -> Result<(), JsValue>;
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

    /// The text in that form.
    pub fn normalized(&self, text: &str, form: Form) -> Option<String> {
        let name = match form {
            Form::Nfc => "NFC",
            Form::Nfkc => "NFKC",
            Form::LowerCase => "lower",
        };
        self.normalize(text, name).ok()
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
