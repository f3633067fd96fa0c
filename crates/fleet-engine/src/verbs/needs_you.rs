//! Tasks that need a person: dialogs in terminals, questions, failures, and what waits for those.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::views::{NeedsYou, QuestionView};
use fleet_core::deps::Obstacle;
use fleet_core::message::Question;
use fleet_core::run::AgentStateNow;
use fleet_core::task::{Status, Task, TaskState};
use fleet_core::text::first_line;
use fleet_store::ops::{FollowedTask, ListRuns, ListTasks, RunFilter, StatusFilter};

use crate::engine::branch_of;
use crate::verbs::prelude::*;
use crate::verbs::question;

/// How many blocked tasks are searched for those that can never start.
const BLOCKED: i64 = 200;

/// More agents than any fleet has at work.
const MAX_LIVE: i64 = 10_000;

/// Those tasks, at most this many, and whether there are more. A task is listed once for each of its questions.
pub(super) async fn find(engine: &Engine, most: usize) -> Outcome<(Vec<NeedsYou>, bool)> {
    let limit = i64::try_from(most).unwrap_or(i64::MAX);
    let questions = ops::OpenQuestions { of: ops::QuestionsOf::Everyone, limit: limit.saturating_add(1) };
    let questions = engine.call(questions).await?;
    let asking: Vec<TaskId> = questions.iter().map(|question| question.id.task).collect();
    let dialogs = dialogs(engine, &asking).await?;
    let others = others(engine, limit, &asking).await?;
    let ids = dialogs.iter().chain(&asking).chain(&others.0).copied();
    let mut ids: Vec<TaskId> = ids.collect();
    let more = others.1 || ids.len() > most;
    ids.truncate(most);
    let followed = engine.call(ops::FollowTasks { ids: distinct(&ids) }).await?;
    let followed: BTreeMap<TaskId, FollowedTask> =
        followed.into_iter().map(|one| (one.task.id, one)).collect();
    let mut questions = questions.iter();
    let found = ids.iter().enumerate().filter_map(|(at, id)| {
        let is_question = (dialogs.len()..dialogs.len() + asking.len()).contains(&at);
        let question = if is_question { questions.next() } else { None };
        let one = followed.get(id)?;
        Some(question.map_or_else(|| shown(engine, one), |question| asks(one, question)))
    });
    Ok((found.collect(), more))
}

fn distinct(ids: &[TaskId]) -> Vec<TaskId> {
    BTreeSet::from_iter(ids).into_iter().copied().collect()
}

/// Tasks that failed, or can never start, or wait for an answer to what nobody knows any more.
async fn others(engine: &Engine, limit: i64, asking: &[TaskId]) -> Outcome<(Vec<TaskId>, bool)> {
    let states = [TaskState::Waiting, TaskState::Failed].map(Status::In);
    let stuck = list(engine, states.to_vec(), limit).await?;
    let mut tasks: Vec<Task> = stuck.tasks;
    let blocked = list(engine, vec![Status::Blocked], BLOCKED).await?;
    let in_vain = |task: &Task| blocked.obstacles.get(&task.id).is_some_and(Obstacle::is_final);
    tasks.extend(blocked.tasks.iter().filter(|task| in_vain(task)).cloned());
    let ids = tasks.iter().map(|task| task.id).filter(|id| !asking.contains(id));
    Ok((ids.collect(), stuck.more))
}

/// Tasks whose agents show a dialog in their terminals, the one that has waited longest first.
async fn dialogs(engine: &Engine, asking: &[TaskId]) -> Outcome<Vec<TaskId>> {
    let filter = RunFilter { live_only: true, ..RunFilter::default() };
    let listed = engine.call(ListRuns { filter, limit: MAX_LIVE }).await?;
    let mut dialogs: Vec<_> =
        listed.iter().filter_map(|one| Some((dialog(&one.run)?.since, one.run.task))).collect();
    dialogs.sort_unstable();
    Ok(dialogs.into_iter().map(|(_, task)| task).filter(|task| !asking.contains(task)).collect())
}

fn dialog(run: &Run) -> Option<&AgentStateNow> {
    run.agent_state.as_ref().filter(|now| now.state.needs_person() && run.stop.is_none())
}

async fn list(engine: &Engine, statuses: Vec<Status>, limit: i64) -> Outcome<ops::TaskPage> {
    let filter = ops::TaskFilter::default();
    let list = ListTasks { statuses: StatusFilter(statuses), filter, limit, now: engine.now() };
    engine.call(list).await
}

/// A question that nobody has answered.
fn asks(one: &FollowedTask, question: &Question) -> NeedsYou {
    NeedsYou {
        status: "asks".to_owned(),
        why: first_line(&question::sentence(question)).into_owned(),
        next: question::how_to_answer(question.id),
        since: Some(Moment(question.asked_at)),
        question: Some(QuestionView::from(question)),
        ..blank(one)
    }
}

fn shown(engine: &Engine, one: &FollowedTask) -> NeedsYou {
    let id = one.task.id;
    if let Some(now) = one.run.as_ref().and_then(dialog) {
        return NeedsYou {
            status: now.state.label().to_owned(),
            why: first_line(&now.text).into_owned(),
            next: format!(
                "`fleet allow {id}` or `fleet deny {id}` answers; `fleet attach {id}` opens its terminal"
            ),
            since: Some(Moment(now.since)),
            ..blank(one)
        };
    }
    let why = if let Some(obstacle) = &one.obstacle {
        let on = obstacle.chain.last().map(|id| id.short().to_owned()).unwrap_or_default();
        format!("waits for {on}, which is {}", obstacle.state)
    } else {
        let history = &one.task.history;
        let reason = history.reason.map(|reason| reason.to_string());
        reason.into_iter().chain(history.remark.clone()).collect::<Vec<_>>().join(": ")
    };
    let status = one.task.status(engine.now()).as_str().to_owned();
    let next = format!("`fleet why {id}` says what to do");
    let since = Some(Moment(one.task.updated_at));
    NeedsYou { status, why: first_line(&why).into_owned(), next, since, ..blank(one) }
}

/// Which task it is, without what it needs.
fn blank(one: &FollowedTask) -> NeedsYou {
    NeedsYou {
        task: one.task.id,
        title: one.task.spec.title.to_string(),
        branch: branch_of(&one.task, one.run.as_ref()),
        status: String::new(),
        why: String::new(),
        next: String::new(),
        since: None,
        question: None,
    }
}
