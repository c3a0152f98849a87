//! Stamps: a step whose inputs and outputs are as the last run left them is not run again.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::ui::{Failure, root};

/// What one step reads and writes, all relative to the repository's root. A folder stands for all
/// the files below it; what is missing counts as empty.
pub struct Stamp {
    file: PathBuf,
    inputs: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
    /// What else the result depends on: versions, flags.
    extra: String,
}

impl Stamp {
    /// A stamp kept as `file`.
    pub fn new(
        file: impl Into<PathBuf>,
        inputs: &[&str],
        outputs: &[&str],
        extra: impl Into<String>,
    ) -> Stamp {
        let paths = |list: &[&str]| list.iter().map(|path| root().join(path)).collect();
        Stamp {
            file: root().join(file.into()),
            inputs: paths(inputs),
            outputs: paths(outputs),
            extra: extra.into(),
        }
    }

    /// Whether nothing has changed since [`Stamp::set`].
    pub fn fresh(&self) -> bool {
        self.outputs.iter().all(|path| path.exists())
            && fs::read_to_string(&self.file).is_ok_and(|kept| kept == self.digest())
    }

    /// Records that the outputs are those of the inputs.
    pub fn set(&self) -> Result<(), Failure> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder).map_err(|error| cannot("create", folder, &error))?;
        }
        fs::write(&self.file, self.digest()).map_err(|error| cannot("write", &self.file, &error))
    }

    fn digest(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.extra.hash(&mut hasher);
        for path in self.inputs.iter().chain(&self.outputs) {
            hash_path(path, &mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }
}

/// A failure of the file system.
pub fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    let path = path.strip_prefix(root()).unwrap_or(path);
    Failure::new(format!("Cannot {what} {}: {error}", path.display()), "")
}

fn hash_path(path: &Path, hasher: &mut DefaultHasher) {
    path.hash(hasher);
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for entry in entries {
            hash_path(&entry, hasher);
        }
    } else {
        fs::read(path).unwrap_or_default().hash(hasher);
    }
}
