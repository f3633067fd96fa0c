//! What each agent needs in order to talk to a scripted model, in the files of its home where it can be, because
//! codefleet lets only few variables through.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Cli, directory, programs};

type Environment = Vec<(OsString, OsString)>;

/// Long enough to look like a key; claude keeps the last twenty characters of those that it may use.
const KEY: &str = "sk-dummy-0000-0000-0000-0000";

pub(super) fn prepare(cli: Cli, base: &str, home: &Path) -> Environment {
    let temporary = home.join("tmp");
    fs::create_dir_all(&temporary).expect("a home can be made");
    let path = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs(&directory())].into_iter().chain(env::split_paths(&path)));
    let mut environment: Environment = vec![
        ("HOME".into(), home.into()),
        // Agents leave their errors there, with the whole request.
        ("TMPDIR".into(), temporary.into()),
        ("PATH".into(), path.expect("directories without a colon")),
        ("LC_ALL".into(), "C.UTF-8".into()),
        ("TZ".into(), "UTC".into()),
        ("TERM".into(), "dumb".into()),
        ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
    ];
    let own = match cli {
        Cli::Claude => claude(base, home),
        Cli::Codex => codex(base, home),
        Cli::Gemini => gemini(base, home),
        Cli::Opencode => opencode(base, home),
    };
    environment.extend(own.into_iter().map(|(name, value)| (name.into(), value.into())));
    environment
}

/// The environment of a claude that is logged in with a plan instead of a key: only then does it understand that the
/// plan is used up.
#[must_use]
pub fn on_a_plan(environment: Environment) -> Environment {
    let others = environment.into_iter().filter(|(name, _)| name != "ANTHROPIC_API_KEY");
    others.chain([("CLAUDE_CODE_OAUTH_TOKEN".into(), "sk-ant-oat01-dummy-0000".into())]).collect()
}

type Own = Vec<(&'static str, String)>;

fn claude(base: &str, home: &Path) -> Own {
    let switches = json!({
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    });
    write_json(home, ".claude/settings.json", &json!({"env": switches}));
    // What claude asks a person at its first start in a terminal, and never again. It writes this file, too.
    if !home.join(".claude.json").exists() {
        let approved = &KEY[KEY.len() - 20..];
        let answers = json!({"approved": [approved], "rejected": []});
        let state =
            json!({"hasCompletedOnboarding": true, "theme": "dark", "customApiKeyResponses": answers});
        write_json(home, ".claude.json", &state);
    }
    vec![
        ("ANTHROPIC_BASE_URL", base.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        // Also here: the settings are read only after the first look at the network.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
    ]
}

fn codex(base: &str, home: &Path) -> Own {
    let settings = format!(
        r#"model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[analytics]
enabled = false

# Otherwise it looks for plugins on GitHub before anything else.
[features]
plugins = false

[model_providers.fake]
name = "fake"
base_url = "{base}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
"#
    );
    write(home, ".codex/config.toml", &settings);
    vec![("OPENAI_API_KEY", KEY.to_owned())]
}

fn gemini(base: &str, home: &Path) -> Own {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
    });
    write_json(home, ".gemini/settings.json", &settings);
    vec![("GOOGLE_GEMINI_BASE_URL", base.to_owned()), ("GEMINI_API_KEY", KEY.to_owned())]
}

fn opencode(base: &str, home: &Path) -> Own {
    let model = json!({
        "name": "Fake", "limit": {"context": 200_000, "output": 8192},
        "cost": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75},
    });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "name": "Fake",
        "options": {"baseURL": format!("{base}/v1"), "apiKey": KEY}, "models": {"fake-model": model},
    });
    let settings = json!({
        "autoupdate": false, "share": "disabled", "model": "fake/fake-model", "small_model": "fake/fake-model",
        "provider": {"fake": provider},
    });
    // A file and not `OPENCODE_CONFIG_CONTENT`: that is for whoever starts it.
    write_json(home, ".config/opencode/opencode.json", &settings);
    // It installs its plugin interface beside its settings, from the network, unless this says that it has.
    let lock = json!({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}});
    write_json(home, ".config/opencode/package-lock.json", &lock);
    fs::create_dir_all(home.join(".config/opencode/node_modules")).expect("a home can be made");
    vec![("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()), ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned())]
}

fn write_json(home: &Path, path: &str, value: &Value) {
    write(home, path, &format!("{value:#}\n"));
}

fn write(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    fs::create_dir_all(path.parent().unwrap_or(home)).expect("directories can be made in a home");
    fs::write(&path, text).expect("files can be written in a home");
}
