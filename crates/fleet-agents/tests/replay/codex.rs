//! What the recordings of Codex show. Its runs as shown used 1111 tokens a call, 333 of them cached, and wrote 222.

use fleet_agents::{AgentEvent, Brief, Conversation, LocalTime, Meter, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::harness::{NOTHING, Played, Row, compare, decoder, err, out, plain, play};

const ONE_CALL: [u64; 4] = [778, 222, 333, 0];
const TWO_CALLS: [u64; 4] = [1556, 444, 666, 0];

/// A command, and the answer to it.
const DONE: Row = Row { tokens: TWO_CALLS, answer: "Done: the file is written.", tools: 1, ..NOTHING };
/// Nothing but an answer.
const HELLO: Row = Row { tokens: ONE_CALL, answer: "Hello from the scripted model.", ..NOTHING };
/// It ended before its turn did.
const CUT_OFF: Option<(Reason, &str)> = Some((Reason::AgentError, "Codex did not finish its turn"));

const fn failed(exit: i32, reason: Reason, words: &'static str, retries: usize) -> Row {
    Row { exit: AgentExit::Code(exit), failure: Some((reason, words)), retries, ended: 0, ..NOTHING }
}

#[test]
fn recordings_are_understood() {
    let mut table = ends_well();
    table.extend(is_refused());
    table.extend(ends_badly());
    table.extend(never_ends());
    compare("codex", &table, |_| plain());
}

fn ends_well() -> Vec<Row> {
    vec![
        Row { name: "e2e", session: "01a1de28-d403-70b0-96f7-85ec8b7b8ecf", ..DONE },
        Row { name: "slim-e2e", session: "01a1de23-a5f0-7bf2-b716-3d9989caf332", ..DONE },
        Row { name: "success-defaultmodel", session: "01a1ddfd-f919-7343-b515-aa80676d4c51", ..DONE },
        Row { name: "success-fakemodel", session: "01a1ddfd-46f8-74d3-955f-454837d571a4", ..DONE },
        Row { name: "success-noanalytics", session: "01a1ddfe-0f37-73c2-8c74-2c9768383324", ..DONE },
        Row { name: "success-noplugins", session: "01a1ddfe-835d-77f0-9196-738baff428fb", ..DONE },
        Row { name: "success-noplugins2", session: "01a1ddfe-85cd-75d1-ae45-4c10db4b3cba", ..DONE },
        Row { name: "success-with-tool", session: "01a1ddfe-a78a-7c80-8488-84444d6c462d", ..DONE },
        Row { name: "resume-1", session: "01a1de02-502b-7f93-aba3-b4ccb78bfbd6", ..DONE },
        // Counted from the first turn on; what is left of it with a meter has its own test.
        Row {
            name: "resume-2",
            session: "01a1de02-502b-7f93-aba3-b4ccb78bfbd6",
            tokens: [2334, 666, 999, 0],
            ..HELLO
        },
        Row { name: "mcp", session: "01a1de13-2469-7ce1-9bc1-e9397d5a78d6", ..DONE },
        Row { name: "mcp-broken", session: "01a1de25-63fb-7e91-aaf8-9564cf6414cc", ..HELLO },
        Row {
            name: "mcp-denied",
            session: "01a1dff4-528f-7da3-80d6-3135dc3451bc",
            denied: &["fake.fake_echo"],
            ..DONE
        },
        Row { name: "worktree-commit", session: "01a1dff4-57ba-73e3-a323-88051041b9c6", ..DONE },
        Row { name: "sbx-workspace", session: "01a1de13-66ba-78e1-bbd8-9d279c3a348f", ..DONE },
        // The command was refused by the sandbox, and no line says so.
        Row { name: "sbx-default", session: "01a1de13-6515-7550-98c0-54b96764dbfa", tools: 0, ..DONE },
        Row { name: "sbx-readonly", session: "01a1de13-6973-76f0-9658-f22267ea052f", tools: 0, ..DONE },
        Row { name: "sysprompt", session: "01a1de14-52f0-71e2-be78-6d791936e924", ..HELLO },
        Row { name: "sysprompt2", session: "01a1de14-55fd-7f50-810b-610c78fe3434", ..HELLO },
        Row {
            name: "json-schema",
            session: "01a1de13-206a-7360-b60f-cb685ad62e7b",
            answer: r#"{"verdict": "pass", "score": 7}"#,
            ..HELLO
        },
        Row {
            name: "json-schema-bad",
            session: "01a1de13-229f-78f1-96bb-137bcce51c90",
            answer: r#"{"verdict": 12}"#,
            ..HELLO
        },
        Row { name: "error500-then-ok", session: "01a1de01-5104-75c0-8e18-258fde7440be", ..DONE },
        Row {
            name: "ratelimit-then-ok",
            session: "01a1de01-4601-79d3-ae8f-ea9bd1d0ab99",
            retries: 2,
            ..DONE
        },
        Row { name: "builtin", session: "01a1de14-573f-7820-8f9f-664efd7474a2", retries: 4, ..DONE },
    ]
}

fn is_refused() -> Vec<Row> {
    let key = "unexpected status 401 Unauthorized: Incorrect API key provided: dummy.";
    let limited = "exceeded retry limit, last status: 429 Too Many Requests";
    vec![
        Row {
            name: "invalid-key",
            session: "01a1de01-5559-77c3-a133-47175f2fd9f8",
            ..failed(1, Reason::Auth, key, 5)
        },
        Row {
            name: "error403",
            session: "01a1dff3-b4bd-76a1-85e2-5d2add3cdc80",
            ..failed(1, Reason::Auth, "unexpected status 403 Forbidden", 5)
        },
        Row {
            name: "model-not-found",
            session: "01a1de01-712a-7661-aec9-6bb9f2e5bb8a",
            ..failed(1, Reason::BadModel, "unexpected status 404 Not Found: model not found", 5)
        },
        Row {
            name: "ratelimit-forever",
            session: "01a1ddff-021d-7bd3-942b-e539d66d2286",
            limits: 1,
            ..failed(1, Reason::RateLimited, limited, 5)
        },
        Row {
            name: "ratelimit-noretry",
            session: "01a1de14-006d-79b3-b4b4-75e4d1dc964c",
            limits: 1,
            ..failed(1, Reason::RateLimited, limited, 0)
        },
        Row {
            name: "quota",
            session: "01a1dff3-897e-7ae1-9a48-74f8f42c4133",
            limits: 1,
            until: Some(When::Local(LocalTime { date: None, hour: 19, minute: 4 })),
            ..failed(1, Reason::QuotaExhausted, "You’ve hit your usage limit.", 0)
        },
        Row {
            name: "context-overflow",
            session: "01a1de01-6f15-7d90-9de1-64eba4519067",
            ..failed(
                1,
                Reason::ContextOverflow,
                r#"{"error": {"message": "Your input exceeds the context"#,
                0,
            )
        },
        Row {
            name: "overflow-sse",
            session: "01a1dff3-8ca8-7f93-af17-879ab31a1f53",
            ..failed(1, Reason::ContextOverflow, "Codex ran out of room in the model's context window.", 0)
        },
    ]
}

fn ends_badly() -> Vec<Row> {
    vec![
        Row {
            name: "error500-forever",
            session: "01a1de02-0df2-7640-87fb-81aad93c2b28",
            ..failed(1, Reason::ProviderOutage, "We’re currently experiencing high demand", 5)
        },
        Row {
            name: "error503",
            session: "01a1dff3-da01-7213-aafb-7d734397c24b",
            ..failed(1, Reason::ProviderOutage, "unexpected status 503 Service Unavailable", 5)
        },
        Row {
            name: "sse-error",
            session: "01a1dff3-9100-79d3-9fab-1563e01a78e1",
            ..failed(
                1,
                Reason::ProviderOutage,
                "stream disconnected before completion: The server had an error",
                5,
            )
        },
        Row {
            name: "truncated",
            session: "01a1de01-a771-75d1-a409-89e29cd1a6b4",
            ..failed(1, Reason::ProviderOutage, "stream disconnected before completion: Transport error", 5)
        },
        Row {
            name: "idle",
            session: "01a1de13-7185-77e0-b735-a6aa933512a8",
            ..failed(1, Reason::ProviderOutage, "stream disconnected before completion: idle timeout", 1)
        },
    ]
}

fn never_ends() -> Vec<Row> {
    let cut_off = |name, session, exit| Row { name, session, exit, failure: CUT_OFF, ended: 0, ..NOTHING };
    let in_tool = |name, session, exit| Row { tools: 1, ..cut_off(name, session, exit) };
    vec![
        cut_off("hang", "01a1de02-0de1-7b21-b403-09697acc922a", AgentExit::Signal(9)),
        cut_off("hang-cfg", "01a1de13-8b11-7ef3-aca9-2a94a59f076f", AgentExit::Code(124)),
        Row {
            failure: Some((Reason::ProviderOutage, "stream disconnected before completion: idle timeout")),
            retries: 1,
            ..cut_off("hangmid", "01a1de02-0e07-7991-8610-760572760cdc", AgentExit::Signal(9))
        },
        Row {
            name: "no-network",
            session: "01a1dff4-5d23-7900-bb0b-7e50e4fbd1a3",
            ..failed(124, Reason::ProviderOutage, "Connection failed: error sending request", 2)
        },
        cut_off("sigint-stream", "01a1de02-3a2c-7bc1-80f9-e6641289444f", AgentExit::Code(1)),
        cut_off("sigterm-stream", "01a1de02-239b-72a0-aba6-e2673370070c", AgentExit::Signal(15)),
        in_tool("sigint-tool", "01a1de04-c9bf-76d2-8845-a578ccd3dfc8", AgentExit::Code(1)),
        in_tool("sigterm-tool", "01a1de04-9d46-7b62-807c-aef18e619821", AgentExit::Signal(15)),
        in_tool("sigkill-tool", "01a1de04-b36d-7640-8634-13c7ace155ee", AgentExit::Signal(9)),
        // Those that did not get as far as a session.
        Row {
            name: "full-auto",
            ..failed(2, Reason::AgentError, "error: unexpected argument '--full-auto'", 0)
        },
        Row { name: "nogit", ..failed(1, Reason::AgentError, "Not inside a trusted directory", 0) },
        Row {
            name: "mcp-broken-req",
            ..failed(
                1,
                Reason::AgentError,
                "Error: thread/start: thread/start failed: error creating thread",
                0,
            )
        },
        Row {
            name: "resume-unknown",
            ..failed(1, Reason::AgentError, "Error: thread/resume: thread/resume failed: no rollout found", 0)
        },
        // Another protocol of Codex: none of its lines means anything here.
        cut_off("app-server", "", AgentExit::Code(0)),
    ]
}

fn played(name: &str, before: Meter) -> Played {
    let conversation = Conversation::Resume { session: "s", meter: before };
    let decoder = decoder("codex", &Brief { conversation, ..plain() });
    play(decoder, &out("codex", name), &AgentExit::Code(1))
}

#[test]
fn trap_tokens_are_counted_over_the_whole_conversation() {
    let tokens = |[input, output, cache_read, cache_write]: [u64; 4]| Tokens {
        input,
        output,
        cache_read,
        cache_write,
    };
    let first = played("resume-1", Meter::default());
    let meter = first.decoder.meter().unwrap();
    assert_eq!(meter, Meter { tokens: tokens(TWO_CALLS), micro_usd: 0 });
    let second = played("resume-2", meter);
    let used = second.events.iter().find_map(|event| match event {
        AgentEvent::Usage { tokens, .. } => Some(*tokens),
        _ => None,
    });
    assert_eq!(used, Some(tokens(ONE_CALL)), "only what this process used");
    assert_eq!(second.decoder.meter().map(|meter| meter.tokens), Some(tokens([2334, 666, 999, 0])));
    let restarted = played("resume-1", Meter { tokens: tokens([9999, 0, 0, 0]), micro_usd: 0 });
    let usage = AgentEvent::Usage { tokens: tokens(TWO_CALLS), counted: fleet_agents::Counted::Total };
    assert!(restarted.events.contains(&usage), "counters that went down were started anew");
}

#[test]
fn trap_error_items_come_in_runs_that_go_well() {
    let run = played("e2e", Meter::default());
    assert_eq!(run.seen().errors, []);
    let is_warning =
        |event: &AgentEvent| matches!(event, AgentEvent::Warning { text } if text.contains("metadata"));
    assert!(run.events.iter().any(is_warning), "said, since it may explain something");
    assert_eq!(run.failure(), None);
}

#[test]
fn trap_a_refused_key_is_told_at_the_first_attempt_and_once() {
    let run = played("invalid-key", Meter::default());
    let of_key = |event: &AgentEvent| matches!(event, AgentEvent::Error { reason: Reason::Auth, .. });
    let first = run.events.iter().position(of_key).unwrap();
    let retries_before =
        run.events[..first].iter().filter(|event| matches!(event, AgentEvent::Retry { .. })).count();
    assert_eq!(retries_before, 1);
    assert_eq!(run.events.iter().filter(|event| of_key(event)).count(), 1);
}

#[test]
fn trap_a_websocket_that_is_not_there_says_nothing_about_the_model() {
    let run = played("builtin", Meter::default());
    assert!(!run.seen().errors.iter().any(|reason| reason.is_hopeless()), "it goes on by HTTP");
}

#[test]
fn trap_the_exit_status_after_a_signal_lies() {
    for (name, exit) in [("sigint-tool", 1), ("sigint-tool", 0), ("sigterm-stream", 0)] {
        let lines = [out("codex", name), err("codex", name)].concat();
        let run = play(decoder("codex", &plain()), &lines, &AgentExit::Code(exit));
        assert_eq!(run.reason(), Some(Reason::AgentError), "{name} {exit}");
    }
}
