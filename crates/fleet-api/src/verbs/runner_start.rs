use crate::prelude::*;
use crate::verbs::runner_status::RunnerView;

/// Starts the runner in the background, and waits until it is up.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Maximum concurrent agents [default: `runner.slots`, else one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub slots: Option<u32>,
}

/// The runner that is up.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The runner.
    pub runner: RunnerView,
    /// Whether it came up now; otherwise it was up before.
    pub started: bool,
}

verb!("runner.start", Request => Answer, Adds, People);
