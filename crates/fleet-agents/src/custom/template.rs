//! Arguments with placeholders.

use std::path::Path;

use super::spec::CustomError;
use crate::adapter::Brief;

/// The placeholders of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgPlaceholder {
    Model,
    Effort,
    PromptFile,
    Workspace,
    Scratch,
    Session,
    NewSession,
    SystemPromptFile,
}

impl ArgPlaceholder {
    const ALL: &'static [(&'static str, Self)] = &[
        ("model", Self::Model),
        ("effort", Self::Effort),
        ("prompt_file", Self::PromptFile),
        ("workspace", Self::Workspace),
        ("scratch", Self::Scratch),
        ("session", Self::Session),
        ("new_session", Self::NewSession),
        ("system_prompt_file", Self::SystemPromptFile),
    ];

    fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, placeholder)| *placeholder)
    }

    fn names() -> String {
        let names: Vec<String> = Self::ALL.iter().map(|(name, _)| format!("`{{{name}}}`")).collect();
        names.join(", ")
    }
}

/// The values of the placeholders in one run.
pub(super) struct Values<'a> {
    pub(super) brief: &'a Brief<'a>,
    pub(super) orders: &'a Path,
    pub(super) new_session: Option<&'a str>,
}

impl Values<'_> {
    fn get(&self, placeholder: ArgPlaceholder) -> Option<String> {
        let brief = self.brief;
        let path = |path: &Path| Some(path.display().to_string());
        let text = |text: Option<&str>| text.map(ToOwned::to_owned);
        match placeholder {
            ArgPlaceholder::Model => text(brief.model),
            ArgPlaceholder::Effort => text(brief.effort),
            ArgPlaceholder::PromptFile => path(brief.prompt_file),
            ArgPlaceholder::Workspace => path(brief.workspace),
            ArgPlaceholder::Scratch => path(brief.scratch),
            ArgPlaceholder::Session => text(brief.conversation.resumed()),
            ArgPlaceholder::NewSession => text(self.new_session),
            ArgPlaceholder::SystemPromptFile => brief.system_prompt.and_then(|_| path(self.orders)),
        }
    }
}

#[derive(Debug)]
enum TemplatePart {
    Text(String),
    Value(ArgPlaceholder),
}

#[derive(Debug)]
struct Argument(Vec<TemplatePart>);

impl Argument {
    /// `None` if a brace begins no placeholder.
    fn read(argument: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut rest = argument;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, brace) = rest.split_at(at);
            text.push_str(before);
            rest = if let Some(after) = brace.strip_prefix("{{") {
                text.push('{');
                after
            } else if let Some(after) = brace.strip_prefix('}') {
                text.push('}');
                after.strip_prefix('}').unwrap_or(after)
            } else {
                let (name, after) = brace.strip_prefix('{')?.split_once('}')?;
                parts.push(TemplatePart::Text(std::mem::take(&mut text)));
                parts.push(TemplatePart::Value(ArgPlaceholder::find(name)?));
                after
            };
        }
        text.push_str(rest);
        parts.push(TemplatePart::Text(text));
        Some(Self(parts))
    }

    fn expand(&self, values: &Values<'_>) -> Option<String> {
        let parts = self.0.iter().map(|part| match part {
            TemplatePart::Text(text) => Some(text.clone()),
            TemplatePart::Value(placeholder) => values.get(*placeholder),
        });
        parts.collect()
    }

    fn is_plain(&self) -> bool {
        self.0.iter().all(|part| matches!(part, TemplatePart::Text(_)))
    }

    fn is_option(&self) -> bool {
        matches!(self.0.first(), Some(TemplatePart::Text(text)) if text.len() > 1 && text.starts_with('-') && text != "--")
    }

    /// Whether it may be an option whose value is the next argument.
    fn wants_value(&self) -> bool {
        let is_whole = |part: &TemplatePart| matches!(part, TemplatePart::Text(text) if text.contains('='));
        self.is_plain() && self.is_option() && !self.0.iter().any(is_whole)
    }
}

#[derive(Debug)]
pub(super) struct Arguments(Vec<Argument>);

impl Arguments {
    pub(super) fn read(agent: &str, args: &[String]) -> Result<Self, CustomError> {
        let read = |argument: &String| {
            Argument::read(argument).ok_or_else(|| CustomError::Placeholder {
                agent: agent.to_owned(),
                argument: argument.clone(),
                known: ArgPlaceholder::names(),
            })
        };
        args.iter().map(read).collect::<Result<_, _>>().map(Self)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one of them is this placeholder.
    pub(super) fn names(&self, wanted: ArgPlaceholder) -> bool {
        let mut parts = self.0.iter().flat_map(|argument| &argument.0);
        parts.any(|part| matches!(part, TemplatePart::Value(placeholder) if *placeholder == wanted))
    }

    /// The arguments of one run. An argument with an empty placeholder is left out, with the option that it is the
    /// value of.
    pub(super) fn expand(&self, values: &Values<'_>) -> Vec<String> {
        let mut expanded = Vec::new();
        let mut before = None;
        for argument in &self.0 {
            let text = argument.expand(values);
            let is_value = !argument.is_option() && before.is_some_and(Argument::wants_value);
            match text {
                Some(text) => expanded.push(text),
                None if is_value => drop(expanded.pop()),
                None => {}
            }
            before = Some(argument);
        }
        expanded
    }
}
