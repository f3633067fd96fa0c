use fleet_api::verbs::task_edit::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::id::TaskId;
use fleet_core::policy::RetryPolicy;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::{AgentName, Label, ModelName, Priority, TaskEdit, TaskSpec};
use fleet_store::ops;

use super::lineage;
use super::task_add::{complexity, labels, limits, meta, parsed, scope};
use crate::{Engine, agents, clock, problems};

/// The fields that can be emptied.
const CLEARABLE: &[&str] = &[
    "description",
    "labels",
    "scope",
    "complexity",
    "agent",
    "model",
    "base",
    "branch",
    "limits",
    "not-before",
    "meta",
    "batch",
    "read-only",
];

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.id).await?;
    check_bounds(engine, id, &request)?;
    let before = engine.call(ops::GetTask { id }).await?.task.spec;
    let edit = edit(engine, &request, &before)?;
    if edit == TaskEdit::default() {
        return Err(Problem::new(Code::Usage, "nothing to change was given")
            .hint("`fleet task edit --help` lists what can be changed"));
    }
    check_model(engine, &edit, &before)?;
    let (task, changed) = engine.call(ops::EditTask { id, edit, now: engine.now() }).await?;
    let changed = changed.into_iter().map(ToOwned::to_owned).collect();
    Ok(Answer { task: TaskView::new(&task, engine.now()).described(&task), changed })
}

/// How long and how often an agent may work is not for itself to say.
fn check_bounds(engine: &Engine, id: TaskId, request: &Request) -> Outcome<()> {
    let changes_bounds = request.retries.is_some()
        || !request.limits.is_empty()
        || request.clear.iter().any(|name| name == "limits");
    if !changes_bounds || lineage::own_task(engine)? != Some(id) {
        return Ok(());
    }
    Err(Problem::new(
        Code::NotYours,
        format!("task {id} is your own: only people change its limits and retries"),
    )
    .hint("say in your report what you need; a person can do it"))
}

/// The new values, checked.
pub(super) fn edit(engine: &Engine, request: &Request, before: &TaskSpec) -> Outcome<TaskEdit> {
    let cleared = |name: &str| request.clear.iter().any(|clear| clear == name);
    if let Some(unknown) = request.clear.iter().find(|name| !CLEARABLE.contains(&name.as_str())) {
        let problem = Problem::field("clear", format!("{unknown:?} cannot be emptied"));
        return Err(problem.hint(format!("these can: {}", CLEARABLE.join(", "))));
    }
    /// A new value, an emptied field, or `None` for one that stays.
    macro_rules! optional {
        ($field:ident, $name:literal, $parse:expr) => {
            match &request.$field {
                Some(text) => Some(Some($parse(text)?)),
                None => cleared($name).then_some(None),
            }
        };
    }
    let description = request.description.as_deref().or_else(|| cleared("description").then_some(""));
    let moment = |text: &String| clock::parse_moment(text, engine.now());
    Ok(TaskEdit {
        title: request.title.as_deref().map(parsed).transpose()?,
        description: description.map(parsed).transpose()?,
        priority: request.priority.map(Priority::try_from).transpose().map_err(problems::field)?,
        labels: new_labels(request, before, cleared("labels"))?,
        scope: (!request.scope.is_empty() || cleared("scope")).then(|| scope(&request.scope)).transpose()?,
        complexity: optional!(complexity, "complexity", |text: &String| complexity(text)),
        agent: optional!(agent, "agent", |text: &String| parsed(text)),
        model: optional!(model, "model", |text: &String| parsed(text)),
        base: optional!(base, "base", |text: &String| parsed(text)),
        branch: optional!(branch, "branch", |text: &String| parsed(text)),
        limits: changed_list(before.limits, &request.limits, cleared("limits"), limits)?,
        retry: request.retries.map(|retries| RetryPolicy { retries, ..before.retry }),
        not_before: optional!(not_before, "not-before", moment),
        meta: changed_list(before.meta.clone(), &request.meta, cleared("meta"), meta)?,
        batch: cleared("batch").then_some(None),
        read_only: (request.read_only || cleared("read-only")).then_some(request.read_only),
    })
}

/// Agent and model have to go together when one of them changes.
pub(super) fn check_model(engine: &Engine, edit: &TaskEdit, before: &TaskSpec) -> Outcome<()> {
    if edit.agent.is_none() && edit.model.is_none() {
        return Ok(());
    }
    if let Some(Some(agent)) = &edit.agent {
        agents::check_known(engine, agent.as_str())?;
    }
    let agent = edit.agent.as_ref().unwrap_or(&before.agent).as_ref().map(AgentName::as_str);
    let model = edit.model.as_ref().unwrap_or(&before.model).as_ref().map(ModelName::as_str);
    agents::check(engine, agent, model).map_err(|problem| match edit.model {
        None => problem.hint("choose one with `--model`, or take the old one out with `--clear model`"),
        Some(_) => problem,
    })
}

fn new_labels(
    request: &Request,
    before: &TaskSpec,
    clear: bool,
) -> Outcome<Option<fleet_core::task::Labels>> {
    if !clear && request.add_labels.is_empty() && request.remove_labels.is_empty() {
        return Ok(None);
    }
    let kept = before.labels.iter().filter(|_| !clear).map(Label::as_str);
    let kept = kept.filter(|label| !request.remove_labels.iter().any(|removed| removed == label));
    let all: Vec<String> = kept.map(ToOwned::to_owned).chain(request.add_labels.iter().cloned()).collect();
    labels(&all).map(Some)
}

/// Changes on top of what was there, or on top of nothing when it is emptied first.
fn changed_list<T: Default>(
    before: T,
    texts: &[String],
    clear: bool,
    apply: fn(T, &[String]) -> Outcome<T>,
) -> Outcome<Option<T>> {
    if texts.is_empty() && !clear {
        return Ok(None);
    }
    apply(if clear { T::default() } else { before }, texts).map(Some)
}
