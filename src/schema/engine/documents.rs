//! A schema and the documents that it refers to, as the engine keeps them; and validators of their parts.

use std::cell::OnceCell;
use std::error::Error;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use jsonschema::{PatternCache, Registry, Retrieve, Uri, ValidationOptions, Validator};
use referencing::Resolver;
use serde_json::{Map, Value, json};

use super::EngineOptions;
use super::draft::Draft;
use super::references::identity;

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
    /// By URIs that may be relative to the schema's.
    pub fn new(resources: &Map<String, Value>, base: &Uri<String>) -> Self {
        let absolute = |key: &String| match jsonschema::uri::resolve_against(&base.borrow(), key) {
            Ok(uri) => uri.as_str().trim_end_matches('#').to_owned(),
            Err(_) => key.clone(),
        };
        let documents = resources.iter().map(|(key, document)| (absolute(key), document.clone())).collect();
        Resources { documents: Arc::new(documents), missing: Arc::default() }
    }

    fn get(&self, uri: &str) -> Option<(&String, &Value)> {
        self.documents.get_key_value(uri.trim_end_matches('#'))
    }
}

impl Retrieve for Resources {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        if let Some((_, document)) = self.get(uri.as_str()) {
            return Ok(document.clone());
        }
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).push(uri.as_str().to_owned());
        Ok(Value::Bool(false))
    }
}

/// What references in a schema are relative to.
pub(super) fn base_of(schema: &Value, draft: Draft) -> Result<Uri<String>, String> {
    let base = jsonschema::uri::from_str(BASE).map_err(|error| error.to_string())?;
    let own = identity(schema, draft).map(|id| jsonschema::uri::resolve_against(&base.borrow(), id));
    Ok(own.and_then(Result::ok).unwrap_or(base))
}

impl Documents {
    pub fn new(schema: &Value, draft: Draft, options: &EngineOptions) -> Result<Documents, String> {
        let resources = Resources::new(&options.resources, &base_of(schema, draft)?);
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
        self.options().build(schema).map_err(|error| error.to_string())
    }

    /// The validator of the schema itself.
    pub fn whole(&self, schema: &Value) -> Result<Validator, String> {
        let base = base_of(schema, self.draft)?;
        self.options().with_base_uri(base.as_str()).build(schema).map_err(|error| error.to_string())
    }

    fn options(&self) -> ValidationOptions<'_> {
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
    }

    /// What finds the targets of references in the schema.
    pub fn resolver(&self) -> Result<Resolver<'_>, String> {
        let base = jsonschema::uri::from_str(BASE).map_err(|error| error.to_string())?;
        Ok(self.registry.resolver(base))
    }

    /// Whether a document was asked for in vain.
    pub fn is_missing(&self, uri: &str) -> bool {
        let missing = self.resources.missing.lock().unwrap_or_else(PoisonError::into_inner);
        missing.iter().any(|one| one == uri)
    }

    /// The document of that URI among the resources. Without a `$schema` it is of the draft of what refers to it.
    pub fn resource(&self, uri: &str, draft: Draft) -> Option<Document<'_>> {
        let (uri, schema) = self.resources.get(uri)?;
        let draft = Draft::of_schema(schema, &self.resources.documents).unwrap_or(draft);
        Some(Document { uri, schema, draft })
    }
}

/// One document, the schema itself or another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    /// Where it is, whatever `$id` it has.
    pub uri: &'a str,
    pub schema: &'a Value,
    pub draft: Draft,
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

/// The part of a document at a pointer, compiled when it is first asked about.
#[derive(Debug)]
pub(super) struct Part {
    documents: Rc<Documents>,
    reference: String,
    validator: OnceCell<Option<Validator>>,
}

impl Part {
    pub fn new(documents: &Rc<Documents>, uri: &str, pointer: &str) -> Part {
        let reference = format!("{uri}#{}", fragment(pointer));
        Part { documents: documents.clone(), reference, validator: OnceCell::new() }
    }

    /// `None` where the engine cannot compile the part alone.
    pub fn validator(&self) -> Option<&Validator> {
        let make = || self.documents.validator(&json!({ "$ref": self.reference })).ok();
        self.validator.get_or_init(make).as_ref()
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
