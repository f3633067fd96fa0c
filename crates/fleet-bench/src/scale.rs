//! Costs that must stay flat: ready, list, claim and the list of runs with a thousand tasks and with a million.

use std::time::Instant;

use fleet_core::id::{IdMaker, ProjectId};
use fleet_core::run::{Ending, RunMove};
use fleet_store::ops::{self, RunFilter, StatusFilter, TaskFilter};
use fleet_store::{Store, StoreUrl};
use fleet_testkit::postgres;

use crate::report::{Goal, ReportRow};
use crate::timing::median;
use crate::{BenchSetting, seed};

const FEW: usize = 1_000;
const ROUNDS: usize = 200;

pub(crate) fn sqlite(setting: &BenchSetting) -> Vec<ReportRow> {
    let dir = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let open = |count: usize| {
        let path = dir.path().join(format!("{count}.db"));
        let url = StoreUrl::Sqlite(path.clone());
        // Closed meanwhile: the journal can only be changed by whoever is alone.
        let (store, project) = runtime.block_on(seed::with_project(&url, "/bench/.git"));
        drop(store);
        seed::fill_sqlite(&path, project, count);
        seed::add_runs_sqlite(&path, project, count);
        runtime.block_on(seed::with_project(&url, "/bench/.git"))
    };
    let (few, many) = (open(FEW), open(setting.many));
    runtime.block_on(compare("SQLite", &few, &many))
}

pub(crate) fn postgres(setting: &BenchSetting) -> Vec<ReportRow> {
    let server = postgres::Server::start();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let databases = [server.database(), server.database()];
    runtime.block_on(async {
        let mut opened = Vec::new();
        for (database, count) in databases.iter().zip([FEW, setting.many]) {
            let url = StoreUrl::Postgres(database.url().to_owned());
            let (store, project) = seed::with_project(&url, "/bench/.git").await;
            seed::fill_postgres(database.url(), project, count).await;
            seed::add_runs_postgres(database.url(), project, count).await;
            opened.push((store, project));
        }
        compare("PostgreSQL", &opened[0], &opened[1]).await
    })
}

async fn compare(engine: &str, few: &(Store, ProjectId), many: &(Store, ProjectId)) -> Vec<ReportRow> {
    let mut times: [[Vec<f64>; 2]; 4] = Default::default();
    let mut ids = IdMaker::default();
    for _ in 0..ROUNDS {
        for (at, (store, project)) in [few, many].into_iter().enumerate() {
            times[0][at].push(ready(store, *project).await);
            times[1][at].push(list(store, *project).await);
            times[2][at].push(claim(store, &mut ids).await);
            times[3][at].push(runs(store, *project).await);
        }
    }
    let names = ["`ready`", "`list`", "`claim`", "list of runs"];
    names
        .into_iter()
        .zip(times)
        .map(|(name, [few, many])| {
            let what = format!("{name} at 1,000,000 tasks, {engine}");
            ReportRow::new(what, (median(many), "ms"), (median(few), "ms at 1,000"), Goal::AtMost(2.0))
        })
        .collect()
}

fn elapsed(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1_000.0
}

async fn ready(store: &Store, project: ProjectId) -> f64 {
    let filter = TaskFilter { project: Some(project), ..TaskFilter::default() };
    let begun = Instant::now();
    let page = store.call(ops::ListReady { filter, limit: 50, now: seed::NOW }).await.expect("a page");
    assert_eq!(page.tasks.len(), 50);
    elapsed(begun)
}

async fn list(store: &Store, project: ProjectId) -> f64 {
    let filter = TaskFilter { project: Some(project), ..TaskFilter::default() };
    let begun = Instant::now();
    let page = store
        .call(ops::ListTasks { statuses: StatusFilter::open(), filter, limit: 50, now: seed::NOW })
        .await;
    assert_eq!(page.expect("a page").tasks.len(), 50);
    elapsed(begun)
}

async fn runs(store: &Store, project: ProjectId) -> f64 {
    let filter = RunFilter { project: Some(project), newest_of_task: true, ..RunFilter::default() };
    let begun = Instant::now();
    let page = store.call(ops::ListRuns { filter, limit: 50 }).await.expect("a page");
    assert_eq!(page.len(), 50);
    elapsed(begun)
}

/// Claims a task, and gives it back outside the measured time.
async fn claim(store: &Store, ids: &mut IdMaker) -> f64 {
    let begun = Instant::now();
    let claim = seed::claim(vec![ids.next(seed::NOW, 7)]);
    let claimed = store.call(claim).await.expect("a claim").pop().expect("a task");
    let took = elapsed(begun);
    let (run, attempt, now) = (claimed.run.id, claimed.run.attempt, seed::NOW);
    store.call(ops::AdvanceRun { run, attempt, event: RunMove::Start, now }).await.expect("a start");
    let ending = Ending::Released("measured".to_owned());
    store
        .call(ops::EndRun {
            run,
            attempt,
            ending,
            result: None,
            after: ops::FailureSettings::default(),
            jitter: 0,
            now,
        })
        .await
        .expect("an end");
    took
}
