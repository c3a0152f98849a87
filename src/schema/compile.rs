//! JSON Schema → the node tree that the checker walks, once per schema.
//!
//! Every keyword is one of three: understood, an annotation (or unknown, which JSON Schema treats
//! alike) and skipped, or a reason to hand the whole schema to a full engine. A keyword that is
//! understood but has a value that its meta-schema rejects is of the third sort too, so that what to
//! do about it is decided in one place.

use serde_json::{Map, Number, Value};

use super::beyond::Beyond;
use super::number;
use super::plain::Order;
use crate::table::Table;

/// The deepest nesting of a schema that is compiled here; the checker recurses as deep.
pub(super) const MAX_DEPTH: usize = 128;

/// A schema, compiled.
#[derive(Debug)]
pub struct CompiledSchema {
    pub(super) root: Node,
}

/// Why a schema needs a full validation engine: the keyword, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedsEngine {
    /// JSON Pointer to the schema object that holds the keyword, "" for the root.
    pub path: String,
    /// The keyword; "" where the schema itself is neither an object nor a boolean, or is nested deeper
    /// than 128 levels.
    pub keyword: String,
}

impl CompiledSchema {
    /// Compiles a schema of draft 7 or 2020-12 that is made of structural keywords only: `type`,
    /// `properties`, `required`, `additionalProperties`, `items` (one schema), `enum`, `const`, `minimum`,
    /// `maximum`, `exclusiveMinimum`, `exclusiveMaximum`, `minLength`, `maxLength` (code points), `minItems`,
    /// `maxItems`, `anyOf`, and OpenAPI's `nullable: true`, which adds null to the `type` beside it.
    /// `true` and `false` are schemas. Annotations, `format` among them, and unknown keywords are ignored.
    ///
    /// # Errors
    /// [`NeedsEngine`] at the first other assertion, applicator or reference, another `$schema`, or a
    /// value that the keyword's meta-schema rejects (`"type": "strng"`, `"required": true`).
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::schema::CompiledSchema;
    /// // A property named like a keyword is a property.
    /// assert!(CompiledSchema::compile(&json!({"properties": {"pattern": {"type": "string"}}})).is_ok());
    ///
    /// let schema = json!({"properties": {"a": {"type": "string", "pattern": "^x"}}});
    /// let why = CompiledSchema::compile(&schema).unwrap_err();
    /// assert_eq!((why.path.as_str(), why.keyword.as_str()), ("/properties/a", "pattern"));
    /// ```
    pub fn compile(schema: &Value) -> Result<CompiledSchema, NeedsEngine> {
        let root = node(&mut StructuralOnly, schema, &Place::TOP, MAX_DEPTH)?;
        Ok(CompiledSchema { root })
    }

    /// Whether the top level requires any property: if not, no arguments at all may be `{}`.
    pub fn has_required(&self) -> bool {
        match &self.root {
            Node::Rules(rules) => !rules.required.is_empty(),
            Node::Any | Node::Never => false,
        }
    }
}

/// One schema in the tree.
#[derive(Debug)]
pub(super) enum Node {
    /// `true`, `{}`
    Any,
    /// `false`
    Never,
    /// Anything else.
    Rules(Box<Rules>),
}

/// The keywords of one schema object.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub types: Option<Types>,
    pub any_value_of: Option<Vec<Value>>,
    pub constant: Option<Value>,
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    pub exclusive_minimum: Option<Number>,
    pub exclusive_maximum: Option<Number>,
    pub min_length: Option<u64>,
    pub max_length: Option<u64>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub items: Option<Node>,
    pub properties: Table<String, Node>,
    /// How the properties were listed.
    pub order: Order,
    /// Ascending.
    pub required: Vec<String>,
    pub additional: Option<Node>,
    pub any_of: Option<Vec<Node>>,
    /// Where structural keywords are not all there is.
    pub beyond: Option<Beyond>,
}

impl Rules {
    /// The schema that a key's value has to fit.
    pub fn property(&self, key: &str) -> &Node {
        self.properties.get(key).or(self.additional.as_ref()).unwrap_or(&Node::Any)
    }

    /// The schemas that a key's value has to fit.
    pub fn nodes_of<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a Node> {
        let patterns = self.beyond.as_ref().map_or(&[][..], |beyond| beyond.patterns());
        let matching = || patterns.iter().filter(|(pattern, _)| pattern.matches(key)).map(|(_, node)| node);
        let is_additional = !self.properties.contains_key(key) && matching().next().is_none();
        self.properties
            .get(key)
            .into_iter()
            .chain(matching())
            .chain(self.additional.as_ref().filter(|_| is_additional))
    }

    /// The schema that an item has to fit.
    pub fn item(&self, index: usize) -> Option<&Node> {
        let tuple = self.beyond.as_ref().map_or(&[][..], |beyond| beyond.tuple());
        tuple.get(index).or(self.items.as_ref())
    }

    /// Whether objects have anything to check key by key.
    pub fn checks_keys(&self) -> bool {
        let has_patterns = || self.beyond.as_ref().is_some_and(|beyond| !beyond.patterns().is_empty());
        !self.properties.is_empty() || self.additional.is_some() || has_patterns()
    }
}

/// The types of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Type {
    const ALL: [Type; 7] =
        [Type::Null, Type::Boolean, Type::Integer, Type::Number, Type::String, Type::Array, Type::Object];

    pub fn as_str(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Type::Integer, Value::Number(number)) => number::is_integer(number),
            (Type::Null, Value::Null)
            | (Type::Boolean, Value::Bool(_))
            | (Type::Number, Value::Number(_))
            | (Type::String, Value::String(_))
            | (Type::Array, Value::Array(_))
            | (Type::Object, Value::Object(_)) => true,
            _ => false,
        }
    }
}

/// What `type` lists, in its order: coercions are tried in it.
#[derive(Debug)]
pub(super) struct Types(Vec<Type>);

impl Types {
    pub fn accepts(&self, value: &Value) -> bool {
        self.0.iter().any(|one| one.accepts(value))
    }

    pub fn contains(&self, one: Type) -> bool {
        self.0.contains(&one)
    }

    pub fn iter(&self) -> impl Iterator<Item = Type> + '_ {
        self.0.iter().copied()
    }
}

/// What a compilation does with what is not structural.
pub(super) trait Context {
    /// A keyword that is beyond the structural ones, or one of them with a value that it cannot have.
    fn other(
        &mut self,
        rules: &mut Rules,
        keyword: &str,
        value: &Value,
        place: &Place<'_>,
        levels: usize,
    ) -> Result<(), NeedsEngine>;

    /// After the keywords of a schema object.
    fn end(&mut self, rules: &mut Rules, schema: &Map<String, Value>, place: &Place<'_>);
}

/// Refuses everything else.
struct StructuralOnly;

impl Context for StructuralOnly {
    fn other(
        &mut self,
        _: &mut Rules,
        keyword: &str,
        _: &Value,
        place: &Place<'_>,
        _: usize,
    ) -> Result<(), NeedsEngine> {
        Err(place.needs_engine(keyword))
    }

    fn end(&mut self, _: &mut Rules, _: &Map<String, Value>, _: &Place<'_>) {}
}

/// Where a walk over a schema stands, printed only if it has to say so.
pub(super) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    segment: Segment<'a>,
}

enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    pub const TOP: Place<'static> = Place::at("");

    /// Where a JSON Pointer leads.
    pub const fn at(pointer: &'a str) -> Place<'a> {
        Place { parent: None, segment: Segment::Key(pointer) }
    }

    pub fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    pub fn key(&'a self, key: &'a str) -> Place<'a> {
        Place { parent: Some(self), segment: Segment::Key(key) }
    }

    pub fn index(&'a self, index: usize) -> Place<'a> {
        Place { parent: Some(self), segment: Segment::Index(index) }
    }

    /// As a JSON Pointer.
    pub fn pointer(&self) -> String {
        match (self.parent, &self.segment) {
            (None, Segment::Key(pointer)) => (*pointer).to_owned(),
            (None, Segment::Index(_)) => String::new(),
            (Some(parent), Segment::Key(key)) => {
                format!("{}/{}", parent.pointer(), key.replace('~', "~0").replace('/', "~1"))
            }
            (Some(parent), Segment::Index(index)) => format!("{}/{index}", parent.pointer()),
        }
    }

    #[cold]
    fn needs_engine(&self, keyword: &str) -> NeedsEngine {
        NeedsEngine { path: self.pointer(), keyword: keyword.to_owned() }
    }
}

/// Compiles one schema.
pub(super) fn node(
    context: &mut dyn Context,
    schema: &Value,
    place: &Place<'_>,
    levels: usize,
) -> Result<Node, NeedsEngine> {
    match schema {
        Value::Bool(true) => Ok(Node::Any),
        Value::Bool(false) => Ok(Node::Never),
        Value::Object(schema) if levels > 0 => rules(context, schema, place, levels - 1),
        _ => Err(place.needs_engine("")),
    }
}

fn rules(
    context: &mut dyn Context,
    schema: &Map<String, Value>,
    place: &Place<'_>,
    levels: usize,
) -> Result<Node, NeedsEngine> {
    let mut rules = Rules::default();
    let mut constrained = false;
    for (keyword, value) in schema {
        let understood = match keyword.as_str() {
            "type" => set(&mut rules.types, types(value)),
            "enum" => set(&mut rules.any_value_of, value.as_array().cloned()),
            "const" => set(&mut rules.constant, Some(value.clone())),
            "minimum" => set(&mut rules.minimum, value.as_number().cloned()),
            "maximum" => set(&mut rules.maximum, value.as_number().cloned()),
            "exclusiveMinimum" => set(&mut rules.exclusive_minimum, value.as_number().cloned()),
            "exclusiveMaximum" => set(&mut rules.exclusive_maximum, value.as_number().cloned()),
            "minLength" => set(&mut rules.min_length, count(value)),
            "maxLength" => set(&mut rules.max_length, count(value)),
            "minItems" => set(&mut rules.min_items, count(value)),
            "maxItems" => set(&mut rules.max_items, count(value)),
            "required" => required(value).map(|keys| rules.required = keys),
            // An array here is draft 7's tuple form.
            "items" if !value.is_array() => {
                set(&mut rules.items, Some(node(context, value, &place.key("items"), levels)?))
            }
            "additionalProperties" => {
                let place = place.key("additionalProperties");
                set(&mut rules.additional, Some(node(context, value, &place, levels)?))
            }
            "properties" => match value {
                Value::Object(properties) => {
                    let place = place.key("properties");
                    for (key, schema) in properties {
                        let node = node(context, schema, &place.key(key), levels)?;
                        rules.properties.insert(key.clone(), node);
                    }
                    Some(())
                }
                _ => None,
            },
            "anyOf" => match value {
                Value::Array(branches) if !branches.is_empty() => {
                    let nodes = nodes(context, branches, &place.key("anyOf"), levels)?;
                    set(&mut rules.any_of, Some(nodes))
                }
                _ => None,
            },
            "$schema" => value.as_str().is_some_and(is_known_draft).then_some(()),
            keyword if needs_engine(keyword) => None,
            _ => continue,
        };
        if understood.is_none() {
            context.other(&mut rules, keyword, value, place, levels)?;
        }
        constrained |= keyword != "$schema";
    }
    context.end(&mut rules, schema, place);
    if schema.get("nullable") == Some(&Value::Bool(true))
        && let Some(Types(types)) = &mut rules.types
        && !types.contains(&Type::Null)
    {
        types.push(Type::Null);
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        rules.order = Order::new(properties.keys(), &rules);
    }
    Ok(if constrained { Node::Rules(Box::new(rules)) } else { Node::Any })
}

/// Compiles a list of schemas.
pub(super) fn nodes(
    context: &mut dyn Context,
    schemas: &[Value],
    place: &Place<'_>,
    levels: usize,
) -> Result<Vec<Node>, NeedsEngine> {
    let schemas = schemas.iter().enumerate();
    schemas.map(|(index, schema)| node(context, schema, &place.index(index), levels)).collect()
}

fn set<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
    *slot = value;
    slot.is_some().then_some(())
}

pub(super) fn types(value: &Value) -> Option<Types> {
    let named = |value: &Value| {
        let name = value.as_str()?;
        Type::ALL.into_iter().find(|one| one.as_str() == name)
    };
    let Value::Array(names) = value else { return Some(Types(vec![named(value)?])) };
    let mut types = Vec::with_capacity(names.len());
    for name in names {
        let one = named(name)?;
        if types.contains(&one) {
            return None;
        }
        types.push(one);
    }
    (!types.is_empty()).then_some(Types(types))
}

/// A length or a number of items: whole and not negative, 2.0 as good as 2.
fn count(value: &Value) -> Option<u64> {
    number::to_safe_integer(value.as_number()?)?.as_u64()
}

pub(super) fn required(value: &Value) -> Option<Vec<String>> {
    let mut keys: Vec<String> = Vec::new();
    for key in value.as_array()? {
        let key = key.as_str()?.to_owned();
        keys.insert(keys.binary_search(&key).err()?, key);
    }
    Some(keys)
}

/// Draft 7 or 2020-12, with or without the empty fragment; `https` for `http` is a common slip.
fn is_known_draft(uri: &str) -> bool {
    let uri = uri.strip_suffix('#').unwrap_or(uri);
    let uri = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"));
    matches!(uri, Some("json-schema.org/draft-07/schema" | "json-schema.org/draft/2020-12/schema"))
}

/// Every keyword of drafts 4 to 2020-12 that can change a verdict and is not understood here. Some
/// are unknown to draft 7, or to 2020-12; an engine knows which.
pub(super) fn needs_engine(keyword: &str) -> bool {
    matches!(
        keyword,
        "$ref"
            | "$dynamicRef"
            | "$recursiveRef"
            | "allOf"
            | "oneOf"
            | "not"
            | "if"
            | "then"
            | "else"
            | "pattern"
            | "patternProperties"
            | "propertyNames"
            | "dependencies"
            | "dependentRequired"
            | "dependentSchemas"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "uniqueItems"
            | "multipleOf"
            | "minProperties"
            | "maxProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn why(schema: Value) -> (String, String) {
        let why = CompiledSchema::compile(&schema).unwrap_err();
        (why.path, why.keyword)
    }

    #[test]
    fn annotations_and_unknown_keywords_are_ignored() {
        for schema in [
            json!(true),
            json!({}),
            json!({"title": "t", "description": "d", "default": 1, "examples": [], "deprecated": true,
                "readOnly": true, "writeOnly": true, "format": "uint64", "contentEncoding": "base64",
                "contentMediaType": "x/y", "contentSchema": {"$ref": "#"}, "$comment": "c", "$id": "urn:x",
                "x-order": 1, "$defs": {"A": {"$ref": "#"}}, "definitions": {"B": {"pattern": "("}}}),
            json!({"$schema": "http://json-schema.org/draft-07/schema#"}),
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema"}),
        ] {
            let compiled = CompiledSchema::compile(&schema).unwrap();
            assert!(matches!(compiled.root, Node::Any), "{schema}");
            assert!(!compiled.has_required());
        }
        assert!(CompiledSchema::compile(&json!({"required": ["a"]})).unwrap().has_required());
    }

    #[test]
    fn properties_named_like_keywords_are_properties() {
        let names = ["$ref", "allOf", "pattern", "type", "required", "not", "$schema", "properties"];
        let properties: Map<String, Value> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        let schema = json!({"type": "object", "properties": properties, "enum": [{"$ref": 1}]});
        assert!(CompiledSchema::compile(&schema).is_ok());
    }

    #[test]
    fn the_rest_needs_an_engine() {
        for keyword in [
            "$ref",
            "allOf",
            "oneOf",
            "not",
            "if",
            "pattern",
            "uniqueItems",
            "multipleOf",
            "minProperties",
            "prefixItems",
            "unevaluatedProperties",
            "dependentRequired",
        ] {
            assert_eq!(why(json!({"items": {(keyword): true}})), ("/items".to_owned(), keyword.to_owned()));
        }
        for (keyword, value) in [
            ("$schema", json!("http://json-schema.org/draft-04/schema#")),
            ("items", json!([{}])),
            ("type", json!("strng")),
            ("type", json!([])),
            ("type", json!(["string", "string"])),
            ("required", json!(true)),
            ("required", json!(["a", "a"])),
            ("exclusiveMinimum", json!(true)),
            ("minimum", json!("1")),
            ("minLength", json!(-1)),
            ("maxItems", json!(1.5)),
            ("enum", json!("a")),
            ("properties", json!([])),
            ("anyOf", json!([])),
        ] {
            assert_eq!(why(json!({(keyword): value})), (String::new(), keyword.to_owned()));
        }
        assert_eq!(why(json!({"properties": {"a/b": 1}})), ("/properties/a~1b".to_owned(), String::new()));
        assert_eq!(why(json!({"anyOf": [{}, {"not": {}}]})), ("/anyOf/1".to_owned(), "not".to_owned()));
        let mut deep = json!({});
        for _ in 0..200 {
            deep = json!({"items": deep});
        }
        assert_eq!(why(deep).1, "");
    }
}
