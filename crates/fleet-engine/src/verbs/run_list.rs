//! Lists runs: the agents at work, with what they use of this machine, or all that ever ran.

use std::time::Duration;

use fleet_core::id::BatchId;
use fleet_core::problem::{Code, Outcome};
use fleet_core::run::Run;
use fleet_store::ops::{self, RunFilter};
use serde::Serialize;

use crate::home::Home;
use crate::keeper::blocking;
use crate::load::Sampler;
use crate::views::ListedRunView;
use crate::{Engine, problems};

/// Which runs.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Those that ended, too.
    pub all: bool,
    /// Of every project instead of the directory's.
    pub all_projects: bool,
    /// Only those of this batch, of whatever project.
    pub batch: Option<String>,
    /// So many at most; `None` is all that live, or what is configured for lists.
    pub limit: Option<u32>,
}

/// Some runs, newest first.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The runs.
    pub runs: Vec<ListedRunView>,
    /// Whether there are more than were asked for.
    pub more: bool,
    /// How many are at work in projects that were not asked about.
    pub elsewhere: usize,
}

/// More agents than any fleet has at work.
const MOST_LIVE: u32 = 10_000;
/// Processor and memory change without an event.
const LOOK: Duration = Duration::from_secs(2);
/// Fifty agents change the store all the time; nobody reads faster than this.
const PAUSE: Duration = Duration::from_millis(250);

/// Lists once.
pub async fn run(engine: &Engine, request: &Request) -> Outcome<Response> {
    look(engine, request, &mut Sampler::default()).await
}

/// Lists again and again.
pub struct Watching<'e> {
    engine: &'e Engine,
    request: Request,
    sampler: Sampler,
    watch: Option<fleet_store::Watch>,
}

impl<'e> Watching<'e> {
    /// Begins to watch.
    pub fn new(engine: &'e Engine, request: Request) -> Self {
        Self { engine, request, sampler: Sampler::default(), watch: None }
    }

    /// The first time at once, then after every change and every two seconds.
    pub async fn next(&mut self) -> Outcome<Response> {
        if let Some(watch) = &self.watch {
            tokio::time::sleep(PAUSE).await;
            watch.changed(LOOK).await;
        } else {
            let store = self.engine.store().await?;
            self.watch = Some(store.watch().await.map_err(problems::store)?);
        }
        look(self.engine, &self.request, &mut self.sampler).await
    }
}

async fn look(engine: &Engine, request: &Request, sampler: &mut Sampler) -> Outcome<Response> {
    let nothing = Response { runs: Vec::new(), more: false, elsewhere: 0 };
    let limit = match (request.limit, request.all) {
        (Some(limit), _) => limit,
        (None, true) => engine.config()?.list_limit(),
        (None, false) => MOST_LIVE,
    };
    let Some(filter) = filter(engine, request).await? else {
        return Ok(Response { elsewhere: live_anywhere(engine).await?, ..nothing });
    };
    let is_narrowed = filter.project.is_some();
    let mut listed = engine.call(ops::ListRuns { filter, limit: i64::from(limit) + 1 }).await?;
    let more = listed.len() > limit as usize;
    listed.truncate(limit as usize);
    let elsewhere = if listed.is_empty() && is_narrowed { live_anywhere(engine).await? } else { 0 };
    if listed.is_empty() {
        return Ok(Response { elsewhere, ..nothing });
    }
    let here = super::elsewhere::Here::of(engine)?;
    let runs: Vec<Run> = listed.iter().map(|listed| listed.run.clone()).collect();
    let (home, mut looking) = (Home::new(engine.home()), std::mem::take(sampler));
    let (loads, looked) = blocking(move || (looking.look(&home, &runs), looking)).await?;
    *sampler = looked;
    let view = |listed: &ops::ListedRun| {
        let place = here.place_of(&listed.run);
        ListedRunView::new(listed, place, loads.get(&listed.run.id).copied())
    };
    Ok(Response { runs: listed.iter().map(view).collect(), more, elsewhere })
}

/// `None` when the project has never had a task.
async fn filter(engine: &Engine, request: &Request) -> Outcome<Option<RunFilter>> {
    let batch = request.batch.as_deref().map(str::parse::<BatchId>).transpose().map_err(problems::id)?;
    let filter = RunFilter { live_only: !request.all, batch, ..Default::default() };
    if request.all_projects || batch.is_some() {
        return Ok(Some(filter));
    }
    let project = engine.known_project().await.map_err(|problem| match problem.code {
        Code::NotARepository => problem.hint("`fleet list -A` shows the runs of every repository"),
        _ => problem,
    })?;
    Ok(project.map(|project| RunFilter { project: Some(project.id), ..filter }))
}

/// Somebody who finds nothing may be in the wrong place.
async fn live_anywhere(engine: &Engine) -> Outcome<usize> {
    let filter = RunFilter { live_only: true, ..Default::default() };
    Ok(engine.call(ops::ListRuns { filter, limit: MOST_LIVE.into() }).await?.len())
}
