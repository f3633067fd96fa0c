//! What happens to a task after its run failed: a table from reason to action.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::run::Reason;

/// How often and how patiently a task is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// Failures that are forgiven; the next one fails the task.
    pub retries: u32,
    /// The wait after the first failure, in seconds; it doubles with every further one.
    pub backoff_seconds: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 2, backoff_seconds: 10 }
    }
}

impl RetryPolicy {
    /// The most failures that can be forgiven.
    pub const MOST_RETRIES: u32 = 20;
    /// The longest first wait.
    pub const LONGEST_BACKOFF_SECONDS: u32 = 86_400;
}

/// What to do about a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Queue the task again, not before this span has passed.
    RetryAfter(Duration),
    /// Fail the task: a person has to look.
    GiveUp,
}

/// Never longer than this between two attempts, however often it failed.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// Decides from the reason, how often the task failed before, and its policy. `jitter` is any random number:
/// it spreads tasks that failed together over a quarter of the wait.
pub fn after_failure(reason: Reason, earlier_failures: u32, policy: RetryPolicy, jitter: u64) -> Verdict {
    if needs_a_person(reason) || earlier_failures >= policy.retries {
        return Verdict::GiveUp;
    }
    let doubled = u64::from(policy.backoff_seconds).saturating_mul(1 << earlier_failures.min(20));
    let wait = Duration::from_secs(doubled).min(LONGEST_WAIT);
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    Verdict::RetryAfter(wait + Duration::from_millis(jitter % (quarter + 1)))
}

/// Trying the same thing again cannot help.
const fn needs_a_person(reason: Reason) -> bool {
    match reason {
        Reason::Auth
        | Reason::BadModel
        | Reason::OverBudget
        | Reason::BlockedByAgent
        | Reason::Untrusted
        | Reason::AgentMissing
        | Reason::BranchTaken => true,
        Reason::AgentError
        | Reason::NoChanges
        | Reason::RateLimited
        | Reason::QuotaExhausted
        | Reason::ContextOverflow
        | Reason::ProviderOutage
        | Reason::Stale
        | Reason::TimedOut
        | Reason::SetupFailed
        | Reason::WorkspaceFailed
        | Reason::Lost => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(failures: u32, jitter: u64) -> Verdict {
        after_failure(Reason::AgentError, failures, RetryPolicy { retries: 9, backoff_seconds: 10 }, jitter)
    }

    #[test]
    fn waits_double_up_to_an_hour_with_jitter_on_top() {
        assert_eq!(wait(0, 0), Verdict::RetryAfter(Duration::from_secs(10)));
        assert_eq!(wait(3, 0), Verdict::RetryAfter(Duration::from_secs(80)));
        assert_eq!(wait(8, 0), Verdict::RetryAfter(Duration::from_secs(2_560)));
        assert_eq!(wait(0, 2_500), Verdict::RetryAfter(Duration::from_millis(12_500)));
        assert_eq!(wait(0, 2_501), Verdict::RetryAfter(Duration::from_secs(10)));
        let stubborn = RetryPolicy { retries: 20, backoff_seconds: 86_400 };
        assert_eq!(after_failure(Reason::Lost, 19, stubborn, 0), Verdict::RetryAfter(LONGEST_WAIT));
    }

    #[test]
    fn gives_up_when_the_retries_are_used_or_cannot_help() {
        assert_eq!(wait(9, 0), Verdict::GiveUp);
        let policy = RetryPolicy { retries: 5, backoff_seconds: 0 };
        assert_eq!(after_failure(Reason::Auth, 0, policy, 0), Verdict::GiveUp);
        assert_eq!(after_failure(Reason::ProviderOutage, 0, policy, 9), Verdict::RetryAfter(Duration::ZERO));
    }
}
