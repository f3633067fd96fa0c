//! Every operation on the store, one transaction each; one file per noun.

mod all;
mod audit;
mod author;
mod branches;
mod claim;
mod deps;
mod events;
mod follow;
mod hosts;
mod ledger;
mod list;
mod messages;
mod moves;
mod pauses;
mod probe;
mod projects;
mod recent;
mod resolve;
mod rows;
mod runs;
mod schema;
mod server_time;
mod task_texts;
mod tasks;
mod waiting;
mod workflows;

pub use all::{All, Both};
pub use audit::Audit;
pub use author::{Author, MOST_ADDED};
pub use branches::BranchHolder;
pub use claim::{Claim, Claimed};
pub use deps::{AddDependency, DependencyTree, Graph, Node, RemoveDependency};
pub use events::{Newest, NewestSeq, RunEventsOf, Tail, TaskEvents};
pub use follow::{FollowTasks, FollowedTask};
pub use hosts::{Host, ListHosts, OfferHost};
pub use ledger::{ReserveMore, Spending};
pub use list::{ListTasks, Page, Ready, StatusFilter, TaskFilter};
pub use messages::{RecordReceipts, SendMessage, Sent, TakeMessages, TaskMessages};
pub use moves::{CancelIdle, CheckDelete, DeleteTask, MoveTask};
pub use pauses::{LiftPause, ListPauses, Pause, PauseAccount};
pub use probe::Probe;
pub use projects::{
    Checkout, EnsureProject, FindProject, LikelyProjects, ListProjects, ProjectAt, ProjectsAt,
};
pub use recent::{RecentTasks, TaskKind};
pub use resolve::{AnyExisting, ResolveTask};
pub use runs::{
    AdvanceRun, After, AppendRunEvents, CloseRun, Elsewhere, EndRun, ExpireLeases, GetRun, ListRuns,
    ListedRun, LiveRuns, PrepareRun, Prepared, RenewLease, Renewed, ReportRun, RequestStop, ResolveRun,
    RunDetail, RunFilter,
};
pub use schema::NewerSchema;
pub use server_time::ServerTime;
pub use task_texts::{TaskTexts, Texts};
pub use tasks::{AddTasks, EditTask, ExportTasks, GetTask, NewTask, TaskDetail};
pub use waiting::{HandOverWaiting, Waiting, WaitingWork};
pub use workflows::{
    AddWorkflow, CancelWorkflow, CancelledWorkflow, DeleteWorkflow, GetWorkflow, ListWorkflows,
    ListedWorkflow, NamedStage, PartDetail, ResolveWorkflow, RetryWorkflow, StageInputs, StageSurroundings,
    Upstream, WorkflowDetail, WorkflowPage,
};
