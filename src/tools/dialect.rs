//! The names that models give to arguments when they do not use the schema's own.

use serde_json::{Map, Value};

/// A canonical key and the names that stand for it, in order of preference.
pub type Aliases = &'static [(&'static str, &'static [&'static str])];

/// Names for a path, in every tool that takes one.
pub const PATH: (&str, &[&str]) = ("path", &["file_path", "filePath", "file", "filename"]);

/// Gives the values of aliases to their canonical keys. A canonical key that is there (and not null) wins; the
/// aliases beside it go.
pub fn rename(arguments: Value, aliases: Aliases) -> Value {
    match arguments {
        Value::Object(map) => Value::Object(rename_keys(map, aliases)),
        other => other,
    }
}

/// [`rename`] for an object, keeping the order of its keys.
pub fn rename_keys(map: Map<String, Value>, aliases: Aliases) -> Map<String, Value> {
    let chosen: Vec<(&str, &str)> = aliases
        .iter()
        .filter(|(canonical, _)| map.get(*canonical).is_none_or(Value::is_null))
        .filter_map(|(canonical, names)| {
            let name = names.iter().find(|name| map.contains_key(**name))?;
            Some((*canonical, *name))
        })
        .collect();
    let mut renamed = Map::new();
    for (key, value) in map {
        if let Some((canonical, _)) = chosen.iter().find(|(_, name)| *name == key) {
            renamed.insert((*canonical).into(), value);
        } else if !aliases.iter().any(|(_, names)| names.contains(&key.as_str()))
            && !chosen.iter().any(|(canonical, _)| *canonical == key)
        {
            renamed.insert(key, value);
        }
    }
    renamed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_canonical_key_wins_and_null_is_none() {
        let aliases: Aliases = &[PATH];
        for (given, renamed) in [
            (json!({"file": "f", "x": 1}), json!({"path": "f", "x": 1})),
            (json!({"path": "a", "file_path": "b"}), json!({"path": "a"})),
            (json!({"path": null, "file_path": "b"}), json!({"path": "b"})),
            (json!({"path": null}), json!({"path": null})),
            (json!({"filename": "n", "filePath": "p"}), json!({"path": "p"})),
            (json!([1]), json!([1])),
        ] {
            assert_eq!(rename(given, aliases), renamed);
        }
    }
}
