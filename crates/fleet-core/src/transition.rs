//! What the state machines share: named states and events, and the error for an arrow that does not exist.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub trait Machine: Copy + fmt::Debug + fmt::Display + FromStr<Err = UnknownName> {
    type Event: Copy + fmt::Debug + fmt::Display;
    const FIRST: Self;

    /// The state after `event`, or why there is none: every legal arrow is written out, the rest are errors.
    fn next(self, event: Self::Event) -> Result<Self, IllegalTransition<Self, Self::Event>>;
}

/// Where something stands. Only the arrows of its machine lead to another state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Current<S>(S);

impl<S: Machine> Current<S> {
    pub const fn first() -> Self {
        Self(S::FIRST)
    }

    /// The state that a row of the store has. Outside of the store, nothing is moved but by [`Current::apply`].
    pub const fn stored(state: S) -> Self {
        Self(state)
    }

    pub const fn get(self) -> S {
        self.0
    }

    /// Moves on, if the machine has that arrow.
    pub fn apply(&mut self, event: S::Event) -> Result<(), IllegalTransition<S, S::Event>> {
        self.0 = self.0.next(event)?;
        Ok(())
    }
}

impl<S> Deref for Current<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: fmt::Display> fmt::Display for Current<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<S: PartialEq> PartialEq<S> for Current<S> {
    fn eq(&self, other: &S) -> bool {
        self.0 == *other
    }
}

/// The machine has no arrow for this event in this state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {from} one cannot {event}")]
pub struct IllegalTransition<S: fmt::Debug + fmt::Display, E: fmt::Debug + fmt::Display> {
    pub from: S,
    pub event: E,
}

/// A stored or typed name that no variant has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a {what}; there are: {choices}")]
pub struct UnknownName {
    /// The kind of thing it should name.
    pub what: &'static str,
    pub text: String,
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
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": Self::ALL})
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

/// All arrows of a machine: the state before and the event, the state after.
macro_rules! arrows {
    ($state:ident by $event:ident, first $first:ident; $($($from:ident)|+, $on:ident => $to:ident;)+) => {
        impl $crate::transition::Machine for $state {
            type Event = $event;
            const FIRST: Self = Self::$first;

            fn next(self, event: $event) -> Result<Self, $crate::IllegalTransition<Self, $event>> {
                match (self, event) {
                    $(($(Self::$from)|+, $event::$on) => Ok(Self::$to),)+
                    (from, event) => Err($crate::IllegalTransition { from, event }),
                }
            }
        }
    };
}
pub(crate) use {arrows, named};

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;
    use proptest::sample::select;

    use super::Machine;
    use crate::message::{MessageMove, MessageState};
    use crate::run::{Ending, Reason, RunMove, RunState};
    use crate::task::{TaskMove, TaskState};
    use crate::workflow::{PartMove, PartState, WorkflowMove, WorkflowState};

    /// States down, events across, the resulting state in the cell: what a reviewer reads.
    fn table<S: Machine>(states: &[S], events: &[S::Event]) -> String {
        let mut out = format!("{:<10}", "");
        for event in events {
            write!(out, "{:<11}", event.to_string()).unwrap();
        }
        for state in states {
            write!(out, "\n{:<10}", state.to_string()).unwrap();
            for event in events {
                let cell = state.next(*event).map_or_else(|_| "·".to_owned(), |to| to.to_string());
                write!(out, "{cell:<11}").unwrap();
            }
        }
        out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn task_states_by_events() {
        insta::assert_snapshot!(table(TaskState::ALL, TaskMove::ALL));
    }

    #[test]
    fn run_states_by_events() {
        insta::assert_snapshot!(table(RunState::ALL, RunMove::ALL));
    }

    #[test]
    fn workflow_states_by_events() {
        insta::assert_snapshot!(table(WorkflowState::ALL, WorkflowMove::ALL));
    }

    #[test]
    fn part_states_by_events() {
        insta::assert_snapshot!(table(PartState::ALL, PartMove::ALL));
    }

    #[test]
    fn message_states_by_events() {
        insta::assert_snapshot!(table(MessageState::ALL, MessageMove::ALL));
    }

    /// Everything that can happen to a task and its newest run, as those see it who make it happen.
    #[derive(Debug, Clone)]
    enum Happening {
        Claim,
        Person(TaskMove),
        Advance(RunMove),
        /// How it ended, and what the policy makes of a failure.
        End(Ending, TaskMove),
    }

    fn happening() -> impl Strategy<Value = Happening> {
        let person = [TaskMove::Hold, TaskMove::Release, TaskMove::Cancel, TaskMove::Retry, TaskMove::Reopen];
        let failed = (select(Reason::ALL), select(vec![TaskMove::Fail, TaskMove::Requeue]))
            .prop_map(|(reason, verdict)| Happening::End(Ending::Failed(reason, String::new()), verdict));
        prop_oneof![
            Just(Happening::Claim),
            select(person.to_vec()).prop_map(Happening::Person),
            select(vec![RunMove::Start, RunMove::Exit]).prop_map(Happening::Advance),
            Just(Happening::End(Ending::Succeeded, TaskMove::Finish)),
            Just(Happening::End(Ending::Asked, TaskMove::Ask)),
            Just(Happening::End(Ending::Released(String::new()), TaskMove::Requeue)),
            Just(Happening::End(Ending::Cancelled(String::new()), TaskMove::Cancel)),
            failed,
        ]
    }

    #[derive(Debug, Clone, Copy)]
    struct Pair {
        task: TaskState,
        run: Option<RunState>,
    }

    impl Pair {
        fn live_run(self) -> Option<RunState> {
            self.run.filter(|run| run.is_live())
        }

        /// What is there afterwards; nothing, if one of the two machines has no arrow for it.
        fn after(self, happening: &Happening) -> Option<Self> {
            match happening {
                Happening::Claim => {
                    Some(Self { task: self.task.next(TaskMove::Start).ok()?, run: Some(RunState::Preparing) })
                }
                Happening::Person(event) => {
                    let task = self.task.next(*event).ok()?;
                    // Whatever takes a task from its run stops the run: that must be possible at every moment.
                    let stopped = self.live_run().map(|run| run.next(RunMove::Cancel).unwrap());
                    Some(Self { task, run: stopped.or(self.run) })
                }
                Happening::Advance(event) => {
                    Some(Self { run: Some(self.live_run()?.next(*event).ok()?), ..self })
                }
                Happening::End(ending, consequence) => {
                    let run = self.live_run()?.next(ending.run_move()).ok()?;
                    // A run that ends always finds its task in a state that can take the consequence.
                    Some(Self { task: self.task.next(*consequence).unwrap(), run: Some(run) })
                }
            }
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_events_leads_astray(story in prop::collection::vec(happening(), 0..60)) {
            let mut now = Pair { task: TaskState::Queued, run: None };
            for happening in &story {
                let Some(next) = now.after(happening) else { continue };
                if now.task.is_settled() && next.task != now.task {
                    let by = match happening {
                        Happening::Person(event) => (*event, next.task),
                        other => return Err(TestCaseError::fail(format!("settled, but left by {other:?}"))),
                    };
                    let reopened = (TaskMove::Reopen, TaskState::Queued);
                    let given_up =
                        [reopened, (TaskMove::Retry, TaskState::Queued), (TaskMove::Cancel, TaskState::Cancelled)];
                    let legal = if now.task == TaskState::Done { &given_up[..1] } else { &given_up };
                    prop_assert!(legal.contains(&by), "{:?} was left by {:?}", now.task, by);
                }
                prop_assert_eq!(
                    next.live_run().is_some(),
                    next.task == TaskState::Running,
                    "{:?} became {:?} by {:?}", now, next, happening
                );
                if let (Some(was), Some(is)) = (now.run, next.run) {
                    let new = matches!(happening, Happening::Claim);
                    prop_assert!(was.is_live() || was == is || new, "a run that was over went on: {happening:?}");
                    prop_assert!(!(was.is_live() && new), "a second run beside a live one");
                }
                now = next;
            }
        }
    }
}
