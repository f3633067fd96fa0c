//! Events of runs per second, from eight keepers in batches of the usual size, against a fixed bound.

use std::time::Instant;

use fleet_core::event::{AgentEvent, Fact};
use fleet_core::id::IdMaker;
use fleet_core::run::Run;
use fleet_store::{Store, StoreUrl, ops};
use fleet_testkit::postgres;

use crate::report::{Goal, ReportRow};
use crate::timing::median;
use crate::{BenchSetting, seed};

const KEEPERS: usize = 8;
/// What an agent that talks a lot says between two looks at its output.
const BATCH: usize = 200;
const BATCHES: i64 = 25;
const ROUNDS: usize = 5;
/// Eight agents that print as fast as they can stay below this.
const WANTED: f64 = 20_000.0;

pub(crate) fn sqlite(_: &BenchSetting) -> Vec<ReportRow> {
    let dir = tempfile::tempdir().expect("a folder");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let rates = (0..ROUNDS).map(|round| {
        let path = dir.path().join(format!("{round}.db"));
        let url = StoreUrl::Sqlite(path.clone());
        let (store, project) = runtime.block_on(seed::with_project(&url, "/bench/.git"));
        drop(store);
        seed::fill_sqlite(&path, project, KEEPERS * 10);
        runtime.block_on(async {
            let (store, _) = seed::with_project(&url, "/bench/.git").await;
            events_per_second(&store).await
        })
    });
    vec![row("SQLite", rates.collect())]
}

pub(crate) fn postgres(_: &BenchSetting) -> Vec<ReportRow> {
    let server = postgres::Server::start();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let rates = (0..ROUNDS).map(|_| {
        let database = server.database();
        let url = StoreUrl::Postgres(database.url().to_owned());
        runtime.block_on(async {
            let (store, project) = seed::with_project(&url, "/bench/.git").await;
            seed::fill_postgres(database.url(), project, KEEPERS * 10).await;
            events_per_second(&store).await
        })
    });
    vec![row("PostgreSQL", rates.collect())]
}

fn row(engine: &str, rates: Vec<f64>) -> ReportRow {
    let what = format!("events of 8 runs in batches of {BATCH}, {engine}");
    ReportRow::new(what, (median(rates), "events/s"), (WANTED, "events/s (fixed bound)"), Goal::AtLeast(1.0))
}

async fn events_per_second(store: &Store) -> f64 {
    let mut ids = IdMaker::default();
    let claim = seed::claim((0..KEEPERS).map(|_| ids.next(seed::NOW, 7)).collect());
    let claimed = store.call(claim).await.expect("a claim");
    assert_eq!(claimed.len(), KEEPERS);
    let begun = Instant::now();
    let keepers: Vec<_> = claimed
        .into_iter()
        .map(|claimed| {
            let store = store.clone();
            tokio::spawn(async move {
                for batch in 0..BATCHES {
                    assert!(store.call(append(&claimed.run, batch)).await.expect("an answer"));
                }
            })
        })
        .collect();
    for keeper in keepers {
        keeper.await.expect("a keeper");
    }
    let events = KEEPERS as f64 * BATCHES as f64 * BATCH as f64;
    events / begun.elapsed().as_secs_f64()
}

fn append(run: &Run, batch: i64) -> ops::AppendRunEvents {
    let fact = |n| {
        Fact::Agent(AgentEvent::Text {
            text: format!("Line {n}: something that an agent says while it works."),
        })
    };
    ops::AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from: batch,
        to: batch + 1,
        batch: batch + 1,
        facts: (0..BATCH).map(|n| (seed::NOW, fact(n))).collect(),
        usage: None,
        activity: Some("Reading the sources".to_owned()),
        session: None,
        now: seed::NOW,
        meter: None,
    }
}
