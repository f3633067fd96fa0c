//! The default policy, one row for each reason.

use super::FailureAction;
use crate::run::Reason;

/// The default decision for a reason.
pub(super) struct Rule {
    pub(super) action: FailureAction,
    pub(super) session: Session,
    /// The first pause of the account, in seconds, if the provider names no end.
    pub(super) pause_seconds: u32,
    /// Whether the account failed: another task of it would have failed, too.
    pub(super) blames_account: bool,
}

/// What happens to the conversation.
pub(super) enum Session {
    Kept,
    /// Dropped after the first failure, because it may be the cause.
    KeptOnce,
    Dropped,
}

/// The pause for a reason that does not name one.
const DEFAULT_PAUSE_SECONDS: u32 = 60;

#[expect(
    clippy::match_same_arms,
    reason = "a table: one reason a line, to be read against the documentation"
)]
pub(super) const fn rule(reason: Reason) -> Rule {
    use FailureAction::{GiveUp, HandOver, Pause, Retry};
    use Session::{Dropped, Kept, KeptOnce};
    match reason {
        Reason::RateLimited => of_account(Pause, Kept, 30),
        Reason::ProviderOutage => of_account(Pause, Kept, 15),
        Reason::QuotaExhausted => of_account(HandOver, Kept, 900),
        Reason::Auth => of_account(GiveUp, Dropped, 900),
        Reason::BadModel => of_task(GiveUp, Dropped),
        Reason::ContextOverflow => of_task(Retry, Dropped),
        Reason::ContextPressure => of_task(Retry, Dropped),
        Reason::AgentError => of_task(Retry, KeptOnce),
        Reason::NoChanges => of_task(Retry, KeptOnce),
        Reason::Stale => of_task(Retry, Kept),
        Reason::TimedOut => of_task(Retry, Kept),
        Reason::Lost => of_task(Retry, Kept),
        Reason::SetupFailed => of_task(Retry, Kept),
        Reason::WorkspaceFailed => of_task(Retry, Kept),
        Reason::WorkspaceRefused => of_task(GiveUp, Kept),
        Reason::OverBudget => of_task(GiveUp, Kept),
        Reason::BlockedByAgent => of_task(GiveUp, Kept),
        Reason::Untrusted => of_task(GiveUp, Kept),
        Reason::AgentMissing => of_task(GiveUp, Kept),
        Reason::BranchTaken => of_task(GiveUp, Kept),
        Reason::MergeConflict => of_task(GiveUp, Kept),
        Reason::ChecksFailed => of_task(Retry, Kept),
        Reason::OutsideWorkspace => of_task(GiveUp, Dropped),
    }
}

const fn of_account(action: FailureAction, session: Session, pause_seconds: u32) -> Rule {
    Rule { action, session, pause_seconds, blames_account: true }
}

const fn of_task(action: FailureAction, session: Session) -> Rule {
    Rule { action, session, pause_seconds: DEFAULT_PAUSE_SECONDS, blames_account: false }
}
