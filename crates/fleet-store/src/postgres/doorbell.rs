//! LISTEN and NOTIFY as a doorbell: it says that something changed, never what.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::Pool;
use tokio::sync::Notify;
use tokio_postgres::{AsyncMessage, Config};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::explain;
use crate::{StoreError, Watch};

/// Rings that fall into this time become one: NOTIFY takes a lock of the whole database at commit.
const GAP: Duration = Duration::from_millis(20);
/// After a lost connection; meanwhile those who wait look at the store themselves.
const RECONNECT: Duration = Duration::from_secs(1);

pub(super) struct Doorbell {
    pool: Pool,
    /// Held while the bell is quiet after a ring, so that the next one waits for its turn in the background.
    quiet: Arc<tokio::sync::Mutex<()>>,
    waiting: Arc<tokio::sync::Semaphore>,
}

impl Doorbell {
    pub(super) fn new(pool: Pool) -> Self {
        Self {
            pool,
            quiet: Arc::new(tokio::sync::Mutex::new(())),
            // One ring may wait for the quiet time to end; further ones are the same ring.
            waiting: Arc::new(tokio::sync::Semaphore::new(1)),
        }
    }

    /// Rings now if the bell was quiet, else once at the end of the quiet time.
    pub(super) async fn ring(&self) {
        if let Ok(quiet) = Arc::clone(&self.quiet).try_lock_owned() {
            notify(&self.pool).await;
            tokio::spawn(async move {
                tokio::time::sleep(GAP).await;
                drop(quiet);
            });
        } else if let Ok(waiting) = Arc::clone(&self.waiting).try_acquire_owned() {
            let (pool, quiet) = (self.pool.clone(), Arc::clone(&self.quiet));
            tokio::spawn(async move {
                let _quiet = quiet.lock().await;
                drop(waiting);
                notify(&pool).await;
                tokio::time::sleep(GAP).await;
            });
        }
    }
}

/// A ring that fails is covered by the slow poll of those who wait; the change itself is committed.
async fn notify(pool: &Pool) {
    if let Ok(connection) = pool.get().await {
        let _ = connection.batch_execute("NOTIFY fleet").await;
    }
}

/// Listens on a connection of its own, for as long as the watch lives.
pub(super) async fn watch(config: Config, tls: MakeRustlsConnect, place: &str) -> Result<Watch, StoreError> {
    let bell = Arc::new(Notify::new());
    let first = listen(&config, &tls, &bell).await.map_err(|error| explain(&error, place))?;
    let rung = Arc::clone(&bell);
    let task = tokio::spawn(async move {
        let mut listening = Some(first);
        loop {
            if let Some(connection) = listening.take() {
                // Ends only when the connection does.
                let _ = connection.await;
            }
            tokio::time::sleep(RECONNECT).await;
            listening = listen(&config, &tls, &rung).await.ok();
            // Whatever happened while nobody listened.
            rung.notify_one();
        }
    });
    Ok(Watch::new(bell, AbortOnDrop(task)))
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
) -> Result<tokio::task::JoinHandle<()>, tokio_postgres::Error> {
    let (client, mut connection) = config.connect(tls.clone()).await?;
    let rung = Arc::clone(bell);
    let pump = tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) {
                rung.notify_one();
            }
        }
    });
    client.batch_execute("LISTEN fleet").await?;
    // The server ends the connection when the client is dropped, so it lives as long as the pump.
    Ok(tokio::spawn(async move {
        let _client = client;
        let _ = pump.await;
    }))
}
