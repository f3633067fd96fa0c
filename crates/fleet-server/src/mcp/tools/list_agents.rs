use fleet_api::verbs::agents_list::{AgentView, LoginState, Request};

use super::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    agents: Vec<ListedAgent>,
    /// Who works if a call names no executor
    default_executor: Option<String>,
    /// How to choose
    routing_rules: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListedAgent {
    /// What to pass as executor
    name: String,
    title: String,
    is_default: bool,
    /// Whether it can be started here
    installed: bool,
    version: Option<String>,
    /// configured, missing (no sign of a login), not_needed or unknown
    auth_status: String,
    /// The default model; null is the agent's own choice
    default_model: Option<String>,
    /// What may be passed as model; empty is any of this vendor's
    models: Vec<String>,
    /// What it may do without asking: read_only, sandbox or full
    trust: String,
    /// Maximum concurrent runs; null for no cap
    cap: Option<u32>,
    /// Why it takes no work for now
    paused: Option<String>,
    /// Whether prompt_worker reaches it while it runs; if not, its next run gets the message
    takes_prompts: bool,
}

pub(super) const RULES: [&str; 5] = [
    "Choose among those that are installed and not paused; without a login an agent fails at once.",
    "Leave executor and model out unless the user asked for one or there is a reason: the user's default was chosen on purpose.",
    "Give a review or a verdict to another vendor than the one that wrote the code.",
    "For an uncertain task, start two or three different executors on the same prompt and compare with get_diff.",
    "Raise reasoning_effort for design and hard bugs, lower it for mechanical edits.",
];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "List the agents";
    const ABOUT: &'static str = "Which coding agents (executors) can work here, with their models, and how to choose among them. Ask once before \
         you name an executor or a model.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let found = fleet_api::call(&call, None, &Request::default()).await?;
        let agents: Vec<ListedAgent> = found.agents.into_iter().map(agent).collect();
        let default = agents.iter().find(|agent| agent.is_default).map(|agent| agent.name.clone());
        let routing_rules = RULES.iter().map(ToString::to_string).collect();
        Ok(Answer { agents, default_executor: default, routing_rules })
    }
}

fn agent(view: AgentView) -> ListedAgent {
    ListedAgent {
        installed: view.is_installed(),
        auth_status: auth_status(view.login.state).to_owned(),
        name: view.name,
        title: view.title,
        is_default: view.is_default,
        version: view.version,
        default_model: view.model,
        models: view.models.into_iter().chain(view.aliases.into_keys()).collect(),
        trust: view.trust,
        cap: view.cap,
        paused: view.pause_reason,
        takes_prompts: view.takes_prompts,
    }
}

/// Whether the user seems to be logged in, in the words of MCP clients.
pub(super) const fn auth_status(state: LoginState) -> &'static str {
    match state {
        LoginState::Yes => "configured",
        LoginState::NoSign => "missing",
        LoginState::NotNeeded => "not_needed",
        LoginState::Unknown => "unknown",
    }
}
