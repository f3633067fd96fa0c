//! What only a driver can see: levels, limits, servers that fail over, freeze or never answer.

use std::time::Duration;

use async_trait::async_trait;
use fleet_core::id::IdMaker;
use fleet_core::project::RepositoryFacts;
use fleet_core::time::Millis;
use fleet_testkit::postgres::Database;
use rustix::process::{Pid, Signal, kill_process};

use super::*;
use crate::ops::{EnsureProject, ListProjects, ProjectCheckout};
use crate::tx::{Tx, sql};

/// Longer than anything takes here that does not hang.
const BOUND: Duration = Duration::from_secs(20);

async fn open(database: &Database) -> Postgres {
    Postgres::open(database.url(), String::new()).await.unwrap()
}

async fn call<O: Op>(store: &Postgres, op: O) -> Result<O::Out, StoreError> {
    out_of::<O>(store.call(&op).await?)
}

/// Somebody else at the same database.
async fn administrator(database: &Database) -> tokio_postgres::Client {
    let config: tokio_postgres::Config = database.url().parse().unwrap();
    let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// For whoever connects from now on.
async fn set_default(client: &tokio_postgres::Client, setting: &str) {
    let name: String = client.query_one("SELECT current_database()", &[]).await.unwrap().get(0);
    client.batch_execute(&format!("ALTER DATABASE {name} SET {setting}")).await.unwrap();
}

fn project() -> EnsureProject {
    project_at("/the/repository", 1)
}

fn project_at(path: &str, entropy: u64) -> EnsureProject {
    let now = Millis(1_794_736_800_000);
    EnsureProject {
        id: IdMaker::default().next(now, entropy),
        checkout: ProjectCheckout {
            place: "here".to_owned(),
            common_dir: path.to_owned(),
            name: "the repository".to_owned(),
        },
        seen: RepositoryFacts::default(),
        now,
    }
}

async fn limits(url: &str) -> Vec<String> {
    let connection = Postgres::open(url, String::new()).await.unwrap().connection().await.unwrap();
    let mut limits = Vec::new();
    for limit in ["lock_timeout", "idle_in_transaction_session_timeout"] {
        limits.push(connection.query_one(&format!("SHOW {limit}"), &[]).await.unwrap().get(0));
    }
    limits
}

#[tokio::test]
async fn nobody_waits_for_ever_unless_told_to() {
    let database = fleet_testkit::postgres::database();
    assert_eq!(limits(database.url()).await, ["30s", "30s"]);
    let chosen = format!("{}&options=-clock_timeout%3D2s", database.url());
    assert_eq!(limits(&chosen).await, ["2s", "30s"]);
}

/// The levels at which a write sees its statements: by itself, and together with others.
struct Levels;

#[async_trait]
impl Op for Levels {
    type Out = Vec<String>;
    const MODE: Mode = Mode::Write;

    async fn run(&self, tx: &mut dyn Tx) -> Result<Vec<String>, StoreError> {
        let level = || sql!("SELECT current_setting('transaction_isolation')");
        let alone = tx.query_alone(level()).await?;
        let together = tx.query(level()).await?;
        alone.into_iter().chain(together).map(|mut row| row.text()).collect()
    }
}

#[tokio::test]
async fn writes_are_read_committed_whatever_the_server_prefers() {
    let database = fleet_testkit::postgres::database();
    set_default(&administrator(&database).await, "default_transaction_isolation = 'serializable'").await;
    assert_eq!(call(&open(&database).await, Levels).await.unwrap(), ["read committed"; 2]);
}

/// A server that was demoted, and then its successor.
#[tokio::test]
async fn a_failover_is_waited_out() {
    let database = fleet_testkit::postgres::database();
    open(&database).await;
    let administrator = administrator(&database).await;
    set_default(&administrator, "default_transaction_read_only = on").await;
    let store = open(&database).await;
    let change = tokio::spawn(async move { call(&store, project()).await });
    let refused = "SELECT 1 FROM pg_stat_database WHERE datname = current_database() AND xact_rollback > 0";
    let begun = Instant::now();
    while administrator.query(refused, &[]).await.unwrap().is_empty() && begun.elapsed() < BOUND {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(!change.is_finished(), "{:?}", change.await);
    // The administrator's own connection takes changes, like everybody's from before.
    set_default(&administrator, "default_transaction_read_only = off").await;
    change.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_cancelled_statement_is_tried_again() {
    let database = fleet_testkit::postgres::database();
    let store = open(&database).await;
    let administrator = administrator(&database).await;
    administrator.batch_execute("BEGIN; LOCK TABLE projects").await.unwrap();
    let change = tokio::spawn(async move { call(&store, project()).await });
    let cancel = "SELECT pg_cancel_backend(pid) FROM (SELECT pid FROM pg_stat_activity \
                  WHERE datname = current_database() AND wait_event_type = 'Lock' OFFSET 0) AS waiting";
    let begun = Instant::now();
    while administrator.query(cancel, &[]).await.unwrap().is_empty() && begun.elapsed() < BOUND {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    administrator.batch_execute("COMMIT").await.unwrap();
    change.await.unwrap().unwrap();
}

/// A machine on which everything takes long is not taken for one that is gone.
#[tokio::test]
async fn a_server_that_was_reached_has_a_minute_to_let_us_in() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://fleet@{}/fleet", listener.local_addr().unwrap());
    assert_eq!(ConnectionSettings::read(&url).unwrap().handshake, Duration::from_mins(1));
    let silent = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((connection, _)) = listener.accept().await {
            held.push(connection);
        }
    });
    let hurried = format!("{url}?connect_timeout=1");
    let begun = Instant::now();
    let Err(error) = Postgres::open(&hurried, String::new()).await else { panic!("nobody answered") };
    assert!(begun.elapsed() >= Duration::from_secs(1), "given up after {:?}", begun.elapsed());
    assert!(error.to_string().contains("no answer in 1 seconds") && error.is_temporary(), "{error}");
    silent.abort();
}

/// A frozen server keeps its connections open: nobody would ever hear of it.
#[tokio::test]
async fn a_server_that_freezes_is_not_waited_for_for_ever() {
    let database = fleet_testkit::postgres::database();
    let mut store = open(&database).await;
    Arc::get_mut(&mut store.shared).unwrap().server.answer_timeout = Duration::from_secs(2);
    let connection = store.connection().await.unwrap();
    let backend: i32 = connection.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let backend = Pid::from_raw(backend).unwrap();
    kill_process(backend, Signal::STOP).unwrap();
    let frozen = answered(Box::pin(connection.query_one("SELECT 1", &[])), &store.shared.server).await;
    drop(connection);
    let begun = Instant::now();
    let elsewhere = call(&store, ListProjects { place: "here".to_owned() }).await;
    let waited = begun.elapsed();
    kill_process(backend, Signal::CONT).unwrap();
    let Err(StoreError::Unreachable { why, .. }) = frozen else { panic!("{frozen:?}") };
    assert!(why.contains("no answer in 2 seconds"), "{why}");
    assert!(waited < BOUND, "{waited:?}");
    elsewhere.unwrap();
}

/// Whoever reads while others write would otherwise never be through.
#[tokio::test]
async fn a_reader_stops_at_what_was_there_when_it_came() {
    let database = fleet_testkit::postgres::database();
    let store = open(&database).await;
    for (path, entropy) in [("/one", 1), ("/two", 2)] {
        call(&store, project_at(path, entropy)).await.unwrap();
    }
    let newest = store.run_unannounced(&sequence::NewestUnnumbered).await.unwrap();
    call(&store, project_at("/three", 3)).await.unwrap();
    let give = sequence::GiveNumbers { upto: newest.unwrap() };
    assert_eq!(store.run_unannounced(&give).await.unwrap(), 2);
    let later = store.run_unannounced(&sequence::NewestUnnumbered).await.unwrap();
    assert!(later > newest, "{later:?}");
    assert!(!store.number_events().await.unwrap(), "that was all");
    assert_eq!(store.run_unannounced(&sequence::NewestUnnumbered).await.unwrap(), None);
}
