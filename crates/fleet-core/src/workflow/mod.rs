//! Workflows: named graphs of stages, each of which is a task.
//!
//! Owns what a workflow says, when it is well-formed, the words that its prompts and conditions may use, and what
//! happens next whenever a stage is over. A stage becomes a task only when everything that it needs is over; until then
//! it is a row that waits. Must never know where a workflow was written or where its state is kept: the store asks
//! [`advance`] in the same transaction that ends a task, so nothing has to be repaired after a crash.

mod advance;
mod check;
mod condition;
mod facts;
mod part;
mod placeholder;
mod predict;
mod record;
mod retry;
mod source;
mod spec;
mod state;
#[cfg(test)]
mod tests;

pub use advance::{WorkflowStep, advance, first_parts};
pub use check::{Flaw, check};
pub use condition::{Condition, ConditionError, ConditionValue};
pub use facts::{Results, StageFacts};
pub use part::{Part, PartMove, PartOf, PartState, Skip};
pub use placeholder::{
    Placeholder, PlaceholderError, StageField, marked, meant_placeholder, placeholders, unknown_words,
};
pub use predict::{Prediction, predict};
pub use record::{PartCounts, Workflow};
pub use retry::{PartRetry, RetryPlan, plan_retry};
pub use source::{CommitSource, sources};
pub use spec::{
    ChangeRule, Copies, LONGEST_PROMPT, MAX_PARTS, MAX_STAGES, OnConflict, OnFailure, Returns, Spec, Stage,
    StageName, StageStart,
};
pub use state::{WorkflowMove, WorkflowState};
