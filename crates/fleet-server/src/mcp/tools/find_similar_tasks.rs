use fleet_api::verbs::task_similar::{Request, SimilarTo};

use super::prelude::*;
use crate::mcp::task::{self, SimilarTask};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// What the task says, its title on the first line; or the id of a task
    query: String,
    /// At most this many; 5 if left out
    #[schemars(range(min = 1, max = 50))]
    count: Option<u32>,
    /// Only tasks that are as alike as this, from 0 to 1; 0.4, which is about the same things, if left out
    threshold: Option<f64>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
    /// True for the tasks of all repositories
    all_repositories: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The closest first, finished tasks included
    tasks: Vec<SimilarTask>,
    count: usize,
    /// How many tasks were looked at
    looked_at: usize,
    /// Whether there are older ones that were not looked at
    more: bool,
}

const DEFAULT_LIMIT: u32 = 5;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Find similar tasks";
    const ABOUT: &'static str = "Finds open and finished tasks that are near-duplicates of a text or another \
        task, by their words and paths. Use it before you create a task, and to learn how a similar one went.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let all_projects = self.all_repositories.unwrap_or_default();
        let here = RepoClient::of_backlog(&call, self.repo_path.as_deref(), all_projects)?;
        let (of, limit) = (SimilarTo::guess(self.query), Some(self.count.unwrap_or(DEFAULT_LIMIT)));
        let request = Request { of, threshold: self.threshold, all_projects, limit };
        let found = fleet_api::call(&here, None, &request).await;
        let found = found.map_err(|problem| task::named("task_id", problem))?;
        let tasks: Vec<SimilarTask> = found.similar.iter().map(SimilarTask::from).collect();
        Ok(Answer { count: tasks.len(), tasks, looked_at: found.looked_at, more: found.more })
    }
}
