use std::collections::BTreeSet;

use fleet_api::verbs::agents_notice::{Answer, Request};

use super::prelude::*;
use crate::agents::notice;
use crate::caller::is_inside_a_run;

/// Returns the notice that is due, and marks it as shown.
pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut notices = Vec::new();
    if is_inside_a_run(engine)? {
        return Ok(Answer { notices });
    }
    let default = engine.config()?.agent();
    let agents: BTreeSet<&str> =
        request.agents.iter().map(|agent| agent.as_deref().unwrap_or(default)).collect();
    for agent in agents {
        if let Some(notice) = notice(engine, agent)? {
            notice.mark_shown();
            notices.push(notice.text);
        }
    }
    Ok(Answer { notices })
}
