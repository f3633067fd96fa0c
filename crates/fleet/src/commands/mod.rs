//! The commands, one file each: `commands/<noun>/<verb>.rs`. `build.rs` finds them; their order in the help is that of
//! `display_order`.

use std::path::Path;
use std::pin::Pin;

use fleet_api::Verb;
use fleet_api::verbs::agents_notice;
use fleet_api::verbs::runner_missing::{self, Unattended};
use fleet_api::verbs::runner_wake::{self, RunnerPresence};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;
use fleet_engine::config::Color;
use fleet_engine::environment::Environment;
use fleet_engine::{Engine, EngineStart};

use crate::Done;
use crate::cli::{Cli, ColorWhen, Global};
use crate::output::{Output, choose_color, dim, pager, wrapped};

/// A command that is nothing but a request: its help, its name with its verb, and what becomes of the answer. `shows` takes a
/// function that makes it a text for people, `then` one that does more with it.
macro_rules! command {
    ($(#[$help:meta])+ $name:ident($verb:ident) shows $render:path) => {
        command! {
            $(#[$help])+
            $name($verb) |context, answer| context.output.show(&answer, || $render(&answer, context.engine.now()))
        }
    };
    ($(#[$help:meta])+ $name:ident($verb:ident) then $act:path) => {
        command! { $(#[$help])+ $name($verb) |context, answer| $act(context, answer).await }
    };
    ($(#[$help:meta])+ $name:ident($verb:ident) |$context:ident, $answer:ident| $done:expr) => {
        #[derive(Debug, clap::Args)]
        $(#[$help])+
        pub(crate) struct $name {
            #[command(flatten)]
            request: fleet_api::verbs::$verb::Request,
        }

        impl $name {
            pub(crate) async fn run(self, $context: &$crate::commands::Context) -> $crate::Done {
                let $answer = $context.call(self.request).await?;
                $done
            }
        }
    };
}

all_commands!();

pub(crate) struct Context {
    pub(crate) engine: Engine,
    pub(crate) output: Output,
    /// Whether `--project` says which repository is meant.
    pub(crate) is_project_named: bool,
    /// The command as it was typed, such as `fleet task add`.
    pub(crate) command: String,
}

impl Context {
    pub(crate) async fn call<V: Verb>(&self, request: V) -> Outcome<V::Answer> {
        let answer = fleet_api::call(&self.engine, None, &request).await;
        answer.map_err(|problem| named_as_typed(problem, V::ID, &self.command))
    }

    /// The shortest way to write a path: relative to the current directory if it is inside.
    pub(crate) fn shortest_path(&self, path: &str) -> String {
        let inside = || {
            let here = self.engine.environment().current_directory().ok()?;
            let inside = Path::new(path).strip_prefix(here.canonicalize().ok()?).ok()?;
            inside.to_str().filter(|inside| !inside.is_empty()).map(ToOwned::to_owned)
        };
        inside().unwrap_or_else(|| path.to_owned())
    }

    /// Before the answer: what people should know about agents that work for them for the first time. `None` is the
    /// configured one. Said to people only, so that a program does not use it up.
    pub(crate) async fn first_use<'a>(&self, agents: impl IntoIterator<Item = Option<&'a str>>) -> Done {
        if self.output.is_json() {
            return Ok(());
        }
        let agents = agents.into_iter().map(|agent| agent.map(ToOwned::to_owned)).collect();
        for notice in self.call(agents_notice::Request { agents }).await?.notices {
            self.output.note(&wrapped(&notice));
        }
        Ok(())
    }

    /// Tasks that wait for a runner, which is started if one is missed. Nothing keeps anybody from what he wanted to see.
    pub(crate) async fn unattended(&self) -> Option<Unattended> {
        self.call(runner_missing::Request::default()).await.ok()?.unattended
    }

    /// For those who look at agents: in one line, if nobody works on what is ready. Returns what was told.
    pub(crate) async fn tell_unattended(&self) -> Option<Unattended> {
        let unattended = self.unattended().await?;
        self.output.note(&unattended.sentence());
        Some(unattended)
    }

    /// For those who look at the queue, which needs no line to say that it is one: a runner that is missed is started.
    pub(crate) async fn start_missed_runner(&self) {
        if let Some(unattended @ Unattended { started: true, .. }) = self.unattended().await {
            self.output.note(&unattended.sentence());
        }
    }

    /// After work was queued: somebody should do it. That nobody could be started does not undo the queueing.
    pub(crate) async fn work_was_queued(&self) {
        match self.call(runner_wake::Request::default()).await {
            Ok(woken) if woken.runner != RunnerPresence::Started => {}
            Ok(_) => {
                self.output.note(&dim("started the runner in the background; `fleet status` shows it"));
            }
            Err(problem) => {
                let why = escaped(&problem.to_string()).into_owned();
                self.output.note(&format!("note: {why} (`fleet run` runs agents here)"));
            }
        }
    }
}

/// A refusal names the command that was typed, not the verb behind it.
fn named_as_typed(mut problem: Problem, verb: &str, command: &str) -> Problem {
    if matches!(problem.code, Code::NotInARun | Code::NotYours) {
        problem.message = problem.message.replace(&format!("`{verb}`"), &format!("`{command}`"));
    }
    problem
}

struct Invocation {
    global: Global,
    output: Output,
    command: String,
}

/// What a command does with an engine.
type InContext = Box<dyn for<'c> FnOnce(&'c Context) -> Pin<Box<dyn Future<Output = Done> + 'c>>>;

impl Invocation {
    fn in_context(&self, command: InContext) -> Done {
        let context = Context {
            engine: engine(&self.global)?,
            output: self.output,
            is_project_named: self.global.project.is_some(),
            command: self.command.clone(),
        };
        if PAGED.contains(&self.command.as_str()) && !self.global.no_pager && !self.output.is_json() {
            page(&context.engine);
        }
        // One thread is enough for a command; a second one writes when there is something to write.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Problem::new(Code::Internal, format!("cannot start: {error}")))?;
        let done = runtime.block_on(command(&context));
        // Work in the background is such that it may be cut off; a command that is done does not wait for it.
        runtime.shutdown_background();
        // The process ends now, and what was written is durable: closing the store would only free memory.
        std::mem::forget(context);
        done
    }
}

/// Commands whose output may be longer than a screen.
const PAGED: &[&str] = &[
    "fleet compare",
    "fleet config",
    "fleet config show",
    "fleet diff",
    "fleet events",
    "fleet list",
    "fleet logs",
    "fleet review",
    "fleet show",
    "fleet task list",
    "fleet task show",
    "fleet verbs",
    "fleet why",
    "fleet workflow show",
];

/// A broken configuration is reported by the command that needs it, not here.
fn page(engine: &Engine) {
    if let Ok(config) = engine.config() {
        pager::begin(&config.general().pager, engine.environment());
    }
}

pub(crate) fn run(cli: Cli, output: Output, command: String) -> Done {
    cli.command.run(&Invocation { global: cli.global, output, command })
}

fn engine(global: &Global) -> Result<Engine, Problem> {
    let environment = Environment::from_process();
    // The name that `ai-fleet` documents for it.
    if global.verbose || environment.get_os("AI_FLEET_DEBUG").is_some() {
        fleet_engine::show_steps();
    }
    let start =
        EngineStart { environment, directory: global.project.clone(), flags: global.configuration.clone() };
    let engine = Engine::new(start)?;
    // A broken configuration is reported by the command that needs it, not here.
    if let (None, Ok(config)) = (global.color, engine.config()) {
        choose_color(match config.general().color {
            Color::Auto => ColorWhen::Auto,
            Color::Always => ColorWhen::Always,
            Color::Never => ColorWhen::Never,
        });
    }
    Ok(engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_was_typed() {
        let refused =
            |code, message: &str| named_as_typed(Problem::new(code, message), "undo.list", "fleet undo");
        assert_eq!(
            refused(Code::NotYours, "only people can use `undo.list`").message,
            "only people can use `fleet undo`"
        );
        assert_eq!(refused(Code::Io, "`undo.list`").message, "`undo.list`");
    }
}
