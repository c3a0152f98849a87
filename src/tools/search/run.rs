//! Running a search: time for others while it runs, and word of how far it is.

use super::{Job, find, grep};
use crate::env::{Abort, Env, Host};
use crate::error::ToolError;
use crate::tools::{Builtin, Output};

/// Milliseconds after which a search lets others run: an abort can come in then, and a page goes on.
const BREATH_MS: f64 = 50.0;
/// Milliseconds between two snapshots.
const SNAPSHOT_MS: f64 = 1000.0;

/// Runs a search.
///
/// # Errors
/// `invalid_pattern`; `aborted`; `invalid_arguments` where they are not the tool's; what the environment says of the
/// place where it starts.
pub async fn search<E: Env, H: Host>(
    job: &Job,
    env: &E,
    host: &H,
    abort: &Abort,
    update: &dyn Fn(Output),
) -> Result<Output, ToolError> {
    let mut pace = Pace { host, abort, update, breathed: host.now_ms(), told: host.now_ms() };
    let running = async {
        match job.tool {
            Builtin::Find => find::run(job, env, &mut pace).await,
            _ => grep::run(job, env, &mut pace).await,
        }
    };
    // An environment may never answer.
    abort.race(running).await.unwrap_or_else(|| Err(ToolError::aborted()))
}

/// When a search pauses.
pub(super) struct Pace<'a, H: Host> {
    host: &'a H,
    abort: &'a Abort,
    update: &'a dyn Fn(Output),
    breathed: f64,
    told: f64,
}

impl<H: Host> Pace<'_, H> {
    /// Called between two files: lets others run, and tells how far it is, each where it is time.
    ///
    /// # Errors
    /// `aborted`.
    pub async fn pause(&mut self, snapshot: impl FnOnce() -> Output) -> Result<(), ToolError> {
        let mut now = self.host.now_ms();
        if now - self.breathed >= BREATH_MS {
            self.host.sleep(0.0).await;
            now = self.host.now_ms();
            self.breathed = now;
        }
        if self.abort.is_raised() {
            return Err(ToolError::aborted());
        }
        if now - self.told >= SNAPSHOT_MS {
            self.told = now;
            (self.update)(snapshot());
        }
        Ok(())
    }
}
