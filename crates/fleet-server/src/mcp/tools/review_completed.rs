use fleet_api::verbs::review::Request;

use super::prelude::*;
use crate::mcp::open::{OpenObject, RenamedField};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// At most this many; 20 if left out
    #[schemars(range(min = 1, max = 200))]
    count: Option<u32>,
    /// Only what ended since then: such as 24h (ago), a date, or RFC 3339; a week if left out
    since: Option<String>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The newest first, failures among them: task_id, title, state, verdict (mergeable, conflicting, landed, unchanged,
    /// doubtful, gone or failed), run_id, executor, model, branch_name, summary, files, commits, tests, remarks (where claim
    /// and git differ), next_steps, landed, conflicts, tokens, micro_usd, seconds, ended_at, next (what to do)
    reviews: Vec<OpenObject>,
    count: usize,
    /// Whether there is more of it
    more: bool,
}

const WORDS: [RenamedField; 4] =
    [("task", "task_id"), ("run", "run_id"), ("agent", "executor"), ("branch", "branch_name")];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Review what was completed";
    const ABOUT: &'static str = "Recent work in a repository: what the agents report, what git shows, what it \
        cost, whether it has landed or could be merged, and what to do next. Use it to catch up, and to decide \
        what to merge; get_diff shows the change itself.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let here = RepoClient::of(&call, self.repo_path.as_deref())?;
        let found = fleet_api::call(&here, None, &Request { since: self.since, limit: self.count }).await?;
        let reviews = OpenObject::all(&found.reviews, &WORDS)?;
        Ok(Answer { count: reviews.len(), reviews, more: found.more })
    }
}
