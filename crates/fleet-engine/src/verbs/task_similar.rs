use std::cmp::Reverse;

use fleet_api::verbs::task_similar::{Answer, Request, Similar, SimilarTo};
use fleet_core::similar::{Corpus, Text};
use fleet_core::task::Task;
use fleet_store::ops::StatusFilter;

use super::lineage;
use super::prelude::*;
use super::texts::{self, TextFilter};
use fleet_api::views::TaskView;

/// From here on two tasks are about the same things.
const SIMILAR_AT: f64 = 0.4;
/// As many as a person compares.
const SHOWN: u32 = 10;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    lineage::check_all_projects(engine, request.all_projects)?;
    let threshold = texts::threshold(request.threshold, SIMILAR_AT)?;
    let (itself, text) = match &request.of {
        SimilarTo::Task(typed) => {
            let id = engine.task_id(typed).await?;
            let task = engine.call(ops::GetTask { id }).await?.task;
            (Some(id), texts::text(&task))
        }
        SimilarTo::Text(text) => (None, Text::typed(text)),
    };
    if text.is_empty() {
        return Err(Problem::field("text", "it has no word to compare").hint("write what the task is about"));
    }
    let which = TextFilter {
        statuses: StatusFilter::all().0,
        all_projects: request.all_projects,
        ..TextFilter::default()
    };
    let found = texts::read(engine, &which).await?;
    let (looked_at, more) = (found.tasks.len(), found.more);
    let limit = request.limit.unwrap_or(SHOWN) as usize;
    let comparison = SimilarQuery { text, itself, threshold, limit, now: engine.now() };
    // Thousands of texts may be long: a server has others to answer meanwhile.
    let similar = blocking(move || comparison.among(&found.tasks)).await?;
    Ok(Answer { similar, looked_at, more })
}

struct SimilarQuery {
    text: Text,
    /// The task that the text is of.
    itself: Option<TaskId>,
    threshold: f64,
    limit: usize,
    now: Millis,
}

impl SimilarQuery {
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
