//! What Claude Code's words for a failed request mean.

use fleet_core::event::{AgentEvent, When};
use fleet_core::run::Reason;
use serde_json::Value;

use crate::adapter::AgentFailure;
use crate::common::json::{fraction, number, text};
use crate::common::refusal::{self, Words};
use crate::common::words::one_line;
use crate::common::{reset, words};

/// A failed request that Claude Code repeats by itself.
pub(super) fn retry(line: &Value) -> (AgentEvent, AgentFailure) {
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
    let words = words::trouble(&words);
    // Without a status there was no answer: a time-out, or a connection that was cut.
    let reason = by_word(word).or(status.and_then(refusal::by_status)).unwrap_or(Reason::ProviderOutage);
    let wait_ms = number(line, "retry_delay_ms");
    (AgentEvent::Retry { attempt, wait_ms, text: words.clone() }, AgentFailure::new(reason, words))
}

/// The cause of a failed request, from the line that reports it: a message in the model's place, or a result.
pub(super) fn failed(line: &Value, words: &str) -> AgentFailure {
    let named = text(line, "terminal_reason")
        .and_then(by_word)
        .or_else(|| text(line, "error").and_then(by_word))
        .or_else(|| text(line, "subtype").and_then(by_word));
    let reason = match named {
        // A used-up plan is called so, too, and only the words tell which.
        None | Some(Reason::RateLimited) => {
            refusal::reason(number(line, "api_error_status"), words, WORDS).or(named)
        }
        named => named,
    };
    let reason = reason.unwrap_or(Reason::AgentError);
    AgentFailure { until: reset_in(words), ..AgentFailure::new(reason, words::trouble(words)) }
}

/// The closed lists of Claude Code: of errors, of ends and of results. `invalid_request` and `unknown` tell nothing by
/// themselves.
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
        "prompt_too_long" => Reason::ContextOverflow,
        "error_max_budget_usd" => Reason::OverBudget,
        "error_max_turns" | "error_max_structured_output_retries" => Reason::AgentError,
        _ => return None,
    })
}

/// Sentences of versions that have no better sign.
const WORDS: &Words = &[(Reason::QuotaExhausted, &["hit your", "exceeded your current quota"])];

/// Older versions end such a sentence with the moment: `…limit reached|1754000000`.
fn reset_in(words: &str) -> Option<When> {
    let (before, moment) = words.trim_end().rsplit_once('|')?;
    before.ends_with("reached").then(|| moment.parse().ok().and_then(reset::moment))?
}

/// What Claude Code learned about the limits of the plan.
pub(super) enum PlanLimit {
    Fine,
    Near(AgentEvent),
    Reached(AgentFailure),
}

/// The limits of the plan, reported whenever they change.
pub(super) fn limit(line: &Value) -> PlanLimit {
    let info = &line["rate_limit_info"];
    let until = number(info, "resetsAt").and_then(reset::moment);
    let name = text(info, "rateLimitType").unwrap_or("plan's").replace('_', "-");
    // Who pays for what goes beyond the plan is not stopped by its limit.
    let goes_on = info["isUsingOverage"] == true
        || matches!(text(info, "overageStatus"), Some("allowed" | "allowed_warning"));
    match text(info, "status") {
        Some("rejected") if !goes_on => {
            let words = one_line(&format!("the {name} limit of the account is used up"));
            PlanLimit::Reached(AgentFailure { until, ..AgentFailure::new(Reason::QuotaExhausted, words) })
        }
        Some("rejected" | "allowed_warning") => {
            let used = fraction(info, "utilization").map(|part| format!("{:.0} % of ", part * 100.0));
            let words = one_line(&format!("{}the {name} limit used", used.unwrap_or_default()));
            PlanLimit::Near(AgentEvent::RateLimit { until, text: words })
        }
        _ => PlanLimit::Fine,
    }
}
