//! The agents that are spoken with.

use serde_json::{Value, json};

use crate::acp::AcpDecoder;
use crate::adapter::{
    About, Adapter, Ask, Brief, Decoder, Enforced, LaunchPlan, PlannedFile, Program, PromptVia, SettingsFiles,
};

/// An agent that speaks the protocol.
#[derive(Debug, Clone, Copy)]
pub struct Acp {
    name: &'static str,
    title: &'static str,
    provider: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    /// The options that name a model and an effort, where the agent has them; elsewhere the session is asked.
    model_option: Option<&'static str>,
    effort_option: Option<&'static str>,
    /// Whether it reports failures among the words of the model.
    makes_remarks: bool,
    /// Settings of one run, below those of the user.
    defaults: Option<DefaultsFile>,
    /// Where a repository can have settings for it. None of them can be told to do without.
    settings_files: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    pass_env: &'static [&'static str],
    install: &'static str,
    login: &'static str,
    login_env: &'static [&'static str],
    login_files: &'static [&'static str],
}

/// A file of settings that an agent reads before all others, so that the user's win.
#[derive(Debug, Clone, Copy)]
struct DefaultsFile {
    /// The variable that names the file.
    variable: &'static str,
    content: fn(&Brief<'_>) -> Value,
}

impl Acp {
    /// What the configuration names under `agents.acp`. There is no program with this name, so a user who has not
    /// described one learns how to.
    pub const ANY: Self = Self {
        name: "acp",
        title: "any agent that speaks the Agent Client Protocol",
        provider: "acp",
        program: "acp",
        args: &[],
        model_option: None,
        effort_option: None,
        makes_remarks: false,
        defaults: None,
        // It may be any of those that are known, or a front end of one.
        settings_files: &[
            ".claude",
            ".mcp.json",
            ".codex",
            ".gemini",
            ".env",
            "opencode.json",
            "opencode.jsonc",
            ".opencode",
            ".qwen",
        ],
        env: &[],
        pass_env: &[],
        install: "name a program that speaks the protocol in `[agents.acp]`, such as program = \"gemini\" and \
                  args = [\"--acp\"]",
        login: "as that program wants it",
        login_env: &[],
        login_files: &[],
    };

    /// Qwen Code, tried with 0.24. It would begin in a mode in which a model judges what it may do; in this one it asks
    /// us. It says nothing at all while it tries again.
    pub const QWEN: Self = Self {
        name: "qwen",
        title: "Qwen Code",
        provider: "qwen",
        program: "qwen",
        args: &["--acp", "--approval-mode", "default"],
        model_option: Some("--model"),
        effort_option: None,
        makes_remarks: false,
        defaults: Some(DefaultsFile { variable: "QWEN_CODE_SYSTEM_DEFAULTS_PATH", content: qwen_defaults }),
        settings_files: &[".qwen", ".env", ".mcp.json"],
        env: &[],
        pass_env: &[
            "QWEN_HOME",
            "QWEN_RUNTIME_DIR",
            "QWEN_CODE_MAX_OUTPUT_TOKENS",
            "OPENAI_*",
            "DASHSCOPE_*",
            "BAILIAN_*",
            "ANTHROPIC_*",
            "GEMINI_API_KEY",
            "GEMINI_MODEL",
            "GOOGLE_*",
        ],
        install: "npm install -g @qwen-code/qwen-code",
        login: "run qwen and connect a provider with /auth, or set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL)",
        login_env: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY"],
        login_files: &[
            "QWEN_HOME:oauth_creds.json",
            ".qwen/oauth_creds.json",
            "QWEN_HOME:settings.json",
            ".qwen/settings.json",
        ],
    };

    pub const COPILOT: Self = Self {
        name: "copilot",
        title: "GitHub Copilot",
        provider: "github",
        program: "copilot",
        args: &["--acp"],
        model_option: Some("--model"),
        effort_option: Some("--reasoning-effort"),
        makes_remarks: true,
        defaults: None,
        settings_files: &[
            ".github/agents",
            ".github/copilot",
            ".github/hooks",
            ".github/lsp.json",
            ".github/mcp.json",
            ".copilot",
            ".mcp.json",
            ".vscode/mcp.json",
            ".claude",
        ],
        env: &[("COPILOT_AUTO_UPDATE", "false")],
        pass_env: &["COPILOT_*", "GH_TOKEN", "GH_HOST", "GITHUB_TOKEN"],
        install: "npm install -g @github/copilot",
        login: "copilot login",
        login_env: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"],
        login_files: &["COPILOT_HOME:config.json", ".copilot/config.json"],
    };
}

impl Adapter for Acp {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> About {
        About {
            title: self.title.into(),
            provider: self.provider.into(),
            program: Program::OnPath(self.program.into()),
            version_args: vec!["--version".to_owned()],
            install: self.install.into(),
            login: self.login.into(),
            login_env: self.login_env,
            login_files: self.login_files,
            takes_prompts: true,
            trust: [
                "every tool that it asks for is refused, except reading ones; its own read-only mode is used \
                 where it has one; what it does without asking is not prevented",
                "every tool that it asks for is allowed, except changes to files outside the workspace",
                "every tool that it asks for is allowed",
            ],
            enforced: [Enforced::Tools, Enforced::Nothing, Enforced::Nothing],
            settings_files: SettingsFiles { paths: self.settings_files, can_be_left_out: false },
        }
    }

    fn asks(&self) -> bool {
        true
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut plan = LaunchPlan::new(Program::OnPath(self.program.into()));
        plan.prompt = PromptVia::Dialogue;
        plan.ask = Some(Ask::Say);
        plan.arg(self.args);
        for (option, value) in [(self.model_option, brief.model), (self.effort_option, brief.effort)] {
            if let Some(option) = option {
                plan.option(option, value);
            }
        }
        plan.args.extend(brief.extra_args.iter().cloned());
        for &(name, value) in self.env {
            plan.var(name, value);
        }
        plan.pass(self.pass_env);
        if let Some(DefaultsFile { variable, content }) = self.defaults {
            let path = brief.scratch.join(format!("{}-defaults.json", self.name));
            plan.var(variable, path.to_string_lossy());
            plan.files.push(PlannedFile { path, content: content(brief).to_string() });
        }
        plan
    }

    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        // What its options say need not be asked for again.
        let model = brief.model.filter(|_| self.model_option.is_none());
        let effort = brief.effort.filter(|_| self.effort_option.is_none());
        let decoder = AcpDecoder::new(&Brief { model, effort, ..*brief });
        Box::new(if self.makes_remarks { decoder.with_remarks() } else { decoder })
    }
}

/// How often Qwen Code restarts a series of requests, a minute after the last. With its own number it had told nothing
/// of a rate limit after six minutes.
const QWEN_RETRIES: u32 = 1;

fn qwen_defaults(brief: &Brief<'_>) -> Value {
    let patience = u64::try_from(brief.patience.as_millis()).unwrap_or(u64::MAX);
    json!({
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "model": { "generationConfig": { "maxRetries": QWEN_RETRIES, "timeout": patience } },
    })
}
