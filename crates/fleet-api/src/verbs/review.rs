use fleet_core::report::TestLine;
use fleet_core::review::ReviewVerdict;
use fleet_core::task::TaskState;

use crate::prelude::*;

/// Reviews recent work: what was done, what git shows, whether it has landed or could, what to do next.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Only what ended since then: 24h (ago), 2026-12-24, or RFC 3339 [default: 7d]
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Show at most N [default: 20]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub limit: Option<u32>,
}

/// The work of one task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ReviewedTask {
    pub task: TaskId,
    pub title: String,
    pub state: TaskState,
    pub verdict: ReviewVerdict,
    pub run: RunId,
    pub attempt: i64,
    pub agent: String,
    pub model: Option<String>,
    pub branch: Option<String>,
    /// What was done or why it failed, in the agent's words or ours.
    pub summary: String,
    pub files: Vec<String>,
    pub file_count: usize,
    pub commits: Vec<String>,
    pub commit_count: usize,
    /// What the agent says that it tested.
    pub tests: Vec<TestLine>,
    /// Where claim and observation differ.
    pub remarks: Vec<String>,
    /// What the agent would do next.
    pub next_steps: Vec<String>,
    /// Where it has landed, in words; nothing if it has not.
    pub landed: Option<String>,
    /// Files that keep it from being merged into the current commit.
    pub conflicts: Vec<String>,
    pub tokens: u64,
    pub micro_usd: u64,
    pub seconds: u64,
    pub ended_at: Option<Moment>,
    /// What to do next, most useful first; commands in backquotes.
    pub next: Vec<String>,
}

/// The work that ended lately.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The newest first.
    pub reviews: Vec<ReviewedTask>,
    /// Whether there is more of it.
    pub more: bool,
}

verb!("review", Request => Answer, Reads, Project);
