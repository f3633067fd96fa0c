//! The commands, one file each: `commands/<noun>/<verb>.rs`.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod demo_agent;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod explain;
pub(crate) mod man;
pub(crate) mod task;
mod text_input;
pub(crate) mod trust;

use fleet_core::problem::{Code, Problem};
use fleet_engine::config::Color;
use fleet_engine::environment::Environment;
use fleet_engine::{Engine, Start};

use crate::Done;
use crate::cli::{Cli, Command, Global, When};
use crate::output::{Output, choose_color};

/// What a command works with.
pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) output: Output,
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
            runtime.block_on(with_engine(command, &context))
        }
    }
}

async fn with_engine(command: Command, context: &Context) -> Done {
    match command {
        Command::Task(command) => command.run(context).await,
        Command::Events(command) => command.run(context).await,
        Command::Config(command) => command.run(context),
        Command::Trust(command) => command.run(context),
        Command::Doctor(_) => doctor::Doctor::run(context).await,
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
