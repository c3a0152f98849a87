//! From listings of directories to files, in the order of `rg --sort path`, whichever listing comes first.
//!
//! A walk says which directory it wants listed next ([`Walk::next_directory`]), hears what is in it
//! ([`Walk::listed`]), and gives out files ([`Walk::next_file`]) as soon as nothing can come before them. So the
//! listings can be asked for many at a time. What is ignored is not given out, and an ignored directory is never
//! listed. Links are given out as what they are and not followed: there are no cycles.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::glob::FileGlob;
use super::ignore::{GIT, Own, Rules};
use crate::path::MAX_BYTES;

/// Files that are given out, and directories that are come by, at most.
pub const MOST: usize = 200_000;
/// Bytes of paths that are held at most.
const MOST_HELD_BYTES: usize = 64 << 20;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it points to.
    Link,
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One segment.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
}

/// A file or a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the directory that is walked.
    pub path: String,
    /// A file or a link.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
}

/// A walk of one directory and what is below it.
#[derive(Debug)]
pub struct Walk {
    /// Absolute; empty for the top, so that a path below is this, "/" and the rest.
    base: String,
    filter: Option<FileGlob>,
    hidden: Vec<String>,
    /// Directories that have not been listed, by [`key`].
    open: BTreeMap<Vec<u8>, Open>,
    /// Files that have not been given out, likewise, with their kinds and sizes.
    files: BTreeMap<Vec<u8>, (Kind, u64)>,
    /// Bytes of both.
    held: usize,
    given: usize,
    directories: usize,
    cut: bool,
}

#[derive(Debug)]
struct Open {
    rules: Rc<Rules>,
    is_asked: bool,
}

impl Walk {
    /// A walk of a directory (absolute) around which these rules hold. Whatever is `hidden` (absolute paths) is left
    /// out.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use tackroom::search::{ignore::Own, walk::{Entry, Kind, Walk}};
    /// let mut walk = Walk::new("/work", Rc::default(), None, vec![]);
    /// assert_eq!(walk.next_directory().as_deref(), Some(""));
    /// let entry = |name: &str, kind| Entry { name: name.into(), kind, size: 1 };
    /// let entries = vec![entry("b", Kind::File), entry("a", Kind::Directory), entry(".git", Kind::Directory)];
    /// walk.listed("", entries, &Own::default());
    /// assert_eq!(walk.next_file(), None, "what is in a comes before b");
    /// assert_eq!(walk.next_directory().as_deref(), Some("a"));
    /// walk.listed("a", vec![entry("c", Kind::File)], &Own::default());
    /// assert_eq!(walk.next_file().unwrap().path, "a/c");
    /// assert_eq!(walk.next_file().unwrap().path, "b");
    /// assert!(walk.is_over());
    /// ```
    pub fn new(directory: &str, rules: Rc<Rules>, filter: Option<FileGlob>, hidden: Vec<String>) -> Walk {
        let top = Open { rules, is_asked: false };
        Walk {
            base: directory.trim_end_matches('/').to_owned(),
            filter,
            hidden,
            open: BTreeMap::from([(Vec::new(), top)]),
            files: BTreeMap::new(),
            held: 0,
            given: 0,
            directories: 0,
            cut: false,
        }
    }

    /// The absolute path of what is at a relative one.
    pub fn absolute(&self, path: &str) -> String {
        match (path, self.base.as_str()) {
            ("", "") => "/".to_owned(),
            ("", base) => base.to_owned(),
            (path, base) => format!("{base}/{path}"),
        }
    }

    /// A directory to be listed, by its relative path: of those that nobody was sent to, the first in order.
    pub fn next_directory(&mut self) -> Option<String> {
        let (key, open) = self.open.iter_mut().find(|(_, open)| !open.is_asked)?;
        open.is_asked = true;
        Some(path(key))
    }

    /// What is in a directory that was asked for. One that cannot be listed has nothing.
    pub fn listed(&mut self, directory: &str, entries: Vec<Entry>, own: &Own) {
        let Some(Open { rules, .. }) = self.open.remove(&key(directory)) else { return };
        self.held -= directory.len();
        let rules = Rules::within(&rules, &self.absolute(directory), own);
        for Entry { name, kind, size } in entries {
            if matches!(name.as_str(), "" | "." | ".." | GIT) || name.contains(['/', '\0']) {
                continue;
            }
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            let absolute = self.absolute(&path);
            // No file has such a path, and a tree that is made up could go on for ever.
            if absolute.len() > MAX_BYTES {
                continue;
            }
            let is_directory = kind == Kind::Directory;
            let filtered = self.filter.as_ref().and_then(|filter| filter.verdict(&absolute, is_directory));
            let is_kept = filtered.unwrap_or_else(|| rules.verdict(&absolute, is_directory) != Some(true));
            if !is_kept || self.hidden.contains(&absolute) {
                continue;
            }
            let key = key(&path);
            let is_new = match is_directory {
                true => self.open.insert(key, Open { rules: rules.clone(), is_asked: false }).is_none(),
                false => self.files.insert(key, (kind, size)).is_none(),
            };
            if is_new {
                self.held += path.len();
                self.directories += usize::from(is_directory);
            }
        }
        if self.directories > MOST || self.held > MOST_HELD_BYTES {
            self.end();
        }
    }

    /// The next file, if nothing that is still to be listed can come before it.
    pub fn next_file(&mut self) -> Option<File> {
        let first = self.files.first_entry()?;
        if self.open.keys().next().is_some_and(|open| open < first.key()) {
            return None;
        }
        if self.given == MOST {
            self.end();
            return None;
        }
        self.given += 1;
        let (key, (kind, size)) = first.remove_entry();
        self.held -= key.len();
        Some(File { path: path(&key), kind, size })
    }

    /// Files that wait to be given out.
    pub fn waiting(&self) -> usize {
        self.files.len()
    }

    /// Whether everything was given out.
    pub fn is_over(&self) -> bool {
        self.open.is_empty() && self.files.is_empty()
    }

    /// Whether it ended at [`MOST`] files or directories.
    pub fn was_cut(&self) -> bool {
        self.cut
    }

    fn end(&mut self) {
        self.cut = true;
        self.open.clear();
        self.files.clear();
        self.held = 0;
    }
}

/// What sorts paths by their segments, each by its bytes: no segment has a NUL, and nothing sorts before one.
fn key(path: &str) -> Vec<u8> {
    path.bytes().map(|byte| if byte == b'/' { 0 } else { byte }).collect()
}

fn path(key: &[u8]) -> String {
    String::from_utf8_lossy(key).replace('\0', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, kind: Kind) -> Entry {
        Entry { name: name.into(), kind, size: 0 }
    }

    /// Walks a tree given by its files, listing last what was asked for first.
    fn walk(files: &[&str], own: &[(&str, &str)], filter: Option<&str>) -> (Vec<String>, Vec<String>) {
        let filter = filter.map(|glob| FileGlob::compile("/w", glob).unwrap());
        let mut walk = Walk::new("/w", Rc::default(), filter, vec!["/w/.tackroom".into()]);
        let (mut found, mut listed) = (Vec::new(), Vec::new());
        while !walk.is_over() {
            let mut asked = Vec::new();
            while let Some(directory) = walk.next_directory() {
                asked.push(directory);
            }
            for directory in asked.into_iter().rev() {
                let prefix = if directory.is_empty() { String::new() } else { format!("{directory}/") };
                let mut entries: Vec<Entry> = Vec::new();
                for rest in files.iter().filter_map(|file| file.strip_prefix(&prefix)) {
                    let found = match rest.split_once('/') {
                        Some((name, _)) => entry(name, Kind::Directory),
                        None => entry(rest, Kind::File),
                    };
                    if !entries.contains(&found) {
                        entries.push(found);
                    }
                }
                let own = own.iter().find(|(at, _)| *at == directory);
                let own = Own { gitignore: own.map(|(_, text)| (*text).into()), ..Own::default() };
                walk.listed(&directory, entries, &own);
                listed.push(directory);
            }
            found.extend(std::iter::from_fn(|| walk.next_file()).map(|file| file.path));
        }
        listed.sort();
        (found, listed)
    }

    #[test]
    fn the_order_is_by_segments() {
        let files = ["b/z", "a/b/c", "a.txt", "a/b.txt", "a-b", "é", "Z", "a/b/a/a", "b.c/x", "b/a"];
        let (found, _) = walk(&files, &[], None);
        let sorted = ["Z", "a/b/a/a", "a/b/c", "a/b.txt", "a-b", "a.txt", "b/a", "b/z", "b.c/x", "é"];
        assert_eq!(found, sorted);
    }

    #[test]
    fn ignored_directories_are_not_listed() {
        let files = ["out/a", "out/b/c", "src/out/d", ".git/config", ".tackroom/x", "src/.tackroom/y"];
        let (found, listed) = walk(&files, &[("", "/out/\n")], None);
        assert_eq!(found, ["src/.tackroom/y", "src/out/d"]);
        assert_eq!(listed, ["", "src", "src/.tackroom", "src/out"]);
    }

    #[test]
    fn a_filter_is_above_the_rules() {
        let files = ["a.log", "a.ts", "logs/b.log"];
        assert_eq!(walk(&files, &[("", "*.log\n")], Some("*.log")).0, ["a.log", "logs/b.log"]);
        assert_eq!(walk(&files, &[("", "/logs/\n")], Some("*.log")).0, ["a.log"]);
        assert_eq!(walk(&files, &[], Some("!*.log")).0, ["a.ts"]);
    }

    #[test]
    fn names_that_are_none_are_left_out() {
        let mut walk = Walk::new("/", Rc::default(), None, vec![]);
        walk.next_directory();
        let names = ["", ".", "..", "a/b", "c\0", "/etc", "ok", "ok"];
        walk.listed("", names.map(|name| entry(name, Kind::Directory)).into(), &Own::default());
        assert_eq!(walk.next_directory().as_deref(), Some("ok"));
        assert_eq!(walk.next_directory(), None);
        assert_eq!((walk.absolute(""), walk.absolute("ok")), ("/".into(), "/ok".into()));
    }

    #[test]
    fn a_walk_without_end_ends() {
        let mut walk = Walk::new("/", Rc::default(), None, vec![]);
        let names: Vec<Entry> = (0..40).map(|n| entry(&n.to_string(), Kind::Directory)).collect();
        let mut most = 0;
        while let Some(directory) = walk.next_directory() {
            walk.listed(&directory, names.clone(), &Own::default());
            most = most.max(walk.open.len());
        }
        assert!(walk.was_cut() && walk.is_over() && most <= MOST + names.len());
        let mut walk = Walk::new("/", Rc::default(), None, vec![]);
        walk.next_directory();
        walk.listed("", (0..MOST + 1).map(|n| entry(&n.to_string(), Kind::File)).collect(), &Own::default());
        assert_eq!(std::iter::from_fn(|| walk.next_file()).count(), MOST);
        assert!(walk.was_cut() && walk.is_over());
    }
}
