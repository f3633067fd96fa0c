//! `wait`

use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::clock;
use fleet_engine::verbs::follow::{Follow, Followed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Nature, Tool};
use crate::mcp::call::Progress;
use crate::mcp::worker::{self, Worker};

pub(super) struct This;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The workers to wait for
    worker_ids: Vec<String>,
    /// Whether one of them is enough; all if left out
    #[serde(default)]
    until: Option<Until>,
    /// Answer after so long in any case; 300 if left out
    #[serde(default)]
    #[schemars(range(min = 0, max = 86400))]
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
    /// The workers that are over
    finished: Vec<String>,
    /// The workers that are not
    pending: Vec<String>,
    workers: Vec<Worker>,
    summary: String,
}

const USUAL: u64 = 300;
/// More in one call are more than anybody looks at.
const MOST: usize = 500;
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
    const TITLE: &'static str = "Wait for workers";
    const ABOUT: &'static str =
        "Waits until workers are over (until: all or any), or until the timeout, whichever comes first, and says how they \
         stand. Use this instead of asking for the status again and again. When it says timed_out, do something else or \
         call it again; the workers go on in any case.";
    const NATURE: Nature = Nature::Reads;

    async fn run(call: Call, args: Args) -> Outcome<Answer> {
        let engine = call.engine().await?;
        if args.worker_ids.is_empty() || args.worker_ids.len() > MOST {
            let message = format!("worker_ids: {} are named: between 1 and {MOST} can be waited for", args.worker_ids.len());
            return Err(Problem::new(Code::InvalidValue, message));
        }
        let mut tasks: Vec<TaskId> = Vec::with_capacity(args.worker_ids.len());
        for id in &args.worker_ids {
            let task = worker::meant(&engine, id).await?;
            if !tasks.contains(&task) {
                tasks.push(task);
            }
        }
        let follow = Follow::start(&engine, tasks).await?;
        let longest = Duration::from_secs(args.timeout_seconds.unwrap_or(USUAL));
        let waiting = Waiting { until: args.until.unwrap_or(Until::All), longest, progress: call.progress() };
        let seen = waiting.run(&call, &follow).await?;
        let done = waiting.is_met(&seen);
        let workers = worker::shown(&engine, &seen).await?;
        let ids = |over: bool| workers.iter().filter(|worker| worker.over == over).map(|worker| worker.worker_id.clone()).collect();
        Ok(Answer {
            done,
            timed_out: !done,
            finished: ids(true),
            pending: ids(false),
            summary: worker::summary(&workers),
            workers,
        })
    }
}

struct Waiting {
    until: Until,
    longest: Duration,
    progress: Option<Progress>,
}

impl Waiting {
    async fn run(&self, call: &Call, follow: &Follow<'_>) -> Outcome<Vec<Followed>> {
        let began = clock::uptime();
        let (mut told_at, mut told) = (Duration::ZERO, String::new());
        loop {
            let seen = follow.look().await?;
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
                () = follow.changed(rest) => {}
                () = call.abandoned() => return Ok(seen),
            }
            if !is_new {
                tokio::time::sleep(PAUSE.min(rest)).await;
            }
        }
    }

    fn is_met(&self, seen: &[Followed]) -> bool {
        match self.until {
            Until::Any => seen.is_empty() || seen.iter().any(Followed::is_over),
            Until::All => seen.iter().all(Followed::is_over),
        }
    }
}

/// How they stand, in one line.
fn news(seen: &[Followed]) -> String {
    let over = seen.iter().filter(|one| one.is_over()).count();
    let doing = seen.iter().filter(|one| !one.is_over()).map(|one| {
        let what = one.activity.as_deref().unwrap_or(one.task.status);
        format!("{}: {}", one.task.title, fleet_core::text::shortened(what, 80))
    });
    let doing: Vec<String> = doing.take(3).collect();
    format!("{over}/{} over{}{}", seen.len(), if doing.is_empty() { "" } else { "; " }, doing.join("; "))
}
