use std::collections::BTreeMap;

use fleet_api::verbs::run_prompt_list::{Answer, ListedMessage, Request};
use fleet_api::views::MessageView;
use fleet_core::message::Message;
use fleet_core::task::TaskState;

use super::lineage;
use super::prelude::*;
use crate::engine::{SelectionScope, branch_of};

/// More than people read; a program asks for single tasks.
const MAX_MESSAGES: usize = 1_000;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let Some(of) = of(engine, &request.ids).await? else {
        return Ok(Answer { messages: Vec::new(), more: false });
    };
    let (limit, now) = (i64::try_from(MAX_MESSAGES + 1).unwrap_or(i64::MAX), engine.now());
    let mut messages = engine.call(ops::ListMessages { of, limit, now }).await?;
    let more = messages.len() > MAX_MESSAGES;
    messages.drain(..messages.len().saturating_sub(MAX_MESSAGES));
    lineage::retain_own(engine, &mut messages, |message| message.id.task).await?;
    let branches = branches(engine, &messages).await?;
    let listed = messages.iter().filter_map(|message| {
        let (task, branch) = (message.id.task, branches.get(&message.id.task)?.clone());
        Some(ListedMessage { message: MessageView::new(message, now), task, branch })
    });
    Ok(Answer { messages: listed.collect(), more })
}

/// `None` when the project has never had a task.
async fn of(engine: &Engine, ids: &[String]) -> Outcome<Option<ops::MessagesOf>> {
    if ids.is_empty() {
        let project = engine.known_project().await?;
        return Ok(project.map(|project| ops::MessagesOf::Unseen(project.id)));
    }
    let tasks = engine.all_selected(ids, &SelectionScope::of(TaskState::ALL, "known")).await?;
    Ok(Some(ops::MessagesOf::Tasks(tasks)))
}

async fn branches(engine: &Engine, messages: &[Message]) -> Outcome<BTreeMap<TaskId, String>> {
    let mut ids: Vec<TaskId> = messages.iter().map(|message| message.id.task).collect();
    ids.sort_unstable();
    ids.dedup();
    let followed = engine.call(ops::FollowTasks { ids }).await?;
    Ok(followed.iter().map(|one| (one.task.id, branch_of(&one.task, one.run.as_ref()))).collect())
}
