//! The connections of a process: few, and only for as long as they are used.
//!
//! A server allows a few hundred at most, for all processes of all machines together. So connections are made when
//! needed and closed when idle, and a process that finds no room on the server waits for others to close theirs.

use std::time::Duration;

use deadpool_postgres::{BuildError, Manager, ManagerConfig, Object, Pool, PoolError};
use deadpool_postgres::{QueueMode, RecyclingMethod, Runtime};
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::is_passing_refusal;
use crate::store::BUSY_TIMEOUT;

/// The most connections of one process; a server usually allows a hundred in all.
const MAX_CONNECTIONS: usize = 8;
/// An address from which nothing comes back by then is taken for unreachable.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a reached server may take to let us in: on an overloaded machine hundreds may wait at its door.
pub(super) const HANDSHAKE_TIMEOUT: Duration = Duration::from_mins(1);
/// An idle connection is closed after this, well before processes that wait for room give up.
const IDLE: Duration = Duration::from_secs(5);

/// Makes a pool that is empty until it is used.
pub(super) fn pool(config: Config, tls: MakeRustlsConnect, handshake: Duration) -> Result<Pool, BuildError> {
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let pool = Pool::builder(Manager::from_config(config, tls, recycling))
        .max_size(MAX_CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .create_timeout(Some(handshake))
        .wait_timeout(Some(BUSY_TIMEOUT))
        // The one that was used last: a second one that was needed for a moment is then idle.
        .queue_mode(QueueMode::Lifo)
        .build()?;
    let weak = pool.weak();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(IDLE / 2).await;
            let Some(pool) = weak.upgrade() else { return };
            pool.retain(|_, metrics| metrics.last_used() < IDLE);
        }
    });
    Ok(pool)
}

pub(super) async fn get(pool: &Pool) -> Result<Object, PoolError> {
    let is_passing =
        |error: &PoolError| matches!(error, PoolError::Backend(error) if is_passing_refusal(error));
    while_refused(|| pool.get(), is_passing).await
}

/// Tries again, at longer and longer intervals, while the server has no room for one more or is only starting up.
pub(super) async fn while_refused<T, E, F: Future<Output = Result<T, E>>>(
    connect: impl Fn() -> F,
    is_passing: impl Fn(&E) -> bool,
) -> Result<T, E> {
    const MAX_PAUSE: Duration = Duration::from_millis(500);
    let (mut waited, mut pause) = (Duration::ZERO, Duration::from_millis(10));
    loop {
        match connect().await {
            Err(error) if is_passing(&error) && waited < BUSY_TIMEOUT => {
                tokio::time::sleep(pause).await;
                waited += pause;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            result => return result,
        }
    }
}
