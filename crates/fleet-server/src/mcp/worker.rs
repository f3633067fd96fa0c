//! A worker: a task, with its newest run, in the words of the protocol's clients.
//!
//! Owns the names and meanings of its fields. Must never ask the store itself.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fleet_api::Client;
use fleet_api::verbs::{run_open, task_find, task_show, task_wait};
use fleet_api::views::{Details, Followed, RunFiles, RunView};
use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::RunState;
use fleet_core::task::TaskState;
use fleet_core::text::{escaped, shortened};
use fleet_core::time::Millis;
use fleet_engine::clock;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::given;
use super::status::{self, WorkerStatus};

/// A worker. Moments are seconds since 1970.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the names are those that clients know")]
pub(super) struct Worker {
    /// The id of the task; survives retries
    pub(super) worker_id: String,
    pub(super) task_name: String,
    pub(super) status: WorkerStatus,
    /// The finer state of the task: queued (as ready, blocked or scheduled), held, running, waiting, done, failed, cancelled
    pub(super) state: String,
    /// True when nothing more happens unless a person acts
    pub(super) over: bool,
    pub(super) repo_path: Option<String>,
    /// The branch with the work
    pub(super) branch_name: String,
    /// Where the agent works, while it does. Afterwards the work is on the branch, and this is null unless `worktree`
    /// asks for its files
    pub(super) worktree_path: Option<String>,
    pub(super) worker_dir: Option<String>,
    /// As the agent says, or as it was chosen; `default` is the agent's own choice
    pub(super) model: String,
    pub(super) executor: Option<String>,
    pub(super) profile: Option<String>,
    pub(super) reasoning_effort: Option<String>,
    pub(super) extra_args: Vec<String>,
    pub(super) created_at: f64,
    pub(super) started_at: Option<f64>,
    pub(super) ended_at: Option<f64>,
    /// When the process that keeps the run last showed that it lives; its end, once it has ended
    pub(super) last_heartbeat_at: Option<f64>,
    /// When the agent last printed something
    pub(super) last_activity_at: Option<f64>,
    pub(super) timeout_seconds: Option<u64>,
    /// The process that keeps the run, while it lives
    pub(super) pid: Option<i32>,
    /// Of the agent of the newest attempt, once that has ended; 128 and more is a signal
    pub(super) exit_code: Option<i32>,
    pub(super) retry_count: i64,
    pub(super) tags: Vec<String>,
    pub(super) metadata: Map<String, Value>,
    pub(super) error_message: Option<String>,
    /// What the agent is doing, or what the worker waits for; how it ended, once it has
    pub(super) heartbeat_message: Option<String>,
    pub(super) prompt_path: Option<String>,
    pub(super) result_json_path: Option<String>,
    pub(super) stdout_path: Option<String>,
    pub(super) stderr_path: Option<String>,
    /// Where the run and its end are described
    pub(super) meta_path: Option<String>,
    /// The worker on whose behalf it was made
    pub(super) parent_worker_id: Option<String>,
    /// The run whose agent made it; null for people
    pub(super) parent_run_id: Option<String>,
    /// The newest attempt
    pub(super) run_id: Option<String>,
    /// The commit that the work started from
    pub(super) base_commit: Option<String>,
    /// The branches of its dependencies whose work it starts from; only get_worker_status has it
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) starts_from: Option<Vec<String>>,
    /// How far the agent says that it is
    pub(super) percent: Option<u8>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cost_usd: f64,
    pub(super) elapsed: String,
    pub(super) heartbeat_age: String,
    pub(super) last_output_age: String,
    pub(super) status_label: String,
    pub(super) summary_line: String,
}

/// The task that a client means by the id of a worker. The beginning of the id is enough, and a run or branch will do.
pub(super) async fn seen(client: &dyn Client, worker_id: &str) -> Outcome<TaskId> {
    Ok(find(client, worker_id).await?.task)
}

/// The run that a client means: by its own id, or the newest one of a worker or a branch. What was never started is named
/// as it was, so that the verb says so.
pub(super) async fn seen_run(client: &dyn Client, typed: &str) -> Outcome<(TaskId, String)> {
    let found = find(client, typed).await?;
    Ok((found.task, found.run.map_or_else(|| typed.to_owned(), |run| run.to_string())))
}

async fn find(client: &dyn Client, worker_id: &str) -> Outcome<task_find::Answer> {
    let request = task_find::Request { id: worker_id.to_owned() };
    fleet_api::call(client, None, &request).await.map_err(|problem| match problem.code {
        Code::TaskNotFound | Code::IdInvalid => {
            unknown(("worker_id", "Worker"), worker_id).hint("`list_workers` shows the workers")
        }
        _ => problem,
    })
}

/// What a client named is not there; with the name of the argument, and of what it names.
pub(super) fn unknown((field, what): (&str, &str), typed: &str) -> Problem {
    let message = format!("{what} not found: {}", escaped(&shortened(typed, 60)));
    Problem { code: Code::TaskNotFound, ..Problem::field(field, message) }
}

pub(super) async fn one(client: &dyn Client, task: TaskId) -> Outcome<Worker> {
    let gone = || Problem::new(Code::TaskNotFound, format!("the worker {task} was deleted just now"));
    shown(client, &[task]).await?.pop().ok_or_else(gone)
}

/// The same, with a folder that has its files, wherever its own one went: for clients that asked for it.
pub(super) async fn with_worktree(client: &dyn Client, mut worker: Worker) -> Outcome<Worker> {
    if let Some(id) = worker.run_id.clone() {
        let opened = fleet_api::call(client, None, &run_open::Request { id }).await?;
        worker.worktree_path = Some(text(&opened.workspace));
    }
    Ok(worker)
}

/// The same, with where its work starts.
pub(super) async fn with_start(client: &dyn Client, worker: Worker) -> Outcome<Worker> {
    let request = task_show::Request { id: worker.worker_id.clone(), events: 0 };
    let shown = fleet_api::call(client, None, &request).await?;
    Ok(Worker { starts_from: Some(shown.starts_from), ..worker })
}

pub(super) async fn shown(client: &dyn Client, tasks: &[TaskId]) -> Outcome<Vec<Worker>> {
    let ids = tasks.iter().map(ToString::to_string).collect();
    let request = task_wait::Request { ids, details: true, ..task_wait::Request::default() };
    let seen = fleet_api::call(client, None, &request).await?;
    Ok(seen
        .tasks
        .iter()
        .filter_map(|seen| Some(worker(seen, seen.details.as_ref()?, clock::now())))
        .collect())
}

fn worker(seen: &Followed, known: &Details, now: Millis) -> Worker {
    let (task, run) = (&seen.task, seen.run.as_ref());
    let status = WorkerStatus::of(task.state, task.reason);
    let started = run.and_then(|run| run.started_at).map(|at| at.0);
    let ended = match run.and_then(|run| run.ended_at) {
        _ if is_cancelled_alone(task.state, run) => Some(task.updated_at.0),
        at => at.map(|at| at.0).filter(|_| seen.is_over()),
    };
    let path = |of: fn(&RunFiles) -> &PathBuf| known.files.as_ref().map(|files| text(of(files)));
    let model = run.and_then(|run| run.model.clone()).or_else(|| known.model.clone());
    let model = model.unwrap_or_else(|| "default".to_owned());
    let task_name = given::task_name(task);
    let error_message = error(seen, status);
    let elapsed = age(started, ended.unwrap_or(now));
    let label = status::label(status);
    // Its keeper wrote its end.
    let heartbeat = known.kept_at.map(|at| at.0).or(ended.filter(|_| started.is_some()));
    let active = known.printed_at.map(|at| at.0);
    Worker {
        worker_id: task.id.to_string(),
        summary_line: format!("{label} {task_name} ({}/{model}) — {elapsed}", known.agent),
        task_name,
        status,
        state: task.status.clone(),
        over: seen.is_over(),
        repo_path: known.repo.as_deref().map(text),
        branch_name: seen.branch(),
        worktree_path: run
            .and_then(|run| run.workspace.clone())
            .or_else(|| known.opened.as_deref().map(text)),
        worker_dir: path(|files| &files.folder),
        model,
        executor: Some(known.agent.clone()),
        profile: task.profile.clone(),
        reasoning_effort: task.effort.clone(),
        extra_args: task.extra_args.clone(),
        created_at: seconds(task.created_at.0),
        started_at: started.map(seconds),
        ended_at: ended.map(seconds),
        last_heartbeat_at: heartbeat.map(seconds),
        last_activity_at: active.map(seconds),
        timeout_seconds: known.most_seconds,
        pid: run.and_then(|run| run.keeper),
        exit_code: known.exit_code,
        retry_count: (task.attempts - 1).max(0),
        tags: given::tags(task),
        metadata: given::metadata(task),
        heartbeat_message: message(seen, error_message.as_deref()),
        error_message,
        prompt_path: path(|files| &files.prompt),
        result_json_path: path(|files| &files.result),
        stdout_path: path(|files| &files.stdout),
        stderr_path: path(|files| &files.stderr),
        meta_path: path(|files| &files.ending),
        parent_worker_id: task.on_behalf_of.or(known.parent).map(|task| task.to_string()),
        parent_run_id: task.parent.map(|run| run.to_string()),
        run_id: run.map(|run| run.id.to_string()),
        base_commit: run.and_then(|run| run.base.clone()),
        starts_from: None,
        percent: seen.percent(),
        input_tokens: run.map_or(0, |run| run.input_tokens),
        output_tokens: run.map_or(0, |run| run.output_tokens),
        cost_usd: dollars(run.map_or(0, |run| run.micro_usd)),
        heartbeat_age: age(heartbeat, now),
        last_output_age: age(active, now),
        elapsed,
        status_label: label,
    }
}

/// Whether a task was cancelled while it was not running: before its first attempt, or between two of them.
fn is_cancelled_alone(state: TaskState, run: Option<&RunView>) -> bool {
    state == TaskState::Cancelled && run.is_none_or(|run| run.state != RunState::Cancelled)
}

fn error(seen: &Followed, status: WorkerStatus) -> Option<String> {
    if !matches!(status, WorkerStatus::Failed | WorkerStatus::TimedOut | WorkerStatus::Cancelled) {
        return None;
    }
    // Of one that was cancelled between two attempts, the attempt before has nothing to say about that.
    let alone = is_cancelled_alone(seen.task.state, seen.run.as_ref());
    let of_run = seen.run.as_ref().filter(|_| !alone).and_then(|run| run.detail.clone());
    let said = of_run.or_else(|| seen.task.remark.clone());
    let reason = seen.task.reason.filter(|_| !alone).map(|reason| reason.to_string());
    match (said, reason) {
        (Some(said), _) => Some(said),
        (None, Some(reason)) => Some(reason),
        (None, None) if status == WorkerStatus::Cancelled => Some("Cancelled by user".to_owned()),
        (None, None) => None,
    }
}

/// What it is doing, what it waits for, or how it ended.
fn message(seen: &Followed, error: Option<&str>) -> Option<String> {
    match seen.task.state {
        TaskState::Running => {
            let stopping = seen.run.as_ref().and_then(|run| run.stopping.as_ref());
            stopping
                .map(|why| format!("being stopped: {why}"))
                .or_else(|| seen.activity().map(ToOwned::to_owned))
                .or_else(|| Some("Worker started".to_owned()))
        }
        TaskState::Waiting => Some("its agent asked a question and waits for an answer".to_owned()),
        TaskState::Held => Some("held: starts when released".to_owned()),
        TaskState::Queued => Some(match &seen.task.obstacle {
            Some(obstacle) if obstacle.needs_a_person => {
                format!("waits for {}, which is {}", ids(&obstacle.chain), obstacle.state)
            }
            Some(obstacle) => format!("waits for {}", ids(&obstacle.chain)),
            None => seen.task.remark.clone().unwrap_or_else(|| "waits for a free slot".to_owned()),
        }),
        TaskState::Done => Some("Worker completed successfully".to_owned()),
        TaskState::Failed | TaskState::Cancelled => error.map(ToOwned::to_owned),
    }
}

fn ids(chain: &[TaskId]) -> String {
    chain.last().map(ToString::to_string).unwrap_or_default()
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 fit a float for long to come")]
pub(super) fn seconds(at: Millis) -> f64 {
    at.0 as f64 / 1_000.0
}

#[expect(clippy::cast_precision_loss, reason = "spending stays far below that")]
pub(super) fn dollars(micro: u64) -> f64 {
    micro as f64 / 1_000_000.0
}

pub(super) fn age(since: Option<Millis>, until: Millis) -> String {
    duration(since.and_then(|since| u64::try_from(until.0 - since.0).ok()).map(|millis| millis / 1_000))
}

/// A time span as people say it.
pub(super) fn duration(seconds: Option<u64>) -> String {
    match seconds {
        None => "-".to_owned(),
        Some(seconds) if seconds < 60 => format!("{seconds}s"),
        Some(seconds) if seconds < 3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        Some(seconds) => format!("{}h {:02}m", seconds / 3_600, seconds / 60 % 60),
    }
}

pub(super) fn summary(workers: &[Worker]) -> String {
    status::summary("workers", workers.iter().map(|worker| worker.status))
}

/// How long something has taken that began at this uptime.
pub(super) fn since(began: Duration) -> Duration {
    clock::uptime().saturating_sub(began)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_people_say_them() {
        let said = [None, Some(0), Some(59), Some(60), Some(3_599), Some(3_600), Some(90_061)].map(duration);
        assert_eq!(said, ["-", "0s", "59s", "1m 00s", "59m 59s", "1h 00m", "25h 01m"]);
        assert_eq!(age(Some(Millis(5_000)), Millis(1_000)), "-", "a clock that went back");
    }
}
