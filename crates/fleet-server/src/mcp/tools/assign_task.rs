use fleet_api::verbs::task_assign::{Request, StartRule};

use super::prelude::*;
use crate::mcp::task::{self, TaskAnswer};
use crate::mcp::wake::ensure_runner;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The task, from search_backlog or create_task
    task_id: String,
    /// The agent, see list_agents
    executor: Option<String>,
    /// A model of that executor; without one, that of another executor is forgotten
    model: Option<String>,
    /// From 1 to 5; 5 is served first
    #[schemars(range(min = 1, max = 5))]
    priority: Option<i64>,
    /// queue: as soon as its turn comes, also if it was held, failed or cancelled; hold: not until you say so; unchanged if
    /// left out
    start: Option<StartRule>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    #[serde(flatten)]
    task: TaskAnswer,
    /// The fields that are different now; state if it was moved
    changed: Vec<String>,
    /// Whether its executor can be started here; otherwise it waits
    executor_is_here: bool,
    /// Why it does not start, if it may but cannot
    note: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Assign a task";
    const ABOUT: &'static str = "Sets the agent, model and priority of a task, and whether it may start: all at \
        once, or nothing. Use it to give a task to another agent or model, to hold one, and to retry a failed \
        one. Running tasks are not affected.";
    const NATURE: Nature = Nature::Adds;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let Args { task_id: task, executor: agent, model, priority, start } = self;
        let start = start.unwrap_or_default();
        let done = fleet_api::call(&call, None, &Request { task, agent, model, priority, start }).await;
        let done =
            done.map_err(|problem| task::named("task_id", problem).in_words_of(&[("agent", "executor")]))?;
        let note = if start == StartRule::Queue { ensure_runner(&call).await } else { None };
        Ok(Answer {
            task: TaskAnswer::from(&done.task),
            changed: done.changed.iter().map(|field| in_our_word(field).to_owned()).collect(),
            executor_is_here: done.agent_is_here,
            note,
        })
    }
}

fn in_our_word(field: &str) -> &str {
    if field == "agent" { "executor" } else { field }
}
