//! What a path means in an environment, and whether that lies inside the root.
//!
//! The path as it was written counts first; its other forms ([`path::forms`]) and folds ([`path::fold`]) only where
//! nothing is there. With a root every candidate is checked by its text before the environment hears of it, and by
//! its canonical path before anything is read, listed or written. That is done for each operation; against another
//! process that swaps a directory for a link in between it is no protection.

use std::cell::RefCell;
use std::rc::Rc;

use crate::env::{Env, FileInfo, FileKind};
use crate::error::{ErrorCode, ToolError};
use crate::path;
use crate::table::Table;

use super::files;

/// The canonical path of `path` (relative ones: from the environment's cwd), if it lies inside `root`: of what is
/// not there, that of its deepest ancestor that is, and the rest. This is the rule of the option `root`; it knows no
/// tolerance.
///
/// # Errors
/// `outside_root` where it does not, where a symbolic link on the way does not resolve, or where there is one and
/// the environment has no canonical paths; `invalid_path`; `not_directory` where a file stands in the middle.
pub async fn resolve_confined<E: Env>(env: &E, root: &str, asked: &str) -> Result<String, ToolError> {
    let path = path::absolute(env.cwd(), asked)?;
    let root = path::absolute(env.cwd(), root)?;
    let lookup = Lookup::new(env, Some(&root), asked);
    lookup.admit(&path)?;
    lookup.real(&path).await
}

/// Looks up what one path means. What it has been told it does not ask again.
pub(super) struct Lookup<'a, E: Env> {
    pub(super) env: &'a E,
    /// The path, as it was written.
    pub(super) asked: &'a str,
    /// Absolute and normal.
    root: Option<&'a str>,
    real_root: RefCell<Option<String>>,
    seen: RefCell<Table<String, Seen>>,
    listings: RefCell<Table<String, Rc<[String]>>>,
}

/// What lstat says of a path.
#[derive(Clone, Debug)]
pub(super) enum Seen {
    There(FileInfo),
    Missing,
    /// A file stands in the middle of it.
    BelowFile(ToolError),
    /// The environment takes it for no path.
    NoPath(ToolError),
}

/// What a path was found to mean.
pub(super) struct Found {
    pub path: String,
    pub info: FileInfo,
}

/// As much of a path as is there.
struct Walked {
    at: String,
    rest: Vec<String>,
}

impl<'a, E: Env> Lookup<'a, E> {
    pub fn new(env: &'a E, root: Option<&'a str>, asked: &'a str) -> Self {
        Lookup {
            env,
            asked,
            root,
            real_root: RefCell::default(),
            seen: RefCell::default(),
            listings: RefCell::default(),
        }
    }

    /// Refuses a path that is outside of the root by its text.
    pub fn admit(&self, path: &str) -> Result<(), ToolError> {
        match self.root {
            Some(root) if !path::is_inside(root, path) => {
                let message = format!("Path is outside of the root {root}: {}", self.asked);
                Err(ToolError::new(ErrorCode::OutsideRoot, message).at(path))
            }
            _ => Ok(()),
        }
    }

    /// lstat. Whoever asks has the path admitted.
    ///
    /// # Errors
    /// Those that say nothing about whether something is there: no permission, say.
    pub async fn look(&self, path: &str) -> Result<Seen, ToolError> {
        if let Some(seen) = self.seen.borrow().get(path) {
            return Ok(seen.clone());
        }
        let seen = match self.env.file_info(path).await {
            Ok(info) => Seen::There(info),
            Err(error) => match error.code {
                ErrorCode::NotFound => Seen::Missing,
                ErrorCode::NotDirectory => Seen::BelowFile(error),
                ErrorCode::InvalidPath => Seen::NoPath(error),
                _ => return Err(files::unusable(error, self.asked, path)),
            },
        };
        self.seen.borrow_mut().insert(path.to_owned(), seen.clone());
        Ok(seen)
    }

    /// What is there under the path or one of its other forms; then under their folds. Exact beats tolerant.
    ///
    /// # Errors
    /// `outside_root` where nothing is there and a form leads outside; `ambiguous`; what [`path::forms`] refuses.
    pub async fn find(&self) -> Result<Option<Found>, ToolError> {
        let asked = self.asked;
        let exact = path::absolute(self.env.cwd(), asked)?;
        if let Ok(()) = self.admit(&exact)
            && let Seen::There(info) = self.look(&exact).await?
        {
            return Ok(Some(Found { path: exact, info }));
        }
        let forms = path::forms(asked, self.env.home());
        let mut outside = None;
        let mut inside = Vec::new();
        for form in std::iter::once(asked).chain(forms.others.iter().map(String::as_str)) {
            let path = path::join(self.env.cwd(), form);
            match self.admit(&path) {
                Ok(()) if !inside.contains(&path) => inside.push(path),
                Ok(()) => {}
                Err(error) => outside = outside.or(Some(error)),
            }
        }
        for path in &inside {
            if let Seen::There(info) = self.look(path).await? {
                return Ok(Some(Found { path: path.clone(), info }));
            }
        }
        for path in &inside {
            let walked = self.walk(path).await?;
            if walked.rest.is_empty()
                && let Seen::There(info) = self.look(&walked.at).await?
            {
                return Ok(Some(Found { path: walked.at, info }));
            }
        }
        match outside {
            Some(error) => Err(error),
            // A directory that is really called so makes the rest an ordinary path.
            None if forms.refusal.is_some() && self.is_directory(&self.first(asked)).await? => Ok(None),
            None => forms.refusal.map_or(Ok(None), Err),
        }
    }

    /// Where a new file goes. The name stays as it was written, the directory is found with tolerance; `~` and URLs
    /// are taken for what they mean, and `@` for a mention, unless a directory has that name.
    pub async fn place(&self) -> Result<String, ToolError> {
        let text = self.without_prefix(self.asked).await?;
        let exact = path::join(self.env.cwd(), &text);
        let (directory, name) = (path::parent(&exact).to_owned(), path::name(&exact));
        self.admit(&directory)?;
        let is_there = self.is_directory(&directory).await?;
        // A file name with a backslash is a path with the wrong slash, if there is such a directory.
        let is_slashed = |form: &str| form == text.replace('\\', "/");
        for form in path::unwrapped(&text) {
            if form.ends_with('/') || (is_there && !is_slashed(&form)) {
                continue;
            }
            let path = path::join(self.env.cwd(), &self.without_prefix(&form).await?);
            let parent = path::parent(&path);
            self.admit(parent)?;
            // In `a\\ b` the backslash is an escape, not a separator.
            if parent == directory || path::name(&path).starts_with(' ') {
                continue;
            }
            let walked = self.walk(parent).await?;
            if walked.rest.is_empty() && self.is_directory(&walked.at).await? {
                return Ok(path::join(&walked.at, path::name(&path)));
            }
        }
        if is_there {
            return Ok(exact);
        }
        let walked = self.walk(&directory).await?;
        Ok(path::join(&walked.at, &format!("./{}/{name}", walked.rest.join("/"))))
    }

    async fn without_prefix(&self, form: &str) -> Result<String, ToolError> {
        let mut text = form.to_owned();
        loop {
            let Some(prefix) = path::prefix(&text, self.env.home()) else { return Ok(text) };
            if self.is_directory(&self.first(&text)).await? {
                return Ok(text);
            }
            match prefix {
                path::Prefix::Mention(rest) if !rest.starts_with('@') => text = rest.to_owned(),
                path::Prefix::Mention(rest) => return Ok(rest.to_owned()),
                path::Prefix::Means(path) => return Ok(path),
                path::Prefix::Refused(error) => return Err(error),
            }
        }
    }

    /// Where the first segment of a relative path is.
    fn first(&self, text: &str) -> String {
        path::join(self.env.cwd(), text.split('/').next().unwrap_or_default())
    }

    /// Whether it is a directory, or a link that may lead to one; with a root, one inside.
    pub async fn is_directory(&self, path: &str) -> Result<bool, ToolError> {
        Ok(self.admit(path).is_ok()
            && matches!(self.look(path).await?, Seen::There(info) if info.kind != FileKind::File))
    }

    /// The deepest ancestor that is there, the path itself included, and what lstat says of it. With a root, none
    /// above it is asked for.
    async fn deepest(&self, path: &str) -> Result<(String, Option<FileInfo>), ToolError> {
        let top = self.root.unwrap_or("/");
        let mut at = path;
        loop {
            match self.look(at).await? {
                Seen::There(info) => return Ok((at.to_owned(), Some(info))),
                _ if at == top || at == "/" => return Ok((at.to_owned(), None)),
                _ => at = path::parent(at),
            }
        }
    }

    /// Goes down the path as far as it is there, by the folds of its segments where not by their own names.
    async fn walk(&self, path: &str) -> Result<Walked, ToolError> {
        let (mut at, info) = self.deepest(path).await?;
        let mut rest: Vec<String> =
            path[at.len()..].split('/').filter(|segment| !segment.is_empty()).map(Into::into).collect();
        rest.reverse();
        if info.is_none_or(|info| info.kind != FileKind::File) {
            while let Some(segment) = rest.last() {
                let exact = path::join(&at, segment);
                let next = match self.look(&exact).await? {
                    Seen::There(_) => Some(exact),
                    _ => self.folded(&at, segment).await?,
                };
                let Some(next) = next else { break };
                at = next;
                rest.pop();
            }
        }
        rest.reverse();
        Ok(Walked { at, rest })
    }

    /// The one entry of a directory whose name has the same fold.
    async fn folded(&self, directory: &str, segment: &str) -> Result<Option<String>, ToolError> {
        if !path::could_fold(segment) {
            return Ok(None);
        }
        let folded = path::fold(segment);
        let names = self.names(directory).await?;
        let is_same = |name: &&String| match name.is_ascii() {
            true => **name == folded,
            false => path::fold(name) == folded,
        };
        let mut same = names.iter().filter(is_same);
        match (same.next(), same.next()) {
            (None, _) => Ok(None),
            (Some(only), None) => Ok(Some(path::join(directory, only))),
            (Some(one), Some(other)) => {
                let shown = |name: &str| spelt(&path::join(directory, name));
                let message = format!(
                    "The path means two files, {} and {}: write it exactly as one of them, expected one for {}",
                    shown(one),
                    shown(other),
                    self.asked
                );
                Err(ToolError::new(ErrorCode::Ambiguous, message).at(path::join(directory, segment)))
            }
        }
    }

    /// The names in a directory; none where it cannot be listed. With a root the directory must be inside, links
    /// followed.
    pub async fn names(&self, directory: &str) -> Result<Rc<[String]>, ToolError> {
        if let Some(names) = self.listings.borrow().get(directory) {
            return Ok(names.clone());
        }
        if self.root.is_some() {
            self.real(directory).await?;
        }
        let entries = self.env.list_dir(directory).await.unwrap_or_default();
        let names: Rc<[String]> = entries.into_iter().map(|entry| entry.name).collect();
        self.listings.borrow_mut().insert(directory.to_owned(), names.clone());
        Ok(names)
    }

    /// The canonical path: of what is not there, that of its deepest ancestor that is, and the rest. With a root,
    /// the path is admitted before, and the outcome is inside.
    ///
    /// # Errors
    /// `outside_root`; `not_directory` where a file stands in the middle; `not_found` for a link that leads
    /// nowhere: what would be written there would land elsewhere.
    pub async fn real(&self, path: &str) -> Result<String, ToolError> {
        let real = self.real_of(path).await?;
        if let Some(root) = self.root {
            let known = self.real_root.borrow().clone();
            let real_root = match known {
                Some(real_root) => real_root,
                None => {
                    let unconfined = Lookup::new(self.env, None, root);
                    let real_root = unconfined.real_of(root).await?;
                    *self.real_root.borrow_mut() = Some(real_root.clone());
                    real_root
                }
            };
            if !path::is_inside(&real_root, &real) {
                let message =
                    format!("Path leads outside of the root {root} by a symbolic link: {}", self.asked);
                return Err(ToolError::new(ErrorCode::OutsideRoot, message).at(real));
            }
        }
        Ok(real)
    }

    async fn real_of(&self, path: &str) -> Result<String, ToolError> {
        let (at, info) = self.deepest(path).await?;
        let rest = path[at.len()..].trim_start_matches('/');
        let kind = info.map(|info| info.kind);
        if kind == Some(FileKind::File) && !rest.is_empty() {
            let message = format!("Not a directory: {} ({at} is a file)", self.asked);
            return Err(ToolError::new(ErrorCode::NotDirectory, message).at(path));
        }
        match self.env.canonical_path(&at).await {
            Ok(Some(real)) => Ok(path::join(&real, rest)),
            Ok(None) => {
                self.expect_no_links(&at).await?;
                Ok(path.to_owned())
            }
            Err(error) => match (error.code, kind) {
                (ErrorCode::NotFound | ErrorCode::InvalidPath, Some(FileKind::Symlink)) => {
                    Err(self.unresolved(&at).at(path))
                }
                // A store without directories: nothing is there, down from the top.
                (ErrorCode::NotFound, None) => Ok(path.to_owned()),
                _ => Err(files::unusable(error, self.asked, path)),
            },
        }
    }

    /// Without canonical paths a link cannot be followed, so with a root there may be none.
    async fn expect_no_links(&self, path: &str) -> Result<(), ToolError> {
        let Some(root) = self.root else { return Ok(()) };
        let mut at = path;
        while at != root && at != "/" {
            if let Seen::There(info) = self.look(at).await?
                && info.kind == FileKind::Symlink
            {
                let message = format!(
                    "Path goes through a symbolic link ({at}), and this environment cannot tell whether that \
                     stays inside of the root {root}: {}",
                    self.asked
                );
                return Err(ToolError::new(ErrorCode::OutsideRoot, message).at(path));
            }
            at = path::parent(at);
        }
        Ok(())
    }

    fn unresolved(&self, link: &str) -> ToolError {
        let asked = self.asked;
        match self.root {
            Some(root) => ToolError::new(
                ErrorCode::OutsideRoot,
                format!(
                    "Path goes through a symbolic link that does not resolve ({link}), so that it is not known to \
                         stay inside of the root {root}: {asked}"
                ),
            ),
            None => ToolError::new(
                ErrorCode::NotFound,
                format!("Path not found: {asked} (the symbolic link {link} does not resolve)"),
            ),
        }
    }
}

/// A path as JSON text: so that an unusual space or accent can be seen and sent back.
fn spelt(path: &str) -> String {
    let mut out = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
        }
    }
    out.push('"');
    out
}
