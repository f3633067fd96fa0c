use fleet_api::Moment;
use fleet_api::verbs::task_show::{Answer, Neighbour};
use fleet_api::views::{EventView, RunView, TaskView};
use fleet_core::task::Label;
use fleet_core::text::{escaped, escaped_lines};
use fleet_core::time::Millis;
use fleet_engine::clock;

use super::super::{events, messages};
use super::rows;
use crate::output::{self, ago, columns, paint_status, strong, table};

command! {
    /// Show one task: what it is, what it waits for, what happened to it
    #[command(display_order = 70)]
    Show(task_show) shows render
}

fn render(shown: &Answer, _: Millis) -> String {
    let task = &shown.task;
    let mut parts =
        vec![format!("{}  {}", strong(task.id.as_str()), strong(&escaped(&task.title))), fields(shown)];
    if let Some(description) = task.description.as_deref().filter(|text| !text.is_empty()) {
        parts.push(escaped_lines(description.trim_end()).into_owned());
    }
    if !shown.runs.is_empty() {
        parts.push(runs(shown));
    }
    if !shown.messages.is_empty() {
        parts.push(messages::table_of(&shown.messages, clock::now()));
    }
    if !shown.events.is_empty() {
        parts.push(shown.events.iter().map(event).collect::<Vec<_>>().join("\n"));
    }
    parts.join("\n\n")
}

fn fields(shown: &Answer) -> String {
    let task = &shown.task;
    let note = rows::note(task);
    let text =
        |value: &Option<String>| value.as_deref().map(|text| escaped(text).into_owned()).unwrap_or_default();
    let list = |values: Vec<&str>| escaped(&values.join(", ")).into_owned();
    let when = |moment: Option<Moment>| moment.map(|at| clock::local(at.0)).unwrap_or_default();
    let status = if note.is_empty() {
        paint_status(&task.status)
    } else {
        format!("{}  {}", paint_status(&task.status), escaped(&note))
    };
    let named = task.agent.clone().unwrap_or_else(|| format!("{} (default)", shown.default_agent));
    let agent = [text(&Some(named)), text(&task.model)].join(" ").trim().to_owned();
    let attempts =
        if task.attempts == 0 { String::new() } else { format!("{} ({})", task.attempts, failures(task)) };
    let meta =
        task.meta.iter().map(|(key, value)| format!("{key}={}", escaped(value.as_str()))).collect::<Vec<_>>();
    let checks: Vec<String> = task.checks.iter().map(|argv| escaped(&argv.join(" ")).into_owned()).collect();
    let rows = [
        ("status", status),
        ("project", escaped(&shown.project_name).into_owned()),
        ("priority", task.priority.to_string()),
        ("labels", list(task.labels.iter().map(Label::as_str).collect())),
        ("agent", agent),
        ("scope", list(task.scope.patterns().collect())),
        ("size", task.complexity.map(|size| size.to_string()).unwrap_or_default()),
        ("base", text(&task.base)),
        ("starts from", list(shown.starts_from.iter().map(String::as_str).collect())),
        ("branch", text(&task.branch)),
        ("added by", parent(task)),
        ("batch", task.batch.map(|batch| batch.to_string()).unwrap_or_default()),
        ("stage", stage(shown)),
        ("mode", if task.mode.is_interactive() { task.mode.to_string() } else { String::new() }),
        ("read-only", if task.read_only { "yes".to_owned() } else { String::new() }),
        ("limits", task.limits.to_string()),
        ("not before", when(task.not_before.filter(|at| at.0 > clock::now()))),
        ("checks", checks.join("\n")),
        ("retries", retries(task)),
        ("attempts", attempts),
        ("after", neighbours(&shown.after)),
        ("before", neighbours(&shown.before)),
        ("meta", meta.join(" ")),
        ("added", format!("{} ago", ago(task.created_at.0, clock::now()))),
        ("changed", format!("{} ago", ago(task.updated_at.0, clock::now()))),
    ];
    output::fields(&rows)
}

fn failures(task: &TaskView) -> String {
    let counted = |number: u32, what: &str| (number > 0).then(|| format!(", {number} {what}"));
    let more = counted(task.check_failures, "more by checks").into_iter();
    let more = more.chain(counted(task.context_restarts, "with a full conversation"));
    format!("{} failed{}", task.failures, more.collect::<String>())
}

fn retries(task: &TaskView) -> String {
    let retry = task.retry.in_mode(task.mode);
    if task.checks.is_empty() && task.check_failures == 0 {
        return retry.retries.to_string();
    }
    format!("{}, and {} after failed checks", retry.retries, retry.check_retries)
}

/// The run whose agent added it, and how far that is from people.
fn parent(task: &TaskView) -> String {
    let shown = |run| format!("run {run} (depth {} of {})", task.depth, task.spawn_depth);
    task.parent.map(shown).unwrap_or_default()
}

/// The stage of a workflow that it is.
fn stage(shown: &Answer) -> String {
    let (Some(workflow), Some(name), Some(stage)) = (shown.task.workflow, &shown.workflow_name, &shown.stage)
    else {
        return String::new();
    };
    format!("{} of {} ({workflow})", escaped(stage), escaped(name))
}

fn neighbours(list: &[Neighbour]) -> String {
    list.iter()
        .map(|task| format!("{} ({})", task.id, paint_status(task.state.as_str())))
        .collect::<Vec<_>>()
        .join(", ")
}

fn runs(shown: &Answer) -> String {
    let column = columns(&shown.runs);
    let state = |run: &RunView| {
        if shown.asked.contains(&run.id) { "asked".to_owned() } else { run.state.to_string() }
    };
    table(vec![
        column("RUN", &|run| run.id.to_string()),
        column("TRY", &|run| run.attempt.to_string()),
        column("STATE", &state).painted(paint_status),
        column("AGENT", &|run| run.agent.clone()),
        column("RUNNER", &|run| run.runner.clone()),
        column("REASON", &|run| run.reason.map(|reason| reason.to_string()).unwrap_or_default()),
        column("DETAIL", &|run| run.detail.clone().unwrap_or_default()).giving_way(),
    ])
}

fn event(event: &EventView) -> String {
    events::line(event, &ago(event.at.0, clock::now()))
}
