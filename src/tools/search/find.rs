//! `find`, run.

use std::fmt::Write;
use std::future::poll_fn;
use std::task::Poll;

use serde::Serialize;

use super::run::Pace;
use super::tree::Tree;
use super::{Job, Lines, Notes, on_one_line};
use crate::env::{Env, Host, WalkRequest};
use crate::error::ToolError;
use crate::search::glob::FindGlob;
use crate::text::truncate::Truncation;
use crate::tools::find::{Args, DEFAULT_LIMIT};
use crate::tools::{Output, read_arguments};

/// `details` of a result.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

/// Finds files.
pub(super) async fn run<E: Env, H: Host>(
    job: &Job,
    env: &E,
    pace: &mut Pace<'_, H>,
) -> Result<Output, ToolError> {
    let args = read_arguments(Args::read, job.arguments.clone())?;
    let glob = FindGlob::compile(&args.pattern)?;
    let limit = args.limit.or(job.results).unwrap_or(DEFAULT_LIMIT);
    // One more, to know whether there are more.
    let request = WalkRequest {
        path: job.start.path.clone(),
        glob: Some(args.pattern.clone()),
        limit: Some(limit.saturating_add(1)),
    };
    let mut tree = Tree::open(job, env, None, Some(request)).await?;
    let (mut lines, mut found, mut seen, mut reached) = (Lines::new(job.limits), 0, 0_u64, None);
    'all: loop {
        while let Some(file) = tree.next_file() {
            seen += 1;
            if !glob.matches(&job.start.path, &file.path) {
                continue;
            }
            if found == limit {
                reached = Some(limit);
                break 'all;
            }
            found += 1;
            lines.push(&[&on_one_line(&file.path)]);
        }
        if tree.is_over() {
            break;
        }
        poll_fn(|cx| match tree.poll(cx) {
            Ok(false) if !tree.is_over() => Poll::Pending,
            Ok(_) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(job.start.unusable(error))),
        })
        .await?;
        pace.pause(|| Output::new(format!("{seen} files seen, {found} found so far"), &Details::default()))
            .await?;
    }
    let mut notes = Notes::default();
    if let Some(limit) = reached {
        let more = limit.saturating_mul(2);
        let _ = write!(
            notes.next(),
            "{limit} results limit reached. Use limit={more} for more, or refine pattern"
        );
    }
    if tree.unreadable > 0 {
        let _ = write!(notes.next(), "Directories that could not be listed: {}", tree.unreadable);
    }
    if let Some(cut) = tree.was_cut() {
        let _ = write!(notes.next(), "{cut}");
    }
    if found == 0 && args.pattern.ends_with('/') {
        let _ = write!(
            notes.next(),
            "Files are found, not directories: use {}** for what is in one",
            args.pattern
        );
    }
    let none = "No files found matching pattern";
    let (text, truncation) = lines.finish(none, "Narrow path or pattern to see the rest", notes);
    Ok(Output::new(text, &Details { result_limit_reached: reached, truncation }))
}
