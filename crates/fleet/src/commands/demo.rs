mod story;

use std::path::{Path, PathBuf};

use clap::Args;
use fleet_api::verbs::runner_start;
use fleet_api::views::{Followed, TaskView};
use fleet_core::problem::{Code, Problem};
use fleet_core::task::TaskState;
use fleet_core::time::Span;
use fleet_engine::playground::Playground;
use fleet_engine::{clock, demo};
use serde::Serialize;

use super::Context;
use crate::Done;
use crate::exit::interrupted;
use crate::follow::{FollowEnd, follow_until};
use crate::output::{dim, print, strong};

/// See it work in a scratch repository; nothing to set up
///
/// Makes a repository in a temporary folder, queues five tasks that depend on each other, and runs a built-in scripted
/// agent on them. No account, no network, and nothing of yours is touched.
#[derive(Debug, Args)]
#[command(display_order = 10)]
pub(crate) struct Demo {
    /// Keep the folder
    #[arg(long)]
    keep: bool,
}

#[derive(Serialize)]
struct Response {
    tasks: Vec<TaskView>,
    /// The process that was killed in the middle.
    killed_runner: i32,
    /// From the first task to the last end.
    seconds: f64,
    kept: Option<PathBuf>,
}

/// So many agents at a time: some tasks have to wait.
const SLOTS: u32 = 3;

impl Demo {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let playground = Playground::build(&context.engine, story::CONTENTS, |_| Ok(()))?;
        let inside = Context {
            is_project_named: false,
            engine: playground.engine().at(playground.dir().join(story::CONTENTS.repository))?,
            output: context.output,
            command: context.command.clone(),
        };
        // Whenever somebody leaves, nothing stays behind.
        let played = tokio::select! {
            played = play(&inside, playground.dir()) => played,
            _ = tokio::signal::ctrl_c() => Ok(None),
        };
        let kept = self.keep.then(|| playground.dir().to_owned());
        let cleared = match &kept {
            Some(dir) => playground.keep().await.and_then(|()| tell(context, &kept_at(dir))),
            None => playground.clear().await,
        };
        let played = played?;
        cleared?;
        let Some(response) = played else {
            context.output.note("left; everything of the demo is removed");
            interrupted();
        };
        let response = Response { kept, ..response };
        context.output.show(&response, || closing(self.keep))
    }
}

/// `None` when the user left.
async fn play(context: &Context, dir: &Path) -> Result<Option<Response>, Problem> {
    let began = clock::uptime();
    tell(context, &opening(dir))?;
    let tasks = story::add_tasks(context).await?;
    tell(context, &format!("\n{}", strong("1. Five tasks, some after others; three agents at a time")))?;
    let ids: Vec<_> = tasks.iter().map(|task| task.id).collect();
    up(context).await?;
    let busy = |tasks: &[Followed]| {
        let running = tasks.iter().filter(|one| one.task.state == TaskState::Running).count();
        running >= 2 && tasks.iter().any(Followed::is_done)
    };
    if follow_until(context, &ids, &busy).await?.end == FollowEnd::Left {
        return Ok(None);
    }
    let killed_runner = demo::kill_runner(&context.engine)?;
    tell(
        context,
        &format!("\n{}", strong(&format!("2. kill -9 {killed_runner}: the runner is gone, halfway through"))),
    )?;
    tell(context, "Its agents do not notice: each has its own keeper. A new runner takes over.")?;
    up(context).await?;
    let watched = follow_until(context, &ids, &|_| false).await?;
    if watched.end == FollowEnd::Left {
        return Ok(None);
    }
    let taken = clock::uptime().saturating_sub(began);
    if let Some(failed) = watched.tasks.iter().find(|one| !one.is_done()) {
        let why = failed.task.remark.clone().unwrap_or_default();
        return Err(Problem::new(Code::RunFailed, format!("{:?} was not done: {why}", failed.task.title)));
    }
    let heading = format!("3. What they did, in {}: each on its own branch", Span(taken));
    tell(context, &format!("\n{}", strong(&heading)))?;
    for task in &tasks {
        tell(context, &shown(task, &story::patch(context, task).await?))?;
    }
    let tasks = watched.tasks.into_iter().map(|one| one.task).collect();
    Ok(Some(Response { tasks, killed_runner, seconds: taken.as_secs_f64(), kept: None }))
}

async fn up(context: &Context) -> Done {
    context.call(runner_start::Request { slots: Some(SLOTS) }).await.map(drop)
}

/// Part of the story: left out of JSON.
fn tell(context: &Context, text: &str) -> Done {
    if context.output.is_json() { Ok(()) } else { print(text) }
}

fn kept_at(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        "\nKept, to look around in:\n  export FLEET_HOME={dir}/home; cd {dir}/settings; fleet list --all\n  rm -r {dir}"
    )
}

fn opening(dir: &Path) -> String {
    format!(
        "A scratch repository, a scripted agent, no account and no network.\n{}",
        dim(&format!("in {}", dir.display()))
    )
}

/// The lines that were added, below the name of the branch.
fn shown(task: &TaskView, patch: &str) -> String {
    let is_change =
        |line: &&str| line.starts_with("+++ b/") || (line.starts_with('+') && !line.starts_with("+++"));
    let lines = patch.lines().filter(is_change).map(|line| match line.strip_prefix("+++ b/") {
        Some(file) => format!("  {file}"),
        None => format!("    {line}"),
    });
    let lines: Vec<String> = lines.collect();
    format!("{}  {}\n{}", task.title, dim(task.branch.as_deref().unwrap_or_default()), lines.join("\n"))
}

fn closing(kept: bool) -> String {
    let cleaned = if kept { "" } else { "The scratch folder is removed.\n" };
    format!(
        "\n{cleaned}{} try it in your own repository:\n  fleet create my-branch -p \"Describe the task\" \
         --agent demo\n  fleet list --all\n  fleet diff my-branch",
        strong("Next,"),
    )
}
