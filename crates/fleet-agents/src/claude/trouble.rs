//! What Claude Code's words for a failed request mean.

use std::time::Duration;

use fleet_core::run::Reason;
use fleet_core::text::shortened;
use fleet_core::time::Millis;
use serde_json::Value;

use crate::adapter::Failure;
use crate::common::http;
use crate::common::json::{number, one_line, text};
use crate::event::{AgentEvent, When};

/// What went wrong with a request that Claude Code repeats by itself.
pub(super) fn retry(line: &Value) -> (AgentEvent, Failure) {
    let status = number(line, "error_status");
    let word = text(line, "error").unwrap_or("unknown");
    let attempt = number(line, "attempt").and_then(|n| u32::try_from(n).ok());
    let mut words = match status {
        Some(status) => format!("{word} (HTTP {status})"),
        None => format!("{word} (no answer)"),
    };
    if let (Some(attempt), Some(most)) = (attempt, number(line, "max_retries")) {
        words = format!("{words}, attempt {attempt} of {most}");
    }
    let words = one_line(&words);
    // Without any state nobody answered: a time-out, or a connection that was cut.
    let reason = by_word(word).or(status.and_then(http::reason_of)).unwrap_or(Reason::ProviderOutage);
    let wait = number(line, "retry_delay_ms").map(Duration::from_millis);
    (AgentEvent::Retry { attempt, wait, text: words.clone() }, Failure::new(reason, words))
}

/// What a failed request was, from the line that tells of it: a message in the model's place, or a result.
pub(super) fn failed(line: &Value, words: &str) -> Failure {
    let reason = overflow(line, words)
        .or_else(|| text(line, "error").and_then(by_word))
        .or_else(|| text(line, "subtype").and_then(by_subtype))
        .or_else(|| by_words(words))
        .or_else(|| number(line, "api_error_status").and_then(http::reason_of))
        .unwrap_or(Reason::AgentError);
    let reason = if reason == Reason::RateLimited { by_words(words).unwrap_or(reason) } else { reason };
    Failure { until: reset(words), ..Failure::new(reason, shortened(words, LONGEST).into_owned()) }
}

/// More than any sentence about a failure.
const LONGEST: usize = 2 * 1024;

fn overflow(line: &Value, words: &str) -> Option<Reason> {
    let told = text(line, "terminal_reason") == Some("prompt_too_long")
        || number(line, "api_error_status") == Some(413)
        || words.starts_with("Prompt is too long");
    told.then_some(Reason::ContextOverflow)
}

/// The closed list of Claude Code. `invalid_request` and `unknown` tell nothing by themselves.
fn by_word(word: &str) -> Option<Reason> {
    Some(match word {
        "authentication_failed"
        | "oauth_org_not_allowed"
        | "account_on_hold"
        | "verification_required"
        | "cloud_credential_error" => Reason::Auth,
        "billing_error" => Reason::QuotaExhausted,
        "rate_limit" => Reason::RateLimited,
        "overloaded" | "server_error" => Reason::ProviderOutage,
        "model_not_found" => Reason::BadModel,
        _ => return None,
    })
}

fn by_subtype(subtype: &str) -> Option<Reason> {
    match subtype {
        "error_max_budget_usd" => Some(Reason::OverBudget),
        "error_max_turns" | "error_max_structured_output_retries" => Some(Reason::AgentError),
        _ => None,
    }
}

/// Sentences of versions and relatives that have no better sign.
const SENTENCES: &[(&str, Reason)] = &[
    ("hit your", Reason::QuotaExhausted),
    ("usage limit reached", Reason::QuotaExhausted),
    ("credit balance is too low", Reason::QuotaExhausted),
    ("insufficient_quota", Reason::QuotaExhausted),
    ("exceeded your current quota", Reason::QuotaExhausted),
    ("invalid api key", Reason::Auth),
    ("incorrect api key", Reason::Auth),
    ("please run /login", Reason::Auth),
    ("failed to authenticate", Reason::Auth),
    ("maximum context length", Reason::ContextOverflow),
    ("connection error", Reason::ProviderOutage),
    ("request timed out", Reason::ProviderOutage),
    ("fetch failed", Reason::ProviderOutage),
];

fn by_words(words: &str) -> Option<Reason> {
    let words = shortened(words, LONGEST).to_ascii_lowercase();
    SENTENCES.iter().find(|(sign, _)| words.contains(sign)).map(|(_, reason)| *reason)
}

/// Older versions end such a sentence with the moment: `…limit reached|1754000000`.
fn reset(words: &str) -> Option<When> {
    let (before, moment) = words.trim_end().rsplit_once('|')?;
    before.ends_with("reached").then(|| moment.parse().ok().and_then(at))?
}

fn at(seconds: i64) -> Option<When> {
    (seconds > 0).then(|| When::At(Millis(seconds.saturating_mul(1_000))))
}

/// What Claude Code learned about the limits of the plan.
pub(super) enum Limit {
    /// There is room.
    Fine,
    /// There is little room left.
    Near(AgentEvent),
    /// There is none.
    Reached(AgentEvent, Failure),
}

/// The limits of the plan, told whenever they changed.
pub(super) fn limit(line: &Value) -> Limit {
    let info = &line["rate_limit_info"];
    let until = number(info, "resetsAt").and_then(|s| i64::try_from(s).ok()).and_then(at);
    let name = text(info, "rateLimitType").unwrap_or("plan's").replace('_', "-");
    // Who pays for what goes beyond the plan is not stopped by its limit.
    let goes_on = info["isUsingOverage"] == true
        || matches!(text(info, "overageStatus"), Some("allowed" | "allowed_warning"));
    match text(info, "status") {
        Some("rejected") if !goes_on => {
            let words = one_line(&format!("the {name} limit of the account is used up"));
            let event = AgentEvent::RateLimit { until, text: words.clone() };
            Limit::Reached(event, Failure { until, ..Failure::new(Reason::QuotaExhausted, words) })
        }
        Some("rejected" | "allowed_warning") => {
            let used = info["utilization"].as_f64().map(|part| format!("{:.0} % of ", part * 100.0));
            let words = one_line(&format!("{}the {name} limit used", used.unwrap_or_default()));
            Limit::Near(AgentEvent::RateLimit { until, text: words })
        }
        _ => Limit::Fine,
    }
}
