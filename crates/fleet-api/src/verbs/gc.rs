use crate::prelude::*;

/// Frees disk space, and never removes unlanded work.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Logs and snapshots of runs that ended longer ago than this
    #[arg(long = "older-than", value_name = "TIME", default_value = "14d", value_parser = crate::seconds)]
    pub older_than_seconds: u64,
    /// What may go, of what was found before. If left out, this only looks.
    #[arg(skip)]
    pub remove: Option<Vec<GcItem>>,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcKind {
    /// What was moved aside before.
    Trash,
    /// An unused worktree.
    Worktree,
    /// The folder of a run.
    Logs,
    /// Snapshots of a run.
    Snapshots,
    /// Small files of processes that are gone.
    Files,
}

/// Something that may go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GcItem {
    pub kind: GcKind,
    pub what: String,
    pub why: String,
    pub count: usize,
    pub bytes: u64,
}

/// Something that could not be removed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    pub what: String,
    pub why: String,
}

/// What may go, or what was done.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// Whether this only looked.
    pub dry_run: bool,
    /// What is gone or is being removed in the background; or what may go.
    pub removed: Vec<GcItem>,
    /// What could not be removed, and why.
    pub failed: Vec<Failed>,
}

verb!("gc", Request => Answer, Ends, People);
