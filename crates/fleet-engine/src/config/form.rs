//! What a text has to look like.
//!
//! Owns the forms of strings and of the items of lists: which texts fit, and how a message calls them. Must never
//! know which key has which form.

use std::fmt;
use std::time::Duration;

use fleet_core::size::Size;
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
            Self::Plain => is_plain(text),
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
            Self::VariableValue => !text.contains('\0'),
        }
    }

    /// What a list of these is a list of.
    pub(super) const fn plural(self) -> &'static str {
        match self {
            Self::Command => "commands of one line each",
            Self::InnerPath => "paths inside of the repository",
            Self::VariablePattern => "names of variables, such as `AWS_PROFILE` or `AWS_*`",
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
        }
    }
}

/// The duration that a text of this form tells; nothing for the word `none`.
pub(super) fn duration(text: &str) -> Result<Option<Duration>, SpanError> {
    if text == NONE { Ok(None) } else { text.parse::<Span>().map(|span| Some(span.0)) }
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
