use std::collections::{BTreeMap, BTreeSet};

use fleet_api::verbs::agents_list::{self, AgentView, LoginState};
use fleet_api::verbs::{about, agents_prices, runner_status};
use serde_json::Value;

use super::list_agents::auth_status;
use super::prelude::*;
use crate::mcp::answer;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// True if work can be done: git is there, an agent is installed, the store answers, and a runner can start new workers
    ok: bool,
    app: String,
    version: String,
    /// Where the store is; null for a server
    db_path: Option<String>,
    base_dir: String,
    /// codex_found, codex_path, codex_version, codex_auth_status, and the same for gemini and claude
    #[serde(flatten)]
    executors: BTreeMap<String, Value>,
    auth_check_mode: String,
    claude_auth_note: String,
    git_found: bool,
    git_path: String,
    default_executor: Option<String>,
    /// Of codex; `default` is the agent's own choice
    default_model: String,
    default_gemini_model: String,
    default_claude_model: String,
    /// What each executor may use. Where the user has not limited that, any model of its vendor will do, and these are
    /// those that codefleet knows; empty if it knows none
    supported_models: BTreeMap<String, Vec<String>>,
    /// How many generations of workers may follow from one of yours
    max_spawn_depth: u32,
    /// How often a run shows that it lives, in seconds
    heartbeat_interval: u64,
    /// Whether a runner can start new workers
    runner_up: Option<bool>,
    /// Whether a runner is started with the next worker, where none is up
    autostart: bool,
    running_workers: Option<usize>,
    /// What is wrong, most important first
    problems: Vec<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Check the fleet";
    const ABOUT: &'static str = "Whether workers can be run here: git, the agents and their logins, the store, the runner. Use it once when \
         something does not work; list_agents is the better way to choose an executor.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let mut problems = Vec::new();
        let asked = runner_status::Request::default();
        let status =
            fleet_api::call(&call, None, &asked).await.map_err(|why| problems.push(answer::text(&why)));
        let asked = agents_list::Request::default();
        let agents =
            fleet_api::call(&call, None, &asked).await.map_err(|why| problems.push(answer::text(&why)));
        // Both may want what is missing.
        problems.dedup();
        let about = fleet_api::call(&call, None, &about::Request::default()).await?;
        let agents = agents.map(|answer| answer.agents).unwrap_or_default();
        let prices = fleet_api::call(&call, None, &agents_prices::Request::default()).await;
        let known: Vec<String> =
            prices.into_iter().flat_map(|answer| answer.prices).map(|price| price.model).collect();
        Ok(report(about, (&agents, &known), status.as_ref().ok(), problems))
    }
}

fn report(
    about: about::Answer,
    (agents, known): (&[AgentView], &[String]),
    status: Option<&runner_status::Answer>,
    mut problems: Vec<String>,
) -> Answer {
    if about.git.is_none() {
        problems.push("git is not on the PATH".to_owned());
    }
    if !agents.iter().any(AgentView::is_installed) {
        problems.push("no agent is installed".to_owned());
    }
    let runner_up = status.map(|status| !status.runners.is_empty());
    if runner_up == Some(false) && !about.autostart {
        problems.push("no runner is up, and `autostart` is off: `fleet start` starts one".to_owned());
    }
    let find = |name: &str| agents.iter().find(|agent| agent.name == name);
    let model = |name: &str| {
        let chosen = find(name).and_then(|agent| agent.model.clone());
        chosen.unwrap_or_else(|| "default".to_owned())
    };
    let mut executors = BTreeMap::new();
    for name in ["codex", "gemini", "claude"] {
        let agent = find(name);
        let version = agent.and_then(|agent| agent.version.clone());
        let auth = agent.map_or("unknown", |agent| match (name, agent.login.state) {
            // Its login need not leave a sign.
            ("claude", LoginState::NoSign) => "unknown",
            (_, state) => auth_status(state),
        });
        let path = agent.and_then(|agent| agent.path.clone()).unwrap_or_default();
        executors.insert(format!("{name}_found"), agent.is_some_and(AgentView::is_installed).into());
        executors.insert(format!("{name}_path"), path.into());
        executors.insert(format!("{name}_version"), version.unwrap_or_default().into());
        executors.insert(format!("{name}_auth_status"), auth.into());
    }
    let default = agents.iter().find(|agent| agent.is_default);
    Answer {
        ok: problems.is_empty(),
        app: "codefleet".to_owned(),
        version: about.version,
        db_path: about.store_file,
        base_dir: about.home,
        executors,
        auth_check_mode: "local_artifact".to_owned(),
        claude_auth_note: "A sign of a login is a file or a variable; only a run shows whether it is valid."
            .to_owned(),
        git_found: about.git.is_some(),
        git_path: about.git.unwrap_or_default(),
        default_executor: default.map(|agent| agent.name.clone()),
        default_model: model("codex"),
        default_gemini_model: model("gemini"),
        default_claude_model: model("claude"),
        supported_models: agents.iter().map(|agent| (agent.name.clone(), models(agent, known))).collect(),
        max_spawn_depth: about.spawn_depth,
        heartbeat_interval: about.heartbeat_seconds,
        runner_up,
        autostart: about.autostart,
        running_workers: status.map(|status| status.running),
        problems,
    }
}

/// How the models of an executor are called.
const VENDORS: [(&str, &str); 3] = [("codex", "gpt-"), ("gemini", "gemini-"), ("claude", "claude-")];

/// The models that an executor may use, the chosen one first: as the user limits them, or those of its vendor.
fn models(agent: &AgentView, known: &[String]) -> Vec<String> {
    let mut models: Vec<String> = agent.model.iter().chain(&agent.models).cloned().collect();
    let vendor = VENDORS.iter().find(|(name, _)| *name == agent.name);
    if let (true, Some((_, beginning))) = (agent.models.is_empty(), vendor) {
        let theirs = known.iter().filter(|model| model.starts_with(beginning));
        models.extend(theirs.map(|model| model.trim_end_matches('*').to_owned()));
    }
    let mut seen = BTreeSet::new();
    models.retain(|model| seen.insert(model.clone()));
    models
}
