//! Whether somebody works on what was queued.

use fleet_api::Client;
use fleet_api::verbs::runner_wake::{Request, Runner};

/// Sees to it that somebody does. Why nobody works on it, if nobody does; it is queued all the same.
pub(super) async fn woken(client: &dyn Client) -> Option<String> {
    match fleet_api::call(client, None, &Request::default()).await.map(|woken| woken.runner) {
        Ok(Runner::Up | Runner::Started) => None,
        Ok(Runner::Off) => Some(
            "nobody works on it: no runner is up, and `autostart` is off; `fleet start` starts one"
                .to_owned(),
        ),
        Err(problem) => Some(format!("nobody works on it: {problem}; `fleet doctor` looks for causes")),
    }
}
