//! Arguments without a toolset: checked against a host's own schema, or shown while they are being written.

use serde_json::{Map, Value, json};

use super::cut_off;
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields};
#[cfg(feature = "schema")]
use crate::schema::engine::{Draft, Engine, EngineOptions};
use crate::schema::partial::{self, Partial};
use crate::schema::{Coercion, CompiledSchema, Kind, NeedsEngine, Repairs, SchemaError, parse, wording};
use crate::tools::Builtin;

/// How arguments are checked against a schema.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaOptions {
    /// What may be done to a value. Default: safe coercion, and optional nulls are dropped.
    pub repairs: Repairs,
    /// Whether `format` asserts. Default `false`.
    pub formats: bool,
    /// The draft of a schema whose `$schema` names none: `4`, `6`, `7`, `2019-09` or `2020-12`, the default.
    pub draft: Option<String>,
    /// Other documents, by URI.
    pub resources: Map<String, Value>,
}

impl Default for SchemaOptions {
    fn default() -> Self {
        let repairs = Coercion::Safe.into();
        SchemaOptions { repairs, formats: false, draft: None, resources: Map::new() }
    }
}

const DRAFTS: [&str; 8] = ["4", "6", "7", "2019-09", "2020-12", "draft-04", "draft-06", "draft-07"];

impl SchemaOptions {
    /// Options from JSON text: `coercion`, `dropOptionalNulls`, `formats`, `draft` and `resources`, all optional.
    ///
    /// # Errors
    /// `invalid_arguments` for an option that there is not, or a value that it cannot have.
    pub fn from_json(text: &[u8]) -> Result<SchemaOptions, ToolError> {
        SchemaOptions::read(text)
            .map_err(|error| ToolError::invalid_arguments(format!("The options cannot be read: {error}")))
    }

    fn read(text: &[u8]) -> Result<SchemaOptions, String> {
        let mut fields = Fields::of(json::parse(text)?)?;
        fields.only(&["coercion", "dropOptionalNulls", "formats", "draft", "resources"])?;
        let coercion = match fields.text("coercion")? {
            Some(name) => Coercion::named(&name)?,
            None => Coercion::Safe,
        };
        let draft = fields.text("draft")?;
        if let Some(draft) = draft.as_deref().filter(|draft| !DRAFTS.contains(draft)) {
            return Err(format!("draft: expected one of {}, found `{draft}`", DRAFTS.join(", ")));
        }
        let resources = match fields.take("resources") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(documents)) => documents,
            Some(other) => return Err(json::wrong(&other, "resources as documents by URI")),
        };
        Ok(SchemaOptions {
            repairs: Repairs {
                coercion,
                drop_optional_nulls: fields.flag("dropOptionalNulls")?.unwrap_or(true),
            },
            formats: fields.flag("formats")?.unwrap_or_default(),
            draft,
            resources,
        })
    }

    /// Whether the structural checker knows all that is asked.
    fn is_structural(&self) -> bool {
        !self.formats && matches!(self.draft.as_deref(), None | Some("7" | "draft-07" | "2020-12"))
    }
}

/// Why a schema does not compile here.
#[derive(Clone, Debug, PartialEq)]
pub enum NotCompiled {
    /// It is beyond the structural checker, and the engine is not in this build.
    NeedsEngine(NeedsEngine),
    /// It is no schema.
    Failed(ToolError),
}

#[derive(Debug)]
enum Checker {
    Structural(CompiledSchema),
    #[cfg(feature = "schema")]
    Full(Box<Engine>),
}

/// The schema of one tool's arguments, compiled once.
///
/// ```
/// use serde_json::json;
/// use tackroom::call::{ArgumentSchema, SchemaOptions};
/// let schema = br#"{"properties": {"n": {"type": "integer"}}}"#;
/// let schema = ArgumentSchema::compile("roll", schema, SchemaOptions::default()).unwrap();
/// assert_eq!(schema.validate(br#"{"n": "6"}"#, false), Ok(json!({"n": 6})));
/// ```
#[derive(Debug)]
pub struct ArgumentSchema {
    tool: String,
    options: SchemaOptions,
    checker: Checker,
}

impl ArgumentSchema {
    /// From a schema's JSON text; the tool's name is for messages, empty for a schema that is no tool's. The structural
    /// checker takes what it can.
    ///
    /// # Errors
    /// [`NotCompiled`]
    pub fn compile(tool: &str, schema: &[u8], options: SchemaOptions) -> Result<ArgumentSchema, NotCompiled> {
        let schema = json::parse(schema).map_err(|error| NotCompiled::Failed(no_schema(tool, &error)))?;
        let checker = Checker::compile(tool, &schema, &options)?;
        // They are compiled in.
        let options = SchemaOptions { resources: Map::new(), ..options };
        Ok(ArgumentSchema { tool: tool.to_owned(), options, checker })
    }

    /// What had to be mended in the schema, as `[{path, message}]`.
    pub fn warnings(&self) -> Value {
        match &self.checker {
            Checker::Structural(_) => json!([]),
            #[cfg(feature = "schema")]
            Checker::Full(engine) => {
                let warnings = engine.warnings().iter();
                warnings.map(|one| json!({ "path": one.path, "message": one.message })).collect()
            }
        }
    }

    /// Whether the text, read as plain JSON, fits as it is, so that [`ArgumentSchema::validate`] would answer just
    /// that. It is the rule, and saves whoever can read JSON the way back. No is also said of some that would do, see
    /// [`CompiledSchema::accepts_text`].
    pub fn fits(&self, text: &[u8]) -> bool {
        self.checker.accepts_text(text)
    }

    /// Whether the text is JSON that fits as it is, so that [`ArgumentSchema::check`] would answer just that.
    pub fn fits_as_value(&self, text: &[u8]) -> bool {
        self.checker.accepts_text(text) || json::parse(text).is_ok_and(|value| self.checker.accepts(&value))
    }

    /// The arguments as the tool should get them. `incomplete`: the response was cut off while they were written.
    ///
    /// # Errors
    /// `cut_off`, and `invalid_arguments` with a report that a model can act on.
    pub fn validate(&self, text: &[u8], incomplete: bool) -> Result<Value, ToolError> {
        if incomplete {
            return Err(cut_off(&self.tool));
        }
        let received = parse::arguments(&self.tool, text, !self.checker.has_required())?;
        self.checker
            .check(received.clone(), self.options.repairs)
            .map_err(|errors| ToolError::invalid_arguments(wording::report(&self.tool, &errors, &received)))
    }

    /// A value, as JSON text, repaired and checked; a string in it is a string.
    ///
    /// # Errors
    /// What is wrong with it, sorted by path.
    pub fn check(&self, text: &[u8]) -> Result<Value, Vec<SchemaError>> {
        let unreadable = |error: String| {
            let message = format!(
                "must be JSON without unpaired surrogates, nested no deeper than 128 levels: {error}"
            );
            vec![SchemaError { path: String::new(), kind: Kind::Type, message }]
        };
        let value = json::parse(text).map_err(unreadable)?;
        self.checker.check(value, self.options.repairs).map_err(wording::sorted)
    }
}

impl Checker {
    fn compile(tool: &str, schema: &Value, options: &SchemaOptions) -> Result<Checker, NotCompiled> {
        let beyond = match CompiledSchema::compile(schema) {
            Ok(compiled) if options.is_structural() => return Ok(Checker::Structural(compiled)),
            Ok(_) if options.formats => NeedsEngine { path: String::new(), keyword: "format".to_owned() },
            Ok(_) => NeedsEngine { path: String::new(), keyword: "$schema".to_owned() },
            Err(beyond) => beyond,
        };
        Checker::engine(tool, schema, options, beyond)
    }

    #[cfg(not(feature = "schema"))]
    fn engine(_: &str, _: &Value, _: &SchemaOptions, beyond: NeedsEngine) -> Result<Checker, NotCompiled> {
        Err(NotCompiled::NeedsEngine(beyond))
    }

    #[cfg(feature = "schema")]
    fn engine(
        tool: &str,
        schema: &Value,
        options: &SchemaOptions,
        _: NeedsEngine,
    ) -> Result<Checker, NotCompiled> {
        let options = EngineOptions {
            formats: options.formats,
            draft: options.draft.as_deref().and_then(Draft::named),
            resources: options.resources.clone(),
        };
        match Engine::compile(schema, &options) {
            Ok(engine) => Ok(Checker::Full(Box::new(engine))),
            Err(error) => Err(NotCompiled::Failed(no_schema(tool, &error))),
        }
    }

    fn has_required(&self) -> bool {
        match self {
            Checker::Structural(schema) => schema.has_required(),
            #[cfg(feature = "schema")]
            Checker::Full(engine) => engine.has_required(),
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        match self {
            Checker::Structural(schema) => schema.accepts(value),
            #[cfg(feature = "schema")]
            Checker::Full(engine) => engine.accepts(value),
        }
    }

    /// Whether JSON text that is no string fits as it is: a string may hold the arguments as JSON text.
    fn accepts_text(&self, text: &[u8]) -> bool {
        // Where the engine is, what is structural is checked elsewhere, and the module does without the reader.
        #[cfg(not(feature = "schema"))]
        let Checker::Structural(schema) = self;
        #[cfg(not(feature = "schema"))]
        return schema.accepts_text(text);
        #[cfg(feature = "schema")]
        json::parse(text).is_ok_and(|value| !value.is_string() && self.accepts(&value))
    }

    fn check(&self, value: Value, repairs: Repairs) -> Result<Value, Vec<SchemaError>> {
        match self {
            Checker::Structural(schema) => schema.check(value, repairs),
            #[cfg(feature = "schema")]
            Checker::Full(engine) => engine.check(value, repairs),
        }
    }
}

fn no_schema(tool: &str, why: &str) -> ToolError {
    let what = match tool {
        "" => "The schema is".to_owned(),
        _ => format!("The parameters of tool \"{tool}\" are"),
    };
    ToolError::invalid_arguments(format!("{what} no JSON Schema: {why}"))
}

/// `not_supported`, for a schema that needs the engine where it cannot be had.
pub fn needs_engine(tool: &str, beyond: &NeedsEngine) -> ToolError {
    let place = if beyond.path.is_empty() { "the top" } else { &beyond.path };
    let what = match tool {
        "" => "The schema needs".to_owned(),
        _ => format!("The parameters of tool \"{tool}\" need"),
    };
    let message = format!(
        "{what} \"{}\" at {place}, for which the schema module has to be loaded: call await init() first",
        beyond.keyword,
    );
    ToolError::new(ErrorCode::NotSupported, message)
}

/// What the beginning of an argument text says so far, in the keys of the built-in tool of that name: the text as
/// [`partial::arguments`] reads it, aliases and dialects as in a call. Any other name knows none. Nothing is checked.
///
/// ```
/// use serde_json::json;
/// use tackroom::call::partial_arguments;
/// let so_far = partial_arguments(br#"{"file_path":"a.txt","content":"hello wor"#, "write");
/// assert_eq!(so_far.value, Some(json!({"path": "a.txt", "content": "hello wor"})));
/// assert!(!so_far.complete);
/// ```
pub fn partial_arguments(text: &[u8], tool: &str) -> Partial {
    let Partial { value, complete } = partial::arguments(text);
    let Some(tool) = Builtin::named(tool) else { return Partial { value, complete } };
    let prepare = |value| if complete { tool.prepare(value) } else { tool.prepare_partial(value) };
    Partial { value: value.map(prepare), complete }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(schema: &[u8]) -> Result<ArgumentSchema, NotCompiled> {
        ArgumentSchema::compile("roll", schema, SchemaOptions::default())
    }

    fn schema() -> ArgumentSchema {
        compile(br#"{"properties": {"n": {"type": "integer"}, "s": {"type": "string"}}, "required": ["n"]}"#)
            .unwrap()
    }

    #[test]
    fn what_fits_is_what_validation_leaves_alone() {
        for text in [r#"{"n":1}"#, r#"{"n":1,"s":"x"}"#, r#"{"n":1,"z":[null]}"#] {
            assert!(schema().fits(text.as_bytes()), "{text}");
            let plain: Value = serde_json::from_slice(text.as_bytes()).unwrap();
            assert_eq!(schema().validate(text.as_bytes(), false), Ok(plain));
        }
        for text in [r#"{"n":"1"}"#, r#"{"n":1,"s":null}"#, r#""{\"n\":1}""#] {
            assert!(!schema().fits(text.as_bytes()), "{text}");
            assert_eq!(schema().validate(text.as_bytes(), false), Ok(json!({"n": 1})), "{text}");
        }
        for text in ["", "{", "{}", r#"{"n":"x"}"#] {
            assert!(!schema().fits(text.as_bytes()) && schema().validate(text.as_bytes(), false).is_err());
        }
    }

    #[test]
    fn dialects_are_known_while_they_are_written() {
        for (tool, text, expected) in [
            ("read", r#"{"file":"a"#, json!({"path": "a"})),
            ("bash", r#"{"cmd":"ls -"#, json!({"command": "ls -"})),
            ("edit", r#"{"path":"f","old_str":"a"#, json!({"path": "f", "edits": [{"oldText": "a"}]})),
            ("edit", r#"{"edits":"[{\"old\":\"a"#, json!({"edits": [{"oldText": "a"}]})),
            ("roll", r#"{"file":"a"#, json!({"file": "a"})),
            ("", r#"{"file":"a"#, json!({"file": "a"})),
        ] {
            let partial = partial_arguments(text.as_bytes(), tool);
            assert_eq!(partial, Partial { value: Some(expected), complete: false }, "{tool} {text}");
        }
        assert_eq!(partial_arguments(b"", "read"), Partial::default());
        // What is whole is what a call would get, faults in it too.
        for text in [r#"{"cmd":"ls"}"#, r#"{"edits":"[{\"old\":\"a"}"#] {
            let partial = partial_arguments(text.as_bytes(), "edit");
            let parsed = parse::arguments("edit", text.as_bytes(), false).unwrap();
            assert_eq!(partial, Partial { value: Some(Builtin::Edit.prepare(parsed)), complete: true });
        }
    }

    #[test]
    fn failures_have_their_codes() {
        assert!(
            matches!(compile(b"{").unwrap_err(), NotCompiled::Failed(error) if error.code == ErrorCode::InvalidArguments)
        );
        assert_eq!(schema().validate(br#"{"n":1}"#, true).unwrap_err().code, ErrorCode::CutOff);
        assert_eq!(schema().validate(br#"{"n":1"#, false).unwrap_err().code, ErrorCode::CutOff);
        let beyond = NeedsEngine { path: String::new(), keyword: "pattern".to_owned() };
        let error = needs_engine("roll", &beyond);
        assert_eq!(error.code, ErrorCode::NotSupported);
        assert!(error.message.contains("tool \"roll\" need \"pattern\" at the top"), "{}", error.message);
        assert!(needs_engine("", &beyond).message.starts_with("The schema needs \"pattern\""));
        assert!(matches!(ArgumentSchema::compile("", b"[", SchemaOptions::default()).unwrap_err(),
            NotCompiled::Failed(error) if error.message.starts_with("The schema is no JSON Schema: ")));
        #[cfg(not(feature = "schema"))]
        assert_eq!(compile(br#"{"pattern": "x"}"#).unwrap_err(), NotCompiled::NeedsEngine(beyond));
    }

    #[test]
    fn a_value_is_no_argument_text() {
        let strings = compile(br#"{"type": "string"}"#).unwrap();
        assert_eq!(strings.check(br#""{\"a\":1}""#), Ok(json!("{\"a\":1}")));
        assert_eq!(strings.check(b"5"), Ok(json!("5")));
        assert_eq!(strings.check(b"[]").unwrap_err()[0].message, "must be string, got array");
        for unreadable in [&br#""\ud800""#[..], "[".repeat(200).as_bytes(), b"x"] {
            let errors = strings.check(unreadable).unwrap_err();
            assert!(errors[0].message.starts_with("must be JSON without unpaired surrogates"));
        }
    }

    #[test]
    fn options_are_read() {
        let read = |text: &[u8]| SchemaOptions::from_json(text);
        assert_eq!(read(b"{}"), Ok(SchemaOptions::default()));
        let none =
            read(br#"{"coercion":"none","dropOptionalNulls":false,"draft":"7","resources":{"urn:a":{}}}"#);
        let none = none.unwrap();
        assert_eq!(none.repairs, Repairs { coercion: Coercion::None, drop_optional_nulls: false });
        assert!(none.is_structural() && none.resources.len() == 1);
        assert!(!read(br#"{"formats":true}"#).unwrap().is_structural());
        for wrong in
            [&br#"{"coercion":"strict"}"#[..], br#"{"draft":"3"}"#, br#"{"resources":[]}"#, br#"{"x":1}"#]
        {
            assert!(read(wrong).is_err());
        }
    }

    #[cfg(feature = "schema")]
    #[test]
    fn what_is_not_structural_goes_to_the_engine() {
        let schema = compile(br##"{"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"n": {"type": "integer"}}, "required": ["n"]}}}"##).unwrap();
        assert_eq!(schema.validate(br#"{"n":"1"}"#, false), Ok(json!({"n": 1})));
        assert!(schema.validate(b"", false).is_err(), "n is required");
        let schema = compile(br#"{"properties": {"s": {"type": "string", "pattern": "("}}}"#).unwrap();
        assert_eq!(schema.warnings()[0]["path"], "/properties/s/pattern");
    }
}
