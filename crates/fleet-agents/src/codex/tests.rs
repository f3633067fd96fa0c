use std::path::{Path, PathBuf};

use fleet_core::event::{AgentEvent, Counted, LocalTime, Stream, Tokens, When};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};
use serde_json::json;

use super::trouble::{RetryNotice, failure_of};
use super::*;
use crate::adapter::{Conversation, McpServer, PromptVia, RepositorySettings, Trust};

fn brief() -> Brief<'static> {
    Brief { scratch: Path::new("/run/scratch"), ..Brief::plain("Do it well", Path::new("/run/tree")) }
}

/// What stands in every plan, in front of what differs.
const ALWAYS: [&str; 9] = [
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--disable",
    "plugins",
    "-c",
    "analytics.enabled=false",
    "-c",
    "check_for_update_on_startup=false",
];

/// The arguments of a plan that differ.
fn args(brief: &Brief<'_>) -> Vec<String> {
    let plan = Codex.plan(brief);
    assert_eq!(plan.args[..ALWAYS.len()], ALWAYS);
    plan.args[ALWAYS.len()..].to_vec()
}

#[test]
fn the_prompt_comes_by_standard_input() {
    let plan = Codex.plan(&brief());
    assert_eq!((plan.program, plan.prompt), (Program::OnPath("codex".into()), PromptVia::Stdin));
    assert_eq!(args(&brief()), ["-s", "workspace-write", "-"]);
    assert!(!plan.args.iter().any(|arg| arg.contains("well")));
    assert!(plan.files.is_empty() && plan.env.is_empty());
}

#[test]
fn each_trust_has_its_sandbox() {
    let git_dirs = [PathBuf::from("/main/.git"), PathBuf::from("/main/.git/worktrees/w")];
    let of = |trust| args(&Brief { trust, git_dirs: &git_dirs, ..brief() });
    assert_eq!(of(Trust::ReadOnly), ["-s", "read-only", "-"]);
    assert_eq!(
        of(Trust::Sandbox),
        ["-s", "workspace-write", "--add-dir", "/main/.git", "--add-dir", "/main/.git/worktrees/w", "-"]
    );
    assert_eq!(of(Trust::Full), ["--dangerously-bypass-approvals-and-sandbox", "-"]);
}

#[test]
fn options_stand_in_front_of_a_conversation_that_goes_on() {
    let extra = ["-c".to_owned(), "tools.web_search=true".to_owned()];
    let conversation = Conversation::Resume { session: "01a1", meter: Meter::default() };
    let plan = args(&Brief {
        model: Some("gpt-x"),
        effort: Some("high"),
        extra_args: &extra,
        conversation,
        ..brief()
    });
    let expected = [
        "-s",
        "workspace-write",
        "-m",
        "gpt-x",
        "-c",
        r#"model_reasoning_effort="high""#,
        "-c",
        "tools.web_search=true",
        "resume",
        "01a1",
        "-",
    ];
    assert_eq!(plan, expected);
}

#[test]
fn standing_orders_and_schema_are_for_this_run_only() {
    let brief = Brief {
        system_prompt: Some("Be \"brief\"\nand\u{7f} é"),
        schema: Some(r#"{"type":"object"}"#),
        ..brief()
    };
    let plan = Codex.plan(&brief);
    assert!(
        plan.args.contains(&r#"developer_instructions="Be \"brief\"\nand\u007f é""#.to_owned()),
        "{plan:?}"
    );
    let schema = Path::new("/run/scratch/codex-schema.json");
    assert_eq!(
        (plan.files[0].path.as_path(), plan.files[0].content.as_str()),
        (schema, r#"{"type":"object"}"#)
    );
    assert!(plan.args.windows(2).any(|two| two == ["--output-schema", "/run/scratch/codex-schema.json"]));
}

#[test]
fn tool_servers_need_no_approval_and_keep_their_variables_to_themselves() {
    let server = |name: &str, token: &str| McpServer {
        name: name.to_owned(),
        command: "/bin/fleet".to_owned(),
        args: vec!["mcp".to_owned(), "a \"b\"".to_owned()],
        env: vec![("TOKEN".to_owned(), token.to_owned())],
    };
    let mcp = [server("fleet", "one"), server("my.other", "two")];
    let plan = Codex.plan(&Brief { mcp: &mcp, ..brief() });
    let settings: Vec<&String> = plan.args.iter().filter(|arg| arg.starts_with("mcp_servers.")).collect();
    let start = r#"{command="/bin/fleet",args=["mcp","a \"b\""],"#;
    let end = r#"default_tools_approval_mode="approve"}"#;
    assert_eq!(*settings[0], format!(r#"mcp_servers.fleet={start}env_vars=["TOKEN"],env={{}},{end}"#));
    assert_eq!(
        *settings[1],
        format!(r#"mcp_servers.my_other={start}env_vars=[],env={{"TOKEN"="two"}},{end}"#)
    );
    assert_eq!(plan.env, [("TOKEN".to_owned(), "one".to_owned())]);
}

#[test]
fn every_sentence_has_its_reason() {
    for (message, reason) in [
        ("exceeded retry limit, last status: 429 Too Many Requests, request id: r", Reason::RateLimited),
        ("stream disconnected before completion: Rate limit reached for gpt-x", Reason::RateLimited),
        ("unexpected status 429 Too Many Requests: You exceeded your current quota", Reason::QuotaExhausted),
        ("Quota exceeded. Check your plan and billing details.", Reason::QuotaExhausted),
        (
            "You've hit your usage limit. Upgrade to Pro or try again at Nov 15th, 2026 10:00 AM.",
            Reason::QuotaExhausted,
        ),
        ("Your workspace is out of credits. Add credits to continue.", Reason::QuotaExhausted),
        ("You hit your spend cap set in your workspace.", Reason::QuotaExhausted),
        ("unexpected status 401 Unauthorized: , url: https://api.openai.com/v1/responses", Reason::Auth),
        ("Your access token could not be refreshed. Please log in again.", Reason::Auth),
        ("Missing environment variable: `OPENAI_API_KEY`.", Reason::Auth),
        (
            r#"{"detail":"The 'x' model is not supported when using Codex with a ChatGPT account."}"#,
            Reason::BadModel,
        ),
        ("unexpected status 404 Not Found: x, url: https://api.openai.com/v1/responses", Reason::BadModel),
        (
            "unexpected status 404 Not Found: x, url: wss://api.openai.com/v1/responses",
            Reason::ProviderOutage,
        ),
        ("Selected model is at capacity. Please try a different model.", Reason::ProviderOutage),
        ("unexpected status 502 Bad Gateway: unauthorized, url: https://x/v1", Reason::ProviderOutage),
        ("Access blocked by Cloudflare (status 403 Forbidden), url: https://x", Reason::ProviderOutage),
        ("Connection failed: error sending request", Reason::ProviderOutage),
        ("unexpected status 400 Bad Request: no, url: https://x/rate-limit/unauthorized", Reason::AgentError),
        ("turn aborted", Reason::AgentError),
        ("", Reason::AgentError),
    ] {
        assert_eq!(failure_of(message).reason, reason, "{message}");
    }
}

#[test]
fn a_span_or_a_clock_is_a_time_to_try_again() {
    let until = |message: &str| failure_of(message).until;
    let after = |seconds| Some(When::After(std::time::Duration::from_secs(seconds)));
    assert_eq!(until("Rate limit reached. Please try again in 11s."), after(11));
    assert_eq!(until("usage limit. Try again in 3 days 2 hours."), None, "in the middle of a sentence only");
    assert_eq!(until("usage limit, try again in 3 days 2 hours."), after(74 * 3600));
    let ten = |date| Some(When::Local(LocalTime { date, hour: 10, minute: 0 }));
    assert_eq!(until("You've hit your usage limit, or try again at 10:00 AM."), ten(None));
    assert_eq!(until("Upgrade to Pro or try again at Nov 15th, 2026 10:00 AM."), ten(Some((2026, 11, 15))));
    assert_eq!(until("You've hit your usage limit, or try again later."), None);
}

#[test]
fn notices_of_another_attempt_are_read() {
    for (message, attempt, why) in [
        ("Reconnecting... 2/5 (a (b) c)", Some(2), "a (b) c"),
        ("Reconnecting... waiting for network (no)", None, "no"),
        ("Reconnecting...", None, ""),
        ("Reconnecting... 9999999999999/5", None, "9999999999999/5"),
    ] {
        assert_eq!(RetryNotice::read(message), Some(RetryNotice { attempt, why }), "{message}");
    }
    assert_eq!(RetryNotice::read("reconnecting"), None);
}

fn events(lines: &[&str]) -> Vec<AgentEvent> {
    let mut decoder = Codex.decoder(&brief());
    lines.iter().flat_map(|line| decoder.line(Stream::Out, line.as_bytes(), false)).collect()
}

#[test]
fn every_kind_of_item_becomes_events() {
    let lines = [
        r#"{"type":"item.completed","item":{"id":"1","type":"reasoning","text":"**Looking**"}}"#,
        r#"{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"/w/a.rs","kind":"update"},{"path":"/w/b.rs","kind":"add"}],"status":"completed"}}"#,
        r#"{"type":"item.started","item":{"id":"3","type":"todo_list","items":[{"text":"one","completed":false},{"text":"two","completed":false}]}}"#,
        r#"{"type":"item.updated","item":{"id":"3","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":false}]}}"#,
        r#"{"type":"item.completed","item":{"id":"3","type":"todo_list","items":[{"text":"one","completed":true},{"text":"two","completed":true}]}}"#,
        r#"{"type":"item.completed","item":{"id":"4","type":"web_search","query":"rust"}}"#,
        r#"{"type":"item.started","item":{"id":"5","type":"command_execution","command":"bash -lc 'rm x'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
        r#"{"type":"item.completed","item":{"id":"5","type":"command_execution","command":"bash -lc 'rm x'","aggregated_output":"","exit_code":null,"status":"declined"}}"#,
        r#"{"type":"item.completed","item":{"id":"6","type":"command_execution","command":"false","aggregated_output":"no\n","exit_code":1,"status":"failed"}}"#,
        r#"{"type":"item.completed","item":{"id":"7","type":"mcp_tool_call","server":"fs","tool":"write","arguments":{"path":"c.rs"},"result":{"content":[{"type":"text","text":"ok"}]},"error":null,"status":"completed"}}"#,
        r#"{"type":"item.completed","item":{"id":"8","type":"collab_tool_call","tool":"spawn_agent","prompt":"help","status":"completed"}}"#,
        r#"{"type":"request_user_input","id":"t","call_id":"c","questions":[{"question":"Which?"},{"question":"When?"}]}"#,
        r#"{"type":"item.completed","item":{"id":"9","type":"from_the_future"}}"#,
        r#"{"type":"thread.compacted"}"#,
    ];
    let told: Vec<String> = events(&lines).iter().map(|event| format!("{event:?}")).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn a_login_that_is_missing_is_told_on_standard_error() {
    let mut decoder = Codex.decoder(&brief());
    decoder.line(Stream::Err, b"Error: Not logged in. Run `codex login` first.", false);
    decoder.end(&AgentExit::Code(1));
    assert_eq!(decoder.failure().map(|failure| failure.reason), Some(Reason::Auth));
}

#[test]
fn its_own_record_tells_what_it_uses_before_a_turn_ends() {
    let before = Meter { tokens: Tokens { input: 100, output: 10, ..Tokens::default() }, micro_usd: 0 };
    let mut decoder = CodexDecoder::new(before);
    let context = json!({"type": "turn_context", "payload": {"turn_id": "t", "model": "gpt-5.4"}});
    let count = |input: u64, output: u64| {
        let usage = json!({"input_tokens": input, "cached_input_tokens": 30, "output_tokens": output});
        let info = json!({"total_token_usage": usage, "last_token_usage": {"input_tokens": 1}});
        json!({"type": "event_msg", "payload": {"type": "token_count", "info": info}})
    };
    let unknown = json!({"type": "event_msg", "payload": {"type": "token_count", "info": null}});
    let lines = [context, unknown, count(1_130, 40), count(2_130, 70)];
    let events: Vec<AgentEvent> =
        lines.iter().flat_map(|line| decoder.record(line.to_string().as_bytes())).collect();
    let used = |input, output| AgentEvent::Usage {
        tokens: Tokens { input, output, cache_read: 30, cache_write: 0 },
        counted: Counted::Total,
    };
    let model = AgentEvent::Model { model: "gpt-5.4".to_owned() };
    assert_eq!(events, [model, used(1_000, 30), used(2_000, 60)], "without what the conversation had used");
    assert_eq!(decoder.meter().unwrap().tokens.input, 2_100, "what a later run begins with");
    assert!(decoder.record(b"no json").is_empty());
    let record = Codex.record("0-1").unwrap();
    assert_eq!((record.levels, record.name_end.as_str()), (3, "-0-1.jsonl"));
}

#[test]
fn a_project_whose_settings_are_left_out_is_not_trusted_and_still_has_its_say() {
    let without = |system_prompt| {
        let repository_settings = RepositorySettings::LeftOut;
        args(&Brief { repository_settings, system_prompt, ..brief() })
    };
    let distrust = r#"projects={"/run/tree"={trust_level="untrusted"}}"#.to_owned();
    assert!(without(None).contains(&distrust), "{:?}", without(None));
    let orders = |args: Vec<String>| args.into_iter().find(|arg| arg.starts_with("developer_instructions="));
    assert!(orders(without(None)).unwrap().contains("AGENTS.md"));
    let both = orders(without(Some("Be brief."))).unwrap();
    assert!(both.contains("Be brief.") && both.contains("AGENTS.md"), "{both}");
    let used = Brief { repository_settings: RepositorySettings::Used, ..brief() };
    assert_eq!(args(&used), args(&brief()));
}

#[test]
fn an_interface_without_first_dialogs() {
    let terminal = |brief: &Brief<'_>| Codex.terminal(brief).unwrap().args.join(" ");
    let plain = Brief::plain("do it", Path::new("/run/tree"));
    let args = terminal(&plain);
    assert!(args.starts_with("--no-daemon -a on-request "), "{args}");
    assert!(args.contains(r#"projects={"/run/tree"={trust_level="trusted"}}"#), "{args}");
    assert!(args.contains(r"UserPromptSubmit=[{hooks=[{type="), "{args}");
    assert!(args.ends_with("--dangerously-bypass-hook-trust"), "{args}");
    let left_out = Brief { repository_settings: RepositorySettings::LeftOut, ..plain };
    assert!(terminal(&left_out).contains(r#"trust_level="untrusted""#));
    let conversation = Conversation::Resume { session: "s-1", meter: Meter::default() };
    let full = Brief { trust: Trust::Full, conversation, ..plain };
    let args = terminal(&full);
    assert!(args.ends_with("resume s-1") && !args.contains("-a "), "{args}");
    assert!(terminal(&Brief { trust: Trust::ReadOnly, ..plain }).contains("-a never"));
}
