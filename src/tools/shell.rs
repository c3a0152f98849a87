//! `bash {command, timeout?}` and `powershell`, which differ in their names and in the shell alone.
//!
//! A command's output goes three ways at once: its rendered end stays in an accumulator, for the model; snapshots of
//! that go to whoever listens; and once it is more than can be shown, all of it goes into a file.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;

use serde_json::Value;

use super::declare::prefer_strict;
use super::dialect::Aliases;
use super::{Declaration, Facts, OnAbort, Output, ToolContext, boxed};
use crate::env::wait::poll_option;
use crate::env::{Abort, Env, ExecOutcome, ExecRequest, Host, OutputSink, Shell, Spawn};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::text::truncate::format_size;

mod capture;
mod spill;

use capture::{Capture, with_note};

/// Other names for its keys.
pub const ALIASES: Aliases = &[("command", &["cmd"])];

/// How long an aborted command may take to end, its output to be stored included, before the call answers without.
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
pub fn declaration(shell: Shell, facts: &Facts<'_>) -> Declaration {
    let place =
        facts.place.description.map(|words| format!(" The environment: {words}.")).unwrap_or_default();
    let kept = match facts.place.has_temp_files {
        true => "; the whole output is then in a temporary file, which the result names",
        false => "",
    };
    let (name, label, title, snippet) = match shell {
        Shell::Bash => ("bash", "Bash", "bash", "bash: run a command"),
        Shell::PowerShell => {
            ("powershell", "PowerShell", "PowerShell", "powershell: run a command in PowerShell")
        }
    };
    Declaration {
        name,
        label,
        description: format!(
            "Run a command in {title}, in the working directory. Returns standard output and error together; of long \
             output the end, at most {} lines or {}{kept}.{place}",
            facts.limits.max_lines,
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: Some(prefer_strict()),
        prompt_snippet: snippet.into(),
        prompt_guidelines: vec![],
    }
}

/// The failure of a shell tool where there is no such shell.
pub fn no_shell(shell: Shell) -> ToolError {
    let message = format!("Tool {} not found: no shell in this environment", shell.as_str());
    ToolError::new(ErrorCode::NoShell, message)
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
pub async fn run<E: Env, H: Host>(
    shell: Shell,
    args: Args,
    cx: &ToolContext<'_, E, H>,
) -> Result<Output, ToolError> {
    *cx.on_abort.borrow_mut() = OnAbort::LetItAnswer;
    let started = cx.host.now_ms();
    let request = boxed(request(shell, &args, cx)).await?;
    let capture = Capture::new(cx, &request.flow);
    capture.show();
    let deadline = Cell::new(None);
    let (end, cut) = {
        let mut storing = boxed(capture.store());
        let (end, cut) = boxed(run_to_its_end(&request, &capture, storing.as_mut(), &deadline, cx)).await;
        if let End::Exec(Ok(Some(outcome))) = &end {
            capture.take_whole(outcome);
        }
        capture.finish();
        if !in_time(storing.as_mut(), &deadline, cx).await {
            capture.cut_short();
        }
        (end, cut)
    };
    // A file that stays is no harm.
    in_time(boxed(capture.tidy_up()).as_mut(), &deadline, cx).await;
    capture.show_the_last();
    let exit_code = match end {
        End::Exec(Ok(Some(outcome))) => outcome.exit_code,
        End::Exec(Ok(None)) => return Err(no_shell(shell)),
        // Whatever an aborted command reports, it was the abort.
        End::Exec(Err(error)) if cut.is_none() => return Err(capture.failed(error, started)),
        End::Exec(Err(_)) | End::Left => None,
    };
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

/// The command as it is run: with the prefix, the session's variables, and what the host makes of that.
async fn request<E: Env, H: Host>(
    shell: Shell,
    args: &Args,
    cx: &ToolContext<'_, E, H>,
) -> Result<ExecRequest, ToolError> {
    let command = match &cx.shell.command_prefix {
        Some(prefix) if shell == Shell::Bash && !prefix.is_empty() => format!("{prefix}\n{}", args.command),
        _ => args.command.clone(),
    };
    let spawn = Spawn { command, cwd: cx.env.cwd().to_owned(), env: cx.shell.session_env.clone() };
    let Spawn { command, cwd, env } = match cx.abort.race(cx.host.before_exec(spawn)).await {
        Some(spawn) => spawn?,
        None => return Err(ToolError::new(ErrorCode::Aborted, "Command aborted")),
    };
    Ok(ExecRequest {
        command,
        shell,
        cwd,
        env,
        unset_env: SESSION_VARIABLES.map(Into::into).into(),
        timeout: args.timeout,
        abort: Abort::default(),
        flow: Default::default(),
    })
}

/// Runs the command until it ends, or until the grace after an abort or a timeout is over. Snapshots go out
/// meanwhile, and the output is stored.
async fn run_to_its_end<E: Env, H: Host>(
    request: &ExecRequest,
    capture: &Capture<'_, E, H>,
    mut storing: Pin<&mut (dyn Future<Output = ()> + '_)>,
    deadline: &Cell<Option<f64>>,
    cx: &ToolContext<'_, E, H>,
) -> (End, Option<Cut>) {
    let output = capture.output.clone();
    let sink: OutputSink = Rc::new(move |stream, bytes: &[u8]| output.push(stream, bytes));
    let mut exec = boxed(cx.env.exec(request, sink));
    let mut timeout = pin!(request.timeout.map(|seconds| cx.host.sleep(seconds * 1000.0)));
    let mut grace = pin!(None);
    let mut next_update = pin!(None);
    let mut cut = None;
    let end = poll_fn(|poll| {
        if cut.is_none() {
            if cx.abort.poll(poll).is_ready() {
                cut = Some(Cut::Aborted);
                deadline.set(Some(cx.host.now_ms() + GRACE_MS));
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
        // Never ready before the output is closed.
        let _ = storing.as_mut().poll(poll);
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

/// Waits for the environment; false where an abort, before or meanwhile, leaves no more time for that.
async fn in_time<E: Env, H: Host>(
    mut answer: Pin<&mut (dyn Future<Output = ()> + '_)>,
    deadline: &Cell<Option<f64>>,
    cx: &ToolContext<'_, E, H>,
) -> bool {
    let mut grace = pin!(None);
    poll_fn(|poll| {
        if answer.as_mut().poll(poll).is_ready() {
            return Poll::Ready(true);
        }
        if grace.is_none() && (deadline.get().is_some() || cx.abort.poll(poll).is_ready()) {
            let now = cx.host.now_ms();
            let end = deadline.get().unwrap_or(now + GRACE_MS);
            deadline.set(Some(end));
            grace.set(Some(cx.host.sleep((end - now).max(0.0))));
        }
        poll_option(grace.as_mut(), poll).map(|()| false)
    })
    .await
}
