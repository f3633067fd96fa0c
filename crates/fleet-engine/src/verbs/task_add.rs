mod settle;

use fleet_api::verbs::create::ExistingBranches;
use fleet_api::verbs::task_add::{Answer, Duplicates, Request};
use fleet_api::verbs::task_similar::{self, Similar};
use fleet_api::views::{ExistingBranchView, TaskView};
use fleet_core::task::{
    AgentName, BaseRef, FieldError, Label, Labels, ModelName, Priority, Task, TaskMode, TaskSpec, TaskState,
};

use super::prelude::*;
use super::task_edit::edit;
use super::{create, texts};
use crate::caller::author;
use crate::{agents, allowed, runner};

pub(crate) use settle::settle;

/// How often an id is redrawn when another process drew the same: one in millions, so more is a defect.
const MAX_ID_DRAWS: usize = 5;

/// From here on two tasks are nearly the same.
const DUPLICATE_AT: f64 = 0.7;

/// Adds the task to the project of the directory, or says what is there already. The look comes before the adding and is
/// not part of it: two that add the same task at the same moment are both served.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let threshold = texts::threshold(request.threshold, DUPLICATE_AT)?;
    // First of all whether it could be added at all: a wrong field is not a duplicate.
    spec(engine, &request)?;
    let similar = match request.duplicates {
        Duplicates::Ignore => Vec::new(),
        Duplicates::Name | Duplicates::Refuse => similar_tasks(engine, &request, threshold).await?,
    };
    let agent = request.fields.agent.clone().unwrap_or(engine.config()?.agent().to_owned());
    let agent_is_here = runner::can_start(engine, &agent)?;
    if request.duplicates == Duplicates::Refuse && !similar.is_empty() {
        return Ok(Answer { task: None, agent, agent_is_here, similar, existing_branch: None });
    }
    let (task, existing_branch) = add(engine, request).await?;
    Ok(Answer { task: Some(task), agent, agent_is_here, similar, existing_branch })
}

async fn similar_tasks(engine: &Engine, task: &Request, threshold: f64) -> Outcome<Vec<Similar>> {
    let text = format!("{}\n{}", task.title, task.fields.description.as_deref().unwrap_or_default());
    let of = task_similar::SimilarTo::Text(text);
    let request = task_similar::Request { of, threshold: Some(threshold), all_projects: false, limit: None };
    let found = super::task_similar::run(engine, request).await?.similar;
    // A cancelled task does not count: the user may want it again.
    Ok(found.into_iter().filter(|similar| similar.task.state != TaskState::Cancelled).collect())
}

/// Adds it, whatever else there is.
pub(super) async fn add(
    engine: &Engine,
    request: Request,
) -> Outcome<(TaskView, Option<ExistingBranchView>)> {
    if request.fields.not_before.is_some() {
        engine.time().await?;
    }
    let mut spec = spec(engine, &request)?;
    let after = engine.task_ids(&request.after).await?;
    let project = engine.project().await?;
    check_base(engine, &mut spec, !after.is_empty()).await?;
    let existing = choose_branch(engine, &mut spec).await?;
    let state = if request.hold { TaskState::Held } else { TaskState::Queued };
    let new = ops::NewTask { id: engine.new_id()?, project: project.id, spec, after, state };
    let tasks = insert(engine, vec![new]).await?.map_err(problems::store)?;
    let task = tasks.first().ok_or_else(|| Problem::new(Code::Internal, "the store returned no task"))?;
    Ok((TaskView::new(task, engine.now()).described(task), existing))
}

/// Notes that its branch exists. One that only a remote has is looked up again when the task starts.
pub(super) async fn choose_branch(
    engine: &Engine,
    spec: &mut TaskSpec,
) -> Outcome<Option<ExistingBranchView>> {
    let named = spec.branch.iter().cloned().collect();
    let mut found = create::look_up(engine, named, ExistingBranches::Take).await?;
    let Some(branch) = found.pop().flatten() else { return Ok(None) };
    let start = branch.remote().map(parsed).transpose()?;
    branch.settle(spec, start)?;
    Ok(Some(branch.shown))
}

/// Adds new tasks: all of them, or none.
pub(super) async fn insert(
    engine: &Engine,
    mut tasks: Vec<ops::NewTask>,
) -> Outcome<Result<Vec<Task>, StoreError>> {
    let author = author(engine)?;
    tasks.iter().try_for_each(|task| check_author(engine, &task.spec))?;
    for _ in 1..MAX_ID_DRAWS {
        let add = ops::AddTasks { tasks: tasks.clone(), author: author.clone(), now: engine.now() };
        match engine.store().await?.call(add).await {
            Err(StoreError::TaskExists(_)) => {}
            added => return Ok(added),
        }
        for task in &mut tasks {
            task.id = engine.new_id()?;
        }
    }
    Err(Problem::new(Code::Internal, "no free id was found"))
}

/// Refuses an agent what only people may ask of a task.
pub(super) fn check_author(engine: &Engine, spec: &TaskSpec) -> Outcome<()> {
    check_mode(engine, spec.mode)?;
    if spec.checks.is_empty() { Ok(()) } else { check_checks(engine) }
}

/// Checks run as the user and without a sandbox: an agent that chose them could do anything.
pub(super) fn check_checks(engine: &Engine) -> Outcome<()> {
    if engine.caller()?.agent().is_none() {
        return Ok(());
    }
    Err(Problem::new(Code::NotYours, "an agent cannot choose the checks of a task: only people do")
        .hint("leave out `--check`; the checks of the project apply to every task"))
}

/// Only people get terminals: an agent could not see that nobody attaches to those it asks for.
pub(super) fn check_mode(engine: &Engine, mode: TaskMode) -> Outcome<()> {
    if !mode.is_interactive() || engine.caller()?.agent().is_none() {
        return Ok(());
    }
    Err(Problem::new(
        Code::NotYours,
        "an agent cannot add interactive tasks: only people attach to terminals",
    )
    .hint("leave out `--interactive`"))
}

/// Refuses a base that does not exist and that no task will make. What the tasks before it do may well make it.
///
/// In a workspace, names are the agent's: they would mean something else, or nothing, in the user's repository when the
/// task starts. So the commit is noted instead.
async fn check_base(engine: &Engine, spec: &mut TaskSpec, comes_later: bool) -> Outcome<()> {
    let (wish, is_inside) = (spec.base.clone(), engine.surrounding().is_some());
    let is_there = is_inside && wish.as_ref().is_some_and(|base| is_head(base.as_str()));
    if comes_later && !is_there {
        return Ok(());
    }
    let refused = match create::base(engine, wish.as_ref().map(BaseRef::as_str)).await {
        Err(problem) if problem.code == Code::InvalidValue => problem,
        Ok(commit) => {
            if wish.is_some() && is_inside {
                spec.base = Some(commit);
            }
            return Ok(());
        }
        Err(problem) => return Err(problem),
    };
    let Some(branch) = wish.as_ref().map(BaseRef::as_str) else { return Err(refused) };
    let project = engine.known_project().await?.map(|project| project.id);
    // A task that is still to run may make the branch.
    match engine.task_of_branch(project, branch).await? {
        Some(_) => Ok(()),
        None => Err(refused.hint("if an earlier task creates it, name that task with `--after`")),
    }
}

/// Whether a start is counted from the current commit, which is there whatever comes before.
fn is_head(base: &str) -> bool {
    matches!(base.split(['~', '^', ':']).next(), Some("HEAD" | "@"))
}

/// Checks every field, with the configured values for those that were not given.
pub(super) fn spec(engine: &Engine, request: &Request) -> Outcome<TaskSpec> {
    allowed::check(engine)?;
    let defaults = engine.config()?.tasks();
    let mut spec = TaskSpec::new(parsed(&request.title)?);
    spec.priority = Priority::try_from(i64::from(defaults.priority)).map_err(problems::field)?;
    spec.retry.retries = defaults.retries;
    spec.retry.check_retries = defaults.check_retries;
    spec.labels = labels(&request.labels)?;
    edit(engine, &request.fields, &[], &spec)?.set(&mut spec);
    if let Some(agent) = &spec.agent {
        agents::check_known(engine, agent.as_str())?;
    }
    settle(engine, &mut spec)?;
    agents::check(
        engine,
        spec.agent.as_ref().map(AgentName::as_str),
        spec.model.as_ref().map(ModelName::as_str),
    )?;
    spec.check().map_err(problems::field)?;
    Ok(spec)
}

pub(super) fn parsed<T: std::str::FromStr<Err = FieldError>>(text: &str) -> Outcome<T> {
    text.parse().map_err(problems::field)
}

pub(super) fn labels(texts: &[String]) -> Outcome<Labels> {
    let set =
        texts.iter().map(|text| parsed::<Label>(text)).collect::<Outcome<std::collections::BTreeSet<_>>>()?;
    set.try_into().map_err(problems::field)
}
