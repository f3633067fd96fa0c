//! Claude Code, Anthropic's agent: it reads and writes lines of JSON.
//!
//! Owns how it is started, what is said to it and what it prints. Measured with 2.1.325; lines that it does not know
//! are passed on as they are, because every version brings new ones.

mod account;
mod decoder;
mod lines;
mod plan;
mod speech;
mod terminal;
#[cfg(test)]
mod tests;
mod trouble;

use decoder::ClaudeDecoder;
use terminal::ClaudeTerminal;

use crate::adapter::{
    About, Adapter, Brief, Decoder, Enforced, LaunchPlan, Program, RecordFiles, Resumes, SettingsFiles,
};
use crate::terminal::{ScreenRules, TerminalDecoder};

#[derive(Debug, Clone, Copy)]
pub struct Claude;

impl Adapter for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn about(&self) -> About {
        About {
            title: "Claude Code".into(),
            provider: "anthropic".into(),
            program: Program::OnPath("claude".into()),
            version_args: vec!["--version".to_owned()],
            install: "npm install -g @anthropic-ai/claude-code".into(),
            login: "run `claude` once and log in, or set ANTHROPIC_API_KEY".into(),
            login_env: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            login_files: &["CLAUDE_CONFIG_DIR:.credentials.json", ".claude/.credentials.json"],
            takes_prompts: true,
            trust: [
                "reads, searches and runs the commands that Claude Code considers harmless; it has no tools that \
                 change files",
                "edits files in its workspace with its own tools, and runs any command as you: Claude Code's sandbox \
                 is used only if your settings turn it on",
                "does anything that you can do, without any check",
            ],
            enforced: [Enforced::Tools, Enforced::Nothing, Enforced::Nothing],
            settings_files: SettingsFiles { paths: &[".claude", ".mcp.json"], can_be_left_out: true },
        }
    }

    fn resumes(&self) -> Resumes {
        Resumes::Anywhere
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        plan::plan(brief)
    }

    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(ClaudeDecoder::new(brief))
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        Some(plan::terminal(brief))
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        let decoder = TerminalDecoder::new(ScreenRules::claude(), ClaudeTerminal::new(brief));
        Box::new(decoder.in_conversation(&brief.conversation))
    }

    fn terminal_record(&self, session: &str) -> Option<RecordFiles> {
        let folder = &["CLAUDE_CONFIG_DIR:projects", ".claude/projects"];
        // A folder for each directory in which it was started.
        Some(RecordFiles { folder, levels: 1, name_end: format!("{session}.jsonl") })
    }
}
