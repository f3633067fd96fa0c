use fleet_core::run::Reason;

use crate::prelude::*;
use crate::verbs::doctor::CheckVerdict;

/// Runs a tiny real task with an agent, in a scratch repository with its own queue, and reports what works.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The agent
    #[arg(value_name = "NAME")]
    pub agent: String,
    /// The model [default: `agents.NAME.model`]
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Keep the folder
    #[arg(long)]
    #[serde(default)]
    pub keep: bool,
    /// How long it may take
    #[arg(long = "time", value_name = "SPAN", default_value = "5m", value_parser = crate::seconds)]
    pub seconds: u64,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TestStep {
    /// What.
    pub name: String,
    /// How it went; a warning means that it works without.
    pub verdict: CheckVerdict,
    /// What was seen.
    pub detail: String,
}

/// What works.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The agent.
    pub agent: String,
    /// The model it used; null is the agent's own default.
    pub model: Option<String>,
    /// Whether it did the task.
    pub ok: bool,
    /// Why it did not.
    pub reason: Option<Reason>,
    /// In the order in which they happen.
    pub steps: Vec<TestStep>,
    /// What to do next, if it did not.
    pub next: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// The folder; null if it was not kept.
    pub kept: Option<String>,
}

verb!("agents.test", Request => Answer, Adds, People);
