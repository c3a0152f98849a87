//! The files below a directory of an environment: listings are asked for many at a time, and come out in order.

use std::collections::VecDeque;
use std::rc::Rc;
use std::task::Context;

use super::batch::{Batch, all};
use super::{Job, SPILL};
use crate::env::{Env, FileInfo, FileKind, WalkEntry, WalkRequest};
use crate::error::{ErrorCode, ToolError};
use crate::path;
use crate::search::glob::FileGlob;
use crate::search::ignore::{GIT, GITIGNORE, IGNORE, Own, Rules};
use crate::search::walk::{Entry, File, Kind, MOST, Walk};

/// Listings that are asked for at a time.
const LISTINGS: usize = 32;
/// Files that may wait before more is listed.
const WAITING: usize = 4096;
/// An ignore file over so many bytes says nothing.
const MOST_IGNORE_BYTES: u64 = 1 << 20;

/// The files of a tree, as they become known.
pub(super) struct Tree<'a, E: Env> {
    env: &'a E,
    walk: Walk,
    listings: Batch<'a, Listing>,
    /// Files that the environment found by itself.
    given: VecDeque<File>,
    /// Why the top could not be listed.
    failure: Option<ToolError>,
    /// Directories that could not be listed.
    pub unreadable: u64,
}

struct Listing {
    directory: String,
    entries: Result<Vec<FileInfo>, ToolError>,
    own: Own,
}

impl<'a, E: Env> Tree<'a, E> {
    /// The tree where the job starts. An environment that walks by itself is asked to, if `request` says so.
    pub async fn open(
        job: &Job,
        env: &'a E,
        filter: Option<FileGlob>,
        request: Option<WalkRequest>,
    ) -> Result<Self, ToolError> {
        let top = &*job.start.path;
        let tops = ["/", env.cwd()].into_iter().chain(job.root.as_deref());
        let hidden: Vec<String> =
            tops.map(|top| path::join(top, SPILL)).filter(|spill| !path::is_inside(spill, top)).collect();
        let mut tree = Tree {
            env,
            walk: Walk::new(top, Rc::default(), None, vec![]),
            listings: Batch::new(),
            given: VecDeque::new(),
            failure: None,
            unreadable: 0,
        };
        if let Some(request) = request
            && let Some(found) = walked(job, env, &request).await?
        {
            let is_shown = |file: &File| {
                let absolute = path::join(top, &format!("./{}", file.path));
                !hidden.iter().any(|hidden| path::is_inside(hidden, &absolute))
            };
            let file = |entry: WalkEntry| {
                let kind = if entry.kind == FileKind::Symlink { Kind::Link } else { Kind::File };
                File { path: entry.path, kind, size: entry.size }
            };
            tree.given = found.into_iter().map(file).filter(is_shown).collect();
            let _ = tree.walk.next_directory();
            tree.walk.listed("", vec![], &Own::default());
            return Ok(tree);
        }
        let rules = outer_rules(env, top, job.root.as_deref()).await;
        tree.walk = Walk::new(top, rules, filter, hidden);
        Ok(tree)
    }

    /// The next file, if it is known which.
    pub fn next_file(&mut self) -> Option<File> {
        self.given.pop_front().or_else(|| self.walk.next_file())
    }

    /// Whether all files have come.
    pub fn is_over(&self) -> bool {
        self.given.is_empty() && self.walk.is_over() && self.failure.is_none()
    }

    /// What to say where it ended before all files had come.
    pub fn was_cut(&self) -> Option<String> {
        self.walk.was_cut().then(|| format!("Stopped after {MOST} files or directories: narrow path"))
    }

    /// The absolute path of one of its files.
    pub fn absolute(&self, file: &File) -> String {
        self.walk.absolute(&file.path)
    }

    /// Goes on with the listings; whether one has ended.
    ///
    /// # Errors
    /// Where the top could not be listed.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Result<bool, ToolError> {
        // However many files wait: something that is to be listed may come before them.
        while self.listings.is_empty() || (self.listings.len() < LISTINGS && self.walk.waiting() < WAITING) {
            let Some(directory) = self.walk.next_directory() else { break };
            let path = self.walk.absolute(&directory);
            self.listings.push(list(self.env, directory, path));
        }
        self.listings.poll(cx);
        let is_moved = self.listings.has_any();
        while let Some(Listing { directory, entries, own }) = self.listings.take_any() {
            let entries = match entries {
                Ok(entries) => entries,
                Err(error) if directory.is_empty() => return Err(error),
                Err(_) => {
                    self.unreadable += 1;
                    vec![]
                }
            };
            self.walk.listed(&directory, entries.into_iter().map(entry).collect(), &own);
        }
        Ok(is_moved)
    }
}

fn entry(info: FileInfo) -> Entry {
    let kind = match info.kind {
        FileKind::File => Kind::File,
        FileKind::Directory => Kind::Directory,
        FileKind::Symlink => Kind::Link,
    };
    Entry { name: info.name, kind, size: info.size }
}

/// What an environment found by itself, if it does.
async fn walked<E: Env>(
    job: &Job,
    env: &E,
    request: &WalkRequest,
) -> Result<Option<Vec<WalkEntry>>, ToolError> {
    match env.walk(request).await {
        // It has the method, and what it is over does not.
        Err(error) if error.code == ErrorCode::NotSupported => Ok(None),
        found => found.map_err(|error| job.start.unusable(error)),
    }
}

/// A directory, and its ignore files. Links among these are not followed, as git does not.
async fn list<E: Env>(env: &E, directory: String, path: String) -> Listing {
    let entries = env.list_dir(&path).await;
    let mut own = Own::default();
    for entry in entries.iter().flatten() {
        let is_small_file = entry.kind == FileKind::File && entry.size <= MOST_IGNORE_BYTES;
        let into = match entry.name.as_str() {
            GIT => {
                own.is_top = true;
                continue;
            }
            GITIGNORE if is_small_file => &mut own.gitignore,
            IGNORE if is_small_file => &mut own.ignore,
            _ => continue,
        };
        *into = env.read_file(&path::join(&path, &entry.name)).await.ok();
    }
    Listing { directory, entries, own }
}

/// The rules of the directories around one, from the top of the environment, or of what may be read, on.
async fn outer_rules<E: Env>(env: &E, directory: &str, root: Option<&str>) -> Rc<Rules> {
    let mut around = Vec::new();
    let mut at = directory;
    while at != "/" && root != Some(at) {
        at = path::parent(at);
        around.push(at);
    }
    around.reverse();
    let own = all(around.iter().map(|directory| own_rules(env, directory))).await;
    around
        .iter()
        .zip(&own)
        .fold(Rc::default(), |rules, (directory, own)| Rules::within(&rules, directory, own))
}

async fn own_rules<E: Env>(env: &E, directory: &str) -> Own {
    let content = async |name: &str| {
        let path = path::join(directory, name);
        let info = env.file_info(&path).await.ok()?;
        let is_small_file = info.kind == FileKind::File && info.size <= MOST_IGNORE_BYTES;
        if is_small_file { env.read_file(&path).await.ok() } else { None }
    };
    Own {
        gitignore: content(GITIGNORE).await,
        ignore: content(IGNORE).await,
        is_top: env.file_info(&path::join(directory, GIT)).await.is_ok(),
    }
}
