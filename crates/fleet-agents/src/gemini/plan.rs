//! How Gemini CLI is started.
//!
//! Settings of one run go into a file of defaults, which is the lowest of its layers: what the user chose, such as the
//! way to sign in, wins. A file of system settings would win over the user, and hide one that an administrator put
//! there. Gemini CLI reads either only if the file and all directories above it belong to root and only root may write
//! them; elsewhere it warns on standard error and goes on without. So only root gets one, unless there are tool
//! servers, whose absence that warning explains: a user who needs them and is not root uses Gemini CLI by the Agent
//! Client Protocol. Without the file, a provider that limits or fails is tried for five minutes.
//!
//! What is left out: its sandbox is another process of itself in a container, or on macOS one that cannot write the
//! git directory of a linked worktree; and how hard the model thinks and how long a silent provider is waited for
//! cannot be set for all models.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::adapter::{Brief, Conversation, LaunchPlan, PlannedFile, Program, RepositorySettings, Trust};

/// Keys, ways to sign in, base URLs and its own directory. Not all of `GEMINI_*`: some tell it that it runs inside
/// of an editor, or inside of itself.
const PASS_ENV: &[&str] = &[
    "GEMINI_API_KEY",
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_MODEL",
    "GEMINI_CLI_HOME",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GEMINI_CLI_USE_COMPUTE_ADC",
    "GEMINI_DEFAULT_AUTH_TYPE",
    "GOOGLE_*",
    "CLOUD_SHELL",
];

/// How often a request to the model is tried: with its own ten, a rate limit is waited for more than five minutes.
const MAX_REQUESTS: u32 = 4;

pub(super) fn plan(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("gemini".into()));
    plan.pass(PASS_ENV);
    // Skipping trust is for this process: the workspace is one that we made.
    plan.arg(&["--output-format", "stream-json", "--skip-trust", "--approval-mode", mode(brief.trust)]);
    plan.option("-m", brief.model);
    match brief.conversation {
        Conversation::New { id } => plan.option("--session-id", id),
        Conversation::Resume { session, .. } => plan.option("--resume", Some(session)),
    }
    orders(&mut plan, brief);
    environment(&mut plan, brief);
    plan.args.extend(brief.extra_args.iter().cloned());
    plan
}

/// Without a person to ask, its default mode does not even offer what it would have to ask for.
const fn mode(trust: Trust) -> &'static str {
    match trust {
        Trust::ReadOnly => "default",
        Trust::Sandbox | Trust::Full => "yolo",
    }
}

/// Its only way to a system prompt replaces its own, and there is none to a schema. So both come with the prompt:
/// what stands behind `-p` is added to standard input, and `@` stands for what is in a file of the workspace or of
/// an included directory.
fn orders(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    let schema = brief.schema.map(|schema| {
        format!("Your last answer has to be one JSON object and nothing else. It has to fit this schema:\n\n{schema}")
    });
    let orders: Vec<&str> = brief.system_prompt.into_iter().chain(schema.as_deref()).collect();
    if orders.is_empty() {
        return;
    }
    let dir = brief.scratch.join("gemini-orders");
    let path = dir.join("orders.md");
    plan.arg(&["--include-directories", &dir.to_string_lossy()]);
    plan.arg(&["-p", &format!("Standing orders for all of this: @{}", escaped(&path))]);
    plan.files.push(PlannedFile { path, content: orders.join("\n\n") });
}

/// A path as it has to be written behind an `@`.
fn escaped(path: &Path) -> String {
    let mut out = String::new();
    for character in path.to_string_lossy().chars() {
        if " \t()[]{};|*?$`'\"#&<>!~".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn environment(plan: &mut LaunchPlan, brief: &Brief<'_>) {
    // Otherwise it starts itself again as a child, to which no signal is passed on.
    plan.var("GEMINI_CLI_NO_RELAUNCH", "true");
    plan.var("GEMINI_TELEMETRY_ENABLED", "false");
    if brief.repository_settings == RepositorySettings::Used {
        // The option above comes too late for the settings of the workspace.
        plan.var("GEMINI_CLI_TRUST_WORKSPACE", "true");
    }
    // Every error leaves a file with the whole request there.
    plan.var("TMPDIR", brief.scratch.to_string_lossy());
    if brief.is_root || !brief.mcp.is_empty() {
        let path = brief.scratch.join("gemini-defaults.json");
        plan.var("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", path.to_string_lossy());
        plan.files.push(PlannedFile { path, content: defaults(brief).to_string() });
    }
}

fn defaults(brief: &Brief<'_>) -> Value {
    let servers: Map<String, Value> = brief
        .mcp
        .iter()
        .map(|server| {
            let env: Map<String, Value> =
                server.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            let server_settings =
                json!({"command": server.command, "args": server.args, "env": env, "trust": true});
            (server.name.clone(), server_settings)
        })
        .collect();
    json!({
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "maxAttempts": MAX_REQUESTS,
        },
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "mcpServers": servers,
    })
}
