use std::collections::BTreeMap;

use fleet_api::verbs::agents_status::Request;

use super::prelude::*;
use crate::mcp::open::{OpenObject, RenamedField};
use crate::mcp::worker;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Only agents running in this git repository, by its absolute path; all if left out
    repo_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The running agents, newest first: task_id (also its worker_id), title, run_id, executor, model, health, activity,
    /// percent, seconds, branch_name, workspace, input_tokens, output_tokens, micro_usd, load
    agents: Vec<OpenObject>,
    /// How many of them there are of each health
    by_health: BTreeMap<String, usize>,
    /// The runners that start agents here
    runners: Vec<OpenObject>,
    /// Whether one is started with the next work, where none is up; if not, the user has to, with `fleet start`
    autostart: bool,
    /// How many agents those may run at a time
    slots: u32,
    /// How many more they could start now
    free_slots: u32,
    /// How many tasks could start
    ready: usize,
    /// Executors that can be started here
    available: Vec<String>,
    /// Executors that ready tasks ask for and that cannot be started here
    missing_executors: Vec<String>,
    /// Accounts that take no work for a while, and why
    paused: Vec<OpenObject>,
    cost_today_usd: f64,
    /// What may be used in a day, if that is bounded
    budget_today_usd: Option<f64>,
}

const WORDS: [RenamedField; 4] =
    [("id", "run_id"), ("task", "task_id"), ("agent", "executor"), ("branch", "branch_name")];

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Check the agents";
    const ABOUT: &'static str = "The state of the fleet right now: every running agent and its health, free \
        slots, what waits, what is paused, what was spent today. Use it before you start a lot of work, and \
        when nothing progresses. For the available agents, use list_agents.";
    const NATURE: Nature = Nature::Reads;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let this_project = self.repo_path.is_some();
        let here = RepoClient::of_backlog(&call, self.repo_path.as_deref(), !this_project)?;
        let found = fleet_api::call(&here, None, &Request { this_project }).await?;
        Ok(Answer {
            agents: OpenObject::all(&found.agents, &WORDS)?,
            by_health: found.by_health,
            runners: OpenObject::all(&found.runners, &[])?,
            autostart: found.autostart,
            slots: found.slots,
            free_slots: found.free_slots,
            ready: found.ready,
            available: found.available,
            missing_executors: found.missing_agents,
            paused: OpenObject::all(&found.paused, &WORDS)?,
            cost_today_usd: worker::dollars(found.spent_today),
            budget_today_usd: found.budget_today.map(worker::dollars),
        })
    }
}
