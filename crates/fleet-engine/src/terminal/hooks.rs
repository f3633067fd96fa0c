//! What the hooks of an agent in a terminal are called with, on its way to the keeper.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc;

/// At most this many calls wait. A call that finds no room is lost: the next one, or the screen, tells the state as well.
const MAX_WAITING: usize = 64;

/// Takes calls for the process of the agent that listens now.
#[derive(Debug, Clone, Default)]
pub(crate) struct HookInbox {
    listener: Arc<Mutex<Option<mpsc::Sender<Vec<u8>>>>>,
}

impl HookInbox {
    fn listener(&self) -> MutexGuard<'_, Option<mpsc::Sender<Vec<u8>>>> {
        self.listener.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on calls come here.
    pub(crate) fn listen(&self) -> mpsc::Receiver<Vec<u8>> {
        let (tell, calls) = mpsc::channel(MAX_WAITING);
        *self.listener() = Some(tell);
        calls
    }

    /// `false` if nobody listens, or too many calls wait.
    pub(crate) fn call(&self, payload: Vec<u8>) -> bool {
        self.listener().as_ref().is_some_and(|listener| listener.try_send(payload).is_ok())
    }
}
