//! What a model is told of tools, in the words of each provider's API.

use serde_json::{Map, Value};

use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Keys};
use crate::schema::export::{Format, open};
use crate::schema::strict::{MAX_STRICT_TOOLS, MAX_UNIONS, Mode, strict_for, unions};

/// How a provider is asked to sample the arguments of a tool: `constrainedSampling`, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling<'a> {
    /// As it likes.
    Free,
    /// By the strict form of the tool's schema.
    JsonSchema {
        /// Whether it is an error where there is no strict form, or no strict mode.
        is_required: bool,
    },
    /// By a grammar, where the provider takes one: the tool has exactly one required property, a text, which it
    /// describes.
    Grammar {
        /// `lark` or `regex`.
        syntax: &'static str,
        /// The grammar.
        definition: &'a str,
    },
}

impl Sampling<'_> {
    /// `{"type": "json_schema", "strict": "prefer" | "require"}`,
    /// `{"type": "grammar", "variants": {"openai_lark"?, "openai_regex"?}}`, of which the first is taken, or false or
    /// null for none.
    ///
    /// # Errors
    /// For anything else, what was expected.
    ///
    /// ```
    /// use serde_json::json;
    /// use tackroom::tools::declare::Sampling;
    /// let prefer = json!({"type": "json_schema", "strict": "prefer"});
    /// assert_eq!(Sampling::read(&prefer), Ok(Sampling::JsonSchema { is_required: false }));
    /// assert_eq!(Sampling::read(&json!(false)), Ok(Sampling::Free));
    /// assert!(Sampling::read(&json!({"type": "json_schema"})).is_err());
    /// ```
    pub fn read(value: &Value) -> Result<Sampling<'_>, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        match (text("type"), text("strict")) {
            (Some("json_schema"), Some("prefer")) => return Ok(Sampling::JsonSchema { is_required: false }),
            (Some("json_schema"), Some("require")) => return Ok(Sampling::JsonSchema { is_required: true }),
            (Some("grammar"), _) => {
                for (variant, syntax) in [("openai_lark", "lark"), ("openai_regex", "regex")] {
                    if let Some(Value::String(definition)) =
                        value.get("variants").and_then(|all| all.get(variant))
                        && !definition.trim().is_empty()
                    {
                        return Ok(Sampling::Grammar { syntax, definition });
                    }
                }
            }
            _ if matches!(value, Value::Bool(false) | Value::Null) => return Ok(Sampling::Free),
            _ => {}
        }
        Err("expected false, {type: \"json_schema\", strict: \"prefer\" or \"require\"} or {type: \"grammar\", \
             variants: {openai_lark or openai_regex: a text}}"
            .into())
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
    let sampling = Sampling::read(tool.constrained_sampling.unwrap_or(&Value::Null))
        .map_err(|error| refused(format!("has constrainedSampling that cannot be read: {error}")))?;
    let mut told = Map::of("name", tool.name.into());
    if let (Format::Mcp, Some(title)) = (format, tool.title) {
        told.put_text("title", title);
    }
    told.put_text("description", tool.description);
    if let Sampling::Grammar { syntax, definition } = sampling {
        if !has_one_text(tool.parameters) {
            return Err(refused(
                "cannot use grammar constrained sampling: its parameters need exactly one required property, of type string"
                    .into(),
            ));
        }
        let mut grammar = Map::of("syntax", syntax.into());
        grammar.put_text("definition", definition);
        match format {
            Format::OpenAiChat => {
                let mut form = Map::of("type", "grammar".into());
                form.put("grammar", grammar.into());
                told.put("format", form.into());
                let mut outer = Map::of("type", "custom".into());
                outer.put("custom", told.into());
                return Ok(outer.into());
            }
            Format::OpenAiResponses => {
                grammar.put_text("type", "grammar");
                told.put_text("type", "custom");
                told.put("format", grammar.into());
                return Ok(told.into());
            }
            _ => {}
        }
    }
    let mut strict = None;
    if let Sampling::JsonSchema { is_required } = sampling {
        match strict_form(tool, format, room) {
            Ok(form) => strict = Some(form),
            Err(why) if is_required => {
                let message =
                    format!("Tool {:?} requires JSON-schema constrained sampling, but {why}", tool.name);
                return Err(ToolError::new(ErrorCode::NotSupported, message));
            }
            Err(_) => {}
        }
    }
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
            if format == Format::OpenAiChat {
                told = Map::of("function", told.into());
            }
            told.put_text("type", "function");
        }
        Format::Mcp => {
            told.put("inputSchema", schema);
            let mut hints = Map::of("readOnlyHint", tool.is_read_only.into());
            hints.put("destructiveHint", (!tool.is_read_only).into());
            hints.put("openWorldHint", tool.is_open_world.into());
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told<'a>(parameters: &'a Value, sampling: &'a Value) -> Told<'a> {
        Told {
            name: "t",
            title: Some("T"),
            description: "d",
            parameters,
            constrained_sampling: Some(sampling),
            is_read_only: false,
            is_open_world: false,
        }
    }

    fn declared(parameters: &Value, sampling: Value, format: Format) -> Result<Value, String> {
        let mut declared = declare(&[told(parameters, &sampling)], format).map_err(|error| error.message)?;
        Ok(declared.remove(0))
    }

    #[test]
    fn a_tool_is_strict_where_it_asks_for_it_and_can_be() {
        let open = json!({"type": "object", "properties": {"any": {}}});
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}});
        let mode = |strict: &str| json!({"type": "json_schema", "strict": strict});
        for format in [Format::OpenAiChat, Format::OpenAiResponses] {
            let is_strict = |parameters: &Value, sampling: Value| {
                let tool = declared(parameters, sampling, format).unwrap();
                tool.get("function").unwrap_or(&tool)["strict"].clone()
            };
            assert_eq!(is_strict(&closed, mode("prefer")), true);
            assert_eq!(is_strict(&closed, mode("require")), true);
            assert_eq!(is_strict(&closed, json!(false)), false);
            assert_eq!(is_strict(&closed, Value::Null), false);
            assert_eq!(is_strict(&open, mode("prefer")), false);
        }
        assert_eq!(
            declared(&open, mode("require"), Format::OpenAiChat).unwrap_err(),
            "Tool \"t\" requires JSON-schema constrained sampling, but /properties/any says nothing of its type"
        );
        assert_eq!(
            declared(&closed, mode("require"), Format::Gemini).unwrap_err(),
            "Tool \"t\" requires JSON-schema constrained sampling, but gemini has no strict tools"
        );
        let error = declare(&[told(&open, &mode("require"))], Format::Anthropic).unwrap_err();
        assert_eq!(error.code, ErrorCode::NotSupported);
        assert_eq!(
            declared(&json!({"type": "string"}), json!(false), Format::Mcp).unwrap_err(),
            "Tool \"t\" cannot be declared. Expected the schema of an object, found type \"string\": a tool's arguments \
             are an object, so make this a property of one"
        );
    }

    #[test]
    fn anthropic_has_room_for_some() {
        let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
        let unions = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"},
            "c": {"type": "string"}, "d": {"type": "string"}, "e": {"type": "string"}}});
        let prefer = prefer_strict();
        let strict = |parameters: &Value, count: usize| {
            let tools: Vec<Told<'_>> = (0..count).map(|_| told(parameters, &prefer)).collect();
            let declared = declare(&tools, Format::Anthropic).unwrap();
            declared.iter().filter(|tool| tool.get("strict").is_some()).count()
        };
        assert_eq!((strict(&plain, 22), strict(&unions, 4)), (20, 3));
        let require = json!({"type": "json_schema", "strict": "require"});
        let tools: Vec<Told<'_>> = (0..4).map(|_| told(&unions, &require)).collect();
        let error = declare(&tools, Format::Anthropic).unwrap_err();
        assert!(error.message.ends_with("use up the 20 strict tools or 16 unions of a request"), "{error}");
    }

    #[test]
    fn grammars_are_for_openai() {
        let one = json!({"type": "object", "properties": {"input": {"type": "string"}, "n": {"type": "number"}},
            "required": ["input"]});
        let grammar = |variants: Value| json!({"type": "grammar", "variants": variants});
        let both = || grammar(json!({"openai_lark": "start: /a/", "openai_regex": "a"}));
        assert_eq!(
            declared(&one, both(), Format::OpenAiResponses).unwrap(),
            json!({"type": "custom", "name": "t", "description": "d",
                "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"}})
        );
        assert_eq!(
            declared(&one, grammar(json!({"openai_regex": "a"})), Format::OpenAiChat).unwrap(),
            json!({"type": "custom", "custom": {"name": "t", "description": "d",
                "format": {"type": "grammar", "grammar": {"syntax": "regex", "definition": "a"}}}})
        );
        assert_eq!(
            declared(&one, both(), Format::Anthropic).unwrap(),
            json!({"name": "t", "description": "d", "input_schema": one})
        );
        for parameters in [
            json!({}),
            json!({"properties": {"a": {"type": "string"}}, "required": ["a", "b"]}),
            json!({"properties": {"a": {"type": "number"}}, "required": ["a"]}),
        ] {
            let why = declared(&parameters, both(), Format::OpenAiChat).unwrap_err();
            assert!(why.starts_with("Tool \"t\" cannot use grammar constrained sampling: "), "{why}");
        }
        for wrong in [
            grammar(json!({})),
            grammar(json!({"openai_lark": " "})),
            json!(true),
            json!("strict"),
            json!({"type": "json_schema", "strict": true}),
            json!({"type": "regex"}),
        ] {
            let why = declared(&one, wrong.clone(), Format::JsonSchema).unwrap_err();
            assert!(
                why.contains("has constrainedSampling that cannot be read: expected false, "),
                "{wrong}: {why}"
            );
        }
    }
}
