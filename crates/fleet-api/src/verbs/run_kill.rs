use crate::prelude::*;

/// Stops the agents of tasks and cancels the tasks; their work is kept.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[group(skip)]
pub struct Request {
    /// The tasks, as `run.kill.find` found them.
    #[arg(skip)]
    pub tasks: Vec<String>,
    /// Delete the branches as well; `fleet undo` restores them
    #[arg(long, visible_alias = "delete-branch", visible_short_alias = 'd')]
    pub discard: bool,
    /// What the user typed to find them: with `discard`, a branch that was there before its task goes only if it is
    /// called by its name.
    #[arg(skip)]
    pub named: Vec<String>,
    /// Wait at most this long for agents to end and their work to be committed [default: until it is safe]
    #[arg(long = "wait", value_name = "TIME", value_parser = crate::millis)]
    pub wait_millis: Option<u64>,
}

/// What happened to them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were given.
    pub killed: Vec<Killed>,
}

/// What happened to one.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Killed {
    pub task: TaskId,
    pub title: String,
    pub run: Option<RunId>,
    pub outcome: KillOutcome,
    pub detail: Option<String>,
    pub tidying: bool,
    pub branch: Option<String>,
    pub remarks: Vec<String>,
    pub discarded: bool,
    pub snapshot: Option<String>,
}

/// How it went with one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KillOutcome {
    /// Its agent was stopped.
    Stopped,
    /// It was not running, and will not start.
    Cancelled,
    /// It had already finished.
    Over,
    /// Its agent is still running.
    GoesOn,
}

verb!("run.kill", Request => Answer, Ends, Own, |request| Subject::tasks(&mut request.tasks));
