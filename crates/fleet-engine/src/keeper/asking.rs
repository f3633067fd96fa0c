//! What the agent of a run asks people, on its way to the keeper: how many of its calls wait for an answer, and whether it
//! does not want to wait.

use fleet_core::supervision::Asking;
use tokio::sync::watch;

/// Shared by the keeper and the engine that answers its agent.
#[derive(Debug, Clone)]
pub(crate) struct AskingCalls {
    state: watch::Sender<Asking>,
}

impl Default for AskingCalls {
    fn default() -> Self {
        Self { state: watch::Sender::new(Asking::default()) }
    }
}

impl AskingCalls {
    pub(crate) fn watch(&self) -> watch::Receiver<Asking> {
        self.state.subscribe()
    }

    /// A call waits until this is dropped.
    pub(crate) fn wait(&self) -> WaitingCall {
        self.state.send_modify(|now| now.waiting += 1);
        WaitingCall { calls: self.clone() }
    }

    /// The agent does not wait: its run ends.
    pub(crate) fn park(&self) {
        self.state.send_modify(|now| now.parks = true);
    }
}

/// A call that waits for the answer of a person.
#[derive(Debug)]
pub(crate) struct WaitingCall {
    calls: AskingCalls,
}

impl Drop for WaitingCall {
    fn drop(&mut self) {
        self.calls.state.send_modify(|now| now.waiting = now.waiting.saturating_sub(1));
    }
}
