//! Tables of tasks.

use fleet_core::task::{Label, TaskState};
use fleet_engine::clock;
use fleet_engine::views::{TaskList, TaskView};

use super::super::Context;
use crate::Done;
use crate::output::{Column, ago, dim, paint_status, table, until};

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

fn render(list: &TaskList, all_projects: bool) -> String {
    let column = |cell: fn(&TaskView) -> String| list.tasks.iter().map(cell).collect::<Vec<_>>();
    let project = |task: &TaskView| list.projects.get(&task.project).cloned().unwrap_or_default();
    let projects = list.tasks.iter().filter(|_| all_projects).map(project);
    let mut columns = vec![
        Column::new("ID", column(|task| task.id.to_string())),
        Column::new("PRI", column(|task| task.priority.to_string())),
        Column::new("STATUS", column(|task| task.status.to_owned())).painted(paint_status),
        Column::new("AGE", column(|task| ago(task.created_at.0, clock::now()))).painted(dim),
        Column::new("TITLE", column(|task| task.title.clone())).giving_way(),
        Column::new("AGENT", column(agent)).giving_way(),
        Column::new("LABELS", column(labels)).painted(dim).giving_way(),
        Column::new("NOTE", column(note)).giving_way(),
    ];
    if all_projects {
        columns.insert(4, Column::new("PROJECT", projects).giving_way());
    }
    table(columns)
}

fn agent(task: &TaskView) -> String {
    match (&task.agent, &task.model) {
        (Some(agent), Some(model)) => format!("{agent}/{model}"),
        (Some(agent), None) => agent.clone(),
        (None, Some(model)) => format!("-/{model}"),
        (None, None) => String::new(),
    }
}

fn labels(task: &TaskView) -> String {
    task.labels.iter().map(Label::as_str).collect::<Vec<_>>().join(",")
}

/// Why a task is where it is, in a few words.
pub(super) fn note(task: &TaskView) -> String {
    if let Some(obstacle) = &task.obstacle {
        return obstacle_note(
            &obstacle.chain.iter().map(ToString::to_string).collect::<Vec<_>>(),
            obstacle.state,
        );
    }
    match (task.status, task.not_before, &task.remark) {
        ("scheduled", Some(at), _) => until(at.0, clock::now()),
        (_, _, Some(remark)) => {
            task.reason.map_or_else(|| remark.clone(), |reason| format!("{reason}: {remark}"))
        }
        _ => String::new(),
    }
}

fn obstacle_note(chain: &[String], state: TaskState) -> String {
    let Some((cause, way)) = chain.split_last() else { return String::new() };
    let through = if way.is_empty() { String::new() } else { format!(" (through {})", way.join(", ")) };
    match state {
        TaskState::Failed | TaskState::Cancelled => format!("will not start: {cause} {state}{through}"),
        _ => format!("after {cause} ({state})"),
    }
}
