//! Options of a toolset, as JSON: what a host may set. They are checked as a tool's arguments are, against a schema; an
//! option that is not known is refused, not ignored.

use serde_json::{Map, Value, json};

use crate::env::ImageLimits;
use crate::error::{ErrorCode, ToolError};
use crate::json;
use crate::path;
use crate::schema::{Coercion, CompiledSchema, Repairs, wording};
use crate::text::redact::Redactor;
use crate::text::truncate::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, Limits};
use crate::tools::{Builtin, ImageProcessor, ImageSettings, ShellSettings, shell};

/// The options. Defaults are those of an empty object.
///
/// ```
/// use tackroom::call::Options;
/// assert!(Options::from_json(br#"{"readOnly": true}"#).is_ok());
/// let error = Options::from_json(br#"{"limits": {"maxLines": 0}}"#).unwrap_err();
/// assert_eq!(error.message, "Toolset options: limits.maxLines must be >= 1, got 0");
/// let error = Options::from_json(br#"{"raedOnly": true}"#).unwrap_err();
/// assert!(error.message.starts_with("Toolset options: raedOnly is not allowed"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Options(Value);

impl Default for Options {
    fn default() -> Self {
        Options(Value::Object(Map::new()))
    }
}

/// What is an option: `NAMES`, `COUNT` and `EACH` stand for parts that come more than once, or depend on the tools.
const SCHEMA: &str = r#"{
    "tools": "NAMES",
    "excludeTools": "NAMES",
    "defaultTools": "NAMES",
    "root": {"type": "string"},
    "readOnly": {"type": "boolean"},
    "write": {"preserveEncoding": {"type": "boolean"}},
    "limits": {"maxLines": "COUNT", "maxBytes": "COUNT", "perTool": "EACH"},
    "updates": {"intervalMs": {"type": "number", "minimum": 0, "maximum": 1000000000}},
    "shell": {"commandPrefix": {"type": "string"}},
    "secrets": {"type": "array", "items": {"type": "string"}},
    "coercion": {"enum": ["safe", "ajv", "none"]},
    "images": {
        "processor": {"enum": ["none", "default", "own"]},
        "autoResize": {"type": "boolean"},
        "supported": {"type": "boolean"},
        "maxWidth": "COUNT",
        "maxHeight": "COUNT",
        "maxBytes": "COUNT"
    },
    "session": {
        "id": {"type": "string"},
        "file": {"type": "string"},
        "provider": {"type": "string"},
        "model": {"type": "string"},
        "reasoningLevel": {"type": "string"}
    },
    "exposeSessionEnvironment": {"type": "boolean"}
}"#;

/// The schema that a part of [`SCHEMA`] stands for: an object of options, unless it says something else.
fn schema(part: Value) -> Value {
    let names = || Builtin::ALL.iter().map(|tool| tool.name());
    match part {
        Value::String(part) => match part.as_str() {
            "NAMES" => json!({"type": "array", "items": {"enum": names().collect::<Vec<_>>()}}),
            "EACH" => {
                let limits = json!({"maxLines": "COUNT", "maxBytes": "COUNT", "limit": "COUNT"});
                schema(names().map(|name| (name.to_owned(), limits.clone())).collect())
            }
            _ => json!({"type": "integer", "minimum": 1}),
        },
        Value::Object(map) if !map.contains_key("type") && !map.contains_key("enum") => {
            let properties: Map<String, Value> =
                map.into_iter().map(|(name, part)| (name, schema(part))).collect();
            json!({"type": "object", "additionalProperties": false, "properties": properties})
        }
        other => other,
    }
}

impl Options {
    /// Options from JSON text.
    ///
    /// # Errors
    /// `invalid_arguments` naming the options that are unknown or out of range, and what was expected.
    pub fn from_json(text: &[u8]) -> Result<Options, ToolError> {
        let wrong = |what: String| ToolError::invalid_arguments(format!("Toolset options: {what}"));
        let value = json::parse(text).map_err(wrong)?;
        let schema = CompiledSchema::compile(&schema(json::known(SCHEMA)));
        let schema = schema.expect("the schema of options has structural keywords only");
        let as_it_is = Repairs { coercion: Coercion::None, drop_optional_nulls: false };
        match schema.check(value, as_it_is) {
            Ok(value) => Ok(Options(value)),
            Err(errors) => {
                let told = |error: &crate::schema::SchemaError| {
                    let option = if error.path.is_empty() { "they" } else { &error.path };
                    format!("{option} {}", error.message)
                };
                let told: Vec<String> = wording::sorted(errors).iter().take(5).map(told).collect();
                Err(wrong(told.join("; ")))
            }
        }
    }

    /// What is set there, as in `limits.maxLines`; null where nothing is.
    fn at(&self, option: &str) -> &Value {
        option.split('.').fold(&self.0, |value, name| &value[name])
    }

    fn names(&self, option: &str) -> Option<Vec<Builtin>> {
        let names = self.at(option).as_array()?;
        Some(names.iter().filter_map(|name| Builtin::named(name.as_str()?)).collect())
    }

    fn count(&self, option: &str) -> Option<u64> {
        // An integer may be written as 5.0.
        self.at(option).as_f64().map(|count| count as u64)
    }

    /// Register exactly these, all active.
    pub fn tools(&self) -> Option<Vec<Builtin>> {
        self.names("tools")
    }

    /// Neither registered nor active.
    pub fn exclude_tools(&self) -> Vec<Builtin> {
        self.names("excludeTools").unwrap_or_default()
    }

    /// Active at the start instead of the usual ones.
    pub fn default_tools(&self) -> Option<Vec<Builtin>> {
        self.names("defaultTools")
    }

    /// Whatever changes anything is not registered.
    pub fn read_only(&self) -> bool {
        self.at("readOnly") == true
    }

    /// A file that `write` replaces keeps its BOM, its encoding and its line endings.
    pub fn preserve_encoding(&self) -> bool {
        self.at("write.preserveEncoding") == true
    }

    /// How far arguments are repaired; default the obvious slips.
    pub fn coercion(&self) -> Coercion {
        match self.at("coercion").as_str() {
            Some("ajv") => Coercion::Ajv,
            Some("none") => Coercion::None,
            _ => Coercion::Safe,
        }
    }

    /// The directory that file tools are confined to. Shells, which it does not hold, are then registered only where
    /// `tools` or `defaultTools` name them.
    pub fn root(&self) -> Option<&str> {
        self.at("root").as_str()
    }

    /// The root, absolute and normal; a relative one is that of the working directory.
    pub fn root_in(&self, cwd: &str) -> Option<String> {
        self.root().map(|root| path::join(cwd, root))
    }

    /// Refuses a root that the working directory is not in: no relative path could be used.
    ///
    /// # Errors
    /// `invalid_path` for a root that is no path; `outside_root` naming both.
    pub fn check_root(&self, cwd: &str) -> Result<(), ToolError> {
        let Some(root) = self.root() else { return Ok(()) };
        let (root, cwd) = (path::absolute(cwd, root)?, path::join("/", cwd));
        if path::is_inside(&root, &cwd) {
            return Ok(());
        }
        let message = format!(
            "Toolset options: root must hold the environment's working directory: expected {cwd} inside of {root}"
        );
        Err(ToolError::new(ErrorCode::OutsideRoot, message).at(cwd))
    }

    /// That tool's own limit, else that of all tools, else the default.
    fn limit(&self, tool: Builtin, name: &str, default: usize) -> usize {
        let own = self.count(&["limits.perTool.", tool.name(), ".", name].concat());
        let limit = own.or_else(|| self.count(&["limits.", name].concat()));
        limit.map_or(default, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// How many results that tool shows where the model does not say, if that is set.
    pub fn results_of(&self, tool: Builtin) -> Option<u64> {
        self.count(&["limits.perTool.", tool.name(), ".limit"].concat())
    }

    /// What is shown of that tool's output at most.
    pub fn limits_of(&self, tool: Builtin) -> Limits {
        Limits {
            max_lines: self.limit(tool, "maxLines", DEFAULT_MAX_LINES),
            max_bytes: self.limit(tool, "maxBytes", DEFAULT_MAX_BYTES),
        }
    }

    /// Which images are shown, and how.
    pub fn images(&self) -> ImageSettings {
        let usual = ImageLimits::default();
        let pixels = |option, usual| {
            self.count(option).map_or(usual, |limit| u32::try_from(limit).unwrap_or(u32::MAX))
        };
        ImageSettings {
            processor: match self.at("images.processor").as_str() {
                Some("default") => ImageProcessor::Default,
                Some("own") => ImageProcessor::Own,
                _ => ImageProcessor::None,
            },
            supported: self.at("images.supported") != false,
            limits: ImageLimits {
                auto_resize: self.at("images.autoResize") != false,
                max_width: pixels("images.maxWidth", usual.max_width),
                max_height: pixels("images.maxHeight", usual.max_height),
                max_bytes: self.count("images.maxBytes").unwrap_or(usual.max_bytes),
            },
        }
    }

    /// What hides the secrets; `None` without any.
    pub fn redactor(&self) -> Option<Redactor> {
        let secrets = self.at("secrets").as_array()?;
        let redactor = Redactor::secrets(secrets.iter().filter_map(Value::as_str));
        (!redactor.is_empty()).then_some(redactor)
    }

    /// Settings of the shell tools.
    pub fn shell(&self) -> ShellSettings {
        let text = |option: &str| self.at(option).as_str().map(ToOwned::to_owned);
        let names = ["id", "file", "provider", "model", "reasoningLevel"];
        let facts = shell::SESSION_VARIABLES.iter().zip(names);
        let exposed = self.at("exposeSessionEnvironment") != false;
        ShellSettings {
            update_interval_ms: self.at("updates.intervalMs").as_f64().unwrap_or(100.0),
            command_prefix: text("shell.commandPrefix"),
            session_env: facts
                .filter(|_| exposed)
                .filter_map(|(name, fact)| Some(((*name).to_owned(), text(&["session.", fact].concat())?)))
                .collect(),
        }
    }
}
