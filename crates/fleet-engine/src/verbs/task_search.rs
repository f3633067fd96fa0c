//! Searches the queue: the tasks that have what was asked for, the best first.

use std::cmp::Reverse;

use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::similar::{Corpus, Text};
use fleet_core::task::Task;
use fleet_core::time::Millis;
use fleet_store::ops::StatusFilter;
use serde::Serialize;

use super::task_list;
use super::texts::{self, Which};
use crate::Engine;
use crate::keeper::blocking;
use crate::views::TaskView;

/// What is searched for, and where.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Words, beginnings of words, or paths; empty is everything, in the order of service.
    pub query: String,
    /// States or derived statuses; empty is everything that is not over.
    pub statuses: Vec<String>,
    /// Only tasks with all of these.
    pub labels: Vec<String>,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// So many at most; `None` is what is configured for lists.
    pub limit: Option<u32>,
    /// Go on where an earlier answer ended: its `next_cursor`.
    pub cursor: Option<String>,
}

/// A task that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// The task.
    #[serde(flatten)]
    pub task: TaskView,
    /// From 0 to 1: how much of what was searched for it has, and at how good a place; null if nothing was.
    pub score: Option<f64>,
    /// The words and paths that were found.
    pub matched: Vec<String>,
}

/// The tasks that were found.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The best first, then as they are served.
    pub tasks: Vec<Hit>,
    /// For the next part of the answer; null at its end.
    pub next_cursor: Option<String>,
    /// How many tasks were looked at.
    pub looked_at: usize,
    /// Whether there are older ones that were not.
    pub more: bool,
}

/// Where a task stands in the answer: by score in thousandths, then in the order of service.
type Place = (Reverse<u64>, Reverse<i64>, TaskId);

/// Searches.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Response> {
    let statuses = match request.statuses.as_slice() {
        [] => StatusFilter::open().0,
        named => named.iter().map(|text| task_list::status(text)).collect::<Outcome<_>>()?,
    };
    let after = request.cursor.as_deref().map(cursor).transpose()?;
    let limit = request.limit.map_or(engine.config()?.list_limit(), |limit| limit) as usize;
    let which = Which { statuses, labels: request.labels, all_projects: request.all_projects };
    let found = texts::read(engine, &which).await?;
    let (looked_at, more, now) = (found.tasks.len(), found.more, engine.now());
    // Thousands of texts may be long: a server has others to answer meanwhile.
    let mut hits = blocking(move || hits(&request.query, &found.tasks, now)).await?;
    hits.sort_by_key(|(place, _)| *place);
    hits.retain(|(place, _)| after.is_none_or(|after| *place > after));
    let has_more = hits.len() > limit;
    hits.truncate(limit);
    let next_cursor = hits.last().filter(|_| has_more).map(|(place, _)| written(*place));
    let tasks = hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(Response { tasks, next_cursor, looked_at, more })
}

fn hits(query: &str, tasks: &[Task], now: Millis) -> Vec<(Place, Hit)> {
    if query.trim().is_empty() {
        return tasks.iter().map(|task| (place(task, 0.0), hit(task, None, now))).collect();
    }
    let query = Text::typed(query);
    let texts: Vec<Text> = tasks.iter().map(texts::text).collect();
    let corpus = Corpus::new(&texts);
    let scored = tasks.iter().zip(&texts).map(|(task, text)| (task, corpus.relevance(&query, text)));
    scored
        .filter(|(_, likeness)| likeness.score > 0.0)
        .map(|(task, likeness)| {
            let matched = [likeness.words, likeness.paths].concat();
            let hit = Hit { matched, ..hit(task, Some(likeness.score), now) };
            (place(task, likeness.score), hit)
        })
        .collect()
}

fn hit(task: &Task, score: Option<f64>, now: Millis) -> Hit {
    Hit { task: TaskView::new(task, now), score, matched: Vec::new() }
}

fn place(task: &Task, score: f64) -> Place {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a score is between 0 and 1")]
    let thousandths = (score * 1_000.0).round() as u64;
    (Reverse(thousandths), Reverse(task.spec.priority.get()), task.id)
}

fn written((score, priority, id): Place) -> String {
    format!("{}.{}.{id}", score.0, priority.0)
}

fn cursor(text: &str) -> Outcome<Place> {
    let mut parts = text.splitn(3, '.');
    let mut place = || -> Option<Place> {
        let (score, priority) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((Reverse(score), Reverse(priority), parts.next()?.parse().ok()?))
    };
    place().ok_or_else(|| {
        Problem::new(Code::InvalidValue, format!("cursor: {text:?} is not one"))
            .hint("give `next_cursor` of an earlier answer as it is")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_anything_else_refused() {
        let id = fleet_core::id::IdMaker::default().next(Millis(1_800_000_000_000), 5);
        let place = (Reverse(731), Reverse(3), id);
        assert_eq!(cursor(&written(place)).unwrap(), place);
        for wrong in ["", "1", "1.2", "1.2.x", "a.b.c", &format!("1.{id}")] {
            assert!(cursor(wrong).is_err(), "{wrong}");
        }
    }
}
