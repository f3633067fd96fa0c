//! What a text has to look like, and how messages call it.

use fleet_core::limits::Limit;
use fleet_core::run::Reason;
use fleet_core::task::{BranchName, ModelName};
use fleet_core::text::is_unprintable;

use super::names::is_agent_name;
use crate::environment::is_variable_name;

/// What a string, or an item of a list, has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    Plain,
    AgentName,
    /// May hold a password, and is therefore secret.
    StoreAddress,
    Command,
    /// What names of branches begin with.
    BranchPrefix,
    /// A path inside of a checkout, perhaps with wildcards.
    InnerPath,
    VariablePattern,
    /// What a variable of an agent is set to. Secret as a whole.
    VariableValue,
    Model,
    ModelPattern,
    Alias,
    Word,
    Program,
    Path,
    Folder,
    Argument,
    MultiLine,
    ReleaseAddress,
    /// Checked as a regular expression only where it is used.
    Pattern,
    ErrorPattern,
    ContextSize,
    DetachKey,
}

/// What one is called, what several are called, and which texts fit.
type FormRow = (&'static str, &'static str, fn(&str) -> bool);

impl TextForm {
    #[rustfmt::skip]
    fn row(self) -> FormRow {
        match self {
            Self::Plain => ("one line of text", "strings", is_plain),
            Self::AgentName => ("the name of an agent", "names of agents", is_agent_name),
            Self::StoreAddress => ("`sqlite`, `sqlite:PATH` or `postgres://…`", "addresses", is_store_address),
            Self::Command => ("a command of one line", "commands of one line each", is_command),
            Self::BranchPrefix => ("the beginning of a branch name, such as `agents/`", "beginnings of branch names", is_branch_prefix),
            Self::InnerPath => ("a path inside of the repository", "paths inside of the repository", is_inner_path),
            Self::VariablePattern => ("the name of a variable", "names of variables, such as `AWS_PROFILE` or `AWS_*`", is_variable_pattern),
            Self::VariableValue => ("text in quotes", "texts", can_be_passed),
            Self::Model => ("the name of a model", "models", is_model),
            Self::ModelPattern => ("the name of a model, or the beginning of one and `*`", "models, such as `gpt-5` or `gpt-5*`", is_model_pattern),
            Self::Alias => ("a short name, `=` and a model", "aliases, such as `fast=gpt-5-mini`", |text| alias(text).is_some()),
            Self::Word => ("a word of letters, digits, `-`, `_` and `.`", "words", is_word),
            Self::Program => ("the name of a program, or a path that begins with `/` or `~/`", "programs", is_program),
            Self::Path => ("a path", "paths", is_plain),
            Self::Folder => ("a path that begins with `/` or `~/`", "folders, each by a path that begins with `/` or `~/`", is_folder),
            Self::Argument => ("an argument", "arguments", can_be_passed),
            Self::MultiLine => ("some text", "texts", is_multi_line),
            Self::ReleaseAddress => ("an address that begins with `https://` or `http://`, or `none`", "addresses", is_release_address),
            Self::Pattern => ("a regular expression", "regular expressions", is_plain),
            Self::ErrorPattern => ("a reason, `=` and a regular expression", "patterns, such as `rate_limited=429|slow down`", |text| error_pattern(text).is_some()),
            Self::ContextSize => ("a model, or the beginning of one and `*`, then `=` and a number of tokens", "sizes, such as `gpt-5*=400k`", |text| context_size(text).is_some()),
            Self::DetachKey => ("`ctrl-` and a letter that agents do not need (not `ctrl-c`), or one of `\\` `]` `^` `_`", "keys", |text| text.parse::<crate::terminal::DetachKey>().is_ok()),
        }
    }

    pub(super) fn singular(self) -> &'static str {
        self.row().0
    }

    pub(super) fn plural(self) -> &'static str {
        self.row().1
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        self.row().2(text)
    }

    /// Whether a list of these that is typed in one line can have commas between its items.
    pub(super) const fn is_without_commas(self) -> bool {
        !matches!(self, Self::Command | Self::Argument | Self::ErrorPattern)
    }
}

pub(super) fn alias(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(short, model)| is_model(short) && is_model(model))
}

/// The pattern of a model and the size of its context.
pub(super) fn context_size(text: &str) -> Option<(&str, u64)> {
    let (model, size) = text.split_once('=').filter(|(model, _)| is_model_pattern(model))?;
    match format!("tokens={size}").parse() {
        Ok(Limit::Tokens(Some(tokens))) => Some((model, tokens)),
        _ => None,
    }
}

/// The reason and the regular expression of a pattern for errors.
pub(super) fn error_pattern(text: &str) -> Option<(Reason, &str)> {
    let (reason, pattern) = text.split_once('=')?;
    Some((reason.parse().ok()?, pattern)).filter(|(_, pattern)| is_plain(pattern))
}

/// Strings end up on terminals and in argument lists, so control characters are never right.
fn is_plain(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

fn is_multi_line(text: &str) -> bool {
    !text.trim().is_empty() && can_be_passed(text)
}

fn is_release_address(text: &str) -> bool {
    text == "none" || ["https://", "http://"].iter().any(|scheme| text.starts_with(scheme)) && is_plain(text)
}

/// The operating system passes everything else on.
fn can_be_passed(text: &str) -> bool {
    !text.contains('\0')
}

fn is_branch_prefix(text: &str) -> bool {
    format!("{text}x").parse::<BranchName>().is_ok()
}

/// What people are shown is what runs, so nothing in it may hide.
fn is_command(text: &str) -> bool {
    is_plain(text) && !text.chars().any(is_unprintable)
}

fn is_model(text: &str) -> bool {
    text.parse::<ModelName>().is_ok()
}

fn is_model_pattern(text: &str) -> bool {
    text == "*" || is_model(text.strip_suffix('*').unwrap_or(text))
}

fn is_variable_pattern(text: &str) -> bool {
    text == "*" || is_variable_name(text.strip_suffix('*').unwrap_or(text))
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 64 && text.chars().all(fits) && !text.starts_with('-')
}

/// A name on the `PATH`, or a path that means the same in every folder.
fn is_program(text: &str) -> bool {
    is_plain(text) && (!text.contains('/') || text.starts_with(['/', '~']))
}

fn is_folder(text: &str) -> bool {
    is_plain(text) && (text == "~" || text.starts_with('/') || text.starts_with("~/"))
}

/// `sqlite://…` is refused: it looks like an absolute path to some and like a relative one to others.
fn is_store_address(text: &str) -> bool {
    let after = |start| text.strip_prefix(start).filter(|rest: &&str| !rest.is_empty());
    let is_address = text == "sqlite"
        || after("sqlite:").is_some_and(|path| !path.starts_with("//"))
        || after("postgres://").is_some()
        || after("postgresql://").is_some();
    is_plain(text) && is_address
}

/// Neither out of the checkout nor into git's own folder.
fn is_inner_path(text: &str) -> bool {
    let is_outside = |part: &str| part == ".." || part.eq_ignore_ascii_case(".git");
    is_plain(text) && !text.starts_with(['/', '~']) && !text.split('/').any(is_outside)
}
