//! `grep {pattern, path?, glob?, ignoreCase?, literal?, context?, limit?}`

use serde_json::Value;

use super::dialect::{Aliases, PATH};
use super::read::whole;
use super::{Declaration, Facts};
use crate::json::{self, Fields, required};
use crate::text::truncate::{DEFAULT_LINE_UTF16, format_size};

/// Other names for its keys.
pub const ALIASES: Aliases = &[PATH, ("pattern", &["query", "regex"])];

/// Lines that match, at most, where neither the model nor the host says.
pub const DEFAULT_LIMIT: u64 = 100;

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// A regular expression, or, if `literal`, a text.
    pub pattern: String,
    /// A directory or a file; default the working directory.
    pub path: Option<String>,
    /// Which files, as ripgrep's `--glob`.
    pub glob: Option<String>,
    /// Whether case makes no difference.
    pub ignore_case: Option<bool>,
    /// Whether the pattern is a text.
    pub literal: Option<bool>,
    /// Lines to show before and after each match.
    pub context: Option<u64>,
    /// Lines that match, at most.
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
            glob: fields.text("glob")?,
            ignore_case: fields.flag("ignoreCase")?,
            literal: fields.flag("literal")?,
            context: fields.read("context", whole)?,
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
            "pattern": { "type": "string", "description": "Regular expression in Rust's syntax (no look-around, no back-references), or a text with literal: true; matched line by line" },
            "path": { "type": "string", "description": "Directory or file to search; default the working directory" },
            "glob": { "type": "string", "description": "Files to search: *.ts at any depth, src/**/*.ts from path, !*.min.js for all others" },
            "ignoreCase": { "type": "boolean", "description": "Match upper and lower case alike" },
            "literal": { "type": "boolean", "description": "Take pattern as a text, not as a regular expression" },
            "context": { "type": "integer", "minimum": 0, "description": "Lines to show before and after each match" },
            "limit": { "type": "integer", "minimum": 1, "description": "How many matching lines to show at most" }
        },
        "required": ["pattern"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    Declaration {
        name: "grep",
        label: "Grep",
        description: format!(
            "Search the lines of files for a pattern, as ripgrep does. Matching lines come as path:line: text, lines \
             around them as path-line- text. Hidden files are searched; .git, binary files and what .gitignore or \
             .ignore leave out are not, unless path names it. At most {} matches or {} are returned at once; of a \
             long line {DEFAULT_LINE_UTF16} characters around the match.",
            facts.results.unwrap_or(DEFAULT_LIMIT),
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: None,
        prompt_snippet: "grep: search the contents of files".into(),
        prompt_guidelines: vec![],
    }
}
