//! What recorded conversations with agents show that speak the Agent Client Protocol: claude-agent-acp 0.99.0,
//! codex-acp 0.16.0, gemini 0.61.0, opencode 1.18.33, qwen 0.24.4 and copilot 1.0.102. The table was written by reading them.

use std::path::Path;

use fleet_agents::{Brief, Conversation, Meter, Trust};
use fleet_core::run::Reason;
use serde_json::Value;

use crate::harness::{NOTHING, Row, agent, compare, decoder, err, out};

const DONE: &str = "Done: the file is written.";
/// The scripted server bills one request of opencode so; thoughts are output. It tells of the last request only.
const OPENCODE: [u64; 4] = [778, 222, 333, 0];
const GEMINI: [u64; 4] = [2_222, 444, 0, 0];
/// They count what they read from the cache as input, too.
const TWO_REQUESTS: [u64; 4] = [1_556, 444, 666, 0];

const PLAIN: &[&str] = &["initialize", "session/new", "session/prompt"];
const ASKED: &[&str] = &["initialize", "session/new", "session/prompt", "answer"];

/// What a recording shows, and what was said to the agent.
type Case = (Row, &'static [&'static str]);

/// A turn that used a tool and ended well.
const fn good(name: &'static str, session: &'static str, tokens: [u64; 4]) -> Row {
    Row { name, session, tokens, tools: 1, answer: DONE, ..NOTHING }
}

/// A turn that ended before the model said anything.
const fn bad(name: &'static str, session: &'static str, reason: Reason, text: &'static str) -> Row {
    Row { name, session, failure: Some((reason, text)), ..NOTHING }
}

fn cases() -> Vec<Case> {
    [finished(), failed(), qwen(), remarked()].into_iter().flatten().collect()
}

fn finished() -> Vec<Case> {
    let claude = Row {
        micro_usd: 27_512,
        files: &["/fixture/repo/acp-claude/hello.txt"],
        ..good("claude", "b356b2e8-2c1c-4449-b90a-f53491e94796", [2_222, 444, 666, 88])
    };
    // It only tells how full its context is, and which command it ran.
    let codex = good("codex", "01a1de22-0883-7af3-ae06-2c384bc504e9", [0; 4]);
    let gemini = Row {
        files: &["/fixture/repo/acp-gemini/hello.txt"],
        ..good("gemini", "1037d61c-8236-4ec8-b4c6-2bb058cab1cd", GEMINI)
    };
    let opencode = Row {
        files: &["/fixture/repo/acp-opencode/hello.txt"],
        ..good("opencode", "ses_e21df45c1ffeQdd4TYLd09vSo3", OPENCODE)
    };
    let copilot = good("copilot", "cb34744e-7471-414f-99e2-a62a63361cac", TWO_REQUESTS);
    // $0.0461112 in all, of which three turns of $0.0115278 were before.
    let resumed = Row {
        micro_usd: 11_528,
        files: &["/fixture/repo/opencode-resumed/acp.txt"],
        ..good("opencode-resumed", "ses_e200950ccffefQ75c0tCDU2G1F", OPENCODE)
    };
    // The modes that it offers were taken out of the recording: in its mode for reading it does not ask.
    let refused = Row {
        denied: &["execute"],
        ..good("gemini-refused", "2aa8e8e2-c8a6-47a9-9be4-ed390088a685", GEMINI)
    };
    vec![
        (claude, ASKED),
        (codex, PLAIN),
        (gemini, ASKED),
        (opencode, PLAIN),
        (copilot, ASKED),
        (resumed, &["initialize", "session/resume", "session/prompt"]),
        (refused, ASKED),
    ]
}

fn failed() -> Vec<Case> {
    let gemini_key = bad(
        "gemini-invalid-key",
        "d9f9192e-e4c0-4731-8335-ed957897e07b",
        Reason::Auth,
        "API key not valid. Please pass a valid API key.",
    );
    let opencode_key = bad(
        "opencode-invalid-key",
        "ses_e2007a639ffetVEOqrrd8TJrap",
        Reason::Auth,
        "Incorrect API key provided: dummy.",
    );
    let cancelled = bad(
        "opencode-cancelled",
        "ses_e2006fa1fffez6iUfRPZ2KrEl0",
        Reason::AgentError,
        "the turn was cancelled",
    );
    let unknown = bad("opencode-unknown-session", "", Reason::AgentError, "OpenCode service failure");
    vec![
        (gemini_key, PLAIN),
        (opencode_key, PLAIN),
        (cancelled, PLAIN),
        (unknown, &["initialize", "session/resume"]),
    ]
}

/// It asks us for each tool, and once after each whether there is anything new, and tells the tokens of each request.
fn qwen() -> Vec<Case> {
    let wrote = Row {
        files: &["/fixture/repo/qwen/hello.txt"],
        ..good("qwen", "88259032-d633-4edc-b288-326d5e84bb34", TWO_REQUESTS)
    };
    let resumed = good("qwen-resumed", "88259032-d633-4edc-b288-326d5e84bb34", TWO_REQUESTS);
    // A refusal ends its turn, and it calls that a good end.
    let refused = Row {
        files: &["/fixture/repo/qwen-refused/hello.txt"],
        denied: &["write_file"],
        answer: "",
        ..good("qwen-refused", "05feaf14-ebbb-4e39-b526-1044ea948d41", [778, 222, 333, 0])
    };
    let key = bad(
        "qwen-invalid-key",
        "986808a4-4e28-460a-8514-f4086f350376",
        Reason::Auth,
        "401 Incorrect API key provided: dummy.",
    );
    // After 28 requests and a pause of a minute, of which it told nothing.
    let limited = Row {
        limits: 1,
        ..bad(
            "qwen-ratelimit",
            "bcf590e5-3f01-4eb8-b32c-b86514f86feb",
            Reason::RateLimited,
            "Rate limit exceeded. Try again later.",
        )
    };
    let outage = bad(
        "qwen-outage",
        "fd999454-5d06-41ab-89fa-afe1bdac73bc",
        Reason::ProviderOutage,
        "500 Internal server error",
    );
    vec![
        (wrote, &["initialize", "session/new", "session/prompt", "answer", "answer"]),
        (resumed, &["initialize", "session/resume", "session/prompt", "answer", "answer"]),
        (refused, &["initialize", "session/new", "session/prompt", "answer", "answer"]),
        (key, PLAIN),
        (limited, PLAIN),
        (outage, PLAIN),
    ]
}

/// Copilot tells of failures among its words, and ends the turn as if all were well.
fn remarked() -> Vec<Case> {
    let key = Row {
        retries: 2,
        ..bad(
            "copilot-invalid-key",
            "94de5df2-953a-4b50-841d-0338ba266181",
            Reason::Auth,
            "Authentication failed with provider at http://127.0.0.1:8124/s/401/cp16653/v1 (HTTP 401).\n  Check your \
             COPILOT_PROVIDER_API_KEY, COPILOT_PROVIDER_API_KEY_COMMAND, or COPILOT_PROVIDER_BEARER_TOKEN.",
        )
    };
    let limited = Row {
        limits: 1,
        ..bad(
            "copilot-ratelimit",
            "5d9280ec-23ed-42c7-9541-4bbf53520c7f",
            Reason::RateLimited,
            "Failed to get response from the AI model; retried 5 times (total retry wait time: 5.34 seconds) Last \
             error: 429 This request would exceed your rate limit",
        )
    };
    let outage = Row {
        retries: 5,
        ..bad(
            "copilot-outage",
            "a97310e8-c5e6-46e3-8b2e-55eae6ee1cab",
            Reason::ProviderOutage,
            "Failed to get response from the AI model; retried 5 times (total retry wait time: 15.21 seconds) Last \
             error: 500 Internal server error",
        )
    };
    let overflow = Row {
        retries: 1,
        ..bad(
            "copilot-overflow",
            "4689bc41-f694-4c80-b2b3-e2e78dcd8ff9",
            Reason::ContextOverflow,
            "The provider rejected the prompt as too long, but automatic recovery could not reduce it. Reduce \
             context before retrying.",
        )
    };
    [key, limited, outage, overflow].map(|row| (row, PLAIN)).to_vec()
}

/// The run that a recording was made for.
fn brief(name: &str) -> Brief<'static> {
    let resume =
        |session, micro_usd| Conversation::Resume { session, meter: Meter { micro_usd, ..Meter::default() } };
    let conversation = match name {
        "opencode-resumed" => resume("ses_e200950ccffefQ75c0tCDU2G1F", 34_583),
        "opencode-unknown-session" => resume("ses_nope", 0),
        "qwen-resumed" => resume("88259032-d633-4edc-b288-326d5e84bb34", 0),
        _ => Conversation::New { id: None },
    };
    let trust = if name == "gemini-refused" { Trust::ReadOnly } else { Trust::Sandbox };
    // Where the file that it wants to write is outside.
    let workspace = Path::new(if name == "qwen-refused" { "/fixture/elsewhere" } else { "/fixture/repo" });
    Brief { conversation, trust, ..Brief::plain("Please write", workspace) }
}

#[test]
fn recordings_show_what_was_seen_in_them() {
    let rows: Vec<Row> = cases().into_iter().map(|(row, _)| row).collect();
    compare("acp", &rows, brief);
}

#[test]
fn the_dialogue_is_the_one_that_the_protocol_asks_for() {
    for (Row { name, .. }, dialogue) in cases() {
        let mut decoder = decoder(agent("acp", name), &brief(name));
        let mut said = decoder.reply();
        for (stream, line) in [out("acp", name), err("acp", name)].concat() {
            decoder.line(stream, &line, false);
            said.extend(decoder.reply());
        }
        let said: Vec<Value> =
            said.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let methods: Vec<&str> =
            said.iter().map(|message| message["method"].as_str().unwrap_or("answer")).collect();
        assert_eq!(methods, dialogue, "{name}");
    }
}
