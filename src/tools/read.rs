//! `read {path, offset?, limit?, column?}`

use serde::Serialize;
use serde_json::Value;

use super::declare::prefer_strict;
use super::dialect::{Aliases, PATH};
use super::{Builtin, Declaration, Facts, Output, ToolContext, files, picture};
use crate::env::{Env, Host};
use crate::error::{ErrorCode, ToolError};
use crate::image::{self, FileKind};
use crate::json::{self, Fields, required};
use crate::text::encoding::{Encoding, LineEnding};
use crate::text::page::{Page, Range};
use crate::text::pager::Pager;
use crate::text::truncate::{Truncation, format_size};

mod source;

use source::Source;

/// Other names for its keys.
pub const ALIASES: Aliases = &[PATH];

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// The file.
    pub path: String,
    /// The first line, from 1; 0 is read as 1.
    pub offset: Option<u64>,
    /// How many lines.
    pub limit: Option<u64>,
    /// The first byte within the line, from 1.
    pub column: Option<u64>,
}

/// An integer of JSON Schema: `1e300` is one.
pub(super) fn whole(value: Value) -> Result<u64, String> {
    // Beyond the largest u64, any is as good as that one.
    let number = value.as_u64().or_else(|| value.as_f64().map(|number| number as u64));
    number.ok_or_else(|| json::wrong(&value, "an integer"))
}

/// `details` of a result.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    line_ending: &'static str,
    encoding: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncation: Option<Truncation>,
}

/// `details` of what is no text: those of an empty one.
pub(super) fn no_text() -> impl Serialize {
    Details { line_ending: LineEnding::Lf.as_str(), encoding: Encoding::Utf8.as_str(), truncation: None }
}

impl Args {
    /// The arguments of a call; else what is wrong with them.
    ///
    /// # Errors
    /// For arguments that the schema refuses.
    pub fn read(arguments: Value) -> Result<Args, String> {
        let mut fields = Fields::of(arguments)?;
        Ok(Args {
            path: required("path", fields.text("path")?)?,
            offset: fields.read("offset", whole)?,
            limit: fields.read("limit", whole)?,
            column: fields.read("column", whole)?,
        })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "File to read, absolute or relative to the working directory" },
            "offset": { "type": "integer", "minimum": 0, "description": "Line to start at, counted from 1" },
            "limit": { "type": "integer", "minimum": 1, "description": "How many lines to read at most" },
            "column": { "type": "integer", "minimum": 1, "description": "Byte to start at within the line `offset`, counted from 1; for lines too long to show at once" }
        },
        "required": ["path"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(facts: &Facts<'_>) -> Declaration {
    Declaration {
        name: "read",
        label: "Read",
        description: format!(
            "Read a text file{}. At most {} lines or {} are returned at once; the result then ends with the offset \
             (and column) to continue with.",
            facts.images.declared(),
            facts.limits.max_lines,
            format_size(facts.limits.max_bytes as u64),
        ),
        parameters: parameters(),
        constrained_sampling: Some(prefer_strict()),
        prompt_snippet: match facts.images.supported {
            true => "read: show a text file, page by page if it is long, or an image".into(),
            false => "read: show a text file, page by page if it is long".into(),
        },
        prompt_guidelines: match facts.has(Builtin::Bash) {
            true => vec!["Use read, not cat or sed, to look at files".into()],
            false => vec![],
        },
    }
}

/// Reads it.
///
/// # Errors
/// `not_found`, `is_directory` and the like; `invalid_arguments` for a place beyond the end.
pub async fn run<E: Env, H: Host>(args: Args, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    let finder = files::Finder::new(cx);
    let found = finder.existing(&args.path).await?;
    match read(&args, &found, cx).await {
        Ok(output) => Ok(output),
        Err(error) if error.code == ErrorCode::InvalidArguments => Err(finder.about(&found, error).await),
        Err(error) => Err(finder.about(&found, files::unusable(error, &found.shown, &found.path)).await),
    }
}

async fn read<E: Env, H: Host>(
    args: &Args,
    found: &files::Located,
    cx: &ToolContext<'_, E, H>,
) -> Result<Output, ToolError> {
    files::expect_file(found)?;
    let source = Source::open(cx.env, found).await?;
    match image::kind(&source.head[..source.head.len().min(image::HEAD)]) {
        FileKind::Text => {}
        FileKind::Image(format) if source.size <= picture::MOST_BYTES => {
            let bytes = source.whole(cx.abort).await?;
            return Ok(picture::show(format, &found.shown, bytes, cx).await);
        }
        FileKind::Image(_) => return Ok(picture::not_shown(None, &found.shown, source.size, cx.active)),
        // What a command wrote is text to whoever asks for it, NUL and all.
        FileKind::Other(None) if cx.env.is_temp_file(&found.path) => {}
        FileKind::Other(known) => {
            return Ok(picture::not_shown(known, &found.shown, source.size, cx.active));
        }
    }
    let mut pager = Pager::new(Range {
        offset: args.offset.unwrap_or(1),
        limit: args.limit,
        column: args.column,
        limits: cx.limits,
    });
    source.read(cx.abort, |bytes| pager.push(bytes)).await?;
    let Page { mut text, hint, truncation, encoding, line_ending, replaced } = pager.finish()?;
    if replaced {
        push_note(&mut text, "[Bytes that are no valid text are shown as \u{FFFD}]");
    }
    if let Some(hint) = hint {
        push_note(&mut text, &hint);
    }
    let details = Details { line_ending: line_ending.as_str(), encoding: encoding.as_str(), truncation };
    Ok(Output::new(text, &details))
}

/// Sets a note apart from the text by an empty line.
fn push_note(text: &mut String, note: &str) {
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(note);
}
