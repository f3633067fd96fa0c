use crate::prelude::*;
use crate::verbs::runner_status::RunnerView;

/// Stops the runners of this home; agents keep running unless they are to be stopped, too.
#[derive(Debug, Clone, Copy, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Stop the agents as well: their work is kept, and tasks that are not interactive go back to the queue
    #[arg(long)]
    pub agents: bool,
    /// A runner is restarted at once: should that fail, the next command that needs one starts it.
    #[arg(skip)]
    pub restart: bool,
}

/// What was stopped.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The runners that were up.
    pub runners: Vec<RunnerView>,
    /// Agents that keep running without a runner.
    pub going_on: usize,
    /// Agents that were stopped.
    pub released: usize,
    /// How many of those were interactive: their tasks wait for a person.
    #[serde(default)]
    pub interactive: usize,
}

verb!("runner.stop", Request => Answer, Ends, People);
