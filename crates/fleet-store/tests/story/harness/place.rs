//! Where a store is, and other programs at the same place: statements that no operation would make.

use std::path::{Path, PathBuf};

use fleet_store::StoreUrl;
use fleet_testkit::postgres::Database;
use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// A place for one store, with nothing in it yet; gone when it is dropped.
pub(crate) enum Place {
    Folder(TempDir),
    /// With one connection for all who look from outside: each new one costs as much as a whole scenario.
    Database(Database, Box<OnceCell<Client>>),
}

#[expect(clippy::disallowed_methods, reason = "plays another program at the file")]
pub(crate) fn sqlite(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "plays another program at the server")]
pub(crate) async fn postgres(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
    tokio::spawn(connection);
    client
}

/// Every table of the store but that of the events.
const TABLES: [&str; 14] = [
    "projects",
    "checkouts",
    "hosts",
    "tasks",
    "task_descriptions",
    "task_labels",
    "deps",
    "runs",
    "run_texts",
    "messages",
    "pauses",
    "workflows",
    "workflow_texts",
    "parts",
];

fn dump_sqlite(connection: &Connection) -> Vec<String> {
    let mut rows = Vec::new();
    for table in TABLES.iter().chain(&["events"]) {
        let mut all = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let columns = all.column_count();
        let text = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
            let values: Vec<Value> = (0..columns).map(|at| row.get(at)).collect::<Result<_, _>>()?;
            Ok(format!("{table}: {values:?}"))
        };
        rows.extend(all.query_map([], text).unwrap().map(Result::unwrap));
    }
    rows
}

async fn dump_postgres(client: &Client) -> Vec<String> {
    let mut all = TABLES.map(|table| format!("SELECT t::text FROM {table} t ORDER BY 1")).to_vec();
    // Numbers are given by whoever reads: that is no change of an event.
    all.push("SELECT (id, at, project, task, run, kind, data)::text FROM events ORDER BY id".to_owned());
    let text = |message| match message {
        SimpleQueryMessage::Row(row) => row.get(0).map(ToOwned::to_owned),
        _ => None,
    };
    client.simple_query(&all.join("; ")).await.unwrap().into_iter().filter_map(text).collect()
}

impl Place {
    pub(crate) fn make(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::Folder(tempfile::tempdir().expect("a folder for the test")),
            Engine::Postgres => Self::Database(fleet_testkit::postgres::database(), Box::default()),
        }
    }

    pub(crate) fn engine(&self) -> Engine {
        match self {
            Self::Folder(_) => Engine::Sqlite,
            Self::Database(..) => Engine::Postgres,
        }
    }

    pub(crate) fn url(&self) -> StoreUrl {
        match self {
            Self::Folder(_) => StoreUrl::Sqlite(self.file()),
            Self::Database(database, _) => StoreUrl::Postgres(database.url().to_owned()),
        }
    }

    /// The file of an SQLite store, in a folder that does not exist before the store does.
    pub(crate) fn file(&self) -> PathBuf {
        match self {
            Self::Folder(folder) => folder.path().join("home/fleet.db"),
            Self::Database(..) => panic!("this store is not a file"),
        }
    }

    /// Puts something else where the file of the store would be.
    pub(crate) fn occupy(&self, bytes: &[u8]) {
        std::fs::create_dir(self.file().parent().unwrap()).unwrap();
        std::fs::write(self.file(), bytes).unwrap();
    }

    async fn client(&self) -> &Client {
        match self {
            Self::Folder(_) => panic!("a file has no server"),
            Self::Database(database, client) => client.get_or_init(|| postgres(database.url())).await,
        }
    }

    /// Runs statements from outside.
    pub(crate) async fn execute(&self, sql: &str) {
        match self {
            Self::Folder(_) => sqlite(&self.file()).execute_batch(sql).unwrap(),
            Self::Database(..) => self.client().await.batch_execute(sql).await.unwrap(),
        }
    }

    /// The number that a statement finds, asked from outside.
    pub(crate) async fn count(&self, sql: &str) -> i64 {
        match self {
            Self::Folder(_) => sqlite(&self.file()).query_row(sql, [], |row| row.get(0)).unwrap(),
            Self::Database(..) => self.client().await.query_one(sql, &[]).await.unwrap().get(0),
        }
    }

    /// Every row of every table, as text: two dumps are compared, never read.
    pub(crate) async fn dump(&self) -> Vec<String> {
        match self {
            Self::Folder(_) => dump_sqlite(&sqlite(&self.file())),
            Self::Database(..) => dump_postgres(self.client().await).await,
        }
    }

    /// Tables and indexes, by name.
    pub(crate) async fn schema(&self) -> Vec<String> {
        match self {
            Self::Folder(_) => {
                let connection = sqlite(&self.file());
                let mut all = connection.prepare("SELECT name FROM sqlite_master ORDER BY name").unwrap();
                all.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
            }
            Self::Database(..) => {
                let all = "SELECT relname::text FROM pg_class \
                           WHERE relnamespace = 'public'::regnamespace ORDER BY 1";
                self.client().await.query(all, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
            }
        }
    }

    /// The version of the store's schema.
    pub(crate) async fn version(&self) -> i64 {
        match self.engine() {
            Engine::Sqlite => self.count("PRAGMA user_version").await,
            Engine::Postgres => self.count("SELECT max(version) FROM fleet_schema").await,
        }
    }

    /// Claims another version.
    pub(crate) async fn set_version(&self, version: i64) {
        match self.engine() {
            Engine::Sqlite => self.execute(&format!("PRAGMA user_version = {version}")).await,
            Engine::Postgres => {
                let forget = format!("DELETE FROM fleet_schema WHERE version > {version}");
                let claim = format!("INSERT INTO fleet_schema VALUES ({version}) ON CONFLICT DO NOTHING");
                self.execute(&format!("{forget}; {claim}")).await;
            }
        }
    }
}
