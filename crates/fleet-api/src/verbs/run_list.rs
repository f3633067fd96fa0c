use std::collections::BTreeMap;

use fleet_core::id::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::ListedRunView;

/// Lists runs, newest first: running ones, with their use of this machine, or all.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Include runs that have ended, newest first
    #[arg(short, long)]
    pub all: bool,
    /// Only the runs of this batch, in any repository
    #[arg(long, value_name = "ID")]
    pub batch: Option<String>,
    /// The runs of every repository
    #[arg(short = 'A', long)]
    pub all_projects: bool,
    /// Show at most N [default: all running; with --all `tasks.list_limit`, 50]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
    /// Look again when something has changed, or after so long: processor and memory change without an event.
    #[arg(skip)]
    pub wait_seconds: Option<u32>,
    /// `looked` of the answer before, with which the use of processors is compared.
    #[arg(skip)]
    pub after: Option<Looked>,
}

/// The processor time of runs when they were looked at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Looked {
    /// When, by a clock of those who answer.
    pub at_millis: u64,
    /// What each had used, in milliseconds.
    pub cpu_millis: BTreeMap<RunId, u64>,
}

/// Some runs, newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The runs.
    pub runs: Vec<ListedRunView>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// How many are running in other projects.
    pub elsewhere: usize,
    /// What to compare the next look with, for those who look again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<Looked>,
}

verb!("run.list", Request => Answer, Reads, Own);
