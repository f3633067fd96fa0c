//! The demo agent: a scripted agent inside of `fleet`, for trying things out and for tests.
//!
//! It needs no account and no network, and it does what its prompt says literally, the nasty things included. The
//! format of its prompts and of its output is in `docs/demo-agent.md`. What is here is pure; what it does to files
//! and processes is in the command `fleet demo-agent`.

mod child;
mod decoder;
mod job;
mod script;
mod stream;
mod terminal;
#[cfg(test)]
mod tests;

pub use child::{Child, ChildBehaviour};
pub use job::job;
pub use script::{ScriptError, ScriptStep, Signal, script};
pub use stream::DemoLine;

use decoder::DemoDecoder;
use terminal::DemoTerminal;

use crate::adapter::{
    About, Adapter, Brief, Decoder, Enforced, LaunchPlan, Program, PromptVia, Resumes, SettingsFiles, Trust,
};
use crate::terminal::{ScreenRules, TerminalDecoder};

#[derive(Debug, Clone, Copy)]
pub struct Demo;

impl Adapter for Demo {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn about(&self) -> About {
        About {
            title: "the built-in scripted agent".into(),
            provider: "demo".into(),
            program: Program::This,
            version_args: vec!["--version".to_owned()],
            install: "it is a part of fleet".into(),
            login: "it needs no account".into(),
            login_env: &[],
            login_files: &[],
            takes_prompts: false,
            trust: [
                "its script may change nothing",
                "does what its script says",
                "does what its script says",
            ],
            enforced: [Enforced::Tools, Enforced::Nothing, Enforced::Nothing],
            settings_files: SettingsFiles::NONE,
        }
    }

    fn resumes(&self) -> Resumes {
        Resumes::Anywhere
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut plan = LaunchPlan::new(Program::This);
        plan.args.push("demo-agent".to_owned());
        if brief.trust == Trust::ReadOnly {
            plan.args.push("--read-only".to_owned());
        }
        plan.args.extend(brief.conversation.resumed().map(|session| format!("--session={session}")));
        plan
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(DemoDecoder::default())
    }

    fn terminal(&self, brief: &Brief<'_>) -> Option<LaunchPlan> {
        let mut plan = self.plan(brief);
        plan.prompt = PromptVia::Terminal;
        plan.args.insert(1, "--terminal".to_owned());
        Some(plan)
    }

    fn terminal_decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(TerminalDecoder::new(ScreenRules::demo(), DemoTerminal))
    }
}
