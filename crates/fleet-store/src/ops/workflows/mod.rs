//! Workflows: their rows, and what happens in them when one of their tasks moves.
//!
//! Owns the tables of workflows and their parts, and is the only one that changes them. Whatever moves a task asks
//! [`follow`], in the same transaction: the part follows its task, the pure course of workflows says what comes next, and
//! that is done at once. So there is no moment at which a workflow would have to be repaired. Must never be entered with
//! a task of a workflow locked before the workflow itself.

mod add;
mod begin;
mod cancel;
mod cancel_task;
mod delete;
mod follow;
mod inputs;
mod list;
mod locked;
mod read;
mod resolve;
mod results;
mod retry;
mod row;

pub use add::AddWorkflow;
pub use cancel::{CancelWorkflow, CancelledWorkflow};
pub use delete::DeleteWorkflow;
pub use inputs::{PartContext, PartInputs, Upstream};
pub use list::{ListWorkflows, ListedWorkflow, WorkflowPage};
pub use read::{GetWorkflow, NamedPart, PartDetail, StoredWorkflow};
pub use resolve::ResolveWorkflow;
pub use retry::RetryWorkflow;

pub(super) use follow::follow;
pub(super) use read::named_part;
pub(super) use results::results_of;
pub(super) use row::{lock, lock_of, stored_place};
