//! Events: what happened, and what happens.

use std::time::Duration;

use fleet_core::event::Event;
use fleet_core::problem::Outcome;
use fleet_store::{Watch, ops};

use crate::Engine;
use crate::problems;

/// Which events.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// Those after this number; `None` is the newest ones.
    pub since: Option<i64>,
    /// Only those of the directory's project.
    pub only_project: bool,
    /// So many at most.
    pub limit: u32,
}

/// Reads events that are there.
pub async fn run(engine: &Engine, request: Request) -> Outcome<Vec<Event>> {
    let project = project(engine, request).await?;
    if request.only_project && project.is_none() {
        return Ok(Vec::new());
    }
    let limit = request.limit.into();
    match request.since {
        Some(since) => engine.call(ops::Tail { since, project, limit }).await,
        None => engine.call(ops::Newest { project, limit }).await,
    }
}

async fn project(engine: &Engine, request: Request) -> Outcome<Option<fleet_core::id::ProjectId>> {
    if !request.only_project {
        return Ok(None);
    }
    Ok(engine.known_project().await?.map(|project| project.id))
}

/// Events as they come. Nothing is skipped: each batch begins where the last one ended.
pub struct Follow<'a> {
    engine: &'a Engine,
    watch: Watch,
    request: Request,
    since: i64,
}

/// Events are read so many at a time.
const BATCH: i64 = 500;
/// A lost wake-up is covered by looking at least this often.
const LOOK: Duration = Duration::from_secs(1);

impl<'a> Follow<'a> {
    /// Begins after the newest event of `seen`, which [`run`] gave for this request.
    pub async fn start(engine: &'a Engine, request: Request, seen: &[Event]) -> Outcome<Self> {
        let watch = engine.store().await?.watch().await.map_err(problems::store)?;
        let since = match (seen.last(), request.since) {
            (Some(last), _) => last.seq,
            (None, Some(since)) => since,
            // There was nothing, so everything is new: also what happened since that look.
            (None, None) if request.limit > 0 => 0,
            (None, None) => engine
                .call(ops::Newest { project: None, limit: 1 })
                .await?
                .last()
                .map_or(0, |event| event.seq),
        };
        Ok(Self { engine, watch, request, since })
    }

    /// Waits for events; never empty.
    pub async fn next(&mut self) -> Outcome<Vec<Event>> {
        loop {
            let events = self.look().await?;
            if !events.is_empty() {
                return Ok(events);
            }
            self.watch.changed(LOOK).await;
        }
    }

    /// What is new, at most a batch of it. What does not concern the project is looked at once, too.
    async fn look(&mut self) -> Outcome<Vec<Event>> {
        let project = project(self.engine, self.request).await?;
        if self.request.only_project && project.is_none() {
            return Ok(Vec::new());
        }
        let tail = ops::Tail { since: self.since, project, limit: BATCH };
        let (newest, events) = self.engine.call(ops::Both(ops::NewestSeq, tail)).await?;
        let is_all = events.len() < usize::try_from(BATCH).unwrap_or(usize::MAX);
        let last = events.last().map_or(self.since, |event| event.seq);
        self.since = if is_all { newest.max(last) } else { last };
        Ok(events)
    }
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;
    use crate::Start;
    use crate::environment::Environment;

    /// The first project comes between the look and the following: it must not be lost.
    #[test]
    fn what_happens_between_the_look_and_the_following_is_shown() {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        let environment = Environment::from_pairs([("FLEET_HOME", home.path())]);
        let start = Start { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() };
        let engine = Engine::new(start).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let request = Request { since: None, only_project: false, limit: 50 };
            let seen = run(&engine, request).await.unwrap();
            assert!(seen.is_empty());
            engine.project().await.unwrap();
            let mut follow = Follow::start(&engine, request, &seen).await.unwrap();
            assert_eq!(follow.next().await.unwrap()[0].seq, 1);
        });
    }

    /// Another project is busy: what it does is not read again with every look.
    #[test]
    fn what_concerns_others_is_looked_at_once() {
        let (repo, other, home) = (Repo::init(), Repo::init(), tempfile::tempdir().unwrap());
        let environment = Environment::from_pairs([("FLEET_HOME", home.path())]);
        let start = Start { environment, directory: Some(repo.path().to_owned()), flags: Vec::new() };
        let engine = Engine::new(start).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            engine.project().await.unwrap();
            let request = Request { since: Some(0), only_project: true, limit: 50 };
            let mut follow = Follow::start(&engine, request, &[]).await.unwrap();
            assert_eq!(follow.look().await.unwrap().len(), 1);
            engine.at(other.path().to_owned()).unwrap().project().await.unwrap();
            assert!(follow.look().await.unwrap().is_empty());
            assert_eq!(follow.since, 2);
        });
    }
}
