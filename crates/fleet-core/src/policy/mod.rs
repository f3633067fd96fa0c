//! What happens to a task after its run failed.
//!
//! Owns the one table from reason to action, the length of waits, and the choice of the next agent. Must never know
//! which agent or provider it is about: those are names here.

mod hand_over;
mod pause;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use hand_over::{EligibleAgent, successor};
pub use pause::{AccountState, LONGEST_PAUSE, PauseBounds, ProviderRefusal, after_refusal};

use crate::run::Reason;
use crate::task::{AgentName, Task, TaskHistory, TaskMode};
use crate::transition::{UnknownName, named};

/// How often and how patiently a task is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RetryPolicy {
    /// Failures that are forgiven; the next one fails the task.
    pub retries: u32,
    /// The wait after the first failure, in seconds; it doubles with every further one.
    pub backoff_seconds: u32,
    /// How often work that failed its checks goes back to the agent; the next time fails the task.
    pub check_retries: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { retries: 2, backoff_seconds: 10, check_retries: 2 }
    }
}

impl RetryPolicy {
    pub const MAX_RETRIES: u32 = 20;
    pub const LONGEST_BACKOFF_SECONDS: u32 = 86_400;

    /// The same for a task in this mode.
    #[must_use]
    pub const fn in_mode(self, mode: TaskMode) -> Self {
        if starts_again_alone(mode) { self } else { Self { retries: 0, check_retries: 0, ..self } }
    }
}

named! {
    /// What can be done about a failed run.
    pub enum FailureAction: "failure action" {
        /// Try again after a while; that counts against the task.
        Retry = "retry",
        /// Pause the account of the agent, for all tasks. The task keeps its place and its good record.
        Pause = "pause",
        /// Let the next agent that may take over go on at once.
        HandOver = "hand_over",
        /// Fail the task: a person has to look.
        GiveUp = "give_up",
    }
}

named! {
    /// How the next attempt begins, if it is made by the same agent.
    pub enum NextConversation: "conversation" {
        /// It goes on with the conversation of the attempt before.
        Resume = "resume",
        /// With a clean one: the conversation itself is what failed, or there was none worth keeping.
        Fresh = "fresh",
    }
}

impl NextConversation {
    /// What fits after a run that failed for `reason`, when the task has failed `failures` times by now.
    pub const fn after(reason: Reason, failures: u32) -> Self {
        match table::rule(reason).session {
            table::Session::Kept => Self::Resume,
            table::Session::KeptOnce if failures <= 1 => Self::Resume,
            table::Session::KeptOnce | table::Session::Dropped => Self::Fresh,
        }
    }
}

/// The table from reason to action: the default, with the user's changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    wishes: BTreeMap<Reason, FailureAction>,
    rate_limits: RateLimits,
    /// How often a task may begin a new conversation because the one before was full.
    context_restarts: u32,
}

impl Default for Policy {
    fn default() -> Self {
        let (wishes, rate_limits) = (BTreeMap::new(), RateLimits::default());
        Self { wishes, rate_limits, context_restarts: DEFAULT_CONTEXT_RESTARTS }
    }
}

const DEFAULT_CONTEXT_RESTARTS: u32 = 10;

/// How rate limits of a provider are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimits {
    /// The first pause of the account if the provider names no end; it doubles with every further one.
    pub first: Duration,
    pub longest: Duration,
    /// How often a task goes back to the queue for it.
    pub retries: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        let first = Duration::from_secs(table::rule(Reason::RateLimited).pause_seconds.into());
        Self { first, longest: LONGEST_PAUSE, retries: MAX_WAITS }
    }
}

impl Policy {
    /// The same, but for one reason.
    #[must_use]
    pub fn with(mut self, reason: Reason, action: FailureAction) -> Self {
        self.wishes.insert(reason, action);
        self
    }

    /// The same, but for how patient one is with a provider that asks to slow down.
    #[must_use]
    pub const fn with_rate_limits(mut self, rate_limits: RateLimits) -> Self {
        self.rate_limits = rate_limits;
        self
    }

    /// The same, but for how often a task may begin a new conversation because the one before was full.
    #[must_use]
    pub const fn with_context_restarts(mut self, context_restarts: u32) -> Self {
        self.context_restarts = context_restarts;
        self
    }

    /// How long an account pauses that fails for this reason, if its provider names no end.
    pub fn patience(&self, reason: Reason) -> PauseBounds {
        if reason == Reason::RateLimited {
            return PauseBounds { first: self.rate_limits.first, longest: self.rate_limits.longest };
        }
        let first = Duration::from_secs(table::rule(reason).pause_seconds.into());
        PauseBounds { first, longest: LONGEST_PAUSE }
    }

    /// How often a task goes back to the queue for this reason without a fault of its own.
    const fn most_waits(&self, reason: Reason) -> u32 {
        if matches!(reason, Reason::RateLimited) { self.rate_limits.retries } else { MAX_WAITS }
    }

    pub fn action(&self, reason: Reason) -> FailureAction {
        self.wishes.get(&reason).copied().unwrap_or(table::rule(reason).action)
    }

    /// Whether the account of the agent pauses after such a failure. A hand-over because of the agent's own mistake
    /// does not pause the account for other tasks.
    pub fn pauses(&self, reason: Reason) -> bool {
        match self.action(reason) {
            FailureAction::Pause => true,
            FailureAction::HandOver => blames_account(reason),
            FailureAction::Retry | FailureAction::GiveUp => false,
        }
    }

    /// Decides. `next` is the agent that would take over, if any.
    pub fn after_failure(&self, failure: &FailedRun, next: Option<AgentName>) -> FailureDecision {
        if !starts_again_alone(failure.mode) {
            return FailureDecision::GiveUp;
        }
        let of_account = blames_account(failure.reason);
        let most = self.most_waits(failure.reason);
        let wait = |verdict| if failure.waits >= most { FailureDecision::GiveUp } else { verdict };
        match (self.action(failure.reason), next) {
            (FailureAction::GiveUp, _) => FailureDecision::GiveUp,
            (FailureAction::Pause, _) => wait(FailureDecision::Pause),
            (FailureAction::HandOver, Some(to)) if of_account => wait(FailureDecision::HandOver(to)),
            (FailureAction::HandOver, None) if of_account => wait(FailureDecision::Pause),
            (FailureAction::HandOver, Some(to)) => {
                failure.retry(self.context_restarts, |_| FailureDecision::HandOver(to))
            }
            (FailureAction::HandOver, None) | (FailureAction::Retry, _) => {
                failure.retry(self.context_restarts, FailureDecision::RetryAfter)
            }
        }
    }
}

/// Whether a failure says something about the account of the agent, and nothing about the task.
pub const fn blames_account(reason: Reason) -> bool {
    table::rule(reason).blames_account
}

/// Whether another run of a task may follow without a person. An interactive task fails instead, with its work kept:
/// nobody may be at the new terminal, and an agent that waits there would look as if it worked.
const fn starts_again_alone(mode: TaskMode) -> bool {
    !mode.is_interactive()
}

/// What the decision needs to know of a run that was stopped through no fault of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleasedRun {
    pub mode: TaskMode,
    /// Before that, nobody can have attached to it.
    pub had_agent: bool,
    /// A person has it continue, in another mode or after all in the same one, and waits for that.
    pub was_switched: bool,
}

impl ReleasedRun {
    /// Why its task fails; nothing if it returns to the queue.
    pub const fn failure(self) -> Option<Reason> {
        let is_awaited = self.was_switched || starts_again_alone(self.mode);
        if self.had_agent && !is_awaited { Some(Reason::Lost) } else { None }
    }
}

/// What the decision needs to know of a failed run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailedRun {
    pub reason: Reason,
    pub mode: TaskMode,
    /// How often the task failed before.
    pub failures: u32,
    /// How often it went back to the queue before without a fault of its own.
    pub waits: u32,
    /// How often its work failed its checks before.
    pub check_failures: u32,
    /// How often it began a new conversation before because the one before was full.
    pub context_restarts: u32,
    pub retry: RetryPolicy,
    /// Any random number: it spreads tasks that failed together over a quarter of the wait.
    pub jitter: u64,
}

/// A task whose account is paused again and again does not fail for that, but it does not go on forever either.
pub const MAX_WAITS: u32 = 50;

/// Never longer than this between two attempts, however often it failed.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

impl FailedRun {
    /// A run of this task that failed, before that is counted.
    pub const fn new(reason: Reason, task: &Task, mode: TaskMode, jitter: u64) -> Self {
        let TaskHistory { failures, waits, check_failures, context_restarts, .. } = task.history;
        let retry = task.spec.retry;
        Self { reason, mode, failures, waits, check_failures, context_restarts, retry, jitter }
    }

    /// Tries again, if what this failure counts as has not reached its bound.
    fn retry(&self, restarts: u32, verdict: impl FnOnce(Duration) -> FailureDecision) -> FailureDecision {
        let backoff = Duration::from_secs(self.retry.backoff_seconds.into());
        let (before, most, first) = match self.reason {
            // The agent can go on at once with what its checks say: nothing else has to change first.
            Reason::ChecksFailed => (self.check_failures, self.retry.check_retries, Duration::ZERO),
            Reason::ContextPressure => (self.context_restarts, restarts, backoff),
            _ => (self.failures, self.retry.retries, backoff),
        };
        if before >= most {
            return FailureDecision::GiveUp;
        }
        verdict(spread(doubled(first, before, LONGEST_WAIT), self.jitter))
    }
}

/// What to do about a failed run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum FailureDecision {
    RetryAfter(Duration),
    /// Queue the task again; it starts when the pause of the account is over.
    Pause,
    /// Queue the task again, for this agent.
    HandOver(AgentName),
    GiveUp,
}

impl FailureDecision {
    /// What a run that failed for `reason` counts as.
    pub const fn counter(&self, reason: Reason) -> FailureCounter {
        match self {
            Self::Pause => FailureCounter::Waits,
            Self::HandOver(_) if blames_account(reason) => FailureCounter::Waits,
            Self::RetryAfter(_) | Self::HandOver(_) | Self::GiveUp => match reason {
                Reason::ChecksFailed => FailureCounter::Checks,
                Reason::ContextPressure => FailureCounter::ContextRestarts,
                _ => FailureCounter::Failures,
            },
        }
    }
}

named! {
    /// What is counted for a task, each with its own bound.
    pub enum FailureCounter: "failure counter" {
        Failures = "failures",
        /// No fault of the task.
        Waits = "waits",
        Checks = "checks",
        /// No fault of the task.
        ContextRestarts = "restarts",
    }
}

/// `first` doubled `times` times, at most `longest`.
fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first.saturating_mul(1 << times.min(20)).min(longest)
}

/// With up to a quarter more, against thundering herds.
fn spread(wait: Duration, jitter: u64) -> Duration {
    let quarter = u64::try_from(wait.as_millis() / 4).unwrap_or(0);
    wait + Duration::from_millis(jitter % (quarter + 1))
}
