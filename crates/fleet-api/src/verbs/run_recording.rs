use std::path::PathBuf;

use crate::prelude::*;

/// Finds the recording of an agent's terminal.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The run: its id, the id of its task, or its branch
    pub id: String,
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
