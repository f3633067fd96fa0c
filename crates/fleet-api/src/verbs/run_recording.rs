use std::path::PathBuf;

use crate::prelude::*;

/// Finds the recording of an agent's terminal.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The id of a run; or a task, by its id or branch, which means its newest run
    pub id: String,
    /// This attempt at the task instead of the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
    pub attempt: Option<i64>,
}

/// A recording.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunId,
    /// The file, an asciicast.
    pub path: PathBuf,
}

verb!("run.recording", Request => Answer, Reads, People);
