//! Codex, the coding agent of OpenAI: `codex exec --json`.
//!
//! Owns how it is started and what its lines mean; written for and tried with 0.166. Its errors are plain English, so
//! the reasons are in [`trouble`]; its things done are items, which are in [`items`].

mod counters;
mod decoder;
mod items;
mod plan;
mod terminal;
#[cfg(test)]
mod tests;
mod trouble;

use decoder::CodexDecoder;
use terminal::CodexTerminal;

use crate::adapter::{
    About, Adapter, Brief, Decoder, Enforced, LaunchPlan, Program, RecordFiles, Resumes, SettingsFiles,
};
use crate::terminal::{ScreenRules, TerminalDecoder};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Codex;

impl Adapter for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn about(&self) -> About {
        About {
            title: "Codex".into(),
            provider: "openai".into(),
            program: Program::OnPath("codex".into()),
            version_args: vec!["--version".to_owned()],
            install: "npm install -g @openai/codex".into(),
            login: "codex login".into(),
            login_env: &["CODEX_API_KEY", "OPENAI_API_KEY"],
            login_files: &[".codex/auth.json", "CODEX_HOME:auth.json"],
            takes_prompts: false,
            trust: [
                "reads, and runs commands that change nothing, in Codex's own read-only sandbox",
                "edits and runs commands in Codex's own sandbox: its workspace, git and temporary files can be \
                 written, and there is no network",
                "does anything, without asking and without a sandbox",
            ],
            enforced: [Enforced::Sandbox, Enforced::Sandbox, Enforced::Nothing],
            settings_files: SettingsFiles { paths: &[".codex"], can_be_left_out: true },
        }
    }

    fn resumes(&self) -> Resumes {
        Resumes::Anywhere
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        plan::plan(brief)
    }

    fn record(&self, session: &str) -> Option<RecordFiles> {
        let folder = &["CODEX_HOME:sessions", ".codex/sessions"];
        // By year, month and day.
        Some(RecordFiles { folder, levels: 3, name_end: format!("-{session}.jsonl") })
    }

    fn decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(CodexDecoder::new(brief.conversation.meter()))
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        Some(plan::terminal(brief))
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        let reader = CodexTerminal::new(brief.conversation.meter());
        Box::new(TerminalDecoder::new(ScreenRules::codex(), reader))
    }
}
