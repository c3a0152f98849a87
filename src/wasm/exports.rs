//! The entries into the core. Each is called by the JS face under its one try/catch; none returns an error by
//! throwing, so that whatever is thrown there is a trap.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde::Serialize;
use serde_json::{Value, json};
use wasm_bindgen::prelude::*;

use super::boundary::{Boundary, JsHost};
use super::js_env::{self, EnvFacts, JsEnv};
use super::js_hooks::JsHooks;
use super::schemas::checked;
use super::scratch::{answer, parts, with};
use super::state::{self, STATE};
use crate::call::{self, Arguments, Event, Observer, Options, Registry, Scope, ToolCall, ToolResult};
use crate::env::{Abort, MutationQueue, Shell, Stream, WeakQueue};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::schema::export::Format;
use crate::table::Table;
use crate::text::redact::Redactor;
use crate::tools::Content;

/// A toolset. Calls that run keep what they began with; what changes is replaced, never changed in place.
struct Toolset {
    env: JsValue,
    facts: Rc<EnvFacts>,
    shells: Rc<[Shell]>,
    queue: MutationQueue,
    options: RefCell<Rc<Options>>,
    registry: RefCell<Rc<Registry>>,
}

/// What outlives a call.
#[derive(Default)]
struct Kept {
    toolsets: RefCell<Table<u32, Rc<Toolset>>>,
    next_toolset: Cell<u32>,
    /// By the environment's key, while a toolset, a call or a ticket has them.
    queues: RefCell<Table<u32, WeakQueue>>,
}

thread_local! {
    static KEPT: Kept = Kept::default();
}

/// Makes a toolset over an environment; scratch holds its options and what the face read of the environment.
/// Answers its id.
#[wasm_bindgen]
pub fn toolset_new(env: JsValue, options: usize, facts: usize) -> String {
    let [options, facts] = parts([options, facts]);
    answer(make_toolset(env, &options, &facts).map(Value::from))
}

fn make_toolset(env: JsValue, options: &[u8], facts: &[u8]) -> Result<u32, ToolError> {
    let options = Options::from_json(options)?;
    let facts = EnvFacts::from_json(facts)?;
    options.check_root(&facts.cwd)?;
    let shells: Rc<[Shell]> = facts.known_shells().into();
    let registry = Registry::new(&options, &shells);
    Ok(KEPT.with(|kept| {
        let toolset = Toolset {
            env,
            shells,
            queue: queue_of(facts.key),
            facts: Rc::new(facts),
            options: RefCell::new(Rc::new(options)),
            registry: RefCell::new(Rc::new(registry)),
        };
        let id = kept.next_toolset.get();
        kept.next_toolset.set(id.wrapping_add(1));
        kept.toolsets.borrow_mut().insert(id, Rc::new(toolset));
        id
    }))
}

/// The queue of an environment: the same for all who use it at the same time.
pub(super) fn queue_of(key: u32) -> MutationQueue {
    KEPT.with(|kept| {
        let mut queues = kept.queues.borrow_mut();
        queues.retain(|_, queue| queue.upgrade().is_some());
        if let Some(queue) = queues.get(&key).and_then(WeakQueue::upgrade) {
            return queue;
        }
        let queue = MutationQueue::default();
        queues.insert(key, queue.downgrade());
        queue
    })
}

fn with_toolset<T>(id: u32, then: impl FnOnce(&Rc<Toolset>) -> T) -> Option<T> {
    let toolset = KEPT.with(|kept| kept.toolsets.borrow().get(&id).cloned());
    toolset.as_ref().map(then)
}

/// Forgets a toolset. Calls that run finish.
#[wasm_bindgen]
pub fn toolset_free(id: u32) {
    // Dropped outside of the borrow: it lets go of a host object.
    let _toolset = KEPT.with(|kept| kept.toolsets.borrow_mut().remove(&id));
}

/// Replaces the options (in scratch): limits and session may be functions in the face, asked before each call.
#[wasm_bindgen]
pub fn toolset_configure(id: u32, options: usize) -> String {
    let [options] = parts([options]);
    answer(Options::from_json(&options).and_then(|options| {
        let replace = |toolset: &Rc<Toolset>| {
            options.check_root(&toolset.facts.cwd)?;
            *toolset.options.borrow_mut() = Rc::new(options);
            Ok(())
        };
        with_toolset(id, replace).unwrap_or(Ok(()))?;
        Ok(Value::Null)
    }))
}

/// Makes the tools named by the JSON array in scratch the active ones.
#[wasm_bindgen]
pub fn toolset_set_active(id: u32, names: usize) {
    let [names] = parts([names]);
    let names = json::parse(&names).and_then(|names| json::list(names, json::text)).unwrap_or_default();
    with_toolset(id, |toolset| {
        let mut registry = Registry::clone(&toolset.registry.borrow());
        registry.set_active(&names);
        *toolset.registry.borrow_mut() = Rc::new(registry);
    });
}

/// Arguments of an active tool, checked as in a call; scratch holds the tool's name and their text. Answers `{value}` or
/// `{errors: [{path, message}]}`.
#[wasm_bindgen]
pub fn toolset_check(id: u32, name: usize, arguments: usize) -> String {
    let [name, text] = parts([name, arguments]);
    let name = String::from_utf8_lossy(&name);
    let check = |toolset: &Rc<Toolset>| {
        let (registry, options) = (toolset.registry.borrow().clone(), toolset.options.borrow().clone());
        call::check_arguments(&registry, &options, &name, &text)
    };
    match with_toolset(id, check) {
        Some(outcome) => answer(outcome.map(checked)),
        None => answer(Err(ToolError::new(ErrorCode::Disposed, "The toolset was disposed: make a new one"))),
    }
}

/// `{registered, active, tools: [declaration]}`.
#[wasm_bindgen]
pub fn toolset_describe(id: u32) -> String {
    let described = with_toolset(id, |toolset| {
        let (registry, options) = (toolset.registry.borrow().clone(), toolset.options.borrow().clone());
        json!({
            "registered": registry.registered().map(|tool| tool.name()).collect::<Vec<_>>(),
            "active": registry.active().iter().map(|tool| tool.name()).collect::<Vec<_>>(),
            "tools": registry.declarations(&options, toolset.facts.place()),
        })
    });
    described.unwrap_or_default().to_string()
}

/// The active tools as a provider's API lists them; scratch holds the name of the format.
#[wasm_bindgen]
pub fn toolset_declarations(id: u32, format: usize) -> String {
    let [format] = parts([format]);
    let declared = with_toolset(id, |toolset| {
        let (registry, options) = (toolset.registry.borrow().clone(), toolset.options.borrow().clone());
        let format = Format::named(&String::from_utf8_lossy(&format))?;
        registry.declared(&options, toolset.facts.place(), format).map(Value::from)
    });
    let gone = || Err(ToolError::new(ErrorCode::Unknown, "The toolset is not known any more"));
    answer(declared.unwrap_or_else(gone))
}

/// What the face says of a call, beside its arguments.
struct Header {
    id: String,
    name: String,
    incomplete: bool,
    /// Whether the face has a function that redacts.
    redacts: bool,
    before: bool,
    after: bool,
}

impl Header {
    fn read(text: &[u8]) -> Result<Header, String> {
        let mut fields = Fields::of(json::parse(text)?)?;
        Ok(Header {
            id: required("id", fields.text("id")?)?,
            name: required("name", fields.text("name")?)?,
            incomplete: fields.flag("incomplete")?.unwrap_or_default(),
            redacts: fields.flag("redacts")?.unwrap_or_default(),
            before: fields.flag("before")?.unwrap_or_default(),
            after: fields.flag("after")?.unwrap_or_default(),
        })
    }
}

/// Starts a call; scratch holds its header and its argument text. It is answered through `Boundary.settled`.
#[wasm_bindgen]
pub fn call_start(toolset: u32, call: u32, header: usize, arguments: usize, aborted: bool) {
    let [header, arguments] = parts([header, arguments]);
    let Ok(header) = Header::read(&header) else { return };
    let Some(toolset) = with_toolset(toolset, Rc::clone) else { return };
    let Some(boundary) = state::boundary() else { return };
    let abort = state::abortable(call, aborted);
    state::spawn(run_call(toolset, boundary, call, header, arguments, abort));
}

async fn run_call(
    toolset: Rc<Toolset>,
    boundary: Boundary,
    call: u32,
    header: Header,
    arguments: Vec<u8>,
    abort: Abort,
) {
    let (registry, options) = (toolset.registry.borrow().clone(), toolset.options.borrow().clone());
    let env = JsEnv {
        boundary: boundary.clone(),
        object: toolset.env.clone(),
        facts: toolset.facts.clone(),
        shells: toolset.shells.clone(),
        call,
    };
    let hooks =
        JsHooks { boundary: boundary.clone(), call, has_before: header.before, has_after: header.after };
    let observer = JsObserver { boundary: boundary.clone(), call, duration_ms: Cell::new(0.0) };
    let host = JsHost { boundary: boundary.clone(), call };
    let redactor = match header.redacts {
        true => Some(redactor(boundary.clone(), call)),
        false => options.redactor(),
    };
    let scope = Scope {
        registry: &registry,
        options: &options,
        env: &env,
        host: &host,
        hooks: &hooks,
        queue: &toolset.queue,
        abort: &abort,
        redactor: redactor.as_ref(),
        observer: &observer,
    };
    let request = ToolCall {
        id: header.id,
        name: header.name,
        arguments: Arguments::Text(arguments),
        incomplete: header.incomplete,
    };
    call::run(request, scope).await;
    // Only fails in a dead instance, whose calls are forgotten.
    let _ = boundary.ended(call);
}

/// The host's function, which the face calls.
fn redactor(boundary: Boundary, call: u32) -> Redactor {
    let hidden = |line: &str| if line.ends_with('\n') { "[redacted]\n" } else { "[redacted]" };
    Redactor::lines(Rc::new(move |line| boundary.redact(call, line).unwrap_or_else(|_| hidden(line).into())))
}

/// Tells the face what happens. A face that does not listen any more (a dead instance's) is no failure.
struct JsObserver {
    boundary: Boundary,
    call: u32,
    duration_ms: Cell<f64>,
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The first text of a result, if it is long enough to be worth its own way: as JSON it is escaped here and parsed
/// there, which takes longer than reading a file of a megabyte.
fn take_long_text(result: &mut ToolResult) -> Option<String> {
    match result.content.first_mut() {
        Some(Content::Text { text }) if text.len() > 256 => Some(std::mem::take(text)),
        _ => None,
    }
}

impl Observer for JsObserver {
    fn event(&self, event: Event<'_>) {
        let _ = match event {
            Event::Start { shown } => self.boundary.started(self.call, shown),
            Event::Update(output) => match self.boundary.wants_updates(self.call) {
                Ok(true) => self.boundary.updated(self.call, &text(output)),
                _ => Ok(()),
            },
            Event::Mutation(change) => match self.boundary.wants_mutations(self.call) {
                Ok(true) => self.boundary.mutated(self.call, &text(change)),
                _ => Ok(()),
            },
            Event::End { duration_ms, .. } => {
                self.duration_ms.set(duration_ms);
                Ok(())
            }
        };
    }

    fn settle(&self, mut result: ToolResult) {
        state::forget(self.call);
        let long = take_long_text(&mut result);
        let told = self.boundary.settled(self.call, &text(&result), self.duration_ms.get(), long.as_deref());
        // For want of stack, say. A call that is never answered is worse than an instance that is replaced.
        assert!(told.is_ok(), "the face takes every answer");
    }
}

/// A running command wrote the bytes in scratch: 0 if it is over, 2 if the next ones should wait, else 1.
#[wasm_bindgen]
pub fn exec_chunk(exec: u32, is_stderr: bool, length: usize) -> u8 {
    let stream = if is_stderr { Stream::Stderr } else { Stream::Stdout };
    STATE.with(|state| {
        let heard = with(length, |chunk| js_env::chunk(exec, stream, chunk));
        state.executor.run();
        heard as u8
    })
}
