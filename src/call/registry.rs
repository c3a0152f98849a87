//! Which tools there are, and which of them the model sees.

use std::cell::OnceCell;
use std::rc::Rc;

use serde_json::Value;

use crate::env::Shell;
use crate::error::{ErrorCode, ToolError};
use crate::schema::CompiledSchema;
use crate::schema::export::Format;
use crate::tools::declare::{Told, declare};
use crate::tools::{Builtin, Declaration, Facts, Place, shell};

use super::Options;

/// The tools of one toolset. The active list is the part of the registry that the model sees: only active tools
/// are found by a call, and only they are named in a hint.
#[derive(Clone, Debug)]
pub struct Registry {
    tools: Vec<Registered>,
    active: Vec<Builtin>,
    shells: Vec<Shell>,
}

#[derive(Clone, Debug)]
struct Registered {
    tool: Builtin,
    /// Compiled at first use, and shared by clones of the registry.
    schema: Rc<OnceCell<CompiledSchema>>,
}

impl Registry {
    /// The tools that the options and the environment's shells leave.
    pub fn new(options: &Options, shells: &[Shell]) -> Registry {
        let (listed, usual) = (options.tools(), options.default_tools());
        let named = |tool: &Builtin| listed.iter().chain(&usual).any(|names| names.contains(tool));
        let excluded_tools = options.exclude_tools();
        let mut tools: Vec<Registered> = Vec::new();
        for &tool in listed.as_deref().unwrap_or(&Builtin::ALL) {
            let excluded = excluded_tools.contains(&tool)
                || (options.read_only() && !tool.is_read_only())
                || tool.shell().is_some_and(|shell| !shells.contains(&shell))
                // A root does not hold a shell: it is there where it was asked for.
                || (options.root().is_some() && tool.shell().is_some() && !named(&tool))
                || tools.iter().any(|known| known.tool == tool);
            if !excluded {
                tools.push(Registered { tool, schema: Rc::default() });
            }
        }
        let all: Vec<Builtin> = tools.iter().map(|known| known.tool).collect();
        let mut registry = Registry { tools, active: vec![], shells: shells.to_vec() };
        // An allowlist is active whole; else the default is read, a shell, edit, write, as far as they are there, and
        // the search tools where there is no shell to search with.
        match (&listed, &usual) {
            (None, Some(tools)) => registry.activate(tools),
            (Some(_), _) => registry.active = all,
            (None, None) => {
                let shell = all.iter().copied().find(|tool| tool.shell().is_some());
                let usual = |tool: &Builtin| match shell {
                    Some(_) if tool.shell().is_some() => shell == Some(*tool),
                    Some(_) => !tool.is_search(),
                    None => true,
                };
                registry.active = all.iter().copied().filter(usual).collect();
            }
        }
        registry
    }

    /// Every tool there is.
    pub fn registered(&self) -> impl Iterator<Item = Builtin> {
        self.tools.iter().map(|known| known.tool)
    }

    /// What the model sees, in order.
    pub fn active(&self) -> &[Builtin] {
        &self.active
    }

    /// Makes these the active ones. Unknown names are ignored; tools that stay keep their order, new ones come
    /// after them.
    pub fn set_active<S: AsRef<str>>(&mut self, names: &[S]) {
        let named: Vec<Builtin> = names.iter().filter_map(|name| Builtin::named(name.as_ref())).collect();
        self.activate(&named);
    }

    fn activate(&mut self, tools: &[Builtin]) {
        let is_there = |tool: &Builtin| self.registered().any(|known| known == *tool);
        let asked: Vec<Builtin> = tools.iter().copied().filter(is_there).collect();
        self.active.retain(|tool| asked.contains(tool));
        for tool in asked {
            if !self.active.contains(&tool) {
                self.active.push(tool);
            }
        }
    }

    /// The active tool of that name.
    ///
    /// # Errors
    /// `no_such_tool`; `no_shell` for a shell tool where there is no such shell.
    pub fn find(&self, name: &str) -> Result<Builtin, ToolError> {
        if let Some(tool) = self.active.iter().find(|tool| tool.name() == name) {
            return Ok(*tool);
        }
        if let Some(wanted) = Builtin::named(name).and_then(Builtin::shell)
            && !self.shells.contains(&wanted)
        {
            return Err(shell::no_shell(wanted));
        }
        let shown: String = name.chars().take(80).collect();
        let names: Vec<&str> = self.active.iter().map(|tool| tool.name()).collect();
        let known = match names.is_empty() {
            true => "no tool is active".to_owned(),
            false => format!("the tools are {}", names.join(", ")),
        };
        Err(ToolError::new(ErrorCode::NoSuchTool, format!("Tool {shown} not found: {known}")))
    }

    /// The compiled schema of a registered tool's arguments.
    ///
    /// # Panics
    /// When the tool is not registered, or a built-in's schema needs more than the structural keywords: both are
    /// mistakes in this crate.
    pub fn schema(&self, tool: Builtin) -> &CompiledSchema {
        let known =
            self.tools.iter().find(|known| known.tool == tool).expect("only registered tools are found");
        known.schema.get_or_init(|| {
            CompiledSchema::compile(&tool.parameters()).expect("built-ins use structural keywords only")
        })
    }

    /// What the model sees of the active tools.
    pub fn declarations(&self, options: &Options, place: Place<'_>) -> Vec<Declaration> {
        let images = options.images();
        let declare = |tool: &Builtin| {
            tool.declaration(&Facts {
                active: &self.active,
                limits: options.limits_of(*tool),
                results: options.results_of(*tool),
                images: &images,
                place,
            })
        };
        self.active.iter().map(declare).collect()
    }

    /// The same, as a provider's API lists tools.
    ///
    /// # Errors
    /// Those of [`declare`].
    pub fn declared(
        &self,
        options: &Options,
        place: Place<'_>,
        format: Format,
    ) -> Result<Vec<Value>, ToolError> {
        let declarations = self.declarations(options, place);
        let told = |(tool, declaration)| told(tool, declaration);
        declare(&self.active.iter().zip(&declarations).map(told).collect::<Vec<_>>(), format)
    }
}

fn told<'a>(tool: &Builtin, declaration: &'a Declaration) -> Told<'a> {
    Told {
        name: declaration.name,
        title: Some(declaration.label),
        description: &declaration.description,
        parameters: &declaration.parameters,
        constrained_sampling: declaration.constrained_sampling.as_ref(),
        is_read_only: tool.is_read_only(),
        is_open_world: tool.shell().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[Builtin]) -> Vec<&str> {
        tools.iter().map(|tool| tool.name()).collect()
    }

    fn registry(options: &str, shells: &[Shell]) -> Registry {
        Registry::new(&Options::from_json(options.as_bytes()).unwrap(), shells)
    }

    #[test]
    fn defaults_follow_the_shells() {
        assert_eq!(names(registry("{}", &[Shell::Bash]).active()), ["read", "bash", "edit", "write"]);
        let without = registry("{}", &[]);
        assert_eq!(names(without.active()), ["read", "edit", "write", "grep", "find", "ls"]);
        let error = without.find("bash").unwrap_err();
        assert_eq!(error.code, ErrorCode::NoShell);
    }

    #[test]
    fn an_allowlist_registers_exactly_those() {
        let two = registry(r#"{"tools": ["write", "read"]}"#, &[Shell::Bash]);
        assert_eq!(names(two.active()), ["write", "read"]);
        assert_eq!(two.registered().count(), 2);
        let read_only = registry(r#"{"readOnly": true}"#, &[Shell::Bash]);
        assert_eq!(names(read_only.active()), ["read", "grep", "find", "ls"]);
        let excluded =
            registry(r#"{"excludeTools": ["bash"], "defaultTools": ["bash", "read"]}"#, &[Shell::Bash]);
        assert_eq!(names(excluded.active()), ["read"]);
        assert_eq!(excluded.registered().count(), 6);
        let rooted = registry(r#"{"root": "/work"}"#, &[Shell::Bash]);
        assert_eq!(names(rooted.active()), ["read", "edit", "write", "grep", "find", "ls"]);
        let asked = registry(r#"{"root": "/work", "tools": ["read", "bash"]}"#, &[Shell::Bash]);
        assert_eq!(names(asked.active()), ["read", "bash"]);
    }

    #[test]
    fn set_active_keeps_the_order_of_those_that_stay() {
        let mut registry = registry("{}", &[Shell::Bash]);
        registry.set_active(&["write", "nonsense", "read"]);
        assert_eq!(names(registry.active()), ["read", "write"]);
        registry.set_active(&["bash", "write", "read"]);
        assert_eq!(names(registry.active()), ["read", "write", "bash"]);
        assert_eq!(registry.find("edit").unwrap_err().code, ErrorCode::NoSuchTool);
    }
}
