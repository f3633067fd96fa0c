//! Waiting for what is new: how every verb waits whose answer is a page.
//!
//! Owns the one watch of the store that all who wait in this process share: systems have few of them to spare.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_store::Watch;
use serde::Serialize;
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::time::Instant;

use crate::{Engine, problems};

/// The longest time between two looks: a change may come without a notification.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Fifty agents change the store all the time: a waiting command checks no more often than this.
const PAUSE: Duration = Duration::from_millis(20);
/// No call waits longer than a day.
const MAX_SECONDS: u32 = 24 * 60 * 60;

/// Wakes all waiters of this process when the store has changed, and now and then in any case.
#[derive(Clone)]
pub(crate) struct StoreChanges(Receiver<()>);

impl StoreChanges {
    pub(crate) async fn listen(engine: &Engine) -> Outcome<Self> {
        let watch = engine.store().await?.watch().await.map_err(problems::store)?;
        let (sender, receiver) = channel(());
        tokio::spawn(ring(watch, sender));
        Ok(Self(receiver))
    }
}

/// Until no listener is left.
async fn ring(watch: Watch, bell: Sender<()>) {
    loop {
        tokio::select! {
            () = watch.changed(POLL_INTERVAL) => bell.send_replace(()),
            () = bell.closed() => return,
        };
    }
}

/// A caller that looks again and again until there is something new.
pub(crate) struct Waiting {
    changes: Option<(StoreChanges, Instant)>,
}

impl Waiting {
    /// Begins, before the first look, so that nothing is missed. Without a number of seconds there is one look only.
    pub(crate) async fn start(engine: &Engine, seconds: Option<u32>) -> Outcome<Self> {
        let Some(seconds) = seconds.filter(|seconds| *seconds > 0) else { return Ok(Self { changes: None }) };
        let mut changes = engine.changes().await?;
        changes.0.mark_unchanged();
        let until = Instant::now() + Duration::from_secs(seconds.min(MAX_SECONDS).into());
        Ok(Self { changes: Some((changes, until)) })
    }

    /// Waits until it is worth looking again; false when the time is over.
    pub(crate) async fn goes_on(&mut self) -> bool {
        self.goes_on_for(POLL_INTERVAL).await
    }

    /// The same, for what changes without a notification: it is checked this often.
    pub(crate) async fn goes_on_for(&mut self, longest: Duration) -> bool {
        let Some((changes, until)) = &mut self.changes else { return false };
        if Instant::now() >= *until {
            return false;
        }
        tokio::time::sleep(PAUSE).await;
        // Either way it is looked at next, so that it does not matter what ended the wait.
        let latest = (Instant::now() + longest).min(*until);
        let _ = tokio::time::timeout_at(latest, changes.0.changed()).await;
        true
    }

    /// The same, also for something that comes without a notification. The store is not looked at again before `pause`.
    pub(crate) async fn goes_on_or(&mut self, appears: impl Future<Output = ()>, pause: Duration) -> bool {
        let Some((changes, until)) = &mut self.changes else { return false };
        if Instant::now() >= *until {
            return false;
        }
        let latest = (Instant::now() + POLL_INTERVAL).min(*until);
        let store_change = async {
            tokio::time::sleep(pause).await;
            let _ = changes.0.changed().await;
        };
        tokio::select! {
            () = store_change => {}
            () = appears => {}
            () = tokio::time::sleep_until(latest) => {}
        }
        true
    }

    /// Waits until the store has changed, or until the time is over.
    pub(crate) async fn store_change(&mut self) {
        let Some((changes, until)) = &mut self.changes else { return };
        let _ = tokio::time::timeout_at(*until, changes.0.changed()).await;
    }
}

/// A hash of an answer, so that a caller need not keep the answer.
pub(crate) fn fingerprint<T: Serialize + ?Sized>(answer: &T) -> Outcome<String> {
    let text =
        serde_json::to_string(answer).map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}
