//! One table of everything: agents at work, what needs a person, the queue, and what ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use fleet_api::verbs::run_list::Answer;
use fleet_api::views::{ListedRunView, RunView, TaskView};
use fleet_core::id::{BatchId, TaskId};
use fleet_core::task::{TaskState, own_branch};
use fleet_core::text::first_line;
use fleet_core::time::{Millis, Span};

use super::super::task::note as note_of_task;
use super::{agent, elapsed};
use crate::output::{
    Column, TITLE, agent_and_model, ago, bytes, cost, dim, paint_status, strong, table, tokens,
};

/// How a list is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListLayout {
    pub(super) grouped: bool,
    pub(super) all_projects: bool,
}

/// What is shown of a task.
#[derive(Debug, Default)]
struct TaskRow {
    batch: Option<BatchId>,
    project: String,
    id: String,
    branch: String,
    agent: String,
    state: String,
    title: String,
    place: String,
    time: String,
    ended: String,
    idle: String,
    cpu: String,
    memory: String,
    tokens: String,
    cost: String,
    note: String,
    folder: String,
}

impl ListLayout {
    pub(super) fn render(self, list: &Answer, now: Millis) -> String {
        let rows = rows(list, now);
        if !self.grouped {
            return self.table(&rows.iter().collect::<Vec<_>>());
        }
        // The newest batch first, as everywhere; what belongs to none comes last.
        let mut groups: BTreeMap<Option<BatchId>, Vec<&TaskRow>> = BTreeMap::new();
        for row in &rows {
            groups.entry(row.batch).or_default().push(row);
        }
        let group = |(batch, rows): (&Option<BatchId>, &Vec<&TaskRow>)| {
            let title = batch.map_or_else(|| "without a batch".to_owned(), |batch| format!("batch {batch}"));
            format!("{}  {}\n{}", strong(&title), dim(&states(rows)), self.table(rows))
        };
        groups.iter().rev().map(group).collect::<Vec<_>>().join("\n\n")
    }

    fn table(self, rows: &[&TaskRow]) -> String {
        let column =
            |cell: fn(&TaskRow) -> &String| rows.iter().map(|row| cell(row).clone()).collect::<Vec<_>>();
        let mut columns = vec![
            Column::new("ID", column(|row| &row.id)),
            Column::new("BRANCH", column(|row| &row.branch)).naming(),
            Column::new("AGENT", column(|row| &row.agent)).giving_way(),
            Column::new("STATE", column(|row| &row.state)).painted(paint_status),
            Column::new("TIME", column(|row| &row.time)).painted(dim),
            Column::new("TASK", column(|row| &row.title)).keeping(TITLE),
            Column::new("NOTE", column(|row| &row.note)).painted(dim).giving_way().optional(),
            Column::new("WHERE", column(|row| &row.place)).optional(),
            Column::new("ENDED", column(|row| &row.ended)).painted(dim).optional(),
            Column::new("IDLE", column(|row| &row.idle)).optional(),
            Column::new("CPU", column(|row| &row.cpu)).optional(),
            Column::new("MEM", column(|row| &row.memory)).optional(),
            Column::new("TOKENS", column(|row| &row.tokens)).optional(),
            Column::new("COST", column(|row| &row.cost)).optional(),
            Column::new("FOLDER", column(|row| &row.folder)).extra(),
        ];
        if self.all_projects {
            columns.insert(0, Column::new("PROJECT", column(|row| &row.project)).naming());
        }
        table(columns)
    }
}

/// Agents at work first, then the queue, then what ended; each task once.
fn rows(list: &Answer, now: Millis) -> Vec<TaskRow> {
    let (live, ended): (Vec<_>, Vec<_>) = list.runs.iter().partition(|listed| listed.run.state.is_live());
    let listed: BTreeSet<TaskId> = list.runs.iter().map(|listed| listed.run.task).collect();
    let waiting = list.queue.iter().filter(|task| !listed.contains(&task.id));
    let task = |task: &TaskView| TaskRow {
        project: list.projects.get(&task.project).cloned().unwrap_or_default(),
        ..of_task(task, now)
    };
    let run = |listed: &&ListedRunView| of_run(listed, now);
    let unstarted = list.unstarted.iter().map(|one| (one.updated_at.0, task(one)));
    let mut over: Vec<(Millis, TaskRow)> =
        ended.iter().map(|one| (one.run.created_at.0, run(one))).chain(unstarted).collect();
    over.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    live.iter().map(run).chain(waiting.map(task)).chain(over.into_iter().map(|(_, row)| row)).collect()
}

fn of_run(listed: &ListedRunView, now: Millis) -> TaskRow {
    let (run, load) = (&listed.run, listed.load);
    let used = run.input_tokens.saturating_add(run.output_tokens);
    let idle = load.and_then(|load| load.idle_seconds);
    let state = state(listed);
    TaskRow {
        batch: listed.batch,
        project: listed.project_name.clone(),
        id: run.task.short().to_owned(),
        branch: branch(listed),
        agent: agent(run),
        state: state.clone(),
        title: listed.title.clone().unwrap_or_default(),
        place: listed.elsewhere.clone().unwrap_or_default(),
        time: elapsed(run, now),
        ended: run.ended_at.map(|at| format!("{} ago", ago(at.0, now))).unwrap_or_default(),
        idle: idle.map(|seconds| Span(Duration::from_secs(seconds)).to_string()).unwrap_or_default(),
        cpu: load.and_then(|load| load.cpu_percent).map(|cpu| format!("{cpu}%")).unwrap_or_default(),
        memory: load.map(|load| bytes(load.memory_bytes)).unwrap_or_default(),
        tokens: tokens(used),
        cost: cost(run.micro_usd),
        note: if state == TaskState::Waiting.as_str() { asks(run) } else { note(run) },
        folder: run.workspace.clone().unwrap_or_default(),
    }
}

/// One that failed in preparation has none: then it is the one that its task was to have.
fn branch(listed: &ListedRunView) -> String {
    let of_run = listed.run.branch.as_ref().or(listed.task_branch.as_ref());
    of_run.cloned().unwrap_or_else(|| own_branch(listed.run.task))
}

fn of_task(task: &TaskView, now: Millis) -> TaskRow {
    let own = || if task.attempts > 0 { own_branch(task.id) } else { String::new() };
    TaskRow {
        batch: task.batch,
        id: task.id.short().to_owned(),
        branch: task.branch.clone().unwrap_or_else(own),
        agent: agent_and_model(task.agent.as_deref(), task.model.as_deref()),
        state: task.status.clone(),
        title: task.title.clone(),
        time: ago(task.created_at.0, now),
        note: note_of_task(task),
        ..TaskRow::default()
    }
}

fn states(rows: &[&TaskRow]) -> String {
    let mut states: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *states.entry(row.state.as_str()).or_default() += 1;
    }
    states.iter().map(|(state, count)| format!("{count} {state}")).collect::<Vec<_>>().join(", ")
}

/// That of the run; of one that ended, that of its task as long as this is not over: it asked something, or is retried.
fn state(listed: &ListedRunView) -> String {
    let run = &listed.run;
    match listed.task_state {
        _ if run.stopping.is_some() => "stopping".to_owned(),
        Some(task) if run.ended_at.is_some() && !task.is_settled() => task.to_string(),
        _ => {
            run.agent_state.as_ref().map_or_else(|| run.state.to_string(), |now| now.state.label().to_owned())
        }
    }
}

fn asks(run: &RunView) -> String {
    format!("asks: `fleet why {}`", run.task.short())
}

/// What it does, or how it ended; and which attempt it was, if not the first.
fn note(run: &RunView) -> String {
    let attempt = (run.attempt > 1).then(|| format!("attempt {}", run.attempt));
    let said = if let Some(why) = &run.stopping {
        why.clone()
    } else if run.ended_at.is_some() {
        let reason = run.reason.map(|reason| reason.to_string());
        reason.into_iter().chain(run.detail.clone()).collect::<Vec<_>>().join(": ")
    } else if let Some(now) = run.agent_state.as_ref().filter(|now| !now.text.is_empty()) {
        now.text.clone()
    } else {
        let percent = run.percent.map(|percent| format!("{percent}%"));
        percent.into_iter().chain(run.activity.clone()).collect::<Vec<_>>().join(" ")
    };
    let said = Some(first_line(&said).into_owned()).filter(|said| !said.is_empty());
    attempt.into_iter().chain(said).collect::<Vec<_>>().join(", ")
}
