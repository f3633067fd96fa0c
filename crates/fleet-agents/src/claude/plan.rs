//! How Claude Code is started.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::adapter::{
    Ask, Brief, Conversation, LaunchPlan, McpServer, PlannedFile, Program, PromptVia, RepositorySettings,
    Trust,
};
use crate::terminal::{HOOK_TIMEOUT_S, hooks};

/// How often it repeats a request: with its growing waits that is half a minute, and a minute at worst. Its default of
/// ten takes three minutes, in which other runs on the account learn nothing.
const RETRIES: u32 = 6;

/// The shortest silence that it accepts.
const SHORTEST_SILENCE_MS: u128 = 10_000;

/// Tools that change files.
const CHANGING: &str = "Edit,Write,NotebookEdit,MultiEdit";

/// Tools that only read. Names that a version does not know are not an error.
const READ_TOOLS: &[&str] = &["Read", "Glob", "Grep", "WebFetch", "WebSearch"];

/// Variables for its key, its endpoint and other clouds. Not `CLAUDE_*`: a fleet that was started by Claude Code has
/// variables that link a child to that session.
const PASSED: &[&str] = &[
    "ANTHROPIC_*",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_*",
    "CLAUDE_CODE_SKIP_*",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_CLIENT_*",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "MAX_THINKING_TOKENS",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "CLOUD_ML_REGION",
    "VERTEX_REGION_*",
];

pub(super) fn plan(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("claude".into()));
    plan.prompt = PromptVia::Dialogue;
    plan.ask = Some(Ask::Say);
    plan.arg(&["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    // Makes it report which prompts it has taken: one that was sent during a turn becomes a part of it, or the next
    // one.
    plan.arg(&["--replay-user-messages"]);
    common(&mut plan, brief);
    plan.option("--json-schema", brief.schema);
    plan.args.extend_from_slice(brief.extra_args);
    plan
}

/// Its own interface. What headless runs are refused, a person is asked for, except in a read-only task.
pub(super) fn terminal(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("claude".into()));
    plan.prompt = PromptVia::Terminal;
    common(&mut plan, brief);
    // The workspace is one that we made, or one that the user named: whether its settings count is decided above.
    plan.var("CLAUDE_CODE_SANDBOXED", "1");
    // Otherwise it asks whether a long conversation should be shortened first.
    plan.var("CLAUDE_CODE_RESUME_TOKEN_THRESHOLD", u32::MAX.to_string());
    let path = brief.scratch.join("claude-terminal.json");
    file(&mut plan, "--settings", path, terminal_settings(brief).to_string());
    plan.args.extend_from_slice(brief.extra_args);
    plan
}

/// Events of Claude Code that tell what it is doing, with the tools that they are for. What it says and does is in its
/// record, so that most tools cost no time.
const HOOKS: &[(&str, &str)] = &[
    ("SessionStart", ""),
    ("UserPromptSubmit", ""),
    ("PreToolUse", "AskUserQuestion|ExitPlanMode"),
    ("PermissionRequest", ""),
    ("PermissionDenied", ""),
    ("PostToolUse", ""),
    ("PostToolUseFailure", ""),
    ("Notification", ""),
    ("Elicitation", ""),
    ("ElicitationResult", ""),
    ("Stop", ""),
    ("StopFailure", ""),
];

fn terminal_settings(brief: &Brief<'_>) -> Value {
    let mut settings = json!({"hooks": hooks(HOOKS, HOOK_TIMEOUT_S)});
    if brief.trust == Trust::Full {
        settings["skipDangerousModePermissionPrompt"] = json!(true);
    }
    if brief.repository_settings == RepositorySettings::Used {
        settings["enableAllProjectMcpServers"] = json!(true);
    }
    settings
}

/// What is the same with and without a terminal.
fn common(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    plan.pass(PASSED);
    variables(plan, brief);
    trust(plan, brief);
    if brief.repository_settings == RepositorySettings::LeftOut {
        leave_out_settings(plan, brief);
    }
    match brief.conversation {
        Conversation::New { id } => plan.option("--session-id", id),
        Conversation::Resume { session, .. } => plan.option("--resume", Some(session)),
    }
    plan.option("--model", brief.model);
    plan.option("--effort", brief.effort);
    if let Some(words) = brief.system_prompt {
        let path = brief.scratch.join("claude-system.md");
        file(plan, "--append-system-prompt-file", path, words.to_owned());
    }
    if !brief.mcp.is_empty() {
        // In a file: variables of a server may be secrets, and every user can read arguments.
        file(plan, "--mcp-config", brief.scratch.join("claude-mcp.json"), servers(brief.mcp));
    }
}

fn file(plan: &mut LaunchPlan, name: &str, path: PathBuf, content: String) {
    plan.option(name, Some(&path.to_string_lossy()));
    plan.files.push(PlannedFile { path, content });
}

/// What it may do. Its own sandbox is left as the user has it: on Linux it hides dotfiles behind devices, so that `git
/// add -A` fails, and it blocks the network, loopback included.
fn trust(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    match brief.trust {
        Trust::ReadOnly => {
            plan.arg(&["--permission-mode", "dontAsk", "--disallowedTools", CHANGING]);
            plan.arg(&["--allowedTools", &allowed(&[], brief.mcp)]);
        }
        Trust::Sandbox => {
            plan.arg(&["--permission-mode", "acceptEdits"]);
            plan.arg(&["--allowedTools", &allowed(&["Bash", "Skill", "Task"], brief.mcp)]);
        }
        Trust::Full => plan.arg(&["--dangerously-skip-permissions"]),
    }
}

/// Without `project` and `local`, nothing in `.claude` and no server of `.mcp.json` counts, and `CLAUDE.md` is not read
/// either. An added directory brings back that and the rules beside it, and nothing that is run.
fn leave_out_settings(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    plan.arg(&["--add-dir", &brief.workspace.to_string_lossy(), "--setting-sources", "user"]);
    plan.var("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1");
}

fn allowed(more: &[&str], servers: &[McpServer]) -> String {
    let servers = servers.iter().map(|server| format!("mcp__{}", server.name));
    more.iter().chain(READ_TOOLS).map(|tool| (*tool).to_owned()).chain(servers).collect::<Vec<_>>().join(",")
}

fn variables(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    let patience = brief.patience.as_millis();
    plan.var("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    plan.var("DISABLE_AUTOUPDATER", "1");
    plan.var("CLAUDE_CODE_MAX_RETRIES", RETRIES.to_string());
    plan.var("API_TIMEOUT_MS", patience.to_string());
    plan.var("CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS", patience.max(SHORTEST_SILENCE_MS).to_string());
    if brief.is_root && brief.trust == Trust::Full {
        // Otherwise it refuses to skip permissions.
        plan.var("IS_SANDBOX", "1");
    }
}

/// The servers in the form that Claude Code reads.
fn servers(servers: &[McpServer]) -> String {
    let servers = servers.iter().map(|server| {
        let env: Map<_, _> = server.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let server_json = json!({"command": server.command, "args": server.args, "env": env});
        (server.name.clone(), server_json)
    });
    json!({"mcpServers": servers.collect::<Map<_, _>>()}).to_string()
}
