//! What `create`, `fanout`, `multi` and `resume` share: how work is described, and what happens after it was added.

use std::path::PathBuf;

use clap::Args;
use fleet_api::Verb;
use fleet_api::verbs::create::{JobOptions, Setup};
use fleet_api::verbs::project_uncommitted;
use fleet_api::verbs::runner_wake::{self, RunnerPresence};
use fleet_api::views::{Followed, Launched};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::Context;
use super::text_input::{read_path, read_stdin};
use crate::Done;
use crate::follow::{conclude, follow};
use crate::output::{count, dim, paint_status, strong};

/// A prompt in one of three ways.
#[derive(Debug, Clone, Args)]
pub(crate) struct PromptInput {
    /// The prompt
    #[arg(short = 'p', long, value_name = "TEXT", conflicts_with = "prompt_file")]
    prompt: Option<String>,
    /// Read the prompt from a file (`-` is standard input)
    #[arg(long, value_name = "FILE")]
    prompt_file: Option<PathBuf>,
}

impl PromptInput {
    /// Reads it; `stdin` says that a bare `-` stood on the command line.
    pub(crate) fn read(self, stdin: bool) -> Outcome<String> {
        match (self.prompt, self.prompt_file) {
            (Some(_), _) | (_, Some(_)) if stdin => {
                Err(Problem::new(Code::Usage, "`-` reads the prompt from standard input: give it only once"))
            }
            (Some(text), _) => Ok(text),
            (None, Some(path)) => read_path(&path),
            (None, None) if !stdin => Err(Problem::new(Code::Usage, "there is no prompt")
                .hint("`-p TEXT`, `--prompt-file FILE`, or `-` for standard input")),
            (None, None) => read_stdin(),
        }
    }
}

/// Options of everything that is launched.
#[derive(Debug, Clone, Args)]
pub(crate) struct LaunchOptions {
    /// The model [default: `agents.AGENT.model`]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    wishes: JobOptions,
    /// Skip the set-up commands; files are still copied
    #[arg(long)]
    quick: bool,
    /// Detach: return as soon as it is queued
    #[arg(short, long)]
    detach: bool,
}

impl LaunchOptions {
    /// What holds for all pieces of the launch.
    pub(crate) fn wishes(&self) -> JobOptions {
        let setup = if self.quick { Setup::Skip } else { Setup::Full };
        JobOptions { setup, ..self.wishes.clone() }
    }

    /// Launches, tells what the work has not got because nobody committed it, and follows it if somebody stays.
    pub(crate) async fn launch<V: Verb<Answer = Launched>>(&self, context: &Context, request: V) -> Done {
        let launched = context.call(request).await?;
        let base = launched.tasks.first().and_then(|one| one.task.base.as_deref());
        if let Some(base) = base.filter(|_| self.wishes.base.is_none()) {
            left_behind(context, base).await;
        }
        see(context, launched, self.detach).await
    }
}

/// Tells what work that starts from this commit has not got. Only for people: a program knows what it committed.
pub(crate) async fn left_behind(context: &Context, base: &str) {
    if context.output.is_json() {
        return;
    }
    let Ok(project_uncommitted::Answer { files: Some(number) }) =
        context.call(project_uncommitted::Request::default()).await
    else {
        return;
    };
    let (what, short) = (count(number, "uncommitted change"), base.get(..7).unwrap_or(base));
    let verb = if number == 1 { "is" } else { "are" };
    context.output.note(&format!("note: {what} {verb} not included; starting from {short}"));
}

/// Starts the runner if need be, and follows what was launched, unless somebody detaches.
pub(crate) async fn see(context: &Context, launched: Launched, detach: bool) -> Done {
    let working = launched.tasks.iter().filter(|one| !one.task.read_only);
    context.first_use(working.map(|one| one.task.agent.as_deref())).await?;
    wake(context).await;
    if let Some(batch) = launched.batch {
        context.output.note(&dim(&format!("batch {batch}")));
    }
    if detach {
        return context
            .output
            .show(&launched, || launched.tasks.iter().map(line).collect::<Vec<_>>().join("\n"));
    }
    let ids: Vec<_> = launched.tasks.iter().map(|one| one.task.id).collect();
    let watched = follow(context, &ids).await?;
    conclude(context, launched.batch, watched).await
}

/// The work is queued and durable: trouble with the runner is told, and is no failure of the launch.
pub(crate) async fn wake(context: &Context) {
    match context.call(runner_wake::Request::default()).await.map(|woken| woken.runner) {
        Ok(RunnerPresence::Up) => {}
        Ok(RunnerPresence::Started) => {
            context.output.note(&dim("started the runner in the background; `fleet status` shows it"));
        }
        Ok(RunnerPresence::Off) => {
            context.output.note(
                "no runner is up here: `fleet start` starts one, `fleet run` runs one in the foreground",
            );
        }
        Err(problem) => context.output.problem(&problem),
    }
}

fn line(one: &Followed) -> String {
    format!(
        "{}  {}  {}  {}",
        strong(one.task.id.as_str()),
        paint_status(&one.task.status),
        escaped(&one.branch()),
        dim(&escaped(&one.task.title))
    )
}
