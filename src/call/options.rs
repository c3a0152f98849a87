//! Options of a toolset, as JSON: what a host may set. An option that is not known is refused, not ignored.

use serde::Deserialize;

use crate::error::{ErrorCode, ToolError};
use crate::path;
use crate::schema::Coercion;
use crate::text::truncate::{DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, Limits};
use crate::tools::{Builtin, ShellSettings};

/// The options. Defaults are those of an empty object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
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
    /// How far arguments are repaired.
    pub coercion: CoercionOption,
    /// Facts about the session, for commands.
    pub session: Session,
    /// `false` keeps them from commands.
    pub expose_session_environment: Option<bool>,
}

/// Limits, for all tools and per tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LimitOptions {
    /// Default 2000.
    pub max_lines: Option<f64>,
    /// UTF-8 bytes; default 51,200.
    pub max_bytes: Option<f64>,
    /// Over the two above.
    pub per_tool: std::collections::BTreeMap<String, ToolLimits>,
}

/// Limits of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ToolLimits {
    /// As [`LimitOptions::max_lines`].
    pub max_lines: Option<f64>,
    /// As [`LimitOptions::max_bytes`].
    pub max_bytes: Option<f64>,
}

/// How `write` stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct WriteOptions {
    /// A file keeps its BOM, its encoding and its line endings.
    pub preserve_encoding: bool,
}

/// Snapshots of running commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct UpdateOptions {
    /// Milliseconds between two; default 100.
    pub interval_ms: Option<f64>,
}

/// How far arguments are repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoercionOption {
    /// Obvious slips.
    #[default]
    Safe,
    /// Not at all.
    None,
}

impl From<CoercionOption> for Coercion {
    fn from(option: CoercionOption) -> Self {
        match option {
            CoercionOption::Safe => Coercion::Safe,
            CoercionOption::None => Coercion::None,
        }
    }
}

/// Facts about the session.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
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
        let options: Options = serde_json::from_slice(text)
            .map_err(|error| ToolError::invalid_arguments(format!("Toolset options: {error}")))?;
        let limits = &options.limits;
        at_least_one("limits.maxLines", limits.max_lines)?;
        at_least_one("limits.maxBytes", limits.max_bytes)?;
        for (tool, limits) in &limits.per_tool {
            known(&format!("limits.perTool.{tool}"), tool)?;
            at_least_one(&format!("limits.perTool.{tool}.maxLines"), limits.max_lines)?;
            at_least_one(&format!("limits.perTool.{tool}.maxBytes"), limits.max_bytes)?;
        }
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

    /// What is shown of that tool's output at most.
    pub fn limits_of(&self, tool: Builtin) -> Limits {
        let own = self.limits.per_tool.get(tool.name()).copied().unwrap_or_default();
        let or = |own: Option<f64>, all: Option<f64>, default: usize| {
            own.or(all).map_or(default, |limit| limit as usize)
        };
        Limits {
            max_lines: or(own.max_lines, self.limits.max_lines, DEFAULT_MAX_LINES),
            max_bytes: or(own.max_bytes, self.limits.max_bytes, DEFAULT_MAX_BYTES),
        }
    }

    /// Settings of the shell tools.
    pub fn shell(&self) -> ShellSettings {
        let session = &self.session;
        let facts = [&session.id, &session.file, &session.provider, &session.model, &session.reasoning_level];
        let set = crate::tools::bash::SESSION_VARIABLES.iter().zip(facts);
        let exposed = self.expose_session_environment.unwrap_or(true);
        ShellSettings {
            update_interval_ms: self.updates.interval_ms.unwrap_or(100.0),
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
            "Toolset options: {option} must be a whole number of at least 1, got {limit}"
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
