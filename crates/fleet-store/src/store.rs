//! The handle that everything above uses.

use std::io;
use std::os::unix::net::UnixStream;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::OnceCell;

use crate::postgres::Postgres;
use crate::relay;
use crate::sqlite::Sqlite;
use crate::tx::{AnyOp, AnyOut, Op, out_of};
use crate::{StoreError, StoreUrl, Watch};

/// An open store. Cheap to clone; every clone shares connections.
#[derive(Clone)]
pub struct Store {
    shared: Arc<StoreShared>,
}

struct StoreShared {
    url: StoreUrl,
    /// Tried first, if there is one.
    relay: Option<relay::RelayClient>,
    engine: OnceCell<Backend>,
    /// See [`Store::set_lease`].
    lease: OnceLock<Duration>,
}

enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Backend {
    async fn open(url: &StoreUrl) -> Result<Self, StoreError> {
        Ok(match url {
            StoreUrl::Sqlite(path) => Self::Sqlite(Sqlite::open(path)?),
            StoreUrl::Postgres(text) => Self::Postgres(Postgres::open(text, url.to_string()).await?),
        })
    }

    fn set_lease(&self, lease: Option<Duration>) {
        if let (Self::Sqlite(sqlite), Some(lease)) = (self, lease) {
            sqlite.set_lease(lease);
        }
    }
}

/// Boxed, so that callers in other crates hold no copy of the engines' code.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// How long an operation waits for others before it says that the store is busy.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// A relay that does not answer for this long is not used any more. Shorter than a third of the usual lease: a keeper
/// that is about to lose its run has to notice in time.
const RELAY_TIMEOUT: Duration = Duration::from_secs(3);

impl Store {
    /// Opens the store and brings its schema up to date; creates an SQLite file that does not exist.
    pub async fn open(url: &StoreUrl) -> Result<Self, StoreError> {
        let store = Self::closed(url, None);
        store.engine().await?;
        Ok(store)
    }

    /// A store whose operations another process runs that has it open, as long as that one answers: see
    /// [`Store::serve`]. Opened here only when it does not, or for what it does not do.
    pub fn relayed(stream: UnixStream, url: &StoreUrl) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let stream = tokio::net::UnixStream::from_std(stream)?;
        Ok(Self::closed(url, Some(relay::RelayClient::new(stream, RELAY_TIMEOUT))))
    }

    fn closed(url: &StoreUrl, relay: Option<relay::RelayClient>) -> Self {
        let (engine, lease) = (OnceCell::new(), OnceLock::new());
        Self { shared: Arc::new(StoreShared { url: url.clone(), relay, engine, lease }) }
    }

    fn engine(&self) -> Answer<'_, &Backend> {
        let StoreShared { url, engine, lease, .. } = &*self.shared;
        let open = async || Backend::open(url).await.inspect(|opened| opened.set_lease(lease.get().copied()));
        Box::pin(engine.get_or_try_init(open))
    }

    /// Runs the operations of the process at the other end until it ends: see [`Store::relayed`].
    pub fn serve(self, stream: UnixStream) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async {
            let ready = stream.set_nonblocking(true).and_then(|()| tokio::net::UnixStream::from_std(stream));
            // Otherwise the stream is closed, and the other side goes on by itself.
            if let Ok(stream) = ready {
                relay::serve(self, stream).await;
            }
        })
    }

    /// How long keepers and runners may be silent. One that is stopped for this long in the middle of a write is ended
    /// by a waiting process: it blocks an SQLite store for everyone, and loses nothing.
    pub fn set_lease(&self, lease: Duration) {
        let _ = self.shared.lease.set(lease);
        if let Some(engine) = self.shared.engine.get() {
            engine.set_lease(Some(lease));
        }
    }

    /// A sentence about a stopped process that blocks all writers, if there is one.
    pub fn stopped_holder(&self) -> Option<String> {
        match self.shared.engine.get()? {
            Backend::Sqlite(sqlite) => sqlite.stopped_holder(),
            Backend::Postgres(_) => None,
        }
    }

    /// Runs one operation. When a write returns, it is durable and waiting processes are notified.
    pub async fn call<O: Op>(&self, op: O) -> Result<O::Out, StoreError> {
        out_of::<O>(self.call_any(Box::new(op)).await?)
    }

    pub(crate) fn call_any(&self, op: Box<dyn AnyOp>) -> Answer<'_, AnyOut> {
        Box::pin(async move {
            if let Some(relay) = &self.shared.relay
                && let Some(answer) = relay.ask(op.as_ref()).await
            {
                return answer;
            }
            match self.engine().await? {
                Backend::Sqlite(sqlite) => sqlite.call(op).await,
                Backend::Postgres(postgres) => postgres.call(op.as_ref()).await,
            }
        })
    }

    /// Gives numbers to events that have none, a few thousand at most, so that the next reader of all events need not.
    /// Returns whether there may be more. On SQLite all have one.
    pub fn number_events(&self) -> Answer<'_, bool> {
        Box::pin(async move {
            match self.engine().await? {
                Backend::Sqlite(_) => Ok(false),
                Backend::Postgres(postgres) => postgres.number_events().await,
            }
        })
    }

    /// Learns of changes made by any process, from now on.
    pub fn watch(&self) -> Answer<'_, Watch> {
        Box::pin(async move {
            match self.engine().await? {
                Backend::Sqlite(sqlite) => sqlite.watch(),
                Backend::Postgres(postgres) => postgres.watch().await,
            }
        })
    }

    /// A sentence for `fleet doctor`: engine, version, place.
    pub fn describe(&self) -> Answer<'_, String> {
        Box::pin(async move {
            match self.engine().await? {
                Backend::Sqlite(sqlite) => Ok(sqlite.describe()),
                Backend::Postgres(postgres) => postgres.describe().await,
            }
        })
    }

    /// Looks for damage; the findings are for people. Empty is good.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        match self.engine().await? {
            Backend::Sqlite(sqlite) => sqlite.check(),
            Backend::Postgres(_) => Ok(Vec::new()),
        }
    }
}
