//! Tables of tasks.

use fleet_api::views::{TaskList, TaskView};
use fleet_core::task::{Label, TaskState};
use fleet_core::text::first_line;
use fleet_engine::clock;

use super::super::Context;
use crate::Done;
use crate::output::{Column, TITLE, agent_and_model, ago, dim, paint_status, table, until};

/// Shows a list, or says that it is empty and what to do about that.
pub(super) fn show(context: &Context, list: &TaskList, all_projects: bool, empty: &str) -> Done {
    if list.tasks.is_empty() && !context.output.is_json() {
        context.output.note(empty);
        return Ok(());
    }
    context.output.show(list, || render(list, all_projects))?;
    if list.more {
        context.output.note(&dim(&format!(
            "there are more; the first {} shown, --limit N shows more",
            list.tasks.len()
        )));
    }
    Ok(())
}

/// Enough for the task that another one waits for, and its state.
const NOTE: usize = 22;

fn render(list: &TaskList, all_projects: bool) -> String {
    let column = |cell: fn(&TaskView) -> String| list.tasks.iter().map(cell).collect::<Vec<_>>();
    let project = |task: &TaskView| list.projects.get(&task.project).cloned().unwrap_or_default();
    let projects = list.tasks.iter().filter(|_| all_projects).map(project);
    let missing =
        |task: &TaskView| list.missing_agents.get(&task.id).map(|agent| format!("no agent `{agent}` here"));
    let notes = list.tasks.iter().map(|task| missing(task).unwrap_or_else(|| note(task)));
    let mut columns = vec![
        Column::new("ID", column(|task| task.id.short().to_owned())),
        Column::new("PRI", column(|task| task.priority.to_string())).optional(),
        Column::new("STATUS", column(|task| task.status.clone())).painted(paint_status),
        Column::new("AGE", column(|task| ago(task.created_at.0, clock::now()))).painted(dim).optional(),
        Column::new("TITLE", column(|task| task.title.clone())).keeping(TITLE),
        Column::new("AGENT", column(|task| agent_and_model(task.agent.as_deref(), task.model.as_deref())))
            .giving_way(),
        Column::new("BRANCH", column(|task| task.branch.clone().unwrap_or_default())).naming().optional(),
        Column::new("LABELS", column(labels)).painted(dim).giving_way().optional(),
        Column::new("NOTE", notes).keeping(NOTE),
    ];
    if all_projects {
        columns.insert(4, Column::new("PROJECT", projects).naming());
    }
    table(columns)
}

fn labels(task: &TaskView) -> String {
    task.labels.iter().map(Label::as_str).collect::<Vec<_>>().join(",")
}

/// Why a task is where it is, in a few words.
pub(in crate::commands) fn note(task: &TaskView) -> String {
    if let Some(obstacle) = &task.obstacle {
        return obstacle_note(
            &obstacle.chain.iter().map(|id| id.short().to_owned()).collect::<Vec<_>>(),
            obstacle.state,
        );
    }
    match (task.status.as_str(), task.not_before, &task.remark) {
        ("scheduled", Some(at), remark) => {
            let cause = remark.as_ref().filter(|_| task.reason.is_some()).map(|remark| cause(task, remark));
            let cause = cause.map(|cause| format!(", after {cause}")).unwrap_or_default();
            format!("{}{cause}", until(at.0, clock::now()))
        }
        ("waiting", _, _) => format!("asks: `fleet why {}`", task.id.short()),
        (_, _, Some(remark)) => cause(task, remark),
        _ => String::new(),
    }
}

fn cause(task: &TaskView, remark: &str) -> String {
    let remark = first_line(remark);
    task.reason.map_or_else(|| remark.clone().into_owned(), |reason| format!("{reason}: {remark}"))
}

fn obstacle_note(chain: &[String], state: TaskState) -> String {
    let Some((cause, way)) = chain.split_last() else { return String::new() };
    let through = if way.is_empty() { String::new() } else { format!(" (through {})", way.join(", ")) };
    match state {
        TaskState::Failed | TaskState::Cancelled => {
            format!("after {cause} ({state}): will not start{through}")
        }
        _ => format!("after {cause} ({state})"),
    }
}
