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
#[cfg(test)]
mod tests;

pub use child::{Child, Habit};
pub use job::job;
pub use script::{ScriptError, Signal, Step, script};
pub use stream::Line;

use decoder::DemoDecoder;

use crate::adapter::{Adapter, Brief, Decoder, LaunchPlan, Program, PromptVia};

/// The adapter of the demo agent.
#[derive(Debug, Clone, Copy)]
pub struct Demo;

impl Adapter for Demo {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut args = vec!["demo-agent".to_owned()];
        if brief.read_only {
            args.push("--read-only".to_owned());
        }
        args.extend(brief.session.map(|session| format!("--session={session}")));
        LaunchPlan {
            program: Program::This,
            args,
            prompt: PromptVia::Stdin,
            env: Vec::new(),
            pass_env: &[],
            ask: None,
        }
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(DemoDecoder::default())
    }
}
