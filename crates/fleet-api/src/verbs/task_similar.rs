use fleet_core::id::{IdPrefix, TaskId};

use crate::prelude::*;
use crate::views::TaskView;

/// Finds near-duplicates of a task or a text.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Minimum score, from 0 to 1 [default: 0.4]
    #[arg(short, long, value_name = "SCORE")]
    #[serde(default, serialize_with = "crate::score::finite")]
    pub threshold: Option<f64>,
    /// The tasks of every repository
    #[arg(short = 'A', long)]
    #[serde(default)]
    pub all_projects: bool,
    /// Show at most N [default: 10]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub limit: Option<u32>,
    /// What is compared.
    #[arg(skip = SimilarTo::Text(String::new()))]
    pub of: SimilarTo,
}

/// What is compared.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimilarTo {
    /// A task, by its id or the beginning of it.
    Task(String),
    /// A text whose first line is the title.
    Text(String),
}

/// A text of this many characters of an id is not a word.
const SHORTEST_ID: usize = 5;

impl SimilarTo {
    /// Tells an id from a text: a single word that could be an id is one.
    pub fn guess(typed: String) -> Self {
        let could_be = IdPrefix::<TaskId>::parse(&typed).is_ok();
        let is_id = could_be && typed.len() >= SHORTEST_ID && typed.contains(|c: char| c.is_ascii_digit());
        if is_id { Self::Task(typed) } else { Self::Text(typed) }
    }

    fn subjects(&mut self) -> Vec<Subject<'_>> {
        match self {
            Self::Task(typed) => vec![Subject::Task(typed)],
            Self::Text(_) => Vec::new(),
        }
    }
}

/// A near-duplicate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Similar {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// From 0 to 1: how alike they are.
    pub score: f64,
    /// Words of both, those that say most first.
    pub shared_words: Vec<String>,
    /// Paths of both.
    pub shared_paths: Vec<String>,
}

/// The tasks that were found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The closest first, finished tasks included.
    pub similar: Vec<Similar>,
    /// How many tasks were looked at.
    pub looked_at: usize,
    /// Whether there are older ones that were not.
    pub more: bool,
}

verb!("task.similar", Request => Answer, Reads, Project, |request| request.of.subjects());
