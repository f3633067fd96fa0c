//! PostgreSQL: one server, many machines.
//!
//! Owns the connection pool, retries after conflicts, and the notifier. NOTIFY takes a lock of the whole
//! database at commit, so it is never part of an operation: it is rung afterwards, and several rings become one.

mod connections;
mod failure;
mod notifier;
mod retry;
mod sequence;
mod settings;
mod tls;
mod tx;
mod types;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::time::Instant;

use crate::dialect::Dialect;
use crate::tx::{AnyOp, AnyOut, Lock, Mode, Op, out_of};
use crate::{StoreError, Watch, migrate};
use failure::{ServerLabel, answered, explain};
use settings::ConnectionSettings;
use tx::PostgresTx;

#[derive(Clone)]
pub(crate) struct Postgres {
    shared: Arc<PostgresShared>,
}

struct PostgresShared {
    pool: Pool,
    config: tokio_postgres::Config,
    handshake: Duration,
    tls: tokio_postgres_rustls::MakeRustlsConnect,
    server: ServerLabel,
    notifier: notifier::Notifier,
}

/// How far an operation came.
enum TxAttempt {
    /// It is committed; whether there is news.
    Done(AnyOut, bool),
    /// Nothing has changed, and the next attempt may work.
    Undone(StoreError),
}

impl Postgres {
    pub(crate) async fn open(url: &str, place: String) -> Result<Self, StoreError> {
        let unreachable = |why: String| StoreError::Unreachable { at: place.clone(), why };
        let ConnectionSettings { config, handshake } =
            ConnectionSettings::read(url).map_err(|error| unreachable(failure::describe(&error)))?;
        let tls = tls::connector(&config).map_err(unreachable)?;
        let pool = connections::pool(config.clone(), tls.clone(), handshake)
            .map_err(|error| StoreError::Failed(error.to_string()))?;
        let notifier = notifier::Notifier::new(pool.clone());
        let server = ServerLabel::at(place);
        let postgres =
            Self { shared: Arc::new(PostgresShared { pool, config, handshake, tls, server, notifier }) };
        postgres.migrate().await?;
        Ok(postgres)
    }

    pub(crate) async fn call(&self, op: &dyn AnyOp) -> Result<AnyOut, StoreError> {
        if op.reads_events() {
            self.number_all_events().await?;
        }
        let (out, news) = self.retried(op).await?;
        if news {
            self.shared.notifier.ring().await;
        }
        Ok(out)
    }

    /// Gives numbers to the events that are there now.
    async fn number_all_events(&self) -> Result<(), StoreError> {
        let Some(give) = self.without_numbers().await? else { return Ok(()) };
        while self.run_unannounced(&give).await? == sequence::CHUNK {}
        Ok(())
    }

    /// The same for a few thousand of them; whether there may be more.
    pub(crate) async fn number_events(&self) -> Result<bool, StoreError> {
        let Some(give) = self.without_numbers().await? else { return Ok(false) };
        Ok(self.run_unannounced(&give).await? == sequence::CHUNK)
    }

    async fn without_numbers(&self) -> Result<Option<sequence::GiveNumbers>, StoreError> {
        let newest = self.run_unannounced(&sequence::NewestUnnumbered).await?;
        Ok(newest.map(|upto| sequence::GiveNumbers { upto }))
    }

    /// Runs an operation that is never news.
    async fn run_unannounced<O: Op>(&self, op: &O) -> Result<O::Out, StoreError> {
        out_of::<O>(self.retried(op).await?.0)
    }

    /// The result, and whether waiting processes must be woken.
    async fn retried(&self, op: &dyn AnyOp) -> Result<(AnyOut, bool), StoreError> {
        let begun = Instant::now();
        let mut attempt = 1;
        loop {
            match self.attempt(op).await? {
                TxAttempt::Done(out, news) => return Ok((out, news)),
                TxAttempt::Undone(error) => {
                    let pause = retry::pause(&error, attempt, begun.elapsed()).ok_or(error)?;
                    tokio::time::sleep(pause).await;
                }
            }
            attempt += 1;
        }
    }

    async fn attempt(&self, op: &dyn AnyOp) -> Result<TxAttempt, StoreError> {
        let mut tx = PostgresTx::begin(self.connection().await?, op.mode(), &self.shared.server);
        match op.run(&mut tx).await {
            Ok(out) => match tx.commit().await {
                Ok(news) => Ok(TxAttempt::Done(out, news)),
                Err(error @ (StoreError::Changed | StoreError::Unavailable { .. })) => {
                    Ok(TxAttempt::Undone(error))
                }
                Err(error @ StoreError::Unreachable { .. }) if op.mode() == Mode::Read => {
                    Ok(TxAttempt::Undone(error))
                }
                // A connection that was lost here may or may not have committed: the caller has to know.
                Err(error) => Err(error),
            },
            Err(error @ StoreError::Unreachable { .. })
                if op.mode() == Mode::Write && tx.may_have_committed() =>
            {
                Err(error)
            }
            // One that was lost earlier has not: it may have lain in the pool since before the server was started
            // again. If the server is gone for good, the next attempt cannot connect, and says so. The connection goes:
            // a server that takes no changes any more has a successor.
            Err(error @ (StoreError::Unavailable { .. } | StoreError::Unreachable { .. })) => {
                drop(tx);
                Ok(TxAttempt::Undone(error))
            }
            Err(error) => {
                tx.roll_back().await;
                if matches!(error, StoreError::Changed) { Ok(TxAttempt::Undone(error)) } else { Err(error) }
            }
        }
    }

    async fn connection(&self) -> Result<deadpool_postgres::Object, StoreError> {
        connections::get(&self.shared.pool)
            .await
            .map_err(|error| failure::explain_pool(&error, &self.shared.server.place, self.shared.handshake))
    }

    /// Brings the schema up to date; many processes on many machines may try at once.
    async fn migrate(&self) -> Result<(), StoreError> {
        let version = {
            let connection = self.connection().await?;
            answered(Box::pin(schema_version(&connection)), &self.shared.server).await?
        };
        let at = self.shared.server.place.clone();
        match version {
            migrate::LATEST => Ok(()),
            found if found > migrate::LATEST => Err(StoreError::TooNew { at, found, known: migrate::LATEST }),
            _ => self.apply_missing().await,
        }
    }

    async fn apply_missing(&self) -> Result<(), StoreError> {
        let explained = |error: tokio_postgres::Error| explain(&error, &self.shared.server.place);
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
        notifier::watch(shared.config.clone(), shared.tls.clone(), &shared.server.place).await
    }

    pub(crate) async fn describe(&self) -> Result<String, StoreError> {
        let connection = self.connection().await?;
        let row =
            answered(Box::pin(connection.query_one("SHOW server_version", &[])), &self.shared.server).await?;
        let version: String = row.get(0);
        Ok(format!("PostgreSQL {version} at {}, schema {}", self.shared.server.place, migrate::LATEST))
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
mod tests;
