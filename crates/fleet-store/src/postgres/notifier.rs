//! LISTEN and NOTIFY: a notification says that something changed, never what.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::connections::{self, HANDSHAKE_TIMEOUT};
use super::failure::{explain, is_passing_refusal, no_answer};
use crate::{StoreError, Watch};

/// How many notifications a process sends at once; then it has to wait for a permit, and waiting notifications become
/// one: NOTIFY takes a lock of the whole database at commit. Waiting notifications are lost when the process ends, so
/// there are enough permits for a process that makes a few changes and ends.
const PERMITS: usize = 8;
/// A permit comes back after this, so that there is one notification in twenty milliseconds on average.
const PERMIT_DELAY: Duration = Duration::from_millis(160);
/// After a lost connection; meanwhile waiters poll the store.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

pub(super) struct Notifier {
    pool: Pool,
    turns: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Notifier {
    pub(super) fn new(pool: Pool) -> Self {
        Self {
            pool,
            turns: Arc::new(Semaphore::new(PERMITS)),
            // One notification may wait for a permit; further ones join it.
            waiting: Arc::new(Semaphore::new(1)),
        }
    }

    /// Notifies now if there is a permit, else in the background when there is one.
    pub(super) async fn ring(&self) {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            notify(&self.pool).await;
            tokio::spawn(rest(turn));
        } else if let Ok(waiting) = Arc::clone(&self.waiting).try_acquire_owned() {
            let (pool, turns) = (self.pool.clone(), Arc::clone(&self.turns));
            tokio::spawn(async move {
                let Ok(turn) = turns.acquire_owned().await else { return };
                // From here on this notification does not cover new changes.
                drop(waiting);
                notify(&pool).await;
                rest(turn).await;
            });
        }
    }
}

async fn rest(turn: OwnedSemaphorePermit) {
    tokio::time::sleep(PERMIT_DELAY).await;
    drop(turn);
}

/// A notification that fails is covered by the slow poll of the waiters; the change itself is committed.
async fn notify(pool: &Pool) {
    let ring = async {
        if let Ok(connection) = connections::get(pool).await {
            let _ = connection.batch_execute("NOTIFY fleet").await;
        }
    };
    // The writer waits for this notification, and need not wait longer than a poll takes.
    let _ = timeout(RECONNECT_DELAY, ring).await;
}

/// Listens on its own connection, for as long as the watch lives.
pub(super) async fn watch(config: Config, tls: MakeRustlsConnect, place: &str) -> Result<Watch, StoreError> {
    let bell = Arc::new(Notify::new());
    let first = match timeout(HANDSHAKE_TIMEOUT, listen(&config, &tls, &bell)).await {
        Ok(listening) => listening.map_err(|error| explain(&error, place))?,
        Err(_) => return Err(no_answer(place, HANDSHAKE_TIMEOUT)),
    };
    let rung = Arc::clone(&bell);
    let task = tokio::spawn(async move {
        let mut listening = Some(first);
        loop {
            if let Some(ear) = &mut listening {
                // Ends only when the connection does.
                let _ = (&mut ear.pump.0).await;
            }
            tokio::time::sleep(RECONNECT_DELAY).await;
            let again = timeout(HANDSHAKE_TIMEOUT, listen(&config, &tls, &rung)).await;
            listening = again.ok().and_then(Result::ok);
            // For changes that came while it did not listen.
            rung.notify_one();
        }
    });
    Ok(Watch::new(bell, AbortOnDrop(task)))
}

/// A connection that listens until it is dropped.
struct Listener {
    /// The server ends the connection when the client is dropped.
    _client: tokio_postgres::Client,
    pump: AbortOnDrop,
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn listen(
    config: &Config,
    tls: &MakeRustlsConnect,
    bell: &Arc<Notify>,
) -> Result<Listener, tokio_postgres::Error> {
    let connect = || config.connect(tls.clone());
    let (client, mut connection) = connections::while_refused(connect, is_passing_refusal).await?;
    let rung = Arc::clone(bell);
    let pump = AbortOnDrop(tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) {
                rung.notify_one();
            }
        }
    }));
    client.batch_execute("LISTEN fleet").await?;
    Ok(Listener { _client: client, pump })
}
