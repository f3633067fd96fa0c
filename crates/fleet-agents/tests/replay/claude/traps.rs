//! Traps that others fell into, each with its own test.

use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use fleet_core::time::Millis;
use serde_json::json;

use fleet_agents::{AgentEvent, Brief, Conversation, Meter, Stream, When};

use super::{played, says, seen};
use crate::harness::{Line, decoder, exit, out, plain, play};

/// The lines of a recording, without where they came from.
fn lines(name: &str) -> Vec<Vec<u8>> {
    out("claude", name).into_iter().map(|(_, line)| line).collect()
}

#[test]
fn a_failed_request_is_called_a_success_by_its_subtype() {
    let out = lines("ratelimit-forever");
    let result: serde_json::Value = serde_json::from_slice(out.last().unwrap()).unwrap();
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("success"), &json!(true)));
    assert_eq!(played("ratelimit-forever").reason().unwrap(), Reason::RateLimited);
}

/// Without the difference that newer versions tell, the meter of the conversation is what helps.
#[test]
fn money_of_a_resumed_conversation_is_not_counted_twice() {
    let strip = |line: &Vec<u8>| {
        let mut line: serde_json::Value = serde_json::from_slice(line).unwrap();
        line.as_object_mut().unwrap().remove("model_usage_since_last_result");
        line.to_string().into_bytes()
    };
    let first = played("resume-1");
    assert_eq!(first.seen().micro_usd, 18_341);
    let meter = first.decoder.meter().unwrap();
    assert_eq!(meter.micro_usd, 18_341);
    let conversation = Conversation::Resume { session: "11111111-2222-4333-8444-555555555555", meter };
    let second: Vec<Line> = lines("resume-2").iter().map(|line| (Stream::Out, strip(line))).collect();
    let decoder = decoder("claude", &Brief { conversation, ..plain() });
    let second = play(decoder, &second, &AgentExit::Code(0));
    assert_eq!((second.seen().micro_usd, second.seen().tokens.input), (9_171, 1111));
    assert_eq!(second.decoder.meter().unwrap().micro_usd, 27_512);
}

/// A version that begins anew after a resume must not look free of charge.
#[test]
fn money_that_is_less_than_before_is_all_new() {
    let meter = Meter { micro_usd: 50_000, ..Meter::default() };
    let conversation = Conversation::Resume { session: "s", meter };
    let mut decoder = decoder("claude", &Brief { conversation, ..plain() });
    assert_eq!(decoder.meter(), Some(meter));
    let cheap = json!({"type": "result", "is_error": false, "result": "ok", "total_cost_usd": 0.01});
    assert_eq!(says(&mut *decoder, &[cheap]).micro_usd, 10_000);
}

#[test]
fn a_message_with_several_lines_is_counted_once() {
    let seen = seen("sigterm-tool");
    assert_eq!((seen.tokens.input, seen.tools), (1111, 1));
    let line = |id: &str| {
        json!({"type": "assistant", "message": {"id": id, "content": [],
        "usage": {"input_tokens": 10, "output_tokens": 1}}})
    };
    let mut decoder = decoder("claude", &plain());
    // Those of a subagent come in between.
    let seen = says(&mut *decoder, &[line("a"), line("b"), line("a"), line("b")]);
    assert_eq!((seen.tokens.input, seen.tokens.output), (20, 2));
}

#[test]
fn a_denied_tool_ends_well_and_is_told_once() {
    let run = played("perm-allowed-bash");
    assert_eq!((run.seen().denied.len(), run.failure()), (1, None));
    // Older versions tell it in the result only.
    let mut old = out("claude", "perm-allowed-bash");
    old.retain(|(_, line)| !String::from_utf8_lossy(line).contains(r#""permission_denied""#));
    let old = play(decoder("claude", &plain()), &old, &AgentExit::Code(0));
    assert_eq!(old.seen().denied, ["Bash"]);
}

#[test]
fn exit_codes_of_signals_lie() {
    for (name, code) in [("sigint-stream", 0), ("sigterm-tool", 143)] {
        assert_eq!(exit("claude", name), Some(AgentExit::Code(code)), "{name}");
        assert_eq!(played(name).reason(), Some(Reason::AgentError), "{name}");
    }
}

#[test]
fn the_first_line_is_not_always_the_init_line() {
    let out = lines("bare");
    assert!(String::from_utf8_lossy(&out[0]).contains("ui_invalidate"));
    let events = decoder("claude", &plain()).line(Stream::Out, &out[0], false);
    assert!(matches!(events.as_slice(), [AgentEvent::SessionStarted { .. }]), "{events:?}");
}

/// It would go on trying for three minutes.
#[test]
fn a_refused_key_is_hopeless_at_the_first_try() {
    let out = lines("invalid-key");
    let mut decoder = decoder("claude", &plain());
    decoder.line(Stream::Out, &out[0], false);
    let events = decoder.line(Stream::Out, &out[1], false);
    let hopeless =
        |event: &AgentEvent| matches!(event, AgentEvent::Error { reason, .. } if reason.is_hopeless());
    assert!(matches!(events[0], AgentEvent::Retry { attempt: Some(1), .. }) && hopeless(&events[1]));
    // As it is when the keeper has ended it then.
    decoder.end(&AgentExit::Code(143));
    assert_eq!(decoder.failure().unwrap().reason, Reason::Auth);
}

#[test]
fn a_used_up_plan_says_until_when_before_the_turn_is_over() {
    let out = lines("quota-oauth");
    let mut decoder = decoder("claude", &plain());
    let lines: Vec<_> = out[..2].iter().flat_map(|line| decoder.line(Stream::Out, line, false)).collect();
    let until = Some(When::At(Millis(1_794_737_702_000)));
    assert!(
        lines.iter().any(|event| matches!(event, AgentEvent::RateLimit { until: at, .. } if *at == until))
    );
    let is_quota =
        |event: &AgentEvent| matches!(event, AgentEvent::Error { reason: Reason::QuotaExhausted, .. });
    assert!(lines.iter().any(is_quota));
    decoder.end(&AgentExit::Signal(15));
    let failure = decoder.failure().unwrap();
    assert_eq!((failure.reason, failure.until), (Reason::QuotaExhausted, until));
}

#[test]
fn limits_of_a_plan_that_is_exceeded_for_money_stop_nobody() {
    for more in [json!({"isUsingOverage": true}), json!({"overageStatus": "allowed"})] {
        let mut info = json!({"status": "rejected", "resetsAt": 1_794_737_702, "rateLimitType": "seven_day"});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut decoder = decoder("claude", &plain());
        let seen = says(&mut *decoder, &[json!({"type": "rate_limit_event", "rate_limit_info": info})]);
        assert_eq!((seen.limits.len(), seen.errors.len()), (1, 0));
        assert_eq!(decoder.failure(), None);
    }
}

#[test]
fn sentences_of_older_versions_are_understood() {
    let failed = |words: &str| {
        let mut decoder = decoder("claude", &plain());
        says(
            &mut *decoder,
            &[json!({"type": "result", "subtype": "success", "is_error": true, "result": words})],
        );
        let failure = decoder.failure().unwrap();
        (failure.reason, failure.until)
    };
    let until = Some(When::At(Millis(1_754_000_000_000)));
    assert_eq!(failed("Claude AI usage limit reached|1754000000"), (Reason::QuotaExhausted, until));
    assert_eq!(failed("Credit balance is too low"), (Reason::QuotaExhausted, None));
    assert_eq!(failed("Invalid API key · Please run /login"), (Reason::Auth, None));
    assert_eq!(failed("API Error: Connection error."), (Reason::ProviderOutage, None));
    assert_eq!(failed("Something else"), (Reason::AgentError, None));
}

/// What a tool printed is no sign of what the provider thinks.
#[test]
fn errors_of_tools_are_no_failures() {
    let mut decoder = decoder("claude", &plain());
    let tool = json!({"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t",
        "is_error": true, "content": "401 Invalid API key, rate_limit, Prompt is too long"}]}});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": "done anyway"});
    let seen = says(&mut *decoder, &[tool, end]);
    assert_eq!((seen.errors.len(), seen.ended, decoder.failure()), (0, 1, None));
}

#[test]
fn what_is_not_understood_is_kept() {
    let mut decoder = decoder("claude", &plain());
    let unknown = json!({"type": "system", "subtype": "compact_boundary", "session_id": "s"});
    let seen = says(&mut *decoder, &[unknown, json!({"type": "news"}), json!([1]), json!({"no": "type"})]);
    assert_eq!((seen.raw, seen.session.as_str()), (4, "s"));
    let cut = decoder.line(Stream::Out, br#"{"type":"result","is_error":false"#, true);
    assert!(matches!(cut.as_slice(), [AgentEvent::Raw { cut: true, .. }]));
    assert!(matches!(decoder.line(Stream::Err, b"hm", false).as_slice(), [AgentEvent::Raw { .. }]));
}
