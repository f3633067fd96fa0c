//! What the state machines share: named states and events, and the error for an arrow that does not exist.

use std::fmt;

/// The machine has no arrow for this event in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {from} one cannot {event}")]
pub struct IllegalTransition<S: fmt::Debug + fmt::Display, E: fmt::Debug + fmt::Display> {
    /// The state it is in.
    pub from: S,
    /// What was to happen.
    pub event: E,
}

/// A stored or typed name that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}; there are: {choices}")]
pub struct UnknownName {
    /// What the name should have been of.
    pub what: &'static str,
    /// What was given.
    pub text: String,
    /// All names, separated by commas.
    pub choices: String,
}

/// An enum whose variants have a name each: for the store, for JSON, for people.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $type:ident : $what:literal {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "std::borrow::Cow<'_, str>", into = "&'static str")]
        pub enum $type {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $type {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The stable name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl From<$type> for &'static str {
            fn from(value: $type) -> Self {
                value.as_str()
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;
            fn from_str(text: &str) -> Result<Self, UnknownName> {
                Self::ALL.iter().copied().find(|value| value.as_str() == text).ok_or_else(|| UnknownName {
                    what: $what,
                    text: text.to_owned(),
                    choices: Self::ALL.iter().map(|value| value.as_str()).collect::<Vec<_>>().join(", "),
                })
            }
        }

        impl TryFrom<std::borrow::Cow<'_, str>> for $type {
            type Error = UnknownName;
            fn try_from(text: std::borrow::Cow<'_, str>) -> Result<Self, UnknownName> {
                text.parse()
            }
        }
    };
}
pub(crate) use named;

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display, Write};

    use super::IllegalTransition;
    use crate::run::{RunMove, RunState};
    use crate::task::{TaskMove, TaskState};

    /// States down, events across, the resulting state in the cell: what a reviewer reads.
    fn table<S, E>(
        states: &[S],
        events: &[E],
        next: impl Fn(S, E) -> Result<S, IllegalTransition<S, E>>,
    ) -> String
    where
        S: Copy + Debug + Display,
        E: Copy + Debug + Display,
    {
        let mut out = format!("{:<10}", "");
        for event in events {
            write!(out, "{:<11}", event.to_string()).unwrap();
        }
        for state in states {
            write!(out, "\n{:<10}", state.to_string()).unwrap();
            for event in events {
                let cell = next(*state, *event).map_or_else(|_| "·".to_owned(), |to| to.to_string());
                write!(out, "{cell:<11}").unwrap();
            }
        }
        out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn task_states_by_events() {
        insta::assert_snapshot!(table(TaskState::ALL, TaskMove::ALL, TaskState::next));
    }

    #[test]
    fn run_states_by_events() {
        insta::assert_snapshot!(table(RunState::ALL, RunMove::ALL, RunState::next));
    }
}
