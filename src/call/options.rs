//! Options of a toolset, as JSON: what a host may set. An option that is not known is refused, not ignored.

use serde_json::Value;

use crate::env::ImageLimits;
use crate::error::{ErrorCode, ToolError};
use crate::json::{self, Fields};
use crate::path;
use crate::schema::Coercion;
use crate::text::redact::Redactor;
use crate::text::truncate::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, Limits};
use crate::tools::{Builtin, ImageProcessor, ImageSettings, ShellSettings};

/// The options. Defaults are those of an empty object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Register exactly these, all active.
    pub tools: Option<Vec<String>>,
    /// Neither registered nor active.
    pub exclude_tools: Vec<String>,
    /// Active at the start instead of the usual ones.
    pub default_tools: Option<Vec<String>>,
    /// The directory that file tools are confined to. Shells, which it does not hold, are then registered only
    /// where `tools` or `defaultTools` name them.
    pub root: Option<String>,
    /// Whatever changes anything is not registered.
    pub read_only: bool,
    /// How `write` stores.
    pub write: WriteOptions,
    /// The cuts.
    pub limits: LimitOptions,
    /// Snapshots of running commands.
    pub updates: UpdateOptions,
    /// What every bash command begins with, in a line of its own.
    pub command_prefix: Option<String>,
    /// Texts that nobody is to see.
    pub secrets: Vec<String>,
    /// How far arguments are repaired.
    pub coercion: CoercionOption,
    /// Which images are shown, and how.
    pub images: ImageOptions,
    /// Facts about the session, for commands.
    pub session: Session,
    /// `false` keeps them from commands.
    pub expose_session_environment: Option<bool>,
}

/// Limits, for all tools and per tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LimitOptions {
    /// Default 2000.
    pub max_lines: Option<f64>,
    /// UTF-8 bytes; default 51,200.
    pub max_bytes: Option<f64>,
    /// By tool, over the two above.
    pub per_tool: Vec<(String, ToolLimits)>,
}

/// Limits of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToolLimits {
    /// As [`LimitOptions::max_lines`].
    pub max_lines: Option<f64>,
    /// As [`LimitOptions::max_bytes`].
    pub max_bytes: Option<f64>,
    /// How many results `grep`, `find` and `ls` show where the model does not say; defaults 100, 1000 and 500.
    pub limit: Option<f64>,
}

/// How `write` stores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteOptions {
    /// A file keeps its BOM, its encoding and its line endings.
    pub preserve_encoding: bool,
}

/// Which images are shown, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ImageOptions {
    /// Who makes them fit; default nobody.
    pub processor: ImageProcessor,
    /// Whether one over a limit is made smaller; default true.
    pub auto_resize: Option<bool>,
    /// Whether the model takes images; default true.
    pub supported: Option<bool>,
    /// Pixels; default 2000.
    pub max_width: Option<f64>,
    /// Pixels; default 2000.
    pub max_height: Option<f64>,
    /// Bytes of base64; default 4.5 MB.
    pub max_bytes: Option<f64>,
}

/// Snapshots of running commands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdateOptions {
    /// Milliseconds between two; default 100.
    pub interval_ms: Option<f64>,
}

/// How far arguments are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoercionOption {
    /// Obvious slips.
    #[default]
    Safe,
    /// As AJV 8 with `coerceTypes: true`.
    Ajv,
    /// Not at all.
    None,
}

impl LimitOptions {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["maxLines?", "maxBytes?", "perTool"])?;
        let per_tool = |value: Value| {
            let tools = Fields::of(value)?.entries();
            tools.map(|(name, limits)| Ok((name, ToolLimits::read(limits)?))).collect()
        };
        Ok(LimitOptions {
            max_lines: fields.number("maxLines")?,
            max_bytes: fields.number("maxBytes")?,
            per_tool: fields.read("perTool", per_tool)?.unwrap_or_default(),
        })
    }
}

impl ToolLimits {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["maxLines?", "maxBytes?", "limit?"])?;
        Ok(ToolLimits {
            max_lines: fields.number("maxLines")?,
            max_bytes: fields.number("maxBytes")?,
            limit: fields.number("limit")?,
        })
    }
}

impl WriteOptions {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["preserveEncoding"])?;
        Ok(WriteOptions { preserve_encoding: fields.flag("preserveEncoding")?.unwrap_or_default() })
    }
}

impl UpdateOptions {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["intervalMs?"])?;
        Ok(UpdateOptions { interval_ms: fields.number("intervalMs")? })
    }
}

/// `{ commandPrefix? }`
fn command_prefix(shell: Value) -> Result<Option<String>, String> {
    let mut fields = Fields::of(shell)?;
    fields.only(&["commandPrefix?"])?;
    fields.text("commandPrefix")
}

impl ImageOptions {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["processor?", "autoResize?", "supported?", "maxWidth?", "maxHeight?", "maxBytes?"])?;
        Ok(ImageOptions {
            processor: match fields.text("processor")?.as_deref() {
                None | Some("none") => ImageProcessor::None,
                Some("default") => ImageProcessor::Default,
                Some("own") => ImageProcessor::Own,
                Some(other) => {
                    return Err(format!(
                        "unknown variant `{other}`, expected one of `none`, `default`, `own`"
                    ));
                }
            },
            auto_resize: fields.flag("autoResize")?,
            supported: fields.flag("supported")?,
            max_width: fields.number("maxWidth")?,
            max_height: fields.number("maxHeight")?,
            max_bytes: fields.number("maxBytes")?,
        })
    }
}

impl CoercionOption {
    fn read(value: Value) -> Result<Self, String> {
        match value.as_str() {
            Some("safe") => Ok(CoercionOption::Safe),
            Some("ajv") => Ok(CoercionOption::Ajv),
            Some("none") => Ok(CoercionOption::None),
            Some(other) => Err(format!("unknown variant `{other}`, expected one of `safe`, `ajv`, `none`")),
            None => Err(json::wrong(&value, "one of `safe`, `ajv`, `none`")),
        }
    }
}

impl Session {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&["id?", "file?", "provider?", "model?", "reasoningLevel?"])?;
        Ok(Session {
            id: fields.text("id")?,
            file: fields.text("file")?,
            provider: fields.text("provider")?,
            model: fields.text("model")?,
            reasoning_level: fields.text("reasoningLevel")?,
        })
    }
}

impl From<CoercionOption> for Coercion {
    fn from(option: CoercionOption) -> Self {
        match option {
            CoercionOption::Safe => Coercion::Safe,
            CoercionOption::Ajv => Coercion::Ajv,
            CoercionOption::None => Coercion::None,
        }
    }
}

/// Facts about the session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// `PI_SESSION_ID`
    pub id: Option<String>,
    /// `PI_SESSION_FILE`
    pub file: Option<String>,
    /// `PI_PROVIDER`
    pub provider: Option<String>,
    /// `PI_MODEL`
    pub model: Option<String>,
    /// `PI_REASONING_LEVEL`
    pub reasoning_level: Option<String>,
}

impl Options {
    /// Options from JSON text.
    ///
    /// # Errors
    /// `invalid_arguments` naming the option that is unknown or out of range, and what was expected.
    ///
    /// ```
    /// use tackroom::call::Options;
    /// assert!(Options::from_json(br#"{"readOnly": true}"#).is_ok());
    /// assert!(Options::from_json(br#"{"raedOnly": true}"#).is_err());
    /// assert!(Options::from_json(br#"{"limits": {"maxLines": 0}}"#).is_err());
    /// ```
    pub fn from_json(text: &[u8]) -> Result<Options, ToolError> {
        let options = json::parse(text).and_then(Options::read);
        let options =
            options.map_err(|error| ToolError::invalid_arguments(format!("Toolset options: {error}")))?;
        let limits = &options.limits;
        at_least_one("limits.maxLines", limits.max_lines)?;
        at_least_one("limits.maxBytes", limits.max_bytes)?;
        for (tool, limits) in &limits.per_tool {
            known(&format!("limits.perTool.{tool}"), tool)?;
            at_least_one(&format!("limits.perTool.{tool}.maxLines"), limits.max_lines)?;
            at_least_one(&format!("limits.perTool.{tool}.maxBytes"), limits.max_bytes)?;
            at_least_one(&format!("limits.perTool.{tool}.limit"), limits.limit)?;
        }
        at_least_one("images.maxWidth", options.images.max_width)?;
        at_least_one("images.maxHeight", options.images.max_height)?;
        at_least_one("images.maxBytes", options.images.max_bytes)?;
        if options.updates.interval_ms.is_some_and(|ms| !(0.0..=1e9).contains(&ms)) {
            return Err(ToolError::invalid_arguments(
                "Toolset options: updates.intervalMs must be 0 or more milliseconds",
            ));
        }
        for (option, names) in [
            ("tools", options.tools.as_deref()),
            ("excludeTools", Some(options.exclude_tools.as_slice())),
            ("defaultTools", options.default_tools.as_deref()),
        ] {
            names.into_iter().flatten().try_for_each(|name| known(option, name))?;
        }
        Ok(options)
    }

    fn read(value: Value) -> Result<Options, String> {
        let mut fields = Fields::of(value)?;
        fields.only(&[
            "tools?",
            "excludeTools",
            "defaultTools?",
            "root?",
            "readOnly",
            "write",
            "limits",
            "updates",
            "shell",
            "secrets",
            "coercion",
            "images",
            "session",
            "exposeSessionEnvironment?",
        ])?;
        Ok(Options {
            tools: fields.texts("tools")?,
            exclude_tools: fields.texts("excludeTools")?.unwrap_or_default(),
            default_tools: fields.texts("defaultTools")?,
            root: fields.text("root")?,
            read_only: fields.flag("readOnly")?.unwrap_or_default(),
            write: fields.read("write", WriteOptions::read)?.unwrap_or_default(),
            limits: fields.read("limits", LimitOptions::read)?.unwrap_or_default(),
            updates: fields.read("updates", UpdateOptions::read)?.unwrap_or_default(),
            command_prefix: fields.read("shell", command_prefix)?.flatten(),
            secrets: fields.texts("secrets")?.unwrap_or_default(),
            coercion: fields.read("coercion", CoercionOption::read)?.unwrap_or_default(),
            images: fields.read("images", ImageOptions::read)?.unwrap_or_default(),
            session: fields.read("session", Session::read)?.unwrap_or_default(),
            expose_session_environment: fields.flag("exposeSessionEnvironment")?,
        })
    }

    /// The root, absolute and normal; a relative one is that of the working directory.
    pub fn root_in(&self, cwd: &str) -> Option<String> {
        self.root.as_deref().map(|root| path::join(cwd, root))
    }

    /// Refuses a root that the working directory is not in: no relative path could be used.
    ///
    /// # Errors
    /// `invalid_path` for a root that is no path; `outside_root` naming both.
    pub fn check_root(&self, cwd: &str) -> Result<(), ToolError> {
        let Some(root) = &self.root else { return Ok(()) };
        let (root, cwd) = (path::absolute(cwd, root)?, path::join("/", cwd));
        if path::is_inside(&root, &cwd) {
            return Ok(());
        }
        let message = format!(
            "Toolset options: root must hold the environment's working directory: expected {cwd} inside of {root}"
        );
        Err(ToolError::new(ErrorCode::OutsideRoot, message).at(cwd))
    }

    fn own_limits(&self, tool: Builtin) -> ToolLimits {
        let own = self.limits.per_tool.iter().find(|(name, _)| name == tool.name());
        own.map(|(_, limits)| *limits).unwrap_or_default()
    }

    /// How many results that tool shows where the model does not say, if that is set.
    pub fn results_of(&self, tool: Builtin) -> Option<u64> {
        self.own_limits(tool).limit.map(|limit| limit as u64)
    }

    /// What is shown of that tool's output at most.
    pub fn limits_of(&self, tool: Builtin) -> Limits {
        let own = self.own_limits(tool);
        let or = |own: Option<f64>, all: Option<f64>, default: usize| {
            own.or(all).map_or(default, |limit| limit as usize)
        };
        Limits {
            max_lines: or(own.max_lines, self.limits.max_lines, DEFAULT_MAX_LINES),
            max_bytes: or(own.max_bytes, self.limits.max_bytes, DEFAULT_MAX_BYTES),
        }
    }

    /// Which images are shown, and how.
    pub fn images(&self) -> ImageSettings {
        let (set, usual) = (&self.images, ImageLimits::default());
        ImageSettings {
            processor: set.processor,
            supported: set.supported.unwrap_or(true),
            limits: ImageLimits {
                auto_resize: set.auto_resize.unwrap_or(true),
                max_width: set.max_width.map_or(usual.max_width, |limit| limit as u32),
                max_height: set.max_height.map_or(usual.max_height, |limit| limit as u32),
                max_bytes: set.max_bytes.map_or(usual.max_bytes, |limit| limit as u64),
            },
        }
    }

    /// What hides the secrets; `None` without any.
    pub fn redactor(&self) -> Option<Redactor> {
        let redactor = Redactor::secrets(self.secrets.iter().cloned());
        (!redactor.is_empty()).then_some(redactor)
    }

    /// Settings of the shell tools.
    pub fn shell(&self) -> ShellSettings {
        let session = &self.session;
        let facts = [&session.id, &session.file, &session.provider, &session.model, &session.reasoning_level];
        let set = crate::tools::shell::SESSION_VARIABLES.iter().zip(facts);
        let exposed = self.expose_session_environment.unwrap_or(true);
        ShellSettings {
            update_interval_ms: self.updates.interval_ms.unwrap_or(100.0),
            command_prefix: self.command_prefix.clone(),
            session_env: set
                .filter(|_| exposed)
                .filter_map(|(name, fact)| Some(((*name).to_owned(), fact.clone()?)))
                .collect(),
        }
    }
}

fn at_least_one(option: &str, limit: Option<f64>) -> Result<(), ToolError> {
    match limit {
        Some(limit) if !(limit >= 1.0 && limit.fract() == 0.0) => Err(ToolError::invalid_arguments(format!(
            "Toolset options: {option} must be a whole number of at least 1, got {}",
            json::shown(limit)
        ))),
        _ => Ok(()),
    }
}

fn known(option: &str, name: &str) -> Result<(), ToolError> {
    if Builtin::named(name).is_some() {
        return Ok(());
    }
    let names = Builtin::ALL.map(Builtin::name).join(", ");
    Err(ToolError::invalid_arguments(format!(
        "Toolset options: {option} names no tool: expected one of {names}, got \"{name}\""
    )))
}
