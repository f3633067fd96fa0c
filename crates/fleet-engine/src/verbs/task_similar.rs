//! Finds tasks that say nearly the same as another one, or as a text.

use std::cmp::Reverse;

use fleet_core::id::{IdPrefix, TaskId};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::similar::{Corpus, Text};
use fleet_core::task::Task;
use fleet_core::time::Millis;
use fleet_store::ops::{self, StatusFilter};
use serde::Serialize;

use super::texts::{self, Which};
use crate::Engine;
use crate::keeper::blocking;
use crate::views::TaskView;

/// What is compared, and with which tasks.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is compared.
    pub of: Of,
    /// Only tasks that are as alike as this, from 0 to 1; `None` is 0.4.
    pub threshold: Option<f64>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; `None` is 10.
    pub limit: Option<u32>,
}

/// What is compared.
#[derive(Debug, Clone)]
pub enum Of {
    /// A task, by its id or the beginning of it.
    Task(String),
    /// A text, of which the first line stands for the title.
    Text(String),
}

/// So much of an id is no word any more.
const SHORTEST_ID: usize = 5;

impl Of {
    /// What somebody means who writes one or the other: a single word that could be an id is one.
    pub fn guess(typed: String) -> Self {
        let could_be = IdPrefix::<TaskId>::parse(&typed).is_ok();
        let is_id = could_be && typed.len() >= SHORTEST_ID && typed.contains(|c: char| c.is_ascii_digit());
        if is_id { Self::Task(typed) } else { Self::Text(typed) }
    }
}

/// A task that says nearly the same.
#[derive(Debug, Clone, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The most alike first. Tasks that are over are among them.
    pub similar: Vec<Similar>,
    /// How many tasks were looked at.
    pub looked_at: usize,
    /// Whether there are older ones that were not.
    pub more: bool,
}

/// From here on two tasks are about the same things.
pub const ALIKE: f64 = 0.4;
/// As many as a person compares.
const SHOWN: u32 = 10;

/// Looks for them.
pub async fn run(engine: &Engine, request: &Request) -> Outcome<Response> {
    let threshold = texts::threshold(request.threshold, ALIKE)?;
    let (itself, text) = match &request.of {
        Of::Task(typed) => {
            let id = engine.task_id(typed).await?;
            let task = engine.call(ops::GetTask { id }).await?.task;
            (Some(id), texts::text(&task))
        }
        Of::Text(text) => (None, Text::typed(text)),
    };
    if text.is_empty() {
        return Err(Problem::new(Code::InvalidValue, "text: it has no word to compare")
            .hint("write what the task is about"));
    }
    let which =
        Which { statuses: StatusFilter::all().0, all_projects: request.all_projects, ..Which::default() };
    let found = texts::read(engine, &which).await?;
    let (looked_at, more) = (found.tasks.len(), found.more);
    let limit = request.limit.unwrap_or(SHOWN) as usize;
    let look = Look { text, itself, threshold, limit, now: engine.now() };
    // Thousands of texts may be long: a server has others to answer meanwhile.
    let similar = blocking(move || look.among(&found.tasks)).await?;
    Ok(Response { similar, looked_at, more })
}

/// What is looked for.
struct Look {
    text: Text,
    /// The task that the text is of.
    itself: Option<TaskId>,
    threshold: f64,
    limit: usize,
    now: Millis,
}

impl Look {
    fn among(&self, tasks: &[Task]) -> Vec<Similar> {
        let others: Vec<Text> = tasks.iter().map(texts::text).collect();
        let corpus = Corpus::new(&others);
        let compared = tasks.iter().zip(&others).filter(|(task, _)| Some(task.id) != self.itself);
        let mut similar: Vec<Similar> = compared
            .map(|(task, other)| (task, corpus.compare(&self.text, other)))
            .filter(|(_, likeness)| likeness.score >= self.threshold)
            .map(|(task, likeness)| Similar {
                task: TaskView::new(task, self.now),
                score: likeness.score,
                shared_words: likeness.words,
                shared_paths: likeness.paths,
            })
            .collect();
        similar.sort_by(|a, b| b.score.total_cmp(&a.score).then(Reverse(a.task.id).cmp(&Reverse(b.task.id))));
        similar.truncate(self.limit);
        similar
    }
}
