//! Gemini CLI, the coding agent of Google: `gemini --output-format stream-json`.
//!
//! Owns how it is started and what its lines mean; written for and tried with 0.61. Its stream says nothing about
//! attempts that failed, so they are read from standard error, in [`retries`].

mod decoder;
mod plan;
mod record;
mod retries;
mod terminal;
#[cfg(test)]
mod tests;
mod trouble;

use std::borrow::Cow;

use decoder::GeminiDecoder;
use terminal::GeminiTerminal;

use crate::adapter::{
    About, Adapter, Brief, Decoder, Enforced, LaunchPlan, Program, RecordFiles, SettingsFiles,
};
use crate::terminal::{ScreenRules, TerminalDecoder};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Gemini;

impl Adapter for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn about(&self) -> About {
        About {
            title: "Gemini CLI".into(),
            provider: "google".into(),
            program: Program::OnPath("gemini".into()),
            version_args: vec!["--version".to_owned()],
            install: "npm install -g @google/gemini-cli".into(),
            login: "set GEMINI_API_KEY, or run gemini and choose a way to sign in".into(),
            login_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"],
            login_files: &[".gemini/oauth_creds.json", "GEMINI_CLI_HOME:.gemini/oauth_creds.json"],
            takes_prompts: false,
            trust: [
                "reads; the tools that write files and run commands are not offered to it",
                "edits and runs commands without asking; Gemini CLI has no sandbox that works here",
                "edits and runs commands without asking; Gemini CLI has no sandbox that works here",
            ],
            enforced: [Enforced::Tools, Enforced::Nothing, Enforced::Nothing],
            // The variables of `.env` choose, among others, to which server the key is sent.
            settings_files: SettingsFiles { paths: &[".gemini", ".env"], can_be_left_out: false },
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        plan::plan(brief)
    }

    fn record(&self, session: &str) -> Option<RecordFiles> {
        let folder = &["GEMINI_CLI_HOME:.gemini/tmp", ".gemini/tmp"];
        // A folder for each project, and in it one for conversations. The name has the beginning of the id.
        let id = session.split('-').next().unwrap_or(session);
        Some(RecordFiles { folder, levels: 2, name_end: format!("-{id}.jsonl") })
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(GeminiDecoder::default())
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        Some(plan::terminal(brief))
    }

    fn terminal_prompt<'b>(&self, brief: &Brief<'b>) -> Cow<'b, str> {
        match plan::orders(brief) {
            Some(orders) => {
                format!("{}\n\nStanding orders for all of this:\n\n{orders}", brief.prompt).into()
            }
            None => brief.prompt.into(),
        }
    }

    fn terminal_decoder(&self, brief: &Brief<'_>) -> Box<dyn Decoder> {
        let decoder = TerminalDecoder::new(ScreenRules::gemini(), GeminiTerminal::default());
        Box::new(decoder.in_conversation(&brief.conversation))
    }
}
