use std::collections::BTreeMap;

use fleet_api::verbs::agents_list::{AgentView, Request};

use super::list_agents::RULES;
use super::prelude::*;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// codex, gemini and claude
    #[serde(flatten)]
    executors: BTreeMap<&'static str, Guide>,
    /// How to choose
    routing_rules: Vec<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Guide {
    /// The default model; `default` is the agent's own choice
    model: String,
    best_for: &'static [&'static str],
    weaker_at: &'static [&'static str],
    /// Where to find figures
    benchmarks: &'static str,
}

/// What an executor is good at, and what it is not.
type Advice = (&'static str, &'static [&'static str], &'static [&'static str]);

const ADVICE: [Advice; 3] = [
    (
        "codex",
        &["Terminal work, build systems and scripts", "Small, well-described fixes", "Reviews of a diff"],
        &["Work that needs a look at a rendered page"],
    ),
    (
        "gemini",
        &[
            "Questions that need much of a large repository at once",
            "Frontend work from pictures or documents",
        ],
        &["Long tasks with many steps"],
    ),
    (
        "claude",
        &[
            "Changes across many files",
            "Design, refactoring and hard bugs",
            "Reviews that explain themselves",
        ],
        &["Cheap bulk work with its largest models"],
    ),
];

const BENCHMARKS: &str = "See what the vendors publish for the model: codefleet measures none.";

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Advice on executors";
    const ABOUT: &'static str = "General advice on which of codex, gemini and claude fits which work. Ask it only \
        if you do not know which executor to choose; list_agents shows which can work here.";
    const NATURE: Nature = Nature::Reads;
    const UNKNOWN: Unknown = Unknown::LeftOut;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let agents = fleet_api::call(&call, None, &Request::default()).await?.agents;
        let executors = ADVICE.iter().map(|advice| (advice.0, guide(*advice, &agents))).collect();
        Ok(Answer { executors, routing_rules: RULES.to_vec() })
    }
}

fn guide((name, best_for, weaker_at): Advice, agents: &[AgentView]) -> Guide {
    let model = agents.iter().find(|agent| agent.name == name).and_then(|agent| agent.model.clone());
    let model = model.unwrap_or_else(|| "default".to_owned());
    Guide { model, best_for, weaker_at, benchmarks: BENCHMARKS }
}
