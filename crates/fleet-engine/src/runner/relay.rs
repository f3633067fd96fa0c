//! Runs the store operations of the keepers that this runner started: those that wait together share one commit.
//!
//! Each keeper has one end of a pair of sockets, and no other process can connect: there is no address. A keeper whose
//! runner is gone, frozen or slow goes to the store itself, so nothing here has to last.

use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use fleet_host::machine;
use fleet_store::Store;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Hands connections to the thread that serves them, which ends with it. Apart from the runner's own thread, which
/// starts processes and reads repositories: keepers do not wait for that.
pub(super) struct Relay {
    // As many as there are keepers: each is sent once, when its keeper is started.
    connections: UnboundedSender<Connection>,
    free: Arc<Semaphore>,
}

struct Connection {
    stream: UnixStream,
    /// Given back when the keeper has ended.
    place: OwnedSemaphorePermit,
}

impl Relay {
    pub(super) fn start(store: Store) -> io::Result<Self> {
        // The other half of what this process may open is for everything else that it does.
        Self::with_places(store, machine::most_open_files() / 2)
    }

    fn with_places(store: Store, places: usize) -> io::Result<Self> {
        let (connections, queue) = unbounded_channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let serve = move || runtime.block_on(serve(store, queue));
        std::thread::Builder::new().name("relay".to_owned()).spawn(serve)?;
        let free = Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS)));
        Ok(Self { connections, free })
    }

    /// The end of a new connection that a keeper is to get. None where it has to do without.
    pub(super) fn connect(&self) -> Option<UnixStream> {
        let place = Arc::clone(&self.free).try_acquire_owned().ok()?;
        let (stream, theirs) = UnixStream::pair().ok()?;
        self.connections.send(Connection { stream, place }).ok()?;
        Some(theirs)
    }
}

async fn serve(store: Store, mut connections: UnboundedReceiver<Connection>) {
    while let Some(Connection { stream, place }) = connections.recv().await {
        let serving = store.clone().serve(stream);
        tokio::spawn(async move {
            serving.await;
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use fleet_store::{StoreUrl, ops};

    use super::*;

    #[tokio::test]
    async fn a_keeper_for_which_there_is_no_place_does_without() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreUrl::Sqlite(dir.path().join("fleet.db"))).await.unwrap();
        let relay = Relay::with_places(store, 1).unwrap();
        let stream = relay.connect().unwrap();
        assert!(relay.connect().is_none());
        // Where nothing can be opened, only the relay can answer.
        let nowhere = StoreUrl::Sqlite(dir.path().join("fleet.db/nothing"));
        let keeper = Store::relayed(stream, &nowhere).unwrap();
        assert_eq!(keeper.call(ops::ServerTime).await.unwrap(), None);
        drop(keeper);
        let freed = async {
            while relay.connect().is_none() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), freed).await.unwrap();
    }
}
