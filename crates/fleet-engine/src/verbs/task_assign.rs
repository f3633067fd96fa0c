use fleet_api::TaskFields;
use fleet_api::verbs::task_assign::{Answer, Request, StartRule};
use fleet_api::views::TaskView;
use fleet_core::task::{AgentName, Task, TaskEdit, TaskMove, TaskState};

use super::prelude::*;
use super::task_edit;
use crate::runner;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let id = engine.task_id(&request.task).await?;
    let before = engine.call(ops::GetTask { id }).await?.task;
    let edit = edit(engine, &request, &before)?;
    let event = event(&before, request.start)?;
    let is_edit = edit != TaskEdit::default();
    if is_edit {
        check(&before, &edit, event)?;
        task_edit::check_model(engine, &edit, &before.spec)?;
    }
    let now = engine.now();
    let changing = ops::EditTask { id, edit, now };
    let moving = event.map(|event| ops::MoveTask { id, event, remark: None, now });
    let (task, mut changed) = match (moving, is_edit) {
        (None, false) => (before, Vec::new()),
        (None, true) => engine.call(changing).await?,
        (Some(moving), false) => (engine.call(moving).await?, Vec::new()),
        // Moved first: a cancelled task can change only when it is taken up again.
        (Some(moving), true) => engine.call(ops::Both(moving, changing)).await?.1,
    };
    changed.extend(event.map(|_| "state"));
    let changed = changed.into_iter().map(ToOwned::to_owned).collect();
    let agent = task.agent().map_or(engine.config()?.agent(), AgentName::as_str);
    let agent_is_here = runner::can_start(engine, agent)?;
    Ok(Answer { task: TaskView::new(&task, now).described(&task), changed, agent_is_here })
}

fn edit(engine: &Engine, request: &Request, before: &Task) -> Outcome<TaskEdit> {
    let was = before.spec.agent.as_ref().map(AgentName::as_str);
    let is_another = request.agent.is_some() && request.agent.as_deref() != was;
    let forgets = is_another && request.model.is_none() && before.spec.model.is_some();
    let fields = TaskFields {
        agent: request.agent.clone(),
        model: request.model.clone(),
        priority: request.priority,
        ..TaskFields::default()
    };
    let clear = if forgets { vec!["model".to_owned()] } else { Vec::new() };
    let edit = task_edit::edit(engine, &fields, &clear, &before.spec)?;
    if edit == TaskEdit::default() && request.start == StartRule::Unchanged {
        return Err(Problem::new(Code::Usage, "nothing to assign was given")
            .hint("give an agent, a model, a priority, or whether it may start"));
    }
    Ok(edit)
}

/// What has to happen to the task; nothing if it stands there already.
fn event(task: &Task, start: StartRule) -> Outcome<Option<TaskMove>> {
    let state = task.state();
    Ok(match (start, state) {
        (StartRule::Unchanged, _)
        | (StartRule::Hold, TaskState::Held)
        | (StartRule::Queue, TaskState::Queued | TaskState::Running) => None,
        (StartRule::Hold, TaskState::Running) => return Err(at_work(task)),
        (StartRule::Hold, _) => Some(TaskMove::Hold),
        (StartRule::Queue, TaskState::Held) => Some(TaskMove::Release),
        (StartRule::Queue, TaskState::Failed | TaskState::Cancelled | TaskState::Waiting) => {
            Some(TaskMove::Retry)
        }
        (StartRule::Queue, TaskState::Done) => return Err(done(task)),
    })
}

/// Says what to do where the store would only refuse.
fn check(task: &Task, edit: &TaskEdit, event: Option<TaskMove>) -> Outcome<()> {
    let says_who = edit.agent.is_some() || edit.model.is_some();
    match (task.state(), event) {
        (TaskState::Running, _) if says_who => Err(at_work(task)),
        (TaskState::Done, _) => Err(done(task)),
        (TaskState::Cancelled, None) => Err(Problem::new(
            Code::IllegalTransition,
            format!("task {} is cancelled: it cannot be assigned until it is requeued", task.id),
        )
        .hint("assign it with `start: queue`, or `fleet task retry` it first")),
        _ => Ok(()),
    }
}

fn at_work(task: &Task) -> Problem {
    let id = task.id;
    Problem::new(Code::IllegalTransition, format!("task {id} is running"))
        .hint(format!("`fleet prompt {id} \"…\"` sends it a message"))
        .hint(format!("`fleet task cancel {id}` stops it; then assign it again"))
}

fn done(task: &Task) -> Problem {
    let id = task.id;
    Problem::new(Code::IllegalTransition, format!("task {id} is done"))
        .hint(format!("`fleet prompt {id} \"…\"` continues it; add a new task for other work"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::ScratchEngine;
    use crate::verbs::{agents_status, task_add};

    /// An engine with its own home and repository, and a task in it.
    fn with_task(test: impl AsyncFnOnce(&Engine, String)) {
        ScratchEngine::run(async |engine| {
            let request = fleet_api::verbs::task_add::Request {
                title: "One".to_owned(),
                fields: TaskFields {
                    agent: Some("codex".to_owned()),
                    model: Some("gpt-5".to_owned()),
                    ..Default::default()
                },
                ..Default::default()
            };
            let (task, _) = task_add::add(engine, request).await.unwrap();
            test(engine, task.id.to_string()).await;
        });
    }

    fn wish(task: &str) -> Request {
        Request { task: task.to_owned(), ..Request::default() }
    }

    #[test]
    fn who_does_it_and_whether_it_starts_changes_at_once() {
        with_task(async |engine, id| {
            let other = Request {
                agent: Some("demo".to_owned()),
                priority: Some(5),
                start: StartRule::Hold,
                ..wish(&id)
            };
            let done = run(engine, other.clone()).await.unwrap();
            assert_eq!(done.changed, ["priority", "agent", "model", "state"]);
            assert!(done.agent_is_here);
            let view = &done.task;
            assert_eq!(
                (view.agent.as_deref(), view.model.as_deref(), view.status.as_str()),
                (Some("demo"), None, "held")
            );
            let again = run(engine, other).await.unwrap();
            assert_eq!(again.changed, Vec::<String>::new(), "it stands there already");
            let queued = run(engine, Request { start: StartRule::Queue, ..wish(&id) }).await.unwrap();
            assert_eq!((queued.changed, queued.task.status.as_str()), (vec!["state".to_owned()], "ready"));
        });
    }

    #[test]
    fn a_cancelled_task_changes_only_when_it_is_queued_again() {
        with_task(async |engine, id| {
            let task = engine.task_id(&id).await.unwrap();
            let now = engine.now();
            let cancel = ops::MoveTask { id: task, event: TaskMove::Cancel, remark: None, now };
            engine.call(cancel).await.unwrap();
            let other = Request { agent: Some("demo".to_owned()), ..wish(&id) };
            let problem = run(engine, other.clone()).await.unwrap_err();
            assert_eq!(problem.code, Code::IllegalTransition);
            assert!(problem.hints[0].contains("queue"), "{problem:?}");
            let done = run(engine, Request { start: StartRule::Queue, ..other }).await.unwrap();
            assert_eq!((done.task.agent.as_deref(), done.task.status.as_str()), (Some("demo"), "ready"));
        });
    }

    #[test]
    fn what_cannot_be_is_refused_with_what_to_do() {
        with_task(async |engine, id| {
            assert_eq!(run(engine, wish(&id)).await.unwrap_err().code, Code::Usage);
            let nobody = Request { agent: Some("No Body".to_owned()), ..wish(&id) };
            assert_eq!(run(engine, nobody).await.unwrap_err().code, Code::InvalidValue);
            let wrong = Request { priority: Some(9), start: StartRule::Hold, ..wish(&id) };
            assert_eq!(run(engine, wrong).await.unwrap_err().code, Code::InvalidValue);
            let shown = engine.call(ops::GetTask { id: engine.task_id(&id).await.unwrap() }).await.unwrap();
            assert_eq!(shown.task.state(), TaskState::Queued, "nothing was done");
            assert_work_is_not_disturbed(shown.task);
        });
    }

    /// The same task, as if its agent were at work.
    fn assert_work_is_not_disturbed(mut task: Task) {
        task.state.apply(TaskMove::Start).unwrap();
        let agent = TaskEdit { agent: Some(Some("demo".parse().unwrap())), ..TaskEdit::default() };
        for problem in [event(&task, StartRule::Hold).unwrap_err(), check(&task, &agent, None).unwrap_err()] {
            assert_eq!(problem.code, Code::IllegalTransition);
            assert!(problem.hints.iter().any(|hint| hint.contains("task cancel")), "{problem:?}");
        }
        let urgent = TaskEdit { priority: Some(5.try_into().unwrap()), ..TaskEdit::default() };
        assert!(check(&task, &urgent, None).is_ok(), "how urgent it is may change");
        assert_eq!(event(&task, StartRule::Queue), Ok(None));
    }

    #[test]
    fn an_idle_fleet_has_no_slots_and_work_to_do() {
        with_task(async |engine, _| {
            let status = agents_status::run(engine, fleet_api::verbs::agents_status::Request::default())
                .await
                .unwrap();
            assert!(status.agents.is_empty() && status.runners.is_empty() && status.by_health.is_empty());
            assert_eq!((status.slots, status.free_slots, status.ready), (0, 0, 1));
            assert_eq!(
                (status.missing_agents, status.available),
                (vec!["codex".to_owned()], vec!["demo".to_owned()])
            );
        });
    }
}
