//! Which draft a schema is written in.

use serde_json::{Map, Value};

/// The drafts that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
pub enum Draft {
    /// Draft 4
    Draft4,
    /// Draft 6
    Draft6,
    /// Draft 7
    Draft7,
    /// Draft 2019-09
    Draft201909,
    /// Draft 2020-12
    #[default]
    Draft202012,
}

/// A draft, the names that it has in options, and its meta-schema without scheme and fragment.
const DRAFTS: [(Draft, &[&str], &str); 5] = [
    (Draft::Draft4, &["4", "draft-04"], "json-schema.org/draft-04/schema"),
    (Draft::Draft6, &["6", "draft-06"], "json-schema.org/draft-06/schema"),
    (Draft::Draft7, &["7", "draft-07"], "json-schema.org/draft-07/schema"),
    (Draft::Draft201909, &["2019-09"], "json-schema.org/draft/2019-09/schema"),
    (Draft::Draft202012, &["2020-12"], "json-schema.org/draft/2020-12/schema"),
];

impl Draft {
    /// The draft of that name: `4`, `6`, `7`, `2019-09`, `2020-12`, `draft-04`, `draft-06` or `draft-07`.
    pub fn named(name: &str) -> Option<Draft> {
        DRAFTS.iter().find(|(_, names, _)| names.contains(&name)).map(|(draft, ..)| *draft)
    }

    /// The draft that a `$schema` names, with `http` or `https`, with or without an empty fragment.
    pub(super) fn of_uri(uri: &str) -> Option<Draft> {
        let uri = uri.trim_end_matches('#');
        let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        DRAFTS.iter().find(|(_, _, known)| *known == uri).map(|(draft, ..)| *draft)
    }

    /// The draft of a schema, by its `$schema` and those of the meta-schemas that this leads to.
    pub(super) fn of_schema(schema: &Value, resources: &Map<String, Value>) -> Option<Draft> {
        let mut schema = schema;
        // A meta-schema is usually its own.
        for _ in 0..8 {
            let uri = schema.get("$schema")?.as_str()?;
            if let Some(draft) = Draft::of_uri(uri) {
                return Some(draft);
            }
            schema = resources.get(uri).or_else(|| resources.get(uri.trim_end_matches('#')))?;
        }
        None
    }

    /// The URI of its meta-schema.
    pub(super) fn uri(self) -> String {
        let known = DRAFTS.iter().find(|(draft, ..)| *draft == self).map_or("", |(.., uri)| *uri);
        match self {
            Draft::Draft201909 | Draft::Draft202012 => format!("https://{known}"),
            _ => format!("http://{known}#"),
        }
    }

    /// Whether keywords beside `$ref` are ignored.
    pub(super) fn ref_stands_alone(self) -> bool {
        matches!(self, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
    }

    /// The keyword by which a schema gives itself a URI.
    pub(super) fn identifier(self) -> &'static str {
        if self == Draft::Draft4 { "id" } else { "$id" }
    }

    /// Whether a keyword asserts something in it. Keywords that all drafts know, and no draft, are known.
    pub(super) fn knows(self, keyword: &str) -> bool {
        match keyword {
            "const" | "contains" | "propertyNames" => self >= Draft::Draft6,
            "if" | "then" | "else" => self >= Draft::Draft7,
            "dependentRequired"
            | "dependentSchemas"
            | "minContains"
            | "maxContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => self >= Draft::Draft201909,
            "$recursiveRef" => self == Draft::Draft201909,
            "prefixItems" | "$dynamicRef" => self == Draft::Draft202012,
            _ => true,
        }
    }

    /// Whether its structural keywords mean what the structural checker takes them for.
    pub(super) fn is_structural(self) -> bool {
        matches!(self, Draft::Draft7 | Draft::Draft202012)
    }

    pub(super) fn of_engine(self) -> jsonschema::Draft {
        match self {
            Draft::Draft4 => jsonschema::Draft::Draft4,
            Draft::Draft6 => jsonschema::Draft::Draft6,
            Draft::Draft7 => jsonschema::Draft::Draft7,
            Draft::Draft201909 => jsonschema::Draft::Draft201909,
            Draft::Draft202012 => jsonschema::Draft::Draft202012,
        }
    }
}
