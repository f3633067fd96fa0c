//! Tasks: something to be done; durable.

mod edit;
mod fields;
mod own_branch;
mod spawn;
mod state;
mod tuning;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use edit::{EditRefused, TaskEdit};
pub use fields::{
    AgentName, BaseRef, BranchName, Complexity, Description, FieldError, Label, Labels, MetaKey, MetaValue,
    ModelName, Priority, PromptText, Remark, Title,
};
pub use own_branch::{own_branch, owner_of_branch};
pub use spawn::{Spawn, TooDeep, USUAL_SPAWN_DEPTH};
pub use state::{TaskMove, TaskState};
pub use tuning::{OWN_META, Tuning, refused_arg};

use crate::id::{BatchId, ProjectId, TaskId};
use crate::limits::Limits;
use crate::policy::RetryPolicy;
use crate::refname::check_branch_name;
use crate::run::Reason;
use crate::scope::FileScope;
use crate::time::Millis;
use crate::transition::IllegalTransition;
use crate::workflow::StageOf;

/// Free metadata, for people and programs. Codefleet itself reads `setup` and what begins with [`OWN_META`].
pub type Meta = BTreeMap<MetaKey, MetaValue>;

/// What is to be done and how: everything that the author of a task decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// In one line.
    pub title: Title,
    /// In as many lines as needed.
    #[serde(default = "empty_description")]
    pub description: Description,
    /// 5 first.
    #[serde(default)]
    pub priority: Priority,
    /// Words to find it by.
    #[serde(default)]
    pub labels: Labels,
    /// The files it will touch.
    #[serde(default)]
    pub scope: FileScope,
    /// How big somebody thinks it is.
    #[serde(default)]
    pub complexity: Option<Complexity>,
    /// Which agent; none is the configured default.
    #[serde(default)]
    pub agent: Option<AgentName>,
    /// Which model; none is the agent's default.
    #[serde(default)]
    pub model: Option<ModelName>,
    /// Where the work starts; none is the project's HEAD.
    #[serde(default)]
    pub base: Option<BaseRef>,
    /// Where the work goes; none is a name made from the id.
    #[serde(default)]
    pub branch: Option<BranchName>,
    /// What a run may use.
    #[serde(default)]
    pub limits: Limits,
    /// What happens when a run fails.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// Not started earlier than this. Files and requests write moments in their own way.
    #[serde(skip)]
    pub not_before: Option<Millis>,
    /// Free metadata.
    #[serde(default)]
    pub meta: Meta,
    /// The set of tasks that it was added with.
    #[serde(default)]
    pub batch: Option<BatchId>,
    /// Whether it is only to look: then nothing has to change for it to be done.
    #[serde(default)]
    pub read_only: bool,
    /// Whether it is done even if nothing changed: it may change something, or only say something.
    #[serde(default)]
    pub may_be_empty: bool,
}

fn empty_description() -> Description {
    Description::try_from(String::new()).unwrap_or_else(|_| unreachable!("an empty description is allowed"))
}

/// The most entries of free metadata.
pub const MOST_META: usize = 64;

impl TaskSpec {
    /// A task with a title and nothing else.
    pub fn new(title: Title) -> Self {
        Self {
            title,
            description: empty_description(),
            priority: Priority::default(),
            labels: Labels::default(),
            scope: FileScope::default(),
            complexity: None,
            agent: None,
            model: None,
            base: None,
            branch: None,
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            not_before: None,
            meta: Meta::new(),
            batch: None,
            read_only: false,
            may_be_empty: false,
        }
    }

    /// The bounds that the fields alone cannot keep.
    pub fn check(&self) -> Result<(), FieldError> {
        let wrong = |field, why| Err(FieldError { field, why });
        if self.meta.len() > MOST_META {
            return wrong("meta", format!("{} entries, at most {MOST_META} are allowed", self.meta.len()));
        }
        let Limits { seconds, idle_seconds, tokens, micro_usd } = self.limits;
        if [seconds, idle_seconds, tokens, micro_usd].contains(&Some(0)) {
            return wrong("limits", "a limit of 0 would stop every run at once".to_owned());
        }
        if self.retry.retries > RetryPolicy::MOST_RETRIES {
            return wrong("retry", format!("at most {} retries are allowed", RetryPolicy::MOST_RETRIES));
        }
        if self.retry.backoff_seconds > RetryPolicy::LONGEST_BACKOFF_SECONDS {
            return wrong("retry", "a wait of more than a day is not allowed".to_owned());
        }
        // Not when a branch is read: earlier versions took full names, and such tasks must still load.
        if let Some(branch) = &self.branch {
            check_branch_name(branch.as_str())
                .map_err(|error| FieldError { field: "branch", why: error.to_string() })?;
        }
        Tuning::of(&self.meta).map(drop)
    }
}

/// What the task's history left, beside its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskHistory {
    /// How often it was claimed: the fencing number of its newest run.
    pub fence: i64,
    /// Failures since it was added or retried by a person.
    pub failures: u32,
    /// Why the last run failed.
    pub reason: Option<Reason>,
    /// A sentence about the present state, for people.
    pub remark: Option<String>,
    /// The end of the wait after the last failure. Apart from what the author wished: a person who takes the task up
    /// again forgets the one and keeps the other.
    pub retry_at: Option<Millis>,
    /// How often it went back to the queue through no fault of its own, since it was added or retried by a person.
    pub waits: u32,
    /// The agent that goes on with it, when the one that its author wanted could not.
    pub handed_to: Option<AgentName>,
}

impl TaskHistory {
    /// A clean record: the failures before a person looked do not count against the next attempt, and nobody waits for
    /// their sake. What the author wished stays.
    pub fn forgive(&mut self) {
        self.failures = 0;
        self.waits = 0;
        self.reason = None;
        self.retry_at = None;
    }
}

/// A task as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The repository it is about.
    pub project: ProjectId,
    /// What its author decided.
    pub spec: TaskSpec,
    /// What happened to it.
    pub history: TaskHistory,
    /// Where it comes from.
    pub spawn: Spawn,
    /// The part of a workflow that it is, if it is one.
    pub stage: Option<StageOf>,
    /// Dependencies that are not done.
    pub open_deps: i64,
    /// Grows with every change; a write names the version that it read.
    pub version: i64,
    /// When it was added.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    state: TaskState,
}

/// Everything a [`Task`] is made of, for the store, which is the only one that reads tasks back.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of Task")]
pub struct TaskParts {
    pub id: TaskId,
    pub project: ProjectId,
    pub spec: TaskSpec,
    pub history: TaskHistory,
    pub spawn: Spawn,
    pub stage: Option<StageOf>,
    pub open_deps: i64,
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub state: TaskState,
}

impl From<TaskParts> for Task {
    fn from(parts: TaskParts) -> Self {
        let TaskParts {
            id,
            project,
            spec,
            history,
            spawn,
            stage,
            open_deps,
            version,
            created_at,
            updated_at,
            state,
        } = parts;
        Self { id, project, spec, history, spawn, stage, open_deps, version, created_at, updated_at, state }
    }
}

impl Task {
    /// Where it stands.
    pub const fn state(&self) -> TaskState {
        self.state
    }

    /// Moves it, if the machine has that arrow. The only way in which a task's state ever changes.
    pub fn apply(&mut self, event: TaskMove) -> Result<(), IllegalTransition<TaskState, TaskMove>> {
        self.state = self.state.next(event)?;
        Ok(())
    }

    /// The agent of its next attempt; none is the configured default.
    pub fn agent(&self) -> Option<&AgentName> {
        self.history.handed_to.as_ref().or(self.spec.agent.as_ref())
    }

    /// The model of its next attempt; none is the agent's default. The author chose one for another agent than that
    /// which a task was handed to.
    pub fn model(&self) -> Option<&ModelName> {
        self.spec.model.as_ref().filter(|_| self.history.handed_to.is_none())
    }

    /// What its next attempt asks of the agent beyond the model. Written for another agent than that which a task was
    /// handed to.
    pub fn tuning(&self) -> Result<Tuning, FieldError> {
        if self.history.handed_to.is_some() { Ok(Tuning::default()) } else { Tuning::of(&self.spec.meta) }
    }

    /// When it may start at the earliest: what its author wished, or the end of the wait after a failure.
    pub fn due(&self) -> Option<Millis> {
        self.spec.not_before.max(self.history.retry_at)
    }

    /// What a list shows: the state, with the two derived ones.
    pub fn status(&self, now: Millis) -> Status {
        match self.state {
            TaskState::Queued if self.open_deps > 0 => Status::Blocked,
            TaskState::Queued if self.due().is_some_and(|at| at > now) => Status::Scheduled,
            TaskState::Queued => Status::Ready,
            state => Status::In(state),
        }
    }
}

/// A state, or what a queued task is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Queued, and a dependency is not done.
    Blocked,
    /// Queued, and its time has not come.
    Scheduled,
    /// Queued, and nothing stands in its way.
    Ready,
    /// Any other state.
    In(TaskState),
}

impl Status {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::In(state) => state.as_str(),
        }
    }
}
