//! A schema and the documents that it refers to, as the engine keeps them; and validators of their parts.

use std::cell::OnceCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternCache, Registry, Retrieve, Uri, Validator};
use serde_json::{Map, Value, json};

use super::EngineOptions;
use super::draft::Draft;

/// Where a schema is, whatever `$id` it has.
pub(super) const BASE: &str = "tackroom:///schema";

/// A schema among the documents that it refers to.
#[derive(Debug)]
pub(super) struct Documents {
    registry: Registry<'static>,
    draft: Draft,
    /// Whether `format` asserts.
    pub formats: bool,
    patterns: PatternCache,
    resources: Resources,
}

/// Documents by URI. A document that is not there is `false`: nothing fits what it would say.
#[derive(Clone, Debug)]
pub(super) struct Resources {
    documents: Arc<Map<String, Value>>,
    missing: Arc<Mutex<Vec<String>>>,
}

impl Resources {
    pub fn new(resources: &Map<String, Value>) -> Self {
        Resources { documents: Arc::new(resources.clone()), missing: Arc::default() }
    }

    fn get(&self, uri: &str) -> Option<&Value> {
        let plain = uri.trim_end_matches('#');
        self.documents.get(plain).or_else(|| self.documents.get(&format!("{plain}#")))
    }

    /// Whether a document was asked for in vain.
    pub fn is_missing(&self, uri: &str) -> bool {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().any(|one| one == uri)
    }
}

impl Retrieve for Resources {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        if let Some(document) = self.get(uri.as_str()) {
            return Ok(document.clone());
        }
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(uri.as_str().to_owned());
        Ok(Value::Bool(false))
    }
}

impl Documents {
    pub fn new(schema: &Value, draft: Draft, options: &EngineOptions) -> Result<Documents, String> {
        let resources = Resources::new(&options.resources);
        let engines = draft.of_engine();
        let registry = Registry::new()
            .draft(engines)
            .retriever(resources.clone())
            .add(BASE, engines.create_resource(schema.clone()))
            .and_then(jsonschema::RegistryBuilder::prepare)
            .map_err(|error| error.to_string())?;
        Ok(Documents { registry, draft, formats: options.formats, patterns: PatternCache::new(), resources })
    }

    /// A validator of a schema that may refer to these documents.
    pub fn validator(&self, schema: &Value) -> Result<Validator, String> {
        jsonschema::options()
            .with_draft(self.draft.of_engine())
            .with_registry(&self.registry)
            .with_retriever(self.resources.clone())
            .with_pattern_cache(self.patterns.clone())
            .should_validate_formats(self.formats)
            .should_ignore_unknown_formats(true)
            // Drafts 6 and 7 let them assert; here they are annotations in every draft.
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json")
            .build(schema)
            .map_err(|error| error.to_string())
    }

    /// A validator of the part of the schema at a JSON Pointer.
    pub fn part(&self, pointer: &str) -> Option<Validator> {
        self.validator(&json!({ "$ref": format!("{BASE}#{}", fragment(pointer)) })).ok()
    }
}

/// A JSON Pointer as a URI's fragment (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    let mut out = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'$' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// A part of the schema at a pointer, compiled when it is first asked about.
#[derive(Debug)]
pub(super) struct Part {
    documents: Rc<Documents>,
    pointer: String,
    validator: OnceCell<Option<Validator>>,
}

impl Part {
    pub fn new(documents: &Rc<Documents>, pointer: String) -> Part {
        Part { documents: documents.clone(), pointer, validator: OnceCell::new() }
    }

    /// `None` where the engine cannot compile the part alone.
    pub fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| self.documents.part(&self.pointer)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_encoded() {
        assert_eq!(fragment("/$defs/a b/ü%/~1"), "/$defs/a%20b/%C3%BC%25/~1");
    }
}
