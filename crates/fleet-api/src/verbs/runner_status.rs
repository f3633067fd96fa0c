use crate::prelude::*;
use crate::views::{NeedsYou, QueuePauseView};

/// Shows the runners of this home, running and ready tasks, pauses and spending.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// A runner.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunnerView {
    pub name: String,
    pub pid: i32,
    pub slots: u32,
    /// How many interactive runs it starts.
    #[serde(default)]
    pub terminals: u32,
    pub background: bool,
    pub version: String,
    pub started_at: Moment,
    pub outdated: bool,
    /// What the machine has too little of for another agent.
    #[serde(default)]
    pub shortage: Option<String>,
}

/// An account that takes no work.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PauseView {
    pub account: String,
    pub until: Moment,
    pub why: String,
}

/// A warning about a running agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WarningView {
    pub run: RunId,
    pub text: String,
}

/// The state of this home.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The runners that are up, the oldest first.
    pub runners: Vec<RunnerView>,
    /// How many agents are running here.
    pub running: usize,
    /// How many of them are in terminals: those take no slot.
    #[serde(default)]
    pub interactive: usize,
    /// How many tasks could start.
    pub ready: usize,
    /// Agents that ready tasks ask for and that cannot be started here.
    pub missing_agents: Vec<String>,
    /// Repositories of ready tasks in which agents cannot work here; nothing for an agent.
    pub missing_repositories: Vec<String>,
    /// Whether there are more ready tasks than were counted.
    pub ready_more: bool,
    /// Accounts that take no work for a while.
    pub paused: Vec<PauseView>,
    /// Whether every agent of this home is frozen.
    #[serde(default)]
    pub frozen: bool,
    /// What people paused; for an agent, what concerns its project.
    #[serde(default)]
    pub queue_paused: Vec<QueuePauseView>,
    /// The newest tasks that do not continue without a person; nothing for an agent.
    #[serde(default)]
    pub needs_you: Vec<NeedsYou>,
    /// Whether there are more of them.
    #[serde(default)]
    pub needs_you_more: bool,
    /// Warnings about agents running here; nothing for an agent.
    pub warnings: Vec<WarningView>,
    /// What all runs used today, in millionths of a US dollar.
    pub spent_today: u64,
    /// What may be used in a day, in the same, if that is bounded.
    pub budget_today: Option<u64>,
    /// What the runner in the background says.
    pub log: String,
}

verb!("runner.status", Request => Answer, Reads, All);
