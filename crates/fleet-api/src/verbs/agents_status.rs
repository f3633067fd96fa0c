use fleet_core::run::Health;
use std::collections::BTreeMap;

use crate::prelude::*;
use crate::verbs::runner_status::{PauseView, RunnerView};
use crate::views::ListedRunView;

/// Shows the state of the fleet: running agents and their health, free slots, what waits, what is paused.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only agents of the directory's project. An agent does not see those of others.
    pub this_project: bool,
}

/// A running agent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AtWork {
    /// Its run.
    #[serde(flatten)]
    pub run: ListedRunView,
    /// How it is doing.
    pub health: Health,
    /// How long it has been running.
    pub seconds: u64,
}

/// How the fleet is doing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The running agents, newest first.
    pub agents: Vec<AtWork>,
    /// How many of them there are of each health.
    pub by_health: BTreeMap<String, usize>,
    /// The runners that are up here.
    pub runners: Vec<RunnerView>,
    /// Whether one is started with the next work, where none is up.
    pub autostart: bool,
    /// How many headless agents those may run at a time.
    pub slots: u32,
    /// How many more they could start now.
    pub free_slots: u32,
    /// How many tasks could start.
    pub ready: usize,
    /// Whether there are more of them than were counted.
    pub ready_more: bool,
    /// Agents that can be started here, by name.
    pub available: Vec<String>,
    /// Agents that ready tasks ask for and that cannot be started here.
    pub missing_agents: Vec<String>,
    /// Accounts that take no work for a while.
    pub paused: Vec<PauseView>,
    /// What all runs used today, in millionths of a US dollar.
    pub spent_today: u64,
    /// What may be used in a day, in the same, if that is bounded.
    pub budget_today: Option<u64>,
}

verb!("agents.status", Request => Answer, Reads, Project);
