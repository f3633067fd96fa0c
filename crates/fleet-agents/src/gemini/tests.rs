use std::path::Path;
use std::time::Duration;

use fleet_core::event::{AgentEvent, Counted, Stream, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};
use serde_json::{Value, json};

use super::trouble::failure_of;
use super::*;
use crate::adapter::{AgentFailure, Conversation, McpServer, PromptVia, RepositorySettings, Trust};

fn brief() -> Brief<'static> {
    Brief { scratch: Path::new("/run/scratch"), ..Brief::plain("Do it well", Path::new("/run/tree")) }
}

const ALWAYS: [&str; 5] = ["--output-format", "stream-json", "--skip-trust", "--approval-mode", "yolo"];

#[test]
fn the_prompt_comes_by_standard_input() {
    let plan = Gemini.plan(&brief());
    assert_eq!((&plan.program, plan.prompt), (&Program::OnPath("gemini".into()), PromptVia::Stdin));
    assert_eq!(plan.args, ALWAYS);
    let env: Vec<(&str, &str)> =
        plan.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        ("TMPDIR", "/run/scratch"),
    ];
    assert_eq!(env, expected);
    assert!(plan.files.is_empty());
    assert!(!plan.args.iter().any(|arg| arg.contains("well")));
}

#[test]
fn each_trust_has_its_mode() {
    let mode = |trust| Gemini.plan(&Brief { trust, ..brief() }).args[4].clone();
    assert_eq!(mode(Trust::ReadOnly), "default");
    assert_eq!(mode(Trust::Sandbox), "yolo");
    assert_eq!(mode(Trust::Full), "yolo");
}

#[test]
fn model_conversation_and_what_the_user_adds() {
    let extra = ["--extensions".to_owned(), "none".to_owned()];
    let new =
        Brief { conversation: Conversation::New { id: Some("11-22") }, model: Some("flash"), ..brief() };
    assert_eq!(Gemini.plan(&new).args[5..], ["-m", "flash", "--session-id", "11-22"]);
    let conversation = Conversation::Resume { session: "11-22", meter: Meter::default() };
    let resumed = Brief { conversation, extra_args: &extra, ..brief() };
    assert_eq!(Gemini.plan(&resumed).args[5..], ["--resume", "11-22", "--extensions", "none"]);
}

#[test]
fn settings_of_the_run_are_defaults_below_those_of_the_user() {
    let mcp = [McpServer {
        name: "fleet".to_owned(),
        command: "/bin/fleet".to_owned(),
        args: vec!["mcp".to_owned()],
        env: vec![("K".to_owned(), "v".to_owned())],
    }];
    let path = Path::new("/run/scratch/gemini-defaults.json");
    let variable = ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH".to_owned(), path.to_string_lossy().into_owned());
    for brief in [Brief { is_root: true, ..brief() }, Brief { mcp: &mcp, ..brief() }] {
        let plan = Gemini.plan(&brief);
        assert_eq!((plan.files.len(), plan.files[0].path.as_path()), (1, path));
        assert!(plan.env.contains(&variable));
    }
    let plan = Gemini.plan(&Brief { mcp: &mcp, ..brief() });
    let settings: Value = serde_json::from_str(&plan.files[0].content).unwrap();
    assert_eq!(settings["general"]["maxAttempts"], json!(4));
    assert_eq!(settings["general"]["enableAutoUpdate"], json!(false));
    let server = json!({"command": "/bin/fleet", "args": ["mcp"], "env": {"K": "v"}, "trust": true});
    assert_eq!(settings["mcpServers"], json!({"fleet": server}));
    assert_eq!(settings["security"], Value::Null, "how to sign in is the user's choice");
}

#[test]
fn standing_orders_and_schema_are_a_file_that_the_prompt_names() {
    let scratch = Path::new("/a b/(c)");
    let brief =
        Brief { scratch, system_prompt: Some("Be brief"), schema: Some(r#"{"type":"object"}"#), ..brief() };
    let plan = Gemini.plan(&brief);
    let expected = [
        "--include-directories",
        "/a b/(c)/gemini-orders",
        "-p",
        r"Standing orders for all of this: @/a\ b/\(c\)/gemini-orders/orders.md",
    ];
    assert_eq!(plan.args[5..], expected);
    let orders = plan.files.iter().find(|file| file.path.ends_with("orders.md")).unwrap();
    assert!(orders.content.starts_with("Be brief\n\n") && orders.content.ends_with(r#"{"type":"object"}"#));
}

#[test]
fn every_sentence_has_its_reason() {
    let after = |seconds| Some(When::After(Duration::from_secs(seconds)));
    for (message, reason, until) in [
        (
            "[API Error: You exceeded your current quota.\nPlease retry in 34s.]",
            Reason::RateLimited,
            after(34),
        ),
        (r#"[API Error: {"error":{"code":429,"message":"Resource exhausted"}}]"#, Reason::RateLimited, None),
        ("[API Error: You have exhausted your daily quota on this model.]", Reason::QuotaExhausted, None),
        (
            "[API Error: You have exhausted your capacity on this model. Your quota will reset after 5h23m0s.]",
            Reason::QuotaExhausted,
            after(19_380),
        ),
        ("[API Error: No capacity available for model x on the server]", Reason::ProviderOutage, None),
        (
            r#"[API Error: {"error":{"code":503,"message":"The model is overloaded."}}]"#,
            Reason::ProviderOutage,
            None,
        ),
        (r#"[API Error: {"error":{"code":403,"message":"no"}}]"#, Reason::Auth, None),
        ("Please set an Auth method in your settings", Reason::Auth, None),
        (
            r#"[API Error: {"error":{"code":404,"message":"models/x is not found for API version v1beta"}}]"#,
            Reason::BadModel,
            None,
        ),
        ("[API Error: exception TypeError: fetch failed sending request]", Reason::ProviderOutage, None),
        ("Operation cancelled.", Reason::AgentError, None),
        ("", Reason::AgentError, None),
    ] {
        let failure = failure_of(message);
        assert_eq!((failure.reason, failure.until), (reason, until), "{message}");
    }
}

#[test]
fn people_read_the_sentence_and_not_its_wrapping() {
    let text = |message: &str| failure_of(message).text;
    assert_eq!(text(r#"[API Error: {"error":{"code":500,"message":"Down [a]"}}]"#), "Down [a]");
    assert_eq!(text("[API Error: model not found]\nTry another"), "model not found\nTry another");
    assert_eq!(text("\u{1b}[31mRed\u{1b}[0m \u{1b}[1;2"), "Red");
    assert_eq!(text("[API Error: open"), "open");
}

#[test]
fn an_answer_is_what_was_said_after_the_last_tool() {
    let mut decoder = Gemini.decoder(&brief());
    let says =
        |content: &str| json!({"type": "message", "role": "assistant", "content": content, "delta": true});
    let tool = json!({"type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": {"file_path": "a"}});
    let warning = json!({"type": "error", "severity": "warning", "message": "Loop detected"});
    let lines = [says("I lo"), says("ok.\nThen"), tool, warning, says("Do"), says("ne.")];
    let events: Vec<AgentEvent> =
        lines.iter().flat_map(|line| decoder.line(Stream::Out, line.to_string().as_bytes(), false)).collect();
    let told: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
    insta::assert_snapshot!(told.join("\n"));
    assert_eq!(decoder.final_text(), Some("Done."));
}

/// It ends with success then, and with whatever it had said and done by that time.
#[test]
fn a_loop_that_it_stopped_in_is_not_done() {
    let mut decoder = Gemini.decoder(&brief());
    let says = json!({"type": "message", "role": "assistant", "content": "Once more.", "delta": true});
    let warning =
        json!({"type": "error", "severity": "warning", "message": "Loop detected, stopping execution"});
    let result = json!({"type": "result", "status": "success", "stats": {"input_tokens": 5}});
    let lines = [says, warning, result];
    let events: Vec<AgentEvent> =
        lines.iter().flat_map(|line| decoder.line(Stream::Out, line.to_string().as_bytes(), false)).collect();
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Ended { .. })), "{events:?}");
    assert!(events.iter().any(|event| matches!(event, AgentEvent::Usage { .. })), "{events:?}");
    decoder.end(&AgentExit::Code(0));
    let failure = AgentFailure::new(Reason::AgentError, "Loop detected, stopping execution");
    assert_eq!(decoder.failure(), Some(failure));
}

#[test]
fn its_own_record_tells_what_it_uses_before_a_turn_ends() {
    let mut decoder = Gemini.decoder(&brief());
    let message = |id: &str| {
        let tokens = json!({"input": 1111, "output": 222, "cached": 333, "thoughts": 55, "tool": 0});
        json!({"id": id, "type": "gemini", "content": "", "tokens": tokens, "model": "gemini-2.5-flash"})
    };
    let earlier = json!({"$set": {"messages": [message("0")]}});
    let lines = [earlier, json!({"id": "u", "type": "user"}), message("1"), message("1"), message("2")];
    let events: Vec<AgentEvent> =
        lines.iter().flat_map(|line| decoder.record(line.to_string().as_bytes())).collect();
    let told = |times: u64| {
        let (input, output, cache_read) = (778 * times, 277 * times, 333 * times);
        let tokens = Tokens { input, output, cache_read, cache_write: 0 };
        [
            AgentEvent::Model { model: "gemini-2.5-flash".to_owned() },
            AgentEvent::Usage { tokens, counted: Counted::Total },
        ]
    };
    assert_eq!(events, [told(1), told(2)].concat(), "each message once");
    assert_eq!(Gemini.record("1a2b-3c").unwrap().name_end, "-1a2b.jsonl");
}

#[test]
fn a_workspace_is_trusted_only_where_its_settings_are() {
    let trusts = |repository_settings| {
        let plan = Gemini.plan(&Brief { repository_settings, ..brief() });
        plan.env.iter().any(|(name, value)| name == "GEMINI_CLI_TRUST_WORKSPACE" && value == "true")
    };
    assert!(trusts(RepositorySettings::Used));
    assert!(!trusts(RepositorySettings::Absent) && !trusts(RepositorySettings::LeftOut));
}

#[test]
fn an_interface_without_first_dialogs() {
    let root = Brief { is_root: true, ..brief() };
    let terminal = |brief: &Brief<'_>| Gemini.terminal(brief).unwrap();
    let plan = terminal(&root);
    let args = plan.args.join(" ");
    let policy = "/run/scratch/gemini-policy.toml";
    assert_eq!(args, format!("--skip-trust --approval-mode auto_edit --policy {policy}"));
    assert!(plan.files[0].content.contains("allowRedirection = true"));
    assert!(plan.files[1].content.contains(r#""BeforeAgent":[{"hooks":[{"#));
    // Nobody else could have such a file read.
    assert_eq!(terminal(&brief()).files.len(), 1);
    let reads = terminal(&Brief { trust: Trust::ReadOnly, ..brief() });
    assert!(reads.args.contains(&"default".to_owned()) && reads.files[0].content.contains("\"deny\""));
    assert!(terminal(&Brief { trust: Trust::Full, ..brief() }).args.contains(&"yolo".to_owned()));
}

#[test]
fn orders_are_typed_with_the_first_prompt() {
    let told = Brief { system_prompt: Some("Be kind."), ..brief() };
    assert_eq!(Gemini.terminal_prompt(&brief()), brief().prompt);
    assert!(Gemini.terminal_prompt(&told).ends_with("Standing orders for all of this:\n\nBe kind."));
    assert!(!Gemini.terminal(&told).unwrap().args.join(" ").contains("Be kind"));
}

#[test]
fn a_conversation_without_hooks_has_the_id_that_it_was_started_with() {
    let conversation = Conversation::New { id: Some("s-1") };
    let mut decoder = Gemini.terminal_decoder(&Brief { conversation, ..brief() });
    let screen = ["> Type your message or @path/to/file".to_owned()];
    assert!(decoder.screen(&["starting".to_owned()]).is_empty());
    let events = decoder.screen(&screen);
    assert_eq!(events[0], AgentEvent::SessionStarted { session: "s-1".to_owned() });
    assert!(matches!(events[1], AgentEvent::State { state: fleet_core::run::AgentState::Idle, .. }));
    let prompt = br#"{"id":"m","type":"user","content":[{"text":"hi"}]}"#;
    assert_eq!(decoder.record(prompt), [AgentEvent::Prompted { text: "hi".to_owned() }]);
    assert!(decoder.record(prompt).is_empty());
}
