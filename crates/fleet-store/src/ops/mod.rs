//! Every operation on the store, one transaction each; one file per noun.

mod all;
mod audit;
mod author;
mod before;
mod branches;
mod claim;
mod deps;
mod events;
mod follow;
mod hosts;
mod ledger;
mod list;
mod message_lists;
mod messages;
mod moves;
mod pauses;
mod prelude;
mod probe;
mod projects;
mod question_lists;
mod questions;
mod queue_pauses;
mod recent;
mod resolve;
mod rows;
mod runs;
mod schema;
mod server_time;
mod switch_mode;
mod task_texts;
mod tasks;
mod upcoming;
mod waiting;
mod workflows;

pub use all::{All, Both};
pub use audit::Audit;
pub use author::{Author, MAX_ADDED};
pub use before::{TaskBefore, TasksBefore};
pub use branches::BranchHolder;
pub use claim::{Claim, ClaimOnly, Claimed, FirstReady};
pub use deps::{AddDependency, DependencyNode, DependencyTree, Graph, RemoveDependency};
pub use events::{EventsAfter, NewestEvents, NewestSeq, RunEventsOf, TaskEvents};
pub use follow::{FollowTasks, FollowedTask};
pub use hosts::{Host, ListHosts, OfferHost};
pub use ledger::{ReserveMore, Spending};
pub use list::{CancelledUnstarted, ListReady, ListTasks, StatusFilter, TaskFilter, TaskPage};
pub use message_lists::{CancelMessage, ListMessages, MessageText, MessagesOf};
pub use messages::{RecordReceipts, SendMessage, SentMessage, TakeMessages, TaskMessages};
pub use moves::{CancelIdle, CheckDelete, DeleteTask, MoveTask};
pub use pauses::{LiftPause, ListPauses, Pause, PauseAccount};
pub use probe::Probe;
pub use projects::{
    EnsureProject, FindProject, LikelyProjects, ListProjects, ProjectAt, ProjectCheckout, ProjectsAt,
};
pub use question_lists::{GetQuestion, OpenQuestions, QuestionsOf};
pub use questions::{AnswerQuestion, AnsweredQuestion, AskQuestion, ReceiveAnswer};
pub use queue_pauses::{ListQueuePauses, PauseQueue, QueuePause, ResumeQueue};
pub use recent::RecentTasks;
pub use resolve::{AnyExisting, ResolveSuffix, ResolveTask, Suffixed};
pub use runs::{
    AdvanceRun, AppendRunEvents, CloseRun, EndRun, ExpireLeases, FailureSettings, GetRun, ListRuns,
    ListedRun, LiveRuns, OtherPlaces, PrepareRun, Prepared, RenewLease, Renewed, ReportRun, RequestStop,
    ResolveRun, RunDetail, RunFilter,
};
pub use schema::NewerSchema;
pub use server_time::ServerTime;
pub use switch_mode::{SwitchMode, SwitchedMode};
pub use task_texts::{TaskTextPage, TaskTexts};
pub use tasks::{AddTasks, EditTask, ExportTasks, GetTask, NewTask, TaskDetail};
pub use upcoming::{CountUpcoming, Upcoming, UpcomingTasks};
pub use waiting::{HandOverWaiting, WaitingTasks, WaitingWork};
pub use workflows::{
    AddWorkflow, CancelWorkflow, CancelledWorkflow, DeleteWorkflow, GetWorkflow, ListWorkflows,
    ListedWorkflow, NamedPart, PartContext, PartDetail, PartInputs, ResolveWorkflow, RetryWorkflow,
    StoredWorkflow, Upstream, WorkflowPage,
};
