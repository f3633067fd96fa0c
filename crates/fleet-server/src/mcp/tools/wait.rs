use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use fleet_api::Client;
use fleet_api::verbs::task_wait;
use fleet_api::verbs::workflow_show::{self, Depth};
use fleet_api::views::{Followed, WorkflowDetail};
use fleet_core::id::{TaskId, WorkflowId};
use fleet_core::text::shortened;
use fleet_core::workflow::PartState;
use fleet_engine::clock;

use super::prelude::*;
use crate::mcp::call::ProgressReporter;
use crate::mcp::worker::{self, Worker};
use crate::mcp::workflow::{self, WorkflowAnswer};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workers to wait for
    worker_ids: Option<Vec<String>>,
    /// The workflows to wait for
    workflow_ids: Option<Vec<String>>,
    /// Whether one of them is enough; all if left out
    until: Option<WaitFor>,
    /// Answer after this time in any case; 300 if left out
    #[schemars(range(min = 0, max = MAX_WAIT.as_secs()))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WaitFor {
    Any,
    All,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// True if what was waited for has happened; false if the time was over first
    done: bool,
    timed_out: bool,
    /// The workers and workflows that have finished
    finished: Vec<String>,
    /// Those that are not
    pending: Vec<String>,
    workers: Vec<Worker>,
    workflows: Vec<WorkflowAnswer>,
    summary: String,
}

const DEFAULT_SECONDS: u64 = 300;
/// No call waits longer than a day.
pub(crate) const MAX_WAIT: Duration = Duration::from_hours(24);
/// How many one call may wait for.
const MAX_WORKERS: usize = 500;
/// Each is looked at with all of its stages.
const MAX_WORKFLOWS: usize = 50;
/// Rings can be missed, so that one looks now and then in any case.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// After a look that showed nothing new: others may be changing the store all the time.
const PAUSE: Duration = Duration::from_millis(20);
/// How often a client gets progress: at most, when something happens, and at least, when nothing does.
const MIN_PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
const MAX_PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Wait for workers and workflows";
    const ABOUT: &'static str = "Waits until workers and workflows have finished (until: all or any), or until \
        the timeout, whichever comes first, and returns their state. Use this instead of polling the status. \
        When it returns timed_out, do something else or call it again; they keep running in any case.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let (workers, workflows) =
            (self.worker_ids.unwrap_or_default(), self.workflow_ids.unwrap_or_default());
        check_count("worker_ids", &workers, workflows.len(), MAX_WORKERS)?;
        check_count("workflow_ids", &workflows, workers.len(), MAX_WORKFLOWS)?;
        let watched = WatchedItems {
            client: &call,
            tasks: tasks(&call, &workers).await?,
            workflows: workflows_of(&call, &workflows).await?,
        };
        let longest = Duration::from_secs(self.timeout_seconds.unwrap_or(DEFAULT_SECONDS));
        let waiting =
            WaitLimits { until: self.until.unwrap_or(WaitFor::All), longest, progress: call.progress() };
        let seen = waiting.run(&call, &watched).await?;
        let done = waiting.is_met(&seen);
        let workers = worker::shown(&call, &watched.tasks).await?;
        let workflows = workflow::shown(&call, &seen.workflows).await?;
        let all = workers.iter().map(|worker| (worker.over, &worker.worker_id));
        let all = all.chain(workflows.iter().map(|workflow| (workflow.over, &workflow.workflow_id)));
        let (finished, pending): (Vec<_>, Vec<_>) = all.partition(|(over, _)| *over);
        let ids = |list: Vec<(bool, &String)>| list.into_iter().map(|(_, id)| id.clone()).collect();
        Ok(Answer {
            done,
            timed_out: !done,
            finished: ids(finished),
            pending: ids(pending),
            summary: summary(&workers, &workflows),
            workers,
            workflows,
        })
    }
}

fn check_count(name: &str, ids: &[String], others: usize, most: usize) -> Outcome<()> {
    if ids.len() > most || (ids.is_empty() && others == 0) {
        let message = format!("{name}: {} are named: between 1 and {most} can be waited for", ids.len());
        return Err(Problem::new(Code::InvalidValue, message));
    }
    Ok(())
}

async fn tasks(client: &dyn Client, ids: &[String]) -> Outcome<Vec<TaskId>> {
    let mut tasks: Vec<TaskId> = Vec::with_capacity(ids.len());
    for id in ids {
        let task = worker::seen(client, id).await?;
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

async fn workflows_of(client: &dyn Client, ids: &[String]) -> Outcome<Vec<WorkflowId>> {
    let mut meant: Vec<WorkflowId> = Vec::with_capacity(ids.len());
    for id in ids {
        let id = workflow::look(client, id, Depth::States).await?.workflow.id;
        if !meant.contains(&id) {
            meant.push(id);
        }
    }
    Ok(meant)
}

fn summary(workers: &[Worker], workflows: &[WorkflowAnswer]) -> String {
    match (workers, workflows) {
        (_, []) => worker::summary(workers),
        ([], _) => workflow::summary(workflows),
        _ => format!("{}; {}", worker::summary(workers), workflow::summary(workflows)),
    }
}

/// A caller that waits for a change.
type Wait<'a> = Pin<Box<dyn Future<Output = Outcome<()>> + Send + 'a>>;

struct WatchedItems<'c> {
    client: &'c dyn Client,
    tasks: Vec<TaskId>,
    workflows: Vec<WorkflowId>,
}

struct WaitState {
    workers: Vec<Followed>,
    workflows: Vec<WorkflowDetail>,
    /// A hash of the workers as they are.
    next: String,
    /// The same for each of the workflows.
    nexts: Vec<String>,
}

impl WatchedItems<'_> {
    async fn look(&self) -> Outcome<WaitState> {
        let (mut workflows, mut nexts) = (Vec::new(), Vec::new());
        for id in &self.workflows {
            let request =
                workflow_show::Request { id: id.to_string(), depth: Depth::Usage, ..Default::default() };
            let seen = fleet_api::call(self.client, None, &request).await?;
            workflows.push(seen.workflow);
            nexts.push(seen.next);
        }
        let request = task_wait::Request { ids: self.ids(), ..task_wait::Request::default() };
        let seen = fleet_api::call(self.client, None, &request).await?;
        Ok(WaitState { workers: seen.tasks, next: seen.next, workflows, nexts })
    }

    fn ids(&self) -> Vec<String> {
        self.tasks.iter().map(ToString::to_string).collect()
    }

    /// Waits until something has changed, at most for this time.
    async fn changed(&self, seen: &WaitState, longest: Duration) -> Outcome<()> {
        let wait_seconds = Some(u32::try_from(longest.as_secs()).unwrap_or(u32::MAX).max(1));
        let (client, mut waits) = (self.client, Vec::<Wait<'_>>::new());
        if !self.tasks.is_empty() {
            let (ids, after) = (self.ids(), Some(seen.next.clone()));
            let request = task_wait::Request { ids, after, wait_seconds, ..Default::default() };
            waits.push(Box::pin(async move { fleet_api::call(client, None, &request).await.map(drop) }));
        }
        for (id, next) in self.workflows.iter().zip(&seen.nexts) {
            let (id, after) = (id.to_string(), Some(next.clone()));
            let request = workflow_show::Request { id, depth: Depth::Usage, after, wait_seconds };
            waits.push(Box::pin(async move { fleet_api::call(client, None, &request).await.map(drop) }));
        }
        // The first one that has something to tell is enough.
        let any = |context: &mut Context<'_>| {
            let mut polled = waits.iter_mut().map(|wait| wait.as_mut().poll(context));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        };
        poll_fn(any).await
    }
}

impl WaitState {
    /// Whether each of them is over.
    fn over(&self) -> impl Iterator<Item = bool> {
        let workers = self.workers.iter().map(Followed::is_over);
        workers.chain(self.workflows.iter().map(WorkflowDetail::is_at_rest))
    }
}

struct WaitLimits {
    until: WaitFor,
    longest: Duration,
    progress: Option<ProgressReporter>,
}

impl WaitLimits {
    async fn run(&self, call: &Call, watched: &WatchedItems<'_>) -> Outcome<WaitState> {
        let began = clock::uptime();
        let (mut told_at, mut told) = (Duration::ZERO, String::new());
        loop {
            let seen = watched.look().await?;
            let waited = worker::since(began);
            if self.is_met(&seen) || waited >= self.longest {
                return Ok(seen);
            }
            let news = progress_text(&seen);
            let silent = waited.saturating_sub(told_at);
            let is_new = news != told;
            if let Some(progress) = &self.progress
                && ((is_new && (silent >= MIN_PROGRESS_INTERVAL || told.is_empty()))
                    || silent >= MAX_PROGRESS_INTERVAL)
            {
                // Time is the one number that grows in any case, which is what the protocol asks for. A client that has
                // left gets no progress.
                tokio::select! {
                    () = progress.tell(waited.as_secs_f64(), news.clone()) => {}
                    () = call.abandoned() => return Ok(seen),
                }
                (told_at, told) = (waited, news);
            }
            let rest = self.longest.saturating_sub(waited).min(POLL_INTERVAL);
            tokio::select! {
                changed = watched.changed(&seen, rest) => changed?,
                () = call.abandoned() => return Ok(seen),
            }
            if !is_new {
                call.look_after_queue();
                tokio::time::sleep(PAUSE.min(rest)).await;
            }
        }
    }

    fn is_met(&self, seen: &WaitState) -> bool {
        let mut over = seen.over().peekable();
        match self.until {
            WaitFor::Any => over.peek().is_none() || over.any(|over| over),
            WaitFor::All => over.all(|over| over),
        }
    }
}

fn progress_text(seen: &WaitState) -> String {
    let (over, all) = (seen.over().filter(|over| *over).count(), seen.over().count());
    let workers = seen.workers.iter().filter(|one| !one.is_over()).map(|one| {
        let what = one.activity().unwrap_or(&one.task.status);
        format!("{}: {}", one.task.title, shortened(what, 80))
    });
    let stages = seen.workflows.iter().filter(|one| !one.is_at_rest()).flat_map(at_work);
    let doing: Vec<String> = stages.chain(workers).take(3).collect();
    format!("{over}/{all} over{}{}", if doing.is_empty() { "" } else { "; " }, doing.join("; "))
}

/// The stages of a workflow that are at work, and how far it is.
fn at_work(seen: &WorkflowDetail) -> impl Iterator<Item = String> {
    let progress = &seen.workflow.progress;
    let far = format!("{}: {}/{} stages", seen.workflow.name, progress.over(), progress.total);
    let running = seen.stages.iter().filter(|stage| stage.state == PartState::Running);
    let doing = running.map(|stage| {
        let what = stage.activity.as_deref().unwrap_or(&stage.status);
        format!("{}: {}", stage.name, shortened(what, 80))
    });
    std::iter::once(far).chain(doing)
}
