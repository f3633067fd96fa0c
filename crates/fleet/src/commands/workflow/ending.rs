//! What is said when a workflow that was followed is over, or when somebody leaves it.

use fleet_api::verbs::workflow_show::Depth;
use fleet_api::verbs::{workflow_result, workflow_show};
use fleet_api::views::{StageView, WorkflowDetail};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_core::workflow::{PartState, WorkflowState};

use super::super::Context;
use crate::Done;
use crate::exit::interrupted;
use crate::follow::End;
use crate::follow::stages::cause;
use crate::output::{count, dim, print_json, warn};

/// So many stages that are not done are named one by one.
const NAMED: usize = 5;

/// Says how it ended: as JSON how it stands, else what to do next. A workflow that has not succeeded is a problem.
pub(crate) async fn conclude(context: &Context, seen: &WorkflowDetail, end: End) -> Done {
    let id = seen.workflow.id;
    if context.output.is_json() {
        // With what its agents said, which nobody looks at in between.
        let request =
            workflow_show::Request { id: id.to_string(), depth: Depth::Results, ..Default::default() };
        print_json(&context.call(request).await?.workflow)?;
    }
    if end == End::Left {
        context.output.note(&format!(
            "agents keep running: `fleet workflow watch {id}` shows it, `fleet workflow cancel {id}` stops it"
        ));
        interrupted();
    }
    if let Some(problem) = problem(seen) {
        return Err(problem);
    }
    let request = workflow_result::Request { id: id.to_string(), ..Default::default() };
    let next = context.call(request).await?.next;
    let took = seen.stages.iter().filter(|stage| stage.state == PartState::Done).count();
    context.output.note(&dim(&format!("{} done", count(took, "stage"))));
    let failed: Vec<&StageView> = seen.stages.iter().filter(|stage| stage.state.is_bad()).collect();
    if !failed.is_empty() {
        // It said itself that it goes on without them, and whoever uses what came out has to know.
        context
            .output
            .note(&warn(&format!("{} failed, and it went on without:", count(failed.len(), "stage"))));
    }
    for stage in failed.iter().take(NAMED) {
        context.output.note(&format!("  {}", escaped(&said(stage))));
    }
    if failed.len() > NAMED {
        context.output.note(&format!("  and {} more: `fleet workflow show {id}`", failed.len() - NAMED));
    }
    for line in next {
        context.output.note(&dim(&format!("  {}", escaped(&line))));
    }
    Ok(())
}

/// Why it cannot be called done, if it cannot.
pub(super) fn problem(seen: &WorkflowDetail) -> Option<Problem> {
    let (id, name) = (seen.workflow.id, &seen.workflow.name);
    let because = |verb: &str| match &seen.workflow.why {
        Some(why) => format!("{name} {verb}: {}", cause(why)),
        None => format!("{name} {verb}"),
    };
    let open: Vec<&StageView> = match seen.workflow.state {
        WorkflowState::Succeeded => return None,
        WorkflowState::Failed | WorkflowState::Cancelled => {
            seen.stages.iter().filter(|stage| stage.state.is_bad()).collect()
        }
        WorkflowState::Running | WorkflowState::Cancelling => {
            seen.stages.iter().filter(|stage| stage.state == PartState::Running).collect()
        }
    };
    let message = match seen.workflow.state {
        WorkflowState::Failed => because("failed"),
        WorkflowState::Cancelled => because("was cancelled"),
        _ => format!("{name} waits for a person"),
    };
    let mut problem = Problem::new(Code::RunFailed, message);
    for stage in open.iter().take(NAMED) {
        problem = problem.hint(said(stage));
    }
    if open.len() > NAMED {
        problem = problem.hint(format!("and {} more: `fleet workflow show {id}`", open.len() - NAMED));
    }
    Some(match seen.workflow.state {
        WorkflowState::Failed | WorkflowState::Cancelled => problem.hint(format!(
            "`fleet workflow retry {id}` tries again what is not done, with the work that is there"
        )),
        _ => problem.hint(format!("`fleet workflow watch {id}` follows it again")),
    })
}

fn said(stage: &StageView) -> String {
    let why = stage.why.as_deref().map(|why| format!(": {}", cause(why))).unwrap_or_default();
    let next = match (stage.task, stage.status.as_str()) {
        (None, _) => String::new(),
        (Some(task), "waiting") => format!(" (`fleet show {task}` has the question)"),
        (Some(task), "held") => format!(" (`fleet task release {task}` takes it up again)"),
        (Some(task), _) => format!(" (`fleet why {task}`, `fleet logs {task}`)"),
    };
    format!("{} {}{why}{next}", stage.name, stage.status)
}
