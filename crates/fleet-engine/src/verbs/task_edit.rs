use fleet_api::TaskFields;
use fleet_api::verbs::task_edit::{Answer, Request};
use fleet_api::views::TaskView;
use fleet_core::limits::{Limit, Limits};
use fleet_core::policy::RetryPolicy;
use fleet_core::scope::FileScope;
use fleet_core::task::{
    AgentName, Complexity, Label, Labels, ModelName, Priority, Task, TaskChecks, TaskEdit, TaskMode, TaskSpec,
};

use super::prelude::*;
use super::task_add::{labels, parsed};
use super::{lineage, task_add};
use crate::agents;

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
    "checks",
    "not-before",
    "meta",
    "batch",
    "read-only",
];

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.id).await?;
    check_bounds(engine, id, &request)?;
    let detail = engine.call(ops::GetTask { id }).await?;
    let before = &detail.task.spec;
    let mut edit = TaskEdit {
        title: request.title.as_deref().map(parsed).transpose()?,
        labels: new_labels(&request, before)?,
        ..edit(engine, &request.fields, &request.clear, before)?
    };
    if edit == TaskEdit::default() {
        return Err(Problem::new(Code::Usage, "nothing to change was given")
            .hint("`fleet task edit --help` lists what can be changed"));
    }
    check_model(engine, &edit, before)?;
    check_mode(engine, edit.mode, &detail.task)?;
    if edit.checks.is_some() {
        task_add::check_checks(engine)?;
    }
    choose_branch(engine, &mut edit, &detail).await?;
    let (task, changed) = engine.call(ops::EditTask { id, edit, now: engine.now() }).await?;
    let changed = changed.into_iter().map(ToOwned::to_owned).collect();
    Ok(Answer { task: TaskView::new(&task, engine.now()).described(&task), changed })
}

/// An agent may not change how long and how often it may work.
fn check_bounds(engine: &Engine, id: TaskId, request: &Request) -> Outcome<()> {
    let changes_bounds = request.fields.retries.is_some()
        || request.fields.check_retries.is_some()
        || !request.fields.limits.is_empty()
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

/// The checked new values for a task whose spec is `before`.
pub(super) fn edit(
    engine: &Engine,
    fields: &TaskFields,
    clear: &[String],
    before: &TaskSpec,
) -> Outcome<TaskEdit> {
    let cleared = |name: &str| clear.iter().any(|clear| clear == name);
    if let Some(unknown) = clear.iter().find(|name| !CLEARABLE.contains(&name.as_str())) {
        let problem = Problem::field("clear", format!("{unknown:?} cannot be emptied"));
        return Err(problem.hint(format!("these can: {}", CLEARABLE.join(", "))));
    }
    /// A new value, an emptied field, or `None` for one that stays.
    macro_rules! optional {
        ($field:ident, $name:literal, $parse:expr) => {
            match &fields.$field {
                Some(text) => Some(Some($parse(text)?)),
                None => cleared($name).then_some(None),
            }
        };
    }
    let mut after = before.clone();
    if cleared("meta") {
        after.meta.clear();
    }
    set_meta(&mut after, &fields.meta)?;
    if cleared("limits") {
        after.limits = Limits::default();
    }
    let description = fields.description.as_deref().or_else(|| cleared("description").then_some(""));
    let moment = |text: &String| clock::parse_begin(text, engine.now());
    Ok(TaskEdit {
        description: description.map(parsed).transpose()?,
        priority: fields.priority.map(Priority::try_from).transpose().map_err(problems::field)?,
        scope: (!fields.scope.is_empty() || cleared("scope")).then(|| scope(&fields.scope)).transpose()?,
        complexity: optional!(complexity, "complexity", |text: &String| complexity(text)),
        agent: optional!(agent, "agent", |text: &String| parsed(text)),
        model: optional!(model, "model", |text: &String| parsed(text)),
        base: optional!(base, "base", |text: &String| parsed(text)),
        branch: optional!(branch, "branch", |text: &String| parsed(text)),
        limits: (!fields.limits.is_empty() || cleared("limits"))
            .then(|| limits(after.limits, &fields.limits))
            .transpose()?,
        retry: retry(fields, before.retry),
        checks: (!fields.checks.is_empty() || cleared("checks"))
            .then(|| TaskChecks::from_lines(&fields.checks).map_err(problems::field))
            .transpose()?,
        not_before: optional!(not_before, "not-before", moment),
        meta: (cleared("meta") || !fields.meta.is_empty()).then_some(after.meta),
        tuning: Some(after.tuning).filter(|tuning| *tuning != before.tuning),
        setup: Some(after.setup).filter(|setup| *setup != before.setup),
        batch: cleared("batch").then_some(None),
        mode: fields.mode.0,
        read_only: (fields.read_only || cleared("read-only")).then_some(fields.read_only),
        ..TaskEdit::default()
    })
}

fn retry(fields: &TaskFields, before: RetryPolicy) -> Option<RetryPolicy> {
    let after = RetryPolicy {
        retries: fields.retries.unwrap_or(before.retries),
        check_retries: fields.check_retries.unwrap_or(before.check_retries),
        ..before
    };
    (fields.retries.is_some() || fields.check_retries.is_some()).then_some(after)
}

/// A stage is followed by others, which would wait for somebody to close a terminal.
fn check_mode(engine: &Engine, mode: Option<TaskMode>, task: &Task) -> Outcome<()> {
    let Some(mode) = mode.filter(|mode| mode.is_interactive()) else { return Ok(()) };
    if let Some(part) = task.part {
        let message =
            format!("task {} is a stage of workflow {}: stages run headless", task.id, part.workflow);
        return Err(Problem::new(Code::InvalidValue, message).hint("leave out `--interactive`"));
    }
    task_add::check_mode(engine, mode)
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
        None => problem.hint("choose one with `--model`, or remove the old one with `--clear model`"),
        Some(_) => problem,
    })
}

/// Notes whether a new branch exists, unless this task made it. In another repository, git is asked when the task starts.
async fn choose_branch(engine: &Engine, edit: &mut TaskEdit, before: &ops::TaskDetail) -> Outcome<()> {
    let spec = &before.task.spec;
    let Some(branch) = &edit.branch else {
        let is_moved = spec.existing_branch && edit.base.as_ref().is_some_and(Option::is_some);
        return if is_moved { Err(no_base(spec)) } else { Ok(()) };
    };
    let has_worked_there = |name: &str| before.runs.iter().any(|run| run.branch.as_deref() == Some(name));
    if spec.branch == *branch && branch.as_ref().is_some_and(|name| has_worked_there(name.as_str())) {
        return Ok(());
    }
    let mut after = TaskSpec { branch: branch.clone(), existing_branch: false, ..spec.clone() };
    after.base = edit.base.clone().flatten();
    let here = engine.known_project().await.ok().flatten().map(|project| project.id);
    let is_here = here == Some(before.task.project);
    let found = if is_here { task_add::choose_branch(engine, &mut after).await? } else { None };
    // What was noted belongs to the branch of before.
    let is_noted = found.is_some() || spec.existing_branch;
    if is_noted {
        edit.base = Some(after.base);
    }
    edit.existing_branch = Some(after.existing_branch);
    Ok(())
}

fn no_base(spec: &TaskSpec) -> Problem {
    let branch = spec.branch.as_ref().map(ToString::to_string).unwrap_or_default();
    Problem::field("base", format!("the task goes on with the branch {branch}, from its last commit"))
        .hint("choose a new branch, too: `--branch NAME --base REF`")
}

fn new_labels(request: &Request, before: &TaskSpec) -> Outcome<Option<Labels>> {
    let clear = request.clear.iter().any(|name| name == "labels");
    if !clear && request.add_labels.is_empty() && request.remove_labels.is_empty() {
        return Ok(None);
    }
    let kept = before.labels.iter().filter(|_| !clear).map(Label::as_str);
    let kept = kept.filter(|label| !request.remove_labels.iter().any(|removed| removed == label));
    let all: Vec<String> = kept.map(ToOwned::to_owned).chain(request.add_labels.iter().cloned()).collect();
    labels(&all).map(Some)
}

fn scope(patterns: &[String]) -> Outcome<FileScope> {
    FileScope::parse(patterns).map_err(|error| Problem::field("scope", error.to_string()))
}

fn complexity(text: &str) -> Outcome<Complexity> {
    text.parse().map_err(|error: fleet_core::UnknownName| Problem::field("complexity", error.to_string()))
}

/// Limits with changes; `none` removes one.
fn limits(before: Limits, texts: &[String]) -> Outcome<Limits> {
    texts.iter().try_fold(before, |limits, text| {
        text.parse::<Limit>()
            .map(|limit| limits.with(limit))
            .map_err(|error| Problem::field("limit", error.to_string()))
    })
}

/// Changes metadata; an empty value removes an entry.
fn set_meta(spec: &mut TaskSpec, texts: &[String]) -> Outcome<()> {
    texts.iter().try_for_each(|text| {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| Problem::field("meta", format!("{text:?} is not KEY=VALUE")))?;
        spec.set_meta(key, value).map_err(problems::field)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_limits_and_metadata_build_on_what_was_there() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let first = limits(Limits::default(), &texts(&["time=1h", "tokens=5k"])).unwrap();
        let second = limits(first, &texts(&["time=none", "usd=1"])).unwrap();
        assert_eq!(second, Limits { tokens: Some(5_000), micro_usd: Some(1_000_000), ..Limits::default() });
        let mut spec = TaskSpec::new("one".parse().unwrap());
        set_meta(&mut spec, &texts(&["a=1", "b=x=y"])).unwrap();
        set_meta(&mut spec, &texts(&["a="])).unwrap();
        assert_eq!(serde_json::to_string(&spec.meta).unwrap(), r#"{"b":"x=y"}"#);
        assert!(set_meta(&mut spec, &texts(&["novalue"])).is_err());
    }
}
