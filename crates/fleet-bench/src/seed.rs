//! Stores with many tasks, filled directly: adding a million one by one is not what is measured.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use fleet_core::id::{IdMaker, ProjectId, RunId, TaskId};
use fleet_core::project::RepositoryFacts;
use fleet_core::schedule::Caps;
use fleet_core::task::{Priority, TaskSpec, Title};
use fleet_core::time::Millis;
use fleet_store::{Store, StoreUrl, ops};

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);

/// Opens a store and adds one project.
pub(crate) async fn with_project(url: &StoreUrl, common_dir: &str) -> (Store, ProjectId) {
    let store = Store::open(url).await.expect("a store");
    let id = IdMaker::default().next(NOW, 1);
    let (place, name) = ("bench".to_owned(), "bench".to_owned());
    let checkout = ops::ProjectCheckout { place, common_dir: common_dir.to_owned(), name };
    let op = ops::EnsureProject { id, checkout, seen: RepositoryFacts::default(), now: NOW };
    let project = store.call(op).await.expect("a project");
    (store, project.id)
}

/// Takes a task for each run.
pub(crate) fn claim(runs: Vec<RunId>) -> ops::Claim {
    ops::Claim {
        runner: "bench".to_owned(),
        place: "bench".to_owned(),
        runs,
        only: ops::ClaimOnly::Any,
        default_agent: "claude".parse().expect("a name"),
        able: None,
        projects: None,
        accounts: BTreeMap::new(),
        caps: Caps::default(),
        budget: None,
        lease: Duration::from_mins(1),
        now: NOW,
    }
}

/// Ids for `count` tasks; of every ten, six are done, three ready and one blocked, in five priorities.
fn rows(count: usize) -> impl Iterator<Item = (TaskId, &'static str, i64, i64)> {
    let mut maker = IdMaker::default();
    (0..count).map(move |n| {
        let id = maker.next(Millis(NOW.0 - 10_000_000_000 + i64::try_from(n).unwrap() * 10), n as u64);
        let state = if n % 10 < 6 { "done" } else { "queued" };
        (id, state, i64::from(n % 10 == 9), i64::try_from(n % 5 + 1).unwrap())
    })
}

const COLUMNS: &str = "id, project, state, priority, agent, open_deps, deferred, version, fence, failures, title, scope, \
                       limits, spec, created_at, updated_at";

/// The title of a task, and all that its author decided.
fn title_and_spec(id: TaskId, priority: i64) -> (String, String) {
    let title: Title = format!("Task with a title of usual length {id}").parse().expect("a title");
    let priority = Priority::try_from(priority).expect("a priority");
    let spec = TaskSpec { priority, ..TaskSpec::new(title.clone()) };
    (title.to_string(), serde_json::to_string(&spec).expect("JSON"))
}

/// The file without its log, which would hold everything a second time. That needs to be alone with it, and the thread
/// of a store that was just dropped closes it a moment later.
fn open_alone(path: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(path).expect("the store's file");
    let begun = Instant::now();
    while let Err(error) = connection.execute_batch("PRAGMA journal_mode = OFF") {
        assert!(begun.elapsed() < Duration::from_secs(10), "{error}");
        std::thread::sleep(Duration::from_millis(2));
    }
    // Room for all of it, and no sync: only the content counts here.
    connection.execute_batch("PRAGMA cache_size = -2000000; PRAGMA synchronous = OFF").expect("settings");
    connection
}

pub(crate) fn fill_sqlite(path: &Path, project: ProjectId, count: usize) {
    let mut connection = open_alone(path);
    let tx = connection.transaction().expect("a transaction");
    {
        let insert = format!(
            "INSERT INTO tasks ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, '', ?5, 0, 1, 0, 0, ?6, '[]', '{{}}', ?7, ?8, ?8)"
        );
        let mut task = tx.prepare(&insert).expect("a statement");
        let mut event = tx
            .prepare("INSERT INTO events (at, project, task, kind, data) VALUES (?1, ?2, ?3, 'task.added', '{\"title\":\"t\",\"priority\":3,\"after\":[]}')")
            .expect("a statement");
        for (id, state, open, priority) in rows(count) {
            let (title, spec) = title_and_spec(id, priority);
            let values =
                rusqlite::params![id.as_str(), project.as_str(), state, priority, open, title, spec, NOW.0];
            task.execute(values).expect("a task");
            event.execute(rusqlite::params![NOW.0, project.as_str(), id.as_str()]).expect("an event");
        }
    }
    tx.commit().expect("a commit");
    connection.execute_batch("PRAGMA journal_mode = WAL").expect("the usual journal");
}

pub(crate) async fn fill_postgres(url: &str, project: ProjectId, count: usize) {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
    let pump = tokio::spawn(connection);
    let all: Vec<_> = rows(count).collect();
    for chunk in all.chunks(5_000) {
        let mut insert = format!("INSERT INTO tasks ({COLUMNS}) VALUES ");
        for (at, (id, state, open, priority)) in chunk.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let (title, spec) = title_and_spec(*id, *priority);
            write!(
                insert,
                "{comma}('{id}','{project}','{state}',{priority},'',{open},0,1,0,0,'{title}','[]','{{}}','{spec}',{0},{0})",
                NOW.0
            )
            .expect("a string");
        }
        client.batch_execute(&insert).await.expect("tasks");
    }
    client.batch_execute("VACUUM ANALYZE tasks").await.expect("statistics");
    drop(client);
    let _ = pump.await;
}

/// One run of every task that is done, which ended.
fn runs(count: usize) -> impl Iterator<Item = (RunId, TaskId)> {
    let mut maker = IdMaker::default();
    let done = rows(count).filter(|(_, state, ..)| *state == "done");
    done.enumerate().map(move |(n, (task, ..))| {
        (maker.next(Millis(NOW.0 - 5_000_000_000 + i64::try_from(n).unwrap() * 5), n as u64), task)
    })
}

const RUN_COLUMNS: &str =
    "id, task, project, fence, state, runner, place, agent, lease_until, created_at, ended_at";

pub(crate) fn add_runs_sqlite(path: &Path, project: ProjectId, count: usize) {
    let mut connection = open_alone(path);
    let tx = connection.transaction().expect("a transaction");
    {
        let insert = format!(
            "INSERT INTO runs ({RUN_COLUMNS}) VALUES (?1, ?2, ?3, 1, 'succeeded', 'bench', 'bench', 'claude', ?4, ?4, ?4)"
        );
        let mut insert = tx.prepare(&insert).expect("a statement");
        for (id, task) in runs(count) {
            insert
                .execute(rusqlite::params![id.as_str(), task.as_str(), project.as_str(), NOW.0])
                .expect("a run");
        }
    }
    tx.commit().expect("a commit");
    connection.execute_batch("PRAGMA journal_mode = WAL").expect("the usual journal");
}

pub(crate) async fn add_runs_postgres(url: &str, project: ProjectId, count: usize) {
    let (client, connection) =
        tokio_postgres::connect(url, tokio_postgres::NoTls).await.expect("a connection");
    let pump = tokio::spawn(connection);
    let all: Vec<_> = runs(count).collect();
    for chunk in all.chunks(5_000) {
        let mut insert = format!("INSERT INTO runs ({RUN_COLUMNS}) VALUES ");
        for (at, (id, task)) in chunk.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(
                insert,
                "{comma}('{id}','{task}','{project}',1,'succeeded','bench','bench','claude',{0},{0},{0})",
                NOW.0
            )
            .expect("a string");
        }
        client.batch_execute(&insert).await.expect("runs");
    }
    client.batch_execute("VACUUM ANALYZE runs").await.expect("statistics");
    drop(client);
    let _ = pump.await;
}
