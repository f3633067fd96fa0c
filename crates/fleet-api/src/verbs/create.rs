pub use fleet_core::task::Setup;
use fleet_core::task::Tuning;

use crate::ModeChoice;
use crate::prelude::*;
use crate::views::Launched;

/// Adds tasks that run before what is queued, each on its own branch, new or existing: all of them, or none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// One for each task.
    pub jobs: Vec<Job>,
    /// What holds for all.
    #[serde(default)]
    pub wishes: JobOptions,
    /// Whether they belong together.
    #[serde(default)]
    pub grouping: Grouping,
}

/// One piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// What it is called; the first line of the prompt, if left out.
    pub title: Option<String>,
    /// The branch that it goes to, new or existing; a name made from the id, if left out.
    pub branch: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// The agent; the configured one, if left out.
    pub agent: Option<String>,
    /// The model; the configured one, if left out.
    pub model: Option<String>,
    /// What it asks of the agent beyond the model.
    pub tuning: Tuning,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// `KEY=VALUE`.
    pub meta: Vec<String>,
    /// A note for later readers of the task.
    pub profile: Option<String>,
    /// The task on whose behalf it is made.
    pub on_behalf_of: Option<TaskId>,
}

/// What holds for all pieces of one launch.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JobOptions {
    /// Where the work starts: a branch, tag or commit [default: HEAD]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// How a workspace is prepared.
    #[arg(skip)]
    pub setup: Setup,
    /// What becomes of branches that exist.
    #[arg(skip)]
    pub existing: ExistingBranches,
    /// Make no changes; none are required
    #[arg(long)]
    pub read_only: bool,
    /// Whether its agent runs in a terminal; as `launch.mode` says, if left out.
    #[command(flatten)]
    pub mode: ModeChoice,
    /// Limit of a run: time=30m, idle=10m, tokens=200k, usd=2.50; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    pub limits: Vec<String>,
    /// How often a failed run is retried [default: `tasks.retries`, 2]
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// A command that must succeed on the work before it is done, split into words without a shell; may be repeated
    #[arg(long = "check", value_name = "COMMAND")]
    pub checks: Vec<String>,
    /// How often work that fails its checks goes back to the agent [default: `tasks.check_retries`, 2]
    #[arg(long, value_name = "N")]
    pub check_retries: Option<u32>,
}

/// What becomes of branches that exist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExistingBranches {
    /// The work goes on there, but not on the main branch.
    #[default]
    Take,
    /// The same, on the main branch, too.
    TakeMain,
    /// They are refused.
    Refuse,
}

/// Whether the pieces belong together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// It is one piece.
    #[default]
    Alone,
    /// They are a batch.
    Batch,
}

verb!("create", Request => Launched, Adds, Own);
