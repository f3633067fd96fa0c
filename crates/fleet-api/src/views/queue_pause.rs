use fleet_core::id::ProjectId;

use crate::prelude::*;

/// A pause of the queue. Without a project and an agent, everything is paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueuePauseView {
    /// Only tasks of this project.
    pub project: Option<ProjectId>,
    /// What the project is called.
    pub project_name: Option<String>,
    /// Only tasks of this agent.
    pub agent: Option<String>,
    /// Who paused it said this.
    pub why: String,
    /// Since when.
    pub since: Moment,
}

impl QueuePauseView {
    /// Which tasks are paused, in words.
    pub fn what(&self) -> String {
        match (&self.project_name, &self.agent) {
            (None, None) => "everything".to_owned(),
            (Some(project), None) => format!("project {project}"),
            (None, Some(agent)) => format!("agent {agent}"),
            (Some(project), Some(agent)) => format!("agent {agent} in project {project}"),
        }
    }

    /// The command that lifts it.
    pub fn remedy(&self) -> String {
        let project = self.project.map(|_| " --project DIR").unwrap_or_default();
        let agent = self.agent.as_ref().map(|agent| format!(" --agent {agent}")).unwrap_or_default();
        format!("fleet unpause{project}{agent}")
    }

    /// What is paused, why, and what lifts it.
    pub fn sentence(&self) -> String {
        format!("{} is paused: {} (`{}`)", self.what(), self.why, self.remedy())
    }
}
