//! The documented, stable shapes in which tasks, runs and events are shown: the same for every interface.

mod cleaning;
mod existing_branch;
mod followed;
mod message;
mod needs_you;
mod question;
mod queue_pause;
mod run;
mod setting;
mod workflow;
mod workflow_file;

use std::collections::BTreeMap;

use fleet_core::deps::Obstacle;
use fleet_core::event::Event;
use fleet_core::id::{BatchId, ProjectId, RunId, TaskId, WorkflowId};
use fleet_core::limits::Limits;
use fleet_core::policy::RetryPolicy;
use fleet_core::run::Reason;
use fleet_core::scope::FileScope;
use fleet_core::task::{Complexity, Labels, Meta, Setup, Task, TaskMode, TaskState};
use fleet_core::time::Millis;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use cleaning::{Kept, Leftover};
pub use existing_branch::ExistingBranchView;
pub use followed::{Details, Followed, Launched, RunFiles};
pub use message::MessageView;
pub use needs_you::NeedsYou;
pub use question::QuestionView;
pub use queue_pause::QueuePauseView;
pub use run::{AgentStateView, ListedRunView, RunLoad, RunView};
pub use setting::{OriginView, SettingValue, SettingView};
pub use workflow::{StageView, WorkflowDetail, WorkflowProgress, WorkflowView};
pub use workflow_file::{Diagnostic, FileFormat, Severity, Wants, WorkflowOrigin, WorkflowSource};

use crate::{Moment, rfc3339};

/// A task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: TaskId,
    pub project: ProjectId,
    pub title: String,
    /// Left out of lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub state: TaskState,
    /// The state, or `ready`, `blocked`, `scheduled` for a queued task.
    pub status: String,
    pub priority: i64,
    pub labels: Labels,
    pub scope: FileScope,
    pub complexity: Option<Complexity>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub base: Option<String>,
    pub branch: Option<String>,
    /// Whether its branch existed before it.
    #[serde(default)]
    pub existing_branch: bool,
    pub limits: Limits,
    pub retry: RetryPolicy,
    /// The commands that must succeed on its work, each by its arguments.
    #[serde(default)]
    pub checks: Vec<Vec<String>>,
    pub not_before: Option<Moment>,
    pub meta: Meta,
    pub effort: Option<String>,
    pub extra_args: Vec<String>,
    pub setup: Setup,
    pub profile: Option<String>,
    pub on_behalf_of: Option<TaskId>,
    pub batch: Option<BatchId>,
    /// The workflow of which it is a stage.
    pub workflow: Option<WorkflowId>,
    pub read_only: bool,
    /// Whether its agent runs in a terminal.
    pub mode: TaskMode,
    /// The run whose agent added it.
    pub parent: Option<RunId>,
    pub depth: u32,
    pub spawn_depth: u32,
    /// How often it was started.
    pub attempts: i64,
    pub failures: u32,
    /// How often it went back to the queue without a fault of its own.
    pub waits: u32,
    /// How often its work failed its checks.
    #[serde(default)]
    pub check_failures: u32,
    /// How often it began a new conversation because the one before was full.
    #[serde(default)]
    pub context_restarts: u32,
    /// The agent of its next attempt, if that is not the one that its author wanted.
    pub handed_to: Option<String>,
    pub reason: Option<Reason>,
    pub remark: Option<String>,
    /// How many dependencies are not done.
    pub open_dependencies: i64,
    /// Why it does not start, if a dependency is in the way.
    pub obstacle: Option<ObstacleView>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

/// What blocks a task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ObstacleView {
    /// From the direct dependency to the cause.
    pub chain: Vec<TaskId>,
    /// The state of the cause.
    pub state: TaskState,
    /// Whether nothing will move until a person acts.
    pub needs_a_person: bool,
}

impl From<&Obstacle> for ObstacleView {
    fn from(obstacle: &Obstacle) -> Self {
        Self { chain: obstacle.chain.clone(), state: obstacle.state, needs_a_person: obstacle.is_final() }
    }
}

impl TaskView {
    /// Shows a task as it is at `now`.
    pub fn new(task: &Task, now: Millis) -> Self {
        let spec = &task.spec;
        Self {
            id: task.id,
            project: task.project,
            title: spec.title.to_string(),
            description: None,
            state: task.state(),
            status: task.status(now).as_str().to_owned(),
            priority: spec.priority.get(),
            labels: spec.labels.clone(),
            scope: spec.scope.clone(),
            complexity: spec.complexity,
            agent: spec.agent.as_ref().map(ToString::to_string),
            model: spec.model.as_ref().map(ToString::to_string),
            base: spec.base.as_ref().map(ToString::to_string),
            branch: spec.branch.as_ref().map(ToString::to_string),
            existing_branch: spec.existing_branch,
            limits: spec.limits,
            retry: spec.retry,
            checks: spec.checks.argvs().to_vec(),
            not_before: task.due().map(Moment),
            meta: spec.meta.clone(),
            effort: spec.tuning.effort.clone(),
            extra_args: spec.tuning.args.clone(),
            setup: spec.setup,
            profile: spec.profile.as_ref().map(ToString::to_string),
            on_behalf_of: spec.on_behalf_of,
            batch: spec.batch,
            workflow: task.part.map(|part| part.workflow),
            read_only: spec.read_only,
            mode: spec.mode,
            parent: task.spawn.parent,
            depth: task.spawn.depth,
            spawn_depth: task.spawn.most,
            attempts: task.history.attempts,
            failures: task.history.failures,
            waits: task.history.waits,
            check_failures: task.history.check_failures,
            context_restarts: task.history.context_restarts,
            handed_to: task.history.handed_to.as_ref().map(ToString::to_string),
            reason: task.history.reason,
            remark: task.history.remark.clone(),
            open_dependencies: task.open_deps,
            obstacle: None,
            created_at: Moment(task.created_at),
            updated_at: Moment(task.updated_at),
        }
    }

    /// With its description, for one task alone.
    #[must_use]
    pub fn described(mut self, task: &Task) -> Self {
        self.description = Some(task.spec.description.to_string());
        self
    }

    /// With what blocks it.
    #[must_use]
    pub fn behind(mut self, obstacle: Option<&Obstacle>) -> Self {
        self.obstacle = obstacle.map(ObstacleView::from);
        self
    }
}

/// A part of a list of tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<TaskView>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// The names of their projects.
    pub projects: BTreeMap<ProjectId, String>,
    /// Of those that are ready and whose agent cannot be started here: that agent.
    pub missing_agents: BTreeMap<TaskId, String>,
}

/// An event.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    pub seq: Option<i64>,
    pub at: Moment,
    pub kind: String,
    pub project: Option<ProjectId>,
    pub task: Option<TaskId>,
    pub run: Option<RunId>,
    pub data: serde_json::Value,
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> Self {
        let (kind, data) = event.fact.parts();
        let mut data = serde_json::from_str(&data).unwrap_or_default();
        show_moments(&mut data);
        Self {
            seq: Some(event.seq).filter(|seq| *seq > 0),
            at: Moment(event.at),
            kind,
            project: event.subject.project,
            task: event.subject.task,
            run: event.subject.run,
            data,
        }
    }
}

/// The store keeps moments as numbers; everywhere else they are RFC 3339.
fn show_moments(data: &mut serde_json::Value) {
    for name in ["until", "lease_until", "not_before"] {
        if let Some(value) = data.get_mut(name)
            && let Some(millis) = value.as_i64()
        {
            *value = rfc3339(Millis(millis)).into();
        }
    }
}
