//! Errors as people and programs see them.
//!
//! Errors are typed where they are raised; before they leave the engine they become a [`Problem`]: a stable [`Code`]
//! (one page each in `docs/errors/`, printed by `fleet explain`), a sentence, and what to do next.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The family of a problem: it decides the exit status of the command line and the status of an HTTP answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A defect of codefleet, or an unexpected case.
    Internal,
    /// The request is not acceptable as it stands: nothing was looked up or changed.
    Invalid,
    /// The request names something that does not exist.
    NotFound,
    /// The request is well formed, but the current state does not allow it.
    Conflict,
    /// The store cannot be reached, read or written.
    Store,
    /// The configuration is wrong.
    Config,
    /// `fleet doctor` found something that needs attention.
    Unhealthy,
    /// codefleet did its part, but the agents did not do what they were asked to.
    Work,
}

/// Calls a macro with every code: what it says, its variant, its stable name, and its kind. A new code is a row here and
/// the page `docs/errors/NAME.md`.
#[macro_export]
macro_rules! for_each_code {
    ($callback:ident) => {
        $callback! {
            /// A defect in codefleet.
            Internal = "internal", Internal;
            /// Reading or writing a file or stream failed.
            Io = "io", Internal;
            /// The command line itself is wrong: unknown flag, missing argument.
            Usage = "usage", Invalid;
            /// A field of the request has a value that is not allowed.
            InvalidValue = "invalid-value", Invalid;
            /// The agent may not use this model.
            ModelRefused = "model-refused", Invalid;
            /// A line of an import file is wrong; nothing was imported.
            ImportInvalid = "import-invalid", Invalid;
            /// A workflow file is wrong; nothing was started.
            WorkflowInvalid = "workflow-invalid", Invalid;
            /// The text is not an id.
            IdInvalid = "id-invalid", Invalid;
            /// An id prefix matches more than one thing.
            IdAmbiguous = "id-ambiguous", Invalid;
            /// No task has this id.
            TaskNotFound = "task-not-found", NotFound;
            /// No run has this id.
            RunNotFound = "run-not-found", NotFound;
            /// No agent asked this.
            QuestionNotFound = "question-not-found", NotFound;
            /// No workflow has this name.
            WorkflowNotFound = "workflow-not-found", NotFound;
            /// What was asked for is not on this machine, or not any more.
            NotHere = "not-here", NotFound;
            /// Nothing matches that the command could act on.
            NothingMatched = "nothing-matched", NotFound;
            /// There is no snapshot of this run, or none of this number.
            SnapshotNotFound = "snapshot-not-found", NotFound;
            /// There is no page of this name to explain.
            CodeNotFound = "code-not-found", NotFound;
            /// An agent cannot be started here.
            AgentMissing = "agent-missing", NotFound;
            /// The directory is not inside a git repository.
            NotARepository = "not-a-repository", NotFound;
            /// The dependency would close a cycle.
            DependencyCycle = "dependency-cycle", Conflict;
            /// The task does not wait for that one.
            DependencyNotFound = "dependency-not-found", NotFound;
            /// Other tasks still depend on this one.
            HasDependents = "has-dependents", Conflict;
            /// The command is for agents, inside a run.
            NotInARun = "not-in-a-run", Conflict;
            /// The task or run is in a state that does not allow this.
            IllegalTransition = "illegal-transition", Conflict;
            /// The question takes no answer any more.
            QuestionClosed = "question-closed", Conflict;
            /// A task of this id exists already.
            TaskExists = "task-exists", Conflict;
            /// There is a task that says nearly the same.
            SimilarTask = "similar-task", Conflict;
            /// Another process changed the same thing at the same time.
            Changed = "changed", Conflict;
            /// The branch exists already, or another task that is not over has it.
            BranchTaken = "branch-taken", Conflict;
            /// Another process has taken over the lease on a run.
            LeaseLost = "lease-lost", Conflict;
            /// The keeper of the run does not answer its agent.
            DoorClosed = "door-closed", Conflict;
            /// The agent has no terminal to attach to.
            NoTerminal = "no-terminal", Conflict;
            /// The agent asks nothing that can be answered so.
            NoDialog = "no-dialog", Conflict;
            /// An agent may not add tasks, or not here.
            SpawnRefused = "spawn-refused", Conflict;
            /// An agent may not touch a task that does not come from its own.
            NotYours = "not-yours", Conflict;
            /// Agents may not work in this repository.
            RepositoryRefused = "repository-refused", Conflict;
            /// A repository's own commands may not run, because the user did not agree to them.
            Untrusted = "untrusted", Conflict;
            /// The settings of another program were left as they are.
            SetupRefused = "setup-refused", Conflict;
            /// The home folder belongs to another program.
            ForeignHome = "foreign-home", Conflict;
            /// The store does not answer.
            StoreUnreachable = "store-unreachable", Store;
            /// The store stayed locked by another process for too long.
            StoreBusy = "store-busy", Store;
            /// The store's file is damaged or is not a codefleet store.
            StoreCorrupt = "store-corrupt", Store;
            /// The store was written by a newer codefleet.
            StoreTooNew = "store-too-new", Store;
            /// The store's disk is full.
            StoreFull = "store-full", Store;
            /// The store's file or folder cannot be written.
            StoreUnwritable = "store-unwritable", Store;
            /// The store failed in another way.
            StoreFailed = "store-failed", Store;
            /// The configuration is wrong.
            ConfigInvalid = "config-invalid", Config;
            /// No configuration key has this name.
            ConfigUnknownKey = "config-unknown-key", Config;
            /// `fleet doctor` found a problem.
            DoctorFoundProblems = "doctor-found-problems", Unhealthy;
            /// A run that was followed did not succeed.
            RunFailed = "run-failed", Work;
            /// Something that should be stopped is still running.
            KillIncomplete = "kill-incomplete", Work;
        }
    };
}

macro_rules! define {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal, $kind:ident;)+) => {
        /// Every problem that codefleet reports, by a name that never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The family, which decides the exit status.
            pub const fn kind(self) -> ProblemKind {
                match self { $(Self::$variant => ProblemKind::$kind,)+ }
            }
        }
    };
}

for_each_code!(define);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Code {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(|UnknownCode| serde::de::Error::custom(format!("unknown code {text:?}")))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such code")]
pub struct UnknownCode;

impl std::str::FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        Self::ALL.iter().copied().find(|code| code.as_str().eq_ignore_ascii_case(text)).ok_or(UnknownCode)
    }
}

/// What went wrong, in a form that every interface can show.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(with = "ProblemJson")]
pub struct Problem {
    /// The stable name.
    pub code: Code,
    /// The field of the request that it is about, if it is about one. Shown before the message, by each interface under its
    /// own name for the field.
    pub field: Option<String>,
    /// One sentence: what happened, with the values that matter. No trailing full stop.
    pub message: String,
    /// What to do next, most useful first; commands in backquotes.
    pub hints: Vec<String>,
}

/// What every verb returns.
pub type Outcome<T> = Result<T, Problem>;

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, field: None, message: message.into(), hints: Vec::new() }
    }

    pub fn field(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..Self::new(Code::InvalidValue, why) }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// With several more things to do next, or with none.
    #[must_use]
    pub fn hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// With the place where it happened in front of the message.
    #[must_use]
    pub fn at(self, place: &impl fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// With the field under the name that an interface has for it: `(ours, theirs)`.
    #[must_use]
    pub fn in_words_of(mut self, names: &[(&str, &str)]) -> Self {
        let known = |field: &String| names.iter().find(|(ours, _)| ours == field);
        if let Some((_, theirs)) = self.field.as_ref().and_then(known) {
            self.field = Some((*theirs).to_owned());
        }
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{field}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Problem {}

/// A problem in JSON, where the message is whole.
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Problem")]
struct ProblemJson {
    #[schemars(with = "String", example = &"internal")]
    code: Code,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    message: String,
    hints: Vec<String>,
}

impl Serialize for Problem {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { code, field, hints, .. } = self.clone();
        ProblemJson { code, field, message: self.to_string(), hints }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Problem {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ProblemJson { code, field, message, hints } = ProblemJson::deserialize(deserializer)?;
        let begin = field.as_ref().map(|field| format!("{field}: ")).unwrap_or_default();
        let message = message.strip_prefix(&begin).map(ToOwned::to_owned).unwrap_or(message);
        Ok(Self { code, field, message, hints })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_kebab_case_and_parse_back() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let name = code.as_str();
            assert!(seen.insert(name), "{name} stands twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name} is not kebab-case");
            assert_eq!(name.parse(), Ok(*code));
        }
        assert_eq!("no-such".parse::<Code>(), Err(UnknownCode));
    }

    #[test]
    fn a_problem_survives_json_and_takes_the_words_of_an_interface() {
        let problem = Problem::field("title", "it is empty").hint("say what is to be done");
        let json = serde_json::to_string(&problem).unwrap();
        assert!(json.contains(r#""message":"title: it is empty""#), "{json}");
        assert_eq!(serde_json::from_str::<Problem>(&json).unwrap(), problem);
        assert_eq!(problem.in_words_of(&[("title", "task_name")]).to_string(), "task_name: it is empty");
        let plain = Problem::new(Code::Internal, "title: no field");
        assert_eq!(serde_json::from_value::<Problem>(serde_json::to_value(&plain).unwrap()).unwrap(), plain);
    }
}
