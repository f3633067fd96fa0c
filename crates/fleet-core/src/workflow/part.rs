//! The parts of a workflow that runs: each stage once, or as often as it has copies.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Copies, Spec};
use crate::id::WorkflowId;
use crate::task::TaskState;
use crate::transition::{Current, UnknownName, arrows, named};

named! {
    pub enum PartState: "part state" {
        /// A stage that it needs has not ended.
        Pending = "pending",
        /// It is a task that is not over: queued, at work, or waiting for a person.
        Running = "running",
        Done = "done",
        /// Its task failed, or it could not become one.
        Failed = "failed",
        /// Its task was cancelled, or the workflow was before there was one.
        Cancelled = "cancelled",
        Skipped = "skipped",
    }
}

named! {
    pub enum PartMove: "part move" {
        /// It becomes a task.
        Start = "start",
        Skip = "skip",
        Finish = "finish",
        /// Its task failed, or it cannot become one.
        Fail = "fail",
        /// Its task was cancelled, or the workflow was before there was one.
        Cancel = "cancel",
        /// Its task is tried again.
        Resume = "resume",
        /// It never was a task, and becomes pending again.
        Reset = "reset",
    }
}

arrows! {
    PartState by PartMove, first Pending;
    Pending, Start => Running;
    Pending, Skip => Skipped;
    Running, Finish => Done;
    Pending | Running, Fail => Failed;
    Pending | Running | Failed, Cancel => Cancelled;
    Failed | Cancelled, Resume => Running;
    Failed | Cancelled | Skipped, Reset => Pending;
}

impl PartMove {
    /// What the state of its task means for it.
    pub const fn of(task: TaskState) -> Self {
        match task {
            TaskState::Queued | TaskState::Running | TaskState::Waiting | TaskState::Held => Self::Resume,
            TaskState::Done => Self::Finish,
            TaskState::Failed => Self::Fail,
            TaskState::Cancelled => Self::Cancel,
        }
    }
}

impl PartState {
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
    /// Index of the stage.
    pub stage: usize,
    /// Number of the copy, from one.
    pub number: u32,
    /// The text that it is for, when the stage has one part for each of several.
    pub item: Option<String>,
    pub state: Current<PartState>,
    pub skip: Option<Skip>,
    /// Whether another part has replaced it, because a user wanted the stage once more: then it is only a record.
    pub replaced: bool,
}

/// Which part of which workflow a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PartOf {
    pub workflow: WorkflowId,
    /// The place of the part among those of the workflow, which never changes.
    pub part: usize,
}

impl Part {
    pub const fn new(stage: usize, number: u32, item: Option<String>) -> Self {
        Self { stage, number, item, state: Current::first(), skip: None, replaced: false }
    }

    /// Whether it stands for a list that is not known yet.
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
