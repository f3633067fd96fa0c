use std::collections::BTreeMap;

use fleet_api::verbs::create::{Grouping, Job, JobOptions, Request};
use fleet_api::{Client, ModeChoice};
use fleet_core::id::TaskId;
use fleet_core::task::{TaskMode, Tuning};
use serde_json::Value;

use super::prelude::*;
use crate::mcp::answer::lost;
use crate::mcp::given::ClientLabels;
use crate::mcp::task::{base, time_limit};
use crate::mcp::wake::{ensure_runner, taken};
use crate::mcp::worker::{self, Worker};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the names are those that clients know")]
pub(super) struct Args {
    /// Absolute path of the git repository, or of a directory in it
    repo_path: String,
    /// What it is about, in one line
    task_name: String,
    /// All that the agent has to know: it sees the repository and this text, not your conversation
    prompt: String,
    /// The commit, branch or tag that the work starts from; the current commit if left out
    base_ref: Option<String>,
    /// A model of that executor; its default if left out
    model: Option<String>,
    /// The agent, see list_agents; the user's default if left out
    executor: Option<String>,
    /// How hard the model thinks, in the executor's words, such as low, medium or high
    reasoning_effort: Option<String>,
    /// The agent is stopped after this time, and its work kept; the user's limit if left out or 0
    timeout_seconds: Option<u64>,
    /// A note for later readers; has no effect
    profile: Option<String>,
    /// Words to find it by
    tags: Option<Vec<String>>,
    /// Notes of yours, by name
    metadata: Option<BTreeMap<String, Value>>,
    /// Further arguments for the agent's program; only options that the user allowed
    extra_args: Option<Vec<String>>,
    /// The older name of extra_args
    extra_codex_args: Option<Vec<String>>,
    /// The worker on whose behalf this one is made
    parent_worker_id: Option<String>,
    /// True if nothing is to be changed, such as for a review: then an end without changes is a success
    read_only: Option<bool>,
}

impl Tool for Args {
    type Answer = Worker;
    const TITLE: &'static str = "Start a worker";
    const ABOUT: &'static str = "Gives a self-contained piece of work to a coding agent, on its own branch and \
        worktree. Returns at once: running, or pending if all slots are busy. It never refuses for lack of a slot. \
        Then use wait and collect_worker_result. Start several for independent work.";
    const NATURE: Nature = Nature::Adds;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let here = RepoClient::of(&call, Some(&self.repo_path))?;
        let on_behalf_of = match &self.parent_worker_id {
            Some(parent) => Some(parent_task(&call, parent).await?),
            None => None,
        };
        let wishes = wishes(&self);
        let jobs = vec![Job { on_behalf_of, ..job(self) }];
        let request = Request { jobs, wishes, grouping: Grouping::Alone };
        let launched = fleet_api::call(&here, None, &request).await.map_err(in_our_words)?;
        let unattended = ensure_runner(&here).await;
        let task = launched.tasks.first().ok_or_else(|| lost("the new worker"))?.task.id;
        if unattended.is_none() {
            taken(&call, task).await;
        }
        let mut worker = worker::one(&call, task).await?;
        worker.heartbeat_message = unattended.or(worker.heartbeat_message);
        Ok(worker)
    }
}

fn job(args: Args) -> Job {
    let extra = args.extra_args.or(args.extra_codex_args).unwrap_or_default();
    let given = ClientLabels {
        task_name: args.task_name,
        tags: args.tags.unwrap_or_default(),
        metadata: args.metadata.unwrap_or_default(),
    };
    Job {
        title: given.title(),
        branch: None,
        prompt: args.prompt,
        agent: args.executor,
        model: args.model,
        tuning: Tuning { effort: args.reasoning_effort, args: extra },
        labels: given.labels(),
        meta: given.meta(),
        profile: args.profile.filter(|profile| !profile.is_empty()),
        on_behalf_of: None,
    }
}

fn wishes(args: &Args) -> JobOptions {
    JobOptions {
        base: base(args.base_ref.clone()),
        limits: time_limit(args.timeout_seconds),
        read_only: args.read_only.unwrap_or_default(),
        mode: ModeChoice(Some(TaskMode::Headless)),
        ..JobOptions::default()
    }
}

async fn parent_task(client: &dyn Client, parent: &str) -> Outcome<TaskId> {
    let names = [("worker_id", "parent_worker_id")];
    let task = worker::seen(client, parent).await.map_err(|problem| problem.in_words_of(&names))?;
    // Only a worker that may be seen can be a parent.
    worker::one(client, task).await.map(|_| task)
}

/// Fields of tasks have other names here.
fn in_our_words(problem: Problem) -> Problem {
    problem.in_words_of(&[
        ("title", "task_name"),
        ("description", "prompt"),
        ("agent", "executor"),
        ("base", "base_ref"),
        ("label", "tags"),
        ("meta", "metadata"),
        ("limit", "timeout_seconds"),
    ])
}
