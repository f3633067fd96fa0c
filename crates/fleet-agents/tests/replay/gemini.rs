//! What the recordings of Gemini CLI show. Its runs as shown used 1111 tokens a call, 333 of them cached, wrote 222
//! and thought 55.

use std::time::Duration;

use fleet_agents::{AgentEvent, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::harness::{NOTHING, Played, Row, compare, decoder, err, out, plain, play};

const ONE_CALL: [u64; 4] = [778, 277, 333, 0];
const TWO_CALLS: [u64; 4] = [1556, 554, 666, 0];
const THREE_CALLS: [u64; 4] = [2334, 831, 999, 0];

/// A tool, and the answer to it.
const DONE: Row = Row { tokens: TWO_CALLS, answer: "Done: the file is written.", tools: 1, ..NOTHING };
/// The same with a call in front that chose the model.
const ROUTED: Row = Row { tokens: THREE_CALLS, ..DONE };
/// Nothing but an answer.
const HELLO: Row = Row { tokens: ONE_CALL, answer: "Hello from the scripted model.", ..NOTHING };

const fn failed(exit: i32, reason: Reason, words: &'static str, retries: usize) -> Row {
    Row { exit: AgentExit::Code(exit), failure: Some((reason, words)), retries, ended: 0, ..NOTHING }
}

#[test]
fn recordings_are_understood() {
    let mut table = writes_a_file();
    table.extend(ends_well());
    table.extend(ends_badly());
    table.extend(never_ends());
    table.extend(never_starts());
    compare("gemini", &table, |_| plain());
}

fn writes_a_file() -> Vec<Row> {
    vec![
        Row {
            name: "e2e",
            session: "ffa8b86e-16c8-4a26-8170-71a4e3462324",
            files: &["/fixture/repo/gemini-e2e/hello.txt"],
            ..DONE
        },
        Row {
            name: "slim-e2e",
            session: "36fc73c0-278c-4726-8455-96b12cb0375a",
            files: &["/fixture/repo/gemini-slim-e2e/hello.txt"],
            ..DONE
        },
        Row {
            name: "success-with-tool",
            session: "4a9dd31c-82fd-4a92-971d-ad4dcfec6491",
            files: &["/fixture/repo/gemini-success-with-tool/hello.txt"],
            ..ROUTED
        },
        Row {
            name: "model-flag",
            session: "0c2134c4-008b-4fa6-a00d-f724f5cd07b6",
            files: &["/fixture/repo/gemini-model-flag/hello.txt"],
            ..DONE
        },
        Row {
            name: "session-id",
            session: "11111111-2222-4333-8444-555555555555",
            files: &["/fixture/repo/gemini-session-id/hello.txt"],
            ..DONE
        },
        Row {
            name: "resume-1",
            session: "227a1d11-601b-4f6f-b297-291d3f1e4f7b",
            files: &["/fixture/repo/gemini-resume-1/hello.txt"],
            ..ROUTED
        },
        Row {
            name: "perm-autoedit",
            session: "b2d68409-8a7b-4a61-834d-da5b973b233b",
            files: &["/fixture/repo/gemini-perm-autoedit/hello.txt"],
            ..DONE
        },
        Row {
            name: "yolo-envtrust",
            session: "add004cc-b38e-41ef-ae44-2dfe2e56e311",
            files: &["/fixture/repo/gemini-yolo-envtrust/hello.txt"],
            ..DONE
        },
        Row {
            name: "ratelimit-then-ok",
            session: "dbed68a1-f6d0-495b-b382-986ee8933e9f",
            files: &["/fixture/repo/gemini-ratelimit-then-ok/hello.txt"],
            retries: 2,
            ..ROUTED
        },
        Row {
            name: "error500-then-ok",
            session: "8f4c1a80-5f7e-4e24-a85a-e7c0a0c4d9ed",
            files: &["/fixture/repo/gemini-error500-then-ok/hello.txt"],
            retries: 2,
            ..ROUTED
        },
        Row {
            name: "plan-mode",
            session: "fd5e3c94-a70c-4f5e-bf59-4e72070f08e4",
            files: &["/fixture/repo/plan-mode/g1.txt"],
            denied: &["write_file"],
            ..DONE
        },
    ]
}

fn ends_well() -> Vec<Row> {
    vec![
        Row { name: "slim-e2e-sh", session: "e3b1d07e-d3d3-4c94-9b07-11bb538f80a6", ..DONE },
        Row { name: "mcp", session: "7ff82895-7eff-4abe-97a0-c2f4a54b824c", ..ROUTED },
        Row { name: "sysprompt", session: "376b5b62-3537-4abf-aa48-81a3a06e369f", ..HELLO },
        // Counted for itself, although it goes on from another; the second call chose the model.
        Row { name: "resume-2", session: "227a1d11-601b-4f6f-b297-291d3f1e4f7b", tokens: TWO_CALLS, ..HELLO },
        Row {
            name: "sse-error",
            session: "c175b0af-ebaa-4b1d-b72f-fdd212d6366e",
            tokens: TWO_CALLS,
            ..HELLO
        },
        // The tools that it wanted were not there.
        Row { name: "perm-autoedit-sh", session: "4c10be9b-7269-497b-a5ea-3b9ab9ebd9fe", ..HELLO },
        Row { name: "perm-default-skiptrust", session: "37baacc0-ef34-458c-baad-6fff8eb95e0e", ..HELLO },
        // The signal reached only the process that had started this one.
        Row {
            name: "sigterm-stream",
            session: "a4df7182-42a1-4f76-8a7d-6b085c5365c8",
            answer: "word0 word1 word2 ",
            tokens: TWO_CALLS,
            ..HELLO
        },
    ]
}

fn ends_badly() -> Vec<Row> {
    vec![
        Row {
            name: "invalid-key",
            session: "71d4adb8-bc78-44a3-8559-8531d9233e51",
            ..failed(144, Reason::Auth, "API key not valid. Please pass a valid API key.", 0)
        },
        Row {
            name: "context-overflow",
            session: "dc777d05-d9bf-4403-a772-e46d8c13bc8e",
            ..failed(144, Reason::ContextOverflow, "The input token count (1300000) exceeds the maximum", 0)
        },
        Row {
            name: "model-not-found",
            session: "0f65f6e5-edf2-4ad5-85c8-7663e2471149",
            ..failed(1, Reason::BadModel, "model not found", 0)
        },
        Row {
            name: "ratelimit-forever",
            session: "41724c0a-9c1a-42f9-bba0-d8b0553635a7",
            limits: 1,
            until: Some(When::After(Duration::from_secs(1))),
            ..failed(173, Reason::RateLimited, "You exceeded your current quota, please check your plan", 13)
        },
        Row {
            name: "quota",
            session: "8c389015-7185-43fc-9f5a-0d666ed7c0c2",
            limits: 1,
            ..failed(173, Reason::QuotaExhausted, "You have exhausted your daily quota on this model.", 0)
        },
        Row {
            name: "error500-forever",
            session: "181e5af0-50ae-4972-9d50-f9c4a5a2a5d3",
            ..failed(244, Reason::ProviderOutage, "Internal server error", 13)
        },
        Row {
            name: "truncated",
            session: "62331189-9cf6-4b2a-a075-5bf921581a52",
            tokens: ONE_CALL,
            answer: "Hello from the scripted model.",
            ..failed(1, Reason::ProviderOutage, "terminated", 0)
        },
        Row {
            name: "max-turns",
            session: "95b2e04e-fe52-49ca-9c49-a99df09450ea",
            tokens: THREE_CALLS,
            tools: 3,
            files: &["/fixture/repo/gemini-max-turns/hello.txt"],
            ..failed(53, Reason::AgentError, "Reached max session turns for this session.", 0)
        },
    ]
}

fn never_ends() -> Vec<Row> {
    let cut_off = |name, session, exit| Row {
        name,
        session,
        exit,
        failure: Some((Reason::AgentError, "Gemini CLI ended without a result")),
        ended: 0,
        ..NOTHING
    };
    let in_tool = |name, session, exit| Row { tools: 1, ..cut_off(name, session, exit) };
    vec![
        Row {
            failure: Some((Reason::ProviderOutage, "Attempt 3 failed. Retrying with backoff")),
            retries: 7,
            ..cut_off("hang", "cb889f43-e634-4677-9bff-488da987b906", AgentExit::Signal(9))
        },
        Row {
            answer: "Hello from the scripted model.",
            ..cut_off("hangmid", "7c94f670-45ed-419b-b14f-da4b1c1c6a84", AgentExit::Signal(9))
        },
        Row {
            answer: "word0 word1 word2 word3 word4",
            ..cut_off("sigterm-stream-norelaunch", "739d4557-f97b-48bb-8fc7-87ed3a259241", AgentExit::Code(0))
        },
        in_tool("sigint-tool", "04dcdd6c-31d5-4976-bf85-8b50b6252ae3", AgentExit::Signal(9)),
        in_tool("sigint-tool-norelaunch", "6148c6d7-4914-4d24-972c-7412fd4e2c0f", AgentExit::Code(0)),
        in_tool("sigterm-tool-norelaunch", "46182ad6-e32b-42a9-a284-433f734d5b31", AgentExit::Code(0)),
        in_tool("sigterm-tool-group", "a2652006-c739-4ace-a532-1c27a8a4eb2f", AgentExit::Signal(15)),
        in_tool("sigkill-tool", "1da1a153-6383-44ae-8a66-cbda057a0360", AgentExit::Signal(9)),
    ]
}

fn never_starts() -> Vec<Row> {
    let untrusted = "Gemini CLI is not running in a trusted directory.";
    vec![
        Row { name: "perm-default", ..failed(55, Reason::AgentError, untrusted, 0) },
        Row { name: "yolo-untrusted", ..failed(55, Reason::AgentError, untrusted, 0) },
        Row {
            name: "resume-unknown",
            ..failed(42, Reason::AgentError, "Error resuming session: Invalid session identifier", 0)
        },
        Row { name: "no-auth", ..failed(41, Reason::Auth, "Invalid auth method selected.", 0) },
    ]
}

fn played(name: &str, exit: &AgentExit) -> Played {
    let lines = [out("gemini", name), err("gemini", name)].concat();
    play(decoder("gemini", &plain()), &lines, exit)
}

#[test]
fn trap_attempts_are_told_of_on_standard_error_only() {
    let run = played("ratelimit-then-ok", &AgentExit::Code(0));
    let waits: Vec<_> = run
        .events
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Retry { attempt, wait_ms, .. } => Some((*attempt, *wait_ms)),
            _ => None,
        })
        .collect();
    assert_eq!(waits, [(Some(2), Some(5495)), (Some(3), Some(10_040))]);
    let silent = play(decoder("gemini", &plain()), &out("gemini", "ratelimit-then-ok"), &AgentExit::Code(0));
    assert!(!silent.events.iter().any(|event| matches!(event, AgentEvent::Retry { .. })));
}

#[test]
fn trap_exit_statuses_are_http_statuses_without_their_first_byte() {
    let lines = out("gemini", "hang");
    for (code, reason) in [
        (173, Reason::RateLimited),
        (145, Reason::Auth),
        (147, Reason::Auth),
        (244, Reason::ProviderOutage),
        (247, Reason::ProviderOutage),
        (41, Reason::Auth),
        (144, Reason::AgentError),
        (42, Reason::AgentError),
        (53, Reason::AgentError),
        (55, Reason::AgentError),
        (143, Reason::AgentError),
        (0, Reason::AgentError),
    ] {
        let run = play(decoder("gemini", &plain()), &lines, &AgentExit::Code(code));
        assert_eq!(run.reason(), Some(reason), "{code}");
    }
}

#[test]
fn trap_told_to_end_it_says_that_all_went_well() {
    for name in ["sigterm-tool-norelaunch", "sigint-tool-norelaunch", "sigterm-stream-norelaunch"] {
        assert_eq!(played(name, &AgentExit::Code(0)).reason(), Some(Reason::AgentError), "{name}");
    }
}

#[test]
fn trap_a_denied_tool_still_ends_well() {
    let run = played("plan-mode", &AgentExit::Code(0));
    let denied =
        |event: &&AgentEvent| matches!(event, AgentEvent::Denied { tool, .. } if tool == "write_file");
    assert_eq!(run.events.iter().filter(denied).count(), 1);
    assert_eq!(run.failure(), None);
}

/// With a model of its own choice it asks a small one first, whose refusal is not the end.
#[test]
fn a_refusal_on_the_way_stops_nobody() {
    let run = play(decoder("gemini", &plain()), &err("gemini", "model-not-found"), &AgentExit::Code(0));
    assert!(!run.events.iter().any(|event| matches!(event, AgentEvent::Error { .. })), "{:?}", run.events);
}

#[test]
fn pieces_are_told_in_whole_lines_and_stacks_not_at_all() {
    let run = played("sigterm-stream", &AgentExit::Code(0));
    let texts: Vec<_> = run.events.iter().filter(|event| matches!(event, AgentEvent::Text { .. })).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    let noisy = played("error500-forever", &AgentExit::Code(244));
    assert!(noisy.events.len() < 60, "{} events", noisy.events.len());
}
