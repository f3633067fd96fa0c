//! A fresh store on either engine, gone with the test.

use fleet_store::{Store, StoreUrl};
use fleet_testkit::postgres::{Database, Options, Server};
use tempfile::TempDir;
use tokio_postgres::{NoTls, SimpleQueryMessage};

/// Where a store is, and what keeps it there.
pub(crate) struct Place {
    pub(crate) url: String,
    folder: TempDir,
    // In this order: the server goes last.
    _database: Option<Database>,
    server: Option<Server>,
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("fleet.db").display());
        Self { url, folder, _database: None, server: None }
    }

    /// On the server that tests share.
    pub(crate) fn postgres() -> Self {
        Self::on(fleet_testkit::postgres::database(), None)
    }

    /// On a server of its own: for tests that use up its connections or stop it.
    pub(crate) fn own_postgres(max_connections: u32) -> Self {
        let server = Server::launch(&Options { max_connections, ..Options::default() }).unwrap();
        Self::on(server.database(), Some(server))
    }

    fn on(database: Database, server: Option<Server>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { url: database.url().to_owned(), folder, _database: Some(database), server }
    }

    /// The same store, with one more setting for every connection.
    pub(crate) fn with_option(mut self, option: &str) -> Self {
        self.url = format!("{}&options=-c{option}", self.url);
        self
    }

    /// The server that is this test's own.
    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    /// For the notes of workers.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Another store on the same database, apart from this one.
    pub(crate) async fn namespace(&self, number: usize) -> Self {
        ask(&self.url, &format!("CREATE SCHEMA round_{number}")).await;
        let (url, folder) = (self.url.clone(), tempfile::tempdir().unwrap());
        Self { url, folder, _database: None, server: None }
            .with_option(&format!("search_path%3Dround_{number}"))
    }

    pub(crate) async fn open(&self) -> Store {
        let url = StoreUrl::parse(&self.url, self.folder()).unwrap();
        Store::open(&url).await.unwrap()
    }
}

/// Asks the server itself; the first column of each row.
pub(crate) async fn ask(url: &str, sql: &str) -> Vec<String> {
    let config: tokio_postgres::Config = url.parse().unwrap();
    let (client, connection) = config.connect(NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let answer = client.simple_query(sql).await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
    let rows = answer.iter().filter_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    rows.map(str::to_owned).collect()
}

/// Everything that the tables of a store are made of.
pub(crate) async fn schema(place: &Place) -> Vec<String> {
    if !place.url.starts_with("sqlite:") {
        let columns = "SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, \
                       generation_expression) FROM information_schema.columns WHERE table_schema = current_schema \
                       UNION SELECT regexp_replace(indexdef, 'round_[0-9]+', '') FROM pg_indexes \
                       WHERE schemaname = current_schema \
                       UNION SELECT concat('version ', version) FROM fleet_schema ORDER BY 1";
        return ask(&place.url, columns).await;
    }
    let file = rusqlite::Connection::open(place.folder().join("fleet.db")).unwrap();
    let all = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL \
               UNION SELECT 'version ' || user_version FROM pragma_user_version \
               UNION SELECT journal_mode FROM pragma_journal_mode ORDER BY 1";
    let mut statement = file.prepare(all).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}
