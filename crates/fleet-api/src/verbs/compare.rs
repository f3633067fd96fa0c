use fleet_core::report::TestLine;
use fleet_core::run::RunState;

use crate::prelude::*;

/// Compares the work of runs: what each changed, whether its checks succeeded, what it cost; of two also the difference.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The runs: ids of them or of their tasks, or branches; one alone stands for all of its fan-out
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
}

/// The work of one run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Compared {
    pub task: TaskId,
    pub run: RunId,
    pub title: String,
    pub branch: Option<String>,
    pub agent: String,
    pub model: Option<String>,
    pub state: RunState,
    /// Null if there is nothing to be compared: it has no workspace yet, or its work is elsewhere or gone.
    pub changes: Option<Totals>,
    /// How many checks succeeded, of those that were run.
    pub checks_passed: usize,
    pub checks_failed: usize,
    /// What the agent says that it tested.
    pub tests: Vec<TestLine>,
    pub tokens: u64,
    pub micro_usd: u64,
    pub seconds: u64,
}

/// What one changed, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub commits: u64,
    pub files: u64,
    pub added: u64,
    pub deleted: u64,
}

/// The difference between two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Between {
    /// How many files differ.
    pub files: usize,
    /// `after` with which `run.diff` of the first shows it.
    pub diff: String,
}

/// All of them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named.
    pub runs: Vec<Compared>,
    /// Of exactly two, from the first to the second.
    pub between: Option<Between>,
}

verb!("compare", Request => Answer, Reads, Own, |request| request.ids.iter_mut().map(Subject::Run).collect());
