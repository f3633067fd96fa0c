use std::collections::BTreeMap;

use fleet_api::Client;
use fleet_api::verbs::create::{Grouping, Job, Request, Wishes};
use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{OWN_META, Tuning};
use fleet_core::text::escaped;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Call, Nature, Tool};
use crate::mcp::answer::lost;
use crate::mcp::place::Place;
use crate::mcp::task::{base, text, time_limit};
use crate::mcp::wake::woken;
use crate::mcp::worker::{self, PARENT, PROFILE, Worker};

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
    /// Which agent does it, see list_agents; the user's default if left out
    executor: Option<String>,
    /// How hard the model thinks, in the executor's words, such as low, medium or high
    reasoning_effort: Option<String>,
    /// The agent is stopped after so long, and its work kept; the user's limit if left out or 0
    timeout_seconds: Option<u64>,
    /// A note for whoever reads the worker later; has no effect
    profile: Option<String>,
    /// Words to find it by, without spaces
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
    const ABOUT: &'static str = "Hands a self-contained piece of work to a coding agent, on a branch and worktree of its own. Answers at once with \
         status pending; it never waits and never refuses for want of a slot. Then use wait and collect_worker_result. \
         Start several for independent work.";
    const NATURE: Nature = Nature::Adds;

    async fn run(self, call: Call) -> Outcome<Worker> {
        let here = Place::of(&call, Some(&self.repo_path))?;
        let mut meta = metadata(self.metadata.clone().unwrap_or_default())?;
        let profile = self.profile.as_ref().filter(|profile| !profile.is_empty());
        meta.extend(profile.map(|profile| format!("{PROFILE}={profile}")));
        if let Some(parent) = &self.parent_worker_id {
            meta.push(format!("{PARENT}={}", parent_task(&call, parent).await?));
        }
        let wishes = wishes(&self);
        let request = Request { jobs: vec![job(self, meta)], wishes, grouping: Grouping::Alone };
        let launched = fleet_api::call(&here, None, &request).await.map_err(in_our_words)?;
        let unattended = woken(&here).await;
        let task = launched.tasks.first().ok_or_else(|| lost("the new worker"))?.task.id;
        let mut worker = worker::one(&call, task).await?;
        worker.heartbeat_message = unattended.or(worker.heartbeat_message);
        Ok(worker)
    }
}

fn job(args: Args, meta: Vec<String>) -> Job {
    let extra = args.extra_args.or(args.extra_codex_args).unwrap_or_default();
    Job {
        title: Some(args.task_name),
        branch: None,
        prompt: args.prompt,
        agent: args.executor,
        model: args.model,
        tuning: Tuning { effort: args.reasoning_effort, args: extra },
        labels: args.tags.unwrap_or_default(),
        meta,
    }
}

fn wishes(args: &Args) -> Wishes {
    Wishes {
        base: base(args.base_ref.clone()),
        limits: time_limit(args.timeout_seconds),
        read_only: args.read_only.unwrap_or_default(),
        ..Wishes::default()
    }
}

async fn parent_task(client: &dyn Client, parent: &str) -> Outcome<TaskId> {
    let names = [("worker_id", "parent_worker_id")];
    let task = worker::seen(client, parent).await.map_err(|problem| problem.in_words_of(&names))?;
    // Only a worker that may be seen can be a parent.
    worker::one(client, task).await.map(|_| task)
}

/// `KEY=VALUE` for each entry; what is no text is kept as JSON.
fn metadata(given: BTreeMap<String, Value>) -> Outcome<Vec<String>> {
    let entry = |(key, value): (String, Value)| {
        if key.starts_with(OWN_META) || key == "setup" {
            let message = format!("metadata: the name {:?} belongs to codefleet", escaped(&key));
            return Err(Problem::new(Code::InvalidValue, message).hint("choose another name"));
        }
        let text = text(value);
        // The one would be cut in two, the other be forgotten.
        let why = match (key.contains('='), text.is_empty()) {
            (true, _) => "a name cannot have `=` in it",
            (_, true) => "it has no text",
            _ => return Ok(format!("{key}={text}")),
        };
        Err(Problem::field("metadata", format!("{:?}: {why}", escaped(&key))))
    };
    given.into_iter().map(entry).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_is_kept_as_it_was_given_or_refused() {
        let read = |key: &str, value: Value| metadata(BTreeMap::from([(key.to_owned(), value)]));
        assert_eq!(read("ticket", json!("a=b")).unwrap(), ["ticket=a=b"]);
        assert_eq!(read("ticket", json!({"n": 1})).unwrap(), ["ticket={\"n\":1}"]);
        for (key, value) in [("ticket", json!("")), ("a=b", json!("c")), ("fleet.parent", json!("t1"))] {
            let problem = read(key, value).unwrap_err();
            assert!(problem.to_string().starts_with("metadata: "), "{problem}");
        }
    }
}
