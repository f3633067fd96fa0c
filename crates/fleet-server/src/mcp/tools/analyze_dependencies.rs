use std::collections::BTreeMap;

use fleet_api::verbs::task_order::Request;
use fleet_core::id::TaskId;

use super::prelude::*;
use crate::mcp::open::{OpenObject, RenamedField};
use crate::mcp::task;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only these and what they wait for; all open tasks of the repository if left out
    task_ids: Option<Vec<String>>,
    /// At most this many steps; 20 if left out. Everything else is about all of them
    #[schemars(range(min = 1, max = 500))]
    count: Option<u32>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// An order in which the open tasks could be done: task_id, title, status, priority, depends_on (open ones), level (those
    /// of one level could run together), unblocks (how many wait for it), critical, obstacle (what is in its way)
    order: Vec<OpenObject>,
    /// The chain that takes longest, first task first: no number of agents is done before it
    critical_path: Vec<String>,
    /// How much work that is: a task counts 1 if trivial, 2 small, 4 medium or unknown, 8 large, 16 xl
    critical_size: u32,
    by_status: BTreeMap<String, usize>,
    /// Tasks that start only when a person acts, because what they wait for failed, was cancelled or is held
    stuck: Vec<String>,
    /// Those that most others wait for, most first
    bottlenecks: Vec<String>,
    /// Dependencies that seem to be missing: task_id should perhaps wait for depends_on, and why
    suggestions: Vec<OpenObject>,
    /// Whether there are more open tasks than steps were asked for, or looked at
    more: bool,
}

const DEFAULT_LIMIT: u32 = 20;
const WORDS: [RenamedField; 4] =
    [("id", "task_id"), ("task", "task_id"), ("after", "depends_on"), ("on", "depends_on")];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Analyze dependencies";
    const ABOUT: &'static str = "Analyzes the open tasks of a repository: the best order, what could run in \
        parallel, the longest chain, bottlenecks, what is stuck, and dependencies that seem to be missing. Use \
        it to plan phases, and when nothing progresses.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let here = RepoClient::of(&call, self.repo_path.as_deref())?;
        let request = Request { tasks: self.task_ids.unwrap_or_default() };
        let found = fleet_api::call(&here, None, &request).await;
        let found = found.map_err(|problem| task::named("task_id", problem))?;
        let count = self.count.unwrap_or(DEFAULT_LIMIT) as usize;
        let shown = found.order.get(..count).unwrap_or(&found.order);
        Ok(Answer {
            order: OpenObject::all(shown, &WORDS)?,
            critical_path: ids(&found.critical_path),
            critical_size: found.critical_size,
            by_status: found.by_status,
            stuck: ids(&found.stuck),
            bottlenecks: ids(&found.bottlenecks),
            suggestions: OpenObject::all(&found.suggestions, &WORDS)?,
            more: found.more || found.order.len() > count,
        })
    }
}

fn ids(tasks: &[TaskId]) -> Vec<String> {
    tasks.iter().map(ToString::to_string).collect()
}
