//! Names to suggest where a path was not found.

use super::locate::{Lookup, Seen};
use crate::env::Env;
use crate::path;

/// A name beyond this is not worth a model's reading.
const MOST_BYTES: usize = 200;

impl<E: Env> Lookup<'_, E> {
    /// Up to three paths that are near to the one asked for, written as it was: of the names in its directory, or,
    /// where that is missing, of those beside it.
    pub async fn near(&self) -> Vec<String> {
        let forms = path::forms(self.asked, self.env.home());
        let texts = || std::iter::once(self.asked).chain(forms.others.iter().map(String::as_str));
        for text in texts() {
            let found = self.near_names(text).await;
            if !found.is_empty() {
                return found;
            }
        }
        for text in texts() {
            let Some((directory, name)) = text.trim_end_matches('/').rsplit_once('/') else { continue };
            let directories = self.near_names(directory).await;
            let mut found = Vec::new();
            for near in directories {
                let path = format!("{near}/{name}");
                let is_there = self.is_there(&path).await;
                found.push(if is_there { path } else { format!("{near}/") });
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    async fn near_names(&self, text: &str) -> Vec<String> {
        let (before, name) = text.split_at(text.rfind('/').map_or(0, |at| at + 1));
        let directory = path::join(self.env.cwd(), before);
        if name.is_empty() || !self.is_directory(&directory).await.unwrap_or(false) {
            return Vec::new();
        }
        let names = self.names(&directory).await.unwrap_or_else(|_| Vec::new().into());
        let usable = |name: &&str| name.len() <= MOST_BYTES && !name.chars().any(char::is_control);
        let near = path::near(name, names.iter().map(String::as_str).filter(usable));
        near.into_iter().map(|near| format!("{before}{near}")).collect()
    }

    async fn is_there(&self, text: &str) -> bool {
        let path = path::join(self.env.cwd(), text);
        self.admit(&path).is_ok() && matches!(self.look(&path).await, Ok(Seen::There(_)))
    }
}
