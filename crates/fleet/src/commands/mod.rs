//! The commands, one file each: `commands/<noun>/<verb>.rs`.

pub(crate) mod agents;
pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod conflicts;
mod consent;
mod counting;
pub(crate) mod create;
pub(crate) mod demo;
pub(crate) mod demo_agent;
pub(crate) mod diff;
pub(crate) mod disk;
pub(crate) mod doctor;
pub(crate) mod done;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod fail;
pub(crate) mod fanout;
pub(crate) mod gc;
pub(crate) mod kill;
mod launching;
pub(crate) mod list;
pub(crate) mod logs;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod multi;
pub(crate) mod note;
pub(crate) mod open;
pub(crate) mod progress;
pub(crate) mod prompt;
pub(crate) mod repair;
pub(crate) mod restart;
pub(crate) mod resume;
pub(crate) mod review;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod shim;
pub(crate) mod show;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod task;
mod text_input;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod why;
pub(crate) mod workflow;

use std::collections::BTreeSet;
use std::path::Path;

use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_engine::agents::notice;
use fleet_engine::config::Color;
use fleet_engine::environment::Environment;
use fleet_engine::runner::{self, Unattended};
use fleet_engine::{Engine, Start};

use crate::Done;
use crate::cli::{Cli, Command, Global, When};
use crate::output::{Output, choose_color, dim};

/// What a command works with.
pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) output: Output,
}

impl Context {
    /// A path as it is shortest to name: from the current directory, if it lies in there.
    pub(crate) fn near(&self, path: &str) -> String {
        let inside = || {
            let here = self.engine.environment().current_directory().ok()?;
            let inside = Path::new(path).strip_prefix(here.canonicalize().ok()?).ok()?;
            inside.to_str().filter(|inside| !inside.is_empty()).map(ToOwned::to_owned)
        };
        inside().unwrap_or_else(|| path.to_owned())
    }

    /// Before the answer: what people should know about agents that work for them for the first time. `None` is the
    /// configured one. Said to people only, so that a program does not use it up.
    pub(crate) fn first_use<'a>(&self, agents: impl IntoIterator<Item = Option<&'a str>>) -> Done {
        let default = self.engine.config()?.agent();
        let names: BTreeSet<&str> = agents.into_iter().map(|agent| agent.unwrap_or(default)).collect();
        for name in names.into_iter().filter(|_| !self.output.is_json()) {
            if let Some(notice) = notice(&self.engine, name)? {
                self.output.note(&notice.text);
                notice.told();
            }
        }
        Ok(())
    }

    /// For those who look at agents: in one line, if nobody works on what is ready. A runner that is missed is started.
    /// Neither keeps anybody from what he wanted to see. Returns what was told.
    pub(crate) async fn tell_unattended(&self) -> Option<Unattended> {
        let unattended = runner::unattended(&self.engine).await.ok().flatten()?;
        self.output.note(&unattended.sentence());
        Some(unattended)
    }

    /// For those who look at the queue, which needs no line to say that it is one: a runner that is missed is started.
    pub(crate) async fn start_missed_runner(&self) {
        if let Ok(Some(unattended @ Unattended { started: true, .. })) =
            runner::unattended(&self.engine).await
        {
            self.output.note(&unattended.sentence());
        }
    }

    /// After work was queued: somebody should do it. That nobody could be started does not undo the queueing.
    pub(crate) fn work_was_queued(&self) {
        match runner::autostart(&self.engine) {
            Ok(false) => {}
            Ok(true) => {
                self.output.note(&dim("started the runner in the background; `fleet status` shows it"));
            }
            Err(problem) => {
                let why = escaped(&problem.message).into_owned();
                self.output.note(&format!("note: {why} (`fleet run` runs agents here)"));
            }
        }
    }
}

pub(crate) fn run(cli: Cli, output: Output) -> Done {
    match cli.command {
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
        Command::Explain(command) => command.run(output),
        Command::DemoAgent(command) => command.run(),
        command => {
            let context = Context { engine: engine(&cli.global)?, output };
            // One thread is enough for a command; a second one writes when there is something to write.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| Problem::new(Code::Internal, format!("cannot start: {error}")))?;
            let done = runtime.block_on(with_engine(command, &context));
            // Work in the background is such that it may be cut off; a command that is done does not wait for it.
            runtime.shutdown_background();
            done
        }
    }
}

async fn with_engine(command: Command, context: &Context) -> Done {
    match command {
        Command::Task(command) => command.run(context).await,
        Command::Workflow(command) => command.run(context).await,
        Command::List(command) => command.run(context).await,
        Command::Show(command) => command.run(context).await,
        Command::Logs(command) => command.run(context).await,
        Command::Diff(command) => command.run(context).await,
        Command::Open(command) => command.run(context).await,
        Command::Demo(command) => command.run(context).await,
        Command::Create(command) => command.run(context).await,
        Command::Fanout(command) => command.run(context).await,
        Command::Multi(command) => command.run(context).await,
        Command::Resume(command) => command.run(context).await,
        Command::Run(command) => command.run(context).await,
        Command::Start(command) => command.run(context).await,
        Command::Stop(command) => command.run(context).await,
        Command::Restart(command) => command.run(context).await,
        Command::Status(_) => status::Status::run(context).await,
        Command::Review(command) => command.run(context).await,
        Command::Conflicts(command) => command.run(context).await,
        Command::Prompt(command) => command.run(context).await,
        Command::Kill(command) => command.run(context).await,
        Command::Undo(command) => command.run(context).await,
        Command::Why(command) => command.run(context).await,
        Command::Clean(command) => command.run(context).await,
        Command::Disk(_) => disk::Disk::run(context).await,
        Command::Gc(command) => command.run(context).await,
        Command::Events(command) => command.run(context).await,
        Command::Agents(command) => command.run(context).await,
        Command::Mcp(command) => command.run(context).await,
        Command::Config(command) => command.run(context),
        Command::Setup(command) => command.run(context),
        Command::Trust(command) => command.run(context),
        Command::Doctor(_) => doctor::Doctor::run(context).await,
        Command::Done(command) => command.run(context).await,
        Command::Fail(command) => command.run(context).await,
        Command::Note(command) => command.run(context).await,
        Command::Progress(command) => command.run(context).await,
        Command::Shim(command) => command.run(context).await,
        Command::Repair(command) => command.run(context).await,
        Command::Completions(_) | Command::Man(_) | Command::Explain(_) | Command::DemoAgent(_) => Ok(()),
    }
}

fn engine(global: &Global) -> Result<Engine, Problem> {
    let start = Start {
        environment: Environment::from_process(),
        directory: global.project.clone(),
        flags: global.set.clone(),
    };
    let engine = Engine::new(start)?;
    // A broken configuration is reported by the command that needs it, not here.
    if let (None, Ok(config)) = (global.color, engine.config()) {
        choose_color(match config.color() {
            Color::Auto => When::Auto,
            Color::Always => When::Always,
            Color::Never => When::Never,
        });
    }
    Ok(engine)
}
