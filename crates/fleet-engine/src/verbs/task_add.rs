mod settle;

use fleet_api::verbs::task_add::{Answer, Duplicates, Request};
use fleet_api::verbs::task_similar::{self, Similar};
use fleet_api::views::TaskView;
use fleet_core::id::TaskId;
use fleet_core::limits::{Limit, Limits};
use fleet_core::policy::RetryPolicy;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::scope::FileScope;
use fleet_core::task::{
    AgentName, BaseRef, Complexity, FieldError, Label, Labels, Meta, MetaKey, MetaValue, ModelName, Priority,
    TaskSpec, TaskState,
};
use fleet_store::{StoreError, ops};

use super::{launch, texts};
use crate::caller::author;
use crate::{Engine, agents, allowed, clock, problems, runner};

pub(crate) use settle::settle;

/// An id is drawn again so often when another process drew the same: one in millions, so more is a defect.
const DRAWS: usize = 5;

/// From here on two tasks are nearly the same.
const SAME: f64 = 0.7;

/// Adds the task to the project of the directory, or says what is there already. The look comes before the adding and is
/// not part of it: two that add the same task at the same moment are both served.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let threshold = texts::threshold(request.threshold, SAME)?;
    // First of all whether it could be added at all: a wrong field is not a duplicate.
    spec(engine, &request)?;
    let similar = match request.duplicates {
        Duplicates::Ignore => Vec::new(),
        Duplicates::Name | Duplicates::Refuse => alike(engine, &request, threshold).await?,
    };
    let agent = request.agent.clone().unwrap_or(engine.config()?.agent().to_owned());
    let agent_is_here = runner::can_start(engine, request.agent.as_deref())?;
    if request.duplicates == Duplicates::Refuse && !similar.is_empty() {
        return Ok(Answer { task: None, agent, agent_is_here, similar });
    }
    Ok(Answer { task: Some(add(engine, request).await?), agent, agent_is_here, similar })
}

async fn alike(engine: &Engine, task: &Request, threshold: f64) -> Outcome<Vec<Similar>> {
    let text = format!("{}\n{}", task.title, task.description.as_deref().unwrap_or_default());
    let of = task_similar::Of::Text(text);
    let request = task_similar::Request { of, threshold: Some(threshold), all_projects: false, limit: None };
    let found = super::task_similar::run(engine, request).await?.similar;
    // What somebody decided against is no reason not to want it again.
    Ok(found.into_iter().filter(|similar| similar.task.state != TaskState::Cancelled).collect())
}

/// Adds it, whatever else there is.
pub(super) async fn add(engine: &Engine, request: Request) -> Outcome<TaskView> {
    if request.not_before.is_some() {
        engine.time().await?;
    }
    let mut spec = spec(engine, &request)?;
    let after = engine.task_ids(&request.after).await?;
    let project = engine.project().await?;
    check_base(engine, &mut spec, !after.is_empty()).await?;
    let author = author(engine)?;
    let state = if request.hold { TaskState::Held } else { TaskState::Queued };
    for _ in 0..DRAWS {
        let id: TaskId = engine.new_id()?;
        let new = ops::NewTask { id, project: project.id, spec: spec.clone(), after: after.clone(), state };
        let now = engine.now();
        match engine
            .store()
            .await?
            .call(ops::AddTasks { tasks: vec![new], author: author.clone(), now })
            .await
        {
            Err(StoreError::TaskExists(_)) => {}
            Err(error) => return Err(problems::store(error)),
            Ok(tasks) => return view(tasks.first(), engine),
        }
    }
    Err(Problem::new(Code::Internal, "no free id was found"))
}

/// Refuses a start that is not there and that nobody will make. What the tasks before it do may well make it.
///
/// In a workspace, names are the agent's: they would mean something else, or nothing, in the user's repository when the
/// task starts. So the commit is noted instead.
async fn check_base(engine: &Engine, spec: &mut TaskSpec, comes_later: bool) -> Outcome<()> {
    let (wish, is_inside) = (spec.base.clone(), engine.surrounding().is_some());
    let is_there = is_inside && wish.as_ref().is_some_and(|base| is_head(base.as_str()));
    if comes_later && !is_there {
        return Ok(());
    }
    let refused = match launch::base(engine, wish.as_ref().map(BaseRef::as_str)).await {
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
        None => {
            Err(refused.hint("one that a task before it makes may come later: name that task with `--after`"))
        }
    }
}

/// Whether a start is counted from the current commit, which is there whatever comes before.
fn is_head(base: &str) -> bool {
    matches!(base.split(['~', '^', ':']).next(), Some("HEAD" | "@"))
}

fn view(task: Option<&fleet_core::task::Task>, engine: &Engine) -> Outcome<TaskView> {
    let task = task.ok_or_else(|| Problem::new(Code::Internal, "the store returned no task"))?;
    Ok(TaskView::new(task, engine.now()).described(task))
}

/// Checks every field, with the configured values for those that were not given.
pub(super) fn spec(engine: &Engine, request: &Request) -> Outcome<TaskSpec> {
    allowed::check(engine)?;
    let config = engine.config()?;
    let mut spec = TaskSpec::new(parsed(&request.title)?);
    let priority = request.priority.unwrap_or_else(|| config.tasks().priority.into());
    spec.priority = Priority::try_from(priority).map_err(problems::field)?;
    spec.retry = RetryPolicy {
        retries: request.retries.unwrap_or_else(|| config.tasks().retries),
        ..RetryPolicy::default()
    };
    if let Some(description) = &request.description {
        spec.description = parsed(description)?;
    }
    spec.labels = labels(&request.labels)?;
    spec.scope = scope(&request.scope)?;
    spec.complexity = request.complexity.as_deref().map(complexity).transpose()?;
    spec.agent = request.agent.as_deref().map(parsed).transpose()?;
    if let Some(agent) = &spec.agent {
        agents::check_known(engine, agent.as_str())?;
    }
    spec.model = request.model.as_deref().map(parsed).transpose()?;
    spec.base = request.base.as_deref().map(parsed).transpose()?;
    spec.branch = request.branch.as_deref().map(parsed).transpose()?;
    spec.limits = limits(Limits::default(), &request.limits)?;
    spec.not_before =
        request.not_before.as_deref().map(|text| clock::parse_moment(text, engine.now())).transpose()?;
    spec.meta = meta(Meta::new(), &request.meta)?;
    spec.read_only = request.read_only;
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

pub(super) fn scope(patterns: &[String]) -> Outcome<FileScope> {
    FileScope::parse(patterns).map_err(|error| Problem::field("scope", error.to_string()))
}

pub(super) fn complexity(text: &str) -> Outcome<Complexity> {
    text.parse().map_err(|error: fleet_core::UnknownName| Problem::field("complexity", error.to_string()))
}

/// Limits with changes; `none` takes one away.
pub(super) fn limits(before: Limits, texts: &[String]) -> Outcome<Limits> {
    texts.iter().try_fold(before, |limits, text| {
        text.parse::<Limit>()
            .map(|limit| limits.with(limit))
            .map_err(|error| Problem::field("limit", error.to_string()))
    })
}

/// Metadata with changes; an empty value takes an entry away.
pub(super) fn meta(before: Meta, texts: &[String]) -> Outcome<Meta> {
    texts.iter().try_fold(before, |mut meta, text| {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| Problem::field("meta", format!("{text:?} is not KEY=VALUE")))?;
        let key: MetaKey = parsed(key)?;
        if value.is_empty() {
            meta.remove(&key);
        } else {
            meta.insert(key, parsed::<MetaValue>(value)?);
        }
        Ok(meta)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn changes_of_limits_and_metadata_build_on_what_was_there() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let first = limits(Limits::default(), &texts(&["time=1h", "tokens=5k"])).unwrap();
        let second = limits(first, &texts(&["time=none", "usd=1"])).unwrap();
        assert_eq!(second, Limits { tokens: Some(5_000), micro_usd: Some(1_000_000), ..Limits::default() });
        let first = meta(BTreeMap::new(), &texts(&["a=1", "b=x=y"])).unwrap();
        let second = meta(first, &texts(&["a="])).unwrap();
        assert_eq!(serde_json::to_string(&second).unwrap(), r#"{"b":"x=y"}"#);
        assert!(meta(BTreeMap::new(), &texts(&["novalue"])).is_err());
    }
}
