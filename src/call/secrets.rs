//! Secrets kept out of what leaves a call: its start event, snapshots, changes, result. What hooks and tools get is
//! whole, and so are the files that tools write.

use serde_json::{Map, Value};

use super::{Arguments, ToolResult};
use crate::text::redact::Redactor;
use crate::tools::{Content, FileChange, Output};

/// Why a change has no patch: one with other texts than the file's would not apply.
const OMITTED: &str = "the change holds a secret";

/// The arguments as the model sent them, without secrets; `None` where they have none.
pub(super) fn arguments(redactor: &Redactor, arguments: &Arguments) -> Option<String> {
    let mut value = match arguments {
        Arguments::Value(value) => value.clone(),
        // By their meaning, where they have one: in JSON a quote, say, is spelt otherwise.
        Arguments::Text(text) => match crate::json::from_slice(text) {
            Ok(value) => value,
            Err(_) => return redactor.redact_whole(&String::from_utf8_lossy(text)),
        },
    };
    redact(redactor, &mut value).then(|| value.to_string())
}

/// A snapshot.
pub(super) fn output(redactor: &Redactor, mut output: Output) -> Output {
    output.content.iter_mut().for_each(|part| content(redactor, part));
    details(redactor, &mut output.details);
    output
}

/// An answer.
pub(super) fn result(redactor: &Redactor, mut result: ToolResult) -> ToolResult {
    result.content.iter_mut().for_each(|part| content(redactor, part));
    match &mut result.details {
        Value::Object(map) => details(redactor, map),
        other => {
            redact(redactor, other);
        }
    }
    result
}

/// A change; `None` where it has no secrets.
pub(super) fn change(redactor: &Redactor, change: &FileChange) -> Option<FileChange> {
    let path = redactor.redact_whole(&change.path);
    let diff = redactor.redact_whole(&change.diff);
    let has_patch = change.patch.as_ref().is_some_and(|patch| redactor.redact_whole(patch).is_none());
    if path.is_none() && diff.is_none() && has_patch == change.patch.is_some() {
        return None;
    }
    let mut shown = change.clone();
    shown.path = path.unwrap_or(shown.path);
    shown.diff = diff.unwrap_or(shown.diff);
    if has_patch != change.patch.is_some() {
        (shown.patch, shown.patch_omitted) = (None, Some(OMITTED.into()));
    }
    Some(shown)
}

fn content(redactor: &Redactor, part: &mut Content) {
    if let Content::Text { text } = part
        && let Some(shown) = redactor.redact_whole(text)
    {
        *text = shown;
    }
}

fn details(redactor: &Redactor, details: &mut Map<String, Value>) {
    let patch = details.get("patch").and_then(Value::as_str);
    if patch.is_some_and(|patch| redactor.redact_whole(patch).is_some()) {
        details.insert("patch".into(), Value::Null);
        details.insert("patchOmitted".into(), OMITTED.into());
    }
    for value in details.values_mut() {
        redact(redactor, value);
    }
}

/// Redacts every text of a value, keys included; false where there was nothing to hide.
pub(super) fn redact(redactor: &Redactor, value: &mut Value) -> bool {
    match value {
        Value::String(text) => match redactor.redact_whole(text) {
            Some(shown) => {
                *text = shown;
                true
            }
            None => false,
        },
        Value::Array(items) => {
            let mut any = false;
            for item in items {
                any |= redact(redactor, item);
            }
            any
        }
        Value::Object(map) => {
            let mut any = false;
            for value in map.values_mut() {
                any |= redact(redactor, value);
            }
            let keys: Vec<String> = map.keys().cloned().collect();
            for key in keys {
                if let Some(shown) = redactor.redact_whole(&key)
                    && let Some(value) = map.shift_remove(&key)
                {
                    map.insert(shown, value);
                    any = true;
                }
            }
            any
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::ChangeKind;

    fn redactor() -> Redactor {
        Redactor::secrets(["pa\"ss", "hunter2"])
    }

    #[test]
    fn arguments_by_their_meaning() {
        let shown = |text: &str| arguments(&redactor(), &Arguments::Text(text.into()));
        assert_eq!(
            shown(r#"{"command": "echo pa\"ss", "hunter2": [1]}"#).as_deref(),
            Some(r#"{"command":"echo [redacted]","[redacted]":[1]}"#)
        );
        assert_eq!(shown(r#"{"command": "ls"}"#), None);
        assert_eq!(shown(r#"{"command": "hunter2"#).as_deref(), Some(r#"{"command": "[redacted]"#));
    }

    #[test]
    fn a_patch_that_would_not_apply_is_none() {
        let with = |patch: &str| FileChange {
            path: "/a".into(),
            kind: ChangeKind::Modify,
            diff: "+1 x".into(),
            patch: Some(patch.into()),
            patch_omitted: None,
            first_changed_line: Some(1),
            lines_added: 1,
            lines_removed: 0,
        };
        assert_eq!(change(&redactor(), &with("+x")), None);
        let shown = change(&redactor(), &with("+hunter2")).unwrap();
        assert_eq!((shown.patch, shown.patch_omitted.as_deref()), (None, Some(OMITTED)));
        let mut map = json!({"patch": "+hunter2", "a": [{"b": "hunter2"}]}).as_object().unwrap().clone();
        details(&redactor(), &mut map);
        let expected = json!({"patch": null, "a": [{"b": "[redacted]"}], "patchOmitted": OMITTED});
        assert_eq!(Value::Object(map), expected);
    }
}
