//! The whole output of a command, in a file: what the tail does not show is kept where `read` and `grep` find it.
//!
//! Nothing is stored until a limit is passed; until then the raw bytes, not more than the limit, are held here. Then
//! they go into a temporary file of the environment, in batches, while the command runs. A command that writes faster
//! than the environment stores is asked to wait. One that does not is not waited for: what does not fit in
//! [`MOST_WAITING`] is not stored, and the file is marked incomplete.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::Poll;

use crate::env::wait::Wakers;
use crate::env::{Env, Flow};
use crate::error::{ErrorCode, ToolError};
use crate::text::redact::RawRedactor;
use crate::text::truncate::{Limits, format_size};

/// Bytes that wait for a slow environment at most.
pub const MOST_WAITING: usize = 8 << 20;
/// From so many waiting bytes on the command is to wait.
const ENOUGH_WAITING: usize = 512 << 10;
/// What is stored at once at least, but for the first, which makes the file known, and the last: appending may cost a
/// copy of the file.
const BATCH: usize = 256 << 10;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// No limit is passed yet.
    Holding,
    /// Everything is stored as it comes.
    Storing,
    /// What comes is not stored any more.
    Over,
}

/// The file of one command's output.
#[derive(Debug)]
pub struct Spill {
    phase: Cell<Phase>,
    limit: usize,
    /// Bytes that came.
    taken: Cell<u64>,
    waiting: RefCell<Vec<u8>>,
    redactor: RefCell<Option<RawRedactor>>,
    path: RefCell<Option<String>>,
    stored: Cell<u64>,
    /// Why the file is not all of it.
    gap: RefCell<Option<String>>,
    is_closed: Cell<bool>,
    changed: Wakers,
    flow: Flow,
}

/// Where the output is, for a hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Absolute.
    pub path: String,
    /// Bytes of the output that it has, and why it has not all of them.
    pub gap: Option<(u64, String)>,
}

impl Spill {
    /// Nothing yet. Bytes pass the redactor before they are stored.
    pub fn new(limits: Limits, redactor: Option<RawRedactor>, flow: Flow) -> Self {
        Spill {
            phase: Cell::new(Phase::Holding),
            limit: limits.max_bytes,
            taken: Cell::new(0),
            waiting: RefCell::default(),
            redactor: RefCell::new(redactor),
            path: RefCell::default(),
            stored: Cell::new(0),
            gap: RefCell::default(),
            is_closed: Cell::new(false),
            changed: Wakers::default(),
            flow,
        }
    }

    /// Takes the next bytes, of whichever stream; `is_cut` once what is shown of the output is not all of it.
    pub fn push(&self, bytes: &[u8], is_cut: bool) {
        self.taken.set(self.taken.get() + bytes.len() as u64);
        if self.phase.get() == Phase::Over {
            return;
        }
        match &mut *self.redactor.borrow_mut() {
            None => self.wait(bytes),
            Some(redactor) => self.wait(&redactor.push(bytes)),
        }
        self.advance(is_cut);
    }

    /// The output is over.
    pub fn close(&self, is_cut: bool) {
        if let Some(redactor) = &mut *self.redactor.borrow_mut() {
            self.wait(&redactor.finish());
        }
        self.advance(is_cut);
        if !is_cut {
            // What is shown is all of it. A file that there is already goes.
            self.waiting.borrow_mut().clear();
            self.phase.set(Phase::Over);
        }
        self.is_closed.set(true);
        self.changed.wake();
    }

    fn wait(&self, bytes: &[u8]) {
        let mut waiting = self.waiting.borrow_mut();
        let room = MOST_WAITING.saturating_sub(waiting.len());
        if self.phase.get() == Phase::Over {
            return;
        }
        waiting.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.end("it came faster than the environment stored it");
        }
    }

    fn advance(&self, is_cut: bool) {
        if self.phase.get() == Phase::Holding && (is_cut || self.taken.get() > self.limit as u64) {
            self.phase.set(Phase::Storing);
        }
        let waiting = self.waiting.borrow().len();
        if self.phase.get() == Phase::Storing && waiting >= self.enough() {
            self.changed.wake();
        }
        self.flow.set_closed(self.phase.get() == Phase::Storing && waiting >= ENOUGH_WAITING);
    }

    /// Bytes that are worth being stored.
    fn enough(&self) -> usize {
        if self.path.borrow().is_none() { 1 } else { BATCH }
    }

    fn end(&self, gap: &str) {
        self.phase.set(Phase::Over);
        self.gap.borrow_mut().get_or_insert_with(|| gap.to_owned());
        self.flow.set_closed(false);
        self.changed.wake();
    }

    /// Stores what comes, until the output is closed and stored. Whoever drops it before [marks](Spill::cut_short) it.
    pub async fn store<E: Env>(&self, env: &E) {
        let mut batch = Vec::new();
        while self.next(&mut batch).await {
            if let Err(error) = self.append(env, &batch).await {
                self.waiting.borrow_mut().clear();
                self.end(&error.message);
            } else {
                self.stored.set(self.stored.get() + batch.len() as u64);
            }
        }
    }

    /// Puts what is to be stored next into the buffer; false at the end. While it is being stored, the command may go
    /// on. The two buffers change places, so that a flood grows neither.
    async fn next(&self, batch: &mut Vec<u8>) -> bool {
        poll_fn(|cx| {
            self.changed.register(cx);
            let is_closed = self.is_closed.get();
            let mut waiting = self.waiting.borrow_mut();
            let is_last = is_closed || self.phase.get() == Phase::Over;
            match waiting.len() {
                size if self.phase.get() != Phase::Holding
                    && (size >= self.enough() || (is_last && size > 0)) =>
                {
                    batch.clear();
                    std::mem::swap(&mut *waiting, batch);
                    self.flow.set_closed(false);
                    Poll::Ready(true)
                }
                _ if is_closed => Poll::Ready(false),
                _ => Poll::Pending,
            }
        })
        .await
    }

    async fn append<E: Env>(&self, env: &E, batch: &[u8]) -> Result<(), ToolError> {
        let known = self.path.borrow().clone();
        let path = match known {
            Some(path) => path,
            None => match env.create_temp_file("tackroom-output-", ".log").await? {
                Some(path) => self.path.borrow_mut().insert(path).clone(),
                None => return Err(ToolError::new(ErrorCode::NotSupported, "there is no place for it")),
            },
        };
        env.append_file(&path, batch).await
    }

    /// Nobody waits for the rest.
    pub fn cut_short(&self) {
        self.end("storing it was cut short");
    }

    /// Where the output is; `None` where it is nowhere.
    pub fn stored(&self) -> Option<Stored> {
        let gap = self.gap.borrow().clone().map(|why| (self.stored.get(), why));
        match gap {
            Some((0, _)) => None,
            gap => Some(Stored { path: self.path()?, gap }),
        }
    }

    /// The file, whatever it has.
    pub fn path(&self) -> Option<String> {
        self.path.borrow().clone()
    }
}

impl Stored {
    /// For a hint: `Full output: PATH`, and what it lacks.
    pub fn in_words(&self) -> String {
        match &self.gap {
            None => format!("Full output: {}", self.path),
            Some((bytes, why)) => {
                format!("Output, its first {} only: {} ({why})", format_size(*bytes), self.path)
            }
        }
    }
}
