use std::cmp::Reverse;

use fleet_api::verbs::task_search::{Answer, Hit, Request};
use fleet_api::views::TaskView;
use fleet_core::similar::{Corpus, Text};
use fleet_core::task::Task;
use fleet_store::ops::StatusFilter;

use super::prelude::*;
use super::texts::{self, TextFilter};
use super::{lineage, task_list};

/// The rank of a task in the answer: by score in thousandths, then in queue order.
type Rank = (Reverse<u64>, Reverse<i64>, TaskId);

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    lineage::check_all_projects(engine, request.all_projects)?;
    let statuses = match request.statuses.as_slice() {
        [] => StatusFilter::open().0,
        named => named.iter().map(|text| task_list::status(text)).collect::<Outcome<_>>()?,
    };
    let after = request.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = request.limit.map_or(engine.config()?.tasks().list_limit, |limit| limit) as usize;
    let which = TextFilter { statuses, labels: request.labels, all_projects: request.all_projects };
    let found = texts::read(engine, &which).await?;
    let (looked_at, more, now) = (found.tasks.len(), found.more, engine.now());
    // Thousands of long texts take time, in which a server must answer other callers.
    let mut hits = blocking(move || hits(&request.query, &found.tasks, now)).await?;
    hits.sort_by_key(|(place, _)| *place);
    hits.retain(|(place, _)| after.is_none_or(|after| *place > after));
    let has_more = hits.len() > limit;
    hits.truncate(limit);
    let next_cursor = hits.last().filter(|_| has_more).map(|(place, _)| to_cursor(*place));
    let tasks = hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(Answer { tasks, next_cursor, looked_at, more })
}

fn hits(query: &str, tasks: &[Task], now: Millis) -> Vec<(Rank, Hit)> {
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

fn place(task: &Task, score: f64) -> Rank {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a score is between 0 and 1")]
    let thousandths = (score * 1_000.0).round() as u64;
    (Reverse(thousandths), Reverse(task.spec.priority.get()), task.id)
}

fn to_cursor((score, priority, id): Rank) -> String {
    format!("{}.{}.{id}", score.0, priority.0)
}

fn parse_cursor(text: &str) -> Outcome<Rank> {
    let mut parts = text.splitn(3, '.');
    let mut place = || -> Option<Rank> {
        let (score, priority) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((Reverse(score), Reverse(priority), parts.next()?.parse().ok()?))
    };
    place().ok_or_else(|| {
        Problem::field("cursor", format!("{text:?} is not one"))
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
        assert_eq!(parse_cursor(&to_cursor(place)).unwrap(), place);
        for wrong in ["", "1", "1.2", "1.2.x", "a.b.c", &format!("1.{id}")] {
            assert!(parse_cursor(wrong).is_err(), "{wrong}");
        }
    }
}
