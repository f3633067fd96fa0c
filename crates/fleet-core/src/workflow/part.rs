//! The parts of a workflow that runs: each stage once, or as often as it has copies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Copies, Spec};
use crate::id::WorkflowId;
use crate::task::TaskState;
use crate::transition::{UnknownName, named};

named! {
    /// Where a part stands.
    pub enum PartState: "stage state" {
        /// What it needs is not over.
        Pending = "pending",
        /// It is a task that is not over: queued, at work, or waiting for a person.
        Running = "running",
        /// Its task is done.
        Done = "done",
        /// Its task failed, or it could not become one.
        Failed = "failed",
        /// Its task was cancelled, or the workflow was before there was one.
        Cancelled = "cancelled",
        /// It was not started, and will not be.
        Skipped = "skipped",
    }
}

impl PartState {
    /// What the state of its task says about it.
    pub const fn of(task: TaskState) -> Self {
        match task {
            TaskState::Queued | TaskState::Running | TaskState::Waiting | TaskState::Held => Self::Running,
            TaskState::Done => Self::Done,
            TaskState::Failed => Self::Failed,
            TaskState::Cancelled => Self::Cancelled,
        }
    }

    /// Whether nothing will happen to it any more unless a person acts.
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Running)
    }

    /// Whether it ended otherwise than its author wished.
    pub const fn is_bad(self) -> bool {
        matches!(self, Self::Failed | Self::Cancelled)
    }
}

named! {
    /// Why a part was not started.
    pub enum Skip: "reason to skip" {
        /// Its condition does not hold, or the list that it is for has no entries. No failure.
        Condition = "condition",
        /// A stage that it needs failed or was skipped because of one.
        Upstream = "upstream",
        /// Another stage failed, and with it the workflow.
        Over = "over",
    }
}

/// A stage, or one of its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Which stage, by its place.
    pub stage: usize,
    /// Which of its copies, counted from one.
    pub number: u32,
    /// The text that it is for, when the stage has one part for each of several.
    pub item: Option<String>,
    /// Where it stands.
    pub state: PartState,
    /// Why it was skipped, if it was.
    pub skip: Option<Skip>,
    /// Whether another has taken its place, because somebody wanted the stage once more: then it is only remembered.
    pub replaced: bool,
}

/// Which part of which workflow a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StageOf {
    /// The workflow.
    pub workflow: WorkflowId,
    /// The place of the part among those of the workflow, which never changes.
    pub part: usize,
}

impl Part {
    /// One that has not been started.
    pub const fn new(stage: usize, number: u32, item: Option<String>) -> Self {
        Self { stage, number, item, state: PartState::Pending, skip: None, replaced: false }
    }

    /// Whether it only stands for a list that was never counted out.
    pub fn is_placeholder(&self, spec: &Spec) -> bool {
        let copies = spec.stages.get(self.stage).map(|stage| &stage.copies);
        matches!(copies, Some(Copies::EachOf(_))) && self.item.is_none()
    }

    /// What it is called: as its stage, with its number where there are several.
    pub fn name(&self, spec: &Spec) -> String {
        let Some(stage) = spec.stages.get(self.stage) else { return format!("stage {}", self.stage) };
        match stage.copies {
            Copies::One => stage.name.to_string(),
            _ => format!("{}-{}", stage.name, self.number),
        }
    }
}
