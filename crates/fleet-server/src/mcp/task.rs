//! A task of the backlog, in the words of the protocol's clients.

use fleet_api::verbs::task_similar::Similar;
use fleet_api::views::TaskView;
use fleet_core::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::worker;

/// A task. Moments are seconds since 1970.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct TaskAnswer {
    /// Also its worker_id, for wait, get_worker_status, collect_worker_result and the others
    task_id: String,
    title: String,
    /// Left out of lists
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// ready, blocked (by others), scheduled, held, running, waiting (for a person), done, failed or cancelled
    status: String,
    /// From 1 to 5; 5 is served first
    priority: i64,
    labels: Vec<String>,
    /// The files that it may touch, as patterns; two tasks that claim the same never run together
    file_scope: Vec<String>,
    /// trivial, small, medium, large or xl
    estimated_complexity: Option<String>,
    /// Who does it; null is the user's default
    executor: Option<String>,
    model: Option<String>,
    branch_name: Option<String>,
    /// How many of the tasks that it depends on are not done; analyze_dependencies shows which, and what blocks it
    open_dependencies: i64,
    read_only: bool,
    attempts: i64,
    /// Why it is where it is
    remark: Option<String>,
    created_at: f64,
    updated_at: f64,
}

impl From<&TaskView> for TaskAnswer {
    fn from(task: &TaskView) -> Self {
        Self {
            task_id: task.id.to_string(),
            title: task.title.clone(),
            description: task.description.clone(),
            status: task.status.clone(),
            priority: task.priority,
            labels: task.labels.iter().map(ToString::to_string).collect(),
            file_scope: task.scope.patterns().map(ToOwned::to_owned).collect(),
            estimated_complexity: task.complexity.map(|complexity| complexity.to_string()),
            executor: task.agent.clone(),
            model: task.model.clone(),
            branch_name: task.branch.clone(),
            open_dependencies: task.open_dependencies,
            read_only: task.read_only,
            attempts: task.attempts,
            remark: task.remark.clone(),
            created_at: worker::seconds(task.created_at.0),
            updated_at: worker::seconds(task.updated_at.0),
        }
    }
}

/// A task that says nearly the same as something else.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SimilarTask {
    #[serde(flatten)]
    task: TaskAnswer,
    /// From 0 to 1: how alike they are; 0.7 is nearly the same
    score: f64,
    /// Words of both, those that say most first
    shared_words: Vec<String>,
    shared_paths: Vec<String>,
}

impl From<&Similar> for SimilarTask {
    fn from(similar: &Similar) -> Self {
        Self {
            task: TaskAnswer::from(&similar.task),
            score: similar.score,
            shared_words: similar.shared_words.clone(),
            shared_paths: similar.shared_paths.clone(),
        }
    }
}

/// A problem with a task that a client named in this argument.
pub(super) fn named(field: &str, problem: Problem) -> Problem {
    match problem.code {
        Code::TaskNotFound | Code::IdInvalid if problem.field.is_none() => Problem {
            code: Code::TaskNotFound,
            hints: vec!["`search_backlog` finds tasks".to_owned()],
            field: Some(field.to_owned()),
            ..problem
        },
        _ => problem,
    }
}

/// Where work starts. Clients write `HEAD`, or nothing, for where it starts anyway.
pub(super) fn base(base_ref: Option<String>) -> Option<String> {
    base_ref.filter(|base| !base.is_empty() && base != "HEAD")
}

/// The limits of a task that is stopped after this many seconds; none for 0.
pub(super) fn time_limit(seconds: Option<u64>) -> Vec<String> {
    seconds.filter(|seconds| *seconds > 0).map(|seconds| format!("time={seconds}s")).into_iter().collect()
}

/// A value as text: anything but a text is kept as JSON.
pub(super) fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}
