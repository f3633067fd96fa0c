//! Why a task stands where it stands: what happened, the evidence, what comes next by itself, what a person can
//! do.

mod evidence;
mod takers;
mod terminal;
mod waiting;

use fleet_agents::Trust;
use fleet_api::verbs::why::{Answer, Request};
use fleet_core::run::Reason;
use fleet_core::task::{Status, Task, TaskState};

use super::prelude::*;
use super::{elsewhere, question, reasons};
use crate::lost_keeper::LostKeeper;

pub(super) struct NextStep {
    pub(super) text: String,
    pub(super) at: Option<Moment>,
}

impl NextStep {
    fn now(text: impl Into<String>) -> Self {
        Self { text: text.into(), at: None }
    }
}

/// Explains the task that the user means: by its id, or that of one of its runs, or its branch.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.id).await?;
    let detail = engine.call(ops::GetTask { id }).await?;
    let (task, newest) = (&detail.task, detail.runs.last());
    let default = engine.config()?.agent();
    let agent = match newest.filter(|_| task.state() != TaskState::Queued) {
        Some(run) => run.agent.clone(),
        None => task.agent().map_or(default, |agent| agent.as_str()).to_owned(),
    };
    let failed = newest.filter(|run| run.reason.is_some());
    let evidence = match newest {
        Some(run) => evidence::of(engine, run).await?,
        None => Vec::new(),
    };
    let questions = question::open_of(engine, id).await?;
    let next = waiting::next(engine, task, &agent).await?;
    let mut advice = advice(engine, task, newest, &agent)?;
    advice.splice(0..0, questions.iter().map(|asked| question::how_to_answer(asked.id)));
    advice.splice(0..0, waiting::advice(engine, task, &agent).await?);
    Ok(Answer {
        task: id,
        title: task.spec.title.to_string(),
        status: task.status(engine.now()).as_str().to_owned(),
        run: newest.map(|run| run.id),
        attempt: newest.map(|run| run.attempt),
        reason: failed.and_then(|run| run.reason),
        what: match &questions[..] {
            [] => what(task, newest, engine),
            asked => {
                let asked: Vec<_> = asked.iter().map(question::sentence).collect();
                format!("its agent asks: {}", asked.join("; "))
            }
        },
        evidence,
        next: next.text,
        next_at: next.at,
        advice,
        agent,
    })
}

fn what(task: &Task, newest: Option<&Run>, engine: &Engine) -> String {
    let status = task.status(engine.now());
    let ended = |run: &Run| match run.reason {
        Some(reason) => Some(reasons::explained(reason, run.detail.as_deref())),
        None => run.detail.clone(),
    };
    match (status, newest) {
        (Status::In(TaskState::Done), _) => "it is done".to_owned(),
        (Status::In(TaskState::Running), Some(run)) => {
            let lost = LostKeeper::of(engine.home(), run);
            lost.map_or_else(|| terminal::what(run), |lost| lost.to_string())
        }
        (Status::In(TaskState::Waiting), _) => "its agent asked a question".to_owned(),
        (Status::In(TaskState::Held), _) => by_user("held", task),
        (Status::In(TaskState::Cancelled), _) => by_user("cancelled", task),
        (_, Some(run)) => {
            let remark = || task.history.remark.clone();
            ended(run).or_else(remark).unwrap_or_else(|| "its last run ended".to_owned())
        }
        (_, None) => "not started yet".to_owned(),
    }
}

fn by_user(what: &str, task: &Task) -> String {
    let remark = task.history.remark.as_ref().map(|remark| format!(": {remark}"));
    format!("{what} by a user{}", remark.unwrap_or_default())
}

/// Where a command has to be called that needs the files of a run, to be followed by it. Nothing if that is here.
fn there(engine: &Engine, run: &Run) -> Outcome<String> {
    let place = elsewhere::ThisPlace::of(engine)?.place_of(run);
    Ok(place.map(|place| format!("{place}, ")).unwrap_or_default())
}

fn advice(engine: &Engine, task: &Task, newest: Option<&Run>, agent: &str) -> Outcome<Vec<String>> {
    let mut advice = Vec::new();
    let failed = newest.filter(|run| run.reason.is_some());
    let there = newest.map(|run| there(engine, run)).transpose()?.unwrap_or_default();
    let is_over = !matches!(task.state(), TaskState::Done | TaskState::Running);
    if let Some((run, reason)) = failed.filter(|_| is_over).and_then(|run| Some((run, run.reason?))) {
        advice.extend(reasons::more_use(run, task.spec.limits));
        advice.extend(reasons::remedy(engine, reason, task, agent)?);
        let may_look = crate::agents::trust(engine.config()?, agent) == Trust::ReadOnly;
        if reason == Reason::NoChanges && may_look && !task.spec.read_only {
            advice.push(format!(
                "it may not change files: `fleet config set agents.{agent}.trust sandbox` lets it"
            ));
        }
    }
    if let Some(run) = failed {
        let logs = format!("`fleet logs {}` shows what it did; ", run.id);
        let logs = if run.started_at.is_some() { logs.as_str() } else { "" };
        advice.push(format!("{there}{logs}`fleet show {}` shows everything about it", run.id));
    }
    match task.state() {
        TaskState::Failed | TaskState::Cancelled => {
            advice.extend(reasons::retry(task.id, &advice));
        }
        TaskState::Held => advice.push(format!("`fleet task release {}` releases it", task.id)),
        TaskState::Running if task.spec.mode.is_interactive() => {
            advice.push(format!("{there}`fleet attach {}` opens its terminal", task.id));
        }
        TaskState::Running => {
            advice.push(format!("{there}`fleet logs {} --follow` shows what it does", task.id));
        }
        TaskState::Waiting | TaskState::Queued | TaskState::Done => {}
    }
    if let Some(part) = task.part {
        let id = part.workflow;
        advice.push(format!("it is a stage: `fleet workflow show {id}` shows what builds on it"));
    }
    Ok(advice)
}
