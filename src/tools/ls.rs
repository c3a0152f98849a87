//! `ls {path?, limit?}`

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use super::dialect::{Aliases, PATH};
use super::files::Finder;
use super::read::whole;
use super::{Declaration, Facts, Output, ToolContext, search};
use crate::env::{Env, FileInfo, FileKind, Host};
use crate::error::ToolError;
use crate::json::{self, Fields};
use crate::table;
use crate::text::truncate::{Truncation, format_size};
use crate::unicode;

/// Other names for its keys.
pub const ALIASES: Aliases = &[PATH];

/// Entries that are shown, at most, where neither the model nor the host says.
pub const DEFAULT_LIMIT: u64 = 500;

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// A directory; default the working directory.
    pub path: Option<String>,
    /// Entries, at most.
    pub limit: Option<u64>,
}

/// `details` of a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_limit_reached: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

impl Args {
    /// The arguments of a call; else what is wrong with them.
    ///
    /// # Errors
    /// For arguments that the schema refuses.
    pub fn read(arguments: Value) -> Result<Args, String> {
        let mut fields = Fields::of(arguments)?;
        Ok(Args { path: fields.text("path")?, limit: fields.read("limit", whole)? })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "Directory to list; default the working directory" },
            "limit": { "type": "integer", "minimum": 1, "description": "How many entries to show at most" }
        },
        "required": []
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    Declaration {
        name: "ls",
        label: "Ls",
        description: format!(
            "List a directory: names in alphabetical order, hidden ones included, those of directories with a / at \
             their end. At most {} entries or {} are returned at once.",
            facts.results.unwrap_or(DEFAULT_LIMIT),
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: None,
        prompt_snippet: "ls: list a directory".into(),
        prompt_guidelines: vec![],
    }
}

/// Lists it.
///
/// # Errors
/// `not_found`, `not_directory` and the like.
pub async fn run<E: Env, H: Host>(args: Args, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    let start = search::Start::find(args.path.as_deref().unwrap_or_default(), cx).await?;
    start.expect_directory()?;
    let listed = cx.env.list_dir(&start.path).await.map_err(|error| start.unusable(error))?;
    let kept = listed.into_iter().filter(|entry| !start.hides(&entry.name, cx.env.cwd(), cx.root));
    let keyed = |entry: FileInfo| (unicode::lower_case(&entry.name), entry.name, entry.kind as u8);
    let entries = table::sorted(kept.map(keyed).collect());
    let limit = args.limit.or(cx.results).unwrap_or(DEFAULT_LIMIT);
    let reached = (entries.len() as u64 > limit).then_some(limit);
    let finder = Finder::outside_a_call(cx.env, cx.root);
    let mut lines = search::Lines::new(cx.limits);
    for (_, name, kind) in entries.iter().take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        let is_directory = *kind == FileKind::Directory as u8
            || (*kind == FileKind::Symlink as u8 && finder.leads_to_directory(&start.path, name).await);
        lines.push(&[&search::on_one_line(name), if is_directory { "/" } else { "" }]);
    }
    let mut notes = search::Notes::default();
    if let Some(limit) = reached {
        let _ = write!(
            notes.next(),
            "{limit} entries limit reached. Use limit={} for more",
            limit.saturating_mul(2)
        );
    }
    let (text, truncation) = lines.finish("(empty directory)", "List a directory in it to see less", notes);
    Ok(Output::new(text, &Details { entry_limit_reached: reached, truncation }))
}
