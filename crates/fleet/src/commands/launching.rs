//! What `create`, `fanout`, `multi` and `resume` share: how work is described, and what happens after it was added.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::create::{ExistingBranches, JobOptions, Setup};
use fleet_api::verbs::project_uncommitted;
use fleet_api::verbs::runner_wake::{self, RunnerPresence};
use fleet_api::views::{ExistingBranchView, Followed, Launched};
use fleet_api::{ModeChoice, Verb};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::TaskMode;
use fleet_core::text::escaped;

use super::Context;
use super::attach::{attach_to, require_terminal};
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
    /// Whether there is none.
    pub(crate) const fn is_none(&self) -> bool {
        self.prompt.is_none() && self.prompt_file.is_none()
    }

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
    /// Run the agent in a terminal, and attach to it
    #[arg(long, conflicts_with_all = ["detach", "headless"])]
    attach: bool,
}

/// What happens after work was launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterLaunch {
    Detach,
    /// Follow headless agents; say how to attach to others.
    Follow,
    Attach,
}

impl AfterLaunch {
    pub(crate) const fn detached(detach: bool) -> Self {
        if detach { Self::Detach } else { Self::Follow }
    }
}

impl LaunchOptions {
    /// What holds for all pieces of the launch.
    pub(crate) fn wishes(&self) -> JobOptions {
        let setup = if self.quick { Setup::Skip } else { Setup::Full };
        let mode = if self.attach { ModeChoice(Some(TaskMode::Interactive)) } else { self.wishes.mode };
        JobOptions { setup, mode, ..self.wishes.clone() }
    }

    /// Whether the agents run in terminals.
    pub(crate) fn is_interactive(&self, context: &Context) -> Outcome<bool> {
        let mode = self.wishes().mode.0;
        Ok(mode
            .map_or_else(|| context.engine.config().map(|config| config.launch().mode), Ok)?
            .is_interactive())
    }

    /// The same for a person who wants to talk to the agent at once.
    pub(crate) fn attached(self) -> Self {
        let is_at_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        Self { attach: self.attach || (!self.detach && is_at_terminal), ..self }
    }

    /// The same, where existing branches may be named; by force also the main branch.
    pub(crate) fn wishes_on(&self, force: bool) -> JobOptions {
        let existing = if force { ExistingBranches::TakeMain } else { ExistingBranches::Take };
        JobOptions { existing, ..self.wishes() }
    }

    /// Launches, tells what the work has not got because nobody committed it, and follows it if somebody stays.
    pub(crate) async fn launch<V: Verb<Answer = Launched>>(&self, context: &Context, request: V) -> Done {
        if self.attach {
            require_terminal(
                "`--interactive` starts it without; `fleet attach BRANCH` opens its terminal later",
            )?;
        }
        let launched = context.call(request).await?;
        for branch in &launched.existing_branches {
            context.output.note(&taking(branch));
        }
        let mut new = launched.tasks.iter().filter(|one| !one.task.existing_branch);
        if let Some((one, base)) = new.find_map(|one| Some((one, one.task.base.as_deref()?))) {
            if launched.batch.is_none() {
                context.output.note(&dim(&format!(
                    "new branch {} from {}",
                    escaped(&one.branch()),
                    short(base)
                )));
            }
            if self.wishes.base.is_none() {
                left_behind(context, base).await;
            }
        }
        let after = if self.attach { AfterLaunch::Attach } else { AfterLaunch::detached(self.detach) };
        see(context, launched, after).await
    }
}

/// Says that an existing branch is taken, and where it is.
pub(crate) fn taking(existing: &ExistingBranchView) -> String {
    let ExistingBranchView { branch, commit, remote, ahead, ahead_of } = existing;
    let origin = remote.as_ref().map(|remote| format!(" from {}", escaped(remote))).unwrap_or_default();
    let ahead = match (ahead, ahead_of) {
        (Some(ahead), Some(main)) => {
            format!(
                " ({} ahead of {})",
                count(usize::try_from(*ahead).unwrap_or(usize::MAX), "commit"),
                escaped(main)
            )
        }
        _ => String::new(),
    };
    format!("taking existing branch {}{origin} at {}{ahead}", escaped(branch), short(commit))
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
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
    let (what, short) = (count(number, "uncommitted change"), short(base));
    let verb = if number == 1 { "is" } else { "are" };
    context.output.note(&format!("note: {what} {verb} not included; starting from {short}"));
}

/// Starts the runner if need be, and follows what was launched, unless somebody detaches.
pub(crate) async fn see(context: &Context, launched: Launched, after: AfterLaunch) -> Done {
    let working = launched.tasks.iter().filter(|one| !one.task.read_only);
    context.first_use(working.map(|one| one.task.agent.as_deref())).await?;
    wake(context).await;
    if let Some(batch) = launched.batch {
        context.output.note(&dim(&format!("batch {batch}")));
    }
    let ids: Vec<_> = launched.tasks.iter().map(|one| one.task.id).collect();
    if after == AfterLaunch::Attach {
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        return attach_to(context, &ids).await;
    }
    let is_interactive = launched.tasks.iter().all(|one| one.task.mode.is_interactive());
    if after == AfterLaunch::Detach || is_interactive {
        context.output.show(&launched, || launched.tasks.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        if let Some(first) = launched.tasks.first().filter(|_| is_interactive) {
            let name = escaped(&first.branch()).into_owned();
            context.output.note(&dim(&format!("`fleet attach {name}` opens its terminal")));
        }
        return Ok(());
    }
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
