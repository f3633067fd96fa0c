//! What is said when a workflow that was followed is over, or when somebody leaves it.

use fleet_api::verbs::workflow_show::Depth;
use fleet_api::verbs::{workflow_result, workflow_show};
use fleet_api::views::{StageView, WorkflowDetail};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_core::workflow::{PartState, WorkflowState};

use super::super::Context;
use super::super::launching::wake;
use crate::Done;
use crate::exit::interrupted;
use crate::follow::stages::cause;
use crate::follow::{FollowEnd, follow_workflow};
use crate::output::{count, dim, paint_status, print_json, strong, warn};

/// So many stages that are not done are named one by one.
const NAMED: usize = 5;

/// Starts the runner if need be, and follows a workflow, unless somebody detaches.
pub(super) async fn see(context: &Context, started: &WorkflowDetail, detach: bool) -> Done {
    wake(context).await;
    let (id, name) = (started.workflow.id, escaped(&started.workflow.name));
    if detach {
        let state = paint_status(started.workflow.state.as_str());
        return context.output.show(started, || format!("{}  {state}  {name}", strong(id.as_str())));
    }
    context.output.note(&dim(&format!("workflow {id}  {name}")));
    let (seen, end) = follow_workflow(context, id).await?;
    conclude(context, &seen, end).await
}

/// Says how it ended: as JSON how it stands, else what to do next. A workflow that has not succeeded is a problem.
pub(crate) async fn conclude(context: &Context, seen: &WorkflowDetail, end: FollowEnd) -> Done {
    let id = seen.workflow.id;
    if context.output.is_json() {
        // With what its agents said, which nobody looks at in between.
        let request =
            workflow_show::Request { id: id.to_string(), depth: Depth::Results, ..Default::default() };
        print_json(&context.call(request).await?.workflow)?;
    }
    if end == FollowEnd::Left {
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
        // It said itself that it goes on without them, and anyone who uses the result has to know.
        context
            .output
            .note(&warn(&format!("{} failed, and it went on without:", count(failed.len(), "stage"))));
    }
    for stage in failed.iter().take(NAMED) {
        context.output.note(&format!("  {}", escaped(&stage_line(stage))));
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
    let more = open.len().checked_sub(NAMED + 1);
    let more = more.map(|more| format!("and {} more: `fleet workflow show {id}`", more + 1));
    let named = open.iter().take(NAMED).map(|stage| stage_line(stage));
    let problem = Problem::new(Code::RunFailed, message).hints(named.chain(more));
    Some(match seen.workflow.state {
        WorkflowState::Failed | WorkflowState::Cancelled => problem
            .hint(format!("`fleet workflow retry {id}` retries what is not done, from the work so far")),
        _ => problem.hint(format!("`fleet workflow watch {id}` follows it again")),
    })
}

fn stage_line(stage: &StageView) -> String {
    let why = stage.why.as_deref().map(|why| format!(": {}", cause(why))).unwrap_or_default();
    let next = match (stage.task, stage.status.as_str()) {
        (None, _) => String::new(),
        (Some(task), "waiting") => format!(" (`fleet show {task}` shows the question)"),
        (Some(task), "held") => format!(" (`fleet task release {task}` releases it)"),
        (Some(task), _) => format!(" (`fleet why {task}`, `fleet logs {task}`)"),
    };
    format!("{} {}{why}{next}", stage.name, stage.status)
}
