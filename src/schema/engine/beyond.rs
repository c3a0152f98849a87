//! The node tree of a schema that is more than structural: what the repairing walk has to follow, and whom it asks
//! whether a part fits.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::documents::{Documents, Part};
use super::draft::Draft;
use super::positions::{Position, position};
use crate::schema::compile::{Context, MAX_DEPTH, NeedsEngine, Node, Place, Rules, node, nodes};
use crate::table::Table;

/// What a schema object has beside structural keywords.
#[derive(Debug, Default)]
pub(in crate::schema) struct Beyond {
    /// Who decides; nobody where every keyword is structural.
    part: Option<Part>,
    /// The target of a local `$ref`.
    reference: Option<usize>,
    all_of: Vec<Node>,
    one_of: Option<Vec<Node>>,
    tuple: Vec<Node>,
    patterns: Vec<(Pattern, Node)>,
}

/// A pattern of `patternProperties`.
#[derive(Debug)]
pub(in crate::schema) struct Pattern(Option<jsonschema::Validator>);

impl Pattern {
    pub fn matches(&self, key: &str) -> bool {
        self.0.as_ref().is_some_and(|pattern| pattern.is_valid(&Value::from(key)))
    }
}

impl Beyond {
    /// Whether the whole schema object accepts the value, if that takes more than structural keywords.
    pub fn verdict(&self, value: &Value) -> Option<bool> {
        Some(self.part.as_ref()?.validator()?.is_valid(value))
    }

    /// What holds together with the schema object.
    pub fn parts<'a>(&'a self, targets: &'a [Node]) -> impl Iterator<Item = &'a Node> {
        let target = self.reference.and_then(|at| targets.get(at));
        target.into_iter().chain(&self.all_of)
    }

    pub fn one_of(&self) -> Option<&[Node]> {
        self.one_of.as_deref()
    }

    /// The schemas of the first items.
    pub fn tuple(&self) -> &[Node] {
        &self.tuple
    }

    pub fn patterns(&self) -> &[(Pattern, Node)] {
        &self.patterns
    }
}

/// A whole schema.
#[derive(Debug)]
pub(super) struct Tree {
    pub root: Node,
    /// What local references point to.
    pub targets: Vec<Node>,
}

impl Tree {
    pub fn compile(schema: &Value, draft: Draft, documents: &Rc<Documents>) -> Tree {
        Tree::part(schema, draft, documents, "")
    }

    /// The part of the schema at a JSON Pointer, as a tree of its own.
    pub fn part(schema: &Value, draft: Draft, documents: &Rc<Documents>, pointer: &str) -> Tree {
        let mut whole = Whole { schema, draft, documents, targets: Vec::new(), known: Table::default() };
        let root = schema.pointer(pointer).map_or(Node::Any, |part| whole.part(part, pointer));
        let targets = whole.targets.into_iter().map(|target| target.unwrap_or(Node::Any)).collect();
        Tree { root, targets }
    }
}

/// Compiles everything; what it cannot follow is left to the engine.
struct Whole<'a> {
    schema: &'a Value,
    draft: Draft,
    documents: &'a Rc<Documents>,
    /// `None` while one is compiled.
    targets: Vec<Option<Node>>,
    /// Targets by their pointer.
    known: Table<String, usize>,
}

impl Whole<'_> {
    /// The part of the schema at a pointer.
    fn part(&mut self, schema: &Value, pointer: &str) -> Node {
        node(self, schema, &Place::at(pointer), MAX_DEPTH).unwrap_or(Node::Any)
    }

    /// The number of a local reference's target.
    fn target(&mut self, reference: &str) -> Option<usize> {
        let id = self.schema.get("$id").and_then(Value::as_str).unwrap_or_default().trim_end_matches('#');
        let local = reference.strip_prefix(id).unwrap_or(reference).strip_prefix('#')?;
        let local = jsonschema_fragment(local);
        let pointer = match local.as_str() {
            "" => local,
            pointer if pointer.starts_with('/') => local,
            name => anchor(self.schema, name, String::new(), MAX_DEPTH)?,
        };
        if let Some(at) = self.known.get(&pointer) {
            return Some(*at);
        }
        let root = self.schema;
        let schema = root.pointer(&pointer)?;
        let at = self.targets.len();
        self.targets.push(None);
        self.known.insert(pointer.clone(), at);
        let node = self.part(schema, &pointer);
        self.targets[at] = Some(node);
        Some(at)
    }
}

/// A fragment without its percent-encoding.
fn jsonschema_fragment(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [byte, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The pointer to the schema with that anchor.
fn anchor(schema: &Value, name: &str, pointer: String, levels: usize) -> Option<String> {
    let map = schema.as_object().filter(|_| levels > 0)?;
    let is_named = map.get("$anchor").and_then(Value::as_str) == Some(name)
        || map.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#')) == Some(name);
    if is_named {
        return Some(pointer);
    }
    for (keyword, value) in map {
        let below = format!("{pointer}/{keyword}");
        let found = match position(keyword, value) {
            Position::Plain => None,
            Position::One => anchor(value, name, below, levels - 1),
            Position::List => value.as_array().and_then(|list| {
                let mut list = list.iter().enumerate();
                list.find_map(|(index, value)| anchor(value, name, format!("{below}/{index}"), levels - 1))
            }),
            Position::Map => value.as_object().and_then(|map| {
                map.iter().find_map(|(key, value)| {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    anchor(value, name, format!("{below}/{key}"), levels - 1)
                })
            }),
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

impl Context for Whole<'_> {
    fn other(
        &mut self,
        rules: &mut Rules,
        keyword: &str,
        value: &Value,
        place: &Place<'_>,
        levels: usize,
    ) -> Result<(), NeedsEngine> {
        let place = place.key(keyword);
        let beyond = rules.beyond.get_or_insert_default();
        match (keyword, value) {
            ("$ref", Value::String(reference)) => beyond.reference = self.target(reference),
            ("allOf", Value::Array(schemas)) => beyond.all_of = nodes(self, schemas, &place, levels)?,
            ("oneOf", Value::Array(schemas)) => beyond.one_of = Some(nodes(self, schemas, &place, levels)?),
            ("prefixItems" | "items", Value::Array(schemas)) => {
                beyond.tuple = nodes(self, schemas, &place, levels)?;
            }
            ("additionalItems", schema) => rules.items = Some(node(self, schema, &place, levels)?),
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    let node = node(self, schema, &place.key(pattern), levels)?;
                    let pattern = Pattern(self.documents.validator(&json!({ "pattern": pattern })).ok());
                    beyond.patterns.push((pattern, node));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, rules: &mut Rules, schema: &Map<String, Value>, place: &Place<'_>) {
        if self.draft.ref_stands_alone() && schema.contains_key("$ref") {
            let reference = rules.beyond.as_ref().and_then(|beyond| beyond.reference);
            *rules = Rules::default();
            rules.beyond = Some(Box::new(Beyond { reference, ..Beyond::default() }));
        }
        if schema.contains_key("additionalItems")
            && let Some(beyond) = &rules.beyond
            && beyond.tuple.is_empty()
        {
            // It says nothing where `items` is no list.
            rules.items =
                schema.get("items").and_then(|items| node(self, items, &place.key("items"), MAX_DEPTH).ok());
        }
        if rules.beyond.is_none() && self.draft.is_structural() && !has_beyond(rules) {
            return;
        }
        let part = Part::new(self.documents, place.pointer());
        rules.beyond.get_or_insert_default().part = Some(part);
    }
}

/// Whether a schema below is more than structural.
fn has_beyond(rules: &Rules) -> bool {
    let is_beyond = |node: &Node| matches!(node, Node::Rules(rules) if rules.beyond.is_some());
    let lists = rules.items.iter().chain(&rules.additional).chain(rules.any_of.iter().flatten());
    lists.chain(rules.properties.values()).any(is_beyond)
}
