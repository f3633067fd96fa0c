//! What the recordings of opencode 1.18.33 show. The table was written by reading them.

use std::time::Duration;

use fleet_agents::When;
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;
use fleet_core::time::Millis;

use crate::harness::{NOTHING, Row, compare, plain};

/// The scripted server bills every request alike: 778 in, 167 out and 55 thought, 333 from the cache, $0.0057639.
const ONE: ([u64; 4], u64) = ([778, 222, 333, 0], 5_764);
const TWO: ([u64; 4], u64) = ([1_556, 444, 666, 0], 11_528);

const DONE: &str = "Done: the file is written.";
const HELLO: &str = "Hello from the scripted model.";
const OVERFLOW: &str =
    "Your input exceeds the context window of this model. Please adjust your input and try again.";
const TIMED_OUT: &str = "The operation timed out.";

/// A run that did its two steps and used a tool.
fn used(name: &'static str, session: &'static str) -> Row {
    Row { name, session, tokens: TWO.0, micro_usd: TWO.1, tools: 1, answer: DONE, ..NOTHING }
}

/// The same with a tool that wrote this file.
fn good(name: &'static str, session: &'static str, files: &'static [&'static str]) -> Row {
    Row { files, ..used(name, session) }
}

/// A run of one step that only said something.
fn talk(name: &'static str, session: &'static str) -> Row {
    Row { name, session, tokens: ONE.0, micro_usd: ONE.1, answer: HELLO, ..NOTHING }
}

/// A run that failed before the model said anything.
fn bad(name: &'static str, session: &'static str, reason: Reason, text: &'static str) -> Row {
    Row { name, session, exit: AgentExit::Code(1), ended: 0, failure: Some((reason, text)), ..NOTHING }
}

/// A run that was killed by this signal.
fn killed(name: &'static str, session: &'static str, signal: i32, text: &'static str) -> Row {
    Row { exit: AgentExit::Signal(signal), ..bad(name, session, Reason::AgentError, text) }
}

const KILLED: &str = "the agent was ended by signal 9 in the middle of its turn";
const TERMINATED: &str = "the agent was ended by signal 15 in the middle of its turn";

fn rows() -> Vec<Row> {
    [finished(), refused(), stopped(), with_log()].into_iter().flatten().collect()
}

fn finished() -> Vec<Row> {
    vec![
        good("e2e", "ses_e21d7206bffeX18VdVUVMLnWbY", &["/fixture/repo/opencode-e2e/hello.txt"]),
        good("slim-e2e", "ses_e21dc46caffeVQl1KLZLQMbhG5", &["/fixture/repo/opencode-slim-e2e/hello.txt"]),
        good(
            "success-logs",
            "ses_e22014919ffedcIBs3CHJ9J6PE",
            &["/fixture/repo/opencode-success-logs/hello.txt"],
        ),
        good(
            "success-with-tool",
            "ses_e22031389ffez6OLA4F4cm3qtC",
            &["/fixture/repo/opencode-success-with-tool/hello.txt"],
        ),
        // Without its log, opencode does not show that it tried again.
        good(
            "ratelimit-then-ok",
            "ses_e21f5ee45ffe26DhTI6M52x1m5",
            &["/fixture/repo/opencode-ratelimit-then-ok/hello.txt"],
        ),
        good("resume-1", "ses_e21ead441fferA0TkpuSC4lMsc", &["/fixture/repo/opencode-resume-1/hello.txt"]),
        good(
            "perm-default",
            "ses_e21e9740cffe8A4kDyArcdZMtr",
            &["/fixture/repo/opencode-perm-default/hello.txt"],
        ),
        good(
            "perm-ask-auto",
            "ses_e21e9566affeG8349ewatXwSJX",
            &["/fixture/repo/opencode-perm-ask-auto/hello.txt"],
        ),
        used("mcp", "ses_e21ea9657ffelgllA7mlRuIH2B"),
        // The same session, and its step counts by itself.
        talk("resume-2", "ses_e21ead441fferA0TkpuSC4lMsc"),
        talk("sysprompt", "ses_e21e939bfffeKEm8OfsQAP34Ey"),
        // Tools that are denied are not even offered.
        talk("perm-deny", "ses_e21e94783ffeXECwi4esJkBZ4N"),
    ]
}

fn refused() -> Vec<Row> {
    vec![
        // Exit status 0, although it stopped in the middle.
        Row {
            exit: AgentExit::Code(0),
            tokens: ONE.0,
            micro_usd: ONE.1,
            tools: 1,
            files: &["/fixture/repo/opencode-perm-ask/hello.txt"],
            denied: &["write"],
            ..bad(
                "perm-ask",
                "ses_e21e96500ffepuQ29NPtSXa54d",
                Reason::AgentError,
                "it stopped when `write` was refused: The user rejected permission to use this specific tool call.",
            )
        },
        bad("context-overflow", "ses_e21f5a2a8ffeJDpmMo5wcb6TRp", Reason::ContextOverflow, OVERFLOW),
        bad(
            "error500-forever",
            "ses_e21f5f332ffecJbV0HZi56mrNM",
            Reason::ProviderOutage,
            "Internal server error",
        ),
        bad(
            "invalid-key",
            "ses_e21f5b509ffe9oCot1lSnSyvh0",
            Reason::Auth,
            "Incorrect API key provided: dummy.",
        ),
        bad("model-not-found", "ses_e21f5906dffeSvEpmCPRGSmxes", Reason::BadModel, "model not found"),
        Row {
            limits: 1,
            until: Some(When::At(Millis(1_794_737_471_000))),
            ..bad(
                "quota",
                "ses_e21f46ce7ffeHRWjkrEaummyvJ",
                Reason::QuotaExhausted,
                "The usage limit has been reached",
            )
        },
        Row {
            limits: 1,
            until: Some(When::After(Duration::from_secs(1))),
            ..bad(
                "ratelimit-forever",
                "ses_e2200f21fffeJ5jvIs5EKmqRYp",
                Reason::RateLimited,
                "This request would exceed your rate limit",
            )
        },
        bad("hang-timeout", "ses_e21e92bdeffevf0dSB48roR4XP", Reason::ProviderOutage, TIMED_OUT),
        // The same answer was begun three times.
        Row {
            retries: 2,
            ..bad("hangmid-timeout", "ses_e21e90dc9fferJa21avxltrLhE", Reason::ProviderOutage, TIMED_OUT)
        },
        // The same answer was begun six times.
        Row {
            retries: 5,
            ..bad(
                "sse-error",
                "ses_e21f43fbeffeyAI9gw67OTlOOj",
                Reason::ProviderOutage,
                r#"{"message":"The server had an error","type":"server_error","code":500}"#,
            )
        },
        bad("resume-unknown", "", Reason::AgentError, "Session not found"),
    ]
}

fn stopped() -> Vec<Row> {
    vec![
        killed("hang", "", 9, KILLED),
        killed("hangmid", "ses_e21f5eeabffexCj61b4CDIvEEo", 9, KILLED),
        killed("sigkill-tool", "ses_e21eb1da4ffeFaniN8T8dKOpAs", 9, KILLED),
        killed("sigterm-stream", "ses_e21eaf86bffe312AP1uNw2HUrc", 15, TERMINATED),
        killed("sigterm-tool", "ses_e21eb7427ffejPaZHNR1HFfAc9", 15, TERMINATED),
        killed(
            "sigint-tool",
            "ses_e21eb4ad2ffekxgCGtuyYXbRK3",
            2,
            "the agent was ended by signal 2 in the middle of its turn",
        ),
    ]
}

/// With its log on standard error, as we start it.
fn with_log() -> Vec<Row> {
    vec![
        // Two requests were refused before the third was answered.
        Row {
            retries: 2,
            limits: 2,
            ..good(
                "log-ratelimit-then-ok",
                "ses_e2014885effexONqXv9o60QBD7",
                &["/fixture/repo/log-ratelimit-then-ok/h3.txt"],
            )
        },
        bad(
            "log-invalid-key",
            "ses_e20143a2affemm4gHmkR6s2MhB",
            Reason::Auth,
            "Incorrect API key provided: dummy.",
        ),
        // Only the log has the cause: the event says "Unexpected server error".
        bad(
            "log-unknown-model",
            "ses_e201666eeffeEC5QLRrKzZ56Wj",
            Reason::BadModel,
            "ProviderModelNotFoundError: Model not found: fake/nope.",
        ),
        // The main checkout is outside of the linked worktree; the model went on after the refusal.
        Row {
            denied: &["write"],
            ..good("log-outside-refused", "ses_e20191a66fferW1NG3XC9Rcx7e", &["/fixture/main/inmain.txt"])
        },
    ]
}

#[test]
fn recordings_show_what_was_seen_in_them() {
    compare("opencode", &rows(), |_| plain());
}
