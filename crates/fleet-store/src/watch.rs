//! Waiting for changes without polling.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;

/// Rings when any process changed the store. A ring that came before the wait is not lost; several rings may
/// become one. Rings can be missed (a lost connection, a full kernel queue), so every wait has an end.
pub struct Watch {
    bell: Arc<Notify>,
    /// Keeps whatever rings the bell alive.
    _source: Box<dyn std::any::Any + Send + Sync>,
}

impl Watch {
    pub(crate) fn new(bell: Arc<Notify>, source: impl std::any::Any + Send + Sync) -> Self {
        Self { bell, _source: Box::new(source) }
    }

    /// Waits for the next change, at most for `longest`: then it is time to look anyway.
    pub async fn changed(&self, longest: Duration) {
        // Either way the caller looks at the store next, so which of the two it was does not matter.
        let _ = tokio::time::timeout(longest, self.bell.notified()).await;
    }
}
