//! Launches work by hand: tasks that run now, each on a branch that the user chose.
//!
//! Owns everything that is checked before such tasks are added, so that nothing is created when one of them could not
//! run: names, branches in git and in the queue, agents, the commit to start from, consent to commands. They are tasks
//! like any other afterwards.

mod agents;
mod branches;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fleet_api::verbs::create::{Grouping, Job, JobOptions, Request, Setup};
use fleet_api::views::{ExistingBranchView, Launched};
use fleet_api::{ModeChoice, TaskFields};
use fleet_core::project::Project;
use fleet_core::task::{AgentName, BaseRef, BranchName, Task, TaskMode, TaskSpec, TaskState, Tuning};
use fleet_host::git::{self, GitError};

use super::prelude::*;
use super::{follow, task_add};
use crate::agents::{RunWish, terms};
use crate::keeper::checkout;
use crate::trust;
use crate::trust::ProjectWishes;

pub(super) use agents::{check as check_agent, has_terminal, no_terminal};
pub(super) use branches::look_up;
use names::NameHolder;

pub(super) use names::{letters, slug};

/// More at once is a list for `fleet task import`.
pub(super) const MAX_TASKS: usize = 100;
/// What people launch by hand comes before what was queued.
pub(super) const PRIORITY: i64 = 5;

/// Adds the tasks to the project of the directory; starting them is the caller's business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Launched> {
    if request.jobs.is_empty() || request.jobs.len() > MAX_TASKS {
        let message =
            format!("{} tasks at once: between 1 and {MAX_TASKS} can be launched", request.jobs.len());
        return Err(
            Problem::new(Code::InvalidValue, message).hint("`fleet task import` takes as many as you like")
        );
    }
    let batch = match request.grouping {
        Grouping::Alone => None,
        Grouping::Batch => Some(engine.new_id()?),
    };
    let mut specs =
        request.jobs.iter().map(|job| spec(engine, job, &request.wishes)).collect::<Outcome<Vec<_>>>()?;
    let names: BTreeSet<&str> =
        specs.iter().filter_map(|spec| spec.agent.as_ref()).map(AgentName::as_str).collect();
    agents::check_all(engine, &names)?;
    agents::check_terminals(engine, &specs)?;
    for (job, spec) in request.jobs.iter().zip(&mut specs) {
        tune(engine, job, spec)?;
    }
    names::check_apart(specs.iter().filter_map(|spec| spec.branch.as_ref()).map(BranchName::as_str))?;
    for spec in &mut specs {
        spec.batch = batch;
    }
    let existing_branches = choose_starts(engine, &mut specs, &request.wishes).await?;
    let tasks = add(engine, specs).await?;
    let now = engine.now();
    let unseen = |task| follow::view(&ops::FollowedTask { task, run: None, obstacle: None }, now);
    Ok(Launched { batch, tasks: tasks.into_iter().map(unseen).collect(), existing_branches })
}

/// Says where each of them starts: new branches at one commit, existing ones where they are. Returns the existing ones.
async fn choose_starts(
    engine: &Engine,
    specs: &mut [TaskSpec],
    wishes: &JobOptions,
) -> Outcome<Vec<ExistingBranchView>> {
    let named = specs.iter().filter_map(|spec| spec.branch.clone()).collect();
    let mut found = look_up(engine, named, wishes.existing).await?.into_iter();
    let mut common = None;
    let mut existing = Vec::new();
    for spec in specs {
        if let Some(branch) = spec.branch.as_ref().and_then(|_| found.next()).flatten() {
            branch.settle(spec, Some(branch.commit()?))?;
            existing.push(branch.shown);
            continue;
        }
        if common.is_none() {
            common = Some(base(engine, wishes.base.as_deref()).await?);
        }
        spec.base.clone_from(&common);
    }
    Ok(existing)
}

/// A task as its author would have added it.
fn spec(engine: &Engine, job: &Job, wishes: &JobOptions) -> Outcome<TaskSpec> {
    let request = fleet_api::verbs::task_add::Request {
        title: match &job.title {
            Some(title) => title.clone(),
            None => names::title(&job.prompt)?,
        },
        labels: job.labels.clone(),
        fields: TaskFields {
            description: Some(job.prompt.clone()),
            priority: Some(PRIORITY),
            agent: job.agent.clone(),
            model: job.model.clone(),
            base: wishes.base.clone(),
            branch: job.branch.clone(),
            limits: wishes.limits.clone(),
            retries: wishes.retries,
            checks: wishes.checks.clone(),
            check_retries: wishes.check_retries,
            meta: job.meta.clone(),
            read_only: wishes.read_only,
            mode: ModeChoice(Some(mode(engine, wishes)?)),
            ..Default::default()
        },
        ..Default::default()
    };
    let mut spec = task_add::spec(engine, &request)?;
    if spec.agent.is_none() {
        spec.agent = Some(engine.config()?.agent().parse().map_err(problems::field)?);
    }
    if wishes.setup == Setup::Skip {
        spec.setup = Setup::Skip;
    }
    spec.profile = job.profile.as_deref().map(str::parse).transpose().map_err(problems::field)?;
    spec.on_behalf_of = job.on_behalf_of;
    Ok(spec)
}

/// Agents get no terminals, whatever is configured for people.
fn mode(engine: &Engine, wishes: &JobOptions) -> Outcome<TaskMode> {
    if let Some(mode) = wishes.mode.0 {
        return Ok(mode);
    }
    let is_agent = engine.caller()?.agent().is_some();
    Ok(if is_agent { TaskMode::Headless } else { engine.config()?.launch().mode })
}

/// What no run could be started with is refused now, when its author can still change it.
fn tune(engine: &Engine, job: &Job, spec: &mut TaskSpec) -> Outcome<()> {
    let Some(agent) = spec.agent.as_ref().filter(|_| job.tuning != Tuning::default()) else { return Ok(()) };
    let wish = RunWish {
        model: job.model.as_deref(),
        read_only: spec.read_only,
        effort: job.tuning.effort.as_deref(),
        args: &job.tuning.args,
    };
    terms(engine, agent.as_str(), wish)?;
    if job.tuning.effort.is_some() {
        spec.tuning.effort.clone_from(&job.tuning.effort);
    }
    if !job.tuning.args.is_empty() {
        spec.tuning.args.clone_from(&job.tuning.args);
    }
    spec.tuning.check().map_err(problems::field)
}

/// The commit that all of them start from, whatever is committed until they start.
pub(super) async fn base(engine: &Engine, wish: Option<&str>) -> Outcome<BaseRef> {
    let (here, wish) = (engine.repository()?.git_dir.clone(), wish.map(ToOwned::to_owned));
    let workspace = engine.surrounding();
    let look = move || match (workspace, wish) {
        (Some(workspace), Some(rev)) => workspace.resolve(&rev),
        (Some(workspace), None) => workspace.head(),
        (None, Some(rev)) => git::resolve_commit(&here, &rev),
        (None, None) => git::head_commit(&here),
    };
    let commit = blocking(look).await?.map_err(|error| git_problem("base", &error))?;
    commit.to_string().parse().map_err(problems::field)
}

async fn add(engine: &Engine, specs: Vec<TaskSpec>) -> Outcome<Vec<Task>> {
    let project = engine.project().await?;
    check_consent(engine, &project, &specs)?;
    let new = |spec: TaskSpec| -> Outcome<ops::NewTask> {
        let (id, project, state) = (engine.new_id()?, project.id, TaskState::Queued);
        Ok(ops::NewTask { id, project, spec, after: Vec::new(), state })
    };
    let tasks = specs.into_iter().map(new).collect::<Outcome<Vec<_>>>()?;
    task_add::insert(engine, tasks).await?.map_err(|error| match error {
        StoreError::BranchTaken { branch, task } => names::taken(&branch, &NameHolder::Task(task)),
        error => problems::store(error),
    })
}

/// Refuses tasks that would fail because the user has not agreed to the project's wishes.
fn check_consent(engine: &Engine, project: &Project, specs: &[TaskSpec]) -> Outcome<()> {
    let Some(asked) = untrusted(engine, project)? else { return Ok(()) };
    let of_tasks = specs.iter().map(|spec| asked.clone().of_task(spec));
    let Some(needed) = of_tasks.into_iter().find(|needed| !needed.is_empty()) else { return Ok(()) };
    let refusal = needed.refusal();
    if needed.without_setup().is_empty() {
        return Err(refusal.hint("`--quick` skips set-up commands"));
    }
    Err(refusal)
}

/// What a project wants and the user has not agreed to, as a keeper will see it: from the main checkout.
pub(super) fn untrusted(engine: &Engine, project: &Project) -> Outcome<Option<ProjectWishes>> {
    let there = engine.at(checkout(project))?;
    trust::untrusted(engine.home().root(), there.config()?, project)
}

fn git_problem(field: &str, error: &GitError) -> Problem {
    match error {
        GitError::NoSuchCommit { .. } | GitError::Unborn { .. } | GitError::Refused(_) => {
            Problem::field(field, error.to_string())
        }
        _ => {
            let cause =
                std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
            Problem::new(Code::Io, format!("{error}{cause}"))
        }
    }
}
