//! opencode: `opencode run --format json`, a stream of finished parts.
//!
//! Owns how it is started and read. Its standard output has neither a first nor a last event, and says nothing before
//! the model's first answer; so its log is switched on, on standard error, which has the session's id at once and
//! every failed request. Settings of a run go into `OPENCODE_CONFIG_CONTENT`, which opencode lays over the files of
//! the user and the project; those are never touched.

mod decoder;
mod log;
mod settings;
mod terminal;
#[cfg(test)]
mod tests;

use decoder::OpencodeDecoder;
use terminal::OpencodeTerminal;

use crate::adapter::{
    About, Adapter, Brief, Decoder, Enforced, LaunchPlan, PlannedFile, Program, PromptVia,
    RepositorySettings, SettingsFiles, Trust,
};
use crate::terminal::{ScreenRules, TerminalDecoder};

#[derive(Debug, Clone, Copy)]
pub struct Opencode;

/// It speaks with whatever provider the user has, so that it may see the keys of all that it knows by name.
const PASS_ENV: &[&str] = &[
    "OPENCODE_*",
    "ANTHROPIC_*",
    "OPENAI_*",
    "OPENROUTER_*",
    "AZURE_*",
    "AWS_*",
    "GEMINI_*",
    "GOOGLE_*",
    "VERTEX_*",
    "GROQ_*",
    "MISTRAL_*",
    "DEEPSEEK_*",
    "XAI_*",
    "TOGETHER_*",
    "FIREWORKS_*",
    "CEREBRAS_*",
    "MOONSHOT_*",
    "ZHIPU_*",
    "DASHSCOPE_*",
    "HF_TOKEN",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "CLOUDFLARE_*",
    "OLLAMA_*",
    "LMSTUDIO_*",
];

impl Adapter for Opencode {
    fn name(&self) -> &'static str {
        "opencode"
    }

    fn about(&self) -> About {
        About {
            title: "opencode".into(),
            provider: "opencode".into(),
            program: Program::OnPath("opencode".into()),
            version_args: vec!["--version".to_owned()],
            install: "npm install -g opencode-ai".into(),
            login: "opencode auth login".into(),
            login_env: &[
                "OPENCODE_API_KEY",
                "ANTHROPIC_API_KEY",
                "OPENAI_API_KEY",
                "OPENROUTER_API_KEY",
                "GEMINI_API_KEY",
            ],
            login_files: &["XDG_DATA_HOME:opencode/auth.json", ".local/share/opencode/auth.json"],
            takes_prompts: false,
            trust: [
                "its tools that edit files and run commands are switched off",
                "edits and runs commands without asking; its own rules deny it files outside the workspace, but \
                 commands have no sandbox",
                "does everything without asking, except what your own opencode settings deny",
            ],
            enforced: [Enforced::Tools, Enforced::Nothing, Enforced::Nothing],
            settings_files: SettingsFiles {
                paths: &["opencode.json", "opencode.jsonc", ".opencode"],
                can_be_left_out: true,
            },
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut plan = common(brief);
        plan.args = args(brief);
        plan.var("OPENCODE_CONFIG_CONTENT", settings::content(brief));
        plan
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(OpencodeDecoder::default())
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        let mut plan = common(brief);
        plan.prompt = PromptVia::Terminal;
        plan.args = terminal_args(brief);
        let plugin = brief.scratch.join("fleet-opencode.js");
        plan.var("OPENCODE_CONFIG_CONTENT", settings::terminal_content(brief, &plugin));
        plan.files.push(PlannedFile { path: plugin, content: include_str!("plugin.js").to_owned() });
        Some(plan)
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(TerminalDecoder::new(ScreenRules::opencode(), OpencodeTerminal::new(brief)))
    }
}

/// What is the same with and without a terminal.
fn common(brief: &Brief<'_>) -> LaunchPlan {
    let mut plan = LaunchPlan::new(Program::OnPath("opencode".into()));
    plan.pass(PASS_ENV);
    plan.var("OPENCODE_DISABLE_AUTOUPDATE", "1");
    if brief.repository_settings == RepositorySettings::LeftOut {
        plan.var("OPENCODE_DISABLE_PROJECT_CONFIG", "1");
    }
    plan.files.extend(
        brief
            .system_prompt
            .map(|orders| PlannedFile { path: settings::orders_file(brief), content: orders.to_owned() }),
    );
    plan
}

/// Its interface knows no `--variant`: how hard the model thinks is left as the user has it.
fn terminal_args(brief: &Brief<'_>) -> Vec<String> {
    // Otherwise opencode believes the variable `PWD`, which is whatever the keeper inherited.
    let mut args = vec![brief.workspace.display().to_string()];
    match brief.trust {
        Trust::ReadOnly => args.extend(["--agent".to_owned(), settings::READER.to_owned()]),
        Trust::Sandbox => {}
        Trust::Full => args.push("--auto".to_owned()),
    }
    args.extend(brief.model.map(|model| format!("--model={model}")));
    args.extend(brief.conversation.resumed().map(|session| format!("--session={session}")));
    args.extend(brief.extra_args.iter().cloned());
    args
}

fn args(brief: &Brief<'_>) -> Vec<String> {
    let mut args: Vec<String> =
        ["run", "--format", "json", "--thinking", "--print-logs", "--log-level", "INFO"]
            .map(ToOwned::to_owned)
            .to_vec();
    // Without it opencode believes the variable `PWD`, which is whatever the keeper inherited.
    args.extend(["--dir".to_owned(), brief.workspace.display().to_string()]);
    match brief.trust {
        Trust::ReadOnly => args.extend(["--agent".to_owned(), settings::READER.to_owned()]),
        Trust::Sandbox | Trust::Full => args.push("--auto".to_owned()),
    }
    args.extend(brief.model.map(|model| format!("--model={model}")));
    args.extend(brief.effort.map(|effort| format!("--variant={effort}")));
    match brief.conversation.resumed() {
        Some(session) => args.push(format!("--session={session}")),
        // A given title saves the request for one, whose tokens no event reports.
        None => args.push(format!("--title={}", title(brief))),
    }
    args.extend(brief.extra_args.iter().cloned());
    args
}

/// The title in the user's list of sessions.
fn title(brief: &Brief<'_>) -> String {
    let place = brief.workspace.file_name().map(|name| name.to_string_lossy().into_owned());
    format!("fleet {}", place.unwrap_or_default())
}
