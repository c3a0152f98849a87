//! `edit {path, edits: [{oldText, newText, replaceAll?}]}`

use serde_json::{Map, Value};

use super::declare::prefer_strict;
use super::dialect::{self, Aliases, PATH};
use super::{ChangeKind, Declaration, Facts, FileChange, Output, ToolContext, files, write};
use crate::env::{Env, Host};
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, required};
use crate::path;
use crate::schema::{parse, partial};
use crate::text::diff;
use crate::text::edit::{Edit, apply_edits};

/// Other names for its own keys.
pub const ALIASES: Aliases = &[PATH];

/// Other names for the keys of one edit.
pub const EDIT_ALIASES: Aliases = &[
    ("oldText", &["old_string", "old_text", "oldString", "old_str", "old"]),
    ("newText", &["new_string", "new_text", "newString", "new_str", "new"]),
    ("replaceAll", &["replace_all", "all"]),
];

/// The arguments, as [`parameters`] lets them through.
#[derive(Clone, Debug, PartialEq)]
pub struct Args {
    /// The file.
    pub path: String,
    /// The replacements, all matched against the file as it is.
    pub edits: Vec<Edit>,
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
            edits: required("edits", fields.read("edits", |edits| json::list(edits, Edit::read))?)?,
        })
    }
}

/// JSON Schema of the arguments.
pub fn parameters() -> Value {
    json::known(
        r#"{
        "type": "object",
        "properties": {
            "path": { "type": "string", "description": "File to edit, absolute or relative to the working directory" },
            "edits": {
                "type": "array",
                "minItems": 1,
                "description": "The replacements. Each is matched against the file as it is now, not against the outcome of the others; they must not overlap",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": { "type": "string", "description": "Text to replace, exactly as in the file; it must occur once, so take in enough of the lines around it" },
                        "newText": { "type": "string", "description": "Text to put in its place" },
                        "replaceAll": { "type": "boolean", "description": "Replace every occurrence of oldText" }
                    },
                    "required": ["oldText", "newText"]
                }
            }
        },
        "required": ["path", "edits"]
    }"#,
    )
}

/// What a model sees of it.
pub fn declaration(_facts: &Facts<'_>) -> Declaration {
    Declaration {
        name: "edit",
        label: "Edit",
        description: "Replace pieces of a text file. Every edit names text that occurs once in the file (or sets \
                      replaceAll) and what to put there; either all edits apply or none. Everything else stays byte \
                      for byte. Line endings are matched and kept by themselves: plain line feeds will do."
            .into(),
        parameters: parameters(),
        constrained_sampling: Some(prefer_strict()),
        prompt_snippet: "edit: replace exact pieces of a file".into(),
        prompt_guidelines: vec![
            "Keep oldText short but unique; put several changes of one file into one edit call".into(),
        ],
    }
}

/// Brings an edit call to the schema: `edits` as JSON text, as one object or as an array of JSON texts, and the
/// pair at the top that older prompts taught, which comes after them.
pub fn prepare(arguments: Value) -> Value {
    prepare_with(arguments, parse::json_text)
}

/// [`prepare`] for arguments that are still being written: so are the JSON texts in them.
pub fn prepare_partial(arguments: Value) -> Value {
    prepare_with(arguments, partial::json_text)
}

fn prepare_with(arguments: Value, read: fn(&str) -> Option<Value>) -> Value {
    let Value::Object(map) = arguments else { return arguments };
    let mut map = dialect::rename_keys(dialect::rename_keys(map, ALIASES), EDIT_ALIASES);
    let mut pair = Map::new();
    for key in ["oldText", "newText", "replaceAll"] {
        if let Some(value) = map.shift_remove(key) {
            pair.insert(key.into(), value);
        }
    }
    // Models that fill in every key send null for a pair that they do not mean.
    let has_pair =
        ["oldText", "newText"].iter().any(|key| pair.get(*key).is_some_and(|text| !text.is_null()));
    if !has_pair && !map.contains_key("edits") {
        return Value::Object(map);
    }
    let mut edits = match map.shift_remove("edits").map(|edits| unpack(edits, read)) {
        None | Some(Value::Null) if has_pair => vec![],
        None => vec![],
        Some(Value::Array(edits)) => edits.into_iter().map(|edit| one_edit(unpack(edit, read))).collect(),
        Some(object @ Value::Object(_)) => vec![one_edit(object)],
        Some(other) => {
            map.insert("edits".into(), other);
            return Value::Object(map);
        }
    };
    if has_pair {
        edits.push(Value::Object(pair));
    }
    map.insert("edits".into(), Value::Array(edits));
    Value::Object(map)
}

/// JSON text of an object or an array becomes that; anything else is left for the schema to refuse.
fn unpack(value: Value, read: fn(&str) -> Option<Value>) -> Value {
    match &value {
        Value::String(text) => match read(text) {
            Some(inner @ (Value::Object(_) | Value::Array(_))) => inner,
            _ => value,
        },
        _ => value,
    }
}

fn one_edit(edit: Value) -> Value {
    dialect::rename(edit, EDIT_ALIASES)
}

/// Edits it.
///
/// # Errors
/// `no_match`, `ambiguous`, `overlap`, `no_change`, and those of reading and writing.
pub async fn run<E: Env, H: Host>(args: Args, cx: &ToolContext<'_, E, H>) -> Result<Output, ToolError> {
    let ticket = cx.queue.ticket();
    let finder = files::Finder::new(cx);
    let file = ticket.enter(finder.to_change(&args.path, false)).await;
    let file = file.map_err(|error| could_not_edit(error, &args.path))?;
    let failed = |error: ToolError| could_not_edit(error, &file.shown);
    files::expect_file(&file).map_err(failed)?;
    let held = cx.env.hold(&file.path).await;
    let _held = held.map_err(|error| failed(files::unusable(error, &file.shown, &file.path)))?;
    let before = cx.env.read_file(&file.path).await;
    let before = before.map_err(|error| failed(files::unusable(error, &file.shown, &file.path)))?;
    let applied = apply_edits(&before, &args.edits, &file.shown).map_err(|error| error.at(&file.path))?;
    let shown_path = path::relative(cx.env.cwd(), &file.path);
    let diff = diff::from_replacements(shown_path, &before, &applied.content, &applied.replacements);
    let change = FileChange::new(file.path.as_str(), ChangeKind::Modify, diff);
    write::store(cx, &file.shown, &file.path, &applied.content, false).await?;
    (cx.mutated)(&change);
    let mut text = format!(
        "Successfully replaced {} block(s) in {}. -{} +{} lines.",
        applied.replacements.len(),
        file.shown,
        change.lines_removed,
        change.lines_added,
    );
    for index in &applied.unchanged {
        text.push_str(&format!(" edits[{index}] changed nothing: its newText is what is there already."));
    }
    Ok(Output::new(text, &change))
}

/// A path that cannot be is not repeated: it may be long, or have what no text should.
fn could_not_edit(error: ToolError, path: &str) -> ToolError {
    if matches!(error.code, ErrorCode::InvalidPath | ErrorCode::Aborted) {
        return error;
    }
    ToolError { message: format!("Could not edit file: {path}. {}", error.message), ..error }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_dialect_becomes_edits() {
        let expected = json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}]});
        for given in [
            json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}]}),
            json!({"file_path": "f", "old_string": "a", "new_string": "b"}),
            json!({"path": "f", "edits": {"old": "a", "new": "b"}}),
            json!({"path": "f", "edits": "[{\"oldText\":\"a\",\"newText\":\"b\"}]"}),
            json!({"path": "f", "edits": "{\"old_str\":\"a\",\"new_str\":\"b\"}"}),
            json!({"path": "f", "edits": ["{\"oldText\":\"a\",\"newText\":\"b\"}"]}),
            json!({"path": "f", "edits": null, "oldText": "a", "newText": "b"}),
        ] {
            assert_eq!(prepare(given.clone()), expected, "{given}");
        }
    }

    #[test]
    fn a_dialect_is_known_while_it_is_written() {
        let expected = json!({"path": "f", "edits": [{"oldText": "a"}]});
        for given in [
            json!({"path": "f", "old_string": "a"}),
            json!({"path": "f", "edits": "[{\"old\":\"a"}),
            json!({"path": "f", "edits": ["{\"oldText\":\"a\",\"newT"]}),
        ] {
            assert_eq!(prepare_partial(given.clone()), expected, "{given}");
        }
        assert_eq!(prepare_partial(json!({"edits": "no"})), json!({"edits": "no"}));
    }

    #[test]
    fn the_pair_at_the_top_comes_last_and_half_of_one_is_kept() {
        let both = json!({"path": "f", "edits": [{"oldText": "a", "newText": "b"}], "oldText": "c", "newText": "d", "all": true});
        assert_eq!(prepare(both)["edits"][1], json!({"oldText": "c", "newText": "d", "replaceAll": true}));
        assert_eq!(
            prepare(json!({"path": "f", "old": "a"})),
            json!({"path": "f", "edits": [{"oldText": "a"}]})
        );
        assert_eq!(prepare(json!({"path": "f"})), json!({"path": "f"}));
        assert_eq!(
            prepare(json!({"path": "f", "edits": "nonsense"})),
            json!({"path": "f", "edits": "nonsense"})
        );
    }
}
