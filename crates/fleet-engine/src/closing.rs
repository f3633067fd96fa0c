//! The end of a run on this machine: the work saved, the leftovers committed, the claims compared with git, the end
//! recorded.
//!
//! Owns what has to happen before a workspace may be used again, in whichever process: the keeper at the end, or a
//! repair in place of a keeper that is gone. Must never move a branch of a run that is not ours any more.

mod end_of_run;
mod save;
mod show;

use fleet_core::outcome::{Evidence, EvidenceNames, RunResult, decide};
use fleet_core::run::{Ending, Reason};
use fleet_core::task::Task;
use fleet_host::git::GitError;

pub(crate) use end_of_run::EndOfRun;
pub(crate) use save::{Saved, is_gone, save, save_all, save_before_stop, save_rest};
pub(crate) use show::{ShownWork, saved_in, settle_empty_branch, show, show_committed, show_nothing};

use show::KEPT_REMARK;

use crate::problems::chain;

/// What was seen of the agent, together with what git shows.
pub(crate) struct RunEvidence {
    pub(crate) evidence: Evidence,
    names: EvidenceNames,
    remarks: Vec<String>,
    branch_taken: bool,
    unpublished: bool,
}

impl RunEvidence {
    pub(crate) fn new(mut evidence: Evidence, shown: Result<ShownWork, GitError>) -> Self {
        match shown {
            Ok(ShownWork { commits, files, names, remarks, branch_taken, unpublished, .. }) => {
                (evidence.commits, evidence.files) = (commits, files);
                Self { evidence, names, remarks, branch_taken, unpublished }
            }
            Err(error) => {
                let why = chain(&error);
                let text = format!("the result could not be read: {why}");
                let place =
                    if error.is_too_much() { KEPT_REMARK } else { "it stays in its folder until it can be" };
                let remark = format!("the work could not be brought to its branch: {why}; {place}");
                evidence.failure.get_or_insert((Reason::WorkspaceFailed, text));
                let (names, remarks) = (EvidenceNames::default(), vec![remark]);
                Self { evidence, names, remarks, branch_taken: false, unpublished: true }
            }
        }
    }

    pub(crate) fn judge(self) -> (Ending, RunResult) {
        let ending = decide(&self.evidence);
        let mut result = RunResult::new(&self.evidence, &ending, self.names);
        result.remarks.extend(self.remarks);
        (result.branch_taken, result.unpublished) = (self.branch_taken, self.unpublished);
        (ending, result)
    }
}

/// Whether the agent came to its end, or was stopped in the middle of its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AgentProgress {
    Ended,
    Stopped,
}

/// The message of the commit that codefleet makes itself.
pub(crate) fn commit_message(task: &Task, agent: &str, progress: AgentProgress) -> String {
    let prefix = if progress == AgentProgress::Stopped { "wip: " } else { "" };
    format!(
        "{prefix}{}\n\nLeft uncommitted by {agent}; committed by codefleet for task {}.\n",
        task.spec.title, task.id
    )
}
