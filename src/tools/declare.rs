//! What a model is told of tools, in the words of each provider's API.

use serde_json::Value;

use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields, Keys, required, text};
use crate::schema::export::{Format, open};
use crate::schema::strict::{MAX_STRICT_TOOLS, MAX_UNIONS, Mode, strict_for, unions};

/// How a provider is asked to sample the arguments of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// By the strict form of the tool's schema.
    JsonSchema {
        /// Whether it is an error where there is no strict form, or no strict mode.
        is_required: bool,
    },
    /// By a grammar, where the provider takes one: the tool has exactly one required property, a text, which it
    /// describes.
    Grammar {
        /// In the form of Lark that OpenAI takes; it goes before the other.
        lark: Option<String>,
        /// A regular expression.
        regex: Option<String>,
    },
}

impl Sampling {
    /// `{"type": "json_schema", "strict": "prefer" | "require"}`,
    /// `{"type": "grammar", "variants": {"openai_lark"?, "openai_regex"?}}`, or false or null for none.
    ///
    /// # Errors
    /// For anything else, what is wrong with it.
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::tools::declare::Sampling;
    /// let prefer = Sampling::read(json!({"type": "json_schema", "strict": "prefer"}));
    /// assert_eq!(prefer, Ok(Some(Sampling::JsonSchema { is_required: false })));
    /// assert_eq!(Sampling::read(json!(false)), Ok(None));
    /// ```
    pub fn read(value: Value) -> Result<Option<Sampling>, String> {
        if matches!(value, Value::Bool(false) | Value::Null) {
            return Ok(None);
        }
        let mut fields = Fields::of(value)?;
        match required("type", fields.text("type")?)?.as_str() {
            "json_schema" => {
                fields.only(&["type", "strict"])?;
                match required("strict", fields.text("strict")?)?.as_str() {
                    "prefer" => Ok(Some(Sampling::JsonSchema { is_required: false })),
                    "require" => Ok(Some(Sampling::JsonSchema { is_required: true })),
                    other => Err(format!("unknown variant `{other}`, expected `prefer` or `require`")),
                }
            }
            "grammar" => {
                fields.only(&["type", "variants"])?;
                let mut variants = Fields::of(required("variants", fields.take("variants"))?)?;
                variants.only(&["openai_lark?", "openai_regex?"])?;
                let mut grammar = |name| {
                    let given = variants.read(name, text)?;
                    Ok::<_, String>(given.filter(|text| !text.trim().is_empty()))
                };
                Ok(Some(Sampling::Grammar { lark: grammar("openai_lark")?, regex: grammar("openai_regex")? }))
            }
            other => Err(format!("unknown variant `{other}`, expected `json_schema` or `grammar`")),
        }
    }
}

/// The sampling of the built-in tools: strict where it can be.
pub(super) fn prefer_strict() -> Value {
    json::known(r#"{"type": "json_schema", "strict": "prefer"}"#)
}

/// What a declaration is made of.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// The name that a call has.
    pub name: &'a str,
    /// The name for people.
    pub title: Option<&'a str>,
    /// What it does.
    pub description: &'a str,
    /// JSON Schema of its arguments. Null, true and `{}` are those of a tool without any.
    pub parameters: &'a Value,
    /// As [`Sampling::read`] takes it.
    pub constrained_sampling: Option<&'a Value>,
    /// Whether it changes nothing.
    pub is_read_only: bool,
    /// Whether it may reach beyond its environment's files, as a shell does.
    pub is_open_world: bool,
}

/// The tools as a provider's API lists them, in order.
///
/// A tool is strict where it asks for it and has a strict form. Anthropic takes 20 strict tools and 16 unions in all:
/// the tools that would go beyond that are not strict.
///
/// # Errors
/// `not_supported` for a tool that requires to be strict and cannot be; `invalid_arguments` for parameters that
/// describe no object, and a `constrained_sampling` that is wrong or does not go with the parameters.
///
/// ```
/// use serde_json::json;
/// use tackroom::schema::export::Format;
/// use tackroom::tools::declare::{Told, declare};
/// let told = Told { name: "roll", title: None, description: "Rolls a die", parameters: &json!({}),
///     constrained_sampling: None, is_read_only: true, is_open_world: false };
/// assert_eq!(
///     declare(&[told], Format::Anthropic).unwrap(),
///     [json!({"name": "roll", "description": "Rolls a die", "input_schema": {"type": "object", "properties": {}}})]
/// );
/// ```
pub fn declare(tools: &[Told<'_>], format: Format) -> Result<Vec<Value>, ToolError> {
    let mut room = Room { tools: MAX_STRICT_TOOLS, unions: MAX_UNIONS };
    let mut told = Vec::new();
    for tool in tools {
        told.push(one(tool, format, &mut room)?);
    }
    Ok(told)
}

/// What strict tools a request has room for.
struct Room {
    tools: usize,
    unions: usize,
}

fn one(tool: &Told<'_>, format: Format, room: &mut Room) -> Result<Value, ToolError> {
    let refused = |message: String| ToolError::invalid_arguments(format!("Tool {:?} {message}", tool.name));
    let sampling = match tool.constrained_sampling {
        Some(given) => Sampling::read(given.clone())
            .map_err(|error| refused(format!("has constrainedSampling that cannot be read: {error}")))?,
        None => None,
    };
    let mut told = json::object(vec![("name", tool.name.into()), ("description", tool.description.into())]);
    if let Some(Sampling::Grammar { lark, regex }) = &sampling {
        let why = |why: &str| refused(format!("cannot use grammar constrained sampling: {why}"));
        let (syntax, definition) = match (lark, regex) {
            (Some(lark), _) => ("lark", lark),
            (None, Some(regex)) => ("regex", regex),
            (None, None) => return Err(why("it has neither openai_lark nor openai_regex")),
        };
        if !has_one_text(tool.parameters) {
            return Err(why("its parameters need exactly one required property, of type string"));
        }
        let mut grammar =
            json::object(vec![("syntax", syntax.into()), ("definition", definition.as_str().into())]);
        match format {
            Format::OpenAiChat => {
                let form = json::object(vec![("type", "grammar".into()), ("grammar", grammar.into())]);
                told.put("format", form.into());
                return Ok(json::object(vec![("type", "custom".into()), ("custom", told.into())]).into());
            }
            Format::OpenAiResponses => {
                grammar.put("type", "grammar".into());
                told.put("type", "custom".into());
                told.put("format", grammar.into());
                return Ok(told.into());
            }
            _ => {}
        }
    }
    let strict = match sampling {
        Some(Sampling::JsonSchema { is_required }) => match (strict_form(tool, format, room), is_required) {
            (Ok(form), _) => Some(form),
            (Err(_), false) => None,
            (Err(why), true) => {
                let message =
                    format!("Tool {:?} requires JSON-schema constrained sampling, but {why}", tool.name);
                return Err(ToolError::new(ErrorCode::NotSupported, message));
            }
        },
        _ => None,
    };
    let is_strict = strict.is_some();
    let schema = match strict {
        Some(form) => form,
        None => open(tool.parameters, format)
            .map_err(|error| refused(format!("cannot be declared. {}", error.message)))?,
    };
    match format {
        Format::JsonSchema | Format::Gemini => told.put("parameters", schema),
        Format::Anthropic => {
            told.put("input_schema", schema);
            if is_strict {
                told.put("strict", true.into());
            }
        }
        Format::OpenAiChat | Format::OpenAiResponses => {
            told.put("parameters", schema);
            told.put("strict", is_strict.into());
            let kind: Value = "function".into();
            if format == Format::OpenAiChat {
                told = json::object(vec![("type", kind), ("function", told.into())]);
            } else {
                told.put("type", kind);
            }
        }
        Format::Mcp => {
            if let Some(title) = tool.title {
                told.put("title", title.into());
            }
            told.put("inputSchema", schema);
            let hints = json::object(vec![
                ("readOnlyHint", tool.is_read_only.into()),
                ("destructiveHint", (!tool.is_read_only).into()),
                ("openWorldHint", tool.is_open_world.into()),
            ]);
            told.put("annotations", hints.into());
        }
    }
    Ok(told.into())
}

/// The strict form, if there is one and room for it; else why not.
fn strict_form(tool: &Told<'_>, format: Format, room: &mut Room) -> Result<Value, String> {
    let Some(mode) = format.strict_mode() else {
        return Err(format!("{} has no strict tools", format.as_str()));
    };
    let form = strict_for(tool.parameters, mode)?;
    if mode == Mode::Anthropic {
        let unions = unions(&form);
        if room.tools == 0 || unions > room.unions {
            return Err("the tools before it use up the 20 strict tools or 16 unions of a request".into());
        }
        room.tools -= 1;
        room.unions -= unions;
    }
    Ok(form)
}

/// Whether a schema has exactly one required property, and that is a text.
fn has_one_text(schema: &Value) -> bool {
    match schema.get("required").and_then(Value::as_array).map(Vec::as_slice) {
        Some([Value::String(name)]) => schema["properties"][name]["type"] == "string",
        _ => false,
    }
}
