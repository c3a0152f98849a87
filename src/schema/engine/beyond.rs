//! The node tree of a schema that is more than structural: what the repairing walk has to follow, and whom it asks
//! whether a part fits.

use std::cell::OnceCell;
use std::rc::Rc;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::documents::{BASE, Document, Documents, Part};
use super::draft::Draft;
use super::errors;
use super::references::{self, Target};
use crate::schema::compile::{Context, MAX_DEPTH, NeedsEngine, Node, Place, Rules, node, nodes};
use crate::schema::errors::Collector;
use crate::table::Table;

/// What a schema object has beside structural keywords.
#[derive(Debug, Default)]
pub(in crate::schema) struct Beyond {
    /// Who decides; nobody where every keyword is structural.
    part: Option<Part>,
    /// The targets of references.
    references: Vec<usize>,
    all_of: Vec<Node>,
    one_of: Option<Vec<Node>>,
    tuple: Vec<Node>,
    /// What items after the tuple have to fit.
    rest: Option<Node>,
    patterns: Vec<(Pattern, Node)>,
    conditions: Vec<Condition>,
    then: Option<Node>,
    otherwise: Option<Node>,
    own: Option<Own>,
    /// What properties that nothing else looks at have to fit.
    unevaluated: Option<Node>,
    /// The same as it is written, unless nothing fits it.
    unevaluated_form: Option<Value>,
}

/// A pattern of `patternProperties`.
#[derive(Debug)]
pub(in crate::schema) struct Pattern(Option<Validator>);

impl Pattern {
    pub fn matches(&self, key: &str) -> bool {
        self.0.as_ref().is_some_and(|pattern| pattern.is_valid(&Value::from(key)))
    }
}

/// Schemas that hold only at times.
#[derive(Debug)]
struct Condition {
    when: When,
    then: Option<Node>,
    otherwise: Option<Node>,
}

#[derive(Debug)]
enum When {
    Fits(Part),
    Has(String),
}

impl Condition {
    fn part(&self, value: &Value) -> Option<&Node> {
        let holds = match &self.when {
            When::Fits(part) => part.validator()?.is_valid(value),
            When::Has(key) => value.as_object().is_some_and(|map| map.contains_key(key)),
        };
        if holds { self.then.as_ref() } else { self.otherwise.as_ref() }
    }
}

/// The keywords that look at the value alone, and refer to nothing.
#[derive(Debug)]
struct Own {
    documents: Rc<Documents>,
    keywords: Value,
    validator: OnceCell<Option<Validator>>,
}

impl Beyond {
    /// Whether the whole schema object accepts the value, if that takes more than structural keywords.
    pub fn verdict(&self, value: &Value) -> Option<bool> {
        Some(self.part.as_ref()?.validator()?.is_valid(value))
    }

    /// What holds of the value together with the schema object.
    pub fn parts<'a>(&'a self, value: &Value, targets: &'a [Node]) -> impl Iterator<Item = &'a Node> {
        let referred = self.references.iter().filter_map(|at| targets.get(*at));
        let conditional = self.conditions.iter().filter_map(|condition| condition.part(value));
        referred.chain(&self.all_of).chain(conditional)
    }

    pub fn one_of(&self) -> Option<&[Node]> {
        self.one_of.as_deref()
    }

    /// The schemas of the first items.
    pub fn tuple(&self) -> &[Node] {
        &self.tuple
    }

    /// Whether there are schemas that hold only at times.
    pub fn has_branches(&self) -> bool {
        self.one_of.is_some() || !self.conditions.is_empty()
    }

    /// What properties that nothing else looks at have to fit.
    pub fn unevaluated(&self) -> Option<&Node> {
        self.unevaluated.as_ref()
    }

    pub fn patterns(&self) -> &[(Pattern, Node)] {
        &self.patterns
    }

    /// What is wrong by the keywords that look at the value alone.
    pub fn own_errors(&self, value: &Value, collector: &mut Collector<'_>) {
        let Some(Own { documents, keywords, validator }) = &self.own else { return };
        if let Some(validator) = validator.get_or_init(|| documents.validator(keywords).ok()) {
            errors::collect(validator, Some(keywords), value, collector);
        }
    }

    /// What is wrong by keywords that are not followed here.
    pub fn other_errors(&self, value: &Value, collector: &mut Collector<'_>) {
        if let Some(validator) = self.part.as_ref().and_then(Part::validator) {
            errors::collect_shallow(validator, self.unevaluated_form.as_ref(), value, collector);
        }
    }
}

/// A whole schema.
#[derive(Debug)]
pub(super) struct Tree {
    /// The root, and what references point to.
    pub targets: Vec<Node>,
}

impl Tree {
    pub fn compile(schema: &Value, draft: Draft, documents: &Rc<Documents>) -> Tree {
        let document = Document { uri: BASE, schema, draft };
        let mut whole = Whole { document, documents, found: Vec::new(), known: Table::default() };
        whole.number(document, String::new());
        let mut targets = Vec::new();
        // One after the other: references may lead through many.
        while let Some((document, pointer)) = whole.found.get(targets.len()).cloned() {
            whole.document = document;
            let target = document.schema.pointer(&pointer).unwrap_or(&Value::Null);
            targets.push(node(&mut whole, target, &Place::at(&pointer), MAX_DEPTH).unwrap_or(Node::Any));
        }
        Tree { targets }
    }

    pub fn root(&self) -> &Node {
        self.targets.first().unwrap_or(&Node::Any)
    }
}

/// Compiles everything; what it cannot follow is left to the engine.
struct Whole<'a> {
    /// Where it is.
    document: Document<'a>,
    documents: &'a Rc<Documents>,
    /// The targets of references, by their numbers: a document, and a pointer into it.
    found: Vec<(Document<'a>, String)>,
    /// The numbers, by URI.
    known: Table<String, usize>,
}

impl<'a> Whole<'a> {
    /// The number of a reference's target; the reference stands in the schema object at a pointer.
    fn target(&mut self, reference: &str, at: &str) -> Option<usize> {
        let mut document = self.document;
        let pointer = match references::resolve(&document, reference, at)? {
            Target::Here(pointer) => pointer,
            Target::Elsewhere(uri, fragment) => {
                document = self.documents.resource(&uri, document.draft)?;
                match references::resolve(&document, &fragment, "")? {
                    Target::Here(pointer) => pointer,
                    Target::Elsewhere(..) => return None,
                }
            }
        };
        document.schema.pointer(&pointer)?;
        Some(self.number(document, pointer))
    }

    fn number(&mut self, document: Document<'a>, pointer: String) -> usize {
        let uri = format!("{}#{pointer}", document.uri);
        if let Some(at) = self.known.get(&uri) {
            return *at;
        }
        let at = self.found.len();
        self.known.insert(uri, at);
        self.found.push((document, pointer));
        at
    }

    /// Whoever decides about the schema object at a place.
    fn part(&self, place: &Place<'_>) -> Part {
        Part::new(self.documents, self.document.uri, &place.pointer())
    }

    /// Notes a keyword that looks at the value alone.
    fn own(&self, beyond: &mut Beyond, keyword: &str, value: &Value) {
        if references::has_any(value) {
            return;
        }
        let own = beyond.own.get_or_insert_with(|| Own {
            documents: self.documents.clone(),
            keywords: json!({ "$schema": self.document.draft.uri() }),
            validator: OnceCell::new(),
        });
        own.keywords[keyword] = value.clone();
    }
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
        let inside = place.key(keyword);
        let beyond = rules.beyond.get_or_insert_default();
        if !self.document.draft.knows(keyword) {
            return Ok(());
        }
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(reference)) => {
                beyond.references.extend(self.target(reference, &place.pointer()));
            }
            ("allOf", Value::Array(schemas)) => beyond.all_of = nodes(self, schemas, &inside, levels)?,
            ("oneOf", Value::Array(schemas)) => beyond.one_of = Some(nodes(self, schemas, &inside, levels)?),
            ("prefixItems" | "items", Value::Array(schemas)) => {
                beyond.tuple = nodes(self, schemas, &inside, levels)?;
            }
            ("additionalItems", schema) => beyond.rest = Some(node(self, schema, &inside, levels)?),
            ("then", schema) => beyond.then = Some(node(self, schema, &inside, levels)?),
            ("else", schema) => beyond.otherwise = Some(node(self, schema, &inside, levels)?),
            ("patternProperties", Value::Object(schemas)) => {
                for (pattern, schema) in schemas {
                    let node = node(self, schema, &inside.key(pattern), levels)?;
                    let pattern = Pattern(self.documents.validator(&json!({ "pattern": pattern })).ok());
                    beyond.patterns.push((pattern, node));
                }
            }
            ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                for (key, schema) in schemas.iter().filter(|(_, schema)| !schema.is_array()) {
                    let then = Some(node(self, schema, &inside.key(key), levels)?);
                    beyond.conditions.push(Condition { when: When::Has(key.clone()), then, otherwise: None });
                }
                let lists = schemas.iter().filter(|(_, schema)| schema.is_array());
                let lists: Map<String, Value> =
                    lists.map(|(key, list)| (key.clone(), list.clone())).collect();
                self.own(beyond, keyword, &Value::Object(lists));
            }
            (
                "not" | "pattern" | "propertyNames" | "dependentRequired" | "contains" | "minContains"
                | "maxContains" | "uniqueItems" | "multipleOf" | "minProperties" | "maxProperties",
                value,
            ) => self.own(beyond, keyword, value),
            ("unevaluatedProperties", form) => {
                beyond.unevaluated = Some(node(self, form, &inside, levels)?);
                beyond.unevaluated_form = form.is_object().then(|| json!({ "unevaluatedProperties": form }));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, rules: &mut Rules, schema: &Map<String, Value>, place: &Place<'_>) {
        if self.document.draft.ref_stands_alone() && schema.contains_key("$ref") {
            let references = rules.beyond.take().map_or_else(Vec::new, |beyond| beyond.references);
            *rules = Rules::default();
            rules.beyond = Some(Box::new(Beyond { references, ..Beyond::default() }));
        } else {
            self.finish(rules, schema, place);
        }
        if rules.beyond.is_none() && self.document.draft.is_structural() && !has_beyond(rules) {
            return;
        }
        let part = self.part(place);
        rules.beyond.get_or_insert_default().part = Some(part);
    }
}

impl Whole<'_> {
    /// What keywords mean to each other.
    fn finish(&self, rules: &mut Rules, schema: &Map<String, Value>, place: &Place<'_>) {
        if !self.document.draft.knows("const") {
            rules.constant = None;
        }
        if self.documents.formats
            && let Some(format) = schema.get("format")
        {
            self.own(rules.beyond.get_or_insert_default(), "format", format);
        }
        let Some(beyond) = &mut rules.beyond else { return };
        // It says nothing where `items` is no list.
        if !beyond.tuple.is_empty()
            && let Some(rest) = beyond.rest.take()
        {
            rules.items = Some(rest);
        }
        if schema.contains_key("if") && self.document.draft.knows("if") {
            let when = When::Fits(self.part(&place.key("if")));
            let (then, otherwise) = (beyond.then.take(), beyond.otherwise.take());
            beyond.conditions.push(Condition { when, then, otherwise });
        }
    }
}

/// Whether a schema below is more than structural.
fn has_beyond(rules: &Rules) -> bool {
    let is_beyond = |node: &Node| matches!(node, Node::Rules(rules) if rules.beyond.is_some());
    let lists = rules.items.iter().chain(&rules.additional).chain(rules.any_of.iter().flatten());
    lists.chain(rules.properties.values()).any(is_beyond)
}
