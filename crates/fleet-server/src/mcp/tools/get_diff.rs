use fleet_api::verbs::run_diff::{self, ChangedFile, CommitView, Request, Style, Summary};

use super::prelude::*;
use crate::mcp::answer::lost;
use crate::mcp::worker;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The worker, or one of its runs
    worker_id: String,
    /// stat: files and numbers only; patch: the changes themselves; stat if left out
    format: Option<DiffFormat>,
    /// How much of the patch at once; 50000 if left out
    #[schemars(range(min = 1000, max = 500_000))]
    max_bytes: Option<u32>,
    /// next_cursor of the part before
    cursor: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DiffFormat {
    Stat,
    Patch,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    worker_id: String,
    run_id: String,
    branch_name: Option<String>,
    base_commit: String,
    /// What is compared with the base: branch, workspace (while the agent works) or snapshot
    of: String,
    commits: Vec<CommitView>,
    commit_count: u64,
    files: Vec<ChangedFile>,
    file_count: u64,
    added: u64,
    deleted: u64,
    /// A part of the patch, in whole lines
    patch: Option<String>,
    /// For the next part; null at the end
    next_cursor: Option<String>,
}

const DEFAULT_BYTES: u32 = 50_000;

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "See what a worker changed";
    const ABOUT: &'static str = "What a worker changed since it started, while it works or afterwards. Look at the stat first; ask for the patch, \
         part by part, when you review or compare. To see single files, use git with branch_name and base_commit.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let (task, id) = worker::seen_run(&call, &self.worker_id).await?;
        let is_patch = self.format.map_or(self.cursor.is_some(), |format| format == DiffFormat::Patch);
        let wanted =
            Request { id, limit: Some(self.max_bytes.unwrap_or(DEFAULT_BYTES)), ..Request::default() };
        let style = is_patch.then_some(Style::Patch);
        let first =
            Request { summary: true, style: style.filter(|_| self.cursor.is_none()), ..wanted.clone() };
        let mut found = fleet_api::call(&call, None, &first).await?;
        if is_patch && self.cursor.is_some() {
            let later = Request { style, after: self.cursor, ..wanted };
            let page = fleet_api::call(&call, None, &later).await;
            let page = page.map_err(|problem| problem.in_words_of(&[("after", "cursor")]))?;
            found = run_diff::Answer { summary: found.summary, ..page };
        }
        let summary = found.summary.ok_or_else(|| lost("the difference"))?;
        let patch = is_patch.then(|| String::from_utf8_lossy(&found.text.0).into_owned());
        Ok(answer(task.to_string(), summary, patch, found.next))
    }
}

fn answer(worker_id: String, summary: Summary, patch: Option<String>, next_cursor: Option<String>) -> Answer {
    Answer {
        worker_id,
        run_id: summary.run.to_string(),
        branch_name: summary.branch,
        base_commit: summary.base,
        of: summary.of,
        commits: summary.commits,
        commit_count: summary.commit_count,
        files: summary.files,
        file_count: summary.file_count,
        added: summary.added,
        deleted: summary.deleted,
        patch,
        next_cursor,
    }
}
