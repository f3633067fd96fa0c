use std::path::Path;
use std::time::Duration;

use fleet_core::run::Meter;
use serde_json::{Value, json};

use super::*;
use crate::adapter::{Ask, Conversation, McpServer, PromptVia, RepositorySettings, Trust};

fn brief() -> Brief<'static> {
    Brief { scratch: Path::new("/run/scratch"), ..Brief::plain("Do it", Path::new("/run/tree")) }
}

const TALK: &str =
    "-p --input-format stream-json --output-format stream-json --verbose --replay-user-messages";
const READ_TOOLS: &str = "Read,Glob,Grep,WebFetch,WebSearch";

fn args(brief: &Brief<'_>) -> String {
    Claude.plan(brief).args.join(" ")
}

fn value(brief: &Brief<'_>, name: &str) -> Option<String> {
    Claude.plan(brief).env.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

#[test]
fn a_plain_task_is_a_talk_that_may_edit_and_run_commands() {
    let plan = Claude.plan(&brief());
    assert_eq!((plan.prompt, plan.ask), (PromptVia::Dialogue, Some(Ask::Say)));
    assert_eq!(plan.program, Program::OnPath("claude".into()));
    let may = format!("--permission-mode acceptEdits --allowedTools Bash,Skill,Task,{READ_TOOLS}");
    assert_eq!(plan.args.join(" "), format!("{TALK} {may}"));
    assert_eq!(plan.files, []);
    assert!(plan.pass_env.iter().any(|name| name == "ANTHROPIC_*"));
    // Else it takes itself for a part of the session that fleet was started from.
    assert!(!plan.pass_env.iter().any(|name| name == "CLAUDE_*" || name == "CLAUDE_CODE_*"));
}

#[test]
fn each_trust_has_its_mode() {
    let with = |trust, is_root| Brief { trust, is_root, ..brief() };
    let reader = format!(
        "{TALK} --permission-mode dontAsk --disallowedTools Edit,Write,NotebookEdit,MultiEdit --allowedTools {READ_TOOLS}"
    );
    assert_eq!(args(&with(Trust::ReadOnly, false)), reader);
    assert_eq!(args(&with(Trust::Full, false)), format!("{TALK} --dangerously-skip-permissions"));
    assert_eq!(value(&with(Trust::Full, true), "IS_SANDBOX").as_deref(), Some("1"));
    for harmless in [with(Trust::Full, false), with(Trust::Sandbox, true), with(Trust::ReadOnly, true)] {
        assert_eq!(value(&harmless, "IS_SANDBOX"), None);
    }
}

#[test]
fn conversations_are_begun_and_gone_on_with() {
    let new = Brief { conversation: Conversation::New { id: Some("u-1") }, ..brief() };
    assert!(args(&new).ends_with("--session-id u-1"));
    let old = Conversation::Resume { session: "u-2", meter: Meter::default() };
    assert!(args(&Brief { conversation: old, ..brief() }).ends_with("--resume u-2"));
}

#[test]
fn everything_else_is_passed_by_its_own_way() {
    let server = McpServer {
        name: "fleet".into(),
        command: "/bin/fleet".into(),
        args: vec!["mcp".into()],
        env: vec![("TOKEN".into(), "secret".into())],
    };
    let extra = ["--fallback-model".to_owned(), "sonnet".to_owned()];
    let full = Brief {
        model: Some("opus"),
        effort: Some("high"),
        schema: Some(r#"{"type":"object"}"#),
        system_prompt: Some("Be kind."),
        mcp: &[server],
        extra_args: &extra,
        ..brief()
    };
    let plan = Claude.plan(&full);
    let args = plan.args.join(" ");
    assert!(args.contains("--model opus --effort high "), "{args}");
    assert!(args.contains("--json-schema {\"type\":\"object\"}"), "{args}");
    assert!(args.contains("--append-system-prompt-file /run/scratch/claude-system.md"), "{args}");
    assert!(args.contains("--mcp-config /run/scratch/claude-mcp.json"), "{args}");
    assert!(args.contains("WebSearch,mcp__fleet "), "{args}");
    assert!(args.ends_with("--fallback-model sonnet"), "{args}");
    assert!(!args.contains("secret") && !args.contains("Be kind"), "{args}");
    let contents: Vec<_> = plan.files.iter().map(|file| file.content.as_str()).collect();
    let fleet = json!({ "args": ["mcp"], "command": "/bin/fleet", "env": { "TOKEN": "secret" } });
    let servers: Value = serde_json::from_str(contents[1]).unwrap();
    assert_eq!((contents[0], servers), ("Be kind.", json!({ "mcpServers": { "fleet": fleet } })));
    assert_eq!(contents.len(), 2);
    assert!(plan.files.iter().all(|file| file.path.starts_with("/run/scratch")));
}

#[test]
fn a_prompt_is_never_an_argument() {
    for trust in [Trust::ReadOnly, Trust::Sandbox, Trust::Full] {
        let plan = Claude.plan(&Brief { trust, prompt: "SECRET-TASK", ..brief() });
        assert!(!plan.args.iter().any(|arg| arg.contains("SECRET-TASK")));
    }
}

#[test]
fn patience_is_told() {
    let patient = |seconds| Brief { patience: Duration::from_secs(seconds), ..brief() };
    assert_eq!(value(&patient(90), "API_TIMEOUT_MS").as_deref(), Some("90000"));
    assert_eq!(value(&patient(90), "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS").as_deref(), Some("90000"));
    assert_eq!(value(&patient(5), "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS").as_deref(), Some("10000"));
    assert_eq!(value(&brief(), "CLAUDE_CODE_MAX_RETRIES").as_deref(), Some("6"));
}

#[test]
fn settings_of_the_repository_are_left_out_and_its_words_are_not() {
    let without = Brief { repository_settings: RepositorySettings::LeftOut, ..brief() };
    assert!(args(&without).contains("--add-dir /run/tree --setting-sources user"), "{}", args(&without));
    assert_eq!(value(&without, "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD").as_deref(), Some("1"));
    for repository_settings in [RepositorySettings::Absent, RepositorySettings::Used] {
        assert_eq!(args(&Brief { repository_settings, ..brief() }), args(&brief()));
    }
}

#[test]
fn an_interface_without_first_dialogs() {
    let plan = Claude.terminal(&Brief { trust: Trust::Full, ..brief() }).unwrap();
    let args = plan.args.join(" ");
    assert!(args.contains("--dangerously-skip-permissions") && !args.contains("-p "), "{args}");
    assert!(args.contains("--settings /run/scratch/claude-terminal.json"), "{args}");
    assert!(plan.env.contains(&("CLAUDE_CODE_SANDBOXED".to_owned(), "1".to_owned())));
    let settings = |brief: &Brief<'_>| -> Value {
        let plan = Claude.terminal(brief).unwrap();
        serde_json::from_str(&plan.files.last().unwrap().content).unwrap()
    };
    let full = settings(&Brief { trust: Trust::Full, ..brief() });
    assert_eq!(full["skipDangerousModePermissionPrompt"], true);
    assert!(full["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"].is_string());
    let used = settings(&Brief { repository_settings: RepositorySettings::Used, ..brief() });
    assert_eq!(used["enableAllProjectMcpServers"], true);
    assert!(settings(&brief()).get("enableAllProjectMcpServers").is_none());
}

#[test]
fn the_interface_resumes_and_never_asks_in_a_task_that_only_reads() {
    let conversation = Conversation::Resume { session: "s-1", meter: Meter::default() };
    let plan = Claude.terminal(&Brief { conversation, trust: Trust::ReadOnly, ..brief() }).unwrap();
    let args = plan.args.join(" ");
    assert!(args.contains("--resume s-1") && args.contains("--permission-mode dontAsk"), "{args}");
    let record = Claude.terminal_record("s-1").unwrap();
    assert_eq!((record.name_end.as_str(), Claude.record("s-1")), ("s-1.jsonl", None));
}
