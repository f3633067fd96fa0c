//! Claims per second with eight claimers, against a bare loop of `UPDATE … RETURNING` on the same engine.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use fleet_core::id::IdMaker;
use fleet_store::{Store, StoreUrl};
use fleet_testkit::postgres;

use crate::report::{Goal, ReportRow};
use crate::timing::median;
use crate::{BenchSetting, seed};

const CLAIMERS: usize = 8;
/// Claims that one measurement makes: a second or so.
const CLAIMS: usize = 6_000;
const ROUNDS: usize = 5;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

pub(crate) fn sqlite(_: &BenchSetting) -> Vec<ReportRow> {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = dir.path().join(format!("{round}.db"));
        let runtime = runtime();
        let url = StoreUrl::Sqlite(path.clone());
        let (store, project) = runtime.block_on(seed::with_project(&url, "/bench/.git"));
        drop(store);
        seed::fill_sqlite(&path, project, CLAIMS * 4);
        let (store, _) = runtime.block_on(seed::with_project(&url, "/bench/.git"));
        ours.push(runtime.block_on(claims_per_second(&store)));
        bare.push(bare_sqlite(&dir.path().join(format!("{round}-bare.db"))));
    }
    vec![row("SQLite", median(ours), (median(bare), "claims/s, bare loop, one thread"))]
}

pub(crate) fn postgres(_: &BenchSetting) -> Vec<ReportRow> {
    let server = postgres::Server::start();
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let database = server.database();
        let runtime = runtime();
        let url = StoreUrl::Postgres(database.url().to_owned());
        ours.push(runtime.block_on(async {
            let (store, project) = seed::with_project(&url, "/bench/.git").await;
            seed::fill_postgres(database.url(), project, CLAIMS * 4).await;
            claims_per_second(&store).await
        }));
        bare.push(runtime.block_on(bare_postgres(database.url())));
    }
    vec![row("PostgreSQL", median(ours), (median(bare), "claims/s, bare loop, eight connections"))]
}

fn row(engine: &str, ours: f64, bare: (f64, &str)) -> ReportRow {
    ReportRow::new(format!("claims, 8 claimers, {engine}"), (ours, "claims/s"), bare, Goal::AtLeast(0.6))
}

async fn claims_per_second(store: &Store) -> f64 {
    static PROCESS: AtomicUsize = AtomicUsize::new(0);
    let begun = Instant::now();
    let claimers: Vec<_> = (0..CLAIMERS)
        .map(|_| {
            let store = store.clone();
            let seed = PROCESS.fetch_add(1, Ordering::Relaxed) as u64;
            tokio::spawn(async move {
                let mut ids = IdMaker::default();
                for n in 0..CLAIMS / CLAIMERS {
                    // Claimers draw from ranges of their own, as processes with real randomness do.
                    let run = ids.next(seed::NOW, seed << 16 | n as u64);
                    let claim = seed::claim(vec![run]);
                    assert_eq!(store.call(claim).await.expect("a claim").len(), 1);
                }
            })
        })
        .collect();
    for claimer in claimers {
        claimer.await.expect("a claimer");
    }
    CLAIMS as f64 / begun.elapsed().as_secs_f64()
}

const TABLE: &str =
    "CREATE TABLE bare (id BIGINT PRIMARY KEY, state TEXT NOT NULL, priority BIGINT NOT NULL, title TEXT);
     CREATE INDEX bare_ready ON bare (priority DESC, id) WHERE state = 'queued';";

fn bare_sqlite(path: &Path) -> f64 {
    let connection = rusqlite::Connection::open(path).expect("a database");
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;").expect("settings");
    connection.execute_batch(TABLE).expect("a table");
    connection.execute_batch("BEGIN").expect("a transaction");
    for n in 0..CLAIMS * 2 {
        let values = rusqlite::params![n as i64, (n % 5) as i64, "Task with a title of usual length"];
        connection.execute("INSERT INTO bare VALUES (?1, 'queued', ?2, ?3)", values).expect("a row");
    }
    connection.execute_batch("COMMIT").expect("a commit");
    let mut claim = connection
        .prepare(
            "UPDATE bare SET state = 'running' WHERE id = (SELECT id FROM bare WHERE state = 'queued' \
             ORDER BY priority DESC, id LIMIT 1) RETURNING id",
        )
        .expect("a statement");
    let begun = Instant::now();
    for _ in 0..CLAIMS {
        let ids: Vec<i64> =
            claim.query_map([], |row| row.get(0)).expect("an answer").map(Result::unwrap).collect();
        assert_eq!(ids.len(), 1);
    }
    CLAIMS as f64 / begun.elapsed().as_secs_f64()
}

async fn bare_postgres(url: &str) -> f64 {
    let connect = || async {
        let (client, connection) =
            tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
        tokio::spawn(connection);
        client
    };
    let setup = connect().await;
    setup.batch_execute(TABLE).await.expect("a table");
    let fill = format!(
        "INSERT INTO bare SELECT n, 'queued', n % 5, 'Task with a title' FROM generate_series(1, {}) n",
        CLAIMS * 2
    );
    setup.batch_execute(&fill).await.expect("rows");
    setup.batch_execute("VACUUM ANALYZE bare").await.expect("statistics");
    let mut clients = Vec::new();
    for _ in 0..CLAIMERS {
        let client = connect().await;
        let statement = client
            .prepare(
                "UPDATE bare SET state = 'running' WHERE id = (SELECT id FROM bare WHERE state = 'queued' \
                 ORDER BY priority DESC, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
            )
            .await
            .expect("a statement");
        clients.push((client, statement));
    }
    let begun = Instant::now();
    let claimers: Vec<_> = clients
        .into_iter()
        .map(|(client, statement)| {
            tokio::spawn(async move {
                for _ in 0..CLAIMS / CLAIMERS {
                    assert_eq!(client.query(&statement, &[]).await.expect("an answer").len(), 1);
                }
            })
        })
        .collect();
    for claimer in claimers {
        claimer.await.expect("a claimer");
    }
    CLAIMS as f64 / begun.elapsed().as_secs_f64()
}
