use fleet_api::verbs::task_clean::{BranchRule, FolderRule, Request};

use super::prelude::*;
use crate::mcp::status::{self, WorkerStatus};
use crate::mcp::worker;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// A worker that has finished
    worker_id: String,
    /// Remove its branch, if its commits have landed elsewhere or it has none; true if left out
    remove_branch: Option<bool>,
    /// Remove the folder with its prompt, logs and result; true if left out
    remove_worktree_dir: Option<bool>,
    /// Remove the branch even if its commits have not landed; they are kept as a snapshot for `fleet undo`
    discard_unlanded: Option<bool>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    worker_id: String,
    /// Always true: a worktree is given back when its run ends. A clone made on request stays
    worktree_removed: bool,
    /// True if it is gone, now or before
    branch_removed: bool,
    /// True if it is gone, now or before
    worker_dir_removed: bool,
    /// The branch that is still there
    branch_kept: Option<String>,
    /// Why something stays
    remarks: Vec<String>,
    errors: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Clean up after a worker";
    const ABOUT: &'static str = "Removes what a worker left behind, once you have its result. Never loses work: \
        a branch with unlanded commits stays, unless discard_unlanded is true, and then its commits are kept as \
        a snapshot. Calling it twice is harmless.";
    const NATURE: Nature = Nature::Ends;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let task = worker::seen(&call, &self.worker_id).await?;
        let now = worker::one(&call, task).await?;
        if matches!(now.status, WorkerStatus::Pending | WorkerStatus::Running) {
            let message = format!(
                "Cannot cleanup non-terminal worker {task} (status: {}). Cancel or wait for completion first.",
                status::name(now.status)
            );
            return Err(Problem::new(Code::IllegalTransition, message)
                .hint("wait for its end, or end it with cancel_worker"));
        }
        let branch = match (self.remove_branch.unwrap_or(true), self.discard_unlanded.unwrap_or_default()) {
            (false, _) => BranchRule::Keep,
            (true, false) => BranchRule::IfLanded,
            (true, true) => BranchRule::Discard,
        };
        let folders =
            if self.remove_worktree_dir.unwrap_or(true) { FolderRule::Remove } else { FolderRule::Keep };
        let worker_id = task.to_string();
        let request = Request { task: worker_id.clone(), branch, folders };
        let done = fleet_api::call(&call, None, &request).await?;
        Ok(Answer {
            worker_id,
            worktree_removed: true,
            branch_removed: branch != BranchRule::Keep && done.branch_kept.is_none(),
            worker_dir_removed: folders == FolderRule::Remove && done.errors.is_empty(),
            branch_kept: done.branch_kept,
            remarks: done.remarks,
            errors: done.errors,
        })
    }
}
