//! The time of the store's server, as far as this process knows it.
//!
//! The difference between the two clocks is measured when the store is opened and now and then afterwards; every moment
//! that this process tells is corrected by it. Rejected: asking the server in each operation, which would cost each a
//! trip to it, and would leave code that only compares times (keepers, the reconciler) without an answer.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use fleet_core::time::{ClockOffset, ClockReading, Millis};
use fleet_store::{Store, StoreError, ops};

use super::{machine_now, uptime};

/// By how much the server is ahead of this machine. One for the process, like its clock: it has one store.
static OFFSET: AtomicI64 = AtomicI64::new(0);
/// By how much a test has set the clock of this machine wrong.
#[cfg(test)]
static SKEW: AtomicI64 = AtomicI64::new(0);

/// Clocks drift by less than a second in this time.
const RENEW: Duration = Duration::from_mins(5);
/// How often this machine's clock is compared with its uptime, which shows when the clock was set.
const RESYNC_INTERVAL: Duration = Duration::from_secs(5);
/// A clock that is only being adjusted moves by less.
const CLOCK_JUMP_MILLIS: u64 = 500;

pub(super) fn corrected(machine: Millis) -> Millis {
    Millis(machine.0.saturating_add(OFFSET.load(Ordering::Relaxed)))
}

#[cfg(test)]
pub(super) fn skewed(machine: Millis) -> Millis {
    Millis(machine.0.saturating_add(SKEW.load(Ordering::Relaxed)))
}

/// Sets the clock of this machine ahead by this many seconds.
#[cfg(test)]
pub(super) fn skew(seconds: i64) {
    SKEW.store(seconds.saturating_mul(1_000), Ordering::Relaxed);
}

/// Goes by the clock of this store's server from now on, as long as the process lives.
pub(crate) async fn follow(store: &Store) -> Result<(), StoreError> {
    if !look(store).await? {
        return Ok(());
    }
    let store = store.clone();
    tokio::spawn(async move {
        let (mut looked, mut wall) = (uptime(), wall_at_start());
        loop {
            tokio::time::sleep(RESYNC_INTERVAL).await;
            let was_set = wall_at_start().abs_diff(wall) > CLOCK_JUMP_MILLIS;
            if !was_set && uptime().saturating_sub(looked) < RENEW {
                continue;
            }
            // A server that is out of reach is asked again at the next look.
            if look(&store).await.is_ok() {
                (looked, wall) = (uptime(), wall_at_start());
            }
        }
    });
    Ok(())
}

/// The moment at which [`uptime`] was zero, by this machine's clock: moves when that is set, or sleeps.
fn wall_at_start() -> i64 {
    machine_now().0.saturating_sub(i64::try_from(uptime().as_millis()).unwrap_or(i64::MAX))
}

/// Measures the difference; false where there is no server.
async fn look(store: &Store) -> Result<bool, StoreError> {
    let before = machine_now();
    let Some(there) = store.call(ops::ServerTime).await? else { return Ok(false) };
    let reading = ClockReading { before, there, after: machine_now() };
    let correct = |offset| Some(ClockOffset(offset).corrected(reading).0);
    let _ = OFFSET.fetch_update(Ordering::Relaxed, Ordering::Relaxed, correct);
    Ok(true)
}
