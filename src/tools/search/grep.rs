//! `grep`, run.

use std::collections::VecDeque;
use std::fmt::Write;
use std::future::poll_fn;
use std::task::Poll;

use serde::Serialize;

use super::batch::{Batch, all};
use super::run::Pace;
use super::tree::Tree;
use super::{Job, Lines, Notes, on_one_line};
use crate::env::{Env, Host, SearchRequest, WalkRequest};
use crate::error::{ErrorCode, ToolError};
use crate::search::glob::FileGlob;
use crate::search::grep::{Line, MOST_LINE_BYTES, Parts, Quota, Search, Searchable, whole};
use crate::search::pattern::{Pattern, without_end};
use crate::search::walk::{File, Kind};
use crate::search::window::window;
use crate::text::truncate::{DEFAULT_LINE_UTF16, Truncation, format_size};
use crate::tools::grep::{Args, DEFAULT_LIMIT};
use crate::tools::{Output, read_arguments};

/// Files that are read at a time.
const READS: usize = 32;
/// Bytes of them, by their listed sizes.
const READ_BYTES: u64 = 32 << 20;
/// Files that an environment is asked for at once, where it takes many.
const MANY: usize = 16;
/// A file over so many bytes is read in parts, where the environment has them.
const LARGE_BYTES: u64 = 64 << 20;
/// Such a part.
const PART_BYTES: u64 = 4 << 20;

/// `details` of a result.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    matches: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    match_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lines_truncated: bool,
    unreadable: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

/// What was found so far.
struct Found {
    lines: Lines,
    quota: Quota,
    matches: u64,
    is_line_cut: bool,
    files: u64,
    unreadable: u64,
    /// Files that were searched up to a NUL.
    up_to_nul: u64,
    /// Files that were searched up to a line that is too long.
    up_to_line: u64,
}

impl Found {
    /// Takes the lines of a file.
    fn show<'s>(
        lines: &'s mut Lines,
        matches: &'s mut u64,
        is_line_cut: &'s mut bool,
        path: &'s str,
    ) -> impl FnMut(Line<'_>) + 's {
        let path = on_one_line(path);
        move |line| {
            let (text, is_cut) = window(line.text, line.matched.clone().unwrap_or(0..0), DEFAULT_LINE_UTF16);
            *is_line_cut |= is_cut;
            let mark = if line.matched.is_some() { ":" } else { "-" };
            *matches += u64::from(line.matched.is_some());
            lines.push(&[&path, mark, &line.number.to_string(), mark, " ", &text]);
        }
    }

    fn search(&mut self, path: &str, bytes: Vec<u8>, search: Search<'_>) -> Searchable {
        let Found { lines, quota, matches, is_line_cut, .. } = self;
        let searchable = whole(bytes, search, quota, &mut Self::show(lines, matches, is_line_cut, path));
        self.count(searchable);
        searchable
    }

    fn count(&mut self, searchable: Searchable) {
        self.files += 1;
        match searchable {
            Searchable::Before(_) => self.up_to_nul += 1,
            Searchable::BeforeLine(_) => self.up_to_line += 1,
            Searchable::All | Searchable::Nothing(_) => {}
        }
    }
}

/// A file, and what came of reading it; `None` for a large one, which is still to be read.
type Fetched = (File, Option<Result<Vec<u8>, ToolError>>);

/// Searches.
pub(super) async fn run<E: Env, H: Host>(
    job: &Job,
    env: &E,
    pace: &mut Pace<'_, H>,
) -> Result<Output, ToolError> {
    let args = read_arguments(Args::read, job.arguments.clone())?;
    let pattern =
        Pattern::compile(&args.pattern, args.ignore_case == Some(true), args.literal == Some(true))?;
    let filter = args.glob.as_deref().map(|glob| FileGlob::compile(&job.start.path, glob)).transpose()?;
    let limit = args.limit.or(job.results).unwrap_or(DEFAULT_LIMIT);
    let mut found = Found {
        lines: Lines::new(job.limits),
        quota: Quota { left: limit, is_exceeded: false },
        matches: 0,
        is_line_cut: false,
        files: 0,
        unreadable: 0,
        up_to_nul: 0,
        up_to_line: 0,
    };
    let context = args.context.unwrap_or_default();
    let mut notes = Notes::default();
    let mut cut = None;
    if !pushed_down(job, env, &args, &pattern, limit, &mut found).await? {
        let search = || Search::new(&pattern, context);
        match job.start.is_directory {
            true => cut = directory(job, env, filter, &search, pace, &mut found).await?,
            false => file(job, env, search(), pace, &mut found, &mut notes).await?,
        }
    }
    Ok(result(job, limit, found, notes, cut))
}

fn result(job: &Job, limit: u64, found: Found, mut notes: Notes, cut: Option<String>) -> Output {
    let reached = found.quota.is_exceeded.then_some(limit);
    if reached.is_some() {
        let more = limit.saturating_mul(2);
        let _ = write!(
            notes.next(),
            "{limit} matches limit reached. Use limit={more} for more, or refine pattern"
        );
    }
    if found.is_line_cut {
        let _ = write!(notes.next(), "Some lines truncated to {DEFAULT_LINE_UTF16} chars");
        if job.has_read {
            let _ = write!(notes.next(), "Use read to see them whole");
        }
    }
    if found.unreadable > 0 {
        let _ = write!(notes.next(), "Files and directories that could not be read: {}", found.unreadable);
    }
    if found.up_to_nul > 0 && job.start.is_directory {
        let _ = write!(notes.next(), "Files searched only up to a NUL byte: {}", found.up_to_nul);
    }
    if found.up_to_line > 0 && job.start.is_directory {
        let most = format_size(MOST_LINE_BYTES as u64);
        let _ = write!(notes.next(), "Files searched only up to a line over {most}: {}", found.up_to_line);
    }
    if let Some(cut) = cut {
        let _ = write!(notes.next(), "{cut}");
    }
    let (text, truncation) =
        found.lines.finish("No matches found", "Narrow path, glob or pattern to see the rest", notes);
    let details = Details {
        matches: found.matches,
        match_limit_reached: reached,
        lines_truncated: found.is_line_cut,
        unreadable: found.unreadable,
        truncation,
    };
    Output::new(text, &details)
}

/// Lets the environment search, where it does; whether it did.
async fn pushed_down<E: Env>(
    job: &Job,
    env: &E,
    args: &Args,
    pattern: &Pattern,
    limit: u64,
    found: &mut Found,
) -> Result<bool, ToolError> {
    let request = SearchRequest {
        path: job.start.path.clone(),
        pattern: args.pattern.clone(),
        glob: args.glob.clone(),
        ignore_case: args.ignore_case == Some(true),
        literal: args.literal == Some(true),
        context: args.context.unwrap_or_default(),
        limit,
    };
    let answer = match env.search(&request).await {
        Ok(Some(answer)) => answer,
        Ok(None) => return Ok(false),
        // It has the method, and what it is over does not.
        Err(error) if error.code == ErrorCode::NotSupported => return Ok(false),
        Err(error) => return Err(job.start.unusable(error)),
    };
    found.quota.is_exceeded = answer.limit_reached;
    let Found { lines, quota, matches, is_line_cut, .. } = found;
    for line in &answer.lines {
        if !line.is_context && *matches == limit {
            quota.is_exceeded = true;
            break;
        }
        let text = line.text.split_inclusive(|byte| *byte == b'\n').next().map_or(&[][..], without_end);
        let path = if job.start.is_directory { &line.path } else { &job.start.name };
        let matched = || pattern.find(text).unwrap_or(0..0);
        Found::show(lines, matches, is_line_cut, path)(Line {
            number: line.line,
            text,
            matched: (!line.is_context).then(matched),
        });
    }
    found.unreadable = answer.unreadable;
    Ok(true)
}

/// Searches one file that was named.
async fn file<E: Env, H: Host>(
    job: &Job,
    env: &E,
    search: Search<'_>,
    pace: &mut Pace<'_, H>,
    found: &mut Found,
    notes: &mut Notes,
) -> Result<(), ToolError> {
    let named = File { path: job.start.name.clone(), kind: Kind::File, size: job.start.size };
    let searchable = if named.size > LARGE_BYTES {
        match large(env, &job.start.path, &named, search, pace, found).await? {
            Ok(searchable) => Some(searchable),
            Err(Some(error)) => return Err(job.start.unusable(error)),
            Err(None) => None,
        }
    } else {
        let bytes = env.read_file(&job.start.path).await.map_err(|error| job.start.unusable(error))?;
        Some(found.search(&named.path, bytes, search))
    };
    let _ = match searchable {
        Some(Searchable::All) => Ok(()),
        Some(Searchable::Before(at)) => {
            write!(notes.next(), "{} has a NUL at byte {at} and was searched up to there", job.start.shown)
        }
        Some(Searchable::Nothing(at)) => {
            write!(
                notes.next(),
                "{} is a binary file (NUL at byte {at}) and was not searched",
                job.start.shown
            )
        }
        Some(Searchable::BeforeLine(at)) => write!(
            notes.next(),
            "{} has a line over {} at byte {at} and was searched up to there",
            job.start.shown,
            format_size(MOST_LINE_BYTES as u64)
        ),
        None => write!(
            notes.next(),
            "{} has {}: over {} a file is searched in parts, and this environment gave none",
            job.start.shown,
            format_size(named.size),
            format_size(LARGE_BYTES)
        ),
    };
    Ok(())
}

/// Searches the files of a directory; says where it could not go through all of them.
async fn directory<'a, E: Env, H: Host>(
    job: &Job,
    env: &'a E,
    filter: Option<FileGlob>,
    search: &dyn Fn() -> Search<'a>,
    pace: &mut Pace<'_, H>,
    found: &mut Found,
) -> Result<Option<String>, ToolError> {
    // A filter can bring back what is ignored, so that it has a say in which directories are listed.
    let request =
        filter.is_none().then(|| WalkRequest { path: job.start.path.clone(), glob: None, limit: None });
    let mut tree = Tree::open(job, env, filter, request).await?;
    let takes_many = matches!(env.read_files(&[]).await, Ok(Some(_)));
    let mut reads: Batch<'a, Vec<Fetched>> = Batch::new();
    let mut fetched: VecDeque<Fetched> = VecDeque::new();
    let (mut files, mut bytes) = (0_usize, 0_u64);
    let mut next = None;
    loop {
        // Begin to read what is known, as far as there is room.
        let mut many: Vec<(File, String)> = Vec::new();
        loop {
            next = next.or_else(|| tree.next_file());
            let Some(file) = next.take_if(|file| {
                file.kind != Kind::File
                    || files == 0
                    || (files < READS && bytes.saturating_add(file.size) <= READ_BYTES)
            }) else {
                break;
            };
            if file.kind != Kind::File {
                continue;
            }
            files += 1;
            let path = tree.absolute(&file);
            if file.size > LARGE_BYTES {
                if !many.is_empty() {
                    reads.push(read_many(env, std::mem::take(&mut many)));
                }
                reads.push(std::future::ready(vec![(file, None)]));
                continue;
            }
            bytes += file.size;
            if takes_many {
                many.push((file, path));
                if many.len() == MANY {
                    reads.push(read_many(env, std::mem::take(&mut many)));
                }
            } else {
                reads.push(async move {
                    let content = env.read_file(&path).await;
                    vec![(file, Some(content))]
                });
            }
        }
        if !many.is_empty() {
            reads.push(read_many(env, many));
        }
        if reads.is_empty() && next.is_none() && tree.is_over() {
            break;
        }
        poll_fn(|cx| {
            let is_moved = match tree.poll(cx) {
                Ok(is_moved) => is_moved,
                Err(error) => return Poll::Ready(Err(job.start.unusable(error))),
            };
            reads.poll(cx);
            match is_moved || reads.has_first() || (reads.is_empty() && tree.is_over()) {
                true => Poll::Ready(Ok(())),
                false => Poll::Pending,
            }
        })
        .await?;
        while let Some(read) = reads.take_first() {
            fetched.extend(read);
            while let Some((file, content)) = fetched.pop_front() {
                files -= 1;
                match content {
                    Some(Ok(content)) => {
                        bytes -= file.size;
                        found.search(&file.path, content, search());
                    }
                    Some(Err(_)) => {
                        bytes -= file.size;
                        found.unreadable += 1;
                    }
                    None => {
                        let path = tree.absolute(&file);
                        let _ = large(env, &path, &file, search(), pace, found).await?;
                    }
                }
                if found.quota.is_exceeded {
                    found.unreadable += tree.unreadable;
                    return Ok(None);
                }
                pace.pause(|| so_far(found)).await?;
            }
        }
        pace.pause(|| so_far(found)).await?;
    }
    found.unreadable += tree.unreadable;
    Ok(tree.was_cut())
}

fn so_far(found: &Found) -> Output {
    let details = Details { matches: found.matches, unreadable: found.unreadable, ..Details::default() };
    Output::new(format!("{} files searched, {} matches so far", found.files, found.matches), &details)
}

async fn read_many<E: Env>(env: &E, files: Vec<(File, String)>) -> Vec<Fetched> {
    let paths: Vec<String> = files.iter().map(|(_, path)| path.clone()).collect();
    let contents = match env.read_files(&paths).await {
        Ok(Some(contents)) if contents.len() == files.len() => contents,
        _ => all(paths.iter().map(|path| env.read_file(path))).await,
    };
    files.into_iter().zip(contents).map(|((file, _), content)| (file, Some(content))).collect()
}

/// Searches a file part by part; else says why it could not: `None` where the environment gives only whole files.
async fn large<E: Env, H: Host>(
    env: &E,
    path: &str,
    file: &File,
    search: Search<'_>,
    pace: &mut Pace<'_, H>,
    found: &mut Found,
) -> Result<Result<Searchable, Option<ToolError>>, ToolError> {
    let mut parts = Parts::new(search);
    let mut at = 0;
    while at < file.size {
        let part = match env.read_range(path, at, at + PART_BYTES).await {
            Ok(Some(part)) => part,
            none => {
                found.unreadable += 1;
                return Ok(Err(none.err()));
            }
        };
        let Found { lines, quota, matches, is_line_cut, .. } = &mut *found;
        let mut show = Found::show(lines, matches, is_line_cut, &file.path);
        let is_more = parts.push(&part, quota, &mut show);
        drop(show);
        at += PART_BYTES;
        if !is_more || (part.len() as u64) < PART_BYTES {
            break;
        }
        pace.pause(|| so_far(found)).await?;
    }
    let Found { lines, quota, matches, is_line_cut, .. } = &mut *found;
    let searchable = parts.finish(quota, &mut Found::show(lines, matches, is_line_cut, &file.path));
    found.count(searchable);
    Ok(Ok(searchable))
}
