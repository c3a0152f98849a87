//! The one way in: from a call to its result.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use serde_json::Value;

use super::{
    AfterCall, Arguments, BeforeCall, Decision, Event, Hooks, Observer, Options, Registry, ToolCall,
    ToolResult, cut_off, secrets,
};
use crate::env::{Abort, Env, Host, MutationQueue};
use crate::error::{ErrorCode, ToolError};
use crate::schema::{SchemaError, parse, wording};
use crate::text::redact::Redactor;
use crate::tools::{Access, Builtin, FileChange, OnAbort, Output, ToolContext, boxed};

/// Everything that a call runs with.
pub struct Scope<'a, E: Env, H: Host, K: Hooks> {
    /// The tools.
    pub registry: &'a Registry,
    /// Their options.
    pub options: &'a Options,
    /// The place to work in, for this call.
    pub env: &'a E,
    /// Clock and timers.
    pub host: &'a H,
    /// The host's hooks.
    pub hooks: &'a K,
    /// The environment's mutation queue.
    pub queue: &'a MutationQueue,
    /// Raised when the call is aborted.
    pub abort: &'a Abort,
    /// What nobody is to see of it.
    pub redactor: Option<&'a Redactor>,
    /// Who hears of it.
    pub observer: &'a dyn Observer,
}

/// Runs a call. It is answered through [`Observer::settle`], once; the future may go on after that, while a write
/// that an abort came too late for still holds its place in the queue.
pub async fn run<E: Env, H: Host, K: Hooks>(call: ToolCall, scope: Scope<'_, E, H, K>) {
    let answer =
        Answer { call: &call, scope: &scope, started: scope.host.now_ms(), settled: Cell::new(false) };
    let shown = scope.redactor.and_then(|redactor| secrets::arguments(redactor, &call.arguments));
    scope.observer.event(Event::Start { shown: shown.as_deref() });
    match scope.abort.race(preflight(&call, &scope)).await {
        None => answer.settle(Err(ToolError::aborted())),
        Some(Err(refusal)) => answer.settle_refused(refusal),
        Some(Ok(cleared)) => execute(cleared, &answer).await,
    }
}

/// A call that may run.
struct Cleared {
    tool: Builtin,
    args: Value,
    /// What a hook has agreed to; `None` where there is none, or where the arguments are its own.
    access: Option<Vec<Access>>,
}

/// Why a call does not run.
struct Refusal {
    error: ToolError,
    terminate: bool,
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Self {
        Refusal { error, terminate: false }
    }
}

/// From the text to arguments that the tool may run with.
async fn preflight<E: Env, H: Host, K: Hooks>(
    call: &ToolCall,
    scope: &Scope<'_, E, H, K>,
) -> Result<Cleared, Refusal> {
    if call.incomplete {
        return Err(cut_off(&call.name).into());
    }
    let tool = scope.registry.find(&call.name)?;
    let schema = scope.registry.schema(tool);
    let coercion = scope.options.coercion();
    let received = || match &call.arguments {
        Arguments::Text(text) => parse::arguments(&call.name, text, !schema.has_required()),
        Arguments::Value(value) => parse::unwrap_value(&call.name, value.clone(), !schema.has_required()),
    };
    let args = match schema.check(tool.prepare(received()?), coercion) {
        Ok(args) => args,
        // The report shows what the model sent. It is parsed again rather than kept: good calls are the rule.
        Err(errors) => return Err(invalid(call, &errors, received()?, scope.redactor).into()),
    };
    if !scope.hooks.has_before() {
        return Ok(Cleared { tool, args, access: None });
    }
    boxed(ask_before(call, tool, args, scope)).await
}

/// Arguments of an active tool, as a call would run with them: read from their text, translated, repaired and checked.
/// Nothing runs, and no hook is asked.
///
/// # Errors
/// What is wrong with them, sorted by path; for text that is no arguments, and where there is no such tool, the error
/// of a call.
///
/// ```
/// use serde_json::json;
/// use tackroom::call::{Options, Registry, check_arguments};
/// let options = Options::default();
/// let registry = Registry::new(&options, &[]);
/// let read = |text: &str| check_arguments(&registry, &options, "read", text.as_bytes());
/// assert_eq!(read(r#"{"file": "a", "limit": "5"}"#), Ok(Ok(json!({"path": "a", "limit": 5}))));
/// assert_eq!(read(r#"{"path": []}"#).unwrap().unwrap_err()[0].path, "path");
/// assert!(read("{").is_err());
/// ```
pub fn check_arguments(
    registry: &Registry,
    options: &Options,
    tool: &str,
    text: &[u8],
) -> Result<Result<Value, Vec<SchemaError>>, ToolError> {
    let found = registry.find(tool)?;
    let schema = registry.schema(found);
    let received = parse::arguments(tool, text, !schema.has_required())?;
    Ok(schema.check(found.prepare(received), options.coercion()).map_err(wording::sorted))
}

fn invalid(
    call: &ToolCall,
    errors: &[SchemaError],
    mut received: Value,
    redactor: Option<&Redactor>,
) -> ToolError {
    // The report quotes and shortens them: a secret that it cuts in two would not be found later.
    if let Some(redactor) = redactor {
        secrets::redact(redactor, &mut received);
    }
    ToolError::invalid_arguments(wording::report(&call.name, errors, &received))
}

/// Shows the arguments to the hook, which may block or change them.
async fn ask_before<E: Env, H: Host, K: Hooks>(
    call: &ToolCall,
    tool: Builtin,
    args: Value,
    scope: &Scope<'_, E, H, K>,
) -> Result<Cleared, Refusal> {
    let root = scope.options.root_in(scope.env.cwd());
    let access = tool.access(&args, scope.env, root.as_deref()).await?;
    let before = BeforeCall { id: &call.id, name: &call.name, args: &args, access: &access };
    match scope.hooks.before(before).await? {
        Decision::Run => Ok(Cleared { tool, args, access: Some(access) }),
        Decision::Block { reason, terminate } => {
            let reason = reason.unwrap_or_else(|| "Tool execution was blocked".into());
            Err(Refusal { error: ToolError::new(ErrorCode::Blocked, reason), terminate })
        }
        Decision::Change(changed) => {
            let checked = scope.registry.schema(tool).check(changed.clone(), scope.options.coercion());
            let args = checked.map_err(|errors| invalid(call, &errors, changed, scope.redactor))?;
            Ok(Cleared { tool, args, access: None })
        }
    }
}

/// How a tool's run ended.
enum Ran {
    Done(Result<Output, ToolError>),
    Aborted,
    /// The write to this path had begun.
    AbortedWriting(String),
}

async fn execute<E: Env, H: Host, K: Hooks>(cleared: Cleared, answer: &Answer<'_, '_, E, H, K>) {
    let Cleared { tool, args, access } = cleared;
    let scope = answer.scope;
    let root = scope.options.root_in(scope.env.cwd());
    let (shell, images) = (scope.options.shell(), scope.options.images());
    let on_abort = RefCell::new(OnAbort::Drop);
    let update = |output: Output| answer.update(output);
    let mutated = |change: &FileChange| {
        let shown = scope.redactor.and_then(|redactor| secrets::change(redactor, change));
        scope.observer.event(Event::Mutation(shown.as_ref().unwrap_or(change)));
    };
    let cx = ToolContext {
        env: scope.env,
        host: scope.host,
        queue: scope.queue,
        abort: scope.abort,
        on_abort: &on_abort,
        root: root.as_deref(),
        cleared: access.as_deref(),
        preserve_encoding: scope.options.preserve_encoding(),
        limits: scope.options.limits_of(tool),
        results: scope.options.results_of(tool),
        active: scope.registry.active(),
        shell: &shell,
        images: &images,
        redactor: scope.redactor,
        update: &update,
        mutated: &mutated,
    };
    let kept = scope.hooks.has_after().then(|| args.clone());
    let ran = {
        let mut running = pin!(tool.run(args, &cx));
        let ran = poll_fn(|poll| {
            if let Poll::Ready(result) = running.as_mut().poll(poll) {
                return Poll::Ready(Ran::Done(result));
            }
            if scope.abort.poll(poll).is_pending() {
                return Poll::Pending;
            }
            match &*on_abort.borrow() {
                OnAbort::Drop => Poll::Ready(Ran::Aborted),
                OnAbort::LetItLand(path) => Poll::Ready(Ran::AbortedWriting(path.clone())),
                OnAbort::LetItAnswer => Poll::Pending,
            }
        })
        .await;
        if let Ran::AbortedWriting(path) = &ran {
            let message = format!("Operation aborted; the write to {path} had begun and may land");
            answer.settle(Err(ToolError::new(ErrorCode::Aborted, message)));
            // Unheard, for the sake of the queue: the next write of this file must not overtake this one.
            let _ = running.await;
        }
        ran
    };
    match ran {
        Ran::Done(result) => finish(result, kept, answer).await,
        Ran::Aborted => answer.settle(Err(ToolError::aborted())),
        Ran::AbortedWriting(_) => {}
    }
}

/// Shows the result to the hook, and answers.
async fn finish<E: Env, H: Host, K: Hooks>(
    result: Result<Output, ToolError>,
    args: Option<Value>,
    answer: &Answer<'_, '_, E, H, K>,
) {
    let Some(args) = args else { return answer.settle(result) };
    let scope = answer.scope;
    let result = ToolResult::of(answer.call, result);
    let after = AfterCall { id: &answer.call.id, name: &answer.call.name, args: &args, result: &result };
    match scope.abort.race(scope.hooks.after(after)).await {
        None => answer.settle(Err(ToolError::aborted())),
        Some(Err(error)) => answer.settle(Err(error)),
        Some(Ok(patch)) => answer.send(patch.apply(result)),
    }
}

/// The answer that a call is owed, once.
struct Answer<'a, 'b, E: Env, H: Host, K: Hooks> {
    call: &'a ToolCall,
    scope: &'a Scope<'b, E, H, K>,
    started: f64,
    settled: Cell<bool>,
}

impl<E: Env, H: Host, K: Hooks> Answer<'_, '_, E, H, K> {
    fn settle(&self, outcome: Result<Output, ToolError>) {
        self.send(ToolResult::of(self.call, outcome));
    }

    fn settle_refused(&self, refusal: Refusal) {
        let result = ToolResult::of(self.call, Err(refusal.error));
        self.send(ToolResult { terminate: refusal.terminate.then_some(true), ..result });
    }

    fn send(&self, result: ToolResult) {
        if self.settled.replace(true) {
            return;
        }
        let result = match self.scope.redactor {
            Some(redactor) => secrets::result(redactor, result),
            None => result,
        };
        let duration_ms = self.scope.host.now_ms() - self.started;
        self.scope.observer.event(Event::End { result: &result, duration_ms });
        self.scope.observer.settle(result);
    }

    fn update(&self, output: Output) {
        if !self.settled.get() {
            let output = match self.scope.redactor {
                Some(redactor) => secrets::output(redactor, output),
                None => output,
            };
            self.scope.observer.event(Event::Update(&output));
        }
    }
}
