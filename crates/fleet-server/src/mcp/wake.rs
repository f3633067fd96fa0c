//! Whether a runner works on what was queued.

use std::time::Duration;

use fleet_api::Client;
use fleet_api::verbs::runner_wake::{Request, RunnerPresence};
use fleet_api::verbs::task_wait;
use fleet_core::id::TaskId;
use fleet_core::problem::Outcome;
use fleet_core::task::TaskState;

use super::call::Call;

/// A runner with a free slot takes a task within milliseconds.
const CLAIM_DELAY: Duration = Duration::from_millis(150);

/// Makes sure that a runner does. Returns why none does, if none does; it is queued all the same.
pub(super) async fn ensure_runner(client: &dyn Client) -> Option<String> {
    match fleet_api::call(client, None, &Request::default()).await.map(|woken| woken.runner) {
        Ok(RunnerPresence::Up | RunnerPresence::Started) => None,
        Ok(RunnerPresence::Off) => Some(
            "it will not start: no runner is up, and `autostart` is off; `fleet start` starts one".to_owned(),
        ),
        Err(problem) => Some(format!("it will not start: {problem}; `fleet doctor` looks for causes")),
    }
}

/// Waits a moment until a runner has taken a task, so that the answer says `running`, as clients of the Python
/// codefleet expect of a worker that was just made. A call that makes many at once does not wait: then slots are rare,
/// and every waiting call reads the store again at each change.
pub(super) async fn taken(call: &Call, task: TaskId) {
    let Ok(_only_one) = call.start.try_acquire() else { return };
    let _ = tokio::time::timeout(CLAIM_DELAY, wait_until_claimed(call, task)).await;
}

async fn wait_until_claimed(client: &dyn Client, task: TaskId) -> Outcome<()> {
    let mut request =
        task_wait::Request { ids: vec![task.to_string()], wait_seconds: Some(1), ..Default::default() };
    loop {
        let seen = fleet_api::call(client, None, &request).await?;
        if seen.tasks.first().is_none_or(|seen| seen.task.state != TaskState::Queued) {
            return Ok(());
        }
        request.after = Some(seen.next);
    }
}
