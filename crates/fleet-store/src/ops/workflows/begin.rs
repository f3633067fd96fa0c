//! How a part of a workflow becomes a task.

use fleet_core::id::IdMaker;
use fleet_core::policy::RetryPolicy;
use fleet_core::task::{Description, FieldError, LONGEST_TITLE, Task, TaskHistory, TaskSpec, Title, Tuning};
use fleet_core::text::shortened;
use fleet_core::workflow::{ChangeRule, Part, PartOf, Spec, Stage, StageStart, Workflow, WorkflowStep};

use super::locked::LockedWorkflow;
use crate::ops::prelude::*;
use crate::ops::rows::{about, record, write_texts};
use crate::ops::tasks::{earlier_claims, insert};

/// Two workflows that draw the same ids in the same millisecond are rare; one that does so again and again is a defect.
const MAX_ID_DRAWS: u64 = 20;

/// Adds a task for each part that is to start; returns them in the order of the steps.
pub(super) async fn tasks(
    tx: &mut dyn Tx,
    flow: &LockedWorkflow,
    steps: &[WorkflowStep],
    now: Millis,
) -> Result<Vec<TaskId>, StoreError> {
    let starting = starting(flow, steps);
    let Some((first, _)) = starting.first() else { return Ok(Vec::new()) };
    let mut redraws = 0;
    let (ids, attempts) = loop {
        let ids = draw(&flow.workflow, (*first, redraws), starting.len(), now);
        match earlier_claims(tx, ids.iter().copied()).await {
            Ok(attempts) => break (ids, attempts),
            Err(StoreError::TaskExists(_)) if redraws < MAX_ID_DRAWS => redraws += 1,
            Err(error) => return Err(error),
        }
    };
    for (id, (at, part)) in ids.iter().zip(&starting) {
        let attempts = attempts.get(id).copied().unwrap_or(0);
        let task = Task {
            history: TaskHistory { attempts, ..TaskHistory::default() },
            spawn: flow.workflow.spawn,
            part: Some(PartOf { workflow: flow.workflow.id, part: *at }),
            ..Task::new(*id, flow.workflow.project, task_spec(&flow.workflow, &flow.spec, part)?, now)
        };
        tx.defer(insert(&task)?).await?;
        write_texts(tx, task.id, &task.spec).await?;
        let (title, priority) = (task.spec.title.clone(), task.spec.priority);
        record(tx, now, about(&task), &Fact::TaskAdded { title, priority, after: Vec::new() }).await?;
    }
    Ok(ids)
}

/// The parts that the steps start, each with its place. Some of them are added by the same steps.
fn starting<'a>(flow: &'a LockedWorkflow, steps: &'a [WorkflowStep]) -> Vec<(usize, &'a Part)> {
    let mut parts: Vec<&Part> = flow.parts.iter().map(|row| &row.part).collect();
    let mut starting = Vec::new();
    for step in steps {
        match step {
            WorkflowStep::Expand { parts: new } => parts.extend(new),
            WorkflowStep::Start { part } => starting.extend(parts.get(*part).map(|this| (*part, *this))),
            _ => {}
        }
    }
    starting
}

/// New ids. The end of a run brings no random numbers for what follows from it; the id of the workflow was random, and
/// no part starts twice.
fn draw(workflow: &Workflow, (part, attempt): (usize, u64), count: usize, now: Millis) -> Vec<TaskId> {
    let place = u64::try_from(part).unwrap_or(u64::MAX);
    let numbers = [place, attempt].into_iter().flat_map(u64::to_le_bytes);
    let entropy = fnv(workflow.id.as_str().bytes().chain(numbers));
    let mut maker = IdMaker::default();
    (0..count).map(|_| maker.next(now, entropy)).collect()
}

/// The hash FNV-1a: few bytes in, all bits well mixed after a fold.
fn fnv(bytes: impl Iterator<Item = u8>) -> u64 {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash ^ (hash >> 32)
}

/// What the task of a part is to be. Its prompt still has places to fill in: only the keeper, when it prepares a run,
/// can see what the stages before it left.
pub(super) fn task_spec(workflow: &Workflow, spec: &Spec, part: &Part) -> Result<TaskSpec, StoreError> {
    let lost = || StoreError::Malformed(format!("workflow {} has no stage {}", workflow.id, part.stage));
    let stage = spec.stages.get(part.stage).ok_or_else(lost)?;
    let task = of_stage(workflow, stage, &part.name(spec))?;
    task.check()?;
    Ok(task)
}

fn of_stage(workflow: &Workflow, stage: &Stage, name: &str) -> Result<TaskSpec, FieldError> {
    let whole = format!("{}: {name}", workflow.name);
    // A name may hold what a title does not take; that of a stage never does.
    let title = Title::try_from(shortened(&whole, LONGEST_TITLE).into_owned())
        .or_else(|_| Title::try_from(name.to_owned()))?;
    let mut task = TaskSpec::new(title);
    task.description = Description::try_from(stage.prompt.clone())?;
    task.priority = workflow.priority;
    task.agent.clone_from(&stage.agent);
    task.model.clone_from(&stage.model);
    task.base = (stage.start == StageStart::New).then(|| workflow.base.clone());
    task.limits = stage.limits;
    if let Some(retries) = stage.retries {
        // An author who says how often a stage is retried means all of its failures.
        task.retry = RetryPolicy { retries, check_retries: retries, ..task.retry };
    }
    task.read_only = stage.changes == ChangeRule::None;
    task.may_be_empty = stage.changes == ChangeRule::Optional;
    task.tuning = Tuning { effort: stage.effort.clone(), args: stage.extra_args.clone() };
    Ok(task)
}
