//! `wait`

use std::time::Duration;

use fleet_core::id::{TaskId, WorkflowId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::shortened;
use fleet_core::workflow::PartState;
use fleet_engine::verbs::follow::{Follow, Followed};
use fleet_engine::verbs::workflow_show::Response;
use fleet_engine::verbs::workflow_watch::Watching;
use fleet_engine::{Engine, clock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::call::Progress;
use crate::mcp::worker::{self, Worker};
use crate::mcp::workflow::{self, Workflow};

pub(super) struct This;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workers to wait for
    #[serde(default)]
    worker_ids: Option<Vec<String>>,
    /// The workflows to wait for
    #[serde(default)]
    workflow_ids: Option<Vec<String>>,
    /// Whether one of them is enough; all if left out
    #[serde(default)]
    until: Option<Until>,
    /// Answer after so long in any case; 300 if left out
    #[serde(default)]
    #[schemars(range(min = 0, max = LONGEST.as_secs()))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Until {
    Any,
    All,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// True if what was waited for has happened; false if the time was over first
    done: bool,
    timed_out: bool,
    /// The workers and workflows that are over
    finished: Vec<String>,
    /// Those that are not
    pending: Vec<String>,
    workers: Vec<Worker>,
    workflows: Vec<Workflow>,
    summary: String,
}

const USUAL: u64 = 300;
/// Nobody waits longer than a day in one call.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);
/// More in one call are more than anybody looks at.
const MOST: usize = 500;
/// Each is looked at with all of its stages.
const MOST_WORKFLOWS: usize = 50;
/// Rings can be missed, so that one looks now and then in any case.
const LOOK: Duration = Duration::from_secs(1);
/// After a look that showed nothing new: others may be changing the store all the time.
const PAUSE: Duration = Duration::from_millis(20);
/// So often a client is told how far it is, at most, when something happens, and at least, when nothing does.
const NEWS: Duration = Duration::from_millis(500);
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

impl Tool for This {
    type Args = Args;
    type Answer = Answer;
    const TITLE: &'static str = "Wait for workers and workflows";
    const ABOUT: &'static str = "Waits until workers and workflows are over (until: all or any), or until the timeout, whichever comes first, and says \
         how they stand. Use this instead of asking for the status again and again. When it says timed_out, do something else \
         or call it again; they go on in any case.";
    const NATURE: Nature = Nature::Reads;

    async fn run(call: Call, args: Args) -> Outcome<Answer> {
        let engine = call.engine().await?;
        let (workers, workflows) =
            (args.worker_ids.unwrap_or_default(), args.workflow_ids.unwrap_or_default());
        check_count("worker_ids", &workers, workflows.len(), MOST)?;
        check_count("workflow_ids", &workflows, workers.len(), MOST_WORKFLOWS)?;
        let watched = Watched {
            workers: Follow::start(&engine, tasks(&engine, &workers).await?).await?,
            workflows: watching(&engine, &workflows).await?,
        };
        let longest = Duration::from_secs(args.timeout_seconds.unwrap_or(USUAL));
        let waiting = Waiting { until: args.until.unwrap_or(Until::All), longest, progress: call.progress() };
        let seen = waiting.run(&call, &watched).await?;
        let done = waiting.is_met(&seen);
        let workers = worker::shown(&engine, &seen.workers).await?;
        let workflows = workflow::shown(&engine, seen.workflows).await?;
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

async fn tasks(engine: &Engine, ids: &[String]) -> Outcome<Vec<TaskId>> {
    let mut tasks: Vec<TaskId> = Vec::with_capacity(ids.len());
    for id in ids {
        let task = worker::seen(engine, id).await?;
        if !tasks.contains(&task) {
            tasks.push(task);
        }
    }
    Ok(tasks)
}

async fn watching<'e>(engine: &'e Engine, ids: &[String]) -> Outcome<Vec<Watching<'e>>> {
    let mut meant: Vec<WorkflowId> = Vec::with_capacity(ids.len());
    for id in ids {
        let id = workflow::seen(engine, id).await?;
        if !meant.contains(&id) {
            meant.push(id);
        }
    }
    let mut watching = Vec::with_capacity(meant.len());
    for id in meant {
        watching.push(Watching::start(engine, id).await?);
    }
    Ok(watching)
}

fn summary(workers: &[Worker], workflows: &[Workflow]) -> String {
    match (workers, workflows) {
        (_, []) => worker::summary(workers),
        ([], _) => workflow::summary(workflows),
        _ => format!("{}; {}", worker::summary(workers), workflow::summary(workflows)),
    }
}

/// All that is waited for.
struct Watched<'e> {
    workers: Follow<'e>,
    workflows: Vec<Watching<'e>>,
}

/// How all of it stands.
struct Seen {
    workers: Vec<Followed>,
    workflows: Vec<Response>,
}

impl Watched<'_> {
    async fn look(&self) -> Outcome<Seen> {
        let mut workflows = Vec::with_capacity(self.workflows.len());
        for watching in &self.workflows {
            workflows.push(watching.look().await?);
        }
        Ok(Seen { workers: self.workers.look().await?, workflows })
    }
}

impl Seen {
    /// Whether each of them is over.
    fn over(&self) -> impl Iterator<Item = bool> {
        let workers = self.workers.iter().map(Followed::is_over);
        workers.chain(self.workflows.iter().map(Response::is_at_rest))
    }
}

struct Waiting {
    until: Until,
    longest: Duration,
    progress: Option<Progress>,
}

impl Waiting {
    async fn run(&self, call: &Call, watched: &Watched<'_>) -> Outcome<Seen> {
        let began = clock::uptime();
        let (mut told_at, mut told) = (Duration::ZERO, String::new());
        loop {
            let seen = watched.look().await?;
            let waited = worker::since(began);
            if self.is_met(&seen) || waited >= self.longest {
                return Ok(seen);
            }
            let news = news(&seen);
            let silent = waited.saturating_sub(told_at);
            let is_new = news != told;
            if let Some(progress) = &self.progress
                && ((is_new && (silent >= NEWS || told.is_empty())) || silent >= SIGN_OF_LIFE)
            {
                // Time is the one number that grows in any case, which is what the protocol asks for. Nobody takes the
                // news of a client that has left.
                tokio::select! {
                    () = progress.tell(waited.as_secs_f64(), news.clone()) => {}
                    () = call.abandoned() => return Ok(seen),
                }
                (told_at, told) = (waited, news);
            }
            let rest = self.longest.saturating_sub(waited).min(LOOK);
            tokio::select! {
                // Whatever changes in the store rings.
                () = watched.workers.changed(rest) => {}
                () = call.abandoned() => return Ok(seen),
            }
            if !is_new {
                call.look_after_queue();
                tokio::time::sleep(PAUSE.min(rest)).await;
            }
        }
    }

    fn is_met(&self, seen: &Seen) -> bool {
        let mut over = seen.over().peekable();
        match self.until {
            Until::Any => over.peek().is_none() || over.any(|over| over),
            Until::All => over.all(|over| over),
        }
    }
}

/// How they stand, in one line.
fn news(seen: &Seen) -> String {
    let (over, all) = (seen.over().filter(|over| *over).count(), seen.over().count());
    let workers = seen.workers.iter().filter(|one| !one.is_over()).map(|one| {
        let what = one.activity.as_deref().unwrap_or(one.task.status);
        format!("{}: {}", one.task.title, shortened(what, 80))
    });
    let stages = seen.workflows.iter().filter(|one| !one.is_at_rest()).flat_map(at_work);
    let doing: Vec<String> = stages.chain(workers).take(3).collect();
    format!("{over}/{all} over{}{}", if doing.is_empty() { "" } else { "; " }, doing.join("; "))
}

/// The stages of a workflow that are at work, and how far it is.
fn at_work(seen: &Response) -> impl Iterator<Item = String> {
    let progress = &seen.workflow.progress;
    let far = format!("{}: {}/{} stages", seen.workflow.name, progress.over(), progress.total);
    let running = seen.stages.iter().filter(|stage| stage.state == PartState::Running);
    let doing = running.map(|stage| {
        let what = stage.activity.as_deref().unwrap_or(stage.status);
        format!("{}: {}", stage.name, shortened(what, 80))
    });
    std::iter::once(far).chain(doing)
}
