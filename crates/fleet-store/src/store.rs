//! The handle that everything above uses.

use std::time::Duration;

use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::tx::Op;
use crate::{StoreError, StoreUrl, Watch};

/// An open store. Cheap to clone; every clone shares connections.
#[derive(Clone)]
pub struct Store {
    engine: Engine,
}

#[derive(Clone)]
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// How long an operation waits for others before it says that the store is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

impl Store {
    /// Opens the store and brings its schema up to date; creates an SQLite file that does not exist.
    pub async fn open(url: &StoreUrl) -> Result<Self, StoreError> {
        let engine = match url {
            StoreUrl::Sqlite(path) => Engine::Sqlite(Sqlite::open(path)?),
            StoreUrl::Postgres(text) => Engine::Postgres(Postgres::open(text, url.to_string()).await?),
        };
        Ok(Self { engine })
    }

    /// Runs one operation. When a write returns, it is durable and waiting processes were told.
    pub async fn call<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.call(op).await,
            Engine::Postgres(postgres) => postgres.call(op).await,
        }
    }

    /// Gives numbers to events that have none, a few thousand at most, so that whoever reads them all next need not.
    /// Returns whether there may be more. On SQLite all have one.
    pub async fn number_events(&self) -> Result<bool, StoreError> {
        match &self.engine {
            Engine::Sqlite(_) => Ok(false),
            Engine::Postgres(postgres) => postgres.number_events().await,
        }
    }

    /// Learns of changes made by any process, from now on.
    pub async fn watch(&self) -> Result<Watch, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.watch(),
            Engine::Postgres(postgres) => postgres.watch().await,
        }
    }

    /// A sentence for `fleet doctor`: engine, version, place.
    pub async fn describe(&self) -> Result<String, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => Ok(sqlite.describe()),
            Engine::Postgres(postgres) => postgres.describe().await,
        }
    }

    /// Looks for damage; the findings are for people. Empty is good.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.check(),
            Engine::Postgres(_) => Ok(Vec::new()),
        }
    }
}
