//! `bash {command, timeout?}`

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use serde::Serialize;
use serde_json::{Value, json};

use super::declare::prefer_strict;
use super::dialect::Aliases;
use super::{Declaration, Facts, OnAbort, Output, ToolContext};
use crate::env::wait::{Wakers, poll_option};
use crate::env::{Abort, Env, ExecOutcome, ExecRequest, Host, OutputSink, Shell, Stream};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::text::accumulator::Accumulator;
use crate::text::truncate::{Truncation, format_size};

/// Other names for its keys.
pub const ALIASES: Aliases = &[("command", &["cmd"])];

/// How long an aborted command may take to end before the call answers without it.
const GRACE_MS: f64 = 1000.0;

/// Variables about the session. Inherited ones go, whether or not they are set anew.
pub const SESSION_VARIABLES: [&str; 5] =
    ["PI_SESSION_ID", "PI_SESSION_FILE", "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"];

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// The command, for the shell to read.
    pub command: String,
    /// Seconds.
    pub timeout: Option<f64>,
}

/// `details` of a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    exit_code: Option<i32>,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

impl Args {
    /// The arguments of a call; else what is wrong with them.
    ///
    /// # Errors
    /// For arguments that the schema refuses.
    pub fn read(arguments: Value) -> Result<Args, String> {
        let mut fields = Fields::of(arguments)?;
        Ok(Args {
            command: required("command", fields.text("command")?)?,
            timeout: fields.number("timeout")?,
        })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    // The maximum is the longest time that a timer of the web platform can wait.
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "command": { "type": "string", "description": "Command to run" },
            "timeout": { "type": "number", "exclusiveMinimum": 0, "maximum": 2147483.647, "description": "Seconds after which the command is ended; without it there is no limit" }
        },
        "required": ["command"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    let place = facts.env_description.map(|words| format!(" The environment: {words}.")).unwrap_or_default();
    Declaration {
        name: "bash",
        label: "Bash",
        description: format!(
            "Run a command in bash, in the working directory. Returns standard output and error together; of long \
             output the end, at most {} lines or {}.{place}",
            facts.limits.max_lines,
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: Some(prefer_strict()),
        prompt_snippet: "bash: run a command".into(),
        prompt_guidelines: vec![],
    }
}

/// How the waiting ended.
enum End {
    Exec(Result<Option<ExecOutcome>, ToolError>),
    /// The command did not end within the grace.
    Left,
}

/// What ended the command before its time.
#[derive(Clone, Copy, PartialEq)]
enum Cut {
    Aborted,
    TimedOut,
}

/// Runs it.
///
/// # Errors
/// `exit_code`, `timeout` and `aborted`, each with the output so far; `no_shell`, `spawn_failed`.
pub async fn run<E: Env, H: Host>(args: Args, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    *cx.on_abort.borrow_mut() = OnAbort::LetItAnswer;
    let started = cx.host.now_ms();
    let capture = Capture::new(cx);
    capture.show();
    let (end, cut) = run_to_its_end(&args, &capture, cx).await;
    let outcome = match end {
        End::Exec(Ok(Some(outcome))) => Some(outcome),
        End::Exec(Ok(None)) => {
            return Err(ToolError::new(
                ErrorCode::NoShell,
                "Tool bash not found: no shell in this environment",
            ));
        }
        // Whatever an aborted command reports, it was the abort.
        End::Exec(Err(error)) if cut.is_none() => return Err(capture.failed(error, started)),
        End::Exec(Err(_)) | End::Left => None,
    };
    let exit_code = outcome.as_ref().and_then(|outcome| outcome.exit_code);
    if let Some(outcome) = outcome {
        capture.take_whole(outcome);
    }
    capture.finish();
    let (text, details) = capture.render(exit_code, cx.host.now_ms() - started);
    let failure = match (cut, exit_code) {
        (Some(Cut::Aborted), _) => (ErrorCode::Aborted, "Command aborted".to_owned()),
        (Some(Cut::TimedOut), _) => {
            let seconds = json::shown(args.timeout.unwrap_or_default());
            (ErrorCode::Timeout, format!("Command timed out after {seconds} seconds"))
        }
        (None, Some(0)) => return Ok(Output::new(text, &details)),
        (None, Some(code)) => (ErrorCode::ExitCode, format!("Command exited with code {code}")),
        (None, None) => (ErrorCode::ExitCode, "Command terminated without an exit code".to_owned()),
    };
    Err(ToolError::new(failure.0, with_note(text, &failure.1)).with_details(super::object(&details)))
}

/// Runs the command until it ends, or until the grace after an abort or a timeout is over. Snapshots go out
/// meanwhile.
async fn run_to_its_end<E: Env, H: Host>(
    args: &Args,
    capture: &Capture<'_, E, H>,
    cx: &ToolContext<'_, E, H>,
) -> (End, Option<Cut>) {
    let request = ExecRequest {
        command: args.command.clone(),
        shell: Shell::Bash,
        cwd: cx.env.cwd().to_owned(),
        env: cx.shell.session_env.clone(),
        unset_env: SESSION_VARIABLES.map(Into::into).into(),
        timeout: args.timeout,
        abort: Abort::default(),
    };
    let output = capture.output.clone();
    let sink: OutputSink = Rc::new(move |stream, bytes: &[u8]| output.push(stream, bytes));
    let mut exec = pin!(cx.env.exec(&request, sink));
    let mut timeout = pin!(args.timeout.map(|seconds| cx.host.sleep(seconds * 1000.0)));
    let mut grace = pin!(None);
    let mut next_update = pin!(None);
    let mut cut = None;
    let end = poll_fn(|poll| {
        if cut.is_none() {
            if cx.abort.poll(poll).is_ready() {
                cut = Some(Cut::Aborted);
            } else if poll_option(timeout.as_mut(), poll).is_ready() {
                cut = Some(Cut::TimedOut);
            }
            if cut.is_some() {
                request.abort.raise();
                grace.set(Some(cx.host.sleep(GRACE_MS)));
            }
        }
        if let Poll::Ready(result) = exec.as_mut().poll(poll) {
            return Poll::Ready(End::Exec(result));
        }
        if poll_option(grace.as_mut(), poll).is_ready() {
            return Poll::Ready(End::Left);
        }
        if capture.is_dirty(poll) && next_update.is_none() {
            let due = capture.next_update_in(cx.host.now_ms());
            next_update.set(Some(cx.host.sleep(due)));
        }
        if poll_option(next_update.as_mut(), poll).is_ready() {
            next_update.set(None);
            capture.show();
        }
        Poll::Pending
    })
    .await;
    (end, cut)
}

/// The output of a running command. It is shared with the environment, which may push to it at any time.
struct Captured {
    accumulator: RefCell<Accumulator>,
    any_chunk: Cell<bool>,
    /// Something came since the last snapshot.
    dirty: Cell<bool>,
    arrived: Wakers,
}

impl Captured {
    fn push(&self, stream: Stream, bytes: &[u8]) {
        self.any_chunk.set(true);
        self.accumulator.borrow_mut().push(bytes, stream);
        if !self.dirty.replace(true) {
            self.arrived.wake();
        }
    }
}

/// The output, and when it was last shown.
struct Capture<'a, E: Env, H: Host> {
    cx: &'a ToolContext<'a, E, H>,
    output: Rc<Captured>,
    shown_at: Cell<f64>,
}

impl<'a, E: Env, H: Host> Capture<'a, E, H> {
    fn new(cx: &'a ToolContext<'a, E, H>) -> Self {
        let output = Captured {
            accumulator: RefCell::new(Accumulator::new(cx.limits)),
            any_chunk: Cell::new(false),
            dirty: Cell::new(false),
            arrived: Wakers::default(),
        };
        Capture { cx, output: Rc::new(output), shown_at: Cell::new(f64::NEG_INFINITY) }
    }

    /// Output that came with the outcome counts only where none came before.
    fn take_whole(&self, outcome: ExecOutcome) {
        if self.output.any_chunk.get() {
            return;
        }
        for (stream, bytes) in [(Stream::Stdout, outcome.stdout), (Stream::Stderr, outcome.stderr)] {
            if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
                self.output.push(stream, &bytes);
            }
        }
    }

    fn is_dirty(&self, poll: &std::task::Context<'_>) -> bool {
        self.output.arrived.register(poll);
        self.output.dirty.get()
    }

    fn next_update_in(&self, now: f64) -> f64 {
        (self.shown_at.get() + self.cx.shell.update_interval_ms - now).max(0.0)
    }

    /// Sends a snapshot: what the command would show if it ended now.
    fn show(&self) {
        self.output.dirty.set(false);
        self.shown_at.set(self.cx.host.now_ms());
        let snapshot = {
            let accumulator = self.output.accumulator.borrow();
            let cut = accumulator.snapshot();
            let truncation = cut.facts.truncated.then_some(cut.facts);
            Output::new(cut.content, &json!({ "truncation": truncation }))
        };
        (self.cx.update)(snapshot);
    }

    /// The end of the output; the last snapshot goes out.
    fn finish(&self) {
        self.output.accumulator.borrow_mut().finish();
        if self.output.dirty.get() {
            self.show();
        }
    }

    fn render(&self, exit_code: Option<i32>, duration_ms: f64) -> (String, Details) {
        let accumulator = self.output.accumulator.borrow();
        let cut = accumulator.snapshot();
        let mut text = match accumulator.is_empty() {
            true => "(no output)".to_owned(),
            false => cut.content.to_owned(),
        };
        if let Some(hint) = hint(&cut.facts) {
            text = with_note(text, &hint);
        }
        let truncation = cut.facts.truncated.then_some(cut.facts);
        (text, Details { exit_code, duration_ms, truncation })
    }

    /// The environment's failure, after whatever output there was.
    fn failed(&self, error: ToolError, started: f64) -> ToolError {
        self.finish();
        let (output, details) = self.render(None, self.cx.host.now_ms() - started);
        let message = match self.output.any_chunk.get() {
            true => with_note(output, &format!("Command failed: {}", error.message)),
            false => format!("Command failed: {}", error.message),
        };
        ToolError::new(error.code, message).with_details(super::object(&details))
    }
}

/// The output and, after an empty line, what is to be said of it.
fn with_note(mut output: String, note: &str) -> String {
    output.truncate(output.trim_end_matches('\n').len());
    if !output.is_empty() {
        output.push_str("\n\n");
    }
    output + note
}

/// Which part of the output is shown, and how to see the rest: nothing keeps it yet, so by asking for less.
fn hint(facts: &Truncation) -> Option<String> {
    if !facts.truncated {
        return None;
    }
    let limit = format_size(facts.max_bytes as u64);
    let part = match facts.last_line_partial {
        true => format!(
            "Showing last {} of line {} (line is {})",
            format_size(facts.output_bytes as u64),
            facts.total_lines,
            format_size(facts.last_line_bytes.unwrap_or(facts.output_bytes as u64)),
        ),
        false => {
            let by_bytes = facts.truncated_by == Some(crate::text::truncate::TruncatedBy::Bytes);
            format!(
                "Showing lines {}-{} of {}{}",
                facts.total_lines - facts.output_lines as u64 + 1,
                facts.total_lines,
                facts.total_lines,
                if by_bytes { format!(" ({limit} limit)") } else { String::new() },
            )
        }
    };
    Some(format!("[{part}. The rest was not kept: narrow the command, or send its output to a file]"))
}
