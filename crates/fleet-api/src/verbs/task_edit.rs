use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Subject;
use crate::verb::verb;
use crate::views::TaskView;

/// Changes what the author of a task decided. What is left out or empty stays as it is.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The task
    pub id: String,
    /// What is to be done, in one line
    #[arg(short, long)]
    pub title: Option<String>,
    /// How urgent: 5 is served first, 1 last
    #[arg(short, long, value_name = "1-5", allow_negative_numbers = true)]
    pub priority: Option<i64>,
    /// Add a label; may be repeated
    #[arg(short = 'l', long = "label", value_name = "LABEL", value_delimiter = ',')]
    pub add_labels: Vec<String>,
    /// Take a label away; may be repeated
    #[arg(long = "remove-label", value_name = "LABEL", value_delimiter = ',')]
    pub remove_labels: Vec<String>,
    /// The files that it will touch: replaces all earlier ones; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub scope: Vec<String>,
    /// Which agent does it
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Which model the agent uses
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Where the work starts
    #[arg(long, value_name = "REF")]
    pub base: Option<String>,
    /// The branch that the work goes to
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// What a run may use at most: time=30m, idle=10m, tokens=200k, usd=2.50, or e.g. usd=none; may be repeated
    #[arg(long = "limit", value_name = "LIMIT")]
    pub limits: Vec<String>,
    /// How often a failed run is tried again
    #[arg(long, value_name = "N")]
    pub retries: Option<u32>,
    /// Do not start it earlier: 2h (from now), 14:30, 2026-12-24, or RFC 3339
    #[arg(long, value_name = "TIME")]
    pub not_before: Option<String>,
    /// How big it is: trivial, small, medium, large, xl
    #[arg(long, value_name = "SIZE")]
    pub complexity: Option<String>,
    /// Set an entry; `KEY=` takes it away; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub meta: Vec<String>,
    /// It is only to look: nothing has to change for it to be done
    #[arg(long)]
    pub read_only: bool,
    /// Empty a field: description, labels, scope, complexity, agent, model, base, branch, limits, not-before, meta,
    /// batch, read-only
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub clear: Vec<String>,
    /// All that its agent has to know.
    #[arg(skip)]
    pub description: Option<String>,
}

/// The task as it is now, and what changed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// The names of the fields that are different now.
    pub changed: Vec<String>,
}

verb!("task.edit", Request => Answer, Adds, Own, |request| vec![Subject::Task(&mut request.id)]);
