use fleet_api::verbs::conflicts::Request;

use super::prelude::*;
use crate::mcp::open::{OpenObject, RenamedField};
use crate::mcp::task;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only conflicts of these, with whatever other task; all if left out
    task_ids: Option<Vec<String>>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The worst first: kind (merge: git cannot merge them; files: both changed the same, and it can; scope: they claim the
    /// same), tasks (two; one if it is in the way of where it should land), with, files, file_count, scopes, advice
    conflicts: Vec<OpenObject>,
    /// Files that several tasks have changed: path, tasks
    files: Vec<OpenObject>,
    /// How many tasks were compared
    looked_at: usize,
    /// How many pairs git was not asked about, because there were too many
    unchecked: usize,
    /// Tasks whose work could not be looked at: task_id, why
    unseen: Vec<OpenObject>,
    /// Whether there are more tasks than were compared
    more: bool,
}

const WORDS: [RenamedField; 2] = [("task", "task_id"), ("branch", "branch_name")];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Detect conflicts";
    const ABOUT: &'static str = "Finds conflicts between tasks: by the files they claim, by the files they have \
        changed, and by test-merging their branches; also branches that no longer merge into their target. Use \
        it before you merge, and before you start work on the same files.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let here = RepoClient::of(&call, self.repo_path.as_deref())?;
        let tasks = self.task_ids.unwrap_or_default();
        let found = fleet_api::call(&here, None, &Request { tasks }).await;
        let found = found.map_err(|problem| task::named("task_id", problem))?;
        Ok(Answer {
            conflicts: OpenObject::all(&found.conflicts, &WORDS)?,
            files: OpenObject::all(&found.files, &WORDS)?,
            looked_at: found.looked_at,
            unchecked: found.unchecked,
            unseen: OpenObject::all(&found.unseen, &WORDS)?,
            more: found.more,
        })
    }
}
