//! The settings of one run, laid over those of the user.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::adapter::{Brief, McpServer, RepositorySettings, Trust};

/// Our agent for tasks that change nothing: the rules of an agent come last, so that nothing the user allows elsewhere
/// lifts them.
pub(super) const READER: &str = "fleet-read-only";

/// Where an agent may write although it is not the workspace, because commands expect it.
const TEMPORARY: &[&str] = &["/tmp/*", "/private/tmp/*", "/var/folders/*"];

/// What a repository has to say to a model, in the names that opencode knows.
const INSTRUCTIONS: &[&str] = &["AGENTS.md", "CLAUDE.md"];

/// What goes into `OPENCODE_CONFIG_CONTENT`: only what this run adds.
pub(super) fn content(brief: &Brief<'_>) -> String {
    Value::Object(common(brief, "deny")).to_string()
}

/// The same for its interface, where a person can be asked, with our plugin beside those of the user.
pub(super) fn terminal_content(brief: &Brief<'_>, plugin: &Path) -> String {
    let mut content = common(brief, "ask");
    content.insert("plugin".to_owned(), json!([format!("file://{}", plugin.display())]));
    Value::Object(content).to_string()
}

/// `elsewhere` is what happens when a sandboxed agent wants to touch files outside of its workspace.
fn common(brief: &Brief<'_>, elsewhere: &str) -> Map<String, Value> {
    let mut content = Map::new();
    match brief.trust {
        Trust::ReadOnly => read_only(&mut content),
        Trust::Sandbox => {
            let rules = json!({ "external_directory": outside(brief, elsewhere) });
            content.insert("permission".to_owned(), rules);
        }
        Trust::Full => {}
    }
    let instructions = instructions(brief);
    if !instructions.is_empty() {
        content.insert("instructions".to_owned(), json!(instructions));
    }
    if !brief.mcp.is_empty() {
        let servers: Map<String, Value> =
            brief.mcp.iter().map(|server| (server.name.clone(), tool_server(server))).collect();
        content.insert("mcp".to_owned(), Value::Object(servers));
    }
    // The time-outs belong to a provider, and only the name of a model tells which.
    if let Some((provider, _)) = brief.model.and_then(|model| model.split_once('/')) {
        let patience = u64::try_from(brief.patience.as_millis()).unwrap_or(u64::MAX);
        // It tries six times, so that a provider that does not answer at all costs three times the patience.
        let options = json!({ "options": { "headerTimeout": patience / 2, "chunkTimeout": patience } });
        content.insert("provider".to_owned(), json!({ provider: options }));
    }
    content
}

/// Files that are shown to the model. Without the project's settings opencode does not show it `AGENTS.md` either; a file
/// that is not there does no harm.
fn instructions(brief: &Brief<'_>) -> Vec<PathBuf> {
    let left_out = brief.repository_settings == RepositorySettings::LeftOut;
    let of_project = INSTRUCTIONS.iter().filter(|_| left_out).map(|name| brief.workspace.join(name));
    brief.system_prompt.map(|_| orders_file(brief)).into_iter().chain(of_project).collect()
}

/// The file with the agent's instructions beside its task.
pub(super) fn orders_file(brief: &Brief<'_>) -> PathBuf {
    brief.scratch.join("instructions.md")
}

/// Refused for all agents, those that opencode calls by itself too, and once more for ours. A tool that is refused
/// is an answer to the model and not the end of the run.
fn read_only(content: &mut Map<String, Value>) {
    let refused = json!({ "edit": "deny", "bash": "deny" });
    let reader = json!({
        "mode": "primary",
        "description": "Reads, and changes nothing",
        "permission": refused,
    });
    content.insert("permission".to_owned(), refused);
    content.insert("agent".to_owned(), json!({ READER: reader }));
    content.insert("experimental".to_owned(), json!({ "continue_loop_on_deny": true }));
}

/// Which directories outside of the workspace its tools may touch. The last rule that fits decides, and `*` sorts
/// before every path.
fn outside(brief: &Brief<'_>, elsewhere: &str) -> Value {
    let mut rules = Map::new();
    rules.insert("*".to_owned(), json!(elsewhere));
    let own = brief.git_dirs.iter().map(PathBuf::as_path).chain([brief.scratch]);
    let own = own.map(|dir| format!("{}/*", dir.display()));
    for pattern in own.chain(TEMPORARY.iter().map(|pattern| (*pattern).to_owned())) {
        rules.insert(pattern, json!("allow"));
    }
    Value::Object(rules)
}

fn tool_server(server: &McpServer) -> Value {
    let command: Vec<&String> = [&server.command].into_iter().chain(&server.args).collect();
    let environment: Map<String, Value> =
        server.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({ "type": "local", "command": command, "environment": environment, "enabled": true })
}
