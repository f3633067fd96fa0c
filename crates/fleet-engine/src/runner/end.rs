//! Signals to a runner.

use std::pin::pin;
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long work that is under way may take to finish when the runner is asked to end: a claim should get its keeper.
/// More would be a store that does not answer.
const LAST_TURN: Duration = Duration::from_secs(3);

/// Signals that end a wait.
pub(super) struct EndSignals {
    children: Signal,
    asked: [Signal; 3],
}

impl EndSignals {
    pub(super) fn listen() -> Outcome<Self> {
        let on =
            |kind| signal(kind).map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")));
        Ok(Self {
            children: on(SignalKind::child())?,
            asked: [on(SignalKind::terminate())?, on(SignalKind::interrupt())?, on(SignalKind::hangup())?],
        })
    }

    pub(super) async fn asked(&mut self) {
        any_signal(&mut self.asked).await;
    }

    /// Whether the runner is asked to end; otherwise a keeper has ended.
    pub(super) async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.children.recv() => false,
            () = any_signal(&mut self.asked) => true,
        }
    }

    /// The outcome of some work, or nothing if the runner was asked to end meanwhile.
    pub(super) async fn unless_asked_to_end<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        tokio::select! {
            done = &mut work => return Some(done),
            () = self.asked() => {}
        }
        let _ = tokio::time::timeout(LAST_TURN, work).await;
        None
    }
}

/// Waits for any of these.
pub(crate) async fn any_signal(signals: &mut [Signal; 3]) {
    let [first, second, third] = signals;
    tokio::select! {
        _ = first.recv() => {}
        _ = second.recv() => {}
        _ = third.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use fleet_host::process::{Identity, Signal};

    use super::*;

    #[test]
    fn a_store_that_does_not_answer_keeps_no_runner_from_ending() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut end = EndSignals::listen().unwrap();
            assert_eq!(end.unless_asked_to_end(async { 7 }).await, Some(7));
            Identity::current().signal(Signal::TERM).unwrap();
            assert_eq!(end.unless_asked_to_end(std::future::pending::<()>()).await, None);
        });
    }
}
