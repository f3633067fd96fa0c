//! What a text has to look like.
//!
//! Owns the forms of strings and of the items of lists: which texts fit, and how a message calls them. Must never
//! know which key has which form.

use std::fmt;
use std::time::Duration;

use fleet_core::limits::Limit;
use fleet_core::run::Reason;
use fleet_core::size::Size;
use fleet_core::task::ModelName;
use fleet_core::text::is_unprintable;
use fleet_core::time::{Span, SpanError};

use super::keys::is_agent_name;
use crate::environment::is_variable_name;

/// What a string has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Anything but nothing, in one line.
    Plain,
    /// The name of an agent.
    AgentName,
    /// Where the store is. May hold a password, and is therefore secret.
    StoreAddress,
    /// A span of time that is longer than nothing.
    Duration {
        /// The longest, in seconds.
        most: u64,
        /// What the word `none` means, when it is allowed.
        none: NoDuration,
    },
    /// A number of bytes, both ends included.
    Size {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// A command for a shell. What people are shown is what runs, so nothing in it may hide.
    Command,
    /// A path inside of a checkout, perhaps with wildcards.
    InnerPath,
    /// The name of a variable, or the beginning of one and `*`.
    VariablePattern,
    /// What a variable of an agent is set to. Secret as a whole.
    VariableValue,
    /// The name of a model.
    Model,
    /// The name of a model, or the beginning of one and `*`.
    ModelPattern,
    /// A short name of a model, `=`, and the model.
    Alias,
    /// Letters, digits, `-`, `_` and `.`: a name in somebody else's words.
    Word,
    /// A program: a name to be found on the `PATH`, or a path that does not depend on where one stands.
    Program,
    /// A path of the user's own.
    Path,
    /// A folder, by a path that does not depend on where one stands.
    Folder,
    /// An argument of a program, as the program gets it.
    Argument,
    /// Anything, in as many lines as needed.
    Text,
    /// A regular expression; whoever uses it says whether it is one.
    Pattern,
    /// A reason of failure, `=`, and a regular expression.
    ErrorPattern,
    /// Dollars, up to six digits behind the point.
    Money(NoAmount),
    /// A number of tokens, or `none`.
    Tokens,
}

/// Whether an amount may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAmount {
    /// There has to be one.
    Refused,
    /// `none` stands for no bound.
    Allowed,
}

/// Whether a duration may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoDuration {
    /// There has to be one.
    Refused,
    /// `none` stands for no bound.
    Allowed,
}

/// The word for a duration that is not there.
const NONE: &str = "none";

impl Form {
    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::Plain | Self::Path | Self::Pattern => is_plain(text),
            Self::AgentName => is_agent_name(text),
            Self::StoreAddress => is_plain(text) && is_store_address(text),
            Self::Duration { none: NoDuration::Allowed, .. } if text == NONE => true,
            Self::Duration { most, .. } => text
                .parse::<Span>()
                .is_ok_and(|Span(span)| !span.is_zero() && span <= Duration::from_secs(most)),
            Self::Size { least, most } => {
                text.parse::<Size>().is_ok_and(|size| (least..=most).contains(&size.0))
            }
            Self::Command => is_plain(text) && !text.chars().any(is_unprintable),
            Self::InnerPath => is_plain(text) && is_inner_path(text),
            Self::VariablePattern => text == "*" || is_variable_name(text.strip_suffix('*').unwrap_or(text)),
            // What the operating system cannot pass on.
            Self::VariableValue | Self::Argument => !text.contains('\0'),
            Self::Model => is_model(text),
            Self::ModelPattern => text == "*" || is_model(text.strip_suffix('*').unwrap_or(text)),
            Self::Alias => alias(text).is_some(),
            Self::Word => is_word(text),
            Self::Program => is_plain(text) && (!text.contains('/') || text.starts_with(['/', '~'])),
            Self::Folder => {
                is_plain(text) && (text == "~" || text.starts_with('/') || text.starts_with("~/"))
            }
            Self::Text => !text.trim().is_empty() && !text.contains('\0'),
            Self::ErrorPattern => error_pattern(text).is_some(),
            Self::Money(none) => {
                money(text).is_some_and(|amount| amount.is_some() || none == NoAmount::Allowed)
            }
            Self::Tokens => tokens(text).is_some(),
        }
    }

    /// Whether people who write a number without quotes mean the same.
    pub(super) const fn takes_numbers(self) -> bool {
        matches!(self, Self::Money(_) | Self::Tokens)
    }

    /// Whether a list of these that is typed in one line can have commas between its items.
    pub(super) const fn is_without_commas(self) -> bool {
        !matches!(self, Self::Command | Self::Argument | Self::ErrorPattern)
    }

    /// What a list of these is a list of.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::Command => "commands of one line each",
            Self::InnerPath => "paths inside of the repository",
            Self::VariablePattern => "names of variables, such as `AWS_PROFILE` or `AWS_*`",
            Self::AgentName => "names of agents",
            Self::ModelPattern => "models, such as `gpt-5` or `gpt-5*`",
            Self::Alias => "aliases, such as `fast=gpt-5-mini`",
            Self::Argument => "arguments",
            Self::Folder => "folders, each by a path that begins with `/` or `~/`",
            Self::ErrorPattern => "patterns, such as `rate_limited=429|slow down`",
            _ => "strings",
        }
    }
}

/// In the words of a message.
impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => f.write_str("one line of text"),
            Self::AgentName => f.write_str("the name of an agent"),
            Self::StoreAddress => f.write_str("`sqlite`, `sqlite:PATH` or `postgres://…`"),
            Self::Duration { most, none } => {
                let none = if *none == NoDuration::Allowed { ", or `none`" } else { "" };
                let most = Span(Duration::from_secs(*most));
                write!(f, "a duration such as `90s` or `1h30m`, up to `{most}`{none}")
            }
            Self::Size { least, most } => {
                write!(f, "a size such as `500kB` or `64MB`, from `{}` to `{}`", Size(*least), Size(*most))
            }
            Self::Command => f.write_str("a command of one line"),
            Self::InnerPath => f.write_str("a path inside of the repository"),
            Self::VariablePattern => f.write_str("the name of a variable"),
            Self::VariableValue => f.write_str("text in quotes"),
            Self::Model => f.write_str("the name of a model"),
            Self::ModelPattern => f.write_str("the name of a model, or the beginning of one and `*`"),
            Self::Alias => f.write_str("a short name, `=` and a model"),
            Self::Word => f.write_str("a word of letters, digits, `-`, `_` and `.`"),
            Self::Program => f.write_str("the name of a program, or a path that begins with `/` or `~/`"),
            Self::Path => f.write_str("a path"),
            Self::Folder => f.write_str("a path that begins with `/` or `~/`"),
            Self::Argument => f.write_str("an argument"),
            Self::Text => f.write_str("some text"),
            Self::Pattern => f.write_str("a regular expression"),
            Self::ErrorPattern => f.write_str("a reason, `=` and a regular expression"),
            Self::Money(NoAmount::Allowed) => f.write_str("dollars such as `20` or `2.50`, or `none`"),
            Self::Money(NoAmount::Refused) => f.write_str("dollars such as `20` or `2.50`"),
            Self::Tokens => f.write_str("a number of tokens such as `500k` or `20M`, or `none`"),
        }
    }
}

/// The duration that a text of this form tells; nothing for the word `none`.
pub(super) fn duration(text: &str) -> Result<Option<Duration>, SpanError> {
    if text == NONE { Ok(None) } else { text.parse::<Span>().map(|span| Some(span.0)) }
}

/// The short name and the model of an alias.
pub(super) fn alias(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(short, model)| is_model(short) && is_model(model))
}

/// The reason and the regular expression of a pattern for errors.
pub(super) fn error_pattern(text: &str) -> Option<(Reason, &str)> {
    let (reason, pattern) = text.split_once('=')?;
    Some((reason.parse().ok()?, pattern)).filter(|(_, pattern)| is_plain(pattern))
}

/// Millionths of a dollar, as limits of tasks are written; nothing inside for the word `none`.
#[expect(clippy::option_option, reason = "a text that is no amount, and the word for none")]
pub(super) fn money(text: &str) -> Option<Option<u64>> {
    match format!("usd={text}").parse() {
        Ok(Limit::MicroUsd(amount)) => Some(amount),
        _ => None,
    }
}

/// A number of tokens, as limits of tasks are written; nothing inside for the word `none`.
#[expect(clippy::option_option, reason = "a text that is no amount, and the word for none")]
pub(super) fn tokens(text: &str) -> Option<Option<u64>> {
    match format!("tokens={text}").parse() {
        Ok(Limit::Tokens(amount)) => Some(amount),
        _ => None,
    }
}

fn is_model(text: &str) -> bool {
    text.parse::<ModelName>().is_ok()
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !text.is_empty() && text.len() <= 64 && text.chars().all(fits) && !text.starts_with('-')
}

/// Strings end up on terminals and in argument lists, so control characters are never right.
fn is_plain(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}

/// `sqlite://…` is refused: it looks like an absolute path to some and like a relative one to others.
fn is_store_address(text: &str) -> bool {
    if text == "sqlite" {
        return true;
    }
    let after = |start| text.strip_prefix(start).filter(|rest: &&str| !rest.is_empty());
    after("sqlite:").is_some_and(|path| !path.starts_with("//"))
        || after("postgres://").is_some()
        || after("postgresql://").is_some()
}

/// Neither out of the checkout nor into git's own folder.
fn is_inner_path(text: &str) -> bool {
    let is_outside = |part: &str| part == ".." || part.eq_ignore_ascii_case(".git");
    !text.starts_with(['/', '~']) && !text.split('/').any(is_outside)
}
