use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::adapter::{Conversation, McpServer, PromptVia};
use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};

fn content(plan: &LaunchPlan) -> Value {
    let (_, content) = plan.env.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    serde_json::from_str(content).unwrap()
}

#[test]
fn a_plain_task_adds_nothing_but_what_a_headless_run_needs() {
    let brief = Brief::plain("secret words", Path::new("/w/lynx"));
    let plan = Opencode.plan(&brief);
    assert_eq!(
        plan.args.join(" "),
        "run --format json --thinking --print-logs --log-level INFO --dir /w/lynx --auto --title=fleet lynx"
    );
    assert_eq!(plan.prompt, PromptVia::Stdin);
    assert!(!plan.args.iter().any(|arg| arg.contains("secret")));
    assert_eq!(plan.env[0], ("OPENCODE_DISABLE_AUTOUPDATE".to_owned(), "1".to_owned()));
    assert!(plan.files.is_empty() && plan.ask.is_none());
    assert!(plan.pass_env.iter().any(|name| name == "OPENCODE_*"));
}

#[test]
fn everything_that_a_brief_can_ask_for_is_passed_on() {
    let git_dirs = [PathBuf::from("/repo/.git")];
    let mcp = [McpServer {
        name: "fleet".to_owned(),
        command: "/bin/fleet".to_owned(),
        args: vec!["mcp".to_owned()],
        env: vec![("TOKEN".to_owned(), "t".to_owned())],
    }];
    let extra = ["--pure".to_owned()];
    let brief = Brief {
        model: Some("anthropic/claude"),
        effort: Some("high"),
        conversation: Conversation::Resume { session: "ses_1", meter: Meter::default() },
        system_prompt: Some("Be brief."),
        mcp: &mcp,
        git_dirs: &git_dirs,
        scratch: Path::new("/scratch"),
        extra_args: &extra,
        patience: Duration::from_secs(90),
        ..Brief::plain("p", Path::new("/w"))
    };
    let plan = Opencode.plan(&brief);
    assert!(
        plan.args.join(" ").ends_with("--model=anthropic/claude --variant=high --session=ses_1 --pure"),
        "{:?}",
        plan.args
    );
    let file = PlannedFile { path: "/scratch/instructions.md".into(), content: "Be brief.".to_owned() };
    assert_eq!(plan.files, [file]);
    assert_eq!(
        content(&plan),
        json!({
            "instructions": ["/scratch/instructions.md"],
            "mcp": { "fleet": {
                "type": "local", "command": ["/bin/fleet", "mcp"], "environment": { "TOKEN": "t" }, "enabled": true,
            } },
            "permission": { "external_directory": {
                "*": "deny", "/repo/.git/*": "allow", "/scratch/*": "allow",
                "/tmp/*": "allow", "/private/tmp/*": "allow", "/var/folders/*": "allow",
            } },
            "provider": { "anthropic": { "options": { "headerTimeout": 45_000, "chunkTimeout": 90_000 } } },
        })
    );
}

#[test]
fn trust_decides_which_tools_there_are() {
    let plan = |trust| Opencode.plan(&Brief { trust, ..Brief::plain("p", Path::new("/w")) });
    let reader = plan(Trust::ReadOnly);
    assert!(reader.args.join(" ").contains("--agent fleet-read-only"));
    assert!(!reader.args.contains(&"--auto".to_owned()));
    let refused = json!({ "edit": "deny", "bash": "deny" });
    let settings = content(&reader);
    assert_eq!(settings["permission"], refused);
    assert_eq!(settings["agent"]["fleet-read-only"]["permission"], refused);
    assert_eq!(settings["experimental"]["continue_loop_on_deny"], true);
    let full = plan(Trust::Full);
    assert!(full.args.contains(&"--auto".to_owned()));
    assert_eq!(content(&full), json!({}));
}

fn decode(lines: &[(Stream, &str)], exit: &AgentExit) -> (Vec<AgentEvent>, Option<Reason>) {
    let mut decoder = Opencode.decoder(&Brief::plain("p", Path::new("/w")));
    let mut events: Vec<AgentEvent> =
        lines.iter().flat_map(|(stream, line)| decoder.line(*stream, line.as_bytes(), false)).collect();
    events.extend(decoder.end(exit));
    (events, decoder.failure().map(|failure| failure.reason))
}

/// Known trap: nothing is on standard output before the first answer.
#[test]
fn the_log_has_the_session_before_the_first_answer() {
    let line =
        "timestamp=2026-11-15T06:57:00.134Z level=INFO run=1 message=created id=ses_abc slug=kind-orchid";
    let helper = "timestamp=2026-11-15T06:57:01.134Z level=INFO run=1 message=created id=ses_helper";
    let (events, failure) = decode(&[(Stream::Err, line), (Stream::Err, helper)], &AgentExit::Signal(15));
    assert_eq!(events, [AgentEvent::SessionStarted { session: "ses_abc".to_owned() }]);
    assert_eq!(failure, Some(Reason::AgentError));
}

/// Known trap: there is no last event, so that only the last step says whether the turn is over.
#[test]
fn without_a_last_step_the_end_is_an_abort() {
    let step =
        |reason: &str| format!(r#"{{"type":"step_finish","part":{{"reason":"{reason}","tokens":{{}}}}}}"#);
    let said = r#"{"type":"text","part":{"text":"Done."}}"#;
    let ended = |reason: &str, exit| {
        let (events, failure) = decode(&[(Stream::Out, said), (Stream::Out, &step(reason))], &exit);
        (events.iter().any(|event| matches!(event, AgentEvent::Ended { .. })), failure)
    };
    assert_eq!(ended("stop", AgentExit::Code(0)), (true, None));
    for (reason, exit) in [
        ("tool-calls", AgentExit::Code(0)),
        ("tool-calls", AgentExit::Signal(2)),
        ("length", AgentExit::Code(0)),
    ] {
        assert_eq!(ended(reason, exit), (false, Some(Reason::AgentError)), "{reason}");
    }
    let (_, failure) = decode(&[], &AgentExit::NotStarted("no such file".to_owned()));
    assert_eq!(failure, None, "whoever failed to start it knows why");
}

#[test]
fn what_a_provider_refuses_for_good_is_told_at_its_first_try() {
    let log = |error: &str| {
        format!(
            r#"timestamp=1 level=ERROR run=1 message="stream error" small=false error.error="AI_APICallError: {error}""#
        )
    };
    for (error, reason) in [
        ("Incorrect API key provided: dummy.", Reason::Auth),
        ("model not found", Reason::BadModel),
        ("The usage limit has been reached", Reason::QuotaExhausted),
    ] {
        let (events, failure) = decode(&[(Stream::Err, &log(error))], &AgentExit::Signal(15));
        let told = AgentEvent::Error { reason, text: error.to_owned() };
        assert_eq!(events.last(), Some(&told));
        assert_eq!(failure, Some(reason));
    }
    let title = log("Incorrect API key").replace("small=false", "small=true");
    let (events, failure) = decode(&[(Stream::Err, &title)], &AgentExit::Code(0));
    assert!(matches!(events[..], []), "{events:?}");
    assert_eq!(failure, Some(Reason::AgentError), "only the task's own requests count");
}

#[test]
fn what_tools_print_is_no_refusal_of_the_provider() {
    let line = r#"{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"error",
        "input":{"command":"curl x"},"error":"401 Unauthorized: invalid api key, rate limit"}}}"#
        .replace('\n', "");
    let (events, _) = decode(&[(Stream::Out, &line)], &AgentExit::Code(0));
    assert!(matches!(events[..], [AgentEvent::ToolCall { .. }, AgentEvent::ToolResult { ok: false, .. }]));
}

#[test]
fn settings_of_the_repository_are_left_out_and_its_words_are_not() {
    let plan = |repository_settings| {
        Opencode.plan(&Brief { repository_settings, ..Brief::plain("p", Path::new("/w")) })
    };
    let is_off =
        |plan: &LaunchPlan| plan.env.iter().any(|(name, _)| name == "OPENCODE_DISABLE_PROJECT_CONFIG");
    let without = plan(RepositorySettings::LeftOut);
    assert!(is_off(&without));
    assert_eq!(content(&without)["instructions"], json!(["/w/AGENTS.md", "/w/CLAUDE.md"]));
    for with in [plan(RepositorySettings::Absent), plan(RepositorySettings::Used)] {
        assert!(!is_off(&with) && content(&with).get("instructions").is_none());
    }
}

#[test]
fn an_interface_with_our_plugin() {
    let terminal = |brief: &Brief<'_>| Opencode.terminal(brief).unwrap();
    let brief = Brief { scratch: Path::new("/run/scratch"), ..Brief::plain("do it", Path::new("/run/tree")) };
    let plan = terminal(&brief);
    assert_eq!((plan.args.join(" ").as_str(), plan.prompt), ("/run/tree", PromptVia::Terminal));
    let (_, content) = plan.env.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT").unwrap();
    let content: Value = serde_json::from_str(content).unwrap();
    assert_eq!(content["plugin"], json!(["file:///run/scratch/fleet-opencode.js"]));
    assert_eq!(content["permission"]["external_directory"]["*"], "ask");
    assert_eq!(plan.files[0].path, Path::new("/run/scratch/fleet-opencode.js"));
    let conversation = Conversation::Resume { session: "ses_1", meter: Meter::default() };
    let full = terminal(&Brief { trust: Trust::Full, conversation, model: Some("a/b"), ..brief });
    assert_eq!(full.args.join(" "), "/run/tree --auto --model=a/b --session=ses_1");
    let reads = terminal(&Brief { trust: Trust::ReadOnly, ..brief });
    assert_eq!(reads.args.join(" "), "/run/tree --agent fleet-read-only");
}
