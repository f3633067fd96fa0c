use crate::prelude::*;

/// Finds the terminal of an agent, for a person who wants to look at it, and waits for one that is being started.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The agent: its branch, the id of its task, or of a run.
    pub id: String,
    /// How long to wait while it is being started; not at all, if left out.
    pub wait_seconds: Option<u32>,
}

/// What there is to attach to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachTarget {
    /// A terminal.
    Terminal,
    /// An agent that is being started, or waits for that.
    Starting,
    /// An agent without a terminal.
    Headless,
    /// Nothing: no agent works on it.
    Over,
}

/// An agent that somebody wants to look at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// Its newest run.
    pub run: Option<RunId>,
    /// The branch of the work.
    pub branch: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// What there is to attach to.
    pub target: AttachTarget,
}

verb!("run.attach", Request => Answer, Reads, People);
