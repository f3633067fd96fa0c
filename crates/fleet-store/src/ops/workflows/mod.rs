//! Workflows: their rows, and what happens in them when a task of theirs moves.
//!
//! Owns the tables of workflows and their parts, and is the only one that changes them. Whatever moves a task asks
//! [`follow`], in the same transaction: the part follows its task, the pure course of workflows says what comes next, and
//! that is done at once. So there is no moment at which a workflow would have to be repaired. Must never be entered with
//! a task of a workflow locked before the workflow itself.

mod add;
mod begin;
mod cancel;
mod delete;
mod flow;
mod follow;
mod halt;
mod inputs;
mod list;
mod read;
mod resolve;
mod results;
mod retry;
mod row;

pub use add::AddWorkflow;
pub use cancel::{CancelWorkflow, CancelledWorkflow};
pub use delete::DeleteWorkflow;
pub use inputs::{StageInputs, StageSurroundings, Upstream};
pub use list::{ListWorkflows, ListedWorkflow, WorkflowPage};
pub use read::{GetWorkflow, NamedStage, PartDetail, WorkflowDetail};
pub use resolve::ResolveWorkflow;
pub use retry::RetryWorkflow;

pub(super) use follow::follow;
pub(super) use read::named_stage;
pub(super) use row::{lock, lock_of, stored_place};
