use std::collections::BTreeMap;

use fleet_core::id::{ProjectId, RunId};

use crate::prelude::*;
use crate::views::{ListedRunView, QueuePauseView, TaskView};

/// Lists runs, newest first: running ones, with their use of this machine, or all; and the queue.
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
    /// Only the newest run of each task.
    #[arg(skip)]
    pub newest_only: bool,
    /// Look again when something has changed, or after this time: processor and memory change without an event.
    #[arg(skip)]
    pub wait_seconds: Option<u32>,
    /// `looked` of the answer before, with which the use of processors is compared.
    #[arg(skip)]
    pub after: Option<CpuSample>,
}

/// The processor time of runs when they were looked at.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct CpuSample {
    /// The time of the answer, by the clock of the server.
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
    /// Tasks that are neither running nor over, as the queue lists them: those that need a person first.
    #[serde(default)]
    pub queue: Vec<TaskView>,
    /// With `all`: tasks that were cancelled before they had a run, newest first.
    #[serde(default)]
    pub unstarted: Vec<TaskView>,
    /// The names of the projects of those tasks.
    #[serde(default)]
    pub projects: BTreeMap<ProjectId, String>,
    /// What people paused, as far as it concerns these tasks.
    #[serde(default)]
    pub paused: Vec<QueuePauseView>,
    /// How many are running in other projects.
    pub elsewhere: usize,
    /// Identifies this answer in the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<CpuSample>,
}

verb!("run.list", Request => Answer, Reads, Own);
