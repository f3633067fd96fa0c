//! Tasks: something to be done; durable.

mod checks;
mod edit;
mod fields;
mod mode;
mod named_meta;
mod own_branch;
mod spawn;
mod state;
mod tuning;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use checks::TaskChecks;
pub use edit::EditRefused;
use edit::define_edit;
pub use fields::{
    AgentName, BaseRef, BranchName, Complexity, Description, FieldError, LONGEST_TITLE, Label, Labels,
    MetaKey, MetaValue, ModelName, Priority, PromptText, Remark, Setup, Title,
};
pub use mode::TaskMode;
pub use named_meta::is_field_name;
pub use own_branch::{own_branch, owner_of_branch};
pub use spawn::{DEFAULT_SPAWN_DEPTH, Spawn, TooDeep};
pub use state::{TaskMove, TaskState};
pub use tuning::{Tuning, refused_arg};

use crate::id::{BatchId, ProjectId, TaskId};
use crate::limits::Limits;
use crate::policy::{FailureCounter, RetryPolicy};
use crate::refname::check_branch_name;
use crate::run::Reason;
use crate::scope::FileScope;
use crate::time::Millis;
use crate::transition::Current;
use crate::workflow::PartOf;

/// Free metadata, for people and programs. Codefleet does not read it.
pub type Meta = BTreeMap<MetaKey, MetaValue>;

/// What is to be done and how: everything that the author of a task decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskSpec {
    /// In one line.
    pub title: Title,
    /// In as many lines as needed.
    #[serde(default)]
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
    /// Its estimated size.
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
    /// Whether its branch existed before it: then it goes on there, and the branch is not codefleet's to delete.
    #[serde(default, skip_serializing_if = "is_default")]
    pub existing_branch: bool,
    /// What a run may use.
    #[serde(default)]
    pub limits: Limits,
    /// What happens when a run fails.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// The commands that must succeed on its work before it is done, beside those of its project.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checks: TaskChecks,
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
    /// What it asks of its agent beyond a model.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tuning: Tuning,
    /// How its workspaces are prepared.
    #[serde(default, skip_serializing_if = "is_default")]
    pub setup: Setup,
    /// The profile that a client named, kept for later readers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub profile: Option<MetaValue>,
    /// The task on whose behalf a client made it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub on_behalf_of: Option<TaskId>,
    /// The agent, if the project's file chose it and not the author.
    #[serde(default, skip_serializing_if = "is_default")]
    pub project_agent: Option<AgentName>,
    /// Whether its agent works alone or in a terminal.
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: TaskMode,
}

/// Calls a macro with the fields that can change later, and their types.
#[macro_export]
macro_rules! for_each_editable_field {
    ($callback:ident) => {
        $callback! {
            title: Title,
            description: Description,
            priority: Priority,
            labels: Labels,
            scope: FileScope,
            complexity: Option<Complexity>,
            agent: Option<AgentName>,
            model: Option<ModelName>,
            base: Option<BaseRef>,
            branch: Option<BranchName>,
            existing_branch: bool,
            limits: Limits,
            retry: RetryPolicy,
            checks: TaskChecks,
            not_before: Option<Millis>,
            meta: Meta,
            batch: Option<BatchId>,
            read_only: bool,
            tuning: Tuning,
            setup: Setup,
            mode: TaskMode,
        }
    };
}

for_each_editable_field!(define_edit);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub const MAX_META: usize = 64;

impl TaskSpec {
    pub fn new(title: Title) -> Self {
        Self {
            title,
            description: Description::default(),
            priority: Priority::default(),
            labels: Labels::default(),
            scope: FileScope::default(),
            complexity: None,
            agent: None,
            model: None,
            base: None,
            branch: None,
            existing_branch: false,
            limits: Limits::default(),
            retry: RetryPolicy::default(),
            checks: TaskChecks::default(),
            not_before: None,
            meta: Meta::new(),
            batch: None,
            read_only: false,
            may_be_empty: false,
            tuning: Tuning::default(),
            setup: Setup::default(),
            profile: None,
            on_behalf_of: None,
            project_agent: None,
            mode: TaskMode::default(),
        }
    }

    /// What its agent is told to do.
    pub fn prompt(&self) -> String {
        let (title, description) = (self.title.as_str(), self.description.as_str());
        if description.is_empty() {
            return title.to_owned();
        }
        // Of a prompt that was typed as a whole, the title is the beginning.
        if description.starts_with(title.trim_end_matches('…')) {
            return description.to_owned();
        }
        format!("{title}\n\n{description}")
    }

    /// Whether it says nothing but the name of its branch: a person says the rest in the terminal of its agent.
    pub fn is_opened_for_person(&self) -> bool {
        let names_branch = self.branch.as_ref().is_some_and(|branch| branch.as_str() == self.title.as_str());
        names_branch && self.description.as_str().trim().is_empty()
    }

    /// Checks the bounds that the fields alone cannot keep.
    pub fn check(&self) -> Result<(), FieldError> {
        let wrong = |field, why| Err(FieldError { field, why });
        if self.meta.len() > MAX_META {
            return wrong("meta", format!("{} entries, at most {MAX_META} are allowed", self.meta.len()));
        }
        let Limits { seconds, idle_seconds, tokens, micro_usd } = self.limits;
        if [seconds, idle_seconds, tokens, micro_usd].contains(&Some(0)) {
            return wrong("limits", "a limit of 0 would stop every run at once".to_owned());
        }
        if self.retry.retries > RetryPolicy::MAX_RETRIES {
            return wrong("retry", format!("at most {} retries are allowed", RetryPolicy::MAX_RETRIES));
        }
        if self.retry.check_retries > RetryPolicy::MAX_RETRIES {
            return wrong("check-retries", format!("at most {} are allowed", RetryPolicy::MAX_RETRIES));
        }
        if self.retry.backoff_seconds > RetryPolicy::LONGEST_BACKOFF_SECONDS {
            return wrong("retry", "a wait of more than a day is not allowed".to_owned());
        }
        // Not when a branch is read: earlier versions took full names, and such tasks must still load.
        if let Some(branch) = &self.branch {
            check_branch_name(branch.as_str())
                .map_err(|error| FieldError { field: "branch", why: error.to_string() })?;
        }
        self.tuning.check()
    }
}

/// Tasks of one state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskKind {
    /// The state.
    pub state: TaskState,
    /// Whether they failed because their time was over; both, if left out.
    pub timed_out: Option<bool>,
}

/// What the task's history left, beside its state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskHistory {
    /// How often it was claimed: the attempt number of its newest run.
    pub attempts: i64,
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
    /// How often its work failed its checks, since it was added or retried by a person.
    pub check_failures: u32,
    /// How often it began a new conversation because the one before was full, since then.
    pub context_restarts: u32,
    /// The agent that goes on with it, when the one that its author wanted could not.
    pub handed_to: Option<AgentName>,
}

impl TaskHistory {
    /// Whether any of its runs failed or was put off, since it was added or retried by a person.
    pub const fn has_failed(&self) -> bool {
        self.failures > 0 || self.waits > 0 || self.check_failures > 0 || self.context_restarts > 0
    }

    /// One more of what a failed run counts as.
    pub const fn count(&mut self, counter: FailureCounter) {
        match counter {
            FailureCounter::Failures => self.failures += 1,
            FailureCounter::Waits => self.waits += 1,
            FailureCounter::Checks => self.check_failures += 1,
            FailureCounter::ContextRestarts => self.context_restarts += 1,
        }
    }

    /// A clean record: earlier failures do not count against the next attempt, and cause no wait. What the author
    /// wished stays.
    pub fn reset_failures(&mut self) {
        self.failures = 0;
        self.waits = 0;
        self.check_failures = 0;
        self.context_restarts = 0;
        self.reason = None;
        self.retry_at = None;
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub project: ProjectId,
    /// What its author decided.
    pub spec: TaskSpec,
    pub history: TaskHistory,
    pub spawn: Spawn,
    pub part: Option<PartOf>,
    /// Dependencies that are not done.
    pub open_deps: i64,
    /// Grows with every change; a write names the version that it read.
    pub version: i64,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub state: Current<TaskState>,
}

impl Task {
    /// A task that was just added and waits for nothing.
    pub fn new(id: TaskId, project: ProjectId, spec: TaskSpec, now: Millis) -> Self {
        Self {
            id,
            project,
            spec,
            history: TaskHistory::default(),
            spawn: Spawn::default(),
            part: None,
            open_deps: 0,
            version: 1,
            created_at: now,
            updated_at: now,
            state: Current::first(),
        }
    }

    pub const fn state(&self) -> TaskState {
        self.state.get()
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
    pub fn tuning(&self) -> Tuning {
        if self.history.handed_to.is_some() { Tuning::default() } else { self.spec.tuning.clone() }
    }

    /// When it may start at the earliest: what its author wished, or the end of the wait after a failure.
    pub fn due(&self) -> Option<Millis> {
        self.spec.not_before.max(self.history.retry_at)
    }

    /// What a list shows: the state, with the two derived ones.
    pub fn status(&self, now: Millis) -> Status {
        match self.state() {
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
    In(TaskState),
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Scheduled => "scheduled",
            Self::Ready => "ready",
            Self::In(state) => state.as_str(),
        }
    }
}
