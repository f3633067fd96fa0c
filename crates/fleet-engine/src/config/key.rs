//! What a key is: its name, the values that it takes, and who may set it. The keys themselves are in [`super::keys`].

use std::fmt;
use std::time::Duration;

use fleet_core::limits::Limit;
use fleet_core::size::Size;
use fleet_core::time::Span;

use super::form::TextForm;
use super::value::ConfigValue;

/// The word for a quantity without a bound.
pub(super) const NONE: &str = "none";

#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: KeyKind,
    /// The value when no layer sets it, as a user would type it.
    pub(super) default: Option<&'static str>,
    /// One line for the template and the documentation.
    pub(super) doc: &'static str,
    pub(super) scope: KeyScope,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    Text(TextForm),
    OneOf(&'static [&'static str]),
    /// A whole number in this range, both ends included.
    Integer {
        min: i64,
        max: i64,
    },
    /// A text such as `90s` or `64MB`, both ends included.
    Quantity {
        unit: ValueUnit,
        min: u64,
        max: u64,
        or_none: bool,
    },
    Boolean,
    List(TextForm),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueUnit {
    Milliseconds,
    Bytes,
    MicroDollars,
    Tokens,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyScope {
    Anywhere,
    /// Every layer but the project's file: a repository must not decide this for its users.
    UserOnly,
    /// Every layer; but what a project's file says needs the user's consent, see [`crate::trust`].
    Consented,
    /// The same for a project's file that allows more than the user does.
    Raising,
    /// Every layer; but a project's file counts only if it says an earlier word than the user does, who says this one
    /// if nothing else.
    Lowering(&'static str),
}

impl ValueUnit {
    fn parse(self, text: &str) -> Option<u64> {
        match self {
            Self::Milliseconds => text.parse::<Span>().ok()?.0.as_millis().try_into().ok(),
            Self::Bytes => text.parse::<Size>().ok().map(|size| size.0),
            Self::MicroDollars => match format!("usd={text}").parse() {
                Ok(Limit::MicroUsd(amount)) => amount,
                _ => None,
            },
            Self::Tokens => match format!("tokens={text}").parse() {
                Ok(Limit::Tokens(amount)) => amount,
                _ => None,
            },
        }
    }
}

impl KeyKind {
    pub(super) const fn or_none(self) -> Self {
        match self {
            Self::Quantity { unit, min, max, .. } => Self::Quantity { unit, min, max, or_none: true },
            other => other,
        }
    }

    pub(super) fn accepts(self, text: &str) -> bool {
        match self {
            Self::OneOf(words) => words.contains(&text),
            Self::Text(form) => form.accepts(text),
            Self::Quantity { or_none: true, .. } if text == NONE => true,
            Self::Quantity { unit, min, max, .. } => {
                unit.parse(text).is_some_and(|number| (min..=max).contains(&number))
            }
            Self::Integer { .. } | Self::Boolean | Self::List(_) => false,
        }
    }

    /// Whether a text is a duration that only a guess gives a unit: seconds for us, minutes for the user who typed it.
    pub(super) fn lacks_unit(self, text: &str) -> bool {
        let is_number = text.trim().parse::<u64>().is_ok_and(|number| number > 0);
        is_number && matches!(self, Self::Quantity { unit: ValueUnit::Milliseconds, .. })
    }

    /// Whether a number without quotes means the same as one in quotes.
    pub(super) const fn takes_numbers(self) -> bool {
        matches!(self, Self::Quantity { unit: ValueUnit::MicroDollars | ValueUnit::Tokens, .. })
    }

    /// The number of a value. `none`, and what is not a number, have none.
    pub(super) fn number(self, value: &ConfigValue) -> Option<u64> {
        match (self, value) {
            (_, ConfigValue::Integer(number)) => u64::try_from(*number).ok(),
            (Self::Quantity { unit, .. }, ConfigValue::String(text)) => unit.parse(text),
            _ => None,
        }
    }

    /// Whether one value allows more than another. Without a number there is no bound.
    pub(super) fn allows_more(self, value: &ConfigValue, than: &ConfigValue) -> bool {
        let bound = |value| self.number(value).unwrap_or(u64::MAX);
        bound(value) > bound(than)
    }
}

/// What is expected, in the words of a message.
impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(form) => f.write_str(form.singular()),
            Self::OneOf(words) => write!(f, "one of `{}`", words.join("`, `")),
            Self::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Boolean => f.write_str("`true` or `false`"),
            Self::List(form) => write!(f, "a list of {}", form.plural()),
            Self::Quantity { unit, min, max, or_none } => {
                match unit {
                    ValueUnit::Milliseconds => {
                        let max = Span(Duration::from_millis(*max));
                        write!(f, "a duration such as `90s` or `1h30m`, up to `{max}`")?;
                    }
                    ValueUnit::Bytes => {
                        write!(
                            f,
                            "a size such as `500kB` or `64MB`, from `{}` to `{}`",
                            Size(*min),
                            Size(*max)
                        )?;
                    }
                    ValueUnit::MicroDollars => f.write_str("dollars such as `20` or `2.50`")?,
                    ValueUnit::Tokens => f.write_str("a number of tokens such as `500k` or `20M`")?,
                }
                f.write_str(if *or_none { ", or `none`" } else { "" })
            }
        }
    }
}

impl Key {
    pub(super) fn ends(&self) -> Option<(&'static str, &'static str)> {
        self.name.split_once(".*.")
    }

    /// Whether this is the key, or one of the keys, of that name. No name of an agent or a variable has a dot.
    pub(super) fn covers(&self, name: &str) -> bool {
        let (parts, segments) = (self.name.split('.'), name.split('.'));
        parts.clone().count() == segments.clone().count()
            && parts.zip(segments).all(|(part, segment)| part == "*" || part == segment)
    }

    /// The name with its wildcards filled in.
    pub(super) fn name_for(&self, agent: &str, variable: &str) -> String {
        self.name.replacen('*', agent, 1).replace('*', variable)
    }

    /// Whether a variable can set it: not when it is itself about a variable, whose case would be lost.
    pub(super) fn has_variable(&self) -> bool {
        !self.name.ends_with(".*")
    }
}
