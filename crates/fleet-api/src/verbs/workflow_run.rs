use std::path::PathBuf;

use fleet_core::workflow::{Returns, Start};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::{WorkflowDetail, WorkflowSource};

/// Runs a workflow: everything is checked before anything starts, then all of it is added at once.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Which one.
    pub workflow: WorkflowSource,
    /// Where a relative path starts.
    pub from: Option<PathBuf>,
    /// What all of it is for; what the file says, if left out.
    pub task: Option<String>,
    /// `NAME=VALUE` for its parameters.
    #[serde(default)]
    pub set: Vec<String>,
    /// The agent of every stage, whatever the file says.
    pub agent: Option<String>,
    /// Where the work starts; what the file says, or the current commit of the directory, if left out.
    pub base: Option<String>,
    /// The priority of its tasks; that of work which people start by hand, if left out.
    pub priority: Option<i64>,
    /// Check everything, start nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was started, or would be.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// What was planned.
    pub plan: Plan,
    /// The workflow; nothing, if none was to be started.
    pub workflow: Option<WorkflowDetail>,
}

/// A workflow of which everything was checked.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// What it is called.
    pub name: String,
    /// What all of it is for.
    pub task: String,
    /// The commit that it starts from.
    pub base: String,
    /// Its stages, in the order of the file.
    pub stages: Vec<PlannedStage>,
}

/// A stage of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "docs/json.md describes each field")]
pub struct PlannedStage {
    pub name: String,
    pub needs: Vec<String>,
    pub agent: String,
    pub model: Option<String>,
    pub start: Start,
    pub returns: Returns,
    pub when: Option<String>,
    /// How many there will be; nothing where that is known only later.
    pub copies: Option<usize>,
    /// What its agent is told, if it needs no other stage.
    pub prompt: Option<String>,
}

impl Plan {
    /// The agents that work on it.
    pub fn agents(&self) -> impl Iterator<Item = Option<&str>> {
        self.stages.iter().map(|stage| Some(stage.agent.as_str()))
    }
}

verb!("workflow.run", Request => Answer, Adds, Own);
