//! What is said of a task that is followed. Pure.

use fleet_api::views::Followed;
use fleet_core::run::RunState;
use fleet_core::task::TaskState;
use fleet_core::time::{Millis, Span};

use crate::output::{agent_and_model, ago, paint_status, until};

/// Where it stands: its status, and while it runs how far its run is.
pub(super) fn state(one: &Followed) -> &str {
    match &one.run {
        Some(run) if one.task.state == TaskState::Running && run.state.is_live() => run.state.as_str(),
        _ => &one.task.status,
    }
}

/// In the colour of the status that it is a part of.
pub(super) fn paint_state(state: &str) -> String {
    let is_part = [RunState::Preparing, RunState::Finishing].iter().any(|part| part.as_str() == state);
    if is_part { paint_status("running").replace("running", state) } else { paint_status(state) }
}

pub(super) fn agent(one: &Followed) -> String {
    let of_run = one.run.as_ref().map(|run| run.agent.as_str());
    // What the task asks for was meant for the agent that it names, and another may do it.
    let wanted = one.task.model.as_ref().filter(|_| one.task.handed_to.is_none());
    let model = one.run.as_ref().and_then(|run| run.model.as_ref()).or(wanted);
    let agent = of_run.or(one.task.agent.as_deref()).unwrap_or_default();
    agent_and_model(Some(agent), model.map(String::as_str))
}

/// How long its newest run takes or took.
pub(super) fn elapsed(one: &Followed, now: Millis) -> String {
    let is_queued = one.task.state == TaskState::Queued;
    one.run.as_ref().filter(|_| !is_queued).map_or_else(String::new, |run| {
        let end = run.ended_at.map_or(now, |at| at.0);
        ago(run.created_at.0, end)
    })
}

/// What it is at, or why it is where it is.
pub(super) fn activity(one: &Followed, now: Millis) -> String {
    let attempt = match one.task.attempts {
        0 | 1 => String::new(),
        number => format!("attempt {number}: "),
    };
    match one.task.state {
        TaskState::Running => {
            let percent = one.percent().map(|percent| format!("{percent}% ")).unwrap_or_default();
            format!("{attempt}{percent}{}", one.activity().unwrap_or_default()).trim_end().to_owned()
        }
        TaskState::Queued => match (one.task.not_before, cause(one)) {
            (Some(at), cause) if at.0 > now => {
                format!(
                    "again {}{}",
                    until(at.0, now),
                    cause.map(|cause| format!(": {cause}")).unwrap_or_default()
                )
            }
            (_, cause) => cause.unwrap_or_default(),
        },
        TaskState::Done => one.activity().unwrap_or_default().to_owned(),
        TaskState::Waiting | TaskState::Held | TaskState::Failed | TaskState::Cancelled => {
            cause(one).unwrap_or_default()
        }
    }
}

/// Why it is not on its way to be done, or why its last run failed.
pub(super) fn cause(one: &Followed) -> Option<String> {
    if let Some(obstacle) = &one.task.obstacle {
        let on = obstacle.chain.last().map(|id| id.short().to_owned()).unwrap_or_default();
        return Some(format!("after {on} ({})", obstacle.state));
    }
    match (one.task.reason, &one.task.remark) {
        (Some(reason), Some(remark)) => Some(format!("{reason}: {remark}")),
        (Some(reason), None) => Some(reason.to_string()),
        (None, Some(remark)) => Some(remark.clone()),
        (None, None) if one.task.state == TaskState::Waiting => Some("the agent asks you".to_owned()),
        (None, None) => None,
    }
}

/// How long its newest run took.
pub(super) fn took(one: &Followed) -> Option<String> {
    let run = one.run.as_ref()?;
    Some(span(run.created_at.0, run.ended_at?.0))
}

/// How long something took, to the tenth of a second: short runs are compared, too.
pub(super) fn span(from: Millis, to: Millis) -> String {
    let span = to.since(from);
    let tenths = span.as_millis() / 100;
    if tenths < 600 {
        format!("{}.{}s", tenths / 10, tenths % 10)
    } else {
        Span(std::time::Duration::from_secs(span.as_secs())).to_string()
    }
}
