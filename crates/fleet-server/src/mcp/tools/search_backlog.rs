use fleet_api::verbs::task_search::{Hit, Request};

use super::prelude::*;
use crate::mcp::task::TaskAnswer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Words, beginnings of words, or paths; everything in the order of service if left out
    query: Option<String>,
    /// Only tasks of these statuses, such as ready, blocked, held or failed; all that are not over if left out
    statuses: Option<Vec<String>>,
    /// Only tasks with all of these
    labels: Option<Vec<String>>,
    /// At most this many; 10 if left out
    #[schemars(range(min = 1, max = 200))]
    count: Option<u32>,
    /// next_cursor of the answer before
    cursor: Option<String>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
    /// True for the tasks of all repositories
    all_repositories: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The best first, then as they are served
    tasks: Vec<BacklogHit>,
    count: usize,
    /// For the next part of the answer; null at its end
    next_cursor: Option<String>,
    /// How many tasks were looked at
    looked_at: usize,
    /// Whether there are older ones that were not looked at
    more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct BacklogHit {
    #[serde(flatten)]
    task: TaskAnswer,
    /// From 0 to 1: how much of the query it has; null without one
    score: Option<f64>,
    /// The words and paths that were found
    matched: Vec<String>,
}

const DEFAULT_LIMIT: u32 = 10;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Search the backlog";
    const ABOUT: &'static str = "The unfinished tasks of a repository, or those that match: what is to be done, \
        in which order, and what blocks it. Use it to see the backlog before you plan, and to find a task's id. \
        To look for near-duplicates, use find_similar_tasks.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let all_projects = self.all_repositories.unwrap_or_default();
        let request = Request {
            query: self.query.unwrap_or_default(),
            statuses: self.statuses.unwrap_or_default(),
            labels: self.labels.unwrap_or_default(),
            all_projects,
            limit: Some(self.count.unwrap_or(DEFAULT_LIMIT)),
            cursor: self.cursor,
        };
        let here = RepoClient::of_backlog(&call, self.repo_path.as_deref(), all_projects)?;
        let found = fleet_api::call(&here, None, &request).await?;
        Ok(Answer {
            count: found.tasks.len(),
            tasks: found.tasks.iter().map(shown).collect(),
            next_cursor: found.next_cursor,
            looked_at: found.looked_at,
            more: found.more,
        })
    }
}

fn shown(hit: &Hit) -> BacklogHit {
    BacklogHit { task: TaskAnswer::from(&hit.task), score: hit.score, matched: hit.matched.clone() }
}
