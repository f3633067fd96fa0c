//! How long an account takes no work after it was refused something.

use std::time::Duration;

use super::{doubled, spread};
use crate::time::Millis;

/// The state of an account: paused until a time, perhaps one that has passed, after this many refusals in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccountState {
    pub until: Millis,
    /// Pauses in a row without a success between them.
    pub strikes: u32,
}

/// A refusal by the provider of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderRefusal {
    /// The pause if the provider names no time.
    pub patience: PauseBounds,
    /// When the account is served again, if the provider said so.
    pub reset: Option<Millis>,
    /// Any random number: runners do not come back all at once.
    pub jitter: u64,
    pub now: Millis,
}

/// How long an account pauses if its provider names no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseBounds {
    /// The first time; it doubles with every further one.
    pub first: Duration,
    pub longest: Duration,
}

/// The longest pause if the provider names no end; after this time without a pause, the count restarts.
pub const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// The longest pause that a provider is believed: quotas go by the week at most, so what is longer is a mistake.
const LONGEST_RESET: Duration = Duration::from_hours(8 * 24);

/// The clocks of the provider and of this machine differ a little.
const AFTER_RESET_MILLIS: u64 = 5_000;

/// How an account stands after a refusal. Many runs of an account are refused together: only the first is a strike,
/// and while the pause lasts only an end that the provider names can make it longer.
pub fn after_refusal(before: Option<AccountState>, trouble: &ProviderRefusal) -> AccountState {
    let lasting = before.filter(|standing| standing.until > trouble.now);
    let strikes = match (before, lasting) {
        (_, Some(lasting)) => lasting.strikes,
        (Some(over), None) if trouble.now.since(over.until) < LONGEST_PAUSE => over.strikes.saturating_add(1),
        _ => 1,
    };
    let until = match (named_end(trouble), lasting) {
        (Some(told), Some(lasting)) => lasting.until.max(told),
        (Some(told), None) => told.max(backoff_end(trouble, strikes)),
        (None, Some(lasting)) => lasting.until,
        (None, None) => trouble.now.plus(usual(trouble, strikes)),
    };
    AccountState { until, strikes }
}

/// The end that the provider named, a little later; none if that has passed.
fn named_end(trouble: &ProviderRefusal) -> Option<Millis> {
    let reset = trouble.reset.filter(|reset| *reset > trouble.now)?;
    let reset = reset.min(trouble.now.plus(LONGEST_RESET));
    Some(reset.plus(Duration::from_millis(trouble.jitter % AFTER_RESET_MILLIS)))
}

/// The earliest time to try again, whatever the provider says. An account that waited as told and was refused again
/// waits as long as if the provider had named no time: some providers say "in a second" every time, and a task has a
/// limited number of waits.
fn backoff_end(trouble: &ProviderRefusal, strikes: u32) -> Millis {
    if strikes > 1 { trouble.now.plus(usual(trouble, strikes - 1)) } else { trouble.now }
}

fn usual(trouble: &ProviderRefusal, strikes: u32) -> Duration {
    let PauseBounds { first, longest } = trouble.patience;
    spread(doubled(first, strikes.saturating_sub(1), longest), trouble.jitter)
}
