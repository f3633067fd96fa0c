//! What recorded conversations with agents show that speak the Agent Client Protocol: claude-agent-acp 0.99.0,
//! codex-acp 0.16.0, gemini 0.61.0, opencode 1.18.33 and copilot 1.0.102. The table was written by reading them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

mod replay;

use std::collections::BTreeSet;
use std::path::Path;

use fleet_agents::{Brief, Conversation, Meter, Stream, Tokens, Trust};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use replay::{Recorded, Shown, decoder, folder, lines, shown, spoilt};
use serde_json::Value;

const DONE: &str = "Done: the file is written.";
const NONE: Tokens = Tokens { input: 0, output: 0, cache_read: 0, cache_write: 0 };
/// The scripted server bills one request of opencode so; thoughts are output. It tells of the last request only.
const OPENCODE: Tokens = Tokens { input: 778, output: 222, cache_read: 333, cache_write: 0 };
const GEMINI: Tokens = Tokens { input: 2_222, output: 444, cache_read: 0, cache_write: 0 };

struct Case {
    name: &'static str,
    session: &'static str,
    tokens: Tokens,
    micro_usd: u64,
    file: &'static str,
    denied: usize,
    retries: usize,
    said: &'static str,
    failure: Option<(Reason, &'static str)>,
    /// What was said to the agent.
    dialogue: &'static [&'static str],
}

const PLAIN: &[&str] = &["initialize", "session/new", "session/prompt"];
const ASKED: &[&str] = &["initialize", "session/new", "session/prompt", "answer"];

fn good(name: &'static str, session: &'static str, tokens: Tokens, file: &'static str) -> Case {
    let (micro_usd, denied, retries) = (0, 0, 0);
    let (said, failure, dialogue) = (DONE, None, PLAIN);
    Case { name, session, tokens, micro_usd, file, denied, retries, said, failure, dialogue }
}

fn bad(name: &'static str, session: &'static str, reason: Reason, text: &'static str) -> Case {
    Case { said: "", failure: Some((reason, text)), ..good(name, session, NONE, "") }
}

fn cases() -> Vec<Case> {
    [finished(), failed(), remarked()].into_iter().flatten().collect()
}

fn finished() -> Vec<Case> {
    let claude = Tokens { input: 2_222, output: 444, cache_read: 666, cache_write: 88 };
    // It counts what it read from the cache as input, too.
    let copilot = Tokens { input: 1_556, output: 444, cache_read: 666, cache_write: 0 };
    vec![
        Case {
            micro_usd: 27_512,
            dialogue: ASKED,
            ..good(
                "claude",
                "b356b2e8-2c1c-4449-b90a-f53491e94796",
                claude,
                "/fixture/repo/acp-claude/hello.txt",
            )
        },
        // It only tells how full its context is, and which command it ran.
        good("codex", "01a1de22-0883-7af3-ae06-2c384bc504e9", NONE, ""),
        Case {
            dialogue: ASKED,
            ..good(
                "gemini",
                "1037d61c-8236-4ec8-b4c6-2bb058cab1cd",
                GEMINI,
                "/fixture/repo/acp-gemini/hello.txt",
            )
        },
        good("opencode", "ses_e21df45c1ffeQdd4TYLd09vSo3", OPENCODE, "/fixture/repo/acp-opencode/hello.txt"),
        Case { dialogue: ASKED, ..good("copilot", "cb34744e-7471-414f-99e2-a62a63361cac", copilot, "") },
        // $0.0461112 in all, of which three turns of $0.0115278 were before.
        Case {
            micro_usd: 11_528,
            dialogue: &["initialize", "session/resume", "session/prompt"],
            ..good(
                "opencode-resumed",
                "ses_e200950ccffefQ75c0tCDU2G1F",
                OPENCODE,
                "/fixture/repo/opencode-resumed/acp.txt",
            )
        },
        // The modes that it offers were taken out of the recording: in its mode for reading it does not ask.
        Case {
            denied: 1,
            dialogue: ASKED,
            ..good("gemini-refused", "2aa8e8e2-c8a6-47a9-9be4-ed390088a685", GEMINI, "")
        },
    ]
}

fn failed() -> Vec<Case> {
    vec![
        bad(
            "gemini-invalid-key",
            "d9f9192e-e4c0-4731-8335-ed957897e07b",
            Reason::Auth,
            "API key not valid. Please pass a valid API key.",
        ),
        bad(
            "opencode-invalid-key",
            "ses_e2007a639ffetVEOqrrd8TJrap",
            Reason::Auth,
            "Incorrect API key provided: dummy.",
        ),
        bad(
            "opencode-cancelled",
            "ses_e2006fa1fffez6iUfRPZ2KrEl0",
            Reason::AgentError,
            "the turn was cancelled",
        ),
        Case {
            dialogue: &["initialize", "session/resume"],
            ..bad("opencode-unknown-session", "", Reason::AgentError, "OpenCode service failure")
        },
    ]
}

/// Copilot tells of failures among its words, and ends the turn as if all were well.
fn remarked() -> Vec<Case> {
    vec![
        Case {
            retries: 2,
            ..bad(
                "copilot-invalid-key",
                "94de5df2-953a-4b50-841d-0338ba266181",
                Reason::Auth,
                "Authentication failed with provider at http://127.0.0.1:8124/s/401/cp16653/v1 (HTTP 401). Check your \
                 COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
            )
        },
        bad(
            "copilot-ratelimit",
            "5d9280ec-23ed-42c7-9541-4bbf53520c7f",
            Reason::RateLimited,
            "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.34 seconds) Last \
             error: 429 This request would exceed your rate limit",
        ),
        Case {
            retries: 5,
            ..bad(
                "copilot-outage",
                "a97310e8-c5e6-46e3-8b2e-55eae6ee1cab",
                Reason::ProviderOutage,
                "Failed to get response from the AI model; retried 5 times (total retry wait time: 15.21 seconds) Last \
                 error: 500 Internal server error",
            )
        },
        Case {
            retries: 1,
            ..bad(
                "copilot-overflow",
                "4689bc41-f694-4c80-b2b3-e2e78dcd8ff9",
                Reason::ContextOverflow,
                "The provider rejected the prompt as too long, but automatic recovery could not reduce it. Reduce \
                 context before retrying.",
            )
        },
    ]
}

/// The adapter that reads a recording: Copilot has its own.
fn agent(name: &str) -> &'static str {
    if name.starts_with("copilot") { "copilot" } else { "acp" }
}

/// The run that a recording was made for.
fn brief(name: &str) -> Brief<'static> {
    let resume =
        |session, micro_usd| Conversation::Resume { session, meter: Meter { micro_usd, ..Meter::default() } };
    let conversation = match name {
        "opencode-resumed" => resume("ses_e200950ccffefQ75c0tCDU2G1F", 34_583),
        "opencode-unknown-session" => resume("ses_nope", 0),
        _ => Conversation::New { id: None },
    };
    let trust = if name == "gemini-refused" { Trust::ReadOnly } else { Trust::Sandbox };
    Brief { conversation, trust, ..Brief::plain("Please write", Path::new("/fixture/repo")) }
}

/// What the agent wrote; what the recording client wrote is left out, because ours writes for itself.
fn recorded(name: &str) -> Vec<Recorded> {
    let folder = folder("acp");
    let conversation = lines(&folder.join(format!("{name}.jsonl")), Stream::Out);
    let heard = conversation.into_iter().filter_map(|(stream, line)| {
        let line: Value = serde_json::from_slice(&line).unwrap();
        (line["dir"] == "<").then(|| (stream, line["m"].to_string().into_bytes()))
    });
    heard.chain(lines(&folder.join(format!("{name}.stderr")), Stream::Err)).collect()
}

#[test]
fn recordings_show_what_was_seen_in_them() {
    for case in cases() {
        let mut decoder = decoder(agent(case.name), &brief(case.name));
        let seen = shown(decoder.as_mut(), &recorded(case.name), &AgentExit::Code(0));
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let expected = Shown {
            session: some(case.session),
            tokens: case.tokens,
            micro_usd: case.micro_usd,
            files: some(case.file).into_iter().collect(),
            retries: case.retries,
            denied: case.denied,
            final_text: some(case.said),
            failure: case.failure.map(|(reason, text)| (reason, text.to_owned())),
            until: None,
            ended: true,
        };
        assert_eq!(seen, expected, "{}", case.name);
    }
}

#[test]
fn the_dialogue_is_the_one_that_the_protocol_asks_for() {
    for case in cases() {
        let mut decoder = decoder(agent(case.name), &brief(case.name));
        let mut said = decoder.reply();
        for (stream, line) in recorded(case.name) {
            decoder.line(stream, &line, false);
            said.extend(decoder.reply());
        }
        let said: Vec<Value> =
            said.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let methods: Vec<&str> =
            said.iter().map(|message| message["method"].as_str().unwrap_or("answer")).collect();
        assert_eq!(methods, case.dialogue, "{}", case.name);
    }
}

#[test]
fn no_recording_is_left_out() {
    let known: BTreeSet<String> = cases().iter().map(|case| case.name.to_owned()).collect();
    let files = std::fs::read_dir(folder("acp")).unwrap();
    let there: BTreeSet<String> = files
        .map(|entry| {
            Path::new(&entry.unwrap().file_name()).file_stem().unwrap().to_string_lossy().into_owned()
        })
        .collect();
    assert_eq!(known, there);
}

#[test]
fn spoilt_recordings_do_no_harm() {
    for case in cases() {
        for way in spoilt(&recorded(case.name)) {
            let mut decoder = decoder(agent(case.name), &brief(case.name));
            // An answer that comes twice ends two turns.
            let mut once = BTreeSet::new();
            let way: Vec<Recorded> = way.into_iter().filter(|(_, line)| once.insert(line.clone())).collect();
            let seen = shown(decoder.as_mut(), &way, &AgentExit::Signal(9));
            assert!(seen.ended || seen.failure.is_some(), "{}: {seen:?}", case.name);
        }
    }
}
