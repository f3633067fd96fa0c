//! The whole table, and what it is made into.

use std::fmt::Write;

use super::*;
use crate::time::Millis;

fn failure(reason: Reason) -> FailedRun {
    let retry = RetryPolicy { retries: 9, ..RetryPolicy::default() };
    FailedRun {
        reason,
        mode: TaskMode::Headless,
        failures: 0,
        waits: 0,
        check_failures: 0,
        context_restarts: 0,
        retry,
        jitter: 0,
    }
}

fn wait(failures: u32, jitter: u64) -> FailureDecision {
    let failure = FailedRun { failures, jitter, ..failure(Reason::AgentError) };
    Policy::default().after_failure(&failure, None)
}

fn agent(name: &str) -> AgentName {
    name.parse().unwrap()
}

#[test]
fn what_follows_from_each_reason() {
    let mut table = format!(
        "{:<18}{:<11}{:<14}{:<14}{:<7}{:<11}interactive\n",
        "", "action", "first retry", "second retry", "pause", "counts as"
    );
    for reason in Reason::ALL.iter().copied() {
        let policy = Policy::default();
        let trouble =
            ProviderRefusal { patience: policy.patience(reason), reset: None, jitter: 0, now: Millis(0) };
        let pause = after_refusal(None, &trouble).until.since(Millis(0));
        let pause = if policy.pauses(reason) { format!("{}s", pause.as_secs()) } else { "·".to_owned() };
        let counts = policy.after_failure(&failure(reason), Some(agent("other"))).counter(reason);
        let interactive = FailedRun { mode: TaskMode::Interactive, ..failure(reason) };
        writeln!(
            table,
            "{reason:<18}{:<11}{:<14}{:<14}{pause:<7}{:<11}{}",
            policy.action(reason),
            NextConversation::after(reason, 1),
            NextConversation::after(reason, 2),
            counts,
            shown(&policy.after_failure(&interactive, Some(agent("other")))),
        )
        .unwrap();
    }
    insta::assert_snapshot!(table);
}

fn shown(decision: &FailureDecision) -> &'static str {
    match decision {
        FailureDecision::RetryAfter(_) => "retry",
        FailureDecision::Pause => "pause",
        FailureDecision::HandOver(_) => "hand_over",
        FailureDecision::GiveUp => "give_up",
    }
}

#[test]
fn an_interactive_task_waits_for_a_person_whatever_the_user_configured() {
    for action in FailureAction::ALL {
        for reason in Reason::ALL {
            let policy = Policy::default().with(*reason, *action);
            let failure = FailedRun { mode: TaskMode::Interactive, ..failure(*reason) };
            for next in [None, Some(agent("other"))] {
                let decision = policy.after_failure(&failure, next);
                assert_eq!(decision, FailureDecision::GiveUp, "{action} after {reason}");
            }
        }
    }
    let patient = RetryPolicy { retries: 9, ..RetryPolicy::default() };
    let alone = [TaskMode::Headless, TaskMode::Interactive].map(|mode| patient.in_mode(mode));
    assert_eq!(alone.map(|retry| (retry.retries, retry.check_retries)), [(9, 2), (0, 0)]);
    let released = |mode, had_agent| ReleasedRun { mode, had_agent, was_switched: false }.failure();
    let switched = ReleasedRun { mode: TaskMode::Interactive, had_agent: true, was_switched: true };
    assert_eq!(switched.failure(), None, "a person waits for its terminal");
    assert_eq!(released(TaskMode::Interactive, true), Some(Reason::Lost));
    assert_eq!(released(TaskMode::Interactive, false), None, "nobody has seen it");
    assert_eq!((released(TaskMode::Headless, true), released(TaskMode::Headless, false)), (None, None));
}

#[test]
fn waits_double_up_to_an_hour_with_jitter_on_top() {
    assert_eq!(wait(0, 0), FailureDecision::RetryAfter(Duration::from_secs(10)));
    assert_eq!(wait(3, 0), FailureDecision::RetryAfter(Duration::from_secs(80)));
    assert_eq!(wait(8, 0), FailureDecision::RetryAfter(Duration::from_secs(2_560)));
    assert_eq!(wait(0, 2_500), FailureDecision::RetryAfter(Duration::from_millis(12_500)));
    assert_eq!(wait(0, 2_501), FailureDecision::RetryAfter(Duration::from_secs(10)));
    let stubborn = RetryPolicy { retries: 20, backoff_seconds: 86_400, ..RetryPolicy::default() };
    let failure = FailedRun { failures: 19, retry: stubborn, ..failure(Reason::Lost) };
    assert_eq!(Policy::default().after_failure(&failure, None), FailureDecision::RetryAfter(LONGEST_WAIT));
}

#[test]
fn gives_up_when_the_retries_are_used_or_cannot_help() {
    assert_eq!(wait(9, 0), FailureDecision::GiveUp);
    assert_eq!(Policy::default().after_failure(&failure(Reason::Auth), None), FailureDecision::GiveUp);
    let at_once = RetryPolicy { retries: 5, backoff_seconds: 0, ..RetryPolicy::default() };
    let failure = FailedRun { retry: at_once, jitter: 9, ..failure(Reason::Stale) };
    assert_eq!(Policy::default().after_failure(&failure, None), FailureDecision::RetryAfter(Duration::ZERO));
}

#[test]
fn waiting_for_an_account_is_no_failure_but_has_a_bound() {
    let policy = Policy::default();
    let no_retries = RetryPolicy { retries: 0, backoff_seconds: 0, ..RetryPolicy::default() };
    for reason in [Reason::RateLimited, Reason::ProviderOutage, Reason::QuotaExhausted] {
        let last = FailedRun { waits: MAX_WAITS - 1, retry: no_retries, ..failure(reason) };
        assert_eq!(policy.after_failure(&last, None), FailureDecision::Pause, "{reason}");
        assert_eq!(FailureDecision::Pause.counter(reason), FailureCounter::Waits);
        let more = FailedRun { waits: MAX_WAITS, ..last };
        assert_eq!(policy.after_failure(&more, None), FailureDecision::GiveUp, "{reason}");
        assert_eq!(policy.after_failure(&more, Some(agent("codex"))), FailureDecision::GiveUp, "{reason}");
    }
}

#[test]
fn work_that_fails_its_checks_goes_back_at_once_and_has_its_own_bound() {
    let retry = RetryPolicy { retries: 0, check_retries: 2, ..RetryPolicy::default() };
    let after = |check_failures, failures| {
        let failure =
            FailedRun { check_failures, failures, retry, jitter: 9, ..failure(Reason::ChecksFailed) };
        let decision = Policy::default().after_failure(&failure, None);
        assert_eq!(decision.counter(Reason::ChecksFailed), FailureCounter::Checks);
        decision
    };
    assert_eq!(after(0, 0), FailureDecision::RetryAfter(Duration::ZERO));
    assert_eq!(after(1, 7), FailureDecision::RetryAfter(Duration::ZERO), "other failures do not count");
    assert_eq!(after(2, 0), FailureDecision::GiveUp);
    let other = FailedRun { check_failures: 9, ..failure(Reason::Stale) };
    let decision = Policy::default().after_failure(&other, None);
    assert_eq!(decision.counter(Reason::Stale), FailureCounter::Failures, "{decision:?}");
}

#[test]
fn a_full_conversation_is_free_but_bounded_and_the_next_is_a_new_one() {
    let policy = Policy::default().with_context_restarts(3);
    let retry = RetryPolicy { retries: 0, ..RetryPolicy::default() };
    let full = failure(Reason::ContextPressure);
    let after = |context_restarts| {
        policy.after_failure(&FailedRun { context_restarts, failures: 9, retry, ..full }, None)
    };
    assert_eq!(after(0), FailureDecision::RetryAfter(Duration::from_secs(10)), "failures do not count");
    assert_eq!(after(2), FailureDecision::RetryAfter(Duration::from_secs(40)), "ever later");
    assert_eq!(after(3), FailureDecision::GiveUp);
    assert_eq!(after(0).counter(Reason::ContextPressure), FailureCounter::ContextRestarts);
    assert_eq!(NextConversation::after(Reason::ContextPressure, 0), NextConversation::Fresh);
}

#[test]
fn a_task_is_handed_over_if_there_is_somebody() {
    let policy = Policy::default().with(Reason::Stale, FailureAction::HandOver);
    let to = || FailureDecision::HandOver(agent("codex"));
    let after = |failure: FailedRun, next: Option<&str>| policy.after_failure(&failure, next.map(agent));
    assert_eq!(after(failure(Reason::QuotaExhausted), Some("codex")), to());
    assert_eq!(after(failure(Reason::QuotaExhausted), None), FailureDecision::Pause);
    assert_eq!(to().counter(Reason::QuotaExhausted), FailureCounter::Waits, "not the task's fault");
    assert_eq!(after(failure(Reason::Stale), Some("codex")), to());
    assert_eq!(
        to().counter(Reason::Stale),
        FailureCounter::Failures,
        "two agents that fail in turn would go on for ever"
    );
    assert!(policy.pauses(Reason::QuotaExhausted) && !policy.pauses(Reason::Stale));
    assert_eq!(after(failure(Reason::Stale), None), FailureDecision::RetryAfter(Duration::from_secs(10)));
    let used_up = FailedRun { failures: 9, ..failure(Reason::Stale) };
    assert_eq!(after(used_up, Some("codex")), FailureDecision::GiveUp);
    assert_eq!(
        after(failure(Reason::RateLimited), Some("codex")),
        FailureDecision::Pause,
        "nobody asked for it"
    );
}

#[test]
fn the_table_can_be_changed() {
    let policy = Policy::default()
        .with(Reason::Auth, "pause".parse().unwrap())
        .with(Reason::RateLimited, "hand_over".parse().unwrap());
    assert_eq!(policy.action(Reason::Auth), FailureAction::Pause);
    assert_eq!(policy.action(Reason::Lost), FailureAction::Retry, "the rest stays");
    let unknown = "explode".parse::<FailureAction>().unwrap_err().to_string();
    assert_eq!(unknown, r#""explode" is not a failure action; there are: retry, pause, hand_over, give_up"#);
}

#[test]
fn the_patience_with_a_provider_that_asks_to_slow_down_can_be_set() {
    let rate_limits =
        RateLimits { first: Duration::from_secs(4), longest: Duration::from_secs(10), retries: 3 };
    let policy = Policy::default().with_rate_limits(rate_limits);
    let strike = |before| {
        let patience = policy.patience(Reason::RateLimited);
        after_refusal(before, &ProviderRefusal { patience, reset: None, jitter: 0, now: NOW })
    };
    let over = |strikes| Some(AccountState { until: NOW, strikes });
    assert_eq!(strike(None), standing(4_000, 1));
    assert_eq!(strike(over(1)), standing(8_000, 2));
    assert_eq!(strike(over(2)), standing(10_000, 3));
    let tired = |reason, waits| policy.after_failure(&FailedRun { waits, ..failure(reason) }, None);
    assert_eq!(tired(Reason::RateLimited, 2), FailureDecision::Pause);
    assert_eq!(tired(Reason::RateLimited, 3), FailureDecision::GiveUp);
    assert_eq!(tired(Reason::ProviderOutage, 3), FailureDecision::Pause, "that is something else");
    assert_eq!(policy.patience(Reason::ProviderOutage), Policy::default().patience(Reason::ProviderOutage));
}

const NOW: Millis = Millis(1_000_000_000);

fn limited(reset: Option<i64>, jitter: u64) -> ProviderRefusal {
    let reset = reset.map(|millis| Millis(NOW.0 + millis));
    ProviderRefusal { patience: Policy::default().patience(Reason::RateLimited), reset, jitter, now: NOW }
}

/// Until so many milliseconds from now, after so many strikes.
fn standing(millis: i64, strikes: u32) -> AccountState {
    AccountState { until: Millis(NOW.0 + millis), strikes }
}

#[test]
fn pauses_double_with_each_strike_up_to_an_hour() {
    assert_eq!(after_refusal(None, &limited(None, 0)), standing(30_000, 1));
    assert_eq!(after_refusal(None, &limited(None, 7_500)), standing(37_500, 1), "a quarter at most");
    assert_eq!(after_refusal(None, &limited(None, 7_501)), standing(30_000, 1));
    assert_eq!(after_refusal(Some(standing(0, 1)), &limited(None, 0)), standing(60_000, 2));
    assert_eq!(after_refusal(Some(standing(-5, 7)), &limited(None, 0)), standing(3_600_000, 8));
    assert_eq!(after_refusal(Some(standing(0, u32::MAX)), &limited(None, 0)), standing(3_600_000, u32::MAX));
    assert_eq!(
        after_refusal(Some(standing(-3_600_000, 7)), &limited(None, 0)),
        standing(30_000, 1),
        "long ago"
    );
}

#[test]
fn those_who_are_refused_together_are_one_strike() {
    let lasting = Some(standing(20_000, 3));
    assert_eq!(after_refusal(lasting, &limited(None, 5)), standing(20_000, 3));
    assert_eq!(after_refusal(lasting, &limited(Some(10_000), 0)), standing(20_000, 3), "never shorter");
    assert_eq!(after_refusal(lasting, &limited(Some(90_000), 0)), standing(90_000, 3), "the provider knows");
}

#[test]
fn the_end_that_a_provider_names_is_believed_within_reason() {
    assert_eq!(after_refusal(None, &limited(Some(7_200_000), 4_999)), standing(7_204_999, 1));
    assert_eq!(after_refusal(None, &limited(Some(1_000), 0)), standing(1_000, 1));
    assert_eq!(
        after_refusal(Some(standing(0, 1)), &limited(Some(1_000), 0)),
        standing(30_000, 2),
        "not twice"
    );
    assert_eq!(after_refusal(Some(standing(0, 4)), &limited(Some(1_000), 0)), standing(240_000, 5));
    assert_eq!(after_refusal(Some(standing(0, 4)), &limited(Some(7_200_000), 0)), standing(7_200_000, 5));
    assert_eq!(after_refusal(None, &limited(Some(-1), 0)), standing(30_000, 1), "that has passed");
    let week = 8 * 24 * 3_600_000;
    assert_eq!(after_refusal(None, &limited(Some(i64::MAX / 2), 0)), standing(week, 1));
}

fn helpers(list: &[(&str, Option<i64>)]) -> Vec<EligibleAgent> {
    let helper = |(name, until): &(&str, Option<i64>)| EligibleAgent {
        agent: agent(name),
        paused_until: until.map(Millis),
    };
    list.iter().map(helper).collect()
}

#[test]
fn the_next_agent_that_is_free_takes_over() {
    let next = |list: &[(&str, Option<i64>)], failed: &str| {
        successor(&helpers(list), &agent(failed)).map(|agent| agent.to_string())
    };
    let all = [("claude", None), ("codex", None), ("gemini", None)];
    assert_eq!(next(&all, "claude").as_deref(), Some("codex"));
    assert_eq!(next(&all, "gemini").as_deref(), Some("claude"), "after the last comes the first");
    assert_eq!(next(&all, "demo").as_deref(), Some("claude"), "one that is not in the list");
    let some = [("claude", Some(9)), ("codex", Some(7)), ("gemini", None)];
    assert_eq!(next(&some, "claude").as_deref(), Some("gemini"));
    let none = [("claude", Some(9)), ("codex", Some(7)), ("gemini", Some(8))];
    assert_eq!(next(&none, "claude").as_deref(), Some("codex"), "the first to be free again");
    assert_eq!(next(&none, "codex"), None, "which is the one that failed");
    assert_eq!(next(&[("claude", None), ("codex", Some(7))], "claude"), None, "it is free itself");
    assert_eq!(next(&[("claude", Some(9))], "claude"), None);
    assert_eq!(next(&[], "claude"), None);
}
