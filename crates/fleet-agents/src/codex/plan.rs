//! How Codex is started.
//!
//! What is left alone: how often and how long it tries again (`request_max_retries`, `stream_max_retries`,
//! `stream_idle_timeout_ms`). These are settings of a provider; Codex refuses them for the built-in one, and for one
//! of the user's we would have to know its name. It gives up within half a minute anyway, except when the provider
//! says nothing at all, or cannot be reached, which only a watch from outside ends.

use serde_json::json;

use crate::adapter::{
    Brief, LaunchPlan, McpServer, PlannedFile, Program, PromptVia, RepositorySettings, Trust,
};
use crate::terminal::{HOOK_COMMAND, HOOK_TIMEOUT_S};

/// The keys of Codex and of the provider that it has built in, its own directory, and the certificates it trusts.
/// Not all of `CODEX_*`: a fleet that is itself started by Codex must not tell its agents that they are in a sandbox.
const PASS_ENV: &[&str] = &[
    "OPENAI_*",
    "AZURE_OPENAI_*",
    "CODEX_HOME",
    "CODEX_API_KEY",
    "CODEX_ACCESS_TOKEN",
    "CODEX_SQLITE_HOME",
    "CODEX_CA_CERTIFICATE",
];

/// Codex does not show it to the model in a project that is not trusted, although it is not a setting.
const READ_AGENTS_MD: &str = "If there is an AGENTS.md in the working directory, read it first and follow what it says about this repository.";

pub(super) fn plan(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("codex".into()));
    plan.arg(&["exec", "--json", "--skip-git-repo-check"]);
    let level = (brief.repository_settings == RepositorySettings::LeftOut).then_some("untrusted");
    common(&mut plan, brief, level);
    if let Some(schema) = brief.schema {
        let path = brief.scratch.join("codex-schema.json");
        plan.arg(&["--output-schema", &path.to_string_lossy()]);
        plan.files.push(PlannedFile { path, content: schema.to_owned() });
    }
    end(&mut plan, brief);
    plan.arg(&["-"]);
    plan
}

/// Its own interface. A command that needs more than the sandbox allows is asked for, except in a read-only task.
pub(super) fn terminal(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("codex".into()));
    plan.prompt = PromptVia::Terminal;
    // Otherwise it starts a server that outlives it, and does its work there.
    plan.arg(&["--no-daemon"]);
    match brief.trust {
        Trust::ReadOnly => plan.arg(&["-a", "never"]),
        Trust::Sandbox => plan.arg(&["-a", "on-request"]),
        Trust::Full => {}
    }
    let left_out = brief.repository_settings == RepositorySettings::LeftOut;
    common(&mut plan, brief, Some(if left_out { "untrusted" } else { "trusted" }));
    set(&mut plan, "hooks", &hooks());
    // Otherwise it asks whether our hooks can be trusted. Those of a repository count only if the user approved them.
    plan.arg(&["--dangerously-bypass-hook-trust"]);
    end(&mut plan, brief);
    plan
}

/// Events of Codex that tell what it is doing; what it says and does is in its record.
const HOOKS: &[&str] =
    &["SessionStart", "UserPromptSubmit", "PermissionRequest", "PostToolUse", "Stop", "Interrupt"];

fn hooks() -> String {
    let command = toml_string(HOOK_COMMAND);
    let hook = format!("[{{hooks=[{{type=\"command\",command={command},timeout={HOOK_TIMEOUT_S}}}]}}]");
    let events: Vec<String> = HOOKS.iter().map(|event| format!("{event}={hook}")).collect();
    format!("{{{}}}", events.join(","))
}

/// What is the same with and without a terminal. `level` is how much it trusts the workspace, if that is set.
fn common(plan: &mut LaunchPlan, brief: &Brief<'_>, level: Option<&str>) {
    plan.pass(PASS_ENV);
    // Plugins are looked up on the network at every start, which costs seconds and needs a resolver.
    plan.arg(&["--disable", "plugins"]);
    set(plan, "analytics.enabled", "false");
    set(plan, "check_for_update_on_startup", "false");
    trust(plan, brief);
    if let Some(level) = level {
        // By the path that the kernel has for the workspace; as a table, because a dotted key changes nothing.
        let workspace = toml_string(&brief.workspace.to_string_lossy());
        set(plan, "projects", &format!("{{{workspace}={{trust_level=\"{level}\"}}}}"));
    }
    model(plan, brief);
    for server in brief.mcp {
        mcp(plan, server);
    }
}

/// The options have to stand in front of the subcommand, which knows fewer of them.
fn end(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    plan.args.extend(brief.extra_args.iter().cloned());
    if let Some(session) = brief.conversation.resumed() {
        plan.arg(&["resume", session]);
    }
}

/// One setting for this process. The value is TOML.
fn set(plan: &mut LaunchPlan, key: &str, value: &str) {
    plan.arg(&["-c", &format!("{key}={value}")]);
}

fn trust(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    match brief.trust {
        Trust::ReadOnly => plan.arg(&["-s", "read-only"]),
        Trust::Sandbox => {
            plan.arg(&["-s", "workspace-write"]);
            // Codex protects the git directory that the workspace points to, even below a directory that may be
            // written, unless that very directory is named. `--add-dir` adds to what the user's settings allow;
            // `writable_roots` would replace it.
            for dir in brief.git_dirs {
                plan.arg(&["--add-dir", &dir.to_string_lossy()]);
            }
        }
        Trust::Full => plan.arg(&["--dangerously-bypass-approvals-and-sandbox"]),
    }
}

fn model(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    plan.option("-m", brief.model);
    if let Some(effort) = brief.effort {
        set(plan, "model_reasoning_effort", &toml_string(effort));
    }
    let left_out = brief.repository_settings == RepositorySettings::LeftOut;
    let orders: Vec<&str> =
        brief.system_prompt.into_iter().chain(left_out.then_some(READ_AGENTS_MD)).collect();
    if !orders.is_empty() {
        // There is no file for it: `model_instructions_file` would replace Codex's own instructions.
        set(plan, "developer_instructions", &toml_string(&orders.join("\n\n")));
    }
}

/// The user has chosen the server, and no person can be asked: in a sandbox, every call is refused unless approval is
/// set. Its variables go through the environment, since anyone can read arguments.
fn mcp(plan: &mut LaunchPlan, server: &McpServer) {
    let (shared, own): (Vec<_>, Vec<_>) = server
        .env
        .iter()
        .partition(|(name, value)| plan.env.iter().all(|(known, other)| known != name || other == value));
    for variable in &shared {
        if !plan.env.contains(variable) {
            plan.env.push((*variable).clone());
        }
    }
    let names: Vec<&String> = shared.iter().map(|(name, _)| name).collect();
    let own: Vec<String> =
        own.iter().map(|(name, value)| format!("{}={}", toml_string(name), toml_string(value))).collect();
    let table = format!(
        "{{command={},args={},env_vars={},env={{{}}},default_tools_approval_mode=\"approve\"}}",
        toml_string(&server.command),
        toml(&json!(server.args)),
        toml(&json!(names)),
        own.join(","),
    );
    set(plan, &format!("mcp_servers.{}", key(&server.name)), &table);
}

/// A name that is one step of a dotted path.
fn key(name: &str) -> String {
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    name.chars().map(|character| if plain(character) { character } else { '_' }).collect()
}

fn toml_string(text: &str) -> String {
    toml(&json!(text))
}

/// Strings and lists of them are the same in JSON and TOML, but for one character that JSON leaves as it is.
fn toml(value: &serde_json::Value) -> String {
    value.to_string().replace('\u{7f}', "\\u007f")
}
