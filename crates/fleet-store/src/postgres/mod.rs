//! PostgreSQL: one server, many machines.
//!
//! Owns the connection pool, retries after conflicts, and the doorbell. NOTIFY takes a lock of the whole
//! database at commit, so it is never part of an operation: it is rung afterwards, and several rings become one.

mod connections;
mod doorbell;
mod failure;
mod sequence;
mod tls;
mod tx;
mod types;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;

use crate::dialect::Dialect;
use crate::tx::{Lock, Mode, Op};
use crate::{StoreError, Watch, migrate};
use failure::explain;
use tx::PostgresTx;

#[derive(Clone)]
pub(crate) struct Postgres {
    shared: Arc<Shared>,
}

struct Shared {
    pool: Pool,
    config: tokio_postgres::Config,
    tls: tokio_postgres_rustls::MakeRustlsConnect,
    /// The URL without its secrets.
    place: String,
    doorbell: doorbell::Doorbell,
}

/// Every statement is written for one index, so it is planned once: planning a claim anew takes longer than the
/// claim. A plan that is made once does not know how small a LIMIT will be, so it must not prefer whole scans.
const PLANNING: &str =
    "-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c enable_bitmapscan=off -c jit=off";
/// Nobody waits for a lock for ever, and whoever freezes in the middle of a transaction (a laptop that is closed)
/// holds its locks only for a while. Other limits in the URL count more.
const LIMITS: &str = "-c lock_timeout=30s -c idle_in_transaction_session_timeout=30s";
/// Conflicts between transactions are tried again so often; each time the other one has made progress.
const ATTEMPTS: u64 = 20;

/// How far an operation came.
enum Attempt<T> {
    /// It is committed; whether there is news.
    Done(T, bool),
    /// Nothing has changed, and the next attempt may work.
    Undone(StoreError),
}

impl Postgres {
    pub(crate) async fn open(url: &str, place: String) -> Result<Self, StoreError> {
        let unreachable = |why: String| StoreError::Unreachable { at: place.clone(), why };
        let mut config: tokio_postgres::Config =
            url.parse().map_err(|error| unreachable(failure::describe(&error)))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(connections::CONNECT_TIMEOUT);
        }
        // A network that is gone is noticed, instead of waited for as long as the kernel likes.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(crate::store::PATIENCE);
        }
        config.application_name("codefleet");
        // The last one counts.
        let options = [LIMITS, config.get_options().unwrap_or_default(), PLANNING].join(" ");
        config.options(options);
        tls::choose_mode(&mut config);
        let tls = tls::connector(&config).map_err(unreachable)?;
        let pool = connections::pool(config.clone(), tls.clone())
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        let doorbell = doorbell::Doorbell::new(pool.clone());
        let postgres = Self { shared: Arc::new(Shared { pool, config, tls, place, doorbell }) };
        postgres.migrate().await?;
        Ok(postgres)
    }

    pub(crate) async fn call<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        if O::READS_EVENTS {
            while self.retried(&sequence::GiveNumbers).await?.0 == sequence::CHUNK {}
        }
        let (out, news) = self.retried(&op).await?;
        if news {
            self.shared.doorbell.ring().await;
        }
        Ok(out)
    }

    /// What came out, and whether waiting processes are to be told.
    async fn retried<O: Op>(&self, op: &O) -> Result<(O::Out, bool), StoreError> {
        let mut attempt = 1;
        loop {
            match self.attempt(op).await? {
                Attempt::Done(out, news) => return Ok((out, news)),
                Attempt::Undone(error) if attempt == ATTEMPTS => return Err(error),
                Attempt::Undone(_) => tokio::time::sleep(Duration::from_millis(attempt)).await,
            }
            attempt += 1;
        }
    }

    async fn attempt<O: Op>(&self, op: &O) -> Result<Attempt<O::Out>, StoreError> {
        let mut tx = PostgresTx::begin(self.connection().await?, O::MODE, &self.shared.place);
        match op.run(&mut tx).await {
            Ok(out) => match tx.commit().await {
                Ok(news) => Ok(Attempt::Done(out, news)),
                Err(error @ StoreError::Changed) => Ok(Attempt::Undone(error)),
                Err(error @ StoreError::Unreachable { .. }) if O::MODE == Mode::Read => {
                    Ok(Attempt::Undone(error))
                }
                // A connection that was lost here may or may not have committed: the caller has to know.
                Err(error) => Err(error),
            },
            Err(error @ StoreError::Unreachable { .. })
                if O::MODE == Mode::Write && tx.may_have_committed() =>
            {
                Err(error)
            }
            // One that was lost earlier has not: it may have lain in the pool since before the server was started
            // again. If the server is gone for good, the next attempt cannot connect, and says so.
            Err(error @ (StoreError::Changed | StoreError::Unreachable { .. })) => {
                tx.roll_back().await;
                Ok(Attempt::Undone(error))
            }
            Err(error) => {
                tx.roll_back().await;
                Err(error)
            }
        }
    }

    async fn connection(&self) -> Result<deadpool_postgres::Object, StoreError> {
        connections::get(&self.shared.pool)
            .await
            .map_err(|error| failure::explain_pool(&error, &self.shared.place))
    }

    /// Brings the schema up to date; many processes on many machines may try at once.
    async fn migrate(&self) -> Result<(), StoreError> {
        let version = {
            let connection = self.connection().await?;
            schema_version(&connection).await.map_err(|error| explain(&error, &self.shared.place))?
        };
        let at = self.shared.place.clone();
        match version {
            migrate::LATEST => Ok(()),
            found if found > migrate::LATEST => Err(StoreError::TooNew { at, found, known: migrate::LATEST }),
            _ => self.apply_missing().await,
        }
    }

    async fn apply_missing(&self) -> Result<(), StoreError> {
        let explained = |error: tokio_postgres::Error| explain(&error, &self.shared.place);
        let mut connection = self.connection().await?;
        let transaction = connection.transaction().await.map_err(explained)?;
        let lock = Lock::Migration as i64;
        transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&lock]).await.map_err(explained)?;
        let create = "CREATE TABLE IF NOT EXISTS fleet_schema (version BIGINT PRIMARY KEY)";
        transaction.batch_execute(create).await.map_err(explained)?;
        // Asked again under the lock: another process may just have done it.
        let row = transaction.query_one(VERSION, &[]).await.map_err(explained)?;
        for migration in migrate::after(row.get(0)) {
            transaction.batch_execute(&Dialect::Postgres.adapt(migration.sql)).await.map_err(explained)?;
            let insert = "INSERT INTO fleet_schema (version) VALUES ($1)";
            transaction.execute(insert, &[&migration.version]).await.map_err(explained)?;
        }
        transaction.commit().await.map_err(explained)
    }

    pub(crate) async fn watch(&self) -> Result<Watch, StoreError> {
        let shared = &self.shared;
        doorbell::watch(shared.config.clone(), shared.tls.clone(), &shared.place).await
    }

    pub(crate) async fn describe(&self) -> Result<String, StoreError> {
        let connection = self.connection().await?;
        let row = connection.query_one("SHOW server_version", &[]).await;
        let version: String = row.map_err(|error| explain(&error, &self.shared.place))?.get(0);
        Ok(format!("PostgreSQL {version} at {}, schema {}", self.shared.place, migrate::LATEST))
    }
}

const VERSION: &str = "SELECT coalesce(max(version), 0) FROM fleet_schema";

async fn schema_version(client: &tokio_postgres::Client) -> Result<i64, tokio_postgres::Error> {
    let exists = client.query_one("SELECT to_regclass('fleet_schema') IS NOT NULL", &[]).await?;
    if !exists.get::<_, bool>(0) {
        return Ok(0);
    }
    Ok(client.query_one(VERSION, &[]).await?.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
