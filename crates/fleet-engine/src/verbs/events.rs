use fleet_api::verbs::events::{Answer, Request};
use fleet_api::views::EventView;
use fleet_core::event::Event;

use super::prelude::*;
use crate::waiting::Waiting;

/// The default size of a page.
const DEFAULT_LIMIT: u32 = 500;

/// Reads a page, and waits until there is one. Nothing is skipped: each page begins where the last one ended.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut waiting = Waiting::start(engine, request.wait_seconds).await?;
    let limit = request.limit.unwrap_or(DEFAULT_LIMIT).into();
    let mut after = request.after;
    loop {
        let (events, next) = look(engine, request.only_project, after, limit).await?;
        if !events.is_empty() || !waiting.goes_on().await {
            return Ok(Answer { events: events.iter().map(EventView::from).collect(), next });
        }
        after = Some(next);
    }
}

/// The events of a page, and where the next one begins. What does not concern the project is looked at once, too.
async fn look(
    engine: &Engine,
    only_project: bool,
    after: Option<i64>,
    limit: i64,
) -> Outcome<(Vec<Event>, i64)> {
    let project = if only_project { engine.known_project().await?.map(|project| project.id) } else { None };
    if only_project && project.is_none() {
        let newest = engine.call(ops::NewestSeq).await?;
        return Ok((Vec::new(), after.unwrap_or(newest)));
    }
    let Some(since) = after else {
        let newest = ops::NewestEvents { project, limit };
        let (newest, events) = engine.call(ops::Both(ops::NewestSeq, newest)).await?;
        let last = events.last().map_or(newest, |event| event.seq.max(newest));
        return Ok((events, last));
    };
    let tail = ops::EventsAfter { since, project, limit };
    let (newest, events) = engine.call(ops::Both(ops::NewestSeq, tail)).await?;
    let is_all = i64::try_from(events.len()).is_ok_and(|found| found < limit);
    let last = events.last().map_or(since, |event| event.seq);
    Ok((events, if is_all { newest.max(last) } else { last }))
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::scratch::ScratchEngine;

    /// The first project comes between two pages: it must not be lost.
    #[test]
    fn what_happens_between_two_pages_is_shown() {
        ScratchEngine::run(async |engine| {
            let seen = run(engine, Request { limit: Some(50), ..Request::default() }).await.unwrap();
            assert!(seen.events.is_empty());
            engine.project().await.unwrap();
            let more = Request { after: Some(seen.next), wait_seconds: Some(60), ..Request::default() };
            assert_eq!(run(engine, more).await.unwrap().events[0].seq, Some(1));
        });
    }

    /// Another project is busy: what it does is not read again with every page.
    #[test]
    fn what_concerns_others_is_looked_at_once() {
        let other = Repo::init();
        ScratchEngine::run(async |engine| {
            engine.project().await.unwrap();
            let mut request = Request { after: Some(0), only_project: true, ..Request::default() };
            let seen = run(engine, request.clone()).await.unwrap();
            assert_eq!(seen.events.len(), 1);
            engine.at(other.path().to_owned()).unwrap().project().await.unwrap();
            request.after = Some(seen.next);
            let seen = run(engine, request).await.unwrap();
            assert!(seen.events.is_empty());
            assert_eq!(seen.next, 2);
        });
    }

    /// Whoever waits is woken by what others do meanwhile.
    #[test]
    fn a_wait_ends_when_something_happens() {
        ScratchEngine::run(async |engine| {
            let request = Request { after: Some(0), wait_seconds: Some(60), ..Request::default() };
            let (seen, ()) = tokio::join!(run(engine, request), async {
                tokio::task::yield_now().await;
                engine.project().await.unwrap();
            });
            assert_eq!(seen.unwrap().events.len(), 1);
        });
    }
}
