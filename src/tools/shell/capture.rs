//! The output of a running command: what is shown of it, and where the rest is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde::Serialize;
use serde_json::{Map, json};

use super::spill::{Spill, Stored};
use crate::env::wait::Wakers;
use crate::env::{Env, ExecOutcome, Flow, Host, Stream};
use crate::error::ToolError;
use crate::text::accumulator::{Accumulator, Snapshot};
use crate::text::redact::RawRedactor;
use crate::text::truncate::{TruncatedBy, Truncation, format_size};
use crate::tools::{Output, ToolContext, object};

/// `details` of a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Details {
    exit_code: Option<i64>,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_output_path: Option<String>,
}

/// What the environment pushes to, at any time.
pub(super) struct Captured {
    accumulator: RefCell<Accumulator>,
    spill: Spill,
    any_chunk: Cell<bool>,
    /// Something came since the last snapshot.
    dirty: Cell<bool>,
    arrived: Wakers,
}

impl Captured {
    pub fn push(&self, stream: Stream, bytes: &[u8]) {
        self.any_chunk.set(true);
        let mut accumulator = self.accumulator.borrow_mut();
        accumulator.push(bytes, stream);
        self.spill.push(bytes, accumulator.is_cut());
        if !self.dirty.replace(true) {
            self.arrived.wake();
        }
    }
}

/// The output, and when it was last shown.
pub(super) struct Capture<'a, E: Env, H: Host> {
    cx: &'a ToolContext<'a, E, H>,
    pub output: Rc<Captured>,
    shown_at: Cell<f64>,
    /// The last snapshot has the path of the file.
    names_file: Cell<bool>,
}

impl<'a, E: Env, H: Host> Capture<'a, E, H> {
    pub fn new(cx: &'a ToolContext<'a, E, H>, flow: &Flow) -> Self {
        let mut accumulator = Accumulator::new(cx.limits);
        if let Some(redactor) = cx.redactor {
            accumulator = accumulator.redacting(redactor.clone());
        }
        let output = Captured {
            accumulator: RefCell::new(accumulator),
            spill: Spill::new(cx.limits, cx.redactor.cloned().map(RawRedactor::new), flow.clone()),
            any_chunk: Cell::new(false),
            dirty: Cell::new(false),
            arrived: Wakers::default(),
        };
        let (shown_at, names_file) = (Cell::new(f64::NEG_INFINITY), Cell::new(false));
        Capture { cx, output: Rc::new(output), shown_at, names_file }
    }

    /// Output that came with the outcome counts only where none came before.
    pub fn take_whole(&self, outcome: &ExecOutcome) {
        if self.output.any_chunk.get() {
            return;
        }
        for (stream, bytes) in [(Stream::Stdout, &outcome.stdout), (Stream::Stderr, &outcome.stderr)] {
            if let Some(bytes) = bytes.as_ref().filter(|bytes| !bytes.is_empty()) {
                self.output.push(stream, bytes);
            }
        }
    }

    pub fn is_dirty(&self, poll: &std::task::Context<'_>) -> bool {
        self.output.arrived.register(poll);
        self.output.dirty.get()
    }

    pub fn next_update_in(&self, now: f64) -> f64 {
        (self.shown_at.get() + self.cx.shell.update_interval_ms - now).max(0.0)
    }

    /// Sends a snapshot: what the command would show if it ended now.
    pub fn show(&self) {
        self.output.dirty.set(false);
        self.shown_at.set(self.cx.host.now_ms());
        let cut = self.output.accumulator.borrow().snapshot();
        let mut details = Map::new();
        if cut.facts.truncated {
            details.insert("truncation".into(), json!(cut.facts));
            if let Some(stored) = self.output.spill.stored() {
                details.insert("fullOutputPath".into(), stored.path.into());
            }
        }
        self.names_file.set(details.len() > 1);
        (self.cx.update)(Output::new(cut.content, &details));
    }

    /// The last snapshot, unless the one before has all of it.
    pub fn show_the_last(&self) {
        let names_file = self.output.accumulator.borrow().is_cut() && self.output.spill.stored().is_some();
        if self.output.dirty.get() || names_file != self.names_file.get() {
            self.show();
        }
    }

    /// Stores the output where it has to be, until it is [over](Capture::finish).
    pub async fn store(&self) {
        self.output.spill.store(self.cx.env).await;
    }

    /// The end of the output.
    pub fn finish(&self) {
        let mut accumulator = self.output.accumulator.borrow_mut();
        accumulator.finish();
        self.output.spill.close(accumulator.is_cut());
    }

    /// Nobody waits any longer for what is not stored.
    pub fn cut_short(&self) {
        self.output.spill.cut_short();
    }

    /// Removes a file that is named to nobody: of an output that is shown whole (a progress bar is long only before it
    /// is rendered), or one in which nothing could be stored.
    pub async fn tidy_up(&self) {
        let spill = &self.output.spill;
        let is_named = spill.stored().is_some() && self.output.accumulator.borrow().is_cut();
        if let Some(path) = spill.path().filter(|_| !is_named) {
            let _ = self.cx.env.remove_temp_file(&path).await;
        }
    }

    pub fn render(&self, exit_code: Option<i64>, duration_ms: f64) -> (String, Details) {
        let accumulator = self.output.accumulator.borrow();
        let cut = accumulator.snapshot();
        let mut text = match accumulator.is_empty() {
            true => "(no output)".to_owned(),
            false => cut.content.clone(),
        };
        let stored = self.output.spill.stored().filter(|_| cut.facts.truncated);
        if let Some(hint) = hint(&cut, stored.as_ref()) {
            text = with_note(text, &hint);
        }
        let truncation = cut.facts.truncated.then_some(cut.facts);
        let full_output_path = stored.map(|stored| stored.path);
        (text, Details { exit_code, duration_ms, truncation, full_output_path })
    }

    /// The environment's failure, after whatever output there was.
    pub fn failed(&self, error: ToolError, started: f64) -> ToolError {
        let (output, details) = self.render(None, self.cx.host.now_ms() - started);
        let message = match self.output.any_chunk.get() {
            true => with_note(output, &format!("Command failed: {}", error.message)),
            false => format!("Command failed: {}", error.message),
        };
        ToolError::new(error.code, message).with_details(object(&details))
    }
}

/// The output and, after an empty line, what is to be said of it.
pub(super) fn with_note(mut output: String, note: &str) -> String {
    output.truncate(output.trim_end_matches('\n').len());
    if !output.is_empty() {
        output.push_str("\n\n");
    }
    output + note
}

/// Which part of the output is shown, and how to see the rest: in the file that has it, else by asking for less.
fn hint(cut: &Snapshot, stored: Option<&Stored>) -> Option<String> {
    let facts = &cut.facts;
    if !facts.truncated {
        return None;
    }
    let part = match facts.last_line_partial {
        true => format!(
            "Showing last {} of line {} (line is {})",
            format_size(facts.output_bytes as u64),
            facts.total_lines,
            format_size(facts.last_line_bytes.unwrap_or(facts.output_bytes as u64)),
        ),
        false => format!(
            "Showing lines {}-{} of {}{}",
            facts.total_lines - facts.output_lines as u64 + 1,
            facts.total_lines,
            facts.total_lines,
            match facts.truncated_by {
                Some(TruncatedBy::Bytes) => format!(" ({} limit)", format_size(facts.max_bytes as u64)),
                _ => String::new(),
            },
        ),
    };
    let rest = match stored {
        Some(stored) => stored.in_words(),
        None => "The rest was not kept: narrow the command, or send its output to a file".to_owned(),
    };
    Some(format!("[{part}. {rest}]"))
}
