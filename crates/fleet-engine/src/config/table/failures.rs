//! What can be configured about failures and about money.

use super::super::form::{Form, NoAmount, NoDuration};
use super::super::keys::{Fixed, Key, Kind, Scope};

const ACTION: Kind = Kind::OneOf(&["retry", "pause", "hand_over", "give_up"]);
const PAUSE: Kind = super::duration(super::DAY, NoDuration::Refused);
const BOUND: Kind = Kind::String(Form::Money(NoAmount::Allowed));

pub(super) const FAILURES: &[Key] = &[
    Key {
        name: "budget.day_usd",
        kind: BOUND,
        default: Some(Fixed::Text("none")),
        doc: "How many dollars all runs together may cost on one day (UTC), or `none`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "budget.total_usd",
        kind: BOUND,
        default: Some(Fixed::Text("none")),
        doc: "How many dollars all runs together may ever cost, or `none`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "budget.day_tokens",
        kind: Kind::String(Form::Tokens),
        default: Some(Fixed::Text("none")),
        doc: "How many tokens all runs together may use on one day (UTC), or `none`.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "budget.run_usd",
        kind: Kind::String(Form::Money(NoAmount::Refused)),
        default: Some(Fixed::Text("1.00")),
        doc: "How much of a budget is put aside for a run whose task has no limit of its own.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "budget.warn_percent",
        kind: Kind::Integer { min: 1, max: 100 },
        default: Some(Fixed::Integer(80)),
        doc: "How much of a budget or a limit is used when it is worth a warning, of a hundred.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "rate_limit.first_pause",
        kind: PAUSE,
        default: Some(Fixed::Text("30s")),
        doc: "The first pause of an account whose provider asks to slow down and does not say for how long; it doubles.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "rate_limit.longest_pause",
        kind: PAUSE,
        default: Some(Fixed::Text("1h")),
        doc: "The longest such pause.",
        scope: Scope::UserOnly,
    },
    Key {
        name: "rate_limit.retries",
        kind: Kind::Integer { min: 0, max: 1_000 },
        default: Some(Fixed::Integer(50)),
        doc: "How often a task is tried again after such pauses.",
        scope: Scope::UserOnly,
    },
    after("policy.agent_error", "retry", "What happens to a task when its agent ended with an error."),
    after(
        "policy.blocked_by_agent",
        "give_up",
        "What happens to a task when its agent said that it cannot go on.",
    ),
    after("policy.no_changes", "retry", "What happens to a task when nothing was changed."),
    after("policy.rate_limited", "pause", "What happens to a task when the provider asked to slow down."),
    after(
        "policy.quota_exhausted",
        "hand_over",
        "What happens to a task when the quota of the account was used up.",
    ),
    after("policy.auth", "give_up", "What happens to a task when the credentials were refused."),
    after("policy.bad_model", "give_up", "What happens to a task when the provider did not know the model."),
    after(
        "policy.context_overflow",
        "retry",
        "What happens to a task when the conversation no longer fitted the model.",
    ),
    after("policy.provider_outage", "pause", "What happens to a task when the provider was down."),
    after("policy.stale", "retry", "What happens to a task when nothing happened for too long."),
    after("policy.timed_out", "retry", "What happens to a task when it took longer than its limit."),
    after(
        "policy.over_budget",
        "give_up",
        "What happens to a task when it reached its limit of tokens or money.",
    ),
    after("policy.setup_failed", "retry", "What happens to a task when a set-up command failed."),
    after("policy.workspace_failed", "retry", "What happens to a task when its workspace could not be made."),
    after("policy.lost", "retry", "What happens to a task when its keeper vanished."),
    after(
        "policy.untrusted",
        "give_up",
        "What happens to a task when commands of the repository were not agreed to.",
    ),
    after(
        "policy.agent_missing",
        "give_up",
        "What happens to a task when the program of its agent was missing.",
    ),
    after("policy.branch_taken", "give_up", "What happens to a task when its branch was taken."),
    after(
        "policy.merge_conflict",
        "give_up",
        "What happens to a task when the branches that it starts from contradict each other.",
    ),
    after("policy.checks_failed", "retry", "What happens to a task when a check did not succeed."),
    after(
        "policy.outside_workspace",
        "give_up",
        "What happens to a task when its agent worked outside of its workspace.",
    ),
];

/// The defaults are those of `fleet_core::policy`.
const fn after(name: &'static str, usual: &'static str, doc: &'static str) -> Key {
    Key { name, kind: ACTION, default: Some(Fixed::Text(usual)), doc, scope: Scope::UserOnly }
}
