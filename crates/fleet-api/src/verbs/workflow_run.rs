use fleet_core::workflow::{Returns, StageStart};
use std::path::PathBuf;

use crate::prelude::*;
use crate::views::{WorkflowDetail, WorkflowSource};

/// Runs a workflow: everything is checked before anything starts, then all of it is added at once.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Which one.
    #[arg(skip = WorkflowSource::Named(String::new()))]
    pub workflow: WorkflowSource,
    /// Where a relative path starts.
    #[arg(skip)]
    pub from: Option<PathBuf>,
    /// The task; the file's own, if left out.
    #[arg(skip)]
    pub task: Option<String>,
    /// Set a parameter of the workflow; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    #[serde(default)]
    pub set: Vec<String>,
    /// Use this agent for every stage; models and arguments for other agents are left out
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Where the work starts: a branch, tag or commit [default: HEAD]
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The priority of its tasks: 1 to 5, 5 first [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub priority: Option<i64>,
    /// Check everything, start nothing.
    #[arg(skip)]
    #[serde(default)]
    pub dry_run: bool,
}

/// What was started, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What was planned.
    pub plan: WorkflowPlan,
    /// The workflow; nothing, if none was to be started.
    pub workflow: Option<WorkflowDetail>,
}

/// A workflow of which everything was checked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowPlan {
    /// What it is called.
    pub name: String,
    /// The task.
    pub task: String,
    /// The commit that it starts from.
    pub base: String,
    /// Its stages, in the order of the file.
    pub stages: Vec<PlannedStage>,
}

/// A stage of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PlannedStage {
    pub name: String,
    pub needs: Vec<String>,
    pub agent: String,
    pub model: Option<String>,
    pub start: StageStart,
    pub returns: Returns,
    pub when: Option<String>,
    /// How many there will be; nothing where that is known only later.
    pub copies: Option<usize>,
    /// Its prompt, if it needs no other stage.
    pub prompt: Option<String>,
}

impl WorkflowPlan {
    /// The agents that work on it.
    pub fn agents(&self) -> impl Iterator<Item = Option<&str>> {
        self.stages.iter().map(|stage| Some(stage.agent.as_str()))
    }
}

verb!("workflow.run", Request => Answer, Adds, Own);
