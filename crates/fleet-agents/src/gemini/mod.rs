//! Gemini CLI, the coding agent of Google: `gemini --output-format stream-json`.
//!
//! Owns how it is started and what its lines mean; written for and tried with 0.61. Its stream says nothing about
//! attempts that failed, so they are read from standard error, in [`retries`].

mod decoder;
mod plan;
mod retries;
#[cfg(test)]
mod tests;
mod trouble;

use decoder::GeminiDecoder;

use crate::adapter::{About, Adapter, Brief, Decoder, LaunchPlan, Program};

/// The adapter of Gemini CLI.
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
            version_args: &["--version"],
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
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        plan::plan(brief)
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(GeminiDecoder::default())
    }
}
