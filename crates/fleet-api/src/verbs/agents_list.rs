use std::collections::BTreeMap;

use crate::prelude::*;

/// Lists the agents that there are, and whether each can work here.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// All agents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order of the registry.
    pub agents: Vec<AgentView>,
}

/// An agent, as far as lists show it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AgentView {
    /// The name by which tasks choose it.
    pub name: String,
    /// What its vendor calls it.
    pub title: String,
    /// Whether tasks that name no agent get it.
    pub is_default: bool,
    /// What is started; null for codefleet itself.
    pub program: Option<String>,
    /// Where that is; null if it is not installed.
    pub path: Option<String>,
    /// Its version; null if it is not installed or reports none.
    pub version: Option<String>,
    /// Why its version is unknown.
    pub version_problem: Option<String>,
    /// Whether a login was detected.
    pub login: Login,
    /// The model for tasks that name none; null is the agent's own default.
    pub model: Option<String>,
    /// The models that it may use; empty is any.
    pub models: Vec<String>,
    /// Short names of models.
    pub aliases: BTreeMap<String, String>,
    /// What it may do without asking.
    pub trust: String,
    /// What keeps it to that: `none`, `tools` or `sandbox`.
    pub enforced: String,
    /// Maximum concurrent runs; null is no cap.
    pub cap: Option<u32>,
    /// Whose limits it has.
    pub account: String,
    /// Until when it takes no work; null if it does.
    pub paused_until: Option<Moment>,
    /// Why it takes no work.
    pub pause_reason: Option<String>,
    /// Whether a prompt reaches it while it works.
    pub takes_prompts: bool,
}

impl AgentView {
    /// Whether it can be started here.
    pub const fn is_installed(&self) -> bool {
        self.path.is_some()
    }
}

/// What is known about a login.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Login {
    /// Whether there is a sign.
    pub state: LoginState,
    /// Which: the name of a variable, or a file.
    pub sign: Option<String>,
}

/// Whether there is a sign of being logged in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoginState {
    /// There is one.
    Yes,
    /// There is none that we know of.
    NoSign,
    /// There is nothing to log in to.
    NotNeeded,
    /// A login cannot be detected.
    Unknown,
}

verb!("agents.list", Request => Answer, Reads, All);
