use crate::prelude::*;

/// Shows what the terminal of an agent shows, as text: while it runs and afterwards.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The id of a run; or a task, by its id or branch, which means its newest run
    pub id: String,
    /// This attempt at the task instead of the newest.
    #[arg(skip)]
    pub attempt: Option<i64>,
    /// How many lines, at most 1,000; those that scrolled away come before the screen.
    #[arg(skip)]
    pub lines: Option<u32>,
}

/// What a terminal shows.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The run.
    pub run: RunId,
    /// Whether its agent runs in a terminal, or did.
    pub interactive: bool,
    /// Whether it still does.
    pub live: bool,
    /// From top to bottom.
    pub lines: Vec<String>,
}

verb!("run.screen", Request => Answer, Reads, People);
