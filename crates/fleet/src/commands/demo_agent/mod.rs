//! `fleet demo-agent`: the scripted agent, started by a run like any other agent.
//!
//! Owns what the steps of a script do. Must never touch the store or the configuration: an agent has neither, and
//! this one must be quick to start.

mod act;
mod child;
mod print;
mod terminal;

use clap::Args;
use fleet_agents::demo::{self, Child};
use fleet_core::problem::{Code, Problem};

use super::text_input::read_stdin;
use crate::Done;
use crate::output::Output;
use act::DemoWork;
use terminal::DemoTerminal;

/// Work as a scripted agent on the task on standard input, in the current directory
#[derive(Debug, Args)]
#[command(display_order = 440, hide = true)]
pub(crate) struct DemoAgent {
    /// Change nothing, unless the script says so
    #[arg(long)]
    read_only: bool,
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Take prompts in a terminal
    #[arg(long)]
    terminal: bool,
    /// Be a process that an agent left behind
    #[arg(long, value_name = "WORDS")]
    child: Option<Child>,
}

/// As `EX_USAGE` of sysexits: nothing was done.
const BAD_SCRIPT: i32 = 64;

impl DemoAgent {
    pub(crate) fn run(self, _: Output) -> Done {
        let cannot = |error| Problem::new(Code::Io, format!("the demo agent stopped: {error}"));
        if let Some(child) = self.child {
            return child::live(child).map_err(cannot);
        }
        let session = self.session.unwrap_or_else(|| format!("demo-{}", std::process::id()));
        if self.terminal {
            return DemoTerminal { session, read_only: self.read_only }.run().map_err(cannot);
        }
        let prompt = read_stdin()?;
        let steps = match demo::script(&prompt) {
            Ok(steps) => steps.unwrap_or_else(|| demo::job(&prompt, self.read_only)),
            Err(error) => {
                print::stderr(&error.to_string()).map_err(cannot)?;
                std::process::exit(BAD_SCRIPT);
            }
        };
        let code = DemoWork::default().work(session, steps).map_err(cannot)?;
        std::process::exit(i32::from(code))
    }
}
