//! The messages between a keeper and its runner, one per line.

use fleet_core::id::RunId;
use fleet_core::run::{RunMove, RunState};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::mpsc;

use crate::{StoreError, migrate};

/// At most this many lines wait to be written: far more than one keeper sends at once.
pub(super) const MAX_WAITING: usize = 256;

/// The first line of a client. Another version may use the same operations with another meaning.
pub(super) fn greeting() -> String {
    format!("codefleet {} schema {}\n", env!("CARGO_PKG_VERSION"), migrate::LATEST)
}

/// Writes lines as they come; those that wait together are one write.
pub(super) async fn send(mut to: OwnedWriteHalf, mut lines: mpsc::Receiver<String>) {
    while let Some(mut text) = lines.recv().await {
        while let Ok(more) = lines.try_recv() {
            text.push_str(&more);
        }
        if to.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The refusals that a keeper acts on. For any other error it asks the store itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum WireRefusal {
    RunNotFound(String),
    LeaseLost(RunId),
    IllegalRun(RunId, RunState, RunMove),
    OutOfStep(RunId, i64, i64),
}

impl WireRefusal {
    pub(super) fn of(error: StoreError) -> Option<Self> {
        Some(match error {
            StoreError::RunNotFound(run) => Self::RunNotFound(run),
            StoreError::LeaseLost { run } => Self::LeaseLost(run),
            StoreError::IllegalRun { run, from, event } => Self::IllegalRun(run, from, event),
            StoreError::OutOfStep { run, decoded, from } => Self::OutOfStep(run, decoded, from),
            _ => return None,
        })
    }
}

impl From<WireRefusal> for StoreError {
    fn from(refused: WireRefusal) -> Self {
        match refused {
            WireRefusal::RunNotFound(run) => Self::RunNotFound(run),
            WireRefusal::LeaseLost(run) => Self::LeaseLost { run },
            WireRefusal::IllegalRun(run, from, event) => Self::IllegalRun { run, from, event },
            WireRefusal::OutOfStep(run, decoded, from) => Self::OutOfStep { run, decoded, from },
        }
    }
}
