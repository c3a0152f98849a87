//! `find {pattern, path?, limit?}`

use serde_json::Value;

use super::dialect::{Aliases, PATH};
use super::read::whole;
use super::{Declaration, Facts};
use crate::json::{self, Fields, required};
use crate::text::truncate::format_size;

/// Other names for its keys.
pub const ALIASES: Aliases = &[PATH, ("pattern", &["query", "regex"])];

/// Files that are found, at most, where neither the model nor the host says.
pub const DEFAULT_LIMIT: u64 = 1000;

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// A glob.
    pub pattern: String,
    /// A directory; default the working directory.
    pub path: Option<String>,
    /// Files, at most.
    pub limit: Option<u64>,
}

impl Args {
    /// The arguments of a call; else what is wrong with them.
    ///
    /// # Errors
    /// For arguments that the schema refuses.
    pub fn read(arguments: Value) -> Result<Args, String> {
        let mut fields = Fields::of(arguments)?;
        Ok(Args {
            pattern: required("pattern", fields.text("pattern")?)?,
            path: fields.text("path")?,
            limit: fields.read("limit", whole)?,
        })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "description": "Glob: *.ts matches names at any depth, src/**/*.{ts,tsx} paths from path" },
            "path": { "type": "string", "description": "Directory to search; default the working directory" },
            "limit": { "type": "integer", "minimum": 1, "description": "How many files to show at most" }
        },
        "required": ["pattern"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    Declaration {
        name: "find",
        label: "Find",
        description: format!(
            "Find files by a glob, case-sensitive. Paths are relative to path. Hidden files are found; .git and what \
             .gitignore or .ignore leave out are not, unless path names it. At most {} files or {} are returned at \
             once.",
            facts.results.unwrap_or(DEFAULT_LIMIT),
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: None,
        prompt_snippet: "find: find files by their names".into(),
        prompt_guidelines: vec![],
    }
}
