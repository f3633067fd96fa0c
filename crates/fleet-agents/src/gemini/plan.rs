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

use crate::adapter::{
    Brief, Conversation, LaunchPlan, PlannedFile, Program, PromptVia, RepositorySettings, Trust,
};
use crate::terminal::{HOOK_TIMEOUT_S, hooks};

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
    plan.arg(&["--output-format", "stream-json"]);
    common(&mut plan, brief, mode(brief.trust));
    if let Some(content) = orders(brief) {
        standing_orders(&mut plan, brief, content);
    }
    if brief.is_root || !brief.mcp.is_empty() {
        defaults_file(&mut plan, brief, &defaults(brief));
    }
    plan.args.extend(brief.extra_args.iter().cloned());
    plan
}

/// Its own interface. Hooks are in the file of defaults, so that only root has them: for others, the screen and the
/// record tell what it is doing.
pub(super) fn terminal(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("gemini".into()));
    plan.prompt = PromptVia::Terminal;
    let (mode, policy) = terminal_mode(brief.trust);
    common(&mut plan, brief, mode);
    if let Some(policy) = policy {
        let path = brief.scratch.join("gemini-policy.toml");
        plan.arg(&["--policy", &path.to_string_lossy()]);
        plan.files.push(PlannedFile { path, content: policy.to_owned() });
    }
    if brief.is_root || !brief.mcp.is_empty() {
        let mut defaults = defaults(brief);
        defaults["hooks"] = hooks(HOOKS, HOOK_TIMEOUT_S * 1000);
        defaults_file(&mut plan, brief, &defaults);
    }
    plan.args.extend(brief.extra_args.iter().cloned());
    plan
}

/// Events of Gemini CLI that tell what it is doing; what it says and does is in its record.
const HOOKS: &[(&str, &str)] =
    &[("SessionStart", ""), ("BeforeAgent", ""), ("Notification", ""), ("AfterTool", ""), ("AfterAgent", "")];

/// Its mode in a terminal, with rules that the mode does not have. It asks for whatever is not covered.
const fn terminal_mode(trust: Trust) -> (&'static str, Option<&'static str>) {
    match trust {
        Trust::ReadOnly => ("default", Some(DENY_CHANGES)),
        Trust::Sandbox => ("auto_edit", Some(ALLOW_COMMANDS)),
        Trust::Full => ("yolo", None),
    }
}

/// Tools that are denied are not offered to the model.
const DENY_CHANGES: &str = "[[rule]]
toolName = [\"write_file\", \"replace\", \"run_shell_command\"]
decision = \"deny\"
priority = 999
";

const ALLOW_COMMANDS: &str = "[[rule]]
toolName = \"run_shell_command\"
decision = \"allow\"
allowRedirection = true
priority = 900
";

/// What is the same with and without a terminal.
fn common(plan: &mut LaunchPlan, brief: &Brief<'_>, mode: &str) {
    plan.pass(PASS_ENV);
    // Skipping trust is for this process: the workspace is one that we made.
    plan.arg(&["--skip-trust", "--approval-mode", mode]);
    plan.option("-m", brief.model);
    match brief.conversation {
        Conversation::New { id } => plan.option("--session-id", id),
        Conversation::Resume { session, .. } => plan.option("--resume", Some(session)),
    }
    environment(plan, brief);
}

/// Without a person to ask, its default mode does not even offer what it would have to ask for.
const fn mode(trust: Trust) -> &'static str {
    match trust {
        Trust::ReadOnly => "default",
        Trust::Sandbox | Trust::Full => "yolo",
    }
}

/// Its only way to a system prompt replaces its own, and there is none to a schema. So both come with the prompt.
pub(super) fn orders(brief: &Brief<'_>) -> Option<String> {
    let schema = brief.schema.map(|schema| {
        format!("Your last answer has to be one JSON object and nothing else. It has to fit this schema:\n\n{schema}")
    });
    let orders: Vec<&str> = brief.system_prompt.into_iter().chain(schema.as_deref()).collect();
    (!orders.is_empty()).then(|| orders.join("\n\n"))
}

/// What stands behind `-p` is added to standard input, and `@` stands for what is in a file of the workspace or of an
/// included directory.
fn standing_orders(plan: &mut LaunchPlan, brief: &Brief<'_>, content: String) {
    let dir = brief.scratch.join("gemini-orders");
    let path = dir.join("orders.md");
    plan.arg(&["--include-directories", &dir.to_string_lossy()]);
    plan.arg(&["-p", &format!("Standing orders for all of this: @{}", escaped(&path))]);
    plan.files.push(PlannedFile { path, content });
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
}

fn defaults_file(plan: &mut LaunchPlan, brief: &Brief<'_>, defaults: &Value) {
    let path = brief.scratch.join("gemini-defaults.json");
    plan.var("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", path.to_string_lossy());
    plan.files.push(PlannedFile { path, content: defaults.to_string() });
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
