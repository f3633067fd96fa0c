use std::path::Path;

use fleet_api::verbs::workflow_run::{Answer, PlannedStage, Request, WorkflowPlan};
use fleet_api::verbs::workflow_show::Depth;
use fleet_api::views::WorkflowDetail;
use fleet_core::id::WorkflowId;
use fleet_core::task::{AgentName, BaseRef, ModelName, Priority, TaskSpec};
use fleet_core::template::fill;
use fleet_core::workflow::{ChangeRule, Copies, Placeholder, Spec, Stage, placeholders};

use super::create;
use super::prelude::*;
use super::task_add::{self, parsed};
use super::workflow_show::look;
use crate::caller::{author, is_inside_a_run};
use crate::trust::ProjectWishes;
use crate::workflow_file::{self, GivenValues, SourceFile, SourcePurpose, SourceQuery, WorkflowOrigin};
use crate::{agents, allowed};

#[derive(Debug, Clone)]
struct ReadyWorkflow {
    spec: Spec,
    source: String,
    base: BaseRef,
    priority: Priority,
}

/// Checks everything, and adds the workflow to the project of the directory; starting its tasks is the caller's
/// business.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let dry_run = request.dry_run;
    let (plan, ready) = plan(engine, request).await?;
    let workflow = if dry_run { None } else { Some(add(engine, ready).await?) };
    Ok(Answer { plan, workflow })
}

async fn plan(engine: &Engine, request: Request) -> Outcome<(WorkflowPlan, ReadyWorkflow)> {
    engine.repository()?;
    let wanted = SourceQuery { source: &request.workflow, from: request.from.as_deref() };
    let source = wanted.read(engine)?;
    allowed::check(engine)?;
    let Request { task, set, agent, base, priority, .. } = request;
    let given = GivenValues { task, set, agent, purpose: SourcePurpose::Run };
    let loaded = workflow_file::load(engine, &source, &given)?
        .map_err(|diagnostics| workflow_file::problem(&diagnostics))?;
    let mut spec = loaded.spec;
    settle(engine, &mut spec)?;
    let wish = base.or_else(|| loaded.base.as_ref().map(ToString::to_string));
    let base = create::base(engine, wish.as_deref()).await?;
    let priority = Priority::try_from(priority.unwrap_or(create::PRIORITY)).map_err(problems::field)?;
    if let Some(asked) = create::untrusted(engine, &engine.project().await?)? {
        return Err(asked.refusal());
    }
    consent(engine, &source, &spec)?;
    let plan = WorkflowPlan {
        name: spec.name.clone(),
        task: spec.task.clone(),
        base: base.to_string(),
        stages: spec.stages.iter().map(|stage| planned(&spec, stage)).collect(),
    };
    Ok((plan, ReadyWorkflow { spec, source: source.text, base, priority }))
}

async fn add(engine: &Engine, ready: ReadyWorkflow) -> Outcome<WorkflowDetail> {
    let ReadyWorkflow { spec, source, base, priority } = ready;
    let id: WorkflowId = engine.new_id()?;
    let (project, author, now) = (engine.project().await?.id, author(engine)?, engine.now());
    engine
        .call(ops::AddWorkflow { id, project, spec, source: Some(source), base, priority, author, now })
        .await?;
    look(engine, id, Depth::States).await
}

/// Settings that the file leaves open are those of this user, now: the runner may be configured otherwise.
fn settle(engine: &Engine, spec: &mut Spec) -> Outcome<()> {
    for stage in &mut spec.stages {
        let name = stage.name.clone();
        settle_stage(engine, stage).map_err(|mut problem| {
            let within = problem.field.map(|field| format!(": {field}")).unwrap_or_default();
            problem.field = Some(format!("stage {name}{within}"));
            problem
        })?;
    }
    Ok(())
}

fn settle_stage(engine: &Engine, stage: &mut Stage) -> Outcome<()> {
    let config = engine.config()?;
    let agent = stage.agent.as_ref().map_or(config.agent(), AgentName::as_str).to_owned();
    let mut task = TaskSpec::new(parsed(stage.name.as_str())?);
    task.agent = Some(parsed(&agent)?);
    task.model = stage.model.take();
    task.limits = stage.limits;
    task.tuning.effort = stage.effort.take();
    task.tuning.check().map_err(problems::field)?;
    task_add::settle(engine, &mut task)?;
    stage.effort = task.tuning.effort;
    let model = task.model.as_ref().map(ModelName::as_str);
    agents::check(engine, Some(&agent), model)?;
    create::check_agent(engine, &agent)?;
    // What no run could be started with is refused now, when its author can still change it.
    let wish = agents::RunWish {
        model,
        read_only: stage.changes == ChangeRule::None,
        effort: stage.effort.as_deref(),
        args: &stage.extra_args,
    };
    agents::terms(engine, &agent, wish)?;
    (stage.agent, stage.model, stage.limits) = (task.agent, task.model, task.limits);
    stage.retries = Some(stage.retries.unwrap_or_else(|| config.tasks().retries));
    Ok(())
}

/// Commands of a file that came with the repository run only if the user agreed to them, and those of a text from a
/// client do not run at all.
fn consent(engine: &Engine, source: &SourceFile, spec: &Spec) -> Outcome<()> {
    let has_commands = |stage: &&Stage| source.kind == WorkflowOrigin::Given && !stage.checks.is_empty();
    if let Some(stage) = spec.stages.iter().find(has_commands) {
        let message = format!("stage {}: checks can only come from a file", stage.name);
        return Err(Problem::new(Code::Untrusted, message).hint(
            "leave them out, or write the workflow into .fleet/workflows, where the user can approve them",
        ));
    }
    let Some(asked) = commands(engine, source, spec)? else { return Ok(()) };
    if asked.is_trusted(engine.home().root())? {
        return Ok(());
    }
    let message = format!("the workflow {} has commands that you have not approved", spec.name);
    let shown = &source.label;
    Err(Problem::new(Code::Untrusted, message)
        .hint(format!("`fleet trust --workflow {shown}` shows them, and asks")))
}

/// The commands of the named workflow, if it came with the repository.
pub(super) fn commands_of(engine: &Engine, named: &str) -> Outcome<Option<ProjectWishes>> {
    let source = workflow_file::find(engine, named)?;
    let given = GivenValues { purpose: SourcePurpose::Check, ..GivenValues::default() };
    let loaded = workflow_file::load(engine, &source, &given)?
        .map_err(|diagnostics| workflow_file::problem(&diagnostics))?;
    let asked = commands(engine, &source, &loaded.spec)?;
    Ok(asked.map(|asked| asked.on_lines(&loaded.lines)))
}

/// The commands and the arguments for agents that a workflow of the repository brings; `None` if it is the user's own.
pub(super) fn commands(engine: &Engine, source: &SourceFile, spec: &Spec) -> Outcome<Option<ProjectWishes>> {
    // An agent may have written any file, and must not get commands run outside its run.
    let is_own = match source.kind {
        // What is handed over has no commands, and its arguments are those that the user allows to every task.
        WorkflowOrigin::Shipped | WorkflowOrigin::User | WorkflowOrigin::Given => true,
        WorkflowOrigin::Repository => false,
        WorkflowOrigin::Path => !is_inside_a_run(engine)? && !lies_in(engine, &source.path),
    };
    if is_own {
        return Ok(None);
    }
    let asked = ProjectWishes::of_workflow(engine.common_dir()?, &source.path, spec);
    Ok(Some(asked).filter(|asked| !asked.commands.is_empty()))
}

/// Whether a file, or a link to it, is in the repository. If that is not known, it counts as one that is.
fn lies_in(engine: &Engine, file: &Path) -> bool {
    let Some(tree) = engine.repository().ok().and_then(|repository| repository.work_tree.clone()) else {
        return false;
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (file.canonicalize(), folder.canonicalize(), tree.canonicalize()) {
        (Ok(file), Ok(folder), Ok(tree)) => file.starts_with(&tree) || folder.starts_with(&tree),
        _ => true,
    }
}

fn planned(spec: &Spec, stage: &Stage) -> PlannedStage {
    let named = |at: &usize| spec.stages.get(*at).map(|stage| stage.name.to_string());
    PlannedStage {
        name: stage.name.to_string(),
        needs: stage.needs.iter().filter_map(named).collect(),
        agent: stage.agent.as_ref().map(ToString::to_string).unwrap_or_default(),
        model: stage.model.as_ref().map(ToString::to_string),
        start: stage.start,
        returns: stage.returns,
        when: stage.when.as_ref().map(ToString::to_string),
        copies: stage.copies.count(),
        prompt: stage.needs.is_empty().then(|| first_prompt(spec, stage)),
    }
}

/// What can be filled in before anything has run. Of several copies that is the prompt of the first.
fn first_prompt(spec: &Spec, stage: &Stage) -> String {
    let places = placeholders(spec, &stage.prompt);
    let item = match &stage.copies {
        Copies::Each(items) => items.first().map_or("", String::as_str),
        _ => "",
    };
    fill(&stage.prompt, |name| {
        let (_, place) = places.iter().find(|(known, _)| known == name)?;
        match place {
            Placeholder::Task => Some(spec.task.as_str()),
            Placeholder::Item => Some(item),
            Placeholder::Number => Some("1"),
            Placeholder::Param(name) => spec.params.get(name).map(String::as_str),
            Placeholder::Of(..) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;

    /// The effort of a stage with this one of its own, when the variables say this.
    fn effort(variables: &[(&str, &str)], own: Option<&str>) -> Option<String> {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_str().unwrap();
        let all = variables.iter().copied().chain([("FLEET_HOME", home), ("HOME", home), ("PATH", home)]);
        let program = dir.path().join("codex");
        std::fs::write(&program, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let environment = Environment::from_pairs(all).with_current_directory(dir.path());
        let engine =
            Engine::new(crate::EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        let mut stage = Stage::new("write".parse().unwrap(), "Write it".to_owned());
        (stage.agent, stage.effort) = (Some("codex".parse().unwrap()), own.map(ToOwned::to_owned));
        settle_stage(&engine, &mut stage).unwrap();
        stage.effort
    }

    #[test]
    fn the_effort_of_this_process_goes_with_its_stages() {
        let max = [("FLEET_REASONING_EFFORT", "max")];
        assert_eq!(effort(&max, None).as_deref(), Some("xhigh"), "in the words of the agent");
        assert_eq!(effort(&max, Some("low")).as_deref(), Some("low"), "what the author said stays");
        assert_eq!(effort(&[], None), None);
    }
}
