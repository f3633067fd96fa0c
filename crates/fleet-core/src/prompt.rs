//! Follow-up prompts: what somebody has to say to an agent after the task was written.
//!
//! Owns where such a prompt goes, by the state of its task. A prompt counts as passed on only when its agent has it: a run
//! that ends before that leaves it to the next one.

use serde::{Deserialize, Serialize};

use crate::id::{RunId, TaskId};
use crate::run::{Stop, StopKind};
use crate::task::{PromptText, TaskState};
use crate::time::Millis;

/// Something that was said to the agent of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The task.
    pub task: TaskId,
    /// Which one, counted from one in each task: they are passed on in this order.
    pub seq: i64,
    /// What was said.
    pub text: PromptText,
    /// Who said it: the name of a user, or the id of the run whose agent did.
    pub by: String,
    /// When.
    pub at: Millis,
    /// The run that was given it last, to pass it on.
    pub taken_by: Option<RunId>,
    /// When the agent of that run had it.
    pub sent_at: Option<Millis>,
}

/// Where a prompt goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[must_use]
pub enum Reception {
    /// To the run that is at work.
    Live,
    /// To the next run, which starts by itself.
    Kept,
    /// To the next run, which starts when somebody releases the task.
    Held,
    /// To the next run: the task was over, and is queued again for it.
    Reopened,
}

/// Why a task takes no prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It waits for an answer: something else would leave the agent's question open.
    #[error("it waits for an answer to a question of its agent")]
    WaitsForAnswer,
    /// A person stops its run and does not want it any more.
    #[error("it is being stopped")]
    IsStopping,
    /// Nobody has passed on what was said before.
    #[error("{MOST_WAITING} prompts wait for its agent already")]
    TooMany,
}

/// So many prompts of a task may wait: whoever passes them on holds all of them in memory.
pub const MOST_WAITING: usize = 20;

/// Where a prompt goes: by the state of its task, by the stop that somebody asked of its live run, and by how many wait
/// already.
pub fn receive(state: TaskState, stop: Option<&Stop>, waiting: usize) -> Result<Reception, Refusal> {
    let reception = match state {
        TaskState::Waiting => return Err(Refusal::WaitsForAnswer),
        TaskState::Running if stop.is_some_and(|stop| stop.kind == StopKind::Cancel) => {
            return Err(Refusal::IsStopping);
        }
        TaskState::Running => Reception::Live,
        TaskState::Queued => Reception::Kept,
        TaskState::Held => Reception::Held,
        TaskState::Done | TaskState::Failed | TaskState::Cancelled => Reception::Reopened,
    };
    if waiting >= MOST_WAITING { Err(Refusal::TooMany) } else { Ok(reception) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_prompt_goes() {
        let goes = |state| receive(state, None, 0);
        assert_eq!(goes(TaskState::Running), Ok(Reception::Live));
        assert_eq!(goes(TaskState::Queued), Ok(Reception::Kept));
        assert_eq!(goes(TaskState::Held), Ok(Reception::Held));
        assert_eq!(goes(TaskState::Waiting), Err(Refusal::WaitsForAnswer));
        for state in TaskState::ALL.iter().filter(|state| state.is_settled()) {
            assert_eq!(goes(*state), Ok(Reception::Reopened), "{state}");
        }
    }

    #[test]
    fn what_is_not_wanted_any_more_takes_no_prompt() {
        let stop = |kind| Stop { kind, why: "why".to_owned() };
        let running = |stop: &Stop| receive(TaskState::Running, Some(stop), 0);
        assert_eq!(running(&stop(StopKind::Cancel)), Err(Refusal::IsStopping));
        assert_eq!(running(&stop(StopKind::Release)), Ok(Reception::Live), "it is tried again");
    }

    #[test]
    fn no_more_wait_than_can_be_held() {
        for state in [TaskState::Queued, TaskState::Running, TaskState::Done] {
            assert!(receive(state, None, MOST_WAITING - 1).is_ok());
            assert_eq!(receive(state, None, MOST_WAITING), Err(Refusal::TooMany));
        }
        assert_eq!(Refusal::TooMany.to_string(), "20 prompts wait for its agent already");
    }
}
