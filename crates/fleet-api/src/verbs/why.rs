use fleet_core::run::Reason;

use crate::prelude::*;

/// Explains the status of a task: what happened, the evidence, what comes next, what a person can do.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The task: its id, the id of one of its runs, or its branch
    pub id: String,
}

/// Its state.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The task.
    pub task: TaskId,
    /// Its title.
    pub title: String,
    /// Its state.
    pub status: String,
    /// Its newest run, if it has one.
    pub run: Option<RunId>,
    /// Which attempt that is.
    pub attempt: Option<i64>,
    /// The agent of that run, or the one that will be started.
    pub agent: String,
    /// Why that run failed, if it did.
    pub reason: Option<Reason>,
    /// What happened, in a sentence.
    pub what: String,
    /// What was seen of it, oldest first.
    pub evidence: Vec<String>,
    /// What comes next on its own, in a sentence.
    pub next: String,
    /// When that is, if it is known.
    pub next_at: Option<Moment>,
    /// What a person can do, most useful first; commands in backquotes.
    pub advice: Vec<String>,
}

verb!("why", Request => Answer, Reads, Own, |request| vec![Subject::Task(&mut request.id)]);
